/* SPDX-License-Identifier: MIT */
/* apps/study/sweep_journal.h - the runs of a sweep that are over, in a file: whatever ends the sweep, it goes on from there.
 *
 * The file begins with what sweep it is of; then records (apps/study/sweep_worker.h), each with its size and digest in front. A record that is not whole was being
 * written when the sweep ended: it is cut off. */
#ifndef TT_APPS_STUDY_SWEEP_JOURNAL_H
#define TT_APPS_STUDY_SWEEP_JOURNAL_H

#include "base/bytes.h"
#include "base/fail.h"

struct tt_sweep_journal;

/* Opens `path`, or makes it. `identity`: what the sweep is; ARGUMENT if the file is there and of another one, FORMAT if it is no journal, IO. `found` is
 * called for every record that is in it; false: it is damaged. */
TUTTI_CHECKED enum tutti_err tt_sweep_journal_open(struct tt_sweep_journal **out, const char *path, uint64_t identity,
                                                   void *context,
                                                   bool (*found)(void *context, struct tt_bytes record, size_t offset));
/* Adds a record; *offset: where it is in the file, once it is flushed. */
TUTTI_CHECKED enum tutti_err tt_sweep_journal_add(struct tt_sweep_journal *journal, struct tt_bytes record,
                                                  size_t *offset);
/* Writes what was added. Records that come together are written together: each write costs as much as a short run. */
TUTTI_CHECKED enum tutti_err tt_sweep_journal_flush(struct tt_sweep_journal *journal);
/* The record there, into `out`, which is emptied before. */
TUTTI_CHECKED enum tutti_err tt_sweep_journal_read(struct tt_sweep_journal *journal, size_t offset,
                                                   struct tt_byte_writer *out);
/* Flushes. `done`: the file is not needed any more, and removed. NULL is fine. */
void tt_sweep_journal_close(struct tt_sweep_journal *journal, bool done);

#endif
