/* SPDX-License-Identifier: MIT */
/* check_words.h - the one question of a job that a layer above it answers: which words name a coupling, a control, an event
 * detection is known where these are listed (master/choose.c). */
#ifndef TUTTI_JOB_CHECK_WORDS_H
#define TUTTI_JOB_CHECK_WORDS_H

#include <tutti/run.h>

#include "base/err.h"

/* Are the words of these options (coupling, control, extrapolate, events, sweeps, accelerate ...) known ones, and their numbers
 * possible? ARGUMENT. */
TUTTI_CHECKED enum tutti_err tutti_master_check_words(const struct tutti_run_options *options);

#endif
