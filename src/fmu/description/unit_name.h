/* SPDX-License-Identifier: MIT */
/* unit_name.h - units of measure by their names, for files that name a unit and do not define it: "mm", "km/h", "kg.m2/s". */
#ifndef TT_FMU_DESCRIPTION_UNIT_NAME_H
#define TT_FMU_DESCRIPTION_UNIT_NAME_H

#include "fmu/description/description.h"

/* Reads products and quotients of SI units, the units used with them (min, h, d, l, t, bar, deg, rpm, degC, degF, %), and their multiples
 * with SI prefixes. A '/' applies to the unit after it: "m/s2", "W/m2/K". "1" and "-" are numbers without a unit. False: the name is
 * unknown. out->name is borrowed. */
bool tt_unit_name_read(const char *name, struct tt_unit_def *out);

#endif
