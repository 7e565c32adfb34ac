/* SPDX-License-Identifier: MIT */
#include "hla/rti/federation.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum tt_hla tt_federation_of_ambassador(struct tt_ambassador *ambassador, struct tt_federate **federate)
{
    *federate = ambassador->federate;
    return *federate ? TUTTI_HLA_OK : RAISE(FederateNotExecutionMember, "this federate has not joined a federation");
}

bool tt_federation_charge_memory(struct tt_ambassador *ambassador, size_t size, bool ok)
{
    const struct tt_rti_limits *limits = &ambassador->rti->limits;
    if (ambassador->overflowed)
        return false;
    ambassador->count++;
    ambassador->bytes += size;
    if (!ok || (limits->callbacks && ambassador->count > limits->callbacks) ||
        (limits->bytes && ambassador->bytes > limits->bytes)) {
        tt_federation_discharge_memory(ambassador, size);
        ambassador->overflowed = true;
    }
    return !ambassador->overflowed;
}

void tt_federation_discharge_memory(struct tt_ambassador *ambassador, size_t size)
{
    ambassador->count--;
    ambassador->bytes -= size;
}

void tt_federation_push_callback(struct tt_ambassador *ambassador, const struct tt_callback *callback)
{
    if (ambassador->overflowed)
        return;
    struct tt_callback *copy = tt_callback_copy(callback);
    if (copy && copy->message)
        copy->size += copy->message->size;
    if (!tt_federation_charge_memory(ambassador, copy ? copy->size : 0, copy != NULL)) {
        tt_callback_free(copy);
        return;
    }
    if (ambassador->last)
        ambassador->last->next = copy;
    else
        ambassador->first = copy;
    ambassador->last = copy;
    ambassador->waiting++;
}

struct tt_federate *tt_federation_member(const struct tt_federation *federation, uint32_t handle)
{
    return tt_federation_table_find(&federation->federates, handle);
}

struct tt_object *tt_federation_object(const struct tt_federation *federation, uint32_t handle)
{
    return tt_federation_table_find(&federation->objects, handle);
}

uint32_t tt_federation_known_class(const struct tt_object *object, uint32_t federate)
{
    size_t low = 0, high = object->known_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (object->known[middle].federate < federate)
            low = middle + 1;
        else
            high = middle;
    }
    return low < object->known_count && object->known[low].federate == federate ? object->known[low].class : 0;
}

enum tt_hla tt_federation_find_object(const struct tt_federate *federate, uint32_t handle, struct tt_object **object)
{
    *object = tt_federation_object(federate->federation, handle);
    if (*object && tt_federation_known_class(*object, federate->handle))
        return TUTTI_HLA_OK;
    *object = NULL;
    return RAISE(ObjectInstanceNotKnown, "federate '%s' does not know an object with handle %u", federate->name,
                 handle);
}

struct tt_object_attribute *tt_federation_find_attribute(const struct tt_object *object, uint32_t attribute)
{
    size_t low = 0, high = object->attribute_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (object->attributes[middle].attribute < attribute)
            low = middle + 1;
        else
            high = middle;
    }
    return low < object->attribute_count && object->attributes[low].attribute == attribute ? &object->attributes[low]
                                                                                           : NULL;
}

unsigned tt_federation_interest_flags(const struct tt_federate *federate, uint32_t class, uint32_t attribute)
{
    if (class > federate->object_classes)
        return 0;
    const struct tt_class_interest *interest = &federate->objects[class - 1];
    for (size_t i = 0; i < interest->count; i++)
        if (interest->items[i].handle == attribute)
            return interest->items[i].flags;
    return 0;
}

uint32_t tt_federation_transportation(const struct tt_federate *federate, uint32_t class)
{
    uint32_t own = class <= federate->interaction_classes ? federate->interaction_transports[class - 1] : 0;
    uint32_t model = tt_fom_class(&federate->federation->fom->interactions, class)->transportation;
    return own ? own : model ? model : TUTTI_FOM_RELIABLE;
}

uint32_t tt_federation_received_class(const struct tt_federate *federate, uint32_t class)
{
    const struct tt_fom_tree *tree = &federate->federation->fom->interactions;
    for (; class; class = tree->classes[class - 1].parent)
        if (class <= federate->interaction_classes && federate->interactions[class - 1] & TUTTI_SUBSCRIBED)
            return class;
    return 0;
}

