/* SPDX-License-Identifier: MIT */
/* launch.h - the ways to start ranks. Each starts `ranks` of them with the units that job->place says, feeds the conductor with
 * what they report until all have come to their end, and cleans up. Errors of ranks are the conductor's affair; a launcher
 * returns only failures of its own. */
#ifndef TUTTI_CONDUCT_LAUNCH_H
#define TUTTI_CONDUCT_LAUNCH_H

#include "conduct/conductor.h"
#include "master/conducted.h"

/* Persistent threads of this process. */
TUTTI_CHECKED enum tutti_err tutti_conduct_threads(const struct tutti_job *job, int ranks,
                                                   struct tutti_conductor *conductor);
/* Workers on this machine, which are forked, and killed if need be. */
TUTTI_CHECKED enum tutti_err tutti_conduct_processes(const struct tutti_job *job, int ranks,
                                                     struct tutti_conductor *conductor);

/* Nodes on other machines: `tutti node` (conduct/node/node.h). In this order:
 *
 *     tutti_nodes_open(&nodes, options)                 connects to all of them; what they offer is known
 *     tutti_job_open(&job, tutti_nodes_options(nodes), NULL)  with stand-ins for FMUs that nodes offer and do not give away
 *     tutti_nodes_fix(nodes, system)                    adds to options->place where those are; then placement as ever
 *     tutti_nodes_trim(nodes, system, place)            once units are placed: ranks without any are dropped
 *     tutti_conduct_nodes(&job, nodes, conductor)       with tutti_nodes_ranks ranks
 *     tutti_job_close, tutti_nodes_close                in this order */
struct tutti_nodes;

/* Reads the list of nodes (options->nodes) and the key (options->key), which are ARGUMENT if they are wrong, and greets every
 * node: LOST, naming it and what to do, if one cannot be reached within some seconds, or has another key or another version.
 * `options` is borrowed. */
TUTTI_CHECKED enum tutti_err tutti_nodes_open(struct tutti_nodes **out, const struct tutti_run_options *options);
/* How many ranks the list gives: as many as it has lines, or as these say. */
int tutti_nodes_ranks(const struct tutti_nodes *nodes);
/* The options with the files that nodes offer; borrowed. */
const struct tutti_run_options *tutti_nodes_options(const struct tutti_nodes *nodes);
/* Components whose FMUs nodes offer get a "UNIT=RANK" of that node in front of options->place. */
TUTTI_CHECKED enum tutti_err tutti_nodes_fix(struct tutti_nodes *nodes, const struct tutti_system *system);
/* Ranks that no component was given to are dropped, and the others numbered anew, also in `place`. ARGUMENT if a unit is placed
 * where its FMU is not. */
TUTTI_CHECKED enum tutti_err tutti_nodes_trim(struct tutti_nodes *nodes, const struct tutti_system *system,
                                              int32_t *place);
/* As the other launchers. What the nodes lack of the job's files is sent to them first. */
TUTTI_CHECKED enum tutti_err tutti_conduct_nodes(const struct tutti_job *job, struct tutti_nodes *nodes,
                                                 struct tutti_conductor *conductor);
/* NULL is fine. */
void tutti_nodes_close(struct tutti_nodes *nodes);

/* Processes that mpiexec started; this one is rank `rank` of `ranks`. */
struct tutti_mpi_world {
    int rank, ranks;
    const struct tutti_mpi_module *module; /* fabric/module.h */
};

/* A run by them, from beginning to end; every process calls it, once. Rank 0 is the conductor's process: it alone writes, logs
 * and fills `stats`, and returns what the run came to; others return STOPPED for whatever rank 0 tells of, so that a
 * process that gets another error has to tell it. LOAD if the module with MPI is missing. */
TUTTI_CHECKED enum tutti_err tutti_run_mpi(const struct tutti_run_options *options, struct tutti_run_stats *stats);

/* Its parts. Loads the module (`path`, or from where it belongs) and starts MPI; world->module->finish ends it. */
TUTTI_CHECKED enum tutti_err tutti_mpi_start(struct tutti_mpi_world *world, const char *path);
/* Collective. `conductor` is rank 0's; NULL elsewhere. */
TUTTI_CHECKED enum tutti_err tutti_conduct_mpi(const struct tutti_job *job, const struct tutti_mpi_world *world,
                                               struct tutti_conductor *conductor);

#endif
