/* SPDX-License-Identifier: MIT */
/* checkpoint.h - a run between two macro steps as a file, from which a different process resumes.
 *
 *     "Tutti checkpoint\n"  u32 format  u32 machine  hash of all that follows  payload
 *
 * The payload (base/bytes.h) holds blocks packed by other modules, in this machine's layout: the identity of the run
 * (run/run_identity.h), the shared state and that of each unit (sim/checkpoint/packed_state.h), the positions in the
 * result and the step log. Files of different machines or formats, and damaged files, are rejected. */
#ifndef TT_SIM_CHECKPOINT_CHECKPOINT_H
#define TT_SIM_CHECKPOINT_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/fail.h"

struct tt_checkpoint {
    double t;
    struct tt_bytes identity;
    struct tt_bytes result, step_log; /* of size 0: none */
    struct tt_bytes common;
    struct tt_bytes *units; /* per component */
    uint32_t unit_count;
};

/* Encodes the file without the hash. MEMORY is in the parcel. */
void tt_checkpoint_encode(struct tt_byte_writer *file, const struct tt_checkpoint *checkpoint);
/* Fills in the hash, which is the slowest part. */
void tt_checkpoint_add_hash(struct tt_byte_writer *file);
/* Both. */
void tt_checkpoint_encode_and_hash(struct tt_byte_writer *file, const struct tt_checkpoint *checkpoint);

/* Of a whole file; the pieces point into `bytes`, which the caller keeps. FORMAT: `name` is in the sentence. */
TUTTI_CHECKED enum tutti_err tt_checkpoint_parse(struct tt_checkpoint **out, const void *bytes, size_t size,
                                                 const char *name);
/* Reads a file with its bytes; where it is damaged or gone, the one that was kept before it ("FILE.previous"): *kept is then
 * true. IO, FORMAT: what is wrong with the file itself. */
TUTTI_CHECKED enum tutti_err tt_checkpoint_read(struct tt_checkpoint **out, const char *path, bool *kept);
void tt_checkpoint_free(struct tt_checkpoint *checkpoint); /* NULL is fine */

/* Where the one before is kept. The caller's (free); NULL when memory is out. */
char *tt_checkpoint_previous_path(const char *path);

/* A thread that writes checkpoints while the run continues.
 *
 * A file appears complete or not at all: it is written beside its place, forced to the disk, and renamed; the earlier
 * file is kept as "FILE.previous". Whenever the machine stops, one of the two is complete. */

struct tt_checkpoint_writer;

/* Files whose length a checkpoint contains must be on the disk first. Called by the thread; NULL: none. */
struct tt_checkpoint_sync {
    enum tutti_err (*sync)(void *context);
    void *context;
};

/* `path` is absolute; copied. */
TUTTI_CHECKED enum tutti_err tt_checkpoint_writer_new(struct tt_checkpoint_writer **out, const char *path,
                                                      const struct tt_checkpoint_sync *sync);
/* Passes a complete file to the thread, sealed or not (checkpoint.h), by exchanging memory: the parcel is a different
 * one, or empty, afterwards. A file that still waits to be written is dropped. An error is that of an earlier file: the
 * run can continue without it. */
TUTTI_CHECKED enum tutti_err tt_checkpoint_writer_submit(struct tt_checkpoint_writer *writer,
                                                         struct tt_byte_writer *file);
/* Waits until the last one is written: that one's error. */
TUTTI_CHECKED enum tutti_err tt_checkpoint_writer_wait(struct tt_checkpoint_writer *writer);
/* Waits, too; NULL is fine. */
void tt_checkpoint_writer_free(struct tt_checkpoint_writer *writer);

/* Once, in the calling thread. IO. */
TUTTI_CHECKED enum tutti_err tt_checkpoint_write(const char *path, const void *bytes, size_t size);

#endif
