/* SPDX-License-Identifier: MIT */
#include "fedpro/callbacks.h"

struct made {
    struct tutti_fedpro_memory *memory;
    const struct tutti_callback *callback;
    enum tutti_time_kind kind;
};

/* NEW(made, OneHandle, one_handle): a message of this form in the memory, empty; NULL when that is out. */
#define NEW(made, Form, form)                                                                                          \
    ({                                                                                                                 \
        Fedpro__##Form *new_ = tutti_fedpro_memory_take((made)->memory, sizeof *new_);                                 \
        if (new_)                                                                                                      \
            fedpro__##form##__init(new_);                                                                              \
        new_;                                                                                                          \
    })

static Fedpro__Handle *handle(const struct made *made, uint32_t number)
{
    return tutti_fedpro_make_handle(made->memory, number);
}

static Fedpro__Handle *transportation(const struct made *made)
{
    return tutti_fedpro_make_transportation(made->memory, made->callback->transportation);
}

static Fedpro__Handle *time_of(const struct made *made)
{
    return made->callback->timed ? tutti_fedpro_make_time(made->memory, made->kind, made->callback->time) : NULL;
}

static Fedpro__Handle *retraction_of(const struct made *made)
{
    uint64_t number = made->callback->retraction;
    return number ? tutti_fedpro_make_retraction(made->memory, number) : NULL;
}

static ProtobufCBinaryData tag_of(const struct made *made)
{
    const struct tutti_octets *tag = &made->callback->tag;
    return (ProtobufCBinaryData){tag->size, tutti_fedpro_borrow(tag->data)};
}

/* What Received, ReceivedDirected and Removed say alike of the message they tell of. */
#define FILL_SENT(message, made)                                                                                       \
    do {                                                                                                               \
        const struct tutti_callback *sent_ = (made)->callback;                                                         \
        (message)->tag = tag_of(made);                                                                                 \
        (message)->federate = handle(made, sent_->federate);                                                           \
        (message)->time = time_of(made);                                                                               \
        (message)->sent_order = sent_->timed ? (uint32_t)sent_->sent : 0;                                              \
        (message)->received_order = sent_->timed ? (uint32_t)sent_->received : 0;                                      \
        (message)->retraction = sent_->timed ? retraction_of(made) : NULL;                                             \
    } while (0)

static ProtobufCMessage *make_text(const struct made *made)
{
    Fedpro__Text *message = NEW(made, Text, text);
    if (!message)
        return NULL;
    message->text = tutti_fedpro_make_text(made->callback->text);
    return &message->base;
}

static ProtobufCMessage *make_text_number(const struct made *made)
{
    Fedpro__TextNumber *message = NEW(made, TextNumber, text_number);
    if (!message)
        return NULL;
    message->text = tutti_fedpro_make_text(made->callback->text);
    message->number = (uint32_t)made->callback->reason;
    return &message->base;
}

static ProtobufCMessage *make_point(const struct made *made)
{
    Fedpro__Point *message = NEW(made, Point, point);
    if (!message)
        return NULL;
    message->label = tutti_fedpro_make_text(made->callback->text);
    message->tag = tag_of(made);
    return &message->base;
}

static ProtobufCMessage *make_text_set(const struct made *made)
{
    const struct tutti_callback *callback = made->callback;
    Fedpro__TextSet *message = NEW(made, TextSet, text_set);
    if (!message)
        return NULL;
    message->text = tutti_fedpro_make_text(callback->text);
    message->set = tutti_fedpro_make_handles(made->memory, callback->handles, callback->handle_count);
    return &message->base;
}

static ProtobufCMessage *make_texts(const struct made *made)
{
    const struct tutti_callback *callback = made->callback;
    Fedpro__Texts *message = NEW(made, Texts, texts);
    char **texts = tutti_fedpro_memory_take(made->memory, (callback->name_count + 1) * sizeof *texts);
    if (!message || !texts)
        return NULL;
    for (size_t i = 0; i < callback->name_count; i++)
        texts[i] = tutti_fedpro_make_text(callback->names[i]);
    message->text = texts;
    message->n_text = callback->name_count;
    return &message->base;
}

