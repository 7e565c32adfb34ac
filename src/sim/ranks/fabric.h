/* SPDX-License-Identifier: MIT */
/* fabric.h - communication between ranks. Every rank runs the same master over its own units; three things cross ranks:
 * boundary signals (exchange), decisions (reduce), and reports to the conductor (report). A single process has one
 * rank, where all of these are trivial.
 *
 * A fabric object belongs to one rank and one thread. The code that starts ranks creates it (run/launch/); masters only
 * use it.
 *
 * Invariants:
 *  F1  All ranks open the same channels in the same order, and call exchange and reduce in the same order.
 *  F2  exchange waits for those that this rank reads from, and for no others; a reduction waits for all.
 *  F3  Whatever a rank waits for, it stops waiting once a stop that concerns it is known: STOPPED.
 *  F4  Results do not depend on when messages arrive.
 *
 * To add a kind: docs/extending.md ("A fabric"); `ctest -L fabric`. */
#ifndef TT_SIM_RANKS_FABRIC_H
#define TT_SIM_RANKS_FABRIC_H

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "unit/signals.h"

/* For one kind of exchange, the pieces of the signal array that are sent to each peer and received from it.
 *
 * A message is the pieces in sequence, then, for each String and Binary, its length (8 bytes, this machine's order) and
 * its bytes. Both ends make their lists from one plan, so that messages need no description. */

struct tt_cargo_piece {
    size_t offset, size; /* bytes of the array */
};

/* Strings or Binaries, which are pointers in the array. */
struct tt_cargo_text {
    size_t offset;
    enum tt_type type;
    uint32_t count;
    struct tt_owned *owned; /* of the receiver: where copies live */
};

/* One direction of a link. */
struct tt_cargo {
    struct tt_cargo_piece *pieces;
    uint32_t piece_count;
    struct tt_cargo_text *texts;
    uint32_t text_count;
    size_t size; /* of all pieces; with text_count 0, of the message. 0: no message */
};

struct tt_channel_link {
    int peer;
    struct tt_cargo out, in;
};

struct tt_channel {
    struct tt_channel_link *links; /* by peer, in rising order; each with something to send or to receive */
    uint32_t link_count;
};

static inline bool tt_fabric_cargo_is_empty(const struct tt_cargo *cargo)
{
    return cargo->size == 0 && cargo->text_count == 0;
}

/* Bytes of the message now. */
size_t tt_fabric_cargo_size(const struct tt_cargo *cargo, const char *base);
/* Writes it to `message`, which has room for tt_fabric_cargo_size bytes. */
void tt_fabric_cargo_pack(const struct tt_cargo *cargo, const char *base, char *message);
/* Takes it apart. FORMAT if it is not as long as it must be (then nothing after the fault is written). */
TUTTI_CHECKED enum tutti_err tt_fabric_cargo_unpack(const struct tt_cargo *cargo, char *base, const char *message,
                                                    size_t size);

struct tt_fabric;

enum tt_fabric_reduction { TUTTI_REDUCE_MIN, TUTTI_REDUCE_MAX };

/* The state of a rank for external observers: written by the rank, read at any time by others. */
struct tt_heartbeat {
    _Atomic uint64_t beat;      /* moves with every macro step, and now and then while the rank waits */
    _Atomic uint32_t component; /* the component whose FMU it calls; TUTTI_NONE: none */
    _Atomic double t;           /* simulated time there */
    _Atomic uint64_t step;      /* macro steps that it has made */
} __attribute__((aligned(64)));

/* A different sum than before: the rank has made progress. */
static inline uint64_t tt_fabric_heartbeat_sum(const struct tt_heartbeat *where)
{
    uint64_t component = atomic_load_explicit(&where->component, memory_order_relaxed);
    return atomic_load_explicit(&where->beat, memory_order_relaxed) ^ (component << 32);
}

struct tt_fabric_kind {
    const char *name; /* "local" */
    /* Collective. Adds a channel, numbered by the count of earlier ones. `channel` is borrowed until close. */
    enum tutti_err (*open)(struct tt_fabric *fabric, const struct tt_channel *channel);
    /* Collective among neighbours. `base` is an array laid out as the signals are. After it, the values that this rank
     * reads by the channel are those of its peers at their calls. */
    enum tutti_err (*exchange)(struct tt_fabric *fabric, uint32_t channel, char *base);
    /* Collective; in place. The same bits on every rank, whatever their number: min and max have no order. */
    enum tutti_err (*reduce)(struct tt_fabric *fabric, enum tt_fabric_reduction reduction, double *values,
                             size_t count);
    /* Bytes for the conductor (sim/ranks/fabric.h), in order. Returns at once unless what was reported before is not taken. */
    enum tutti_err (*report)(struct tt_fabric *fabric, const void *bytes, size_t size);
    /* Tells all ranks not to exceed `step` macro steps: at once (0), because this rank failed; or because an FMU ended
     * the run. The least such number applies. Does not wait. */
    void (*stop)(struct tt_fabric *fabric, uint64_t step);
    void (*close)(struct tt_fabric *fabric); /* NULL is fine */
};

