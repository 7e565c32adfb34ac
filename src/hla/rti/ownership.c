/* SPDX-License-Identifier: MIT */
#include "hla/rti/ownership.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "hla/rti/discovery.h"
#include "hla/rti/relevance.h"

static void ownership_notify(const struct tt_federate *federate, enum tt_callback_kind kind,
                             const struct tt_object *object, const struct tt_handle_set *attributes,
                             struct tt_octets tag)
{
    struct tt_callback callback = {.kind = kind,
                                   .object = object->handle,
                                   .handles = attributes->items,
                                   .handle_count = attributes->count,
                                   .tag = tag};
    if (attributes->count)
        tt_federation_push_callback(federate->ambassador, &callback);
}

/* Adds an attribute; if memory is out, the federate is marked as overflowed. */
static void ownership_collect(struct tt_handle_set *attributes, uint32_t attribute, const struct tt_federate *federate)
{
    if (!tt_federation_add_handle(attributes, attribute))
        federate->ambassador->overflowed = true;
}

/* The object, and that its class has these attributes. */
static enum tt_hla ownership_check_set(const struct tt_federate *federate, struct tt_attribute_set set,
                                       struct tt_object **object)
{
    HLA_TRY(tt_federation_find_object(federate, set.object, object));
    uint32_t class = tt_federation_known_class(*object, federate->handle);
    for (size_t i = 0; i < set.count; i++)
        if (!tt_fom_has_member(&federate->federation->fom->objects, class, set.attributes[i]) ||
            !tt_federation_find_attribute(*object, set.attributes[i]))
            return RAISE(AttributeNotDefined, "object '%s' has no attribute with handle %u", (*object)->name,
                         set.attributes[i]);
    return TUTTI_HLA_OK;
}

static const char *ownership_attribute_name(const struct tt_federate *federate, uint32_t attribute)
{
    return tt_fom_member(&federate->federation->fom->objects, attribute)->name;
}

static enum tt_hla ownership_check_owned(const struct tt_federate *federate, struct tt_attribute_set set,
                                         struct tt_object **object)
{
    HLA_TRY(ownership_check_set(federate, set, object));
    for (size_t i = 0; i < set.count; i++)
        if (tt_federation_find_attribute(*object, set.attributes[i])->owner != federate->handle)
            return RAISE(AttributeNotOwned, "federate '%s' does not own '%s' of object '%s'", federate->name,
                         ownership_attribute_name(federate, set.attributes[i]), (*object)->name);
    return TUTTI_HLA_OK;
}

/* Returns the set; the federate must publish its attributes and not own them. */
static enum tt_hla check_acquirable(const struct tt_federate *federate, struct tt_attribute_set set,
                                    struct tt_object **object)
{
    HLA_TRY(ownership_check_set(federate, set, object));
    uint32_t class = tt_federation_known_class(*object, federate->handle);
    bool published = false;
    for (size_t i = 0; class <= federate->object_classes && i < federate->objects[class - 1].count; i++)
        published |= federate->objects[class - 1].items[i].flags & TUTTI_PUBLISHED;
    for (size_t i = 0; i < set.count; i++)
        if (tt_federation_find_attribute(*object, set.attributes[i])->owner == federate->handle)
            return RAISE(FederateOwnsAttributes, "federate '%s' owns '%s' of object '%s' already", federate->name,
                         ownership_attribute_name(federate, set.attributes[i]), (*object)->name);
    if (!published)
        return RAISE(ObjectClassNotPublished, "federate '%s' does not publish the class of object '%s'", federate->name,
                     (*object)->name);
    for (size_t i = 0; i < set.count; i++)
        if (set.attributes[i] != TUTTI_FOM_PRIVILEGE_TO_DELETE &&
            !(tt_federation_interest_flags(federate, class, set.attributes[i]) & TUTTI_PUBLISHED))
            return RAISE(AttributeNotPublished, "federate '%s' does not publish '%s'", federate->name,
                         ownership_attribute_name(federate, set.attributes[i]));
    return TUTTI_HLA_OK;
}

/* Attributes by their present owner or by the federate to be notified. Small sets. */
struct ownership_shares {
    struct ownership_share {
        struct tt_federate *federate;
        struct tt_handle_set attributes;
    } * items;
    size_t count, room;
};

static void ownership_add_share(struct ownership_shares *shares, struct tt_federate *federate, uint32_t attribute)
{
    size_t i = 0;
    while (i < shares->count && shares->items[i].federate != federate)
        i++;
    if (i == shares->count) {
        if (!tt_vector_reserve(&shares->items, &shares->room, i + 1, sizeof *shares->items)) {
            federate->ambassador->overflowed = true;
            return;
        }
        shares->items[shares->count++] = (struct ownership_share){.federate = federate};
    }
    ownership_collect(&shares->items[i].attributes, attribute, federate);
}

