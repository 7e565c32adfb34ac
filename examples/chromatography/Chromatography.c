/* SPDX-License-Identifier: MIT */
/* Chromatography - a column that separates by adsorption, cut into cells: convection, dispersion, adsorption.
 *
 * A mixing tank gets the fraction u of buffer B; what leaves it, m, flows through the column. In cell i of n = CELLS,
 * with d = 1 / n, s of the buffer, c of the substance in the liquid and q of it on the solid (s[0] = m, c[0] = 0,
 * s[n+1] = s[n], c[n+1] = c[n]):
 *
 *   m'    = (u - m) / tau
 *   s[i]' = flow(s)[i]            flow(x)[i] = -(x[i] - x[i-1]) / d + D (x[i+1] - 2 x[i] + x[i-1]) / d^2
 *   c[i]' = flow(c)[i] - F r[i]   r[i] = ka c[i] (1 - q[i]) - kd s[i]^2 q[i]
 *   q[i]' = r[i]
 *
 * Time is in passages of the liquid through the column. Adsorption is some thousand times faster than that, which makes
 * the equations stiff. It stands in for the model of the same kind and size, 142 states, in Andersson's thesis, 9.3.5,
 * which is not published. cells.py writes the table of variables. */
#include "kit.h"

#include "cells.h"

enum { STATES = 3 * CELLS + 1, TANK = 0 };

static const double tau = 0.1;           /* of the mixing tank */
static const double D = 0.002;           /* dispersion */
static const double F = 0.5;             /* solid per liquid */
static const double ka = 1000, kd = 1e4; /* speeds of adsorption and desorption */

struct column {
    double u;
    double x[STATES], dx[STATES]; /* m, then s, c and q of each cell */
};
#define KIT_SELF struct column

static const struct kit_var variables[] = {
    KIT_INPUT(u, .start = "0", .min = "0", .max = "1", .description = "fraction of buffer B"),
    CELLS_VARIABLES,
};

/* Places in x of the s, c and q of cell i = 0 ... CELLS - 1. */
static size_t place_s(size_t i)
{
    return 1 + 3 * i;
}

static size_t place_c(size_t i)
{
    return 2 + 3 * i;
}

static size_t place_q(size_t i)
{
    return 3 + 3 * i;
}

/* The weights of the cell before, the cell itself and the cell after it in flow(). The last cell has none after it: what
 * would be there is like itself. */
static void flow_weights(size_t i, double weight[3])
{
    double convection = CELLS, dispersion = D * CELLS * CELLS;
    weight[0] = convection + dispersion;
    weight[2] = i + 1 < CELLS ? dispersion : 0;
    weight[1] = -weight[0] - weight[2];
}

static double flow(size_t i, double before, double here, double after)
{
    double weight[3];
    flow_weights(i, weight);
    return weight[0] * before + weight[1] * here + weight[2] * after;
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct column *m = self;
    const double *x = m->x;
    m->dx[TANK] = (m->u - x[TANK]) / tau;
    for (size_t i = 0; i < CELLS; i++) {
        double s = x[place_s(i)], c = x[place_c(i)], q = x[place_q(i)];
        double adsorption = ka * c * (1 - q) - kd * s * s * q;
        double s_before = i > 0 ? x[place_s(i - 1)] : x[TANK], c_before = i > 0 ? x[place_c(i - 1)] : 0;
        double s_behind = i + 1 < CELLS ? x[place_s(i + 1)] : 0, c_behind = i + 1 < CELLS ? x[place_c(i + 1)] : 0;
        m->dx[place_s(i)] = flow(i, s_before, s, s_behind);
        m->dx[place_c(i)] = flow(i, c_before, c, c_behind) - F * adsorption;
        m->dx[place_q(i)] = adsorption;
    }
    return KIT_OK;
}

/* Of the adsorption in cell i with respect to x[known]. */
static double adsorption_partial(const double x[], size_t i, size_t known)
{
    double s = x[place_s(i)], c = x[place_c(i)], q = x[place_q(i)];
    if (known == place_s(i))
        return -2 * kd * s * q;
    if (known == place_c(i))
        return ka * (1 - q);
    return known == place_q(i) ? -ka * c - kd * s * s : 0;
}

/* Of flow() in cell i, whose value is x[here], with respect to x[known]. */
static double flow_partial(size_t i, size_t here, size_t before, size_t known)
{
    double weight[3];
    flow_weights(i, weight);
    if (known == before)
        return weight[0];
    if (known == here)
        return weight[1];
    return known == here + 3 ? weight[2] : 0;
}

static enum kit_status partial(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value)
{
    struct column *m = self;
    size_t row = (size_t)(unknown - m->dx);
    if (row == TANK) {
        *value = known == &m->u ? 1 / tau : known == &m->x[TANK] ? -1 / tau : 0;
        return KIT_OK;
    }
    if (!known || known == &m->u)
        return KIT_OK;
    size_t i = (row - 1) / 3, column = (size_t)(known - m->x);
    if (row == place_s(i))
        *value = flow_partial(i, row, i > 0 ? row - 3 : TANK, column);
    else if (row == place_c(i))
        *value = flow_partial(i, row, i > 0 ? row - 3 : STATES, column) - F * adsorption_partial(m->x, i, column);
    else
        *value = adsorption_partial(m->x, i, column);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = CELLS_MODEL,
    .description = "A chromatography column: convection, dispersion and adsorption",
    .size = sizeof(struct column),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 5, .step = 0.01, .tolerance = 1e-6},
    .features = KIT_FOR_FREE | KIT_DIRECTIONAL,
    .output_derivatives = 1,
    .micro_step = 1e-4,
    .derivatives = derivatives,
    .partial = partial,
};
