/* SPDX-License-Identifier: MIT */
/* extrapolation.h - how inputs move inside a macro step: held, or along a line or parabola that continues the accepted
 * points: by the derivatives that a unit provides of its outputs, otherwise through earlier values.
 *
 * Invariants:
 *  X1  Only accepted points count (a middle of two half steps for the second of them only): a rejected step leaves
 *      no trace.
 *  X2  An event resets everything: one point, and only the derivatives that units provide there. */
#ifndef TT_SIM_EXTRAPOLATION_H
#define TT_SIM_EXTRAPOLATION_H

#include "sim/outputs.h"
#include "sim/signals/signal_history.h"

/* So many points after the start or an event errors of the first ones, which are of low order, are seen in predictions. */
enum { TUTTI_FIRST_STEPS = 8 };

/* --extrapolate 3: signals move on cubics between both ends of an iterated step (coupled_inputs.h); their first guess is on a parabola. */
enum { TUTTI_CUBIC = 3 };

struct tt_extrapolation {
    struct tt_rank *rank; /* both are borrowed */
    struct tt_outputs *outputs;
    unsigned order;                   /* 0, 1, 2 */
    bool varies;                      /* steps have different sizes */
    unsigned since;                   /* number of steps accepted since the start or the last event */
    bool keeps;                       /* points are kept: for this, or for a control that compares with predictions */
    struct tt_signal_history history; /* of wires.reals */
    bool gives;                       /* some unit gives derivatives of outputs */
    struct tt_signal_history rates[TUTTI_MOST_EXTRAPOLATION]; /* then: these, NAN where they are not given */
    /* Per component: the number of consecutive points at which its FMU's derivatives contradict its values. */
    uint8_t *doubts;
    double *values, *work[TUTTI_MOST_EXTRAPOLATION];
    uint32_t *references; /* for asking a unit */
    /* Corrects derivatives of an order that units gave at the point reached; NULL: they are right as they are. */
    enum tutti_err (*correct)(void *context, unsigned order, double *rates);
    void *context;
};

/* "0", "1", "2", "3"; ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_extrapolation_parse_order(const char *name, unsigned *order);

/* With the units at the first point. In `e` are order, varies, and keeps, if predictions are wanted whatever the order. */
TUTTI_CHECKED enum tutti_err tt_extrapolation_open(struct tt_extrapolation *e, struct tt_outputs *outputs);
/* Registers the state that later steps depend on. */
TUTTI_CHECKED enum tutti_err tt_extrapolation_register(struct tt_extrapolation *extrapolation,
                                                       struct tt_rollback_list *remembered);
void tt_extrapolation_close(struct tt_extrapolation *extrapolation);

/* The point that the units are at, rank->t, is accepted. */
TUTTI_CHECKED enum tutti_err tt_extrapolation_accept(struct tt_extrapolation *extrapolation);
/* Resets the history after signals have jumped. */
TUTTI_CHECKED enum tutti_err tt_extrapolation_restart(struct tt_extrapolation *extrapolation);
/* Before a step of the coupling: slopes of the signals from the newest point on, into the wires. */
void tt_extrapolation_apply_slopes(struct tt_extrapolation *extrapolation);
/* rank->t is the middle of two half steps; afterwards it is forgotten. */
TUTTI_CHECKED enum tutti_err tt_extrapolation_enter_middle(struct tt_extrapolation *extrapolation);
void tt_extrapolation_leave_middle(struct tt_extrapolation *extrapolation);

/* Returns true if the unit of a real (wires.reals) provides its derivative. */
bool tt_extrapolation_provides_rates(const struct tt_rank *rank, uint32_t real);
/* Returns its derivative at the newest point; NAN if there is none. */
double tt_extrapolation_rate(const struct tt_extrapolation *extrapolation, uint32_t real);
/* Derivatives that an own unit gives of its reals where it is, into `rates`, which has one per real: NAN where it gives none. */
TUTTI_CHECKED enum tutti_err tt_extrapolation_get_rates(struct tt_extrapolation *extrapolation, uint32_t component,
                                                        double *rates);

/* The order that history and derivatives allow now. */
unsigned tt_extrapolation_order(const struct tt_extrapolation *extrapolation);
/* Returns true if the start, or the last event, is that close. */
static inline bool tt_extrapolation_begins(const struct tt_extrapolation *extrapolation)
{
    return extrapolation->since < TUTTI_FIRST_STEPS;
}
/* Computes the difference of the reals, at t, from the prediction by the accepted points: by derivatives if units
 * provide them (Galtier 2015: Euler for degree 1, Adams-Bashforth for 2), otherwise by the polynomial of `degree` (1
 * ... 3, less than the number of points). Scaled to the error of a step of a coupling with that order; returns the
 * factor, for polynomials. */
double tt_extrapolation_defect(const struct tt_extrapolation *extrapolation, unsigned degree, double t,
                               const double *now, double *defect);

#endif
