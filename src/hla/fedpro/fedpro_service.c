/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/fedpro_service.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hla/fedpro/fedpro_callback.h"
#include "hla/rti/federation.h"
#include "hla/rti/time_management.h"

enum { FAILURE = 1, LAST_CONNECT = 5 }; /* fields of CallResponse and CallRequest */

struct service_entry {
    const char *name;
    const ProtobufCMessageDescriptor *form;
    tt_services_function *serve; /* NULL: not served */
    const char *why;
};

/* fedpro__one_handle__descriptor, by the form's name. */
#define Nothing_DESCRIPTOR fedpro__nothing__descriptor
#define OneHandle_DESCRIPTOR fedpro__one_handle__descriptor
#define TwoHandles_DESCRIPTOR fedpro__two_handles__descriptor
#define Text_DESCRIPTOR fedpro__text__descriptor
#define Texts_DESCRIPTOR fedpro__texts__descriptor
#define Flag_DESCRIPTOR fedpro__flag__descriptor
#define Number_DESCRIPTOR fedpro__number__descriptor
#define Named_DESCRIPTOR fedpro__named__descriptor
#define Members_DESCRIPTOR fedpro__members__descriptor
#define MembersNumber_DESCRIPTOR fedpro__members_number__descriptor
#define MembersHandle_DESCRIPTOR fedpro__members_handle__descriptor
#define HandleNumber_DESCRIPTOR fedpro__handle_number__descriptor
#define Sent_DESCRIPTOR fedpro__sent__descriptor
#define SentDirected_DESCRIPTOR fedpro__sent_directed__descriptor
#define Deleted_DESCRIPTOR fedpro__deleted__descriptor
#define Credited_DESCRIPTOR fedpro__credited__descriptor
#define Configured_DESCRIPTOR fedpro__configured__descriptor
#define CreateOne_DESCRIPTOR fedpro__create_one__descriptor
#define CreateSeveral_DESCRIPTOR fedpro__create_several__descriptor
#define CreateWithMim_DESCRIPTOR fedpro__create_with_mim__descriptor
#define Join_DESCRIPTOR fedpro__join__descriptor
#define JoinNamed_DESCRIPTOR fedpro__join_named__descriptor
#define Point_DESCRIPTOR fedpro__point__descriptor
#define Achieved_DESCRIPTOR fedpro__achieved__descriptor

static const struct service_entry entries[] = {
#define X(number, name, Form, function) [number] = {name, &Form##_DESCRIPTOR, tt_services_##function, NULL},
#define UNSERVED(number, name, why) [number] = {name, NULL, NULL, why},
#include "hla/fedpro/service_list.def"
#undef X
#undef UNSERVED
};

enum tutti_err tt_fedpro_service_init(struct tt_fedpro_service *service,
                                      const struct tt_fedpro_service_options *options)
{
    *service = (struct tt_fedpro_service){.options = *options};
    tt_payload_memory_init(&service->memory);
    service->rti = tt_rti_new(options->limits);
    return service->rti ? TUTTI_OK : tt_fail_memory();
}

void tt_fedpro_service_fini(struct tt_fedpro_service *service)
{
    tt_rti_free(service->rti);
    tt_fedpro_service_free_stalls(&service->stalls);
    tt_payload_memory_fini(&service->memory);
}

static void on_session_started(void *context, struct tt_fedpro_session *session)
{
    struct tt_fedpro_service *service = context;
    struct tt_fedpro_client *client = calloc(1, sizeof *client);
    if (!client) {
        tt_sessions_end_session(session, "memory is out");
        return;
    }
    session->owner = client;
    client->session = session;
    client->next = service->clients;
    if (client->next)
        client->next->previous = client;
    service->clients = client;
}

static const char *fedpro_service_client_name(const struct tt_fedpro_client *client)
{
    const struct tt_federate *federate = client->ambassador ? client->ambassador->federate : NULL;
    return federate ? federate->name : "a program that has not joined";
}

