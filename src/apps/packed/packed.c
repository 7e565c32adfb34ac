/* SPDX-License-Identifier: MIT */
#include "apps/packed/packed.h"

enum tutti_err tt_packed_reject(const struct tt_packed *packed, const char *call)
{
    static const char *const names[] = {"only instantiated", "in initialisation mode", "between steps", "ended"};
    return tt_fail(TUTTI_ERR_STATE, "%s: %s is not allowed here: the instance is %s", packed->name, call,
                   names[packed->stage]);
}
