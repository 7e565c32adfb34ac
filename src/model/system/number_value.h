/* SPDX-License-Identifier: MIT */
/* number_value.h - a number as the value of a variable of any type that has numbers. */
#ifndef TT_MODEL_SYSTEM_NUMBER_VALUE_H
#define TT_MODEL_SYSTEM_NUMBER_VALUE_H

#include "fmu/description/description.h"

/* Can it be that, by its type, the items of its enumeration, its bounds? ARGUMENT, which calls it `name`. */
TUTTI_CHECKED enum tutti_err tt_setting_check_number(const struct tt_description *desc, const struct tt_var *var,
                                                     const char *name, double value);
/* As its FMU takes it, with the sign of a negated alias; it was checked. */
void tt_setting_store_number(const struct tt_var *var, double value, void *to);

#endif
