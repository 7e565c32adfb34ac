/* SPDX-License-Identifier: MIT */
/* layers.h - a layered standard that an FMU says it follows: extra/NAME/fmi-ls-manifest.xml (FMI 3.0.2, 2.6.2), as of fmi-ls-bus,
 * fmi-ls-xcp and fmi-ls-struct. */
#ifndef TUTTI_DESCRIPTION_LAYERS_H
#define TUTTI_DESCRIPTION_LAYERS_H

#include "base/arena.h"
#include "base/findings.h"
#include "base/reader.h"

struct tutti_layer {
    const char *name, *version, *description; /* NULL: it does not say */
    bool bus_simulation;                      /* fmi-ls-bus: isBusSimulationFMU */
    const char
        *meaning; /* in a few words what a layered standard that Tutti knows is for; NULL: it is not known. Static */
};

/* Is this entry of an FMU's archive such a manifest? */
bool tutti_layer_is_manifest(const char *entry);
/* Reads a manifest; texts go to the arena. FORMAT where it is none: with file and line. */
TUTTI_CHECKED enum tutti_err tutti_layer_read(struct tutti_layer *layer, const char *file, struct tutti_reader *reader,
                                              struct tutti_arena *arena, struct tutti_findings *findings);

#endif
