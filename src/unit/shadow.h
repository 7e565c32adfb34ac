/* SPDX-License-Identifier: MIT */
/* shadow.h - represents a unit of a different rank. It has the capabilities that its rank reported; every call succeeds
 * without effect, and a step ends where it should. The real unit's signals arrive by the fabric. Masters need not
 * distinguish shadows, except for decisions, and to save time. */
#ifndef TT_UNIT_SHADOW_H
#define TT_UNIT_SHADOW_H

#include "unit/unit.h"

/* The properties of a unit that ranks exchange, as numbers. */
enum { TUTTI_TRAITS = 6 };

/* `kind` is that of the unit elsewhere. */
TUTTI_CHECKED enum tutti_err tt_shadow_new(struct tt_unit **out, struct tt_fmu *fmu, const struct tt_unit_kind *kind,
                                           const char *name);
void tt_shadow_read_traits(const struct tt_unit *unit, double *traits);
void tt_shadow_set_traits(struct tt_unit *unit, const double *traits);
/* Extents of arrays that structural parameters set: numbers per unit, those of `unit`; 0: none. */
size_t tt_shadow_count_sizes(const struct tt_description *desc);
void tt_shadow_read_sizes(const struct tt_unit *unit, double *sizes);
TUTTI_CHECKED enum tutti_err tt_shadow_set_sizes(struct tt_unit *unit, const double *sizes);

#endif
