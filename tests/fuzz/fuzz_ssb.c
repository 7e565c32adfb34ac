/* SPDX-License-Identifier: MIT */
/* Signal dictionaries. */
#include "ssp_fuzz.h"

SSP_FUZZ(ssb, walk_ssb)
