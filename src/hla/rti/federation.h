/* SPDX-License-Identifier: MIT */
/* federation.h - the state of the RTI: federations, their federates, objects and synchronization points; and the
 * pending callbacks.
 *
 * Only the modules of this folder use it; programs use the services in rti.h and the headers named there.
 *
 *  FE1  Handles of federates and objects only rise and are never used again in a federation.
 *  FE2  `known` of an object has every federate that discovered or registered it, in the order of handles, with the
 *       class it knows.
 *  FE3  An attribute's owner is a joined federate, the RTI itself, or 0.
 *  FE4  Nothing is queued for an ambassador beyond its bounds: it is `overflowed` then, gets no more callbacks, and
 *       its server ends it. */
#ifndef TT_HLA_RTI_FEDERATION_H
#define TT_HLA_RTI_FEDERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hla/fom/fom.h"
#include "hla/fom/fom_module.h"
#include "hla/rti/callback.h"
#include "hla/rti/exception.h"
#include "hla/rti/logical_time.h"
#include "hla/rti/message.h"

/* Things by handles that only rise: federates, objects. Kept in the order of their handles. */

struct tt_handle_table {
    struct tt_handle_item {
        uint32_t handle;
        void *item;
    } * items;
    size_t count, room;
};

/* A zeroed table is empty. The items are the caller's. */
void tt_federation_table_fini(struct tt_handle_table *table);
/* `handle` is larger than all that are there. False when memory is out. */
bool tt_federation_table_add(struct tt_handle_table *table, uint32_t handle, void *item);
/* NULL: none. */
void *tt_federation_table_find(const struct tt_handle_table *table, uint32_t handle);
void tt_federation_table_remove(struct tt_handle_table *table, uint32_t handle);

/* 0: without a bound. */
struct tt_rti_limits {
    size_t callbacks; /* that wait for one federate, messages that wait for their time included */
    size_t bytes;     /* of them */
    size_t federations, federates, objects;
};

struct tt_rti {
    struct tt_federation **federations;
    size_t count, room;
    struct tt_ambassador *ambassadors; /* all that are connected */
    struct tt_rti_limits limits;
};

/* A program that is connected, joined or not. */
struct tt_ambassador {
    struct tt_rti *rti;
    struct tt_federate *federate; /* NULL: not joined */
    struct tt_callback *first, *last, *taken;
    size_t waiting;      /* callbacks from first to last */
    size_t count, bytes; /* of callbacks, and of messages that are kept for it */
    bool overflowed;
    struct tt_ambassador *next, *previous;
};

/* The declarations of a federate for an attribute at a class, an interaction class, or directed interactions. */
enum {
    TUTTI_PUBLISHED = 1,
    TUTTI_SUBSCRIBED = 2,
    TUTTI_ACTIVE = 4,     /* the subscription counts for advisories */
    TUTTI_UNIVERSAL = 8,  /* directed interactions: to all known objects, not only to owned ones */
    TUTTI_ADVISED = 16,   /* interactions: the federate was notified of subscribers */
    TUTTI_ORDER_SET = 32, /* an order different from the object model's: */
    TUTTI_ORDER_TSO = 64,
};

struct tt_attribute_interest {
    uint32_t handle;         /* of the attribute */
    uint32_t transportation; /* of objects that it registers; 0: as in the object model */
    unsigned char flags;
};

struct tt_class_interest {
    struct tt_attribute_interest *items;
    size_t count, room;
    bool advised; /* the federate was notified of subscribers to this class */
};

struct tt_directed_interest {
    uint32_t object_class, interaction_class;
    unsigned char flags;
};

enum tt_time_advance {
    TUTTI_ADVANCE_NONE, /* granted */
    TUTTI_ADVANCE_TAR,
    TUTTI_ADVANCE_TARA,
    TUTTI_ADVANCE_NMR,
    TUTTI_ADVANCE_NMRA,
};

/* time.c has the rules. */
struct tutti_federate_time {
    int64_t now;
    bool strict; /* the last grant was of TAR or NMR: with a lookahead of 0, nothing more is sent at `now` */
    bool regulating, constrained, constrained_pending, asynchronous;
    int64_t lookahead;            /* as asked for; the actual one may still be larger */
    struct tt_time_bound promise; /* nothing below is sent any more; never falls while it regulates */
    enum tt_time_advance pending;
    int64_t target; /* of the pending request */
};

struct tt_federate {
    uint32_t handle;
    char *name, *type;
    struct tt_federation *federation;
    struct tt_ambassador *ambassador;
    struct tt_fom_switches switches;
    struct tt_class_interest *objects; /* [class - 1] */
    size_t object_classes;
    unsigned char *interactions;      /* [class - 1], flags */
    uint32_t *interaction_transports; /* [class - 1]; 0: as in the object model */
    size_t interaction_classes;
    struct tt_directed_interest *directed;
    size_t directed_count, directed_room;
    struct tutti_federate_time time;
    struct tt_message_heap tso; /* that wait for their time */
    struct tt_message **held;   /* without order, that wait for its next advance */
    size_t held_count, held_room;
    struct tt_message **sent; /* that may be retracted */
    size_t sent_count, sent_room, sent_kept;
};

