/* SPDX-License-Identifier: MIT */
#include "master/open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "job/integration.h"
#include "master/control/attempt.h"
#include "master/control/control.h"
#include "master/control/quanta.h"
#include "master/coupling/correct.h"
#include "master/coupling/coupling.h"
#include "report/step_log.h"

static enum tutti_err make_room(struct tutti_master *master)
{
    struct tutti_compared *compared = &master->compared;
    double **const rooms[] = {&compared->whole, &compared->halves, &compared->middle, &compared->difference};
    bool all = true;
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        *rooms[i] = tutti_arena_array(&master->rank->arena, master->outputs.count, sizeof(double));
        all = all && *rooms[i];
    }
    return all ? TUTTI_OK : tutti_fail_memory();
}

/* Iterations, corrections and what the master feeds are computed by every rank alike, from the same values: all of them. */
static bool knows_all(const struct tutti_master *master)
{
    const struct tutti_chosen *chosen = &master->chosen;
    return chosen->general && (chosen->coupling->iterates || chosen->coupling->joins || chosen->corrects ||
                               master->rank->job->system->read_count > 0);
}

static void set_numbers(struct tutti_master *master)
{
    const struct tutti_rank *rank = master->rank;
    const struct tutti_run_options *options = &rank->job->options;
    struct tutti_memory *memory = &master->memory;
    double tolerance = rank->times.tolerance > 0 ? rank->times.tolerance : TUTTI_DEFAULT_RTOL;
    double h_max = fmin(options->has_h_max ? options->h_max : fmax(rank->span / 10, rank->times.step),
                        tutti_tlm_shortest(rank->job->system));
    double h_min = options->has_h_min ? options->h_min : 1e-8 * rank->span;
    master->norm.rtol = options->has_rtol ? options->rtol : tolerance;
    master->norm.atol = options->has_atol ? options->atol : master->norm.rtol / 100;
    master->norm.by_size = !options->has_atol;
    master->norm.knows_all = knows_all(master);
    master->norm.per_time = master->chosen.per_time;
    tutti_stepper_init(&memory->stepper, rank->times.step, fmin(h_min, h_max), h_max);
    memory->stepper.steady = master->chosen.per_time;
    master->event_tolerance = options->has_event_tolerance ? options->event_tolerance
                                                           : master->norm.rtol * memory->stepper.first;
    memory->learned.gauge = 1;
    memory->learned.announced = memory->learned.bent_at = -INFINITY;
    master->divergence = options->has_divergence ? options->divergence : 1e-3;
    master->most_iterations = options->max_iterations > 0 ? options->max_iterations : 10;
    memory->cross_at = memory->crossed_here = -INFINITY;
    memory->pending_event_at = memory->passed_event_at = -INFINITY;
}

/* Do units step one after the other? An iteration may also sweep over all of them at once. */
static bool uses_waves(const struct tutti_master *master)
{
    const struct tutti_coupling *coupling = master->chosen.coupling;
    const char *sweeps = master->rank->job->options.sweeps;
    return coupling->waves && !(coupling->iterates && sweeps && strcmp(sweeps, "jacobi") == 0);
}

static bool defers_exchange(const struct tutti_master *master)
{
    const struct tutti_chosen *chosen = &master->chosen;
    const char *mode = master->rank->job->options.mode;
    return mode && strcmp(mode, "prudent") == 0 && chosen->coupling->may_defer_exchange && chosen->goes_back &&
           !chosen->corrects && !chosen->smooths;
}

enum tutti_err tutti_master_connect(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    if (!master->chosen.general)
        return tutti_channels_open(&rank->channels, false, NULL);
    bool waves = uses_waves(master);
    master->defers_exchange = defers_exchange(master);
    if (waves) {
        uint32_t *positions = tutti_arena_array(&rank->arena, rank->job->system->component_count, sizeof *positions);
        if (!positions)
            return tutti_fail_memory();
        for (uint32_t i = 0; i < master->sequence.count; i++)
            positions[master->sequence.components[i]] = i;
        master->positions = positions;
    }
    bool all = knows_all(master);
    TRY(tutti_channels_open(&rank->channels, all, waves ? &master->sequence : NULL));
    return all ? tutti_channels_exchange(&rank->channels)
               : TUTTI_OK; /* at the start, ranks heard what they read only */
}

