/* SPDX-License-Identifier: MIT */
/* What every control of the step must do, with every coupling, order of extrapolation and kind of events, on units of all
 * sorts in one system. KIND, its name, is the argument. */
#include "conformance.h"
#include "kinds.h"
#include "masters.h"
#include "masters_log.h"
#include "sim/stats.h"

#define KIND conformance_arguments[1]

static bool is(const char *word)
{
    return strcmp(KIND, word) == 0;
}

static bool iterates(const char *coupling)
{
    return coupling_of(coupling)->iterates;
}

static bool rejects(void)
{
    return control_of(KIND)->rejects;
}

static bool estimates(void)
{
    return control_of(KIND)->estimates && rejects();
}

static bool bounds_run(void)
{
    return control_of(KIND)->bounds_run;
}

/* ---- a ring of lags, and one that only listens and counts ---- */

enum { LAGS = 7, STATES = LAGS + 1 };

static const struct component units[] = {
    {"a", "Follower", "1me", "me"}, {"b", "Follower", "2", "cs"},  {"c", "Follower", "2", "me"},
    {"d", "Follower", "3", "cs"},   {"e", "Follower", "3", "me"},  {"f", "Tracker", "2", "cs"},
    {"g", "Tracker", "3", "me"},    {"count", "Tally", "2", "cs"},
};
/* FMI 1.0 Co-Simulation cannot go back. */
static const struct component old_units[] = {
    {"a", "Follower", "1cs", "cs"}, {"b", "Follower", "2", "cs"},    {"c", "Follower", "2", "me"},
    {"d", "Follower", "3", "cs"},   {"e", "Follower", "3", "me"},    {"f", "Tracker", "1cs", "cs"},
    {"g", "Tracker", "3", "me"},    {"count", "Tally", "1cs", "cs"},
};
static const char *const wires[] = {"a.x=b.u", "b.x=c.u", "c.x=d.u", "d.x=e.u",
                                    "e.x=f.u", "f.y=g.u", "g.y=a.u", "c.x=count.u"};
static const char *const values[] = {"a.x=1", "b.x=2", "e.x=-1"};
static const struct model ring = MODEL(units, wires, values), old_ring = MODEL(old_units, wires, values);
static const double start[MOST_STATES] = {1, 2, 0, 0, -1};
static const char *const columns[] = {"a.x", "b.x", "c.x", "d.x", "e.x", "f.y", "g.y", "count.y"};

static void in_one_piece(double t, const double *x, double *dx)
{
    (void)t;
    for (int i = 0; i < LAGS; i++)
        dx[i] = (x[(i + LAGS - 1) % LAGS] - x[i]) / 0.5;
    dx[LAGS] = x[2] - x[LAGS];
}

/* Of the first `count` units. */
static double error_of(const struct outcome *outcome, double stop, int count)
{
    double exact[MOST_STATES], worst = 0;
    memcpy(exact, start, sizeof exact);
    runge_kutta(in_one_piece, STATES, exact, stop, 2000);
    for (int i = 0; i < count; i++)
        worst = fmax(worst, fabs(last_value(outcome, columns[i]) - exact[i]));
    return worst;
}

/* ---- a chain of masses, whose forces follow their inputs directly ---- */

static const struct component masses[] = {
    {"a", "ChainMass", "1me", "me"}, {"b", "ChainMass", "2", "cs"}, {"c", "ChainMass", "2", "me"},
    {"d", "ChainMass", "3", "cs"},   {"e", "ChainMass", "3", "me"}, {"asks", "Tracker", "3", "cs"},
    {"told", "Tracker", "2", "cs"},  {"count", "Tally", "3", "cs"},
};
static const char *const springs[] = {
    "a.x=b.x_left",  "a.v=b.v_left",  "b.F=a.F_right", "b.x=c.x_left",  "b.v=c.v_left",
    "c.F=b.F_right", "c.x=d.x_left",  "c.v=d.v_left",  "d.F=c.F_right", "d.x=e.x_left",
    "d.v=e.v_left",  "e.F=d.F_right", "a.x=asks.u",    "b.x=told.u",    "c.x=count.u",
};
#define SOFT                                                                                                           \
    "a.k=4", "b.k=4", "c.k=4", "d.k=4", "e.k=4", "a.d=0.5", "b.d=0.5", "c.d=0.5", "d.d=0.5", "a.x=1", "d.x=-0.5"
