/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

static _Thread_local bool insists;

TUTTI_PRINTF(4, 0)
static void log_write_line(const struct tutti_log *log, enum tutti_log_level level, const char *origin,
                           const char *format, va_list args)
{
    char text[4096] = "";
    vsnprintf(text, sizeof text, format, args);
    tt_text_make_printable(text);
    tt_text_spell_options(text);
    char clean[512] = ""; /* names of files are foreign text, too */
    snprintf(clean, sizeof clean, "%s", origin ? origin : "");
    tt_text_make_printable(clean);
    log->write(log->context, level, origin ? clean : NULL, text);
}

void tt_log(const struct tutti_log *log, enum tutti_log_level level, const char *origin, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (tt_log_accepts(log, level))
        log_write_line(log, level, origin, format, args);
    va_end(args);
}

void tt_log_unfiltered(const struct tutti_log *log, enum tutti_log_level level, const char *origin, const char *format,
                       ...)
{
    va_list args;
    va_start(args, format);
    insists = true;
    if (log && log->write)
        log_write_line(log, level, origin, format, args);
    insists = false;
    va_end(args);
}

bool tt_log_is_unfiltered(void)
{
    return insists;
}