static Fedpro__Pairs *pairs_of(const struct made *made)
{
    const struct tutti_callback *callback = made->callback;
    Fedpro__Pairs *pairs = NEW(made, Pairs, pairs);
    Fedpro__Pair **items =
        tutti_fedpro_memory_take(made->memory, (callback->report_count + 1) * sizeof(Fedpro__Pair *));
    if (!pairs || !items)
        return NULL;
    for (size_t i = 0; i < callback->report_count; i++) {
        Fedpro__Pair *pair = NEW(made, Pair, pair);
        if (!pair)
            return NULL;
        pair->first = tutti_fedpro_make_text(callback->reports[i].name);
        pair->second = tutti_fedpro_make_text(callback->reports[i].type);
        items[i] = pair;
    }
    pairs->item = items;
    pairs->n_item = callback->report_count;
    return pairs;
}

static ProtobufCMessage *make_pairs(const struct made *made)
{
    Fedpro__PairsResult *message = NEW(made, PairsResult, pairs_result);
    if (!message)
        return NULL;
    message->report = pairs_of(made);
    return &message->base;
}

static ProtobufCMessage *make_named_pairs(const struct made *made)
{
    Fedpro__NamedPairs *message = NEW(made, NamedPairs, named_pairs);
    if (!message)
        return NULL;
    message->name = tutti_fedpro_make_text(made->callback->text);
    message->report = pairs_of(made);
    return &message->base;
}

static ProtobufCMessage *make_one(const struct made *made, Fedpro__Handle *one)
{
    Fedpro__OneHandle *message = NEW(made, OneHandle, one_handle);
    if (!message)
        return NULL;
    message->handle = one;
    return &message->base;
}

static ProtobufCMessage *make_object_class(const struct made *made)
{
    return make_one(made, handle(made, made->callback->object_class));
}

static ProtobufCMessage *make_interaction_class(const struct made *made)
{
    return make_one(made, handle(made, made->callback->interaction_class));
}

static ProtobufCMessage *make_time(const struct made *made)
{
    return make_one(made, tutti_fedpro_make_time(made->memory, made->kind, made->callback->time));
}

static ProtobufCMessage *make_retraction(const struct made *made)
{
    return make_one(made, retraction_of(made));
}

static ProtobufCMessage *make_flush_grant(const struct made *made)
{
    Fedpro__TwoHandles *message = NEW(made, TwoHandles, two_handles);
    if (!message)
        return NULL;
    message->first = tutti_fedpro_make_time(made->memory, made->kind, made->callback->time);
    message->second = tutti_fedpro_make_time(made->memory, made->kind, made->callback->optimistic_time);
    return &message->base;
}

static ProtobufCMessage *make_discovered(const struct made *made)
{
    const struct tutti_callback *callback = made->callback;
    Fedpro__Discovered *message = NEW(made, Discovered, discovered);
    if (!message)
        return NULL;
    message->object = handle(made, callback->object);
    message->object_class = handle(made, callback->object_class);
    message->name = tutti_fedpro_make_text(callback->text);
    message->federate = handle(made, callback->federate);
    return &message->base;
}

static ProtobufCMessage *make_received(const struct made *made)
{
    const struct tutti_callback *callback = made->callback;
    Fedpro__Received *message = NEW(made, Received, received);
    if (!message)
        return NULL;
    message->subject = handle(made, callback->object ? callback->object : callback->interaction_class);
    message->values = tutti_fedpro_make_values(made->memory, callback->values, callback->value_count);
    message->transportation = transportation(made);
    FILL_SENT(message, made);
    return &message->base;
}

static ProtobufCMessage *make_received_directed(const struct made *made)
{
    const struct tutti_callback *callback = made->callback;
    Fedpro__ReceivedDirected *message = NEW(made, ReceivedDirected, received_directed);
    if (!message)
        return NULL;
    message->interaction = handle(made, callback->interaction_class);
    message->object = handle(made, callback->object);
    message->values = tutti_fedpro_make_values(made->memory, callback->values, callback->value_count);
    message->transportation = transportation(made);
    FILL_SENT(message, made);
    return &message->base;
}

