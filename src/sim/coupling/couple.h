/* SPDX-License-Identifier: MIT */
/* couple.h - one step of the coupling that was chosen, with what belongs to it, and the way back. */
#ifndef TT_SIM_COUPLING_COUPLE_H
#define TT_SIM_COUPLING_COUPLE_H

#include "sim/coupling/coupling.h"
#include "sim/sim.h"

/* From the rank's time to `target`, with slopes of the signals laid out; the outcome is the same on all ranks. Collective. */
TUTTI_CHECKED enum tutti_err tt_coupling_step(struct tt_sim *master, double target, struct tt_outcome *outcome);

/* Back to the start of the macro step. What was done since is counted as rejected, or as auxiliary. */
TUTTI_CHECKED enum tutti_err tt_coupling_roll_back(struct tt_sim *master, bool rejected);

/* Where the exchange was deferred (Galtier 2015): signals of a step that turned out to be good go to the ranks that read them.
 * Collective. */
TUTTI_CHECKED enum tutti_err tt_coupling_send_deferred(struct tt_sim *master);

/* For couplings. Collective: the outcome of all ranks. Of several units it is the one that one rank alone, which steps unit
 * after unit, would have seen. */
TUTTI_CHECKED enum tutti_err tt_coupling_agree(struct tt_sim *master, struct tt_outcome *outcome);

#endif
