/* SPDX-License-Identifier: MIT */
#include "rti/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "base/vector.h"
#include "rti/delivery.h"
#include "rti/discovery.h"
#include "rti/relevance.h"
#include "rti/time_management.h"

/* Names. Those that federates reserve lie in a sorted list; those that are made here say the handle. */

static const char made[] = "HLAobject.";

static size_t place_of(const struct tutti_federation *federation, const char *name)
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

static struct tutti_reserved_name *reserved(const struct tutti_federation *federation, const char *name)
{
    size_t at = place_of(federation, name);
    return at < federation->name_count && strcmp(federation->names[at].name, name) == 0 ? &federation->names[at] : NULL;
}

static enum tutti_hla check_legal(const char *name)
{
    if (*name && strncmp(name, "HLA", 3) != 0)
        return TUTTI_HLA_OK;
    return RAISE(IllegalName, "'%s' is no name for an object: it is empty, or begins with HLA",
                 tutti_str_show(name).text);
}

static enum tutti_hla reserve(struct tutti_federate *f, const char *name)
{
    struct tutti_federation *federation = f->federation;
    char *copy = tutti_str_copy(name);
    if (!copy || !tutti_vector_reserve(&federation->names, &federation->name_room, federation->name_count + 1,
                                       sizeof *federation->names)) {
        free(copy);
        return tutti_hla_raise_memory();
    }
    size_t at = place_of(federation, name);
    memmove(&federation->names[at + 1], &federation->names[at],
            (federation->name_count - at) * sizeof *federation->names);
    federation->names[at] = (struct tutti_reserved_name){copy, f->handle, 0};
    federation->name_count++;
    return TUTTI_HLA_OK;
}

static void release(struct tutti_federation *federation, size_t at)
{
    free(federation->names[at].name);
    federation->name_count--;
    memmove(&federation->names[at], &federation->names[at + 1],
            (federation->name_count - at) * sizeof *federation->names);
}

enum tutti_hla tutti_rti_reserve_name(struct tutti_ambassador *ambassador, const char *name)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_legal(name));
    struct tutti_callback callback = {.kind = TUTTI_CALLBACK_ObjectInstanceNameReservationFailed, .text = name};
    if (!reserved(f->federation, name)) {
        HLA_TRY(reserve(f, name));
        callback.kind = TUTTI_CALLBACK_ObjectInstanceNameReservationSucceeded;
    }
    tutti_ambassador_push(ambassador, &callback);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_reserve_names(struct tutti_ambassador *ambassador, const char *const *names, size_t count)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    if (!count)
        return RAISE(NameSetWasEmpty, "no name was given");
    bool unused = true;
    for (size_t i = 0; i < count; i++) {
        HLA_TRY(check_legal(names[i]));
        unused = unused && !reserved(f->federation, names[i]);
    }
    for (size_t i = 0; unused && i < count; i++)
        if (!reserved(f->federation, names[i])) /* not twice in the list */
            HLA_TRY(reserve(f, names[i]));
    struct tutti_callback callback = {.kind = unused ? TUTTI_CALLBACK_MultipleObjectInstanceNameReservationSucceeded
                                                     : TUTTI_CALLBACK_MultipleObjectInstanceNameReservationFailed,
                                      .names = names,
                                      .name_count = count};
    tutti_ambassador_push(ambassador, &callback);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_release_names(struct tutti_ambassador *ambassador, const char *const *names, size_t count)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    for (size_t i = 0; i < count; i++) {
        const struct tutti_reserved_name *r = reserved(f->federation, names[i]);
        if (!r || r->federate != f->handle || r->object)
            return RAISE(ObjectInstanceNameNotReserved, "federate '%s' has not reserved '%s', or has used it", f->name,
                         tutti_str_show(names[i]).text);
    }
    for (size_t i = 0; i < count; i++)
        if (reserved(f->federation, names[i]))
            release(f->federation, place_of(f->federation, names[i]));
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_release_name(struct tutti_ambassador *ambassador, const char *name)
{
    return tutti_rti_release_names(ambassador, &name, 1);
}

