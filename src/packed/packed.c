/* SPDX-License-Identifier: MIT */
#include "packed/packed.h"

enum tutti_err tutti_packed_check(const struct tutti_packed *packed, unsigned stages, const char *call)
{
    static const char *const names[] = {"only instantiated", "in initialisation mode", "between steps", "ended"};
    return stages & TUTTI_PACKED_IN(packed->stage)
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_STATE, "%s: %s is not allowed here: the instance is %s", packed->name, call,
                            names[packed->stage]);
}

void tutti_packed_forget(struct tutti_packed *packed)
{
    packed->points++;
    for (size_t u = 0; u < packed->unit_count; u++)
        packed->units[u].fresh = false;
}
