/* SPDX-License-Identifier: MIT */
#include "base/suggestion.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

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
    /* More than a third of the letters wrong is no typing error any more. */
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
