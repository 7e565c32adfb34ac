/* SPDX-License-Identifier: MIT */
/* The state between two points: all x; and per output y now and at two points before, H y' and H^2 y'' as units give them; and per
 * input where it was led to in the last step. Every quantity of the next point is a row of coefficients over that state and, after it,
 * over the outputs at the next point (NEW) and the multipliers of constraints: these are solved for in the end. */
#include "sim/start/step_operator.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "solve/matrix.h"
#include "sim/start/stability.h"

enum { MOST_ROWS = 800 };

void dgesv_(const int *count, const int *columns, double *matrix, const int *leading, int *pivots, double *right,
            const int *right_leading, int *info);

enum operator_part { NOW, BEFORE, FIRST, SLOPE, BEND, PARTS };

/* u = value + slope s / H + bend (s / H)^2 / 2 in a step, s from 0 to H. */
struct operator_input {
    double *value, *slope, *bend; /* rows */
};

struct step_operator {
    const struct tt_linear_system *of;
    enum tt_step_method method;
    unsigned order;
    bool in_places; /* units see what those before them have become */
    double h;
    size_t size;  /* of the state */
    size_t width; /* of a row: and NEW */
    double *next; /* the state at the next point: `size` rows */
    double *rows; /* room for three rows per input of a unit */
    struct tt_arena arena;
};

/* ---- rows ---- */

static size_t operator_column_of(const struct step_operator *s, enum operator_part part, size_t output)
{
    return s->of->states + (size_t)part * s->of->outputs + output;
}

static size_t operator_end_column(const struct step_operator *s, size_t input)
{
    return s->of->states + PARTS * s->of->outputs + input;
}

static size_t operator_new_column(const struct step_operator *s, size_t output)
{
    return s->size + output;
}

static size_t operator_multiplier_column(const struct step_operator *s, size_t row)
{
    return s->size + s->of->outputs + row;
}

/* Of constraints that the method keeps. */
static size_t count_constraint_rows(const struct step_operator *s)
{
    return s->method == TUTTI_STEP_KINEMATIC ? s->of->constraints.rows : 0;
}

static double *operator_row_of(const struct step_operator *s, size_t column)
{
    return s->next + column * s->width;
}

static void operator_add_row(const struct step_operator *s, double *row, double factor, const double *other)
{
    for (size_t i = 0; i < s->width && factor != 0; i++)
        row[i] += factor * other[i];
}

/* ---- what inputs do ---- */

/* H times the slope that an output is extrapolated with: given, or of the line or parabola through its points. */
static void operator_add_slope(const struct step_operator *s, double *row, double factor, size_t output, int gives)
{
    if (gives >= 1) {
        row[operator_column_of(s, SLOPE, output)] += factor;
        return;
    }
    static const double weights[2][3] = {{1, -1, 0}, {1.5, -2, 0.5}};
    for (int p = 0; p < 3; p++)
        row[operator_column_of(s, (enum operator_part)(NOW + p), output)] += factor * weights[s->order - 1][p];
}

/* H^2 times its second derivative. */
static void operator_add_curvature(const struct step_operator *s, double *row, double factor, size_t output, int gives)
{
    static const double weights[3] = {1, -2, 1};
    if (gives >= 2)
        row[operator_column_of(s, BEND, output)] += factor;
    for (int p = 0; p < 3 && gives < 2; p++)
        row[operator_column_of(s, (enum operator_part)(NOW + p), output)] += factor * weights[p];
}

/* Adds an output, times the factor of a connection, to an input: extrapolated. */
static void operator_add_extrapolated(const struct step_operator *s, const struct operator_input *u, double factor,
                                      size_t output, int gives)
{
    u->value[operator_column_of(s, NOW, output)] += factor;
    if (s->order > 0)
        operator_add_slope(s, u->slope, factor, output, gives);
    if (s->order > 1)
        operator_add_curvature(s, u->bend, factor, output, gives);
}

