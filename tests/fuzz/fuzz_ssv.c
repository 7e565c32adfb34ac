/* SPDX-License-Identifier: MIT */
/* Parameter values. */
#include "ssp_fuzz.h"

SSP_FUZZ(ssv, walk_ssv)
