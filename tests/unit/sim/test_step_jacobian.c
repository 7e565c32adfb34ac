/* SPDX-License-Identifier: MIT */
/* dY/du of a step by differences with rollback: against the exact derivatives of linear units, with held and moving
 * inputs; side effects; missing derivatives. */
#include "mixers.h"

#include "sim/coupling/step_jacobian.h"
#include "sim/execution_run.h"

/* ---- a run at its start ---- */

struct pieces {
    struct tt_job job;
    struct tutti_run_stats stats;
    struct tt_execution execution;
};

static void start(struct pieces *run, const struct tutti_run_options *options)
{
    *run = (struct pieces){0};
    assert_ok(tt_job_open(&run->job, options, NULL));
    run->execution.rank = (struct tt_rank){.job = &run->job, .stats = &run->stats};
    assert_ok(tt_execution_start(&run->execution, false));
}

static void finish(struct pieces *run)
{
    assert_ok(tt_execution_close(&run->execution, TUTTI_OK));
    tt_stats_fini(&run->stats);
    tt_job_close(&run->job);
}

/* ---- columns: staged inputs, held or moving ---- */

struct probed {
    struct tt_sim *master;
    const struct tt_step_jacobian *jacobian;
    double target;
    bool moves; /* a column is an input at the end of the step, to which it moves on a line */
    uint32_t places[INPUTS];
};

static enum tutti_err stage(void *context, struct tt_member *member, uint32_t column, double distance)
{
    struct probed *probed = context;
    struct tt_rank *rank = probed->master->rank;
    TRY(tt_coupled_inputs_gather(&probed->master->staging, probed->master->rank->wires.signals, member,
                                 probed->target));
    if (column == TUTTI_NONE)
        return TUTTI_OK;
    if (probed->moves)
        rank->wires.gathered_slopes[0][probed->places[column]] += distance / (probed->target - rank->t);
    else
        rank->wires.gathered[probed->places[column]] += distance;
    return TUTTI_OK;
}

static enum tutti_err read_rows(void *context, struct tt_member *member, double *rows)
{
    const struct tt_wires *wires = &((struct probed *)context)->master->rank->wires;
    for (uint32_t i = wires->real_first[member->component]; i < wires->real_first[member->component + 1]; i++)
        *rows++ = ((const double *)(const void *)wires->signals)[wires->reals[i].place];
    return TUTTI_OK;
}

/* Every connected input of every unit. */
static void make_columns(const struct tt_rank *rank, struct probed *probed, struct tt_step_column *columns,
                         uint32_t *rows)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < UNITS; c++) {
        const struct tt_unit_wires *wires = rank->members[c].wires;
        rows[c] = rank->wires.real_first[c + 1] - rank->wires.real_first[c];
        for (uint32_t i = 0; i < wires->gather_count; i++, count++) {
            probed->places[count] = wires->gather_first + i;
            columns[count] = (struct tt_step_column){
                .component = c, .size = 1, .value = rank->wires.gathered[wires->gather_first + i]};
        }
    }
    assert_int_equal(count, INPUTS);
}

/* The step in which nothing is moved, and back. */
static void make_base(struct probed *probed, const struct tt_step_jacobian *jacobian, double *base)
{
    struct tt_sim *master = probed->master;
    struct tt_rank *rank = master->rank;
    for (uint32_t c = 0; c < UNITS; c++)
        assert_ok(stage(probed, &rank->members[c], TUTTI_NONE, 0));
    for (uint32_t c = 0; c < UNITS; c++) {
        struct tt_step_result result = tt_step_result_begin(0, 0);
        assert_ok(tt_component_step(rank, &master->rules, &rank->members[c], probed->target, &result));
        assert_int_equal(result.end, TUTTI_END_REACHED);
        assert_ok(read_rows(probed, &rank->members[c], base + jacobian->row_first[c]));
    }
    assert_ok(tt_snapshot_restore(&master->start, rank, TUTTI_STATE_ROLLBACK));
}

/* dy/du of a mixer over a step h, with states that were solved exactly. */
static double exact(int unit, int output, int input, double h, bool moves)
{
    double decay = exp(-pole[unit] * h), held = (1 - decay) / pole[unit], ramp = (h - held) / pole[unit] / h;
    return matrix_c[unit][output] * matrix_b[unit][input] * (moves ? ramp : held) + matrix_d[unit][output][input];
}