struct tutti_object *tutti_objects_find(const struct tutti_federation *federation, const char *name)
{
    const struct tutti_reserved_name *r = reserved(federation, name);
    uint64_t handle;
    if (r)
        return tutti_federation_object(federation, r->object);
    if (strncmp(name, made, strlen(made)) != 0 ||
        !tutti_number_read_uint(name + strlen(made), strlen(name + strlen(made)), &handle) || handle > UINT32_MAX)
        return NULL;
    struct tutti_object *object = tutti_federation_object(federation, (uint32_t)handle);
    return object && strcmp(object->name, name) == 0 ? object : NULL;
}

/* Registration */

static int compare_attributes(const void *a, const void *b)
{
    uint32_t left = ((const struct tutti_object_attribute *)a)->attribute;
    uint32_t right = ((const struct tutti_object_attribute *)b)->attribute;
    return left < right ? -1 : left > right;
}

/* What the federate declared of the attribute at the class, or NULL. */
static const struct tutti_interest *interest_in(const struct tutti_federate *f, uint32_t class, uint32_t attribute)
{
    for (size_t i = 0; class <= f->object_classes && i < f->objects[class - 1].count; i++)
        if (f->objects[class - 1].items[i].handle == attribute)
            return &f->objects[class - 1].items[i];
    return NULL;
}

/* `f` NULL: of an object of the RTI. */
static struct tutti_object_attribute attribute_of(const struct tutti_federation *federation,
                                                  const struct tutti_federate *f, uint32_t class, uint32_t attribute)
{
    const struct tutti_fom_member *member = tutti_fom_member(&federation->fom->objects, attribute);
    if (!f)
        return (struct tutti_object_attribute){.attribute = attribute,
                                               .owner = TUTTI_OWNED_BY_RTI,
                                               .transportation = member->transportation,
                                               .order = member->order};
    const struct tutti_interest *interest = interest_in(f, class, attribute);
    unsigned flags = interest ? interest->flags : 0;
    bool owned = flags & TUTTI_PUBLISHED || attribute == TUTTI_FOM_PRIVILEGE_TO_DELETE;
    enum tutti_order order = member->order;
    if (flags & TUTTI_ORDER_SET)
        order = flags & TUTTI_ORDER_TSO ? TUTTI_ORDER_TIMESTAMP : TUTTI_ORDER_RECEIVE;
    bool changed = interest && interest->transportation;
    return (struct tutti_object_attribute){.attribute = attribute,
                                           .owner = owned ? f->handle : 0,
                                           .transportation = changed ? interest->transportation
                                                                     : member->transportation,
                                           .order = order};
}

static bool add_attributes(struct tutti_object *object, const struct tutti_federation *federation,
                           const struct tutti_federate *f)
{
    const struct tutti_fom_tree *tree = &federation->fom->objects;
    for (uint32_t class = object->class; class; class = tree->classes[class - 1].parent)
        for (uint32_t m = tree->classes[class - 1].members; m; m = tree->members[m - 1].next) {
            if (!tutti_vector_reserve(&object->attributes, &object->attribute_room, object->attribute_count + 1,
                                      sizeof *object->attributes))
                return false;
            object->attributes[object->attribute_count++] = attribute_of(federation, f, object->class, m);
        }
    if (object->attribute_count)
        qsort(object->attributes, object->attribute_count, sizeof *object->attributes, compare_attributes);
    return true;
}

/* `f` NULL: of the RTI. */
static struct tutti_object *new_object(struct tutti_federation *federation, const struct tutti_federate *f,
                                       uint32_t class, const char *name)
{
    struct tutti_object *object = calloc(1, sizeof *object);
    char text[sizeof made + TUTTI_NUMBER_MAX];
    if (!object)
        return NULL;
    object->handle = federation->last_object + 1;
    object->class = class;
    object->registrant = f ? f->handle : 0;
    object->of_rti = !f;
    snprintf(text, sizeof text, "%s%u", made, object->handle);
    object->name = tutti_str_copy(name ? name : text);
    if (object->name && add_attributes(object, federation, f) &&
        tutti_handle_table_add(&federation->objects, object->handle, object)) {
        federation->last_object = object->handle;
        return object;
    }
    tutti_object_free(object);
    return NULL;
}

