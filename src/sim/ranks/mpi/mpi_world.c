/* SPDX-License-Identifier: MIT */
#include "sim/ranks/mpi/mpi_world.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct mpi_world tt_mpi_world;

enum tutti_err tt_mpi_world_check(int code)
{
    if (__builtin_expect(code == MPI_SUCCESS, 1))
        return TUTTI_OK;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return tt_mpi_world.host->fail(TUTTI_ERR_LOST, "MPI: %s", text);
}

enum tutti_err tt_mpi_world_await(int count, MPI_Request *requests)
{
    for (;;) {
        int done = 0;
        MPI_TRY(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE));
        if (done)
            return TUTTI_OK;
        sched_yield();
    }
}

/* Identifies a host: a name is not enough, since machines of a cloud may share it. */
struct mpi_host_address {
    char name[MPI_MAX_PROCESSOR_NAME];
    char boot[40];
};

static void mpi_world_find_address(struct mpi_host_address *address)
{
    int length = 0;
    *address = (struct mpi_host_address){0};
    MPI_Get_processor_name(address->name, &length);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t got = read(fd, address->boot, sizeof address->boot - 1);
    (void)got; /* then the name alone has to do */
    close(fd);
}

static enum tutti_err gather_from_all(struct mpi_world *world, const void *own, void *all, size_t size)
{
    MPI_Request request;
    MPI_TRY(MPI_Iallgather(own, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, world->control, &request));
    return tt_mpi_world_await(1, &request);
}

static int count_usable_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static void group_ranks_by_node(struct mpi_world *world, const struct mpi_host_address *addresses)
{
    const struct mpi_host_address *own = &addresses[world->rank];
    for (int r = 0; r < world->ranks; r++) {
        int first = 0;
        while (memcmp(&addresses[first], &addresses[r], sizeof *addresses) != 0)
            first++;
        if (first == r)
            world->leaders[world->leader_count++] = r;
        bool here = memcmp(own, &addresses[r], sizeof *own) == 0;
        world->bell_of[r] = here ? world->here_count : -1;
        if (here)
            world->here[world->here_count++] = r;
    }
    world->crowded = world->here_count > count_usable_cores();
}

/* The first rank of a host creates its bells, the others open them; if one of them cannot, no rank uses them. */
static enum tutti_err open_shared_bells(struct mpi_world *world, char (*names)[TUTTI_BELLS_NAME], bool *have)
{
    int leader = world->here[0], own = world->bell_of[world->rank];
    char name[TUTTI_BELLS_NAME] = "";
    bool made = leader == world->rank && world->here_count > 1 &&
                tt_mpi_world_create_bells(&world->bells, world->here_count, name);
    enum tutti_err err = gather_from_all(world, name, names, sizeof name);
    bool mine = made || (leader != world->rank && names[leader][0] != '\0' &&
                         tt_mpi_world_open_bells(&world->bells, world->here_count, own, names[leader]));
    err = err ? err : gather_from_all(world, &mine, have, sizeof mine);
    if (name[0] != '\0')
        tt_mpi_world_unlink_bells(name);
    bool all = err == TUTTI_OK;
    for (int i = 0; all && i < world->here_count; i++)
        all = have[world->here[i]];
    if (!all)
        tt_mpi_world_close_bells(&world->bells);
    return err;
}

enum tutti_err tt_mpi_world_init(struct mpi_world *world)
{
    size_t ranks = (size_t)world->ranks;
    struct mpi_host_address own, *all = calloc(ranks, sizeof *all);
    char(*names)[TUTTI_BELLS_NAME] = calloc(ranks, sizeof *names);
    bool *have = calloc(ranks, sizeof *have);
    int *memory = calloc(3 * ranks, sizeof *memory);
    world->here = memory;
    enum tutti_err err = TUTTI_OK;
    if (!all || !names || !have || !memory)
        err = world->host->fail_memory();
    if (err == TUTTI_OK) {
        world->leaders = memory + ranks;
        world->bell_of = memory + 2 * ranks;
        mpi_world_find_address(&own);
        err = gather_from_all(world, &own, all, sizeof own);
    }
    if (err == TUTTI_OK) {
        group_ranks_by_node(world, all);
        err = open_shared_bells(world, names, have);
    }
    free(all);
    free(names);
    free(have);
    return err;
}

void tt_mpi_world_fini(struct mpi_world *world)
{
    tt_mpi_world_close_bells(&world->bells);
    free(world->here);
    world->here = NULL;
}

static bool map_bells(struct mpi_bells *bells, int fd, int count, int own)
{
    void *memory = mmap(NULL, (size_t)count * sizeof(struct mpi_bell), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED)
        return false;
    *bells = (struct mpi_bells){.bells = memory, .count = count, .own = own};
    return true;
}

bool tt_mpi_world_create_bells(struct mpi_bells *bells, int count, char *name)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return false;
    snprintf(name, TUTTI_BELLS_NAME, "/tutti-%ld-%016llx", (long)getpid(), (unsigned long long)random);
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return false;
    if (posix_fallocate(fd, 0, (off_t)((size_t)count * sizeof(struct mpi_bell))) == 0)
        return map_bells(bells, fd, count, 0);
    close(fd);
    return false;
}

bool tt_mpi_world_open_bells(struct mpi_bells *bells, int count, int own, const char *name)
{
    int fd = shm_open(name, O_RDWR | O_CLOEXEC, 0);
    return fd >= 0 && map_bells(bells, fd, count, own);
}

void tt_mpi_world_unlink_bells(const char *name)
{
    shm_unlink(name);
}

void tt_mpi_world_close_bells(struct mpi_bells *bells)
{
    if (bells->bells)
        munmap(bells->bells, (size_t)bells->count * sizeof(struct mpi_bell));
    *bells = (struct mpi_bells){0};
}

void tt_mpi_world_wake(struct mpi_bell *bell)
{
    atomic_fetch_add(&bell->rings, 1);
    syscall(SYS_futex, &bell->rings, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The limit is for what comes without a ring: stops and answers of other hosts, and MPICH's own messages. */
void tt_mpi_world_sleep(struct mpi_bells *bells, uint32_t rings)
{
    struct timespec limit = {.tv_nsec = 1000000};
    syscall(SYS_futex, &bells->bells[bells->own].rings, FUTEX_WAIT, rings, &limit, NULL, 0);
}
