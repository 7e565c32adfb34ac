/* SPDX-License-Identifier: MIT */
/* The state between two points: all x; and per output y now and at two points before, H y' and H^2 y'' as units give them; and per
 * input where it was led to in the last step. Every quantity of the next point is a row of coefficients over that state and, after it,
 * over the outputs at the next point (NEW) and the multipliers of constraints: these are solved for in the end. */
#include "start/step_operator.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "solve/eigen.h"
#include "solve/exponential.h"
#include "start/propagation.h"
#include "start/stability.h"

enum { MOST_ROWS = 800 };

void dgesv_(const int *count, const int *columns, double *matrix, const int *leading, int *pivots, double *right,
            const int *right_leading, int *info);

enum part { NOW, BEFORE, FIRST, SLOPE, BEND, PARTS };

/* u = value + slope s / H + bend (s / H)^2 / 2 in a step, s from 0 to H. */
struct moving {
    double *value, *slope, *bend; /* rows */
};

struct stepper {
    const struct tutti_linear_system *of;
    enum tutti_step_method method;
    unsigned order;
    bool in_places; /* units see what those before them have become */
    double h;
    size_t size;  /* of the state */
    size_t width; /* of a row: and NEW */
    double *next; /* the state at the next point: `size` rows */
    double *rows; /* room for three rows per input of a unit */
    struct tutti_arena arena;
};

/* ---- rows ---- */

static size_t column_of(const struct stepper *s, enum part part, size_t output)
{
    return s->of->states + (size_t)part * s->of->outputs + output;
}

static size_t end_column(const struct stepper *s, size_t input)
{
    return s->of->states + PARTS * s->of->outputs + input;
}

static size_t new_column(const struct stepper *s, size_t output)
{
    return s->size + output;
}

static size_t multiplier_column(const struct stepper *s, size_t row)
{
    return s->size + s->of->outputs + row;
}

/* Of constraints that the method keeps. */
static size_t count_rows(const struct stepper *s)
{
    return s->method == TUTTI_STEP_KINEMATIC ? s->of->constraints.rows : 0;
}

static double *row_of(const struct stepper *s, size_t column)
{
    return s->next + column * s->width;
}

static void add_row(const struct stepper *s, double *row, double factor, const double *other)
{
    for (size_t i = 0; i < s->width && factor != 0; i++)
        row[i] += factor * other[i];
}

/* ---- what inputs do ---- */

/* H times the slope that an output is extrapolated with: given, or of the line or parabola through its points. */
static void add_slope(const struct stepper *s, double *row, double factor, size_t output, int gives)
{
    if (gives >= 1) {
        row[column_of(s, SLOPE, output)] += factor;
        return;
    }
    static const double weights[2][3] = {{1, -1, 0}, {1.5, -2, 0.5}};
    for (int p = 0; p < 3; p++)
        row[column_of(s, (enum part)(NOW + p), output)] += factor * weights[s->order - 1][p];
}

/* H^2 times its second derivative. */
static void add_bend(const struct stepper *s, double *row, double factor, size_t output, int gives)
{
    static const double weights[3] = {1, -2, 1};
    if (gives >= 2)
        row[column_of(s, BEND, output)] += factor;
    for (int p = 0; p < 3 && gives < 2; p++)
        row[column_of(s, (enum part)(NOW + p), output)] += factor * weights[p];
}

/* Adds an output, times the factor of a connection, to an input: extrapolated. */
static void add_ahead(const struct stepper *s, const struct moving *u, double factor, size_t output, int gives)
{
    u->value[column_of(s, NOW, output)] += factor;
    if (s->order > 0)
        add_slope(s, u->slope, factor, output, gives);
    if (s->order > 1)
        add_bend(s, u->bend, factor, output, gives);
}

