/* SPDX-License-Identifier: MIT */
/* suggestion.h - the name that was probably meant, for messages ("did you mean ...?"). */
#ifndef TT_BASE_SUGGESTION_H
#define TT_BASE_SUGGESTION_H

#include <stddef.h>

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
