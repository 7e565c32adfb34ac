/* SPDX-License-Identifier: MIT */
/* Equations that a program integrates together with an FMU (<tutti/extra.h>), through tutti_run. */
#include "base/options/options.h"
#include "sim/stats.h"
#include "test.h"

#include <stdlib.h>
#include <tutti/tutti.h>

#include "base/number.h"
#include "results/csv_table.h"
#include "scratch.h"

static const char *const versions[] = {"1me", "2", "3"};
enum { VERSION_COUNT = 3 };
static const char *const solvers[] = {"cvode", "adams", "dopri5", "dirk", "radau5", "bdf", "ida", "rk4"};
enum { SOLVER_COUNT = sizeof solvers / sizeof *solvers };

/* The faults of the equations below. */
enum { RIGHT, FAIL_START, FAIL_RHS, FAIL_STRUCTURE, WRONG_ROW, FAIL_JACOBIAN, FAIL_OUTPUT, NOT_A_NUMBER };
struct wish {
    int how;
    double from; /* the time from which it goes wrong */
    size_t states;
    int starts, structures, jacobians;
};

static enum tutti_err wrong(const struct wish *wish, int how, double t)
{
    return wish->how == how && t >= wish->from ? tutti_extra_fail(TUTTI_ERR_ARGUMENT, "no luck with %d", how)
                                               : TUTTI_OK;
}

/* ---- p1' = x (of the FMU), p2' = -3 p2, p3' = p2: integral, decay, and its integral */

static enum tutti_err start(void *context, struct tutti_model *model, double t, double *p)
{
    struct wish *wish = context;
    wish->starts++;
    assert_int_equal(tutti_model_state_count(model), wish->states);
    p[1] = 2;
    return wrong(wish, FAIL_START, t);
}

static enum tutti_err rhs(void *context, struct tutti_model *model, double t, const double *p, double *dp)
{
    const struct wish *wish = context;
    dp[0] = wish->states > 0 ? tutti_model_states(model)[0] : cos(t);
    dp[1] = wish->how == NOT_A_NUMBER && t >= wish->from ? (double)NAN : -3 * p[1];
    dp[2] = p[1];
    return wrong(wish, FAIL_RHS, t);
}

static const int column_starts[] = {0, 0, 2, 2}, rows[] = {1, 2}, wrong_rows[] = {1, 3};

static enum tutti_err structure(void *context, struct tutti_model *model, const int **starts_, const int **rows_)
{
    struct wish *wish = context;
    struct tutti_state_space space;
    wish->structures++;
    if (wish->states > 0) {
        assert_ok(tutti_model_linearize(model, 0, &space));
        assert_int_equal(space.a.row_count, wish->states);
        assert_fails(tutti_model_linearize(model, TUTTI_WANT_A, &space), TUTTI_ERR_ARGUMENT, "patterns only");
    }
    *starts_ = column_starts;
    *rows_ = wish->how == WRONG_ROW ? wrong_rows : rows;
    return wrong(wish, FAIL_STRUCTURE, 0);
}

static enum tutti_err jacobian(void *context, struct tutti_model *model, double t, const double *p, double *values)
{
    struct wish *wish = context;
    (void)model;
    (void)p;
    wish->jacobians++;
    values[0] = -3;
    values[1] = 1;
    return wrong(wish, FAIL_JACOBIAN, t);
}

static enum tutti_err output(void *context, struct tutti_model *model, double t, const double *p, double *values)
{
    const struct wish *wish = context;
    (void)model;
    memcpy(values, p, 3 * sizeof *p);
    return wrong(wish, FAIL_OUTPUT, t);
}

static const char *const names[] = {"integral", "decay", "sum of decay"};

static struct tutti_extra equations(struct wish *wish, bool structured)
{
    return (struct tutti_extra){
        .count = 3,
        .context = wish,
        .start = start,
        .rhs = rhs,
        .structure = structured ? structure : NULL,
        .jacobian = structured ? jacobian : NULL,
        .output_count = 3,
        .output_names = names,
        .output = output,
    };
}

/* ---- running */

struct setup {
    const char *model, *version, *solver, *jacobian, *set;
    double rtol;
};

