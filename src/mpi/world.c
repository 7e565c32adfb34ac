/* SPDX-License-Identifier: MIT */
#include "mpi/world.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct world tutti_mpi_world;

enum tutti_err tutti_mpi_check(int code)
{
    if (__builtin_expect(code == MPI_SUCCESS, 1))
        return TUTTI_OK;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return tutti_mpi_world.host->fail(TUTTI_ERR_LOST, "MPI: %s", text);
}

enum tutti_err tutti_mpi_await(int count, MPI_Request *requests)
{
    for (;;) {
        int done = 0;
        MPI_TRY(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE));
        if (done)
            return TUTTI_OK;
        sched_yield();
    }
}

/* What tells hosts apart: a name is not enough, machines of a cloud may share it. */
struct address {
    char name[MPI_MAX_PROCESSOR_NAME];
    char boot[40];
};

static void find_address(struct address *address)
{
    int length = 0;
    *address = (struct address){0};
    MPI_Get_processor_name(address->name, &length);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t got = read(fd, address->boot, sizeof address->boot - 1);
    (void)got; /* then the name alone has to do */
    close(fd);
}

static enum tutti_err gather(struct world *world, const void *own, void *all, size_t size)
{
    MPI_Request request;
    MPI_TRY(MPI_Iallgather(own, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, world->control, &request));
    return tutti_mpi_await(1, &request);
}

/* Cores that this process may use. */
static int count_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static void find_hosts(struct world *world, const struct address *addresses)
{
    const struct address *own = &addresses[world->rank];
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
    world->crowded = world->here_count > count_cores();
}

/* The first rank of a host makes its bells, the others open them; if one of them cannot, they do without. */
static enum tutti_err share_bells(struct world *world, char (*names)[TUTTI_BELLS_NAME], bool *have)
{
    int leader = world->here[0], own = world->bell_of[world->rank];
    char name[TUTTI_BELLS_NAME] = "";
    bool made = leader == world->rank && world->here_count > 1 &&
                tutti_bells_make(&world->bells, world->here_count, name);
    enum tutti_err err = gather(world, name, names, sizeof name);
    bool mine = made || (leader != world->rank && names[leader][0] != '\0' &&
                         tutti_bells_open(&world->bells, world->here_count, own, names[leader]));
    err = err ? err : gather(world, &mine, have, sizeof mine);
    if (name[0] != '\0')
        tutti_bells_forget(name);
    bool all = err == TUTTI_OK;
    for (int i = 0; all && i < world->here_count; i++)
        all = have[world->here[i]];
    if (!all)
        tutti_bells_fini(&world->bells);
    return err;
}

enum tutti_err tutti_mpi_look_around(struct world *world)
{
    size_t ranks = (size_t)world->ranks;
    struct address own, *all = calloc(ranks, sizeof *all);
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
        find_address(&own);
        err = gather(world, &own, all, sizeof own);
    }
    if (err == TUTTI_OK) {
        find_hosts(world, all);
        err = share_bells(world, names, have);
    }
    free(all);
    free(names);
    free(have);
    return err;
}

void tutti_mpi_world_fini(struct world *world)
{
    tutti_bells_fini(&world->bells);
    free(world->here);
    world->here = NULL;
}
