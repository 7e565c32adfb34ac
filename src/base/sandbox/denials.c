/* SPDX-License-Identifier: MIT */
#include "base/sandbox/denials.h"

#include <string.h>

#include "base/text.h"

void tt_supervisor_add_denial(struct tt_denials *denials, const struct tt_denial *denial)
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

bool tt_supervisor_read_denial(const struct tt_denials *denials, uint32_t next, struct tt_denial *out)
{
    uint32_t count = atomic_load(&denials->count);
    if (next >= count || next >= TUTTI_DENIALS_MOST)
        return false;
    *out = denials->list[next];
    out->what[sizeof out->what - 1] = out->allow[sizeof out->allow - 1] = '\0';
    tt_text_make_printable(out->what);
    tt_text_make_printable(out->allow);
    return true;
}