static const char *const soft[] = {SOFT}, *const refusing[] = {SOFT, "count.most=0.02"};
static const struct model chain = MODEL(masses, springs, soft), refusing_chain = MODEL(masses, springs, refusing);

/* ---- the log of steps ---- */

/* Accepted steps follow each other from 0 to the end; one that was taken back is followed by one from the same point. */
static void check_steps(const struct steps *steps, const struct tutti_run_options *options,
                        const struct tutti_run_stats *stats)
{
    double t = 0;
    unsigned long kept = 0;
    for (size_t i = 0; i < steps->count; i++) {
        const struct line *line = &steps->lines[i];
        assert_near(line->t, t, 4e-16 * options->stop);
        assert_true(line->h > 0 && line->h <= options->h_max * (1 + 1e-8));
        if (stays(line)) {
            t = i + 1 < steps->count ? steps->lines[i + 1].t : line->t + line->h;
            assert_near(t, line->t + line->h, 4e-16 * options->stop);
            kept++;
        } else {
            assert_true(i + 1 < steps->count && steps->lines[i + 1].h < line->h);
        }
        if (estimates() && verdict_is(line, "accepted"))
            assert_true(line->error <= 1);
        if (estimates() && verdict_is(line, "rejected"))
            assert_true(line->error > 1 && line->unit[0] && line->variable[0]);
        if (verdict_is(line, "forced") && !bounds_run()) /* there it may be noise of a unit's solver, too */
            assert_true(line->h <= options->h_min * (1 + 1e-8));
    }
    assert_near(t, options->stop, 1e-15 * options->stop);
    assert_int_equal(kept, stats->steps);
    assert_int_equal(steps->count - kept, stats->rejected);
}

/* Steps shorter than the least one only where something else wants a point: the second half of an interval of output. */
static void check_least(const struct steps *steps, const struct tutti_run_options *options)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct line *line = &steps->lines[i];
        double end = (line->t + line->h) / options->output_step, to_go = (round(end) - end) * options->output_step;
        if (line->h < options->h_min * (1 - 1e-8) && fabs(to_go) > options->h_min)
            fail_msg("a step of %.3g from t = %.17g", line->h, line->t);
    }
}

/* ---- all combinations ---- */

static struct tutti_run_options plain_options(void)
{
    return (struct tutti_run_options){
        .control = KIND,
        .has_stop = true,
        .stop = 2,
        .has_step = true,
        .step = 0.02,
        .has_rtol = true,
        .rtol = 1e-4,
        .has_atol = true,
        .atol = 1e-5,
        .has_h_min = true,
        .h_min = 1e-4,
        .has_h_max = true,
        .h_max = 0.04,
        .has_quantum = control_of(KIND)->takes_quantum,
        .quantum = 0.01,
        .has_output_step = true,
        .output_step = 0.1,
        .step_log = "",
    };
}

/* Recorded points are where they were asked for, to the bit; a row per point, unless there are events. */
static void check_rows(const struct outcome *outcome, const struct tutti_run_options *options)
{
    const double *times = tt_csv_table_times(outcome->table);
    size_t rows = tt_csv_table_rows(outcome->table), points = (size_t)lround(options->stop / options->output_step);
    assert_int_equal(rows, points + 1);
    for (size_t r = 0; r < points; r++)
        assert_same_double(times[r], (double)r * options->output_step);
    assert_same_double(times[points], options->stop);
}

enum { MOST_INPUTS = 3 };

/* Every do-step is counted once, in its category, as a unit's own count confirms. */
static void check_counts(const struct outcome *outcome, const char *coupling, const char *events)
{
    const struct tutti_run_stats *stats = &outcome->stats;
    for (size_t i = 0; i < stats->unit_count; i++) {
        const struct tt_unit_stats *unit = &stats->units[i];
        unsigned long tries = stats->steps + stats->rejected;
        /* In a cycle it is repeated, beside one not; trials for a Jacobian move one input each, to both sides. */
        if (iterates(coupling))
            assert_in_range(unit->do_steps, tries, stats->iterations + 4 * MOST_INPUTS * stats->step_jacobians);
        else /* a doubled step has an auxiliary do-step, one that is compared with its halves has two */
            assert_in_range(unit->do_steps, tries + unit->auxiliary, tries + 2 * unit->auxiliary);
        if ((is("richardson") || is("slope")) && !iterates(coupling)) {
            assert_int_equal(unit->do_steps, 3 * tries);
            assert_int_equal(unit->accepted, 2 * stats->steps);
        }
        if (!rejects())
            assert_int_equal(unit->rejected, 0);
        if (!iterates(coupling) && !rejects())
            assert_int_equal(unit->auxiliary, 0);
    }
    if (!rejects())
        assert_int_equal(stats->rejected, 0);
    assert_int_equal((unsigned long)last_value(outcome, "count.calls"),
                     unit_of(outcome, "count")->do_steps + tried_steps(coupling, KIND, events));
    assert_int_equal((unsigned long)last_value(outcome, "count.steps"), unit_of(outcome, "count")->accepted);
}

