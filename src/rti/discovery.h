/* SPDX-License-Identifier: MIT */
/* discovery.h - which federates hear of an object, and which are asked for values.
 *
 * A federate discovers an object as the nearest class, from the object's own upwards, at which it subscribes to an attribute that another
 * federate owns. The class it knows stays what it is until it forgets the object. */
#ifndef TUTTI_RTI_DISCOVERY_H
#define TUTTI_RTI_DISCOVERY_H

#include "rti/federation.h"

/* Adds a federate to those that know the object. */
void tutti_discovery_add(struct tutti_object *object, struct tutti_federate *federate, uint32_t class);
/* One object, for all federates that do not know it. */
void tutti_discovery_of(struct tutti_object *object, struct tutti_federation *federation);
/* All objects at or below a class, for one federate. */
void tutti_discovery_for(struct tutti_federate *federate, uint32_t class);
/* One of each; tutti_relevance_of is to follow, which the others do or their callers. */
void tutti_discovery_try(struct tutti_object *object, struct tutti_federate *federate);

/* Asks the owners of these attributes, except for `requester`, to provide values. */
void tutti_discovery_request(struct tutti_object *object, const struct tutti_federate *requester,
                             const uint32_t *attributes, size_t count, struct tutti_octets tag);

#endif