static void notify_shares(struct ownership_shares *shares, enum tt_callback_kind kind, const struct tt_object *object,
                          struct tt_octets tag)
{
    for (size_t i = 0; i < shares->count; i++) {
        ownership_notify(shares->items[i].federate, kind, object, &shares->items[i].attributes, tag);
        free(shares->items[i].attributes.items);
    }
    free(shares->items);
    *shares = (struct ownership_shares){0};
}

/* Federates that know the object and publish an attribute without an owner, or offered by one, are asked to take it. */
static void ownership_offer(const struct tt_federate *from, const struct tt_object *object,
                            const struct tt_handle_set *offered, struct tt_octets tag)
{
    for (size_t i = 0; i < object->known_count; i++) {
        const struct tt_federate *to = tt_federation_member(from->federation, object->known[i].federate);
        struct tt_handle_set some = {0};
        for (size_t k = 0; to != from && k < offered->count; k++)
            if (tt_federation_interest_flags(to, object->known[i].class, offered->items[k]) & TUTTI_PUBLISHED)
                ownership_collect(&some, offered->items[k], to);
        ownership_notify(to, TUTTI_CALLBACK_RequestAttributeOwnershipAssumption, object, &some, tag);
        free(some.items);
    }
}

/* Attributes that the federate has given up go to federates that requested them; the rest are offered. */
static void divest(struct tt_federate *federate, struct tt_object *object, const uint32_t *attributes, size_t count,
                   struct tt_octets tag)
{
    struct ownership_shares passed = {0};
    struct tt_handle_set offered = {0};
    for (size_t i = 0; i < count; i++) {
        struct tt_object_attribute *a = tt_federation_find_attribute(object, attributes[i]);
        if (a->owner != federate->handle)
            continue; /* named twice */

        /* The first federate that has requested the attribute becomes its owner. */
        a->divesting = false;
        a->owner = a->acquirers.count ? a->acquirers.items[0] : 0;
        if (a->owner)
            tt_federation_remove_handle(&a->acquirers, a->owner);
        struct tt_federate *to = tt_federation_member(federate->federation, a->owner);
        if (to)
            ownership_add_share(&passed, to, attributes[i]);
        else
            ownership_collect(&offered, attributes[i], federate);
    }
    notify_shares(&passed, TUTTI_CALLBACK_AttributeOwnershipAcquisitionNotification, object, tag);
    ownership_offer(federate, object, &offered, tag);
    free(offered.items);
    tt_discovery_advise_object(federate->federation, object);
}

enum tt_hla tt_ownership_unconditional_divest(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                              struct tt_octets tag)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(ownership_check_owned(f, set, &object));
    divest(f, object, set.attributes, set.count, tag);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_ownership_negotiated_divest(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                           struct tt_octets tag)
{
    struct tt_federate *f;
    struct tt_object *object;
    struct tt_handle_set wanted = {0}, offered = {0};
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(ownership_check_owned(f, set, &object));
    for (size_t i = 0; i < set.count; i++)
        if (tt_federation_find_attribute(object, set.attributes[i])->divesting)
            return RAISE(AttributeAlreadyBeingDivested, "'%s' of object '%s' is offered already",
                         ownership_attribute_name(f, set.attributes[i]), object->name);
    for (size_t i = 0; i < set.count; i++) {
        struct tt_object_attribute *a = tt_federation_find_attribute(object, set.attributes[i]);
        a->divesting = true;
        ownership_collect(a->acquirers.count ? &wanted : &offered, set.attributes[i], f);
    }
    ownership_notify(f, TUTTI_CALLBACK_RequestDivestitureConfirmation, object, &wanted, tag);
    ownership_offer(f, object, &offered, tag);
    free(wanted.items);
    free(offered.items);
    return TUTTI_HLA_OK;
}

