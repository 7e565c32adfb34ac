/* SPDX-License-Identifier: MIT */
/* findings.h - faults in a file that do not make it unusable.
 *
 * Readers continue where they can and report here; `tutti check` prints every line, `tutti run` warns once. */
#ifndef TT_BASE_FINDINGS_H
#define TT_BASE_FINDINGS_H

#include <stdarg.h>

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

/* Findings in bounded number: a file with the same fault in 90,000 variables gives some dozens of lines and one with the number of the
 * others. */

enum { TUTTI_DESC_REPORT_KINDS = 128, TUTTI_DESC_REPORT_EACH = 40 };

struct tt_limited_findings {
    const char *file;
    struct tt_findings *findings; /* NULL: they are not wanted */
    unsigned kind_count;
    struct {
        const char *format; /* what is reported in the same words is of the same kind */
        enum tt_severity severity;
        unsigned count, first_line;
    } kinds[TUTTI_DESC_REPORT_KINDS];
};

/* Adds a finding. `format` must be a literal: its address identifies the kind. The text is prefixed with `what "name":
 * `, with `what: ` if name is NULL, and with nothing if `what` is NULL. */
void tt_findings_limited_add(struct tt_limited_findings *report, enum tt_severity severity, unsigned line,
                             const char *what, const char *name, const char *format, ...) TUTTI_PRINTF(6, 7);
void tt_findings_limited_add_v(struct tt_limited_findings *report, enum tt_severity severity, unsigned line,
                               const char *what, const char *name, const char *format, va_list args) TUTTI_PRINTF(6, 0);
/* Says how many of each kind were left out. */
void tt_findings_limited_end(struct tt_limited_findings *report);

#endif
