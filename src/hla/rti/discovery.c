/* SPDX-License-Identifier: MIT */
#include "hla/rti/discovery.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "hla/rti/mom.h"
#include "hla/rti/relevance.h"

void tt_discovery_add_federate(struct tt_object *object, struct tt_federate *federate, uint32_t class)
{
    if (!tt_vector_reserve(&object->known, &object->known_room, object->known_count + 1, sizeof *object->known)) {
        federate->ambassador->overflowed = true;
        return;
    }
    size_t at = object->known_count++;
    for (; at && object->known[at - 1].federate > federate->handle; at--)
        object->known[at] = object->known[at - 1];
    object->known[at] = (struct tt_object_known){.federate = federate->handle, .class = class};
}

static bool subscribes_to_object(const struct tt_federate *federate, const struct tt_object *object, uint32_t class)
{
    if (class > federate->object_classes)
        return false;
    const struct tt_class_interest *interest = &federate->objects[class - 1];
    for (size_t i = 0; i < interest->count; i++) {
        if (!(interest->items[i].flags & TUTTI_SUBSCRIBED))
            continue;
        const struct tt_object_attribute *a = tt_federation_find_attribute(object, interest->items[i].handle);
        if (a && a->owner && a->owner != federate->handle)
            return true;
    }
    return false;
}

void tt_discovery_request_values(struct tt_object *object, const struct tt_federate *requester,
                                 const uint32_t *attributes, size_t count, struct tt_octets tag)
{
    const struct tt_federation *federation = requester->federation;
    uint32_t *asked = malloc((count + 1) * sizeof *asked);
    if (!asked) {
        requester->ambassador->overflowed = true;
        return;
    }
    for (size_t i = 0; i < federation->federates.count; i++) {
        const struct tt_federate *owner = tt_federation_at(federation, i);
        size_t n = 0;
        for (size_t k = 0; owner != requester && k < count; k++) {
            const struct tt_object_attribute *a = tt_federation_find_attribute(object, attributes[k]);
            if (a && a->owner == owner->handle)
                asked[n++] = attributes[k];
        }
        struct tt_callback callback = {.kind = TUTTI_CALLBACK_ProvideAttributeValueUpdate,
                                       .object = object->handle,
                                       .handles = asked,
                                       .handle_count = n,
                                       .tag = tag};
        if (n)
            tt_federation_push_callback(owner->ambassador, &callback);
    }
    if (object->of_rti)
        tt_mom_send_values(object, tt_federation_member(federation, requester->handle), attributes, count);
    free(asked);
}

/* A federate's subscribed values are requested as soon as it has discovered the object. */
static void discovery_request_values(struct tt_object *object, const struct tt_federate *federate, uint32_t class)
{
    const struct tt_class_interest *interest = &federate->objects[class - 1];
    uint32_t *attributes = malloc((interest->count + 1) * sizeof *attributes);
    size_t count = 0;
    if (!attributes)
        return;
    for (size_t i = 0; i < interest->count; i++)
        if (interest->items[i].flags & TUTTI_SUBSCRIBED)
            attributes[count++] = interest->items[i].handle;
    tt_discovery_request_values(object, federate, attributes, count, (struct tt_octets){0});
    free(attributes);
}

void tt_discovery_announce(struct tt_object *object, struct tt_federate *federate)
{
    const struct tt_fom *fom = federate->federation->fom;
    uint32_t class = object->class;
    if (object->deleter || tt_federation_known_class(object, federate->handle))
        return;
    while (class && !subscribes_to_object(federate, object, class))
        class = fom->objects.classes[class - 1].parent;
    if (!class)
        return;
    tt_discovery_add_federate(object, federate, class);
    struct tt_callback callback = {.kind = TUTTI_CALLBACK_DiscoverObjectInstance,
                                   .object = object->handle,
                                   .object_class = class,
                                   .text = object->name,
                                   .federate = object->registrant};
    tt_federation_push_callback(federate->ambassador, &callback);
    if (fom->switches.auto_provide || object->of_rti)
        discovery_request_values(object, federate, class);
}

void tt_discovery_announce_object(struct tt_object *object, struct tt_federation *federation)
{
    for (size_t i = 0; i < federation->federates.count; i++)
        tt_discovery_announce(object, tt_federation_at(federation, i));
    tt_discovery_advise_object(federation, object);
}

void tt_discovery_announce_class(struct tt_federate *federate, uint32_t class)
{
    const struct tt_federation *federation = federate->federation;
    for (size_t i = 0; i < federation->objects.count; i++) {
        struct tt_object *object = federation->objects.items[i].item;
        if (tt_fom_is_within(&federation->fom->objects, object->class, class))
            tt_discovery_announce(object, federate);
    }
}
