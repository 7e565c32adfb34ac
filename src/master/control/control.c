/* SPDX-License-Identifier: MIT */
#include "master/control/control.h"

#include <string.h>

#include "base/str.h"

#define LISTED(name) &tutti_control_##name,
static const struct tutti_control *const controls[] = {TUTTI_CONTROLS(LISTED)};

const struct tutti_control *tutti_control_at(size_t number)
{
    return number < sizeof controls / sizeof *controls ? controls[number] : NULL;
}

enum tutti_err tutti_control_find(const char *name, const struct tutti_control **out)
{
    struct tutti_text all = {0};
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
        *out = controls[i];
        if (strcmp(name, controls[i]->name) == 0) {
            tutti_text_fini(&all);
            return TUTTI_OK;
        }
        tutti_text_printf(&all, ", %s", controls[i]->name);
    }
    enum tutti_err err =
        tutti_fail(TUTTI_ERR_ARGUMENT, "--control takes auto%s, not '%s'", all.text ? all.text : "", name);
    tutti_text_fini(&all);
    return err;
}
