/* SPDX-License-Identifier: MIT */
/* coupling.h - how one macro step of coupled units is computed. To add a kind: copy jacobi.c, list it in coupling.c, run
 * `ctest -L coupling`. */
#ifndef TUTTI_MASTER_COUPLING_H
#define TUTTI_MASTER_COUPLING_H

#include "master/loop.h"

struct tutti_coupling {
    const char *name; /* "jacobi" */
    bool iterates; /* takes units back inside a step, so that all of them must be able to; says whether it converged */
    /* Before the first step, with the units there. NULL: nothing to prepare. */
    enum tutti_err (*open)(struct run *run);
    void (*close)(struct run *run); /* also after a failed open; NULL: nothing to release */
    /* From run->t to `target`: this rank's units that are due there, and exchange. Afterwards every present unit's outputs
     * at `target` are in the signals; unless a unit ended the step early, which run->master tells. DISCARD: one refused it. */
    enum tutti_err (*step)(struct run *run, double target);
    /* Its order in the step, if inputs are extrapolated with order `extrapolation`: the error of one step goes with the
     * power order + 1. */
    unsigned (*order)(const struct run *run, unsigned extrapolation);
};

extern const struct tutti_coupling tutti_coupling_jacobi, tutti_coupling_seidel, tutti_coupling_relax;

/* By name. ARGUMENT, naming all. */
TUTTI_CHECKED enum tutti_err tutti_coupling_find(const char *name, const struct tutti_coupling **out);

/* Where inputs of units that take no slopes are held in a step in which they move: in the middle, or at the end if outputs
 * follow them directly. With errors per unit of time (master.h) they have their mean over the step; if outputs follow them,
 * the step is made in two halves: the second one has the input as it is at the end, the first one what the mean needs. */
TUTTI_CHECKED enum tutti_err tutti_coupling_place_held(struct run *run);
/* For kinds: holds the staged inputs of one unit there, unless it takes slopes; for a step to `target`, or one of its own. */
void tutti_coupling_hold(struct run *run, const struct tutti_member *member, double target);
/* For kinds: stages the inputs of one unit as they are now, for such a step; discrete ones too, unless they are an event to
 * it. */
TUTTI_CHECKED enum tutti_err tutti_coupling_stage(struct run *run, struct tutti_member *member, double target);
/* For kinds that step unit by unit, with signals of the beginning in run->master.begin: a unit has made its step of size h, so
 * from now on others see its outputs move from there to where they are; discrete ones have moved. */
void tutti_coupling_pass_on(struct run *run, uint32_t component, double h);

/* Prudent exchange (003): signals of a step that turned out to be good go to the ranks that read them. Collective. */
TUTTI_CHECKED enum tutti_err tutti_coupling_pay(struct run *run);

#endif
