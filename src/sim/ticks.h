/* SPDX-License-Identifier: MIT */
/* ticks.h - the clocks of a run (FMI 3.0): when they tick, and the effects of a tick at one instant.
 *
 * Invariants:
 *  CK1  The time of a tick is computed from integers (base/time.h), not by sums of doubles.
 *  CK2  Ticks happen at points that all units have reached, between macro steps, never inside an attempt: a step
 *       ends at the next of them.
 *  CK3  At an instant, events come first, until they converge; then clocks that are due tick, in the order of
 *       model/plan/clock_order.h, wave by wave, equally on every rank; then their consequences, round by round.
 *  CK4  A clocked variable is set and read only while one of its clocks ticks; between ticks it holds
 *       (unit/clocked.h, signals).
 *  CK5  An output clock, or an input clock by time that is connected to others, is a number among the signals that
 *       counts its ticks; an input clock ticks if its source's number differs from the last one it has seen. So a
 *       tick is neither lost nor duplicated by exchanges and rollbacks.
 *  CK7  With --realtime, a partition begins at its time by the wall clock. If tasks compute partitions, one that has
 *       not ended when the next point of the run is due continues, and its outputs are read at the first point after
 *       its end; all others are read at their own point.
 *  CK6  All persistent state is plain data, `states`: a snapshot copies it, a checkpoint saves it. */
#ifndef TT_SIM_TICKS_H
#define TT_SIM_TICKS_H

#include "base/rollback_list.h"
#include "base/time.h"
#include "fmu/instance_clocks.h"
#include "model/plan/clock_order.h"
#include "sim/rank.h"
#include "sim/tasks.h"

/* The work of one tick of a partition of Scheduled Execution with its unit: inputs set before it, the activation,
 * values read after it and their destinations. Listed once, so that a tick needs no lookup. */

/* A variable of the clock: the node of the signals that it has (TUTTI_NONE: none), and its place in unit->clocked, of one that is read. */
struct tt_tick_variable {
    uint32_t variable, node;
    size_t place;
};

/* Bytes that others read. */
struct tt_tick_copy {
    const void *from;
    void *to;
    size_t size;
};

/* How a partition reads and writes its unit. Arrays lie in the rank's arena. */
struct tt_tick_partition {
    struct tt_model_partition calls;
    struct tt_model_partition_reading *readings;
    uint32_t *references; /* of the readings */
    uint32_t *inputs;     /* nodes */
    uint32_t input_count;
    struct tt_tick_copy *copies;
    uint32_t copy_count;
    struct tt_tick_variable *texts; /* Strings and Binaries: read one by one, as the FMU's next call may free them */
    uint32_t text_count;
    bool hands_on; /* more work follows the calls */
};

/* `clock` is a variable of the member's unit, which is configured; `inputs` and `outputs` are all that are set, and read, at ticks of the
 * unit. */
TUTTI_CHECKED enum tutti_err tt_ticks_partition_init(struct tt_tick_partition *partition, struct tt_rank *rank,
                                                     struct tt_member *member, uint32_t clock,
                                                     const struct tt_tick_variable *inputs, uint32_t input_count,
                                                     const struct tt_tick_variable *outputs, uint32_t output_count);
/* At the time of the member. Between tt_fmi_call_enter_pass and _leave of `watch`. */
TUTTI_CHECKED enum tutti_err tt_ticks_partition_tick(const struct tt_tick_partition *partition, struct tt_rank *rank,
                                                     struct tt_member *member, struct tt_fmi_call_modes_watch *watch);

/* As above in two parts, around the computation by a task (tasks.h): sets the inputs; reads and publishes values. */
TUTTI_CHECKED enum tutti_err tt_ticks_partition_set(const struct tt_tick_partition *partition, struct tt_rank *rank,
                                                    struct tt_member *member);
TUTTI_CHECKED enum tutti_err tt_ticks_partition_read(const struct tt_tick_partition *partition,
                                                     const struct tt_rank *rank, struct tt_member *member,
                                                     struct tt_fmi_call_modes_watch *watch);

