/* SPDX-License-Identifier: MIT */
/* import.h - a system in the format of another tool, unresolved: FMUs and tables by names, connections, values,
 * settings. Read are OspSystemStructure.xml of the Open Simulation Platform (osp.c) and project files of MasterSim,
 * .msim (msim.c).
 *
 * Files and variables are resolved later, when a system is made of it. Connections do not convert units, as in the
 * tools of these formats. */
#ifndef TT_MODEL_IMPORT_IMPORT_H
#define TT_MODEL_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/findings.h"

struct tt_import_component {
    const char *name;
    const char *source; /* a path or a URI, relative to the file */
    double step;        /* its own; 0: none */
    unsigned line;
};

/* out = offset + factor * in, or the sum of `terms` inputs; each signal has `dimension` values. */
struct tt_import_function {
    const char *name;
    bool sums;
    double factor, offset;
    unsigned terms, dimension; /* dimension 0: a scalar, whose signals have no index */
    unsigned line;
};

/* A variable of a component or a signal of a function; or a group of either, whose members are connected one by one. */
struct tt_import_end {
    const char *owner, *name;
    bool function;
};

struct tt_import_connection {
    struct tt_import_end ends[2]; /* their kinds determine which is the source */
    bool groups;
    double factor, offset; /* of the destination's value */
    unsigned line;
};

struct tt_import_value {
    const char *unit, *variable, *value;
    unsigned line;
};

/* A word of the command line: "step", "0.01". */
struct tt_import_setting {
    const char *name, *value;
    unsigned line;
};

struct tt_import {
    const char *file;
    struct tt_import_component *units;
    struct tt_import_function *functions;
    struct tt_import_connection *links;
    struct tt_import_value *values;
    struct tt_import_setting *settings;
    size_t unit_count, function_count, link_count, value_count, setting_count;
    bool has_start, has_stop;
    double start, stop;
    struct tt_arena arena; /* holds all of it */
};

/* Returns true for the names of supported files (OspSystemStructure*.xml, *.msim). */
bool tt_import_is_supported(const char *path);
/* Reads a file. `file` is used in messages and determines the format. Anomalies go to `findings` (may be NULL). FORMAT
 * with file and line if the content is unusable, LIMIT. *out belongs to the caller. */
TUTTI_CHECKED enum tutti_err tt_import_read(struct tt_import **out, const char *file, struct tt_byte_source *reader,
                                            struct tt_findings *findings);
void tt_import_free(struct tt_import *assembly);

/* For the readers of the formats. */

/* A place for one more; NULL when memory is out. */
struct tt_import_component *tt_import_add_component(struct tt_import *assembly);
struct tt_import_function *tt_import_add_function(struct tt_import *assembly);
struct tt_import_connection *tt_import_add_connection(struct tt_import *assembly);
struct tt_import_value *tt_import_add_value(struct tt_import *assembly);
/* `value` is copied, `name` is static. */
TUTTI_CHECKED enum tutti_err tt_import_set(struct tt_import *assembly, const char *name, const char *value,
                                           unsigned line);
TUTTI_CHECKED enum tutti_err tt_import_set_number(struct tt_import *assembly, const char *name, double value,
                                                  unsigned line);
/* FORMAT: "file:line: words". */
enum tutti_err tt_import_fail(const struct tt_import *assembly, unsigned line, const char *format, ...)
    TUTTI_PRINTF(3, 4);

/* The variables of a group, in their order; names are in `arena`. */
struct tt_import_group {
    const char **variables;
    size_t count;
};
/* Reads the group `name` of a component from its OspModelDescription.xml. *found is false if it does not exist. */
TUTTI_CHECKED enum tutti_err tt_osp_read_group(const char *file, struct tt_byte_source *reader, const char *name,
                                               struct tt_arena *arena, struct tt_import_group *group, bool *found);

/* The readers of the formats, for import.c: each fills an assembly that has only its file's name. Private to the
 * folder. */

struct tt_import;

TUTTI_CHECKED enum tutti_err tt_osp_read(struct tt_import *assembly, struct tt_byte_source *reader,
                                         struct tt_findings *findings);
TUTTI_CHECKED enum tutti_err tt_msim_read(struct tt_import *assembly, struct tt_byte_source *reader,
                                          struct tt_findings *findings);

#endif
