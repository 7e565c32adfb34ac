/* SPDX-License-Identifier: MIT */
#include "live/news.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

void tutti_news_put_number(struct tutti_text *out, double value)
{
    char text[TUTTI_NUMBER_MAX];
    if (isfinite(value))
        tutti_text_append_n(out, text, tutti_number_write_double(text, value));
    else
        tutti_text_append(out, "null");
}

static void put_character(struct tutti_text *out, const char **text)
{
    unsigned char c = (unsigned char)**text;
    size_t length = tutti_str_utf8_length(*text);
    if (c == '"' || c == '\\')
        tutti_text_printf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
        tutti_text_printf(out, "\\u%04x", c);
    else if (length == 0)
        tutti_text_append(out, "\\ufffd");
    else
        tutti_text_append_n(out, *text, length);
    *text += length > 0 ? length : 1;
}

void tutti_news_put_text(struct tutti_text *out, const char *text)
{
    if (!text) {
        tutti_text_append(out, "null");
        return;
    }
    tutti_text_append(out, "\"");
    while (*text)
        put_character(out, &text);
    tutti_text_append(out, "\"");
}

/* ---- rows ---- */

static void put_times(struct tutti_text *out, const char *name, const struct tutti_feed_block *block, bool of_last)
{
    tutti_text_printf(out, "\"%s\":[", name);
    for (size_t b = 0; b < block->count; b++) {
        tutti_text_append(out, b ? "," : "");
        tutti_news_put_number(out, of_last ? block->bars[b].last : block->bars[b].first);
    }
    tutti_text_append(out, "]");
}

/* Which values of bars. */
enum which { LEAST, GREATEST, FINAL };

static double value_of(const struct tutti_bar *bar, enum which which, size_t column)
{
    const double *const values[] = {[LEAST] = bar->least, [GREATEST] = bar->greatest, [FINAL] = bar->final};
    return values[which][column];
}

/* An array for each column. */
static void put_values(struct tutti_text *out, const char *name, const struct tutti_feed_block *block, size_t columns,
                       enum which which)
{
    tutti_text_printf(out, ",\"%s\":[", name);
    for (size_t c = 0; c < columns; c++) {
        tutti_text_append(out, c ? ",[" : "[");
        for (size_t b = 0; b < block->count; b++) {
            tutti_text_append(out, b ? "," : "");
            tutti_news_put_number(out, value_of(&block->bars[b], which, c));
        }
        tutti_text_append(out, "]");
    }
    tutti_text_append(out, "]");
}

static bool is_thinned(const struct tutti_feed_block *block)
{
    return block->rows > block->count;
}

static void put_counts(struct tutti_text *out, const char *name, const struct tutti_feed_block *block)
{
    tutti_text_printf(out, ",\"%s\":[", name);
    for (size_t b = 0; b < block->count; b++)
        tutti_text_printf(out, b ? ",%llu" : "%llu", (unsigned long long)block->bars[b].rows);
    tutti_text_append(out, "]");
}

void tutti_news_add_rows(struct tutti_text *out, const struct tutti_feed_block *block, size_t columns)
{
    tutti_text_printf(out, "event: %s\ndata: {\"first\":%llu,", is_thinned(block) ? "bars" : "rows",
                      (unsigned long long)block->first_row);
    if (is_thinned(block)) {
        put_times(out, "from", block, false);
        tutti_text_append(out, ",");
        put_times(out, "to", block, true);
        put_counts(out, "rows", block);
        put_values(out, "least", block, columns, LEAST);
        put_values(out, "greatest", block, columns, GREATEST);
        put_values(out, "values", block, columns, FINAL);
    } else {
        put_times(out, "time", block, false);
        put_values(out, "values", block, columns, FINAL);
    }
    tutti_text_append(out, "}\n\n");
}

/* ---- others ---- */

void tutti_news_add_progress(struct tutti_text *out, const struct tutti_progress *progress)
{
    const struct {
        const char *name;
        double value;
    } members[] = {{"start", progress->start},
                   {"stop", progress->stop},
                   {"time", progress->time},
                   {"step", progress->step},
                   {"elapsed", progress->elapsed}};
    tutti_text_printf(out, "event: progress\ndata: {\"steps\":%lu,\"paused\":%s", progress->steps,
                      progress->paused ? "true" : "false");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        tutti_text_printf(out, ",\"%s\":", members[i].name);
        tutti_news_put_number(out, members[i].value);
    }
    tutti_text_append(out, "}\n\n");
}

static void put_column(struct tutti_text *out, const char *name, const struct tutti_feed_block *block, size_t column,
                       enum which which)
{
    tutti_text_printf(out, ",\"%s\":[", name);
    for (size_t b = 0; b < block->count; b++) {
        tutti_text_append(out, b ? "," : "");
        tutti_news_put_number(out, value_of(&block->bars[b], which, column));
    }
    tutti_text_append(out, "]");
}

void tutti_news_add_steps(struct tutti_text *out, const struct tutti_feed_block *block,
                          const struct tutti_steps_made *made)
{
    tutti_text_append(out, "event: steps\ndata: {");
    put_times(out, "from", block, false);
    tutti_text_append(out, ",");
    put_times(out, "to", block, true);
    put_counts(out, "count", block);
    put_column(out, "least", block, 0, LEAST);
    put_column(out, "greatest", block, 0, GREATEST);
    put_column(out, "error", block, 1, GREATEST);
    tutti_text_printf(out, ",\"rejected\":%llu,\"located\":%llu,\"events\":[", (unsigned long long)made->rejected,
                      (unsigned long long)made->located);
    for (uint64_t i = 0; i < made->event_count; i++) {
        tutti_text_append(out, i ? "," : "");
        tutti_news_put_number(out, made->events[i]);
    }
    tutti_text_append(out, "]}\n\n");
}

void tutti_news_add_load(struct tutti_text *out, int rank, const struct tutti_load *load, const char *const *names)
{
    const char *separator = "";
    tutti_text_printf(out, "event: load\ndata: {\"rank\":%d,\"time\":", rank);
    tutti_news_put_number(out, load->steps.to);
    tutti_text_append(out, ",\"elapsed\":");
    tutti_news_put_number(out, load->elapsed);
    tutti_text_append(out, ",\"units\":[");
    for (size_t i = 0; i < load->unit_count; i++) {
        if (!names[i])
            continue;
        tutti_text_printf(out, "%s{\"name\":", separator);
        tutti_news_put_text(out, names[i]);
        tutti_text_append(out, ",\"seconds\":");
        tutti_news_put_number(out, load->units[i].seconds);
        tutti_text_printf(out, ",\"do_steps\":%llu}", (unsigned long long)load->units[i].do_steps);
        separator = ",";
    }
    tutti_text_append(out, "]}\n\n");
}

void tutti_news_add_texts(struct tutti_text *out, const char *kind, const char *const *members)
{
    tutti_text_printf(out, "event: %s\ndata: {", kind);
    for (size_t i = 0; members[i]; i += 2) {
        tutti_text_printf(out, "%s\"%s\":", i ? "," : "", members[i]);
        tutti_news_put_text(out, members[i + 1]);
    }
    tutti_text_append(out, "}\n\n");
}
