/* SPDX-License-Identifier: MIT */
#ifndef TT_SIM_CONTROL_QUANTUM_H
#define TT_SIM_CONTROL_QUANTUM_H

#include "sim/outputs.h"

/* How far each output may move before that counts: --quantum Q for all, in nominal values, and --quantum UNIT.VAR=Q. */

/* Returns true if the options set a quantum. */
bool tt_quantum_is_requested(const struct tutti_run_options *options);
/* One per output; INFINITY: it may move as it likes. Memory is the rank's. ARGUMENT if an option names none of the outputs, or has no number
 * above 0. */
TUTTI_CHECKED enum tutti_err tt_quantum_parse_quanta(const double **quanta, const struct tt_outputs *outputs);

#endif
