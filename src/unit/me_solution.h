/* SPDX-License-Identifier: MIT */
/* me_solution.h - the solution that the solver has computed ahead of a Model Exchange unit, and the unit's position in
 * it.
 *
 * The solver runs ahead: it chooses its steps, and the unit follows in its dense output. Invariants:
 *  E1  t <= front; while they differ, t lies in the solver's last step.
 *  E2  completedIntegratorStep is called once for every step of the solver that the unit passes, at its end, or
 *      where the unit leaves it early (event, new inputs): `open` is false then. */
#ifndef TT_UNIT_ME_SOLUTION_H
#define TT_UNIT_ME_SOLUTION_H

#include "solve/solver.h"
#include "unit/me_model.h"

struct tt_me_solution {
    struct tt_me_model *model; /* borrowed */
    struct tt_ode *ode;        /* the problem: that of the model, or with extra equations; borrowed */
    struct tt_solver *solver;  /* NULL: nothing to integrate */
    enum tt_solver_task task;
    bool led;        /* by a foreign solver (unit.h, tt_unit_equations), for which `task` is set */
    bool led_back;   /* and that solver can restore a point that a different process saved */
    double t;        /* of the unit */
    double *x;       /* all states at t */
    double front;    /* the solution is known up to here: the solver's time, if there is a solver */
    double *ahead;   /* all states at the solver's time */
    bool open;       /* E2: the solver's last step is not completed */
    double *scratch; /* as long as these */
    double *dx;      /* likewise */
};

/* Once model and ode are made; `t` and `front` are set. */
TUTTI_CHECKED enum tutti_err tt_me_solution_init(struct tt_me_solution *solution, struct tt_me_model *model,
                                                 struct tt_ode *ode);
/* Zeroed is fine, too. */
void tt_me_solution_fini(struct tt_me_solution *solution);
/* All states at a time in the solver's last step. */
TUTTI_CHECKED enum tutti_err tt_me_solution_evaluate(struct tt_me_solution *solution, double t, double *x);
/* The FMU at the unit's own point again. */
TUTTI_CHECKED enum tutti_err tt_me_solution_place_back(struct tt_me_solution *solution);
/* Restarts or continues the solver from the unit's position; nothing is known ahead. */
TUTTI_CHECKED enum tutti_err tt_me_solution_restart(struct tt_me_solution *solution);

struct tt_me_solution_saved {
    double t, *x;
    enum tt_solver_task task;
    void *solver;  /* the method's own memory; NULL: it keeps none that could be saved */
    bool is_ahead; /* the solver's state was saved: the following fields are valid */
    double front, *ahead;
    bool open;
};
/* tt_me_solution_saved_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_me_solution_saved_init(struct tt_me_solution_saved *saved,
                                                       const struct tt_me_solution *solution);
void tt_me_solution_saved_fini(struct tt_me_solution_saved *saved);
void tt_me_solution_save(const struct tt_me_solution *solution, struct tt_me_solution_saved *saved);
/* Restores the solution known ahead, if it was saved (saved->is_ahead); otherwise the solver restarts. */
void tt_me_solution_restore(struct tt_me_solution *solution, const struct tt_me_solution_saved *saved);
/* Packs a solution as bytes, and unpacks it into one created for that unit. The parcel records failures. */
void tt_me_solution_pack(const struct tt_me_solution *solution, const struct tt_me_solution_saved *saved,
                         struct tt_byte_writer *parcel);
void tt_me_solution_unpack(const struct tt_me_solution *solution, struct tt_byte_reader *in,
                           struct tt_me_solution_saved *saved);

#endif
