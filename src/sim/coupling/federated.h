/* SPDX-License-Identifier: MIT */
#ifndef TT_SIM_COUPLING_FEDERATED_H
#define TT_SIM_COUPLING_FEDERATED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "hla/rti/federation.h"

/* Units as federates of an RTI (hla/rti/rti.h) in this process: time grants and notifications.
 *
 * Every rank has one, and makes equal calls, so that their states are equal. Messages only announce that a unit has new
 * values; the values themselves are sent as signals. All federates regulate and are constrained, with lookahead 0. */

struct tt_federates;

/* Creates it. `names` of `count` units; reads[i * count + j]: unit i receives from unit j. `start` is time 0 of the
 * federation, `now` the units' time. */
TUTTI_CHECKED enum tutti_err tt_federated_new_federates(struct tt_federates **out, uint32_t count,
                                                        const char *const *names, const bool *reads, double start,
                                                        double now);
void tt_federated_free_federates(struct tt_federates *federates); /* NULL is fine */

/* The unit asks for time: TAR, TARA, NMR or NMRA. */
TUTTI_CHECKED enum tutti_err tt_federated_request_advance(struct tt_federates *federates, uint32_t unit,
                                                          enum tt_time_advance how, double t);
/* It has something new at t, not before the time that it was granted. */
TUTTI_CHECKED enum tutti_err tt_federated_send_update(struct tt_federates *federates, uint32_t unit, double t);

struct tt_federate_grant {
    uint32_t unit;
    double t;
    bool news; /* a message has come with it */
};
/* Returns all grants that are possible now, by ascending units: `grants` has room for all. None: it is stalled. */
TUTTI_CHECKED enum tutti_err tt_federated_get_grants(struct tt_federates *federates, struct tt_federate_grant *grants,
                                                     uint32_t *count);
/* The error of a federation that stands: which federate waits for which. */
TUTTI_CHECKED enum tutti_err tt_federated_fail_deadlock(struct tt_federates *federates);

#endif
