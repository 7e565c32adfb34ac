/* SPDX-License-Identifier: MIT */
/* study/journal.h - the runs of a sweep that are over, in a file: whatever ends the sweep, it goes on from there.
 *
 * The file begins with what sweep it is of; then records (study/record.h), each with its size and digest in front. A record that is not whole was being
 * written when the sweep ended: it is cut off. */
#ifndef TUTTI_STUDY_JOURNAL_H
#define TUTTI_STUDY_JOURNAL_H

#include "base/parcel.h"
#include "base/err.h"

struct tutti_journal;

/* Opens `path`, or makes it. `identity`: what the sweep is; ARGUMENT if the file is there and of another one, FORMAT if it is no journal, IO. `found` is
 * called for every record that is in it; false: it is damaged. */
TUTTI_CHECKED enum tutti_err tutti_journal_open(struct tutti_journal **out, const char *path, uint64_t identity,
                                                void *context,
                                                bool (*found)(void *context, struct tutti_bytes record, size_t offset));
/* Adds a record; *offset: where it is in the file, once it is flushed. */
TUTTI_CHECKED enum tutti_err tutti_journal_add(struct tutti_journal *journal, struct tutti_bytes record,
                                               size_t *offset);
/* Writes what was added. Records that come together are written together: each write costs as much as a short run. */
TUTTI_CHECKED enum tutti_err tutti_journal_flush(struct tutti_journal *journal);
/* The record there, into `out`, which is emptied before. */
TUTTI_CHECKED enum tutti_err tutti_journal_read(struct tutti_journal *journal, size_t offset, struct tutti_parcel *out);
/* Flushes. `done`: the file is not needed any more, and removed. NULL is fine. */
void tutti_journal_close(struct tutti_journal *journal, bool done);

#endif
