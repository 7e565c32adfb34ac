/* SPDX-License-Identifier: MIT */
/* rank.h - a rank of a run: its units, the signals between them, its clock, and the fabric that connects it to other
 * ranks.
 *
 * Every rank has the whole system: all members; it calls its own, those of other ranks are shadows (unit/shadow.h).
 * Code of a rank uses its own units only; data of other units arrives by exchange or reduce. */
#ifndef TT_SIM_RANK_H
#define TT_SIM_RANK_H

#include <tutti/run.h>

#include "base/time.h"
#include "sim/job/job.h"
#include "sim/method.h"
#include "sim/ranks/fabric.h"
#include "sim/signals/channels.h"
#include "sim/signals/inputs.h"
#include "sim/signals/wires.h"
#include "sim/stats.h"

struct tt_pending_sets;
struct tt_ticks;

/* How often an FMU may come back without moving in time before it is called stuck. */
enum { TUTTI_MOST_STANDSTILLS = 1000 };

/* Where a unit of a rank is between two steps. Plain data: a snapshot copies it. */
struct tt_member_state {
    double t;          /* its time: that of the rank, or earlier in the middle of a separate step */
    double next_event; /* that it announced; INFINITY: none */
    bool event;        /* to be crossed at this point */
    bool has_pending;  /* a program has set some of its inputs or parameters (pending_set.h) */
    bool stepped;      /* it has made a step to this point, so that derivatives of its outputs are available */
    double staged_at;  /* when its inputs were staged, if they move: from there on */
    double
        slopes_at; /* where outputs were solved for, and its inputs move on with the slopes of the step that ends there */
    struct tt_time_grid grid;
};

/* The experience of a master with a unit, which a rollback does not reset. Plain data. */
struct tt_member_history {
    unsigned comebacks; /* starts of steps in a row that it did not leave, however short the steps, for its inputs */
    bool takes_news;    /* too many: it enters event mode there alone (sim/step.c) */
};

/* The options of a unit, decided before it is created (sim/start/open.c). */
struct tt_member_setup {
    bool no_stop_time;         /* the FMU is called without one */
    double own_step;           /* 0: the communication step */
    bool step_from_file;       /* from an annotation */
    double tolerance;          /* for its solver, its own or ours; 0: none */
    double share;              /* times this, if errors of macro steps are estimated; 0: all of it */
    enum tt_rollback rollback; /* as in the options */
    bool forked;               /* its present use: rolled back by forking */
    struct tt_integration integration;
};

/* A unit of a rank; fields used in every step come first. */
struct tt_member {
    struct tt_unit *unit; /* a shadow for a unit of a different rank */
    struct tt_unit_wires *wires;
    struct tt_inputs *inputs; /* that a file drives; NULL: none */
    struct tt_member_state now;
    uint32_t component;
    bool has_grid;           /* separate steps, or a fixed step */
    bool driven;             /* a file, or an expression, has inputs for it; `inputs` only on its own rank */
    bool bent;               /* and they are not smooth: a solver must be notified of bends */
    bool ready;              /* initialised */
    struct tt_fmi_step made; /* of a unit that overlaps: the do-step that was begun */
    double made_h;
    bool begun_early, pending; /* in the present step; the FMU computes it */
    struct tt_member_history learned;
    struct tt_member_setup setup;
    /* If unit->notes_last: where its last do-step began. */
    struct tt_member_state begun;
    struct tt_inputs_state inputs_begun;
};

struct tt_rank {
    const struct tt_job *job;
    struct tutti_run_stats *stats;
    struct tt_arena arena;

    /* Among others. */
    struct tt_fabric *fabric;
    bool owns_fabric;
    /* It reports rows, messages and counts to a conductor. Its units are second instances of those of a different rank
     * (sim/control/twin.h): it records and reports nothing. */
    bool reports, is_twin;
    struct tt_heartbeat *heartbeat;   /* the fabric's */
    const int32_t *place;             /* per component: its rank; NULL: a single rank */
    const struct tutti_log *log;      /* for messages that all ranks would repeat: silent on all but the first */
    const struct tutti_log *unit_log; /* for what own units say */

