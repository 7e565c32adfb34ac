/* SPDX-License-Identifier: MIT */
#include "rti/sending.h"

#include <stdlib.h>

#include "base/vector.h"
#include "rti/discovery.h"
#include "rti/time_management.h"

enum { FEW = 16 }; /* messages that are kept without asking whether they can still be retracted */

enum tutti_hla tutti_send_check(struct tutti_federate *federate, const struct tutti_send *send)
{
    return send->time ? tutti_time_check_stamp(federate, *send->time) : TUTTI_HLA_OK;
}

struct tutti_message *tutti_send_message(struct tutti_federate *federate, enum tutti_message_kind kind,
                                         const struct tutti_send *send, const struct tutti_value *values, size_t count,
                                         enum tutti_order order, uint32_t part)
{
    struct tutti_message *message = tutti_message_new(kind, values, count, send->tag);
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

/* Those that are below the promise cannot be retracted. Looked at when twice as many are there as were left the last time. */
static void prune(struct tutti_federate *f)
{
    if (f->sent_count < FEW || f->sent_count < 2 * f->sent_kept)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < f->sent_count; i++) {
        if (tutti_bound_allows(f->time.promise, f->sent[i]->time))
            f->sent[kept++] = f->sent[i];
        else
            tutti_message_release(f->sent[i]);
    }
    f->sent_count = f->sent_kept = kept;
}

uint64_t tutti_send_done(struct tutti_federate *f, struct tutti_message *message)
{
    uint64_t number = message->number;
    if (message->sent == TUTTI_ORDER_TIMESTAMP) {
        prune(f);
        if (tutti_vector_reserve(&f->sent, &f->sent_room, f->sent_count + 1, sizeof *f->sent)) {
            f->sent[f->sent_count++] = message;
            return number;
        }
    }
    tutti_message_release(message);
    return 0;
}

/* An object that was to be deleted stays: its deleter knows it again, and others that have lost it discover it. */
static void restore(struct tutti_federate *f, const struct tutti_message *message)
{
    struct tutti_object *object = tutti_federation_object(f->federation, message->object);
    object->deleter = 0;
    tutti_discovery_add(object, f, object->class);
    tutti_discovery_of(object, f->federation);
}

/* `told` has those that know of the retraction. */
static void take_back(struct tutti_federate *f, struct tutti_message *message, struct tutti_handles *told)
{
    struct tutti_callback callback = {.kind = TUTTI_CALLBACK_RequestRetraction, .retraction = message->number};
    message->retracted = true;
    for (size_t i = 0; i < f->federation->federates.count; i++) {
        struct tutti_federate *other = tutti_federation_at(f->federation, i);
        if (tutti_message_heap_remove(&other->tso, message))
            tutti_ambassador_discharge(other->ambassador, message->size);
    }
    for (size_t i = 0; i < message->delivered_count; i++) {
        const struct tutti_federate *other = tutti_federation_member(f->federation, message->delivered[i]);
        if (!other || tutti_handles_have(told, other->handle))
            continue;
        if (!tutti_handles_add(told, other->handle))
            other->ambassador->overflowed = true;
        tutti_ambassador_push(other->ambassador, &callback);
    }
}

static enum tutti_hla check(const struct tutti_federate *f, uint64_t number, size_t *first)
{
    if (!f->time.regulating)
        return RAISE(TimeRegulationIsNotEnabled, "federate '%s' does not regulate", f->name);
    for (*first = 0; *first < f->sent_count && f->sent[*first]->number != number;)
        ++*first;
    if (number == 0 || number > f->federation->last_message)
        return RAISE(InvalidMessageRetractionHandle, "no message was sent with this handle");
    const struct tutti_message *message = *first < f->sent_count ? f->sent[*first] : NULL;
    if (!message || !tutti_bound_allows(f->time.promise, message->time) ||
        (message->kind == TUTTI_MESSAGE_DELETE && !tutti_federation_object(f->federation, message->object)))
        return RAISE(MessageCanNoLongerBeRetracted, "others may have gone on with this message");
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_retract(struct tutti_ambassador *ambassador, uint64_t number)
{
    struct tutti_federate *f;
    size_t first;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check(f, number, &first));
    size_t kept = first;
    struct tutti_handles told = {0};
    for (size_t i = first; i < f->sent_count; i++) {
        struct tutti_message *message = f->sent[i];
        if (message->number != number) {
            f->sent[kept++] = message;
            continue;
        }
        take_back(f, message, &told);
        if (message->kind == TUTTI_MESSAGE_DELETE)
            restore(f, message);
        tutti_message_release(message);
    }
    free(told.items);
    f->sent_count = kept;
    f->federation->unsettled = true;
    tutti_time_settle(f->federation);
    return TUTTI_HLA_OK;
}
