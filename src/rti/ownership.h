/* SPDX-License-Identifier: MIT */
/* ownership.h - the services of chapter 7: which federate may update an attribute of an object. */
#ifndef TUTTI_RTI_OWNERSHIP_H
#define TUTTI_RTI_OWNERSHIP_H

#include "rti/federation.h"

/* An object with some of its attributes. */
struct tutti_attribute_set {
    uint32_t object;
    const uint32_t *attributes;
    size_t count;
};

/* Without an owner from now on, or that of the first federate that asked for them. */
TUTTI_CHECKED enum tutti_hla tutti_rti_unconditional_divest(struct tutti_ambassador *ambassador,
                                                            struct tutti_attribute_set set, struct tutti_octets tag);
/* Offered: the owner is asked to confirm once a federate wants them. */
TUTTI_CHECKED enum tutti_hla tutti_rti_negotiated_divest(struct tutti_ambassador *ambassador,
                                                         struct tutti_attribute_set set, struct tutti_octets tag);
TUTTI_CHECKED enum tutti_hla tutti_rti_cancel_negotiated_divest(struct tutti_ambassador *ambassador,
                                                                struct tutti_attribute_set set);
TUTTI_CHECKED enum tutti_hla tutti_rti_confirm_divestiture(struct tutti_ambassador *ambassador,
                                                           struct tutti_attribute_set set, struct tutti_octets tag);
/* Owners are asked to release them. */
TUTTI_CHECKED enum tutti_hla tutti_rti_acquire(struct tutti_ambassador *ambassador, struct tutti_attribute_set set,
                                               struct tutti_octets tag);
/* Those without an owner; of the others AttributeOwnershipUnavailable tells. */
TUTTI_CHECKED enum tutti_hla tutti_rti_acquire_if_available(struct tutti_ambassador *ambassador,
                                                            struct tutti_attribute_set set, struct tutti_octets tag);
TUTTI_CHECKED enum tutti_hla tutti_rti_cancel_acquisition(struct tutti_ambassador *ambassador,
                                                          struct tutti_attribute_set set);
/* The owner keeps them. */
TUTTI_CHECKED enum tutti_hla tutti_rti_release_denied(struct tutti_ambassador *ambassador,
                                                      struct tutti_attribute_set set);
/* Those that another federate asked for; `divested` has room for all of the set. */
TUTTI_CHECKED enum tutti_hla tutti_rti_divest_if_wanted(struct tutti_ambassador *ambassador,
                                                        struct tutti_attribute_set set, struct tutti_octets tag,
                                                        uint32_t *divested, size_t *count);
TUTTI_CHECKED enum tutti_hla tutti_rti_query_ownership(struct tutti_ambassador *ambassador,
                                                       struct tutti_attribute_set set);
TUTTI_CHECKED enum tutti_hla tutti_rti_is_owned(struct tutti_ambassador *ambassador, uint32_t object,
                                                uint32_t attribute, bool *owned);

/* For the other modules: takes attributes of an object from a federate, all or only those that `of` has (NULL: all). */
void tutti_ownership_take(struct tutti_federate *federate, struct tutti_object *object, const struct tutti_handles *of,
                          struct tutti_octets tag);
/* Does it own an attribute of this object, or of any (NULL)? Does it wait for one? */
bool tutti_ownership_has_any(const struct tutti_federate *federate, const struct tutti_object *object);
bool tutti_ownership_waits(const struct tutti_federate *federate, const struct tutti_object *object);
/* It waits for none any more. */
void tutti_ownership_cancel(struct tutti_federate *federate);

#endif
