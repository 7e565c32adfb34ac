/* SPDX-License-Identifier: MIT */
/* packed_equations.h - a packed system by Model Exchange: the equations of all its units as one, with their inputs
 * eliminated in every evaluation (sim/coupling/joint_system.h), for a solver of the importer.
 *
 *  EQ1  The importer's point is (t, x) and its inputs. Units are placed there when something is read, at most once
 *       per point.
 *  EQ2  Units are in continuous-time mode whatever the importer's mode is: they cross events, all at once, when it
 *       updates the discrete states. Values set in event mode that do not change continuously are passed to them
 *       then.
 *  EQ3  An event that the importer enters is an event for every unit; each unit determines whether it is concerned.
 *       Then it is an event for units whose indicators were moved out of their domains by a second unit. */
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

/* The result of an update of the discrete states. */
struct tt_equations_update {
    bool again;                            /* a further update is needed */
    bool terminate;                        /* a unit ends the run */
    bool nominals_changed, states_changed; /* of the continuous states */
    double next_event;                     /* INFINITY: none */
};
TUTTI_CHECKED enum tutti_err tt_packed_equations_enter_event(struct tt_packed *packed);
TUTTI_CHECKED enum tutti_err tt_packed_equations_update(struct tt_packed *packed, struct tt_equations_update *update);

/* For saving and restoring: move the units to the importer's point; set the importer's point to the units' point. */
TUTTI_CHECKED enum tutti_err tt_packed_equations_move_units(struct tt_packed *packed);
void tt_packed_equations_adopt_units(struct tt_packed *packed);

#endif
