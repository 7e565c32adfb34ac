/* SPDX-License-Identifier: MIT */
/* me_axis.h - variables of an FMU as an axis of a matrix: states, derivatives, inputs, outputs, one row or column per
 * scalar; arrays are several. */
#ifndef TT_UNIT_ME_AXIS_H
#define TT_UNIT_ME_AXIS_H

#include "solve/pattern.h"
#include "unit/unit.h"

struct tt_me_axis {
    size_t count;         /* variables */
    uint32_t *references; /* of each */
    uint32_t *indices;    /* into desc.vars; TUTTI_NONE if the description does not have it */
    size_t *starts;       /* count + 1: place of its first scalar on the axis */
    size_t size;          /* scalars */
};

/* Room for `count` variables, of which there are none yet. */
TUTTI_CHECKED enum tutti_err tt_me_model_axis_init(struct tt_me_axis *axis, size_t count);
void tt_me_model_axis_fini(struct tt_me_axis *axis);
/* Puts a variable at the end; `extent` scalars. */
void tt_me_model_axis_add(struct tt_me_axis *axis, uint32_t reference, uint32_t index, size_t extent);
/* All continuous Float64 variables of a causality. */
TUTTI_CHECKED enum tutti_err tt_me_model_axis_collect(struct tt_me_axis *axis, const struct tt_unit *unit,
                                                      enum tt_causality causality);
/* The name of a scalar, into `out`: "x", "x[3]"; "state 4" (with `word` "state") if it has none. */
void tt_me_model_axis_name(const struct tt_me_axis *axis, const struct tt_unit *unit, size_t i, const char *word,
                           char *out, size_t size);

/* The names of all `count` scalars, each in memory of its own; tt_me_model_axis_free_names releases them, also after a failure. */
TUTTI_CHECKED enum tutti_err tt_me_model_axis_names(const struct tt_me_axis *axis, const struct tt_unit *unit,
                                                    size_t count, const char *word, char ***out);
void tt_me_model_axis_free_names(char **names, size_t count);
/* FMI 1.0's negated aliases (scalars): from what the reference holds to the variable, and back. */
void tt_me_model_axis_negate(const struct tt_me_axis *axis, const struct tt_unit *unit, double *values);
/* Per scalar: its size where it counts; 1 unless the FMU says otherwise. The caller's (free); NULL: no memory. */
double *tt_me_model_axis_nominals(const struct tt_me_axis *axis, const struct tt_unit *unit);

/* Where the matrix d(rows)/d(columns) may be other than zero: row variable k is the unknown `unknowns[k]`, NULL if the model
 * structure does not have it. */
TUTTI_CHECKED enum tutti_err tt_me_model_axis_pattern(const struct tt_unit *unit, const struct tt_me_axis *rows,
                                                      const struct tt_unknown *const *unknowns,
                                                      const struct tt_me_axis *columns, struct tt_pattern *pattern);
/* The same of the outputs `rows`. *known becomes true if the model structure tells the dependencies of one. */
TUTTI_CHECKED enum tutti_err tt_me_model_axis_outputs_pattern(const struct tt_unit *unit, const struct tt_me_axis *rows,
                                                              const struct tt_me_axis *columns,
                                                              struct tt_pattern *pattern, bool *known);

#endif