/* ... known at the end: held there; or on the line to it; or, with order 2, on the parabola with the slope at the beginning. */
static void add_known(const struct stepper *s, const struct moving *u, double factor, size_t output, int gives)
{
    bool line = s->order > 0 || s->method == TUTTI_STEP_IMPLICIT;
    u->value[line ? column_of(s, NOW, output) : new_column(s, output)] += factor;
    if (!line)
        return;
    bool parabola = s->order == 2 && s->method != TUTTI_STEP_IMPLICIT;
    double *to = parabola ? u->bend : u->slope, part = parabola ? 2 * factor : factor;
    to[new_column(s, output)] += part;
    to[column_of(s, NOW, output)] -= part;
    if (parabola) {
        add_slope(s, u->bend, -part, output, gives);
        add_slope(s, u->slope, factor, output, gives);
    }
}

/* Held where it would be in the part `at` of the step. */
static void hold(const struct stepper *s, const struct moving *u, double at)
{
    add_row(s, u->value, at, u->slope);
    add_row(s, u->value, at * at / 2, u->bend);
    memset(u->slope, 0, s->width * sizeof *u->slope);
    memset(u->bend, 0, s->width * sizeof *u->bend);
}

/* Andersson 2016 eq. 6.71: along a line from where it is to where it would have gone. */
static void smooth(const struct stepper *s, const struct moving *u, size_t input)
{
    add_row(s, u->slope, 1, u->value);
    add_row(s, u->slope, 0.5, u->bend);
    u->slope[end_column(s, input)] -= 1;
    memset(u->value, 0, s->width * sizeof *u->value);
    memset(u->bend, 0, s->width * sizeof *u->bend);
    u->value[end_column(s, input)] = 1;
}

static struct moving moving_of(const struct stepper *s, size_t own)
{
    double *rows = s->rows + 3 * own * s->width;
    return (struct moving){rows, rows + s->width, rows + 2 * s->width};
}

static void lead_input(const struct stepper *s, const struct tutti_linear_unit *unit, size_t own, size_t input)
{
    const struct tutti_linear_system *of = s->of;
    struct moving u = moving_of(s, own);
    memset(u.value, 0, 3 * s->width * sizeof *u.value);
    size_t output = 0;
    for (size_t k = 0; k < of->unit_count; k++)
        for (size_t i = 0; i < of->units[k].outputs; i++, output++) {
            double factor = of->links[output * of->inputs + input];
            bool known = s->method == TUTTI_STEP_IMPLICIT || (s->in_places && of->units[k].place < unit->place);
            if (factor != 0 && known)
                add_known(s, &u, factor, output, of->units[k].gives);
            else if (factor != 0)
                add_ahead(s, &u, factor, output, of->units[k].gives);
        }
    for (size_t r = 0; r < count_rows(s); r++)
        u.value[multiplier_column(s, r)] += of->constraints.forces[r * of->inputs + input];
    if (s->method == TUTTI_STEP_SMOOTH && unit->takes)
        smooth(s, &u, input);
    if (!unit->takes) /* where outputs are solved for at the end, that is best which is best for states */
        hold(s, &u, s->method == TUTTI_STEP_CORRECT ? 0.5 : unit->at[own]);
    double *end = row_of(s, end_column(s, input));
    add_row(s, end, 1, u.value);
    add_row(s, end, 1, u.slope);
    add_row(s, end, 0.5, u.bend);
}

/* ---- what units make of them ---- */

/* exp of H times [A B 0 0; 0 0 I/H 0; 0 0 0 I/H; 0 0 0 0]: its first rows say what x and the parts of u make of x. */
static enum tutti_err propagate(struct stepper *s, const struct tutti_linear_unit *unit, double **out)
{
    size_t n = unit->states, m = unit->inputs, all = n + 3 * m;
    double *matrix = tutti_arena_array(&s->arena, all * all, sizeof *matrix);
    *out = tutti_arena_array(&s->arena, all * all, sizeof **out);
    if (!matrix || !*out)
        return tutti_fail_memory();
    for (size_t row = 0; row < n; row++) {
        for (size_t column = 0; column < n; column++)
            matrix[column * all + row] = s->h * unit->a[column * n + row];
        for (size_t column = 0; column < m; column++)
            matrix[(n + column) * all + row] = s->h * unit->b[column * n + row];
    }
    for (size_t j = 0; j < 2 * m; j++)
        matrix[(n + m + j) * all + n + j] = 1;
    return tutti_exponential(matrix, all, *out);
}