static enum tutti_err run(const struct setup *setup, const struct tutti_extra *extra, const char *result,
                          struct tutti_run_stats *stats)
{
    char path[1024];
    snprintf(path, sizeof path, "%s_fmi%s.fmu", setup->model, setup->version);
    struct tutti_run_options options = {
        .files = (const char *const[]){path},
        .file_count = 1,
        .interface = "me",
        .solver = setup->solver,
        .jacobian = setup->jacobian,
        .sets = &setup->set,
        .set_count = setup->set ? 1 : 0,
        .extra = extra,
        .has_stop = true,
        .stop = 1,
        .has_step = true,
        .step = 0.01,
        .has_rtol = true,
        .rtol = setup->rtol > 0 ? setup->rtol : 1e-8,
        .output = result,
    };
    return tutti_run(&options, stats);
}

static double cell(const struct tt_csv_table *table, size_t row, const char *name)
{
    for (size_t c = 0; c < tt_csv_table_columns(table); c++)
        if (strcmp(tt_csv_table_name(table, c), name) == 0) {
            const char *text = tt_csv_table_cell(table, row, c);
            double value = 0;
            assert_true(tt_number_read_double(text, strlen(text), &value));
            return value;
        }
    fail_msg("no column '%s'", name);
    return 0;
}

/* Rows of a result, and then the file is gone. */
static struct tt_csv_table *rows_of(const char *result)
{
    struct tt_csv_table *table = NULL;
    assert_ok(tt_csv_table_read(&table, result));
    return table;
}

/* Dahlquist: x' = -x, x = e^-t. */
static void check_dahlquist(const struct setup *setup, bool structured, const char *result)
{
    struct wish wish = {.states = 1};
    struct tutti_extra extra = equations(&wish, structured);
    struct tutti_run_stats stats;
    assert_ok(run(setup, &extra, result, &stats));
    struct tt_csv_table *table = rows_of(result);
    assert_int_equal(tt_csv_table_rows(table), 101);
    for (size_t r = 0; r < 101; r++) {
        double t = tt_csv_table_times(table)[r];
        assert_near(cell(table, r, "x"), exp(-t), 1e-6);
        assert_near(cell(table, r, "integral"), 1 - exp(-t), 1e-6);
        assert_near(cell(table, r, "decay"), 2 * exp(-3 * t), 1e-6);
        assert_near(cell(table, r, "sum of decay"), 2 * (1 - exp(-3 * t)) / 3, 1e-6);
    }
    assert_int_equal(wish.starts, 1);
    assert_int_equal(wish.structures, structured);
    assert_int_equal(wish.jacobians, structured ? (int)stats.units->jacobian_evaluations : 0);
    tt_csv_table_free(table);
    tt_stats_fini(&stats);
}

static void they_are_solved_with_the_fmu(void **state)
{
    struct scratch *scratch = *state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++)
            for (int structured = 0; structured < 2; structured++) {
                struct setup setup = {TUTTI_FMUS "/Dahlquist", versions[v], solvers[s], NULL, NULL, 0};
                check_dahlquist(&setup, structured, scratch_path(scratch, "r.csv"));
            }
}

static void every_jacobian_does(void **state)
{
    struct scratch *scratch = *state;
    static const char *const jacobians[] = {"auto", "sparse", "dense", "plain"};
    static const char *const implicit[] = {"cvode", "dirk", "radau5", "bdf", "ida"};
    for (int j = 0; j < 4; j++)
        for (int s = 0; s < 4; s++)
            for (int structured = 0; structured < 2; structured++) {
                struct setup setup = {TUTTI_FMUS "/Dahlquist", "3", implicit[s], jacobians[j], NULL, 0};
                check_dahlquist(&setup, structured, scratch_path(scratch, "r.csv"));
            }
}

/* p1' = cos(t) beside an FMU without states. */
static void an_fmu_without_states(void **state)
{
    struct scratch *scratch = *state;
    static const char *const models[] = {TUTTI_FMUS "/Feedthrough", TEST_FMUS "/Clockwork"};
    for (int m = 0; m < 2; m++)
        for (int v = 0; v < VERSION_COUNT; v++)
            for (int s = 0; s < SOLVER_COUNT; s++)
                for (int structured = 0; structured < 2; structured++) {
                    struct wish wish = {0};
                    struct tutti_extra extra = equations(&wish, structured);
                    struct setup setup = {models[m], versions[v], solvers[s], NULL, NULL, 0};
                    assert_ok(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL));
                    struct tt_csv_table *table = rows_of(scratch_path(scratch, "r.csv"));
                    size_t last = tt_csv_table_rows(table) - 1;
                    assert_near(cell(table, last, "integral"), sin(1), 1e-6);
                    assert_near(cell(table, last, "decay"), 2 * exp(-3), 1e-6);
                    tt_csv_table_free(table);
                }
}

