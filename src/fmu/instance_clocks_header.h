/* SPDX-License-Identifier: MIT */
/* instance_clocks_header.h - clocks of an instance (FMI 3.0): what may be done with which of them, and when (fmi_state.h, I16 to I19). */
#ifndef TT_FMU_INSTANCE_CLOCKS_HEADER_H
#define TT_FMU_INSTANCE_CLOCKS_HEADER_H

#include "fmu/fmi_call_instance.h"

/* *out stays NULL if the FMU has no clocks. */
TUTTI_CHECKED enum tutti_err tt_instance_clocks_new(struct tt_instance_clocks **out, const struct tt_description *desc);
void tt_instance_clocks_free(struct tt_instance_clocks *clocks);
/* Nothing ticks: an event mode begins, or the instance is elsewhere. */
void tt_instance_clocks_reset(struct tt_instance *instance);
/* The discrete states are updated: clocks that ticked do not any more. */
void tt_instance_clocks_clear_ticks(struct tt_instance *instance);

/* I17: STATE if one of these variables belongs to clocks that do not tick. */
TUTTI_CHECKED enum tutti_err tt_instance_clocks_check(const struct tt_instance *instance, enum tt_fmi_call call,
                                                      const uint32_t *references, size_t count);

/* Returns the clock whose partition is being computed or was computed last; NULL: none. Async-signal-safe. */
const char *tt_instance_clocks_current(const struct tt_instance *instance);
/* Inside of a partition: the FMU calls back. */
void tt_instance_clocks_update(struct tt_instance *instance);
/* Around code that no other partition may interrupt. */
void tt_instance_clocks_lock_preemption(bool locked);

#endif
