/* SPDX-License-Identifier: MIT */
/* rank.h - a rank of a run: its units, the signals between them, its clock, and the fabric by which it hears of other ranks.
 *
 * Every rank has the whole system: all members, of which it calls its own; those of other ranks are shadows (unit/shadow.h).
 * Code that works on a rank touches its own units only; what it knows of others came by exchange or reduce. */
#ifndef TT_SIM_RANK_H
#define TT_SIM_RANK_H

#include <tutti/run.h>

#include "base/time.h"
#include "sim/job/job.h"
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
    double t;          /* its time: the rank's, or before it in the middle of a step of its own */
    double next_event; /* that it announced; INFINITY: none */
    bool event;        /* to be crossed at this point */
    bool has_pending;  /* a program has set some of its inputs or parameters (pending_set.h) */
    bool stepped;      /* it has made a step on the way here, so that it knows derivatives of its outputs */
    double staged_at;  /* when its inputs were staged, if they move: from there on */
    double
        slopes_at; /* where outputs were solved for, and its inputs move on with the slopes of the step that ends there */
    struct tt_time_grid grid;
};

/* What a master has learned of a unit. A step that is taken back does not take this back. Plain data. */
struct tt_member_history {
    unsigned comebacks; /* starts of steps in a row that it did not leave, however short the steps, for its inputs */
    bool takes_news;    /* ... too many: it enters event mode there by itself (sim/step.c) */
};

/* What a unit is to have, decided before it is made (sim/start/open.c). */
struct tt_member_setup {
    bool no_stop_time;         /* the FMU is called without one */
    double own_step;           /* 0: the communication step */
    bool step_from_file;       /* ... by an annotation */
    double tolerance;          /* for its solver, its own or ours; 0: none */
    double share;              /* ... times this, where errors of macro steps are estimated; 0: all of it */
    enum tt_rollback rollback; /* as the options have it ... */
    bool forked;               /* ... and what was made of it so far: it is taken back by forking */
    struct tt_integration integration;
};

/* A unit of a rank; what every step touches comes first. */
struct tt_member {
    struct tt_unit *unit; /* a shadow if it is another rank's */
    struct tt_unit_wires *wires;
    struct tt_inputs *inputs; /* that a file drives; NULL: none */
    struct tt_member_state now;
    uint32_t component;
    bool has_grid;           /* steps of a size of its own, or of one size only */
    bool driven;             /* a file, or an expression, has inputs for it; `inputs` only on its own rank */
    bool bent;               /* ... and they are not smooth: a solver has to be told where they bend */
    bool ready;              /* initialised */
    struct tt_fmi_step made; /* of a unit that overlaps: a do-step that was begun ... */
    double made_h;
    bool begun_early, pending; /* ... in the present step; the FMU computes it */
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
    bool reports; /* a conductor listens: rows, messages and counts go there */
    bool
        is_twin; /* its units are second instances of those of another rank (sim/control/twin.h): it records and tells nothing */
    struct tt_heartbeat *heartbeat;   /* the fabric's */
    const int32_t *place;             /* per component: its rank; NULL: there is one rank only */
    const struct tutti_log *log;      /* for what all ranks would say alike: silent on all but the first */
    const struct tutti_log *unit_log; /* for what own units say */

    /* Units. */
    struct tt_unit **units;    /* per component; shadows for those of other ranks */
    struct tt_member *members; /* per component */
    uint32_t member_count;
    struct tt_member **own; /* members of this rank, in the order of components */
    uint32_t own_count;
    struct tt_member **watched; /* own members with more to do than to step: events, input files, discrete inputs */
    uint32_t watched_count;
    bool watches;          /* any rank has one */
    bool has_grids;        /* some member has one */
    bool overlaps;         /* several own units compute steps on threads of their own (unit->overlaps) */
    bool single_unit;      /* one member, with the steps of the run: the rank is where it is, also on the way */
    bool estimates_errors; /* of steps, as far as that is known before there are units */
    bool moves_inputs;     /* connected inputs may move inside of a step, as far as that is known then */
    bool asks_to_go_back;  /* a tolerance or a method that is asked for takes units back */
    bool joins;            /* the job's, unless an FMU lacks functions of Model Exchange */
    bool free_steps;       /* steps of units need not fit together, as far as that is known then */
    bool controls_one;     /* ... of one FMU, if a table drives it that it does not follow inside of a step */

