/* SPDX-License-Identifier: MIT */
/* study/guest.h - a worker of a sweep on a node: the only rank of a run there, which makes runs of the sweep as it is ordered to (TUTTI_ORDER_MAKE) and reports
 * what became of each (TUTTI_REPORT_MADE). */
#ifndef TUTTI_STUDY_GUEST_H
#define TUTTI_STUDY_GUEST_H

#include "conduct/node/worker.h"

extern const struct tt_worker_role tt_worker_nodes_role;

#endif
