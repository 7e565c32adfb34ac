/* SPDX-License-Identifier: MIT */
/* Inputs that move inside a step: the order that a coupling gains by them, for all sources of slopes (the unit that
 * provides the signal, or its past) and all ways of passing them (derivatives of inputs in FMI 1.0 and 2.0,
 * intermediate update in 3.0, Model Exchange). One program, all explicit couplings, and those that repeat steps.
 *
 * A lag that t^2 drives -> a lag -> ... -> a lag -> back to the first. Everything begins at an equilibrium, because
 * there is no past: one step with constant inputs, where they move, would cost an order. */
#include "masters.h"

enum { LAGS = 5 };

static void in_one_piece(double t, const double *x, double *dx)
{
    for (int i = 0; i < LAGS; i++)
        dx[i] = ((i == 0 ? t * t + x[LAGS - 1] : x[i - 1]) - x[i]) / 0.5;
}

/* Those in the middle say how their outputs move, or they do not. */
struct sort {
    const char *model, *output;
};
static const struct sort silent = {"Follower", "x"}, telling = {"Tracker", "y"};

/* Their FMI versions. (A Tracker of FMI 3.0 that requests its input does not learn its movement, so its second
 * derivative is wrong; the ring of units with derivatives has none.) */
static const char *const silent_versions[][2] = {{"2", "cs"}, {"1cs", "cs"}, {"3", "cs"}, {"2", "me"}, {"3", "me"}};
static const char *const telling_versions[][2] = {{"3", "cs"}, {"1cs", "cs"}, {"2", "cs"}, {"2", "me"}, {"3", "me"}};
/* Without FMI 1.0 Co-Simulation, which cannot go back. */
static const char *const versions[][2] = {{"2", "cs"}, {"1me", "me"}, {"3", "cs"}, {"2", "me"}, {"3", "me"}};
/* with a first unit that provides derivatives: the moving unit runs by Model Exchange */
static const char *const cubic_versions[][2] = {{"2", "me"}, {"1me", "me"}, {"3", "cs"}, {"2", "cs"}, {"3", "me"}};

static bool repeats(const char *coupling)
{
    return strcmp(coupling, "relax") == 0 || strcmp(coupling, "newton") == 0;
}

static double error_with(const char *coupling, const char *order, const struct sort *sort, double step)
{
    const char *const(*version)[2] = *order == '3'       ? cubic_versions
                                     : repeats(coupling) ? versions
                                     : sort == &silent   ? silent_versions
                                                         : telling_versions;
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    struct component units[LAGS] = {{"a", "Follower", version[0][0], version[0][1]}};
    char texts[LAGS][16];
    const char *wires[LAGS], *set[] = {"a.square=1"};
    for (int i = 1; i < LAGS; i++)
        units[i] = (struct component){names[i], sort->model, version[i][0], version[i][1]};
    for (int i = 0; i < LAGS; i++) {
        const char *output = i == 0 ? "x" : sort->output;
        snprintf(texts[i], sizeof texts[i], "%s.%s=%s", names[i], output, i + 1 < LAGS ? names[i + 1] : "a");
        snprintf(texts[i] + strlen(texts[i]), 4, ".%s", i + 1 < LAGS ? "u" : "w");
        wires[i] = texts[i];
    }
    const struct model model = MODEL(units, wires, set);
    struct tutti_run_options options = {
        .coupling = coupling,
        .control = "fixed",
        .extrapolate = order,
        .events = "none",
        .has_stop = true,
        .stop = 2,
        .has_step = true,
        .step = step,
        .has_rtol = true,
        .rtol = 1e-10,
        .has_atol = true,
        .atol = 1e-11,
        .max_iterations = 50,
    };
    struct outcome outcome;
    double exact[MOST_STATES] = {0}, worst = 0;
    runge_kutta(in_one_piece, LAGS, exact, 2, 2000);
    run_model(&outcome, &model, &options, true);
    assert_int_equal(outcome.stats.not_converged, 0);
    for (int i = 0; i < LAGS; i++) {
        char name[8];
        snprintf(name, sizeof name, "%s.%s", names[i], i == 0 ? "x" : sort->output);
        worst = fmax(worst, fabs(last_value(&outcome, name) - exact[i]));
    }
    outcome_fini(&outcome);
    return worst;
}

static void check(const char *coupling, const char *order, const struct sort *sort, double expected)
{
    print_message("%s, extrapolation %s, %s\n", coupling, order, sort->model);
    double longer = expected > 3 ? 4 : 1; /* to be above the errors of solvers */
    double coarse = error_with(coupling, order, sort, longer * 0.1);
    double fine = error_with(coupling, order, sort, longer * 0.1 / 8);
    double observed = log(coarse / fine) / log(8);
    if (!(fabs(observed - expected) < 0.25))
        fail_msg("errors of %.3g and, with an eighth of the step, %.3g: order %.3g", coarse, fine, observed);
}

static void jacobi_is_one_order_better_than_its_inputs(void **state)
{
    (void)state;
    check("jacobi", "0", &silent, 1);
    check("jacobi", "1", &silent, 2);
    check("jacobi", "2", &silent, 3);
    check("jacobi", "0", &telling, 1);
    check("jacobi", "1", &telling, 2);
    check("jacobi", "2", &telling, 3);
}

static void seidel_is_one_order_better_than_its_inputs(void **state)
{
    (void)state;
    check("seidel", "0", &silent, 1);
    check("seidel", "1", &silent, 2);
    check("seidel", "2", &silent, 3);
    check("seidel", "0", &telling, 1);
    check("seidel", "1", &telling, 2);
    check("seidel", "2", &telling, 3);
}

/* Between both ends there is a line, whatever the first guess was. */
static void relax_is_of_order_2(void **state)
{
    (void)state;
    static const char *const orders[] = {"0", "1", "2"};
    for (size_t o = 0; o < COUNT(orders); o++) {
        check("relax", orders[o], &silent, 2);
        check("relax", orders[o], &telling, 2);
    }
}

/* With derivatives of both ends there is a cubic; where a unit gives none, a line. */
static void cubics_are_of_order_4(void **state)
{
    (void)state;
    static const char *const couplings[] = {"relax", "newton"};
    for (size_t c = 0; c < COUNT(couplings); c++) {
        check(couplings[c], "3", &telling, 4);
        check(couplings[c], "3", &silent, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jacobi_is_one_order_better_than_its_inputs),
        cmocka_unit_test(seidel_is_one_order_better_than_its_inputs),
        cmocka_unit_test(relax_is_of_order_2),
        cmocka_unit_test(cubics_are_of_order_4),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