static ProtobufCMessage *make_removed(const struct made *made)
{
    const struct tutti_callback *callback = made->callback;
    Fedpro__Removed *message = NEW(made, Removed, removed);
    if (!message)
        return NULL;
    message->object = handle(made, callback->object);
    FILL_SENT(message, made);
    return &message->base;
}

static ProtobufCMessage *make_members(const struct made *made)
{
    const struct tutti_callback *callback = made->callback;
    Fedpro__Members *message = NEW(made, Members, members);
    if (!message)
        return NULL;
    message->subject = handle(made, callback->object);
    message->members = tutti_fedpro_make_handles(made->memory, callback->handles, callback->handle_count);
    message->extra = tag_of(made);
    return &message->base;
}

/* Attributes of an object, and what they have in common. */
static ProtobufCMessage *make_members_handle(const struct made *made, Fedpro__Handle *common)
{
    const struct tutti_callback *callback = made->callback;
    Fedpro__MembersHandle *message = NEW(made, MembersHandle, members_handle);
    if (!message)
        return NULL;
    message->subject = handle(made, callback->object);
    message->members = tutti_fedpro_make_handles(made->memory, callback->handles, callback->handle_count);
    message->handle = common;
    return &message->base;
}

static ProtobufCMessage *make_owner(const struct made *made)
{
    return make_members_handle(made, handle(made, made->callback->federate));
}

static ProtobufCMessage *make_transported(const struct made *made)
{
    return make_members_handle(made, transportation(made));
}

static ProtobufCMessage *make_transport(const struct made *made, uint32_t first, uint32_t second)
{
    Fedpro__ThreeHandles *message = NEW(made, ThreeHandles, three_handles);
    if (!message)
        return NULL;
    message->first = handle(made, first);
    message->second = handle(made, second);
    message->third = transportation(made);
    return &message->base;
}

static ProtobufCMessage *make_attribute_transport(const struct made *made)
{
    const struct tutti_callback *callback = made->callback;
    return make_transport(made, callback->object, callback->handles[0]);
}

static ProtobufCMessage *make_interaction_transport(const struct made *made)
{
    const struct tutti_callback *callback = made->callback;
    return make_transport(made, callback->federate, callback->interaction_class);
}

static ProtobufCMessage *make_interaction_transported(const struct made *made)
{
    Fedpro__TwoHandles *message = NEW(made, TwoHandles, two_handles);
    if (!message)
        return NULL;
    message->first = handle(made, made->callback->interaction_class);
    message->second = transportation(made);
    return &message->base;
}

/* The field of CallbackRequest, without and with a time, and what makes the message. */
struct form {
    uint32_t number, timed;
    ProtobufCMessage *(*make)(const struct made *made);
};