/* Adds a value known at the end: held there; or on the line to it; or, with order 2, on the parabola with the slope at
 * the beginning. */
static void operator_add_known(const struct step_operator *s, const struct operator_input *u, double factor,
                               size_t output, int gives)
{
    bool line = s->order > 0 || s->method == TUTTI_STEP_IMPLICIT;
    u->value[line ? operator_column_of(s, NOW, output) : operator_new_column(s, output)] += factor;
    if (!line)
        return;
    bool parabola = s->order == 2 && s->method != TUTTI_STEP_IMPLICIT;
    double *to = parabola ? u->bend : u->slope, part = parabola ? 2 * factor : factor;
    to[operator_new_column(s, output)] += part;
    to[operator_column_of(s, NOW, output)] -= part;
    if (parabola) {
        operator_add_slope(s, u->bend, -part, output, gives);
        operator_add_slope(s, u->slope, factor, output, gives);
    }
}

/* Held where it would be in the part `at` of the step. */
static void operator_hold_input(const struct step_operator *s, const struct operator_input *u, double at)
{
    operator_add_row(s, u->value, at, u->slope);
    operator_add_row(s, u->value, at * at / 2, u->bend);
    memset(u->slope, 0, s->width * sizeof *u->slope);
    memset(u->bend, 0, s->width * sizeof *u->bend);
}

/* Andersson 2016 eq. 6.71: along a line from where it is to where it would have gone. */
static void operator_smooth_input(const struct step_operator *s, const struct operator_input *u, size_t input)
{
    operator_add_row(s, u->slope, 1, u->value);
    operator_add_row(s, u->slope, 0.5, u->bend);
    u->slope[operator_end_column(s, input)] -= 1;
    memset(u->value, 0, s->width * sizeof *u->value);
    memset(u->bend, 0, s->width * sizeof *u->bend);
    u->value[operator_end_column(s, input)] = 1;
}

static struct operator_input operator_moving_of(const struct step_operator *s, size_t own)
{
    double *rows = s->rows + 3 * own * s->width;
    return (struct operator_input){rows, rows + s->width, rows + 2 * s->width};
}

static void operator_move_input(const struct step_operator *s, const struct tt_linear_unit *unit, size_t own,
                                size_t input)
{
    const struct tt_linear_system *of = s->of;
    struct operator_input u = operator_moving_of(s, own);
    memset(u.value, 0, 3 * s->width * sizeof *u.value);
    size_t output = 0;
    for (size_t k = 0; k < of->unit_count; k++)
        for (size_t i = 0; i < of->units[k].outputs; i++, output++) {
            double factor = of->links[output * of->inputs + input];
            bool known = s->method == TUTTI_STEP_IMPLICIT || (s->in_places && of->units[k].place < unit->place);
            if (factor != 0 && known)
                operator_add_known(s, &u, factor, output, of->units[k].gives);
            else if (factor != 0)
                operator_add_extrapolated(s, &u, factor, output, of->units[k].gives);
        }
    for (size_t r = 0; r < count_constraint_rows(s); r++)
        u.value[operator_multiplier_column(s, r)] += of->constraints.forces[r * of->inputs + input];
    if (s->method == TUTTI_STEP_SMOOTH && unit->takes)
        operator_smooth_input(s, &u, input);
    if (!unit->takes) /* where outputs are solved for at the end, that is best which is best for states */
        operator_hold_input(s, &u, s->method == TUTTI_STEP_CORRECT ? 0.5 : unit->at[own]);
    double *end = operator_row_of(s, operator_end_column(s, input));
    operator_add_row(s, end, 1, u.value);
    operator_add_row(s, end, 1, u.slope);
    operator_add_row(s, end, 0.5, u.bend);
}

/* ---- what units make of them ---- */

