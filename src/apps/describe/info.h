/* SPDX-License-Identifier: MIT */
/* info.h - a description of an FMU or a system without running it, as JSON; and the parts shared with the text output. */
#ifndef TT_APPS_DESCRIBE_INFO_H
#define TT_APPS_DESCRIBE_INFO_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "fmu/fmu.h"
#include "model/ssp/package.h"
#include "model/ssp/ssp.h"
#include "model/system/system.h"

/* A system that was named on the command line: its package, one of its documents, and what they make. */

struct tt_named_system {
    char *path, *variant; /* of "PATH#VARIANT"; variant NULL: none was named */
    struct tt_package *package;
    struct tt_ssd *ssd;
    struct tt_system *system;
    unsigned errors; /* of the system; the faulty parts are omitted */
};

/* Returns true for the path of a system (with or without a variant), false for an FMU. */
bool tt_info_is_system(const char *text);
/* Splits "PATH#VARIANT"; the path of an existing file is taken literally. */
TUTTI_CHECKED enum tutti_err tt_info_split_name(struct tt_named_system *file, const char *text);
/* Opens package, document and system. */
TUTTI_CHECKED enum tutti_err tt_info_open_system(struct tt_named_system *file, const char *text);
void tt_info_close_system(struct tt_named_system *file);

/* Why a run would refuse the FMU, without the file's name, or NULL. Good until the next error of this thread. */
const char *tt_info_find_obstacle(const struct tt_fmu *fmu);
/* ARGUMENT for a system in another tool's format, which cannot be described. */
TUTTI_CHECKED enum tutti_err tt_info_check_format(const char *file);

/* A capability of an interface, and the consequence of its absence. */
struct tt_info_capability {
    uint32_t flag;
    const char *name;    /* JSON key */
    const char *words;   /* for people */
    const char *without; /* Tutti's substitute if the FMU lacks it; NULL: none worth mentioning */
    int since;           /* first FMI version that supports it */
    int until;           /* last one */
};
extern const struct tt_info_capability tt_info_capabilities[];
extern const size_t tt_info_capability_count;

/* Write everything as JSON; false: memory was not enough, or the file is not whole. */
bool tt_info_write_fmu(FILE *out, struct tt_fmu *fmu);
bool tt_info_write_system(FILE *out, const struct tt_named_system *file);

/* Add members to an object. Text that is not UTF-8, and numbers that JSON cannot express, become null. NULL adds
 * nothing. */
void tt_info_add_text(json_t **object, const char *key, const char *value);
json_t *tt_info_value(enum tt_type type, const void *values, size_t i);
json_t *tt_info_experiment(const struct tt_experiment *experiment);
/* A terminal; the icon of an FMU that has a file of terminals and icons; the layered standards that an FMU follows. */
json_t *tt_info_terminal_json(const struct tt_description *desc, const struct tt_terminals *terminals, uint32_t index);
json_t *tt_info_icon_json(const struct tt_fmu *fmu);
json_t *tt_info_layers_json(struct tt_fmu *fmu);
/* Writes a value, which it takes; false as above. */
bool tt_info_dump(FILE *out, json_t *json, size_t flags);

#endif