static enum tutti_err step_states(struct stepper *s, const struct tutti_linear_unit *unit, size_t first)
{
    size_t n = unit->states, m = unit->inputs, all = n + 3 * m;
    double *flow = NULL;
    if (n == 0)
        return TUTTI_OK;
    TRY(propagate(s, unit, &flow));
    for (size_t row = 0; row < n; row++) {
        double *x = row_of(s, first + row);
        for (size_t column = 0; column < n; column++)
            x[first + column] += flow[column * all + row];
        for (size_t j = 0; j < m; j++) {
            struct moving u = moving_of(s, j);
            add_row(s, x, flow[(n + j) * all + row], u.value);
            add_row(s, x, flow[(n + m + j) * all + row], u.slope);
            add_row(s, x, flow[(n + 2 * m + j) * all + row], u.bend);
        }
    }
    return TUTTI_OK;
}

/* Where the parts of a unit begin. */
struct firsts {
    size_t state, input, output;
};

/* y = C x + D u at the end; with a correction, u is what the connections bring of the outputs there. */
static void fill_outputs(struct stepper *s, const struct tutti_linear_unit *unit, const struct firsts *first)
{
    for (size_t i = 0; i < unit->outputs; i++) {
        double *y = row_of(s, column_of(s, NOW, first->output + i));
        for (size_t k = 0; k < unit->states; k++)
            add_row(s, y, unit->c[k * unit->outputs + i], row_of(s, first->state + k));
        for (size_t j = 0; j < unit->inputs; j++) {
            double d = unit->d[j * unit->outputs + i];
            if (s->method != TUTTI_STEP_CORRECT)
                add_row(s, y, d, row_of(s, end_column(s, first->input + j)));
            for (size_t o = 0; o < s->of->outputs && s->method == TUTTI_STEP_CORRECT; o++)
                y[new_column(s, o)] += d * s->of->links[o * s->of->inputs + first->input + j];
        }
    }
}

/* rows += H (A x + B u), or of their derivatives. */
static void differentiate(const struct stepper *s, const struct tutti_linear_unit *unit, const double *const *x,
                          const double *const *u, double *const *out)
{
    for (size_t row = 0; row < unit->states; row++) {
        for (size_t k = 0; k < unit->states; k++)
            add_row(s, out[row], s->h * unit->a[k * unit->states + row], x[k]);
        for (size_t j = 0; j < unit->inputs; j++)
            add_row(s, out[row], s->h * unit->b[j * unit->states + row], u[j]);
    }
}

/* y' = C x' + D u', y'' = C x'' + D u'' at the end, as far as the unit gives them. */
static enum tutti_err fill_rates(struct stepper *s, const struct tutti_linear_unit *unit, const struct firsts *first)
{
    enum { ORDERS = 3 }; /* of derivatives, 0 among them */
    size_t n = unit->states, m = unit->inputs, count = ORDERS * (n + m) + 1;
    int most = unit->gives < (int)s->order ? unit->gives : (int)s->order;
    double **rows = tutti_arena_array(&s->arena, count, sizeof *rows);
    double *room = tutti_arena_array(&s->arena, (2 * n + 2 * m + 1) * s->width, sizeof *room);
    if (!rows || !room)
        return tutti_fail_memory();
    double **x[ORDERS] = {rows, rows + n, rows + 2 * n},
           **u[ORDERS] = {rows + 3 * n, rows + 3 * n + m, rows + 3 * n + 2 * m};
    for (size_t k = 0; k < n; k++) {
        x[0][k] = row_of(s, first->state + k);
        x[1][k] = room + k * s->width;
        x[2][k] = room + (n + k) * s->width;
    }
    for (size_t j = 0; j < m; j++) {
        struct moving moves = moving_of(s, j);
        u[0][j] = row_of(s, end_column(s, first->input + j));
        u[1][j] = room + (2 * n + j) * s->width;
        u[2][j] = room + (2 * n + m + j) * s->width;
        add_row(s, u[1][j], 1, moves.slope);
        add_row(s, u[1][j], 1, moves.bend);
        add_row(s, u[2][j], 1, moves.bend);
    }
    for (int o = 1; o <= most && o < ORDERS; o++) {
        differentiate(s, unit, (const double *const *)x[o - 1], (const double *const *)u[o - 1], x[o]);
        for (size_t i = 0; i < unit->outputs; i++) {
            double *y = row_of(s, column_of(s, o == 1 ? SLOPE : BEND, first->output + i));
            for (size_t k = 0; k < n; k++)
                add_row(s, y, unit->c[k * unit->outputs + i], x[o][k]);
            for (size_t j = 0; j < m && s->method != TUTTI_STEP_CORRECT; j++)
                add_row(s, y, unit->d[j * unit->outputs + i], u[o][j]);
        }
    }
    return TUTTI_OK;
}

