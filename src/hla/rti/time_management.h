/* SPDX-License-Identifier: MIT */
/* time_management.h - the services of chapter 8: when a federate may advance.
 *
 * A federate that regulates promises not to send below a bound; one that is constrained advances only when no message
 * of its past can come. All calls return at once; results are callbacks, queued in the call itself if possible. */
#ifndef TT_HLA_RTI_TIME_MANAGEMENT_H
#define TT_HLA_RTI_TIME_MANAGEMENT_H

#include "base/text.h"
#include "hla/rti/federation.h"

TUTTI_CHECKED enum tt_hla tt_time_management_enable_regulation(struct tt_ambassador *ambassador, int64_t lookahead);
TUTTI_CHECKED enum tt_hla tt_time_management_disable_regulation(struct tt_ambassador *ambassador);
TUTTI_CHECKED enum tt_hla tt_time_management_enable_constrained(struct tt_ambassador *ambassador);
TUTTI_CHECKED enum tt_hla tt_time_management_disable_constrained(struct tt_ambassador *ambassador);

/* The pending request ends with a TimeAdvanceGrant. `advance` is not NONE. */
TUTTI_CHECKED enum tt_hla tt_time_management_advance(struct tt_ambassador *ambassador, enum tt_time_advance advance,
                                                     int64_t time);
/* All that is queued comes at once, then a FlushQueueGrant. */
TUTTI_CHECKED enum tt_hla tt_time_management_flush_queue(struct tt_ambassador *ambassador, int64_t time);

TUTTI_CHECKED enum tt_hla tt_time_management_enable_async(struct tt_ambassador *ambassador);
TUTTI_CHECKED enum tt_hla tt_time_management_disable_async(struct tt_ambassador *ambassador);

/* *valid is false if there is no bound: no federate regulates (GALT), and nothing is queued either (LITS). */
TUTTI_CHECKED enum tt_hla tt_time_management_query_galt(struct tt_ambassador *ambassador, bool *valid, int64_t *time);
TUTTI_CHECKED enum tt_hla tt_time_management_query_lits(struct tt_ambassador *ambassador, bool *valid, int64_t *time);
TUTTI_CHECKED enum tt_hla tt_time_management_query_logical_time(struct tt_ambassador *ambassador, int64_t *time);
TUTTI_CHECKED enum tt_hla tt_time_management_query_lookahead(struct tt_ambassador *ambassador, int64_t *lookahead);
/* A shorter one takes effect as time advances. */
TUTTI_CHECKED enum tt_hla tt_time_management_modify_lookahead(struct tt_ambassador *ambassador, int64_t lookahead);

/* For the other modules: checks that the federate may send at this time. InvalidLogicalTime. */
TUTTI_CHECKED enum tt_hla tt_time_management_check_stamp(struct tt_federate *federate, int64_t time);
/* Grants what can be granted, if something has changed (federation->unsettled). Every service that may have changed something ends with it. */
void tt_time_management_grant(struct tt_federation *federation);

/* The state of a federate, for users. */
struct tt_time_status {
    bool has_galt, has_lits;
    int64_t galt, lits;
    uint32_t holder; /* the federate that its GALT is of; 0: none */
};
void tt_time_management_status(struct tt_federate *federate, struct tt_time_status *status);
/* Writes a line for every waiting federate: its request, and the federate it waits for, with times. */
void tt_time_management_explain(struct tt_federation *federation, struct tt_text *text);

#endif
