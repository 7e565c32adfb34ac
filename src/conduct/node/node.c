/* SPDX-License-Identifier: MIT */
/* The daemon: who may connect, and the loop. */
#include "conduct/node/node.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <zmq.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/str.h"
#include "conduct/key_files.h"
#include "conduct/node/metrics.h"
#include "conduct/node/session.h"
#include "conduct/orphans.h"

enum { TICK_MS = 100, IDLE_MS = 1000 };

/* ---- what it tells ---- */

void tutti_daemon_tell(const struct tutti_daemon *node, struct tutti_node_event event, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    if (!node->options->tell)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tutti_str_make_printable(text);
    tutti_spelling_apply(text);
    event.text = text;
    node->options->tell(node->options->tell_context, &event);
}

/* Those whose keys are not allowed: `origin` is their address. */
static void tell_stranger(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    tutti_daemon_tell(context,
                      (struct tutti_node_event){
                          .name = "refused", .level = level, .peer = origin, .reason = "its key is not allowed"},
                      "%s %s", origin ? origin : "a program", text);
}

/* ---- processes that FMUs have started ---- */

/* Is it no worker? */
static bool is_orphan(void *context, pid_t pid)
{
    const struct tutti_daemon *node = context;
    for (size_t i = 0; i < node->session_count; i++)
        for (uint32_t w = 0; w < node->sessions[i]->worker_count; w++)
            if (node->sessions[i]->workers[w].pid == pid)
                return false;
    return true;
}

/* Kills processes that workers had started and that outlived them (N2). True: there was some, and what that had started comes to us next. One that
 * runs as another user is let go. */
static bool kill_orphans(struct tutti_daemon *node)
{
    return tutti_orphans_signal(SIGKILL, is_orphan, node) > 0;
}

/* Once all workers have ended: what they left ends at once, unless the system is in the way. */
static void end_orphans(struct tutti_daemon *node)
{
    for (int i = 0; i < 100 && kill_orphans(node); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* ---- opening ---- */

static enum tutti_err check_options(struct tutti_daemon *node)
{
    const struct tutti_node_options *options = node->options;
    TRY(tutti_address_read(&node->address, options->listen, "--listen", true));
    if (options->ports)
        TRY(tutti_ports_read(&node->ports, options->ports, "--ports"));
    node->loopback = tutti_address_is_loopback(&node->address);
    if (!node->loopback && (!options->key || options->allow_count == 0))
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "--listen %s can be reached from other machines, and all who may use a node run code on it: give "
            "it a key (--key FILE, made by `tutti node --keygen FILE`) and say whose keys may use it "
            "(--allow FILE.pub); or listen at 127.0.0.1",
            options->listen);
    if (!options->key != (options->allow_count == 0))
        return tutti_fail(TUTTI_ERR_ARGUMENT, options->key ? "--key without --allow lets no user in: name the public "
                                                             "keys of those who may use the node"
                                                           : "--allow needs the node's own key, too: --key FILE");
    return options->key ? tutti_key_files_read(options->key, &node->keys) : tutti_key_files_local(&node->keys);
}

/* A name becomes a number: ZeroMQ binds to addresses only. */
static enum tutti_err resolve(struct tutti_daemon *node)
{
    struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM}, *found = NULL;
    char host[sizeof node->address.host];
    int error = getaddrinfo(node->address.host, NULL, &hints, &found);
    if (!error)
        error = getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST);
    if (found)
        freeaddrinfo(found);
    if (error)
        return tutti_fail(TUTTI_ERR_IO, "--listen: %s is not an address of this machine (%s)", node->address.host,
                          gai_strerror(error));
    snprintf(node->address.host, sizeof node->address.host, "%s", host);
    return TUTTI_OK;
}

/* Lets in those whose keys are allowed; `users` has room for them. */
static enum tutti_err allow_users(struct tutti_daemon *node, struct tutti_node_user *users)
{
    for (size_t i = 0; i < node->options->allow_count; i++) {
        const char *path = node->options->allow[i], *slash = strrchr(path, '/');
        TRY(tutti_key_files_read_public(path, users[i].key));
        snprintf(users[i].name, sizeof users[i].name, "%s", slash ? slash + 1 : path);
        TRY(tutti_zap_allow(node->zap, users[i].key, users[i].name));
    }
    return node->options->quota
               ? tutti_quotas_read(&node->quotas, node->options->quota, users, node->options->allow_count)
               : TUTTI_OK;
}

