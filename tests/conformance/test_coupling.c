/* SPDX-License-Identifier: MIT */
/* What every coupling must do with units of all sorts in one system: FMI 1.0, 2.0 and 3.0, Co-Simulation and Model
 * Exchange. KIND, its name, is the argument.
 *
 * References are the same equations in one piece, solved by the classical Runge-Kutta method with small steps. */
#include "conformance.h"
#include "masters.h"

#include "sim/coupling/coupling.h"
#include "sim/stats.h"

#define KIND conformance_arguments[1]

static const struct tt_coupling *kind;

/* Factor on step sizes, so that errors exceed those of solvers. */
static int longer(void)
{
    return kind->iterates ? 8 : 1;
}

static void simulate(struct outcome *outcome, const struct model *model, const char *order, double stop, double step,
                     bool record)
{
    struct tutti_run_options options = {
        .coupling = KIND,
        .control = "fixed",
        .extrapolate = "0",
        .events = "none",
        .order = order,
        .has_stop = true,
        .stop = stop,
        .has_step = true,
        .step = step,
        .has_rtol = true,
        .rtol = 1e-9,
    };
    run_model(outcome, model, &options, record);
}

/* ---- a chain of masses, one of each sort ---- */

static struct component chain[] = {
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

static const struct model masses = MODEL(chain, springs, soft);

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
    simulate(&outcome, &masses, NULL, 2, step, true);
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

static void chain_converges(void **state)
{
    (void)state;
    double exact[2 * CHAIN] = {0};
    exact[0] = 1;
    exact[6] = -0.5;
    runge_kutta(chain_in_one_piece, 2 * CHAIN, exact, 2, 20000);
    double errors[4];
    for (int i = 0; i < 4; i++)
        errors[i] = chain_error(longer() * 0.01 / (1 << i), exact);
    check_orders(errors, 4, kind->order(0), 0.1);
    assert_true(errors[3] < 0.02);
}

/* ---- a ring of other models ---- */

/* decay -> lag -> gain -> u[1] of a linear system, whose y[1] goes to a second lag and back to its own u[2]. */
static struct component ring[] = {
    {"decay", "Dahlquist", "1me", "me"}, {"lag", "Tracker", "3", "me"},    {"gain", "Feedthrough", "2", "cs"},
    {"plant", "StateSpace", "3", "cs"},  {"late", "Tracker", "1cs", "cs"}, {"second", "Tracker", "2", "cs"},
};

/* Iterated couplings take units back, which FMI 1.0 Co-Simulation cannot. They are of order 2 where inputs can move inside a
 * step; a unit that cannot have that holds them in the middle of it, which is as good for its states, or, where outputs follow
 * them directly, at its end, which is of order 1: such units are of Model Exchange then. */
static void adapt_units(void)
{
    if (!kind->iterates)
        return;
    chain[0].version = "1me";
    ring[4].version = "2";
    chain[0].interface = chain[2].interface = chain[4].interface = ring[2].interface = ring[3].interface = "me";
}

static const char *const ring_connections[] = {
    "decay.x=lag.u",     "lag.y=gain.float64_in", "gain.float64_out=plant.u[1]",
    "plant.y[1]=late.u", "late.y=second.u",       "second.y=plant.u[2]"};

static const char *const ring_values[] = {"gain.gain=2", "lag.T=0.25"};
static const struct model models = MODEL(ring, ring_connections, ring_values);

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
        simulate(&outcome, &models, NULL, 2, longer() * 0.01 / (1 << i), true);
        assert_near(last_value(&outcome, "decay.x"), exact[0], 1e-6); /* no unit acts upon it */
        errors[i] = 0;
        for (int c = 1; c < 5; c++)
            if (columns[c])
                errors[i] = fmax(errors[i], fabs(last_value(&outcome, columns[c]) - exact[c]));
        outcome_fini(&outcome);
    }
    check_orders(errors, 4, kind->order(0), 0.1);
    assert_true(errors[3] < 0.01);
}

/* ---- the order in which units are listed ---- */

/* All rotations, every second one backwards. */
static void check_listing(const struct model *model, const char *order)
{
    struct outcome first, other;
    struct component turned[CHAIN];
    const char *backwards[COUNT(springs)];
    size_t count = model->component_count;
    struct model again = *model;
    again.components = turned;
    again.connect = backwards;
    simulate(&first, model, order, 1, 0.01, true);
    for (size_t i = 0; i < model->connect_count; i++)
        backwards[i] = model->connect[model->connect_count - 1 - i];
    for (size_t shift = 0; shift < count; shift++) {
        for (size_t i = 0; i < count; i++)
            turned[i] = model->components[((shift % 2 ? i : count - 1 - i) + shift) % count];
        simulate(&other, &again, order, 1, 0.01, true);
        if (kind->iterates)
            assert_near_cells(first.table, other.table, 1e-7);
        else
            assert_same_cells(first.table, other.table);
        outcome_fini(&other);
    }
    outcome_fini(&first);
}

