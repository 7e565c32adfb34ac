/* SPDX-License-Identifier: MIT */
/* collector.h - makes one checkpoint of what ranks pack (sim/checkpoint/packed_state.h).
 *
 * Every rank brings a frame per checkpoint, with the same number: u64 number, double t, u32 count, then each: u32 component
 * (TUTTI_PIECE_OF_ALL: what all know, from one rank), a block. Once all pieces are there, the caller tells where its files are,
 * and the file is written. */
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
    const struct tutti_log *log; /* borrowed: for what goes wrong with a file */
    struct tt_checkpoint_sync sync;
};

struct tt_collector;

TUTTI_CHECKED enum tutti_err tt_collector_new(struct tt_collector **out, const struct tt_collector_target *target);
/* Is this the frame of a later checkpoint than the one that is being collected? It has to wait. */
bool tt_collector_must_wait(const struct tt_collector *collector, struct tt_byte_reader frame);
/* Takes a frame; *complete: all pieces of this checkpoint are there. FORMAT. */
TUTTI_CHECKED enum tutti_err tt_collector_add_frame(struct tt_collector *collector, struct tt_byte_reader *frame,
                                                    bool *complete);
/* The same for one who brings all pieces of a checkpoint in one frame, from `begin` on: the memory of the two parcels changes hands, and nothing
 * is copied. FORMAT, also if there are pieces missing. */
TUTTI_CHECKED enum tutti_err tt_collector_adopt_frame(struct tt_collector *collector, struct tt_byte_writer *frame,
                                                      size_t begin);
/* A complete one is written, by a thread, with these marks of the result and of the step log. What is wrong with an earlier one
 * is a warning. */
TUTTI_CHECKED enum tutti_err tt_collector_write(struct tt_collector *collector, struct tt_bytes result,
                                                struct tt_bytes step_log);
/* The last one that was complete, as a file in memory, if target.keeps; size 0: there is none. Good until the next one is. */
struct tt_bytes tt_collector_last_file(struct tt_collector *collector);
/* The time of it. */
double tt_collector_time(const struct tt_collector *collector);
/* Waits until everything is written: before the files that target.sync means are closed. What could not be is told; NULL is fine,
 * here and below. */
void tt_collector_wait(struct tt_collector *collector);
/* Waits, too. */
void tt_collector_free(struct tt_collector *collector);

#endif
