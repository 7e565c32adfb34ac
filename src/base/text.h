/* SPDX-License-Identifier: MIT */
/* base/text.h - text: growing ones, patterns, cleaning of foreign text. */
#ifndef TT_BASE_TEXT_H
#define TT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <tutti/err.h>

/* A growing text. Zeroed is empty; `text` may be NULL then. Growth that fails sets `failed` and drops what follows, so
 * that a series of appends needs one check at its end. */
struct tt_text {
    char *text;
    size_t length, capacity;
    bool failed;
};

void tt_text_fini(struct tt_text *text);
void tt_text_append(struct tt_text *text, const char *more);
void tt_text_append_n(struct tt_text *text, const char *more, size_t n);
void tt_text_printf(struct tt_text *text, const char *format, ...) TUTTI_PRINTF(2, 3);

/* Returns true if `name` matches the glob `pattern`: * is any run of characters, ? is one character; all others,
 * including brackets, match literally, because array elements are named x[1]. */
bool tt_text_glob(const char *pattern, const char *name);
/* As above, for a pattern of `length` bytes, which need not be terminated there. */
bool tt_text_glob_n(const char *pattern, size_t length, const char *name);
/* Returns true if `name` matches one of the patterns, which are separated by ';'. An empty pattern matches nothing. */
bool tt_text_glob_any(const char *patterns, const char *name);

/* Replaces, in place, control characters by spaces and bytes that are not valid UTF-8 by '?', and removes white space
 * at the end. For untrusted text that is printed in a terminal. */
void tt_text_make_printable(char *text);

/* A copy of foreign text that fits into a message: printable, and cut if it is long. */
struct tt_text_excerpt {
    char text[100];
};
struct tt_text_excerpt tt_text_excerpt(const char *text);

/* The length of the valid UTF-8 character at `text` (1 to 4), or 0. */
size_t tt_text_utf8_length(const char *text);

/* A copy on the heap, or NULL. */
char *tt_text_copy(const char *text);

/* Selects how messages name options. The library's texts contain `--step`, so that options are distinct from words. In
 * a program other than the command the option is `step`: messages lose the dashes in this module. Applies to all
 * threads; default: without dashes. tutti_options_name_with_dashes is the public function. */
void tt_text_set_dashes(bool dashes);
bool tt_text_has_dashes(void);
/* Removes the dashes of `--a...` at the beginning of a word, in place, unless enabled. Text in backticks keeps them. */
void tt_text_spell_options(char *text);

/* Finds the name that was probably meant, for messages ("did you mean ...?"). */

/* The Damerau-Levenshtein distance, ignoring case, or `limit` + 1 as soon as it is larger. */
size_t tt_text_distance(const char *a, const char *b, size_t limit);

/* Keeps the candidate nearest to `wanted`. Zeroed with `wanted` set is ready; `best` is NULL while nothing is near. */
struct tt_text_nearest {
    const char *wanted;
    const char *best;
    size_t distance;
};
void tt_text_nearest_offer(struct tt_text_nearest *nearest, const char *candidate);

/* Text for the end of a message: "; did you mean 'name'?", or "" for NULL, if no name is near. */
struct tt_text_suggestion {
    char text[128];
};
struct tt_text_suggestion tt_text_suggest(const char *name);

#endif
