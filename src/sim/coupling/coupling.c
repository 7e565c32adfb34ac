/* SPDX-License-Identifier: MIT */
#include "sim/coupling/coupling.h"

#include <math.h>

#include "base/options/options.h"
#include "sim/rank.h"

#define LISTED(name, word, meaning) &tt_coupling_##name,
static const struct tt_coupling *const couplings[] = {TUTTI_COUPLINGS(LISTED)};

const struct tt_coupling *tt_coupling_at(size_t number)
{
    return number < sizeof couplings / sizeof *couplings ? couplings[number] : NULL;
}

enum tutti_err tt_coupling_find(const char *name, const struct tt_coupling **out)
{
    int place;
    TRY(tt_options_choose("coupling", name, &place));
    *out = place > 0 ? couplings[place - 1] : NULL; /* the first word is auto */
    return TUTTI_OK;
}

static uint32_t component_at_position(const struct tt_sim *master, double position)
{
    uint32_t at = (uint32_t)position;
    return master->positions ? master->sequence.components[at] : at;
}

/* Which of the components with the end that counts: the first, or of those that ended the run the last. */
static double encode_component(const struct tt_sim *master, const struct tt_step_result *result)
{
    double position = master->positions ? master->positions[result->component] : result->component;
    return result->end == TUTTI_END_OF_RUN ? -position : position;
}

enum tutti_err tt_coupling_agree(struct tt_sim *master, struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    if (rank->fabric->ranks == 1)
        return TUTTI_OK;
    double least[] = {-(double)result->end, result->end == TUTTI_END_EVENT ? result->at : INFINITY};
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, least, 2));
    enum tt_step_end end = (enum tt_step_end)(int)-least[0];
    if (end == TUTTI_END_REACHED)
        return TUTTI_OK;
    bool counts = result->end == end && (end != TUTTI_END_EVENT || result->at == least[1]);
    double first = counts ? encode_component(master, result) : INFINITY;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, &first, 1));
    uint32_t component = component_at_position(master, fabs(first));
    double at = counts && result->component == component ? result->at : -INFINITY;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, &at, 1));
    result->end = end;
    result->component = component;
    result->at = at;
    return TUTTI_OK;
}

enum tutti_err tt_coupling_send_deferred(struct tt_sim *master)
{
    if (!master->exchange_deferred)
        return TUTTI_OK;
    master->exchange_deferred = false;
    return tt_channels_exchange(&master->rank->channels);
}

enum tutti_err tt_coupling_step(struct tt_sim *master, double target, const struct tt_step_rules *rules,
                                struct tt_step_result *result)
{
    const struct tt_coupling *coupling = master->chosen.coupling;
    *result = tt_step_result_begin(master->rank->t, target);
    tt_extrapolation_apply_slopes(&master->extrapolation);
    if (master->tlm)
        tt_tlm_compute_inputs(master->tlm, target);
    tt_outputs_invalidate(&master->outputs);
    TRY(tt_coupling_send_deferred(master));
    TRY(coupling->step(master, master->coupling, target, rules, result));
    master->rank->stats->iterations += result->iterations;
    return tt_coupling_agree(master, result);
}

enum tutti_err tt_coupling_roll_back(struct tt_sim *master, bool rejected)
{
    for (uint32_t m = 0; m < master->rank->own_count; m++) {
        struct tt_unit_counts *counts = &master->rank->own[m]->unit->counts;
        *(rejected ? &counts->rejected : &counts->auxiliary) += counts->do_steps - counts->attributed;
        counts->attributed = counts->do_steps;
    }
    master->exchange_deferred = false;
    tt_outputs_invalidate(&master->outputs);
    return tt_snapshot_restore(&master->start, master->rank, TUTTI_STATE_ROLLBACK);
}
