/* SPDX-License-Identifier: MIT */
/* recorder.h - what the suites about result formats have in common. FORMAT, the extension without its dot, is the argument. */
#ifndef TESTS_CONFORMANCE_RECORDER_H
#define TESTS_CONFORMANCE_RECORDER_H

#include "conformance.h"
#include "results/recorder.h"
#include "scratch.h"
#include "test.h"

#define FORMAT conformance_arguments[1]

static struct scratch scratch;
static const struct tt_record_format *format;
static char path[128]; /* of a result */

static inline int set_up(void **state)
{
    (void)state;
    scratch_init(&scratch);
    snprintf(path, sizeof path, "%s/result.%s", scratch.path, FORMAT);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

static inline int find_format(void **state)
{
    (void)state;
    return tt_recorder_find_format(&format, conformance_join("result.", FORMAT)) != TUTTI_OK;
}

#endif
