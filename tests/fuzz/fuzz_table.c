/* SPDX-License-Identifier: MIT */
/* Any bytes as a CSV file. An accepted file is written again and read back to an equal table. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "results/csv_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_quoted(struct tt_text *text, const char *cell)
{
    tt_text_append(text, ",\"");
    for (const char *c = cell; *c; c++)
        tt_text_append_n(text, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    tt_text_append(text, "\"");
}

static void write_table(struct tt_text *text, const struct tt_csv_table *table)
{
    tt_text_append(text, "time");
    for (size_t i = 0; i < tt_csv_table_columns(table); i++)
        add_quoted(text, tt_csv_table_name(table, i));
    for (size_t row = 0; row < tt_csv_table_rows(table); row++) {
        char time[TUTTI_NUMBER_MAX];
        tt_text_append(text, "\r\n");
        tt_text_append_n(text, time, tt_number_write_double(time, tt_csv_table_times(table)[row]));
        for (size_t i = 0; i < tt_csv_table_columns(table); i++)
            add_quoted(text, tt_csv_table_cell(table, row, i));
    }
}

static void compare(const struct tt_csv_table *a, const struct tt_csv_table *b)
{
    if (tt_csv_table_rows(a) != tt_csv_table_rows(b) || tt_csv_table_columns(a) != tt_csv_table_columns(b))
        abort();
    for (size_t i = 0; i < tt_csv_table_columns(a); i++)
        if (strcmp(tt_csv_table_name(a, i), tt_csv_table_name(b, i)) != 0)
            abort();
    for (size_t row = 0; row < tt_csv_table_rows(a); row++) {
        const double *times = tt_csv_table_times(a);
        if (times[row] != tt_csv_table_times(b)[row] || (row > 0 && times[row] < times[row - 1]) ||
            (row > 0 && tt_csv_table_line(a, row) <= tt_csv_table_line(a, row - 1)))
            abort();
        for (size_t i = 0; i < tt_csv_table_columns(a); i++)
            if (strcmp(tt_csv_table_cell(a, row, i), tt_csv_table_cell(b, row, i)) != 0)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_csv_table *table = NULL, *again = NULL;
    enum tutti_err err = tt_csv_table_parse(&table, "fuzz.csv", (const char *)data, size);
    if ((err == TUTTI_OK) != (table != NULL) || (err != TUTTI_OK && !tutti_err_message()[0]))
        abort();
    if (!table)
        return 0;
    struct tt_text text = {0};
    write_table(&text, table);
    if (!text.failed) {
        if (tt_csv_table_parse(&again, "again.csv", text.text, text.length) != TUTTI_OK)
            abort();
        compare(table, again);
    }
    tt_text_fini(&text);
    tt_csv_table_free(again);
    tt_csv_table_free(table);
    return 0;
}
