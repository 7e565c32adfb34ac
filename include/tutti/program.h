/* SPDX-License-Identifier: MIT */
/* program.h - a unit that is not an FMU: functions of the program that runs it, beside FMUs in a system.
 *
 * A unit has variables, all numbers, and either a function that makes steps, or one that gives the derivatives of its states, which a
 * solver of Tutti then integrates. It is written as a folder that looks like an FMU, whose name goes where those of FMUs go
 * ("controller=FOLDER"); its functions are called in this process only: a run in other processes or on other machines cannot have it. */
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
    const char *name;               /* not empty, and of no other variable */
    const char *unit, *description; /* NULL: none */
    enum tutti_program_role role;
    double start; /* finite */
};

/* Functions return 0 or an error, for which they called tutti_extra_fail; it ends the run. `values` has all variables, in the order of
 * the table. Either `step` or, if there are states, `derivatives` is given. */
struct tutti_program {
    const char *name; /* of the model */
    const struct tutti_program_variable *variables;
    size_t variable_count;
    void *context;
    bool feeds_through; /* outputs may follow inputs at once; else only states and time */
    /* All that `step` remembers is in `values`: it can be taken back, and more than one instance may be made. */
    bool has_no_memory;

    /* Once the start values are there: outputs that follow from them. NULL: nothing to compute. */
    enum tutti_err (*start)(void *context, double t, double *values);
    /* From t to t + h, with the inputs as they are: new outputs. */
    enum tutti_err (*step)(void *context, double t, double h, double *values);
    /* derivatives[i] becomes that of the i-th state. Nothing else may change. */
    enum tutti_err (*derivatives)(void *context, double t, const double *values, double *derivatives);
    /* Outputs of a unit with states, from its states and inputs. NULL: states are outputs enough. */
    enum tutti_err (*outputs)(void *context, double t, double *values);
};

struct tutti_program_unit;

/* Writes the unit as `folder`, which must not exist, and whose parent must. `program` and its tables are copied; functions and context
 * are borrowed. *out is set on success only. ARGUMENT, IO, LOAD. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_program_open(struct tutti_program_unit **out,
                                                          const struct tutti_program *program, const char *folder);
/* When no run uses it any more. The folder stays. NULL is fine. */
TUTTI_API void tutti_program_close(struct tutti_program_unit *unit);

#ifdef __cplusplus
}
#endif
#endif