/* exp of H times [A B 0 0; 0 0 I/H 0; 0 0 0 I/H; 0 0 0 0]: its first rows say what x and the parts of u make of x. */
static enum tutti_err operator_propagate(struct step_operator *s, const struct tt_linear_unit *unit, double **out)
{
    size_t n = unit->states, m = unit->inputs, all = n + 3 * m;
    double *matrix = tt_arena_array(&s->arena, all * all, sizeof *matrix);
    *out = tt_arena_array(&s->arena, all * all, sizeof **out);
    if (!matrix || !*out)
        return tt_fail_memory();
    for (size_t row = 0; row < n; row++) {
        for (size_t column = 0; column < n; column++)
            matrix[column * all + row] = s->h * unit->a[column * n + row];
        for (size_t column = 0; column < m; column++)
            matrix[(n + column) * all + row] = s->h * unit->b[column * n + row];
    }
    for (size_t j = 0; j < 2 * m; j++)
        matrix[(n + m + j) * all + n + j] = 1;
    return tt_matrix_exponential(matrix, all, *out);
}

static enum tutti_err operator_step_states(struct step_operator *s, const struct tt_linear_unit *unit, size_t first)
{
    size_t n = unit->states, m = unit->inputs, all = n + 3 * m;
    double *flow = NULL;
    if (n == 0)
        return TUTTI_OK;
    TRY(operator_propagate(s, unit, &flow));
    for (size_t row = 0; row < n; row++) {
        double *x = operator_row_of(s, first + row);
        for (size_t column = 0; column < n; column++)
            x[first + column] += flow[column * all + row];
        for (size_t j = 0; j < m; j++) {
            struct operator_input u = operator_moving_of(s, j);
            operator_add_row(s, x, flow[(n + j) * all + row], u.value);
            operator_add_row(s, x, flow[(n + m + j) * all + row], u.slope);
            operator_add_row(s, x, flow[(n + 2 * m + j) * all + row], u.bend);
        }
    }
    return TUTTI_OK;
}

struct operator_firsts {
    size_t state, input, output;
};

/* y = C x + D u at the end; with a correction, u is what the connections bring of the outputs there. */
static void operator_fill_outputs(struct step_operator *s, const struct tt_linear_unit *unit,
                                  const struct operator_firsts *first)
{
    for (size_t i = 0; i < unit->outputs; i++) {
        double *y = operator_row_of(s, operator_column_of(s, NOW, first->output + i));
        for (size_t k = 0; k < unit->states; k++)
            operator_add_row(s, y, unit->c[k * unit->outputs + i], operator_row_of(s, first->state + k));
        for (size_t j = 0; j < unit->inputs; j++) {
            double d = unit->d[j * unit->outputs + i];
            if (s->method != TUTTI_STEP_CORRECT)
                operator_add_row(s, y, d, operator_row_of(s, operator_end_column(s, first->input + j)));
            for (size_t o = 0; o < s->of->outputs && s->method == TUTTI_STEP_CORRECT; o++)
                y[operator_new_column(s, o)] += d * s->of->links[o * s->of->inputs + first->input + j];
        }
    }
}

/* rows += H (A x + B u), or of their derivatives. */
static void operator_differentiate(const struct step_operator *s, const struct tt_linear_unit *unit,
                                   const double *const *x, const double *const *u, double *const *out)
{
    for (size_t row = 0; row < unit->states; row++) {
        for (size_t k = 0; k < unit->states; k++)
            operator_add_row(s, out[row], s->h * unit->a[k * unit->states + row], x[k]);
        for (size_t j = 0; j < unit->inputs; j++)
            operator_add_row(s, out[row], s->h * unit->b[j * unit->states + row], u[j]);
    }
}