void tutti_objects_add_own(struct tutti_federation *federation, uint32_t class, uint32_t about)
{
    struct tutti_object *object = new_object(federation, NULL, class, NULL);
    if (!object)
        return;
    object->about = about;
    tutti_discovery_of(object, federation);
}

static enum tutti_hla check_registration(const struct tutti_federate *f, uint32_t class, const char *name)
{
    const struct tutti_fom_class *c = tutti_fom_class(&f->federation->fom->objects, class);
    size_t limit = f->federation->rti->limits.objects;
    bool published = false;
    if (!c)
        return RAISE(ObjectClassNotDefined, "no object class has the handle %u", class);
    for (size_t i = 0; class <= f->object_classes && i < f->objects[class - 1].count; i++)
        published |= f->objects[class - 1].items[i].flags & TUTTI_PUBLISHED;
    if (!published)
        return RAISE(ObjectClassNotPublished, "federate '%s' publishes no attribute of %s", f->name, c->name);
    const struct tutti_reserved_name *r = name ? reserved(f->federation, name) : NULL;
    if (name && (!r || r->federate != f->handle))
        return RAISE(ObjectInstanceNameNotReserved, "federate '%s' has not reserved '%s'", f->name,
                     tutti_str_show(name).text);
    if (r && r->object)
        return RAISE(ObjectInstanceNameInUse, "there is an object '%s' already", tutti_str_show(name).text);
    if (limit && f->federation->objects.count >= limit)
        return RAISE(RTIinternalError, "this RTI takes no more than %zu objects in a federation", limit);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_register(struct tutti_ambassador *ambassador, uint32_t class, const char *name,
                                  uint32_t *handle)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_registration(f, class, name));
    struct tutti_object *object = new_object(f->federation, f, class, name);
    if (!object)
        return tutti_hla_raise_memory();
    *handle = object->handle;
    if (name)
        reserved(f->federation, name)->object = object->handle;
    tutti_discovery_add(object, f, class);
    tutti_discovery_of(object, f->federation);
    return TUTTI_HLA_OK;
}

/* Values */

static enum tutti_hla check_values(const struct tutti_federate *f, const struct tutti_object *object,
                                   const struct tutti_value *values, size_t count)
{
    uint32_t class = tutti_object_known(object, f->handle);
    for (size_t i = 0; i < count; i++) {
        const struct tutti_object_attribute *a = tutti_object_attribute(object, values[i].handle);
        if (!a || !tutti_fom_has_member(&f->federation->fom->objects, class, values[i].handle))
            return RAISE(AttributeNotDefined, "object '%s' has no attribute with handle %u", object->name,
                         values[i].handle);
        if (a->owner != f->handle)
            return RAISE(AttributeNotOwned, "federate '%s' does not own '%s' of object '%s'", f->name,
                         tutti_fom_member(&f->federation->fom->objects, values[i].handle)->name, object->name);
    }
    return TUTTI_HLA_OK;
}

static void deliver_to_known(const struct tutti_federate *f, const struct tutti_object *object,
                             struct tutti_message *message)
{
    for (size_t i = 0; i < object->known_count; i++) {
        struct tutti_federate *to = tutti_federation_member(f->federation, object->known[i].federate);
        bool wanted = false;
        for (size_t k = 0; to != f && !wanted && k < message->value_count; k++)
            wanted = tutti_federate_flags(to, object->known[i].class, message->values[k].handle) & TUTTI_SUBSCRIBED;
        if (wanted)
            tutti_deliver(to, message);
    }
}

