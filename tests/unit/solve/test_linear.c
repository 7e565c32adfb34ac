/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <complex.h>
#include <stdlib.h>

#include "solve/allocations.h"
#include "solve/lu.h"
#include "solve/random.h"

enum { MOST = 60 };

/* A matrix J, both ways. */
struct matrix {
    int32_t n;
    struct tt_pattern pattern;
    double dense[MOST * MOST], entries[MOST * MOST];
};

/* With `per_column` entries or so; the diagonal is left out where `diagonal` says so. */
static void random_places(struct matrix *matrix, int32_t n, int32_t per_column, bool diagonal)
{
    static struct tt_pattern_place places[MOST * (MOST + 1)];
    size_t count = 0;
    for (int32_t c = 0; c < n; c++) {
        if (diagonal)
            places[count++] = (struct tt_pattern_place){c, c};
        for (int32_t i = 0; i < per_column; i++) {
            int32_t row = random_below(n);
            if (row != c)
                places[count++] = (struct tt_pattern_place){row, c};
        }
    }
    matrix->n = n;
    assert_ok(tt_pattern_init(&matrix->pattern, n, n, places, count));
}

static void random_values(struct matrix *matrix)
{
    const struct tt_pattern *pattern = &matrix->pattern;
    memset(matrix->dense, 0, sizeof matrix->dense);
    for (int32_t c = 0; c < matrix->n; c++)
        for (int32_t k = pattern->starts[c]; k < pattern->starts[c + 1]; k++)
            matrix->dense[c * matrix->n + pattern->rows[k]] = matrix->entries[k] = random_double();
}

static struct tt_lu *new_lu(const struct matrix *matrix, bool sparse, bool complex_shift)
{
    struct tt_lu *lu = NULL;
    assert_ok(tt_lu_new(&lu, (size_t)matrix->n, sparse ? &matrix->pattern : NULL, complex_shift));
    return lu;
}

static bool factor(struct tt_lu *lu, const struct matrix *matrix, bool sparse, double complex c)
{
    bool singular = true;
    assert_ok(tt_lu_factor(lu, sparse ? matrix->entries : matrix->dense, creal(c), cimag(c), &singular));
    return !singular;
}

/* Solves (c I - J) x = b for b made of a random x. */
static void check_solution(struct tt_lu *lu, const struct matrix *matrix, double complex c, bool complex_shift,
                           double tolerance)
{
    double complex x[MOST], b;
    double re[MOST], im[MOST];
    for (int32_t i = 0; i < matrix->n; i++)
        x[i] = random_double() + (complex_shift ? random_double() * I : 0);
    for (int32_t row = 0; row < matrix->n; row++) {
        b = c * x[row];
        for (int32_t column = 0; column < matrix->n; column++)
            b -= matrix->dense[column * matrix->n + row] * x[column];
        re[row] = creal(b);
        im[row] = cimag(b);
    }
    tt_lu_solve(lu, re, complex_shift ? im : NULL);
    for (int32_t i = 0; i < matrix->n; i++) {
        assert_near(re[i], creal(x[i]), tolerance);
        if (complex_shift)
            assert_near(im[i], cimag(x[i]), tolerance);
    }
}

static void test_random(void **state)
{
    (void)state;
    static struct matrix matrix;
    for (int kind = 0; kind < 4; kind++) {
        bool sparse = kind & 1, complex_shift = kind & 2;
        for (int i = 0; i < 50; i++) {
            int32_t n = 1 + random_below(MOST), per_column = random_below(n < 8 ? n : 8);
            random_places(&matrix, n, per_column, i & 1);
            struct tt_lu *lu = new_lu(&matrix, sparse, complex_shift);
            for (int again = 0; again < 5; again++) { /* sparse: factorised again in the same order */
                random_values(&matrix);
                double complex c = 9 + random_double() + (complex_shift ? 3 * random_double() * I : 0);
                assert_true(factor(lu, &matrix, sparse, c));
                check_solution(lu, &matrix, c, complex_shift, 1e-12);
                check_solution(lu, &matrix, c, complex_shift, 1e-12);
            }
            tt_lu_free(lu);
            tt_pattern_fini(&matrix.pattern);
        }
    }
}

/* J of two entries off the diagonal, and those on it. */
static void init_two(struct matrix *matrix)
{
    const struct tt_pattern_place places[] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    matrix->n = 2;
    assert_ok(tt_pattern_init(&matrix->pattern, 2, 2, places, 4));
}

static void set_two(struct matrix *matrix, double a, double b, double c, double d)
{
    const double values[] = {a, b, c, d};
    memcpy(matrix->dense, values, sizeof values);
    memcpy(matrix->entries, values, sizeof values);
}

/* The diagonal that served as pivots becomes nothing beside the rest: keeping the order of the rows would cost all
 * digits. */
