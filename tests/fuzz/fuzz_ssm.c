/* SPDX-License-Identifier: MIT */
/* Parameter mappings. */
#include "ssp_fuzz.h"

SSP_FUZZ(ssm, walk_ssm)
