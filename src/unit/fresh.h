/* SPDX-License-Identifier: MIT */
/* fresh.h - further instances of an FMU that a run uses, made to test the FMU.
 *
 * They get the settings and inputs of the run's unit and start at the run's start. They run in a child process, since
 * some FMUs cannot be instantiated twice, crash or hang; FMUs that already run in a separate process are instantiated
 * there. A confined process has no children, and FMUs with canBeInstantiatedOnlyOncePerProcess have no further
 * instances: these are not tested. */
#ifndef TT_UNIT_FRESH_H
#define TT_UNIT_FRESH_H

#include "unit/unit.h"

enum { TUTTI_MOST_PROBES = 64, TUTTI_MOST_NOTED = 64 };

/* Scalar continuous Float64 variables of an FMU that show what it does: states, then outputs. */
struct tt_probes {
    uint32_t variables[TUTTI_MOST_PROBES], references[TUTTI_MOST_PROBES];
    size_t count, states; /* of these, the first ones */
};

void tt_fresh_list_probes(struct tt_probes *shown, const struct tt_description *desc);
TUTTI_CHECKED enum tutti_err tt_fresh_read_probes(const struct tt_probes *shown, struct tt_unit *unit, double *values,
                                                  bool *refused);
/* Values are equal if their bits are. */
uint64_t tt_fresh_probe_bits(double value);

struct tt_fresh {
    struct tt_fmu *fmu; /* borrowed, as everything here is */
    struct tt_unit_options options;
    struct tt_experiment_setup setup;
    const struct tt_setting *settings;
    size_t setting_count;
    uint32_t noted[TUTTI_MOST_NOTED]; /* references of Float64 variables that the unit was given */
    double notes[TUTTI_MOST_NOTED];   /* their last values */
    size_t note_count;
};

/* For instances of the FMU as a unit with these options is; without notes. */
struct tt_fresh tt_fresh_make(struct tt_fmu *fmu, const struct tt_unit_options *options,
                              const struct tt_experiment_setup *setup);
/* Creates it for those of `unit`. *out becomes NULL if none can be created, or none are needed. */
TUTTI_CHECKED enum tutti_err tt_fresh_new(struct tt_fresh **out, const struct tt_unit *unit,
                                          const struct tt_unit_options *options,
                                          const struct tt_experiment_setup *setup);
/* Values that the unit is given. */
void tt_fresh_note(struct tt_fresh *fresh, const struct tt_block *block);
/* The last value of a variable; NAN: it was not noted. */
double tt_fresh_recall(const struct tt_fresh *fresh, uint32_t reference);

/* A further instance, at the end of its initialisation; free it with tt_unit_free. */
TUTTI_CHECKED enum tutti_err tt_fresh_begin(const struct tt_fresh *fresh, struct tt_unit **unit);
/* Brings it from there to its first step: with events, then with the recorded inputs. */
TUTTI_CHECKED enum tutti_err tt_fresh_settle(const struct tt_fresh *fresh, struct tt_unit *unit);

/* Calls `test`, which creates such instances, in their process, and returns its result: the probe that shows a fault;
 * TUTTI_MOST_PROBES: none, or no result. */
size_t tt_fresh_test(const struct tt_fresh *fresh, size_t (*test)(void *context), void *context);

#endif
