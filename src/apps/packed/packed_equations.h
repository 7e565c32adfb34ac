/* SPDX-License-Identifier: MIT */
/* packed_equations.h - a packed system by Model Exchange: the equations of all its units as one, with their inputs eliminated in every evaluation
 * (sim/coupling/joint_system.h), for a solver of the importer.
 *
 *  EQ1  The importer's point is (t, x) and its inputs. Units are placed there when something is read, at most once per point.
 *  EQ2  Units are in continuous-time mode whatever the importer's mode is: they cross events, all at once, when it updates the discrete states. What it sets
 *       in event mode and does not change continuously they are given then.
 *  EQ3  An event that the importer enters is one for every unit: which of them it is for is theirs to see. After that, it is one for those whose
 *       indicators another one has moved out of their domains. */
#ifndef TT_APPS_PACKED_PACKED_EQUATIONS_H
#define TT_APPS_PACKED_PACKED_EQUATIONS_H

#include "apps/packed/packed.h"

/* When the simulation is started; before it is freed (NULL is fine). UNSUPPORTED if the units are not what was packed. */
TUTTI_CHECKED enum tutti_err tt_packed_equations_open(struct tt_packed *packed);
void tt_packed_equations_close(struct tt_packed *packed);

double tt_packed_equations_time(const struct tt_packed *packed);
/* The importer's point. DISCARD where the units have no values, from here on. */
TUTTI_CHECKED enum tutti_err tt_packed_equations_set_time(struct tt_packed *packed, double t);
TUTTI_CHECKED enum tutti_err tt_packed_equations_set_states(struct tt_packed *packed, const double *x, size_t count);
void tt_packed_equations_invalidate(struct tt_packed *packed); /* an input is another */
TUTTI_CHECKED enum tutti_err tt_packed_equations_evaluate(struct tt_packed *packed);
TUTTI_CHECKED enum tutti_err tt_packed_equations_derivatives(struct tt_packed *packed, double *dx, size_t count);
/* `count` of them, from `first` on. */
TUTTI_CHECKED enum tutti_err tt_packed_equations_indicators(struct tt_packed *packed, double *z, size_t first,
                                                            size_t count);
TUTTI_CHECKED enum tutti_err tt_packed_equations_states(struct tt_packed *packed, double *x, size_t count);
TUTTI_CHECKED enum tutti_err tt_packed_equations_nominals(struct tt_packed *packed, double *nominals, size_t count);

/* A step of the importer's solver ends at its point. */
TUTTI_CHECKED enum tutti_err tt_packed_equations_complete_step(struct tt_packed *packed, bool *event, bool *terminate);

/* What an update of the discrete states brought. */
struct tt_equations_update {
    bool again;                            /* there is more to update */
    bool terminate;                        /* a unit ends the run */
    bool nominals_changed, states_changed; /* of the continuous states */
    double next_event;                     /* INFINITY: none */
};
TUTTI_CHECKED enum tutti_err tt_packed_equations_enter_event(struct tt_packed *packed);
TUTTI_CHECKED enum tutti_err tt_packed_equations_update(struct tt_packed *packed, struct tt_equations_update *update);

/* Around saving and going back: units stand at the importer's point; the importer's point is where the units stand. */
TUTTI_CHECKED enum tutti_err tt_packed_equations_move_units(struct tt_packed *packed);
void tt_packed_equations_adopt_units(struct tt_packed *packed);

#endif
