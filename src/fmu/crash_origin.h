/* SPDX-License-Identifier: MIT */
/* crash_origin.h - finds the origin of code that crashed: the file mapped at the address of the instruction. */
#ifndef TT_FMU_CRASH_ORIGIN_H
#define TT_FMU_CRASH_ORIGIN_H

#include <stdbool.h>

enum tt_crash_owner {
    TUTTI_WHOSE_UNKNOWN,
    TUTTI_WHOSE_FMU,     /* the library of the FMU that this thread is calling, or a file that came with it */
    TUTTI_WHOSE_TUTTI,   /* the program or one of its modules */
    TUTTI_WHOSE_LIBRARY, /* any other file */
    TUTTI_WHOSE_NO_CODE  /* no code is at this address */
};

enum { TUTTI_BLAME_NAME = 96 };

struct tt_crash_origin {
    enum tt_crash_owner whose;
    char file[TUTTI_BLAME_NAME]; /* of LIBRARY: its name without folders */
    bool is_tuttis;              /* Tutti's own, or a library's that Tutti called to read a message of the FMU */
};

/* In a handler of SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT with the arguments that it got. Async-signal-safe: reads
 * /proc/self/maps; the origin is unknown if that is not permitted, or if a different process or thread sent the signal. */
void tt_crash_origin_find(struct tt_crash_origin *blame, const void *info, const void *context);

#endif
