/* SPDX-License-Identifier: MIT */
/* The numbers of step control against a calculation by hand: two lags that follow each other,
 *     a' = (b - a) / T,  b' = (a - b) / T,
 * each of which makes one step of the classical Runge-Kutta method per do-step. */
#include "masters.h"
#include "masters_log.h"

#include "sim/step_size.h"

static const double T = 0.5, RTOL = 1e-3, ATOL = 1e-4;

struct point {
    double t, x[2]; /* a, b */
};

/* x' = (u + slope tau - x) / T over h. */
static double lag(double x, double u, double slope, double h)
{
    double k1 = (u - x) / T;
    double k2 = (u + slope * h / 2 - (x + h / 2 * k1)) / T;
    double k3 = (u + slope * h / 2 - (x + h / 2 * k2)) / T;
    double k4 = (u + slope * h - (x + h * k3)) / T;
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
}

/* The slope at the last of `count` points: of the line through two, or of the parabola through three. */
static double slope_of(const struct point *points, int count, int which)
{
    const struct point *last = &points[count - 1];
    if (count == 1)
        return 0;
    double h = last->t - last[-1].t, slope = (last->x[which] - last[-1].x[which]) / h;
    if (count == 2)
        return slope;
    double before = (last[-1].x[which] - last[-2].x[which]) / (last[-1].t - last[-2].t);
    return slope + h * (slope - before) / (last->t - last[-2].t);
}

/* A step of explicit Jacobi from the last of `count` points, of which the inputs know the last `known`. */
static struct point jacobi(const struct point *points, int count, int known, double h)
{
    const struct point *now = &points[count - 1];
    struct point next = {.t = now->t + h};
    known = known < count ? known : count;
    for (int i = 0; i < 2; i++)
        next.x[i] = lag(now->x[i], now->x[1 - i], slope_of(points + count - known, known, 1 - i), h);
    return next;
}

static const struct component units[] = {{"a", "Follower", "2", "cs"}, {"b", "Follower", "2", "cs"}};
static const char *const wires[] = {"a.x=b.u", "b.x=a.u"}, *const values[] = {"a.x=1"};
static const struct model lags = MODEL(units, wires, values);
static const struct point start = {0, {1, 0}};

static struct tutti_run_options plain_options(const char *extrapolate)
{
    return (struct tutti_run_options){
        .coupling = "jacobi",
        .control = "richardson",
        .extrapolate = extrapolate,
        .events = "none",
        .has_stop = true,
        .stop = 1,
        .has_step = true,
        .step = 1.0 / 16,
        .has_h_min = true,
        .h_min = 1.0 / 16, /* whatever the error: steps stay as long as they are */
        .has_h_max = true,
        .h_max = 1.0 / 16,
        .has_rtol = true,
        .rtol = RTOL,
        .has_atol = true,
        .atol = ATOL,
        .error_per = "step",
        .step_log = "",
    };
}

/* Nicolai 2019 eq. 5 with the mean inside of the root, of their difference, by 2^p - 1. (PITFALLS: the norm must square
 * inside the root.) */
static double norm(const struct point *from, const struct point *whole, const struct point *halves, unsigned order)
{
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        double size = fmax(fabs(halves->x[i]), fabs(from->x[i]));
        double e = (halves->x[i] - whole->x[i]) / (exp2(order) - 1) / (RTOL * size + ATOL);
        sum += e * e;
    }
    return sqrt(sum / 2);
}

/* All points and errors of a run with doubled steps. (PITFALLS: with two half steps, the history that feeds extrapolation is
 * the end of the step, not its midpoint.) With errors under control, slopes are those of a polynomial through a point more. */