/* Events of the FMU do not move them: p1' = x, x = t up to 0.5, then from -1 again. */
static void events_leave_them_alone(void **state)
{
    struct scratch *scratch = *state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++) {
            struct wish wish = {.states = 1};
            struct tutti_extra extra = equations(&wish, s % 2);
            char path[1024];
            snprintf(path, sizeof path, "%s/Ramp_fmi%s.fmu", TEST_FMUS, versions[v]);
            const char *sets[] = {"at=0.5", "what=1", "back=-1"};
            struct tutti_run_options options = {.files = (const char *const[]){path},
                                                .file_count = 1,
                                                .solver = solvers[s],
                                                .sets = sets,
                                                .set_count = 3,
                                                .extra = &extra,
                                                .has_stop = true,
                                                .stop = 1,
                                                .has_step = true,
                                                .step = 0.01,
                                                .has_rtol = true,
                                                .rtol = 1e-8,
                                                .output = scratch_path(scratch, "r.csv")};
            struct tutti_run_stats stats;
            assert_ok(tutti_run(&options, &stats));
            assert_int_equal(stats.events_located, 1);
            tt_stats_fini(&stats);
            struct tt_csv_table *table = rows_of(scratch_path(scratch, "r.csv"));
            size_t last = tt_csv_table_rows(table) - 1;
            assert_near(cell(table, last, "x"), -0.5, 1e-9);
            assert_near(cell(table, last, "integral"), 0.125 - 0.375, 1e-6);
            assert_near(cell(table, last, "decay"), 2 * exp(-3), 1e-6);
            tt_csv_table_free(table);
        }
}

/* ---- p1' = A p1, p2' = C of `swing` by x, from the FMU's linearisation; Wave's A is -1, C is sin(t) */

static enum tutti_err start_at_one(void *context, struct tutti_model *model, double t, double *p)
{
    (void)context;
    (void)model;
    (void)t;
    p[0] = 1;
    return TUTTI_OK;
}

static enum tutti_err linear_rhs(void *context, struct tutti_model *model, double t, const double *p, double *dp)
{
    struct tutti_state_space space;
    (void)context;
    (void)t;
    double x = tutti_model_states(model)[0];
    enum tutti_err err =
        tutti_model_linearize(model, TUTTI_WANT_A | TUTTI_WANT_B | TUTTI_WANT_C | TUTTI_WANT_D, &space);
    if (err)
        return err;
    assert_same_double(tutti_model_states(model)[0], x);
    assert_int_equal(space.c.row_count, 3);
    assert_int_equal(space.c.starts[1], 3);
    assert_near(space.b.values[0], 1, 1e-8);
    assert_near(space.c.values[1], 2 * x, 1e-7);
    dp[0] = space.a.values[0] * p[0];
    dp[1] = space.c.values[2];
    return TUTTI_OK;
}

static enum tutti_err linear_output(void *context, struct tutti_model *model, double t, const double *p, double *values)
{
    struct tutti_state_space space;
    (void)context;
    (void)t;
    enum tutti_err err = tutti_model_linearize(model, TUTTI_WANT_A, &space);
    memcpy(values, p, 2 * sizeof *p);
    return err;
}