/* y' = C x' + D u', y'' = C x'' + D u'' at the end, as far as the unit gives them. */
static enum tutti_err operator_fill_rates(struct step_operator *s, const struct tt_linear_unit *unit,
                                          const struct operator_firsts *first)
{
    enum { ORDERS = 3 }; /* of derivatives, 0 among them */
    size_t n = unit->states, m = unit->inputs, count = ORDERS * (n + m) + 1;
    int most = unit->gives < (int)s->order ? unit->gives : (int)s->order;
    double **rows = tt_arena_array(&s->arena, count, sizeof *rows);
    double *room = tt_arena_array(&s->arena, (2 * n + 2 * m + 1) * s->width, sizeof *room);
    if (!rows || !room)
        return tt_fail_memory();
    double **x[ORDERS] = {rows, rows + n, rows + 2 * n},
           **u[ORDERS] = {rows + 3 * n, rows + 3 * n + m, rows + 3 * n + 2 * m};
    for (size_t k = 0; k < n; k++) {
        x[0][k] = operator_row_of(s, first->state + k);
        x[1][k] = room + k * s->width;
        x[2][k] = room + (n + k) * s->width;
    }
    for (size_t j = 0; j < m; j++) {
        struct operator_input moves = operator_moving_of(s, j);
        u[0][j] = operator_row_of(s, operator_end_column(s, first->input + j));
        u[1][j] = room + (2 * n + j) * s->width;
        u[2][j] = room + (2 * n + m + j) * s->width;
        operator_add_row(s, u[1][j], 1, moves.slope);
        operator_add_row(s, u[1][j], 1, moves.bend);
        operator_add_row(s, u[2][j], 1, moves.bend);
    }
    for (int o = 1; o <= most && o < ORDERS; o++) {
        operator_differentiate(s, unit, (const double *const *)x[o - 1], (const double *const *)u[o - 1], x[o]);
        for (size_t i = 0; i < unit->outputs; i++) {
            double *y = operator_row_of(s, operator_column_of(s, o == 1 ? SLOPE : BEND, first->output + i));
            for (size_t k = 0; k < n; k++)
                operator_add_row(s, y, unit->c[k * unit->outputs + i], x[o][k]);
            for (size_t j = 0; j < m && s->method != TUTTI_STEP_CORRECT; j++)
                operator_add_row(s, y, unit->d[j * unit->outputs + i], u[o][j]);
        }
    }
    return TUTTI_OK;
}

/* ---- the whole ---- */

static enum tutti_err operator_fill(struct step_operator *s)
{
    struct operator_firsts first = {0};
    for (size_t k = 0; k < s->of->unit_count; k++) {
        const struct tt_linear_unit *unit = &s->of->units[k];
        for (size_t j = 0; j < unit->inputs; j++)
            operator_move_input(s, unit, j, first.input + j);
        TRY(operator_step_states(s, unit, first.state));
        operator_fill_outputs(s, unit, &first);
        TRY(operator_fill_rates(s, unit, &first));
        first = (struct operator_firsts){first.state + unit->states, first.input + unit->inputs,
                                         first.output + unit->outputs};
    }

    for (size_t o = 0; o < s->of->outputs; o++) {
        operator_row_of(s, operator_column_of(s, BEFORE, o))[operator_column_of(s, NOW, o)] = 1;
        operator_row_of(s, operator_column_of(s, FIRST, o))[operator_column_of(s, BEFORE, o)] = 1;
    }
    return TUTTI_OK;
}

/* Solves (I - M) X = R for the rows `first` ... of `next`, M their coefficients at `from`: R, in terms of the state,
 * becomes X. */
static enum tutti_err operator_eliminate(struct step_operator *s, const size_t *rows, size_t count,
                                         const double *feedback)
{
    size_t columns = s->width;
    double *matrix = tt_arena_array(&s->arena, count * count, sizeof *matrix);
    double *right = tt_arena_array(&s->arena, count * columns, sizeof *right);
    int *pivots = tt_arena_array(&s->arena, count, sizeof *pivots), n = (int)count, wide = (int)columns, info = 0;
    if (!matrix || !right || !pivots)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++)
            matrix[j * count + i] = (i == j) - feedback[j * count + i];
        for (size_t c = 0; c < columns; c++)
            right[c * count + i] = operator_row_of(s, rows[i])[c];
    }
    if (count > 0)
        dgesv_(&n, &wide, matrix, &n, pivots, right, &n, &info);
    if (info != 0)
        return tt_fail(TUTTI_ERR_SOLVER, "the outputs in a loop do not determine each other");
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < columns; c++)
            operator_row_of(s, rows[i])[c] = right[c * count + i];
    return TUTTI_OK;
}

