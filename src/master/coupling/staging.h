/* SPDX-License-Identifier: MIT */
/* staging.h - what units see of each other's signals in a step in which these move. */
#ifndef TUTTI_MASTER_COUPLING_STAGING_H
#define TUTTI_MASTER_COUPLING_STAGING_H

#include "master/extrapolation.h"
#include "rank/rank.h"

struct tutti_staging {
    struct tutti_rank *rank;
    const struct tutti_structure *running; /* dependencies of the running phase; these are borrowed */
    struct tutti_extrapolation *extrapolation;
    bool by_means;  /* inputs that are held have their mean over the step */
    bool holds;     /* some unit's inputs are held in a step although they move */
    double *where;  /* per gathered input: the part of a step that it is held at */
    double *second; /* ... and what it is in the second half of a step, where that has halves */
    char *begin;    /* signals at the beginning of a coupling's step, if they move in it */
    bool cubic;     /* signals move on cubics between both ends of a step, where derivatives are known there */
    double
        *ends; /* then, per real: the derivative at the end of the step, as far as units were asked; NAN: not known */
};

/* Memory is the rank's. `running`, `extrapolation`, `by_means` and `cubic` are set before. */
TUTTI_CHECKED enum tutti_err tutti_staging_open(struct tutti_staging *staging, struct tutti_rank *rank);
/* Where inputs of units that take no slopes are held in a step in which they move: in the middle, or at the end if outputs
 * follow them directly. By means they have their mean over the step; if outputs follow them, the step is made in two halves:
 * the second one has the input as it is at the end, the first one what the mean needs. */
TUTTI_CHECKED enum tutti_err tutti_staging_place(struct tutti_staging *staging);

/* Holds the staged inputs of one unit there, unless it takes slopes; for a step to `target`, or one of its own. */
void tutti_staging_hold(struct tutti_staging *staging, const struct tutti_member *member, double target);
/* Stages the inputs of one unit as they are now, for such a step; discrete ones too, unless they are an event to it. */
TUTTI_CHECKED enum tutti_err tutti_staging_stage(struct tutti_staging *staging, struct tutti_member *member,
                                                 double target);
/* For couplings that step unit by unit, with signals of the beginning in `begin`: a unit has made its step of size h, so from
 * now on others see its outputs move from there to where they are; discrete ones have moved. */
void tutti_staging_pass_on(struct tutti_staging *staging, uint32_t component, double h);
/* For couplings that repeat steps: the signal of a real moves from `from` to `to` in a step of size h; by Hermite's formula if `rate`,
 * its derivative there, is a number, and on a line else. Of order 4 with derivatives of both ends. */
void tutti_staging_lead(struct tutti_staging *staging, uint32_t real, double from, double to, double rate, double h);
/* Where signals move on cubics: asks an own unit that has made its step how its outputs move there. */
TUTTI_CHECKED enum tutti_err tutti_staging_ask(struct tutti_staging *staging, uint32_t component);
/* ... and lets all ranks know. Collective. */
TUTTI_CHECKED enum tutti_err tutti_staging_share(struct tutti_staging *staging);
/* ... the unit has gone back to the beginning, and its signals with it. */
void tutti_staging_begin_anew(struct tutti_staging *staging, uint32_t component);

#endif
