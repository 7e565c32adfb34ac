/* SPDX-License-Identifier: MIT */
/* stepped.h - for tests of simulations that a program steps: every row that is shown, kept; and runs of all sorts to compare
 * with. */
#ifndef TUTTI_TEST_STEPPED_H
#define TUTTI_TEST_STEPPED_H

#include "base/options/options.h"
#include "test.h"

#include <stdlib.h>
#include <tutti/tutti.h>

#define LENGTH(list) (sizeof(list) / sizeof *(list))
#define LIST(...)                                                                                                      \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define EXAMPLE(name) TUTTI_FMUS "/../examples/" name "/" name ".ssp"

/* ---- rows ---- */

/* All rows that a watcher was shown: the time, then the values. */
struct rows {
    size_t columns, count, room;
    double *data;
    unsigned told; /* number of calls with columns */
    char names[1024];
    size_t fail_at; /* from this row on it has had enough; 0: never */
};

static inline enum tutti_err take_columns(void *context, const struct tutti_recorded *shown, size_t count)
{
    struct rows *rows = context;
    rows->told++;
    rows->columns = count + 1;
    rows->names[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(rows->names);
        snprintf(rows->names + used, sizeof rows->names - used, "%s ", shown[i].name);
    }
    return TUTTI_OK;
}

static inline enum tutti_err take_row(void *context, double t, const double *values)
{
    struct rows *rows = context;
    if (rows->fail_at > 0 && rows->count + 1 >= rows->fail_at)
        return tutti_extra_fail(TUTTI_ERR_LIMIT, "seen enough at t = %g", t);
    if ((rows->count + 1) * rows->columns > rows->room) {
        rows->room = 2 * (rows->count + 1) * rows->columns + 1000;
        rows->data = realloc(rows->data, rows->room * sizeof *rows->data);
        assert_non_null(rows->data);
    }
    double *row = rows->data + rows->count++ * rows->columns;
    row[0] = t;
    for (size_t i = 1; i < rows->columns; i++)
        row[i] = values[i - 1];
    return TUTTI_OK;
}

static inline const double *row_of(const struct rows *rows, size_t i)
{
    assert_true(i < rows->count);
    return rows->data + i * rows->columns;
}

/* So many rows of both, to the bit. */
static inline void assert_same_rows(const char *name, const struct rows *a, size_t a_first, const struct rows *b,
                                    size_t b_first, size_t count)
{
    assert_int_equal(a->columns, b->columns);
    for (size_t i = 0; i < count; i++) {
        const double *x = row_of(a, a_first + i), *y = row_of(b, b_first + i);
        for (size_t c = 0; c < a->columns; c++)
            if (memcmp(&x[c], &y[c], sizeof *x) != 0)
                fail_msg("%s: row %zu, column %zu (0: time; %s): %.17g and %.17g at t = %.17g", name, i, c, a->names,
                         x[c], y[c], x[0]);
    }
}

static inline void rows_fini(struct rows *rows)
{
    free(rows->data);
    *rows = (struct rows){0};
}

#define WATCHER(rows)                                                                                                  \
    {                                                                                                                  \
        .context = (rows), .columns = take_columns, .row = take_row                                                    \
    }

/* ---- simulations ---- */

static inline struct tutti_simulation *open_simulation(const struct tutti_run_options *options)
{
    struct tutti_simulation *simulation = NULL;
    assert_ok(tutti_simulation_open(&simulation, options));
    return simulation;
}

static inline struct tutti_simulation *start_simulation(const struct tutti_run_options *options)
{
    struct tutti_simulation *simulation = open_simulation(options);
    assert_ok(tutti_simulation_start(simulation));
    return simulation;
}

static inline size_t number_of(struct tutti_simulation *simulation, const char *name)
{
    size_t number = SIZE_MAX;
    assert_ok(tutti_simulation_find(simulation, name, &number));
    return number;
}

static inline double value_of(struct tutti_simulation *simulation, const char *name)
{
    double value = NAN;
    assert_ok(tutti_simulation_get(simulation, number_of(simulation, name), &value, 1));
    return value;
}

static inline enum tutti_err put_value(struct tutti_simulation *simulation, const char *name, double value)
{
    return tutti_simulation_put(simulation, number_of(simulation, name), &value, 1);
}

static inline void finish_and_free(struct tutti_simulation *simulation)
{
    assert_ok(tutti_simulation_finish(simulation, NULL));
    tutti_simulation_free(simulation);
}

