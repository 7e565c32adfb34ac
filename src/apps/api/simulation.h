/* SPDX-License-Identifier: MIT */
/* The common part of simulation.c and simulation_values.c. */
#ifndef TT_APPS_API_SIMULATION_H
#define TT_APPS_API_SIMULATION_H

#include <tutti/simulation.h>

#include "base/options/options.h"
#include "base/text.h"
#include "sim/execution_run.h"
#include "sim/pending_set.h"

/* A saved point between macro steps: a snapshot, and the master's rollback list (master->remembered). The continuation
 * is identical every time, to the bit. */

/* A handle: never dereferenced, and of one point only, also when that is gone. */
struct tutti_point;

struct tt_simulation_point;

/* All points of a run, so that they can be released with it. */
struct tt_simulation_points {
    struct tt_simulation_point *first;
};

bool tt_simulation_has_point(const struct tt_simulation_points *points, const struct tutti_point *point);
/* Saves into *point, which is created, in `points`, if it is NULL, and otherwise reused; it must be one of them.
 * UNSUPPORTED, naming the unit and what it lacks. */
TUTTI_CHECKED enum tutti_err tt_simulation_save_point(struct tt_simulation_points *points, struct tutti_point **point,
                                                      struct tt_execution *execution);
/* To one of `points`, any number of times. Rows that were recorded since then go. */
TUTTI_CHECKED enum tutti_err tt_simulation_restore_point(const struct tt_simulation_points *points,
                                                         const struct tutti_point *point,
                                                         struct tt_execution *execution);
/* While the units are alive; NULL, and one that is gone, are fine. */
void tt_simulation_release_point(struct tt_simulation_points *points, const struct tutti_point *point,
                                 struct tt_execution *execution);
void tt_simulation_free_points(struct tt_simulation_points *points, struct tt_execution *execution);

/* How far a simulation came. */
enum tt_simulation_stage { TUTTI_STAGE_OPEN, TUTTI_STAGE_STARTED, TUTTI_STAGE_FAILED, TUTTI_STAGE_FINISHED };

/* A variable that the program asked for, or an element of one. */
struct tt_simulation_handle {
    uint32_t component, variable;
    struct tt_indices element;
    char *name;
    bool laid;                          /* `signals` are there */
    struct tt_signals signals;          /* for reading: the whole variable */
    size_t place, count;                /* what of it is meant */
    struct tt_pending_set *pending_set; /* NULL: never set */
    struct tt_text text;                /* of a Binary */
};

struct tutti_simulation {
    struct tt_job job;
    struct tt_execution execution;
    struct tutti_run_stats stats;
    struct tt_pending_sets pending_sets;
    struct tt_simulation_points points;
    enum tt_simulation_stage stage;
    double t; /* once it is finished: where it ended */
    const struct tutti_run_options *given;
    struct tutti_run_options options; /* the options, with values set since */
    const char **set;                 /* since open or the last reset */
    size_t set_count;
    bool job_has_sets;                     /* the job contains the values set before the last start */
    bool job_fits;                         /* the job matches the options except for set values */
    bool was_reset;                        /* instances are kept for the next run from then on */
    size_t *first;                         /* per component: the number of its first variable; and one more */
    struct tt_simulation_handle **handles; /* per number; NULL: not asked for yet */
    size_t handle_count;                   /* variables, then elements of arrays */
    struct tt_arena arena;
};

/* STATE: `call` makes no sense where the simulation is. */
TUTTI_CHECKED static inline enum tutti_err tt_simulation_reject(const struct tutti_simulation *simulation,
                                                                const char *call)
{
    static const char *const stages[] = {"is not started", "is started", "has failed", "is finished"};
    return tt_fail(TUTTI_ERR_STATE, "tutti_simulation_%s: the simulation %s", call, stages[simulation->stage]);
}

/* That, if the simulation is not where `call` makes sense. */
TUTTI_CHECKED static inline enum tutti_err tt_simulation_check(const struct tutti_simulation *simulation,
                                                               enum tt_simulation_stage stage, const char *call)
{
    return simulation->stage == stage ? TUTTI_OK : tt_simulation_reject(simulation, call);
}

/* The point that the simulation, which is started, is at, as bytes (sim/checkpoint/checkpoint.h); and going there, which
 * takes the word of the caller that they are of a simulation of the same files and options; times may differ. */
TUTTI_CHECKED enum tutti_err tt_simulation_pack(struct tutti_simulation *simulation, struct tt_byte_writer *bytes);
TUTTI_CHECKED enum tutti_err tt_simulation_unpack(struct tutti_simulation *simulation, struct tt_bytes bytes);

/* Lays out the numbers of variables; when the system is loaded. */
TUTTI_CHECKED enum tutti_err tt_simulation_values_number(struct tutti_simulation *simulation);
/* Keeps numbers, and frees data that depends on units of this run. */
void tt_simulation_values_free_handles(struct tutti_simulation *simulation);
void tt_simulation_values_reset_handles(struct tutti_simulation *simulation);

#endif
