/* SPDX-License-Identifier: MIT */
/* info.h - what `tutti info` knows of an FMU, in words; shared by its two forms. */
#ifndef TUTTI_CLI_INFO_H
#define TUTTI_CLI_INFO_H

#include <stdbool.h>

#include "base/str.h"
#include "fmi/fmu.h"

/* A capability of an interface and what happens without it. */
struct info_capability {
    uint32_t flag;
    const char *name;    /* JSON key */
    const char *words;   /* for people */
    const char *without; /* what Tutti does where the FMU lacks it; NULL: nothing worth saying */
    int since;           /* first FMI version that knows it */
    int until;           /* last one */
};
extern const struct info_capability info_capabilities[];
extern const size_t info_capability_count;

/* Prints everything as JSON to stdout; false after a message. */
bool info_print_json(const struct tutti_fmu *fmu);

#endif