/* The values of those attributes that go in the order and by the transport of `like`, which is not sent yet; they are sent then. */
static enum tutti_hla send_part(struct tutti_federate *f, struct tutti_object *object, const struct tutti_value *values,
                                bool *sent, size_t count, size_t like, struct tutti_send *send, uint32_t part,
                                uint64_t *retraction)
{
    const struct tutti_object_attribute *first = tutti_object_attribute(object, values[like].handle);
    struct tutti_value *some = malloc(count * sizeof *some);
    size_t n = 0;
    if (!some)
        return tutti_hla_raise_memory();
    for (size_t i = like; i < count; i++) {
        const struct tutti_object_attribute *a = tutti_object_attribute(object, values[i].handle);
        if (sent[i] || a->transportation != first->transportation || a->order != first->order)
            continue;
        some[n++] = values[i];
        sent[i] = true;
    }
    struct tutti_message *message = tutti_send_message(f, TUTTI_MESSAGE_UPDATE, send, some, n, first->order, part);
    free(some);
    if (!message)
        return tutti_hla_raise_memory();
    message->object = object->handle;
    message->transportation = first->transportation;
    deliver_to_known(f, object, message);
    uint64_t number = tutti_send_done(f, message);
    *retraction = number ? number : *retraction;
    return TUTTI_HLA_OK;
}

static enum tutti_hla send_parts(struct tutti_federate *f, struct tutti_object *object,
                                 const struct tutti_value *values, size_t count, struct tutti_send *send,
                                 uint64_t *retraction)
{
    bool *sent = calloc(count + 1, sizeof *sent);
    uint32_t part = 0;
    enum tutti_hla exception = sent ? TUTTI_HLA_OK : tutti_hla_raise_memory();
    for (size_t i = 0; !exception && i < count; i++)
        if (!sent[i])
            exception = send_part(f, object, values, sent, count, i, send, part++, retraction);
    free(sent);
    return exception;
}

enum tutti_hla tutti_rti_update(struct tutti_ambassador *ambassador, uint32_t handle, const struct tutti_value *values,
                                size_t count, struct tutti_send send, uint64_t *retraction)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    uint64_t number = 0;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(tutti_federate_object(f, handle, &object));
    HLA_TRY(check_values(f, object, values, count));
    HLA_TRY(tutti_send_check(f, &send));
    HLA_TRY(send_parts(f, object, values, count, &send, &number));
    if (retraction)
        *retraction = number;
    tutti_time_settle(f->federation);
    return TUTTI_HLA_OK;
}

/* Deletion */

static enum tutti_hla delete_object(struct tutti_federate *f, struct tutti_object *object, struct tutti_send *send,
                                    uint64_t *retraction)
{
    const struct tutti_object_attribute *privilege = tutti_object_attribute(object, TUTTI_FOM_PRIVILEGE_TO_DELETE);
    struct tutti_message *message = tutti_send_message(f, TUTTI_MESSAGE_DELETE, send, NULL, 0, privilege->order, 0);
    struct tutti_handles to = {0};
    bool ok = message;
    for (size_t i = 0; ok && i < object->known_count; i++)
        if (object->known[i].federate != f->handle)
            ok = tutti_handles_add(&to, object->known[i].federate);
    if (!ok) {
        tutti_message_release(message);
        free(to.items);
        return tutti_hla_raise_memory();
    }
    message->object = object->handle;
    message->transportation = privilege->transportation;
    object->deleter = f->handle;
    tutti_object_forget(f->federation, object, f->handle); /* may be its end, and so may each delivery */
    for (size_t i = 0; i < to.count; i++)
        (send->time ? tutti_deliver : tutti_deliver_removal)(tutti_federation_member(f->federation, to.items[i]),
                                                             message);
    free(to.items);
    *retraction = tutti_send_done(f, message);
    return TUTTI_HLA_OK;
}

