/* SPDX-License-Identifier: MIT */
/* What the choices of choose.c need before the first step, and its end. */
#include <math.h>
#include <string.h>

#include "master/choose.h"
#include "master/control.h"
#include "master/correct.h"
#include "master/coupling.h"
#include "master/detect.h"
#include "master/integration.h"
#include "master/step_log.h"

static enum tutti_err make_room(struct run *run)
{
    struct tutti_master *master = &run->master;
    master->partial = tutti_arena_array(&run->arena, run->system->component_count, 3 * sizeof *master->partial);
    master->begin = tutti_arena_alloc(&run->arena, run->wires.signal_size);
    master->before = tutti_arena_array(&run->arena, master->outputs.count, sizeof *master->before);
    bool all = master->partial && master->begin && master->before;
    for (size_t i = 0; i < sizeof master->values / sizeof *master->values; i++) {
        master->values[i] = tutti_arena_array(&run->arena, master->outputs.count, sizeof(double));
        all = all && master->values[i];
    }
    return all ? TUTTI_OK : tutti_fail_memory();
}

static void set_numbers(struct run *run)
{
    struct tutti_master *master = &run->master;
    const struct tutti_run_options *options = run->options;
    double tolerance = run->times.tolerance > 0 ? run->times.tolerance : TUTTI_DEFAULT_RTOL;
    double h_max = options->has_h_max ? options->h_max : fmax(run->span / 10, run->times.step);
    double h_min = options->has_h_min ? options->h_min : 1e-8 * run->span;
    master->rtol = options->has_rtol ? options->rtol : tolerance;
    master->atol = options->has_atol ? options->atol : master->rtol / 100;
    tutti_stepper_init(&master->stepper, run->times.step, fmin(h_min, h_max), h_max);
    master->stepper.steady = master->per_time;
    master->event_tolerance = options->has_event_tolerance ? options->event_tolerance
                                                           : master->rtol * master->stepper.first;
    master->learned.gauge = 1;
    master->learned.announced = master->learned.bent_at = -INFINITY;
    master->quantum = options->quantum;
    master->divergence = options->has_divergence ? options->divergence : 1e-3;
    master->most_iterations = options->max_iterations > 0 ? options->max_iterations : 10;
    master->cross_at = master->crossed_here = -INFINITY;
    master->early = INFINITY;
    master->owed_at = master->paid_at = -INFINITY;
}

/* Iterations and corrections are computed by every rank alike, from the same values: all of them. */
enum tutti_err tutti_master_connect(struct run *run)
{
    struct tutti_master *master = &run->master;
    if (!master->general)
        return tutti_channels_open(run, false, false);
    bool iterates = master->coupling->iterates, waves = master->coupling != &tutti_coupling_jacobi;
    const char *mode = run->options->mode, *sweeps = run->options->sweeps;
    waves = waves && !(iterates && sweeps && strcmp(sweeps, "jacobi") == 0);
    master->prudent = mode && strcmp(mode, "prudent") == 0 && master->coupling == &tutti_coupling_jacobi &&
                      master->goes_back && !master->corrects && !master->smooths;
    if (waves) {
        uint32_t *positions = tutti_arena_array(&run->arena, run->system->component_count, sizeof *positions);
        if (!positions)
            return tutti_fail_memory();
        for (uint32_t i = 0; i < master->sequence.count; i++)
            positions[master->sequence.components[i]] = i;
        master->positions = positions;
    }
    return tutti_channels_open(run, iterates || master->corrects, waves);
}

enum tutti_err tutti_master_open(struct run *run)
{
    struct tutti_master *master = &run->master;
    set_numbers(run);
    if (!master->general)
        return TUTTI_OK;
    run->alone = false; /* an event of the only unit does not end a step that is judged as a whole */
    TRY(tutti_outputs_open(run, master->control->estimates));
    TRY(make_room(run));
    if (master->per_time)
        TRY(tutti_scale_open(run));
    unsigned order = master->coupling->iterates && master->order == 0 ? 1 : master->order;
    TRY(tutti_wires_let_move(&run->wires, order, run->units));
    if (order > 0)
        TRY(tutti_coupling_place_held(run));
    TRY(tutti_extrapolation_open(run, master->order, master->control->predicts));
    if (master->coupling->open)
        TRY(master->coupling->open(run));
    if (master->corrects || master->smooths)
        TRY(tutti_correction_open(run, master->corrects, master->smooths));
    if (master->detection->outputs)
        TRY(tutti_detect_open(run));
    master->by_attempts = master->goes_back || master->control->varies || order > 0 || run->options->step_log;
    return run->options->step_log ? tutti_step_log_open(run, run->options->step_log) : TUTTI_OK;
}

enum tutti_err tutti_master_close(struct run *run)
{
    struct tutti_master *master = &run->master;
    enum tutti_err err = tutti_step_log_close(run);
    if (master->coupling && master->coupling->close)
        master->coupling->close(run);
    tutti_correction_close(run);
    tutti_detect_close(run);
    tutti_outputs_close(run);
    tutti_extrapolation_close(&master->extrapolation);
    tutti_snapshot_fini(&master->start, run);
    tutti_sequence_fini(&master->sequence);
    tutti_structure_fini(&master->running);
    return err;
}
