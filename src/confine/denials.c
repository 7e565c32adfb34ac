/* SPDX-License-Identifier: MIT */
#include "confine/denials.h"

#include <string.h>

#include "base/str.h"

void tutti_denials_add(struct tutti_denials *denials, const struct tutti_denial *denial)
{
    uint32_t count = atomic_load(&denials->count);
    for (uint32_t i = 0; i < count && i < TUTTI_DENIALS_MOST; i++)
        if (denials->list[i].component == denial->component && strcmp(denials->list[i].what, denial->what) == 0)
            return;
    if (count >= TUTTI_DENIALS_MOST)
        return;
    denials->list[count] = *denial;
    atomic_store(&denials->count, count + 1);
}

bool tutti_denials_take(const struct tutti_denials *denials, uint32_t next, struct tutti_denial *out)
{
    uint32_t count = atomic_load(&denials->count);
    if (next >= count || next >= TUTTI_DENIALS_MOST)
        return false;
    *out = denials->list[next];
    out->what[sizeof out->what - 1] = out->allow[sizeof out->allow - 1] = '\0';
    tutti_str_make_printable(out->what);
    tutti_str_make_printable(out->allow);
    return true;
}