/* The outputs at the next point, in terms of the state; then all that follows them. */
static enum tutti_err operator_solve_new(struct step_operator *s)
{
    size_t n = s->of->outputs;
    double *feedback = tt_arena_array(&s->arena, n * n, sizeof *feedback);
    size_t *rows = tt_arena_array(&s->arena, n, sizeof *rows);
    if (!feedback || !rows)
        return tt_fail_memory();
    for (size_t i = 0; i < n; i++) {
        rows[i] = operator_column_of(s, NOW, i);
        for (size_t j = 0; j < n; j++) {
            feedback[j * n + i] = operator_row_of(s, rows[i])[operator_new_column(s, j)];
            operator_row_of(s, rows[i])[operator_new_column(s, j)] = 0;
        }
    }
    TRY(operator_eliminate(s, rows, n, feedback));
    for (size_t r = 0; r < s->size; r++)
        for (size_t j = 0; j < n; j++) {
            double *row = operator_row_of(s, r), factor = row[operator_new_column(s, j)];
            row[operator_new_column(s, j)] = 0;
            operator_add_row(s, row, factor, operator_row_of(s, rows[j]));
        }
    return TUTTI_OK;
}

/* Rates that a correction solves for, too: y' = z' + D L y' (Andersson 2016 eq. 6.64g), with those of the history where a unit gives
 * none. */
static enum tutti_err operator_correct_rates(struct step_operator *s, enum operator_part part)
{
    const struct tt_linear_system *of = s->of;
    size_t n = of->outputs;
    double *feedback = tt_arena_array(&s->arena, n * n, sizeof *feedback);
    size_t *rows = tt_arena_array(&s->arena, n, sizeof *rows);
    bool *given = tt_arena_array(&s->arena, n, sizeof *given);
    if (!feedback || !rows || !given)
        return tt_fail_memory();
    struct operator_firsts first = {0};
    for (size_t k = 0; k < of->unit_count; k++) {
        const struct tt_linear_unit *unit = &of->units[k];
        for (size_t i = 0; i < unit->outputs; i++) {
            rows[first.output + i] = operator_column_of(s, part, first.output + i);
            given[first.output + i] = unit->gives >= (part == SLOPE ? 1 : 2);
            for (size_t o = 0; o < n; o++)
                for (size_t j = 0; j < unit->inputs; j++)
                    feedback[o * n + first.output + i] += given[first.output + i]
                                                              ? unit->d[j * unit->outputs + i] *
                                                                    of->links[o * of->inputs + first.input + j]
                                                              : 0;
        }
        first = (struct operator_firsts){0, first.input + unit->inputs, first.output + unit->outputs};
    }
    static const double weights[2][3] = {{1, -1, 0}, {1.5, -2, 0.5}}, bends[3] = {1, -2, 1};
    const double *weigh = part == BEND ? bends : weights[s->order - 1];
    for (size_t o = 0; o < n; o++) /* of the points, the newest of which is the next one */
        for (int p = 0; p < 3 && !given[o]; p++) {
            double *row = operator_row_of(s, rows[o]);
            if (p == 0)
                operator_add_row(s, row, weigh[0], operator_row_of(s, operator_column_of(s, NOW, o)));
            else
                row[operator_column_of(s, (enum operator_part)(NOW + p - 1), o)] += weigh[p];
        }
    return operator_eliminate(s, rows, n, feedback);
}