/* ---- the whole ---- */

static void fill_history(const struct stepper *s)
{
    for (size_t o = 0; o < s->of->outputs; o++) {
        row_of(s, column_of(s, BEFORE, o))[column_of(s, NOW, o)] = 1;
        row_of(s, column_of(s, FIRST, o))[column_of(s, BEFORE, o)] = 1;
    }
}

static enum tutti_err fill(struct stepper *s)
{
    struct firsts first = {0};
    for (size_t k = 0; k < s->of->unit_count; k++) {
        const struct tutti_linear_unit *unit = &s->of->units[k];
        for (size_t j = 0; j < unit->inputs; j++)
            lead_input(s, unit, j, first.input + j);
        TRY(step_states(s, unit, first.state));
        fill_outputs(s, unit, &first);
        TRY(fill_rates(s, unit, &first));
        first = (struct firsts){first.state + unit->states, first.input + unit->inputs, first.output + unit->outputs};
    }
    fill_history(s);
    return TUTTI_OK;
}

/* Solves (I - M) X = R for the rows `first` ... of `next`, M their coefficients at `from`: R, over the state, becomes X. */
static enum tutti_err eliminate(struct stepper *s, const size_t *rows, size_t count, const double *feedback)
{
    size_t columns = s->width;
    double *matrix = tutti_arena_array(&s->arena, count * count, sizeof *matrix);
    double *right = tutti_arena_array(&s->arena, count * columns, sizeof *right);
    int *pivots = tutti_arena_array(&s->arena, count, sizeof *pivots), n = (int)count, wide = (int)columns, info = 0;
    if (!matrix || !right || !pivots)
        return tutti_fail_memory();
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++)
            matrix[j * count + i] = (i == j) - feedback[j * count + i];
        for (size_t c = 0; c < columns; c++)
            right[c * count + i] = row_of(s, rows[i])[c];
    }
    if (count > 0)
        dgesv_(&n, &wide, matrix, &n, pivots, right, &n, &info);
    if (info != 0)
        return tutti_fail(TUTTI_ERR_SOLVER, "the outputs in a loop do not determine each other");
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < columns; c++)
            row_of(s, rows[i])[c] = right[c * count + i];
    return TUTTI_OK;
}

/* The outputs at the next point, in terms of the state; then all that follows them. */
static enum tutti_err solve_new(struct stepper *s)
{
    size_t n = s->of->outputs;
    double *feedback = tutti_arena_array(&s->arena, n * n, sizeof *feedback);
    size_t *rows = tutti_arena_array(&s->arena, n, sizeof *rows);
    if (!feedback || !rows)
        return tutti_fail_memory();
    for (size_t i = 0; i < n; i++) {
        rows[i] = column_of(s, NOW, i);
        for (size_t j = 0; j < n; j++) {
            feedback[j * n + i] = row_of(s, rows[i])[new_column(s, j)];
            row_of(s, rows[i])[new_column(s, j)] = 0;
        }
    }
    TRY(eliminate(s, rows, n, feedback));
    for (size_t r = 0; r < s->size; r++)
        for (size_t j = 0; j < n; j++) {
            double *row = row_of(s, r), factor = row[new_column(s, j)];
            row[new_column(s, j)] = 0;
            add_row(s, row, factor, row_of(s, rows[j]));
        }
    return TUTTI_OK;
}

