/* SPDX-License-Identifier: MIT */
/* findings.h - faults in a file that do not make it unusable.
 *
 * Readers continue where they can and report here; `tutti check` prints every line, `tutti run` warns once. */
#ifndef TT_BASE_FINDINGS_H
#define TT_BASE_FINDINGS_H

#include "base/fail.h"

enum tt_severity { TUTTI_FINDING_ERROR, TUTTI_FINDING_WARNING };

struct tt_findings {
    /* Receives a finding. `line` is 0 if unknown. Texts are valid only during the call. */
    void (*report)(void *context, enum tt_severity severity, const char *file, unsigned line, const char *text);
    void *context;
    unsigned errors, warnings; /* counted before report is called */
};

/* Count and report; `findings` may be NULL, `report` too (then it only counts). */
void tt_findings_add(struct tt_findings *findings, enum tt_severity severity, const char *file, unsigned line,
                     const char *format, ...) TUTTI_PRINTF(5, 6);

#endif
