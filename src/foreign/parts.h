/* SPDX-License-Identifier: MIT */
/* Private to src/foreign: what readers of the formats share. */
#ifndef TUTTI_FOREIGN_PARTS_H
#define TUTTI_FOREIGN_PARTS_H

#include "foreign/assembly.h"

/* A place for one more; NULL when memory is out. */
struct tutti_assembly_unit *tutti_assembly_add_unit(struct tutti_assembly *assembly);
struct tutti_assembly_function *tutti_assembly_add_function(struct tutti_assembly *assembly);
struct tutti_assembly_link *tutti_assembly_add_link(struct tutti_assembly *assembly);
struct tutti_assembly_value *tutti_assembly_add_value(struct tutti_assembly *assembly);
/* `value` is copied, `name` is static. */
TUTTI_CHECKED enum tutti_err tutti_assembly_set(struct tutti_assembly *assembly, const char *name, const char *value,
                                                unsigned line);
TUTTI_CHECKED enum tutti_err tutti_assembly_set_number(struct tutti_assembly *assembly, const char *name, double value,
                                                       unsigned line);
/* FORMAT: "file:line: words". */
enum tutti_err tutti_assembly_fail(const struct tutti_assembly *assembly, unsigned line, const char *format, ...)
    TUTTI_PRINTF(3, 4);

TUTTI_CHECKED enum tutti_err tutti_osp_read(struct tutti_assembly *assembly, struct tutti_reader *reader,
                                            struct tutti_findings *findings);
TUTTI_CHECKED enum tutti_err tutti_msim_read(struct tutti_assembly *assembly, struct tutti_reader *reader,
                                             struct tutti_findings *findings);

#endif
