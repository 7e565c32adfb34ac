/* SPDX-License-Identifier: MIT */
/* checkpoint.h - a run between two macro steps as a file, from which another process goes on.
 *
 *     "Tutti checkpoint\n"  u32 format  u32 machine  hash of all that follows  payload
 *
 * The payload (base/bytes.h) holds blocks that others pack, in this machine's layout: what the run is (run/run_identity.h), what
 * all ranks know and what belongs to each unit (sim/checkpoint/packed_state.h), where the result and the step log were. Other machines, other
 * formats, and files of which a bit is not as it was written are refused. */
#ifndef TT_SIM_CHECKPOINT_CHECKPOINT_H
#define TT_SIM_CHECKPOINT_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/fail.h"

struct tt_checkpoint {
    double t;
    struct tt_bytes identity;
    struct tt_bytes result, step_log; /* of size 0: there is none */
    struct tt_bytes common;
    struct tt_bytes *units; /* per component */
    uint32_t unit_count;
};

/* What the file holds, but for the hash. MEMORY is in the parcel. */
void tt_checkpoint_encode(struct tt_byte_writer *file, const struct tt_checkpoint *checkpoint);
/* Fills in the hash, which takes longer than all else. */
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

/* A thread that writes checkpoints while the run goes on.
 *
 * A file appears whole or not at all: it is written beside its place, forced to the disk, and renamed; what was there before is
 * kept as "FILE.previous". Whenever the machine stops, one of the two is whole. */

struct tt_checkpoint_writer;

/* Files that a checkpoint tells the length of must be on the disk before it is. Called by the thread; NULL: there are none. */
struct tt_checkpoint_sync {
    enum tutti_err (*sync)(void *context);
    void *context;
};

/* `path` is absolute; copied. */
TUTTI_CHECKED enum tutti_err tt_checkpoint_writer_new(struct tt_checkpoint_writer **out, const char *path,
                                                      const struct tt_checkpoint_sync *sync);
/* Hands over a whole file, sealed or not (checkpoint.h), whose memory changes hands: the parcel is another one, or empty, afterwards. One that still waits
 * to be written is not needed any more. An error is that of an earlier one: the run can go on without. */
TUTTI_CHECKED enum tutti_err tt_checkpoint_writer_submit(struct tt_checkpoint_writer *writer,
                                                         struct tt_byte_writer *file);
/* Waits until the last one is written: that one's error. */
TUTTI_CHECKED enum tutti_err tt_checkpoint_writer_wait(struct tt_checkpoint_writer *writer);
/* Waits, too; NULL is fine. */
void tt_checkpoint_writer_free(struct tt_checkpoint_writer *writer);

/* Once, in the calling thread. IO. */
TUTTI_CHECKED enum tutti_err tt_checkpoint_write(const char *path, const void *bytes, size_t size);

#endif