    /* Signals between them. */
    struct tt_wires wires;
    struct tt_channels channels;
    struct tt_pending_sets *pending_sets; /* values that a program sets between steps; NULL: none does */
    struct tt_ticks *ticks;               /* clocks of units (ticks.h); NULL: there are none */
    double kept_from; /* units may be taken back to there (<tutti/simulation.h>); INFINITY: not at all */

    /* The clock. */
    struct tt_times times;
    double span; /* stop - start: the scale for comparing times */
    double t;
    double target;                 /* where the step that is being made is to lead; after it: t */
    const struct tt_member *ended; /* this one's FMU has ended the run; NULL: not */

    /* Of own units alone, which other ranks do not know of: steps that a unit repeated, events that it crossed by itself. */
    unsigned long own_rejected, own_events;
};

static inline bool tt_rank_owns(const struct tt_rank *rank, uint32_t component)
{
    return !rank->place || rank->place[component] == rank->fabric->rank;
}

/* For those who watch this rank from outside (fabric.h): it calls this unit now ... */
static inline void tt_rank_publish_unit(struct tt_rank *rank, uint32_t component)
{
    atomic_store_explicit(&rank->heartbeat->component, component, memory_order_relaxed);
}
/* ... and has come there. */
static inline void tt_rank_publish_time(struct tt_rank *rank, double t)
{
    struct tt_heartbeat *heartbeat = rank->heartbeat;
    uint64_t beat = atomic_load_explicit(&heartbeat->beat, memory_order_relaxed);
    atomic_store_explicit(&heartbeat->t, t, memory_order_relaxed);
    atomic_store_explicit(&heartbeat->step, rank->fabric->step, memory_order_relaxed);
    atomic_store_explicit(&heartbeat->beat, beat + 1, memory_order_relaxed);
}

/* Does a macro step that ends at `target` end a step of this member? */
static inline bool tt_rank_member_is_due(const struct tt_rank *rank, const struct tt_member *member, double target)
{
    return !member->has_grid || tt_time_reached(target, member->now.grid.next, rank->span);
}
/* Is the member at the rank's time, not in the middle of a step of its own? */
static inline bool tt_rank_member_is_present(const struct tt_rank *rank, const struct tt_member *member)
{
    return !member->has_grid || member->now.t == rank->t;
}

/* What ranks decide together. With one rank all of this is next to nothing. */

/* Collective: the least or greatest of all ranks. */
TUTTI_CHECKED enum tutti_err tt_rank_reduce(struct tt_rank *rank, enum tt_fabric_reduction reduction, double *values,
                                            size_t count);
/* Collective: is it so on any rank? */
TUTTI_CHECKED enum tutti_err tt_rank_agree_any(struct tt_rank *rank, bool *any);

/* What has happened at a point that units have reached. */
struct tt_point_events {
    bool pending; /* an event is to be crossed */
    bool ticks;   /* a clock is due (ticks.h) */
    bool jumped;  /* an input from a file has jumped */
};
/* Collective: all that has happened there on any rank, which also becomes known of units that have ended the run (rank->ended; of
 * several the last). */
TUTTI_CHECKED enum tutti_err tt_rank_agree_point(struct tt_rank *rank, struct tt_point_events *here);

/* The end of an event of one unit. */

/* Lets a unit that is in event mode settle; once more if it announces the next event for the same time. *ended becomes true
 * if its FMU ends the run. */
TUTTI_CHECKED enum tutti_err tt_rank_finish_event(const struct tt_rank *rank, struct tt_member *member, bool *ended);

/* The error of a unit whose time stands still: `how` says what the FMU does. */
TUTTI_CHECKED enum tutti_err tt_rank_fail_no_progress(const struct tt_member *member, const char *how);

#endif