/* ---- runs of all sorts ---- */

enum way_back {
    EXACT,  /* what follows is the same to the bit */
    ANEW,   /* from the second time on: SUNDIALS restarts */
    NO_WAY, /* the FMU cannot */
};

struct sort {
    const char *name;
    struct tutti_run_options options;
    enum way_back back;
};

#define ONE(file) .files = LIST(file), .file_count = 1
#define TIMES(h, end) .has_step = true, .step = (h), .has_stop = true, .stop = (end)
#define OUTER(which) .coupling = (which), .events = "none", .extrapolate = "0", .control = "fixed"
#define CAR ONE(EXAMPLE("quarter_car"))
#define CONTROLLED(which) .coupling = "jacobi", .control = (which), .has_rtol = true, .rtol = 1e-4
#define MIXER(file)                                                                                                    \
    .files = LIST("a=" TEST_FMUS "/" file, "b=" TEST_FMUS "/" file), .file_count = 2,                                  \
    .connects = LIST("a.y1=b.u1", "b.y3=a.u1", "a.y2=b.u2", "b.y2=a.u2"), .connect_count = 4,                          \
    .sets = LIST("a.d11=0.013", "a.d22=-0.7", "b.d12=0.3", "a.b2=0.5", "b.b1=-0.02"), .set_count = 5
#define FOLLOWERS(a, b)                                                                                                \
    .files = LIST("a=" TEST_FMUS "/Switches_fmi" a ".fmu", "b=" TEST_FMUS "/EarlySwitches_fmi" b ".fmu"),              \
    .file_count = 2, .connects = LIST("a.level=b.u"), .connect_count = 1,                                              \
    .sets = LIST("a.flag_at=0.33", "a.level_at=0.47", "b.count_at=0.61", "b.flag_at=0.2", "b.width=0.1"),              \
    .set_count = 5

