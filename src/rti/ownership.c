/* SPDX-License-Identifier: MIT */
#include "rti/ownership.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "rti/discovery.h"
#include "rti/relevance.h"

static void tell(const struct tutti_federate *federate, enum tutti_callback_kind kind,
                 const struct tutti_object *object, const struct tutti_handles *attributes, struct tutti_octets tag)
{
    struct tutti_callback callback = {.kind = kind,
                                      .object = object->handle,
                                      .handles = attributes->items,
                                      .handle_count = attributes->count,
                                      .tag = tag};
    if (attributes->count)
        tutti_ambassador_push(federate->ambassador, &callback);
}

/* Adds, or gives the federate up: it could not be told. */
static void collect(struct tutti_handles *attributes, uint32_t attribute, const struct tutti_federate *federate)
{
    if (!tutti_handles_add(attributes, attribute))
        federate->ambassador->overflowed = true;
}

/* The object, and that its class has these attributes. */
static enum tutti_hla check_set(const struct tutti_federate *federate, struct tutti_attribute_set set,
                                struct tutti_object **object)
{
    HLA_TRY(tutti_federate_object(federate, set.object, object));
    uint32_t class = tutti_object_known(*object, federate->handle);
    for (size_t i = 0; i < set.count; i++)
        if (!tutti_fom_has_member(&federate->federation->fom->objects, class, set.attributes[i]) ||
            !tutti_object_attribute(*object, set.attributes[i]))
            return RAISE(AttributeNotDefined, "object '%s' has no attribute with handle %u", (*object)->name,
                         set.attributes[i]);
    return TUTTI_HLA_OK;
}

static const char *name_of(const struct tutti_federate *federate, uint32_t attribute)
{
    return tutti_fom_member(&federate->federation->fom->objects, attribute)->name;
}

static enum tutti_hla check_owned(const struct tutti_federate *federate, struct tutti_attribute_set set,
                                  struct tutti_object **object)
{
    HLA_TRY(check_set(federate, set, object));
    for (size_t i = 0; i < set.count; i++)
        if (tutti_object_attribute(*object, set.attributes[i])->owner != federate->handle)
            return RAISE(AttributeNotOwned, "federate '%s' does not own '%s' of object '%s'", federate->name,
                         name_of(federate, set.attributes[i]), (*object)->name);
    return TUTTI_HLA_OK;
}

/* The set, whose attributes it does not own and publishes. */
static enum tutti_hla check_wanted(const struct tutti_federate *federate, struct tutti_attribute_set set,
                                   struct tutti_object **object)
{
    HLA_TRY(check_set(federate, set, object));
    uint32_t class = tutti_object_known(*object, federate->handle);
    bool published = false;
    for (size_t i = 0; class <= federate->object_classes && i < federate->objects[class - 1].count; i++)
        published |= federate->objects[class - 1].items[i].flags & TUTTI_PUBLISHED;
    for (size_t i = 0; i < set.count; i++)
        if (tutti_object_attribute(*object, set.attributes[i])->owner == federate->handle)
            return RAISE(FederateOwnsAttributes, "federate '%s' owns '%s' of object '%s' already", federate->name,
                         name_of(federate, set.attributes[i]), (*object)->name);
    if (!published)
        return RAISE(ObjectClassNotPublished, "federate '%s' does not publish the class of object '%s'", federate->name,
                     (*object)->name);
    for (size_t i = 0; i < set.count; i++)
        if (set.attributes[i] != TUTTI_FOM_PRIVILEGE_TO_DELETE &&
            !(tutti_federate_flags(federate, class, set.attributes[i]) & TUTTI_PUBLISHED))
            return RAISE(AttributeNotPublished, "federate '%s' does not publish '%s'", federate->name,
                         name_of(federate, set.attributes[i]));
    return TUTTI_HLA_OK;
}

/* The first federate that asked for it has it; NULL: none did. */
static struct tutti_federate *pass_on(const struct tutti_federation *federation, struct tutti_object_attribute *a)
{
    a->divesting = false;
    a->owner = a->acquirers.count ? a->acquirers.items[0] : 0;
    if (a->owner)
        tutti_handles_remove(&a->acquirers, a->owner);
    return tutti_federation_member(federation, a->owner);
}

/* Attributes by the federate that has them now, or is to be told of them. Sets of a few. */
struct shares {
    struct share {
        struct tutti_federate *federate;
        struct tutti_handles attributes;
    } * items;
    size_t count, room;
};

