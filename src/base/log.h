/* SPDX-License-Identifier: MIT */
/* base/log.h - formatting into a caller's log sink. A NULL log swallows everything. */
#ifndef TT_BASE_LOG_H
#define TT_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <tutti/log.h>

#include "base/fail.h"

static inline bool tt_log_accepts(const struct tutti_log *log, enum tutti_log_level level)
{
    return log != NULL && log->write != NULL && level <= log->level;
}

/* Formats and hands on; control characters become spaces and broken UTF-8 becomes '?'. Cut at about 4 kB. */
void tt_log(const struct tutti_log *log, enum tutti_log_level level, const char *origin, const char *format, ...)
    TUTTI_PRINTF(4, 5);
/* The same, whatever level the log wants: for messages that say that the result is not what was asked for. */
void tt_log_unfiltered(const struct tutti_log *log, enum tutti_log_level level, const char *origin, const char *format,
                       ...) TUTTI_PRINTF(4, 5);
/* For a log that hands on to another one, while it writes: is this such a message? */
bool tt_log_is_unfiltered(void);

#endif