static enum tt_hla check_divesting(const struct tt_federate *f, const struct tt_object *object,
                                   struct tt_attribute_set set)
{
    for (size_t i = 0; i < set.count; i++)
        if (!tt_federation_find_attribute(object, set.attributes[i])->divesting)
            return RAISE(AttributeDivestitureWasNotRequested, "'%s' of object '%s' was not offered",
                         ownership_attribute_name(f, set.attributes[i]), object->name);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_ownership_cancel_negotiated_divest(struct tt_ambassador *ambassador, struct tt_attribute_set set)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(ownership_check_owned(f, set, &object));
    HLA_TRY(check_divesting(f, object, set));
    for (size_t i = 0; i < set.count; i++)
        tt_federation_find_attribute(object, set.attributes[i])->divesting = false;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_ownership_confirm_divestiture(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                             struct tt_octets tag)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(ownership_check_owned(f, set, &object));
    HLA_TRY(check_divesting(f, object, set));
    for (size_t i = 0; i < set.count; i++)
        if (!tt_federation_find_attribute(object, set.attributes[i])->acquirers.count)
            return RAISE(NoAcquisitionPending, "no federate asked for '%s' of object '%s'",
                         ownership_attribute_name(f, set.attributes[i]), object->name);
    divest(f, object, set.attributes, set.count, tag);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_ownership_divest_if_wanted(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                          struct tt_octets tag, uint32_t *divested, size_t *count)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(ownership_check_owned(f, set, &object));
    *count = 0;
    for (size_t i = 0; i < set.count; i++)
        if (tt_federation_find_attribute(object, set.attributes[i])->acquirers.count)
            divested[(*count)++] = set.attributes[i];
    divest(f, object, divested, *count, tag);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_ownership_release_denied(struct tt_ambassador *ambassador, struct tt_attribute_set set)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    return ownership_check_owned(f, set, &object);
}

enum tt_hla tt_ownership_acquire(struct tt_ambassador *ambassador, struct tt_attribute_set set, struct tt_octets tag)
{
    struct tt_federate *f;
    struct tt_object *object;
    struct ownership_shares release = {0}, confirm = {0};
    struct tt_handle_set had = {0};
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(check_acquirable(f, set, &object));
    for (size_t i = 0; i < set.count; i++) {
        struct tt_object_attribute *a = tt_federation_find_attribute(object, set.attributes[i]);
        struct tt_federate *owner = tt_federation_member(f->federation, a->owner);
        if (!a->owner) {
            a->owner = f->handle;
            ownership_collect(&had, set.attributes[i], f);
        } else if (owner != f && !tt_federation_has_handle(&a->acquirers, f->handle)) {
            ownership_collect(&a->acquirers, f->handle, f);
            if (owner) /* the RTI gives nothing away */
                ownership_add_share(a->divesting ? &confirm : &release, owner, set.attributes[i]);
        }
    }
    ownership_notify(f, TUTTI_CALLBACK_AttributeOwnershipAcquisitionNotification, object, &had, tag);
    notify_shares(&release, TUTTI_CALLBACK_RequestAttributeOwnershipRelease, object, tag);
    notify_shares(&confirm, TUTTI_CALLBACK_RequestDivestitureConfirmation, object, tag);
    if (had.count)
        tt_discovery_announce_object(object, f->federation);
    tt_discovery_advise_object(f->federation, object);
    free(had.items);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_ownership_acquire_if_available(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                              struct tt_octets tag)
{
    struct tt_federate *f;
    struct tt_object *object;
    struct tt_handle_set had = {0}, missed = {0};
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(check_acquirable(f, set, &object));
    for (size_t i = 0; i < set.count; i++)
        if (tt_federation_has_handle(&tt_federation_find_attribute(object, set.attributes[i])->acquirers, f->handle))
            return RAISE(AttributeAlreadyBeingAcquired, "federate '%s' waits for '%s' of object '%s'", f->name,
                         ownership_attribute_name(f, set.attributes[i]), object->name);
    for (size_t i = 0; i < set.count; i++) {
        struct tt_object_attribute *a = tt_federation_find_attribute(object, set.attributes[i]);
        ownership_collect(a->owner && a->owner != f->handle ? &missed : &had, set.attributes[i], f);
        if (!a->owner)
            a->owner = f->handle;
    }
    ownership_notify(f, TUTTI_CALLBACK_AttributeOwnershipAcquisitionNotification, object, &had, tag);
    ownership_notify(f, TUTTI_CALLBACK_AttributeOwnershipUnavailable, object, &missed, tag);
    if (had.count)
        tt_discovery_announce_object(object, f->federation);
    tt_discovery_advise_object(f->federation, object);
    free(had.items);
    free(missed.items);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_ownership_cancel_acquisition(struct tt_ambassador *ambassador, struct tt_attribute_set set)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(ownership_check_set(f, set, &object));
    for (size_t i = 0; i < set.count; i++) {
        const struct tt_object_attribute *a = tt_federation_find_attribute(object, set.attributes[i]);
        if (a->owner == f->handle)
            return RAISE(AttributeAlreadyOwned, "federate '%s' owns '%s' of object '%s'", f->name,
                         ownership_attribute_name(f, set.attributes[i]), object->name);
        if (!tt_federation_has_handle(&a->acquirers, f->handle))
            return RAISE(AttributeAcquisitionWasNotRequested, "federate '%s' has not asked for '%s' of object '%s'",
                         f->name, ownership_attribute_name(f, set.attributes[i]), object->name);
    }
    struct tt_handle_set all = {(uint32_t *)set.attributes, set.count, 0};
    for (size_t i = 0; i < set.count; i++)
        tt_federation_remove_handle(&tt_federation_find_attribute(object, set.attributes[i])->acquirers, f->handle);
    ownership_notify(f, TUTTI_CALLBACK_ConfirmAttributeOwnershipAcquisitionCancellation, object, &all,
                     (struct tt_octets){0});
    return TUTTI_HLA_OK;
}

enum tt_hla tt_ownership_query(struct tt_ambassador *ambassador, struct tt_attribute_set set)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(ownership_check_set(f, set, &object));
    struct tt_handle_set done = {0};
    for (size_t i = 0; i < set.count; i++) {
        uint32_t owner = tt_federation_find_attribute(object, set.attributes[i])->owner;
        struct tt_handle_set same = {0};
        if (tt_federation_has_handle(&done, owner))
            continue;
        ownership_collect(&done, owner, f);
        for (size_t k = i; k < set.count; k++)
            if (tt_federation_find_attribute(object, set.attributes[k])->owner == owner)
                ownership_collect(&same, set.attributes[k], f);
        struct tt_callback callback = {.kind = owner == TUTTI_OWNED_BY_RTI ? TUTTI_CALLBACK_AttributeIsOwnedByRTI
                                               : owner                     ? TUTTI_CALLBACK_InformAttributeOwnership
                                                                           : TUTTI_CALLBACK_AttributeIsNotOwned,
                                       .object = object->handle,
                                       .federate = owner,
                                       .handles = same.items,
                                       .handle_count = same.count};
        tt_federation_push_callback(ambassador, &callback);
        free(same.items);
    }
    free(done.items);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_ownership_is_owned(struct tt_ambassador *ambassador, uint32_t handle, uint32_t attribute, bool *owned)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(ownership_check_set(f, (struct tt_attribute_set){handle, &attribute, 1}, &object));
    *owned = tt_federation_find_attribute(object, attribute)->owner == f->handle;
    return TUTTI_HLA_OK;
}