/* One row: what of it follows from the state goes to `right`, what from multipliers, with that of compliance, to `matrix`. Of positions
 * g, with gamma = 1 / (1 + 4 tau / h), G v(n+1) + 4 gamma eps / h l = -4 gamma / h g(n) + gamma G v(n); of velocities alone,
 * G v(n+1) + eps / h l = 0 (Lacoursiere 2017 eq. 12 to 14). */
static void operator_fill_constraint(const struct step_operator *s, size_t r, double *matrix, double *right)
{
    const struct tt_linear_constraints *of = &s->of->constraints;
    double gamma = of->holonomic[r] ? 1 / (1 + 4 * of->relax_time) : 0.25, pull = of->holonomic[r] ? gamma : 0;
    for (size_t o = 0; o < s->of->outputs; o++) {
        double velocity = of->velocities[o * of->rows + r], position = of->positions[o * of->rows + r];
        const double *next = operator_row_of(s, operator_column_of(s, NOW, o));
        for (size_t c = 0; c < s->size && velocity != 0; c++)
            right[c * of->rows + r] -= velocity * next[c];
        for (size_t q = 0; q < of->rows; q++)
            matrix[q * of->rows + r] += velocity * next[operator_multiplier_column(s, q)];
        right[operator_column_of(s, NOW, o) * of->rows + r] += pull * velocity - 4 * pull / s->h * position;
    }
    matrix[r * of->rows + r] += 4 * gamma * of->compliances[r] / s->h;
}

/* The multipliers, in terms of the state; then all that follows them. */
static enum tutti_err operator_solve_constraints(struct step_operator *s)
{
    size_t count = count_constraint_rows(s);
    double *matrix = tt_arena_array(&s->arena, count * count, sizeof *matrix);
    double *right = tt_arena_array(&s->arena, count * s->size, sizeof *right);
    int *pivots = tt_arena_array(&s->arena, count, sizeof *pivots), n = (int)count, wide = (int)s->size, info = 0;
    if (!matrix || !right || !pivots)
        return tt_fail_memory();
    for (size_t r = 0; r < count; r++)
        operator_fill_constraint(s, r, matrix, right);
    if (count > 0)
        dgesv_(&n, &wide, matrix, &n, pivots, right, &n, &info);
    if (info != 0)
        return tt_fail(TUTTI_ERR_SOLVER, "constraints do not determine their forces");
    for (size_t row = 0; row < s->size; row++)
        for (size_t r = 0; r < count; r++) {
            double factor = operator_row_of(s, row)[operator_multiplier_column(s, r)];
            for (size_t c = 0; c < s->size && factor != 0; c++)
                operator_row_of(s, row)[c] += factor * right[c * count + r];
        }
    return TUTTI_OK;
}

static enum tutti_err operator_find_radius(struct step_operator *s, double *radius)
{
    double *matrix = tt_arena_array(&s->arena, s->size * s->size, sizeof *matrix);
    if (!matrix)
        return tt_fail_memory();
    for (size_t r = 0; r < s->size; r++)
        for (size_t c = 0; c < s->size; c++)
            matrix[c * s->size + r] = operator_row_of(s, r)[c];
    for (size_t i = 0; i < s->size * s->size; i++)
        if (!isfinite(matrix[i]))
            return tt_fail(TUTTI_ERR_SOLVER, "numbers leave their range");
    return tt_stability_spectral_radius(matrix, s->size, NULL, NULL, radius);
}

