/* SPDX-License-Identifier: MIT */
#include "sim/coupling/coupling.h"

#include "base/options/options.h"

#define LISTED(name, word, meaning) &tt_coupling_##name,
static const struct tt_coupling *const couplings[] = {TUTTI_COUPLINGS(LISTED)};

const struct tt_coupling *tt_coupling_at(size_t number)
{
    return number < sizeof couplings / sizeof *couplings ? couplings[number] : NULL;
}

enum tutti_err tt_coupling_find(const char *name, const struct tt_coupling **out)
{
    int place;
    TRY(tt_options_choose("coupling", name, &place));
    *out = place > 0 ? couplings[place - 1] : NULL; /* the first word is auto */
    return TUTTI_OK;
}
