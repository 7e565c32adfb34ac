/* SPDX-License-Identifier: MIT */
/* The module's one symbol, and the server: libmicrohttpd, driven from outside (its epoll descriptor), with limits of our own. */
#include "run/http/http_module.h"

#include <microhttpd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "run/net/http.h"

enum { MOST = 64, LARGEST_HEAD = 16384 };

struct tt_http {
    struct tt_http_plan plan;
    struct MHD_Daemon *daemon;
    struct tt_http_connections connections;
    struct tt_http_streams streams;
};

/* A request whose body is incomplete. */
struct http_incoming {
    char *body;
    size_t size, room;
    struct http_waiting *waiting; /* for its answer; NULL: it is not */
};

/* ---- connections ---- */

static int connection_descriptor(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static void on_connection(void *self, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct tt_http *http = self;
    (void)context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        tt_http_module_add_connection(&http->connections, connection_descriptor(connection));
    else
        tt_http_module_remove_connection(&http->connections, connection_descriptor(connection));
}

/* ---- what is answered ---- */

static struct MHD_Response *queue_response(struct tt_http *http, struct MHD_Connection *connection,
                                           struct tt_http_response *answer)
{
    if (answer->stream.read) {
        struct tt_http_connection *known =
            tt_http_module_find_connection(&http->connections, connection_descriptor(connection));
        if (known)
            known->is_stream = true;
        return tt_http_module_stream_response(&http->streams, connection, &answer->stream);
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->size, (void *)answer->body, answer->is_lent ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
    if (!response && !answer->is_lent)
        free((void *)answer->body);
    return response;
}

static enum MHD_Result send_http_response(struct tt_http *http, struct MHD_Connection *connection,
                                          struct tt_http_response *answer)
{
    struct MHD_Response *response = queue_response(http, connection, answer);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    bool may_be_kept = false;
    for (size_t i = 0; i < TUTTI_HTTP_HEADERS && answer->headers[i].name; i++) {
        MHD_add_response_header(response, answer->headers[i].name, answer->headers[i].value);
        may_be_kept |= strcmp(answer->headers[i].name, MHD_HTTP_HEADER_CACHE_CONTROL) == 0;
    }
    if (!may_be_kept)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    enum MHD_Result result = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result http_module_reject(struct tt_http *http, struct MHD_Connection *connection, unsigned status,
                                          const char *text)
{
    return send_http_response(http, connection,
                              &(struct tt_http_response){.status = status,
                                                         .type = "text/plain; charset=utf-8",
                                                         .body = text,
                                                         .size = strlen(text),
                                                         .is_lent = true});
}

/* ---- requests ---- */

static const char *request_argument(const struct tt_http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

static const char *request_header(const struct tt_http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static struct tt_http_request http_module_describe_request(struct MHD_Connection *connection, const char *url,
                                                           const char *method, const struct http_incoming *incoming)
{
    bool head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    return (struct tt_http_request){.method = head ? MHD_HTTP_METHOD_GET : method,
                                    .path = url,
                                    .body = incoming->body ? incoming->body : "",
                                    .size = incoming->size,
                                    .argument = request_argument,
                                    .header = request_header,
                                    .connection = connection};
}

/* The head has arrived. `*go_on`: its body may follow. */
static enum MHD_Result http_module_start_request(struct tt_http *http, struct tt_http_request *request, bool *go_on)
{
    struct tt_http_response answer = {0};
    const char *length = request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    *go_on = false;
    if (strcmp(request->method, MHD_HTTP_METHOD_GET) != 0 && http->plan.largest_body == 0)
        return http_module_reject(http, request->connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                                  "only GET is answered here\n");
    if (length && strtoull(length, NULL, 10) > http->plan.largest_body)
        return http_module_reject(http, request->connection, MHD_HTTP_CONTENT_TOO_LARGE, "this is too large\n");
    if (http->plan.admit && !http->plan.admit(http->plan.context, request, &answer))
        return send_http_response(http, request->connection, &answer);
    *go_on = true;
    return MHD_YES;
}

static bool http_module_append_body(struct http_incoming *incoming, const char *data, size_t size)
{
    if (incoming->room - incoming->size < size) {
        size_t room = 2 * incoming->room + size;
        char *larger = realloc(incoming->body, room);
        if (!larger)
            return false;
        incoming->body = larger;
        incoming->room = room;
    }
    memcpy(incoming->body + incoming->size, data, size);
    incoming->size += size;
    return true;
}

/* Receives more of its body; a client that announced a wrong size, or none, is cut off once the body is too large. */
static enum MHD_Result http_module_receive_body(struct tt_http *http, struct MHD_Connection *connection,
                                                struct http_incoming *incoming, const char *data, size_t *size)
{
    struct tt_http_connection *known =
        tt_http_module_find_connection(&http->connections, connection_descriptor(connection));
    if (*size > http->plan.largest_body - incoming->size || !http_module_append_body(incoming, data, *size))
        return MHD_NO;
    if (known)
        known->received = incoming->size;
    *size = 0;
    return MHD_YES;
}

/* Checks a pending answer. */
static enum MHD_Result resume_pending(struct tt_http *http, struct MHD_Connection *connection,
                                      struct http_incoming *incoming)
{
    bool lost;
    struct tt_http_response answer = {0};
    if (tt_http_module_take_answer(incoming->waiting, &answer, &lost)) {
        incoming->waiting = NULL;
        return send_http_response(http, connection, &answer);
    }
    if (!lost)
        return MHD_YES;
    incoming->waiting = NULL;
    return http_module_reject(http, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "the server ends\n");
}

static enum MHD_Result respond_to_request(struct tt_http *http, struct MHD_Connection *connection,
                                          const struct tt_http_request *request, struct http_incoming *incoming)
{
    struct tt_http_response answer = {0};
    if (!http->plan.answer(http->plan.context, request, &answer))
        return http_module_reject(http, connection, MHD_HTTP_NOT_FOUND, "there is nothing here\n");
    if (!answer.pending.take)
        return send_http_response(http, connection, &answer);
    struct tt_http_connection *known =
        tt_http_module_find_connection(&http->connections, connection_descriptor(connection));
    if (known)
        known->is_stream = true;
    incoming->waiting = tt_http_module_wait_for_answer(&http->streams, connection, &answer.pending);
    return incoming->waiting
               ? MHD_YES
               : http_module_reject(http, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "there is no memory\n");
}

static enum MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *data, size_t *data_size, void **context)
{
    struct tt_http *http = self;
    struct http_incoming *incoming = *context;
    (void)version;
    if (!incoming) {
        bool go_on;
        struct tt_http_request head = http_module_describe_request(connection, url, method, &(struct http_incoming){0});
        enum MHD_Result result = http_module_start_request(http, &head, &go_on);
        *context = go_on ? calloc(1, sizeof *incoming) : NULL;
        return go_on && !*context ? MHD_NO : result;
    }
    if (*data_size > 0)
        return http_module_receive_body(http, connection, incoming, data, data_size);
    if (incoming->waiting)
        return resume_pending(http, connection, incoming);
    struct tt_http_request request = http_module_describe_request(connection, url, method, incoming);
    return respond_to_request(http, connection, &request, incoming);
}

static void on_completed(void *self, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
    struct tt_http *http = self;
    struct http_incoming *incoming = *context;
    struct tt_http_connection *known =
        tt_http_module_find_connection(&http->connections, connection_descriptor(connection));
    (void)code;
    if (known)
        tt_http_module_reset_connection(known);
    if (incoming)
        free(incoming->body);
    free(incoming);
    *context = NULL;
}

/* ---- the server ---- */

static struct MHD_Daemon *start_daemon(struct tt_http *http)
{
    const struct tt_http_plan *plan = &http->plan;
    const struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)plan->certificate},
                                         {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)plan->key},
                                         {MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (plan->certificate ? MHD_USE_TLS : 0), 0, NULL, NULL, on_request,
        http, MHD_OPTION_LISTEN_SOCKET, plan->socket, MHD_OPTION_CONNECTION_LIMIT, (unsigned)http->connections.most,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)http->connections.most / 2, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)LARGEST_HEAD, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, http, MHD_OPTION_ARRAY, plan->certificate ? tls : none, MHD_OPTION_END);
}

