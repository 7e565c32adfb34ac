/* SPDX-License-Identifier: MIT */
#include "conduct/node/counts.h"

void tutti_node_count_refusal(struct tutti_node_counts *counts, enum tutti_err err)
{
    switch (err) {
#define X(err_, label)                                                                                                 \
    case TUTTI_ERR_##err_: counts->refused_##err_++; break;
        TUTTI_NODE_REFUSALS(X)
#undef X
    default: counts->refused_otherwise++; break;
    }
}
