/* SPDX-License-Identifier: MIT */
#include "sim/coupling/accelerator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fortran: everything by address, and the length of the text after all other arguments. Least squares by QR. */
void dgels_(const char *transposed, const int *rows, const int *columns, const int *sides, double *matrix,
            const int *leading, double *right, const int *right_leading, double *work, const int *work_size, int *info,
            size_t transposed_length);

enum { ROOM = TUTTI_ANDERSON_DEPTH + 1, WORK = 64 * ROOM };

/* Aitken's factor is limited to this range, because outside it the two residuals are not informative. */
static const double LEAST_FACTOR = 0.1, MOST_FACTOR = 2;
/* Of a column, beside those before it, relative to its size. */
static const double LEAST_NEWS = 1e-8;

enum tutti_err tt_accelerator_init(struct tt_accelerator *a, enum tt_acceleration kind, size_t count)
{
    *a = (struct tt_accelerator){.kind = kind, .count = count};
    bool all = true;
    for (int i = 0; i < ROOM; i++) {
        a->guess[i] = calloc(count + 1, sizeof(double));
        a->residual[i] = calloc(count + 1, sizeof(double));
        all = all && a->guess[i] && a->residual[i];
    }
    a->matrix = calloc((count + 1) * TUTTI_ANDERSON_DEPTH, sizeof *a->matrix);
    a->right = calloc(count + ROOM, sizeof *a->right);
    return all && a->matrix && a->right ? TUTTI_OK : tt_fail_memory();
}

void tt_accelerator_fini(struct tt_accelerator *a)
{
    for (int i = 0; i < ROOM; i++) {
        free(a->guess[i]);
        free(a->residual[i]);
    }
    free(a->matrix);
    free(a->right);
    *a = (struct tt_accelerator){0};
}

void tt_accelerator_restart(struct tt_accelerator *a)
{
    a->iteration = 0;
    a->factor = 1;
}

static void accelerator_store(struct tt_accelerator *a, const double *guess, const double *image)
{
    double *oldest_guess = a->guess[ROOM - 1], *oldest_residual = a->residual[ROOM - 1];
    memmove(a->guess + 1, a->guess, (ROOM - 1) * sizeof *a->guess);
    memmove(a->residual + 1, a->residual, (ROOM - 1) * sizeof *a->residual);
    a->guess[0] = oldest_guess;
    a->residual[0] = oldest_residual;
    for (size_t i = 0; i < a->count; i++) {
        a->guess[0][i] = guess[i];
        a->residual[0][i] = image[i] - guess[i];
    }
    a->iteration++;
}

/* The vector form of Aitken's delta-squared (Irons and Tuck 1969):
 * w_k = -w_{k-1} r_{k-1} . (r_k - r_{k-1}) / |r_k - r_{k-1}|^2,  z_{k+1} = z_k + w_k r_k. */
static void aitken_update(struct tt_accelerator *a, double *guess, const double *weights)
{
    const double *now = a->residual[0], *before = a->residual[1];
    double dot = 0, square = 0;
    for (size_t i = 0; i < a->count; i++) {
        double w = weights[i] * weights[i], change = now[i] - before[i];
        dot += w * before[i] * change;
        square += w * change * change;
    }
    double factor = square > 0 ? -a->factor * dot / square : 1;
    a->factor = isfinite(factor) ? fmin(fmax(factor, LEAST_FACTOR), MOST_FACTOR) : 1;
    for (size_t i = 0; i < a->count; i++)
        guess[i] += a->factor * now[i];
}

/* Computes gamma into `right`: the best combination of the newest `columns` differences of residuals. Returns how many
 * of these are linearly independent: if fewer, gamma is undefined. */
static int accelerator_combine(struct tt_accelerator *a, int columns, const double *weights)
{
    int rows = (int)a->count, one = 1, info = 0, work_size = WORK;
    double work[WORK], size[TUTTI_ANDERSON_DEPTH] = {0};
    for (int c = 0; c < columns; c++)
        for (int i = 0; i < rows; i++) {
            double d = weights[i] * (a->residual[c][i] - a->residual[c + 1][i]);
            a->matrix[(size_t)c * a->count + (size_t)i] = d;
            size[c] += d * d;
        }
    for (int i = 0; i < rows; i++)
        a->right[i] = weights[i] * a->residual[0][i];
    dgels_("N", &rows, &columns, &one, a->matrix, &rows, a->right, &rows, work, &work_size, &info, 1);
    /* The triangle of QR: what is new in column c, beside those before it. */
    for (int c = 0; c < columns; c++)
        if (!(fabs(a->matrix[(size_t)c * a->count + (size_t)c]) > LEAST_NEWS * sqrt(size[c])))
            return c;
    return columns;
}

/* Anderson's mixing (Walker and Ni 2011, Alg. AA): gamma minimises |r_k - dR gamma|, and
 * z_{k+1} = z_k + r_k - (dZ + dR) gamma, with the differences of the last steps as columns. Old ones that say nothing new
 * are left out (section 4 there), so that a step never depends on rounding. */
static void anderson_update(struct tt_accelerator *a, double *guess, const double *weights)
{
    unsigned known = a->iteration - 1;
    int columns = (int)(known < TUTTI_ANDERSON_DEPTH ? known : TUTTI_ANDERSON_DEPTH);
    columns = (size_t)columns < a->count ? columns : (int)a->count;
    for (int good = 0; columns > 0 && (good = accelerator_combine(a, columns, weights)) < columns;)
        columns = good;
    for (size_t i = 0; i < a->count; i++) {
        guess[i] += a->residual[0][i];
        for (int c = 0; c < columns; c++)
            guess[i] -= a->right[c] * (a->guess[c][i] - a->guess[c + 1][i] + a->residual[c][i] - a->residual[c + 1][i]);
    }
}

void tt_accelerator_next(struct tt_accelerator *a, double *guess, const double *image, const double *weights)
{
    accelerator_store(a, guess, image);
    if (a->kind == TUTTI_ACCELERATE_ANDERSON)
        anderson_update(a, guess, weights);
    else if (a->kind == TUTTI_ACCELERATE_AITKEN && a->iteration > 1)
        aitken_update(a, guess, weights);
    else
        memcpy(guess, image, a->count * sizeof *guess);
}
