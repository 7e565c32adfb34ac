/* SPDX-License-Identifier: MIT */
/* Any bytes as what a federate sends. The first says how many of the bytes go to a first connection; the rest goes to a second one, on
 * which the same session may be resumed: the number 1 stands for the session's. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hla/fedpro/sessions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_began(void *context, struct tt_fedpro_session *session)
{
    (void)context;
    session->link.session = 1;
    tt_fedpro_message_put_u32(session->connection->direct + 8, 0);
}

static void on_call(void *context, struct tt_fedpro_session *session, int32_t sequence, const uint8_t *bytes,
                    size_t size)
{
    (void)context;
    tt_sessions_send(session, TUTTI_FEDPRO_CALL_RESPONSE, &sequence, bytes, size, NULL);
    tt_sessions_send(session, TUTTI_FEDPRO_CALLBACK, NULL, bytes, size, NULL);
}

static void on_answer(void *context, struct tt_fedpro_session *session, int32_t sequence, const uint8_t *bytes,
                      size_t size)
{
    (void)context, (void)sequence, (void)bytes;
    if (size == 7)
        tt_sessions_end_session(session, "seven");
}

static void on_ended(void *context, struct tt_fedpro_session *session, const char *why)
{
    (void)session, (void)why;
    ++*(int *)context;
}

static void on_ready(void *context, struct tt_fedpro_connection *connection)
{
    (void)context, (void)connection;
}

/* All bytes, and then some of the output. */
static void talk(struct tt_fedpro_connection *connection, const uint8_t *bytes, size_t count)
{
    bool left = true;
    if (tt_fedpro_message_append_bytes(&connection->intake, bytes, count))
        abort();
    while (left)
        if (tt_sessions_handle_messages(connection, 1, 2, &left))
            return;
    for (int i = 0; i < 9; i++) {
        size_t size = 0;
        uint8_t buffer[200];
        if (tt_sessions_get_output(connection, buffer, sizeof buffer, &size) != NULL)
            tt_sessions_consume_output(connection, size > 20 ? size / 2 : size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    int ended = 0;
    struct tt_fedpro_sessions sessions;
    struct tt_fedpro_handler handler = {&ended, on_began, on_call, on_answer, on_ended, NULL, on_ready};
    struct tt_sessions_rules rules = tt_sessions_default_rules;
    rules.limits = (struct tt_session_link_limits){.history = 4, .waiting = 8, .bytes = 4096};
    rules.first_message = 2048;
    tt_sessions_init(&sessions, &handler, &rules);
    struct tt_fedpro_connection first, second;
    size_t some = data[0] < size - 1 ? data[0] : size - 1;
    double next = 0;
    tt_sessions_init_connection(&first, &sessions, 0);
    tt_sessions_init_connection(&second, &sessions, 0);
    talk(&first, data + 1, some);
    if (data[0] % 2)
        tt_sessions_free_connection(&first, 2);
    talk(&second, data + 1 + some, size - 1 - some);
    tt_sessions_tick(&sessions, data[0], &next);
    tt_sessions_free_connection(&first, 2);
    tt_sessions_free_connection(&second, 3);
    tt_sessions_fini(&sessions, "all over");
    return 0;
}
