/* SPDX-License-Identifier: MIT */
/* import_formats.h - the readers of the formats, for import.c: each fills an assembly that has nothing but its file's name. Private to
 * src/foreign. */
#ifndef TT_MODEL_IMPORT_IMPORT_FORMATS_H
#define TT_MODEL_IMPORT_IMPORT_FORMATS_H

#include "base/fail.h"
#include "base/findings.h"
#include "base/byte_source.h"

struct tt_import;

TUTTI_CHECKED enum tutti_err tt_osp_read(struct tt_import *assembly, struct tt_byte_source *reader,
                                         struct tt_findings *findings);
TUTTI_CHECKED enum tutti_err tt_msim_read(struct tt_import *assembly, struct tt_byte_source *reader,
                                          struct tt_findings *findings);

#endif
