/* SPDX-License-Identifier: MIT */
/* options_pack.h - the options of a run as bytes, for a process that makes the same job from them. */
#ifndef TT_BASE_OPTIONS_OPTIONS_PACK_H
#define TT_BASE_OPTIONS_OPTIONS_PACK_H

#include "base/bytes.h"
#include "base/options/options.h"

/* What else of them a worker has to know. */
struct tt_options_extras {
    int log_level;     /* of options->log; -1: silent */
    bool has_progress; /* the caller wants to know how far the run is */
    bool has_dashes;   /* messages are to name options with dashes */
};

/* What is set of one of them: the same bytes for the same. MEMORY is in the parcel. */
void tt_options_pack_one(const struct tutti_run_options *options, const struct tt_option *option,
                         struct tt_byte_writer *parcel);
/* ARGUMENT if there is something in the options that cannot travel: equations of a program's own (extra). */
TUTTI_CHECKED enum tutti_err tt_options_pack(const struct tutti_run_options *options, struct tt_byte_writer *parcel);
/* Texts are copied to `arena`; options that do not travel are as if they had not been set. FORMAT if it is no such parcel. */
TUTTI_CHECKED enum tutti_err tt_options_unpack(struct tutti_run_options *options, struct tt_options_extras *extras,
                                               struct tt_byte_reader *in, struct tt_arena *arena);

#endif
