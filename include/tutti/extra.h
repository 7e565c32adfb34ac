/* SPDX-License-Identifier: MIT */
/* extra.h - further differential equations, integrated together with a Model Exchange FMU.
 *
 *     p' = r(t, p, FMU at t)
 *
 * They are solved in one system with the FMU's own, x' = f(t, x, u): same solver, same steps, same error control. They may
 * look at the FMU, also at its derivatives (tutti_model_linearize), but not act upon it. examples/chromatography integrates
 * a Lyapunov equation this way. */
#ifndef TUTTI_EXTRA_H
#define TUTTI_EXTRA_H

#include <stddef.h>
#include <tutti/err.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The FMU, standing at some point of its solution. Only good inside the functions of a struct tutti_extra. */
struct tutti_model;

/* A sparse matrix by columns: values[k] for starts[c] <= k < starts[c + 1] is the entry in row rows[k] of column c; rows
 * ascend. Zeros may be among the values. */
struct tutti_matrix {
    size_t row_count, column_count;
    const int *starts, *rows;
    const double *values;
};

/* x' = A x + B u, y = C x + D u, about the point at hand: states, continuous Real inputs, continuous Real outputs. */
struct tutti_state_space {
    struct tutti_matrix a, b, c, d;
};

/* Which of them are wanted. */
enum { TUTTI_WANT_A = 1, TUTTI_WANT_B = 2, TUTTI_WANT_C = 4, TUTTI_WANT_D = 8 };

TUTTI_API size_t tutti_model_state_count(const struct tutti_model *model);
/* The FMU's states at the point at hand. */
TUTTI_API const double *tutti_model_states(const struct tutti_model *model);
/* A variable of the FMU at the point at hand: one Float64, by its name. ARGUMENT for others, and for names that are none. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_model_get(struct tutti_model *model, const char *name, double *value);
/* Linearises at the point at hand, by directional derivatives where the FMU has them, else by differences. Patterns are
 * the same in every call; the memory is the model's, and values are good until the next call. Matrices that are not
 * wanted have a pattern, but stale values. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_model_linearize(struct tutti_model *model, unsigned want,
                                                             struct tutti_state_space *out);

/* Records a failure of one of your functions, for the message of the run; returns `err`. */
TUTTI_API enum tutti_err tutti_extra_fail(enum tutti_err err, const char *format, ...) TUTTI_PRINTF(2, 3);

/* What is integrated. Functions return 0 or an error, for which they called tutti_extra_fail. All pointers stay yours. */
struct tutti_extra {
    size_t count; /* equations */
    void *context;

    /* p at the start of the run, when the FMU is initialised. NULL: zeros. */
    enum tutti_err (*start)(void *context, struct tutti_model *model, double t, double *p);
    enum tutti_err (*rhs)(void *context, struct tutti_model *model, double t, const double *p, double *dp);
    /* dr/dp for implicit solvers: its pattern, by columns, asked for once, when there is no point at hand yet (of the FMU's
     * matrices there are the patterns: want = 0); then its values, in that order. NULL: found by differences, as a full
     * matrix. (What r depends on the FMU's states is left out of the solver's Jacobian: it slows
     * Newton's method a little and changes no result. The solver rodas, which needs it, is refused.) */
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
