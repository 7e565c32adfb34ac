/* SPDX-License-Identifier: MIT */
#include "master/coupling.h"

#include <string.h>

#include "base/str.h"

static const struct tutti_coupling *const couplings[] = {&tutti_coupling_jacobi};

enum tutti_err tutti_coupling_find(const char *name, const struct tutti_coupling **out)
{
    struct tutti_text all = {0};
    for (size_t i = 0; i < sizeof couplings / sizeof *couplings; i++) {
        *out = couplings[i];
        if (!name || strcmp(name, couplings[i]->name) == 0) {
            tutti_text_fini(&all);
            return TUTTI_OK;
        }
        tutti_text_printf(&all, "%s%s", i ? ", " : "", couplings[i]->name);
    }
    enum tutti_err err =
        tutti_fail(TUTTI_ERR_ARGUMENT, "--coupling takes %s, not '%s'", all.text ? all.text : "", name);
    tutti_text_fini(&all);
    return err;
}