void tutti_objects_remove_own(struct tutti_federation *federation, struct tutti_object *object)
{
    struct tutti_message *message = tutti_message_new(TUTTI_MESSAGE_DELETE, NULL, 0, (struct tutti_octets){0});
    if (!message)
        return;
    message->number = ++federation->last_message;
    message->sent = TUTTI_ORDER_RECEIVE;
    message->object = object->handle;
    message->transportation = TUTTI_FOM_RELIABLE;
    object->deleter = TUTTI_OWNED_BY_RTI;
    if (object->known_count == 0)
        tutti_object_end(federation, object);
    for (size_t i = federation->federates.count; i-- > 0;) {
        struct tutti_federate *to = tutti_federation_at(federation, i);
        object = tutti_federation_object(federation, message->object); /* the last delivery is its end */
        if (object && tutti_object_known(object, to->handle))
            tutti_deliver_removal(to, message);
    }
    tutti_message_release(message);
}

enum tutti_hla tutti_rti_delete(struct tutti_ambassador *ambassador, uint32_t handle, struct tutti_send send,
                                uint64_t *retraction)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    uint64_t number;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(tutti_federate_object(f, handle, &object));
    if (tutti_object_attribute(object, TUTTI_FOM_PRIVILEGE_TO_DELETE)->owner != f->handle)
        return RAISE(DeletePrivilegeNotHeld, "federate '%s' may not delete object '%s'", f->name, object->name);
    HLA_TRY(tutti_send_check(f, &send));
    HLA_TRY(delete_object(f, object, &send, &number));
    if (retraction)
        *retraction = number;
    tutti_time_settle(f->federation);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_local_delete(struct tutti_ambassador *ambassador, uint32_t handle)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(tutti_federate_object(f, handle, &object));
    if (tutti_ownership_has_any(f, object))
        return RAISE(FederateOwnsAttributes, "federate '%s' owns attributes of object '%s'", f->name, object->name);
    if (tutti_ownership_waits(f, object))
        return RAISE(OwnershipAcquisitionPending, "federate '%s' waits for attributes of object '%s'", f->name,
                     object->name);
    bool ends = object->deleter && object->known_count == 1;
    tutti_object_forget(f->federation, object, f->handle);
    if (!ends) {
        tutti_discovery_try(object, f);
        tutti_relevance_of(f->federation, object);
    }
    return TUTTI_HLA_OK;
}

/* Requests */

static enum tutti_hla check_attributes(const struct tutti_federate *f, uint32_t class, const uint32_t *attributes,
                                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!tutti_fom_has_member(&f->federation->fom->objects, class, attributes[i]))
            return RAISE(AttributeNotDefined, "%s has no attribute with handle %u",
                         tutti_fom_class(&f->federation->fom->objects, class)->name, attributes[i]);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_request_update(struct tutti_ambassador *ambassador, struct tutti_attribute_set set,
                                        struct tutti_octets tag)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(tutti_federate_object(f, set.object, &object));
    HLA_TRY(check_attributes(f, tutti_object_known(object, f->handle), set.attributes, set.count));
    tutti_discovery_request(object, f, set.attributes, set.count, tag);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_request_class_update(struct tutti_ambassador *ambassador, uint32_t class,
                                              const uint32_t *attributes, size_t count, struct tutti_octets tag)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    if (!tutti_fom_class(&f->federation->fom->objects, class))
        return RAISE(ObjectClassNotDefined, "no object class has the handle %u", class);
    HLA_TRY(check_attributes(f, class, attributes, count));
    for (size_t i = 0; i < f->federation->objects.count; i++) {
        struct tutti_object *object = f->federation->objects.items[i].item;
        if (!object->deleter && tutti_fom_is_within(&f->federation->fom->objects, object->class, class))
            tutti_discovery_request(object, f, attributes, count, tag);
    }
    return TUTTI_HLA_OK;
}

