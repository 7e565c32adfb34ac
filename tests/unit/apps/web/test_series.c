/* SPDX-License-Identifier: MIT */
/* Lines of curves against all of their rows, whatever the number of columns and the range of time; values at a time; differences. */
#include "scratch.h"

#include <jansson.h>

#include "apps/web/series.h"

enum { ROWS = 5000, MOST = 16 * ROWS };

/* Bursts: most rows lie in a hundredth of the time. */
static double time_of(size_t row)
{
    double step = row % 500 < 450 ? 1e-4 : 1;
    return (double)(row / 500) * 60 + (step < 1 ? 1e-4 * (double)(row % 500) : (double)(row % 500 - 449));
}

static double value_of(size_t row)
{
    return row % 1237 == 5 ? NAN : sin(0.37 * (double)row) * (double)(row % 91) + 1e-3 * (double)row;
}

static void write_table(const char *path, double factor, size_t each)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs("time,x,y,on,high\n", file);
    for (size_t row = 0; row < ROWS; row += each)
        fprintf(file, "%.17g,%.17g,1.5,%zu,%.17g\n", time_of(row), factor * value_of(row), row / 40 % 3,
                101325 + value_of(row));
    fclose(file);
}

static json_t *told(struct tt_text *text)
{
    json_t *json = json_loads(text->text, 0, NULL);
    assert_non_null(json);
    tt_text_fini(text);
    return json;
}

static json_t *ask(struct tt_series *series, const struct tt_series_query *query)
{
    struct tt_text text = {0};
    assert_ok(tt_series_write(series, query, &text));
    return told(&text);
}

static double number_of(json_t *value)
{
    return json_is_null(value) ? NAN : json_number_value(value);
}

struct points {
    double x[MOST], y[MOST];
    size_t count;
};

static void take_line(json_t *json, size_t which, struct points *points)
{
    json_t *line = json_array_get(json_object_get(json, "lines"), which);
    json_t *xs = json_object_get(line, "x"), *ys = json_object_get(line, "y");
    points->count = json_array_size(xs);
    assert_true(points->count <= MOST);
    assert_int_equal(json_array_size(ys), points->count);
    for (size_t i = 0; i < points->count; i++) {
        points->x[i] = number_of(json_array_get(xs, i));
        points->y[i] = number_of(json_array_get(ys, i));
    }
}

/* First, least, greatest and last value of a column of pixels. */
struct summary {
    double first, least, greatest, last;
};

static void add(struct summary *summary, double value)
{
    summary->first = isnan(summary->first) ? value : summary->first;
    summary->least = fmin(summary->least, value);
    summary->greatest = fmax(summary->greatest, value);
    summary->last = value;
}

static struct summary summary_of(const double *t, const double *v, size_t count, double from, double to, double columns,
                                 double column)
{
    struct summary summary = {NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < count; i++)
        if (!isnan(v[i]) && !isnan(t[i]) && t[i] >= from && t[i] <= to &&
            floor((t[i] - from) / (to - from) * columns) == column)
            add(&summary, v[i]);
    return summary;
}

static bool is_row(const double *t, const double *v, double x, double y)
{
    size_t row = 0;
    while (row < ROWS && !(t[row] == x && v[row] == y))
        row++;
    return row < ROWS;
}

/* Where there are many rows a column of pixels has the first, least, greatest and last value of its rows, at most four points, and each is a row. */
static void check(struct tt_series *series, const char *file, double from, double to, size_t columns)
{
    static double t[ROWS], v[ROWS];
    static struct points points;
    size_t seen = 0, lost = 0;
    json_t *json =
        ask(series, &(struct tt_series_query){.file = file, .columns = "x", .from = from, .to = to, .points = columns});
    take_line(json, 0, &points);
    from = isnan(from) ? time_of(0) : from;
    to = isnan(to) ? time_of(ROWS - 1) : to;
    for (size_t row = 0; row < ROWS; row++) {
        t[row] = time_of(row);
        v[row] = value_of(row);
        seen += t[row] >= from && t[row] <= to;
    }
    for (size_t end = 0; end < 2; end++) { /* where the first and the last stroke are cut */
        size_t place = end ? points.count - 1 : 0;
        if (points.x[place] == (end ? to : from) && !is_row(t, v, points.x[place], points.y[place]))
            points.x[place] = NAN;
    }
    for (size_t column = 0; column <= columns; column++) {
        struct summary all = summary_of(t, v, ROWS, from, to, (double)columns, (double)column);
        struct summary kept = summary_of(points.x, points.y, points.count, from, to, (double)columns, (double)column);
        if (isnan(all.first))
            continue;
        assert_same_double(kept.least, all.least);
        assert_same_double(kept.greatest, all.greatest);
        assert_same_double(kept.first, all.first);
        assert_same_double(kept.last, all.last);
    }
    for (size_t i = 0; i < points.count; i++)
        lost += !isnan(points.x[i]) && !is_row(t, v, points.x[i], points.y[i]);
    assert_int_equal(lost, 0);
    assert_true(points.count <= 4 * columns + 2 * 5 + 4 || seen <= 4 * columns);
    json_decref(json);
}

