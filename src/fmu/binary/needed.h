/* SPDX-License-Identifier: MIT */
/* needed.h - the libraries that a library needs, found as the loader would find them, but without loading any: nothing of
 * them runs. */
#ifndef TT_FMU_BINARY_NEEDED_H
#define TT_FMU_BINARY_NEEDED_H

#include <stdbool.h>

#include "base/fail.h"

enum { TUTTI_NEEDED_NAME = 256 };

/* A library that is needed and would not be found. */
struct tt_needed_missing {
    char name[TUTTI_NEEDED_NAME]; /* empty: none is */
    bool is_nameless;             /* it is beside the library, but has another name inside, or none */
};

/* Visits the library at `path`, which is an FMU's, and all that it needs, directly or not, each once. */
TUTTI_CHECKED enum tutti_err tt_binary_each_needed(const char *path, void (*visit)(void *context, const char *path),
                                                   void *context, struct tt_needed_missing *missing);

#endif
