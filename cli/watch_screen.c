/* SPDX-License-Identifier: MIT */
#include "watch_screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "console.h"
#include "display.h"

/* ---- handling of events ---- */

/* Names and messages come from files of others, and go to a terminal. */
static void keep(char **text, const json_t *value)
{
    const char *given = json_string_value(value);
    free(*text);
    *text = given ? tt_text_copy(given) : NULL;
    if (*text)
        tt_text_make_printable(*text);
}

static void take_run(struct watch_screen *screen, const json_t *data)
{
    const json_t *columns = json_object_get(data, "columns");
    size_t count = json_array_size(columns);
    keep(&screen->file, json_object_get(data, "file"));
    keep(&screen->state, json_object_get(data, "state"));
    screen->columns = calloc(count + 1, sizeof *screen->columns);
    screen->column_count = screen->columns ? count : 0;
    for (size_t i = 0; i < screen->column_count; i++) {
        const json_t *column = json_array_get(columns, i);
        keep(&screen->columns[i].name, json_object_get(column, "name"));
        keep(&screen->columns[i].unit, json_object_get(column, "unit"));
    }
}

/* The last one of each column, as often as something comes. */
static void take_values(struct watch_screen *screen, const json_t *values)
{
    for (size_t c = 0; c < screen->column_count; c++) {
        const json_t *of_column = json_array_get(values, c);
        const json_t *last = json_array_get(of_column, json_array_size(of_column) - 1);
        struct watch_column *column = &screen->columns[c];
        column->past[column->count++ % WATCH_PAST] = json_is_number(last) ? json_number_value(last) : NAN;
    }
}

void watch_screen_take(struct watch_screen *screen, const char *kind, const json_t *data)
{
    if (strcmp(kind, "run") == 0 && !screen->columns)
        take_run(screen, data);
    else if (strcmp(kind, "rows") == 0 || strcmp(kind, "bars") == 0)
        take_values(screen, json_object_get(data, "values"));
    else if (strcmp(kind, "progress") == 0) {
        screen->start = json_number_value(json_object_get(data, "start"));
        screen->stop = json_number_value(json_object_get(data, "stop"));
        screen->time = json_number_value(json_object_get(data, "time"));
        screen->elapsed = json_number_value(json_object_get(data, "elapsed"));
        screen->steps = (unsigned long)json_integer_value(json_object_get(data, "steps"));
    } else if (strcmp(kind, "message") == 0)
        keep(&screen->message, json_object_get(data, "text"));
    else if (strcmp(kind, "state") == 0 || strcmp(kind, "end") == 0) {
        keep(&screen->state, json_object_get(data, "state"));
        screen->over = strcmp(kind, "end") == 0;
        if (json_is_string(json_object_get(data, "message")))
            keep(&screen->message, json_object_get(data, "message"));
    }
}

/* ---- the picture ---- */

/* A line of the screen; what does not fit is cut. */
static void put_line(struct watch_screen *screen, const char *text, int width)
{
    printf("%.*s\033[K\n", (int)display_fit(text, width), text);
    screen->lines++;
}

static void put_progress(struct watch_screen *screen, int width)
{
    enum { BAR = 30 };
    double span = screen->stop - screen->start, part = span > 0 ? (screen->time - screen->start) / span : 0;
    int full = (int)(fmin(fmax(part, 0), 1) * BAR);
    struct tt_text text = {0};
    const char *slash = screen->file ? strrchr(screen->file, '/') : NULL;
    tt_text_printf(&text, "%s  %s  t = %s of %s  ",
                   slash          ? slash + 1
                   : screen->file ? screen->file
                                  : "",
                   screen->state ? screen->state : "", TIME(screen->time), NUMBER(screen->stop));
    for (int i = 0; i < BAR; i++)
        tt_text_append(&text, i < full ? "\u2588" : "\u2591");
    tt_text_printf(&text, " %3.0f%%  %lu steps", 100 * part, screen->steps);
    if (screen->elapsed > 0)
        tt_text_printf(&text, ", %.3g times the clock", (screen->time - screen->start) / screen->elapsed);
    if (!text.failed)
        put_line(screen, text.text, width);
    tt_text_fini(&text);
}

/* Eight heights from the least to the greatest value that is shown. */
static void append_curve(struct tt_text *text, const struct watch_column *column)
{
    static const char *const heights[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                          "\u2585", "\u2586", "\u2587", "\u2588"};
    size_t shown = column->count < WATCH_PAST ? column->count : WATCH_PAST;
    double least = INFINITY, greatest = -INFINITY;
    for (size_t i = 0; i < shown; i++) {
        least = fmin(least, column->past[i]);
        greatest = fmax(greatest, column->past[i]);
    }
    for (size_t i = column->count - shown; i < column->count; i++) {
        double value = column->past[i % WATCH_PAST], range = greatest - least;
        int height = range > 0 ? (int)(7.999 * (value - least) / range) : 0;
        tt_text_append(text, isfinite(value) ? heights[height] : " ");
    }
}

static void put_column(struct watch_screen *screen, const struct watch_column *column, int names, int width)
{
    struct tt_text text = {0};
    double value = column->count > 0 ? column->past[(column->count - 1) % WATCH_PAST] : NAN;
    const char *name = column->name ? column->name : "";
    tt_text_printf(&text, "  %s%*s %14.7g %-8s ", name, names - display_columns(name), "", value,
                   column->unit ? column->unit : "");
    append_curve(&text, column);
    if (!text.failed)
        put_line(screen, text.text, width);
    tt_text_fini(&text);
}

static int rows_of_terminal(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

void watch_screen_draw(struct watch_screen *screen)
{
    enum { OTHERS = 5 }; /* lines other than columns */
    int width = console_width(STDOUT_FILENO), room = rows_of_terminal() - OTHERS, names = 8;
    size_t shown = screen->column_count < (size_t)room ? screen->column_count : (size_t)(room > 0 ? room : 0);
    for (size_t c = 0; c < shown; c++)
        if (screen->columns[c].name)
            names = (int)fmax(names, display_columns(screen->columns[c].name));
    if (screen->lines > 0)
        printf("\033[%dA", screen->lines);
    screen->lines = 0;
    put_progress(screen, width);
    for (size_t c = 0; c < shown; c++)
        put_column(screen, &screen->columns[c], names, width);
    if (shown < screen->column_count)
        put_line(screen, "  ... (--variable PATTERN chooses)", width);
    if (screen->message)
        put_line(screen, screen->message, width);
    if (!screen->over)
        put_line(screen, "p pause or go on, s step, x end the run, q leave it alone", width);
    printf("\033[J");
    fflush(stdout);
}

void watch_screen_fini(struct watch_screen *screen)
{
    for (size_t c = 0; c < screen->column_count; c++) {
        free(screen->columns[c].name);
        free(screen->columns[c].unit);
    }
    free(screen->columns);
    free(screen->file);
    free(screen->state);
    free(screen->message);
    *screen = (struct watch_screen){0};
}
