/* SPDX-License-Identifier: MIT */
#include "rti/delivery.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "rti/relevance.h"

void tutti_object_end(struct tutti_federation *federation, struct tutti_object *object)
{
    for (size_t i = 0; i < federation->name_count; i++)
        if (federation->names[i].object == object->handle) {
            free(federation->names[i].name);
            federation->name_count--;
            memmove(&federation->names[i], &federation->names[i + 1],
                    (federation->name_count - i) * sizeof *federation->names);
            break;
        }
    tutti_handle_table_remove(&federation->objects, object->handle);
    tutti_object_free(object);
}

void tutti_object_forget(struct tutti_federation *federation, struct tutti_object *object, uint32_t federate)
{
    for (size_t i = 0; i < object->known_count; i++)
        if (object->known[i].federate == federate) {
            free(object->known[i].scope);
            object->known_count--;
            memmove(&object->known[i], &object->known[i + 1], (object->known_count - i) * sizeof *object->known);
            break;
        }
    if (object->deleter && object->known_count == 0)
        tutti_object_end(federation, object);
    else
        tutti_relevance_of(federation, object);
}

/* The federate has it: if it is retracted, it must be told. */
static void note_delivered(const struct tutti_federate *federate, struct tutti_message *message)
{
    if (message->sent != TUTTI_ORDER_TIMESTAMP)
        return;
    if (!tutti_vector_reserve(&message->delivered, &message->delivered_room, message->delivered_count + 1,
                              sizeof *message->delivered)) {
        federate->ambassador->overflowed = true;
        return;
    }
    message->delivered[message->delivered_count++] = federate->handle;
}

static bool wants_value(const struct tutti_federate *federate, const struct tutti_message *message, uint32_t class,
                        uint32_t handle)
{
    if (message->kind == TUTTI_MESSAGE_UPDATE)
        return tutti_federate_flags(federate, class, handle) & TUTTI_SUBSCRIBED;
    return tutti_fom_has_member(&federate->federation->fom->interactions, class, handle);
}

/* The values that the federate sees of the class; false: none. */
static bool select_values(struct tutti_federate *federate, const struct tutti_message *message, uint32_t class,
                          struct tutti_callback *callback)
{
    struct tutti_federation *federation = federate->federation;
    if (!tutti_vector_reserve(&federation->scratch, &federation->scratch_room, message->value_count + 1,
                              sizeof *federation->scratch)) {
        federate->ambassador->overflowed = true;
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < message->value_count; i++)
        if (wants_value(federate, message, class, message->values[i].handle))
            federation->scratch[count++] = message->values[i];
    callback->values = count == message->value_count ? message->values : federation->scratch;
    callback->value_count = count;
    return count > 0;
}

static bool fill_interaction(struct tutti_federate *federate, const struct tutti_message *message,
                             struct tutti_callback *callback)
{
    callback->kind = TUTTI_CALLBACK_ReceiveInteraction;
    if (message->kind == TUTTI_MESSAGE_DIRECTED) {
        const struct tutti_object *object = tutti_federation_object(federate->federation, message->object);
        uint32_t known = object ? tutti_object_known(object, federate->handle) : 0;
        callback->kind = TUTTI_CALLBACK_ReceiveDirectedInteraction;
        callback->object = message->object;
        callback->interaction_class = known ? tutti_federate_directed(federate, known, message->class, TUTTI_SUBSCRIBED)
                                            : 0;
    } else {
        callback->interaction_class = tutti_federate_receives(federate, message->class);
    }
    if (!callback->interaction_class)
        return false;
    (void)select_values(federate, message, callback->interaction_class, callback);
    return true;
}

static bool fill_object(struct tutti_federate *federate, const struct tutti_message *message,
                        struct tutti_callback *callback)
{
    struct tutti_object *object = tutti_federation_object(federate->federation, message->object);
    uint32_t class = object ? tutti_object_known(object, federate->handle) : 0;
    callback->object = message->object;
    callback->kind = message->kind == TUTTI_MESSAGE_UPDATE ? TUTTI_CALLBACK_ReflectAttributeValues
                                                           : TUTTI_CALLBACK_RemoveObjectInstance;
    if (!class || (message->kind == TUTTI_MESSAGE_UPDATE && !select_values(federate, message, class, callback)))
        return false;
    if (message->kind == TUTTI_MESSAGE_DELETE)
        tutti_object_forget(federate->federation, object, federate->handle);
    return true;
}