static void share(struct shares *shares, struct tutti_federate *federate, uint32_t attribute)
{
    size_t i = 0;
    while (i < shares->count && shares->items[i].federate != federate)
        i++;
    if (i == shares->count) {
        if (!tutti_vector_reserve(&shares->items, &shares->room, i + 1, sizeof *shares->items)) {
            federate->ambassador->overflowed = true;
            return;
        }
        shares->items[shares->count++] = (struct share){.federate = federate};
    }
    collect(&shares->items[i].attributes, attribute, federate);
}

static void tell_shares(struct shares *shares, enum tutti_callback_kind kind, const struct tutti_object *object,
                        struct tutti_octets tag)
{
    for (size_t i = 0; i < shares->count; i++) {
        tell(shares->items[i].federate, kind, object, &shares->items[i].attributes, tag);
        free(shares->items[i].attributes.items);
    }
    free(shares->items);
    *shares = (struct shares){0};
}

/* Federates that know the object and publish an attribute without an owner, or offered by one, are asked to take it. */
static void offer(const struct tutti_federate *from, const struct tutti_object *object,
                  const struct tutti_handles *offered, struct tutti_octets tag)
{
    for (size_t i = 0; i < object->known_count; i++) {
        const struct tutti_federate *to = tutti_federation_member(from->federation, object->known[i].federate);
        struct tutti_handles some = {0};
        for (size_t k = 0; to != from && k < offered->count; k++)
            if (tutti_federate_flags(to, object->known[i].class, offered->items[k]) & TUTTI_PUBLISHED)
                collect(&some, offered->items[k], to);
        tell(to, TUTTI_CALLBACK_RequestAttributeOwnershipAssumption, object, &some, tag);
        free(some.items);
    }
}

/* Attributes that the federate has given up go to those that asked; the others are offered. */
static void divest(struct tutti_federate *federate, struct tutti_object *object, const uint32_t *attributes,
                   size_t count, struct tutti_octets tag)
{
    struct shares passed = {0};
    struct tutti_handles offered = {0};
    for (size_t i = 0; i < count; i++) {
        struct tutti_object_attribute *a = tutti_object_attribute(object, attributes[i]);
        if (a->owner != federate->handle)
            continue; /* named twice */
        struct tutti_federate *to = pass_on(federate->federation, a);
        if (to)
            share(&passed, to, attributes[i]);
        else
            collect(&offered, attributes[i], federate);
    }
    tell_shares(&passed, TUTTI_CALLBACK_AttributeOwnershipAcquisitionNotification, object, tag);
    offer(federate, object, &offered, tag);
    free(offered.items);
    tutti_relevance_of(federate->federation, object);
}

enum tutti_hla tutti_rti_unconditional_divest(struct tutti_ambassador *ambassador, struct tutti_attribute_set set,
                                              struct tutti_octets tag)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_owned(f, set, &object));
    divest(f, object, set.attributes, set.count, tag);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_negotiated_divest(struct tutti_ambassador *ambassador, struct tutti_attribute_set set,
                                           struct tutti_octets tag)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    struct tutti_handles wanted = {0}, offered = {0};
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_owned(f, set, &object));
    for (size_t i = 0; i < set.count; i++)
        if (tutti_object_attribute(object, set.attributes[i])->divesting)
            return RAISE(AttributeAlreadyBeingDivested, "'%s' of object '%s' is offered already",
                         name_of(f, set.attributes[i]), object->name);
    for (size_t i = 0; i < set.count; i++) {
        struct tutti_object_attribute *a = tutti_object_attribute(object, set.attributes[i]);
        a->divesting = true;
        collect(a->acquirers.count ? &wanted : &offered, set.attributes[i], f);
    }
    tell(f, TUTTI_CALLBACK_RequestDivestitureConfirmation, object, &wanted, tag);
    offer(f, object, &offered, tag);
    free(wanted.items);
    free(offered.items);
    return TUTTI_HLA_OK;
}

