/* SPDX-License-Identifier: MIT */
/* The daemon: who may connect, and the loop. */
#include "run/node/node_daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <zmq.h>

#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "base/wall_clock.h"
#include "fmu/archive/zip.h"
#include "fmu/fmu.h"
#include "run/fmu_process.h"
#include "run/key_files.h"
#include "run/node/daemon.h"
#include "run/node/node_metrics.h"
#include "run/node/node_session.h"

enum { TICK_MS = 100, IDLE_MS = 1000 };

/* ---- logging ---- */

void tt_node_daemon_log(const struct tt_node_daemon *node, struct tt_node_event event, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    if (!node->options->tell)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tt_text_make_printable(text);
    tt_text_spell_options(text);
    event.text = text;
    node->options->tell(node->options->tell_context, &event);
}

/* Logs connections with keys that are not permitted: `origin` is their address. */
static void log_rejected_key(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    tt_node_daemon_log(
        context,
        (struct tt_node_event){.name = "refused", .level = level, .peer = origin, .reason = "its key is not allowed"},
        "%s %s", origin ? origin : "a program", text);
}

/* ---- processes that FMUs have started ---- */

/* Returns true for children that are not workers. */
static bool is_orphan(void *context, pid_t pid)
{
    const struct tt_node_daemon *node = context;
    for (size_t i = 0; i < node->session_count; i++)
        for (uint32_t w = 0; w < node->sessions[i]->worker_count; w++)
            if (node->sessions[i]->workers[w].pid == pid)
                return false;
    return true;
}

/* Kills processes that workers had started and that outlived them (N2). True: there was some, and what that had started comes to us next. One that
 * runs as another user is let go. */
static bool kill_orphans(struct tt_node_daemon *node)
{
    return tt_fmu_process_signal_orphans(SIGKILL, is_orphan, node) > 0;
}

/* ---- opening ---- */

static enum tutti_err node_daemon_check_options(struct tt_node_daemon *node)
{
    const struct tt_node_options *options = node->options;
    TRY(tt_address_read(&node->address, options->listen,
                        &(struct tt_address_rule){.option = "--listen", .any_port = true}));
    if (options->ports)
        TRY(tt_tcp_address_parse_ports(&node->ports, options->ports, "--ports"));
    node->loopback = tt_address_is_loopback(&node->address);
    if (!node->loopback && (!options->key || options->allow_count == 0))
        return tt_fail(
            TUTTI_ERR_ARGUMENT,
            "--listen %s can be reached from other machines, and all who may use a node run code on it: give "
            "it a key (--key FILE, made by `tutti node --keygen FILE`) and say whose keys may use it "
            "(--allow FILE.pub); or listen at 127.0.0.1",
            options->listen);
    if (!options->key != (options->allow_count == 0))
        return tt_fail(TUTTI_ERR_ARGUMENT, options->key ? "--key without --allow lets no user in: name the public "
                                                          "keys of those who may use the node"
                                                        : "--allow needs the node's own key, too: --key FILE");
    return options->key ? tt_key_files_read(options->key, &node->keys) : tt_key_files_local(&node->keys);
}

/* Admits users whose keys are permitted; `users` has room for them. */
static enum tutti_err allow_users(struct tt_node_daemon *node, struct tt_node_user *users)
{
    for (size_t i = 0; i < node->options->allow_count; i++) {
        const char *path = node->options->allow[i], *slash = strrchr(path, '/');
        TRY(tt_key_files_read_public(path, users[i].key));
        snprintf(users[i].name, sizeof users[i].name, "%s", slash ? slash + 1 : path);
        TRY(tt_curve_auth_allow_key(node->zap, users[i].key, users[i].name));
    }
    return node->options->quota
               ? tt_node_policy_read_quotas(&node->quotas, node->options->quota, users, node->options->allow_count)
               : TUTTI_OK;
}

