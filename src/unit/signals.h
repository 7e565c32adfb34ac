/* SPDX-License-Identifier: MIT */
/* signals.h - some variables of one unit, laid out so that reading or writing them takes one FMI call per type. */
#ifndef TT_UNIT_SIGNALS_H
#define TT_UNIT_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/bytes.h"
#include "fmu/description/description.h"

/* All variables of one type. */
struct tt_block {
    enum tt_type type;
    size_t count;       /* references */
    size_t value_count; /* number of values, which is larger than that of references with arrays */
    uint32_t *references;
    void *values;           /* laid out as type.h defines */
    struct tt_owned *owned; /* String and Binary: the block's copies of the FMU's values, otherwise NULL */
};

struct tt_signals {
    struct tt_block blocks[TUTTI_TYPE_COUNT];
    size_t block_count;
    void **slots;    /* first value of the n-th variable, in the order in which they were given */
    size_t *extents; /* its number of values */
    size_t *sizes;   /* bytes of one value */
    size_t count;
    struct tt_arena arena;
};

/* Lays out `count` variables of `desc`; extents[i] is the number of values of variables[i]. Values start as zero (and
 * empty Strings and Binaries). */
TUTTI_CHECKED enum tutti_err tt_signals_init(struct tt_signals *signals, const struct tt_description *desc,
                                             const uint32_t *variables, const size_t *extents, size_t count);
void tt_signals_fini(struct tt_signals *signals);

/* Called after the FMU filled a block of Strings or Binaries with pointers that its next call may free: replaces them
 * by copies. Does nothing for other types. NULL becomes an empty value. */
TUTTI_CHECKED enum tutti_err tt_signals_own(struct tt_block *block);

/* Packs the values of a block for a different process; and unpacks them into one with an equal layout. FORMAT. */
void tt_signals_block_pack(const struct tt_block *block, struct tt_byte_writer *parcel);
TUTTI_CHECKED enum tutti_err tt_signals_block_unpack(struct tt_block *block, struct tt_byte_reader *in);
/* Those of all blocks. */
void tt_signals_pack(const struct tt_signals *signals, struct tt_byte_writer *parcel);
TUTTI_CHECKED enum tutti_err tt_signals_unpack(struct tt_signals *signals, struct tt_byte_reader *in);

/* The copies alone, for callers that lay out values themselves: an array of empty copies in an arena; its n-th element. */
struct tt_owned *tt_signals_owned_array(struct tt_arena *arena, size_t count);
struct tt_owned *tt_signals_owned_at(struct tt_owned *owned, size_t n);
void tt_signals_owned_fini(struct tt_owned *owned, size_t count);
/* Copies `count` Strings or Binaries; `to` then points to the copies. */
TUTTI_CHECKED enum tutti_err tt_signals_owned_copy(struct tt_owned *owned, enum tt_type type, const void *from,
                                                   void *to, size_t count);
/* Copies `size` bytes as one String or Binary; `to` then points to the copy. */
TUTTI_CHECKED enum tutti_err tt_signals_owned_put(struct tt_owned *owned, enum tt_type type, const void *bytes,
                                                  size_t size, void *to);
/* Returns true if the values are equal by content. */
bool tt_signals_owned_equal(enum tt_type type, const void *a, const void *b, size_t count);

#endif
