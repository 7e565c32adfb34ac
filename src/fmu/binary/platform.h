/* SPDX-License-Identifier: MIT */
/* platform.h - the binaries of FMUs that this machine runs: those of this process' own kind, and those that a program of ours runs in a
 * process of another kind (forked/, src/keeper/). */
#ifndef TT_FMU_BINARY_PLATFORM_H
#define TT_FMU_BINARY_PLATFORM_H

enum { TUTTI_MOST_FOLDERS = 4 };

struct tt_binary_platform {
    /* Names under binaries/, by preference, ended by NULL: FMI 3.0's name and FMI 1.0's and 2.0's; FMUs of either kind are seen with the
     * other. */
    const char *folders[TUTTI_MOST_FOLDERS];
    const char *keeper;  /* the program; NULL: this process loads them */
    const char *package; /* of Debian, that has a compiler for it */
};

/* This process' own first; ended by one without folders. */
const struct tt_binary_platform *tt_binary_platforms(void);

#endif
