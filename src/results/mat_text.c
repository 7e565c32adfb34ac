/* SPDX-License-Identifier: MIT */
#include "results/mat_text.h"

#include <string.h>

#include "base/text.h"

static bool mat_reader_is_utf8(const char *text, size_t n)
{
    char copy[5] = {0};
    for (size_t i = 0, length; i < n; i += length) {
        memcpy(copy, text + i, n - i < 4 ? n - i : 4);
        copy[n - i < 4 ? n - i : 4] = '\0';
        length = tt_text_utf8_length(copy);
        if (length == 0)
            return false;
    }
    return true;
}

char *tt_mat_reader_text(struct tt_arena *arena, const char *line, size_t width)
{
    size_t n = strnlen(line, width);
    while (n > 0 && line[n - 1] == ' ')
        n--;
    if (mat_reader_is_utf8(line, n)) {
        char *text = tt_arena_copy_text(arena, line, n);
        if (text)
            tt_text_make_printable(text);
        return text;
    }
    char *text = tt_arena_alloc(arena, 2 * n + 1), *at = text;
    for (size_t i = 0; text && i < n; i++) {
        unsigned char letter = (unsigned char)line[i];
        if (letter >= 0x80)
            *at++ = (char)(0xc0 | letter >> 6);
        *at++ = (char)(letter >= 0x80 ? 0x80 | (letter & 0x3f) : letter);
    }
    if (text)
        tt_text_make_printable(text);
    return text;
}

void tt_mat_reader_split_unit(char *text, const char **unit, const char **description, bool *discrete)
{
    size_t n = strlen(text);
    char *bracket = n > 0 && text[n - 1] == ']' ? strrchr(text, '[') : NULL;
    if (bracket && (bracket == text || bracket[-1] == ' ')) {
        text[n - 1] = '\0';
        *bracket = '\0';
        char *type = strstr(bracket + 1, ":#(type=");
        *discrete = type && strncmp(type, ":#(type=Real", 12) != 0;
        bracket[1 + strcspn(bracket + 1, "|;")] = '\0';
        if (type)
            *type = '\0';
        *unit = bracket[1] ? bracket + 1 : NULL;
        for (char *end = bracket; end > text && end[-1] == ' ';)
            *--end = '\0';
    }
    *description = *text ? text : NULL;
}
