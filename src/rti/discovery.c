/* SPDX-License-Identifier: MIT */
#include "rti/discovery.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "rti/mom.h"
#include "rti/relevance.h"

void tutti_discovery_add(struct tutti_object *object, struct tutti_federate *federate, uint32_t class)
{
    if (!tutti_vector_reserve(&object->known, &object->known_room, object->known_count + 1, sizeof *object->known)) {
        federate->ambassador->overflowed = true;
        return;
    }
    size_t at = object->known_count++;
    for (; at && object->known[at - 1].federate > federate->handle; at--)
        object->known[at] = object->known[at - 1];
    object->known[at] = (struct tutti_known){.federate = federate->handle, .class = class};
}

static bool subscribes(const struct tutti_federate *federate, const struct tutti_object *object, uint32_t class)
{
    if (class > federate->object_classes)
        return false;
    const struct tutti_class_interest *interest = &federate->objects[class - 1];
    for (size_t i = 0; i < interest->count; i++) {
        if (!(interest->items[i].flags & TUTTI_SUBSCRIBED))
            continue;
        const struct tutti_object_attribute *a = tutti_object_attribute(object, interest->items[i].handle);
        if (a && a->owner && a->owner != federate->handle)
            return true;
    }
    return false;
}

void tutti_discovery_request(struct tutti_object *object, const struct tutti_federate *requester,
                             const uint32_t *attributes, size_t count, struct tutti_octets tag)
{
    const struct tutti_federation *federation = requester->federation;
    uint32_t *asked = malloc((count + 1) * sizeof *asked);
    if (!asked) {
        requester->ambassador->overflowed = true;
        return;
    }
    for (size_t i = 0; i < federation->federates.count; i++) {
        const struct tutti_federate *owner = tutti_federation_at(federation, i);
        size_t n = 0;
        for (size_t k = 0; owner != requester && k < count; k++) {
            const struct tutti_object_attribute *a = tutti_object_attribute(object, attributes[k]);
            if (a && a->owner == owner->handle)
                asked[n++] = attributes[k];
        }
        struct tutti_callback callback = {.kind = TUTTI_CALLBACK_ProvideAttributeValueUpdate,
                                          .object = object->handle,
                                          .handles = asked,
                                          .handle_count = n,
                                          .tag = tag};
        if (n)
            tutti_ambassador_push(owner->ambassador, &callback);
    }
    if (object->of_rti)
        tutti_mom_answer(object, tutti_federation_member(federation, requester->handle), attributes, count);
    free(asked);
}

/* What the federate subscribes to is asked for as soon as it has discovered the object. */
static void provide(struct tutti_object *object, const struct tutti_federate *federate, uint32_t class)
{
    const struct tutti_class_interest *interest = &federate->objects[class - 1];
    uint32_t *attributes = malloc((interest->count + 1) * sizeof *attributes);
    size_t count = 0;
    if (!attributes)
        return;
    for (size_t i = 0; i < interest->count; i++)
        if (interest->items[i].flags & TUTTI_SUBSCRIBED)
            attributes[count++] = interest->items[i].handle;
    tutti_discovery_request(object, federate, attributes, count, (struct tutti_octets){0});
    free(attributes);
}

void tutti_discovery_try(struct tutti_object *object, struct tutti_federate *federate)
{
    const struct tutti_fom *fom = federate->federation->fom;
    uint32_t class = object->class;
    if (object->deleter || tutti_object_known(object, federate->handle))
        return;
    while (class && !subscribes(federate, object, class))
        class = fom->objects.classes[class - 1].parent;
    if (!class)
        return;
    tutti_discovery_add(object, federate, class);
    struct tutti_callback callback = {.kind = TUTTI_CALLBACK_DiscoverObjectInstance,
                                      .object = object->handle,
                                      .object_class = class,
                                      .text = object->name,
                                      .federate = object->registrant};
    tutti_ambassador_push(federate->ambassador, &callback);
    if (fom->switches.auto_provide || object->of_rti)
        provide(object, federate, class);
}

void tutti_discovery_of(struct tutti_object *object, struct tutti_federation *federation)
{
    for (size_t i = 0; i < federation->federates.count; i++)
        tutti_discovery_try(object, tutti_federation_at(federation, i));
    tutti_relevance_of(federation, object);
}

void tutti_discovery_for(struct tutti_federate *federate, uint32_t class)
{
    const struct tutti_federation *federation = federate->federation;
    for (size_t i = 0; i < federation->objects.count; i++) {
        struct tutti_object *object = federation->objects.items[i].item;
        if (tutti_fom_is_within(&federation->fom->objects, object->class, class))
            tutti_discovery_try(object, federate);
    }
}
