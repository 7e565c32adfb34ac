/* SPDX-License-Identifier: MIT */
/* foretold.h - an estimate of the error of a run whose steps are of one size, so that no control judges them.
 *
 * Each looked-at step compares the signals with what the points before it foretold, by the polynomial of the order of the coupling
 * (extrapolation.h): what is left is at most what the coupling does wrong in a step with inputs that move as these signals do, and needs
 * no step to be taken back. These parts are added up over the run, as those of accepted steps are (scale.h). It is a bound, often a wide
 * one: units compute their own motion rightly, and no step is doubled here that would show how much of it is theirs.
 *
 * The first thousand steps are looked at, later on a hundred of every two thousand; only own signals, and nothing depends on it but the
 * statistics and a warning. */
#ifndef TUTTI_MASTER_CONTROL_FORETOLD_H
#define TUTTI_MASTER_CONTROL_FORETOLD_H

#include "base/remembered.h"
#include "rank/rank.h"

struct tutti_master;

/* One signal. */
struct tutti_foretold_signal {
    double early;          /* its range in the first steps; 0: they are not over */
    uint32_t real;         /* index of wires.reals */
    double before[3];      /* its values at the points before, the newest first */
    double sum, low, high; /* parts of the error, and where it moved, in steps that were looked at */
};

/* How far the looks have come. Plain data. */
struct tutti_foretold_state {
    uint32_t count;       /* of signals; 0: nothing is estimated */
    uint32_t left, pause; /* steps until a look ends, and until the next one begins; 0: one is being taken */
    uint32_t points;      /* known in a row */
    double t, h;          /* the last point, and the step to it */
    unsigned long events; /* that had happened by then */
    double weight;        /* of an examined step: the number of steps that it represents */
};

struct tutti_foretold {
    bool estimates;  /* some rank does */
    unsigned degree; /* of the polynomials */
    struct tutti_foretold_signal *items;
    struct tutti_foretold_state now;
};

/* At the first point, when the master is chosen. */
TUTTI_CHECKED enum tutti_err tutti_foretold_open(struct tutti_foretold *foretold, struct tutti_master *master);
TUTTI_CHECKED enum tutti_err tutti_foretold_remember(struct tutti_foretold *foretold,
                                                     struct tutti_remembered *remembered);
/* At an accepted point: is it to be looked at? */
static inline bool tutti_foretold_is_due(struct tutti_foretold *foretold)
{
    return foretold->now.count > 0 && (foretold->now.pause == 0 || --foretold->now.pause == 0);
}
/* If so. Allocates nothing. */
void tutti_foretold_look(struct tutti_foretold *foretold, const struct tutti_rank *rank);
/* After the last step: the estimated error of the run, into the rank's statistics, and a warning if it is more than the tolerance and
 * a unit keeps the run from controlling it. Collective; with several ranks only at the end of the time that was asked for. */
TUTTI_CHECKED enum tutti_err tutti_foretold_tell(const struct tutti_foretold *foretold, struct tutti_master *master,
                                                 bool exploded);

#endif
