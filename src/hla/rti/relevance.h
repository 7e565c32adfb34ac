/* SPDX-License-Identifier: MIT */
/* relevance.h - notifies owners of attributes about subscribers (turn updates on and off), and subscribers about scope
 * (attributes in and out of scope).
 *
 * An attribute is in scope for a federate that knows the object and subscribes to it at the class it knows, while a
 * different federate owns it. Its owner should update it while one of these subscribes actively. Only federates whose
 * switch is on are notified. */
#ifndef TT_HLA_RTI_RELEVANCE_H
#define TT_HLA_RTI_RELEVANCE_H

#include "hla/rti/federation.h"

/* Notifies federates after a change of the object's knowers or owners. */
void tt_discovery_advise_object(const struct tt_federation *federation, struct tt_object *object);
/* Somebody subscribes to more or less of the class: of all objects of it, and of those below. */
void tt_discovery_advise_class(const struct tt_federation *federation, uint32_t class);

#endif
