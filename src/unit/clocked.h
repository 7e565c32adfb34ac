/* SPDX-License-Identifier: MIT */
/* clocked.h - the variables of a unit that belong to clocks (FMI 3.0), with the values of the last ticks of their
 * clocks.
 *
 * FMI permits reading them only while one of their clocks ticks. So they are read there, once, and later readers (rows,
 * programs, federations) get the stored values. Variables without a clock are read from the FMU. */
#ifndef TT_UNIT_CLOCKED_H
#define TT_UNIT_CLOCKED_H

#include "base/rollback_list.h"
#include "unit/signals.h"

struct tt_unit;

struct tt_clocked_var {
    uint32_t reference, variable;
    size_t place; /* in signals.slots */
};

struct tt_clocked {
    struct tt_signals signals;   /* values, in the order of `vars` before these were sorted by reference */
    struct tt_clocked_var *vars; /* by reference */
    size_t count;
};

/* Returns true if a variable belongs to clocks, without being one. */
static inline bool tt_clocked_has_clock(const struct tt_var *var)
{
    return var->clock_count > 0 && var->type != TUTTI_TYPE_CLOCK;
}

/* For a configured unit: creates unit->clocked, with start values; NULL if the unit has no such variables. */
TUTTI_CHECKED enum tutti_err tt_clocked_open(struct tt_unit *unit);
void tt_clocked_free(struct tt_clocked *clocked);
/* The place of a variable in signals.slots, by its value reference; SIZE_MAX: it has no clocks. */
size_t tt_clocked_find(const struct tt_clocked *clocked, uint32_t reference);
/* Reads one of them, while one of its clocks ticks. */
TUTTI_CHECKED enum tutti_err tt_clocked_read(struct tt_unit *unit, size_t place);
/* Reads a block, some variables of which may have clocks. */
TUTTI_CHECKED enum tutti_err tt_clocked_get(struct tt_unit *unit, struct tt_block *block);
/* Numbers among them are brought back with a checkpoint. */
TUTTI_CHECKED enum tutti_err tt_clocked_register(struct tt_clocked *clocked, struct tt_rollback_list *remembered,
                                                 uint32_t component);

#endif