static void they_may_look_at_the_fmu(void **state)
{
    struct scratch *scratch = *state;
    static const char *const models[] = {TEST_FMUS "/Wave", TEST_FMUS "/PlainWave"};
    static const char *const columns[] = {"p1", "p2"};
    for (int m = 0; m < 2; m++)
        for (int v = 0; v < VERSION_COUNT; v++)
            for (int s = 0; s < SOLVER_COUNT; s++) {
                struct tutti_extra extra = {.count = 2,
                                            .start = start_at_one,
                                            .rhs = linear_rhs,
                                            .output_count = 2,
                                            .output_names = columns,
                                            .output = linear_output};
                struct setup setup = {models[m], versions[v], solvers[s], NULL, NULL, 1e-7};
                assert_ok(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL));
                struct tt_csv_table *table = rows_of(scratch_path(scratch, "r.csv"));
                for (size_t r = 0; r < tt_csv_table_rows(table); r++) {
                    double t = tt_csv_table_times(table)[r];
                    assert_near(cell(table, r, "p1"), exp(-t), 1e-5);
                    assert_near(cell(table, r, "p2"), 1 - cos(t), 1e-5);
                    assert_near(cell(table, r, "x"), exp(-t), 1e-5); /* the FMU is where it was */
                }
                tt_csv_table_free(table);
            }
}

/* ---- what goes wrong */

static void their_errors_are_passed_on(void **state)
{
    struct scratch *scratch = *state;
    static const int ways[] = {FAIL_START, FAIL_RHS, FAIL_STRUCTURE, FAIL_JACOBIAN, FAIL_OUTPUT};
    static const char *const implicit[] = {"cvode", "dirk", "radau5", "bdf", "ida"};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (int s = 0; s < 4; s++) {
            struct wish wish = {.how = ways[w], .states = 1};
            struct tutti_extra extra = equations(&wish, true);
            struct setup setup = {TUTTI_FMUS "/Dahlquist", "2", implicit[s], NULL, NULL, 0};
            char words[32];
            snprintf(words, sizeof words, "no luck with %d", ways[w]);
            assert_fails(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL), TUTTI_ERR_ARGUMENT, words);
            assert_non_null(strstr(tutti_err_message(), "Dahlquist_fmi2"));
        }
}

static enum tutti_err fail_silently(void *context, struct tutti_model *model, double t, const double *p, double *values)
{
    (void)context, (void)model, (void)t, (void)p, (void)values;
    return TUTTI_ERR_LIMIT;
}

/* A message of an earlier failure is not taken for theirs. */
static void nothing_is_said(void **state)
{
    struct scratch *scratch = *state;
    for (int w = 0; w < 3; w++) {
        struct wish wish = {.states = 1};
        struct tutti_extra extra = equations(&wish, true);
        struct setup setup = {TUTTI_FMUS "/Dahlquist", "2", "cvode", NULL, NULL, 0};
        *(w == 0 ? &extra.rhs : w == 1 ? &extra.jacobian : &extra.output) = fail_silently;
        (void)tt_fail(TUTTI_ERR_IO, "long ago");
        assert_fails(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL), TUTTI_ERR_LIMIT, "did not say why");
        assert_null(strstr(tutti_err_message(), "long ago"));
    }
}

/* In the middle of the run: the rows before it stay. */
static void rows_before_an_error_stay(void **state)
{
    struct scratch *scratch = *state;
    for (int s = 0; s < SOLVER_COUNT; s++) {
        struct wish wish = {.how = FAIL_RHS, .from = 0.5, .states = 1};
        struct tutti_extra extra = equations(&wish, false);
        struct setup setup = {TUTTI_FMUS "/Dahlquist", "2", solvers[s], NULL, NULL, 0};
        assert_fails(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL), TUTTI_ERR_ARGUMENT, "no luck");
        assert_non_null(strstr(tutti_err_message(), "extra equations"));
        struct tt_csv_table *table = rows_of(scratch_path(scratch, "r.csv"));
        size_t count = tt_csv_table_rows(table);
        assert_true(count > 10 && count < 52);
        assert_near(cell(table, count - 1, "decay"), 2 * exp(-3 * tt_csv_table_times(table)[count - 1]), 1e-6);
        tt_csv_table_free(table);
    }
}

static void what_is_no_number_is_named(void **state)
{
    struct scratch *scratch = *state;
    for (int s = 0; s < SOLVER_COUNT; s++) {
        struct wish wish = {.how = NOT_A_NUMBER, .from = 0.25, .states = 1};
        struct tutti_extra extra = equations(&wish, s % 2);
        struct setup setup = {TUTTI_FMUS "/Dahlquist", "3", solvers[s], NULL, NULL, 0};
        assert_fails(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL), TUTTI_ERR_SOLVER, "extra equation 2");
        assert_non_null(strstr(tutti_err_message(), solvers[s]));
    }
}