static struct tt_http *http_module_start(const struct tt_http_plan *plan)
{
    struct tt_http *http = calloc(1, sizeof *http);
    if (http) {
        http->plan = *plan;
        http->connections.most = plan->most ? plan->most : MOST;
        http->connections.open = calloc(http->connections.most, sizeof *http->connections.open);
        http->daemon = http->connections.open ? start_daemon(http) : NULL;
    }
    if (http && http->daemon)
        return http;
    close(plan->socket);
    free(http ? http->connections.open : NULL);
    free(http);
    return NULL;
}

static int server_descriptor(const struct tt_http *http)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

static int http_module_run(struct tt_http *http)
{
    enum { SOON = 500 };
    MHD_UNSIGNED_LONG_LONG wish;
    tt_http_module_shut_slow_connections(&http->connections);
    MHD_run(http->daemon);
    if (MHD_get_timeout(http->daemon, &wish) == MHD_YES && wish < SOON)
        return (int)wish;
    return http->connections.count > 0 ? SOON : -1;
}

static void http_module_wake(struct tt_http *http)
{
    tt_http_module_wake_streams(&http->streams);
}

/* libmicrohttpd does not stop while a connection is suspended. */
static void http_module_stop(struct tt_http *http)
{
    if (!http)
        return;
    http->streams.over = true;
    tt_http_module_wake_streams(&http->streams);
    MHD_run(http->daemon);
    MHD_stop_daemon(http->daemon);
    free(http->connections.open);
    free(http);
}

__attribute__((visibility("default"))) const struct tt_http_module *tt_http_module(void);