static enum tutti_err allow_keys(struct tt_node_daemon *node)
{
    node->zap_log = (struct tutti_log){.level = TUTTI_LOG_WARNING, .write = log_rejected_key, .context = node};
    TRY(tt_curve_auth_start(&node->zap, node->context, &node->zap_log));
    struct tt_node_user *users = calloc(node->options->allow_count + 1, sizeof *users);
    enum tutti_err err = users ? allow_users(node, users) : tt_fail_memory();
    free(users);
    TRY(err);
    if (!node->options->key) /* only this user can read that key */
        TRY(tt_curve_auth_allow_key(node->zap, node->keys.public_key, ""));
    tt_curve_auth_start_answering(node->zap);
    return tt_curve_auth_guard_socket(node->router, &node->keys);
}

static void log_node_confinement(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)origin;
    tt_node_daemon_log(context, (struct tt_node_event){.name = "confinement", .level = level, .reason = text}, "%s",
                       text);
}

/* FMUs that the node offers may run, too. */
static enum tutti_err read_permitted_fmus(struct tt_node_daemon *node)
{
    node->permitted.all = node->options->allow_fmu_count == 0;
    for (size_t i = 0; i < node->options->allow_fmu_count; i++)
        TRY(tt_node_policy_read_permitted(&node->permitted, node->options->allow_fmu[i]));
    for (size_t i = 0; i < node->offer_count && !node->permitted.all; i++) {
        struct tt_content content;
        TRY(tt_content_of_file(&content, node->offers[i].path));
        TRY(tt_node_policy_permit(&node->permitted, content.hash));
    }
    return TUTTI_OK;
}

static enum tutti_err fail_zmq(const char *what)
{
    return tt_fail(TUTTI_ERR_IO, "%s: %s", what, zmq_strerror(zmq_errno()));
}

static enum tutti_err bind_router(struct tt_node_daemon *node, const char *endpoint)
{
    char bound[TUTTI_ADDRESS_SIZE];
    size_t size = sizeof bound;
    const struct tt_port_range as_told = {0};
    TRY(tt_tcp_address_bind(node->address.port == 0 ? &node->ports : &as_told, node->router, endpoint));
    if (zmq_getsockopt(node->router, ZMQ_LAST_ENDPOINT, bound, &size) != 0)
        return fail_zmq("ZeroMQ");
    const char *port = strrchr(bound, ':');
    node->address.port = port ? atoi(port + 1) : node->address.port;
    tt_node_daemon_log(node, (struct tt_node_event){.name = "listening", .level = TUTTI_LOG_INFO},
                       "listening at %s, %s", bound + strlen("tcp://"),
                       node->options->key ? "for those whose keys are allowed"
                                          : "for runs of this user on this machine");
    return TUTTI_OK;
}

static enum tutti_err node_daemon_open_sockets(struct tt_node_daemon *node)
{
    int yes = 1;
    char endpoint[TUTTI_ADDRESS_SIZE];
    tt_address_format(&node->address, "tcp://", endpoint, sizeof endpoint);
    node->context = zmq_ctx_new();
    node->router = node->context ? zmq_socket(node->context, ZMQ_ROUTER) : NULL;
    node->monitor = node->context ? zmq_socket(node->context, ZMQ_PAIR) : NULL;
    if (!node->router || !node->monitor)
        return fail_zmq("ZeroMQ cannot begin");
    TRY(tt_node_protocol_configure_socket(node->router, endpoint));
    if (zmq_setsockopt(node->router, ZMQ_ROUTER_MANDATORY, &yes, sizeof yes) != 0 ||
        zmq_socket_monitor(node->router, "inproc://monitor", ZMQ_EVENT_DISCONNECTED) != 0 ||
        zmq_connect(node->monitor, "inproc://monitor") != 0)
        return fail_zmq("ZeroMQ cannot begin");
    TRY(allow_keys(node));
    return bind_router(node, endpoint);
}

static enum tutti_err open_node(struct tt_node_daemon *node)
{
    struct tt_socket_address found;
    TRY(node_daemon_check_options(node));
    enum tutti_err err = tt_address_look_up(&found, &node->address, TUTTI_ERR_IO);
    if (err)
        return tt_fail_context(err, "--listen");
    node->address = found.numeric; /* ZeroMQ binds to addresses only */
    TRY(tt_content_cache_open(&node->cache, node->options->cache));
    TRY(tt_node_daemon_open_offers(node));
    TRY(read_permitted_fmus(node));
    struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = log_node_confinement, .context = node};
    TRY(tt_node_policy_check_rules(&node->options->rules, &log));
    TRY(tt_node_metrics_open(node));
    err = node_daemon_open_sockets(node);
    tt_curve_auth_wipe_keys(&node->keys); /* ZeroMQ has its own copy */
    return err;
}