/* To the bit; where a coupling iterates, as far as it does: sums are made in the order of units. A coupling that steps one
 * after the other gives the same as long as the order does not depend on the list: in the chain direct feed-through
 * leaves one order only; in the ring a cycle has to be cut somewhere, so the user says where. */
static void listing_does_not_matter(void **state)
{
    (void)state;
    bool ordered = kind->waves;
    check_listing(&masses, NULL);
    check_listing(&models, ordered ? "decay,lag,gain,plant,late,second" : NULL);
}

/* ---- times ---- */

static void times_are_those_of_the_grid(void **state)
{
    (void)state;
    static const double steps[] = {0.1, 0.3, 1.0 / 3, 0.07, 1, 5};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct outcome outcome;
        double stop = 1;
        simulate(&outcome, &masses, NULL, stop, steps[i], true);
        const double *times = tt_csv_table_times(outcome.table);
        size_t rows = tt_csv_table_rows(outcome.table);
        assert_int_equal(rows, outcome.stats.steps + 1);
        for (size_t r = 0; r + 1 < rows; r++)
            assert_same_double(times[r], (double)r * steps[i]);
        assert_same_double(times[rows - 1], stop);
        assert_same_double(outcome.stats.stop, stop);
        assert_int_equal(outcome.stats.steps, (unsigned long)fmax(1, ceil(stop / steps[i] - 1e-9)));
        outcome_fini(&outcome);
    }
}

/* After many steps a unit that shows its time (x sin(t) + u t, with x = u = 1) has exactly the time of the others, and
 * an uncoupled one has its stand-alone result. */
static void nothing_drifts(void **state)
{
    (void)state;
    const size_t steps = kind->iterates ? 20000 : 100000;
    static const struct component units[] = {
        {"clock", "Wave", "2", "cs"}, {"one", "Feedthrough", "3", "cs"}, {"decay", "Dahlquist", "2", "cs"}};
    static const char *const connect[] = {"one.float64_out=clock.u"};
    static const char *const set[] = {"decay.k=1e-3", "one.float64_in=1"};
    const struct model model = MODEL(units, connect, set);
    struct tutti_run_options options = {
        .coupling = KIND,
        .events = "none",
        .has_stop = true,
        .stop = (double)steps * 0.01,
        .has_step = true,
        .step = 0.01,
        .has_output_step = true,
        .output_step = 10,
    };
    struct outcome outcome;
    run_model(&outcome, &model, &options, true);
    assert_int_equal(outcome.stats.steps, steps);
    assert_int_equal(tt_csv_table_rows(outcome.table), steps / 1000 + 1);
    for (size_t r = 0; r < tt_csv_table_rows(outcome.table); r++) {
        double t = tt_csv_table_times(outcome.table)[r];
        assert_same_double(t, (double)r * 10);
        assert_same_double(value_at(outcome.table, r, "clock.swing"), sin(t) + t);
        assert_near(value_at(outcome.table, r, "decay.x"), exp(-1e-3 * t), 1e-12);
    }
    outcome_fini(&outcome);
}

/* ---- what it costs ---- */

/* One set and one get per unit, type and sweep, one do-step; one exchange per wave of units that wait for each other; one
 * sweep per step unless the coupling iterates. Whatever the start costs cancels out. */
static void calls_are_as_few_as_can_be(void **state)
{
    (void)state;
    struct outcome few, many;
    simulate(&few, &masses, NULL, 1, 0.01, false);
    simulate(&many, &masses, NULL, 3, 0.01, false);
    assert_int_equal(few.stats.steps, 100);
    assert_int_equal(many.stats.steps, 300);
    unsigned long sweeps = kind->iterates ? many.stats.iterations - few.stats.iterations : 200;
    assert_int_equal(many.stats.exchanges - few.stats.exchanges, sweeps * (kind->waves ? CHAIN : 1));
    assert_int_equal(many.stats.step_jacobians, few.stats.step_jacobians); /* of a linear system: one */
    for (int i = 0; i < CHAIN; i++) {
        const struct tt_unit_stats *a = &few.stats.units[i], *b = &many.stats.units[i];
        unsigned long before = kind->iterates ? few.stats.iterations : 100; /* derivatives take no steps */
        assert_int_equal(a->accepted, few.stats.steps);
        assert_int_equal(a->do_steps, before);
        assert_int_equal(b->do_steps - a->do_steps, sweeps);
        assert_int_equal(b->sets - a->sets, sweeps);
        assert_int_equal(b->gets - a->gets, sweeps);
        assert_int_equal(a->init_evaluations, b->init_evaluations);
        assert_int_equal(a->rollbacks, before - few.stats.steps);
    }
    assert_int_equal(few.stats.rejected, 0);
    assert_int_equal(few.stats.not_converged, 0);
    /* A linear system: one iteration, but for errors of the solvers, which a residual of 1e-9 shows. */
    assert_true(few.stats.newton_iterations <= few.stats.steps + few.stats.steps / 10);
    assert_int_equal(few.stats.ranks, 1);
    assert_string_equal(few.stats.coupling, KIND);
    assert_string_equal(few.stats.control, "fixed");
    outcome_fini(&few);
    outcome_fini(&many);
}

