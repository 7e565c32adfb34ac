/* SPDX-License-Identifier: MIT */
#include "hla/rti/relevance.h"

#include <stdlib.h>

/* One kind of change, for one federate: collected over the attributes of an object, reported at once. */
static void discovery_notify(const struct tt_federate *federate, enum tt_callback_kind kind,
                             const struct tt_object *object, struct tt_handle_set *attributes)
{
    struct tt_callback callback = {
        .kind = kind, .object = object->handle, .handles = attributes->items, .handle_count = attributes->count};
    if (attributes->count)
        tt_federation_push_callback(federate->ambassador, &callback);
    free(attributes->items);
    *attributes = (struct tt_handle_set){0};
}

static void discovery_collect(struct tt_handle_set *attributes, uint32_t attribute, const struct tt_federate *federate)
{
    if (!tt_federation_add_handle(attributes, attribute))
        federate->ambassador->overflowed = true;
}

/* Returns true if a federate other than the owner subscribes actively. */
static bool discovery_is_wanted(const struct tt_federation *federation, const struct tt_object *object,
                                const struct tt_object_attribute *a)
{
    for (size_t i = 0; a->owner && i < object->known_count; i++) {
        const struct tt_object_known *known = &object->known[i];
        if (known->federate != a->owner &&
            tt_federation_interest_flags(tt_federation_member(federation, known->federate), known->class,
                                         a->attribute) &
                TUTTI_ACTIVE)
            return true;
    }
    return false;
}

/* Reports changes to the owner `f`. */
static void advise_owner(const struct tt_federate *f, struct tt_object *object)
{
    struct tt_handle_set on = {0}, off = {0};
    for (size_t i = 0; i < object->attribute_count; i++) {
        struct tt_object_attribute *a = &object->attributes[i];
        bool wanted = a->owner == f->handle && discovery_is_wanted(f->federation, object, a),
             told = a->updater == f->handle;
        if (wanted == told)
            continue;
        a->updater = wanted ? f->handle : 0;
        if (a->owner == f->handle)
            discovery_collect(wanted ? &on : &off, a->attribute, f);
    }
    discovery_notify(f, TUTTI_CALLBACK_TurnUpdatesOnForObjectInstance, object, &on);
    discovery_notify(f, TUTTI_CALLBACK_TurnUpdatesOffForObjectInstance, object, &off);
}

static void advise_receiver(const struct tt_federate *f, const struct tt_object *object, struct tt_object_known *known)
{
    struct tt_handle_set in = {0}, out = {0};
    if (!known->scope)
        known->scope = calloc(object->attribute_count + 1, sizeof *known->scope);
    if (!known->scope) {
        f->ambassador->overflowed = true;
        return;
    }
    for (size_t i = 0; i < object->attribute_count; i++) {
        const struct tt_object_attribute *a = &object->attributes[i];
        bool in_scope = a->owner && a->owner != f->handle &&
                        tt_federation_interest_flags(f, known->class, a->attribute) & TUTTI_SUBSCRIBED;
        if (in_scope == known->scope[i])
            continue;
        known->scope[i] = in_scope;
        discovery_collect(in_scope ? &in : &out, a->attribute, f);
    }
    discovery_notify(f, TUTTI_CALLBACK_AttributesInScope, object, &in);
    discovery_notify(f, TUTTI_CALLBACK_AttributesOutOfScope, object, &out);
}

void tt_discovery_advise_object(const struct tt_federation *federation, struct tt_object *object)
{
    for (size_t i = 0; !object->deleter && i < object->known_count; i++) {
        const struct tt_federate *f = tt_federation_member(federation, object->known[i].federate);
        if (f->switches.attribute_relevance_advisory)
            advise_owner(f, object);
        if (f->switches.attribute_scope_advisory)
            advise_receiver(f, object, &object->known[i]);
    }
}

void tt_discovery_advise_class(const struct tt_federation *federation, uint32_t class)
{
    bool wanted = false;
    for (size_t i = 0; i < federation->federates.count; i++) {
        const struct tt_fom_switches *switches = &tt_federation_at(federation, i)->switches;
        wanted |= switches->attribute_relevance_advisory || switches->attribute_scope_advisory;
    }
    for (size_t i = 0; wanted && i < federation->objects.count; i++) {
        struct tt_object *object = federation->objects.items[i].item;
        if (tt_fom_is_within(&federation->fom->objects, object->class, class))
            tt_discovery_advise_object(federation, object);
    }
}
