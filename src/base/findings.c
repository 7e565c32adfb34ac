/* SPDX-License-Identifier: MIT */
#include "base/findings.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"

void tutti_findings_add(struct tutti_findings *findings, enum tutti_severity severity, const char *file, unsigned line,
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
    tutti_str_make_printable(text);
    tutti_spelling_apply(text);
    findings->report(findings->context, severity, file, line, text);
}
