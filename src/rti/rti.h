/* SPDX-License-Identifier: MIT */
/* rti.h - the run-time infrastructure: federations, and the programs that join them.
 *
 * Calls in, callbacks out. Every service is a function that is called for an ambassador, the RTI's side of one program; it returns an
 * exception of HLA by name, or 0. What the RTI has to say to a program waits in the ambassador's queue until it is taken. There are no threads,
 * no sockets and no clocks here: a server, or a run, brings calls in one after another, and the same calls give the same callbacks, to the
 * bit. The other services are in declarations.h, objects.h, interactions.h, ownership.h, time_management.h, sync_points.h,
 * sending.h (retract) and support.h. */
#ifndef TUTTI_RTI_RTI_H
#define TUTTI_RTI_RTI_H

#include "base/findings.h"
#include "rti/federation.h"

/* NULL when memory is out. */
struct tutti_rti *tutti_rti_new(struct tutti_rti_limits limits);
/* With all ambassadors. NULL is fine. */
void tutti_rti_free(struct tutti_rti *rti);

/* 4.2 Connect. *ambassador belongs to the RTI until it is disconnected. */
TUTTI_CHECKED enum tutti_hla tutti_rti_connect(struct tutti_rti *rti, struct tutti_ambassador **ambassador);
/* 4.3 Disconnect; the ambassador is gone. FederateIsExecutionMember: it must resign first. */
TUTTI_CHECKED enum tutti_hla tutti_rti_disconnect(struct tutti_ambassador *ambassador);
/* The program is gone without a word, for a reason that others are told (HLAreportFederateLost): its federate resigns as its automatic resign
 * directive says, and the ambassador is gone. What it sent stays sent. */
void tutti_rti_lose(struct tutti_ambassador *ambassador, const char *why);

/* The next callback, or NULL; borrowed until the next call for this ambassador. */
const struct tutti_callback *tutti_rti_next(struct tutti_ambassador *ambassador);
/* How many wait. */
size_t tutti_rti_waiting(const struct tutti_ambassador *ambassador);
/* The federate is too slow, or memory was out: callbacks are missing, so that it must be lost, after it was told why. */
bool tutti_rti_overflowed(const struct tutti_ambassador *ambassador);

/* 4.5. Takes the modules, also if it fails. `time` is "HLAfloat64Time", "HLAinteger64Time" or "". `findings` may be NULL. */
TUTTI_CHECKED enum tutti_hla tutti_rti_create(struct tutti_ambassador *ambassador, const char *name,
                                              struct tutti_fom_module **modules, size_t count, const char *time,
                                              struct tutti_findings *findings);
/* 4.6 */
TUTTI_CHECKED enum tutti_hla tutti_rti_destroy(struct tutti_ambassador *ambassador, const char *name);
/* 4.7, 4.9: the answer is a callback. */
TUTTI_CHECKED enum tutti_hla tutti_rti_list_federations(struct tutti_ambassador *ambassador);
TUTTI_CHECKED enum tutti_hla tutti_rti_list_members(struct tutti_ambassador *ambassador, const char *name);

struct tutti_rti_join {
    const char *federation, *type;
    const char *name;                  /* NULL: one is made */
    struct tutti_fom_module **modules; /* taken, also if joining fails; the array may be reordered */
    size_t module_count;
};
/* 4.11 */
TUTTI_CHECKED enum tutti_hla tutti_rti_join(struct tutti_ambassador *ambassador, const struct tutti_rti_join *join,
                                            uint32_t *federate, enum tutti_time_kind *time);
/* 4.12 */
TUTTI_CHECKED enum tutti_hla tutti_rti_resign(struct tutti_ambassador *ambassador, enum tutti_resign action);

/* For status and logs: a federation by name, or NULL. */
struct tutti_federation *tutti_rti_federation(const struct tutti_rti *rti, const char *name);

#endif