static void check_words(const struct outcome *outcome, const struct tutti_run_options *options)
{
    char order[8];
    snprintf(order, sizeof order, "%u", outcome->stats.extrapolate);
    assert_string_equal(outcome->stats.control, KIND);
    assert_string_equal(outcome->stats.coupling, options->coupling);
    assert_string_equal(outcome->stats.events, options->events);
    assert_string_equal(order, options->extrapolate);
}

static const char *const recorded[] = {"*.x", "*.y", "count.*"};

static void run_combination(const struct model *model, const char *coupling, const char *order, const char *events)
{
    struct outcome outcome;
    struct tutti_run_options options = plain_options();
    options.coupling = coupling;
    options.extrapolate = order;
    options.events = events;
    options.records = recorded;
    options.record_count = COUNT(recorded);
    print_message("%s, extrapolation %s, events %s\n", coupling, order, events);
    if (!fit_all(coupling, KIND, order, events)) {
        bool alone = coupling_of(coupling)->federates && !control_of(KIND)->for_iteration;
        assert_fails(try_run(&outcome, model, options, true), TUTTI_ERR_ARGUMENT,
                     alone ? "each has a time of its own; use " : "use it with coupling ");
        outcome_fini(&outcome);
        return;
    }
    run_model(&outcome, model, &options, true);
    check_words(&outcome, &options);
    check_rows(&outcome, &options);
    if (!has_own_paces(coupling, KIND))
        check_counts(&outcome, coupling, events);
    struct steps steps = read_steps();
    check_steps(&steps, &options, &outcome.stats);
    check_least(&steps, &options);
    free(steps.lines);
    double error = error_of(&outcome, options.stop, STATES);
    if (!(error < (iterates(coupling) ? 5e-3 : 0.02)))
        fail_msg("%s, extrapolation %s, events %s: an error of %.3g", coupling, order, events, error);
    outcome_fini(&outcome);
}

static void all_combinations_run(void **state)
{
    (void)state;
    for (size_t c = 0; couplings[c]; c++)
        for (size_t o = 0; o < order_count(couplings[c]); o++)
            for (size_t e = 0; e < COUNT(detections); e++)
                run_combination(&ring, couplings[c], orders[o], detections[e]);
}

/* Units without rollback, which are not forked, are named, with an alternative; couplings without rollback run with
 * them. */
static void units_that_cannot_go_back(void **state)
{
    (void)state;
    for (size_t c = 0; couplings[c]; c++)
        for (size_t e = 0; e < COUNT(detections); e++) {
            struct outcome outcome;
            struct tutti_run_options options = plain_options();
            options.coupling = couplings[c];
            options.events = detections[e];
            options.rollback = "fmu";
            if (!fit_all(couplings[c], KIND, "0", detections[e]))
                continue;
            if (!takes_back(couplings[c], KIND, detections[e])) {
                run_combination(&old_ring, couplings[c], "0", detections[e]);
                run_combination(&old_ring, couplings[c], "2", detections[e]);
                continue;
            }
            assert_fails(try_run(&outcome, &old_ring, options, false), TUTTI_ERR_UNSUPPORTED, "'a' (");
            assert_contains(tutti_err_message(), iterates(couplings[c]) ? conformance_join("coupling ", couplings[c])
                                                 : !rejects()           ? "events"
                                                                        : conformance_join("control ", KIND));
            assert_contains(tutti_err_message(), "use ");
            outcome_fini(&outcome);
        }
}

/* ---- accuracy ---- */

