/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/fedpro_journal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/wall_clock.h"
#include "hla/fedpro/fedpro_message.h"
#include "results/recorder.h"

enum { FEDERATION, FEDERATE, KIND, NAME, MEMBER, STAMP, VALUE, BYTES, COLUMNS };

struct tt_fedpro_journal {
    const struct tt_record_format *format;
    struct tt_recorder *recorder;
    struct tt_column columns[COLUMNS];
    const char *texts[COLUMNS]; /* of the row that is written */
    double numbers[COLUMNS];
    struct tt_bytes bytes;
    double began;
    const struct tutti_log *log;
    struct tt_failure failure;
};

static void fedpro_journal_describe(struct tt_fedpro_journal *journal)
{
    static const char *const names[COLUMNS] = {"federation", "federate", "kind",  "name",
                                               "member",     "stamp",    "value", "bytes"};
    for (size_t i = 0; i < COLUMNS; i++) {
        bool number = i == STAMP || i == VALUE;
        journal->texts[i] = "";
        journal->columns[i] = (struct tt_column){
            .name = names[i],
            .type = number ? TUTTI_TYPE_FLOAT64 : TUTTI_TYPE_STRING,
            .source = i,
            .value = number ? (const void *)&journal->numbers[i] : (const void *)&journal->texts[i],
        };
    }
    journal->columns[BYTES].type = TUTTI_TYPE_BINARY;
    journal->columns[BYTES].value = &journal->bytes;
}

enum tutti_err tt_fedpro_journal_open(struct tt_fedpro_journal **out, const char *path, const struct tutti_log *log)
{
    const struct tt_record_format *format = NULL;
    TRY(tt_recorder_find_format(&format, path));
    if (!format->holds_texts && !format->sheet)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "%s: what federates send has texts, which %s files do not hold: use .csv, .jsonl or .h5", path,
                       format->name);
    if (format->sheet)
        format = format->sheet;
    struct tt_fedpro_journal *journal = calloc(1, sizeof *journal);
    if (!journal)
        return tt_fail_memory();
    journal->format = format;
    journal->log = log;
    journal->began = tt_wall_clock_now();
    fedpro_journal_describe(journal);
    enum tutti_err err = format->open(&journal->recorder, path, journal->columns, COLUMNS);
    if (err) {
        free(journal);
        return err;
    }
    *out = journal;
    return TUTTI_OK;
}

enum tutti_err tt_fedpro_journal_close(struct tt_fedpro_journal *journal)
{
    if (!journal)
        return TUTTI_OK;
    enum tutti_err err = journal->format->close(journal->recorder);
    if (journal->failure.err)
        err = tt_fail_restore(&journal->failure);
    free(journal);
    return err;
}

static double fedpro_journal_read_number(const struct tt_fedpro_journal_entry *entry)
{
    double number = NAN;
    if (!entry->is_double || entry->size != sizeof number)
        return NAN;
    const uint8_t *from = entry->data;
    uint64_t bits = (uint64_t)tt_fedpro_message_get_u32(from) << 32 | tt_fedpro_message_get_u32(from + 4);
    memcpy(&number, &bits, sizeof number);
    return number;
}

static void fedpro_journal_keep_error(struct tt_fedpro_journal *journal, enum tutti_err err)
{
    if (!err)
        return;
    tt_fail_save(&journal->failure, err);
    tt_log(journal->log, TUTTI_LOG_WARNING, NULL, "nothing more is recorded: %s", tutti_err_message());
}

void tt_fedpro_journal_write(struct tt_fedpro_journal *journal, const struct tt_fedpro_journal_entry *entry)
{
    if (!journal || journal->failure.err)
        return;
    journal->texts[FEDERATION] = entry->federation;
    journal->texts[FEDERATE] = entry->federate;
    journal->texts[KIND] = entry->kind;
    journal->texts[NAME] = entry->name;
    journal->texts[MEMBER] = entry->member;
    journal->bytes = (struct tt_bytes){entry->size, entry->data};
    journal->numbers[STAMP] = entry->stamp;
    journal->numbers[VALUE] = fedpro_journal_read_number(entry);
    fedpro_journal_keep_error(journal, journal->format->row(journal->recorder, tt_wall_clock_now() - journal->began));
}

void tt_fedpro_journal_flush(struct tt_fedpro_journal *journal)
{
    if (journal && !journal->failure.err)
        fedpro_journal_keep_error(journal, journal->format->flush(journal->recorder));
}
