/* SPDX-License-Identifier: MIT */
/* me_solution.h - what the solver has found of a Model Exchange unit's future, and where the unit is in it.
 *
 * The solver runs ahead: it takes steps of its own size, and the unit follows in its dense output. Invariants:
 *  E1  t <= front; while they differ, t lies in the solver's last step.
 *  E2  completedIntegratorStep is called once for every step of the solver that the unit passes, at its end, or
 *      where the unit leaves it early (event, new inputs): `open` is false then. */
#ifndef TT_UNIT_ME_SOLUTION_H
#define TT_UNIT_ME_SOLUTION_H

#include "solve/solver.h"
#include "unit/me_model.h"

struct tt_me_solution {
    struct tt_me_model *model; /* borrowed */
    struct tt_ode *ode;        /* what is solved: that of the model, or with extra equations; borrowed */
    struct tt_solver *solver;  /* NULL: there is nothing to integrate */
    enum tt_solver_task task;
    bool led;        /* by a solver that is not its own (unit.h, tt_unit_equations), for which `task` is then ... */
    bool led_back;   /* ... and which can go back to a point that another process saved */
    double t;        /* of the unit */
    double *x;       /* all states at t */
    double front;    /* up to here the solution is known: the solver's time, if there is a solver */
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
/* The solver begins anew, or goes on with what has changed, from where the unit is; nothing is known ahead. */
TUTTI_CHECKED enum tutti_err tt_me_solution_restart(struct tt_me_solution *solution);

struct tt_me_solution_saved {
    double t, *x;
    enum tt_solver_task task;
    void *solver;  /* the method's own memory; NULL: it keeps none that could be saved */
    bool is_ahead; /* ... and it was: what follows is good */
    double front, *ahead;
    bool open;
};
/* tt_me_solution_saved_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_me_solution_saved_init(struct tt_me_solution_saved *saved,
                                                       const struct tt_me_solution *solution);
void tt_me_solution_saved_fini(struct tt_me_solution_saved *saved);
void tt_me_solution_save(const struct tt_me_solution *solution, struct tt_me_solution_saved *saved);
/* With what was known ahead, if that was saved (saved->is_ahead); else the solver begins anew. */
void tt_me_solution_restore(struct tt_me_solution *solution, const struct tt_me_solution_saved *saved);
/* As bytes, and back into one that was made for such a solution. The parcel says whether that went well. */
void tt_me_solution_pack(const struct tt_me_solution *solution, const struct tt_me_solution_saved *saved,
                         struct tt_byte_writer *parcel);
void tt_me_solution_unpack(const struct tt_me_solution *solution, struct tt_byte_reader *in,
                           struct tt_me_solution_saved *saved);

#endif
