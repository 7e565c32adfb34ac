/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tt_text_fini(struct tt_text *text)
{
    free(text->text);
    *text = (struct tt_text){0};
}

static bool text_reserve(struct tt_text *text, size_t more)
{
    if (text->failed || more > SIZE_MAX / 2 - text->length - 1)
        return text->failed = true, false;
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity)
        return true;
    size_t capacity = needed > 2 * text->capacity ? needed : 2 * text->capacity;
    char *larger = realloc(text->text, capacity);
    if (!larger)
        return text->failed = true, false;
    text->text = larger;
    text->capacity = capacity;
    return true;
}

void tt_text_append_n(struct tt_text *text, const char *more, size_t n)
{
    if (!text_reserve(text, n))
        return;
    if (n > 0)
        memcpy(text->text + text->length, more, n);
    text->length += n;
    text->text[text->length] = '\0';
}

void tt_text_append(struct tt_text *text, const char *more)
{
    tt_text_append_n(text, more, strlen(more));
}

void tt_text_printf(struct tt_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        text->failed = true;
    if (length < 0 || !text_reserve(text, (size_t)length))
        return;
    va_start(args, format);
    vsnprintf(text->text + text->length, (size_t)length + 1, format, args);
    va_end(args);
    text->length += (size_t)length;
}

/* Bytes of the character at `text`; a byte that belongs to none stands for itself. */
static size_t text_character_size(const char *text)
{
    size_t length = tt_text_utf8_length(text);
    return length ? length : 1;
}

bool tt_text_glob_n(const char *pattern, size_t length, const char *name)
{
    const char *end = pattern + length, *star = NULL, *retry = NULL;
    while (*name) {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            retry = name;
        } else if (pattern < end && *pattern == '?') {
            pattern++;
            name += text_character_size(name);
        } else if (pattern < end && *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = retry += text_character_size(retry);
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

bool tt_text_glob(const char *pattern, const char *name)
{
    return tt_text_glob_n(pattern, strlen(pattern), name);
}

bool tt_text_glob_any(const char *patterns, const char *name)
{
    for (size_t length; *patterns; patterns += length + (patterns[length] == ';')) {
        length = strcspn(patterns, ";");
        if (length > 0 && tt_text_glob_n(patterns, length, name))
            return true;
    }
    return false;
}

size_t tt_text_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    static const unsigned char first_low[] = {0, 0, 0xc2, 0xe0, 0xf0};
    if (s[0] < first_low[length] || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) /* stops at NUL too */
            return 0;
    /* Over-long forms, surrogates, and what lies beyond U+10FFFF. */
    bool bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
               (s[0] == 0xf4 && s[1] > 0x8f);
    return bad ? 0 : length;
}

void tt_text_make_printable(char *text)
{
    char *c = text;
    while (*c) {
        size_t length = tt_text_utf8_length(c);
        /* C1 controls (U+0080 to U+009F) steer terminals as well as C0 ones do. */
        bool control = (length == 1 && ((unsigned char)*c < 0x20 || *c == 0x7f)) ||
                       (length == 2 && (unsigned char)c[0] == 0xc2 && (unsigned char)c[1] < 0xa0);
        if (length == 0)
            *c++ = '?';
        else if (control)
            while (length--)
                *c++ = ' ';
        else
            c += length;
    }
    while (c > text && c[-1] == ' ')
        *--c = '\0';
}

struct tt_text_excerpt tt_text_excerpt(const char *text)
{
    struct tt_text_excerpt shown;
    size_t length = strlen(text), most = sizeof shown.text - 4;
    bool cut = length > most;
    if (cut) /* not in the middle of a character */
        for (length = most; length > most - 3 && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    memcpy(shown.text, text, length);
    shown.text[length] = '\0';
    tt_text_make_printable(shown.text);
    if (cut)
        memcpy(shown.text + strlen(shown.text), "...", 4);
    return shown;
}

char *tt_text_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* ---- options in messages ---- */

static atomic_bool has_dashes;

void tt_text_set_dashes(bool dashes)
{
    atomic_store_explicit(&has_dashes, dashes, memory_order_relaxed);
}

bool tt_text_has_dashes(void)
{
    return atomic_load_explicit(&has_dashes, memory_order_relaxed);
}

void tt_text_spell_options(char *text)
{
    char *to = text;
    bool quoted = false; /* a line for a shell */
    if (tt_text_has_dashes())
        return;
    for (const char *from = text; *from; from++) {
        if (*from == '`')
            quoted = !quoted && strchr(from + 1, '`');
        bool begins_word = from == text || strchr(" ('", from[-1]);
        bool option = begins_word && !quoted && from[0] == '-' && from[1] == '-' && from[2] >= 'a' && from[2] <= 'z';
        from += option ? 2 : 0;
        *to++ = *from;
    }
    *to = '\0';
}

static int text_lower_case(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

size_t tt_text_distance(const char *a, const char *b, size_t limit)
{
    enum { LONGEST = 128 };
    size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST || (na > nb ? na - nb : nb - na) > limit)
        return limit + 1;
    size_t rows[3][LONGEST + 1]; /* the row being filled and the two before it */
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        size_t least = row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            bool same = text_lower_case(a[i - 1]) == text_lower_case(b[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same);
            if (i > 1 && j > 1 && text_lower_case(a[i - 1]) == text_lower_case(b[j - 2]) &&
                text_lower_case(a[i - 2]) == text_lower_case(b[j - 1]) && above2[j - 2] + 1 < row[j])
                row[j] = above2[j - 2] + 1;
            least = row[j] < least ? row[j] : least;
        }
        if (least > limit)
            return limit + 1;
    }
    return rows[na % 3][nb] <= limit ? rows[na % 3][nb] : limit + 1;
}

void tt_text_nearest_offer(struct tt_text_nearest *nearest, const char *candidate)
{
    /* With more than a third of the letters wrong it is not a typing error. */
    size_t limit = nearest->best ? nearest->distance - 1 : strlen(nearest->wanted) / 3 + 1;
    if (nearest->best && nearest->distance == 0)
        return;
    size_t distance = tt_text_distance(nearest->wanted, candidate, limit);
    if (distance <= limit) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}

struct tt_text_suggestion tt_text_suggest(const char *name)
{
    struct tt_text_suggestion hint = {""};
    if (name)
        snprintf(hint.text, sizeof hint.text, "; did you mean '%s'?", tt_text_excerpt(name).text);
    return hint;
}
