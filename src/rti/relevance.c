/* SPDX-License-Identifier: MIT */
#include "rti/relevance.h"

#include <stdlib.h>

/* One kind of change, for one federate: gathered over the attributes of an object, told at once. */
static void tell(const struct tutti_federate *federate, enum tutti_callback_kind kind,
                 const struct tutti_object *object, struct tutti_handles *attributes)
{
    struct tutti_callback callback = {
        .kind = kind, .object = object->handle, .handles = attributes->items, .handle_count = attributes->count};
    if (attributes->count)
        tutti_ambassador_push(federate->ambassador, &callback);
    free(attributes->items);
    *attributes = (struct tutti_handles){0};
}

static void collect(struct tutti_handles *attributes, uint32_t attribute, const struct tutti_federate *federate)
{
    if (!tutti_handles_add(attributes, attribute))
        federate->ambassador->overflowed = true;
}

/* Does a federate other than the owner subscribe actively? */
static bool is_wanted(const struct tutti_federation *federation, const struct tutti_object *object,
                      const struct tutti_object_attribute *a)
{
    for (size_t i = 0; a->owner && i < object->known_count; i++) {
        const struct tutti_known *known = &object->known[i];
        if (known->federate != a->owner &&
            tutti_federate_flags(tutti_federation_member(federation, known->federate), known->class, a->attribute) &
                TUTTI_ACTIVE)
            return true;
    }
    return false;
}

/* What changed for the owner `f`. */
static void advise_owner(const struct tutti_federate *f, struct tutti_object *object)
{
    struct tutti_handles on = {0}, off = {0};
    for (size_t i = 0; i < object->attribute_count; i++) {
        struct tutti_object_attribute *a = &object->attributes[i];
        bool wanted = a->owner == f->handle && is_wanted(f->federation, object, a), told = a->updater == f->handle;
        if (wanted == told)
            continue;
        a->updater = wanted ? f->handle : 0;
        if (a->owner == f->handle)
            collect(wanted ? &on : &off, a->attribute, f);
    }
    tell(f, TUTTI_CALLBACK_TurnUpdatesOnForObjectInstance, object, &on);
    tell(f, TUTTI_CALLBACK_TurnUpdatesOffForObjectInstance, object, &off);
}

static bool is_in_scope(const struct tutti_federate *f, const struct tutti_known *known,
                        const struct tutti_object_attribute *a)
{
    return a->owner && a->owner != f->handle && tutti_federate_flags(f, known->class, a->attribute) & TUTTI_SUBSCRIBED;
}

static void advise_receiver(const struct tutti_federate *f, const struct tutti_object *object,
                            struct tutti_known *known)
{
    struct tutti_handles in = {0}, out = {0};
    if (!known->scope)
        known->scope = calloc(object->attribute_count + 1, sizeof *known->scope);
    if (!known->scope) {
        f->ambassador->overflowed = true;
        return;
    }
    for (size_t i = 0; i < object->attribute_count; i++) {
        bool is = is_in_scope(f, known, &object->attributes[i]);
        if (is == known->scope[i])
            continue;
        known->scope[i] = is;
        collect(is ? &in : &out, object->attributes[i].attribute, f);
    }
    tell(f, TUTTI_CALLBACK_AttributesInScope, object, &in);
    tell(f, TUTTI_CALLBACK_AttributesOutOfScope, object, &out);
}

void tutti_relevance_of(const struct tutti_federation *federation, struct tutti_object *object)
{
    for (size_t i = 0; !object->deleter && i < object->known_count; i++) {
        const struct tutti_federate *f = tutti_federation_member(federation, object->known[i].federate);
        if (f->switches.attribute_relevance_advisory)
            advise_owner(f, object);
        if (f->switches.attribute_scope_advisory)
            advise_receiver(f, object, &object->known[i]);
    }
}

void tutti_relevance_within(const struct tutti_federation *federation, uint32_t class)
{
    bool wanted = false;
    for (size_t i = 0; i < federation->federates.count; i++) {
        const struct tutti_fom_switches *switches = &tutti_federation_at(federation, i)->switches;
        wanted |= switches->attribute_relevance_advisory || switches->attribute_scope_advisory;
    }
    for (size_t i = 0; wanted && i < federation->objects.count; i++) {
        struct tutti_object *object = federation->objects.items[i].item;
        if (tutti_fom_is_within(&federation->fom->objects, object->class, class))
            tutti_relevance_of(federation, object);
    }
}
