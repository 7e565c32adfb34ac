/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"

void tutti_log_printf(const struct tutti_log *log, enum tutti_log_level level, const char *origin, const char *format,
                      ...)
{
    if (!tutti_log_wants(log, level))
        return;
    char text[4096] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tutti_str_make_printable(text);
    char clean[512] = ""; /* names of files are foreign text, too */
    snprintf(clean, sizeof clean, "%s", origin ? origin : "");
    tutti_str_make_printable(clean);
    log->write(log->context, level, origin ? clean : NULL, text);
}
