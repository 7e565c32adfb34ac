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

/* Formats a message for the log; control characters become spaces and broken UTF-8 becomes '?'. Cut at about 4 kB. */
void tt_log(const struct tutti_log *log, enum tutti_log_level level, const char *origin, const char *format, ...)
    TUTTI_PRINTF(4, 5);
/* As tt_log, but ignores the level of the log: for warnings that the result differs from the request. */
void tt_log_unfiltered(const struct tutti_log *log, enum tutti_log_level level, const char *origin, const char *format,
                       ...) TUTTI_PRINTF(4, 5);
/* For a log that forwards to a second log: returns true if the message being written came from tt_log_unfiltered. */
bool tt_log_is_unfiltered(void);

#endif