struct tt_fabric {
    const struct tt_fabric_kind *kind;
    int rank, ranks;
    unsigned long exchanges;      /* so far */
    uint64_t step;                /* macro steps that this rank has made; kept by the loop */
    _Atomic uint64_t *stop_after; /* the least number that any rank set; UINT64_MAX: none. Never NULL */
    struct tt_heartbeat *where;   /* this rank's. Never NULL */
};

/* Returns true if the rank must not make a further step (F3). */
static inline bool tt_fabric_is_stopped(const struct tt_fabric *fabric)
{
    return atomic_load_explicit(fabric->stop_after, memory_order_relaxed) <= fabric->step;
}

/* For kinds: lowers stop_after to `step`. */
void tt_fabric_lower_stop(_Atomic uint64_t *stop_after, uint64_t step);
/* For kinds: the error of a wait that is abandoned. */
enum tutti_err tt_fabric_fail_stopped(void);
/* For kinds: into[i] = min or max of into[i] and from[i]. A NaN wins over everything. */
void tt_fabric_combine(enum tt_fabric_reduction reduction, double *into, const double *from, size_t count);

/* One rank that is alone. */
TUTTI_CHECKED enum tutti_err tt_fabric_new_local(struct tt_fabric **out);

/* Reports of a rank to the conductor: a stream of frames, each a kind, a size and a parcel (base/bytes.h).
 *
 * In their order: COLUMNS once, before the first ROW; any number of ROW, LOG, PROGRESS, LOAD, STEP, CHECKPOINT, STATE
 * and MADE; TALLY at most once; END, which is the last. The stream of a lost rank ends anywhere, also in the middle of
 * a frame.
 *
 *  COLUMNS   text system; u32 count; each: u32 component (TUTTI_NONE: a port of the system), u32 place (all ranks' columns are
 *            shown in the order of component, then place, then as their rank told them), text name, text unit, text
 *            description, u8 type, u8 negated
 *  ROW       double time; per column: the bytes of its value (as type.h lays it out, this machine's order), of a String or
 *            Binary a block. From rank 0, who always tells the time, and from those who have columns
 *  LOG       u8 level, text origin, text text
 *  PROGRESS  double start, double stop, double t, double step, u64 steps, double elapsed, u8 whether it pauses
 *  LOAD      its steps, and what its units take (sim/report/reporter.h)
 *  STEP      text: a line of the step log (rank 0 only)
 *  CHECKPOINT  its part of one (sim/checkpoint/collector.h)
 *  STATE     u32 component, block: the state that its FMU has at the end (sim/job/state_files.h)
 *  MADE      of a sweep, which has no rows: u8 whether the rank makes no further run, block: what became of one (apps/study/sweep_worker.h)
 *  TALLY     what the rank counted (sim/report/reporter.h)
 *  END       u32 enum tutti_err, text message; what it is about: text unit, text variable, double time; u32 component,
 *            double t (of a failure: where the step that failed was to lead)
 *
 * Sender and receiver have one version of Tutti and one byte order; fabrics between machines check that. */

enum tt_report_kind {
    TUTTI_REPORT_COLUMNS = 1,
    TUTTI_REPORT_ROW,
    TUTTI_REPORT_LOG,
    TUTTI_REPORT_PROGRESS,
    TUTTI_REPORT_LOAD,
    TUTTI_REPORT_STEP,
    TUTTI_REPORT_CHECKPOINT,
    TUTTI_REPORT_STATE,
    TUTTI_REPORT_MADE,
    TUTTI_REPORT_TALLY,
    TUTTI_REPORT_END,
    TUTTI_REPORT_KINDS
};

/* No frame is larger; a larger size is a fault. */
static const uint64_t TUTTI_REPORT_MOST = (uint64_t)1 << 32;

/* "kind, size" in front of every frame. */
enum { TUTTI_REPORT_HEADER = 16 };

/* Starts a frame in an empty parcel: room for the header. */
void tt_fabric_begin_report(struct tt_byte_writer *parcel);
/* Fills the header in and hands the frame to the fabric. MEMORY if the parcel has failed. */
TUTTI_CHECKED enum tutti_err tt_fabric_send_report(struct tt_fabric *fabric, enum tt_report_kind kind,
                                                   struct tt_byte_writer *parcel);
/* Returns true if these bytes begin with a complete frame. *size is that of its parcel, which begins
 * TUTTI_REPORT_HEADER bytes from there. FORMAT if they cannot be a frame. */
TUTTI_CHECKED enum tutti_err tt_fabric_find_report(const char *bytes, size_t count, enum tt_report_kind *kind,
                                                   size_t *size, bool *whole);

#endif
