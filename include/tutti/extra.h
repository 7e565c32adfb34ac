/* SPDX-License-Identifier: MIT */
/* extra.h - further differential equations, integrated together with a Model Exchange FMU.
 *
 *     p' = r(t, p, FMU at t)
 *
 * They are solved in one system with the FMU's own equations, x' = f(t, x, u), by one solver with common steps and
 * error control. They may read the FMU, including its derivatives (tutti_model_linearize), but must not change it.
 * examples/chromatography integrates a Lyapunov equation this way. */
#ifndef TUTTI_EXTRA_H
#define TUTTI_EXTRA_H

#include <stddef.h>
#include <tutti/err.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The FMU at one point of its solution. Valid only inside the functions of a struct tutti_extra. */
struct tutti_model;

/* A sparse matrix by columns: values[k] for starts[c] <= k < starts[c + 1] is the entry in row rows[k] of column c; rows
 * ascend. Zeros may be among the values. */
struct tutti_matrix {
    size_t row_count, column_count;
    const int *starts, *rows;
    const double *values;
};

/* x' = A x + B u, y = C x + D u, linearised at the current point: states, continuous Real inputs, continuous Real
 * outputs. */
struct tutti_state_space {
    struct tutti_matrix a, b, c, d;
};

/* The matrices that tutti_model_linearize computes. */
enum { TUTTI_WANT_A = 1, TUTTI_WANT_B = 2, TUTTI_WANT_C = 4, TUTTI_WANT_D = 8 };

TUTTI_API size_t tutti_model_state_count(const struct tutti_model *model);
/* Returns the FMU's states at the current point; the array belongs to the model. */
TUTTI_API const double *tutti_model_states(const struct tutti_model *model);
/* Reads the Float64 variable `name` of the FMU at the current point. ARGUMENT if it has a different type or does not
 * exist. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_model_get(struct tutti_model *model, const char *name, double *value);
/* Linearises at the current point, by directional derivatives if the FMU provides them, otherwise by differences. All
 * calls return equal patterns. The memory belongs to the model; values are valid until the next call. A matrix that is
 * not in `want` has a pattern and stale values. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_model_linearize(struct tutti_model *model, unsigned want,
                                                             struct tutti_state_space *out);

/* Records a failure of one of your functions as the message of the run; returns `err`. */
TUTTI_API enum tutti_err tutti_extra_fail(enum tutti_err err, const char *format, ...) TUTTI_PRINTF(2, 3);

/* The additional equations. Functions return 0, or an error after they have called tutti_extra_fail. All pointers
 * remain yours. */
struct tutti_extra {
    size_t count; /* equations */
    void *context;

    /* Computes p at the start of the run, when the FMU is initialised. NULL: zeros. */
    enum tutti_err (*start)(void *context, struct tutti_model *model, double t, double *p);
    enum tutti_err (*rhs)(void *context, struct tutti_model *model, double t, const double *p, double *dp);
    /* dr/dp for implicit solvers. `structure` returns the pattern, by columns; it is called once, before the first
     * point, when the FMU's matrices have only patterns (want = 0). `jacobian` returns the values in the order of the
     * pattern. NULL: found by differences, as a full matrix. The solver's Jacobian omits the dependence of r on the
     * FMU's states: this slows Newton's method a little and does not change results. The solver rodas, which needs that
     * part, is rejected. */
    enum tutti_err (*structure)(void *context, struct tutti_model *model, const int **starts, const int **rows);
    enum tutti_err (*jacobian)(void *context, struct tutti_model *model, double t, const double *p, double *values);

    /* Columns of the result. */
    size_t output_count;
    const char *const *output_names;
    enum tutti_err (*output)(void *context, struct tutti_model *model, double t, const double *p, double *values);
};

#ifdef __cplusplus
}
#endif
#endif
