/* SPDX-License-Identifier: MIT */
#ifndef TT_FMU_INSTANCE_CLOCKS_H
#define TT_FMU_INSTANCE_CLOCKS_H

#include "fmu/description/type.h"
#include "fmu/fmi_call.h"

/* A model partition of Scheduled Execution (FMI 3.0) that is computed repeatedly: activated, then read. Data that is
 * constant from tick to tick is looked up once. */

/* Variables of one type that lie in memory as FMI has them (no Strings and Binaries), of the partition's clock. Borrowed. */
struct tt_model_partition_reading {
    enum tt_type type;
    const uint32_t *references;
    size_t count;
    void *values;
    size_t value_count;
};

struct tt_model_partition {
    struct tt_instance *instance;
    uint32_t reference, place; /* of its clock: value reference; among those of the instance */
    const struct tt_model_partition_reading *readings;
    size_t reading_count;
};

/* Prepares a partition. STATE for a reference that is not an input clock, a read that FMI forbids after this partition,
 * or a type that the clock's variables do not have. Borrows all arguments. */
TUTTI_CHECKED enum tutti_err tt_instance_clocks_init_partition(struct tt_model_partition *partition,
                                                               struct tt_instance *instance, uint32_t reference,
                                                               const struct tt_model_partition_reading *readings,
                                                               size_t count);
/* Activates it at t, then reads. Between tt_fmi_call_enter_pass and _leave of `watch`. */
TUTTI_CHECKED enum tutti_err tt_instance_clocks_compute(const struct tt_model_partition *partition,
                                                        struct tt_fmi_call_modes_watch *watch, double t);

/* ---- partitions that interrupt each other (sim/tasks.h) ---- */

/* Permits computing partitions of the instance in several threads. Only partitions of higher priority and the owner's
 * thread interrupt a partition; lockPreemption excludes all of them. LIMIT if the system has no such lock. */
TUTTI_CHECKED enum tutti_err tt_instance_clocks_allow_preempt(struct tt_instance *instance);
/* Encloses all other calls of such an instance: waits for partitions that have locked the preemption. Otherwise no
 * effect. */
void tt_instance_clocks_lock(struct tt_instance *instance);
void tt_instance_clocks_unlock(struct tt_instance *instance);
/* As tt_instance_clocks_compute, in two parts. Activating holds the instance but while the FMU computes; reading is for one that is held. */
TUTTI_CHECKED enum tutti_err tt_instance_clocks_activate_part(const struct tt_model_partition *partition,
                                                              struct tt_fmi_call_modes_watch *watch, double t);
TUTTI_CHECKED enum tutti_err tt_instance_clocks_read(const struct tt_model_partition *partition,
                                                     struct tt_fmi_call_modes_watch *watch);

#endif