static enum tutti_err allow_keys(struct tutti_daemon *node)
{
    node->zap_log = (struct tutti_log){.level = TUTTI_LOG_WARNING, .write = tell_stranger, .context = node};
    TRY(tutti_zap_start(&node->zap, node->context, &node->zap_log));
    struct tutti_node_user *users = calloc(node->options->allow_count + 1, sizeof *users);
    enum tutti_err err = users ? allow_users(node, users) : tutti_fail_memory();
    free(users);
    TRY(err);
    if (!node->options->key) /* only this user can read that key */
        TRY(tutti_zap_allow(node->zap, node->keys.public_key, ""));
    tutti_zap_open(node->zap);
    return tutti_zap_guard(node->router, &node->keys);
}

static void tell_confinement(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)origin;
    tutti_daemon_tell(context, (struct tutti_node_event){.name = "confinement", .level = level, .reason = text}, "%s",
                      text);
}

/* What the node itself offers may run, too. */
static enum tutti_err permit_fmus(struct tutti_daemon *node)
{
    node->permitted.all = node->options->allow_fmu_count == 0;
    for (size_t i = 0; i < node->options->allow_fmu_count; i++)
        TRY(tutti_permitted_read(&node->permitted, node->options->allow_fmu[i]));
    for (size_t i = 0; i < node->offer_count && !node->permitted.all; i++) {
        struct tutti_content content;
        TRY(tutti_content_of_file(&content, node->offers[i].path));
        TRY(tutti_permitted_add(&node->permitted, content.hash));
    }
    return TUTTI_OK;
}

static enum tutti_err fail_zmq(const char *what)
{
    return tutti_fail(TUTTI_ERR_IO, "%s: %s", what, zmq_strerror(zmq_errno()));
}

static enum tutti_err bind_router(struct tutti_daemon *node, const char *endpoint)
{
    char bound[TUTTI_ADDRESS_SIZE];
    size_t size = sizeof bound;
    const struct tutti_ports as_told = {0};
    TRY(tutti_ports_bind(node->address.port == 0 ? &node->ports : &as_told, node->router, endpoint));
    if (zmq_getsockopt(node->router, ZMQ_LAST_ENDPOINT, bound, &size) != 0)
        return fail_zmq("ZeroMQ");
    const char *port = strrchr(bound, ':');
    node->address.port = port ? atoi(port + 1) : node->address.port;
    tutti_daemon_tell(node, (struct tutti_node_event){.name = "listening", .level = TUTTI_LOG_INFO},
                      "listening at %s, %s", bound + strlen("tcp://"),
                      node->options->key ? "for those whose keys are allowed"
                                         : "for runs of this user on this machine");
    return TUTTI_OK;
}

static enum tutti_err open_sockets(struct tutti_daemon *node)
{
    int yes = 1;
    char endpoint[TUTTI_ADDRESS_SIZE];
    tutti_address_endpoint(&node->address, endpoint, sizeof endpoint);
    node->context = zmq_ctx_new();
    node->router = node->context ? zmq_socket(node->context, ZMQ_ROUTER) : NULL;
    node->monitor = node->context ? zmq_socket(node->context, ZMQ_PAIR) : NULL;
    if (!node->router || !node->monitor)
        return fail_zmq("ZeroMQ cannot begin");
    TRY(tutti_node_set_up(node->router, endpoint));
    if (zmq_setsockopt(node->router, ZMQ_ROUTER_MANDATORY, &yes, sizeof yes) != 0 ||
        zmq_socket_monitor(node->router, "inproc://monitor", ZMQ_EVENT_DISCONNECTED) != 0 ||
        zmq_connect(node->monitor, "inproc://monitor") != 0)
        return fail_zmq("ZeroMQ cannot begin");
    TRY(allow_keys(node));
    return bind_router(node, endpoint);
}

static enum tutti_err open_node(struct tutti_daemon *node)
{
    TRY(check_options(node));
    TRY(resolve(node));
    TRY(tutti_cache_open(&node->cache, node->options->cache));
    TRY(tutti_offers_open(node));
    TRY(permit_fmus(node));
    struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = tell_confinement, .context = node};
    TRY(tutti_node_rules_check(&node->options->rules, &log));
    TRY(tutti_node_metrics_open(node));
    enum tutti_err err = open_sockets(node);
    tutti_keys_wipe(&node->keys); /* ZeroMQ has its own copy */
    return err;
}

static void close_node(struct tutti_daemon *node)
{
    for (size_t i = 0; i < node->session_count; i++)
        tutti_session_free(node, node->sessions[i]);
    node->session_count = 0;
    if (node->runs > 0)
        end_orphans(node);
    tutti_node_metrics_close(node);
    if (node->router)
        zmq_close(node->router);
    if (node->monitor) {
        int none = 0;
        zmq_setsockopt(node->monitor, ZMQ_LINGER, &none, sizeof none);
        zmq_close(node->monitor);
    }
    tutti_zap_stop(node->zap);
    if (node->context)
        zmq_ctx_term(node->context);
    tutti_quotas_fini(&node->quotas);
    tutti_permitted_fini(&node->permitted);
    tutti_offers_close(node);
    tutti_cache_free(node->cache);
    tutti_keys_wipe(&node->keys);
    tutti_parcel_fini(&node->parcel);
}

