/* SPDX-License-Identifier: MIT */
/* program.h - a component that is not an FMU: functions of the calling program, run beside FMUs in a system.
 *
 * Such a component has numeric variables, and either a function that makes steps or one that computes the derivatives
 * of its states, which a solver of Tutti integrates. It is written as a folder that looks like an FMU; the folder's
 * name is used wherever an FMU is named ("controller=FOLDER"). Its functions are called in this process only: a run in
 * other processes or on other machines cannot use it. */
#ifndef TUTTI_PROGRAM_H
#define TUTTI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <tutti/err.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tutti_program_role {
    TUTTI_PROGRAM_INPUT,
    TUTTI_PROGRAM_OUTPUT,
    TUTTI_PROGRAM_PARAMETER,
    TUTTI_PROGRAM_STATE, /* continuous; `derivatives` gives its derivative */
};

struct tutti_program_variable {
    const char *name;               /* not empty; unique */
    const char *unit, *description; /* NULL: none */
    enum tutti_program_role role;
    double start; /* finite */
};

/* Functions return 0, or an error after they have called tutti_extra_fail; an error ends the run. `values` contains all
 * variables, in the order of the table. Exactly one of `step` and, if there are states, `derivatives` is given. */
struct tutti_program {
    const char *name; /* name of the model */
    const struct tutti_program_variable *variables;
    size_t variable_count;
    void *context;
    bool feeds_through; /* outputs may depend on inputs directly; false: on states and time only */
    /* `step` keeps all its state in `values`, so that it can be rolled back and instantiated more than once */
    bool has_no_memory;

    /* Called once the start values are set; computes the outputs that follow from them. NULL: nothing to compute. */
    enum tutti_err (*start)(void *context, double t, double *values);
    /* Steps from t to t + h with constant inputs; sets the outputs. */
    enum tutti_err (*step)(void *context, double t, double h, double *values);
    /* derivatives[i] becomes the derivative of state i. Must not change anything else. */
    enum tutti_err (*derivatives)(void *context, double t, const double *values, double *derivatives);
    /* Computes the outputs of a component with states from its states and inputs. NULL: the component has no outputs
     * besides its states. */
    enum tutti_err (*outputs)(void *context, double t, double *values);
};

struct tutti_program_unit;

/* Writes the component as `folder`, which must not exist; its parent folder must. `program` and its tables are copied;
 * functions and context are borrowed. *out is set on success only. ARGUMENT, IO, LOAD. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_program_open(struct tutti_program_unit **out,
                                                          const struct tutti_program *program, const char *folder);
/* Releases the component; call it when no run uses it any more. The folder stays. NULL is allowed. */
TUTTI_API void tutti_program_close(struct tutti_program_unit *unit);

#ifdef __cplusplus
}
#endif
#endif
