/* SPDX-License-Identifier: MIT */
/* wire_texts.h - the Strings and Binaries among the staged inputs of a run, kept for going back: their values are pointers to what
 * the next one is written over. */
#ifndef TT_SIM_SIGNALS_WIRE_TEXTS_H
#define TT_SIM_SIGNALS_WIRE_TEXTS_H

#include "sim/signals/wires.h"

struct tt_saved_texts;

/* In the arena; *out stays NULL if no wire has any. */
TUTTI_CHECKED enum tutti_err tt_wires_texts_init(struct tt_saved_texts **out, const struct tt_wires *wires,
                                                 struct tt_arena *arena);
void tt_wires_texts_fini(struct tt_saved_texts *texts); /* NULL is fine, here and below */
TUTTI_CHECKED enum tutti_err tt_wires_texts_save(struct tt_saved_texts *texts, const struct tt_wires *wires);
TUTTI_CHECKED enum tutti_err tt_wires_texts_restore(struct tt_saved_texts *texts, struct tt_wires *wires);

#endif
