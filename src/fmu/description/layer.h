/* SPDX-License-Identifier: MIT */
/* layer.h - a layered standard that an FMU declares to follow: extra/NAME/fmi-ls-manifest.xml (FMI 3.0.2, 2.6.2), as of
 * fmi-ls-bus, fmi-ls-xcp and fmi-ls-struct. */
#ifndef TT_FMU_DESCRIPTION_LAYER_H
#define TT_FMU_DESCRIPTION_LAYER_H

#include "base/arena.h"
#include "base/findings.h"
#include "base/bytes.h"
#include "fmu/description/description.h"

struct tt_layer {
    const char *name, *version, *description; /* NULL: it does not say */
    bool bus_simulation;                      /* fmi-ls-bus: isBusSimulationFMU */
    const char
        *meaning; /* the purpose of a layered standard that Tutti supports, in a few words; NULL: unsupported. Static */
};

/* A bus whose operations fmi-ls-bus defines (Network Abstraction, low cut). */
struct tt_bus {
    const char *word; /* at the end of the media type */
    const char *name; /* "CAN" */
    bool simulated;   /* a bus simulation comes with Tutti */
    const char *note; /* the transported data, and the parts that are not simulated */
};
/* The bus that a Binary variable of this media type (fmi-ls-bus 1.x, table of MIME types) belongs to; NULL: none. Static. */
const struct tt_bus *tt_layer_find_bus(const char *mime_type);

/* Returns the buses of a description's variables one by one, in an arbitrary order: the bus after `last` (NULL: the
 * first bus). NULL at the end. */
const struct tt_bus *tt_layer_next_bus(const struct tt_description *desc, const struct tt_bus *last);

/* Returns true if the entry of an FMU's archive is such a manifest. */
bool tt_layer_is_manifest(const char *entry);
/* Reads a manifest; texts go to the arena. FORMAT where it is none: with file and line. */
TUTTI_CHECKED enum tutti_err tt_layer_read(struct tt_layer *layer, const char *file, struct tt_byte_source *reader,
                                           struct tt_arena *arena, struct tt_findings *findings);

#endif
