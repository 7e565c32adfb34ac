/* SPDX-License-Identifier: MIT */
#include "master/couple.h"

#include <math.h>

#include "rank/agree.h"

/* Its place among the units in the order in which they step. */
static double position_of(const struct tutti_master *master, uint32_t component)
{
    return master->positions ? master->positions[component] : component;
}

static uint32_t component_at(const struct tutti_master *master, double position)
{
    uint32_t at = (uint32_t)position;
    return master->positions ? master->sequence.components[at] : at;
}

/* Who of those with the outcome that counts: the first, or of those that ended the run the last. */
static double vote(const struct tutti_master *master, const struct tutti_outcome *outcome)
{
    double position = position_of(master, outcome->who);
    return outcome->why == TUTTI_ENDED ? -position : position;
}

enum tutti_err tutti_couple_agree(struct tutti_master *master, struct tutti_outcome *outcome)
{
    struct tutti_rank *rank = master->rank;
    if (rank->fabric->ranks == 1)
        return TUTTI_OK;
    double least[] = {-(double)outcome->why, outcome->why == TUTTI_EARLY ? outcome->at : INFINITY};
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MIN, least, 2));
    enum tutti_reach why = (enum tutti_reach)(int)-least[0];
    if (why == TUTTI_REACHED)
        return TUTTI_OK;
    bool counts = outcome->why == why && (why != TUTTI_EARLY || outcome->at == least[1]);
    double first = counts ? vote(master, outcome) : INFINITY;
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MIN, &first, 1));
    uint32_t who = component_at(master, fabs(first));
    double at = counts && outcome->who == who ? outcome->at : -INFINITY;
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MAX, &at, 1));
    outcome->why = why;
    outcome->who = who;
    outcome->at = at;
    return TUTTI_OK;
}

enum tutti_err tutti_couple_send(struct tutti_master *master)
{
    if (!master->exchange_deferred)
        return TUTTI_OK;
    master->exchange_deferred = false;
    return tutti_channels_exchange(&master->rank->channels);
}

enum tutti_err tutti_couple(struct tutti_master *master, double target, struct tutti_outcome *outcome)
{
    const struct tutti_coupling *coupling = master->chosen.coupling;
    *outcome = tutti_outcome_begin();
    tutti_extrapolation_lay(&master->extrapolation);
    tutti_tlm_lay(master->tlm, target);
    tutti_outputs_forget(&master->outputs);
    TRY(tutti_couple_send(master));
    TRY(coupling->step(master, master->coupling, target, outcome));
    master->rank->stats->iterations += outcome->iterations;
    return tutti_couple_agree(master, outcome);
}

static void attribute(struct tutti_rank *rank, bool rejected)
{
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tutti_unit_counts *counts = &rank->own[m]->unit->counts;
        *(rejected ? &counts->rejected : &counts->auxiliary) += counts->do_steps - counts->attributed;
        counts->attributed = counts->do_steps;
    }
}

enum tutti_err tutti_couple_go_back(struct tutti_master *master, bool rejected)
{
    attribute(master->rank, rejected);
    master->exchange_deferred = false;
    tutti_outputs_forget(&master->outputs);
    return tutti_snapshot_restore(&master->start, master->rank);
}
