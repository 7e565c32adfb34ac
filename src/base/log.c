/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"

static _Thread_local bool insists;

TUTTI_PRINTF(4, 0)
static void write_line(const struct tutti_log *log, enum tutti_log_level level, const char *origin, const char *format,
                       va_list args)
{
    char text[4096] = "";
    vsnprintf(text, sizeof text, format, args);
    tutti_str_make_printable(text);
    tutti_spelling_apply(text);
    char clean[512] = ""; /* names of files are foreign text, too */
    snprintf(clean, sizeof clean, "%s", origin ? origin : "");
    tutti_str_make_printable(clean);
    log->write(log->context, level, origin ? clean : NULL, text);
}

void tutti_log_printf(const struct tutti_log *log, enum tutti_log_level level, const char *origin, const char *format,
                      ...)
{
    va_list args;
    va_start(args, format);
    if (tutti_log_wants(log, level))
        write_line(log, level, origin, format, args);
    va_end(args);
}

void tutti_log_insist(const struct tutti_log *log, enum tutti_log_level level, const char *origin, const char *format,
                      ...)
{
    va_list args;
    va_start(args, format);
    insists = true;
    if (log && log->write)
        write_line(log, level, origin, format, args);
    insists = false;
    va_end(args);
}

bool tutti_log_insists(void)
{
    return insists;
}