static double error_with(const char *coupling, const char *order, double rtol, unsigned long *steps)
{
    struct outcome outcome;
    struct tutti_run_options options = plain_options();
    options.coupling = coupling;
    options.extrapolate = order;
    options.events = "none";
    options.rtol = options.atol = rtol;
    options.error_per = "step";
    options.h_min = 1e-7;
    options.h_max = 1;
    options.step = 1e-3;
    options.has_output_step = false;
    run_model(&outcome, &ring, &options, true);
    double error = error_of(&outcome, options.stop, LAGS); /* no unit reads the output of the one that counts */
    *steps = outcome.stats.steps;
    assert_int_equal(outcome.stats.forced, 0);
    outcome_fini(&outcome);
    return error;
}

/* A method of order p whose errors per step, of order q = p + 1, are held at the tolerance: errors go with tolerance^(p / q),
 * the number of steps with tolerance^(-1 / q). (PITFALLS: the controller must know the order of the method.) The test of slopes
 * is of order 2 whatever the method is: steps are shorter, and errors at least as small. */
static void check_tolerance(const char *coupling, const char *order, double p)
{
    unsigned long few, many;
    double coarse = error_with(coupling, order, 1e-3, &few), fine = error_with(coupling, order, 1e-6, &many);
    double gain = log10(coarse / fine) / 3, more = log10((double)many / (double)few) / 3;
    print_message("%s, extrapolation %s: errors of %.3g and %.3g in %lu and %lu steps: powers %.3g and %.3g\n",
                  coupling, order, coarse, fine, few, many, gain, more);
    double q = p + 1;
    assert_true(fine < 10 * pow(1e-6, p / q));
    if (coupling_of(coupling)->constrains) { /* its order is that of constraints, which are missing here */
        assert_true(gain > 0.8 * p / q && more < 1 / q + 0.15);
        return;
    }
    if (p < 3 && !is("slope")) /* otherwise there are too few steps, or errors of internal solvers dominate */
        assert_near(gain, p / q, 0.2 * p / q);
    assert_near(more, is("slope") ? 0.5 : 1 / q, 0.15);
}

static void errors_fall_with_the_tolerance(void **state)
{
    (void)state;
    if (!estimates())
        return;
    for (size_t c = 0; couplings[c]; c++)
        for (size_t o = 0; o < (iterates(couplings[c]) ? 1 : order_count(couplings[c])) && fit(couplings[c], KIND); o++)
            check_tolerance(couplings[c], orders[o], coupling_of(couplings[c])->order((unsigned)o));
}

/* A limited iteration: if it does not converge, the step is rolled back and shortened, down to the least one, which is
 * accepted as it is. */
static void iterations_that_do_not_converge(void **state)
{
    (void)state;
    struct outcome outcome;
    struct tutti_run_options options = plain_options();
    options.coupling = "relax";
    options.extrapolate = "0";
    options.events = "none";
    options.sweeps = "jacobi";
    options.accelerate = "none";
    options.rtol = options.atol = 1e-9;
    options.max_iterations = 3;
    options.h_min = 1e-3;
    options.stop = 0.25;
    options.has_output_step = false;
    if (!rejects())
        return;
    run_model(&outcome, &ring, &options, false); /* rows would add short steps */
    struct steps steps = read_steps();
    size_t taken_back = 0, forced = 0;
    check_steps(&steps, &options, &outcome.stats);
    for (size_t i = 0; i < steps.count; i++) {
        taken_back += verdict_is(&steps.lines[i], "not converged");
        forced += verdict_is(&steps.lines[i], "forced");
    }
    assert_true(taken_back > 0);
    assert_int_equal(forced, outcome.stats.forced);
    size_t repeated = 0; /* those in the cycle */
    for (size_t i = 0; i < outcome.stats.unit_count; i++) {
        assert_true(outcome.stats.units[i].do_steps <= outcome.stats.iterations);
        repeated += outcome.stats.units[i].do_steps == outcome.stats.iterations;
    }
    assert_true(repeated >= 2);
    free(steps.lines);
    outcome_fini(&outcome);
}

/* ---- rollback ---- */

/* A unit that refuses long steps: all go back and make half of it. That gives the same bits as steps of that size, so the
 * refused one has left no trace in units, inputs, slopes or history. (All times are exact in binary.) */
