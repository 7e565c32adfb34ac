/* SPDX-License-Identifier: MIT */
/* texts.h - the Strings and Binaries among the staged inputs of a run, kept for going back: their values are pointers to what
 * the next one is written over. */
#ifndef TUTTI_SIGNALS_TEXTS_H
#define TUTTI_SIGNALS_TEXTS_H

#include "signals/wires.h"

struct tutti_texts;

/* In the arena; *out stays NULL if no wire has any. */
TUTTI_CHECKED enum tutti_err tutti_texts_init(struct tutti_texts **out, const struct tutti_wires *wires,
                                              struct tutti_arena *arena);
void tutti_texts_fini(struct tutti_texts *texts); /* NULL is fine, here and below */
TUTTI_CHECKED enum tutti_err tutti_texts_keep(struct tutti_texts *texts, const struct tutti_wires *wires);
TUTTI_CHECKED enum tutti_err tutti_texts_bring_back(struct tutti_texts *texts, struct tutti_wires *wires);

#endif