static void on_session_ended(void *context, struct tt_fedpro_session *session, const char *why)
{
    struct tt_fedpro_service *service = context;
    struct tt_fedpro_client *client = session->owner;
    if (!client)
        return;
    if (why && client->ambassador)
        tt_log(service->options.log, TUTTI_LOG_WARNING, NULL, "%s is gone: %s", fedpro_service_client_name(client),
               why);
    if (client->ambassador)
        tt_rti_drop_federate(client->ambassador, why ? why : "the federate ended its session without resigning");
    if (client->previous)
        client->previous->next = client->next;
    else
        service->clients = client->next;
    if (client->next)
        client->next->previous = client->previous;
    free(client);
    session->owner = NULL;
}

static void on_session_disconnected(void *context, struct tt_fedpro_session *session, bool resumed)
{
    const struct tt_fedpro_service *service = context;
    const struct tt_fedpro_client *client = session->owner;
    if (!client)
        return;
    tt_log(service->options.log, TUTTI_LOG_INFO, NULL, "%s %s", fedpro_service_client_name(client),
           resumed ? "is back" : "has lost its connection");
    if (resumed && client->ambassador)
        session->connection->intake.limit = service->options.longest_message;
}

static void on_callback_answered(void *context, struct tt_fedpro_session *session, int32_t sequence,
                                 const uint8_t *bytes, size_t size)
{
    /* That a callback was carried out changes nothing here; one that failed is the federate's own affair. */
    (void)context, (void)session, (void)sequence, (void)bytes, (void)size;
}

static void send_response(const struct tt_fedpro_call *call, int32_t sequence, uint32_t number,
                          const ProtobufCMessage *content)
{
    size_t size = 0;
    const uint8_t *bytes = tt_payload_close_envelope(call->memory, number, content, &size);
    if (bytes && !call->memory->failed)
        tt_sessions_send(call->client->session, TUTTI_FEDPRO_CALL_RESPONSE, &sequence, bytes, size, NULL);
    else
        tt_sessions_end_session(call->client->session, "memory is out");
}

/* Checks texts, which are forwarded to federates whose libraries accept only UTF-8. */
static bool has_valid_utf8(const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *descriptor = message->descriptor;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        if (field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        const char *place = (const char *)message + field->offset;
        size_t count = 1;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            memcpy(&count, (const char *)message + field->quantifier_offset, sizeof count);
            const void *items = NULL;
            memcpy(&items, place, sizeof items);
            place = items;
        } else if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
            uint32_t which = 0;
            memcpy(&which, (const char *)message + field->quantifier_offset, sizeof which);
            count = which == field->id;
        }
        for (size_t k = 0; k < count; k++) {
            const void *item = NULL;
            memcpy(&item, place + k * sizeof item, sizeof item);
            if (!item)
                continue;
            if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
                if (!has_valid_utf8(item))
                    return false;
                continue;
            }
            size_t length = 0;
            for (const char *text = item; *text; text += length)
                if ((length = tt_text_utf8_length(text)) == 0)
                    return false;
        }
    }
    return true;
}

static enum tt_hla fedpro_service_serve(struct tt_fedpro_call *call, uint32_t number, const uint8_t *content,
                                        size_t size)
{
    const struct service_entry *entry = number < sizeof entries / sizeof *entries ? &entries[number] : NULL;
    if (!entry || !entry->name)
        return RAISE(RTIinternalError, "call %u is none of the Federate Protocol of IEEE 1516.1-2025",
                     (unsigned)number);
    if (!entry->serve)
        return RAISE(RTIinternalError, "%s: %s is not served by this RTI", entry->name, entry->why);
    if (!call->ambassador && number > LAST_CONNECT)
        return RAISE(NotConnected, "%s: the program is not connected: connect comes first", entry->name);
    const ProtobufCMessage *request = protobuf_c_message_unpack(entry->form, &call->memory->allocator, size, content);
    if (!request)
        return RAISE(RTIinternalError, "%s: its %zu bytes are no such request", entry->name, size);
    if (!has_valid_utf8(request))
        return RAISE(RTIinternalError, "%s: a text in the request is not UTF-8", entry->name);
    return entry->serve(call, request);
}

