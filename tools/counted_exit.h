/* SPDX-License-Identifier: MIT */
/* Included before everything else by ./dev coverage: what a process has reached counts also if it ends by _exit(). */
#ifndef TUTTI_COUNTED_EXIT_H
#define TUTTI_COUNTED_EXIT_H

/* Not <unistd.h>, which would be too much for files that do without. */
void _exit(int status) __attribute__((noreturn));
void __gcov_dump(void); /* NOLINT: of gcc's library */

__attribute__((noreturn)) static inline void counted_exit(int status)
{
    __gcov_dump();
    _exit(status);
}

#define _exit(status) counted_exit(status)

#endif
