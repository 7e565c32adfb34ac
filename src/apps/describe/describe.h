/* SPDX-License-Identifier: MIT */
/* describe.h - a text that is written like a file, and becomes the caller's. */
#ifndef TT_APPS_DESCRIBE_DESCRIBE_H
#define TT_APPS_DESCRIBE_DESCRIBE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <tutti/err.h>
#include <tutti/tell.h>

#include "base/fail.h"

struct tt_text_stream {
    FILE *out;
    char *text;
    size_t size;
};

/* `told->out` can be written to. tt_describe_close_text follows on success. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_describe_open_text(struct tt_text_stream *told);
/* Ends it. *text is the caller's (tutti_tell_free) if `err` is 0, which it returns otherwise; MEMORY if not all of it could be kept. */
TUTTI_CHECKED enum tutti_err tt_describe_close_text(struct tt_text_stream *told, enum tutti_err err, char **text);
/* Opens a text; `told->out` can be written to. tt_describe_close_text follows on success. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_describe_write_json(json_t *json, size_t flags, char **text);

/* Options of the output, by name: those that are not options of a run. */

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
/* Returns true if the option is given and not "false". ARGUMENT for a word other than true and false. */
TUTTI_CHECKED enum tutti_err tt_describe_option_flag(const struct tt_display_options *given, const char *name,
                                                     bool *flag);
/* A number; *value is left alone if it is not given. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_describe_option_number(const struct tt_display_options *given, const char *name,
                                                       double *value);

#endif
