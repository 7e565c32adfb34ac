/* SPDX-License-Identifier: MIT */
#include "display.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "console.h"

enum { LABEL_COLUMNS = 13 };

struct display display_of(FILE *file)
{
    int fd = fileno(file);
    bool terminal = isatty(fd) == 1;
    return (struct display){file, terminal ? console_width(fd) : INT_MAX, console_has_colours(fd)};
}

/* The character at `text`, which is `length` bytes of valid UTF-8. */
static uint32_t decode(const char *text, size_t length)
{
    static const unsigned char heads[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t character = (unsigned char)text[0] & heads[length];
    for (size_t i = 1; i < length; i++)
        character = character << 6 | ((unsigned char)text[i] & 0x3f);
    return character;
}

/* The widths of the Unicode blocks used for names (UAX #11, general category Mn). wcwidth() depends on the locale,
 * which the command does not set. */
static int columns_of(uint32_t character)
{
    static const struct {
        uint32_t first, last;
        int columns;
    } ranges[] = {
        {0x0300, 0x036f, 0},   {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0}, {0x200b, 0x200f, 0},   {0x20d0, 0x20ff, 0},
        {0x2e80, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},
        {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2},
        {0x1f900, 0x1faff, 2}, {0x20000, 0x3fffd, 2},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return ranges[i].columns;
    return 1;
}

/* Returns the part of at most `bytes` of the text that fits; *used is its number of columns. */
static size_t fit(const char *text, size_t bytes, int columns, int *used)
{
    size_t at = 0;
    *used = 0;
    while (at < bytes && text[at]) {
        size_t length = tt_text_utf8_length(text + at);
        int wide = length > 1 ? columns_of(decode(text + at, length)) : 1;
        if (wide > columns - *used)
            break;
        *used += wide;
        at += length > 0 ? length : 1;
    }
    return at;
}

int display_columns(const char *text)
{
    int columns;
    fit(text, SIZE_MAX, INT_MAX, &columns);
    return columns;
}

size_t display_fit(const char *text, int columns)
{
    int used;
    return fit(text, SIZE_MAX, columns, &used);
}

void display_start(const struct display *display, enum display_tint tint)
{
    static const char *const codes[] = {"", "\033[1m", "\033[33m"};
    if (display->colour)
        fputs(codes[tint], display->file);
}

void display_end(const struct display *display, enum display_tint tint)
{
    if (display->colour && tint != DISPLAY_PLAIN)
        fputs("\033[0m", display->file);
}

void display_line(const struct display *display, const char *label, enum display_tint tint, const char *text)
{
    char padded[LABEL_COLUMNS + 1];
    snprintf(padded, sizeof padded, "%-*s", LABEL_COLUMNS, label);
    int room = display->width == INT_MAX            ? INT_MAX
               : display->width > LABEL_COLUMNS + 1 ? display->width - LABEL_COLUMNS
                                                    : 1;
    display_start(display, DISPLAY_BOLD);
    fputs(padded, display->file);
    display_end(display, DISPLAY_BOLD);
    display_start(display, tint);
    int at = 0;
    while (*text) {
        int wide;
        size_t word = strcspn(text, " "), shown = fit(text, word, room, &wide);
        if (at > 0 && (shown < word || wide >= room - at)) {
            fprintf(display->file, "\n%*s", LABEL_COLUMNS, "");
            at = 0;
        } else if (at > 0) {
            fputc(' ', display->file);
            at++;
        }
        fprintf(display->file, "%.*s", (int)shown, text);
        at += wide;
        text += shown > 0 ? shown : 1;
        text += strspn(text, " ");
    }
    display_end(display, tint);
    fputc('\n', display->file);
}
