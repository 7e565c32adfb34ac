/* SPDX-License-Identifier: MIT */
/* me_inputs.h - inputs of a Model Exchange unit that move inside a step, as polynomials in time: scalars and arrays, Float64 and
 * Float32. */
#ifndef TT_UNIT_ME_INPUTS_H
#define TT_UNIT_ME_INPUTS_H

#include "fmu/instance.h"
#include "unit/unit.h"

/* A continuous input, or an element of one: u(t) = value + sum of derivatives[k - 1] (t - since)^k / k!. */
enum { ME_INPUT_ORDERS = 3 };
struct tt_me_input {
    double value, since;
    double derivatives[ME_INPUT_ORDERS];
};

struct tt_me_input_variable {
    enum tt_type type; /* Float64 or Float32 */
    uint32_t reference, variable;
    size_t first, extent; /* of its elements among the items */
};

struct tt_me_inputs {
    const struct tt_unit *unit; /* the unit that has them */
    struct tt_instance *instance;
    struct tt_me_input_variable *variables; /* by ascending type and reference; NULL: not asked for yet */
    size_t variable_count;
    struct tt_me_input *items;
    size_t count;
    /* Those with a nonzero derivative in one of their elements, for one call per type and right-hand side. */
    size_t *moving; /* variables */
    size_t moving_count;
    uint32_t *references;
    double *values; /* one per item */
    float *floats;  /* likewise */
    struct tt_input_curves curves;
    size_t *curve_of; /* per item: 1 + the curve that it follows; 0: none */
};

/* Zeroed with `unit` and `instance` set is ready. */
void tt_me_inputs_fini(struct tt_me_inputs *inputs);
/* Remembers values that were set at t; *news: one of them is new to the solution. */
TUTTI_CHECKED enum tutti_err tt_me_inputs_record(struct tt_me_inputs *inputs, double t, const struct tt_block *block,
                                                 bool *news);
/* Derivatives from t on, as of unit.h. */
TUTTI_CHECKED enum tutti_err tt_me_inputs_set_derivatives(struct tt_me_inputs *inputs, double t,
                                                          const uint32_t *references, const size_t *elements,
                                                          size_t count, const int32_t *orders, const double *values,
                                                          bool *news);
/* Finds those that move, after a change that note and derivatives did not make. */
void tt_me_inputs_collect(struct tt_me_inputs *inputs);
/* Takes all values from the FMU: at the end of the initialisation. */
TUTTI_CHECKED enum tutti_err tt_me_inputs_read(struct tt_me_inputs *inputs, double t);
/* Sets all values at t in the FMU: when the unit is rolled back. */
TUTTI_CHECKED enum tutti_err tt_me_inputs_write(struct tt_me_inputs *inputs, double t);
/* Writes the inputs to a different instance of the FMU. */
TUTTI_CHECKED enum tutti_err tt_me_inputs_write_instance(struct tt_me_inputs *inputs, struct tt_instance *instance,
                                                         double t);
/* Hands the moving inputs at t to the FMU. */
TUTTI_CHECKED enum tutti_err tt_me_inputs_apply(struct tt_me_inputs *inputs, double t);
/* Sets their averages from t0 to t1. */
TUTTI_CHECKED enum tutti_err tt_me_inputs_apply_average(struct tt_me_inputs *inputs, double t0, double t1);
/* Those that are functions of time from now on, whatever is set. */
TUTTI_CHECKED enum tutti_err tt_me_inputs_attach_curves(struct tt_me_inputs *inputs,
                                                        const struct tt_input_curves *curves);
/* Value, or derivative of some order, of an item at t; of a curve 0 beyond order 1. */
double tt_me_inputs_evaluate(const struct tt_me_inputs *inputs, size_t item, double t, int order);

/* Creates the saved form: one polynomial per item. NULL when memory is out; free() releases it. */
struct tt_me_input *tt_me_inputs_saved_new(const struct tt_me_inputs *inputs);
void tt_me_inputs_save(const struct tt_me_inputs *inputs, struct tt_me_input *saved);
void tt_me_inputs_restore(struct tt_me_inputs *inputs, const struct tt_me_input *saved);

#endif
