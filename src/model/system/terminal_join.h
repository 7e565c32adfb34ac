/* SPDX-License-Identifier: MIT */
/* terminal_join.h - private to src/model/system: connects whole terminals of FMUs by their matching rules (FMI 3.0.2,
 * 2.4.9.2).
 *
 * Members pair by memberName (plug: all of them; bus: those that both have; org.fmi-ls-bus.transceiver: Tx_X with Rx_X)
 * or by their order (sequence); nested terminals pair by name, or by order, and each by its own rule. Of each pair the
 * output leads to the input, whichever of the two terminals has it. Flows of two terminals add up to zero: two with
 * equal sign conventions (inflow, outflow) get opposite signs. */
#ifndef TT_MODEL_SYSTEM_TERMINAL_JOIN_H
#define TT_MODEL_SYSTEM_TERMINAL_JOIN_H

#include "model/system/flat.h"

/* Connects "A.plug=B.plug", split at `equals`; *found is true if both name a terminal. A mismatch is ARGUMENT, with
 * both names and the reason. */
TUTTI_CHECKED enum tutti_err tt_terminal_join(struct tt_flat *flat, const char *text, const char *equals, bool *found);

#endif
