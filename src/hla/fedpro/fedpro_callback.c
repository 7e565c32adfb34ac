/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/fedpro_callback.h"

struct callback_input {
    struct tt_payload_memory *memory;
    const struct tt_callback *callback;
    enum tt_logical_time_kind kind;
};

/* NEW(made, OneHandle, one_handle): a message of this form in the memory, empty; NULL when that is out. */
#define NEW(made, Form, form)                                                                                          \
    ({                                                                                                                 \
        Fedpro__##Form *new_ = tt_payload_memory_allocate((made)->memory, sizeof *new_);                               \
        if (new_)                                                                                                      \
            fedpro__##form##__init(new_);                                                                              \
        new_;                                                                                                          \
    })

static Fedpro__Handle *fedpro_callback_handle(const struct callback_input *made, uint32_t number)
{
    return tt_payload_make_handle(made->memory, number);
}

static Fedpro__Handle *transportation(const struct callback_input *made)
{
    return tt_payload_make_transportation(made->memory, made->callback->transportation);
}

static Fedpro__Handle *fedpro_callback_time(const struct callback_input *made)
{
    return made->callback->timed ? tt_payload_make_time(made->memory, made->kind, made->callback->time) : NULL;
}

static Fedpro__Handle *retraction_of(const struct callback_input *made)
{
    uint64_t number = made->callback->retraction;
    return number ? tt_payload_make_retraction(made->memory, number) : NULL;
}

static ProtobufCBinaryData tag_of(const struct callback_input *made)
{
    const struct tt_octets *tag = &made->callback->tag;
    return (ProtobufCBinaryData){tag->size, tt_payload_borrow(tag->data)};
}

/* The common fields of Received, ReceivedDirected and Removed about the message. */
#define FILL_SENT(message, made)                                                                                       \
    do {                                                                                                               \
        const struct tt_callback *sent_ = (made)->callback;                                                            \
        (message)->tag = tag_of(made);                                                                                 \
        (message)->federate = fedpro_callback_handle(made, sent_->federate);                                           \
        (message)->time = fedpro_callback_time(made);                                                                  \
        (message)->sent_order = sent_->timed ? (uint32_t)sent_->sent : 0;                                              \
        (message)->received_order = sent_->timed ? (uint32_t)sent_->received : 0;                                      \
        (message)->retraction = sent_->timed ? retraction_of(made) : NULL;                                             \
    } while (0)

static ProtobufCMessage *make_text(const struct callback_input *made)
{
    Fedpro__Text *message = NEW(made, Text, text);
    if (!message)
        return NULL;
    message->text = tt_payload_make_text(made->callback->text);
    return &message->base;
}

static ProtobufCMessage *make_text_number(const struct callback_input *made)
{
    Fedpro__TextNumber *message = NEW(made, TextNumber, text_number);
    if (!message)
        return NULL;
    message->text = tt_payload_make_text(made->callback->text);
    message->number = (uint32_t)made->callback->reason;
    return &message->base;
}

static ProtobufCMessage *make_point(const struct callback_input *made)
{
    Fedpro__Point *message = NEW(made, Point, point);
    if (!message)
        return NULL;
    message->label = tt_payload_make_text(made->callback->text);
    message->tag = tag_of(made);
    return &message->base;
}

static ProtobufCMessage *make_text_set(const struct callback_input *made)
{
    const struct tt_callback *callback = made->callback;
    Fedpro__TextSet *message = NEW(made, TextSet, text_set);
    if (!message)
        return NULL;
    message->text = tt_payload_make_text(callback->text);
    message->set = tt_payload_make_handles(made->memory, callback->handles, callback->handle_count);
    return &message->base;
}

static ProtobufCMessage *make_texts(const struct callback_input *made)
{
    const struct tt_callback *callback = made->callback;
    Fedpro__Texts *message = NEW(made, Texts, texts);
    char **texts = tt_payload_memory_allocate(made->memory, (callback->name_count + 1) * sizeof *texts);
    if (!message || !texts)
        return NULL;
    for (size_t i = 0; i < callback->name_count; i++)
        texts[i] = tt_payload_make_text(callback->names[i]);
    message->text = texts;
    message->n_text = callback->name_count;
    return &message->base;
}

static Fedpro__Pairs *pairs_of(const struct callback_input *made)
{
    const struct tt_callback *callback = made->callback;
    Fedpro__Pairs *pairs = NEW(made, Pairs, pairs);
    Fedpro__Pair **items =
        tt_payload_memory_allocate(made->memory, (callback->report_count + 1) * sizeof(Fedpro__Pair *));
    if (!pairs || !items)
        return NULL;
    for (size_t i = 0; i < callback->report_count; i++) {
        Fedpro__Pair *pair = NEW(made, Pair, pair);
        if (!pair)
            return NULL;
        pair->first = tt_payload_make_text(callback->reports[i].name);
        pair->second = tt_payload_make_text(callback->reports[i].type);
        items[i] = pair;
    }
    pairs->item = items;
    pairs->n_item = callback->report_count;
    return pairs;
}

