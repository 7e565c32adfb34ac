/* SPDX-License-Identifier: MIT */
/* execution.h - a rank with all that carries it from start to stop: its master, its loop, what it records. */
#ifndef TT_SIM_EXECUTION_H
#define TT_SIM_EXECUTION_H

#include "sim/pending_set.h"
#include "sim/rank.h"
#include "sim/report/record.h"
#include "sim/run.h"
#include "sim/sim.h"

struct tt_checkpoint_schedule;
struct tt_execution;
struct tt_team;

/* An extension of a run that is not part of the master: a federation (run/federate/run_federate.h), viewers
 * (run/live/live_control.h). On every rank. */
struct tt_run_extension {
    const void *context;
    /* Called at the first point, with its row recorded. Registers calls between steps (tt_run_add_hook); sets values by
     * rank->pending_sets. *self is passed to the other functions, also after an error. */
    enum tutti_err (*open)(const void *context, struct tt_execution *execution, void **self);
    enum tutti_err (*finish)(void *self); /* at the last point; not if the run has failed; NULL: nothing to do */
    void (*close)(void *self);            /* always, with the units still there; NULL is fine */
};

struct tt_execution {
    struct tt_rank rank;
    struct tt_record observer;
    struct tt_sim master;
    struct tt_run loop;
    struct tt_checkpoint_schedule *checkpoints; /* NULL: none are taken */
    struct tt_team *team;                       /* of ranks with or of second instances; NULL: none; borrowed */
    struct tt_twin *twin;                       /* the connection of these; NULL as above */
    void *companions[TUTTI_COMPANIONS];         /* the state of each; NULL: none */
    struct tt_pending_sets pending_sets;        /* that they make */
};

/* Enables or disables rows; on all ranks after one macro step. Rows without a file are made only while enabled. */
void tt_execution_enable_rows(struct tt_execution *execution, bool wanted);

/* Statistics of a rank. */

/* Completes the rank's statistics at the end of the run, in any state. `units` is per component up to the last that
 * this rank had; those of other ranks have no name. Without memory for it: no texts, no unit. */
void tt_execution_count(struct tt_sim *master);
/* Counts that are made elsewhere during the run: into the rank's statistics, and from there back. */
void tt_execution_gather_counts(struct tt_sim *master);
void tt_execution_scatter_counts(struct tt_sim *master);

/* The states that units have at the end of a run (sim/job/state_files.h): to the conductor, which writes them once all ranks
 * have come to their end, or, on one rank, to their files. */

/* Of own units, before they are terminated. Of a run that an FMU has ended before its stop time none is written, with a warning. */
TUTTI_CHECKED enum tutti_err tt_execution_report_final_states(struct tt_rank *rank);

#endif