uint32_t tt_federation_directed_class(const struct tt_federate *federate, uint32_t object_class,
                                      uint32_t interaction_class, unsigned wanted)
{
    const struct tt_fom *fom = federate->federation->fom;
    uint32_t nearest = 0;
    for (size_t i = 0; i < federate->directed_count; i++) {
        const struct tt_directed_interest *d = &federate->directed[i];
        if ((d->flags & wanted) == wanted && d->interaction_class > nearest && /* a class above has a lower handle */
            tt_fom_is_within(&fom->objects, object_class, d->object_class) &&
            tt_fom_is_within(&fom->interactions, interaction_class, d->interaction_class))
            nearest = d->interaction_class;
    }
    return nearest;
}

bool tt_federation_has_handle(const struct tt_handle_set *handles, uint32_t handle)
{
    for (size_t i = 0; i < handles->count; i++)
        if (handles->items[i] == handle)
            return true;
    return false;
}

bool tt_federation_add_handle(struct tt_handle_set *handles, uint32_t handle)
{
    if (tt_federation_has_handle(handles, handle))
        return true;
    if (!tt_vector_reserve(&handles->items, &handles->room, handles->count + 1, sizeof *handles->items))
        return false;
    handles->items[handles->count++] = handle;
    return true;
}

bool tt_federation_remove_handle(struct tt_handle_set *handles, uint32_t handle)
{
    for (size_t i = 0; i < handles->count; i++)
        if (handles->items[i] == handle) {
            handles->count--;
            memmove(&handles->items[i], &handles->items[i + 1], (handles->count - i) * sizeof *handles->items);
            return true;
        }
    return false;
}

void tt_federation_free_object(struct tt_object *object)
{
    if (!object)
        return;
    for (size_t i = 0; i < object->attribute_count; i++)
        free(object->attributes[i].acquirers.items);
    for (size_t i = 0; i < object->known_count; i++)
        free(object->known[i].scope);
    free(object->attributes);
    free(object->known);
    free(object->name);
    free(object);
}

void tt_federation_free_federate(struct tt_federate *federate)
{
    if (!federate)
        return;
    for (size_t i = 0; i < federate->object_classes; i++)
        free(federate->objects[i].items);
    for (size_t i = 0; i < federate->held_count; i++)
        tt_message_release(federate->held[i]);
    for (size_t i = 0; i < federate->sent_count; i++)
        tt_message_release(federate->sent[i]);
    tt_message_heap_fini(&federate->tso);
    free(federate->objects);
    free(federate->interactions);
    free(federate->interaction_transports);
    free(federate->directed);
    free(federate->held);
    free(federate->sent);
    free(federate->name);
    free(federate->type);
    free(federate);
}

void tt_federation_free_sync_point(struct tt_sync_point *point)
{
    free(point->label);
    free((void *)point->tag.data);
    free(point->members);
}

void tt_federation_free(struct tt_federation *federation)
{
    if (!federation)
        return;
    for (size_t i = 0; i < federation->federates.count; i++)
        tt_federation_free_federate(federation->federates.items[i].item);
    for (size_t i = 0; i < federation->objects.count; i++)
        tt_federation_free_object(federation->objects.items[i].item);
    for (size_t i = 0; i < federation->name_count; i++)
        free(federation->names[i].name);
    for (size_t i = 0; i < federation->point_count; i++)
        tt_federation_free_sync_point(&federation->points[i]);
    for (size_t i = 0; i < federation->module_count; i++)
        tt_fom_module_free(federation->modules[i]);
    tt_federation_table_fini(&federation->federates);
    tt_federation_table_fini(&federation->objects);
    tt_fom_free(federation->fom);
    free(federation->names);
    free(federation->points);
    free(federation->modules);
    free(federation->scratch);
    free(federation->name);
    free(federation);
}

void tt_federation_table_fini(struct tt_handle_table *table)
{
    free(table->items);
    *table = (struct tt_handle_table){0};
}

bool tt_federation_table_add(struct tt_handle_table *table, uint32_t handle, void *item)
{
    if (!tt_vector_reserve(&table->items, &table->room, table->count + 1, sizeof *table->items))
        return false;
    table->items[table->count++] = (struct tt_handle_item){handle, item};
    return true;
}

/* The first place whose handle is not below. */
static size_t federation_table_place(const struct tt_handle_table *table, uint32_t handle)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->items[middle].handle < handle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void *tt_federation_table_find(const struct tt_handle_table *table, uint32_t handle)
{
    size_t place = federation_table_place(table, handle);
    return place < table->count && table->items[place].handle == handle ? table->items[place].item : NULL;
}

void tt_federation_table_remove(struct tt_handle_table *table, uint32_t handle)
{
    size_t place = federation_table_place(table, handle);
    if (place >= table->count || table->items[place].handle != handle)
        return;
    table->count--;
    memmove(&table->items[place], &table->items[place + 1], (table->count - place) * sizeof *table->items);
}
