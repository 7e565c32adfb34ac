/* SPDX-License-Identifier: MIT */
/* Any bytes as calls of a federate that has joined: a byte says how many belong to the next call. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hla/fedpro/fedpro_service.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model[] =
    "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2010\"><objects><objectClass><name>HLAobjectRoot</name>"
    "<objectClass><name>Car</name><attribute><name>z</name><order>TimeStamp</order></attribute></objectClass></"
    "objectClass></objects>"
    "<interactions><interactionClass><name>HLAinteractionRoot</name><interactionClass><name>Honk</name>"
    "<parameter><name>p</name></parameter></interactionClass></interactionClass></interactions></objectModel>";

static void on_ready(void *context, struct tt_fedpro_connection *connection)
{
    (void)context, (void)connection;
}

/* A federate, with the RTI's side of its connection. */
struct federate {
    struct tt_fedpro_connection connection;
    int32_t sequence;
};

static void send_message(struct federate *federate, uint32_t type, const uint8_t *bytes, size_t size)
{
    uint8_t head[TUTTI_FEDPRO_HEADER];
    bool left = true;
    uint64_t session = federate->connection.session ? federate->connection.session->link.session : 0;
    struct tt_fedpro_header header = {(uint32_t)(sizeof head + size), federate->sequence++, session, INT32_MIN, type};
    tt_fedpro_message_put_header(head, &header);
    if (tt_fedpro_message_append_bytes(&federate->connection.intake, head, sizeof head) ||
        tt_fedpro_message_append_bytes(&federate->connection.intake, bytes, size))
        abort();
    while (left)
        if (tt_sessions_handle_messages(&federate->connection, 1, 2, &left))
            return;
    const uint8_t *out = NULL;
    while ((out = tt_sessions_get_output(&federate->connection, NULL, 0, &size)) != NULL)
        tt_sessions_consume_output(&federate->connection, size);
}

static void call(struct federate *federate, uint32_t number, const ProtobufCMessage *request)
{
    struct tt_payload_memory memory;
    size_t size = 0;
    tt_payload_memory_init(&memory);
    const uint8_t *bytes = tt_payload_close_envelope(&memory, number, request, &size);
    if (!bytes)
        abort();
    send_message(federate, TUTTI_FEDPRO_CALL, bytes, size);
    tt_payload_memory_fini(&memory);
}

static void join(struct federate *federate)
{
    static const uint8_t version[] = {0, 0, 0, TUTTI_FEDPRO_VERSION};
    static char name[] = "road", type[] = "a", content[sizeof model];
    Fedpro__Nothing nothing = FEDPRO__NOTHING__INIT;
    Fedpro__ModuleFile file = FEDPRO__MODULE_FILE__INIT;
    Fedpro__Module module = FEDPRO__MODULE__INIT;
    Fedpro__CreateOne create = FEDPRO__CREATE_ONE__INIT;
    Fedpro__Join wish = FEDPRO__JOIN__INIT;
    memcpy(content, model, sizeof model);
    file.content = (ProtobufCBinaryData){sizeof model - 1, (uint8_t *)content};
    module.form_case = FEDPRO__MODULE__FORM_FILE;
    module.file = &file;
    create.federation = wish.federation = name;
    create.module = &module;
    wish.type = type;
    send_message(federate, TUTTI_FEDPRO_NEW_SESSION, version, sizeof version);
    call(federate, 1, &nothing.base);
    call(federate, 6, &create.base);
    call(federate, 15, &wish.base);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_fedpro_service service;
    struct tt_fedpro_service_options options = {.longest_message = 1 << 20,
                                                .limits = {.callbacks = 1000, .bytes = 1 << 20}};
    struct tt_fedpro_sessions sessions;
    struct federate federates[2] = {0};
    if (tt_fedpro_service_init(&service, &options))
        abort();
    struct tt_fedpro_handler handler = tt_fedpro_service_session_handler(&service);
    handler.ready = on_ready;
    tt_sessions_init(&sessions, &handler, &tt_sessions_default_rules);
    for (int i = 0; i < 2; i++) {
        tt_sessions_init_connection(&federates[i].connection, &sessions, 0);
        join(&federates[i]);
    }
    for (size_t at = 0, i = 0; at < size; i++) {
        size_t count = data[at] < size - at - 1 ? data[at] : size - at - 1;
        send_message(&federates[i % 2], TUTTI_FEDPRO_CALL, data + at + 1, count);
        tt_fedpro_service_send_callbacks(&service);
        at += 1 + count;
    }
    for (int i = 0; i < 2; i++)
        tt_sessions_free_connection(&federates[i].connection, 2);
    tt_sessions_fini(&sessions, "all over");
    tt_fedpro_service_fini(&service);
    return 0;
}
