/* SPDX-License-Identifier: MIT */
#ifndef TT_APPS_STUDY_WORKER_NODES_H
#define TT_APPS_STUDY_WORKER_NODES_H

#include "run/node/worker_process.h"

/* A worker of a sweep on a node: the only rank of a run there, which makes runs of the sweep on request
 * (TUTTI_ORDER_MAKE) and reports their outcome (TUTTI_REPORT_MADE). */

extern const struct tt_worker_role tt_worker_nodes_role;

#endif