static void close_node(struct tt_node_daemon *node)
{
    for (size_t i = 0; i < node->session_count; i++)
        tt_node_session_free(node, node->sessions[i]);
    node->session_count = 0;
    if (node->runs > 0) /* all workers have ended: what they left ends at once, unless the system is in the way */
        for (int i = 0; i < 100 && kill_orphans(node); i++)
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    tt_node_metrics_close(node);
    if (node->router)
        zmq_close(node->router);
    if (node->monitor) {
        int none = 0;
        zmq_setsockopt(node->monitor, ZMQ_LINGER, &none, sizeof none);
        zmq_close(node->monitor);
    }
    tt_curve_auth_stop(node->zap);
    if (node->context)
        zmq_ctx_term(node->context);
    tt_node_policy_free_quotas(&node->quotas);
    tt_node_policy_free_permitted(&node->permitted);
    tt_node_daemon_close_offers(node);
    tt_content_cache_free(node->cache);
    tt_curve_auth_wipe_keys(&node->keys);
    tt_bytes_fini(&node->parcel);
}

/* ---- sessions ---- */

/* Whether one more can be had for the user. */
static enum tutti_err check_user_limit(const struct tt_node_daemon *node, const struct tt_node_session *stranger)
{
    size_t waiting = 0;
    for (size_t i = 0; i < node->session_count; i++)
        waiting += !tt_node_session_is_running(node->sessions[i]) &&
                   strcmp(node->sessions[i]->user, stranger->user) == 0;
    if (waiting >= TUTTI_NODE_MOST_WAITING)
        return tt_fail(TUTTI_ERR_LIMIT, "%zu runs of this user are connected and have not begun; end some, or wait",
                       waiting);
    if (node->session_count == TUTTI_NODE_MOST_SESSIONS)
        return tt_fail(TUTTI_ERR_LIMIT, "the node has all the %d runs that it can have; try again later",
                       TUTTI_NODE_MOST_SESSIONS);
    return TUTTI_OK;
}

/* The one that the message is from; a new one for a stranger. NULL: it was refused. */
static struct tt_node_session *node_daemon_find_session(struct tt_node_daemon *node, zmq_msg_t *id, zmq_msg_t *message)
{
    size_t size = zmq_msg_size(id);
    for (size_t i = 0; i < node->session_count; i++)
        if (node->sessions[i]->id_size == size && memcmp(node->sessions[i]->id, zmq_msg_data(id), size) == 0)
            return node->sessions[i];
    struct tt_node_session *session = size <= sizeof session->id ? calloc(1, sizeof *session) : NULL;
    if (!session)
        return NULL;

    const char *peer = zmq_msg_gets(message, "Peer-Address"), *user = zmq_msg_gets(message, "User-Id");
    memcpy(session->id, zmq_msg_data(id), size);
    session->id_size = size;
    session->fd = zmq_msg_get(message, ZMQ_SRCFD);
    clock_gettime(CLOCK_REALTIME_COARSE, &session->since);
    snprintf(session->peer, sizeof session->peer, "%s", peer ? peer : "");
    snprintf(session->user, sizeof session->user, "%s", user ? user : "");
    tt_text_make_printable(session->user);

    enum tutti_err err = check_user_limit(node, session);
    if (!err)
        return node->sessions[node->session_count++] = session;
    tt_node_session_reject(node, session, err);
    tt_node_session_free(node, session);
    return NULL;
}

