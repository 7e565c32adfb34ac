/* SPDX-License-Identifier: MIT */
/* What every coupling must do with units of all sorts in one system: FMI 1.0, 2.0 and 3.0, Co-Simulation and Model
 * Exchange. KIND is its name, ORDER its order in the communication step: one program per coupling.
 *
 * References are the same equations in one piece, solved by the classical Runge-Kutta method with small steps. */
#include "test.h"

#include <stdlib.h>
#include <tutti/run.h>

#include "base/number.h"
#include "base/str.h"
#include "master/coupling.h"
#include "record/table.h"
#include "scratch.h"

static struct scratch scratch;

static int set_up(void **state)
{
    (void)state;
    scratch_init(&scratch);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

/* ---- systems, as SSD files next to copies of the FMUs ---- */

struct component {
    const char *name, *model, *version, *interface; /* "2", "me" */
};

static void bring_fmu(const struct component *component)
{
    char path[512], name[128];
    size_t size;
    snprintf(name, sizeof name, "%s_fmi%s.fmu", component->model, component->version);
    if (exists(scratch_path(&scratch, name)))
        return;
    snprintf(path, sizeof path, "%s/%s", TUTTI_FMUS, name);
    char *data = slurp_file(path, &size);
    scratch_write(&scratch, name, data, size);
    free(data);
}

/* An SSD, because there each component says which of its interfaces is meant; a path in the scratch folder. */
static void write_system(const struct component *components, size_t count)
{
    struct tutti_text text = {0};
    tutti_text_append(&text, "<ssd:SystemStructureDescription version=\"1.0\" name=\"coupled\""
                             " xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\">\n"
                             "<ssd:System name=\"root\"><ssd:Elements>\n");
    for (size_t i = 0; i < count; i++) {
        bring_fmu(&components[i]);
        tutti_text_printf(&text, "<ssd:Component name=\"%s\" source=\"%s_fmi%s.fmu\" implementation=\"%s\"/>\n",
                          components[i].name, components[i].model, components[i].version,
                          strcmp(components[i].interface, "me") == 0 ? "ModelExchange" : "CoSimulation");
    }
    tutti_text_append(&text, "</ssd:Elements></ssd:System></ssd:SystemStructureDescription>\n");
    assert_false(text.failed);
    scratch_write(&scratch, "system.ssd", text.text, text.length);
    tutti_text_fini(&text);
}

/* ---- runs ---- */

/* Components, connections, start values. */
struct model {
    const struct component *components;
    const char *const *connect, *const *set;
    size_t component_count, connect_count, set_count;
};

struct outcome {
    struct tutti_run_stats stats;
    struct tutti_table *table; /* NULL: nothing was recorded */
};

/* Runs options that have no output yet. */
static void run(struct outcome *outcome, struct tutti_run_options *options, bool record)
{
    struct scratch result = scratch;
    options->coupling = KIND;
    options->output = record ? scratch_path(&result, "result.csv") : NULL;
    *outcome = (struct outcome){0};
    assert_ok(tutti_run(options, &outcome->stats));
    if (record)
        assert_ok(tutti_table_read(&outcome->table, options->output));
}

static void simulate(struct outcome *outcome, const struct model *model, double stop, double step, bool record)
{
    struct scratch file = scratch;
    const char *path = scratch_path(&file, "system.ssd");
    write_system(model->components, model->component_count);
    struct tutti_run_options options = {
        .files = &path,
        .file_count = 1,
        .connect = model->connect,
        .connect_count = model->connect_count,
        .set = model->set,
        .set_count = model->set_count,
        .has_stop = true,
        .stop = stop,
        .has_step = true,
        .step = step,
        .has_rtol = true,
        .rtol = 1e-9,
    };
    run(outcome, &options, record);
}

static void outcome_fini(struct outcome *outcome)
{
    tutti_run_stats_fini(&outcome->stats);
    tutti_table_free(outcome->table);
}

static size_t column_of(const struct tutti_table *table, const char *name)
{
    for (size_t c = 0; c < tutti_table_columns(table); c++)
        if (strcmp(tutti_table_name(table, c), name) == 0)
            return c;
    fail_msg("there is no column %s", name);
    return 0;
}

static double value_at(const struct tutti_table *table, size_t row, const char *name)
{
    double value = NAN;
    const char *cell = tutti_table_cell(table, row, column_of(table, name));
    assert_true(tutti_number_read_double(cell, strlen(cell), &value));
    return value;
}

static double last_value(const struct outcome *outcome, const char *name)
{
    return value_at(outcome->table, tutti_table_rows(outcome->table) - 1, name);
}

/* ---- references ---- */

typedef void right_hand_side(double t, const double *x, double *dx);

enum { MOST_STATES = 16 };

static void runge_kutta(right_hand_side *f, size_t n, double *x, double stop, unsigned long steps)
{
    double h = stop / (double)steps, k[4][MOST_STATES], y[MOST_STATES];
    for (unsigned long s = 0; s < steps; s++) {
        double t = (double)s * h;
        f(t, x, k[0]);
        for (int stage = 1; stage < 4; stage++) {
            double part = stage < 3 ? h / 2 : h;
            for (size_t i = 0; i < n; i++)
                y[i] = x[i] + part * k[stage - 1][i];
            f(t + part, y, k[stage]);
        }
        for (size_t i = 0; i < n; i++)
            x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

/* ---- a chain of masses, one of each sort ---- */

static const struct component chain[] = {
    {"a", "ChainMass", "1cs", "cs"}, {"b", "ChainMass", "1me", "me"}, {"c", "ChainMass", "2", "cs"},
    {"d", "ChainMass", "2", "me"},   {"e", "ChainMass", "3", "cs"},   {"f", "ChainMass", "3", "me"},
};
enum { CHAIN = sizeof chain / sizeof *chain };

static const char *const springs[] = {"a.x=b.x_left",  "a.v=b.v_left",  "b.F=a.F_right", "b.x=c.x_left",
                                      "b.v=c.v_left",  "c.F=b.F_right", "c.x=d.x_left",  "c.v=d.v_left",
                                      "d.F=c.F_right", "d.x=e.x_left",  "d.v=e.v_left",  "e.F=d.F_right",
                                      "e.x=f.x_left",  "e.v=f.v_left",  "f.F=e.F_right"};

static const char *const soft[] = {"a.k=4",   "b.k=4",   "c.k=4",   "d.k=4",   "e.k=4",   "f.k=4", "a.d=0.5",
                                   "b.d=0.5", "c.d=0.5", "d.d=0.5", "e.d=0.5", "f.d=0.5", "a.x=1", "d.x=-0.5"};

#define COUNT(array) (sizeof(array) / sizeof *(array))
static const struct model masses = {chain, springs, soft, CHAIN, COUNT(springs), COUNT(soft)};

/* x[2 i] and x[2 i + 1]: place and speed of the i-th mass. */
static void chain_in_one_piece(double t, const double *x, double *dx)
{
    (void)t;
    double pull[CHAIN + 1] = {0};
    for (int i = 0; i < CHAIN; i++) {
        double left = i ? x[2 * i - 2] : 0, left_speed = i ? x[2 * i - 1] : 0;
        pull[i] = 4 * (x[2 * i] - left) + 0.5 * (x[2 * i + 1] - left_speed);
    }
    for (int i = 0; i < CHAIN; i++) {
        dx[2 * i] = x[2 * i + 1];
        dx[2 * i + 1] = pull[i + 1] - pull[i];
    }
}

static double chain_error(double step, const double *exact)
{
    struct outcome outcome;
    double worst = 0;
    simulate(&outcome, &masses, 2, step, true);
    for (int i = 0; i < CHAIN; i++) {
        char x[8], v[8];
        snprintf(x, sizeof x, "%s.x", chain[i].name);
        snprintf(v, sizeof v, "%s.v", chain[i].name);
        worst = fmax(worst, fabs(last_value(&outcome, x) - exact[2 * i]));
        worst = fmax(worst, fabs(last_value(&outcome, v) - exact[2 * i + 1]));
    }
    outcome_fini(&outcome);
    return worst;
}

static void check_order(double coarse, double fine)
{
    double observed = log2(coarse / fine);
    if (fabs(observed - ORDER) > 0.1)
        fail_msg("errors of %.3g and, with half the step, %.3g: order %.3g", coarse, fine, observed);
}

static void chain_converges(void **state)
{
    (void)state;
    double exact[2 * CHAIN] = {0};
    exact[0] = 1;
    exact[6] = -0.5;
    runge_kutta(chain_in_one_piece, 2 * CHAIN, exact, 2, 20000);
    double errors[4];
    for (int i = 0; i < 4; i++)
        errors[i] = chain_error(0.01 / (1 << i), exact);
    for (int i = 1; i < 4; i++)
        check_order(errors[i - 1], errors[i]);
    assert_true(errors[3] < 0.02);
}

/* ---- a ring of other models ---- */

/* decay -> lag -> gain -> u[1] of a linear system, whose y[1] goes to a second lag and back to its own u[2]. */
static const struct component ring[] = {
    {"decay", "Dahlquist", "1me", "me"}, {"lag", "Tracker", "3", "me"},    {"gain", "Feedthrough", "2", "cs"},
    {"plant", "StateSpace", "3", "cs"},  {"late", "Tracker", "1cs", "cs"}, {"second", "Tracker", "2", "cs"},
};

static const char *const ring_connections[] = {
    "decay.x=lag.u",     "lag.y=gain.float64_in", "gain.float64_out=plant.u[1]",
    "plant.y[1]=late.u", "late.y=second.u",       "second.y=plant.u[2]"};

static const char *const ring_values[] = {"gain.gain=2", "lag.T=0.25"};
static const struct model models = {ring,        ring_connections,        ring_values,
                                    COUNT(ring), COUNT(ring_connections), COUNT(ring_values)};

/* decay, lag, late, second, plant (3). */
static void ring_in_one_piece(double t, const double *x, double *dx)
{
    (void)t;
    const double *p = x + 4;
    double u1 = 2 * x[1], u2 = x[3], y1 = p[0];
    dx[0] = -x[0];
    dx[1] = (x[0] - x[1]) / 0.25;
    dx[2] = (y1 - x[2]) / 0.5;
    dx[3] = (x[2] - x[3]) / 0.5;
    dx[4] = -p[0] + p[1] + u1;
    dx[5] = -2 * p[1] + p[2] + u2;
    dx[6] = -3 * p[2] + u1 + u2;
}

static void ring_converges(void **state)
{
    (void)state;
    static const char *const columns[] = {"decay.x", NULL, "late.y", "second.y", "plant.y[1]"};
    double exact[7] = {1, 0, 0, 0, 1, 0, -1}, errors[4];
    runge_kutta(ring_in_one_piece, 7, exact, 2, 20000);
    for (int i = 0; i < 4; i++) {
        struct outcome outcome;
        simulate(&outcome, &models, 2, 0.02 / (1 << i), true);
        assert_near(last_value(&outcome, "decay.x"), exact[0], 1e-7); /* nobody acts upon it */
        errors[i] = 0;
        for (int c = 1; c < 5; c++)
            if (columns[c])
                errors[i] = fmax(errors[i], fabs(last_value(&outcome, columns[c]) - exact[c]));
        outcome_fini(&outcome);
    }
    for (int i = 1; i < 4; i++)
        check_order(errors[i - 1], errors[i]);
    assert_true(errors[3] < 0.01);
}

/* ---- the order in which units are listed ---- */

static void assert_same_cells(const struct tutti_table *a, const struct tutti_table *b)
{
    assert_int_equal(tutti_table_rows(a), tutti_table_rows(b));
    assert_int_equal(tutti_table_columns(a), tutti_table_columns(b));
    for (size_t c = 0; c < tutti_table_columns(a); c++) {
        size_t other = column_of(b, tutti_table_name(a, c));
        for (size_t r = 0; r < tutti_table_rows(a); r++) {
            assert_same_double(tutti_table_times(a)[r], tutti_table_times(b)[r]);
            if (strcmp(tutti_table_cell(a, r, c), tutti_table_cell(b, r, other)) != 0)
                fail_msg("%s at row %zu: %s, and in another order of units %s", tutti_table_name(a, c), r,
                         tutti_table_cell(a, r, c), tutti_table_cell(b, r, other));
        }
    }
}

/* All rotations, every second one backwards. */
static void check_listing(const struct model *model)
{
    struct outcome first, other;
    struct component turned[CHAIN];
    const char *backwards[COUNT(springs)];
    size_t count = model->component_count;
    struct model again = *model;
    again.components = turned;
    again.connect = backwards;
    simulate(&first, model, 1, 0.01, true);
    for (size_t i = 0; i < model->connect_count; i++)
        backwards[i] = model->connect[model->connect_count - 1 - i];
    for (size_t shift = 0; shift < count; shift++) {
        for (size_t i = 0; i < count; i++)
            turned[i] = model->components[((shift % 2 ? i : count - 1 - i) + shift) % count];
        simulate(&other, &again, 1, 0.01, true);
        assert_same_cells(first.table, other.table);
        outcome_fini(&other);
    }
    outcome_fini(&first);
}

static void listing_does_not_matter(void **state)
{
    (void)state;
    check_listing(&masses);
    check_listing(&models);
}

/* ---- times ---- */

static void times_are_those_of_the_grid(void **state)
{
    (void)state;
    static const double steps[] = {0.1, 0.3, 1.0 / 3, 0.07, 1, 5};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct outcome outcome;
        double stop = 1;
        simulate(&outcome, &masses, stop, steps[i], true);
        const double *times = tutti_table_times(outcome.table);
        size_t rows = tutti_table_rows(outcome.table);
        assert_int_equal(rows, outcome.stats.steps + 1);
        for (size_t r = 0; r + 1 < rows; r++)
            assert_same_double(times[r], (double)r * steps[i]);
        assert_same_double(times[rows - 1], stop);
        assert_same_double(outcome.stats.stop, stop);
        assert_int_equal(outcome.stats.steps, (unsigned long)fmax(1, ceil(stop / steps[i] - 1e-9)));
        outcome_fini(&outcome);
    }
}

/* After 100,000 steps a unit that shows its time (y = t^2 + u) is where the others are, to the bit, and one that nobody
 * acts upon is where it would be by itself. */
static void nothing_drifts(void **state)
{
    (void)state;
    enum { STEPS = 100000 };
    static const char *const fmus[] = {"clock=" TEST_FMUS "/Clockwork_fmi2.fmu",
                                       "zero=" TUTTI_FMUS "/Feedthrough_fmi3.fmu",
                                       "decay=" TUTTI_FMUS "/Dahlquist_fmi2.fmu"};
    static const char *const connect[] = {"zero.float64_out=clock.u"};
    static const char *const set[] = {"decay.k=1e-3"};
    struct tutti_run_options options = {
        .files = fmus,
        .file_count = 3,
        .connect = connect,
        .connect_count = 1,
        .set = set,
        .set_count = 1,
        .has_stop = true,
        .stop = STEPS * 0.01,
        .has_step = true,
        .step = 0.01,
        .has_output_step = true,
        .output_step = 10,
        .interface = "cs",
    };
    struct outcome outcome;
    run(&outcome, &options, true);
    assert_int_equal(outcome.stats.steps, STEPS);
    assert_int_equal(tutti_table_rows(outcome.table), STEPS / 1000 + 1);
    for (size_t r = 0; r < tutti_table_rows(outcome.table); r++) {
        double t = tutti_table_times(outcome.table)[r];
        assert_same_double(t, (double)r * 10);
        assert_same_double(value_at(outcome.table, r, "clock.y"), t * t);
        assert_near(value_at(outcome.table, r, "decay.x"), exp(-1e-3 * t), 1e-12);
    }
    outcome_fini(&outcome);
}

/* ---- what it costs ---- */

/* One set and one get per unit, type and step, one do-step, one exchange; whatever the start costs cancels out. */
static void calls_are_as_few_as_can_be(void **state)
{
    (void)state;
    struct outcome few, many;
    simulate(&few, &masses, 1, 0.01, false);
    simulate(&many, &masses, 3, 0.01, false);
    unsigned long steps = many.stats.steps - few.stats.steps;
    assert_int_equal(few.stats.steps, 100);
    assert_int_equal(steps, 200);
    assert_int_equal(few.stats.unit_count, CHAIN);
    assert_int_equal(many.stats.exchanges - few.stats.exchanges, steps);
    for (int i = 0; i < CHAIN; i++) {
        const struct tutti_unit_stats *a = &few.stats.units[i], *b = &many.stats.units[i];
        assert_string_equal(a->name, chain[i].name);
        assert_string_equal(a->interface, chain[i].interface);
        assert_int_equal(a->do_steps, few.stats.steps);
        assert_int_equal(b->do_steps, many.stats.steps);
        assert_int_equal(b->sets - a->sets, steps);
        assert_int_equal(b->gets - a->gets, steps);
        assert_int_equal(a->init_evaluations, b->init_evaluations);
        assert_int_equal(a->rollbacks, 0);
    }
    assert_int_equal(few.stats.rejected, 0);
    assert_int_equal(few.stats.ranks, 1);
    assert_string_equal(few.stats.coupling, KIND);
    outcome_fini(&few);
    outcome_fini(&many);
}

/* Recording what others read anyway costs no further call. */
static void recording_is_free_where_values_are_known(void **state)
{
    (void)state;
    struct outcome silent, recorded;
    simulate(&silent, &masses, 1, 0.01, false);
    simulate(&recorded, &masses, 1, 0.01, true);
    for (int i = 1; i + 1 < CHAIN; i++) /* all outputs of those in the middle are connected */
        assert_int_equal(silent.stats.units[i].gets, recorded.stats.units[i].gets);
    outcome_fini(&silent);
    outcome_fini(&recorded);
}

static void it_is_found_by_its_name(void **state)
{
    (void)state;
    const struct tutti_coupling *coupling = NULL;
    assert_ok(tutti_coupling_find(KIND, &coupling));
    assert_string_equal(coupling->name, KIND);
    assert_non_null(coupling->step);
    assert_fails(tutti_coupling_find("none of them", &coupling), TUTTI_ERR_ARGUMENT, KIND);
    assert_ok(tutti_coupling_find(NULL, &coupling));
    assert_non_null(coupling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_found_by_its_name),
        cmocka_unit_test(chain_converges),
        cmocka_unit_test(ring_converges),
        cmocka_unit_test(listing_does_not_matter),
        cmocka_unit_test(times_are_those_of_the_grid),
        cmocka_unit_test(nothing_drifts),
        cmocka_unit_test(calls_are_as_few_as_can_be),
        cmocka_unit_test(recording_is_free_where_values_are_known),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