    /* Units. */
    struct tt_unit **units;    /* per component; shadows for units of other ranks */
    struct tt_member *members; /* per component */
    uint32_t member_count;
    struct tt_member **own; /* members of this rank, in the order of components */
    uint32_t own_count;
    struct tt_member **watched; /* own members with more to do than to step: events, input files, discrete inputs */
    uint32_t watched_count;
    bool watches;              /* any rank has one */
    bool has_grids;            /* some member has one */
    bool overlaps;             /* several own units compute steps in separate threads (unit->overlaps) */
    bool single_unit;          /* one member, with the steps of the run: the rank is where it is, also on the way */
    bool joins;                /* the job's, unless an FMU lacks functions of Model Exchange */
    struct tt_method expected; /* chosen from descriptions, before units are created; defines how */

    /* Signals between them. */
    struct tt_wires wires;
    struct tt_channels channels;
    struct tt_pending_sets *pending_sets; /* values that a program sets between steps; NULL: none does */
    struct tt_ticks *ticks;               /* clocks of units (ticks.h); NULL: none */
    double kept_from; /* units may be taken back to there (<tutti/simulation.h>); INFINITY: not at all */

    /* The clock. */
    struct tt_times times;
    double span; /* stop - start: the scale for comparing times */
    double t;
    double target;                 /* where the step that is being made is to lead; after it: t */
    const struct tt_member *ended; /* the member whose FMU has ended the run; NULL: none */

    /* Own units only, unknown to other ranks: steps that a unit repeated, events that it crossed alone. */
    unsigned long own_rejected, own_events;
};

static inline bool tt_rank_owns(const struct tt_rank *rank, uint32_t component)
{
    return !rank->place || rank->place[component] == rank->fabric->rank;
}

/* Publishes for external observers of the rank (fabric.h) that it calls this unit now. */
static inline void tt_rank_publish_unit(struct tt_rank *rank, uint32_t component)
{
    atomic_store_explicit(&rank->heartbeat->component, component, memory_order_relaxed);
}
/* Publishes the time reached. */
static inline void tt_rank_publish_time(struct tt_rank *rank, double t)
{
    struct tt_heartbeat *heartbeat = rank->heartbeat;
    uint64_t beat = atomic_load_explicit(&heartbeat->beat, memory_order_relaxed);
    atomic_store_explicit(&heartbeat->t, t, memory_order_relaxed);
    atomic_store_explicit(&heartbeat->step, rank->fabric->step, memory_order_relaxed);
    atomic_store_explicit(&heartbeat->beat, beat + 1, memory_order_relaxed);
}

/* Returns true if a macro step that ends at `target` ends a step of this member. */
static inline bool tt_rank_member_is_due(const struct tt_rank *rank, const struct tt_member *member, double target)
{
    return !member->has_grid || tt_time_reached(target, member->now.grid.next, rank->span);
}
/* Returns true if the member is at the rank's time, not in the middle of a separate step. */
static inline bool tt_rank_member_is_present(const struct tt_rank *rank, const struct tt_member *member)
{
    return !member->has_grid || member->now.t == rank->t;
}

/* Joint decisions of ranks. On one rank they are cheap. */

/* Collective: the least or greatest of all ranks. */
TUTTI_CHECKED enum tutti_err tt_rank_reduce(struct tt_rank *rank, enum tt_fabric_reduction reduction, double *values,
                                            size_t count);
/* Collective: sets *any to true if it is true on any rank. */
TUTTI_CHECKED enum tutti_err tt_rank_agree_any(struct tt_rank *rank, bool *any);

/* The events at a point that units have reached. */
struct tt_point_events {
    bool pending; /* an event is to be crossed */
    bool ticks;   /* a clock is due (ticks.h) */
    bool jumped;  /* an input from a file has jumped */
};
/* Collective: all that has happened there on any rank, which also becomes known of units that have ended the run (rank->ended; of
 * several the last). */
TUTTI_CHECKED enum tutti_err tt_rank_agree_point(struct tt_rank *rank, struct tt_point_events *here);

/* The end of an event of one unit. */

/* Settles a unit that is in event mode; again if it announces the next event for the same time. *ended becomes true if
 * its FMU ends the run. */
TUTTI_CHECKED enum tutti_err tt_rank_finish_event(const struct tt_rank *rank, struct tt_member *member, bool *ended);

/* Reports that a unit makes no progress: `how` describes the FMU's behaviour. */
TUTTI_CHECKED enum tutti_err tt_rank_fail_no_progress(const struct tt_member *member, const char *how);

#endif
