/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdlib.h>

#include "solve/pattern.h"
#include "solve/random.h"

/* Andersson 2016, eq. 9.5: the pattern of eq. 9.4. */
static const struct tt_pattern_place example[] = {{0, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 2}};

static void test_sorted_once(void **state)
{
    (void)state;
    const struct tt_pattern_place places[] = {{2, 1}, {0, 3}, {0, 1}, {2, 1}, {1, 1}, {0, 3}, {1, 0}, {2, 1}};
    const int32_t starts[] = {0, 1, 4, 4, 5}, rows[] = {1, 0, 1, 2, 0};
    struct tt_pattern pattern;
    assert_ok(tt_pattern_init(&pattern, 3, 4, places, 8));
    assert_int_equal(pattern.row_count, 3);
    assert_int_equal(pattern.column_count, 4);
    assert_int_equal(tt_pattern_entries(&pattern), 5);
    assert_memory_equal(pattern.starts, starts, sizeof starts);
    assert_memory_equal(pattern.rows, rows, sizeof rows);
    tt_pattern_fini(&pattern);
    tt_pattern_fini(&pattern);
}

static void test_empty(void **state)
{
    (void)state;
    struct tt_pattern pattern;
    assert_ok(tt_pattern_init(&pattern, 0, 0, NULL, 0));
    assert_int_equal(tt_pattern_entries(&pattern), 0);
    struct tt_colouring colouring;
    assert_ok(tt_pattern_colouring_init(&colouring, &pattern, 0, true));
    assert_int_equal(colouring.colour_count, 0);
    tt_pattern_colouring_fini(&colouring);
    tt_pattern_fini(&pattern);

    /* Columns without entries fit everywhere. */
    assert_ok(tt_pattern_init(&pattern, 2, 3, NULL, 0));
    assert_int_equal(tt_pattern_entries(&pattern), 0);
    assert_ok(tt_pattern_colouring_init(&colouring, &pattern, 3, true));
    assert_int_equal(colouring.colour_count, 1);
    assert_int_equal(colouring.starts[1], 3);
    tt_pattern_colouring_fini(&colouring);
    tt_pattern_fini(&pattern);
}

static void test_out_of_bounds(void **state)
{
    (void)state;
    const struct tt_pattern_place wrong[] = {{3, 0}, {-1, 0}, {0, 4}, {0, -1}};
    struct tt_pattern pattern;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_fails(tt_pattern_init(&pattern, 3, 4, wrong + i, 1), TUTTI_ERR_ARGUMENT, "outside");
        assert_null(pattern.starts);
    }
    assert_fails(tt_pattern_init(&pattern, -1, 4, NULL, 0), TUTTI_ERR_ARGUMENT, "-1 rows");
    assert_fails(tt_pattern_init(&pattern, 3, 4, example, (size_t)INT32_MAX + 1), TUTTI_ERR_LIMIT, "entries");
}

static void test_full(void **state)
{
    (void)state;
    struct tt_pattern pattern;
    const int32_t starts[] = {0, 3, 6}, rows[] = {0, 1, 2, 0, 1, 2};
    assert_ok(tt_pattern_full(&pattern, 3, 2));
    assert_memory_equal(pattern.starts, starts, sizeof starts);
    assert_memory_equal(pattern.rows, rows, sizeof rows);
    struct tt_colouring colouring;
    assert_ok(tt_pattern_colouring_init(&colouring, &pattern, 2, true));
    assert_int_equal(colouring.colour_count, 2);
    tt_pattern_colouring_fini(&colouring);
    tt_pattern_fini(&pattern);
    assert_fails(tt_pattern_full(&pattern, 50000, 50000), TUTTI_ERR_LIMIT, "50000 rows");
    assert_fails(tt_pattern_full(&pattern, 2, -1), TUTTI_ERR_ARGUMENT, "-1 columns");
}

/* Diagonal entries that are missing at the beginning, in the middle, at the end, or not at all. */
static void test_shifted(void **state)
{
    (void)state;
    const struct tt_pattern_place places[] = {{1, 0}, {2, 0}, {0, 1}, {2, 1}, {2, 2}, {0, 3}, {2, 3}};
    const int32_t starts[] = {0, 3, 6, 7, 10, 11}, rows[] = {0, 1, 2, 0, 1, 2, 2, 0, 2, 3, 4};
    const int32_t of_entries[] = {1, 2, 3, 5, 6, 7, 8}, of_diagonal[] = {0, 4, 6, 9, 10};
    struct tt_pattern pattern;
    struct tt_shifted_pattern shifted;
    assert_ok(tt_pattern_init(&pattern, 5, 5, places, 7));
    assert_ok(tt_pattern_shifted_init(&shifted, &pattern));
    assert_memory_equal(shifted.pattern.starts, starts, sizeof starts);
    assert_memory_equal(shifted.pattern.rows, rows, sizeof rows);
    assert_memory_equal(shifted.places, of_entries, sizeof of_entries);
    assert_memory_equal(shifted.diagonal, of_diagonal, sizeof of_diagonal);
    tt_pattern_shifted_fini(&shifted);
    tt_pattern_shifted_fini(&shifted);
    tt_pattern_fini(&pattern);
}