static void a_step_taken_back_leaves_no_trace(void **state)
{
    (void)state;
    if (!is("fixed"))
        return;
    for (size_t c = 0; couplings[c]; c++)
        for (size_t o = 0; o < order_count(couplings[c]) && fit_all(couplings[c], KIND, "0", "early"); o++) {
            struct outcome with, without;
            struct tutti_run_options options = plain_options();
            options.coupling = couplings[c];
            options.extrapolate = orders[o];
            options.events = "early";
            options.has_output_step = false;
            options.step = 1.0 / 32;
            run_model(&with, &refusing_chain, &options, true);
            options.step = 1.0 / 64;
            run_model(&without, &chain, &options, true);
            assert_int_equal(with.stats.rejected, 64);
            assert_int_equal(without.stats.rejected, 0);
            assert_int_equal(with.stats.steps, 128);
            assert_same_cells(with.table, without.table);
            outcome_fini(&with);
            outcome_fini(&without);
        }
}

/* Every step is made once in one piece, taken back, and made in two halves: the same bits as with steps of half the size. (But for
 * outputs that no unit reads and that follow inputs at once: where errors are estimated, rows show them for the inputs of the row.) */
static void halves_are_steps_of_half_the_size(void **state)
{
    (void)state;
    static const char *const kept[] = {"?.x", "?.v", "?.F_right", "asks.y", "told.y", "count.y", "count.steps"};
    if (!is("richardson") && !is("slope"))
        return;
    for (size_t c = 0; couplings[c]; c++) {
        struct outcome doubled, plain;
        struct tutti_run_options options = plain_options();
        if (!fit(couplings[c], KIND))
            continue;
        options.coupling = couplings[c];
        options.extrapolate = "0";
        options.events = "early";
        options.step = options.h_min = options.output_step = 1.0 / 32;
        options.has_h_max = false; /* the solver would not take it */
        options.error_per = "step";
        options.rtol = options.atol = 1e-9; /* errors are too large, but steps cannot be shorter */
        options.records = kept;
        options.record_count = COUNT(kept);
        options.solver = "rk4"; /* whose steps do not depend on tolerances, which controls have a share in */
        run_model(&doubled, &chain, &options, true);
        options.control = "fixed";
        options.step = 1.0 / 64;
        run_model(&plain, &chain, &options, true);
        assert_int_equal(doubled.stats.steps, 64);
        assert_int_equal(doubled.stats.forced, 64);
        assert_int_equal(plain.stats.steps, 128);
        assert_same_cells(doubled.table, plain.table);
        outcome_fini(&doubled);
        outcome_fini(&plain);
    }
}

/* A first step that is far too long is tried again from the start, until it is good; the point where it ends is, to the bit,
 * that of a run which tries this step at once. */
static void a_rejected_step_begins_anew(void **state)
{
    (void)state;
    if (!estimates())
        return;
    for (size_t c = 0; couplings[c]; c++) {
        struct outcome rejected, direct;
        struct tutti_run_options options = plain_options();
        if (!fit(couplings[c], KIND))
            continue;
        options.coupling = couplings[c];
        options.extrapolate = "1";
        options.events = "none";
        options.has_output_step = false;
        options.h_max = options.step = 0.5;
        run_model(&rejected, &ring, &options, true);
        struct steps steps = read_steps();
        size_t first = 0;
        while (!stays(&steps.lines[first]))
            first++;
        assert_true(first > 1);
        options.step = steps.lines[first].h;
        run_model(&direct, &ring, &options, true);
        assert_same_double(tt_csv_table_times(rejected.table)[1], tt_csv_table_times(direct.table)[1]);
        for (size_t i = 0; i < COUNT(columns); i++)
            assert_string_equal(text_at(rejected.table, 1, columns[i]), text_at(direct.table, 1, columns[i]));
        free(steps.lines);
        outcome_fini(&rejected);
        outcome_fini(&direct);
    }
}

static void it_is_found_by_its_name(void **state)
{
    (void)state;
    const struct tt_control *control = NULL;
    assert_ok(tt_control_find(KIND, &control));
    assert_string_equal(control->name, KIND);
    assert_non_null(control->attempt);
    assert_non_null(control->judge);
    assert_fails(tt_control_find("none of them", &control), TUTTI_ERR_ARGUMENT, KIND);
}

int main(int argc, char **argv)
{
    conformance_begin(argc, argv, 1, "CONTROL");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_found_by_its_name),           cmocka_unit_test(all_combinations_run),
        cmocka_unit_test(units_that_cannot_go_back),         cmocka_unit_test(errors_fall_with_the_tolerance),
        cmocka_unit_test(iterations_that_do_not_converge),   cmocka_unit_test(a_step_taken_back_leaves_no_trace),
        cmocka_unit_test(halves_are_steps_of_half_the_size), cmocka_unit_test(a_rejected_step_begins_anew),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
