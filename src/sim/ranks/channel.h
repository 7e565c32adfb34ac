/* SPDX-License-Identifier: MIT */
/* channel.h - who reads what: for one kind of exchange, the pieces of the signal array that go to each peer and come from it.
 *
 * A message is the pieces one after the other, then, for each String and Binary, its length (8 bytes, this machine's order)
 * and its bytes. Both ends make their lists from the same plan, so that nothing in a message says what it holds. */
#ifndef TT_SIM_RANKS_CHANNEL_H
#define TT_SIM_RANKS_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "unit/signals.h"

struct tt_cargo_piece {
    size_t offset, size; /* bytes of the array */
};

/* Strings or Binaries, which are pointers in the array. */
struct tt_cargo_text {
    size_t offset;
    enum tt_type type;
    uint32_t count;
    struct tt_owned *owned; /* of the receiver: where copies live */
};

/* One direction of a link. */
struct tt_cargo {
    struct tt_cargo_piece *pieces;
    uint32_t piece_count;
    struct tt_cargo_text *texts;
    uint32_t text_count;
    size_t size; /* of all pieces; with text_count 0, of the message. 0: no message */
};

struct tt_channel_link {
    int peer;
    struct tt_cargo out, in;
};

struct tt_channel {
    struct tt_channel_link *links; /* by peer, in rising order; each with something to send or to receive */
    uint32_t link_count;
};

static inline bool tt_fabric_cargo_is_empty(const struct tt_cargo *cargo)
{
    return cargo->size == 0 && cargo->text_count == 0;
}

/* Bytes of the message now. */
size_t tt_fabric_cargo_size(const struct tt_cargo *cargo, const char *base);
/* Writes it to `message`, which has room for tt_fabric_cargo_size bytes. */
void tt_fabric_cargo_pack(const struct tt_cargo *cargo, const char *base, char *message);
/* Takes it apart. FORMAT if it is not as long as it must be (then nothing after the fault is written). */
TUTTI_CHECKED enum tutti_err tt_fabric_cargo_unpack(const struct tt_cargo *cargo, char *base, const char *message,
                                                    size_t size);

#endif
