/* SPDX-License-Identifier: MIT */
/* counts.h - the counters of a node; node_metrics.h publishes them. */
#ifndef TT_RUN_NODE_COUNTS_H
#define TT_RUN_NODE_COUNTS_H

#include <stdint.h>

#include "base/fail.h"

/* Every count, once: field, name (after "tutti_node_"), description. */
#define TUTTI_NODE_COUNTS(X)                                                                                           \
    X(runs_started, "runs_started_total", "Runs that began.")                                                          \
    X(runs_completed, "runs_completed_total", "Runs whose workers came to their end.")                                 \
    X(runs_failed, "runs_failed_total", "Runs that lost a worker here.")                                               \
    X(runs_aborted, "runs_aborted_total", "Runs that were interrupted or cut off, or ended by a limit.")               \
    X(workers_lost, "workers_lost_total", "Workers that ended before their time.")                                     \
    X(cache_hits, "cache_hits_total", "Files of runs that were there already.")                                        \
    X(cache_misses, "cache_misses_total", "Files of runs that had to be sent.")                                        \
    X(cache_evictions, "cache_evictions_total", "Files that were removed to keep to the size of the cache.")           \
    X(bytes_in, "received_bytes_total", "Bytes of messages from runs; not what ranks exchange.")                       \
    X(bytes_out, "sent_bytes_total", "Bytes of messages to runs; not what ranks exchange.")

/* Reasons for rejecting sessions: the kind of error, and the label; "other" is for all remaining ones. */
#define TUTTI_NODE_REFUSALS(X)                                                                                         \
    X(LIMIT, "limit")                                                                                                  \
    X(FORMAT, "malformed")                                                                                             \
    X(UNSUPPORTED, "forbidden")                                                                                        \
    X(IO, "io")

struct tt_node_counts {
#define X(field, name, help) uint64_t field;
    TUTTI_NODE_COUNTS(X)
#undef X
#define X(err, label) uint64_t refused_##err;
    TUTTI_NODE_REFUSALS(X)
#undef X
    uint64_t refused_otherwise;
};

/* Counts a session that was refused. */
void tt_node_metrics_count_refusal(struct tt_node_counts *counts, enum tutti_err err);

#endif
