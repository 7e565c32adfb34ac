/* SPDX-License-Identifier: MIT */
/* fork_safety.h - checks that memory is the only state of this process, so that a fork of it is a complete saved point. */
#ifndef TT_FMU_FORK_SERVER_FORK_SAFETY_H
#define TT_FMU_FORK_SERVER_FORK_SAFETY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fmu/process/shared_area.h"

enum { TUTTI_MOST_FILES = 64 };

/* Files that are read, and how far: a position is shared with all forks. */
struct tt_fork_safety_positions {
    struct {
        int fd;
        off_t offset;
    } files[TUTTI_MOST_FILES];
    size_t count;
};

/* Checks threads, child processes, descriptors and shared memory. False if a fork would lose state; `why`: "it has 3
 * threads". */
bool tt_fork_safety_check(const struct tt_shared_area *area, pid_t keeper, struct tt_fork_safety_positions *positions,
                          char *why, size_t size);
/* Files are to be read from there again. */
void tt_fork_safety_restore_files(const struct tt_fork_safety_positions *positions);

/* The memory of this process, mapping by mapping. */

struct tt_memory_mapping {
    uintptr_t begin, end;
    uintptr_t resident; /* bytes of it that are in memory */
    bool is_written, is_shared;
    const char *name; /* of a file, or "[heap]"; "": none */
};

/* Calls `visit` for each mapping until it returns false. */
void tt_fork_safety_each_mapping(bool (*visit)(void *context, const struct tt_memory_mapping *mapping), void *context);

/* Lets the FMU's memory lie in large pages, as far as the system has them: a fork copies the tables of pages, so that it takes a
 * tenth of the time then. Only where most of a mapping is in use: large pages are whole. */
void tt_fork_safety_use_large_pages(void);

#endif