/* Disconnects silent runners, whose places are then free. */
static void end_idle_sessions(struct tt_node_daemon *node)
{
    double now = tt_wall_clock_now();
    for (size_t i = 0; i < node->session_count; i++) {
        struct tt_node_session *session = node->sessions[i];
        if (tt_node_session_is_running(session) || now - session->heard <= node->options->idle)
            continue;
        enum tutti_err err =
            tt_fail(TUTTI_ERR_LIMIT,
                    "nothing was said for %s s, and the run has not begun; if it needs longer, its owner "
                    "can start the node with a larger --idle",
                    NUMBER(node->options->idle));
        tt_node_session_reject(node, session, err);
    }
}

/* Connections that have ended. Called before each message is handled: the number of a closed connection may be reused,
 * and messages of the new connection come after this event. */
static void receive_monitor_events(struct tt_node_daemon *node)
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

static void remove_ended_sessions(struct tt_node_daemon *node)
{
    for (size_t i = 0; i < node->session_count;) {
        struct tt_node_session *session = node->sessions[i];
        if (!session->over) {
            i++;
            continue;
        }
        node->sessions[i] = node->sessions[--node->session_count];
        tt_node_session_free(node, session);
    }
}

/* Receives a part of a message that has arrived completely; signals do not interrupt it. False: none. */
static bool receive_message_part(void *socket, zmq_msg_t *part)
{
    int size;
    do
        size = zmq_msg_recv(part, socket, ZMQ_DONTWAIT);
    while (size < 0 && zmq_errno() == EINTR);
    return size >= 0;
}

/* Receives one message: its sender and content; further parts are not part of the protocol. False: none. */
static bool receive_router_message(struct tt_node_daemon *node)
{
    zmq_msg_t id, message, more;
    zmq_msg_init(&id);
    zmq_msg_init(&message);
    bool got = receive_message_part(node->router, &id);
    if (got && zmq_msg_more(&id) && receive_message_part(node->router, &message)) {
        bool last = !zmq_msg_more(&message);
        for (bool goes_on = !last; goes_on;) {
            zmq_msg_init(&more);
            goes_on = receive_message_part(node->router, &more) && zmq_msg_more(&more);
            zmq_msg_close(&more);
        }
        receive_monitor_events(node);
        remove_ended_sessions(node);
        struct tt_node_session *session = last ? node_daemon_find_session(node, &id, &message) : NULL;
        if (session)
            tt_node_session_receive(node, session, zmq_msg_data(&message), zmq_msg_size(&message));
        remove_ended_sessions(node);
    }
    zmq_msg_close(&id);
    zmq_msg_close(&message);
    return got;
}

/* ---- the loop ---- */

/* Everything that can wake us: sockets, and what workers say. NULL when memory is out. */
static zmq_pollitem_t *list_poll_items(const struct tt_node_daemon *node, int *count)
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

/* Returns true if the daemon must end: at once, or because its last run is over. */
static bool should_daemon_end(const struct tt_node_daemon *node)
{
    const struct tt_node_options *options = node->options;
    bool runs = false;
    for (size_t i = 0; i < node->session_count; i++)
        runs = runs || node->sessions[i]->worker_count > 0;
    return (options->interrupt && *options->interrupt) || (options->drain && *options->drain && !runs);
}

static enum tutti_err node_daemon_serve(struct tt_node_daemon *node)
{
    int wait = 0; /* milliseconds */
    while (!should_daemon_end(node)) {
        int count = 0;
        zmq_pollitem_t *items = list_poll_items(node, &count);
        if (!items)
            return tt_fail_memory();
        int ready = zmq_poll(items, count, wait);
        free(items);
        if (ready < 0 && zmq_errno() != EINTR)
            return fail_zmq("ZeroMQ cannot go on");
        receive_monitor_events(node);
        remove_ended_sessions(node);
        for (int i = 0; i < 4 * TUTTI_NODE_AHEAD && receive_router_message(node);
             i++) /* workers want to be looked after, too */
            continue;
        for (size_t i = 0; i < node->session_count; i++)
            tt_node_session_check_workers(node, node->sessions[i]);
        end_idle_sessions(node);
        remove_ended_sessions(node);
        if (node->orphans)
            node->orphans = kill_orphans(node);
        wait = node->session_count > 0 || node->orphans ? TICK_MS : IDLE_MS;
        int wish = node->http ? node->http_module->run(node->http) : -1;
        wait = wish >= 0 && wish < wait ? wish : wait;
    }
    return TUTTI_OK;
}