static enum tutti_err operator_init(struct step_operator *s)
{
    size_t inputs = 1;
    s->size = s->of->states + PARTS * s->of->outputs + s->of->inputs;
    s->width = s->size + s->of->outputs + count_constraint_rows(s);
    for (size_t k = 0; k < s->of->unit_count; k++)
        inputs = s->of->units[k].inputs > inputs ? s->of->units[k].inputs : inputs;
    if (s->size > MOST_ROWS)
        return tt_fail(TUTTI_ERR_LIMIT, "the step has %zu states, outputs and points before; the limit is %d", s->size,
                       MOST_ROWS);
    s->next = tt_arena_array(&s->arena, s->size * s->width, sizeof *s->next);
    s->rows = tt_arena_array(&s->arena, 3 * inputs * s->width, sizeof *s->rows);
    return s->next && s->rows ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err operator_compute_step(struct step_operator *s, double *radius)
{
    TRY(operator_init(s));
    TRY(operator_fill(s));
    TRY(operator_solve_new(s));
    TRY(operator_solve_constraints(s));
    for (unsigned o = 1; o <= s->order && s->method == TUTTI_STEP_CORRECT; o++)
        TRY(operator_correct_rates(s, o == 1 ? SLOPE : BEND));
    return operator_find_radius(s, radius);
}

enum tutti_err tt_step_operator_step_radius(const struct tt_linear_system *system, enum tt_step_method method,
                                            unsigned order, double h, double *radius)
{
    struct step_operator s = {
        .of = system, .method = method, .order = order, .h = h, .in_places = method == TUTTI_STEP_SEIDEL};
    enum tutti_err err = operator_compute_step(&s, radius);
    tt_arena_fini(&s.arena);
    return err;
}

/* ---- sweeps, and the equations themselves ---- */

/* Computes the coefficients of NEW in the outputs: those of earlier units, if known by then, belong to the other side. */
static enum tutti_err operator_compute_sweep(struct step_operator *s, bool in_places, double *radius)
{
    const struct tt_linear_system *of = s->of;
    size_t n = of->outputs, row = 0;
    int count = (int)n, info = 0;
    TRY(operator_init(s));
    TRY(operator_fill(s));
    double *known = tt_arena_array(&s->arena, n * n, sizeof *known);
    double *guessed = tt_arena_array(&s->arena, n * n, sizeof *guessed);
    uint32_t *places = tt_arena_array(&s->arena, n, sizeof *places);
    int *pivots = tt_arena_array(&s->arena, n, sizeof *pivots);
    if (!known || !guessed || !places || !pivots)
        return tt_fail_memory();
    for (size_t k = 0; k < of->unit_count; k++)
        for (size_t i = 0; i < of->units[k].outputs; i++)
            places[row++] = of->units[k].place;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double value = operator_row_of(s, operator_column_of(s, NOW, i))[operator_new_column(s, j)];
            bool before = in_places && places[j] < places[i];
            known[j * n + i] = (i == j) - (before ? value : 0);
            guessed[j * n + i] = before ? 0 : value;
        }
    if (n > 0)
        dgesv_(&count, &count, known, &count, pivots, guessed, &count, &info);
    if (info != 0)
        return tt_fail(TUTTI_ERR_SOLVER, "a sweep has no end");
    return tt_stability_spectral_radius(guessed, n, NULL, NULL, radius);
}

enum tutti_err tt_step_operator_sweep_radius(const struct tt_linear_system *system, bool in_places, double h,
                                             double *radius)
{
    struct step_operator s = {.of = system, .method = TUTTI_STEP_IMPLICIT, .order = 1, .h = h};
    enum tutti_err err = operator_compute_sweep(&s, in_places, radius);
    tt_arena_fini(&s.arena);
    return err;
}

/* Column k of the closed loop: what x_k alone makes of x'. */
struct closed_loop {
    double *loop;  /* (I - D L)^-1 C, outputs times states */
    double *rates; /* the matrix, states times states */
    double *feed;  /* I - D L */
    int *pivots;
};

