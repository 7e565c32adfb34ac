/* SPDX-License-Identifier: MIT */
/* setting.h - a value that a person gave for a variable, as text, checked and in the variable's own type. */
#ifndef TT_MODEL_SYSTEM_SETTING_H
#define TT_MODEL_SYSTEM_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/text.h"
#include "fmu/description/description.h"

enum { TUTTI_MOST_INDICES = 8 };

/* An array element in the users' notation, "x[2,3]": indices from 1. Its offset depends on the extents, which
 * structural parameters may still change. */
struct tt_indices {
    unsigned count; /* of indices; 0: the whole variable */
    uint64_t index[TUTTI_MOST_INDICES];
};

/* Orders elements for sorting: -1, 0, 1. NULL, and an empty list of indices, are the whole variable, which comes first. */
int tt_setting_compare_indices(const struct tt_indices *a, const struct tt_indices *b);

struct tt_setting {
    uint32_t variable;
    struct tt_indices element;
    size_t count;       /* values; 1 for a whole array means: every element */
    const void *values; /* in the arena */
    const char *file;   /* where it is from; NULL: --set */
    unsigned line;
};

/* Reads "NAME=VALUE" or "UNIT.NAME=VALUE" (`unit` may be NULL). VALUE by the variable's type: numbers; true, false, 0, 1;
 * an enumeration's item name or number; text; hex digits for Binary. Arrays: values between blanks or commas (String: a
 * single value only). ARGUMENT, with what would be right, for an unknown name, a value that does not fit the type or the
 * bounds, and for variables that cannot be set. */
TUTTI_CHECKED enum tutti_err tt_setting_read(struct tt_setting *out, struct tt_arena *arena,
                                             const struct tt_description *desc, const char *unit, const char *text);

/* For a known variable: out->variable and out->element are set, only the value is read. Messages name the variable. */
TUTTI_CHECKED enum tutti_err tt_setting_read_text(struct tt_setting *out, struct tt_arena *arena,
                                                  const struct tt_description *desc, const char *text);

/* Checks that the user may set this variable: its start value must be independent. ARGUMENT with the reason if not. */
TUTTI_CHECKED enum tutti_err tt_setting_check_settable(const struct tt_var *var);
/* Checks that `count` values of the variable's type are within its bounds. ARGUMENT with the first that is not. */
TUTTI_CHECKED enum tutti_err tt_setting_check_bounds(const struct tt_var *var, const void *values, size_t count);

/* Reads one value of `var`'s type from text[0..n) to *value (which has room for one). String and Binary go to the arena.
 * ARGUMENT, naming the variable, if it does not fit. */
TUTTI_CHECKED enum tutti_err tt_setting_read_value(struct tt_arena *arena, const struct tt_description *desc,
                                                   const struct tt_var *var, const char *text, size_t n, void *value);

/* Adds a value of `var`'s type as text that tt_setting_read_value reads; enumerations by name. */
void tt_setting_write(struct tt_text *out, const struct tt_description *desc, const struct tt_var *var,
                      const void *value);

/* Splits "x[2,3]" into the variable x and an element, if the whole text is not itself a name. `option` is for messages.
 * ARGUMENT for an unknown name (with the nearest one), or indices that do not fit the number of dimensions. */
TUTTI_CHECKED enum tutti_err tt_setting_find(const struct tt_description *desc, const char *name, const char *option,
                                             uint32_t *variable, struct tt_indices *element);
/* Looks up without a message; false if the variable or element does not exist, or memory is out. */
bool tt_setting_look_up(const struct tt_description *desc, const char *name, uint32_t *variable,
                        struct tt_indices *element);

/* A number as the value of a variable of any type that has numbers. */

/* Checks a value against the type, the items of the enumeration, and the bounds. ARGUMENT, with `name` in the message. */
TUTTI_CHECKED enum tutti_err tt_setting_check_number(const struct tt_description *desc, const struct tt_var *var,
                                                     const char *name, double value);
/* As its FMU takes it, with the sign of a negated alias; it was checked. */
void tt_setting_store_number(const struct tt_var *var, double value, void *to);

#endif
