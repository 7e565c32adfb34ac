/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdlib.h>

#include "solve/allocations.h"
#include "solve/matrix.h"
#include "solve/random.h"

enum { MOST = 40 };

/* A full matrix, given row by row. */
struct full {
    int starts[MOST + 1], rows[MOST * MOST];
    double values[MOST * MOST];
    struct tutti_matrix matrix;
};

static void set_full(struct full *full, int n, const double *by_rows)
{
    for (int c = 0; c <= n; c++)
        full->starts[c] = c * n;
    for (int c = 0; c < n; c++)
        for (int r = 0; r < n; r++) {
            full->rows[c * n + r] = r;
            full->values[c * n + r] = by_rows[r * n + c];
        }
    full->matrix = (struct tutti_matrix){(size_t)n, (size_t)n, full->starts, full->rows, full->values};
}

static void check_eigenvalues(int n, const double *by_rows, const double *re, const double *im, double tolerance)
{
    static struct full full;
    double found_re[MOST], found_im[MOST];
    set_full(&full, n, by_rows);
    assert_ok(tt_matrix_eigenvalues(&full.matrix, found_re, found_im, NULL));
    for (int i = 0; i < n; i++) {
        assert_near(found_re[i], re[i], tolerance);
        assert_near(found_im[i], im[i], tolerance);
    }
}

static void test_known(void **state)
{
    (void)state;
    check_eigenvalues(1, (double[]){-4}, (double[]){-4}, (double[]){0}, 0);
    check_eigenvalues(2, (double[]){0, 1, -4, 0}, (double[]){0, 0}, (double[]){2, -2}, 1e-15);
    check_eigenvalues(2, (double[]){0, 1, 0, 0}, (double[]){0, 0}, (double[]){0, 0}, 0);
    check_eigenvalues(3, (double[]){1, 5, 7, 0, 3, 9, 0, 0, 2}, (double[]){3, 2, 1}, (double[]){0, 0, 0}, 0);
}

/* Two pairs and a real one with the same real part: pairs stay together, slow ones first. */
static void test_order(void **state)
{
    (void)state;
    const double matrix[] = {
        -1, 3,  0,  0,  0, /* -1 +- 3i */
        -3, -1, 0,  0,  0, /* */
        0,  0,  -1, 2,  0, /* -1 +- 2i */
        0,  0,  -2, -1, 0, /* */
        0,  0,  0,  0,  -1,
    };
    check_eigenvalues(5, matrix, (double[]){-1, -1, -1, -1, -1}, (double[]){0, 2, -2, 3, -3}, 1e-14);
}

/* The same pair twice. */
static void test_equal_pairs(void **state)
{
    (void)state;
    const double matrix[] = {
        -1, 3,  0,  0, /* */
        -3, -1, 0,  0, /* */
        0,  0,  -1, 3, /* */
        0,  0,  -3, -1,
    };
    check_eigenvalues(4, matrix, (double[]){-1, -1, -1, -1}, (double[]){3, -3, 3, -3}, 1e-14);
}

/* The sum of the eigenvalues is the trace, that of their squares the trace of the square; and they are in order. */
static void test_random(void **state)
{
    (void)state;
    static struct full full;
    double by_rows[MOST * MOST], re[MOST], im[MOST];
    for (int round = 0; round < 100; round++) {
        int n = 1 + random_below(MOST);
        double trace = 0, square = 0, sum = 0, sum_im = 0, squares = 0, norm = 0;
        for (int i = 0; i < n * n; i++)
            by_rows[i] = random_double();
        for (int r = 0; r < n; r++) {
            trace += by_rows[r * n + r];
            for (int c = 0; c < n; c++)
                square += by_rows[r * n + c] * by_rows[c * n + r];
        }
        set_full(&full, n, by_rows);
        assert_ok(tt_matrix_eigenvalues(&full.matrix, re, im, &norm));
        assert_true(norm > 0 && norm <= n);
        for (int i = 0; i < n; i++) {
            sum += re[i];
            sum_im += im[i];
            squares += re[i] * re[i] - im[i] * im[i];
            assert_true(i == 0 || re[i] <= re[i - 1]);
            if (im[i] > 0) {
                assert_same_double(im[i + 1], -im[i]);
                assert_same_double(re[i + 1], re[i]);
            }
        }
        assert_near(sum, trace, 1e-12 * n);
        assert_near(sum_im, 0, 1e-12);
        assert_near(squares, square, 1e-12 * n * n);
    }
}

/* Units that differ by 1e12 do not spoil small eigenvalues: what counts is the balanced matrix. */
static void test_balance(void **state)
{
    (void)state;
    static struct full full;
    double re[2], im[2], norm;
    set_full(&full, 2, (double[]){-1, 1e12, -1e-12, -1});
    assert_ok(tt_matrix_eigenvalues(&full.matrix, re, im, &norm));
    assert_near(re[0], -1, 1e-15);
    assert_near(im[0], 1, 1e-15);
    assert_true(norm < 10);
}

static void test_sparse(void **state)
{
    (void)state;
    const int starts[] = {0, 1, 1, 2}, rows[] = {2, 0};
    const double values[] = {4, 9};
    struct tutti_matrix matrix = {3, 3, starts, rows, values};
    double re[3], im[3];
    assert_ok(tt_matrix_eigenvalues(&matrix, re, im, NULL));
    assert_near(re[0], 6, 1e-14);
    assert_near(re[1], 0, 1e-14);
    assert_near(re[2], -6, 1e-14);
}

static void test_refused(void **state)
{
    (void)state;
    static int starts[TUTTI_EIGEN_MOST + 2];
    double re[2], im[2], norm = 1;
    struct tutti_matrix matrix = {2, 3, starts, NULL, NULL};
    assert_fails(tt_matrix_eigenvalues(&matrix, re, im, NULL), TUTTI_ERR_ARGUMENT, "2 rows and 3 columns");
    matrix.row_count = matrix.column_count = TUTTI_EIGEN_MOST + 1;
    assert_fails(tt_matrix_eigenvalues(&matrix, re, im, NULL), TUTTI_ERR_LIMIT, "3001");
    matrix.row_count = matrix.column_count = 0;
    assert_ok(tt_matrix_eigenvalues(&matrix, NULL, NULL, &norm));
    assert_same_double(norm, 0);
    for (int bad = 0; bad < 2; bad++) {
        static struct full full;
        set_full(&full, 2, (double[]){1, bad ? NAN : INFINITY, 0, 1});
        assert_fails(tt_matrix_eigenvalues(&full.matrix, re, im, NULL), TUTTI_ERR_ARGUMENT, "not finite");
    }
}

static void test_memory(void **state)
{
    (void)state;
    static struct full full;
    double re[2], im[2];
    set_full(&full, 2, (double[]){0, 1, -4, 0});
    enum tutti_err err;
    assert_survives_each(err, err = tt_matrix_eigenvalues(&full.matrix, re, im, NULL));
    assert_near(im[0], 2, 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),   cmocka_unit_test(test_order),   cmocka_unit_test(test_equal_pairs),
        cmocka_unit_test(test_random),  cmocka_unit_test(test_balance), cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