/* Rates that a correction solves for, too: y' = z' + D L y' (Andersson 2016 eq. 6.64g), with those of the history where a unit gives
 * none. */
static enum tutti_err correct_rates(struct stepper *s, enum part part)
{
    const struct tutti_linear_system *of = s->of;
    size_t n = of->outputs;
    double *feedback = tutti_arena_array(&s->arena, n * n, sizeof *feedback);
    size_t *rows = tutti_arena_array(&s->arena, n, sizeof *rows);
    bool *given = tutti_arena_array(&s->arena, n, sizeof *given);
    if (!feedback || !rows || !given)
        return tutti_fail_memory();
    struct firsts first = {0};
    for (size_t k = 0; k < of->unit_count; k++) {
        const struct tutti_linear_unit *unit = &of->units[k];
        for (size_t i = 0; i < unit->outputs; i++) {
            rows[first.output + i] = column_of(s, part, first.output + i);
            given[first.output + i] = unit->gives >= (part == SLOPE ? 1 : 2);
            for (size_t o = 0; o < n; o++)
                for (size_t j = 0; j < unit->inputs; j++)
                    feedback[o * n + first.output + i] += given[first.output + i]
                                                              ? unit->d[j * unit->outputs + i] *
                                                                    of->links[o * of->inputs + first.input + j]
                                                              : 0;
        }
        first = (struct firsts){0, first.input + unit->inputs, first.output + unit->outputs};
    }
    static const double weights[2][3] = {{1, -1, 0}, {1.5, -2, 0.5}}, bends[3] = {1, -2, 1};
    const double *weigh = part == BEND ? bends : weights[s->order - 1];
    for (size_t o = 0; o < n; o++) /* of the points, the newest of which is the next one */
        for (int p = 0; p < 3 && !given[o]; p++) {
            double *row = row_of(s, rows[o]);
            if (p == 0)
                add_row(s, row, weigh[0], row_of(s, column_of(s, NOW, o)));
            else
                row[column_of(s, (enum part)(NOW + p - 1), o)] += weigh[p];
        }
    return eliminate(s, rows, n, feedback);
}

/* One row: what of it follows from the state goes to `right`, what from multipliers, with that of compliance, to `matrix`. Of positions
 * g, with gamma = 1 / (1 + 4 tau / h), G v(n+1) + 4 gamma eps / h l = -4 gamma / h g(n) + gamma G v(n); of velocities alone,
 * G v(n+1) + eps / h l = 0 (Lacoursiere 2017 eq. 12 to 14). */
static void fill_constraint(const struct stepper *s, size_t r, double *matrix, double *right)
{
    const struct tutti_linear_constraints *of = &s->of->constraints;
    double gamma = of->holonomic[r] ? 1 / (1 + 4 * of->relax_time) : 0.25, pull = of->holonomic[r] ? gamma : 0;
    for (size_t o = 0; o < s->of->outputs; o++) {
        double velocity = of->velocities[o * of->rows + r], position = of->positions[o * of->rows + r];
        const double *next = row_of(s, column_of(s, NOW, o));
        for (size_t c = 0; c < s->size && velocity != 0; c++)
            right[c * of->rows + r] -= velocity * next[c];
        for (size_t q = 0; q < of->rows; q++)
            matrix[q * of->rows + r] += velocity * next[multiplier_column(s, q)];
        right[column_of(s, NOW, o) * of->rows + r] += pull * velocity - 4 * pull / s->h * position;
    }
    matrix[r * of->rows + r] += 4 * gamma * of->compliances[r] / s->h;
}

