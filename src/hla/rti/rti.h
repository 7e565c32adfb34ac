/* SPDX-License-Identifier: MIT */
/* rti.h - the run-time infrastructure: federations, and the programs that join them.
 *
 * Calls in, callbacks out. Every service is a function that is called for an ambassador, the RTI's side of one program;
 * it returns an exception of HLA by name, or 0. Callbacks to a program wait in the ambassador's queue until they are
 * taken. This module uses no threads, sockets or clocks: a server, or a run, makes calls one after another, and equal
 * calls give equal callbacks, to the bit. Further services are in declarations.h, objects.h, ownership.h,
 * time_management.h, rti.h, message_send.h (retract) and support.h. */
#ifndef TT_HLA_RTI_RTI_H
#define TT_HLA_RTI_RTI_H

#include "base/findings.h"
#include "hla/rti/federation.h"

/* NULL when memory is out. */
struct tt_rti *tt_rti_new(struct tt_rti_limits limits);
/* With all ambassadors. NULL is fine. */
void tt_rti_free(struct tt_rti *rti);

/* 4.2 Connect. *ambassador belongs to the RTI until it is disconnected. */
TUTTI_CHECKED enum tt_hla tt_rti_connect(struct tt_rti *rti, struct tt_ambassador **ambassador);
/* 4.3 Disconnect; the ambassador is gone. FederateIsExecutionMember: it must resign first. */
TUTTI_CHECKED enum tt_hla tt_rti_disconnect(struct tt_ambassador *ambassador);
/* The program is gone without resigning, for a reason that other federates are notified of (HLAreportFederateLost): its
 * federate resigns by its automatic resign directive, and the ambassador is freed. Its sent messages remain. */
void tt_rti_drop_federate(struct tt_ambassador *ambassador, const char *why);

/* The next callback, or NULL; borrowed until the next call for this ambassador. */
const struct tt_callback *tt_rti_next_callback(struct tt_ambassador *ambassador);
/* How many wait. */
size_t tt_rti_pending_callbacks(const struct tt_ambassador *ambassador);
/* Returns true if the federate is too slow, or memory was out: callbacks are missing, so it must be dropped after it
 * was notified of the reason. */
bool tt_rti_has_overflowed(const struct tt_ambassador *ambassador);

/* 4.5. Takes the modules, also if it fails. `time` is "HLAfloat64Time", "HLAinteger64Time" or "". `findings` may be NULL. */
TUTTI_CHECKED enum tt_hla tt_rti_create(struct tt_ambassador *ambassador, const char *name,
                                        struct tt_fom_module **modules, size_t count, const char *time,
                                        struct tt_findings *findings);
/* 4.6 */
TUTTI_CHECKED enum tt_hla tt_rti_destroy(struct tt_ambassador *ambassador, const char *name);
/* 4.7, 4.9: the answer is a callback. */
TUTTI_CHECKED enum tt_hla tt_rti_list_federations(struct tt_ambassador *ambassador);
TUTTI_CHECKED enum tt_hla tt_rti_list_members(struct tt_ambassador *ambassador, const char *name);

struct tt_rti_join {
    const char *federation, *type;
    const char *name;               /* NULL: one is made */
    struct tt_fom_module **modules; /* taken, also if joining fails; the array may be reordered */
    size_t module_count;
};
/* 4.11 */
TUTTI_CHECKED enum tt_hla tt_rti_join(struct tt_ambassador *ambassador, const struct tt_rti_join *join,
                                      uint32_t *federate, enum tt_logical_time_kind *time);
/* 4.12 */
TUTTI_CHECKED enum tt_hla tt_rti_resign(struct tt_ambassador *ambassador, enum tt_resign action);

/* For status and logs: a federation by name, or NULL. */
struct tt_federation *tt_rti_find_federation(const struct tt_rti *rti, const char *name);

/* Points of synchronization: federates wait for each other by a label. */

/* For these federates; none: for all, and those that join before it is reached. A callback reports its registration. */
TUTTI_CHECKED enum tt_hla tt_rti_register_sync_point(struct tt_ambassador *ambassador, const char *label,
                                                     struct tt_octets tag, const uint32_t *federates, size_t count);
TUTTI_CHECKED enum tt_hla tt_rti_achieve_sync_point(struct tt_ambassador *ambassador, const char *label,
                                                    bool successfully);

/* For the other modules: announces pending points to a new federate; false when memory is out. Removes a federate. */
bool tt_rti_announce_sync_points(struct tt_federate *federate);
void tt_rti_leave_sync_points(struct tt_federate *federate);

#endif
