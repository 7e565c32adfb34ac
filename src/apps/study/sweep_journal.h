/* SPDX-License-Identifier: MIT */
/* apps/study/sweep_journal.h - the completed runs of a sweep, in a file from which an interrupted sweep resumes.
 *
 * The file begins with the identity of the sweep; then records follow (apps/study/sweep_worker.h), each preceded by its
 * size and digest. An incomplete record was being written when the sweep ended: it is cut off. */
#ifndef TT_APPS_STUDY_SWEEP_JOURNAL_H
#define TT_APPS_STUDY_SWEEP_JOURNAL_H

#include "base/bytes.h"
#include "base/fail.h"

struct tt_sweep_journal;

/* Opens or creates `path`. `identity` identifies the sweep; ARGUMENT if the file belongs to a different sweep, FORMAT
 * if it is not a journal, IO. `found` is called for every record in it; false: the record is damaged. */
TUTTI_CHECKED enum tutti_err tt_sweep_journal_open(struct tt_sweep_journal **out, const char *path, uint64_t identity,
                                                   void *context,
                                                   bool (*found)(void *context, struct tt_bytes record, size_t offset));
/* Adds a record; *offset: where it is in the file, once it is flushed. */
TUTTI_CHECKED enum tutti_err tt_sweep_journal_add(struct tt_sweep_journal *journal, struct tt_bytes record,
                                                  size_t *offset);
/* Writes the added records. Several records are written at once, because each write costs as much as a short run. */
TUTTI_CHECKED enum tutti_err tt_sweep_journal_flush(struct tt_sweep_journal *journal);
/* The record there, into `out`, which is emptied before. */
TUTTI_CHECKED enum tutti_err tt_sweep_journal_read(struct tt_sweep_journal *journal, size_t offset,
                                                   struct tt_byte_writer *out);
/* Flushes. `done`: the file is not needed any more, and removed. NULL is fine. */
void tt_sweep_journal_close(struct tt_sweep_journal *journal, bool done);

#endif
