/* SPDX-License-Identifier: MIT */
/* method_open.h - prepares the choices of a master before the first step, and closes them. */
#ifndef TT_SIM_METHOD_OPEN_H
#define TT_SIM_METHOD_OPEN_H

#include "sim/sim.h"

/* Opens the channels between ranks that the choices need. Collective. */
TUTTI_CHECKED enum tutti_err tt_sim_connect(struct tt_sim *master);
/* At the first point: gets ready to step. */
TUTTI_CHECKED enum tutti_err tt_sim_open(struct tt_sim *master);
/* Closes it in any state, while the units exist. Returns the error of the step log, if there is one. */
TUTTI_CHECKED enum tutti_err tt_sim_close(struct tt_sim *master);

#endif
