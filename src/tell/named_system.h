/* SPDX-License-Identifier: MIT */
/* named_system.h - a system that was named on the command line: its package, one of its documents, and what they make. */
#ifndef TUTTI_TELL_NAMED_SYSTEM_H
#define TUTTI_TELL_NAMED_SYSTEM_H

#include <stdbool.h>

#include "ssp/package.h"
#include "ssp/ssp.h"
#include "system/system.h"

struct tutti_named_system {
    char *path, *variant; /* of "PATH#VARIANT"; variant NULL: none was named */
    struct tutti_package *package;
    struct tutti_ssd *ssd;
    struct tutti_system *system;
    unsigned errors; /* in the system, which goes without what is wrong */
};

/* Is this (with or without a variant) a system, and not an FMU? */
bool tutti_named_system_is(const char *text);
/* "PATH#VARIANT" into its parts; a file that is there is no other thing, whatever its name. */
TUTTI_CHECKED enum tutti_err tutti_named_system_split(struct tutti_named_system *file, const char *text);
/* Opens package, document and system. */
TUTTI_CHECKED enum tutti_err tutti_named_system_open(struct tutti_named_system *file, const char *text);
void tutti_named_system_close(struct tutti_named_system *file);

#endif
