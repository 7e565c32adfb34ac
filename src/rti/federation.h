/* SPDX-License-Identifier: MIT */
/* federation.h - what the RTI knows: federations, their federates, objects and points of synchronization; and the callbacks that wait.
 *
 * Only the modules of this folder look inside; programs use the services in rti.h and the headers named there.
 *
 *  FE1  Handles of federates and objects only rise and are never used again in a federation.
 *  FE2  `known` of an object has every federate that discovered or registered it, in the order of handles, with the class it knows.
 *  FE3  An attribute's owner is a joined federate, the RTI itself, or 0.
 *  FE4  Nothing is queued for an ambassador beyond its bounds: it is `overflowed` then, gets nothing more, and its server ends it. */
#ifndef TUTTI_RTI_FEDERATION_H
#define TUTTI_RTI_FEDERATION_H

#include "rti/callback.h"
#include "rti/exception.h"
#include "rti/fom/fom.h"
#include "rti/fom/module.h"
#include "rti/handle_table.h"
#include "rti/logical_time.h"
#include "rti/message.h"

/* 0: without a bound. */
struct tutti_rti_limits {
    size_t callbacks; /* that wait for one federate, messages that wait for their time included */
    size_t bytes;     /* of them */
    size_t federations, federates, objects;
};

struct tutti_rti {
    struct tutti_federation **federations;
    size_t count, room;
    struct tutti_ambassador *ambassadors; /* all that are connected */
    struct tutti_rti_limits limits;
};

/* A program that is connected, joined or not. */
struct tutti_ambassador {
    struct tutti_rti *rti;
    struct tutti_federate *federate; /* NULL: not joined */
    struct tutti_callback *first, *last, *taken;
    size_t waiting;      /* callbacks from first to last */
    size_t count, bytes; /* of callbacks, and of messages that are kept for it */
    bool overflowed;
    struct tutti_ambassador *next, *previous;
};

/* What a federate declared of an attribute at a class, of an interaction class, or of directed interactions. */
enum {
    TUTTI_PUBLISHED = 1,
    TUTTI_SUBSCRIBED = 2,
    TUTTI_ACTIVE = 4,     /* the subscription counts for advisories */
    TUTTI_UNIVERSAL = 8,  /* directed interactions: to all objects that it knows, not only to its own */
    TUTTI_ADVISED = 16,   /* interactions: it was told that others want them */
    TUTTI_ORDER_SET = 32, /* another order than the object model's: */
    TUTTI_ORDER_TSO = 64,
};

struct tutti_interest {
    uint32_t handle;         /* of the attribute */
    uint32_t transportation; /* of those that it registers; 0: as the object model says */
    unsigned char flags;
};

struct tutti_class_interest {
    struct tutti_interest *items;
    size_t count, room;
    bool advised; /* told that others want objects of this class */
};

struct tutti_directed_interest {
    uint32_t object_class, interaction_class;
    unsigned char flags;
};

enum tutti_advance {
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
    int64_t lookahead;          /* as asked for; the actual one may still be larger */
    struct tutti_bound promise; /* nothing below is sent any more; never falls while it regulates */
    enum tutti_advance pending;
    int64_t target; /* of the pending request */
};

struct tutti_federate {
    uint32_t handle;
    char *name, *type;
    struct tutti_federation *federation;
    struct tutti_ambassador *ambassador;
    struct tutti_fom_switches switches;
    struct tutti_class_interest *objects; /* [class - 1] */
    size_t object_classes;
    unsigned char *interactions;      /* [class - 1], flags */
    uint32_t *interaction_transports; /* [class - 1]; 0: as the object model says */
    size_t interaction_classes;
    struct tutti_directed_interest *directed;
    size_t directed_count, directed_room;
    struct tutti_federate_time time;
    struct tutti_message_heap tso; /* that wait for their time */
    struct tutti_message **held;   /* without order, that wait for its next advance */
    size_t held_count, held_room;
    struct tutti_message **sent; /* that may be retracted */
    size_t sent_count, sent_room, sent_kept;
};

struct tutti_handles {
    uint32_t *items;
    size_t count, room;
};

struct tutti_object_attribute {
    uint32_t attribute, owner, transportation;
    uint32_t updater; /* the owner, if it was told that others want it; see relevance.h */
    enum tutti_order order;
    bool divesting;                 /* its owner offers it */
    struct tutti_handles acquirers; /* that asked for it, the first one first */
};

enum { TUTTI_OWNED_BY_RTI = UINT32_MAX }; /* in place of an owner's handle */

