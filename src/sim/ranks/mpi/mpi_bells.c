/* SPDX-License-Identifier: MIT */
#include "sim/ranks/mpi/mpi_bells.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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
