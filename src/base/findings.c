/* SPDX-License-Identifier: MIT */
#include "base/findings.h"

#include <stdarg.h>
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
