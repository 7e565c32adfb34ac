/* SPDX-License-Identifier: MIT */
#include "solve/matrix_exponential.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void dgesv_(const int *count, const int *columns, double *matrix, const int *leading, int *pivots, double *right,
            const int *right_leading, int *info);
void dgemm_(const char *left_form, const char *right_form, const int *rows, const int *columns, const int *inner,
            const double *alpha, const double *left, const int *left_leading, const double *right,
            const int *right_leading, const double *beta, double *out, const int *out_leading, size_t left_length,
            size_t right_length);

/* Beyond that many squarings exp(A) has left the range of numbers, or is 0. */
enum { DEGREE = 8, MOST_SQUARINGS = 1000 };

struct exponential {
    size_t n;
    double *scaled, *power, *above, *below, *work; /* matrices */
    int *pivots;
};

static void matrix_multiply(const struct exponential *e, const double *left, const double *right, double *out)
{
    const int n = (int)e->n;
    const double one = 1, zero = 0;
    dgemm_("N", "N", &n, &n, &n, &one, left, &n, right, &n, &zero, out, &n, 1, 1);
}

static double matrix_norm(const double *matrix, size_t n)
{
    double largest = 0;
    for (size_t row = 0; row < n; row++) {
        double sum = 0;
        for (size_t column = 0; column < n; column++)
            sum += fabs(matrix[column * n + row]);
        if (!(sum <= largest))
            largest = sum;
    }
    return largest;
}

static void matrix_set_identity(double *matrix, size_t n)
{
    memset(matrix, 0, n * n * sizeof *matrix);
    for (size_t i = 0; i < n; i++)
        matrix[i * n + i] = 1;
}

/* `above` becomes exp of the scaled matrix. */
static bool matrix_pade(struct exponential *e)
{
    const int n = (int)e->n;
    const size_t entries = e->n * e->n;
    double coefficient = 1, sign = 1;
    int info = 0;
    matrix_set_identity(e->power, e->n);
    matrix_set_identity(e->above, e->n);
    matrix_set_identity(e->below, e->n);
    for (int k = 1; k <= DEGREE; k++) {
        coefficient *= (double)(DEGREE - k + 1) / ((2 * DEGREE - k + 1) * k);
        sign = -sign;
        matrix_multiply(e, e->scaled, e->power, e->work);
        memcpy(e->power, e->work, entries * sizeof *e->power);
        for (size_t i = 0; i < entries; i++) {
            e->above[i] += coefficient * e->power[i];
            e->below[i] += sign * coefficient * e->power[i];
        }
    }
    dgesv_(&n, &n, e->below, &n, e->pivots, e->above, &n, &info);
    return info == 0;
}

static enum tutti_err matrix_scale_and_square(struct exponential *e, const double *matrix, double *out)
{
    const size_t entries = e->n * e->n;
    double norm = matrix_norm(matrix, e->n);
    int squarings = norm > 0 && isfinite(norm) ? (int)fmax(0, 1 + floor(log2(norm))) : 0;
    bool good = isfinite(norm) && squarings <= MOST_SQUARINGS;
    for (size_t i = 0; i < entries && good; i++)
        e->scaled[i] = ldexp(matrix[i], -squarings);
    good = good && matrix_pade(e);
    for (int s = 0; s < squarings && good; s++) {
        matrix_multiply(e, e->above, e->above, e->work);
        memcpy(e->above, e->work, entries * sizeof *e->above);
    }
    memcpy(out, e->above, entries * sizeof *out);
    for (size_t i = 0; i < entries; i++)
        good = good && isfinite(out[i]);
    return good ? TUTTI_OK : tt_fail(TUTTI_ERR_SOLVER, "the exponential of a matrix is not finite");
}

enum tutti_err tt_matrix_exponential(const double *matrix, size_t n, double *out)
{
    struct exponential e = {.n = n};
    if (n > INT_MAX / 4)
        return tt_fail(TUTTI_ERR_LIMIT, "the exponential of a matrix of %zu rows takes too long", n);
    double *rooms = calloc(5 * n * n + 1, sizeof *rooms);
    e.pivots = calloc(n + 1, sizeof *e.pivots);
    enum tutti_err err = TUTTI_OK;
    if (rooms && e.pivots) {
        double **const all[] = {&e.scaled, &e.power, &e.above, &e.below, &e.work};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            *all[i] = rooms + i * n * n;
        err = n > 0 ? matrix_scale_and_square(&e, matrix, out) : TUTTI_OK;
    } else
        err = tt_fail_memory();
    free(rooms);
    free(e.pivots);
    return err;
}
