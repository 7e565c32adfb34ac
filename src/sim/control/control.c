/* SPDX-License-Identifier: MIT */
#include "sim/control/control.h"

#include "base/options/options.h"

#define LISTED(name, word, meaning) &tt_control_##name,
static const struct tt_control *const controls[] = {TUTTI_CONTROLS(LISTED)};

const struct tt_control *tt_control_at(size_t number)
{
    return number < sizeof controls / sizeof *controls ? controls[number] : NULL;
}

enum tutti_err tt_control_find(const char *name, const struct tt_control **out)
{
    int place;
    TRY(tt_options_choose("control", name, &place));
    *out = place > 0 ? controls[place - 1] : NULL; /* the first word is auto */
    return TUTTI_OK;
}
