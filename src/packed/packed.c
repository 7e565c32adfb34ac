/* SPDX-License-Identifier: MIT */
#include "packed/packed.h"

enum tutti_err tutti_packed_refuse(const struct tutti_packed *packed, const char *call)
{
    static const char *const names[] = {"only instantiated", "in initialisation mode", "between steps", "ended"};
    return tutti_fail(TUTTI_ERR_STATE, "%s: %s is not allowed here: the instance is %s", packed->name, call,
                      names[packed->stage]);
}
