/* SPDX-License-Identifier: MIT */
#include "sim/method_open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/job/integration.h"
#include "sim/control/control.h"
#include "sim/control/quantum.h"
#include "sim/coupling/correction.h"
#include "sim/coupling/coupling.h"
#include "sim/report/step_log.h"

static void set_method_numbers(struct tt_sim *master)
{
    const struct tt_rank *rank = master->rank;
    const struct tutti_run_options *options = &rank->job->options;
    struct tt_step_history *memory = &master->memory;
    double tolerance = rank->times.tolerance > 0 ? rank->times.tolerance : TUTTI_DEFAULT_RTOL;
    double h_max = fmin(options->has_h_max ? options->h_max : fmax(rank->span / 10, rank->times.step),
                        tt_tlm_shortest_delay(rank->job->system));
    double h_min = options->has_h_min ? options->h_min : 1e-8 * rank->span;
    master->norm.rtol = options->has_rtol ? options->rtol : tolerance;
    master->norm.atol = options->has_atol ? options->atol : master->norm.rtol / 100;
    master->norm.by_size = !options->has_atol;
    master->norm.knows_all = master->chosen.is & TUTTI_METHOD_ALL_SIGNALS;
    master->norm.per_time = master->chosen.is & TUTTI_METHOD_PER_TIME;
    tt_step_size_init(&memory->stepper, rank->times.step, fmin(h_min, h_max), h_max);
    memory->stepper.steady = master->chosen.is & TUTTI_METHOD_PER_TIME;
    master->event_tolerance = options->has_event_tolerance ? options->event_tolerance
                                                           : master->norm.rtol * memory->stepper.first;
    memory->learned.gauge = 1;
    memory->learned.announced = memory->learned.bent_at = -INFINITY;
    master->divergence = options->has_divergence ? options->divergence : 1e-3;
    master->most_iterations = options->max_iterations > 0 ? options->max_iterations : 10;
}

enum tutti_err tt_sim_connect(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    if (!(master->chosen.is & TUTTI_METHOD_GENERAL))
        return tt_channels_open(&rank->channels, false, NULL);
    bool waves = master->chosen.is & TUTTI_METHOD_IN_SEQUENCE;
    if (waves) {
        uint32_t *positions = tt_arena_array(&rank->arena, rank->job->system->component_count, sizeof *positions);
        if (!positions)
            return tt_fail_memory();
        for (uint32_t i = 0; i < master->sequence.count; i++)
            positions[master->sequence.components[i]] = i;
        master->positions = positions;
    }
    bool all = master->chosen.is & TUTTI_METHOD_ALL_SIGNALS;
    TRY(tt_channels_open(&rank->channels, all, waves ? &master->sequence : NULL));
    return all ? tt_channels_exchange(&rank->channels) : TUTTI_OK; /* at the start, ranks heard what they read only */
}

static enum tutti_err open_moving_signals(struct tt_sim *master, unsigned order)
{
    struct tt_rank *rank = master->rank;
    master->staging.running = &master->running;
    master->staging.extrapolation = &master->extrapolation;
    master->staging.by_means = master->chosen.is & TUTTI_METHOD_PER_TIME;
    master->staging.cubic = master->chosen.order == TUTTI_CUBIC;
    TRY(tt_coupled_inputs_open(&master->staging, rank));
    TRY(tt_wires_enable_slopes(&rank->wires, order, rank->units));
    if (order > 0)
        TRY(tt_coupled_inputs_choose_holds(&master->staging));
    master->rules.second = master->crossing_rules.second = master->staging.second;
    unsigned guess = master->staging.cubic ? TUTTI_MOST_EXTRAPOLATION : master->chosen.order;
    master->extrapolation = (struct tt_extrapolation){
        .order = guess, .keeps = master->chosen.control->predicts, .varies = (master->chosen.is & TUTTI_METHOD_VARIES)};
    return tt_extrapolation_open(&master->extrapolation, &master->outputs);
}