/* ---- two results, and what reads them ---- */

struct fixture {
    struct scratch scratch;
    struct tt_series *series;
    char file[128], other[128];
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    scratch_init(&f->scratch);
    copy_text(f->file, sizeof f->file, scratch_path(&f->scratch, "r.csv"));
    copy_text(f->other, sizeof f->other, scratch_path(&f->scratch, "o.csv"));
    assert_ok(tt_series_new(&f->series));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    tt_series_free(f->series);
    scratch_fini(&f->scratch);
    free(f);
    return 0;
}

static void lines_draw_the_pixels_of_all_rows(void **state)
{
    struct fixture *f = *state;
    struct tt_series *series = f->series;
    const char *file = f->file;
    write_table(file, 1, 1);
    for (size_t columns = 1; columns <= 2000; columns = 3 * columns + 1) {
        check(series, file, NAN, NAN, columns);
        check(series, file, 60, 60.03, columns);
        check(series, file, 100.5, 400.25, columns);
    }
    json_t *none = ask(series, &(struct tt_series_query){file, .columns = "z", .from = 900, .to = 100, .points = 50});
    assert_int_equal(json_array_size(json_object_get(none, "columns")), 0);
    assert_int_equal(json_array_size(json_object_get(none, "lines")), 0);
    json_decref(none);
    struct tt_series_query lost = {.file = "/nothing", .points = 1};
    assert_int_equal(tt_series_write(series, &lost, &(struct tt_text){0}), TUTTI_ERR_IO);
}

static void held_values_are_stairs(void **state)
{
    struct fixture *f = *state;
    struct tt_series *series = f->series;
    const char *file = f->file;
    static struct points points;
    write_table(file, 1, 1);
    json_t *json =
        ask(series, &(struct tt_series_query){file, .columns = "on", .from = NAN, .to = NAN, .points = 9000});
    take_line(json, 0, &points);
    assert_true(json_is_true(json_object_get(json_array_get(json_object_get(json, "columns"), 0), "held")));
    for (size_t i = 1; i < points.count; i++)
        assert_true(points.x[i] == points.x[i - 1] || points.y[i] == points.y[i - 1]);
    json_decref(json);
}

static double answered(json_t *json, size_t column, size_t i)
{
    return number_of(json_array_get(json_array_get(json_object_get(json, "values"), column), i));
}

static void values_are_those_of_the_rows(void **state)
{
    enum { TIMES = 6 };
    struct fixture *f = *state;
    struct tt_series *series = f->series;
    const char *file = f->file, *other = f->other;
    write_table(file, 1, 1);
    write_table(other, 0.5, 3);
    double a = time_of(40), b = time_of(41), middle = a + (b - a) / 4;
    const double times[TIMES] = {a, middle, b, -1, time_of(ROWS - 1), 1e9};
    struct tt_series_query query = {.file = file, .columns = "x;on;high"};
    struct tt_text text = {0};
    assert_ok(tt_series_values(series, &query, times, TIMES, &text));
    json_t *json = told(&text);
    double part = (middle - a) / (b - a);
    assert_same_double(answered(json, 0, 0), value_of(40));
    assert_same_double(answered(json, 0, 1), value_of(40) + (value_of(41) - value_of(40)) * part);
    assert_same_double(answered(json, 0, 2), value_of(41));
    assert_true(isnan(answered(json, 0, 3)) && isnan(answered(json, 0, 5)));
    assert_same_double(answered(json, 0, 4), value_of(ROWS - 1));
    assert_same_double(answered(json, 1, 1), 1);
    assert_same_double(answered(json, 2, 0), 101325 + value_of(40));
    json_decref(json);
    query.minus = other;
    text = (struct tt_text){0};
    assert_ok(tt_series_values(series, &query, times, TIMES, &text));
    json = told(&text);
    double between = 0.5 * value_of(39) +
                     (0.5 * value_of(42) - 0.5 * value_of(39)) * ((a - time_of(39)) / (time_of(42) - time_of(39)));
    assert_same_double(answered(json, 0, 0), value_of(40) - between);
    json_decref(json);
}

