/* SPDX-License-Identifier: MIT */
#include "master/control/control.h"

#include "options/options.h"

#define LISTED(name, word, meaning) &tutti_control_##name,
static const struct tutti_control *const controls[] = {TUTTI_CONTROLS(LISTED)};

const struct tutti_control *tutti_control_at(size_t number)
{
    return number < sizeof controls / sizeof *controls ? controls[number] : NULL;
}

enum tutti_err tutti_control_find(const char *name, const struct tutti_control **out)
{
    int place;
    TRY(tutti_option_choose("control", name, &place));
    *out = place > 0 ? controls[place - 1] : NULL; /* the first word is auto */
    return TUTTI_OK;
}