static void check_entries(const struct tt_rank *rank, const struct tt_step_jacobian *jacobian, double h, bool moves,
                          double tolerance)
{
    for (uint32_t k = 0; k < INPUTS; k++) {
        uint32_t c = jacobian->columns[k].component, first = rank->wires.real_first[c];
        for (uint32_t i = first; i < rank->wires.real_first[c + 1]; i++) {
            const struct tt_structure_node *node = &rank->job->structure.nodes[rank->wires.reals[i].node];
            const char *name = rank->job->system->components[c].fmu->desc->vars[node->variable].name;
            double expected = exact((int)c, name[1] - '1', (int)k % 2, h, moves);
            assert_near(jacobian->entries[jacobian->columns[k].first + i - first], expected, tolerance);
        }
    }
}

/* What columns and rows are: one input each, one output each. */
struct described {
    struct tt_step_mapping meaning;
    struct tt_step_part parts[INPUTS];
    size_t part_first[INPUTS + 1];
    uint32_t rows[OUTPUTS];
};

static void describe(const struct tt_rank *rank, const struct probed *probed, struct described *d)
{
    const struct tt_structure *structure = &rank->job->structure;
    *d = (struct described){.meaning = {d->parts, d->part_first, d->rows, probed->moves}};
    for (uint32_t n = 0; n < structure->node_count; n++)
        for (uint32_t k = 0; k < INPUTS; k++)
            if (rank->wires.slots[n].values == &rank->wires.gathered[probed->places[k]])
                d->parts[k] = (struct tt_step_part){k, structure->nodes[n].variable, 1};
    for (size_t k = 0; k <= INPUTS; k++)
        d->part_first[k] = k;
    for (uint32_t i = 0; i < rank->wires.real_count; i++)
        d->rows[i] = structure->nodes[rank->wires.reals[i].node].variable;
}

enum way { BY_STEPS, BY_DERIVATIVES };

static void measure(const char *fmu, const char *interface, bool moves, enum way way, double tolerance)
{
    struct described described;
    const double h = 0.25;
    struct experiment e;
    struct pieces run;
    struct probed probed;
    struct tt_step_column columns[INPUTS];
    struct tt_step_jacobian jacobian;
    uint32_t rows[UNITS];
    double base[OUTPUTS];
    bool complete = false;
    prepare(&e, fmu, interface, moves ? "1" : "0", h, NULL, 0);
    e.options.correct = false;
    e.options.coupling = "relax";
    start(&run, &e.options);
    struct tt_sim *master = &run.execution.master;
    struct tt_rank *rank = master->rank;
    probed = (struct probed){.master = master, .jacobian = &jacobian, .target = h, .moves = moves};
    assert_ok(tt_snapshot_take(&master->start, rank));
    make_columns(rank, &probed, columns, rows);
    assert_ok(tt_step_jacobian_init(&jacobian, rank, columns, INPUTS, rows));
    make_base(&probed, &jacobian, base);
    describe(rank, &probed, &described);
    if (way == BY_DERIVATIVES)
        jacobian.meaning = &described.meaning;

    char *signals = malloc(rank->wires.signal_size);
    memcpy(signals, rank->wires.signals, rank->wires.signal_size);
    unsigned long accepted = rank->units[0]->counts.do_steps - rank->units[0]->counts.auxiliary;
    assert_ok(tt_step_jacobian_measure(&jacobian, &(struct tt_step_probe){&probed, stage, read_rows}, &master->rules,
                                       &master->start, h, base, 0, INPUTS, &complete));
    assert_true(complete);
    check_entries(rank, &jacobian, h, moves, tolerance);
    assert_int_equal(jacobian.tried, way == BY_STEPS || strcmp(interface, "cs") == 0 ? INPUTS : 0);

    /* Everything is restored, and such steps are not counted for the run. */
    double again[OUTPUTS];
    assert_memory_equal(signals, rank->wires.signals, rank->wires.signal_size);
    assert_int_equal(rank->units[0]->counts.do_steps - rank->units[0]->counts.auxiliary, accepted);
    make_base(&probed, &jacobian, again);
    assert_memory_equal(base, again, jacobian.row_first[UNITS] * sizeof *base);
    free(signals);
    tt_step_jacobian_fini(&jacobian);
    finish(&run);
}