/* A pattern of `around` diagonals on either side of the main one. */
static void init_band(struct tt_pattern *pattern, int32_t n, int32_t around)
{
    struct tt_pattern_place *places = malloc((size_t)(n * (2 * around + 1)) * sizeof *places);
    assert_non_null(places);
    size_t count = 0;
    for (int32_t column = 0; column < n; column++)
        for (int32_t row = column - around; row <= column + around; row++)
            if (row >= 0 && row < n)
                places[count++] = (struct tt_pattern_place){row, column};
    assert_ok(tt_pattern_init(pattern, n, n, places, count));
    free(places);
}

static void test_pays(void **state)
{
    (void)state;
    struct tt_pattern pattern;
    init_band(&pattern, 142, 1);
    assert_true(tt_pattern_is_worth_sparse(&pattern));
    tt_pattern_fini(&pattern);
    init_band(&pattern, 4, 1); /* small */
    assert_false(tt_pattern_is_worth_sparse(&pattern));
    tt_pattern_fini(&pattern);
    assert_ok(tt_pattern_full(&pattern, 142, 142));
    assert_false(tt_pattern_is_worth_sparse(&pattern));
    tt_pattern_fini(&pattern);
}

/* Every column is there once, the groups have no holes, and no two columns of a group share a row. */
static void check_colouring(const struct tt_colouring *colouring, const struct tt_pattern *pattern)
{
    int32_t n = pattern->column_count;
    int32_t *times = calloc((size_t)n, sizeof *times), *owner = calloc((size_t)pattern->row_count + 1, sizeof *owner);
    assert_true(times && owner);
    assert_int_equal(colouring->starts[0], 0);
    assert_int_equal(colouring->starts[colouring->colour_count], n);
    for (int32_t colour = 0; colour < colouring->colour_count; colour++) {
        assert_true(colouring->starts[colour] < colouring->starts[colour + 1]);
        for (int32_t i = colouring->starts[colour]; i < colouring->starts[colour + 1]; i++) {
            int32_t column = colouring->columns[i];
            assert_in_range(column, 0, n - 1);
            times[column]++;
            for (int32_t k = pattern->starts[column]; k < pattern->starts[column + 1]; k++) {
                assert_int_not_equal(owner[pattern->rows[k]], colour + 1);
                owner[pattern->rows[k]] = colour + 1;
            }
        }
    }
    for (int32_t column = 0; column < n; column++)
        assert_int_equal(times[column], 1);
    free(times);
    free(owner);
}

static int32_t colours_of(const struct tt_pattern *pattern)
{
    struct tt_colouring colouring;
    assert_ok(tt_pattern_colouring_init(&colouring, pattern, pattern->column_count, true));
    check_colouring(&colouring, pattern);
    int32_t count = colouring.colour_count;
    tt_pattern_colouring_fini(&colouring);
    tt_pattern_colouring_fini(&colouring);
    return count;
}

static void test_example(void **state)
{
    (void)state;
    struct tt_pattern pattern;
    assert_ok(tt_pattern_init(&pattern, 3, 3, example, 5));
    struct tt_colouring colouring;
    assert_ok(tt_pattern_colouring_init(&colouring, &pattern, 3, true));
    /* The first two columns go together: "2 + 1 evaluations". */
    const int32_t starts[] = {0, 2, 3}, columns[] = {0, 1, 2};
    assert_int_equal(colouring.colour_count, 2);
    assert_memory_equal(colouring.starts, starts, sizeof starts);
    assert_memory_equal(colouring.columns, columns, sizeof columns);
    tt_pattern_colouring_fini(&colouring);
    tt_pattern_fini(&pattern);
}

static void test_bands(void **state)
{
    (void)state;
    for (int32_t around = 0; around < 4; around++) {
        struct tt_pattern pattern;
        init_band(&pattern, 142, around);
        /* As many as a row has entries cannot be bettered; the columns at the ends are short, which may cost one. */
        assert_in_range(colours_of(&pattern), 2 * around + 1, 2 * around + 2);
        if (around <= 1)
            assert_int_equal(colours_of(&pattern), 2 * around + 1);
        tt_pattern_fini(&pattern);
    }
}

