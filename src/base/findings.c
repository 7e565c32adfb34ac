/* SPDX-License-Identifier: MIT */
#include "base/findings.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"

void tt_findings_add(struct tt_findings *findings, enum tt_severity severity, const char *file, unsigned line,
                     const char *format, ...)
{
    if (!findings)
        return;
    if (severity == TUTTI_FINDING_ERROR)
        findings->errors++;
    else
        findings->warnings++;
    if (!findings->report)
        return;
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tt_text_make_printable(text);
    tt_text_spell_options(text);
    findings->report(findings->context, severity, file, line, text);
}

/* Counts one more of a kind; false if its lines are used up. */
static bool findings_admit(struct tt_limited_findings *report, enum tt_severity severity, unsigned line,
                           const char *format)
{
    unsigned i = 0;
    while (i < report->kind_count && report->kinds[i].format != format)
        i++;
    if (i == TUTTI_DESC_REPORT_KINDS)
        i--; /* the table is larger than the number of kinds; if it ever overflows, the last kinds share a count */
    if (i == report->kind_count) {
        report->kinds[i].format = format;
        report->kinds[i].severity = severity;
        report->kinds[i].first_line = line;
        report->kind_count++;
    }
    return ++report->kinds[i].count <= TUTTI_DESC_REPORT_EACH;
}

void tt_findings_limited_add_v(struct tt_limited_findings *report, enum tt_severity severity, unsigned line,
                               const char *what, const char *name, const char *format, va_list args)
{
    if (!report->findings)
        return;
    if (!findings_admit(report, severity, line, format)) {
        if (severity == TUTTI_FINDING_ERROR)
            report->findings->errors++;
        else
            report->findings->warnings++;
        return;
    }
    char text[1536];
    vsnprintf(text, sizeof text, format, args);
    if (what && name)
        tt_findings_add(report->findings, severity, report->file, line, "%s \"%s\": %s", what, name, text);
    else
        tt_findings_add(report->findings, severity, report->file, line, "%s%s%s", what ? what : "", what ? ": " : "",
                        text);
}

void tt_findings_limited_add(struct tt_limited_findings *report, enum tt_severity severity, unsigned line,
                             const char *what, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tt_findings_limited_add_v(report, severity, line, what, name, format, args);
    va_end(args);
}

void tt_findings_limited_end(struct tt_limited_findings *report)
{
    for (unsigned i = 0; i < report->kind_count; i++) {
        if (report->kinds[i].count <= TUTTI_DESC_REPORT_EACH)
            continue;
        unsigned hidden = report->kinds[i].count - TUTTI_DESC_REPORT_EACH;
        /* The line below counts as one, and every hidden finding is counted already. */
        if (report->kinds[i].severity == TUTTI_FINDING_ERROR)
            report->findings->errors--;
        else
            report->findings->warnings--;
        tt_findings_add(report->findings, report->kinds[i].severity, report->file, report->kinds[i].first_line,
                        "%u more like the one in line %u are not listed", hidden, report->kinds[i].first_line);
    }
}
