/* SPDX-License-Identifier: MIT */
/* display_options.h - options of what is told, by name: those that are not options of a run. */
#ifndef TT_APPS_DESCRIBE_DISPLAY_OPTIONS_H
#define TT_APPS_DESCRIBE_DISPLAY_OPTIONS_H

#include <stdbool.h>
#include <tutti/tell.h>

#include "base/fail.h"

struct tt_display_options {
    const struct tutti_tell_option *options; /* borrowed */
    size_t count;
};

/* ARGUMENT for a name that is not among `names`, which NULL ends. */
TUTTI_CHECKED enum tutti_err tt_describe_check_options(const struct tt_display_options *given,
                                                       const char *const *names);
/* The last value of an option; NULL: it is not given. */
const char *tt_describe_option_value(const struct tt_display_options *given, const char *name);
/* All values, in order; returns how many. `values` has room for given->count. */
size_t tt_describe_option_values(const struct tt_display_options *given, const char *name, const char **values);
/* Is it given, and not "false"? ARGUMENT for another word than true and false. */
TUTTI_CHECKED enum tutti_err tt_describe_option_flag(const struct tt_display_options *given, const char *name,
                                                     bool *flag);
/* A number; *value is left alone if it is not given. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_describe_option_number(const struct tt_display_options *given, const char *name,
                                                       double *value);

#endif
