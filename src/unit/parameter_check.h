/* SPDX-License-Identifier: MIT */
/* parameter_check.h - checks that the parameters of an FMU have the expected values: those that were set, otherwise
 * those of its description.
 *
 * FMI permits importers to rely on the start values of the description, and most do. Some importers set all of them, so
 * that exporting tools do not notice FMUs with different values. */
#ifndef TT_UNIT_PARAMETER_CHECK_H
#define TT_UNIT_PARAMETER_CHECK_H

#include "unit/unit.h"

/* Numbers that an initialisation leaves as they are: parameters, also structural ones, with `initial` exact. */
struct tt_parameter_check {
    const struct tt_description *desc; /* borrowed */
    uint32_t *variables;
    size_t count;
    struct tt_signals expected, found; /* `found` is to be read from the unit */
};

/* Callback for parameters with other sources: true if the value is neither from the description nor from a setting. */
typedef bool tt_parameter_check_elsewhere(const void *context, uint32_t variable);

/* Called for a configured unit. `elsewhere`: NULL without other sources. On an error nothing is left to release. */
TUTTI_CHECKED enum tutti_err tt_parameter_check_init(struct tt_parameter_check *described, const struct tt_unit *unit,
                                                     const struct tt_setting *settings, size_t setting_count,
                                                     tt_parameter_check_elsewhere *elsewhere, const void *context);
void tt_parameter_check_fini(struct tt_parameter_check *described);

/* A parameter with an unexpected value. */
struct tt_parameter_difference {
    uint32_t variable;
    const void *expected, *found; /* the first value of an array that differs */
};
/* How many there are; `first` is the first of them. */
size_t tt_parameter_check_compare(const struct tt_parameter_check *described, struct tt_parameter_difference *first);

#endif