static ProtobufCMessage *make_pairs(const struct callback_input *made)
{
    Fedpro__PairsResult *message = NEW(made, PairsResult, pairs_result);
    if (!message)
        return NULL;
    message->report = pairs_of(made);
    return &message->base;
}

static ProtobufCMessage *make_named_pairs(const struct callback_input *made)
{
    Fedpro__NamedPairs *message = NEW(made, NamedPairs, named_pairs);
    if (!message)
        return NULL;
    message->name = tt_payload_make_text(made->callback->text);
    message->report = pairs_of(made);
    return &message->base;
}

static ProtobufCMessage *make_single_handle(const struct callback_input *made, Fedpro__Handle *one)
{
    Fedpro__OneHandle *message = NEW(made, OneHandle, one_handle);
    if (!message)
        return NULL;
    message->handle = one;
    return &message->base;
}

static ProtobufCMessage *make_object_class(const struct callback_input *made)
{
    return make_single_handle(made, fedpro_callback_handle(made, made->callback->object_class));
}

static ProtobufCMessage *make_interaction_class(const struct callback_input *made)
{
    return make_single_handle(made, fedpro_callback_handle(made, made->callback->interaction_class));
}

static ProtobufCMessage *fedpro_callback_make_time(const struct callback_input *made)
{
    return make_single_handle(made, tt_payload_make_time(made->memory, made->kind, made->callback->time));
}

static ProtobufCMessage *make_retraction(const struct callback_input *made)
{
    return make_single_handle(made, retraction_of(made));
}

static ProtobufCMessage *make_flush_grant(const struct callback_input *made)
{
    Fedpro__TwoHandles *message = NEW(made, TwoHandles, two_handles);
    if (!message)
        return NULL;
    message->first = tt_payload_make_time(made->memory, made->kind, made->callback->time);
    message->second = tt_payload_make_time(made->memory, made->kind, made->callback->optimistic_time);
    return &message->base;
}

static ProtobufCMessage *make_discovered(const struct callback_input *made)
{
    const struct tt_callback *callback = made->callback;
    Fedpro__Discovered *message = NEW(made, Discovered, discovered);
    if (!message)
        return NULL;
    message->object = fedpro_callback_handle(made, callback->object);
    message->object_class = fedpro_callback_handle(made, callback->object_class);
    message->name = tt_payload_make_text(callback->text);
    message->federate = fedpro_callback_handle(made, callback->federate);
    return &message->base;
}

static ProtobufCMessage *make_received(const struct callback_input *made)
{
    const struct tt_callback *callback = made->callback;
    Fedpro__Received *message = NEW(made, Received, received);
    if (!message)
        return NULL;
    message->subject = fedpro_callback_handle(made, callback->object ? callback->object : callback->interaction_class);
    message->values = tt_payload_make_values(made->memory, callback->values, callback->value_count);
    message->transportation = transportation(made);
    FILL_SENT(message, made);
    return &message->base;
}

static ProtobufCMessage *make_received_directed(const struct callback_input *made)
{
    const struct tt_callback *callback = made->callback;
    Fedpro__ReceivedDirected *message = NEW(made, ReceivedDirected, received_directed);
    if (!message)
        return NULL;
    message->interaction = fedpro_callback_handle(made, callback->interaction_class);
    message->object = fedpro_callback_handle(made, callback->object);
    message->values = tt_payload_make_values(made->memory, callback->values, callback->value_count);
    message->transportation = transportation(made);
    FILL_SENT(message, made);
    return &message->base;
}

static ProtobufCMessage *make_removed(const struct callback_input *made)
{
    const struct tt_callback *callback = made->callback;
    Fedpro__Removed *message = NEW(made, Removed, removed);
    if (!message)
        return NULL;
    message->object = fedpro_callback_handle(made, callback->object);
    FILL_SENT(message, made);
    return &message->base;
}

static ProtobufCMessage *fedpro_callback_make_members(const struct callback_input *made)
{
    const struct tt_callback *callback = made->callback;
    Fedpro__Members *message = NEW(made, Members, members);
    if (!message)
        return NULL;
    message->subject = fedpro_callback_handle(made, callback->object);
    message->members = tt_payload_make_handles(made->memory, callback->handles, callback->handle_count);
    message->extra = tag_of(made);
    return &message->base;
}

