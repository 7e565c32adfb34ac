/* SPDX-License-Identifier: MIT */
#include "solve/nordsieck.h"

#include <math.h>
#include <string.h>

/* Multiplies the polynomial c of degree `degree` by (a + b s). */
static void nordsieck_multiply(double *c, int degree, double a, double b)
{
    c[degree + 1] = b * c[degree];
    for (int i = degree; i > 0; i--)
        c[i] = a * c[i] + b * c[i - 1];
    c[0] *= a;
}

static double nordsieck_harmonic(int q)
{
    double sum = 0;
    for (int j = 1; j <= q; j++)
        sum += 1.0 / j;
    return sum;
}

/* Local errors. Put Y for the numerical solution, S for 1/xi_1 + ... + 1/xi_q, and
 *
 *     w = h^(q+1) / (q+1)! Y^(q+1) xi_1 ... xi_q,
 *
 * which is how far the prediction from q exact values and an exact slope is off. The slope of the prediction is then off
 * by w (1 + S) / h, the formula h p' + l_1 e = h f leaves the defect w (1 + S - l_1), and solving it for the solution
 * divides by l_1: the local error is w A / l_1 with A = 1 + S - l_1. But the slope of the past is not that of Y: it has
 * the same defect, w A / h, which reaches the end of the step multiplied by q h (for even steps). So e = w (1 + q A),
 * and the local error is e A / (l_1 (1 + q A)).
 *
 * For order q - 1 take the same with q - 1 for q and h^q / q! Y^(q) from the last row; for order q + 1 take
 * h^(q+2) Y^(q+2) from the change of Y^(q+1) between two steps. */
void tt_nordsieck_prepare(const struct tt_nordsieck *array, struct tt_nordsieck_step *step)
{
    int q = array->order;
    double xi[TUTTI_NORDSIECK_ROWS + 1] = {0}; /* xi[i], 1 <= i <= q + 1 */
    double reach = array->h;
    for (int i = 1; i <= q + 1; i++) {
        xi[i] = reach / array->h;
        reach += array->steps[i - 1];
    }
    double l_1 = nordsieck_harmonic(q), sum = 0, product = 1; /* of all but xi_q */
    memset(step, 0, sizeof *step);
    step->l[0] = 1;
    for (int i = 1; i < q; i++) {
        nordsieck_multiply(step->l, i - 1, 1, 1 / xi[i]);
        sum += 1 / xi[i];
        product *= xi[i];
    }
    nordsieck_multiply(step->l, q - 1, 1, l_1 - sum);
    step->l[1] = l_1; /* without its rounding errors */

    double defect = 1 + sum + 1 / xi[q] - l_1, gain = 1 + q * defect;
    step->error = fabs(defect / (l_1 * gain));
    step->scale = gain * product * xi[q];
    double l_down = nordsieck_harmonic(q - 1), l_up = nordsieck_harmonic(q + 1);
    if (q > 1)
        step->error_down = fabs(product * (1 + sum - l_down) / l_down);
    double defect_up = 1 + sum + 1 / xi[q] + 1 / xi[q + 1] - l_up;
    step->error_up = fabs(xi[q + 1] * defect_up / ((q + 2) * gain * l_up));
}

void tt_nordsieck_value(const struct tt_nordsieck *array, double s, double *x)
{
    memcpy(x, tt_nordsieck_row(array, array->order), array->count * sizeof *x);
    for (int k = array->order - 1; k >= 0; k--) {
        const double *row = tt_nordsieck_row(array, k);
        for (size_t i = 0; i < array->count; i++)
            x[i] = row[i] + s * x[i];
    }
}

void tt_nordsieck_slope(const struct tt_nordsieck *array, double s, double *slope)
{
    memset(slope, 0, array->count * sizeof *slope);
    for (int k = array->order; k >= 1; k--) {
        const double *row = tt_nordsieck_row(array, k);
        for (size_t i = 0; i < array->count; i++)
            slope[i] = k * row[i] + s * slope[i];
    }
}