/* Van der Pol has directional derivatives, which are tested at the first point: not before there is one. */
static void structure_comes_before_the_first_point(void **state)
{
    struct scratch *scratch = *state;
    for (int v = 1; v < VERSION_COUNT; v++) {
        struct wish wish = {.states = 2};
        struct tutti_extra extra = equations(&wish, true);
        struct setup setup = {TUTTI_FMUS "/VanDerPol", versions[v], "cvode", NULL, NULL, 0};
        assert_ok(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL));
        assert_int_equal(wish.structures, 1);
    }
}

static void nonsense_is_refused(void **state)
{
    struct scratch *scratch = *state;
    struct wish wish = {.how = WRONG_ROW, .states = 1};
    struct tutti_extra extra = equations(&wish, true);
    struct setup setup = {TUTTI_FMUS "/Dahlquist", "2", "radau5", NULL, NULL, 0};
    assert_fails(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL), TUTTI_ERR_ARGUMENT, "row 3");
    extra = equations(&wish, false);
    extra.rhs = NULL;
    assert_fails(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL), TUTTI_ERR_ARGUMENT, "right-hand side");
    extra = equations(&wish, false);
    extra.count = SIZE_MAX;
    assert_fails(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL), TUTTI_ERR_LIMIT, "the limit is");
    extra = equations(&wish, true);
    extra.structure = NULL;
    assert_fails(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL), TUTTI_ERR_ARGUMENT, "go together");
    const char *const nameless[] = {"one", NULL};
    extra = equations(&wish, false);
    extra.output_count = 2;
    extra.output_names = nameless;
    assert_fails(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL), TUTTI_ERR_ARGUMENT, "output 2 has no name");
    extra.output_names = NULL;
    assert_fails(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL), TUTTI_ERR_ARGUMENT, "without names");
    extra = equations(&wish, false);
    struct tutti_run_options options = {.files = (const char *const[]){TUTTI_FMUS "/Dahlquist_fmi2.fmu"},
                                        .file_count = 1,
                                        .extra = &extra,
                                        .output = scratch_path(scratch, "r.csv")};
    assert_fails(tutti_run(&options, NULL), TUTTI_ERR_ARGUMENT, "extra equations need Model Exchange");
}

/* No equations, but columns of FMU data. */
static enum tutti_err only_output(void *context, struct tutti_model *model, double t, const double *p, double *values)
{
    struct tutti_state_space space;
    (void)context;
    (void)t;
    (void)p;
    enum tutti_err err = tutti_model_linearize(model, TUTTI_WANT_A, &space);
    values[0] = err ? 0 : space.a.values[0];
    return err;
}

static void columns_without_equations(void **state)
{
    struct scratch *scratch = *state;
    static const char *const column[] = {"slope"};
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct tutti_extra extra = {.output_count = 1, .output_names = column, .output = only_output};
        struct setup setup = {TUTTI_FMUS "/Dahlquist", versions[v], NULL, NULL, "k=4", 0};
        assert_ok(run(&setup, &extra, scratch_path(scratch, "r.csv"), NULL));
        struct tt_csv_table *table = rows_of(scratch_path(scratch, "r.csv"));
        assert_near(cell(table, 50, "slope"), -4, 1e-7);
        tt_csv_table_free(table);
    }
}

static int set_up(void **state)
{
    static struct scratch scratch;
    scratch_init(&scratch);
    *state = &scratch;
    return 0;
}

static int tear_down(void **state)
{
    scratch_fini(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_solved_with_the_fmu),
        cmocka_unit_test(every_jacobian_does),
        cmocka_unit_test(structure_comes_before_the_first_point),
        cmocka_unit_test(an_fmu_without_states),
        cmocka_unit_test(events_leave_them_alone),
        cmocka_unit_test(they_may_look_at_the_fmu),
        cmocka_unit_test(their_errors_are_passed_on),
        cmocka_unit_test(nothing_is_said),
        cmocka_unit_test(rows_before_an_error_stay),
        cmocka_unit_test(what_is_no_number_is_named),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(columns_without_equations),
    };
    return cmocka_run_group_tests_name("unit: me, extra equations", tests, set_up, tear_down);
}