static void close_loop(const struct tt_linear_system *of, struct closed_loop *closed)
{
    struct operator_firsts first = {0};
    size_t n = of->outputs;
    for (size_t k = 0; k < of->unit_count; k++) {
        const struct tt_linear_unit *unit = &of->units[k];
        for (size_t i = 0; i < unit->outputs; i++) {
            for (size_t x = 0; x < unit->states; x++)
                closed->loop[(first.state + x) * n + first.output + i] = unit->c[x * unit->outputs + i];
            for (size_t o = 0; o < n; o++) {
                double sum = o == first.output + i;
                for (size_t j = 0; j < unit->inputs; j++)
                    sum -= unit->d[j * unit->outputs + i] * of->links[o * of->inputs + first.input + j];
                closed->feed[o * n + first.output + i] = sum;
            }
        }
        first = (struct operator_firsts){first.state + unit->states, first.input + unit->inputs,
                                         first.output + unit->outputs};
    }
}

static void close_feedthrough(const struct tt_linear_system *of, struct closed_loop *closed)
{
    struct operator_firsts first = {0};
    for (size_t k = 0; k < of->unit_count; k++) {
        const struct tt_linear_unit *unit = &of->units[k];
        for (size_t row = 0; row < unit->states; row++) {
            for (size_t x = 0; x < unit->states; x++)
                closed->rates[(first.state + x) * of->states + first.state + row] += unit->a[x * unit->states + row];
            for (size_t j = 0; j < unit->inputs; j++)
                for (size_t o = 0; o < of->outputs; o++) {
                    double factor = unit->b[j * unit->states + row] * of->links[o * of->inputs + first.input + j];
                    for (size_t x = 0; x < of->states && factor != 0; x++)
                        closed->rates[x * of->states + first.state + row] += factor * closed->loop[x * of->outputs + o];
                }
        }
        first = (struct operator_firsts){first.state + unit->states, first.input + unit->inputs, 0};
    }
}

static enum tutti_err compute_exact_radius(const struct tt_linear_system *of, double h, struct tt_arena *arena,
                                           double *radius)
{
    size_t n = of->outputs, states = of->states;
    struct closed_loop closed = {.loop = tt_arena_array(arena, n * states, sizeof(double)),
                                 .rates = tt_arena_array(arena, states * states, sizeof(double)),
                                 .feed = tt_arena_array(arena, n * n, sizeof(double)),
                                 .pivots = tt_arena_array(arena, n, sizeof(int))};
    double *re = tt_arena_array(arena, states, sizeof *re), *im = tt_arena_array(arena, states, sizeof *im), unused;
    if (!closed.loop || !closed.rates || !closed.feed || !closed.pivots || !re || !im)
        return tt_fail_memory();
    int count = (int)n, columns = (int)states, info = 0;
    close_loop(of, &closed);
    if (n > 0 && states > 0)
        dgesv_(&count, &columns, closed.feed, &count, closed.pivots, closed.loop, &count, &info);
    if (info != 0)
        return tt_fail(TUTTI_ERR_SOLVER, "the outputs in a loop do not determine each other");
    close_feedthrough(of, &closed);
    TRY(tt_stability_spectral_radius(closed.rates, states, re, im, &unused));
    *radius = 0;
    for (size_t i = 0; i < states; i++)
        *radius = fmax(*radius, exp(h * re[i]));
    return TUTTI_OK;
}

enum tutti_err tt_step_operator_exact_radius(const struct tt_linear_system *system, double h, double *radius)
{
    struct tt_arena arena = {0};
    enum tutti_err err = compute_exact_radius(system, h, &arena, radius);
    tt_arena_fini(&arena);
    return err;
}

enum tutti_err tt_step_operator_is_stable(const struct tt_linear_system *system, enum tt_step_method method,
                                          unsigned order, double h, double *radius, bool *stable)
{
    double exact = 1;
    if (method != TUTTI_STEP_KINEMATIC)
        TRY(tt_step_operator_exact_radius(system, h, &exact));
    TRY(tt_step_operator_step_radius(system, method, order, h, radius));
    *stable = tt_stability_is_stable_radius(*radius / pow(fmax(exact, 1), 1.1));
    return TUTTI_OK;
}