/* The object, all of whose attributes in the set the federate owns. */
static enum tutti_hla check_owned(const struct tutti_federate *f, struct tutti_attribute_set set,
                                  struct tutti_object **object)
{
    HLA_TRY(tutti_federate_object(f, set.object, object));
    HLA_TRY(check_attributes(f, tutti_object_known(*object, f->handle), set.attributes, set.count));
    for (size_t i = 0; i < set.count; i++) {
        const struct tutti_object_attribute *a = tutti_object_attribute(*object, set.attributes[i]);
        if (!a || a->owner != f->handle)
            return RAISE(AttributeNotOwned, "federate '%s' does not own this attribute of object '%s'", f->name,
                         (*object)->name);
    }
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_change_attribute_order(struct tutti_ambassador *ambassador, struct tutti_attribute_set set,
                                                enum tutti_order order)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_owned(f, set, &object));
    for (size_t i = 0; i < set.count; i++)
        tutti_object_attribute(object, set.attributes[i])->order = order;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_change_attribute_transportation(struct tutti_ambassador *ambassador,
                                                         struct tutti_attribute_set set, uint32_t transportation)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    if (!tutti_fom_entry(&f->federation->fom->transportations, transportation))
        return RAISE(InvalidTransportationTypeHandle, "no transportation has the handle %u", transportation);
    HLA_TRY(check_owned(f, set, &object));
    for (size_t i = 0; i < set.count; i++)
        tutti_object_attribute(object, set.attributes[i])->transportation = transportation;
    struct tutti_callback callback = {.kind = TUTTI_CALLBACK_ConfirmAttributeTransportationTypeChange,
                                      .object = object->handle,
                                      .handles = set.attributes,
                                      .handle_count = set.count,
                                      .transportation = transportation};
    tutti_ambassador_push(ambassador, &callback);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_query_attribute_transportation(struct tutti_ambassador *ambassador, uint32_t handle,
                                                        uint32_t attribute)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(tutti_federate_object(f, handle, &object));
    HLA_TRY(check_attributes(f, tutti_object_known(object, f->handle), &attribute, 1));
    const struct tutti_object_attribute *a = tutti_object_attribute(object, attribute);
    const struct tutti_fom_member *member = tutti_fom_member(&f->federation->fom->objects, attribute);
    struct tutti_callback callback = {.kind = TUTTI_CALLBACK_ReportAttributeTransportationType,
                                      .object = handle,
                                      .handles = &attribute,
                                      .handle_count = 1,
                                      .transportation = a ? a->transportation : member->transportation};
    tutti_ambassador_push(ambassador, &callback);
    return TUTTI_HLA_OK;
}

/* Deletes the object, if it may; what is left of it until all have removed it belongs to no federate. */
static bool delete_own(struct tutti_federate *f, struct tutti_object *object)
{
    uint32_t handle = object->handle;
    struct tutti_send send = {0};
    uint64_t retraction;
    if (object->deleter || tutti_object_attribute(object, TUTTI_FOM_PRIVILEGE_TO_DELETE)->owner != f->handle ||
        delete_object(f, object, &send, &retraction) != TUTTI_HLA_OK)
        return false;
    object = tutti_federation_object(f->federation, handle);
    for (size_t i = 0; object && i < object->attribute_count; i++)
        if (object->attributes[i].owner == f->handle) {
            object->attributes[i].owner = 0;
            object->attributes[i].divesting = false;
            object->attributes[i].acquirers.count = 0;
        }
    return true;
}

void tutti_objects_leave(struct tutti_federate *f, bool delete)
{
    struct tutti_federation *federation = f->federation;
    for (size_t i = federation->objects.count; i-- > 0;) { /* from the last one: an object may end */
        struct tutti_object *object = federation->objects.items[i].item;
        if (delete &&delete_own(f, object))
            continue;
        tutti_ownership_take(f, object, NULL, (struct tutti_octets){0});
        tutti_object_forget(federation, object, f->handle);
    }
    for (size_t i = federation->name_count; i-- > 0;)
        if (federation->names[i].federate == f->handle && !federation->names[i].object)
            release(federation, i);
}
