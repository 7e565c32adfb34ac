/* SPDX-License-Identifier: MIT */
/* formats.h - the readers of the formats, for assembly.c: each fills an assembly that has nothing but its file's name. Private to
 * src/foreign. */
#ifndef TUTTI_FOREIGN_FORMATS_H
#define TUTTI_FOREIGN_FORMATS_H

#include "base/err.h"
#include "base/findings.h"
#include "base/reader.h"

struct tutti_assembly;

TUTTI_CHECKED enum tutti_err tutti_osp_read(struct tutti_assembly *assembly, struct tutti_reader *reader,
                                            struct tutti_findings *findings);
TUTTI_CHECKED enum tutti_err tutti_msim_read(struct tutti_assembly *assembly, struct tutti_reader *reader,
                                             struct tutti_findings *findings);

#endif
