/* SPDX-License-Identifier: MIT */
/* loop.h - a run: its units, and the loop from communication point to communication point.
 *
 * Invariants:
 *  R1  Times come from grids (base/time.h), an FMU or the input file, to the bit; nothing is added up.
 *  R2  A step ends at the earliest of: next communication point, next recorded point, next event that an FMU announced,
 *      next jump of an input (for units that keep slopes: next kink), stop.
 *  R3  At every point: values are read (recorded) first, inputs are set after, then comes the step: no read follows a set.
 *  R4  Whatever ends the run, rows recorded so far are in the file.
 *  R5  The code is that of a rank: it touches its own units only; what it knows of others came by exchange or reduce. */
#ifndef TUTTI_MASTER_LOOP_H
#define TUTTI_MASTER_LOOP_H

#include <tutti/run.h>

#include "base/time.h"
#include "fabric/fabric.h"
#include "master/channels.h"
#include "master/experiment.h"
#include "master/growth.h"
#include "master/inputs.h"
#include "master/master.h"
#include "master/observer.h"
#include "master/run.h"
#include "master/wires.h"
#include "plan/structure.h"

/* How often an FMU may come back without moving in time before it is called stuck. */
enum { TUTTI_MOST_STANDSTILLS = 1000 };

/* A unit in a run; what every step touches comes first. */
struct tutti_member {
    struct tutti_unit *unit; /* a shadow (unit/shadow.h) if it is another rank's */
    struct tutti_unit_wires *wires;
    struct tutti_inputs *inputs; /* that a file drives; NULL: none */
    double t;                    /* where it is: at the run's time, or behind it in the middle of a step of its own */
    double next_event;           /* that it announced; INFINITY: none */
    bool event;                  /* to be crossed at this point */
    bool poked;                  /* a program has set some of its inputs or parameters (poke.h) */
    bool has_grid;               /* steps of a size of its own, or of one size only */
    bool ready;                  /* initialised */
    bool driven;                 /* a file has inputs for it; `inputs` only on its own rank */
    bool step_from_file;         /* own_step, by an annotation */
    double staged_at;            /* when its inputs were staged, if they move: from there on */
    struct tutti_grid grid;
    uint32_t component;
    double own_step;  /* that it is to have; 0: the communication step */
    double tolerance; /* for its solver, its own or ours; 0: none */
    double share;     /* ... times this, where errors of macro steps are estimated; 0: all of it */
    struct tutti_integration integration;
};

struct run {
    const struct tutti_run_options *asked;   /* by the person; set both */
    const struct tutti_run_options *options; /* ... from tutti_setup_system on with what the system's annotation adds */
    struct tutti_run_options merged;
    struct tutti_run_stats *stats;
    struct tutti_system *system;
    struct tutti_structure structure; /* of the initial phase */
    struct tutti_wires wires;
    struct tutti_fabric *fabric;
    bool owns_fabric;
    struct tutti_whereabouts *where; /* the fabric's */
    bool borrows;                    /* system, table, structure and result belong to a job (rank.h) */
    const int32_t *place;            /* per component: its rank; NULL: there is one rank only */
    bool reports;                    /* a conductor listens: rows, messages and counts go there */
    struct tutti_teller *teller;     /* ... by this (tell.h); NULL: nobody does */
    struct tutti_channels channels;
    struct tutti_master master;
    const struct tutti_log *unit_log; /* for what own units say; options->log is silent on all ranks but the first */
    struct tutti_unit **units;        /* per component; shadows for those of other ranks */
    struct tutti_member *members;     /* per component */
    uint32_t member_count;
    struct tutti_member **own; /* members of this rank, in the order of components */
    uint32_t own_count;
    /* Own members with more to do than to step: events, input files, discrete inputs. */
    struct tutti_member **watched;
    uint32_t watched_count;
    bool watches; /* any rank has one */
    /* Members, of all ranks, that announce times; and what each announces now. */
    struct tutti_member **announcers;
    uint32_t announcer_count;
    double *announced;
    bool has_grids; /* some member has one */
    bool alone;     /* one member, with the steps of the run: the run is where it is, also on the way */
    struct tutti_trajectory_file *tables; /* the input files, and those of the system */
    size_t table_count;
    struct tutti_observer observer;
    struct tutti_arena arena;
    struct tutti_times times;
    const struct tutti_visit *visit; /* NULL: none */
    double visit_at;
    struct tutti_pokes *pokes; /* NULL: nobody sets values on the way */
    bool steered;              /* a program has it in hand (simulation.c), step by step ... */
    double halt_at;            /* ... which wants a step to end there; INFINITY: nowhere */
    double kept_from;          /* ... and may go back to points (point.h) from there on; INFINITY: it keeps none */
    /* Called once everything is computed at the start and no unit has left its initialisation; the run ends there. NULL:
     * none. For those who only want to look (analyze.c). */
    enum tutti_err (*at_start)(void *context, struct run *run);
    void *at_start_context;
    double span;  /* stop - start: the scale for comparing times */
    char *result; /* the result file, absolute, or "-"; NULL: none */