/* Horner's scheme, carried on (Pascal's triangle for s = 1). */
void tt_nordsieck_shift(const struct tt_nordsieck *array, double *rows, double s)
{
    size_t n = array->count;
    for (int k = 0; k < array->order; k++)
        for (int j = array->order - 1; j >= k; j--) {
            double *row = rows + (size_t)j * n;
            const double *above = row + n;
            for (size_t i = 0; i < n; i++)
                row[i] += s * above[i];
        }
}

void tt_nordsieck_rescale(struct tt_nordsieck *array, double h)
{
    double ratio = h / array->h, factor = 1;
    if (ratio == 1)
        return;
    for (int k = 1; k <= array->order; k++) {
        double *row = tt_nordsieck_row(array, k);
        factor *= ratio;
        for (size_t i = 0; i < array->count; i++)
            row[i] *= factor;
    }
    array->h = h;
}

void tt_nordsieck_accept(struct tt_nordsieck *array, const double *predicted, const double *e,
                         const struct tt_nordsieck_step *step)
{
    for (int k = 0; k <= array->order; k++) {
        double *row = tt_nordsieck_row(array, k);
        const double *from = predicted + (size_t)k * array->count;
        for (size_t i = 0; i < array->count; i++)
            row[i] = from[i] + step->l[k] * e[i];
    }
    for (int i = TUTTI_NORDSIECK_ROWS - 1; i > 0; i--)
        array->steps[i] = array->steps[i - 1];
    array->steps[0] = array->h;
}

/* s^2 (s + xi_1) ... (s + xi_points): added to p, it changes neither value nor slope in the centre, nor those points. */
static void nordsieck_node_polynomial(const struct tt_nordsieck *array, int points, double *c)
{
    memset(c, 0, (TUTTI_NORDSIECK_ROWS + 1) * sizeof *c);
    c[2] = 1;
    double reach = 0;
    for (int i = 1; i <= points; i++) {
        reach += array->steps[i - 1];
        nordsieck_multiply(c, i + 1, reach / array->h, 1);
    }
}

static void nordsieck_subtract(struct tt_nordsieck *array, const double *c, int rows, const double *multiple,
                               double factor)
{
    for (int k = 2; k < rows; k++) {
        double *row = tt_nordsieck_row(array, k);
        for (size_t i = 0; i < array->count; i++)
            row[i] -= factor * c[k] * multiple[i];
    }
}

void tt_nordsieck_lower(struct tt_nordsieck *array)
{
    int q = array->order;
    double c[TUTTI_NORDSIECK_ROWS + 1];
    nordsieck_node_polynomial(array, q - 2, c);
    nordsieck_subtract(array, c, q, tt_nordsieck_row(array, q), 1);
    array->order = q - 1;
}

/* The new p goes through the value at -xi_q, where the polynomial before the step had it and the one after it has that
 * plus e l(-xi_q). Divided by s^2 (s + xi_1) ... (s + xi_(q-1)) at -xi_q this is e (S - l_1) / (xi_1 ... xi_q). Here l
 * and S belong to the step that was made; rows rescaled since differ by powers of h over the step's size. */
void tt_nordsieck_raise(struct tt_nordsieck *array, const double *e)
{
    int q = array->order;
    double c[TUTTI_NORDSIECK_ROWS + 1], sum = 0, product = 1, reach = 0, made = array->steps[0];
    nordsieck_node_polynomial(array, q - 1, c);
    for (int i = 1; i <= q; i++) {
        reach += array->steps[i - 1];
        sum += made / reach;
        product *= reach / array->h;
    }
    memset(tt_nordsieck_row(array, q + 1), 0, array->count * sizeof(double));
    nordsieck_subtract(array, c, q + 2, e, (sum - nordsieck_harmonic(q)) * (array->h / made) / product);
    array->order = q + 1;
}
