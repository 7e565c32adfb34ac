/* SPDX-License-Identifier: MIT */
/* dying.h - a process that records until it is ended, at any moment. */
#ifndef TUTTI_TEST_DYING_H
#define TUTTI_TEST_DYING_H

#include <signal.h>
#include <unistd.h>

#include "results/recorder.h"
#include "test.h"

static const struct tt_record_format *dying_format;
static struct tt_recorder *dying;

static inline void on_alarm(int signal)
{
    (void)signal;
    dying_format->emergency(dying);
    _exit(0);
}

/* Row i has x = i / 10, and every seventh is flushed. Ended by an alarm after a number of microseconds; 0: from
 * outside. */
static inline void record_until_ended(const struct tt_record_format *format, const char *path,
                                      const struct tt_column *columns, size_t count, double *x, unsigned microseconds)
{
    dying_format = format;
    if (format->open(&dying, path, columns, count) != TUTTI_OK)
        _exit(1);
    signal(SIGALRM, on_alarm);
    if (microseconds > 0)
        ualarm(microseconds, 0);
    for (unsigned i = 0;; i++) {
        *x = i * 0.1;
        if (format->row(dying, i) != TUTTI_OK || (i % 7 == 0 && format->flush(dying) != TUTTI_OK))
            _exit(1);
    }
}

#endif
