/* SPDX-License-Identifier: MIT */
/* named_system.h - a system that was named on the command line: its package, one of its documents, and what they make. */
#ifndef TT_APPS_DESCRIBE_NAMED_SYSTEM_H
#define TT_APPS_DESCRIBE_NAMED_SYSTEM_H

#include <stdbool.h>

#include "model/ssp/package.h"
#include "model/ssp/ssp.h"
#include "model/system/system.h"

struct tt_named_system {
    char *path, *variant; /* of "PATH#VARIANT"; variant NULL: none was named */
    struct tt_package *package;
    struct tt_ssd *ssd;
    struct tt_system *system;
    unsigned errors; /* in the system, which goes without what is wrong */
};

/* Is this (with or without a variant) a system, and not an FMU? */
bool tt_info_is_system(const char *text);
/* "PATH#VARIANT" into its parts; a file that is there is no other thing, whatever its name. */
TUTTI_CHECKED enum tutti_err tt_info_split_name(struct tt_named_system *file, const char *text);
/* Opens package, document and system. */
TUTTI_CHECKED enum tutti_err tt_info_open_system(struct tt_named_system *file, const char *text);
void tt_info_close_system(struct tt_named_system *file);

#endif
