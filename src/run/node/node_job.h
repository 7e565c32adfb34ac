/* SPDX-License-Identifier: MIT */
/* job.h - the part of a run that only workers read: options, names of files, placement. The daemon hands it on as it is.
 *
 * The files themselves are numbers here: number n is the file FOLDER/n on the node's disk, whatever people call it. */
#ifndef TT_RUN_NODE_NODE_JOB_H
#define TT_RUN_NODE_NODE_JOB_H

#include "base/options/options_pack.h"

/* A name that a file goes by. */
struct tt_node_name {
    const char *name;
    uint32_t file;
    bool system;
};

struct tt_node_job {
    struct tutti_run_options options; /* with aliases: names to files */
    struct tutti_log log;             /* that options.log points to, if there is one */
    int32_t *place;                   /* per component */
    uint32_t place_count;
    struct tt_arena arena;
};

TUTTI_CHECKED enum tutti_err tt_node_protocol_write_job(const struct tutti_run_options *options,
                                                        const struct tt_node_name *names, uint32_t name_count,
                                                        const int32_t *place, uint32_t place_count,
                                                        struct tt_byte_writer *parcel);
/* `folder` is where files lie. FORMAT. tt_node_protocol_free_job follows in any case. `job` must not move. */
TUTTI_CHECKED enum tutti_err tt_node_protocol_read_job(struct tt_node_job *job, const void *bytes, size_t size,
                                                       const char *folder, int ranks);
void tt_node_protocol_free_job(struct tt_node_job *job);

#endif