struct tutti_object {
    uint32_t handle, class, registrant; /* registrant 0: the RTI */
    bool of_rti;
    uint32_t about; /* of the RTI's own: the federate that it is about; 0: the federation */
    char *name;
    struct tutti_object_attribute *attributes; /* in the order of handles */
    size_t attribute_count, attribute_room;
    struct tutti_known {
        uint32_t federate, class;
        bool *scope; /* by attribute, whether the federate was told that it is in scope; NULL: it never was */
    } * known;
    size_t known_count, known_room;
    uint32_t deleter; /* a federate that deleted it at a time to come, or 0 */
};

struct tutti_reserved_name {
    char *name;
    uint32_t federate, object; /* object 0: not registered yet */
};

struct tutti_sync_point {
    char *label;
    struct tutti_octets tag;
    bool everyone; /* also federates that join later */
    struct tutti_sync_member {
        uint32_t federate;
        enum { TUTTI_SYNC_MOVING, TUTTI_SYNC_ACHIEVED, TUTTI_SYNC_FAILED } state;
    } * members;
    size_t count, room;
};

struct tutti_federation {
    struct tutti_rti *rti;
    char *name;
    enum tutti_time_kind time_kind;
    struct tutti_fom *fom;
    struct tutti_fom_module **modules;
    size_t module_count, module_room;
    struct tutti_handle_table federates, objects;
    uint32_t last_federate, last_object;
    struct tutti_reserved_name *names; /* sorted */
    size_t name_count, name_room;
    struct tutti_sync_point *points;
    size_t point_count, point_room;
    uint64_t last_message;
    uint64_t grants; /* so far */
    bool unsettled;  /* something may be granted */
    bool has_mom;    /* the RTI has objects of its own, see mom_objects.h */
    struct tutti_value *scratch;
    size_t scratch_room;
};

/* The federate of an ambassador, or FederateNotExecutionMember. */
TUTTI_CHECKED enum tutti_hla tutti_ambassador_federate(struct tutti_ambassador *ambassador,
                                                       struct tutti_federate **federate);
/* Queues a copy. */
void tutti_ambassador_push(struct tutti_ambassador *ambassador, const struct tutti_callback *callback);
/* Counts what is kept for it elsewhere; false if that is too much, or `ok` is not. */
bool tutti_ambassador_charge(struct tutti_ambassador *ambassador, size_t size, bool ok);
void tutti_ambassador_discharge(struct tutti_ambassador *ambassador, size_t size);

struct tutti_federate *tutti_federation_member(const struct tutti_federation *federation, uint32_t handle);
static inline struct tutti_federate *tutti_federation_at(const struct tutti_federation *federation, size_t i)
{
    return federation->federates.items[i].item;
}

struct tutti_object *tutti_federation_object(const struct tutti_federation *federation, uint32_t handle);
/* The class as which a federate knows the object; 0: it does not. */
uint32_t tutti_object_known(const struct tutti_object *object, uint32_t federate);
/* An object that the federate knows, or ObjectInstanceNotKnown. */
TUTTI_CHECKED enum tutti_hla tutti_federate_object(const struct tutti_federate *federate, uint32_t handle,
                                                   struct tutti_object **object);
/* NULL: the object has no such attribute. */
struct tutti_object_attribute *tutti_object_attribute(const struct tutti_object *object, uint32_t attribute);

/* What the federate declared of an attribute at a class. */
unsigned tutti_federate_flags(const struct tutti_federate *federate, uint32_t class, uint32_t attribute);
/* The kind of transport by which its interactions of the class go. */
uint32_t tutti_federate_transportation(const struct tutti_federate *federate, uint32_t class);
/* The nearest class at or above `class` of which the federate subscribes to an interaction; 0: none. */
uint32_t tutti_federate_receives(const struct tutti_federate *federate, uint32_t class);
/* The nearest class at or above the interaction class of which it declared this (TUTTI_PUBLISHED, ...) for directed interactions to objects of
 * this class, or of one above it; 0: none. */
uint32_t tutti_federate_directed(const struct tutti_federate *federate, uint32_t object_class,
                                 uint32_t interaction_class, unsigned wanted);

/* Adds a handle, unless it is there; false when memory is out. Removes it; false: it was not there. Is it there? */
bool tutti_handles_add(struct tutti_handles *handles, uint32_t handle);
bool tutti_handles_remove(struct tutti_handles *handles, uint32_t handle);
bool tutti_handles_have(const struct tutti_handles *handles, uint32_t handle);

void tutti_object_free(struct tutti_object *object);
void tutti_federate_free(struct tutti_federate *federate);
void tutti_sync_point_fini(struct tutti_sync_point *point);
void tutti_federation_free(struct tutti_federation *federation);

#endif