static enum tutti_err open_coupling(struct tutti_master *master)
{
    const struct tutti_coupling *coupling = master->chosen.coupling;
    if (coupling->size > 0)
        master->coupling = calloc(1, coupling->size);
    if (coupling->size > 0 && !master->coupling)
        return tutti_fail_memory();
    return coupling->open ? coupling->open(master, master->coupling) : TUTTI_OK;
}

/* What moves inside a step, and how. */
static enum tutti_err open_signals(struct tutti_master *master, unsigned order)
{
    struct tutti_rank *rank = master->rank;
    master->staging.running = &master->running;
    master->staging.extrapolation = &master->extrapolation;
    master->staging.by_means = master->chosen.per_time;
    master->staging.cubic = master->chosen.order == TUTTI_CUBIC;
    TRY(tutti_staging_open(&master->staging, rank));
    TRY(tutti_wires_let_move(&rank->wires, order, rank->units));
    if (order > 0)
        TRY(tutti_staging_place(&master->staging));
    master->rules.second = master->staging.second;
    unsigned guess = master->staging.cubic ? TUTTI_MOST_EXTRAPOLATION : master->chosen.order;
    master->extrapolation = (struct tutti_extrapolation){
        .order = guess, .keeps = master->chosen.control->predicts, .varies = master->chosen.varies};
    return tutti_extrapolation_open(&master->extrapolation, &master->outputs);
}

/* Own units of the sequence, wave by wave. */
static enum tutti_err line_up(struct tutti_master *master, struct tutti_member ***members)
{
    struct tutti_rank *rank = master->rank;
    const struct tutti_sequence *sequence = &master->sequence;
    uint32_t count = 0;
    *members = tutti_arena_array(&rank->arena, rank->own_count, sizeof **members);
    master->lane_first = tutti_arena_array(&rank->arena, (size_t)sequence->wave_count + 1, sizeof(uint32_t));
    if (!*members || !master->lane_first)
        return tutti_fail_memory();
    for (uint32_t w = 0; w < sequence->wave_count; w++) {
        for (uint32_t i = sequence->wave_first[w]; i < sequence->wave_first[w + 1]; i++)
            if (tutti_rank_owns(rank, sequence->components[i]))
                (*members)[count++] = &rank->members[sequence->components[i]];
        master->lane_first[w + 1] = count;
    }
    return TUTTI_OK;
}

static uint32_t wave_of(const struct tutti_master *master, uint32_t component)
{
    uint32_t low = 0, high = master->sequence.wave_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(master->sequence.wave_first[middle] <= master->positions[component] ? &low : &high) = middle;
    }
    return low;
}

/* Does a unit read another one of its wave? It is to see what that had at the beginning of the step. */
static bool waves_are_tied(const struct tutti_master *master)
{
    const struct tutti_structure *structure = &master->rank->job->structure;
    for (uint32_t n = 0; n < structure->node_count; n++)
        for (uint32_t k = structure->graph.first[n]; k < structure->graph.first[n + 1]; k++) {
            uint32_t to = structure->nodes[n].component;
            uint32_t from = structure->nodes[structure->graph.needs[k]].component;
            if (from != to && wave_of(master, from) == wave_of(master, to))
                return true;
        }
    return false;
}

/* Own units that can compute steps at the same time. */
static uint32_t count_overlapping(const struct tutti_rank *rank)
{
    uint32_t count = 0;
    for (uint32_t m = 0; m < rank->own_count; m++)
        count += rank->own[m]->unit->overlaps;
    return count;
}

static enum tutti_err open_lane(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    struct tutti_member **members = rank->own;
    rank->overlaps = count_overlapping(rank) > 1;
    if (master->chosen.by_attempts || !master->chosen.coupling->by_lane || rank->overlaps)
        return TUTTI_OK;
    if (master->positions)
        TRY(line_up(master, &members));
    TRY(tutti_lane_open(&master->lane, rank, &master->rules, members, rank->own_count));
    if (rank->fabric->ranks == 1 && !master->correction && !(master->positions && waves_are_tied(master)))
        tutti_lane_let_run(&master->lane, master->positions != NULL);
    return TUTTI_OK;
}