static void entries_are_those_of_the_step(void **state)
{
    (void)state;
    measure("PlainMixer_fmi2", "cs", false, BY_STEPS, 1e-7);
    measure("PlainMixer_fmi3", "cs", false, BY_STEPS, 1e-7);
    measure("Mixer_fmi2", "cs", true, BY_STEPS, 1e-7);
    measure("Mixer_fmi2", "me", false, BY_STEPS, 1e-5);
    measure("Mixer_fmi2", "me", true, BY_STEPS, 1e-5);
    measure("Mixer_fmi3", "me", true, BY_STEPS, 1e-5);
}

/* Linear units: exact, or as good as differences of the equations are. Co-Simulation has no equations to show. */
static void entries_are_those_of_the_equations(void **state)
{
    (void)state;
    measure("Mixer_fmi2", "me", false, BY_DERIVATIVES, 1e-12);
    measure("Mixer_fmi3", "me", true, BY_DERIVATIVES, 1e-12);
    measure("PlainMixer_fmi2", "me", true, BY_DERIVATIVES, 1e-8);
    measure("PlainMixer_fmi1me", "me", true, BY_DERIVATIVES, 1e-8);
    measure("Mixer_fmi2", "cs", true, BY_DERIVATIVES, 1e-7);
}

/* ---- missing derivatives ---- */

struct edge {
    struct tt_sim *master;
    bool ahead, behind; /* the unit computes something there */
};

/* y = 2 - sqrt(u) at u = 0.25, with walls beside it. */
static enum tutti_err stage_edge(void *context, struct tt_member *member, uint32_t column, double distance)
{
    struct edge *edge = context;
    struct tt_wires *wires = &edge->master->rank->wires;
    bool inside = distance > 0 ? edge->ahead : edge->behind;
    (void)column;
    wires->gathered[member->wires->gather_first] = inside ? 0.25 + distance : -1;
    return TUTTI_OK;
}

static enum tutti_err read_edge(void *context, struct tt_member *member, double *rows)
{
    const struct tt_wires *wires = &((struct edge *)context)->master->rank->wires;
    *rows = ((const double *)(const void *)wires->signals)[wires->reals[wires->real_first[member->component]].place];
    return TUTTI_OK;
}

static void a_side_that_is_refused_is_not_taken(void **state)
{
    (void)state;
    static const char *const files[] = {"a=" TEST_FOLDERS "/Narrow_fmi2", "b=" TEST_FOLDERS "/Narrow_fmi2"};
    static const char *const loop[] = {"a.y=b.u", "b.y=a.u"}, *const set[] = {"a.offset=2", "b.offset=2"};
    struct tutti_run_options options = {.files = files,
                                        .file_count = 2,
                                        .connects = loop,
                                        .connect_count = 2,
                                        .sets = set,
                                        .set_count = 2,
                                        .records = (const char *[]){"none"},
                                        .record_count = 1,
                                        .coupling = "relax",
                                        .control = "fixed",
                                        .extrapolate = "0",
                                        .events = "none",
                                        .has_step = true,
                                        .step = 0.1,
                                        .has_stop = true,
                                        .stop = 1};
    struct pieces run;
    start(&run, &options);
    struct tt_sim *master = &run.execution.master;
    struct edge edge = {.master = master};
    const uint32_t rows[] = {1, 1};
    const double base[] = {1.5, 1.5};
    assert_ok(tt_snapshot_take(&master->start, master->rank));
    for (int sides = 0; sides < 4; sides++) {
        struct tt_step_column columns[] = {{.component = 0, .size = 1, .value = 0.25},
                                           {.component = 1, .size = 1, .value = 0.25}};
        struct tt_step_jacobian jacobian;
        bool complete = false;
        edge.ahead = sides & 1;
        edge.behind = sides & 2;
        assert_ok(tt_step_jacobian_init(&jacobian, master->rank, columns, 2, rows));
        assert_ok(tt_step_jacobian_measure(&jacobian, &(struct tt_step_probe){&edge, stage_edge, read_edge},
                                           &master->rules, &master->start, 0.1, base, 1, 1, &complete));
        assert_int_equal(complete, sides > 0);
        assert_same_double(jacobian.entries[0], 0); /* was not asked for */
        if (complete)
            assert_near(jacobian.entries[1], -1, 1e-2);
        else
            assert_true(isnan(jacobian.entries[1]));
        assert_int_equal(jacobian.tried, edge.ahead ? 1 : 2);
        tt_step_jacobian_fini(&jacobian);
    }
    finish(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_those_of_the_step),
        cmocka_unit_test(entries_are_those_of_the_equations),
        cmocka_unit_test(a_side_that_is_refused_is_not_taken),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