/* Own units of the sequence, wave by wave. */
static enum tutti_err sim_order_members(struct tt_sim *master, struct tt_member ***members)
{
    struct tt_rank *rank = master->rank;
    const struct tt_step_sequence *sequence = &master->sequence;
    uint32_t count = 0;
    *members = tt_arena_array(&rank->arena, rank->own_count, sizeof **members);
    master->lane_first = tt_arena_array(&rank->arena, (size_t)sequence->wave_count + 1, sizeof(uint32_t));
    if (!*members || !master->lane_first)
        return tt_fail_memory();
    for (uint32_t w = 0; w < sequence->wave_count; w++) {
        for (uint32_t i = sequence->wave_first[w]; i < sequence->wave_first[w + 1]; i++)
            if (tt_rank_owns(rank, sequence->components[i]))
                (*members)[count++] = &rank->members[sequence->components[i]];
        master->lane_first[w + 1] = count;
    }
    return TUTTI_OK;
}

static uint32_t sim_member_wave(const struct tt_sim *master, uint32_t component)
{
    uint32_t low = 0, high = master->sequence.wave_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(master->sequence.wave_first[middle] <= master->positions[component] ? &low : &high) = middle;
    }
    return low;
}

/* Returns true if a unit reads a unit of its wave, whose values at the beginning of the step it must get. */
static bool wave_members_are_coupled(const struct tt_sim *master)
{
    const struct tt_structure *structure = &master->rank->job->structure;
    for (uint32_t n = 0; n < structure->node_count; n++)
        for (uint32_t k = structure->graph.first[n]; k < structure->graph.first[n + 1]; k++) {
            uint32_t to = structure->nodes[n].component;
            uint32_t from = structure->nodes[structure->graph.needs[k]].component;
            if (from != to && sim_member_wave(master, from) == sim_member_wave(master, to))
                return true;
        }
    return false;
}

static enum tutti_err open_fast_path(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    struct tt_member **members = rank->own;
    uint32_t overlapping = 0; /* own units that can compute steps at the same time */
    for (uint32_t m = 0; m < rank->own_count; m++)
        overlapping += rank->own[m]->unit->overlaps;
    rank->overlaps = overlapping > 1;
    if ((master->chosen.is & TUTTI_METHOD_BY_ATTEMPTS) || !master->chosen.coupling->by_lane || rank->overlaps)
        return TUTTI_OK;
    if (master->positions)
        TRY(sim_order_members(master, &members));
    TRY(tt_fast_open(&master->lane, rank, &master->rules, members, rank->own_count));
    if (rank->fabric->ranks == 1 && !master->correction && !(master->positions && wave_members_are_coupled(master)))
        tt_fast_enable_batches(&master->lane, master->positions != NULL);
    return TUTTI_OK;
}

/* Units lose what an FMU did not keep of its promises (unit/unit.c). */
static enum tutti_err sim_register(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    struct tt_rollback_list *remembered = &master->remembered;
    TRY(tt_rollback_list_add(remembered, &master->memory, sizeof master->memory));
    TRY(tt_norm_register(&master->norm, remembered));
    TRY(tt_extrapolation_register(&master->extrapolation, remembered));
    TRY(tt_correction_register(master->correction, remembered));
    TRY(tt_tlm_register(master->tlm, remembered));
    TRY(tt_detector_register(&master->detector, remembered));
    for (uint32_t m = 0; m < rank->member_count; m++) {
        TRY(tt_rollback_list_add_of(remembered, m, &rank->members[m].learned, sizeof rank->members[m].learned));
        TRY(tt_rollback_list_add_of(remembered, m, &rank->members[m].unit->can, sizeof rank->members[m].unit->can));
    }
    return TUTTI_OK;
}