/* Units lose what an FMU did not keep of its promises (unit/directional.c). */
static enum tutti_err remember(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    struct tutti_remembered *remembered = &master->remembered;
    TRY(tutti_remember(remembered, &master->memory, sizeof master->memory));
    TRY(tutti_norm_remember(&master->norm, remembered));
    TRY(tutti_extrapolation_remember(&master->extrapolation, remembered));
    TRY(tutti_correction_remember(master->correction, remembered));
    TRY(tutti_tlm_remember(master->tlm, remembered));
    TRY(tutti_detector_remember(&master->detector, remembered));
    for (uint32_t m = 0; m < rank->member_count; m++) {
        TRY(tutti_remember_of(remembered, m, &rank->members[m].learned, sizeof rank->members[m].learned));
        TRY(tutti_remember_of(remembered, m, &rank->members[m].unit->can, sizeof rank->members[m].unit->can));
    }
    return TUTTI_OK;
}

static enum tutti_err open_correction(struct tutti_master *master)
{
    const struct tutti_chosen *chosen = &master->chosen;
    struct tutti_correction_choice choice = {.correct = chosen->corrects,
                                             .smooth = chosen->smooths,
                                             .solve = chosen->solves,
                                             .goes_back = chosen->goes_back};
    return tutti_correction_open(&master->correction, &master->staging, &master->extrapolation, &master->norm, &choice,
                                 master->memory.stepper.first);
}

/* Where outputs are corrected or errors estimated, rows show what follows inputs at once as exactly as all else. One solver of all units has
 * done it already. */
static enum tutti_err open_renewal(struct tutti_master *master)
{
    struct tutti_observer *observer = master->observer;
    bool exact = master->correction || master->chosen.control->estimates;
    if (!exact || master->chosen.coupling == &tutti_coupling_strong || !tutti_observer_follows(observer))
        return TUTTI_OK;
    TRY(tutti_renewal_open(&master->renewal, master->rank, &master->start, master->norm.rtol));
    observer->renewed = (struct tutti_renewed_look){tutti_renewal_read, &master->renewal};
    return TUTTI_OK;
}

enum tutti_err tutti_master_open(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    const struct tutti_chosen *chosen = &master->chosen;
    const char *step_log = rank->job->options.step_log;
    set_numbers(master);
    if (!master->chosen.general) {
        TRY(remember(master));
        return open_lane(master);
    }
    rank->single_unit = false; /* an event of the only unit does not end a step that is judged as a whole */
    master->rules = (struct tutti_step_rules){.goes_back = chosen->goes_back,
                                              .stops_at_events = (chosen->goes_back || chosen->together) &&
                                                                 chosen->detection->early};
    TRY(tutti_outputs_open(&master->outputs, rank, chosen->control->estimates));
    TRY(tutti_norm_open(&master->norm, &master->outputs, &master->extrapolation));
    TRY(make_room(master));
    if (chosen->control->takes_quantum)
        TRY(tutti_quanta_make(&master->quanta, &master->outputs));
    unsigned order = chosen->coupling->iterates && chosen->order == 0 ? 1 : chosen->order;
    TRY(open_signals(master, order));
    TRY(tutti_tlm_check(rank, chosen->varies));
    TRY(tutti_tlm_open(&master->tlm, rank));
    TRY(tutti_held_open(master));
    if (tutti_attempt_full_order(master) > 2)
        tutti_norm_calibrate(&master->norm);
    TRY(open_coupling(master));
    if (chosen->corrects || chosen->smooths)
        TRY(open_correction(master));
    if (chosen->detection->outputs)
        TRY(tutti_detector_open(&master->detector, rank));
    TRY(open_renewal(master));
    TRY(remember(master));
    TRY(open_lane(master));
    const struct tutti_checkpoint *from = rank->job->resume;
    struct tutti_bytes resume = from ? from->step_log : (struct tutti_bytes){0};
    return step_log ? tutti_step_log_open(&master->log, rank, step_log, resume) : TUTTI_OK;
}

enum tutti_err tutti_master_close(struct tutti_master *master)
{
    const struct tutti_coupling *coupling = master->chosen.coupling;
    enum tutti_err err = tutti_step_log_close(master->log);
    master->log = NULL;
    if (master->coupling && coupling->close)
        coupling->close(master, master->coupling);
    free(master->coupling);
    tutti_correction_close(master->correction);
    tutti_tlm_close(master->tlm);
    tutti_detector_close(&master->detector);
    tutti_outputs_close(&master->outputs);
    tutti_extrapolation_close(&master->extrapolation);
    tutti_renewal_close(&master->renewal);
    tutti_snapshot_fini(&master->start, master->rank);
    tutti_sequence_fini(&master->sequence);
    tutti_structure_fini(&master->running);
    tutti_remembered_fini(&master->remembered);
    return err;
}