/* Attributes of an object, and what they have in common. */
static ProtobufCMessage *make_members_handle(const struct callback_input *made, Fedpro__Handle *common)
{
    const struct tt_callback *callback = made->callback;
    Fedpro__MembersHandle *message = NEW(made, MembersHandle, members_handle);
    if (!message)
        return NULL;
    message->subject = fedpro_callback_handle(made, callback->object);
    message->members = tt_payload_make_handles(made->memory, callback->handles, callback->handle_count);
    message->handle = common;
    return &message->base;
}

static ProtobufCMessage *make_owner(const struct callback_input *made)
{
    return make_members_handle(made, fedpro_callback_handle(made, made->callback->federate));
}

static ProtobufCMessage *make_transported(const struct callback_input *made)
{
    return make_members_handle(made, transportation(made));
}

static ProtobufCMessage *fedpro_callback_make_transport(const struct callback_input *made, uint32_t first,
                                                        uint32_t second)
{
    Fedpro__ThreeHandles *message = NEW(made, ThreeHandles, three_handles);
    if (!message)
        return NULL;
    message->first = fedpro_callback_handle(made, first);
    message->second = fedpro_callback_handle(made, second);
    message->third = transportation(made);
    return &message->base;
}

static ProtobufCMessage *make_attribute_transport(const struct callback_input *made)
{
    const struct tt_callback *callback = made->callback;
    return fedpro_callback_make_transport(made, callback->object, callback->handles[0]);
}

static ProtobufCMessage *make_interaction_transport(const struct callback_input *made)
{
    const struct tt_callback *callback = made->callback;
    return fedpro_callback_make_transport(made, callback->federate, callback->interaction_class);
}

static ProtobufCMessage *make_interaction_transported(const struct callback_input *made)
{
    Fedpro__TwoHandles *message = NEW(made, TwoHandles, two_handles);
    if (!message)
        return NULL;
    message->first = fedpro_callback_handle(made, made->callback->interaction_class);
    message->second = transportation(made);
    return &message->base;
}

/* The field of CallbackRequest, without and with a time, and what makes the message. */
struct callback_form {
    uint32_t number, timed;
    ProtobufCMessage *(*make)(const struct callback_input *made);
};

static const struct callback_form forms[] = {
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
    [TUTTI_CALLBACK_AttributesInScope] = {39, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_AttributesOutOfScope] = {40, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_ProvideAttributeValueUpdate] = {41, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_TurnUpdatesOnForObjectInstance] = {42, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_TurnUpdatesOffForObjectInstance] = {44, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_ConfirmAttributeTransportationTypeChange] = {45, 0, make_transported},
    [TUTTI_CALLBACK_ReportAttributeTransportationType] = {46, 0, make_attribute_transport},
    [TUTTI_CALLBACK_ConfirmInteractionTransportationTypeChange] = {47, 0, make_interaction_transported},
    [TUTTI_CALLBACK_ReportInteractionTransportationType] = {48, 0, make_interaction_transport},
    [TUTTI_CALLBACK_RequestAttributeOwnershipAssumption] = {49, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_RequestDivestitureConfirmation] = {50, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_AttributeOwnershipAcquisitionNotification] = {51, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_AttributeOwnershipUnavailable] = {52, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_RequestAttributeOwnershipRelease] = {53, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_ConfirmAttributeOwnershipAcquisitionCancellation] = {54, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_InformAttributeOwnership] = {55, 0, make_owner},
    [TUTTI_CALLBACK_AttributeIsNotOwned] = {56, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_AttributeIsOwnedByRTI] = {57, 0, fedpro_callback_make_members},
    [TUTTI_CALLBACK_TimeRegulationEnabled] = {58, 0, fedpro_callback_make_time},
    [TUTTI_CALLBACK_TimeConstrainedEnabled] = {59, 0, fedpro_callback_make_time},
    [TUTTI_CALLBACK_FlushQueueGrant] = {60, 0, make_flush_grant},
    [TUTTI_CALLBACK_TimeAdvanceGrant] = {61, 0, fedpro_callback_make_time},
    [TUTTI_CALLBACK_RequestRetraction] = {62, 0, make_retraction},
};

uint8_t *tt_fedpro_callback_encode(struct tt_payload_memory *memory, const struct tt_callback *callback,
                                   enum tt_logical_time_kind kind, size_t *size)
{
    const struct callback_form *form = &forms[callback->kind];
    const struct callback_input made = {memory, callback, kind};
    const ProtobufCMessage *message = form->make(&made);
    if (!message || memory->failed)
        return NULL;
    return tt_payload_close_envelope(memory, callback->timed && form->timed ? form->timed : form->number, message,
                                     size);
}