static void on_session_call(void *context, struct tt_fedpro_session *session, int32_t sequence, const uint8_t *bytes,
                            size_t size)
{
    struct tt_fedpro_service *service = context;
    struct tt_fedpro_client *client = session->owner;
    if (!client)
        return;
    tt_payload_memory_reset(&service->memory);
    struct tt_fedpro_call call = {service, client, client->ambassador, &service->memory, NULL};
    uint32_t number = 0;
    const uint8_t *content = NULL;
    size_t content_size = 0;
    enum tt_hla hla = TUTTI_HLA_OK;
    if (tt_payload_open_envelope(bytes, size, &number, &content, &content_size))
        hla = fedpro_service_serve(&call, number, content, content_size);
    else
        hla = RAISE(RTIinternalError, "%zu bytes are no CallRequest", size);
    if (hla) {
        Fedpro__Failure failure = FEDPRO__FAILURE__INIT;
        char details[1000];
        snprintf(details, sizeof details, "%s", tutti_err_message());
        tt_text_make_printable(details);
        failure.exception = tt_payload_make_text(tt_exception_name(hla));
        failure.details = details;
        send_response(&call, sequence, FAILURE, &failure.base);
        return;
    }
    Fedpro__Nothing nothing = FEDPRO__NOTHING__INIT;
    send_response(&call, sequence, number + 1, call.response ? call.response : &nothing.base);
}

struct tt_fedpro_handler tt_fedpro_service_session_handler(struct tt_fedpro_service *service)
{
    return (struct tt_fedpro_handler){
        .context = service,
        .began = on_session_started,
        .call = on_session_call,
        .answer = on_callback_answered,
        .ended = on_session_ended,
        .cut = on_session_disconnected,
    };
}

static void log_grant(const struct tt_fedpro_service *service, const struct tt_fedpro_client *client,
                      const struct tt_callback *callback)
{
    const struct tt_federate *federate = client->ambassador->federate;
    bool grant = callback->kind == TUTTI_CALLBACK_TimeAdvanceGrant || callback->kind == TUTTI_CALLBACK_FlushQueueGrant;
    if (!grant || !federate || !tt_log_accepts(service->options.log, TUTTI_LOG_DEBUG))
        return;
    tt_log(service->options.log, TUTTI_LOG_DEBUG, NULL, "%s: %s is granted %s", federate->federation->name,
           federate->name, tt_logical_time_show(federate->federation->time_kind, callback->time).text);
}

static void send_callbacks_to_client(struct tt_fedpro_service *service, struct tt_fedpro_client *client)
{
    struct tt_fedpro_session *session = client->session; /* outlives the client */
    const struct tt_callback *callback = NULL;
    while (!session->ended && (callback = tt_rti_next_callback(client->ambassador)) != NULL) {
        const struct tt_federate *federate = client->ambassador->federate;
        size_t size = 0;
        tt_payload_memory_reset(&service->memory);
        const uint8_t *bytes = tt_fedpro_callback_encode(
            &service->memory, callback, federate ? federate->federation->time_kind : TUTTI_TIME_FLOAT64, &size);
        if (!bytes) {
            tt_sessions_end_session(session, "memory is out");
            return;
        }
        log_grant(service, client, callback);
        tt_sessions_send(session, TUTTI_FEDPRO_CALLBACK, NULL, bytes, size, NULL);
    }
}

/* One round over all federates; true if a federate was removed, of which others may have to be notified. */
static bool send_callbacks_once(struct tt_fedpro_service *service)
{
    bool again = false;
    for (struct tt_fedpro_client *client = service->clients, *next = NULL; client; client = next) {
        next = client->next;
        if (!client->ambassador ||
            (tt_rti_pending_callbacks(client->ambassador) == 0 && !tt_rti_has_overflowed(client->ambassador)))
            continue;
        struct tt_fedpro_session *session = client->session;
        if (tt_rti_has_overflowed(client->ambassador))
            tt_sessions_end_session(session, "the federate is too slow: too many callbacks wait for it");
        else
            send_callbacks_to_client(service, client);
        again |= session->ended;
        if (session->ended) /* others may have gone with it */
            next = service->clients;
    }
    return again;
}

void tt_fedpro_service_send_callbacks(void *context)
{
    while (send_callbacks_once(context))
        continue;
}

