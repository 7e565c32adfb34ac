/* SPDX-License-Identifier: MIT */
/* collector.h - makes one checkpoint of the parts that ranks pack (sim/checkpoint/packed_state.h).
 *
 * Every rank sends a frame per checkpoint, with its number: u64 number, double t, u32 count, then each: u32 component
 * (TUTTI_PIECE_OF_ALL: the shared state, from one rank), a block. Once all pieces have arrived, the caller provides the
 * positions in its files, and the file is written. */
#ifndef TT_SIM_CHECKPOINT_COLLECTOR_H
#define TT_SIM_CHECKPOINT_COLLECTOR_H

#include <stdbool.h>

#include "base/log.h"
#include "sim/checkpoint/checkpoint.h"

#define TUTTI_PIECE_OF_ALL UINT32_MAX

struct tt_collector_target {
    const char *path;         /* absolute, copied; NULL: no file is written */
    struct tt_bytes identity; /* copied */
    uint32_t unit_count;
    bool keeps;                  /* the last one, in memory, too: tt_collector_last_file */
    const struct tutti_log *log; /* borrowed: for failures of a file */
    struct tt_checkpoint_sync sync;
};

struct tt_collector;

TUTTI_CHECKED enum tutti_err tt_collector_new(struct tt_collector **out, const struct tt_collector_target *target);
/* Returns true if this frame belongs to a later checkpoint than the one being collected, and must wait. */
bool tt_collector_must_wait(const struct tt_collector *collector, struct tt_byte_reader frame);
/* Takes a frame; *complete: all pieces of this checkpoint are there. FORMAT. */
TUTTI_CHECKED enum tutti_err tt_collector_add_frame(struct tt_collector *collector, struct tt_byte_reader *frame,
                                                    bool *complete);
/* As tt_collector_add_frame, for all pieces of a checkpoint in one frame, from `begin` on: the memory of the two
 * parcels is exchanged, without copying. FORMAT, also if pieces are missing. */
TUTTI_CHECKED enum tutti_err tt_collector_adopt_frame(struct tt_collector *collector, struct tt_byte_writer *frame,
                                                      size_t begin);
/* Writes a complete checkpoint by a thread, with the marks of result and step log. Failures of earlier ones are
 * warnings. */
TUTTI_CHECKED enum tutti_err tt_collector_write(struct tt_collector *collector, struct tt_bytes result,
                                                struct tt_bytes step_log);
/* Returns the last complete one as a file in memory, if target.keeps; size 0: none. Valid until the next is complete. */
struct tt_bytes tt_collector_last_file(struct tt_collector *collector);
/* The time of it. */
double tt_collector_time(const struct tt_collector *collector);
/* Waits until everything is written: before the files of target.sync are closed. Logs failures; NULL is allowed. */
void tt_collector_wait(struct tt_collector *collector);
/* Waits, too. */
void tt_collector_free(struct tt_collector *collector);

#endif