const struct tt_http_module *tt_http_module(void)
{
    static const struct tt_http_module module = {.abi = TUTTI_HTTP_ABI,
                                                 .start = http_module_start,
                                                 .descriptor = server_descriptor,
                                                 .run = http_module_run,
                                                 .wake = http_module_wake,
                                                 .stop = http_module_stop};
    return &module;
}

static const double LONGEST = 5, SLOWEST = 65536; /* seconds; bytes per second */

static double connections_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void tt_http_module_add_connection(struct tt_http_connections *connections, int fd)
{
    if (connections->count < connections->most)
        connections->open[connections->count++] = (struct tt_http_connection){.fd = fd, .since = connections_now()};
}

struct tt_http_connection *tt_http_module_find_connection(const struct tt_http_connections *connections, int fd)
{
    for (size_t i = 0; i < connections->count; i++)
        if (connections->open[i].fd == fd)
            return &connections->open[i];
    return NULL;
}

void tt_http_module_remove_connection(struct tt_http_connections *connections, int fd)
{
    struct tt_http_connection *connection = tt_http_module_find_connection(connections, fd);
    if (connection)
        *connection = connections->open[--connections->count];
}

void tt_http_module_reset_connection(struct tt_http_connection *connection)
{
    *connection = (struct tt_http_connection){.fd = connection->fd, .since = connections_now()};
}

void tt_http_module_shut_slow_connections(const struct tt_http_connections *connections)
{
    double time = connections_now();
    for (size_t i = 0; i < connections->count; i++) {
        const struct tt_http_connection *connection = &connections->open[i];
        if (!connection->is_stream && time - connection->since > LONGEST + (double)connection->received / SLOWEST)
            shutdown(connection->fd, SHUT_RDWR);
    }
}

enum { BLOCK = 32768 }; /* bytes that are asked for at once */

struct http_stream {
    struct tt_http_stream source;
    struct tt_http_streams *all;
    struct MHD_Connection *connection;
    bool is_suspended;
    struct http_stream *previous, *next;
};

static ssize_t http_stream_read(void *self, uint64_t position, char *bytes, size_t size)
{
    struct http_stream *stream = self;
    (void)position;
    ptrdiff_t count = stream->all->over ? -1 : stream->source.read(stream->source.context, bytes, size);
    if (count < 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (count == 0) {
        stream->is_suspended = true;
        MHD_suspend_connection(stream->connection);
    }
    return count;
}

static void http_stream_end(void *self)
{
    struct http_stream *stream = self;
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        stream->all->first = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
    stream->source.close(stream->source.context);
    free(stream);
}

struct MHD_Response *tt_http_module_stream_response(struct tt_http_streams *streams, struct MHD_Connection *connection,
                                                    const struct tt_http_stream *source)
{
    struct http_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        source->close(source->context);
        return NULL;
    }
    *stream = (struct http_stream){.source = *source, .all = streams, .connection = connection, .next = streams->first};
    if (streams->first)
        streams->first->previous = stream;
    streams->first = stream;
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, http_stream_read, stream, http_stream_end);
    if (!response)
        http_stream_end(stream);
    return response;
}

/* ---- answers that come later ---- */

struct http_waiting {
    struct tt_http_pending pending;
    struct tt_http_streams *all;
    struct MHD_Connection *connection;
    bool is_suspended;
    struct http_waiting *previous, *next;
};

struct http_waiting *tt_http_module_wait_for_answer(struct tt_http_streams *streams, struct MHD_Connection *connection,
                                                    const struct tt_http_pending *pending)
{
    struct http_waiting *waiting = streams->over ? NULL : calloc(1, sizeof *waiting);
    if (!waiting) {
        pending->drop(pending->context);
        return NULL;
    }
    *waiting = (struct http_waiting){*pending, streams, connection, true, NULL, streams->waiting};
    if (streams->waiting)
        streams->waiting->previous = waiting;
    streams->waiting = waiting;
    MHD_suspend_connection(connection);
    return waiting;
}

bool tt_http_module_take_answer(struct http_waiting *waiting, struct tt_http_response *answer, bool *lost)
{
    bool known = waiting->pending.take(waiting->pending.context, answer);
    *lost = !known && waiting->all->over;
    if (*lost)
        waiting->pending.drop(waiting->pending.context);
    if (known || *lost) {
        if (waiting->previous)
            waiting->previous->next = waiting->next;
        else
            waiting->all->waiting = waiting->next;
        if (waiting->next)
            waiting->next->previous = waiting->previous;
        free(waiting);
    } else {
        waiting->is_suspended = true;
        MHD_suspend_connection(waiting->connection);
    }
    return known;
}

void tt_http_module_wake_streams(struct tt_http_streams *streams)
{
    for (struct http_waiting *waiting = streams->waiting; waiting; waiting = waiting->next)
        if (waiting->is_suspended) {
            waiting->is_suspended = false;
            MHD_resume_connection(waiting->connection);
        }
    for (struct http_stream *stream = streams->first; stream; stream = stream->next)
        if (stream->is_suspended) {
            stream->is_suspended = false;
            MHD_resume_connection(stream->connection);
        }
}
