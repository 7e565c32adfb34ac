/* SPDX-License-Identifier: MIT */
#ifndef TT_FMU_FMU_CALLBACKS_H
#define TT_FMU_FMU_CALLBACKS_H

#include "fmu/fmi_call_instance.h"

/* The instances that exist. FMUs pass their environment back to callbacks, and some pass something else: no callback
 * believes it before it was found here. */

/* From before an instance's first call until after its last one. Thread-safe. */
void tt_fmu_callbacks_register(struct tt_instance *instance);
void tt_fmu_callbacks_unregister(struct tt_instance *instance);

/* The instance that a callback is for, until tt_fmu_callbacks_leave. */
struct tt_fmu_callback {
    struct tt_instance *instance; /* NULL: no instance; the callback does nothing */
    bool held;                    /* by a thread other than the caller's: it is not freed meanwhile */
};

/* Returns the instance that `environment` points to, if it is one, otherwise the instance that this thread is calling.
 * Can be called from any thread; takes no lock if the two are equal. */
struct tt_fmu_callback tt_fmu_callbacks_enter(const void *environment);
void tt_fmu_callbacks_leave(struct tt_fmu_callback called);

#endif