enum tutti_err tt_node_daemon_serve(const struct tt_node_options *options)
{
    struct tt_node_daemon *node = calloc(1, sizeof *node);
    if (!node)
        return tt_fail_memory();
    node->options = options;
    node->began = tt_wall_clock_now();
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* N2 */
    (void)prctl(PR_SET_DUMPABLE, 0); /* FMUs run as the same user, but must not read its memory and environment */
    enum tutti_err err = open_node(node);
    if (!err)
        err = node_daemon_serve(node);
    char message[4096];
    snprintf(message, sizeof message, "%s", err ? tutti_err_message() : "");
    close_node(node);
    free(node);
    return err ? tt_fail(err, "%s", message) : TUTTI_OK;
}

/* FMUs that can be used here, but do not leave this machine: others get an archive with the description alone. */

#define DESCRIPTION "modelDescription.xml"

static enum tutti_err write_stand_in(const struct tt_node_offer *offer)
{
    struct tt_fmu *fmu = NULL;
    struct tt_findings findings = {0};
    TRY(tt_fmu_open(&fmu, offer->path, &findings));
    struct tt_zip_part part = {.name = DESCRIPTION, .archive = fmu->archive};
    while (strcmp(tt_archive_name(fmu->archive, part.index), DESCRIPTION) != 0)
        part.index++;
    enum tutti_err err = tt_zip_write(offer->stand, &part, 1);
    tt_fmu_free(fmu);
    return err;
}

static enum tutti_err offers_stat(const struct tt_node_offer *offer, struct stat *st)
{
    if (stat(offer->path, st) != 0)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s, which is offered: %s", offer->path, strerror(errno));
    if (!S_ISREG(st->st_mode))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--offer takes an FMU that is packed, and %s is not a plain file",
                       offer->path);
    return TUTTI_OK;
}

static enum tutti_err open_offer(struct tt_node_daemon *node, struct tt_node_offer *offer, const char *path)
{
    struct stat st;
    struct tt_text stand = {0};
    const char *slash = strrchr(path, '/');
    tt_text_printf(&stand, "%s/offer-%zu", tt_content_cache_work_folder(node->cache), node->offer_count);
    offer->stand = stand.text;
    offer->name = tt_text_copy(slash ? slash + 1 : path);
    offer->path = tt_fs_absolute(path);
    if (stand.failed || !offer->name || !offer->path)
        return tt_fail_memory();
    TRY(offers_stat(offer, &st));
    offer->size = st.st_size;
    offer->changed = st.st_mtim;
    for (size_t i = 0; i < node->offer_count; i++)
        if (strcmp(node->offers[i].name, offer->name) == 0)
            return tt_fail(TUTTI_ERR_ARGUMENT, "--offer: two files are called %s; runs could not tell them apart",
                           offer->name);
    TRY(write_stand_in(offer));
    return tt_content_of_file(&offer->content, offer->stand);
}

enum tutti_err tt_node_daemon_open_offers(struct tt_node_daemon *node)
{
    node->offers = calloc(node->options->offer_count + 1, sizeof *node->offers);
    if (!node->offers)
        return tt_fail_memory();
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < node->options->offer_count && !err; i++) {
        err = open_offer(node, &node->offers[i], node->options->offers[i]);
        node->offer_count++; /* also an incomplete one: it is released with all others */
    }
    return err;
}

void tt_node_daemon_close_offers(struct tt_node_daemon *node)
{
    for (size_t i = 0; i < node->offer_count; i++) {
        free(node->offers[i].name);
        free(node->offers[i].path);
        free(node->offers[i].stand);
    }
    free(node->offers);
}

enum tutti_err tt_node_daemon_check_offer(const struct tt_node_offer *offer)
{
    struct stat st;
    TRY(offers_stat(offer, &st));
    if (st.st_size == offer->size && st.st_mtim.tv_sec == offer->changed.tv_sec &&
        st.st_mtim.tv_nsec == offer->changed.tv_nsec)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_IO, "%s has changed since the node that offers it was started; start it again",
                   offer->name);
}
