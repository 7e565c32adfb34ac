/* SPDX-License-Identifier: MIT */
#include "hla/rti/message_send.h"

#include <stdlib.h>

#include "base/vector.h"
#include "hla/rti/discovery.h"
#include "hla/rti/time_management.h"

enum { FEW = 16 }; /* messages that are kept without asking whether they can still be retracted */

enum tt_hla tt_message_check_stamp(struct tt_federate *federate, const struct tt_message_stamp *send)
{
    return send->time ? tt_time_management_check_stamp(federate, *send->time) : TUTTI_HLA_OK;
}

struct tt_message *tt_message_create(struct tt_federate *federate, enum tt_message_kind kind,
                                     const struct tt_message_stamp *send, const struct tt_hla_value *values,
                                     size_t count, enum tt_message_order order, uint32_t part)
{
    struct tt_message *message = tt_message_new(kind, values, count, send->tag);
    if (!message)
        return NULL;
    message->sender = federate->handle;
    message->number = part ? federate->federation->last_message : ++federate->federation->last_message;
    message->part = part;
    message->timed = send->time != NULL;
    message->time = send->time ? *send->time : 0;
    message->sent = send->time && federate->time.regulating ? order : TUTTI_ORDER_RECEIVE;
    return message;
}

/* Drops messages below the promise, which cannot be retracted. Runs when their number has doubled since the last time. */
static void prune_retractable(struct tt_federate *f)
{
    if (f->sent_count < FEW || f->sent_count < 2 * f->sent_kept)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < f->sent_count; i++) {
        if (tt_logical_time_allows(f->time.promise, f->sent[i]->time))
            f->sent[kept++] = f->sent[i];
        else
            tt_message_release(f->sent[i]);
    }
    f->sent_count = f->sent_kept = kept;
}

uint64_t tt_message_finish(struct tt_federate *f, struct tt_message *message)
{
    uint64_t number = message->number;
    if (message->sent == TUTTI_ORDER_TIMESTAMP) {
        prune_retractable(f);
        if (tt_vector_reserve(&f->sent, &f->sent_room, f->sent_count + 1, sizeof *f->sent)) {
            f->sent[f->sent_count++] = message;
            return number;
        }
    }
    tt_message_release(message);
    return 0;
}

/* `told` lists the federates that know of the retraction. */
static void message_withdraw(struct tt_federate *f, struct tt_message *message, struct tt_handle_set *told)
{
    struct tt_callback callback = {.kind = TUTTI_CALLBACK_RequestRetraction, .retraction = message->number};
    message->retracted = true;
    for (size_t i = 0; i < f->federation->federates.count; i++) {
        struct tt_federate *other = tt_federation_at(f->federation, i);
        if (tt_message_heap_remove(&other->tso, message))
            tt_federation_discharge_memory(other->ambassador, message->size);
    }
    for (size_t i = 0; i < message->delivered_count; i++) {
        const struct tt_federate *other = tt_federation_member(f->federation, message->delivered[i]);
        if (!other || tt_federation_has_handle(told, other->handle))
            continue;
        if (!tt_federation_add_handle(told, other->handle))
            other->ambassador->overflowed = true;
        tt_federation_push_callback(other->ambassador, &callback);
    }
}

static enum tt_hla message_check_retraction(const struct tt_federate *f, uint64_t number, size_t *first)
{
    if (!f->time.regulating)
        return RAISE(TimeRegulationIsNotEnabled, "federate '%s' does not regulate", f->name);
    for (*first = 0; *first < f->sent_count && f->sent[*first]->number != number;)
        ++*first;
    if (number == 0 || number > f->federation->last_message)
        return RAISE(InvalidMessageRetractionHandle, "no message was sent with this handle");
    const struct tt_message *message = *first < f->sent_count ? f->sent[*first] : NULL;
    if (!message || !tt_logical_time_allows(f->time.promise, message->time) ||
        (message->kind == TUTTI_MESSAGE_DELETE && !tt_federation_object(f->federation, message->object)))
        return RAISE(MessageCanNoLongerBeRetracted, "others may have gone on with this message");
    return TUTTI_HLA_OK;
}

enum tt_hla tt_message_retract(struct tt_ambassador *ambassador, uint64_t number)
{
    struct tt_federate *f;
    size_t first;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(message_check_retraction(f, number, &first));
    size_t kept = first;
    struct tt_handle_set told = {0};
    for (size_t i = first; i < f->sent_count; i++) {
        struct tt_message *message = f->sent[i];
        if (message->number != number) {
            f->sent[kept++] = message;
            continue;
        }
        message_withdraw(f, message, &told);
        if (message->kind == TUTTI_MESSAGE_DELETE) {
            /* The object stays: its deleter knows it again, and federates that have lost it discover it. */
            struct tt_object *object = tt_federation_object(f->federation, message->object);
            object->deleter = 0;
            tt_discovery_add_federate(object, f, object->class);
            tt_discovery_announce_object(object, f->federation);
        }
        tt_message_release(message);
    }
    free(told.items);
    f->sent_count = kept;
    f->federation->unsettled = true;
    tt_time_management_grant(f->federation);
    return TUTTI_HLA_OK;
}
