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

/* Does `name` match the glob `pattern` (* any run, ? one character; everything else, brackets included, is itself,
 * because array elements are named x[1])? */
bool tt_text_glob(const char *pattern, const char *name);
/* The same for a pattern of `length` bytes that need not end there. */
bool tt_text_glob_n(const char *pattern, size_t length, const char *name);
/* Does `name` match one of the patterns, which ';' separates? An empty one matches nothing. */
bool tt_text_glob_any(const char *patterns, const char *name);

/* Replaces, in place, control characters by spaces and bytes that are not valid UTF-8 by '?'; cuts white space at the
 * end. For text that strangers wrote and people will read in a terminal. */
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

/* How messages name options. In the library's texts an option is `--step`, so that it is told from the word; a program that is not the
 * command knows it as `step`, and its messages lose the dashes here, in one place. For all threads; without dashes at first.
 * tutti_options_name_with_dashes is the same for programs. */
void tt_text_set_dashes(bool dashes);
bool tt_text_has_dashes(void);
/* Takes the dashes away, in place, unless they are wanted: of `--a...`, at the beginning of a word; but not
 * between backticks, where a command line stands. */
void tt_text_spell_options(char *text);

/* The name that was probably meant, for messages ("did you mean ...?"). */

/* The Damerau-Levenshtein distance, ignoring case, or `limit` + 1 as soon as it is larger. */
size_t tt_text_distance(const char *a, const char *b, size_t limit);

/* Keeps the candidate nearest to `wanted`. Zeroed with `wanted` set is ready; `best` is NULL while nothing is near. */
struct tt_text_nearest {
    const char *wanted;
    const char *best;
    size_t distance;
};
void tt_text_nearest_offer(struct tt_text_nearest *nearest, const char *candidate);

/* "; did you mean 'name'?" for the end of a message; "" for NULL, when nothing is near. */
struct tt_text_suggestion {
    char text[128];
};
struct tt_text_suggestion tt_text_suggest(const char *name);

#endif