/* ---- sessions ---- */

/* Whether one more can be had for the user. */
static enum tutti_err check_room(const struct tutti_daemon *node, const struct tutti_session *stranger)
{
    size_t waiting = 0;
    for (size_t i = 0; i < node->session_count; i++)
        waiting += !tutti_session_is_running(node->sessions[i]) && strcmp(node->sessions[i]->user, stranger->user) == 0;
    if (waiting >= TUTTI_NODE_MOST_WAITING)
        return tutti_fail(TUTTI_ERR_LIMIT, "%zu runs of this user are connected and have not begun; end some, or wait",
                          waiting);
    if (node->session_count == TUTTI_NODE_MOST_SESSIONS)
        return tutti_fail(TUTTI_ERR_LIMIT, "the node has all the %d runs that it can have; try again later",
                          TUTTI_NODE_MOST_SESSIONS);
    return TUTTI_OK;
}

/* Who it is that the message is from. */
static void session_init(struct tutti_session *session, zmq_msg_t *id, zmq_msg_t *message)
{
    const char *peer = zmq_msg_gets(message, "Peer-Address"), *user = zmq_msg_gets(message, "User-Id");
    memcpy(session->id, zmq_msg_data(id), zmq_msg_size(id));
    session->id_size = zmq_msg_size(id);
    session->fd = zmq_msg_get(message, ZMQ_SRCFD);
    clock_gettime(CLOCK_REALTIME_COARSE, &session->since);
    snprintf(session->peer, sizeof session->peer, "%s", peer ? peer : "");
    snprintf(session->user, sizeof session->user, "%s", user ? user : "");
    tutti_str_make_printable(session->user);
}

/* The one that the message is from; a new one for a stranger. NULL: it was refused. */
static struct tutti_session *session_of(struct tutti_daemon *node, zmq_msg_t *id, zmq_msg_t *message)
{
    size_t size = zmq_msg_size(id);
    for (size_t i = 0; i < node->session_count; i++)
        if (node->sessions[i]->id_size == size && memcmp(node->sessions[i]->id, zmq_msg_data(id), size) == 0)
            return node->sessions[i];
    struct tutti_session *session = size <= sizeof session->id ? calloc(1, sizeof *session) : NULL;
    if (!session)
        return NULL;
    session_init(session, id, message);
    enum tutti_err err = check_room(node, session);
    if (!err)
        return node->sessions[node->session_count++] = session;
    tutti_session_refuse(node, session, err);
    tutti_session_free(node, session);
    return NULL;
}

/* A runner that says nothing does not keep its place for ever. */
static void end_idle_sessions(struct tutti_daemon *node)
{
    double now = tutti_clock_now();
    for (size_t i = 0; i < node->session_count; i++) {
        struct tutti_session *session = node->sessions[i];
        if (tutti_session_is_running(session) || now - session->heard <= node->options->idle)
            continue;
        enum tutti_err err =
            tutti_fail(TUTTI_ERR_LIMIT,
                       "nothing was said for %s s, and the run has not begun; if it needs longer, its owner "
                       "can start the node with a larger --idle",
                       NUMBER(node->options->idle));
        tutti_session_refuse(node, session, err);
    }
}

/* Connections that have ended. Called before each message is looked at: the number of a connection may be given to another
 * one, whose messages come after this news. */
static void hear_monitor(struct tutti_daemon *node)
{
    struct __attribute__((packed)) {
        uint16_t event;
        int32_t value;
    } news;
    char rest[8];
    while (zmq_recv(node->monitor, &news, sizeof news, ZMQ_DONTWAIT) == (int)sizeof news) {
        (void)!zmq_recv(node->monitor, rest, sizeof rest, ZMQ_DONTWAIT); /* the address */
        for (size_t i = 0; i < node->session_count; i++)
            if (news.event == ZMQ_EVENT_DISCONNECTED && node->sessions[i]->fd == news.value)
                node->sessions[i]->over = true;
    }
}

static void bury_sessions(struct tutti_daemon *node)
{
    for (size_t i = 0; i < node->session_count;) {
        struct tutti_session *session = node->sessions[i];
        if (!session->over) {
            i++;
            continue;
        }
        node->sessions[i] = node->sessions[--node->session_count];
        tutti_session_free(node, session);
    }
}

