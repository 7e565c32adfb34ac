/* SPDX-License-Identifier: MIT */
#include "run/live/sse.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

void tt_sse_write_number(struct tt_text *out, double value)
{
    char text[TUTTI_NUMBER_MAX];
    if (isfinite(value))
        tt_text_append_n(out, text, tt_number_write_double(text, value));
    else
        tt_text_append(out, "null");
}

static void write_json_character(struct tt_text *out, const char **text)
{
    unsigned char c = (unsigned char)**text;
    size_t length = tt_text_utf8_length(*text);
    if (c == '"' || c == '\\')
        tt_text_printf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
        tt_text_printf(out, "\\u%04x", c);
    else if (length == 0)
        tt_text_append(out, "\\ufffd");
    else
        tt_text_append_n(out, *text, length);
    *text += length > 0 ? length : 1;
}

void tt_sse_write_text(struct tt_text *out, const char *text)
{
    if (!text) {
        tt_text_append(out, "null");
        return;
    }
    tt_text_append(out, "\"");
    while (*text)
        write_json_character(out, &text);
    tt_text_append(out, "\"");
}

/* ---- rows ---- */

static void write_bar_times(struct tt_text *out, const char *name, const struct tt_feed_block *block, bool of_last)
{
    tt_text_printf(out, "\"%s\":[", name);
    for (size_t b = 0; b < block->count; b++) {
        tt_text_append(out, b ? "," : "");
        tt_sse_write_number(out, of_last ? block->bars[b].last : block->bars[b].first);
    }
    tt_text_append(out, "]");
}

/* Which values of bars. */
enum bar_value { LEAST, GREATEST, FINAL };

static double sse_bar_value(const struct tt_bar *bar, enum bar_value which, size_t column)
{
    const double *const values[] = {[LEAST] = bar->least, [GREATEST] = bar->greatest, [FINAL] = bar->final};
    return values[which][column];
}

/* An array for each column. */
static void sse_write_values(struct tt_text *out, const char *name, const struct tt_feed_block *block, size_t columns,
                             enum bar_value which)
{
    tt_text_printf(out, ",\"%s\":[", name);
    for (size_t c = 0; c < columns; c++) {
        tt_text_append(out, c ? ",[" : "[");
        for (size_t b = 0; b < block->count; b++) {
            tt_text_append(out, b ? "," : "");
            tt_sse_write_number(out, sse_bar_value(&block->bars[b], which, c));
        }
        tt_text_append(out, "]");
    }
    tt_text_append(out, "]");
}

static bool is_thinned(const struct tt_feed_block *block)
{
    return block->rows > block->count;
}

static void sse_write_counts(struct tt_text *out, const char *name, const struct tt_feed_block *block)
{
    tt_text_printf(out, ",\"%s\":[", name);
    for (size_t b = 0; b < block->count; b++)
        tt_text_printf(out, b ? ",%llu" : "%llu", (unsigned long long)block->bars[b].rows);
    tt_text_append(out, "]");
}

void tt_sse_add_rows(struct tt_text *out, const struct tt_feed_block *block, size_t columns)
{
    tt_text_printf(out, "event: %s\ndata: {\"first\":%llu,", is_thinned(block) ? "bars" : "rows",
                   (unsigned long long)block->first_row);
    if (is_thinned(block)) {
        write_bar_times(out, "from", block, false);
        tt_text_append(out, ",");
        write_bar_times(out, "to", block, true);
        sse_write_counts(out, "rows", block);
        sse_write_values(out, "least", block, columns, LEAST);
        sse_write_values(out, "greatest", block, columns, GREATEST);
        sse_write_values(out, "values", block, columns, FINAL);
    } else {
        write_bar_times(out, "time", block, false);
        sse_write_values(out, "values", block, columns, FINAL);
    }
    tt_text_append(out, "}\n\n");
}

/* ---- others ---- */

void tt_sse_add_progress(struct tt_text *out, const struct tutti_progress *progress)
{
    const struct {
        const char *name;
        double value;
    } members[] = {{"start", progress->start},
                   {"stop", progress->stop},
                   {"time", progress->time},
                   {"step", progress->step},
                   {"elapsed", progress->elapsed}};
    tt_text_printf(out, "event: progress\ndata: {\"steps\":%lu,\"paused\":%s", progress->steps,
                   progress->paused ? "true" : "false");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        tt_text_printf(out, ",\"%s\":", members[i].name);
        tt_sse_write_number(out, members[i].value);
    }
    tt_text_append(out, "}\n\n");
}

static void sse_write_column(struct tt_text *out, const char *name, const struct tt_feed_block *block, size_t column,
                             enum bar_value which)
{
    tt_text_printf(out, ",\"%s\":[", name);
    for (size_t b = 0; b < block->count; b++) {
        tt_text_append(out, b ? "," : "");
        tt_sse_write_number(out, sse_bar_value(&block->bars[b], which, column));
    }
    tt_text_append(out, "]");
}

void tt_sse_add_steps(struct tt_text *out, const struct tt_feed_block *block, const struct tt_step_counts *made)
{
    tt_text_append(out, "event: steps\ndata: {");
    write_bar_times(out, "from", block, false);
    tt_text_append(out, ",");
    write_bar_times(out, "to", block, true);
    sse_write_counts(out, "count", block);
    sse_write_column(out, "least", block, 0, LEAST);
    sse_write_column(out, "greatest", block, 0, GREATEST);
    sse_write_column(out, "error", block, 1, GREATEST);
    tt_text_printf(out, ",\"rejected\":%llu,\"located\":%llu,\"events\":[", (unsigned long long)made->rejected,
                   (unsigned long long)made->located);
    for (uint64_t i = 0; i < made->event_count; i++) {
        tt_text_append(out, i ? "," : "");
        tt_sse_write_number(out, made->events[i]);
    }
    tt_text_append(out, "]}\n\n");
}

void tt_sse_add_load(struct tt_text *out, int rank, const struct tt_rank_load *load, const char *const *names)
{
    const char *separator = "";
    tt_text_printf(out, "event: load\ndata: {\"rank\":%d,\"time\":", rank);
    tt_sse_write_number(out, load->steps.to);
    tt_text_append(out, ",\"elapsed\":");
    tt_sse_write_number(out, load->elapsed);
    tt_text_append(out, ",\"units\":[");
    for (size_t i = 0; i < load->unit_count; i++) {
        if (!names[i])
            continue;
        tt_text_printf(out, "%s{\"name\":", separator);
        tt_sse_write_text(out, names[i]);
        tt_text_append(out, ",\"seconds\":");
        tt_sse_write_number(out, load->units[i].seconds);
        tt_text_printf(out, ",\"do_steps\":%llu}", (unsigned long long)load->units[i].do_steps);
        separator = ",";
    }
    tt_text_append(out, "]}\n\n");
}

void tt_sse_add_texts(struct tt_text *out, const char *kind, const char *const *members)
{
    tt_text_printf(out, "event: %s\ndata: {", kind);
    for (size_t i = 0; members[i]; i += 2) {
        tt_text_printf(out, "%s\"%s\":", i ? "," : "", members[i]);
        tt_sse_write_text(out, members[i + 1]);
    }
    tt_text_append(out, "}\n\n");
}
