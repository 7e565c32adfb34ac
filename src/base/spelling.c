/* SPDX-License-Identifier: MIT */
#include "base/spelling.h"

#include <stdatomic.h>
#include <string.h>

static atomic_bool dashes;

void tutti_spelling_set_dashes(bool wanted)
{
    atomic_store_explicit(&dashes, wanted, memory_order_relaxed);
}

bool tutti_spelling_has_dashes(void)
{
    return atomic_load_explicit(&dashes, memory_order_relaxed);
}

static bool begins_word(const char *text, const char *at)
{
    return at == text || strchr(" ('`", at[-1]) != NULL;
}

void tutti_spelling_apply(char *text)
{
    char *to = text;
    if (tutti_spelling_has_dashes())
        return;
    for (const char *from = text; *from; from++) {
        bool option = from[0] == '-' && from[1] == '-' && from[2] >= 'a' && from[2] <= 'z' && begins_word(text, from);
        from += option ? 2 : 0;
        *to++ = *from;
    }
    *to = '\0';
}