/* An arrow: the long column first and alone, all others together except for their common row. */
static void test_long_columns_first(void **state)
{
    (void)state;
    enum { N = 50 };
    struct tt_pattern_place places[2 * N];
    for (int32_t i = 0; i < N; i++) {
        places[2 * i] = (struct tt_pattern_place){i, i};
        places[2 * i + 1] = (struct tt_pattern_place){i, N - 1};
    }
    struct tt_pattern pattern;
    assert_ok(tt_pattern_init(&pattern, N, N, places, 2 * N));
    assert_int_equal(colours_of(&pattern), 2);
    tt_pattern_fini(&pattern);

    for (int32_t i = 0; i < N; i++) /* a full row: no two together */
        places[2 * i + 1] = (struct tt_pattern_place){0, i};
    assert_ok(tt_pattern_init(&pattern, N, N, places, 2 * N));
    assert_int_equal(colours_of(&pattern), N);
    tt_pattern_fini(&pattern);
}

static void test_apart(void **state)
{
    (void)state;
    struct tt_pattern pattern;
    init_band(&pattern, 10, 1);
    const struct tt_pattern *patterns[] = {&pattern, NULL, NULL};
    for (int i = 0; i < 3; i++) {
        struct tt_colouring colouring;
        assert_ok(tt_pattern_colouring_init(&colouring, patterns[i], 10, i == 2));
        assert_int_equal(colouring.colour_count, 10);
        check_colouring(&colouring, &pattern);
        tt_pattern_colouring_fini(&colouring);
    }
    tt_pattern_fini(&pattern);
}

static void random_pattern(struct tt_pattern *pattern, int32_t rows, int32_t columns, size_t count)
{
    struct tt_pattern_place *places = malloc((count + 1) * sizeof *places);
    assert_non_null(places);
    for (size_t i = 0; i < count; i++)
        places[i] = (struct tt_pattern_place){random_below(rows), random_below(columns)};
    assert_ok(tt_pattern_init(pattern, rows, columns, places, count));
    /* The places, and nothing else, ascending. */
    size_t entries = 0;
    unsigned char *there = calloc((size_t)rows * (size_t)columns, 1);
    assert_non_null(there);
    for (size_t i = 0; i < count; i++) {
        unsigned char *place = there + (size_t)places[i].column * (size_t)rows + (size_t)places[i].row;
        entries += !*place;
        *place = 1;
    }
    assert_int_equal(tt_pattern_entries(pattern), entries);
    for (int32_t c = 0; c < columns; c++)
        for (int32_t k = pattern->starts[c]; k < pattern->starts[c + 1]; k++) {
            assert_true(there[(size_t)c * (size_t)rows + (size_t)pattern->rows[k]]);
            assert_true(k == pattern->starts[c] || pattern->rows[k - 1] < pattern->rows[k]);
        }
    free(there);
    free(places);
}

static void test_random(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        int32_t rows = 1 + random_below(40), columns = 1 + random_below(40);
        struct tt_pattern pattern;
        random_pattern(&pattern, rows, columns, (size_t)random_below(rows * columns));
        (void)colours_of(&pattern);
        tt_pattern_fini(&pattern);
    }
}

static void test_large(void **state)
{
    (void)state;
    enum { N = 20000, PER_COLUMN = 7 };
    struct tt_pattern_place *places = malloc((size_t)N * (PER_COLUMN + 1) * sizeof *places);
    assert_non_null(places);
    size_t count = 0;
    for (int32_t c = 0; c < N; c++)
        for (int i = 0; i < PER_COLUMN; i++)
            places[count++] = (struct tt_pattern_place){random_below(N), c};
    struct tt_pattern pattern;
    assert_ok(tt_pattern_init(&pattern, N, N, places, count));
    assert_in_range(colours_of(&pattern), PER_COLUMN, 60);
    tt_pattern_fini(&pattern);
    for (int32_t c = 0; c < N; c++) /* a full row does not make it slow */
        places[count++] = (struct tt_pattern_place){17, c};
    assert_ok(tt_pattern_init(&pattern, N, N, places, count));
    assert_int_equal(colours_of(&pattern), N);
    tt_pattern_fini(&pattern);
    free(places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted_once), cmocka_unit_test(test_empty),   cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_full),        cmocka_unit_test(test_shifted), cmocka_unit_test(test_pays),
        cmocka_unit_test(test_example),     cmocka_unit_test(test_bands),   cmocka_unit_test(test_long_columns_first),
        cmocka_unit_test(test_apart),       cmocka_unit_test(test_random),  cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
