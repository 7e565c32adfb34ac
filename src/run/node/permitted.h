/* SPDX-License-Identifier: MIT */
/* permitted.h - the FMUs that may run on a node, by their SHA-256: a list in a file, as `sha256sum` writes it. The daemon hands it to
 * its workers, which look at what they have loaded before any code of it runs. */
#ifndef TT_RUN_NODE_PERMITTED_H
#define TT_RUN_NODE_PERMITTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "run/content.h"
#include "model/system/system.h"

struct tt_permitted_fmus {
    bool all; /* there is no list */
    uint8_t (*hashes)[TUTTI_CONTENT_SIZE];
    size_t count;
};

/* Adds what the file lists: "HASH", or "HASH  NAME". ARGUMENT. tt_node_policy_free_permitted follows in any case. */
TUTTI_CHECKED enum tutti_err tt_node_policy_read_permitted(struct tt_permitted_fmus *permitted, const char *path);
TUTTI_CHECKED enum tutti_err tt_node_policy_permit(struct tt_permitted_fmus *permitted,
                                                   const uint8_t hash[TUTTI_CONTENT_SIZE]);
void tt_node_policy_free_permitted(struct tt_permitted_fmus *permitted);

void tt_node_policy_pack_permitted(const struct tt_permitted_fmus *permitted, struct tt_byte_writer *parcel);
/* MEMORY; else in->bad says whether it was sound. tt_node_policy_free_permitted follows in any case. */
TUTTI_CHECKED enum tutti_err tt_node_policy_unpack_permitted(struct tt_permitted_fmus *permitted,
                                                             struct tt_byte_reader *in);

/* UNSUPPORTED, naming it, if there is an FMU in the system that is not on the list. */
TUTTI_CHECKED enum tutti_err tt_node_policy_check_permitted(const struct tt_permitted_fmus *permitted,
                                                            const struct tt_system *system);

#endif
