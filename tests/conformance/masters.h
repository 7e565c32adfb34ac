/* SPDX-License-Identifier: MIT */
/* masters.h - for suites of couplings, controls and events: systems of units of all sorts, runs, and what they leave. */
#ifndef TUTTI_TEST_MASTERS_H
#define TUTTI_TEST_MASTERS_H

#include "base/options/options.h"
#include "sim/stats.h"
#include "test.h"

#include <stdlib.h>
#include <tutti/run.h>

#include "base/number.h"
#include "base/text.h"
#include "sim/control/control.h"
#include "sim/coupling/coupling.h"
#include "results/csv_table.h"
#include "own_scratch.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- systems, as SSD files next to copies of the FMUs ---- */

struct component {
    const char *name, *model, *version, *interface; /* "2", "me" */
};

/* Components, connections, start values. */
struct model {
    const struct component *components;
    const char *const *connect, *const *set;
    size_t component_count, connect_count, set_count;
};
#define MODEL(components, connect, set)                                                                                \
    {                                                                                                                  \
        components, connect, set, COUNT(components), COUNT(connect), COUNT(set)                                        \
    }

/* A link to the unpacked FMU, whose library is then loaded once for all runs; a separate file for one that counts calls
 * of its library, which is unpacked and loaded for each run. */
static inline void bring_fmu(const struct component *component)
{
    char path[512], name[128];
    size_t size;
    snprintf(name, sizeof name, "%s_fmi%s.fmu", component->model, component->version);
    if (exists(scratch_path(&scratch, name)))
        return;
    if (strcmp(component->model, "Tally") == 0) {
        snprintf(path, sizeof path, "%s/%s", TEST_FMUS, name);
        char *data = slurp_file(path, &size);
        scratch_write(&scratch, name, data, size);
        free(data);
        return;
    }
    snprintf(path, sizeof path, "%s/%s_fmi%s", TUTTI_FOLDERS, component->model, component->version);
    if (!exists(path))
        snprintf(path, sizeof path, "%s/%s_fmi%s", TEST_FOLDERS, component->model, component->version);
    assert_int_equal(symlink(path, scratch.joined), 0);
}

/* An SSD, because there each component says which of its interfaces is meant; a path in the scratch folder. */
static inline void write_system(const struct component *components, size_t count)
{
    struct tt_text text = {0};
    tt_text_append(&text, "<ssd:SystemStructureDescription version=\"1.0\" name=\"coupled\""
                          " xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\">\n"
                          "<ssd:System name=\"root\"><ssd:Elements>\n");
    for (size_t i = 0; i < count; i++) {
        bring_fmu(&components[i]);
        tt_text_printf(&text, "<ssd:Component name=\"%s\" source=\"%s_fmi%s.fmu\" implementation=\"%s\"/>\n",
                       components[i].name, components[i].model, components[i].version,
                       strcmp(components[i].interface, "me") == 0 ? "ModelExchange" : "CoSimulation");
    }
    tt_text_append(&text, "</ssd:Elements></ssd:System></ssd:SystemStructureDescription>\n");
    assert_false(text.failed);
    scratch_write(&scratch, "system.ssd", text.text, text.length);
    tt_text_fini(&text);
}

/* ---- runs ---- */

struct outcome {
    struct tutti_run_stats stats;
    struct tt_csv_table *table; /* NULL: nothing was recorded */
    struct tt_csv_table *log;   /* of steps; NULL: not asked for */
};

static inline void outcome_fini(struct outcome *outcome)
{
    tt_stats_fini(&outcome->stats);
    tt_csv_table_free(outcome->table);
    tt_csv_table_free(outcome->log);
}

/* Runs a model; its message is available afterwards. */
static inline enum tutti_err try_run(struct outcome *outcome, const struct model *model,
                                     struct tutti_run_options options, bool record)
{
    struct scratch file = scratch, result = scratch, log = scratch;
    const char *path = scratch_path(&file, "system.ssd");
    *outcome = (struct outcome){0};
    write_system(model->components, model->component_count);
    options.files = &path;
    options.file_count = 1;
    options.connects = model->connect;
    options.connect_count = model->connect_count;
    options.sets = model->set;
    options.set_count = model->set_count;
    options.output = record ? scratch_path(&result, "result.csv") : NULL;
    options.step_log = options.step_log ? scratch_path(&log, "steps.csv") : NULL;
    enum tutti_err err = tutti_run(&options, &outcome->stats);
    if (err == TUTTI_OK && record)
        assert_ok(tt_csv_table_read(&outcome->table, options.output));
    return err;
}

/* Runs a model, and checks what must hold of every run. */
static inline void run_model(struct outcome *outcome, const struct model *model,
                             const struct tutti_run_options *options, bool record)
{
    assert_ok(try_run(outcome, model, *options, record));
    const struct tutti_run_stats *stats = &outcome->stats;
    assert_same_double(stats->stop, options->stop);
    assert_int_equal(stats->unit_count, model->component_count);
    for (size_t i = 0; i < stats->unit_count; i++) {
        const struct tt_unit_stats *unit = &stats->units[i];
        assert_string_equal(unit->name, model->components[i].name);
        assert_string_equal(unit->interface, model->components[i].interface);
        assert_int_equal(unit->do_steps, unit->accepted + unit->rejected + unit->auxiliary);
        bool own_paces = strcmp(stats->coupling, "federated") == 0 && strcmp(stats->control, "quantum") == 0;
        assert_true(unit->accepted >= stats->steps || own_paces);
        assert_int_equal(unit->rollbacks > 0, unit->rejected + unit->auxiliary > 0 || stats->rejected > 0);
    }
}