/* A part of a message, which is there as a whole; a signal does not part it. False: there is none. */
static bool receive_part(void *socket, zmq_msg_t *part)
{
    int size;
    do
        size = zmq_msg_recv(part, socket, ZMQ_DONTWAIT);
    while (size < 0 && zmq_errno() == EINTR);
    return size >= 0;
}

/* One message: whose it is, and what; anything after that is not of ours. False: there is none. */
static bool hear_router(struct tutti_daemon *node)
{
    zmq_msg_t id, message, more;
    zmq_msg_init(&id);
    zmq_msg_init(&message);
    bool got = receive_part(node->router, &id);
    if (got && zmq_msg_more(&id) && receive_part(node->router, &message)) {
        bool last = !zmq_msg_more(&message);
        for (bool goes_on = !last; goes_on;) {
            zmq_msg_init(&more);
            goes_on = receive_part(node->router, &more) && zmq_msg_more(&more);
            zmq_msg_close(&more);
        }
        hear_monitor(node);
        bury_sessions(node);
        struct tutti_session *session = last ? session_of(node, &id, &message) : NULL;
        if (session)
            tutti_session_take(node, session, zmq_msg_data(&message), zmq_msg_size(&message));
        bury_sessions(node);
    }
    zmq_msg_close(&id);
    zmq_msg_close(&message);
    return got;
}

/* ---- the loop ---- */

/* Everything that can wake us: sockets, and what workers say. NULL when memory is out. */
static zmq_pollitem_t *list_items(const struct tutti_daemon *node, int *count)
{
    size_t room = 3;
    for (size_t i = 0; i < node->session_count; i++)
        room += node->sessions[i]->worker_count;
    zmq_pollitem_t *items = calloc(room, sizeof *items);
    if (!items)
        return NULL;
    items[0] = (zmq_pollitem_t){.socket = node->router, .events = ZMQ_POLLIN};
    items[1] = (zmq_pollitem_t){.socket = node->monitor, .events = ZMQ_POLLIN};
    *count = 2;
    if (node->http)
        items[(*count)++] = (zmq_pollitem_t){.fd = node->http_module->descriptor(node->http), .events = ZMQ_POLLIN};
    for (size_t i = 0; i < node->session_count; i++)
        for (uint32_t w = 0; w < node->sessions[i]->worker_count; w++)
            if (node->sessions[i]->workers[w].socket >= 0)
                items[(*count)++] = (zmq_pollitem_t){.fd = node->sessions[i]->workers[w].socket, .events = ZMQ_POLLIN};
    return items;
}

/* Is it to end: at once, or because its last run is over? */
static bool is_to_end(const struct tutti_daemon *node)
{
    const struct tutti_node_options *options = node->options;
    bool runs = false;
    for (size_t i = 0; i < node->session_count; i++)
        runs = runs || node->sessions[i]->worker_count > 0;
    return (options->interrupt && *options->interrupt) || (options->drain && *options->drain && !runs);
}

static enum tutti_err serve(struct tutti_daemon *node)
{
    int wait = 0; /* milliseconds */
    while (!is_to_end(node)) {
        int count = 0;
        zmq_pollitem_t *items = list_items(node, &count);
        if (!items)
            return tutti_fail_memory();
        int ready = zmq_poll(items, count, wait);
        free(items);
        if (ready < 0 && zmq_errno() != EINTR)
            return fail_zmq("ZeroMQ cannot go on");
        hear_monitor(node);
        bury_sessions(node);
        for (int i = 0; i < 4 * TUTTI_NODE_AHEAD && hear_router(node); i++) /* workers want to be looked after, too */
            continue;
        for (size_t i = 0; i < node->session_count; i++)
            tutti_session_watch(node, node->sessions[i]);
        end_idle_sessions(node);
        bury_sessions(node);
        if (node->orphans)
            node->orphans = kill_orphans(node);
        wait = node->session_count > 0 || node->orphans ? TICK_MS : IDLE_MS;
        int wish = node->http ? node->http_module->run(node->http) : -1;
        wait = wish >= 0 && wish < wait ? wish : wait;
    }
    return TUTTI_OK;
}

enum tutti_err tutti_node_serve(const struct tutti_node_options *options)
{
    struct tutti_daemon *node = calloc(1, sizeof *node);
    if (!node)
        return tutti_fail_memory();
    node->options = options;
    node->began = tutti_clock_now();
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* N2 */
    (void)prctl(PR_SET_DUMPABLE, 0); /* FMUs run as the same user: its memory and environment are none of theirs */
    enum tutti_err err = open_node(node);
    if (!err)
        err = serve(node);
    char message[4096];
    snprintf(message, sizeof message, "%s", err ? tutti_err_message() : "");
    close_node(node);
    free(node);
    return err ? tutti_fail(err, "%s", message) : TUTTI_OK;
}