enum tutti_err tt_sim_open(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    const struct tt_method *chosen = &master->chosen;
    const char *step_log = rank->job->options.step_log;
    set_method_numbers(master);
    if (!(master->chosen.is & TUTTI_METHOD_GENERAL)) {
        TRY(sim_register(master));
        return open_fast_path(master);
    }
    rank->single_unit = false; /* an event of the only unit does not end a step that is judged as a whole */
    master->rules = (struct tt_step_rules){
        .goes_back = (chosen->is & TUTTI_METHOD_GOES_BACK),
        .stops_at_events = ((chosen->is & TUTTI_METHOD_GOES_BACK) || (chosen->is & TUTTI_METHOD_TOGETHER)) &&
                           chosen->detection->early};
    master->crossing_rules = (struct tt_step_rules){.goes_back = master->rules.goes_back};
    TRY(tt_outputs_open(&master->outputs, rank, chosen->control->estimates));
    TRY(tt_norm_open(&master->norm, &master->outputs, &master->extrapolation));
    double **const rooms[] = {&master->compared.whole, &master->compared.halves, &master->compared.middle,
                              &master->compared.difference};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        if (!(*rooms[i] = tt_arena_array(&rank->arena, master->outputs.count, sizeof(double))))
            return tt_fail_memory();
    if (chosen->control->takes_quantum)
        TRY(tt_quantum_parse_quanta(&master->quanta, &master->outputs));
    unsigned order = chosen->coupling->iterates && chosen->order == 0 ? 1 : chosen->order;
    TRY(open_moving_signals(master, order));
    TRY(tt_tlm_check(rank, (chosen->is & TUTTI_METHOD_VARIES)));
    TRY(tt_tlm_open(&master->tlm, rank));
    TRY(tt_control_open_held(master));
    if (tt_control_full_order(master) > 2)
        tt_norm_calibrate(&master->norm);
    if (chosen->coupling->size > 0) {
        master->coupling = calloc(1, chosen->coupling->size);
        if (!master->coupling)
            return tt_fail_memory();
    }
    if (chosen->coupling->open)
        TRY(chosen->coupling->open(master, master->coupling));
    if (chosen->is & (TUTTI_METHOD_CORRECTS | TUTTI_METHOD_SMOOTHS)) {
        struct tt_correction_choice choice = {.correct = chosen->is & TUTTI_METHOD_CORRECTS,
                                              .smooth = chosen->is & TUTTI_METHOD_SMOOTHS,
                                              .solve = chosen->is & TUTTI_METHOD_SOLVES,
                                              .goes_back = chosen->is & TUTTI_METHOD_GOES_BACK};
        TRY(tt_correction_open(&master->correction, &master->staging, &master->extrapolation, &master->norm, &choice,
                               master->memory.stepper.first));
    }
    if (chosen->detection->outputs)
        TRY(tt_detector_open(&master->detector, rank));
    /* Where outputs are corrected or errors estimated, rows show what follows inputs at once as exactly as all else.
     * One solver of all components has done it already. */
    bool exact = master->correction || chosen->control->estimates;
    if (exact && chosen->coupling != &tt_coupling_strong && tt_record_has_feedthrough(master->observer)) {
        TRY(tt_refresh_open(&master->renewal, rank, &master->start, master->norm.rtol));
        master->observer->renewed = (struct tt_row_refresh){tt_refresh_read, &master->renewal};
    }
    TRY(sim_register(master));
    TRY(open_fast_path(master));
    const struct tt_checkpoint *from = rank->job->resume;
    struct tt_bytes resume = from ? from->step_log : (struct tt_bytes){0};
    return step_log ? tt_step_log_open(&master->log, rank, step_log, resume) : TUTTI_OK;
}

enum tutti_err tt_sim_close(struct tt_sim *master)
{
    const struct tt_coupling *coupling = master->chosen.coupling;
    enum tutti_err err = tt_step_log_close(master->log);
    master->log = NULL;
    if (master->coupling && coupling->close)
        coupling->close(master, master->coupling);
    free(master->coupling);
    tt_correction_close(master->correction);
    tt_tlm_close(master->tlm);
    tt_detector_close(&master->detector);
    tt_outputs_close(&master->outputs);
    tt_extrapolation_close(&master->extrapolation);
    tt_refresh_close(&master->renewal);
    tt_snapshot_fini(&master->start, master->rank);
    tt_step_order_fini_sequence(&master->sequence);
    tt_structure_fini(&master->running);
    tt_rollback_list_fini(&master->remembered);
    return err;
}
