/* SPDX-License-Identifier: MIT */
/* ownership.h - the services of chapter 7: which federate may update an attribute of an object. */
#ifndef TT_HLA_RTI_OWNERSHIP_H
#define TT_HLA_RTI_OWNERSHIP_H

#include "hla/rti/federation.h"

/* An object with some of its attributes. */
struct tt_attribute_set {
    uint32_t object;
    const uint32_t *attributes;
    size_t count;
};

/* Without an owner from now on, or that of the first federate that asked for them. */
TUTTI_CHECKED enum tt_hla tt_ownership_unconditional_divest(struct tt_ambassador *ambassador,
                                                            struct tt_attribute_set set, struct tt_octets tag);
/* Offers attributes: the owner must confirm once a federate requests them. */
TUTTI_CHECKED enum tt_hla tt_ownership_negotiated_divest(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                                         struct tt_octets tag);
TUTTI_CHECKED enum tt_hla tt_ownership_cancel_negotiated_divest(struct tt_ambassador *ambassador,
                                                                struct tt_attribute_set set);
TUTTI_CHECKED enum tt_hla tt_ownership_confirm_divestiture(struct tt_ambassador *ambassador,
                                                           struct tt_attribute_set set, struct tt_octets tag);
/* Owners are asked to release them. */
TUTTI_CHECKED enum tt_hla tt_ownership_acquire(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                               struct tt_octets tag);
/* Acquires those without an owner; AttributeOwnershipUnavailable reports all others. */
TUTTI_CHECKED enum tt_hla tt_ownership_acquire_if_available(struct tt_ambassador *ambassador,
                                                            struct tt_attribute_set set, struct tt_octets tag);
TUTTI_CHECKED enum tt_hla tt_ownership_cancel_acquisition(struct tt_ambassador *ambassador,
                                                          struct tt_attribute_set set);
/* The owner keeps them. */
TUTTI_CHECKED enum tt_hla tt_ownership_release_denied(struct tt_ambassador *ambassador, struct tt_attribute_set set);
/* Divests those that a second federate requested; `divested` has room for all of the set. */
TUTTI_CHECKED enum tt_hla tt_ownership_divest_if_wanted(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                                        struct tt_octets tag, uint32_t *divested, size_t *count);
TUTTI_CHECKED enum tt_hla tt_ownership_query(struct tt_ambassador *ambassador, struct tt_attribute_set set);
TUTTI_CHECKED enum tt_hla tt_ownership_is_owned(struct tt_ambassador *ambassador, uint32_t object, uint32_t attribute,
                                                bool *owned);

/* For the other modules: takes attributes of an object from a federate: all, or only those in `of` (NULL: all). */
void tt_ownership_release(struct tt_federate *federate, struct tt_object *object, const struct tt_handle_set *of,
                          struct tt_octets tag);
/* Returns true if it owns an attribute of this object, or of any (NULL); and if it waits for one. */
bool tt_ownership_has_any(const struct tt_federate *federate, const struct tt_object *object);
bool tt_ownership_is_pending(const struct tt_federate *federate, const struct tt_object *object);
/* It waits for none any more. */
void tt_ownership_cancel_all(struct tt_federate *federate);

#endif
