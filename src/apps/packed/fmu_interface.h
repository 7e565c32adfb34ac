/* SPDX-License-Identifier: MIT */
/* fmu_interface.h - the common part of both FMI versions of an instance: its name, messages, and how calls end. */
#ifndef TT_APPS_PACKED_FMU_INTERFACE_H
#define TT_APPS_PACKED_FMU_INTERFACE_H

#include "apps/packed/packed_equations.h"
#include "apps/packed/packed_instance.h"

/* Statuses of both versions, which have equal numbers. */
enum tt_fmu_interface_status {
    TUTTI_OUTSIDE_OK = 0,
    TUTTI_OUTSIDE_WARNING = 1,
    TUTTI_OUTSIDE_DISCARD = 2,
    TUTTI_OUTSIDE_ERROR = 3
};

/* The first member of an instance of either version. */
struct tt_fmu_interface {
    struct tt_packed *packed;
    char *name;
    bool logging; /* the importer also receives messages below warnings */
    /* Hands a message to the importer. */
    void (*tell)(const struct tt_fmu_interface *outside, enum tt_fmu_interface_status status, const char *category,
                 const char *text);
};

/* Creates the packed system, with `tell` and `logging` filled in; close it also after a failure. `resources` NULL: the
 * importer named none. `exchange`: for Model Exchange. */
TUTTI_CHECKED enum tutti_err tt_fmu_interface_open(struct tt_fmu_interface *outside, const char *name,
                                                   const char *token, const char *resources, bool exchange);
void tt_fmu_interface_close(struct tt_fmu_interface *outside);

/* For functions of Model Exchange: STATE, naming the call, if the instance has a different interface or mode. */
TUTTI_CHECKED enum tutti_err tt_fmu_interface_check_exchange(const struct tt_fmu_interface *outside, const char *call);
TUTTI_CHECKED enum tutti_err tt_fmu_interface_enter_event(struct tt_fmu_interface *outside, const char *call);
TUTTI_CHECKED enum tutti_err tt_fmu_interface_update(struct tt_fmu_interface *outside, const char *call,
                                                     struct tt_equations_update *update);
TUTTI_CHECKED enum tutti_err tt_fmu_interface_leave_event(struct tt_fmu_interface *outside, const char *call);

/* Ends a call and reports its error. */
enum tt_fmu_interface_status tt_fmu_interface_end_call(const struct tt_fmu_interface *outside, enum tutti_err err);
/* A function that packed systems do not have. */
enum tt_fmu_interface_status tt_fmu_interface_reject(const struct tt_fmu_interface *outside, const char *function);

#endif
