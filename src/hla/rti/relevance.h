/* SPDX-License-Identifier: MIT */
/* relevance.h - who wants attributes of an object: told to their owner (turn updates on and off), and to those who get them (attributes in and
 * out of scope).
 *
 * An attribute is in scope for a federate that knows the object and subscribes to it at the class it knows, while another federate owns
 * it. Its owner is to update it while one of these subscribes actively. Only federates whose switch is on are told. */
#ifndef TT_HLA_RTI_RELEVANCE_H
#define TT_HLA_RTI_RELEVANCE_H

#include "hla/rti/federation.h"

/* Something about this object has changed: who knows it, or owns its attributes. */
void tt_discovery_advise_object(const struct tt_federation *federation, struct tt_object *object);
/* Somebody subscribes to more or less of the class: of all objects of it, and of those below. */
void tt_discovery_advise_class(const struct tt_federation *federation, uint32_t class);

#endif
