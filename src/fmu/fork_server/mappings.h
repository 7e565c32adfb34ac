/* SPDX-License-Identifier: MIT */
/* mappings.h - the memory of this process, mapping by mapping. */
#ifndef TT_FMU_FORK_SERVER_MAPPINGS_H
#define TT_FMU_FORK_SERVER_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

struct tt_memory_mapping {
    uintptr_t begin, end;
    uintptr_t resident; /* bytes of it that are in memory */
    bool is_written, is_shared;
    const char *name; /* of a file, or "[heap]"; "": none */
};

/* Until `visit` says false. */
void tt_fork_safety_each_mapping(bool (*visit)(void *context, const struct tt_memory_mapping *mapping), void *context);

/* Lets the FMU's memory lie in large pages, as far as the system has them: a fork copies the tables of pages, so that it takes a
 * tenth of the time then. Only where most of a mapping is in use: large pages are whole. */
void tt_fork_safety_use_large_pages(void);

#endif
