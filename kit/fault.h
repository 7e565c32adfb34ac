/* SPDX-License-Identifier: MIT */
/* fault.h - misbehaviour on demand, for tests of importers. Compiled in only with KIT_FAULTS.
 *
 * The environment variable KIT_FAULT holds faults separated by ";", each "KIND CALL [TIME[+]] [@INSTANCE]". CALL is an
 * FMI function without its prefix ("DoStep", "SetReal", "SetFloat64"; "Instantiate" in all versions). Without TIME the
 * fault happens at every call; with TIME once, at the first call that reaches TIME; with TIME+ at every call from there
 * on. Habits, which are kinds that last as long as the FMU, have no time. docs/kit.md lists the kinds. With a fault
 * that cannot be read, the instantiation fails. */
#ifndef KIT_FAULT_H
#define KIT_FAULT_H

#include "core.h"

#ifdef KIT_FAULTS

/* Reads the environment; true if the instantiation has to fail. */
bool kit_fault_new(struct kit *k);
void kit_fault_free(struct kit *k);
/* To be called first in every function. Anything but OK is what the function has to return (a WARNING after its
 * work). */
enum kit_status kit_fault_call(struct kit *k, const char *call);
/* As above for a do-step: sets *limit to an early end, and *status to the status to return then. */
enum kit_status kit_fault_step(struct kit *k, double t, double h, double *limit, enum kit_status *status);
/* Whether a do-step leaves everything but the time as it is, because the importer may still go back beyond its start. */
bool kit_fault_stays(struct kit *k, double end, bool no_set_state_before);
/* kit_state_set, which may leave out the continuous states. */
enum kit_status kit_fault_set_state(struct kit *k, const char *call, const struct kit_state *state);
/* Spoils values that a getter returns. */
void kit_fault_values(struct kit *k, const char *call, double values[], size_t count);
/* Whether the instance has this habit in this call. */
bool kit_fault_habit(const struct kit *k, const char *habit, const char *call);
/* Returns the status of reading one variable: ERROR if it is refused, which does not end the instance. */
enum kit_status kit_fault_get(struct kit *k, const char *call, const char *variable);

/* Returns the status of writing one variable: ERROR if it is refused, which is permanent. */
enum kit_status kit_fault_set(struct kit *k, const char *call, const struct kit_slot *slot);

#define KIT_FAULT_NEW(k) kit_fault_new(k)
#define KIT_FAULT_FREE(k) kit_fault_free(k)
#define KIT_FAULT_CALL(k, call) kit_fault_call(k, call)
#define KIT_FAULT_STEP(k, t, h, limit, status) kit_fault_step(k, t, h, limit, status)
#define KIT_FAULT_STAYS(k, end, no_set_state_before) kit_fault_stays(k, end, no_set_state_before)
#define KIT_FAULT_SET_STATE(k, call, state) kit_fault_set_state(k, call, state)
#define KIT_FAULT_VALUES(k, call, values, count) kit_fault_values(k, call, values, count)
#define KIT_FAULT_HABIT(k, habit, call) kit_fault_habit(k, habit, call)
#define KIT_FAULT_GET(k, call, variable) kit_fault_get(k, call, variable)
#define KIT_FAULT_SET(k, call, slot) kit_fault_set(k, call, slot)

#else

#define KIT_FAULT_NEW(k) false
#define KIT_FAULT_FREE(k) ((void)0)
#define KIT_FAULT_CALL(k, call) KIT_OK
#define KIT_FAULT_STEP(k, t, h, limit, status) KIT_OK
#define KIT_FAULT_STAYS(k, end, no_set_state_before) ((void)(no_set_state_before), false)
#define KIT_FAULT_SET_STATE(k, call, state) kit_state_set(k, state, false)
#define KIT_FAULT_VALUES(k, call, values, count) ((void)0)
#define KIT_FAULT_HABIT(k, habit, call) false
#define KIT_FAULT_GET(k, call, variable) KIT_OK
#define KIT_FAULT_SET(k, call, slot) KIT_OK

#endif
#endif
