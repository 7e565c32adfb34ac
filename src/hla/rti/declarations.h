/* SPDX-License-Identifier: MIT */
/* declarations.h - the services of chapter 5: the publications and subscriptions of a federate.
 *
 * Declarations add to earlier ones. A publisher is notified of subscribers (start and stop registration, turn
 * interactions on and off) if its switch for that is on. */
#ifndef TT_HLA_RTI_DECLARATIONS_H
#define TT_HLA_RTI_DECLARATIONS_H

#include "hla/rti/federation.h"

/* Attributes of a class, or interaction classes of an object class. */
struct tt_class_set {
    uint32_t class;
    const uint32_t *handles;
    size_t count;
};

TUTTI_CHECKED enum tt_hla tt_declarations_publish_attributes(struct tt_ambassador *ambassador, struct tt_class_set set);
TUTTI_CHECKED enum tt_hla tt_declarations_unpublish_attributes(struct tt_ambassador *ambassador,
                                                               struct tt_class_set set);
TUTTI_CHECKED enum tt_hla tt_declarations_unpublish_object_class(struct tt_ambassador *ambassador, uint32_t class);
/* `rate` designates an update rate of the object model, or is "". Rates are known, but updates are not thinned out. */
TUTTI_CHECKED enum tt_hla tt_declarations_subscribe_attributes(struct tt_ambassador *ambassador,
                                                               struct tt_class_set set, bool active, const char *rate);
TUTTI_CHECKED enum tt_hla tt_declarations_unsubscribe_attributes(struct tt_ambassador *ambassador,
                                                                 struct tt_class_set set);
TUTTI_CHECKED enum tt_hla tt_declarations_unsubscribe_object_class(struct tt_ambassador *ambassador, uint32_t class);

TUTTI_CHECKED enum tt_hla tt_declarations_publish_interaction(struct tt_ambassador *ambassador, uint32_t class);
TUTTI_CHECKED enum tt_hla tt_declarations_unpublish_interaction(struct tt_ambassador *ambassador, uint32_t class);
TUTTI_CHECKED enum tt_hla tt_declarations_subscribe_interaction(struct tt_ambassador *ambassador, uint32_t class,
                                                                bool active);
TUTTI_CHECKED enum tt_hla tt_declarations_unsubscribe_interaction(struct tt_ambassador *ambassador, uint32_t class);

/* Publishes interactions of these classes directed to objects of the class. An `un...` without handles applies to all. */
TUTTI_CHECKED enum tt_hla tt_declarations_publish_directed(struct tt_ambassador *ambassador, struct tt_class_set set);
TUTTI_CHECKED enum tt_hla tt_declarations_unpublish_directed(struct tt_ambassador *ambassador, struct tt_class_set set);
/* Subscribes to those directed to objects of which it owns an attribute; `universally`: to all that it knows. */
TUTTI_CHECKED enum tt_hla tt_declarations_subscribe_directed(struct tt_ambassador *ambassador, struct tt_class_set set,
                                                             bool universally);
TUTTI_CHECKED enum tt_hla tt_declarations_unsubscribe_directed(struct tt_ambassador *ambassador,
                                                               struct tt_class_set set);

/* Another order than the object model's, for objects that it registers from now on, or for interactions that it sends. */
TUTTI_CHECKED enum tt_hla tt_declarations_set_default_order(struct tt_ambassador *ambassador, struct tt_class_set set,
                                                            enum tt_message_order order);
TUTTI_CHECKED enum tt_hla tt_declarations_set_interaction_order(struct tt_ambassador *ambassador, uint32_t class,
                                                                enum tt_message_order order);

/* Changes the transportation type for objects that it registers from now on, or for interactions that it sends; the
 * latter is confirmed by a callback, as is the query. All messages are delivered reliably; the type is only reported
 * with them. */
TUTTI_CHECKED enum tt_hla tt_declarations_set_default_transportation(struct tt_ambassador *ambassador,
                                                                     struct tt_class_set set, uint32_t transportation);
TUTTI_CHECKED enum tt_hla tt_declarations_set_interaction_transportation(struct tt_ambassador *ambassador,
                                                                         uint32_t class, uint32_t transportation);
TUTTI_CHECKED enum tt_hla tt_declarations_query_interaction_transportation(struct tt_ambassador *ambassador,
                                                                           uint32_t federate, uint32_t class);

/* For the other modules: withdraws all declarations of the federate. */
void tt_declarations_withdraw(struct tt_federate *federate);

#endif