static enum tutti_hla check_divesting(const struct tutti_federate *f, const struct tutti_object *object,
                                      struct tutti_attribute_set set)
{
    for (size_t i = 0; i < set.count; i++)
        if (!tutti_object_attribute(object, set.attributes[i])->divesting)
            return RAISE(AttributeDivestitureWasNotRequested, "'%s' of object '%s' was not offered",
                         name_of(f, set.attributes[i]), object->name);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_cancel_negotiated_divest(struct tutti_ambassador *ambassador, struct tutti_attribute_set set)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_owned(f, set, &object));
    HLA_TRY(check_divesting(f, object, set));
    for (size_t i = 0; i < set.count; i++)
        tutti_object_attribute(object, set.attributes[i])->divesting = false;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_confirm_divestiture(struct tutti_ambassador *ambassador, struct tutti_attribute_set set,
                                             struct tutti_octets tag)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_owned(f, set, &object));
    HLA_TRY(check_divesting(f, object, set));
    for (size_t i = 0; i < set.count; i++)
        if (!tutti_object_attribute(object, set.attributes[i])->acquirers.count)
            return RAISE(NoAcquisitionPending, "no federate asked for '%s' of object '%s'",
                         name_of(f, set.attributes[i]), object->name);
    divest(f, object, set.attributes, set.count, tag);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_divest_if_wanted(struct tutti_ambassador *ambassador, struct tutti_attribute_set set,
                                          struct tutti_octets tag, uint32_t *divested, size_t *count)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_owned(f, set, &object));
    *count = 0;
    for (size_t i = 0; i < set.count; i++)
        if (tutti_object_attribute(object, set.attributes[i])->acquirers.count)
            divested[(*count)++] = set.attributes[i];
    divest(f, object, divested, *count, tag);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_release_denied(struct tutti_ambassador *ambassador, struct tutti_attribute_set set)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    return check_owned(f, set, &object);
}

enum tutti_hla tutti_rti_acquire(struct tutti_ambassador *ambassador, struct tutti_attribute_set set,
                                 struct tutti_octets tag)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    struct shares release = {0}, confirm = {0};
    struct tutti_handles had = {0};
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_wanted(f, set, &object));
    for (size_t i = 0; i < set.count; i++) {
        struct tutti_object_attribute *a = tutti_object_attribute(object, set.attributes[i]);
        struct tutti_federate *owner = tutti_federation_member(f->federation, a->owner);
        if (!a->owner) {
            a->owner = f->handle;
            collect(&had, set.attributes[i], f);
        } else if (owner != f && !tutti_handles_have(&a->acquirers, f->handle)) {
            collect(&a->acquirers, f->handle, f);
            if (owner) /* the RTI gives nothing away */
                share(a->divesting ? &confirm : &release, owner, set.attributes[i]);
        }
    }
    tell(f, TUTTI_CALLBACK_AttributeOwnershipAcquisitionNotification, object, &had, tag);
    tell_shares(&release, TUTTI_CALLBACK_RequestAttributeOwnershipRelease, object, tag);
    tell_shares(&confirm, TUTTI_CALLBACK_RequestDivestitureConfirmation, object, tag);
    if (had.count)
        tutti_discovery_of(object, f->federation);
    tutti_relevance_of(f->federation, object);
    free(had.items);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_acquire_if_available(struct tutti_ambassador *ambassador, struct tutti_attribute_set set,
                                              struct tutti_octets tag)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    struct tutti_handles had = {0}, missed = {0};
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_wanted(f, set, &object));
    for (size_t i = 0; i < set.count; i++)
        if (tutti_handles_have(&tutti_object_attribute(object, set.attributes[i])->acquirers, f->handle))
            return RAISE(AttributeAlreadyBeingAcquired, "federate '%s' waits for '%s' of object '%s'", f->name,
                         name_of(f, set.attributes[i]), object->name);
    for (size_t i = 0; i < set.count; i++) {
        struct tutti_object_attribute *a = tutti_object_attribute(object, set.attributes[i]);
        collect(a->owner && a->owner != f->handle ? &missed : &had, set.attributes[i], f);
        if (!a->owner)
            a->owner = f->handle;
    }
    tell(f, TUTTI_CALLBACK_AttributeOwnershipAcquisitionNotification, object, &had, tag);
    tell(f, TUTTI_CALLBACK_AttributeOwnershipUnavailable, object, &missed, tag);
    if (had.count)
        tutti_discovery_of(object, f->federation);
    tutti_relevance_of(f->federation, object);
    free(had.items);
    free(missed.items);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_cancel_acquisition(struct tutti_ambassador *ambassador, struct tutti_attribute_set set)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_set(f, set, &object));
    for (size_t i = 0; i < set.count; i++) {
        const struct tutti_object_attribute *a = tutti_object_attribute(object, set.attributes[i]);
        if (a->owner == f->handle)
            return RAISE(AttributeAlreadyOwned, "federate '%s' owns '%s' of object '%s'", f->name,
                         name_of(f, set.attributes[i]), object->name);
        if (!tutti_handles_have(&a->acquirers, f->handle))
            return RAISE(AttributeAcquisitionWasNotRequested, "federate '%s' has not asked for '%s' of object '%s'",
                         f->name, name_of(f, set.attributes[i]), object->name);
    }
    struct tutti_handles all = {(uint32_t *)set.attributes, set.count, 0};
    for (size_t i = 0; i < set.count; i++)
        tutti_handles_remove(&tutti_object_attribute(object, set.attributes[i])->acquirers, f->handle);
    tell(f, TUTTI_CALLBACK_ConfirmAttributeOwnershipAcquisitionCancellation, object, &all, (struct tutti_octets){0});
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_query_ownership(struct tutti_ambassador *ambassador, struct tutti_attribute_set set)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_set(f, set, &object));
    struct tutti_handles done = {0};
    for (size_t i = 0; i < set.count; i++) {
        uint32_t owner = tutti_object_attribute(object, set.attributes[i])->owner;
        struct tutti_handles same = {0};
        if (tutti_handles_have(&done, owner))
            continue;
        collect(&done, owner, f);
        for (size_t k = i; k < set.count; k++)
            if (tutti_object_attribute(object, set.attributes[k])->owner == owner)
                collect(&same, set.attributes[k], f);
        struct tutti_callback callback = {.kind = owner == TUTTI_OWNED_BY_RTI ? TUTTI_CALLBACK_AttributeIsOwnedByRTI
                                                  : owner                     ? TUTTI_CALLBACK_InformAttributeOwnership
                                                                              : TUTTI_CALLBACK_AttributeIsNotOwned,
                                          .object = object->handle,
                                          .federate = owner,
                                          .handles = same.items,
                                          .handle_count = same.count};
        tutti_ambassador_push(ambassador, &callback);
        free(same.items);
    }
    free(done.items);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_is_owned(struct tutti_ambassador *ambassador, uint32_t handle, uint32_t attribute, bool *owned)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_set(f, (struct tutti_attribute_set){handle, &attribute, 1}, &object));
    *owned = tutti_object_attribute(object, attribute)->owner == f->handle;
    return TUTTI_HLA_OK;
}

