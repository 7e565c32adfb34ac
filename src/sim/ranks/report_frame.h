/* SPDX-License-Identifier: MIT */
/* report_frame.h - what a rank tells the conductor: a stream of frames, each a kind, a size and a parcel (base/bytes.h).
 *
 * In their order: COLUMNS once, before the first ROW; any number of ROW, LOG, PROGRESS, LOAD, STEP, CHECKPOINT, STATE and MADE; TALLY at most once; END,
 * after which nothing comes. A rank that is lost ends anywhere, also in the middle of a frame.
 *
 *  COLUMNS   text system; u32 count; each: u32 component (TUTTI_NONE: a port of the system), u32 place (all ranks' columns are
 *            shown in the order of component, then place, then as their rank told them), text name, text unit, text
 *            description, u8 type, u8 negated
 *  ROW       double time; per column: the bytes of its value (as type.h lays it out, this machine's order), of a String or
 *            Binary a block. From rank 0, who always tells the time, and from those who have columns
 *  LOG       u8 level, text origin, text text
 *  PROGRESS  double start, double stop, double t, double step, u64 steps, double elapsed, u8 whether it pauses
 *  LOAD      its steps, and what its units take (sim/report/rank_load.h)
 *  STEP      text: a line of the step log (rank 0 only)
 *  CHECKPOINT  its part of one (sim/checkpoint/collector.h)
 *  STATE     u32 component, block: the state that its FMU has at the end (sim/job/state_files.h)
 *  MADE      of a sweep, which has no rows: u8 whether the rank makes no further run, block: what became of one (apps/study/run_record.h)
 *  TALLY     what the rank counted (sim/report/tally.h)
 *  END       u32 enum tutti_err, text message; what it is about: text unit, text variable, double time; u32 component,
 *            double t (of a failure: where the step that failed was to lead)
 *
 * Sender and receiver are the same version of Tutti on machines with the same byte order; fabrics that leave the machine check
 * that when they connect. */
#ifndef TT_SIM_RANKS_REPORT_FRAME_H
#define TT_SIM_RANKS_REPORT_FRAME_H

#include "base/bytes.h"
#include "sim/ranks/fabric.h"

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

/* No frame is larger; one that says so is a fault. */
static const uint64_t TUTTI_REPORT_MOST = (uint64_t)1 << 32;

/* "kind, size" in front of every frame. */
enum { TUTTI_REPORT_HEADER = 16 };

/* Starts a frame in an empty parcel: room for the header. */
void tt_fabric_begin_report(struct tt_byte_writer *parcel);
/* Fills the header in and hands the frame to the fabric. MEMORY if the parcel has failed. */
TUTTI_CHECKED enum tutti_err tt_fabric_send_report(struct tt_fabric *fabric, enum tt_report_kind kind,
                                                   struct tt_byte_writer *parcel);
/* Is there a whole frame at the start of these bytes? *size is that of its parcel, which begins TUTTI_REPORT_HEADER bytes
 * from there. FORMAT if what is there cannot be a frame. */
TUTTI_CHECKED enum tutti_err tt_fabric_find_report(const char *bytes, size_t count, enum tt_report_kind *kind,
                                                   size_t *size, bool *whole);

#endif
