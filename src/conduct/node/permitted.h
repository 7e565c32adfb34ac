/* SPDX-License-Identifier: MIT */
/* permitted.h - the FMUs that may run on a node, by their SHA-256: a list in a file, as `sha256sum` writes it. The daemon hands it to
 * its workers, which look at what they have loaded before any code of it runs. */
#ifndef TUTTI_CONDUCT_NODE_PERMITTED_H
#define TUTTI_CONDUCT_NODE_PERMITTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/parcel.h"
#include "conduct/content.h"
#include "system/system.h"

struct tutti_permitted {
    bool all; /* there is no list */
    uint8_t (*hashes)[TUTTI_CONTENT_SIZE];
    size_t count;
};

/* Adds what the file lists: "HASH", or "HASH  NAME". ARGUMENT. tutti_permitted_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tutti_permitted_read(struct tutti_permitted *permitted, const char *path);
TUTTI_CHECKED enum tutti_err tutti_permitted_add(struct tutti_permitted *permitted,
                                                 const uint8_t hash[TUTTI_CONTENT_SIZE]);
void tutti_permitted_fini(struct tutti_permitted *permitted);

void tutti_permitted_pack(const struct tutti_permitted *permitted, struct tutti_parcel *parcel);
/* MEMORY; else in->bad says whether it was sound. tutti_permitted_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tutti_permitted_unpack(struct tutti_permitted *permitted, struct tutti_unparcel *in);

/* UNSUPPORTED, naming it, if there is an FMU in the system that is not on the list. */
TUTTI_CHECKED enum tutti_err tutti_permitted_check(const struct tutti_permitted *permitted,
                                                   const struct tutti_system *system);

#endif
