/* SPDX-License-Identifier: MIT */
/* declarations.h - the services of chapter 5: what a federate publishes and subscribes to.
 *
 * What is declared adds to what was declared before. A publisher is told whether others want it (start and stop registration, turn
 * interactions on and off) if its switch for that is on. */
#ifndef TUTTI_RTI_DECLARATIONS_H
#define TUTTI_RTI_DECLARATIONS_H

#include "rti/federation.h"

/* Attributes of a class, or interaction classes of an object class. */
struct tutti_class_set {
    uint32_t class;
    const uint32_t *handles;
    size_t count;
};

TUTTI_CHECKED enum tutti_hla tutti_rti_publish_attributes(struct tutti_ambassador *ambassador,
                                                          struct tutti_class_set set);
TUTTI_CHECKED enum tutti_hla tutti_rti_unpublish_attributes(struct tutti_ambassador *ambassador,
                                                            struct tutti_class_set set);
TUTTI_CHECKED enum tutti_hla tutti_rti_unpublish_object_class(struct tutti_ambassador *ambassador, uint32_t class);
/* `rate` designates an update rate of the object model, or is "". Rates are known, but updates are not thinned out. */
TUTTI_CHECKED enum tutti_hla tutti_rti_subscribe_attributes(struct tutti_ambassador *ambassador,
                                                            struct tutti_class_set set, bool active, const char *rate);
TUTTI_CHECKED enum tutti_hla tutti_rti_unsubscribe_attributes(struct tutti_ambassador *ambassador,
                                                              struct tutti_class_set set);
TUTTI_CHECKED enum tutti_hla tutti_rti_unsubscribe_object_class(struct tutti_ambassador *ambassador, uint32_t class);

TUTTI_CHECKED enum tutti_hla tutti_rti_publish_interaction(struct tutti_ambassador *ambassador, uint32_t class);
TUTTI_CHECKED enum tutti_hla tutti_rti_unpublish_interaction(struct tutti_ambassador *ambassador, uint32_t class);
TUTTI_CHECKED enum tutti_hla tutti_rti_subscribe_interaction(struct tutti_ambassador *ambassador, uint32_t class,
                                                             bool active);
TUTTI_CHECKED enum tutti_hla tutti_rti_unsubscribe_interaction(struct tutti_ambassador *ambassador, uint32_t class);

/* Interactions of these classes that are directed to objects of the class. An `un...` without handles is of all classes. */
TUTTI_CHECKED enum tutti_hla tutti_rti_publish_directed(struct tutti_ambassador *ambassador,
                                                        struct tutti_class_set set);
TUTTI_CHECKED enum tutti_hla tutti_rti_unpublish_directed(struct tutti_ambassador *ambassador,
                                                          struct tutti_class_set set);
/* Those to objects of which it owns an attribute; `universally`: to all that it knows. */
TUTTI_CHECKED enum tutti_hla tutti_rti_subscribe_directed(struct tutti_ambassador *ambassador,
                                                          struct tutti_class_set set, bool universally);
TUTTI_CHECKED enum tutti_hla tutti_rti_unsubscribe_directed(struct tutti_ambassador *ambassador,
                                                            struct tutti_class_set set);

/* Another order than the object model's, for objects that it registers from now on, or for interactions that it sends. */
TUTTI_CHECKED enum tutti_hla tutti_rti_change_default_attribute_order(struct tutti_ambassador *ambassador,
                                                                      struct tutti_class_set set,
                                                                      enum tutti_order order);
TUTTI_CHECKED enum tutti_hla tutti_rti_change_interaction_order(struct tutti_ambassador *ambassador, uint32_t class,
                                                                enum tutti_order order);

/* Another kind of transport than the object model's, for objects that it registers from now on, or for interactions that it sends; the latter
 * is confirmed by a callback, and so comes the answer to the query. All messages are delivered reliably; the kind is told with them. */
TUTTI_CHECKED enum tutti_hla tutti_rti_change_default_attribute_transportation(struct tutti_ambassador *ambassador,
                                                                               struct tutti_class_set set,
                                                                               uint32_t transportation);
TUTTI_CHECKED enum tutti_hla tutti_rti_change_interaction_transportation(struct tutti_ambassador *ambassador,
                                                                         uint32_t class, uint32_t transportation);
TUTTI_CHECKED enum tutti_hla tutti_rti_query_interaction_transportation(struct tutti_ambassador *ambassador,
                                                                        uint32_t federate, uint32_t class);

/* For the other modules: nothing of what the federate declared holds any more. */
void tutti_declarations_withdraw(struct tutti_federate *federate);

#endif