static const struct form forms[] = {
    [TUTTI_CALLBACK_ReportFederationExecutions] = {2, 0, make_pairs},
    [TUTTI_CALLBACK_ReportFederationExecutionMembers] = {3, 0, make_named_pairs},
    [TUTTI_CALLBACK_ReportFederationExecutionDoesNotExist] = {4, 0, make_text},
    [TUTTI_CALLBACK_SynchronizationPointRegistrationSucceeded] = {6, 0, make_text},
    [TUTTI_CALLBACK_SynchronizationPointRegistrationFailed] = {7, 0, make_text_number},
    [TUTTI_CALLBACK_AnnounceSynchronizationPoint] = {8, 0, make_point},
    [TUTTI_CALLBACK_FederationSynchronized] = {9, 0, make_text_set},
    [TUTTI_CALLBACK_StartRegistrationForObjectClass] = {22, 0, make_object_class},
    [TUTTI_CALLBACK_StopRegistrationForObjectClass] = {23, 0, make_object_class},
    [TUTTI_CALLBACK_TurnInteractionsOn] = {24, 0, make_interaction_class},
    [TUTTI_CALLBACK_TurnInteractionsOff] = {25, 0, make_interaction_class},
    [TUTTI_CALLBACK_ObjectInstanceNameReservationSucceeded] = {26, 0, make_text},
    [TUTTI_CALLBACK_ObjectInstanceNameReservationFailed] = {27, 0, make_text},
    [TUTTI_CALLBACK_MultipleObjectInstanceNameReservationSucceeded] = {28, 0, make_texts},
    [TUTTI_CALLBACK_MultipleObjectInstanceNameReservationFailed] = {29, 0, make_texts},
    [TUTTI_CALLBACK_DiscoverObjectInstance] = {30, 0, make_discovered},
    [TUTTI_CALLBACK_ReflectAttributeValues] = {31, 32, make_received},
    [TUTTI_CALLBACK_ReceiveInteraction] = {33, 34, make_received},
    [TUTTI_CALLBACK_ReceiveDirectedInteraction] = {35, 36, make_received_directed},
    [TUTTI_CALLBACK_RemoveObjectInstance] = {37, 38, make_removed},
    [TUTTI_CALLBACK_AttributesInScope] = {39, 0, make_members},
    [TUTTI_CALLBACK_AttributesOutOfScope] = {40, 0, make_members},
    [TUTTI_CALLBACK_ProvideAttributeValueUpdate] = {41, 0, make_members},
    [TUTTI_CALLBACK_TurnUpdatesOnForObjectInstance] = {42, 0, make_members},
    [TUTTI_CALLBACK_TurnUpdatesOffForObjectInstance] = {44, 0, make_members},
    [TUTTI_CALLBACK_ConfirmAttributeTransportationTypeChange] = {45, 0, make_transported},
    [TUTTI_CALLBACK_ReportAttributeTransportationType] = {46, 0, make_attribute_transport},
    [TUTTI_CALLBACK_ConfirmInteractionTransportationTypeChange] = {47, 0, make_interaction_transported},
    [TUTTI_CALLBACK_ReportInteractionTransportationType] = {48, 0, make_interaction_transport},
    [TUTTI_CALLBACK_RequestAttributeOwnershipAssumption] = {49, 0, make_members},
    [TUTTI_CALLBACK_RequestDivestitureConfirmation] = {50, 0, make_members},
    [TUTTI_CALLBACK_AttributeOwnershipAcquisitionNotification] = {51, 0, make_members},
    [TUTTI_CALLBACK_AttributeOwnershipUnavailable] = {52, 0, make_members},
    [TUTTI_CALLBACK_RequestAttributeOwnershipRelease] = {53, 0, make_members},
    [TUTTI_CALLBACK_ConfirmAttributeOwnershipAcquisitionCancellation] = {54, 0, make_members},
    [TUTTI_CALLBACK_InformAttributeOwnership] = {55, 0, make_owner},
    [TUTTI_CALLBACK_AttributeIsNotOwned] = {56, 0, make_members},
    [TUTTI_CALLBACK_AttributeIsOwnedByRTI] = {57, 0, make_members},
    [TUTTI_CALLBACK_TimeRegulationEnabled] = {58, 0, make_time},
    [TUTTI_CALLBACK_TimeConstrainedEnabled] = {59, 0, make_time},
    [TUTTI_CALLBACK_FlushQueueGrant] = {60, 0, make_flush_grant},
    [TUTTI_CALLBACK_TimeAdvanceGrant] = {61, 0, make_time},
    [TUTTI_CALLBACK_RequestRetraction] = {62, 0, make_retraction},
};

uint8_t *tutti_fedpro_callback_encode(struct tutti_fedpro_memory *memory, const struct tutti_callback *callback,
                                      enum tutti_time_kind kind, size_t *size)
{
    const struct form *form = &forms[callback->kind];
    const struct made made = {memory, callback, kind};
    const ProtobufCMessage *message = form->make(&made);
    if (!message || memory->failed)
        return NULL;
    return tutti_fedpro_envelope_close(memory, callback->timed && form->timed ? form->timed : form->number, message,
                                       size);
}