void tutti_ownership_take(struct tutti_federate *federate, struct tutti_object *object, const struct tutti_handles *of,
                          struct tutti_octets tag)
{
    struct tutti_handles taken = {0};
    for (size_t i = 0; i < object->attribute_count; i++) {
        const struct tutti_object_attribute *a = &object->attributes[i];
        if (a->owner == federate->handle && (!of || tutti_handles_have(of, a->attribute)))
            collect(&taken, a->attribute, federate);
    }
    divest(federate, object, taken.items, taken.count, tag);
    free(taken.items);
}

static bool owns(const struct tutti_federate *federate, const struct tutti_object *object)
{
    for (size_t i = 0; i < object->attribute_count; i++)
        if (object->attributes[i].owner == federate->handle)
            return true;
    return false;
}

static bool waits(const struct tutti_federate *federate, const struct tutti_object *object)
{
    for (size_t i = 0; i < object->attribute_count; i++)
        if (tutti_handles_have(&object->attributes[i].acquirers, federate->handle))
            return true;
    return false;
}

bool tutti_ownership_has_any(const struct tutti_federate *federate, const struct tutti_object *object)
{
    const struct tutti_handle_table *all = &federate->federation->objects;
    if (object)
        return owns(federate, object);
    for (size_t i = 0; i < all->count; i++) {
        const struct tutti_object *each = all->items[i].item;
        if (!each->deleter && owns(federate, each))
            return true;
    }
    return false;
}

bool tutti_ownership_waits(const struct tutti_federate *federate, const struct tutti_object *object)
{
    const struct tutti_handle_table *all = &federate->federation->objects;
    if (object)
        return waits(federate, object);
    for (size_t i = 0; i < all->count; i++)
        if (waits(federate, all->items[i].item))
            return true;
    return false;
}

void tutti_ownership_cancel(struct tutti_federate *federate)
{
    const struct tutti_handle_table *all = &federate->federation->objects;
    for (size_t i = 0; i < all->count; i++) {
        struct tutti_object *object = all->items[i].item;
        for (size_t k = 0; k < object->attribute_count; k++)
            tutti_handles_remove(&object->attributes[k].acquirers, federate->handle);
    }
}
