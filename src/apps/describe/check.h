/* SPDX-License-Identifier: MIT */
/* check.h - everything that is wrong with FMUs and systems, each thing once. */
#ifndef TT_APPS_DESCRIBE_CHECK_H
#define TT_APPS_DESCRIBE_CHECK_H

#include <tutti/tell.h>

#include "base/findings.h"

/* Valid during the call that receives it. */
struct tt_check_finding {
    enum tt_severity severity;
    const char *file; /* NULL: `text` names the place */
    unsigned line;    /* 0: none */
    const char *text;
    const char *const *units; /* that it is about */
    size_t unit_count;
};

struct tt_check_counts {
    unsigned errors, warnings;
};

/* Checks files. `how`: TUTTI_CHECK_.... Files that cannot be read are findings, too. ARGUMENT: no file is named.
 * MEMORY: the findings are incomplete. */
TUTTI_CHECKED enum tutti_err tt_check_run(const struct tutti_run_options *options, unsigned how,
                                          void (*tell)(void *context, const struct tt_check_finding *finding),
                                          void *context, struct tt_check_counts *counts);

/* As tt_check_run, as JSON, which belongs to the caller (tutti_tell_free). */
TUTTI_CHECKED enum tutti_err tt_check_write_json(char **json, const struct tutti_run_options *options, unsigned how,
                                                 struct tt_check_counts *counts);

#endif
