/* SPDX-License-Identifier: MIT */
/* checkpoint_writer.h - a thread that writes checkpoints while the run goes on.
 *
 * A file appears whole or not at all: it is written beside its place, forced to the disk, and renamed; what was there before is
 * kept as "FILE.previous". Whenever the machine stops, one of the two is whole. */
#ifndef TT_SIM_CHECKPOINT_CHECKPOINT_WRITER_H
#define TT_SIM_CHECKPOINT_CHECKPOINT_WRITER_H

#include "base/fail.h"
#include "base/bytes.h"

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
