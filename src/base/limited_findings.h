/* SPDX-License-Identifier: MIT */
/* limited_findings.h - limits the number of findings: a file with one fault in 90,000 variables gives some dozens of
 * lines and one line with the number of omitted findings. */
#ifndef TT_BASE_LIMITED_FINDINGS_H
#define TT_BASE_LIMITED_FINDINGS_H

#include <stdarg.h>

#include "base/findings.h"

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
void tt_limited_findings_add(struct tt_limited_findings *report, enum tt_severity severity, unsigned line,
                             const char *what, const char *name, const char *format, ...) TUTTI_PRINTF(6, 7);
void tt_limited_findings_add_v(struct tt_limited_findings *report, enum tt_severity severity, unsigned line,
                               const char *what, const char *name, const char *format, va_list args) TUTTI_PRINTF(6, 0);
/* Says how many of each kind were left out. */
void tt_limited_findings_end(struct tt_limited_findings *report);

#endif