/* The state of a clock. Plain data. */
struct tt_tick_state {
    struct tt_instant next, last; /* tick; of `last` only if ticks > 0 */
    double time;                  /* of the next one as the run has it; INFINITY: none is known */
    struct tt_fraction interval;
    uint64_t ticks;
    double last_time; /* of the last one; NAN: none */
    uint8_t seen;     /* ticks of its source, of an input clock */
    bool due;         /* at this point */
};

/* A clock, or a line of the schedule that makes one tick. */
struct tt_tick_clock {
    uint32_t variable, reference;
    enum tt_interval kind;
    bool input, fraction;
    bool described; /* the description has its interval */
    const struct tt_scheduled
        *scheduled;        /* a line of --schedule, in place of the clock itself; NULL: it is the clock */
    const uint8_t *source; /* CK5: the output clock that makes it tick; NULL: none does */
    uint8_t *signal;       /* of a clock with readers; otherwise NULL */
    bool ticks, ticked;    /* now; in the present event mode */
    /* an output clock: it has readers; `late`: the warning that they see it only at the end of a step was given */
    bool heard, late;
    uint64_t looked_at;                  /* its ticks at the last point */
    struct tt_tick_partition *partition; /* of an input clock in Scheduled Execution, on its own rank; otherwise NULL */
    uint32_t task;                       /* that computes it; TUTTI_NONE: the thread of the rank does */
};

/* A partition that a task computes. */
struct tt_running_partition {
    struct tt_tick_unit *unit;
    uint32_t clock;
    struct tt_instant now;
    bool busy;
};

/* A change that the FMU has reported in the callback of such a partition, and the scheduler has not yet applied. */
struct tt_tick_update {
    uint32_t ticks; /* of an output clock */
    bool told;      /* a countdown was reported: */
    struct tt_clock_timing timing;
    struct tt_instant from;
};

/* Real time (--realtime). */
struct tt_tick_pace {
    bool on;
    double begin, from, rate;             /* at `from`, the clock was at `begin`; time runs `rate` times as fast */
    double next_point;                    /* of the run, but for ticks */
    struct tt_tasks *tasks;               /* NULL: partitions are computed in sequence */
    struct tt_running_partition *running; /* per task */
    size_t task_count;
    struct tt_tick_update *news; /* per state */
};

/* Clocks of a unit; clock_count 0: it has none. */
struct tt_tick_unit {
    struct tt_rank *rank;
    struct tt_member *member;
    struct tt_tick_clock *clocks;
    struct tt_tick_state *states;
    uint32_t clock_count;
    /* Clocked inputs that are connected, or any connected inputs of Scheduled Execution; clocked variables that are read. */
    struct tt_tick_variable *inputs, *outputs;
    uint32_t input_count, output_count;
    struct tt_instant now; /* of the present event, exact if a clock of the unit caused it */
    uint32_t *references;  /* room for a call */
    bool *values;
};

struct tt_ticks {
    struct tt_clock_order order;
    struct tt_tick_unit *units;   /* per component */
    struct tt_tick_state *states; /* of all units, in their order */
    size_t state_count;
    struct tt_tick_unit **of; /* per state: its unit */
    double
        apart; /* times of the run that differ by more do not mean one point; a bound for what base/time.h allows for rounding */
    struct tt_fmi_call_modes_watch watch;
    struct tt_tick_pace pace;
    bool runs;   /* partitions alone, none of which causes another tick: tt_ticks_run */
    bool steady; /* nor changes when another one ticks */
};

static inline const struct tt_description *tt_ticks_unit_desc(const struct tt_tick_unit *unit)
{
    return unit->member->unit->fmu->desc;
}

static inline bool tt_ticks_is_scheduled(const struct tt_tick_unit *unit)
{
    return unit->member->unit->kind->interface == TUTTI_SE;
}

static inline const char *tt_ticks_clock_name(const struct tt_tick_unit *unit, uint32_t clock)
{
    return tt_ticks_unit_desc(unit)->vars[unit->clocks[clock].variable].name;
}

