/* SPDX-License-Identifier: MIT */
/* Steps of one size: whatever comes out is good. */
#include "sim/control/control.h"

static enum tt_verdict fixed_judge_step(struct tt_sim *master, const struct tt_step_result *result)
{
    (void)master;
    (void)result;
    return TUTTI_ACCEPT;
}

const struct tt_control tt_control_fixed = {.name = "fixed",
                                            .attempt = tt_control_attempt_step,
                                            .judge = fixed_judge_step};
