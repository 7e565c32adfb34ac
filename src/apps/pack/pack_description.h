/* SPDX-License-Identifier: MIT */
/* describe.h - the modelDescription.xml of a packed system, and its table of variables. */
#ifndef TT_APPS_PACK_PACK_DESCRIPTION_H
#define TT_APPS_PACK_PACK_DESCRIPTION_H

#include "base/text.h"
#include "apps/pack/exposed.h"

struct tt_pack_description {
    const struct tt_job *job;
    const struct tt_exposed_list *exposed;
    unsigned fmi;
    const char *name, *identifier, *token;
};

TUTTI_CHECKED enum tutti_err tt_pack_description_write(const struct tt_pack_description *description,
                                                       struct tt_text *out);
/* What tt_packed_table_read reads. */
TUTTI_CHECKED enum tutti_err tt_pack_description_write_table(const struct tt_pack_description *description,
                                                             struct tt_text *out);

#endif