void tt_fedpro_service_tick(void *context, double now)
{
    struct tt_fedpro_service *service = context;
    tt_fedpro_journal_flush(service->options.journal);
    tt_fedpro_service_report_stalls(&service->stalls, service->rti, now, service->options.patience,
                                    service->options.log);
}

enum tt_hla tt_fedpro_service_connect(struct tt_fedpro_service *service, struct tt_fedpro_client *client,
                                      const char *key)
{
    const char *wanted = service->options.key;
    if (client->ambassador)
        return RAISE(AlreadyConnected, "the program is connected already");
    if (wanted && !key)
        return RAISE(Unauthorized, "this RTI wants a key: connect with the credentials HLAplainTextPassword, or with "
                                   "the setting tutti.key=KEY");
    if (wanted && (strlen(wanted) != strlen(key) || sodium_memcmp(wanted, key, strlen(wanted)) != 0))
        return RAISE(InvalidCredentials, "the key is not the one of this RTI");
    HLA_TRY(tt_rti_connect(service->rti, &client->ambassador));
    if (client->session->connection)
        client->session->connection->intake.limit = service->options.longest_message;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_disconnect(struct tt_fedpro_client *client)
{
    if (!client->ambassador)
        return RAISE(NotConnected, "the program is not connected");
    HLA_TRY(tt_rti_disconnect(client->ambassador));
    client->ambassador = NULL;
    return TUTTI_HLA_OK;
}

/* ANSWER(call, Form, form): sets the response and is a pointer to it; returns from the calling function when memory is out. */
#define ANSWER(call, Form, form)                                                                                       \
    ({                                                                                                                 \
        Fedpro__##Form *answer_ = tt_payload_memory_allocate((call)->memory, sizeof *answer_);                         \
        if (!answer_)                                                                                                  \
            return tt_exception_raise_memory();                                                                        \
        fedpro__##form##__init(answer_);                                                                               \
        (call)->response = &answer_->base;                                                                             \
        answer_;                                                                                                       \
    })

enum tt_hla tt_fedpro_service_answer_handle(struct tt_fedpro_call *call, uint32_t handle)
{
    ANSWER(call, OneHandle, one_handle)->handle = tt_payload_make_handle(call->memory, handle);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_transportation(struct tt_fedpro_call *call, uint32_t transportation)
{
    ANSWER(call, OneHandle, one_handle)->handle = tt_payload_make_transportation(call->memory, transportation);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_handles(struct tt_fedpro_call *call, const uint32_t *handles, size_t count)
{
    ANSWER(call, HandleSet, handle_set)->set = tt_payload_make_handles(call->memory, handles, count);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_text(struct tt_fedpro_call *call, const char *text)
{
    ANSWER(call, Text, text)->text = tt_payload_make_text(text);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_number(struct tt_fedpro_call *call, uint32_t number)
{
    ANSWER(call, Number, number)->value = number;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_flag(struct tt_fedpro_call *call, bool flag)
{
    ANSWER(call, Flag, flag)->value = flag;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_double(struct tt_fedpro_call *call, double value)
{
    ANSWER(call, Real, real)->value = value;
    return TUTTI_HLA_OK;
}

static Fedpro__Handle *fedpro_service_make_time(struct tt_fedpro_call *call, int64_t time)
{
    return tt_payload_make_time(call->memory, call->ambassador->federate->federation->time_kind, time);
}

enum tt_hla tt_fedpro_service_answer_time(struct tt_fedpro_call *call, int64_t time)
{
    ANSWER(call, OneHandle, one_handle)->handle = fedpro_service_make_time(call, time);
    return TUTTI_HLA_OK;
}

static enum tt_hla answer_optional_time(struct tt_fedpro_call *call, Fedpro__Handle *handle)
{
    Fedpro__MaybeResult *answer = ANSWER(call, MaybeResult, maybe_result);
    answer->result = tt_payload_memory_allocate(call->memory, sizeof *answer->result);
    if (!answer->result)
        return tt_exception_raise_memory();
    fedpro__maybe__init(answer->result);
    answer->result->valid = handle != NULL;
    answer->result->handle = handle;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_valid_time(struct tt_fedpro_call *call, bool valid, int64_t time)
{
    return answer_optional_time(call, valid ? fedpro_service_make_time(call, time) : NULL);
}

enum tt_hla tt_fedpro_service_answer_retraction(struct tt_fedpro_call *call, uint64_t number)
{
    return answer_optional_time(call, number ? tt_payload_make_retraction(call->memory, number) : NULL);
}

enum tt_hla tt_fedpro_service_read_time(const struct tt_fedpro_call *call, const Fedpro__Handle *encoded,
                                        enum tt_hla wrong, int64_t *time)
{
    struct tt_federate *federate = NULL;
    HLA_TRY(tt_federation_of_ambassador(call->ambassador, &federate));
    enum tt_logical_time_kind kind = federate->federation->time_kind;
    size_t size = encoded ? encoded->data.len : 0;
    if (encoded && tt_logical_time_decode(kind, encoded->data.data, size, time))
        return TUTTI_HLA_OK;
    tt_exception_set_message("%zu bytes are no %s: it is a number from 0 on in 8 bytes, big-endian", size,
                             tt_logical_time_kind_name(kind));
    return wrong;
}

enum { LINES = 4 }; /* of waiting federates; `tutti rti status` lists all */

struct tt_stall_watch {
    const struct tt_federation *federation;
    uint64_t grants; /* number of grants when the last one was new */
    double since;    /* time of that, or of the last moment without waiting federates */
    bool told;
};

void tt_fedpro_service_free_stalls(struct tt_fedpro_stalls *stalls)
{
    free(stalls->items);
}

static struct tt_stall_watch find_stall(const struct tt_fedpro_stalls *stalls, const struct tt_federation *federation,
                                        double now)
{
    for (size_t i = 0; i < stalls->count; i++)
        if (stalls->items[i].federation == federation)
            return stalls->items[i];
    return (struct tt_stall_watch){.federation = federation, .grants = federation->grants, .since = now};
}

/* Joins the first lines of `text`, with the number of omitted lines. */
static void shorten_explanation(struct tt_text *text)
{
    size_t lines = 0, end = 0;
    for (size_t i = 0; i < text->length; i++) {
        lines += text->text[i] == '\n';
        if (lines <= LINES)
            end = i;
        if (text->text[i] == '\n')
            text->text[i] = ';';
    }
    text->length = end;
    text->text[end] = '\0';
    if (lines > LINES)
        tt_text_printf(text, "; and %zu others ('tutti rti status' tells all)", lines - LINES);
}

static void fedpro_service_check_stall(struct tt_stall_watch *watched, struct tt_federation *federation, double now,
                                       double patience, const struct tutti_log *log)
{
    struct tt_text text = {0};
    if (federation->grants != watched->grants) {
        if (watched->told)
            tt_log(log, TUTTI_LOG_INFO, NULL, "%s: time goes on, after %.0f s", federation->name, now - watched->since);
        *watched = (struct tt_stall_watch){federation, federation->grants, now, false};
    }
    if (watched->told || !(now - watched->since >= patience))
        return;
    tt_time_management_explain(federation, &text);
    if (text.length == 0) {
        watched->since = now;
    } else if (!text.failed) {
        shorten_explanation(&text);
        tt_log(log, TUTTI_LOG_WARNING, NULL, "%s: no time was granted for %.0f s: %s", federation->name,
               now - watched->since, text.text);
        watched->told = true;
    }
    tt_text_fini(&text);
}

void tt_fedpro_service_report_stalls(struct tt_fedpro_stalls *stalls, const struct tt_rti *rti, double now,
                                     double patience, const struct tutti_log *log)
{
    if (patience <= 0)
        return;
    struct tt_stall_watch *items = calloc(rti->count + 1, sizeof *items);
    if (!items)
        return;
    for (size_t i = 0; i < rti->count; i++) {
        items[i] = find_stall(stalls, rti->federations[i], now);
        fedpro_service_check_stall(&items[i], rti->federations[i], now, patience, log);
    }
    free(stalls->items);
    stalls->items = items;
    stalls->count = rti->count;
}
