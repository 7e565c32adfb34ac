/* SPDX-License-Identifier: MIT */
/* run.h - from communication point to communication point.
 *
 * Invariants:
 *  R1  Times come from grids (base/time.h), an FMU or the input file, to the bit; nothing is added up.
 *  R2  A step ends at the earliest of: next communication point, next recorded point, next event that an FMU
 *      announced, next jump of an input (for units that keep slopes: next kink), stop; or where an extension has it
 *      end.
 *  R3  At every point: values are read (recorded) first, inputs are set after, then comes the step: no read follows
 *      a set.
 *  R4  Whatever ends the run, rows recorded so far are in the file.
 *  R5  The code is that of a rank: it uses its own units only; data of other units arrives by exchange or reduce. */
#ifndef TT_SIM_RUN_H
#define TT_SIM_RUN_H

#include "sim/control/error_estimate.h"
#include "sim/rank.h"
#include "sim/report/watch.h"
#include "sim/sim.h"

/* The clock on the wall. */
struct tt_wall_clock {
    unsigned long countdown, interval; /* steps until the next look at it */
    double loop_start, last_look, last_flush, last_progress;
};

/* A call that all ranks make together between two macro steps: after a number of them or at a time, whichever is first. */
struct tt_step_hook {
    unsigned long look_at,
        interval; /* macro steps: in all; between calls, if the wall clock determines their number (tt_run_plan_hook) */
    double due;
    enum tutti_err (*look)(void *context);
    bool minds_interrupt; /* it also looks whether the run is interrupted, so that the loop need not */
    /* Called before a step: it shall end at *target, or earlier, which this call sets; NULL: no change. *again:
     * something has happened at this point, so that all calls must be repeated. */
    enum tutti_err (*bound)(void *context, double *target, bool *again);
    void *context;
};

enum { TUTTI_BETWEENS = 1 + TUTTI_COMPANIONS }; /* checkpoints, and companions */

struct tt_run {
    struct tt_sim *master;
    struct tt_time_grid communication, output;
    bool fast_path;  /* no work between steps: nothing to monitor or record */
    bool runs_lane;  /* so that the lane makes many at once */
    bool runs_ticks; /* nothing but partitions that tick, unseen: many at once, too (sim/ticks.h) */
    /* A program controls it (<tutti/simulation.h>), step by step, unless it requests the end; and each step goes to the
     * program's target: there are no other communication points. */
    bool steered, by_halts;
    double halt_at; /* the program's target; INFINITY: none */
    /* It handles events itself, after it has read the values before them (tt_run_handle_events); an event is pending. */
    bool leaves_events, left_event;
    int standstills;
    /* Members, of all ranks, that announce event times; and their present announcements. */
    struct tt_member **announcers;
    uint32_t announcer_count;
    double *announced;
    struct tt_growth growth;           /* of signals; a warning comes of it */
    struct tt_error_estimate foretold; /* where no control judges steps: an estimate of their errors */
    struct tt_wall_clock watch;
    struct tt_step_hook betweens[TUTTI_BETWEENS];
    size_t between_count;
    bool minds_interrupt; /* none of them does */
};

/* With the rank and its master at the first point. */
TUTTI_CHECKED enum tutti_err tt_run_open(struct tt_run *loop, struct tt_sim *master, bool steered);
/* Rows are wanted, or are not any more. */
void tt_run_choose_path(struct tt_run *loop);
/* Registers a call between steps. Returns where it is stored, which may be changed. */
struct tt_step_hook *tt_run_add_hook(struct tt_run *loop, const struct tt_step_hook *between);
/* Plans the next call: as often as justified by a clock that is read rarely. `since` the last call, equal on all ranks. */
void tt_run_plan_hook(struct tt_step_hook *between, unsigned long steps, double since);
/* How far the run is, for people. */
TUTTI_CHECKED enum tutti_err tt_run_report_progress(const struct tt_run *loop, double h, bool paused);
/* The first step is about to begin. */
void tt_run_start_clock(struct tt_run *loop);
/* Makes the step to the next communication point, which is not the end of the run, if it only needs the lane: the
 * fastest way for callers that return after each step. Otherwise false: the step is left to tt_run_until_end. */
bool tt_run_step_fast(struct tt_run *loop);
/* Makes steps towards t, a communication point, as in a run without work between steps. *ran: some were made;
 * otherwise, or if t is not reached, the next step is left to tt_run_until_end. */
TUTTI_CHECKED enum tutti_err tt_run_fast_until(struct tt_run *loop, double t, bool *ran);
/* The earliest time that a unit, of whatever rank, its inputs or its clocks announce for an event; INFINITY: none does. */
TUTTI_CHECKED enum tutti_err tt_run_find_event(struct tt_run *loop, double *event);
/* Crosses the events that were left, if any, and those of units for which member->now.event is set, at the rank's time. */
TUTTI_CHECKED enum tutti_err tt_run_handle_events(struct tt_run *loop);
/* From where the rank is to the end; where the loop is steered, one macro step of it. */
TUTTI_CHECKED enum tutti_err tt_run_until_end(struct tt_run *loop);

/* Runs that keep up with the clock, and do not overtake it (--realtime R): simulated time goes R times as fast. */

/* At the point reached: waits until it is due, which is (rank->t - start) / R after `loop_start`, on the clock. Comes back
 * at once, or soon, where the run is interrupted. A point that is late is counted, and the next ones catch up. */
void tt_run_wait_for_clock(const struct tt_rank *rank, double loop_start);
/* At the end: warns if points were late. */
void tt_run_report_lag(const struct tt_rank *rank);

#endif
