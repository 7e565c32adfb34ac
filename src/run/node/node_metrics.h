/* SPDX-License-Identifier: MIT */
/* node_metrics.h - how monitors ask a node what it counts: /metrics in the text format of Prometheus, /health. */
#ifndef TT_RUN_NODE_NODE_METRICS_H
#define TT_RUN_NODE_NODE_METRICS_H

#include "base/text.h"
#include "run/node/daemon.h"

/* All of it, as Prometheus reads it. */
void tt_node_metrics_write(const struct tt_node_daemon *node, struct tt_text *out);

/* Serves it at options->metrics, if that is given. tt_node_metrics_close follows in any case. ARGUMENT, IO, LOAD. */
TUTTI_CHECKED enum tutti_err tt_node_metrics_open(struct tt_node_daemon *node);
void tt_node_metrics_close(struct tt_node_daemon *node);

#endif
