/* SPDX-License-Identifier: MIT */
/* mom.h - what the management object model (chapter 11) tells: values of the objects that the RTI itself has, and reports.
 *
 * The RTI has an object of HLAmanager.HLAfederation, and one of HLAmanager.HLAfederate for each federate (mom_objects.h). Values go to those who
 * ask for them or discover an object; to all who subscribe when they change, except for HLAlogicalTime and HLAlookahead, which change too
 * often. The attributes are in rti/fom/standard.h. */
#ifndef TUTTI_RTI_MOM_H
#define TUTTI_RTI_MOM_H

#include "base/str.h"
#include "rti/federation.h"

/* Values of these attributes of one of the RTI's objects, to one federate. */
void tutti_mom_answer(const struct tutti_object *object, struct tutti_federate *to, const uint32_t *attributes,
                      size_t count);
/* The federate regulates, is constrained or takes messages at any time now, or not any more. */
void tutti_mom_time_changed(struct tutti_federate *federate);
/* Federates have joined or left. */
void tutti_mom_members_changed(struct tutti_federation *federation);
/* HLAreportFederateLost, to all others that subscribe to it. */
void tutti_mom_report_lost(struct tutti_federate *lost, const char *why);

/* Appends an HLAunicodeString: a count of units of UTF-16, and these. Bytes that are not UTF-8 become U+FFFD. */
void tutti_mom_put_text(struct tutti_text *bytes, const char *text);

/* The RTI's object about a federate; 0: about the federation. NULL: none, or not any more. */
struct tutti_object *tutti_mom_object(const struct tutti_federation *federation, uint32_t about);

#endif
