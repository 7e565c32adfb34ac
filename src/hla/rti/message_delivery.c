/* SPDX-License-Identifier: MIT */
#include "hla/rti/message_delivery.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "hla/rti/relevance.h"

void tt_message_end_object(struct tt_federation *federation, struct tt_object *object)
{
    for (size_t i = 0; i < federation->name_count; i++)
        if (federation->names[i].object == object->handle) {
            free(federation->names[i].name);
            federation->name_count--;
            memmove(&federation->names[i], &federation->names[i + 1],
                    (federation->name_count - i) * sizeof *federation->names);
            break;
        }
    tt_federation_table_remove(&federation->objects, object->handle);
    tt_federation_free_object(object);
}

void tt_message_forget_object(struct tt_federation *federation, struct tt_object *object, uint32_t federate)
{
    for (size_t i = 0; i < object->known_count; i++)
        if (object->known[i].federate == federate) {
            free(object->known[i].scope);
            object->known_count--;
            memmove(&object->known[i], &object->known[i + 1], (object->known_count - i) * sizeof *object->known);
            break;
        }
    if (object->deleter && object->known_count == 0)
        tt_message_end_object(federation, object);
    else
        tt_discovery_advise_object(federation, object);
}

/* The values that the federate sees of the class; false: none. */
static bool select_values(struct tt_federate *federate, const struct tt_message *message, uint32_t class,
                          struct tt_callback *callback)
{
    struct tt_federation *federation = federate->federation;
    if (!tt_vector_reserve(&federation->scratch, &federation->scratch_room, message->value_count + 1,
                           sizeof *federation->scratch)) {
        federate->ambassador->overflowed = true;
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < message->value_count; i++) {
        uint32_t handle = message->values[i].handle;
        bool subscribed = message->kind == TUTTI_MESSAGE_UPDATE
                              ? (tt_federation_interest_flags(federate, class, handle) & TUTTI_SUBSCRIBED) != 0
                              : tt_fom_has_member(&federation->fom->interactions, class, handle);
        if (subscribed)
            federation->scratch[count++] = message->values[i];
    }
    callback->values = count == message->value_count ? message->values : federation->scratch;
    callback->value_count = count;
    return count > 0;
}

static bool fill_interaction(struct tt_federate *federate, const struct tt_message *message,
                             struct tt_callback *callback)
{
    callback->kind = TUTTI_CALLBACK_ReceiveInteraction;
    if (message->kind == TUTTI_MESSAGE_DIRECTED) {
        const struct tt_object *object = tt_federation_object(federate->federation, message->object);
        uint32_t known = object ? tt_federation_known_class(object, federate->handle) : 0;
        callback->kind = TUTTI_CALLBACK_ReceiveDirectedInteraction;
        callback->object = message->object;
        callback->interaction_class =
            known ? tt_federation_directed_class(federate, known, message->class, TUTTI_SUBSCRIBED) : 0;
    } else {
        callback->interaction_class = tt_federation_received_class(federate, message->class);
    }
    if (!callback->interaction_class)
        return false;
    (void)select_values(federate, message, callback->interaction_class, callback);
    return true;
}

static bool fill_object(struct tt_federate *federate, const struct tt_message *message, struct tt_callback *callback)
{
    struct tt_object *object = tt_federation_object(federate->federation, message->object);
    uint32_t class = object ? tt_federation_known_class(object, federate->handle) : 0;
    callback->object = message->object;
    callback->kind = message->kind == TUTTI_MESSAGE_UPDATE ? TUTTI_CALLBACK_ReflectAttributeValues
                                                           : TUTTI_CALLBACK_RemoveObjectInstance;
    if (!class || (message->kind == TUTTI_MESSAGE_UPDATE && !select_values(federate, message, class, callback)))
        return false;
    if (message->kind == TUTTI_MESSAGE_DELETE)
        tt_message_forget_object(federate->federation, object, federate->handle);
    return true;
}

static void message_hand_over(struct tt_federate *federate, struct tt_message *message, enum tt_message_order received)
{
    struct tt_callback callback = {
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
        tt_federation_push_callback(federate->ambassador, &callback);

        /* If the message is retracted, this federate must be notified. */
        if (message->sent != TUTTI_ORDER_TIMESTAMP)
            return;
        if (tt_vector_reserve(&message->delivered, &message->delivered_room, message->delivered_count + 1,
                              sizeof *message->delivered))
            message->delivered[message->delivered_count++] = federate->handle;
        else
            federate->ambassador->overflowed = true;
    }
}

static void queue_by_stamp(struct tt_federate *federate, struct tt_message *message)
{
    if (tt_federation_charge_memory(federate->ambassador, message->size, true) &&
        !tt_message_heap_push(&federate->tso, message))
        federate->ambassador->overflowed = true;
    if (federate->time.pending >= TUTTI_ADVANCE_NMR)
        federate->federation->unsettled = true;
}

void tt_message_deliver_removal(struct tt_federate *federate, struct tt_message *message)
{
    int64_t last = -1;
    for (size_t i = 0; i < federate->tso.count; i++) {
        const struct tt_message *m = federate->tso.items[i];
        if (m->object == message->object && m->time > last)
            last = m->time;
    }
    if (last < 0) {
        tt_message_deliver(federate, message);
        return;
    }
    struct tt_message *later = tt_message_new(message->kind, NULL, 0, message->tag);
    if (!later) {
        federate->ambassador->overflowed = true;
        return;
    }
    later->time = last; /* its position in the queue; it is delivered without a time */
    later->number = message->number;
    later->sender = message->sender;
    later->object = message->object;
    later->transportation = message->transportation;
    queue_by_stamp(federate, later);
    tt_message_release(later);
}

void tt_message_deliver(struct tt_federate *federate, struct tt_message *message)
{
    const struct tutti_federate_time *time = &federate->time;
    if (message->sent == TUTTI_ORDER_TIMESTAMP && time->constrained) {
        queue_by_stamp(federate, message);
    } else if (time->constrained && !time->asynchronous && time->pending == TUTTI_ADVANCE_NONE) {
        bool ok =
            tt_vector_reserve(&federate->held, &federate->held_room, federate->held_count + 1, sizeof *federate->held);
        if (tt_federation_charge_memory(federate->ambassador, message->size, ok))
            federate->held[federate->held_count++] = tt_message_retain(message);
    } else {
        message_hand_over(federate, message, TUTTI_ORDER_RECEIVE);
    }
}

void tt_message_deliver_held(struct tt_federate *federate)
{
    for (size_t i = 0; i < federate->held_count; i++) {
        struct tt_message *message = federate->held[i];
        tt_federation_discharge_memory(federate->ambassador, message->size);
        if (!message->retracted)
            message_hand_over(federate, message, TUTTI_ORDER_RECEIVE);
        tt_message_release(message);
    }
    federate->held_count = 0;
}

void tt_message_deliver_until(struct tt_federate *federate, int64_t last, enum tt_message_order received)
{
    for (;;) {
        const struct tt_message *first = tt_message_heap_first(&federate->tso);
        if (!first || first->time > last)
            return;
        struct tt_message *message = tt_message_heap_pop(&federate->tso);
        tt_federation_discharge_memory(federate->ambassador, message->size);
        message_hand_over(federate, message, received);
        tt_message_release(message);
    }
}