/* The multipliers, in terms of the state; then all that follows them. */
static enum tutti_err solve_constraints(struct stepper *s)
{
    size_t count = count_rows(s);
    double *matrix = tutti_arena_array(&s->arena, count * count, sizeof *matrix);
    double *right = tutti_arena_array(&s->arena, count * s->size, sizeof *right);
    int *pivots = tutti_arena_array(&s->arena, count, sizeof *pivots), n = (int)count, wide = (int)s->size, info = 0;
    if (!matrix || !right || !pivots)
        return tutti_fail_memory();
    for (size_t r = 0; r < count; r++)
        fill_constraint(s, r, matrix, right);
    if (count > 0)
        dgesv_(&n, &wide, matrix, &n, pivots, right, &n, &info);
    if (info != 0)
        return tutti_fail(TUTTI_ERR_SOLVER, "constraints do not determine their forces");
    for (size_t row = 0; row < s->size; row++)
        for (size_t r = 0; r < count; r++) {
            double factor = row_of(s, row)[multiplier_column(s, r)];
            for (size_t c = 0; c < s->size && factor != 0; c++)
                row_of(s, row)[c] += factor * right[c * count + r];
        }
    return TUTTI_OK;
}

static enum tutti_err find_radius(struct stepper *s, double *radius)
{
    double *matrix = tutti_arena_array(&s->arena, s->size * s->size, sizeof *matrix);
    if (!matrix)
        return tutti_fail_memory();
    for (size_t r = 0; r < s->size; r++)
        for (size_t c = 0; c < s->size; c++)
            matrix[c * s->size + r] = row_of(s, r)[c];
    for (size_t i = 0; i < s->size * s->size; i++)
        if (!isfinite(matrix[i]))
            return tutti_fail(TUTTI_ERR_SOLVER, "numbers leave their range");
    return tutti_spectral_radius(matrix, s->size, NULL, NULL, radius);
}

static enum tutti_err begin(struct stepper *s)
{
    size_t inputs = 1;
    s->size = s->of->states + PARTS * s->of->outputs + s->of->inputs;
    s->width = s->size + s->of->outputs + count_rows(s);
    for (size_t k = 0; k < s->of->unit_count; k++)
        inputs = s->of->units[k].inputs > inputs ? s->of->units[k].inputs : inputs;
    if (s->size > MOST_ROWS)
        return tutti_fail(TUTTI_ERR_LIMIT, "the step has %zu states, outputs and points before; the limit is %d",
                          s->size, MOST_ROWS);
    s->next = tutti_arena_array(&s->arena, s->size * s->width, sizeof *s->next);
    s->rows = tutti_arena_array(&s->arena, 3 * inputs * s->width, sizeof *s->rows);
    return s->next && s->rows ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err compute_step(struct stepper *s, double *radius)
{
    TRY(begin(s));
    TRY(fill(s));
    TRY(solve_new(s));
    TRY(solve_constraints(s));
    for (unsigned o = 1; o <= s->order && s->method == TUTTI_STEP_CORRECT; o++)
        TRY(correct_rates(s, o == 1 ? SLOPE : BEND));
    return find_radius(s, radius);
}

enum tutti_err tutti_step_radius(const struct tutti_linear_system *system, enum tutti_step_method method,
                                 unsigned order, double h, double *radius)
{
    struct stepper s = {
        .of = system, .method = method, .order = order, .h = h, .in_places = method == TUTTI_STEP_SEIDEL};
    enum tutti_err err = compute_step(&s, radius);
    tutti_arena_fini(&s.arena);
    return err;
}

/* ---- sweeps, and the equations themselves ---- */

/* The coefficients of NEW in the outputs: those of units before, if these are known by then, count on the other side. */
static enum tutti_err compute_sweep(struct stepper *s, bool in_places, double *radius)
{
    const struct tutti_linear_system *of = s->of;
    size_t n = of->outputs, row = 0;
    int count = (int)n, info = 0;
    TRY(begin(s));
    TRY(fill(s));
    double *known = tutti_arena_array(&s->arena, n * n, sizeof *known);
    double *guessed = tutti_arena_array(&s->arena, n * n, sizeof *guessed);
    uint32_t *places = tutti_arena_array(&s->arena, n, sizeof *places);
    int *pivots = tutti_arena_array(&s->arena, n, sizeof *pivots);
    if (!known || !guessed || !places || !pivots)
        return tutti_fail_memory();
    for (size_t k = 0; k < of->unit_count; k++)
        for (size_t i = 0; i < of->units[k].outputs; i++)
            places[row++] = of->units[k].place;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double value = row_of(s, column_of(s, NOW, i))[new_column(s, j)];
            bool before = in_places && places[j] < places[i];
            known[j * n + i] = (i == j) - (before ? value : 0);
            guessed[j * n + i] = before ? 0 : value;
        }
    if (n > 0)
        dgesv_(&count, &count, known, &count, pivots, guessed, &count, &info);
    if (info != 0)
        return tutti_fail(TUTTI_ERR_SOLVER, "a sweep has no end");
    return tutti_spectral_radius(guessed, n, NULL, NULL, radius);
}

