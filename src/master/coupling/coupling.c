/* SPDX-License-Identifier: MIT */
#include "master/coupling/coupling.h"

#include "options/options.h"

#define LISTED(name, word, meaning) &tutti_coupling_##name,
static const struct tutti_coupling *const couplings[] = {TUTTI_COUPLINGS(LISTED)};

const struct tutti_coupling *tutti_coupling_at(size_t number)
{
    return number < sizeof couplings / sizeof *couplings ? couplings[number] : NULL;
}

enum tutti_err tutti_coupling_find(const char *name, const struct tutti_coupling **out)
{
    int place;
    TRY(tutti_option_choose("coupling", name, &place));
    *out = place > 0 ? couplings[place - 1] : NULL; /* the first word is auto */
    return TUTTI_OK;
}
