/* SPDX-License-Identifier: MIT */
/* mom.h - values and reports of the management object model (chapter 11).
 *
 * The RTI has an object of HLAmanager.HLAfederation, and one of HLAmanager.HLAfederate for each federate
 * (mom_objects.h). Values are sent to federates that request them or discover an object, and to all subscribers when
 * they change, except for HLAlogicalTime and HLAlookahead, which change too often. The attributes are in
 * hla/fom/fom_module.h. */
#ifndef TT_HLA_RTI_MOM_H
#define TT_HLA_RTI_MOM_H

#include "base/text.h"
#include "hla/rti/federation.h"

/* Values of these attributes of one of the RTI's objects, to one federate. */
void tt_mom_send_values(const struct tt_object *object, struct tt_federate *to, const uint32_t *attributes,
                        size_t count);
/* The federate regulates, is constrained or takes messages at any time now, or not any more. */
void tt_mom_update_time(struct tt_federate *federate);
/* Federates have joined or left. */
void tt_mom_update_members(struct tt_federation *federation);
/* HLAreportFederateLost, to all others that subscribe to it. */
void tt_mom_report_lost(struct tt_federate *lost, const char *why);

/* Appends an HLAunicodeString: a count of units of UTF-16, and these. Bytes that are not UTF-8 become U+FFFD. */
void tt_mom_put_text(struct tt_text *bytes, const char *text);

/* The RTI's object about a federate; 0: about the federation. NULL: none, or not any more. */
struct tt_object *tt_mom_find_object(const struct tt_federation *federation, uint32_t about);

#endif