/* decay, lag and gain feed a cycle, and nothing comes back to them. */
static void units_in_no_cycle_step_once(void **state)
{
    (void)state;
    struct outcome outcome;
    simulate(&outcome, &models, NULL, 1, 0.05, false);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(outcome.stats.units[i].do_steps, outcome.stats.steps);
        assert_int_equal(outcome.stats.units[i].rollbacks, 0);
    }
    for (int i = 3; i < 6 && kind->iterates; i++)
        assert_true(outcome.stats.units[i].do_steps > outcome.stats.steps);
    outcome_fini(&outcome);
}

/* Recording what others read anyway costs no further call. */
static void recording_is_free_where_values_are_known(void **state)
{
    (void)state;
    struct outcome silent, recorded;
    simulate(&silent, &masses, NULL, 1, 0.01, false);
    simulate(&recorded, &masses, NULL, 1, 0.01, true);
    for (int i = 1; i + 1 < CHAIN; i++) /* all outputs of those in the middle are connected */
        assert_int_equal(silent.stats.units[i].gets, recorded.stats.units[i].gets);
    outcome_fini(&silent);
    outcome_fini(&recorded);
}

/* All ways of iterating agree; a limit that is too low is reported, and still gives the right end. */
static void sweeps_and_accelerations_agree(void **state)
{
    (void)state;
    if (!kind->sweeps)
        return;
    static const char *const sweeps[] = {"seidel", "jacobi"}, *const accelerations[] = {"none", "aitken", "anderson"};
    struct tutti_run_options options = {
        .coupling = KIND,
        .control = "fixed",
        .events = "none",
        .has_stop = true,
        .stop = 1,
        .has_step = true,
        .step = 0.02,
        .has_rtol = true,
        .rtol = 1e-8,
        .max_iterations = 100,
    };
    struct outcome first, other;
    run_model(&first, &masses, &options, true);
    for (size_t s = 0; s < COUNT(sweeps); s++)
        for (size_t a = 0; a < COUNT(accelerations); a++) {
            options.sweeps = sweeps[s];
            options.accelerate = accelerations[a];
            run_model(&other, &masses, &options, true);
            assert_int_equal(other.stats.not_converged, 0);
            assert_int_equal(other.stats.units[0].do_steps, other.stats.iterations);
            assert_near_cells(first.table, other.table, 1e-6);
            outcome_fini(&other);
        }
    options.max_iterations = 1;
    run_model(&other, &masses, &options, true);
    assert_int_equal(other.stats.not_converged, other.stats.steps);
    assert_int_equal(other.stats.iterations, other.stats.steps);
    outcome_fini(&other);
    outcome_fini(&first);
}
static void it_is_found_by_its_name(void **state)
{
    (void)state;
    const struct tt_coupling *coupling = NULL;
    assert_ok(tt_coupling_find(KIND, &coupling));
    assert_string_equal(coupling->name, KIND);
    assert_non_null(coupling->step);
    assert_fails(tt_coupling_find("none of them", &coupling), TUTTI_ERR_ARGUMENT, KIND);
}

static int find_kind(void **state)
{
    (void)state;
    if (tt_coupling_find(KIND, &kind) != TUTTI_OK)
        return 1;
    adapt_units();
    return set_up(state);
}

int main(int argc, char **argv)
{
    conformance_begin(argc, argv, 1, "COUPLING");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_found_by_its_name),
        cmocka_unit_test(chain_converges),
        cmocka_unit_test(ring_converges),
        cmocka_unit_test(listing_does_not_matter),
        cmocka_unit_test(times_are_those_of_the_grid),
        cmocka_unit_test(nothing_drifts),
        cmocka_unit_test(calls_are_as_few_as_can_be),
        cmocka_unit_test(units_in_no_cycle_step_once),
        cmocka_unit_test(recording_is_free_where_values_are_known),
        cmocka_unit_test(sweeps_and_accelerations_agree),
    };
    return cmocka_run_group_tests(tests, find_kind, tear_down);
}
