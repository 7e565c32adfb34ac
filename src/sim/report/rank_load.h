/* SPDX-License-Identifier: MIT */
/* rank_load.h - how a run goes, for those who watch it: the macro steps that were made, and what its units take. Each rank tells its own, some times
 * a second, and only while somebody watches. */
#ifndef TT_SIM_REPORT_RANK_LOAD_H
#define TT_SIM_REPORT_RANK_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/bytes.h"

enum { TUTTI_LOAD_EVENTS = 32 }; /* points of time that are told at once */

/* Macro steps since the last time that they were told. */
struct tt_step_counts {
    double from, to; /* simulated time */
    uint64_t count;
    double least, greatest; /* sizes; of steps that are not tried out their mean */
    double error;           /* the greatest estimate, as a part of what is allowed; NaN: there is none */
    uint64_t event_count;   /* of `events`, the first ones since then */
    double events[TUTTI_LOAD_EVENTS];
    uint64_t rejected, located; /* steps and events of the whole run */
};

struct tt_unit_load {
    uint32_t component;
    double seconds; /* in do-steps, so far */
    uint64_t do_steps;
};

struct tt_rank_load {
    double elapsed; /* on the clock, since the first step */
    struct tt_step_counts steps;
    struct tt_unit_load *units; /* of the rank */
    size_t unit_count;
};

/* Nothing was made yet. */
void tt_reporter_begin_steps(struct tt_step_counts *made, double t);
/* NULL is fine: nobody watches. */
void tt_reporter_add_step(struct tt_step_counts *made, double size, double error);
void tt_reporter_add_event(struct tt_step_counts *made, double t);

void tt_reporter_pack_load(struct tt_byte_writer *parcel, const struct tt_rank_load *load);
/* load->units is by malloc. FORMAT, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_reporter_unpack_load(struct tt_byte_reader *in, struct tt_rank_load *load);

#endif
