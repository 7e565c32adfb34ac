/* SPDX-License-Identifier: MIT */
/* compile_process.h - runs a program that is confined to a folder: it reads that folder and the system's files, writes
 * only there (Landlock, as far as the kernel supports it), has no network, and a time limit. */
#ifndef TT_FMU_BUILD_COMPILE_PROCESS_H
#define TT_FMU_BUILD_COMPILE_PROCESS_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/text.h"

struct tt_compile_process {
    const char *const *words; /* program and arguments, ended by NULL; the program is looked for as a shell does */
    const char *folder;       /* that it may write to; absolute. Has a folder "tmp" for its temporary files */
    const char *where;        /* the folder in which it begins */
    double seconds;           /* that it may take */
};

/* Runs a program to its end. *out is its output on both streams; *good is true if it succeeded. IO: it cannot be
 * started; LIMIT: it took too long or wrote too much. */
TUTTI_CHECKED enum tutti_err tt_compile_process_run(const struct tt_compile_process *child, struct tt_text *out,
                                                    bool *good);

#endif