static const struct sort sorts[] = {
    {"fmi1 cs", {ONE(TUTTI_FMUS "/VanDerPol_fmi1cs.fmu"), TIMES(0.05, 2)}, NO_WAY},
    {"fmi2 cs", {ONE(TUTTI_FMUS "/BouncingBall_fmi2.fmu"), TIMES(0.07, 2)}, EXACT},
    {"fmi3 cs", {ONE(TUTTI_FMUS "/BouncingBall_fmi3.fmu"), TIMES(0.07, 2)}, EXACT},
    {"fmi3 cs events", {ONE(TUTTI_FMUS "/Stair_fmi3.fmu"), TIMES(0.3, 5)}, EXACT},
    {"fmi1 me rk4", {ONE(TUTTI_FMUS "/VanDerPol_fmi1me.fmu"), TIMES(0.05, 2), .solver = "rk4"}, EXACT},
    {"fmi2 me bdf", {ONE(TUTTI_FMUS "/VanDerPol_fmi2.fmu"), TIMES(0.1, 5), .solver = "bdf"}, EXACT},
    {"fmi3 me bdf", {ONE(TUTTI_FMUS "/BouncingBall_fmi3.fmu"), TIMES(0.1, 2), .solver = "bdf"}, EXACT},
    {"fmi3 me radau5", {ONE(TUTTI_FMUS "/VanDerPol_fmi3.fmu"), TIMES(0.1, 3), .solver = "radau5"}, EXACT},
    {"fmi2 me euler", {ONE(TUTTI_FMUS "/Heater_fmi2.fmu"), TIMES(10, 2000), .solver = "euler"}, EXACT},
    {"me average", {ONE(TUTTI_FMUS "/VanDerPol_fmi3.fmu"), TIMES(0.1, 3), .solver = "bdf", .filter = "average"}, EXACT},
    {"fmi2 me cvode", {ONE(TUTTI_FMUS "/BouncingBall_fmi2.fmu"), TIMES(0.1, 2), .solver = "cvode"}, ANEW},
    {"fmi3 me cvode", {ONE(TUTTI_FMUS "/VanDerPol_fmi3.fmu"), TIMES(0.1, 3), .solver = "cvode"}, ANEW},
    {"output step",
     {ONE(TUTTI_FMUS "/VanDerPol_fmi2.fmu"), TIMES(0.1, 2), .has_output_step = true, .output_step = 0.03},
     EXACT},
    {"auto", {CAR}, EXACT},
    {"jacobi", {CAR, TIMES(0.01, 1), OUTER("jacobi")}, EXACT},
    {"seidel", {CAR, TIMES(0.01, 1), OUTER("seidel")}, EXACT},
    {"relax", {CAR, TIMES(0.02, 1), OUTER("relax")}, EXACT},
    {"relax anderson", {CAR, TIMES(0.02, 1), OUTER("relax"), .accelerate = "anderson"}, EXACT},
    {"jacobi linear", {CAR, TIMES(0.01, 1), .coupling = "jacobi", .control = "fixed", .extrapolate = "1"}, EXACT},
    {"seidel linear", {CAR, TIMES(0.01, 1), .coupling = "seidel", .control = "fixed", .extrapolate = "1"}, EXACT},
    {"jacobi quadratic", {CAR, TIMES(0.01, 1), .coupling = "jacobi", .control = "fixed", .extrapolate = "2"}, EXACT},
    {"points linear",
     {ONE(EXAMPLE("quarter_car") "#History.ssd"), TIMES(0.01, 1), .coupling = "jacobi", .control = "fixed",
      .extrapolate = "1"},
     EXACT},
    {"richardson", {CAR, CONTROLLED("richardson"), .extrapolate = "2"}, EXACT},
    {"embedded", {CAR, CONTROLLED("embedded"), .extrapolate = "1"}, EXACT},
    {"slope", {CAR, CONTROLLED("slope"), .extrapolate = "1"}, EXACT},
    {"converge", {CAR, .coupling = "relax", .control = "converge", .has_rtol = true, .rtol = 1e-4}, EXACT},
    {"diverge", {CAR, .coupling = "relax", .control = "diverge"}, EXACT},
    {"quantum", {CAR, .coupling = "jacobi", .control = "quantum", .has_quantum = true, .quantum = 0.01}, EXACT},
    {"federated",
     {CAR, TIMES(0.01, 1), OUTER("federated"), .unit_steps = LIST("chassis=0.007"), .unit_step_count = 1},
     EXACT},
    {"federated quantum", {CAR, TIMES(0.01, 1), .coupling = "federated", .has_quantum = true, .quantum = 0.02}, EXACT},
    {"correct", {MIXER("Mixer_fmi2.fmu"), TIMES(0.05, 1), OUTER("jacobi"), .correct = true}, EXACT},
    {"correct tries", {MIXER("PlainMixer_fmi2.fmu"), TIMES(0.05, 1), OUTER("jacobi"), .correct = true}, EXACT},
    {"correct solve",
     {MIXER("Mixer_fmi3.fmu"), TIMES(0.05, 1), OUTER("jacobi"), .correct = true, .correct_how = "solve"},
     EXACT},
    {"correct solve me",
     {MIXER("PlainMixer_fmi2.fmu"), TIMES(0.05, 1), OUTER("jacobi"), .correct = true, .correct_how = "solve",
      .interface = "me", .solver = "bdf"},
     EXACT},
    {"correct smooth",
     {MIXER("MixerRates_fmi2.fmu"), TIMES(0.05, 1), .coupling = "jacobi", .control = "fixed", .events = "none",
      .extrapolate = "1", .correct = true, .smooth = ANEW},
     EXACT},
    {"smooth",
     {ONE(EXAMPLE("smoothing")), TIMES(0.02, 1), .coupling = "jacobi", .extrapolate = "1", .smooth = true,
      .solver = "bdf"},
     EXACT},
    {"early", {FOLLOWERS("3", "3"), TIMES(0.1, 1), .coupling = "jacobi", .events = "early"}, EXACT},
    {"output", {FOLLOWERS("2", "3"), TIMES(0.1, 1), .coupling = "jacobi", .events = "output"}, EXACT},
    {"stairs", {ONE(EXAMPLE("ball_on_stairs")), .has_rtol = true, .rtol = 1e-3}, EXACT},
    {"own steps",
     {CAR, TIMES(0.01, 1), OUTER("jacobi"), .unit_steps = LIST("chassis=0.03"), .unit_step_count = 1},
     EXACT},
    {"uniform",
     {.files = LIST("a=" TUTTI_FMUS "/Once_fmi2.fmu", "b=" TUTTI_FMUS "/Tracker_fmi3.fmu"),
      .file_count = 2,
      .connects = LIST("a.x=b.u"),
      .connect_count = 1,
      TIMES(0.1, 2)},
     EXACT},
};

#endif
