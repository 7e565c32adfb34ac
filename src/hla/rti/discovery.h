/* SPDX-License-Identifier: MIT */
/* discovery.h - notifies federates of an object, and requests values from its owners.
 *
 * A federate discovers an object as the nearest class, from the object's own upwards, at which it subscribes to an
 * attribute that a different federate owns. The known class does not change until it forgets the object. */
#ifndef TT_HLA_RTI_DISCOVERY_H
#define TT_HLA_RTI_DISCOVERY_H

#include "hla/rti/federation.h"

/* Adds a federate to those that know the object. */
void tt_discovery_add_federate(struct tt_object *object, struct tt_federate *federate, uint32_t class);
/* One object, for all federates that do not know it. */
void tt_discovery_announce_object(struct tt_object *object, struct tt_federation *federation);
/* All objects at or below a class, for one federate. */
void tt_discovery_announce_class(struct tt_federate *federate, uint32_t class);
/* Announces one object to one federate; the caller must call tt_discovery_advise_object afterwards. */
void tt_discovery_announce(struct tt_object *object, struct tt_federate *federate);

/* Asks the owners of these attributes, except for `requester`, to provide values. */
void tt_discovery_request_values(struct tt_object *object, const struct tt_federate *requester,
                                 const uint32_t *attributes, size_t count, struct tt_octets tag);

#endif
