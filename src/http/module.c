/* SPDX-License-Identifier: MIT */
/* The module's one symbol, and the server: libmicrohttpd, driven from outside (its epoll descriptor), with limits of our own.
 *
 * Invariants:
 *  1. A connection serves one request, and then closes: whatever is open for longer than LONGEST is slow on purpose, and is shut
 *     down. What libmicrohttpd calls a time-out begins anew with each byte, which lets a client stay for ever.
 *  2. `open` has the connections that libmicrohttpd has; there is room for all that it admits. */
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "conduct/node/http.h"

enum { MOST = 64, MOST_OF_ADDRESS = 32, LARGEST_HEAD = 8192 };
static const double LONGEST = 5; /* seconds */

struct connection {
    int fd;
    double since;
};

struct tutti_http {
    struct tutti_http_plan plan;
    struct MHD_Daemon *daemon;
    struct connection open[MOST];
    size_t count;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- connections ---- */

static void remember(struct tutti_http *http, int fd)
{
    if (http->count < MOST)
        http->open[http->count++] = (struct connection){fd, now()};
}

static void forget(struct tutti_http *http, int fd)
{
    for (size_t i = 0; i < http->count; i++)
        if (http->open[i].fd == fd) {
            http->open[i] = http->open[--http->count];
            return;
        }
}

static void on_connection(void *self, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    (void)context;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info && code == MHD_CONNECTION_NOTIFY_STARTED)
        remember(self, info->connect_fd);
    else if (info)
        forget(self, info->connect_fd);
}

/* libmicrohttpd sees the end of those that are shut down, and closes them. */
static void shut_slow_ones(const struct tutti_http *http)
{
    for (size_t i = 0; i < http->count; i++)
        if (now() - http->open[i].since > LONGEST)
            shutdown(http->open[i].fd, SHUT_RDWR);
}

/* ---- requests ---- */

static enum MHD_Result respond(struct MHD_Connection *connection, unsigned status, const char *type, void *body,
                               size_t size, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(size, body, mode);
    if (!response) {
        if (mode == MHD_RESPMEM_MUST_FREE)
            free(body);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text)
{
    return respond(connection, status, "text/plain; charset=utf-8", (void *)text, strlen(text), MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *data, size_t *data_size, void **context)
{
    const struct tutti_http *http = self;
    struct tutti_http_answer answer = {0};
    (void)version;
    (void)data;
    (void)data_size;
    (void)context;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is answered here\n");
    if (!http->plan.answer(http->plan.context, url, &answer))
        return refuse(connection, MHD_HTTP_NOT_FOUND, "there is nothing here\n");
    return respond(connection, answer.status, answer.type, answer.body, answer.size, MHD_RESPMEM_MUST_FREE);
}

/* ---- the server ---- */

static struct tutti_http *start(const struct tutti_http_plan *plan)
{
    struct tutti_http *http = calloc(1, sizeof *http);
    if (http) {
        http->plan = *plan;
        http->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET,
                                        plan->socket, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST,
                                        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)MOST_OF_ADDRESS,
                                        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)LARGEST_HEAD,
                                        MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
    }
    if (http && http->daemon)
        return http;
    close(plan->socket);
    free(http);
    return NULL;
}

static int descriptor(const struct tutti_http *http)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

static int run(struct tutti_http *http)
{
    enum { SOON = 500 };
    MHD_UNSIGNED_LONG_LONG wish;
    shut_slow_ones(http);
    MHD_run(http->daemon);
    if (MHD_get_timeout(http->daemon, &wish) == MHD_YES && wish < SOON)
        return (int)wish;
    return http->count > 0 ? SOON : -1;
}

static void stop(struct tutti_http *http)
{
    if (!http)
        return;
    MHD_stop_daemon(http->daemon);
    free(http);
}

__attribute__((visibility("default"))) const struct tutti_http_module *tutti_http_module(void);

const struct tutti_http_module *tutti_http_module(void)
{
    static const struct tutti_http_module module = {
        .abi = TUTTI_HTTP_ABI, .start = start, .descriptor = descriptor, .run = run, .stop = stop};
    return &module;
}
