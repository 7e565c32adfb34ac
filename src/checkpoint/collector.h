/* SPDX-License-Identifier: MIT */
/* collector.h - makes one checkpoint of what ranks pack (master/pack.h).
 *
 * Every rank brings a frame per checkpoint, with the same number: u64 number, double t, u32 count, then each: u32 component
 * (TUTTI_PIECE_OF_ALL: what all know, from one rank), a block. Once all pieces are there, the caller tells where its files are,
 * and the file is written. */
#ifndef TUTTI_CHECKPOINT_COLLECTOR_H
#define TUTTI_CHECKPOINT_COLLECTOR_H

#include <stdbool.h>

#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/writer.h"

#define TUTTI_PIECE_OF_ALL UINT32_MAX

struct tutti_collector_target {
    const char *path;            /* absolute, copied; NULL: no file is written */
    struct tutti_bytes identity; /* copied */
    uint32_t unit_count;
    bool keeps;                  /* the last one, in memory, too: tutti_collector_last */
    const struct tutti_log *log; /* borrowed: for what goes wrong with a file */
    struct tutti_checkpoint_sync sync;
};

struct tutti_collector;

TUTTI_CHECKED enum tutti_err tutti_collector_new(struct tutti_collector **out,
                                                 const struct tutti_collector_target *target);
/* Is this the frame of a later checkpoint than the one that is being collected? It has to wait. */
bool tutti_collector_must_wait(const struct tutti_collector *collector, struct tutti_unparcel frame);
/* Takes a frame; *complete: all pieces of this checkpoint are there. FORMAT. */
TUTTI_CHECKED enum tutti_err tutti_collector_take(struct tutti_collector *collector, struct tutti_unparcel *frame,
                                                  bool *complete);
/* The same for one who brings all pieces of a checkpoint in one frame, from `begin` on: the memory of the two parcels changes hands, and nothing
 * is copied. FORMAT, also if there are pieces missing. */
TUTTI_CHECKED enum tutti_err tutti_collector_take_over(struct tutti_collector *collector, struct tutti_parcel *frame,
                                                       size_t begin);
/* A complete one is written, by a thread, with these marks of the result and of the step log. What is wrong with an earlier one
 * is a warning. */
TUTTI_CHECKED enum tutti_err tutti_collector_write(struct tutti_collector *collector, struct tutti_bytes result,
                                                   struct tutti_bytes step_log);
/* The last one that was complete, as a file in memory, if target.keeps; size 0: there is none. Good until the next one is. */
struct tutti_bytes tutti_collector_last(struct tutti_collector *collector);
/* The time of it. */
double tutti_collector_time(const struct tutti_collector *collector);
/* Waits until everything is written: before the files that target.sync means are closed. What could not be is told; NULL is fine,
 * here and below. */
void tutti_collector_wait(struct tutti_collector *collector);
/* Waits, too. */
void tutti_collector_free(struct tutti_collector *collector);

#endif
