/* SPDX-License-Identifier: MIT */
#include "master/coupling/coupling.h"

#include <string.h>

#include "base/str.h"

#define LISTED(name) &tutti_coupling_##name,
static const struct tutti_coupling *const couplings[] = {TUTTI_COUPLINGS(LISTED)};

const struct tutti_coupling *tutti_coupling_at(size_t number)
{
    return number < sizeof couplings / sizeof *couplings ? couplings[number] : NULL;
}

enum tutti_err tutti_coupling_find(const char *name, const struct tutti_coupling **out)
{
    struct tutti_text all = {0};
    for (size_t i = 0; i < sizeof couplings / sizeof *couplings; i++) {
        *out = couplings[i];
        if (strcmp(name, couplings[i]->name) == 0) {
            tutti_text_fini(&all);
            return TUTTI_OK;
        }
        tutti_text_printf(&all, ", %s", couplings[i]->name);
    }
    enum tutti_err err =
        tutti_fail(TUTTI_ERR_ARGUMENT, "--coupling takes auto%s, not '%s'", all.text ? all.text : "", name);
    tutti_text_fini(&all);
    return err;
}