enum tutti_err tutti_sweep_radius(const struct tutti_linear_system *system, bool in_places, double h, double *radius)
{
    struct stepper s = {.of = system, .method = TUTTI_STEP_IMPLICIT, .order = 1, .h = h};
    enum tutti_err err = compute_sweep(&s, in_places, radius);
    tutti_arena_fini(&s.arena);
    return err;
}

/* Column k of the closed loop: what x_k alone makes of x'. */
struct closed {
    double *loop;  /* (I - D L)^-1 C, outputs times states */
    double *rates; /* the matrix, states times states */
    double *feed;  /* I - D L */
    int *pivots;
};

static void close_loop(const struct tutti_linear_system *of, struct closed *closed)
{
    struct firsts first = {0};
    size_t n = of->outputs;
    for (size_t k = 0; k < of->unit_count; k++) {
        const struct tutti_linear_unit *unit = &of->units[k];
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
        first = (struct firsts){first.state + unit->states, first.input + unit->inputs, first.output + unit->outputs};
    }
}

static void feed_back(const struct tutti_linear_system *of, struct closed *closed)
{
    struct firsts first = {0};
    for (size_t k = 0; k < of->unit_count; k++) {
        const struct tutti_linear_unit *unit = &of->units[k];
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
        first = (struct firsts){first.state + unit->states, first.input + unit->inputs, 0};
    }
}

static enum tutti_err compute_exact(const struct tutti_linear_system *of, double h, struct tutti_arena *arena,
                                    double *radius)
{
    size_t n = of->outputs, states = of->states;
    struct closed closed = {.loop = tutti_arena_array(arena, n * states, sizeof(double)),
                            .rates = tutti_arena_array(arena, states * states, sizeof(double)),
                            .feed = tutti_arena_array(arena, n * n, sizeof(double)),
                            .pivots = tutti_arena_array(arena, n, sizeof(int))};
    double *re = tutti_arena_array(arena, states, sizeof *re), *im = tutti_arena_array(arena, states, sizeof *im),
           unused;
    if (!closed.loop || !closed.rates || !closed.feed || !closed.pivots || !re || !im)
        return tutti_fail_memory();
    int count = (int)n, columns = (int)states, info = 0;
    close_loop(of, &closed);
    if (n > 0 && states > 0)
        dgesv_(&count, &columns, closed.feed, &count, closed.pivots, closed.loop, &count, &info);
    if (info != 0)
        return tutti_fail(TUTTI_ERR_SOLVER, "the outputs in a loop do not determine each other");
    feed_back(of, &closed);
    TRY(tutti_spectral_radius(closed.rates, states, re, im, &unused));
    *radius = 0;
    for (size_t i = 0; i < states; i++)
        *radius = fmax(*radius, exp(h * re[i]));
    return TUTTI_OK;
}

enum tutti_err tutti_exact_radius(const struct tutti_linear_system *system, double h, double *radius)
{
    struct tutti_arena arena = {0};
    enum tutti_err err = compute_exact(system, h, &arena, radius);
    tutti_arena_fini(&arena);
    return err;
}

enum tutti_err tutti_step_is_stable(const struct tutti_linear_system *system, enum tutti_step_method method,
                                    unsigned order, double h, double *radius, bool *stable)
{
    double exact = 1;
    if (method != TUTTI_STEP_KINEMATIC)
        TRY(tutti_exact_radius(system, h, &exact));
    TRY(tutti_step_radius(system, method, order, h, radius));
    *stable = tutti_radius_is_stable(*radius / pow(fmax(exact, 1), 1.1));
    return TUTTI_OK;
}
