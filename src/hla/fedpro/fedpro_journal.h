/* SPDX-License-Identifier: MIT */
/* fedpro_journal.h - a log of the federates' messages: a row for every value of an update or interaction, in the order
 * of the RTI. The formats are those of results. */
#ifndef TT_HLA_FEDPRO_FEDPRO_JOURNAL_H
#define TT_HLA_FEDPRO_FEDPRO_JOURNAL_H

#include <stddef.h>

#include "base/fail.h"
#include "base/log.h"

struct tt_fedpro_journal;

/* A value that was sent. */
struct tt_fedpro_journal_entry {
    const char *federation, *federate;
    const char *kind;   /* "update", "interaction" */
    const char *name;   /* of the object, or of the interaction's class */
    const char *member; /* the attribute or the parameter */
    double stamp;       /* NaN: none */
    bool is_double;     /* it is of HLAfloat64BE */
    const void *data;
    size_t size;
};

/* Opens the journal; the extension of `path` selects the format, as for a result. `log` is borrowed. */
TUTTI_CHECKED enum tutti_err tt_fedpro_journal_open(struct tt_fedpro_journal **journal, const char *path,
                                                    const struct tutti_log *log);
/* NULL is fine. Fails if not all could be written. */
enum tutti_err tt_fedpro_journal_close(struct tt_fedpro_journal *journal);
/* Does nothing if the journal is NULL. The first failed write is logged, ends writing, and is returned again by close. */
void tt_fedpro_journal_write(struct tt_fedpro_journal *journal, const struct tt_fedpro_journal_entry *entry);
/* Passes written data to the operating system. */
void tt_fedpro_journal_flush(struct tt_fedpro_journal *journal);

#endif
