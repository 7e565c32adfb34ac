/* SPDX-License-Identifier: MIT */
#include "run/node/counts.h"

void tt_node_metrics_count_refusal(struct tt_node_counts *counts, enum tutti_err err)
{
    switch (err) {
#define X(err_, label)                                                                                                 \
    case TUTTI_ERR_##err_: counts->refused_##err_++; break;
        TUTTI_NODE_REFUSALS(X)
#undef X
    default: counts->refused_otherwise++; break;
    }
}