/* Makes rank->ticks if any unit has clocks; with units configured and wires laid out. */
TUTTI_CHECKED enum tutti_err tt_tick_setup_open(struct tt_rank *rank);
/* For that: callbacks during calls of this unit's FMU at ticks. */
void tt_ticks_install_callbacks(struct tt_tick_unit *unit);
/* Called after an own unit was created again. */
TUTTI_CHECKED enum tutti_err tt_tick_setup_restart(struct tt_rank *rank, struct tt_member *member);
/* Called when an own unit is about to leave initialisation mode: reads and sets the intervals of its clocks. */
TUTTI_CHECKED enum tutti_err tt_ticks_start(struct tt_rank *rank, struct tt_member *member);
/* The next tick by time of an own unit; INFINITY: none. */
double tt_ticks_next(const struct tt_rank *rank, const struct tt_member *member);
/* At the point reached: marks the clocks of own units that are due. */
TUTTI_CHECKED enum tutti_err tt_ticks_check_due(struct tt_rank *rank, bool *any);
/* Collective: all that are due tick, once, with what follows from them later in the order. A unit that ends the run is rank->ended. */
TUTTI_CHECKED enum tutti_err tt_ticks_handle_due(struct tt_rank *rank);
/* With ticks->runs, on one rank: makes up to `most` ticks in sequence, each of one partition alone before the time
 * `until`, before which nothing else happens. The rank and its members are at the last one afterwards. None begins once
 * *interrupt is not 0. *made: their number. */
TUTTI_CHECKED enum tutti_err tt_ticks_run(struct tt_rank *rank, double until, unsigned long most,
                                          const volatile sig_atomic_t *interrupt, unsigned long *made);
/* Starts the wall clock: it is at `begin` at the rank's point. `preempts`: partitions of higher priority interrupt
 * those of lower, if the system permits it. */
TUTTI_CHECKED enum tutti_err tt_tick_pace_start(struct tt_rank *rank, double begin, bool preempts);
/* The end of that: waits for all partitions. */
TUTTI_CHECKED enum tutti_err tt_tick_pace_stop(struct tt_rank *rank);
/* For tick_pace.c. Stores data from the FMU in the thread of a task, which uses the instance; `running` is the task's. */
TUTTI_CHECKED enum tutti_err tt_tick_pace_store_update(const struct tt_running_partition *running);
/* At a point of the run: partitions that have ended meanwhile; at the last one, all. */
TUTTI_CHECKED enum tutti_err tt_tick_pace_collect(struct tt_rank *rank);
/* The task of a clock computes its partition. */
TUTTI_CHECKED enum tutti_err tt_tick_pace_run_in_task(struct tt_tick_unit *unit, uint32_t c);
/* Counts the latency of a partition that was due at the time `due` of the run and began at `begun` by the clock. */
void tt_tick_pace_count_latency(const struct tt_tick_unit *unit, double begun, double due);
/* For tick_pace.c: applies the interval that the FMU has reported for a clock; tests whether a variable belongs to it. */
TUTTI_CHECKED enum tutti_err tt_ticks_accept_timing(struct tt_tick_unit *unit, uint32_t c,
                                                    const struct tt_clock_timing *timing);
bool tt_ticks_has_clock(const struct tt_var *var, uint32_t clock);
/* After a partition was computed: its clock is asked for its interval, if the FMU computes that. */
TUTTI_CHECKED enum tutti_err tt_ticks_query_interval(struct tt_tick_unit *unit, uint32_t c);
/* Collective: the error for ticks without end at one instant. */
TUTTI_CHECKED enum tutti_err tt_ticks_fail_diverge(struct tt_rank *rank);
/* Packs the values of a unit's clocked variables at their last ticks, with Strings and Binaries, for a checkpoint; and
 * unpacks them, on every rank. */
void tt_ticks_pack(const struct tt_rank *rank, const struct tt_member *member, struct tt_byte_writer *parcel);
TUTTI_CHECKED enum tutti_err tt_ticks_unpack(struct tt_rank *rank, const struct tt_member *member,
                                             struct tt_byte_reader *in);
TUTTI_CHECKED enum tutti_err tt_ticks_register(struct tt_rank *rank, struct tt_rollback_list *remembered);

#endif
