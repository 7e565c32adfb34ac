/* SPDX-License-Identifier: MIT */
/* Pieces of a curve against all of its rows: the least, the greatest and the last of each, whatever the pieces are. */
#include "scratch.h"

#include <jansson.h>

#include "web/series.h"

enum { ROWS = 5000 };

static double value_of(size_t row)
{
    return row % 1237 == 5 ? NAN : sin(0.37 * (double)row) * (double)(row % 91);
}

static void write_table(const char *path)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs("time,x,y\n", file);
    for (size_t row = 0; row < ROWS; row++)
        fprintf(file, "%.17g,%.17g,1\n", 0.25 * (double)row, value_of(row));
    fclose(file);
}

static json_t *ask(struct tutti_web_series *series, const struct tutti_web_series_query *query)
{
    struct tutti_text text = {0};
    assert_ok(tutti_web_series_tell(series, query, &text));
    json_t *json = json_loads(text.text, 0, NULL);
    assert_non_null(json);
    tutti_text_fini(&text);
    return json;
}

static double number(json_t *json, const char *key, size_t i)
{
    json_t *list = json_object_get(json, key), *inner = json_array_get(list, 0);
    json_t *value = json_array_get(json_is_array(inner) ? inner : list, i);
    return json_is_null(value) ? NAN : json_number_value(value);
}

static void check(json_t *json, size_t first, size_t end)
{
    size_t pieces = json_array_size(json_object_get(json, "times"));
    for (size_t i = 0, begin = first; i < pieces; i++) {
        size_t next = i + 1 < pieces ? (size_t)(4 * number(json, "times", i + 1)) : end;
        double least = NAN, greatest = NAN;
        assert_true(number(json, "times", i) == 0.25 * (double)begin);
        for (size_t row = begin; row < next; row++) {
            least = fmin(least, value_of(row));
            greatest = fmax(greatest, value_of(row));
        }
        assert_true(number(json, "least", i) == least || isnan(least));
        assert_true(number(json, "greatest", i) == greatest || isnan(greatest));
        assert_true(number(json, "values", i) == value_of(next - 1) || isnan(value_of(next - 1)));
        begin = next;
    }
    json_decref(json);
}

static void test_pieces(void **state)
{
    struct scratch scratch;
    struct tutti_web_series *series;
    (void)state;
    scratch_init(&scratch);
    write_table(scratch_path(&scratch, "r.csv"));
    char file[128];
    copy_text(file, sizeof file, scratch_path(&scratch, "r.csv"));
    assert_ok(tutti_web_series_new(&series));
    for (size_t points = 1; points <= 10000; points = 3 * points + 1)
        check(ask(series, &(struct tutti_web_series_query){file, "x", NAN, NAN, points}), 0, ROWS);
    check(ask(series, &(struct tutti_web_series_query){file, "x", 100, 900, 50}), 399, 3602);
    check(ask(series, &(struct tutti_web_series_query){file, "x", -5, 1e9, 17}), 0, ROWS);
    json_t *none = ask(series, &(struct tutti_web_series_query){file, "z", 900, 100, 50});
    assert_int_equal(json_array_size(json_object_get(none, "columns")), 0);
    assert_int_equal(json_array_size(json_object_get(none, "times")), 0);
    json_decref(none);
    assert_int_equal(tutti_web_series_tell(series, &(struct tutti_web_series_query){.file = "/nothing", .points = 1},
                                           &(struct tutti_text){0}),
                     TUTTI_ERR_IO);
    tutti_web_series_free(series);
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
