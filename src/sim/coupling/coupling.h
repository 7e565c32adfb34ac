/* SPDX-License-Identifier: MIT */
/* coupling.h - how one macro step of coupled units is computed. To add a kind: copy jacobi.c without its `by_lane`, list it
 * in TUTTI_COUPLINGS, run `ctest -L coupling`. */
#ifndef TT_SIM_COUPLING_COUPLING_H
#define TT_SIM_COUPLING_COUPLING_H

#include <stddef.h>

#include "base/fail.h"
#include "base/options/option_words.h"
#include "sim/step_result.h"
#include "sim/sim.h"

struct tt_sim;

struct tt_coupling {
    const char *name; /* "jacobi" */
    /* Properties for choosing and preparing it. */
    bool iterates; /* rolls units back inside a step, so that all must support it; reports convergence */
    bool sweeps;   /* iterates by sweeps over all units of a cycle: takes --sweeps and --accelerate */
    /* Satisfies constraints (model/system/joint.h); if there are any, it rolls units back inside a step. */
    bool constrains;
    bool waves; /* steps units sequentially, in the order of model/plan/step_order.h */
    /* It is plain Jacobi, or Gauss-Seidel if it waves: without work between steps, the lane (sim/fast.h) makes them
     * without calling `step`. False for every other kind. */
    bool by_lane;
    /* All Model Exchange units share one solver, on every rank: they are always at one point. Without other units, an
     * event ends a step for all where it is, without any rollback. */
    bool joins;
    /* Units have separate times inside a macro step, which is only a window: it ends steps only of units that are due,
     * inputs are held between messages, each unit crosses its events alone, and --control concerns the steps of each
     * unit. */
    bool federates;
    bool takes_correction;   /* its outputs can be corrected (correction.h) */
    bool takes_smoothing;    /* and its inputs can be smoothed */
    bool may_defer_exchange; /* signals of a step may be sent once it is known to be good (Galtier 2015) */
    size_t size;             /* size of its state: zeroed before open, not rolled back; 0: none */
    /* Called before the first step, with the units open. Adds the state that later steps depend on to
     * master->remembered: plain data (base/rollback_list.h). NULL: nothing to prepare. */
    enum tutti_err (*open)(struct tt_sim *master, void *self);
    void (*close)(struct tt_sim *master, void *self); /* also after a failed open; NULL: nothing to release */
    /* Steps this rank's units that are due from the rank's time to `target`, with exchange. Afterwards every present
     * unit's outputs at `target` are in the signals, unless `result`, which was begun, reports otherwise. `rules` hold for the steps of all components. */
    enum tutti_err (*step)(struct tt_sim *master, void *self, double target, const struct tt_step_rules *rules,
                           struct tt_step_result *result);
    /* Its order in the step, if inputs are extrapolated with order `extrapolation`: the error of one step goes with the
     * power order + 1. */
    unsigned (*order)(unsigned extrapolation);
};

/* All of them, by the list in base/options/option_words.h: tt_coupling_NAME, in NAME.c. */
#define TUTTI_DECLARE_COUPLING(name, word, meaning) extern const struct tt_coupling tt_coupling_##name;
TUTTI_COUPLINGS(TUTTI_DECLARE_COUPLING)
#undef TUTTI_DECLARE_COUPLING

/* Returns the couplings by number, from 0 on; NULL at the end. */
const struct tt_coupling *tt_coupling_at(size_t number);
/* By name; NULL for "auto". ARGUMENT, naming all. */
TUTTI_CHECKED enum tutti_err tt_coupling_find(const char *name, const struct tt_coupling **out);

/* One step of the chosen coupling, with its extensions, and its rollback. */

/* From the rank's time to `target`, with slopes of the signals laid out; the result is the same on all ranks. `rules` hold
 * for the steps of all components. Collective. */
TUTTI_CHECKED enum tutti_err tt_coupling_step(struct tt_sim *master, double target, const struct tt_step_rules *rules,
                                              struct tt_step_result *result);

/* Rolls back to the start of the macro step. Do-steps since then count as rejected, or as auxiliary. */
TUTTI_CHECKED enum tutti_err tt_coupling_roll_back(struct tt_sim *master, bool rejected);

/* Where the exchange was deferred (Galtier 2015): signals of a step that turned out to be good go to the ranks that read them.
 * Collective. */
TUTTI_CHECKED enum tutti_err tt_coupling_send_deferred(struct tt_sim *master);

/* For couplings. Collective: the result of all ranks. Of several units it is the one that one rank alone, which steps unit
 * after unit, would have seen. */
TUTTI_CHECKED enum tutti_err tt_coupling_agree(struct tt_sim *master, struct tt_step_result *result);

#endif