void tt_ownership_release(struct tt_federate *federate, struct tt_object *object, const struct tt_handle_set *of,
                          struct tt_octets tag)
{
    struct tt_handle_set taken = {0};
    for (size_t i = 0; i < object->attribute_count; i++) {
        const struct tt_object_attribute *a = &object->attributes[i];
        if (a->owner == federate->handle && (!of || tt_federation_has_handle(of, a->attribute)))
            ownership_collect(&taken, a->attribute, federate);
    }
    divest(federate, object, taken.items, taken.count, tag);
    free(taken.items);
}

static bool owns_any_attribute(const struct tt_federate *federate, const struct tt_object *object)
{
    for (size_t i = 0; i < object->attribute_count; i++)
        if (object->attributes[i].owner == federate->handle)
            return true;
    return false;
}

static bool ownership_waits_for_object(const struct tt_federate *federate, const struct tt_object *object)
{
    for (size_t i = 0; i < object->attribute_count; i++)
        if (tt_federation_has_handle(&object->attributes[i].acquirers, federate->handle))
            return true;
    return false;
}

bool tt_ownership_has_any(const struct tt_federate *federate, const struct tt_object *object)
{
    const struct tt_handle_table *all = &federate->federation->objects;
    if (object)
        return owns_any_attribute(federate, object);
    for (size_t i = 0; i < all->count; i++) {
        const struct tt_object *each = all->items[i].item;
        if (!each->deleter && owns_any_attribute(federate, each))
            return true;
    }
    return false;
}

bool tt_ownership_is_pending(const struct tt_federate *federate, const struct tt_object *object)
{
    const struct tt_handle_table *all = &federate->federation->objects;
    if (object)
        return ownership_waits_for_object(federate, object);
    for (size_t i = 0; i < all->count; i++)
        if (ownership_waits_for_object(federate, all->items[i].item))
            return true;
    return false;
}

void tt_ownership_cancel_all(struct tt_federate *federate)
{
    const struct tt_handle_table *all = &federate->federation->objects;
    for (size_t i = 0; i < all->count; i++) {
        struct tt_object *object = all->items[i].item;
        for (size_t k = 0; k < object->attribute_count; k++)
            tt_federation_remove_handle(&object->attributes[k].acquirers, federate->handle);
    }
}