/* The curves are far apart in their rows and close in their values: a difference of what is drawn would show nothing but the choice of points. */
static void differences_are_of_all_rows(void **state)
{
    struct fixture *f = *state;
    struct tt_series *series = f->series;
    const char *file = f->file, *other = f->other;
    static struct points points;
    write_table(file, 1, 1);
    write_table(other, 1 - 1e-6, 1);
    for (size_t columns = 3; columns <= 300; columns *= 10) {
        struct tt_series_query query = {
            .file = file, .minus = other, .columns = "x", .from = NAN, .to = NAN, .points = columns};
        json_t *json = ask(series, &query);
        take_line(json, 0, &points);
        double greatest = 0;
        for (size_t i = 0; i < points.count; i++)
            greatest = fmax(greatest, fabs(points.y[i]));
        assert_true(greatest > 80e-6 && greatest < 100e-6);
        double last = number_of(json_array_get(json_array_get(json_object_get(json, "last"), 0), 0));
        assert_true(fabs(last - 1e-6 * value_of(ROWS - 1)) < 1e-12);
        json_decref(json);
    }
}

static void logarithmic_and_phase(void **state)
{
    struct fixture *f = *state;
    struct tt_series *series = f->series;
    const char *file = f->file;
    static struct points points;
    write_table(file, 1, 1);
    struct tt_series_query query = {.file = file, .columns = "x", .from = NAN, .to = NAN, .points = 5, .log = true};
    json_t *json = ask(series, &query);
    take_line(json, 0, &points);
    double least = INFINITY, wanted = INFINITY;
    for (size_t i = 0; i < points.count; i++)
        least = fmin(least, points.y[i]);
    for (size_t row = 0; row < ROWS; row++)
        wanted = value_of(row) > 0 ? fmin(wanted, value_of(row)) : wanted;
    assert_same_double(least, wanted);
    json_decref(json);
    query = (struct tt_series_query){.file = file, .columns = "high", .over = "x", .from = NAN, .to = NAN, .points = 5};
    json = ask(series, &query);
    take_line(json, 0, &points);
    for (size_t i = 0; i < points.count; i++)
        assert_true(isnan(points.x[i]) || fabs(points.y[i] - 101325 - points.x[i]) < 1e-9);
    json_decref(json);
}

/* The last rows of a run are written after the last request during the run. */
static void of_a_run_that_is_over_all_is_told(void **state)
{
    struct fixture *f = *state;
    struct tt_series *series = f->series;
    const char *file = f->file, *other = f->other;
    write_table(file, 1, 7);
    write_table(other, 2, 7);
    struct tt_series_query query = {.file = file,
                                    .minus = other,
                                    .grows = true,
                                    .minus_grows = true,
                                    .columns = "x",
                                    .from = NAN,
                                    .to = NAN,
                                    .points = 10};
    json_decref(ask(series, &query));
    write_table(file, 1, 1);
    write_table(other, 2, 1);
    query.grows = query.minus_grows = false;
    json_t *json = ask(series, &query);
    assert_int_equal(json_integer_value(json_object_get(json, "rows")), ROWS);
    double last = number_of(json_array_get(json_array_get(json_object_get(json, "last"), 0), 0));
    assert_same_double(last, value_of(ROWS - 1) - 2 * value_of(ROWS - 1));
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_draw_the_pixels_of_all_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(held_values_are_stairs, setup, teardown),
        cmocka_unit_test_setup_teardown(values_are_those_of_the_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(differences_are_of_all_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(logarithmic_and_phase, setup, teardown),
        cmocka_unit_test_setup_teardown(of_a_run_that_is_over_all_is_told, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