    struct tutti_grid communication, output;
    double t;
    double target;                    /* where the step that is being made is to lead; behind it: t */
    const struct tutti_member *ended; /* by this one's FMU; NULL: not */
    double ended_at;                  /* ... there, as all ranks know (agree.h) */
    /* Of own units alone, which other ranks do not know of: steps that a unit repeated, events that it crossed by itself. */
    unsigned long own_rejected, own_events;
    struct tutti_growth growth;
    bool plain; /* nothing to do between steps: nobody to watch, nothing recorded */
    int standstills;
    unsigned long countdown, interval; /* steps until the next look at the clock */
    double loop_start, last_look, last_flush, last_progress;
};

/* Lets a unit that is in event mode settle; once more if it announces the next event for the same time. */
TUTTI_CHECKED enum tutti_err tutti_member_settle(struct run *run, struct tutti_member *member);
/* Hands the staged inputs to the unit, steps it to `target` and reads its outputs. A unit that comes back on the way (an
 * event, a discarded step) crosses the event and goes on; only where it is alone may it stay there. */
TUTTI_CHECKED enum tutti_err tutti_member_step(struct run *run, struct tutti_member *member, double target);
/* Where the member came to: does its input file jump there, or does it have an event to cross? */
void tutti_member_look(const struct run *run, struct tutti_member *member);
static inline bool tutti_run_owns(const struct run *run, uint32_t component)
{
    return !run->place || run->place[component] == run->fabric->rank;
}

/* For those who watch this rank from outside (fabric.h): it calls this unit now ... */
static inline void tutti_run_tell_unit(struct run *run, uint32_t component)
{
    atomic_store_explicit(&run->where->component, component, memory_order_relaxed);
}
/* ... and has come there. */
static inline void tutti_run_tell_time(struct run *run, double t)
{
    struct tutti_whereabouts *where = run->where;
    uint64_t beat = atomic_load_explicit(&where->beat, memory_order_relaxed);
    atomic_store_explicit(&where->t, t, memory_order_relaxed);
    atomic_store_explicit(&where->step, run->fabric->step, memory_order_relaxed);
    atomic_store_explicit(&where->beat, beat + 1, memory_order_relaxed);
}

/* Does a macro step that ends at `target` end a step of this member? */
static inline bool tutti_member_due(const struct run *run, const struct tutti_member *member, double target)
{
    return !member->has_grid || tutti_time_reached(target, member->grid.next, run->span);
}
/* Is the member at the run's time, not in the middle of a step of its own? */
static inline bool tutti_member_present(const struct run *run, const struct tutti_member *member)
{
    return !member->has_grid || member->t == run->t;
}

/* One macro step from run->t towards `target`, which becomes where it ends: attempt by attempt, until one is good. For runs
 * whose steps vary or may be taken back; others call the coupling alone. */
TUTTI_CHECKED enum tutti_err tutti_macro_step(struct run *run, double *target);

/* At the point reached, with outputs exchanged: is an event due there for any unit (member->event, discrete inputs that
 * changed), whichever rank has it? Also agrees on *jumped and run->ended. */
TUTTI_CHECKED enum tutti_err tutti_events_look(struct run *run, bool *jumped, bool *pending);
/* Crosses the events that were found, with a row before and one after. */
TUTTI_CHECKED enum tutti_err tutti_events_cross_found(struct run *run);
/* The same where the row before is recorded. */
TUTTI_CHECKED enum tutti_err tutti_events_cross_shown(struct run *run);
/* Looks, and crosses what is found; *crossed says whether there was any. */
TUTTI_CHECKED enum tutti_err tutti_events_cross(struct run *run, bool *crossed);

/* From instantiated and configured units to the first point: initialise.c. */
TUTTI_CHECKED enum tutti_err tutti_initialise(struct run *run);

/* The first part of setting up: files are looked at, the system is loaded, options and times are settled. */
TUTTI_CHECKED enum tutti_err tutti_run_prepare(struct run *run);
/* From there to the end of the run. */
TUTTI_CHECKED enum tutti_err tutti_run_go(struct run *run);
/* The same with counting, and everything released. */
TUTTI_CHECKED enum tutti_err tutti_run_prepared(struct run *run, struct tutti_run_stats *stats);
/* In pieces: up to the first row; and, behind the last step, the end of all units. */
TUTTI_CHECKED enum tutti_err tutti_run_set_up(struct run *run);
TUTTI_CHECKED enum tutti_err tutti_run_terminate(struct run *run);
/* Words to the log on how it ended, `err` being how. */
void tutti_run_tell_end(const struct run *run, enum tutti_err err);
/* Releases what tutti_run_prepare made. */
void tutti_run_let_go(struct run *run);
/* The second part of setting up, behind tutti_setup_system: to the first point. */
TUTTI_CHECKED enum tutti_err tutti_run_start(struct run *run);
/* Releases everything, however far it came; returns `err` with its message, or the error of closing the result. */
TUTTI_CHECKED enum tutti_err tutti_run_tear_down(struct run *run, enum tutti_err err);

/* From run->t to the end; where the run is steered, one macro step of it. */
TUTTI_CHECKED enum tutti_err tutti_loop(struct run *run);
/* Signals have jumped at run->t: what was known of how they move is forgotten. */
TUTTI_CHECKED enum tutti_err tutti_loop_begin_anew(struct run *run);

#endif
