/* SPDX-License-Identifier: MIT */
/* objects.h - the services of chapter 6 about objects: names, registration, values, deletion. */
#ifndef TT_HLA_RTI_OBJECTS_H
#define TT_HLA_RTI_OBJECTS_H

#include "hla/rti/message_send.h"
#include "hla/rti/ownership.h"

/* The result comes as a callback. A name that begins with HLA is illegal. Several are reserved together or not at all. */
TUTTI_CHECKED enum tt_hla tt_objects_reserve_name(struct tt_ambassador *ambassador, const char *name);
TUTTI_CHECKED enum tt_hla tt_objects_release_name(struct tt_ambassador *ambassador, const char *name);
TUTTI_CHECKED enum tt_hla tt_objects_reserve_names(struct tt_ambassador *ambassador, const char *const *names,
                                                   size_t count);
TUTTI_CHECKED enum tt_hla tt_objects_release_names(struct tt_ambassador *ambassador, const char *const *names,
                                                   size_t count);

/* `name` NULL: one is made. The federate owns the attributes that it publishes, and the privilege to delete the object. */
TUTTI_CHECKED enum tt_hla tt_objects_register(struct tt_ambassador *ambassador, uint32_t class, const char *name,
                                              uint32_t *object);
/* *retraction (may be NULL) is 0 if the message cannot be taken back: it is not sent in time order. */
TUTTI_CHECKED enum tt_hla tt_objects_update(struct tt_ambassador *ambassador, uint32_t object,
                                            const struct tt_hla_value *values, size_t count,
                                            struct tt_message_stamp send, uint64_t *retraction);
TUTTI_CHECKED enum tt_hla tt_objects_delete(struct tt_ambassador *ambassador, uint32_t object,
                                            struct tt_message_stamp send, uint64_t *retraction);
/* Forgets the object; it is discovered again at once if the federate still subscribes to its attributes, perhaps as another class. */
TUTTI_CHECKED enum tt_hla tt_objects_local_delete(struct tt_ambassador *ambassador, uint32_t object);
/* Owners are asked for values of an object, or of all objects of a class. */
TUTTI_CHECKED enum tt_hla tt_objects_request_update(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                                    struct tt_octets tag);
TUTTI_CHECKED enum tt_hla tt_objects_request_class_update(struct tt_ambassador *ambassador, uint32_t class,
                                                          const uint32_t *attributes, size_t count,
                                                          struct tt_octets tag);
TUTTI_CHECKED enum tt_hla tt_objects_set_attribute_order(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                                         enum tt_message_order order);

/* Confirmed by a callback; the answer to the query is one, too. */
TUTTI_CHECKED enum tt_hla tt_objects_set_attribute_transportation(struct tt_ambassador *ambassador,
                                                                  struct tt_attribute_set set, uint32_t transportation);
TUTTI_CHECKED enum tt_hla tt_objects_query_attribute_transportation(struct tt_ambassador *ambassador, uint32_t object,
                                                                    uint32_t attribute);

/* For the other modules: finds an object by its name, or NULL. */
struct tt_object *tt_objects_find(const struct tt_federation *federation, const char *name);
/* An object of the RTI itself, about a federate or (0) the federation, which federates that subscribe discover; and its end. Nothing when memory is
 * out. */
void tt_objects_add_own(struct tt_federation *federation, uint32_t class, uint32_t about);
void tt_objects_remove_own(struct tt_federation *federation, struct tt_object *object);
/* A federate leaves: its objects are deleted where permitted (`delete`), it loses ownership of all other attributes, it
 * knows no objects any longer, and its reserved names are free. */
void tt_objects_remove_federate(struct tt_federate *federate, bool delete);

/* The services of chapter 6 about interactions: to all who subscribe, or directed to an object. */

/* *retraction (may be NULL) is 0 if the message cannot be taken back: it is not sent in time order. */
TUTTI_CHECKED enum tt_hla tt_objects_send_interaction(struct tt_ambassador *ambassador, uint32_t class,
                                                      const struct tt_hla_value *values, size_t count,
                                                      struct tt_message_stamp send, uint64_t *retraction);
TUTTI_CHECKED enum tt_hla tt_objects_send_directed(struct tt_ambassador *ambassador, uint32_t class, uint32_t object,
                                                   const struct tt_hla_value *values, size_t count,
                                                   struct tt_message_stamp send, uint64_t *retraction);

#endif