struct tt_handle_set {
    uint32_t *items;
    size_t count, room;
};

struct tt_object_attribute {
    uint32_t attribute, owner, transportation;
    uint32_t updater; /* the owner, if it was notified of subscribers; see relevance.h */
    enum tt_message_order order;
    bool divesting;                 /* its owner offers it */
    struct tt_handle_set acquirers; /* that asked for it, the first one first */
};

enum { TUTTI_OWNED_BY_RTI = UINT32_MAX }; /* in place of an owner's handle */

struct tt_object {
    uint32_t handle, class, registrant; /* registrant 0: the RTI */
    bool of_rti;
    uint32_t about; /* of the RTI's own: the federate that it is about; 0: the federation */
    char *name;
    struct tt_object_attribute *attributes; /* in the order of handles */
    size_t attribute_count, attribute_room;
    struct tt_object_known {
        uint32_t federate, class;
        bool *scope; /* by attribute, whether the federate was notified that it is in scope; NULL: never */
    } * known;
    size_t known_count, known_room;
    uint32_t deleter; /* a federate that deleted it at a time to come, or 0 */
};

struct tt_reserved_name {
    char *name;
    uint32_t federate, object; /* object 0: not registered yet */
};

struct tt_sync_point {
    char *label;
    struct tt_octets tag;
    bool everyone; /* also federates that join later */
    struct tt_sync_member {
        uint32_t federate;
        enum { TUTTI_SYNC_MOVING, TUTTI_SYNC_ACHIEVED, TUTTI_SYNC_FAILED } state;
    } * members;
    size_t count, room;
};

struct tt_federation {
    struct tt_rti *rti;
    char *name;
    enum tt_logical_time_kind time_kind;
    struct tt_fom *fom;
    struct tt_fom_module **modules;
    size_t module_count, module_room;
    struct tt_handle_table federates, objects;
    uint32_t last_federate, last_object;
    struct tt_reserved_name *names; /* sorted */
    size_t name_count, name_room;
    struct tt_sync_point *points;
    size_t point_count, point_room;
    uint64_t last_message;
    uint64_t grants; /* so far */
    bool unsettled;  /* something may be granted */
    bool has_mom;    /* the RTI has objects, see mom_objects.h */
    struct tt_hla_value *scratch;
    size_t scratch_room;
};

/* The federate of an ambassador, or FederateNotExecutionMember. */
TUTTI_CHECKED enum tt_hla tt_federation_of_ambassador(struct tt_ambassador *ambassador, struct tt_federate **federate);
/* Queues a copy. */
void tt_federation_push_callback(struct tt_ambassador *ambassador, const struct tt_callback *callback);
/* Charges memory that is kept for it elsewhere; false if that exceeds its limit, or if `ok` is false. */
bool tt_federation_charge_memory(struct tt_ambassador *ambassador, size_t size, bool ok);
void tt_federation_discharge_memory(struct tt_ambassador *ambassador, size_t size);

struct tt_federate *tt_federation_member(const struct tt_federation *federation, uint32_t handle);
static inline struct tt_federate *tt_federation_at(const struct tt_federation *federation, size_t i)
{
    return federation->federates.items[i].item;
}

struct tt_object *tt_federation_object(const struct tt_federation *federation, uint32_t handle);
/* Returns the class as which a federate knows the object; 0: unknown. */
uint32_t tt_federation_known_class(const struct tt_object *object, uint32_t federate);
/* Finds an object that the federate knows, or ObjectInstanceNotKnown. */
TUTTI_CHECKED enum tt_hla tt_federation_find_object(const struct tt_federate *federate, uint32_t handle,
                                                    struct tt_object **object);
/* NULL: the object has no such attribute. */
struct tt_object_attribute *tt_federation_find_attribute(const struct tt_object *object, uint32_t attribute);

/* Returns the federate's declarations for an attribute at a class. */
unsigned tt_federation_interest_flags(const struct tt_federate *federate, uint32_t class, uint32_t attribute);
/* The kind of transport by which its interactions of the class go. */
uint32_t tt_federation_transportation(const struct tt_federate *federate, uint32_t class);
/* Returns the nearest class at or above `class` of which the federate subscribes to an interaction; 0: none. */
uint32_t tt_federation_received_class(const struct tt_federate *federate, uint32_t class);
/* Returns the nearest class at or above the interaction class with this declaration (TUTTI_PUBLISHED, ...) for directed
 * interactions to objects of this class or one above it; 0: none. */
uint32_t tt_federation_directed_class(const struct tt_federate *federate, uint32_t object_class,
                                      uint32_t interaction_class, unsigned wanted);

/* A set of handles. Adding returns false when memory is out; removing, if the handle is not in the set. */
bool tt_federation_add_handle(struct tt_handle_set *handles, uint32_t handle);
bool tt_federation_remove_handle(struct tt_handle_set *handles, uint32_t handle);
bool tt_federation_has_handle(const struct tt_handle_set *handles, uint32_t handle);

void tt_federation_free_object(struct tt_object *object);
void tt_federation_free_federate(struct tt_federate *federate);
void tt_federation_free_sync_point(struct tt_sync_point *point);
void tt_federation_free(struct tt_federation *federation);

#endif
