/* SPDX-License-Identifier: MIT */
/* conformance.h - the implementation that a suite is run on: arguments of its program. */
#ifndef TESTS_CONFORMANCE_CONFORMANCE_H
#define TESTS_CONFORMANCE_CONFORMANCE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **conformance_arguments;
static bool conformance_forked; /* FMUs run in separate processes, and are rolled back by forking */

/* In main, first of all: a suite that takes `count` arguments, which `names` says, and perhaps "forked". */
static inline void conformance_begin(int argc, char **argv, int count, const char *names)
{
    conformance_arguments = argv;
    conformance_forked = argc == count + 2 && strcmp(argv[argc - 1], "forked") == 0;
    if (argc == count + 1 || conformance_forked)
        return;
    fprintf(stderr, "usage: %s %s\n", argv[0], names);
    exit(2);
}

/* Two texts in one; valid until the next call. */
static inline const char *conformance_join(const char *before, const char *after)
{
    static char text[256];
    snprintf(text, sizeof text, "%s%s", before, after);
    return text;
}

#endif
