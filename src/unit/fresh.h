/* SPDX-License-Identifier: MIT */
/* fresh.h - further instances of an FMU that a run uses, made to test the FMU.
 *
 * They get the settings and inputs of the run's unit and start at the run's start. They live in a child process, since some FMUs cannot be
 * instantiated twice, crash or hang; FMUs that run in a process of their own anyway are instantiated there. A confined process has no
 * children, and FMUs with canBeInstantiatedOnlyOncePerProcess have no further instances: these are not tested. */
#ifndef TUTTI_UNIT_FRESH_H
#define TUTTI_UNIT_FRESH_H

#include "unit/unit.h"

enum { TUTTI_MOST_PROBES = 64, TUTTI_MOST_NOTED = 64 };

/* Scalar continuous Float64 variables of an FMU that show what it does: states, then outputs. */
struct tutti_probes {
    uint32_t variables[TUTTI_MOST_PROBES], references[TUTTI_MOST_PROBES];
    size_t count, states; /* of these, the first ones */
};

void tutti_probes_list(struct tutti_probes *shown, const struct tutti_desc *desc);
TUTTI_CHECKED enum tutti_err tutti_probes_read(const struct tutti_probes *shown, struct tutti_unit *unit,
                                               double *values, bool *refused);
/* Values are the same if their bits are. */
uint64_t tutti_probes_bits(double value);

struct tutti_fresh {
    struct tutti_fmu *fmu; /* borrowed, as everything here is */
    struct tutti_unit_options options;
    struct tutti_experiment_setup setup;
    const struct tutti_setting *settings;
    size_t setting_count;
    uint32_t noted[TUTTI_MOST_NOTED]; /* references of Float64 variables that the unit was given */
    double notes[TUTTI_MOST_NOTED];   /* their last values */
    size_t note_count;
};

/* For instances of the FMU as a unit with these options is; without notes. */
struct tutti_fresh tutti_fresh_make(struct tutti_fmu *fmu, const struct tutti_unit_options *options,
                                    const struct tutti_experiment_setup *setup);
/* For those of `unit`. *out becomes NULL where none can be made, or none are wanted. */
TUTTI_CHECKED enum tutti_err tutti_fresh_new(struct tutti_fresh **out, const struct tutti_unit *unit,
                                             const struct tutti_unit_options *options,
                                             const struct tutti_experiment_setup *setup);
/* Values that the unit is given. */
void tutti_fresh_note(struct tutti_fresh *fresh, const struct tutti_block *block);
/* The last value of a variable; NAN: it was not noted. */
double tutti_fresh_recall(const struct tutti_fresh *fresh, uint32_t reference);

/* A further instance, at the end of its initialisation; free it with tutti_unit_free. */
TUTTI_CHECKED enum tutti_err tutti_fresh_begin(const struct tutti_fresh *fresh, struct tutti_unit **unit);
/* From there to its first step: with events, then with what was noted. */
TUTTI_CHECKED enum tutti_err tutti_fresh_settle(const struct tutti_fresh *fresh, struct tutti_unit *unit);

/* Calls `test`, which makes such instances, where they live, and returns its result: which probe shows a fault; TUTTI_MOST_PROBES: none, also where
 * there is no result. */
size_t tutti_fresh_test(const struct tutti_fresh *fresh, size_t (*test)(void *context), void *context);

#endif
