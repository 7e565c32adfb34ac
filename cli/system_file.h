/* SPDX-License-Identifier: MIT */
/* system_file.h - a system that was named on the command line: its package, one of its documents, and what they make. */
#ifndef TUTTI_CLI_SYSTEM_FILE_H
#define TUTTI_CLI_SYSTEM_FILE_H

#include <stdbool.h>

#include "ssp/package.h"
#include "ssp/ssp.h"
#include "system/system.h"

struct system_file {
    char *path, *variant; /* of "PATH#VARIANT"; variant NULL: none was named */
    struct tutti_package *package;
    struct tutti_ssd *ssd;
    struct tutti_system *system;
    unsigned errors; /* in the system, which goes without what is wrong */
};

/* Is this (with or without a variant) a system, and not an FMU? */
bool system_file_is(const char *text);
/* "PATH#VARIANT" into its parts; a file that is there is no other thing, whatever its name. */
TUTTI_CHECKED enum tutti_err system_file_split(struct system_file *file, const char *text);
/* Opens package, document and system. */
TUTTI_CHECKED enum tutti_err system_file_open(struct system_file *file, const char *text);
void system_file_close(struct system_file *file);

#endif
