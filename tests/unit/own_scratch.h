/* SPDX-License-Identifier: MIT */
/* own_scratch.h - a fixture: every test of a file has a separate folder. */
#ifndef TUTTI_TEST_OWN_SCRATCH_H
#define TUTTI_TEST_OWN_SCRATCH_H

#include "scratch.h"

static struct scratch scratch;

static int set_up(void **state)
{
    (void)state;
    scratch_init(&scratch);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

#endif
