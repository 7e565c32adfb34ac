/* SPDX-License-Identifier: MIT */
#include "master/control.h"

#include <string.h>

#include "base/str.h"

static const struct tutti_control *const controls[] = {
    &tutti_control_fixed,    &tutti_control_converge, &tutti_control_richardson, &tutti_control_slope,
    &tutti_control_embedded, &tutti_control_diverge,  &tutti_control_quantum,
};

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
