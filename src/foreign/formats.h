/* SPDX-License-Identifier: MIT */
/* formats.h - the readers of the formats, for assembly.c: each fills an assembly that has nothing but its file's name. Private to
 * src/foreign. */
#ifndef TUTTI_FOREIGN_FORMATS_H
#define TUTTI_FOREIGN_FORMATS_H

#include "base/err.h"
#include "base/findings.h"
#include "base/reader.h"

struct tt_import;

TUTTI_CHECKED enum tutti_err tt_osp_read(struct tt_import *assembly, struct tt_byte_source *reader,
                                         struct tt_findings *findings);
TUTTI_CHECKED enum tutti_err tt_msim_read(struct tt_import *assembly, struct tt_byte_source *reader,
                                          struct tt_findings *findings);

#endif