/* ---- results ---- */

static inline size_t column_of(const struct tt_csv_table *table, const char *name)
{
    for (size_t c = 0; c < tt_csv_table_columns(table); c++)
        if (strcmp(tt_csv_table_name(table, c), name) == 0)
            return c;
    fail_msg("there is no column %s", name);
    return 0;
}

static inline const char *text_at(const struct tt_csv_table *table, size_t row, const char *name)
{
    return tt_csv_table_cell(table, row, column_of(table, name));
}

static inline double value_at(const struct tt_csv_table *table, size_t row, const char *name)
{
    double value = NAN;
    const char *cell = text_at(table, row, name);
    assert_true(tt_number_read_double(cell, strlen(cell), &value));
    return value;
}

static inline double last_value(const struct outcome *outcome, const char *name)
{
    return value_at(outcome->table, tt_csv_table_rows(outcome->table) - 1, name);
}

static inline const struct tt_unit_stats *unit_of(const struct outcome *outcome, const char *name)
{
    for (size_t i = 0; i < outcome->stats.unit_count; i++)
        if (strcmp(outcome->stats.units[i].name, name) == 0)
            return &outcome->stats.units[i];
    fail_msg("there is no unit %s", name);
    return NULL;
}

/* To the last digit, whatever the order of columns. */
static inline void assert_same_cells(const struct tt_csv_table *a, const struct tt_csv_table *b)
{
    assert_int_equal(tt_csv_table_rows(a), tt_csv_table_rows(b));
    assert_int_equal(tt_csv_table_columns(a), tt_csv_table_columns(b));
    for (size_t c = 0; c < tt_csv_table_columns(a); c++) {
        size_t other = column_of(b, tt_csv_table_name(a, c));
        for (size_t r = 0; r < tt_csv_table_rows(a); r++) {
            assert_same_double(tt_csv_table_times(a)[r], tt_csv_table_times(b)[r]);
            if (strcmp(tt_csv_table_cell(a, r, c), tt_csv_table_cell(b, r, other)) != 0)
                fail_msg("%s at row %zu: %s here, %s there", tt_csv_table_name(a, c), r, tt_csv_table_cell(a, r, c),
                         tt_csv_table_cell(b, r, other));
        }
    }
}

/* Within a tolerance, relative to 1. */
static inline void assert_near_cells(const struct tt_csv_table *a, const struct tt_csv_table *b, double tolerance)
{
    assert_int_equal(tt_csv_table_rows(a), tt_csv_table_rows(b));
    for (size_t c = 0; c < tt_csv_table_columns(a); c++)
        for (size_t r = 0; r < tt_csv_table_rows(a); r++) {
            const char *name = tt_csv_table_name(a, c), *left = text_at(a, r, name), *right = text_at(b, r, name);
            double x, y;
            bool numbers = tt_number_read_double(left, strlen(left), &x) &&
                           tt_number_read_double(right, strlen(right), &y);
            assert_same_double(tt_csv_table_times(a)[r], tt_csv_table_times(b)[r]);
            if (numbers ? !(fabs(x - y) <= tolerance * fmax(1, fabs(x))) : strcmp(left, right) != 0)
                fail_msg("%s at row %zu: %s here, %s there", name, r, left, right);
        }
}

/* ---- going back ---- */

static inline bool takes_back(const char *coupling, const char *control, const char *events)
{
    const struct tt_coupling *couples;
    const struct tt_control *controls;
    assert_ok(tt_coupling_find(coupling, &couples));
    assert_ok(tt_control_find(control, &controls));
    return couples->iterates || controls->rejects || strcmp(events, "none") != 0;
}

/* Do-steps of a unit that are not part of the run: before the first one rollback is tested, in two steps and their
 * repetition, and undeclared feed-through, in two short steps and their repetition with inputs moved. */
static inline unsigned long tried_steps(const char *coupling, const char *control, const char *events)
{
    return takes_back(coupling, control, events) ? 8 : 0;
}

/* ---- references ---- */

typedef void right_hand_side(double t, const double *x, double *dx);

enum { MOST_STATES = 16 };

/* The classical method: the same equations in one piece, with small steps. */
static inline void runge_kutta(right_hand_side *f, size_t n, double *x, double stop, unsigned long steps)
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

/* Errors of steps that are halved each time fall as they must. */
static inline void check_orders(const double *errors, int count, double order, double tolerance)
{
    for (int i = 1; i < count; i++) {
        double observed = log2(errors[i - 1] / errors[i]);
        if (!(fabs(observed - order) <= tolerance))
            fail_msg("errors of %.3g and, with half the step, %.3g: order %.3g", errors[i - 1], errors[i], observed);
    }
}

#endif
