/* SPDX-License-Identifier: MIT */
/* describe.h - the modelDescription.xml of a packed system, and its table of variables. */
#ifndef TUTTI_PACK_DESCRIBE_H
#define TUTTI_PACK_DESCRIBE_H

#include "base/str.h"
#include "pack/exposed.h"

struct tutti_pack_description {
    const struct tutti_job *job;
    const struct tutti_exposed_list *exposed;
    unsigned fmi;
    const char *name, *identifier, *token;
};

TUTTI_CHECKED enum tutti_err tutti_pack_describe(const struct tutti_pack_description *description,
                                                 struct tutti_text *out);
/* What tutti_packed_table_read reads. */
TUTTI_CHECKED enum tutti_err tutti_pack_write_table(const struct tutti_pack_description *description,
                                                    struct tutti_text *out);

#endif
