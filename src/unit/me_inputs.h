/* SPDX-License-Identifier: MIT */
/* me_inputs.h - inputs of a Model Exchange unit that move inside a step, as polynomials in time: scalars and arrays, Float64 and
 * Float32. */
#ifndef TUTTI_UNIT_ME_INPUTS_H
#define TUTTI_UNIT_ME_INPUTS_H

#include "fmi/instance.h"
#include "unit/unit.h"

/* A continuous input, or an element of one: u(t) = value + sum of derivatives[k - 1] (t - since)^k / k!. */
enum { ME_INPUT_ORDERS = 3 };
struct me_input {
    double value, since;
    double derivatives[ME_INPUT_ORDERS];
};

struct me_input_variable {
    enum tutti_type type; /* Float64 or Float32 */
    uint32_t reference, variable;
    size_t first, extent; /* of its elements among the items */
};

struct me_inputs {
    const struct tutti_unit *unit; /* whose they are */
    struct tutti_instance *instance;
    struct me_input_variable *variables; /* by ascending type and reference; NULL: not asked for yet */
    size_t variable_count;
    struct me_input *items;
    size_t count;
    /* Those with a derivative that is not 0 in one of their elements, for one call per type and right-hand side. */
    size_t *moving; /* variables */
    size_t moving_count;
    uint32_t *references;
    double *values; /* as many as items */
    float *floats;  /* likewise */
    struct tutti_input_curves curves;
    size_t *curve_of; /* per item: 1 + the curve that it follows; 0: none */
};

/* Zeroed with `unit` and `instance` set is ready. */
void tutti_me_inputs_fini(struct me_inputs *inputs);
/* Remembers values that were set at t; *news: one of them is new to the solution. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_note(struct me_inputs *inputs, double t, const struct tutti_block *block,
                                                  bool *news);
/* Derivatives from t on, as of unit.h. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_derivatives(struct me_inputs *inputs, double t, const uint32_t *references,
                                                         const size_t *elements, size_t count, const int32_t *orders,
                                                         const double *values, bool *news);
/* Finds those that move, after a change that note and derivatives did not make. */
void tutti_me_inputs_collect(struct me_inputs *inputs);
/* Takes all values from the FMU: at the end of the initialisation. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_read(struct me_inputs *inputs, double t);
/* Hands all values at t to the FMU: when the unit goes back. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_write(struct me_inputs *inputs, double t);
/* ... to another instance of it. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_hand_to(struct me_inputs *inputs, struct tutti_instance *instance,
                                                     double t);
/* Hands the moving inputs at t to the FMU. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_apply(struct me_inputs *inputs, double t);
/* ... their averages from t0 to t1. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_apply_average(struct me_inputs *inputs, double t0, double t1);
/* Those that are functions of time from now on, whatever is set. */
TUTTI_CHECKED enum tutti_err tutti_me_inputs_follow(struct me_inputs *inputs, const struct tutti_input_curves *curves);
/* Value, or derivative of some order, of an item at t; of a curve 0 beyond order 1. */
double tutti_me_inputs_at(const struct me_inputs *inputs, size_t item, double t, int order);

/* The saved form: as many polynomials as there are items. NULL when memory is out; free() releases it. */
struct me_input *tutti_me_inputs_saved_new(const struct me_inputs *inputs);
void tutti_me_inputs_save(const struct me_inputs *inputs, struct me_input *saved);
void tutti_me_inputs_restore(struct me_inputs *inputs, const struct me_input *saved);

#endif
