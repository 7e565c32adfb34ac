/* SPDX-License-Identifier: MIT */
/* coupled_inputs.h - the inputs of units from each other's signals in a step in which these move. */
#ifndef TT_SIM_COUPLED_INPUTS_H
#define TT_SIM_COUPLED_INPUTS_H

#include "sim/extrapolation.h"
#include "sim/rank.h"

struct tt_coupled_inputs {
    struct tt_rank *rank;
    const struct tt_structure *running; /* dependencies of the running phase; these are borrowed */
    struct tt_extrapolation *extrapolation;
    bool by_means;  /* inputs that are held have their mean over the step */
    bool holds;     /* some unit's inputs are held in a step although they move */
    double *where;  /* per gathered input: the part of a step that it is held at */
    double *second; /* its value in the second half of a step with halves */
    char *begin;    /* signals at the beginning of a coupling's step, if they move in it */
    bool cubic;     /* signals move on cubics between both ends of a step, where derivatives are known there */
    double
        *ends; /* then, per real: the derivative at the end of the step, as far as units were asked; NAN: not known */
};

/* Memory is the rank's. `running`, `extrapolation`, `by_means` and `cubic` are set before. */
TUTTI_CHECKED enum tutti_err tt_coupled_inputs_open(struct tt_coupled_inputs *staging, struct tt_rank *rank);
/* Determines where moving inputs of units without slopes are held in a step: in the middle, or at the end if outputs
 * directly depend on them. By means they have their mean over the step; if outputs depend on them, the step is made in
 * two halves: the second half has the final value, the first half the value that gives the mean. */
TUTTI_CHECKED enum tutti_err tt_coupled_inputs_choose_holds(struct tt_coupled_inputs *staging);

/* Holds the gathered inputs of one unit there, unless it accepts slopes; for a step to `target`, or a separate step. */
void tt_coupled_inputs_hold(struct tt_coupled_inputs *staging, const struct tt_member *member, double target);
/* Stages the moving inputs of one unit with the values in `source` (layout of the signals), for such a step; its discrete inputs with the
 * present signals, unless they are an event to it. */
TUTTI_CHECKED enum tutti_err tt_coupled_inputs_gather(struct tt_coupled_inputs *staging, const char *source,
                                                      struct tt_member *member, double target);
/* For couplings that step unit by unit, with signals of the beginning in `begin`: a unit has made its step of size h, so from
 * now on others see its outputs move from there to where they are; discrete ones have moved. */
void tt_coupled_inputs_interpolate(struct tt_coupled_inputs *staging, uint32_t component, double h);
/* For couplings that repeat steps: the signal of a real moves from `from` to `to` in a step of size h; by Hermite's formula if `rate`,
 * its derivative there, is a number, and on a line else. Of order 4 with derivatives of both ends. */
void tt_coupled_inputs_set_hermite(struct tt_coupled_inputs *staging, uint32_t real, double from, double to,
                                   double rate, double h);
/* Where signals move on cubics: asks an own unit that has made its step how its outputs move there. */
TUTTI_CHECKED enum tutti_err tt_coupled_inputs_get_rates(struct tt_coupled_inputs *staging, uint32_t component);
/* Exchanges these with all ranks. Collective. */
TUTTI_CHECKED enum tutti_err tt_coupled_inputs_exchange_rates(struct tt_coupled_inputs *staging);
/* Resets the start values after the unit and its signals have been rolled back. */
void tt_coupled_inputs_reset_start(struct tt_coupled_inputs *staging, uint32_t component);

#endif
