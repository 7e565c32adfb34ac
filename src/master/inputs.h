/* SPDX-License-Identifier: MIT */
/* inputs.h - a trajectory file drives the inputs of a unit. */
#ifndef TUTTI_MASTER_INPUTS_H
#define TUTTI_MASTER_INPUTS_H

#include "system/trajectory.h"
#include "unit/unit.h"

struct tutti_inputs {
    struct tutti_table *table;
    struct tutti_trajectory *trajectory;
    struct tutti_signals signals; /* all driven inputs */
    uint32_t *variables;          /* of the signals */
    size_t variable_count;
    size_t *signal_of; /* per variable of the FMU: 1 + its place in `variables`, or 0 */
    /* Columns of Float64 inputs whose movement inside a step the FMU can take, as slopes or by intermediate update. */
    size_t *moving_columns;
    uint32_t *moving_references;
    const double **moving_slots; /* where their values at the beginning of the step are */
    double *slopes;
    size_t moving_count;
};

/* Reads `file` against `desc`. A zeroed struct without tutti_inputs_open drives nothing. */
TUTTI_CHECKED enum tutti_err tutti_inputs_open(struct tutti_inputs *inputs, const char *file, struct tutti_desc *desc);
void tutti_inputs_close(struct tutti_inputs *inputs);

/* Lays out the inputs of `unit`, which is configured and not yet initialised. */
TUTTI_CHECKED enum tutti_err tutti_inputs_bind(struct tutti_inputs *inputs, struct tutti_unit *unit);

/* For struct tutti_unit_options.moving_sample; context is the inputs. */
void tutti_inputs_sample_moving(void *context, double t, double *values);

/* Hands the values at t to the unit, and how they move until `target`, if it can take that. */
TUTTI_CHECKED enum tutti_err tutti_inputs_apply(struct tutti_inputs *inputs, struct tutti_unit *unit, double t,
                                                double target);

/* Where the current value of an input lives, or NULL if the file does not drive it. */
const void *tutti_inputs_slot(const struct tutti_inputs *inputs, uint32_t variable, uint32_t element);

#endif