static void test_pivots_change(void **state)
{
    (void)state;
    static struct matrix matrix;
    init_two(&matrix);
    for (int kind = 0; kind < 4; kind++) {
        bool sparse = kind & 1, complex_shift = kind & 2;
        struct tt_lu *lu = new_lu(&matrix, sparse, complex_shift);
        set_two(&matrix, 5, 1, 1, 5);
        assert_true(factor(lu, &matrix, sparse, 1));
        check_solution(lu, &matrix, 1, complex_shift, 1e-14);
        set_two(&matrix, 1 + 1e-15, 1, 1, 2); /* 1 - this is nearly, but not quite 0 */
        assert_true(factor(lu, &matrix, sparse, 1));
        check_solution(lu, &matrix, 1, complex_shift, 1e-14);
        set_two(&matrix, 5, 1, 1, 5);
        assert_true(factor(lu, &matrix, sparse, 1));
        set_two(&matrix, 1, 1, 1, 2); /* 0 where the pivot was */
        assert_true(factor(lu, &matrix, sparse, 1));
        check_solution(lu, &matrix, 1, complex_shift, 1e-14);
        tt_lu_free(lu);
    }
    tt_pattern_fini(&matrix.pattern);
}

static void test_singular(void **state)
{
    (void)state;
    static struct matrix matrix;
    init_two(&matrix);
    for (int kind = 0; kind < 4; kind++) {
        bool sparse = kind & 1, complex_shift = kind & 2;
        struct tt_lu *lu = new_lu(&matrix, sparse, complex_shift);
        for (int again = 0; again < 3; again++) {
            set_two(&matrix, 0, 1, 1, 0); /* eigenvalues 1 and -1 */
            assert_false(factor(lu, &matrix, sparse, 1));
            assert_false(factor(lu, &matrix, sparse, -1));
            assert_true(factor(lu, &matrix, sparse, 2)); /* and works afterwards */
            check_solution(lu, &matrix, 2, complex_shift, 1e-14);
            set_two(&matrix, 3, 0, 0, 3); /* nothing is left */
            assert_false(factor(lu, &matrix, sparse, 3));
            set_two(&matrix, 0, NAN, 1, 0);
            assert_false(factor(lu, &matrix, sparse, 2));
            set_two(&matrix, 0, 1, -INFINITY, 0);
            assert_false(factor(lu, &matrix, sparse, 2));
            set_two(&matrix, 0, 1, -1, 0); /* eigenvalues i and -i */
            assert_true(factor(lu, &matrix, sparse, 1));
            check_solution(lu, &matrix, 1, complex_shift, 1e-14);
            if (complex_shift)
                assert_false(factor(lu, &matrix, sparse, I));
            assert_false(factor(lu, &matrix, sparse, INFINITY));
        }
        tt_lu_free(lu);
    }
    tt_pattern_fini(&matrix.pattern);
}

static void test_no_allocation(void **state)
{
    (void)state;
    static struct matrix matrix;
    random_places(&matrix, 30, 3, false);
    random_values(&matrix);
    for (int kind = 0; kind < 4; kind++) {
        bool sparse = kind & 1, complex_shift = kind & 2;
        struct tt_lu *lu = new_lu(&matrix, sparse, complex_shift);
        allocations = 0;
        assert_true(factor(lu, &matrix, sparse, 9));
        check_solution(lu, &matrix, 9, complex_shift, 1e-12);
        assert_int_equal(allocations, 0);
        tt_lu_free(lu);
    }
    tt_pattern_fini(&matrix.pattern);
}

static void test_no_memory(void **state)
{
    (void)state;
    static struct matrix matrix;
    random_places(&matrix, 5, 2, true);
    for (int kind = 0; kind < 4; kind++) {
        struct tt_lu *lu = NULL;
        enum tutti_err err;
        assert_survives_each(err, err = tt_lu_new(&lu, 5, kind & 1 ? &matrix.pattern : NULL, kind & 2));
        tt_lu_free(lu);
    }
    tt_pattern_fini(&matrix.pattern);
}

static void test_refused(void **state)
{
    (void)state;
    struct tt_lu *lu;
    assert_fails(tt_lu_new(&lu, 32769, NULL, false), TUTTI_ERR_LIMIT, "jacobian sparse");
    assert_null(lu);
    assert_fails(tt_lu_new(&lu, 23171, NULL, true), TUTTI_ERR_LIMIT, "23171 rows");
    assert_fails(tt_lu_new(&lu, SIZE_MAX, NULL, false), TUTTI_ERR_LIMIT, "8 GiB");
    assert_fails(tt_lu_new(&lu, (size_t)1 << 32, NULL, false), TUTTI_ERR_LIMIT, "8 GiB"); /* its square is 0 */
    assert_ok(tt_lu_check_dense(32768, sizeof(double)));
    struct tt_pattern pattern;
    assert_ok(tt_pattern_full(&pattern, 2, 3));
    assert_fails(tt_lu_new(&lu, 3, &pattern, false), TUTTI_ERR_ARGUMENT, "2 rows and 3 columns");
    assert_fails(tt_lu_new(&lu, 2, &pattern, false), TUTTI_ERR_ARGUMENT, "2 rows and 3 columns");
    tt_pattern_fini(&pattern);
    tt_lu_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),        cmocka_unit_test(test_pivots_change), cmocka_unit_test(test_singular),
        cmocka_unit_test(test_no_allocation), cmocka_unit_test(test_no_memory),     cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