static void check_doubled(const char *extrapolate)
{
    enum { STEPS = 16 };
    struct outcome outcome;
    struct tutti_run_options options = plain_options(extrapolate);
    int known = extrapolate[0] == '1' ? 3 : 1;
    run_model(&outcome, &lags, &options, true);
    struct steps log = read_steps();
    assert_int_equal(log.count, STEPS);
    struct point points[STEPS + 2] = {start};
    for (int n = 0; n < STEPS; n++) {
        struct point *now = &points[n];
        struct point whole = jacobi(points, n + 1, known, options.step);
        now[1] = jacobi(points, n + 1, known, options.step / 2);
        struct point halves = jacobi(points, n + 2, known, options.step / 2);
        double error = norm(now, &whole, &halves, known > 1 && n > 0 ? 2 : 1);
        assert_near(log.lines[n].error, error, 1e-9 * error);
        assert_string_equal(log.lines[n].verdict, error <= 1 ? "accepted" : "forced");
        now[1] = halves;
        assert_near(value_at(outcome.table, (size_t)n + 1, "a.x"), halves.x[0], 1e-13);
        assert_near(value_at(outcome.table, (size_t)n + 1, "b.x"), halves.x[1], 1e-13);
    }
    free(log.lines);
    outcome_fini(&outcome);
}

static void doubled_steps(void **state)
{
    (void)state;
    check_doubled("0");
    check_doubled("1");
}

/* The step that follows one with a given error: the controller knows the order of the method, also where it rejects.
 * (PITFALLS: exponent 1 / (order + 1).) */
static void the_next_step_knows_the_order(void **state)
{
    (void)state;
    struct outcome outcome;
    struct tutti_run_options options = plain_options("0");
    options.h_min = 1e-6;
    options.h_max = options.step = 0.25;
    run_model(&outcome, &lags, &options, true);
    struct steps log = read_steps();
    assert_string_equal(log.lines[0].verdict, "rejected");
    for (size_t i = 0; i + 1 < log.count; i++) {
        const struct line *line = &log.lines[i];
        double factor = log.lines[i + 1].h / line->h, ideal = TUTTI_STEPPER_SAFETY / sqrt(line->error);
        if (strcmp(line->verdict, "rejected") == 0)
            assert_near(factor, fmax(ideal, TUTTI_STEPPER_SHRINK), 1e-9);
    }
    free(log.lines);
    outcome_fini(&outcome);
}

/* An output moves by a quantum in a step, as far as it keeps its rate (Awais 2015 eq. 4.5). `a` and `b`: those of the
 * outputs. */
static void check_quanta(double a, double b, const char *const *named, size_t count)
{
    struct outcome outcome;
    struct tutti_run_options options = plain_options("0");
    options.control = "quantum";
    options.has_quantum = count < 2;
    options.quantum = a;
    options.unit_quantums = named;
    options.unit_quantum_count = count;
    options.h_min = 1e-6;
    options.h_max = 0.25;
    run_model(&outcome, &lags, &options, true);
    struct steps log = read_steps();
    const double *times = tt_csv_table_times(outcome.table);
    size_t rows = tt_csv_table_rows(outcome.table);
    for (size_t r = 2; r + 2 < rows; r++) { /* the last ones are cut for the end */
        double moved = fmax(fabs(value_at(outcome.table, r - 1, "a.x") - value_at(outcome.table, r - 2, "a.x")) / a,
                            fabs(value_at(outcome.table, r - 1, "b.x") - value_at(outcome.table, r - 2, "b.x")) / b);
        double expected = (times[r - 1] - times[r - 2]) / moved;
        assert_near(times[r] - times[r - 1], fmin(expected, options.h_max), 1e-9);
        assert_near(log.lines[r - 2].error, moved, 1e-9);
    }
    free(log.lines);
    outcome_fini(&outcome);
}

static void steps_of_a_quantum(void **state)
{
    (void)state;
    static const char *const named[] = {"b.x=0.005", "a.x=0.04"};
    check_quanta(0.02, 0.02, NULL, 0);
    check_quanta(0.02, 0.005, named, 1);
    check_quanta(0.04, 0.005, named, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubled_steps),
        cmocka_unit_test(the_next_step_knows_the_order),
        cmocka_unit_test(steps_of_a_quantum),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
