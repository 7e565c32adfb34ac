/* SPDX-License-Identifier: MIT */
/* nodes.h - private to nodes*.c: nodes, as the one sees them who starts a run. */
#ifndef TT_RUN_LAUNCH_NODES_H
#define TT_RUN_LAUNCH_NODES_H

#include "base/tempdir.h"
#include "run/launch/nodes_list.h"
#include "run/node/node_client.h"
#include "run/node/node_protocol.h"
#include "sim/job/job.h"
#include "sim/ranks/tcp_fabric.h"

struct tt_nodes {
    const struct tutti_run_options *asked;
    struct tutti_run_options options; /* with aliases for the nodes' offers */
    struct tt_file_alias *aliases;
    char **fixed; /* options.places: our "UNIT=RANK", then those of the user, which are borrowed */
    size_t fixed_count;
    struct tt_nodes_list list;
    struct tt_node_client *clients; /* one per entry of the list */
    size_t silent;                  /* the one that connecting failed with */
    void *context;
    struct tt_curve_keys keys; /* of --key, or this user's on this machine */
    struct tt_tempdir *tempdir;
    struct tt_byte_writer parcel;
};

/* ---- nodes.c ----
 *
 *     tt_nodes_open(&nodes, options)       connects to all of them; what they offer is known
 *     tt_job_open(&job, &nodes->options, NULL)   with stand-ins for FMUs that nodes offer and do not give away
 *     tt_nodes_assign_units(nodes, system)          adds to options.places where those are; then placement as ever
 *     tt_nodes_remove_unused(nodes, system, place)  once units are placed: ranks without any are dropped
 *     tt_job_close, tt_nodes_close      in this order */

/* Reads the list of nodes (options->nodes) and the key (options->key), which are ARGUMENT if they are wrong, and greets every
 * node: LOST, naming it and what to do, if one cannot be reached within some seconds, or has another key or another version.
 * `options` is borrowed. */
TUTTI_CHECKED enum tutti_err tt_nodes_open(struct tt_nodes **out, const struct tutti_run_options *options);
/* Components whose FMUs nodes offer get a "UNIT=RANK" of that node before options.places. */
TUTTI_CHECKED enum tutti_err tt_nodes_assign_units(struct tt_nodes *nodes, const struct tt_system *system);
/* Drops ranks without a component and renumbers the rest, also in `place`. ARGUMENT if a unit's FMU is not on its rank. */
TUTTI_CHECKED enum tutti_err tt_nodes_remove_unused(struct tt_nodes *nodes, const struct tt_system *system,
                                                    int32_t *place);
/* NULL is fine. */
void tt_nodes_close(struct tt_nodes *nodes);

/* ---- nodes_files.c ---- */

/* A file of the run: sent as it is, or offered by a node. */
struct tt_nodes_file {
    const char *path; /* here, as the system found it */
    char
        *packed; /* what is sent in its place: a folder as archive, a package without its FMUs; NULL: the file itself */
    struct tt_content content;
    uint32_t client, offer; /* the offer that it stands for; UINT32_MAX: none */
};

struct tt_nodes_files {
    struct tt_nodes_file *files;
    uint32_t count, room;
    struct tt_node_name *names; /* borrowed from the system, or the options */
    uint32_t name_count;
    struct tt_map by_path;
};

/* Everything that a worker needs to make the same job. tt_nodes_files_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_nodes_files_list(struct tt_nodes_files *files, const struct tt_nodes *nodes,
                                                 const struct tt_job *job);
void tt_nodes_files_fini(struct tt_nodes_files *files);

/* Sends files, then START, to all nodes, until none lacks a file. `id` is the run's. */
TUTTI_CHECKED enum tutti_err tt_nodes_files_send(struct tt_nodes *nodes, const struct tt_nodes_files *files,
                                                 const struct tt_job *job, const uint8_t id[TUTTI_TCP_RUN_ID]);

#endif
