/* SPDX-License-Identifier: MIT */
#include "hla/rti/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"
#include "hla/rti/discovery.h"
#include "hla/rti/message_delivery.h"
#include "hla/rti/ownership.h"
#include "hla/rti/relevance.h"
#include "hla/rti/time_management.h"

/* Names. Those that federates reserve lie in a sorted list; those that are made here say the handle. */

static const char made[] = "HLAobject.";

static size_t objects_name_place(const struct tt_federation *federation, const char *name)
{
    size_t low = 0, high = federation->name_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(federation->names[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct tt_reserved_name *is_name_reserved(const struct tt_federation *federation, const char *name)
{
    size_t at = objects_name_place(federation, name);
    return at < federation->name_count && strcmp(federation->names[at].name, name) == 0 ? &federation->names[at] : NULL;
}

static enum tt_hla check_object_name(const char *name)
{
    if (*name && strncmp(name, "HLA", 3) != 0)
        return TUTTI_HLA_OK;
    return RAISE(IllegalName, "'%s' is no name for an object: it is empty, or begins with HLA",
                 tt_text_excerpt(name).text);
}

static enum tt_hla objects_reserve_name(struct tt_federate *f, const char *name)
{
    struct tt_federation *federation = f->federation;
    char *copy = tt_text_copy(name);
    if (!copy || !tt_vector_reserve(&federation->names, &federation->name_room, federation->name_count + 1,
                                    sizeof *federation->names)) {
        free(copy);
        return tt_exception_raise_memory();
    }
    size_t at = objects_name_place(federation, name);
    memmove(&federation->names[at + 1], &federation->names[at],
            (federation->name_count - at) * sizeof *federation->names);
    federation->names[at] = (struct tt_reserved_name){copy, f->handle, 0};
    federation->name_count++;
    return TUTTI_HLA_OK;
}

static void objects_release_name(struct tt_federation *federation, size_t at)
{
    free(federation->names[at].name);
    federation->name_count--;
    memmove(&federation->names[at], &federation->names[at + 1],
            (federation->name_count - at) * sizeof *federation->names);
}

enum tt_hla tt_objects_reserve_name(struct tt_ambassador *ambassador, const char *name)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(check_object_name(name));
    struct tt_callback callback = {.kind = TUTTI_CALLBACK_ObjectInstanceNameReservationFailed, .text = name};
    if (!is_name_reserved(f->federation, name)) {
        HLA_TRY(objects_reserve_name(f, name));
        callback.kind = TUTTI_CALLBACK_ObjectInstanceNameReservationSucceeded;
    }
    tt_federation_push_callback(ambassador, &callback);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_reserve_names(struct tt_ambassador *ambassador, const char *const *names, size_t count)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    if (!count)
        return RAISE(NameSetWasEmpty, "no name was given");
    bool unused = true;
    for (size_t i = 0; i < count; i++) {
        HLA_TRY(check_object_name(names[i]));
        unused = unused && !is_name_reserved(f->federation, names[i]);
    }
    for (size_t i = 0; unused && i < count; i++)
        if (!is_name_reserved(f->federation, names[i])) /* not twice in the list */
            HLA_TRY(objects_reserve_name(f, names[i]));
    struct tt_callback callback = {.kind = unused ? TUTTI_CALLBACK_MultipleObjectInstanceNameReservationSucceeded
                                                  : TUTTI_CALLBACK_MultipleObjectInstanceNameReservationFailed,
                                   .names = names,
                                   .name_count = count};
    tt_federation_push_callback(ambassador, &callback);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_release_names(struct tt_ambassador *ambassador, const char *const *names, size_t count)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    for (size_t i = 0; i < count; i++) {
        const struct tt_reserved_name *r = is_name_reserved(f->federation, names[i]);
        if (!r || r->federate != f->handle || r->object)
            return RAISE(ObjectInstanceNameNotReserved, "federate '%s' has not reserved '%s', or has used it", f->name,
                         tt_text_excerpt(names[i]).text);
    }
    for (size_t i = 0; i < count; i++)
        if (is_name_reserved(f->federation, names[i]))
            objects_release_name(f->federation, objects_name_place(f->federation, names[i]));
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_release_name(struct tt_ambassador *ambassador, const char *name)
{
    return tt_objects_release_names(ambassador, &name, 1);
}

struct tt_object *tt_objects_find(const struct tt_federation *federation, const char *name)
{
    const struct tt_reserved_name *r = is_name_reserved(federation, name);
    uint64_t handle;
    if (r)
        return tt_federation_object(federation, r->object);
    if (strncmp(name, made, strlen(made)) != 0 ||
        !tt_number_read_uint(name + strlen(made), strlen(name + strlen(made)), &handle) || handle > UINT32_MAX)
        return NULL;
    struct tt_object *object = tt_federation_object(federation, (uint32_t)handle);
    return object && strcmp(object->name, name) == 0 ? object : NULL;
}

static int compare_attributes(const void *a, const void *b)
{
    uint32_t left = ((const struct tt_object_attribute *)a)->attribute;
    uint32_t right = ((const struct tt_object_attribute *)b)->attribute;
    return left < right ? -1 : left > right;
}

/* Returns the federate's declaration for the attribute at the class, or NULL. */
static const struct tt_attribute_interest *attribute_interest(const struct tt_federate *f, uint32_t class,
                                                              uint32_t attribute)
{
    for (size_t i = 0; class <= f->object_classes && i < f->objects[class - 1].count; i++)
        if (f->objects[class - 1].items[i].handle == attribute)
            return &f->objects[class - 1].items[i];
    return NULL;
}

/* `f` NULL: of an object of the RTI. */
static struct tt_object_attribute make_object_attribute(const struct tt_federation *federation,
                                                        const struct tt_federate *f, uint32_t class, uint32_t attribute)
{
    const struct tt_fom_member *member = tt_fom_member(&federation->fom->objects, attribute);
    if (!f)
        return (struct tt_object_attribute){.attribute = attribute,
                                            .owner = TUTTI_OWNED_BY_RTI,
                                            .transportation = member->transportation,
                                            .order = member->order};
    const struct tt_attribute_interest *interest = attribute_interest(f, class, attribute);
    unsigned flags = interest ? interest->flags : 0;
    bool owned = flags & TUTTI_PUBLISHED || attribute == TUTTI_FOM_PRIVILEGE_TO_DELETE;
    enum tt_message_order order = member->order;
    if (flags & TUTTI_ORDER_SET)
        order = flags & TUTTI_ORDER_TSO ? TUTTI_ORDER_TIMESTAMP : TUTTI_ORDER_RECEIVE;
    bool changed = interest && interest->transportation;
    return (struct tt_object_attribute){.attribute = attribute,
                                        .owner = owned ? f->handle : 0,
                                        .transportation = changed ? interest->transportation : member->transportation,
                                        .order = order};
}

static bool add_attributes(struct tt_object *object, const struct tt_federation *federation,
                           const struct tt_federate *f)
{
    const struct tt_fom_tree *tree = &federation->fom->objects;
    for (uint32_t class = object->class; class; class = tree->classes[class - 1].parent)
        for (uint32_t m = tree->classes[class - 1].members; m; m = tree->members[m - 1].next) {
            if (!tt_vector_reserve(&object->attributes, &object->attribute_room, object->attribute_count + 1,
                                   sizeof *object->attributes))
                return false;
            object->attributes[object->attribute_count++] = make_object_attribute(federation, f, object->class, m);
        }
    if (object->attribute_count)
        qsort(object->attributes, object->attribute_count, sizeof *object->attributes, compare_attributes);
    return true;
}

/* `f` NULL: of the RTI. */
static struct tt_object *new_object(struct tt_federation *federation, const struct tt_federate *f, uint32_t class,
                                    const char *name)
{
    struct tt_object *object = calloc(1, sizeof *object);
    char text[sizeof made + TUTTI_NUMBER_MAX];
    if (!object)
        return NULL;
    object->handle = federation->last_object + 1;
    object->class = class;
    object->registrant = f ? f->handle : 0;
    object->of_rti = !f;
    snprintf(text, sizeof text, "%s%u", made, object->handle);
    object->name = tt_text_copy(name ? name : text);
    if (object->name && add_attributes(object, federation, f) &&
        tt_federation_table_add(&federation->objects, object->handle, object)) {
        federation->last_object = object->handle;
        return object;
    }
    tt_federation_free_object(object);
    return NULL;
}

void tt_objects_add_own(struct tt_federation *federation, uint32_t class, uint32_t about)
{
    struct tt_object *object = new_object(federation, NULL, class, NULL);
    if (!object)
        return;
    object->about = about;
    tt_discovery_announce_object(object, federation);
}

static enum tt_hla check_registration(const struct tt_federate *f, uint32_t class, const char *name)
{
    const struct tt_fom_class *c = tt_fom_class(&f->federation->fom->objects, class);
    size_t limit = f->federation->rti->limits.objects;
    bool published = false;
    if (!c)
        return RAISE(ObjectClassNotDefined, "no object class has the handle %u", class);
    for (size_t i = 0; class <= f->object_classes && i < f->objects[class - 1].count; i++)
        published |= f->objects[class - 1].items[i].flags & TUTTI_PUBLISHED;
    if (!published)
        return RAISE(ObjectClassNotPublished, "federate '%s' publishes no attribute of %s", f->name, c->name);
    const struct tt_reserved_name *r = name ? is_name_reserved(f->federation, name) : NULL;
    if (name && (!r || r->federate != f->handle))
        return RAISE(ObjectInstanceNameNotReserved, "federate '%s' has not reserved '%s'", f->name,
                     tt_text_excerpt(name).text);
    if (r && r->object)
        return RAISE(ObjectInstanceNameInUse, "there is an object '%s' already", tt_text_excerpt(name).text);
    if (limit && f->federation->objects.count >= limit)
        return RAISE(RTIinternalError, "this RTI takes no more than %zu objects in a federation", limit);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_register(struct tt_ambassador *ambassador, uint32_t class, const char *name, uint32_t *handle)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(check_registration(f, class, name));
    struct tt_object *object = new_object(f->federation, f, class, name);
    if (!object)
        return tt_exception_raise_memory();
    *handle = object->handle;
    if (name)
        is_name_reserved(f->federation, name)->object = object->handle;
    tt_discovery_add_federate(object, f, class);
    tt_discovery_announce_object(object, f->federation);
    return TUTTI_HLA_OK;
}

static enum tt_hla objects_check_values(const struct tt_federate *f, const struct tt_object *object,
                                        const struct tt_hla_value *values, size_t count)
{
    uint32_t class = tt_federation_known_class(object, f->handle);
    for (size_t i = 0; i < count; i++) {
        const struct tt_object_attribute *a = tt_federation_find_attribute(object, values[i].handle);
        if (!a || !tt_fom_has_member(&f->federation->fom->objects, class, values[i].handle))
            return RAISE(AttributeNotDefined, "object '%s' has no attribute with handle %u", object->name,
                         values[i].handle);
        if (a->owner != f->handle)
            return RAISE(AttributeNotOwned, "federate '%s' does not own '%s' of object '%s'", f->name,
                         tt_fom_member(&f->federation->fom->objects, values[i].handle)->name, object->name);
    }
    return TUTTI_HLA_OK;
}

/* The values of those attributes that go in the order and by the transport of `like`, which is not sent yet; they are sent then. */
static enum tt_hla objects_send_part(struct tt_federate *f, struct tt_object *object, const struct tt_hla_value *values,
                                     bool *sent, size_t count, size_t like, struct tt_message_stamp *send,
                                     uint32_t part, uint64_t *retraction)
{
    const struct tt_object_attribute *first = tt_federation_find_attribute(object, values[like].handle);
    struct tt_hla_value *some = malloc(count * sizeof *some);
    size_t n = 0;
    if (!some)
        return tt_exception_raise_memory();
    for (size_t i = like; i < count; i++) {
        const struct tt_object_attribute *a = tt_federation_find_attribute(object, values[i].handle);
        if (sent[i] || a->transportation != first->transportation || a->order != first->order)
            continue;
        some[n++] = values[i];
        sent[i] = true;
    }
    struct tt_message *message = tt_message_create(f, TUTTI_MESSAGE_UPDATE, send, some, n, first->order, part);
    free(some);
    if (!message)
        return tt_exception_raise_memory();
    message->object = object->handle;
    message->transportation = first->transportation;

    /* To every federate that knows the object and has subscribed to one of the values. */
    for (size_t i = 0; i < object->known_count; i++) {
        struct tt_federate *to = tt_federation_member(f->federation, object->known[i].federate);
        bool wanted = false;
        for (size_t k = 0; to != f && !wanted && k < message->value_count; k++)
            wanted = tt_federation_interest_flags(to, object->known[i].class, message->values[k].handle) &
                     TUTTI_SUBSCRIBED;
        if (wanted)
            tt_message_deliver(to, message);
    }

    uint64_t number = tt_message_finish(f, message);
    *retraction = number ? number : *retraction;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_update(struct tt_ambassador *ambassador, uint32_t handle, const struct tt_hla_value *values,
                              size_t count, struct tt_message_stamp send, uint64_t *retraction)
{
    struct tt_federate *f;
    struct tt_object *object;
    uint64_t number = 0;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(tt_federation_find_object(f, handle, &object));
    HLA_TRY(objects_check_values(f, object, values, count));
    HLA_TRY(tt_message_check_stamp(f, &send));

    /* One message for each pair of order and transportation. */
    bool *sent = calloc(count + 1, sizeof *sent);
    uint32_t part = 0;
    enum tt_hla exception = sent ? TUTTI_HLA_OK : tt_exception_raise_memory();
    for (size_t i = 0; !exception && i < count; i++)
        if (!sent[i])
            exception = objects_send_part(f, object, values, sent, count, i, &send, part++, &number);
    free(sent);
    HLA_TRY(exception);

    if (retraction)
        *retraction = number;
    tt_time_management_grant(f->federation);
    return TUTTI_HLA_OK;
}

static enum tt_hla objects_delete(struct tt_federate *f, struct tt_object *object, struct tt_message_stamp *send,
                                  uint64_t *retraction)
{
    const struct tt_object_attribute *privilege = tt_federation_find_attribute(object, TUTTI_FOM_PRIVILEGE_TO_DELETE);
    struct tt_message *message = tt_message_create(f, TUTTI_MESSAGE_DELETE, send, NULL, 0, privilege->order, 0);
    struct tt_handle_set to = {0};
    bool ok = message;
    for (size_t i = 0; ok && i < object->known_count; i++)
        if (object->known[i].federate != f->handle)
            ok = tt_federation_add_handle(&to, object->known[i].federate);
    if (!ok) {
        tt_message_release(message);
        free(to.items);
        return tt_exception_raise_memory();
    }
    message->object = object->handle;
    message->transportation = privilege->transportation;
    object->deleter = f->handle;
    tt_message_forget_object(f->federation, object, f->handle); /* may be its end, and so may each delivery */
    for (size_t i = 0; i < to.count; i++)
        (send->time ? tt_message_deliver : tt_message_deliver_removal)(tt_federation_member(f->federation, to.items[i]),
                                                                       message);
    free(to.items);
    *retraction = tt_message_finish(f, message);
    return TUTTI_HLA_OK;
}

void tt_objects_remove_own(struct tt_federation *federation, struct tt_object *object)
{
    struct tt_message *message = tt_message_new(TUTTI_MESSAGE_DELETE, NULL, 0, (struct tt_octets){0});
    if (!message)
        return;
    message->number = ++federation->last_message;
    message->sent = TUTTI_ORDER_RECEIVE;
    message->object = object->handle;
    message->transportation = TUTTI_FOM_RELIABLE;
    object->deleter = TUTTI_OWNED_BY_RTI;
    if (object->known_count == 0)
        tt_message_end_object(federation, object);
    for (size_t i = federation->federates.count; i-- > 0;) {
        struct tt_federate *to = tt_federation_at(federation, i);
        object = tt_federation_object(federation, message->object); /* the last delivery is its end */
        if (object && tt_federation_known_class(object, to->handle))
            tt_message_deliver_removal(to, message);
    }
    tt_message_release(message);
}

enum tt_hla tt_objects_delete(struct tt_ambassador *ambassador, uint32_t handle, struct tt_message_stamp send,
                              uint64_t *retraction)
{
    struct tt_federate *f;
    struct tt_object *object;
    uint64_t number;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(tt_federation_find_object(f, handle, &object));
    if (tt_federation_find_attribute(object, TUTTI_FOM_PRIVILEGE_TO_DELETE)->owner != f->handle)
        return RAISE(DeletePrivilegeNotHeld, "federate '%s' may not delete object '%s'", f->name, object->name);
    HLA_TRY(tt_message_check_stamp(f, &send));
    HLA_TRY(objects_delete(f, object, &send, &number));
    if (retraction)
        *retraction = number;
    tt_time_management_grant(f->federation);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_local_delete(struct tt_ambassador *ambassador, uint32_t handle)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(tt_federation_find_object(f, handle, &object));
    if (tt_ownership_has_any(f, object))
        return RAISE(FederateOwnsAttributes, "federate '%s' owns attributes of object '%s'", f->name, object->name);
    if (tt_ownership_is_pending(f, object))
        return RAISE(OwnershipAcquisitionPending, "federate '%s' waits for attributes of object '%s'", f->name,
                     object->name);
    bool ends = object->deleter && object->known_count == 1;
    tt_message_forget_object(f->federation, object, f->handle);
    if (!ends) {
        tt_discovery_announce(object, f);
        tt_discovery_advise_object(f->federation, object);
    }
    return TUTTI_HLA_OK;
}

static enum tt_hla objects_check_attributes(const struct tt_federate *f, uint32_t class, const uint32_t *attributes,
                                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!tt_fom_has_member(&f->federation->fom->objects, class, attributes[i]))
            return RAISE(AttributeNotDefined, "%s has no attribute with handle %u",
                         tt_fom_class(&f->federation->fom->objects, class)->name, attributes[i]);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_request_update(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                      struct tt_octets tag)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(tt_federation_find_object(f, set.object, &object));
    HLA_TRY(objects_check_attributes(f, tt_federation_known_class(object, f->handle), set.attributes, set.count));
    tt_discovery_request_values(object, f, set.attributes, set.count, tag);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_request_class_update(struct tt_ambassador *ambassador, uint32_t class,
                                            const uint32_t *attributes, size_t count, struct tt_octets tag)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    if (!tt_fom_class(&f->federation->fom->objects, class))
        return RAISE(ObjectClassNotDefined, "no object class has the handle %u", class);
    HLA_TRY(objects_check_attributes(f, class, attributes, count));
    for (size_t i = 0; i < f->federation->objects.count; i++) {
        struct tt_object *object = f->federation->objects.items[i].item;
        if (!object->deleter && tt_fom_is_within(&f->federation->fom->objects, object->class, class))
            tt_discovery_request_values(object, f, attributes, count, tag);
    }
    return TUTTI_HLA_OK;
}

/* The object, all of whose attributes in the set the federate owns. */
static enum tt_hla objects_check_owned(const struct tt_federate *f, struct tt_attribute_set set,
                                       struct tt_object **object)
{
    HLA_TRY(tt_federation_find_object(f, set.object, object));
    HLA_TRY(objects_check_attributes(f, tt_federation_known_class(*object, f->handle), set.attributes, set.count));
    for (size_t i = 0; i < set.count; i++) {
        const struct tt_object_attribute *a = tt_federation_find_attribute(*object, set.attributes[i]);
        if (!a || a->owner != f->handle)
            return RAISE(AttributeNotOwned, "federate '%s' does not own this attribute of object '%s'", f->name,
                         (*object)->name);
    }
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_set_attribute_order(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                           enum tt_message_order order)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(objects_check_owned(f, set, &object));
    for (size_t i = 0; i < set.count; i++)
        tt_federation_find_attribute(object, set.attributes[i])->order = order;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_set_attribute_transportation(struct tt_ambassador *ambassador, struct tt_attribute_set set,
                                                    uint32_t transportation)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    if (!tt_fom_entry(&f->federation->fom->transportations, transportation))
        return RAISE(InvalidTransportationTypeHandle, "no transportation has the handle %u", transportation);
    HLA_TRY(objects_check_owned(f, set, &object));
    for (size_t i = 0; i < set.count; i++)
        tt_federation_find_attribute(object, set.attributes[i])->transportation = transportation;
    struct tt_callback callback = {.kind = TUTTI_CALLBACK_ConfirmAttributeTransportationTypeChange,
                                   .object = object->handle,
                                   .handles = set.attributes,
                                   .handle_count = set.count,
                                   .transportation = transportation};
    tt_federation_push_callback(ambassador, &callback);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_query_attribute_transportation(struct tt_ambassador *ambassador, uint32_t handle,
                                                      uint32_t attribute)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(tt_federation_find_object(f, handle, &object));
    HLA_TRY(objects_check_attributes(f, tt_federation_known_class(object, f->handle), &attribute, 1));
    const struct tt_object_attribute *a = tt_federation_find_attribute(object, attribute);
    const struct tt_fom_member *member = tt_fom_member(&f->federation->fom->objects, attribute);
    struct tt_callback callback = {.kind = TUTTI_CALLBACK_ReportAttributeTransportationType,
                                   .object = handle,
                                   .handles = &attribute,
                                   .handle_count = 1,
                                   .transportation = a ? a->transportation : member->transportation};
    tt_federation_push_callback(ambassador, &callback);
    return TUTTI_HLA_OK;
}

/* Deletes the object, if it may; what is left of it until all have removed it belongs to no federate. */
static bool delete_owned_object(struct tt_federate *f, struct tt_object *object)
{
    uint32_t handle = object->handle;
    struct tt_message_stamp send = {0};
    uint64_t retraction;
    if (object->deleter || tt_federation_find_attribute(object, TUTTI_FOM_PRIVILEGE_TO_DELETE)->owner != f->handle ||
        objects_delete(f, object, &send, &retraction) != TUTTI_HLA_OK)
        return false;
    object = tt_federation_object(f->federation, handle);
    for (size_t i = 0; object && i < object->attribute_count; i++)
        if (object->attributes[i].owner == f->handle) {
            object->attributes[i].owner = 0;
            object->attributes[i].divesting = false;
            object->attributes[i].acquirers.count = 0;
        }
    return true;
}

void tt_objects_remove_federate(struct tt_federate *f, bool delete)
{
    struct tt_federation *federation = f->federation;
    for (size_t i = federation->objects.count; i-- > 0;) { /* from the last one: an object may end */
        struct tt_object *object = federation->objects.items[i].item;
        if (delete &&delete_owned_object(f, object))
            continue;
        tt_ownership_release(f, object, NULL, (struct tt_octets){0});
        tt_message_forget_object(federation, object, f->handle);
    }
    for (size_t i = federation->name_count; i-- > 0;)
        if (federation->names[i].federate == f->handle && !federation->names[i].object)
            objects_release_name(federation, i);
}

static enum tt_hla objects_check_interaction(const struct tt_federate *f, uint32_t class,
                                             const struct tt_hla_value *values, size_t count)
{
    const struct tt_fom_tree *tree = &f->federation->fom->interactions;
    if (!tt_fom_class(tree, class))
        return RAISE(InteractionClassNotDefined, "no interaction class has the handle %u", class);
    for (size_t i = 0; i < count; i++)
        if (!tt_fom_has_member(tree, class, values[i].handle))
            return RAISE(InteractionParameterNotDefined, "%s has no parameter with handle %u",
                         tt_fom_class(tree, class)->name, values[i].handle);
    return TUTTI_HLA_OK;
}

static enum tt_hla not_published(const struct tt_federate *f, uint32_t class)
{
    return RAISE(InteractionClassNotPublished, "federate '%s' does not publish %s", f->name,
                 tt_fom_class(&f->federation->fom->interactions, class)->name);
}

static struct tt_message *new_interaction_message(struct tt_federate *f, enum tt_message_kind kind, uint32_t class,
                                                  const struct tt_hla_value *values, size_t count,
                                                  struct tt_message_stamp *send)
{
    const struct tt_fom_class *c = tt_fom_class(&f->federation->fom->interactions, class);
    unsigned flags = class <= f->interaction_classes ? f->interactions[class - 1] : 0;
    enum tt_message_order order = c->order;
    if (flags & TUTTI_ORDER_SET)
        order = flags & TUTTI_ORDER_TSO ? TUTTI_ORDER_TIMESTAMP : TUTTI_ORDER_RECEIVE;
    struct tt_message *message = tt_message_create(f, kind, send, values, count, order, 0);
    if (message) {
        message->class = class;
        message->transportation = tt_federation_transportation(f, class);
    }
    return message;
}

static enum tt_hla objects_finish_interaction(struct tt_federate *f, struct tt_message *message, uint64_t *retraction)
{
    uint64_t number = tt_message_finish(f, message);
    if (retraction)
        *retraction = number;
    tt_time_management_grant(f->federation);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_send_interaction(struct tt_ambassador *ambassador, uint32_t class,
                                        const struct tt_hla_value *values, size_t count, struct tt_message_stamp send,
                                        uint64_t *retraction)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(objects_check_interaction(f, class, values, count));
    if (class > f->interaction_classes || !(f->interactions[class - 1] & TUTTI_PUBLISHED))
        return not_published(f, class);
    HLA_TRY(tt_message_check_stamp(f, &send));
    struct tt_message *message = new_interaction_message(f, TUTTI_MESSAGE_INTERACTION, class, values, count, &send);
    if (!message)
        return tt_exception_raise_memory();
    for (size_t i = 0; i < f->federation->federates.count; i++) {
        struct tt_federate *to = tt_federation_at(f->federation, i);
        if (to != f && tt_federation_received_class(to, class))
            tt_message_deliver(to, message);
    }
    return objects_finish_interaction(f, message, retraction);
}

/* Returns true if the federate receives interactions of the class to this object, which it knows as `known`. */
static bool objects_receives_directed(const struct tt_federate *to, uint32_t known, uint32_t class,
                                      const struct tt_object *object)
{
    if (tt_federation_directed_class(to, known, class, TUTTI_SUBSCRIBED | TUTTI_UNIVERSAL))
        return true;
    return tt_federation_directed_class(to, known, class, TUTTI_SUBSCRIBED) && tt_ownership_has_any(to, object);
}

enum tt_hla tt_objects_send_directed(struct tt_ambassador *ambassador, uint32_t class, uint32_t handle,
                                     const struct tt_hla_value *values, size_t count, struct tt_message_stamp send,
                                     uint64_t *retraction)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(objects_check_interaction(f, class, values, count));
    HLA_TRY(tt_federation_find_object(f, handle, &object));
    uint32_t known = tt_federation_known_class(object, f->handle);
    if (tt_federation_directed_class(f, known, class, TUTTI_PUBLISHED) != class)
        return not_published(f, class);
    HLA_TRY(tt_message_check_stamp(f, &send));
    struct tt_message *message = new_interaction_message(f, TUTTI_MESSAGE_DIRECTED, class, values, count, &send);
    if (!message)
        return tt_exception_raise_memory();
    message->object = handle;
    for (size_t i = 0; i < object->known_count; i++) {
        struct tt_federate *to = tt_federation_member(f->federation, object->known[i].federate);
        if (to != f && objects_receives_directed(to, object->known[i].class, class, object))
            tt_message_deliver(to, message);
    }
    return objects_finish_interaction(f, message, retraction);
}
