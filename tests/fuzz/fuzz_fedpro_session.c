/* SPDX-License-Identifier: MIT */
/* Any bytes as what a federate sends. The first says how many of the bytes go to a first connection; the rest goes to a second one, on
 * which the same session may be resumed: the number 1 stands for the session's. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fedpro/sessions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_began(void *context, struct tutti_fedpro_session *session)
{
    (void)context;
    session->link.session = 1;
    tutti_fedpro_put_u32(session->connection->direct + 8, 0);
}

static void on_call(void *context, struct tutti_fedpro_session *session, int32_t sequence, const uint8_t *bytes,
                    size_t size)
{
    (void)context;
    tutti_fedpro_session_send(session, TUTTI_FEDPRO_CALL_RESPONSE, &sequence, bytes, size, NULL);
    tutti_fedpro_session_send(session, TUTTI_FEDPRO_CALLBACK, NULL, bytes, size, NULL);
}

static void on_answer(void *context, struct tutti_fedpro_session *session, int32_t sequence, const uint8_t *bytes,
                      size_t size)
{
    (void)context, (void)sequence, (void)bytes;
    if (size == 7)
        tutti_fedpro_session_end(session, "seven");
}

static void on_ended(void *context, struct tutti_fedpro_session *session, const char *why)
{
    (void)session, (void)why;
    ++*(int *)context;
}

static void on_ready(void *context, struct tutti_fedpro_connection *connection)
{
    (void)context, (void)connection;
}

/* All bytes, and then some of the output. */
static void talk(struct tutti_fedpro_connection *connection, const uint8_t *bytes, size_t count)
{
    bool left = true;
    if (tutti_fedpro_intake_feed(&connection->intake, bytes, count))
        abort();
    while (left)
        if (tutti_fedpro_connection_take(connection, 1, 2, &left))
            return;
    for (int i = 0; i < 9; i++) {
        size_t size = 0;
        uint8_t buffer[200];
        if (tutti_fedpro_connection_output(connection, buffer, sizeof buffer, &size) != NULL)
            tutti_fedpro_connection_wrote(connection, size > 20 ? size / 2 : size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    int ended = 0;
    struct tutti_fedpro_sessions sessions;
    struct tutti_fedpro_handler handler = {&ended, on_began, on_call, on_answer, on_ended, NULL, on_ready};
    struct tutti_fedpro_rules rules = tutti_fedpro_rules_usual;
    rules.limits = (struct tutti_fedpro_limits){.history = 4, .waiting = 8, .bytes = 4096};
    rules.first_message = 2048;
    tutti_fedpro_sessions_init(&sessions, &handler, &rules);
    struct tutti_fedpro_connection first, second;
    size_t some = data[0] < size - 1 ? data[0] : size - 1;
    double next = 0;
    tutti_fedpro_connection_init(&first, &sessions, 0);
    tutti_fedpro_connection_init(&second, &sessions, 0);
    talk(&first, data + 1, some);
    if (data[0] % 2)
        tutti_fedpro_connection_fini(&first, 2);
    talk(&second, data + 1 + some, size - 1 - some);
    tutti_fedpro_sessions_tick(&sessions, data[0], &next);
    tutti_fedpro_connection_fini(&first, 2);
    tutti_fedpro_connection_fini(&second, 3);
    tutti_fedpro_sessions_fini(&sessions, "all over");
    return 0;
}