static void hand_over(struct tutti_federate *federate, struct tutti_message *message, enum tutti_order received)
{
    struct tutti_callback callback = {
        .federate = message->sender,
        .transportation = message->transportation,
        .tag = message->tag,
        .timed = message->timed,
        .time = message->time,
        .sent = message->sent,
        .received = message->timed ? received : TUTTI_ORDER_RECEIVE,
        .retraction = message->sent == TUTTI_ORDER_TIMESTAMP ? message->number : 0,
        .message = message,
    };
    bool interaction = message->kind == TUTTI_MESSAGE_INTERACTION || message->kind == TUTTI_MESSAGE_DIRECTED;
    if (interaction ? fill_interaction(federate, message, &callback) : fill_object(federate, message, &callback)) {
        tutti_ambassador_push(federate->ambassador, &callback);
        note_delivered(federate, message);
    }
}

static void hold(struct tutti_federate *federate, struct tutti_message *message)
{
    bool ok =
        tutti_vector_reserve(&federate->held, &federate->held_room, federate->held_count + 1, sizeof *federate->held);
    if (tutti_ambassador_charge(federate->ambassador, message->size, ok))
        federate->held[federate->held_count++] = tutti_message_share(message);
}

static void queue(struct tutti_federate *federate, struct tutti_message *message)
{
    if (tutti_ambassador_charge(federate->ambassador, message->size, true) &&
        !tutti_message_heap_push(&federate->tso, message))
        federate->ambassador->overflowed = true;
    if (federate->time.pending >= TUTTI_ADVANCE_NMR)
        federate->federation->unsettled = true;
}

void tutti_deliver_removal(struct tutti_federate *federate, struct tutti_message *message)
{
    int64_t last = -1;
    for (size_t i = 0; i < federate->tso.count; i++) {
        const struct tutti_message *m = federate->tso.items[i];
        if (m->object == message->object && m->time > last)
            last = m->time;
    }
    if (last < 0) {
        tutti_deliver(federate, message);
        return;
    }
    struct tutti_message *later = tutti_message_new(message->kind, NULL, 0, message->tag);
    if (!later) {
        federate->ambassador->overflowed = true;
        return;
    }
    later->time = last; /* where it lies in the queue; it is told without a time */
    later->number = message->number;
    later->sender = message->sender;
    later->object = message->object;
    later->transportation = message->transportation;
    queue(federate, later);
    tutti_message_release(later);
}

void tutti_deliver(struct tutti_federate *federate, struct tutti_message *message)
{
    const struct tutti_federate_time *time = &federate->time;
    if (message->sent == TUTTI_ORDER_TIMESTAMP && time->constrained) {
        queue(federate, message);
    } else if (time->constrained && !time->asynchronous && time->pending == TUTTI_ADVANCE_NONE) {
        hold(federate, message);
    } else {
        hand_over(federate, message, TUTTI_ORDER_RECEIVE);
    }
}

void tutti_deliver_held(struct tutti_federate *federate)
{
    for (size_t i = 0; i < federate->held_count; i++) {
        struct tutti_message *message = federate->held[i];
        tutti_ambassador_discharge(federate->ambassador, message->size);
        if (!message->retracted)
            hand_over(federate, message, TUTTI_ORDER_RECEIVE);
        tutti_message_release(message);
    }
    federate->held_count = 0;
}

void tutti_deliver_until(struct tutti_federate *federate, int64_t last, enum tutti_order received)
{
    for (;;) {
        const struct tutti_message *first = tutti_message_heap_first(&federate->tso);
        if (!first || first->time > last)
            return;
        struct tutti_message *message = tutti_message_heap_pop(&federate->tso);
        tutti_ambassador_discharge(federate->ambassador, message->size);
        hand_over(federate, message, received);
        tutti_message_release(message);
    }
}
