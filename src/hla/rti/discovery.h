/* SPDX-License-Identifier: MIT */
/* discovery.h - which federates hear of an object, and which are asked for values.
 *
 * A federate discovers an object as the nearest class, from the object's own upwards, at which it subscribes to an attribute that another
 * federate owns. The class it knows stays what it is until it forgets the object. */
#ifndef TT_HLA_RTI_DISCOVERY_H
#define TT_HLA_RTI_DISCOVERY_H

#include "hla/rti/federation.h"

/* Adds a federate to those that know the object. */
void tt_discovery_add_federate(struct tt_object *object, struct tt_federate *federate, uint32_t class);
/* One object, for all federates that do not know it. */
void tt_discovery_announce_object(struct tt_object *object, struct tt_federation *federation);
/* All objects at or below a class, for one federate. */
void tt_discovery_announce_class(struct tt_federate *federate, uint32_t class);
/* One of each; tt_discovery_advise_object is to follow, which the others do or their callers. */
void tt_discovery_announce(struct tt_object *object, struct tt_federate *federate);

/* Asks the owners of these attributes, except for `requester`, to provide values. */
void tt_discovery_request_values(struct tt_object *object, const struct tt_federate *requester,
                                 const uint32_t *attributes, size_t count, struct tt_octets tag);

#endif
