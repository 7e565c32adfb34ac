/* SPDX-License-Identifier: MIT */
#include "unit/me_solution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum tutti_err make_solver(struct me_solution *solution)
{
    const struct tutti_integration *integration = &solution->model->options->integration;
    struct tutti_solver_options options = {
        .h_fixed = integration->h_fixed,
        .h_max = integration->h_max,
        .h_first = integration->h_first,
        .max_order = integration->max_order,
        .linear = integration->linear,
        .predictor = integration->predictor,
        .jacobian = integration->jacobian,
    };
    const struct tutti_solver_kind *kind = integration->solver ? integration->solver : tutti_solver_kinds[0];
    TRY(tutti_fail_context(tutti_solver_new(&solution->solver, kind, solution->ode, &options), "%s",
                           solution->model->unit->name));
    solution->model->solver_name = kind->name;
    return TUTTI_OK;
}

enum tutti_err tutti_me_solution_init(struct me_solution *solution, struct me_model *model, struct tutti_ode *ode)
{
    size_t n = ode->count;
    solution->model = model;
    solution->ode = ode;
    ode->origin = tutti_ode_choose_origin(model->setup.start, model->setup.stop);
    solution->x = calloc(n + 1, sizeof *solution->x);
    solution->ahead = calloc(n + 1, sizeof *solution->ahead);
    solution->scratch = calloc(n + 1, sizeof *solution->scratch);
    solution->dx = calloc(n + 1, sizeof *solution->dx);
    if (!solution->x || !solution->ahead || !solution->scratch || !solution->dx)
        return tutti_fail_memory();
    return n > 0 ? make_solver(solution) : TUTTI_OK;
}

void tutti_me_solution_fini(struct me_solution *solution)
{
    tutti_solver_free(solution->solver);
    free(solution->x);
    free(solution->ahead);
    free(solution->scratch);
    free(solution->dx);
}

enum tutti_err tutti_me_solution_at(struct me_solution *solution, double t, double *x)
{
    const struct tutti_solver *solver = solution->solver;
    if (!solver)
        return TUTTI_OK;
    /* The beginning of the step to the bit, too: a ball that an event put just above the floor is there. */
    if (t == tutti_solver_time(solver) || t == solution->t)
        memmove(x, t == solution->t ? solution->x : solution->ahead, solution->ode->count * sizeof *x);
    else
        TRY(tutti_me_model_explain(solution->model, tutti_solver_interpolate(solution->solver, t, x)));
    return TUTTI_OK;
}

enum tutti_err tutti_me_solution_place_back(struct me_solution *solution)
{
    return tutti_me_model_place(solution->model, solution->t, solution->x, NULL);
}

enum tutti_err tutti_me_solution_begin(struct me_solution *solution)
{
    struct tutti_solver *solver = solution->solver;
    enum tutti_err err = TUTTI_OK;
    if (solver && solution->task == TUTTI_SOLVER_RESTART) {
        TRY(tutti_me_model_size_states(solution->model, solution->t, solution->x));
        err = tutti_solver_restart(solver, solution->t, solution->x);
    } else if (solver)
        err = tutti_solver_resume(solver, fmin(solution->t, tutti_solver_time(solver)), solution->x);
    TRY(tutti_me_model_explain(solution->model, err));
    if (solver)
        memcpy(solution->ahead, solution->x, solution->ode->count * sizeof *solution->x);
    solution->front = solution->t;
    solution->task = TUTTI_SOLVER_GO_ON;
    return TUTTI_OK;
}

enum tutti_err tutti_me_solution_saved_init(struct me_solution_saved *saved, const struct me_solution *solution)
{
    const struct tutti_solver *solver = solution->solver;
    bool bytes = solver && solver->kind->saved_size;
    saved->x = calloc(solution->ode->count + 1, sizeof *saved->x);
    saved->ahead = calloc(solution->ode->count + 1, sizeof *saved->ahead);
    saved->solver = bytes ? malloc(solver->kind->saved_size(solver)) : NULL;
    return saved->x && saved->ahead && (saved->solver || !bytes) ? TUTTI_OK : tutti_fail_memory();
}

void tutti_me_solution_saved_fini(struct me_solution_saved *saved)
{
    free(saved->x);
    free(saved->ahead);
    free(saved->solver);
}

void tutti_me_solution_save(const struct me_solution *solution, struct me_solution_saved *saved)
{
    size_t bytes = solution->ode->count * sizeof *saved->x;
    saved->t = solution->t;
    saved->task = solution->task;
    memcpy(saved->x, solution->x, bytes);
    saved->is_ahead = saved->solver && solution->solver->started;
    if (!saved->is_ahead)
        return;
    solution->solver->kind->save(solution->solver, saved->solver);
    saved->front = solution->front;
    saved->open = solution->open;
    memcpy(saved->ahead, solution->ahead, bytes);
}

void tutti_me_solution_restore(struct me_solution *solution, const struct me_solution_saved *saved)
{
    size_t bytes = solution->ode->count * sizeof *saved->x;
    solution->t = solution->front = saved->t;
    solution->task = solution->led ? saved->task : TUTTI_SOLVER_RESTART;
    solution->open = false;
    memcpy(solution->x, saved->x, bytes);
    memcpy(solution->ahead, saved->x, bytes);
    if (!saved->is_ahead)
        return;
    solution->solver->kind->restore(solution->solver, saved->solver);
    solution->solver->started = true; /* also one that another process started */
    solution->task = saved->task;
    solution->front = saved->front;
    solution->open = saved->open;
    memcpy(solution->ahead, saved->ahead, bytes);
}

static size_t saved_size(const struct me_solution *solution)
{
    const struct tutti_solver *solver = solution->solver;
    return solver && solver->kind->saved_size ? solver->kind->saved_size(solver) : 0;
}

void tutti_me_solution_pack(const struct me_solution *solution, const struct me_solution_saved *saved,
                            struct tutti_parcel *parcel)
{
    size_t bytes = solution->ode->count * sizeof *saved->x;
    tutti_parcel_put_double(parcel, saved->t);
    tutti_parcel_put_block(parcel, saved->x, bytes);
    tutti_parcel_put_u8(parcel, (uint8_t)saved->task);
    tutti_parcel_put_u8(parcel, saved->is_ahead);
    if (!saved->is_ahead)
        return;
    tutti_parcel_put_double(parcel, saved->front);
    tutti_parcel_put_u8(parcel, saved->open);
    tutti_parcel_put_block(parcel, saved->ahead, bytes);
    tutti_parcel_put_block(parcel, saved->solver, saved_size(solution));
}

void tutti_me_solution_unpack(const struct me_solution *solution, struct tutti_unparcel *in,
                              struct me_solution_saved *saved)
{
    size_t bytes = solution->ode->count * sizeof *saved->x;
    saved->t = tutti_unparcel_double(in);
    (void)tutti_unparcel_into(in, saved->x, bytes);
    uint8_t task = tutti_unparcel_u8(in);
    in->bad = in->bad || task > TUTTI_SOLVER_RESTART;
    saved->task = in->bad ? TUTTI_SOLVER_RESTART : (enum tutti_solver_task)task;
    saved->is_ahead = tutti_unparcel_u8(in) != 0;
    in->bad = in->bad || (saved->is_ahead && !saved->solver);
    if (in->bad || !saved->is_ahead)
        return;
    saved->front = tutti_unparcel_double(in);
    saved->open = tutti_unparcel_u8(in) != 0;
    (void)tutti_unparcel_into(in, saved->ahead, bytes);
    (void)tutti_unparcel_into(in, saved->solver, saved_size(solution));
}
