/* SPDX-License-Identifier: MIT */
#include "unit/me_solution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum tutti_err solution_create_solver(struct tt_me_solution *solution)
{
    const struct tt_integration *integration = &solution->model->options->integration;
    struct tt_solver_options options = {
        .h_fixed = integration->h_fixed,
        .h_max = integration->h_max,
        .h_first = integration->h_first,
        .max_order = integration->max_order,
        .linear = integration->linear,
        .predictor = integration->predictor,
        .jacobian = integration->jacobian,
    };
    const struct tt_solver_kind *kind = integration->solver ? integration->solver : tt_solver_kinds[0];
    TRY(tt_fail_context(tt_solver_new(&solution->solver, kind, solution->ode, &options), "%s",
                        solution->model->unit->name));
    solution->model->solver_name = kind->name;
    return TUTTI_OK;
}

enum tutti_err tt_me_solution_init(struct tt_me_solution *solution, struct tt_me_model *model, struct tt_ode *ode)
{
    size_t n = ode->count;
    solution->model = model;
    solution->ode = ode;
    ode->origin = tt_ode_choose_origin(model->setup.start, model->setup.stop);
    solution->x = calloc(n + 1, sizeof *solution->x);
    solution->ahead = calloc(n + 1, sizeof *solution->ahead);
    solution->scratch = calloc(n + 1, sizeof *solution->scratch);
    solution->dx = calloc(n + 1, sizeof *solution->dx);
    if (!solution->x || !solution->ahead || !solution->scratch || !solution->dx)
        return tt_fail_memory();
    return n > 0 ? solution_create_solver(solution) : TUTTI_OK;
}

void tt_me_solution_fini(struct tt_me_solution *solution)
{
    tt_solver_free(solution->solver);
    free(solution->x);
    free(solution->ahead);
    free(solution->scratch);
    free(solution->dx);
}

enum tutti_err tt_me_solution_evaluate(struct tt_me_solution *solution, double t, double *x)
{
    const struct tt_solver *solver = solution->solver;
    if (!solver)
        return TUTTI_OK;
    /* The beginning of the step to the bit, too: a ball that an event put just above the floor is there. */
    if (t == tt_solver_time(solver) || t == solution->t)
        memmove(x, t == solution->t ? solution->x : solution->ahead, solution->ode->count * sizeof *x);
    else
        TRY(tt_me_model_explain(solution->model, tt_solver_interpolate(solution->solver, t, x)));
    return TUTTI_OK;
}

enum tutti_err tt_me_solution_place_back(struct tt_me_solution *solution)
{
    return tt_me_model_place(solution->model, solution->t, solution->x, NULL);
}

enum tutti_err tt_me_solution_restart(struct tt_me_solution *solution)
{
    struct tt_solver *solver = solution->solver;
    enum tutti_err err = TUTTI_OK;
    if (solver && solution->task == TUTTI_SOLVER_RESTART) {
        TRY(tt_me_model_size_states(solution->model, solution->t, solution->x));
        err = tt_solver_restart(solver, solution->t, solution->x);
    } else if (solver)
        err = tt_solver_resume(solver, fmin(solution->t, tt_solver_time(solver)), solution->x);
    TRY(tt_me_model_explain(solution->model, err));
    if (solver)
        memcpy(solution->ahead, solution->x, solution->ode->count * sizeof *solution->x);
    solution->front = solution->t;
    solution->task = TUTTI_SOLVER_GO_ON;
    return TUTTI_OK;
}

enum tutti_err tt_me_solution_saved_init(struct tt_me_solution_saved *saved, const struct tt_me_solution *solution)
{
    const struct tt_solver *solver = solution->solver;
    bool bytes = solver && solver->kind->saved_size;
    saved->x = calloc(solution->ode->count + 1, sizeof *saved->x);
    saved->ahead = calloc(solution->ode->count + 1, sizeof *saved->ahead);
    saved->solver = bytes ? malloc(solver->kind->saved_size(solver)) : NULL;
    return saved->x && saved->ahead && (saved->solver || !bytes) ? TUTTI_OK : tt_fail_memory();
}

void tt_me_solution_saved_fini(struct tt_me_solution_saved *saved)
{
    free(saved->x);
    free(saved->ahead);
    free(saved->solver);
}

void tt_me_solution_save(const struct tt_me_solution *solution, struct tt_me_solution_saved *saved)
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

void tt_me_solution_restore(struct tt_me_solution *solution, const struct tt_me_solution_saved *saved)
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

static size_t solution_saved_size(const struct tt_me_solution *solution)
{
    const struct tt_solver *solver = solution->solver;
    return solver && solver->kind->saved_size ? solver->kind->saved_size(solver) : 0;
}

void tt_me_solution_pack(const struct tt_me_solution *solution, const struct tt_me_solution_saved *saved,
                         struct tt_byte_writer *parcel)
{
    size_t bytes = solution->ode->count * sizeof *saved->x;
    tt_bytes_put_double(parcel, saved->t);
    tt_bytes_put_block(parcel, saved->x, bytes);
    tt_bytes_put_u8(parcel, (uint8_t)saved->task);
    tt_bytes_put_u8(parcel, saved->is_ahead);
    if (!saved->is_ahead)
        return;
    tt_bytes_put_double(parcel, saved->front);
    tt_bytes_put_u8(parcel, saved->open);
    tt_bytes_put_block(parcel, saved->ahead, bytes);
    tt_bytes_put_block(parcel, saved->solver, solution_saved_size(solution));
}

void tt_me_solution_unpack(const struct tt_me_solution *solution, struct tt_byte_reader *in,
                           struct tt_me_solution_saved *saved)
{
    size_t bytes = solution->ode->count * sizeof *saved->x;
    saved->t = tt_bytes_get_double(in);
    (void)tt_bytes_get_copy(in, saved->x, bytes);
    uint8_t task = tt_bytes_get_u8(in);
    in->bad = in->bad || task > TUTTI_SOLVER_RESTART;
    saved->task = in->bad ? TUTTI_SOLVER_RESTART : (enum tt_solver_task)task;
    saved->is_ahead = tt_bytes_get_u8(in) != 0;
    in->bad = in->bad || (saved->is_ahead && !saved->solver);
    if (in->bad || !saved->is_ahead)
        return;
    saved->front = tt_bytes_get_double(in);
    saved->open = tt_bytes_get_u8(in) != 0;
    (void)tt_bytes_get_copy(in, saved->ahead, bytes);
    (void)tt_bytes_get_copy(in, saved->solver, solution_saved_size(solution));
}
