/* SPDX-License-Identifier: MIT */
/* signals.h - some variables of one unit, laid out so that reading or writing them takes one FMI call per type. */
#ifndef TUTTI_UNIT_SIGNALS_H
#define TUTTI_UNIT_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/parcel.h"
#include "description/desc.h"

/* All variables of one type. */
struct tutti_block {
    enum tutti_type type;
    size_t count;       /* references */
    size_t value_count; /* values: more than references where there are arrays */
    uint32_t *references;
    void *values;              /* laid out as type.h says */
    struct tutti_owned *owned; /* String and Binary: the block's copies of what the FMU returned, else NULL */
};

struct tutti_signals {
    struct tutti_block blocks[TUTTI_TYPE_COUNT];
    size_t block_count;
    void **slots;    /* first value of the n-th variable, in the order in which they were given */
    size_t *extents; /* its number of values */
    size_t *sizes;   /* bytes of one value */
    size_t count;
    struct tutti_arena arena;
};

/* Lays out `count` variables of `desc`; extents[i] is the number of values of variables[i]. Values start as zero (and
 * empty Strings and Binaries). */
TUTTI_CHECKED enum tutti_err tutti_signals_init(struct tutti_signals *signals, const struct tutti_desc *desc,
                                                const uint32_t *variables, const size_t *extents, size_t count);
void tutti_signals_fini(struct tutti_signals *signals);

/* After the FMU filled a block of Strings or Binaries with pointers of its own, which its next call may free: replaces
 * them by copies. Does nothing for other types. NULL becomes an empty value. */
TUTTI_CHECKED enum tutti_err tutti_signals_own(struct tutti_block *block);

/* The values of a block, for another process; and back into one of the same layout. FORMAT. */
void tutti_block_pack(const struct tutti_block *block, struct tutti_parcel *parcel);
TUTTI_CHECKED enum tutti_err tutti_block_unpack(struct tutti_block *block, struct tutti_unparcel *in);
/* Those of all blocks. */
void tutti_signals_pack(const struct tutti_signals *signals, struct tutti_parcel *parcel);
TUTTI_CHECKED enum tutti_err tutti_signals_unpack(struct tutti_signals *signals, struct tutti_unparcel *in);

/* The copies by themselves, for those who lay out values on their own. An array of them, empty, in an arena; its n-th. */
struct tutti_owned *tutti_owned_array(struct tutti_arena *arena, size_t count);
struct tutti_owned *tutti_owned_at(struct tutti_owned *owned, size_t n);
void tutti_owned_fini(struct tutti_owned *owned, size_t count);
/* Copies `count` Strings or Binaries; `to` then points to the copies. */
TUTTI_CHECKED enum tutti_err tutti_owned_copy(struct tutti_owned *owned, enum tutti_type type, const void *from,
                                              void *to, size_t count);
/* Copies `size` bytes as one String or Binary; `to` then points to the copy. */
TUTTI_CHECKED enum tutti_err tutti_owned_put(struct tutti_owned *owned, enum tutti_type type, const void *bytes,
                                             size_t size, void *to);
/* Are they equal, by content? */
bool tutti_owned_equal(enum tutti_type type, const void *a, const void *b, size_t count);

#endif
