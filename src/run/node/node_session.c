/* SPDX-License-Identifier: MIT */
#include "run/node/node_session.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tutti/run.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "base/fs.h"
#include "base/child.h"
#include "base/number.h"
#include "base/text.h"
#include "run/node/worker_process.h"

/* Begins an event of the session's. */
static struct tt_node_event start_session_event(const struct tt_node_session *session, const char *name,
                                                enum tutti_log_level level, const char *reason)
{
    return (struct tt_node_event){.name = name,
                                  .level = level,
                                  .run = session->run,
                                  .id = session->run ? session->run_id : NULL,
                                  .peer = session->peer,
                                  .user = session->user,
                                  .reason = reason};
}

static enum tutti_err fail_malformed_message(void)
{
    return tt_fail(TUTTI_ERR_FORMAT, "the node does not understand what this program asks for");
}

/* ---- from START to workers that run ---- */

/* File `number` of the run: from the cache, or an offer. */
static enum tutti_err place_run_file(struct tt_node_daemon *node, struct tt_node_session *session, uint32_t number,
                                     struct tt_byte_reader *in)
{
    struct tt_text path = {0};
    struct tt_content content = {0};
    bool offered = tt_bytes_get_u8(in) != 0;
    uint32_t offer = offered ? tt_bytes_get_u32(in) : 0;
    if (!offered)
        tt_node_protocol_read_content(in, &content);
    if (in->bad || (offered && offer >= node->offer_count))
        return fail_malformed_message();
    tt_text_printf(&path, "%s/%u", session->folder, number);
    enum tutti_err err = path.failed ? tt_fail_memory() : TUTTI_OK;
    if (!err && offered)
        err = tt_node_daemon_check_offer(&node->offers[offer]);
    if (!err && offered && symlink(node->offers[offer].path, path.text) != 0)
        err = tt_fail(TUTTI_ERR_IO, "cannot use the folder %s: %s", session->folder, strerror(errno));
    if (!err && !offered)
        err = tt_content_cache_copy_out(node->cache, &content, path.text);
    tt_text_fini(&path);
    return err;
}

/* ---- a worker ---- */

/* A memory file with this in it, numbered above those that a worker is to have; -1: errno. */
static int node_session_create_memory_file(const char *name, const void *bytes, size_t size)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 64);
    if (fd >= 0)
        close(fd);
    if (high >= 0 && size > 0 && tt_fs_write(high, bytes, size, 0) != size) {
        close(high);
        return -1;
    }
    return high;
}

/* Memory of this size that the worker sees, too, zeroed. It stays so large: code of an FMU could cut it off otherwise, and the daemon
 * would fall with it. */
static void *map_worker_memory(int fd, size_t size)
{
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return NULL;
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* Variables of the node's environment that FMUs may see, unless its owner names more: others may hold passwords. */
static bool is_variable_passed_on(const struct tt_node_options *options, const char *setting)
{
    static const char *const usual[] = {"PATH",     "HOME", "USER", "LOGNAME",         "SHELL", "LANG",
                                        "LANGUAGE", "LC_*", "TZ",   "LD_LIBRARY_PATH", "OMP_*"};
    char name[256];
    size_t length = strcspn(setting, "=");
    if (length >= sizeof name || strncmp(setting, "TMPDIR=", 7) == 0)
        return false;
    memcpy(name, setting, length);
    name[length] = '\0';
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (fnmatch(usual[i], name, 0) == 0)
            return true;
    for (size_t i = 0; i < options->env_count; i++)
        if (fnmatch(options->env[i], name, 0) == 0)
            return true;
    return false;
}

/* The environment of a worker: a part of this process's, with a separate folder for temporary files, so that files of a
 * killed worker are removed with the run. `own` has room for the setting. Belongs to the caller (free); NULL when
 * memory is out. */
static char **node_session_environment(const struct tt_node_options *options, const char *folder, struct tt_text *own)
{
    size_t count = 0, n = 0;
    while (environ[count])
        count++;
    char **made = calloc(count + 2, sizeof *made);
    tt_text_printf(own, "TMPDIR=%s", folder);
    if (!made || own->failed) {
        free(made);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (is_variable_passed_on(options, environ[i]))
            made[n++] = environ[i];
    made[n] = own->text;
    return made;
}

static enum tutti_err start_process(struct tt_node_daemon *node, struct tt_session_worker *worker,
                                    const int fds[TUTTI_WORKER_FDS], const char *folder)
{
    struct tt_text own = {0};
    char **environment = node_session_environment(node->options, folder, &own);
    /* In a group of its own: Ctrl-C is for the daemon, which then ends it. */
    const struct tt_child_plan plan = {.words = node->options->worker,
                                       .environment = environment,
                                       .streams = {TUTTI_CHILD_NOWHERE, STDERR_FILENO},
                                       .passed = fds,
                                       .passed_count = TUTTI_WORKER_FDS,
                                       .flags = TUTTI_CHILD_GROUP | TUTTI_CHILD_CLEAR_SIGNALS};
    worker->pid = 0;
    int error = environment ? tt_child_start(&worker->pid, &plan) : ENOMEM;
    free(environment);
    tt_text_fini(&own);
    return error ? tt_fail(TUTTI_ERR_IO, "the node cannot start a worker: %s", strerror(error)) : TUTTI_OK;
}

static void write_worker_setup(struct tt_byte_writer *parcel, const struct tt_node_daemon *node,
                               const struct tt_node_session *session, int rank, const void *job, size_t job_size)
{
    tt_bytes_put_text(parcel, session->folder);
    tt_bytes_put_u32(parcel, (uint32_t)rank);
    tt_bytes_put_u32(parcel, (uint32_t)session->ranks);
    tt_bytes_put_u8(parcel, session->keys);
    tt_bytes_put_text(parcel, node->address.host);
    tt_bytes_put_u32(parcel, (uint32_t)node->ports.first);
    tt_bytes_put_u32(parcel, (uint32_t)node->ports.last);
    tt_bytes_put_bytes(parcel, session->run_id, sizeof session->run_id);
    tt_node_policy_pack_permitted(&node->permitted, parcel);
    tt_node_policy_pack_rules(&node->options->rules, parcel);
    tt_bytes_put_block(parcel, job, job_size);
}

static enum tutti_err start_worker(struct tt_node_daemon *node, struct tt_node_session *session,
                                   struct tt_session_worker *worker, const void *job, size_t job_size)
{
    int pair[2] = {-1, -1};
    struct tt_byte_writer setup = {0};
    struct tt_text folder = {0};
    write_worker_setup(&setup, node, session, worker->rank, job, job_size);
    tt_text_printf(&folder, "%s/tmp-%d", session->folder, worker->rank);
    int setup_fd = setup.failed ? -1 : node_session_create_memory_file("setup", setup.bytes, setup.size);
    int page = node_session_create_memory_file("page", NULL, 0);
    worker->peers = node_session_create_memory_file("peers", NULL, 0);
    int denials = node_session_create_memory_file("denials", NULL, 0);
    worker->page = map_worker_memory(page, sizeof *worker->page);
    worker->denials = map_worker_memory(denials, sizeof *worker->denials);
    if (worker->page)
        atomic_store(&worker->page->where.component, UINT32_MAX);
    bool paired = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0;
    int theirs = paired ? fcntl(pair[1], F_DUPFD_CLOEXEC, 64) : -1;
    worker->socket = pair[0];
    const int fds[TUTTI_WORKER_FDS] = {setup_fd, theirs, page, worker->peers, denials};
    enum tutti_err err;
    if (setup_fd < 0 || theirs < 0 || !worker->page || !worker->denials || worker->peers < 0 || folder.failed ||
        fcntl(theirs, F_SETFL, 0) != 0 || mkdir(folder.text, S_IRWXU) != 0)
        err = tt_fail(TUTTI_ERR_IO, "the node cannot prepare a worker: %s", strerror(errno));
    else
        err = start_process(node, worker, fds, folder.text);
    const int spent[] = {setup_fd, theirs, page, denials, pair[1]};
    for (size_t i = 0; i < sizeof spent / sizeof *spent; i++)
        if (spent[i] >= 0)
            close(spent[i]);
    tt_bytes_fini(&setup);
    tt_text_fini(&folder);
    return err;
}

/* ---- START ---- */

/* The present runs and ranks, and their limits; 0: unlimited. */
struct session_share {
    uint32_t runs, ranks, most_runs, most_ranks;
};

static bool node_session_has_room_for_run(const struct session_share *share)
{
    return share->most_runs == 0 || share->runs < share->most_runs;
}

static bool has_room_for_ranks(const struct session_share *share, uint32_t ranks)
{
    return share->most_ranks == 0 || (ranks <= share->most_ranks && share->ranks <= share->most_ranks - ranks);
}

static enum tutti_err check_node_shares(const struct session_share *node, const struct session_share *user,
                                        uint32_t ranks)
{
    const char *plural = ranks == 1 ? "" : "s";
    if (!node_session_has_room_for_run(node))
        return tt_fail(TUTTI_ERR_LIMIT, "it has as many runs as it may have, %u (--max-runs); try again later",
                       node->runs);
    if (!has_room_for_ranks(node, ranks))
        return tt_fail(
            TUTTI_ERR_LIMIT,
            "the run wants %u rank%s of it, and %u of its %u are taken (--max-ranks); try again later, or name "
            "other nodes",
            ranks, plural, node->ranks, node->most_ranks);
    if (!node_session_has_room_for_run(user))
        return tt_fail(TUTTI_ERR_LIMIT,
                       "this user has %u run%s on it, and may have no more (--quota); wait for one to end", user->runs,
                       user->runs == 1 ? "" : "s");
    if (!has_room_for_ranks(user, ranks))
        return tt_fail(
            TUTTI_ERR_LIMIT,
            "the run wants %u rank%s of it, and this user has taken %u of %u (--quota); wait for a run to end, "
            "or name other nodes",
            ranks, plural, user->ranks, user->most_ranks);
    return TUTTI_OK;
}

static double node_session_least_limit(double a, double b)
{
    return a > 0 && b > 0 ? fmin(a, b) : a + b; /* 0 is none */
}

/* Checks that the node may accept a run of `ranks` ranks in addition, and determines the limits of the run. */
static enum tutti_err check_limits(const struct tt_node_daemon *node, struct tt_node_session *session, uint32_t ranks)
{
    const struct tt_node_options *options = node->options;
    const struct tt_quota quota = tt_node_policy_find_quota(&node->quotas, session->user);
    struct session_share all = {.most_runs = options->max_runs, .most_ranks = options->max_ranks};
    struct session_share own = {.most_runs = quota.runs, .most_ranks = quota.ranks};
    for (size_t i = 0; i < node->session_count; i++) {
        const struct tt_node_session *other = node->sessions[i];
        bool is_own = strcmp(other->user, session->user) == 0;
        all.runs += other->worker_count > 0;
        all.ranks += other->worker_count;
        own.runs += is_own && other->worker_count > 0;
        own.ranks += is_own ? other->worker_count : 0;
    }
    session->max_seconds = node_session_least_limit(options->max_seconds, quota.seconds);
    session->max_memory = (uint64_t)node_session_least_limit((double)options->max_memory, (double)quota.memory);
    return check_node_shares(&all, &own, ranks);
}

static enum tutti_err read_ranks(const struct tt_node_daemon *node, struct tt_node_session *session,
                                 struct tt_byte_reader *in)
{
    uint32_t count = tt_bytes_get_u32(in);
    if (in->bad || count == 0 || count > (uint32_t)session->ranks)
        return fail_malformed_message();
    TRY(check_limits(node, session, count));
    session->workers = calloc(count, sizeof *session->workers);
    if (!session->workers)
        return tt_fail_memory();
    for (session->worker_count = 0; session->worker_count < count; session->worker_count++) {
        uint32_t rank = tt_bytes_get_u32(in);
        session->workers[session->worker_count] =
            (struct tt_session_worker){.rank = (int)rank, .socket = -1, .peers = -1};
        for (uint32_t i = 0; i < session->worker_count; i++)
            in->bad = in->bad || session->workers[i].rank == (int)rank;
        if (in->bad || rank >= (uint32_t)session->ranks)
            return fail_malformed_message();
    }
    return TUTTI_OK;
}

static enum tutti_err check_draining(const struct tt_node_daemon *node)
{
    const volatile sig_atomic_t *drain = node->options->drain;
    return drain && *drain ? tt_fail(TUTTI_ERR_LIMIT, "it is being shut down, and takes no new runs") : TUTTI_OK;
}

static enum tutti_err node_session_read_head(struct tt_node_daemon *node, struct tt_node_session *session,
                                             struct tt_byte_reader *in)
{
    const void *id = tt_bytes_get(in, sizeof session->run_id);
    session->keys = tt_bytes_get_u8(in) != 0;
    session->timeout = tt_bytes_get_double(in);
    uint32_t ranks = tt_bytes_get_u32(in);
    if (in->bad || session->run || ranks == 0 || ranks > TUTTI_NODE_MOST_RANKS || !(session->timeout >= 0))
        return fail_malformed_message();
    if (!session->keys && !node->loopback)
        return tt_fail(TUTTI_ERR_ARGUMENT, "this node is beyond loopback, where nothing runs without keys");
    memcpy(session->run_id, id, sizeof session->run_id);
    session->ranks = (int)ranks;
    session->run = ++node->runs;
    session->began = tt_wall_clock_now();
    return TUTTI_OK;
}

static enum tutti_err node_session_start_run(struct tt_node_daemon *node, struct tt_node_session *session,
                                             struct tt_byte_reader *in)
{
    size_t job_size;
    TRY(check_draining(node));
    TRY(node_session_read_head(node, session, in));
    TRY(read_ranks(node, session, in));

    struct tt_text path = {0};
    tt_text_printf(&path, "%s/run-%u", tt_content_cache_work_folder(node->cache), session->run);
    session->folder = path.text;
    if (path.failed)
        return tt_fail_memory();
    if (mkdir(path.text, S_IRWXU) != 0)
        return tt_fail(TUTTI_ERR_IO, "cannot make the folder %s: %s", path.text, strerror(errno));

    uint32_t files = tt_bytes_get_u32(in);
    if (in->bad || files > TUTTI_NODE_MOST_FILES)
        return fail_malformed_message();
    for (uint32_t i = 0; i < files; i++)
        TRY(place_run_file(node, session, i, in));
    const void *job = tt_bytes_get_block(in, &job_size);
    if (in->bad || in->at != in->end)
        return fail_malformed_message();
    for (uint32_t i = 0; i < session->worker_count; i++)
        TRY(start_worker(node, session, &session->workers[i], job, job_size));
    return TUTTI_OK;
}

/* ---- PEERS ---- */

/* A worker without this word waits for ever, and shows signs of life. True, too, if it is dead: its end is seen elsewhere. */
static bool send_start_word(int socket)
{
    ssize_t sent;
    do
        sent = send(socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == 1 || errno == EPIPE || errno == ECONNRESET;
}

static enum tutti_err node_session_release_workers(struct tt_node_session *session, const struct tt_byte_reader *in)
{
    size_t size = (size_t)(in->end - in->at);
    enum tutti_err err = session->run && !session->workers[0].running ? TUTTI_OK : fail_malformed_message();
    for (uint32_t i = 0; i < session->worker_count && !err; i++) {
        struct tt_session_worker *worker = &session->workers[i];
        if ((worker->peers >= 0 && tt_fs_write(worker->peers, in->at, size, 0) != size) ||
            (worker->socket >= 0 && !send_start_word(worker->socket)))
            err = tt_fail(TUTTI_ERR_IO, "the node cannot tell its workers of each other: %s", strerror(errno));
        if (worker->peers >= 0)
            close(worker->peers);
        worker->peers = -1;
        worker->running = true;
        worker->beat_time = tt_wall_clock_now();
    }
    return err;
}

static const uint64_t LARGEST_FILE = (uint64_t)1 << 36;
static const double LAST_WORDS = 0.5; /* seconds */
static const double BEGINNING = 5.0;  /* seconds that a program may take to be loaded, at least */

static void node_session_reply(struct tt_node_daemon *node, struct tt_node_session *session)
{
    if (!tt_node_protocol_send(node->router, session->id, session->id_size, &node->parcel))
        session->over = true; /* it is gone, or takes nothing any more */
    else
        node->counts.bytes_out += node->parcel.size;
}

/* ---- messages ---- */

static enum tutti_err handle_hello(struct tt_node_daemon *node, struct tt_node_session *session,
                                   struct tt_byte_reader *in)
{
    TRY(tt_node_protocol_read_hello(in));
    TRY(check_draining(node));
    session->greeted = true;
    tt_node_protocol_start_message(&node->parcel, TUTTI_NODE_WELCOME);
    tt_bytes_put_text(&node->parcel, tutti_version());
    tt_bytes_put_u32(&node->parcel, (uint32_t)node->offer_count);
    for (size_t i = 0; i < node->offer_count; i++) {
        tt_bytes_put_text(&node->parcel, node->offers[i].name);
        tt_node_protocol_write_content(&node->parcel, &node->offers[i].content);
    }
    node_session_reply(node, session);
    return TUTTI_OK;
}

static enum tutti_err handle_fetch(struct tt_node_daemon *node, struct tt_node_session *session,
                                   struct tt_byte_reader *in)
{
    uint32_t index = tt_bytes_get_u32(in);
    uint64_t offset = tt_bytes_get_u64(in);
    if (in->bad || index >= node->offer_count || offset > node->offers[index].content.size)
        return fail_malformed_message();
    char *bytes = malloc(TUTTI_NODE_PIECE);
    int fd = bytes ? open(node->offers[index].stand, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd < 0 ? -1 : pread(fd, bytes, TUTTI_NODE_PIECE, (off_t)offset);
    enum tutti_err err = n < 0 ? tt_fail(TUTTI_ERR_IO, "the node cannot read what it offers: %s", strerror(errno))
                               : TUTTI_OK;
    if (fd >= 0)
        close(fd);
    if (!err) {
        tt_node_protocol_start_message(&node->parcel, TUTTI_NODE_PIECE_OF);
        tt_bytes_put_u32(&node->parcel, index);
        tt_bytes_put_u64(&node->parcel, offset);
        tt_bytes_put_block(&node->parcel, bytes, (size_t)n);
        node_session_reply(node, session);
    }
    free(bytes);
    return err;
}

static enum tutti_err handle_query(struct tt_node_daemon *node, struct tt_node_session *session,
                                   struct tt_byte_reader *in)
{
    uint32_t count = tt_bytes_get_u32(in), lacking = 0;
    if (in->bad || count > TUTTI_NODE_MOST_FILES)
        return fail_malformed_message();
    uint32_t *lacks = calloc((size_t)count + 1, sizeof *lacks); /* looked at once: another node may share the cache */
    if (!lacks)
        return tt_fail_memory();
    bool sound = true;
    for (uint32_t i = 0; i < count && sound; i++) {
        struct tt_content content;
        tt_node_protocol_read_content(in, &content);
        sound = !in->bad && content.size <= LARGEST_FILE;
        if (sound && !tt_content_cache_has(node->cache, &content))
            lacks[lacking++] = i;
    }
    tt_node_protocol_start_message(&node->parcel, TUTTI_NODE_LACK);
    tt_bytes_put_u32(&node->parcel, lacking);
    for (uint32_t i = 0; i < lacking; i++)
        tt_bytes_put_u32(&node->parcel, lacks[i]);
    free(lacks);
    if (!sound)
        return fail_malformed_message();
    node->counts.cache_hits += count - lacking;
    node->counts.cache_misses += lacking;
    node_session_reply(node, session);
    return TUTTI_OK;
}

/* Files needed by sessions that have not begun stay: they arrived, or were found, after these sessions connected. */
static void evict_from_cache(struct tt_node_daemon *node)
{
    struct timespec since;
    clock_gettime(CLOCK_REALTIME_COARSE, &since);
    for (size_t i = 0; i < node->session_count; i++) {
        const struct tt_node_session *session = node->sessions[i];
        if (session->run == 0 && (session->since.tv_sec < since.tv_sec ||
                                  (session->since.tv_sec == since.tv_sec && session->since.tv_nsec < since.tv_nsec)))
            since = session->since;
    }
    node->counts.cache_evictions += tt_content_cache_evict(node->cache, node->options->cache_size, &since);
}

static enum tutti_err handle_put(struct tt_node_daemon *node, struct tt_node_session *session,
                                 struct tt_byte_reader *in)
{
    size_t size;
    struct tt_content content;
    tt_node_protocol_read_content(in, &content);
    uint64_t offset = tt_bytes_get_u64(in);
    const void *bytes = tt_bytes_get_block(in, &size);
    if (in->bad || content.size > LARGEST_FILE)
        return fail_malformed_message();
    if (content.size > node->options->cache_size)
        return tt_fail(TUTTI_ERR_LIMIT,
                       "a file of the run has %" PRIu64 " bytes, and the node keeps no more than %" PRIu64
                       " in all; its owner can start it with a larger --cache-size",
                       content.size, node->options->cache_size);
    if (!session->arrival)
        TRY(tt_content_arrival_new(&session->arrival, node->cache, &content));
    if (!tt_content_equal(tt_content_arrival_content(session->arrival), &content) ||
        tt_content_arrival_size(session->arrival) != offset)
        return fail_malformed_message();
    TRY(tt_content_arrival_write(session->arrival, bytes, size));
    if (offset + size == content.size) {
        struct tt_content_arrival *whole = session->arrival;
        session->arrival = NULL;
        TRY(tt_content_arrival_finish(whole));
        evict_from_cache(node);
    }
    tt_node_protocol_start_message(&node->parcel, TUTTI_NODE_GOT);
    tt_node_protocol_write_content(&node->parcel, &content);
    tt_bytes_put_u64(&node->parcel, offset + size);
    node_session_reply(node, session);
    return TUTTI_OK;
}

static enum tutti_err node_session_handle_start(struct tt_node_daemon *node, struct tt_node_session *session,
                                                struct tt_byte_reader *in)
{
    enum tutti_err err = node_session_start_run(node, session, in);
    evict_from_cache(node);
    tt_content_cache_clean_up(node->cache);
    if (!err) {
        session->begun = true;
        node->counts.runs_started++;
        tt_node_daemon_log(node, start_session_event(session, "begun", TUTTI_LOG_INFO, NULL),
                           "run %u: %u of %d rank%s, for %s at %s", session->run, session->worker_count, session->ranks,
                           session->ranks == 1 ? "" : "s", session->user[0] ? session->user : "a user", session->peer);
    }
    return err;
}

/* The command is for the first rank, if that runs here. If its queue is full, the command is dropped, as it would be a
 * moment later. */
static enum tutti_err handle_run_order(struct tt_node_session *session, struct tt_byte_reader *in)
{
    struct tt_run_command order = {.kind = tt_bytes_get_u32(in)};
    order.component = tt_bytes_get_u32(in);
    order.variable = tt_bytes_get_u32(in);
    order.value = tt_bytes_get_double(in);
    if (in->bad || in->at != in->end || order.kind >= TUTTI_ORDER_KINDS)
        return fail_malformed_message();
    for (uint32_t i = 0; i < session->worker_count; i++)
        if (session->workers[i].rank == 0 && session->workers[i].page)
            (void)!tt_command_ring_push(&session->workers[i].page->orders, &order);
    return TUTTI_OK;
}

static enum tutti_err node_session_handle_message(struct tt_node_daemon *node, struct tt_node_session *session,
                                                  struct tt_byte_reader *in)
{
    uint32_t kind = tt_bytes_get_u32(in);
    if (kind == TUTTI_NODE_END && !session->greeted) { /* the end of its connection was seen before its last word */
        session->over = true;
        return TUTTI_OK;
    }
    if (in->bad || (!session->greeted && kind != TUTTI_NODE_HELLO))
        return fail_malformed_message();
    switch (kind) {
    case TUTTI_NODE_HELLO: return handle_hello(node, session, in);
    case TUTTI_NODE_FETCH: return handle_fetch(node, session, in);
    case TUTTI_NODE_ASK: return handle_query(node, session, in);
    case TUTTI_NODE_PUT: return handle_put(node, session, in);
    case TUTTI_NODE_START: return node_session_handle_start(node, session, in);
    case TUTTI_NODE_PEERS: return node_session_release_workers(session, in);
    case TUTTI_NODE_ORDER: return handle_run_order(session, in);
    case TUTTI_NODE_INTERRUPT:
    case TUTTI_NODE_END:
        if (in->at != in->end)
            return fail_malformed_message();
        session->over = kind == TUTTI_NODE_END;
        for (uint32_t i = 0; i < session->worker_count; i++)
            session->workers[i].page->interrupt = 1;
        return TUTTI_OK;
    default: return fail_malformed_message();
    }
}

/* Tells the runner the error that this thread has met, and the log: a user "was refused", a run "was stopped". */
static void send_error_to_runner(struct tt_node_daemon *node, struct tt_node_session *session, enum tutti_err err,
                                 const char *event)
{
    tt_node_daemon_log(node, start_session_event(session, event, TUTTI_LOG_WARNING, tutti_err_message()),
                       "%s at %s was %s: %s", session->user[0] ? session->user : "a user", session->peer, event,
                       tutti_err_message());
    tt_node_protocol_start_message(&node->parcel, TUTTI_NODE_REFUSED);
    tt_bytes_put_u32(&node->parcel, err);
    tt_bytes_put_text(&node->parcel, tutti_err_message());
    node_session_reply(node, session);
}

void tt_node_session_reject(struct tt_node_daemon *node, struct tt_node_session *session, enum tutti_err err)
{
    tt_node_metrics_count_refusal(&node->counts, err);
    send_error_to_runner(node, session, err, "refused");
    session->over = true;
}

void tt_node_session_receive(struct tt_node_daemon *node, struct tt_node_session *session, const void *bytes,
                             size_t size)
{
    struct tt_byte_reader in = {.at = bytes, .end = (const char *)bytes + size};
    session->heard = tt_wall_clock_now();
    node->counts.bytes_in += size;
    enum tutti_err err = node_session_handle_message(node, session, &in);
    if (err)
        tt_node_session_reject(node, session, err);
}

bool tt_node_session_is_running(const struct tt_node_session *session)
{
    return session->worker_count > 0 && session->workers[0].running;
}

/* ---- workers ---- */

static void send_worker_ready(struct tt_node_daemon *node, struct tt_node_session *session,
                              const struct tt_session_worker *worker, struct tt_byte_reader *in)
{
    uint32_t port = tt_bytes_get_u32(in);
    const void *key = tt_bytes_get(in, TUTTI_KEY_SIZE);
    uint8_t is_confined = tt_bytes_get_u8(in);
    if (in->bad)
        return;
    tt_node_protocol_start_message(&node->parcel, TUTTI_NODE_READY);
    tt_bytes_put_u32(&node->parcel, (uint32_t)worker->rank);
    tt_bytes_put_u32(&node->parcel, port);
    tt_bytes_put_bytes(&node->parcel, key, TUTTI_KEY_SIZE);
    tt_bytes_put_u8(&node->parcel, is_confined);
    node_session_reply(node, session);
}

/* Reports denials since the last check. */
static void send_worker_denials(struct tt_node_daemon *node, struct tt_node_session *session,
                                struct tt_session_worker *worker)
{
    struct tt_denial denial;
    while (worker->denials && tt_supervisor_read_denial(worker->denials, worker->denied, &denial)) {
        worker->denied++;
        tt_node_protocol_start_message(&node->parcel, TUTTI_NODE_DENIED);
        tt_bytes_put_u32(&node->parcel, (uint32_t)worker->rank);
        tt_bytes_put_u32(&node->parcel, denial.component);
        tt_bytes_put_text(&node->parcel, denial.what);
        tt_bytes_put_text(&node->parcel, denial.allow);
        node_session_reply(node, session);
        tt_node_daemon_log(node, start_session_event(session, "denied", TUTTI_LOG_WARNING, denial.what),
                           "run %u: an FMU of rank %d tried to %s, which --confine forbids", session->run, worker->rank,
                           denial.what);
    }
}

static void send_worker_lost(struct tt_node_daemon *node, struct tt_node_session *session,
                             struct tt_session_worker *worker, enum tt_node_loss loss, uint32_t detail,
                             enum tutti_err err, const char *message)
{
    if (worker->told)
        return;
    worker->told = true;
    tt_node_protocol_start_message(&node->parcel, TUTTI_NODE_LOST);
    tt_bytes_put_u32(&node->parcel, (uint32_t)worker->rank);
    tt_bytes_put_u8(&node->parcel, (uint8_t)loss);
    tt_bytes_put_u32(&node->parcel, detail);
    tt_bytes_put_u32(&node->parcel, atomic_load(&worker->page->where.component));
    tt_bytes_put_double(&node->parcel, atomic_load(&worker->page->where.t));
    tt_bytes_put_u64(&node->parcel, atomic_load(&worker->page->where.step));
    tt_bytes_put_u32(&node->parcel, err);
    tt_bytes_put_text(&node->parcel, message);
    node_session_reply(node, session);
    static const char *const words[] = {
        [TUTTI_LOSS_SIGNAL] = "was ended by signal",
        [TUTTI_LOSS_EXIT] = "ended by itself, with status",
        [TUTTI_LOSS_HANG] = "gave no sign of life and was killed, after seconds:",
        [TUTTI_LOSS_ERROR] = "could not begin; error",
    };
    session->failed = true;
    node->counts.workers_lost++;
    char reason[512];
    snprintf(reason, sizeof reason, "%s %u%s%s", words[loss], detail, message && *message ? ": " : "",
             message ? message : "");
    tt_node_daemon_log(node, start_session_event(session, "lost", TUTTI_LOG_WARNING, reason),
                       "run %u: the worker of rank %d %s", session->run, worker->rank, reason);
}

/* Reads the worker's next message. False: none. */
static bool read_worker_word(struct tt_node_daemon *node, struct tt_node_session *session,
                             struct tt_session_worker *worker)
{
    char bytes[8192]; /* messages are cut at some 4 kB */
    ssize_t n;
    do
        n = recv(worker->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) {
        close(worker->socket);
        worker->socket = -1;
        return false;
    }
    struct tt_byte_reader in = {.at = bytes, .end = bytes + n};
    uint32_t kind = tt_bytes_get_u32(&in);
    if (kind == TUTTI_WORKER_READY) {
        send_worker_ready(node, session, worker, &in);
    } else if (kind == TUTTI_WORKER_DONE) {
        worker->done = true;
    } else if (kind == TUTTI_WORKER_FAILED) {
        uint32_t err = tt_bytes_get_u32(&in);
        const char *message = tt_bytes_get_text(&in);
        worker->done = true;
        send_worker_lost(node, session, worker, TUTTI_LOSS_ERROR, err, (enum tutti_err)err, message ? message : "");
    }
    return true;
}

static void node_session_handle_worker_end(struct tt_node_daemon *node, struct tt_node_session *session,
                                           struct tt_session_worker *worker, int status)
{
    worker->pid = 0;
    if (worker->done && !worker->told) {
        worker->told = true;
        tt_node_protocol_start_message(&node->parcel, TUTTI_NODE_GONE);
        tt_bytes_put_u32(&node->parcel, (uint32_t)worker->rank);
        node_session_reply(node, session);
    } else if (worker->hangs_since > 0) {
        send_worker_lost(node, session, worker, TUTTI_LOSS_HANG, (uint32_t)fmin(session->timeout, 1e9), TUTTI_ERR_LOST,
                         "");
    } else if (WIFSIGNALED(status)) {
        send_worker_lost(node, session, worker, TUTTI_LOSS_SIGNAL, (uint32_t)WTERMSIG(status), TUTTI_ERR_LOST, "");
    } else {
        send_worker_lost(node, session, worker, TUTTI_LOSS_EXIT, (uint32_t)WEXITSTATUS(status), TUTTI_ERR_LOST, "");
    }
}

/* A worker that computes, or waits, moves its beat. One that does not is given the time to send what it has reported. */
static void check_worker_heartbeat(const struct tt_node_session *session, struct tt_session_worker *worker)
{
    double now = tt_wall_clock_now(), limit = worker->running ? session->timeout : fmax(session->timeout, BEGINNING);
    uint64_t beat = tt_fabric_heartbeat_sum(&worker->page->where);
    if (beat != worker->beat) {
        worker->beat = beat;
        worker->beat_time = now;
    } else if (now - worker->beat_time > limit) {
        if (worker->hangs_since == 0)
            (void)tt_child_kill(worker->pid, SIGQUIT);
        else if (now - worker->hangs_since > LAST_WORDS)
            (void)tt_child_kill(worker->pid, SIGKILL);
        worker->hangs_since = worker->hangs_since == 0 ? now : worker->hangs_since;
    }
}

/* ---- limits of a run ---- */

/* The run has exceeded a limit, which this thread's error describes. Its workers have a moment to send their reports. */
static void stop_run(struct tt_node_daemon *node, struct tt_node_session *session, enum tutti_err err)
{
    session->stopped_at = tt_wall_clock_now();
    send_error_to_runner(node, session, err, "stopped");
    for (uint32_t i = 0; i < session->worker_count; i++) {
        session->workers[i].told = true;
        if (session->workers[i].pid > 0)
            (void)tt_child_kill(session->workers[i].pid, SIGQUIT);
    }
}

static void check_run_memory(struct tt_node_daemon *node, struct tt_node_session *session)
{
    uint64_t used = 0;
    if (session->max_memory == 0)
        return;
    for (uint32_t i = 0; i < session->worker_count; i++)
        used += session->workers[i].pid > 0 ? tt_worker_process_memory(session->workers[i].pid) : 0;
    if (used > session->max_memory)
        stop_run(node, session,
                 tt_fail(TUTTI_ERR_LIMIT,
                         "the run uses %.3g MB of memory there, and may use no more than %.3g MB (--max-memory, or the "
                         "user's --quota)",
                         (double)used / 1e6, (double)session->max_memory / 1e6));
}

static void check_run_limits(struct tt_node_daemon *node, struct tt_node_session *session)
{
    static const double PERIOD = 0.1;
    double now = tt_wall_clock_now();
    if (session->stopped_at > 0)
        session->over = session->over || now - session->stopped_at > LAST_WORDS;
    if (!session->begun || session->stopped_at > 0 || now - session->checked_at < PERIOD)
        return;
    session->checked_at = now;
    if (session->max_seconds > 0 && tt_wall_clock_now() - session->began > session->max_seconds)
        stop_run(node, session,
                 tt_fail(TUTTI_ERR_LIMIT,
                         "the run has taken longer than the %s s that it may take on this node (--max-seconds, or "
                         "the user's --quota)",
                         NUMBER(session->max_seconds)));
    if (session->stopped_at == 0)
        check_run_memory(node, session);
}

/* ---- the end of workers ---- */

/* The process is not reaped, so its ID and that of its group cannot belong to other processes. */
static bool has_process_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Kills what is left of the worker, with its group; what has left the group becomes the daemon's child (N2). Returns
 * the status of waitpid. */
static int kill_worker_group(struct tt_node_daemon *node, pid_t pid)
{
    int status = 0;
    (void)tt_child_kill_group(pid, SIGKILL);
    (void)tt_child_kill(pid, SIGKILL);
    (void)tt_child_wait(pid, INFINITY, &status);
    node->orphans = true;
    return status;
}

void tt_node_session_check_workers(struct tt_node_daemon *node, struct tt_node_session *session)
{
    for (uint32_t i = 0; i < session->worker_count; i++) {
        struct tt_session_worker *worker = &session->workers[i];
        int status;
        send_worker_denials(node, session, worker);
        if (worker->socket >= 0)
            (void)read_worker_word(node, session, worker);
        if (worker->pid > 0 && has_process_ended(worker->pid)) {
            /* Reads its last messages; processes that it has started may hold its end of the socket open. */
            while (worker->socket >= 0 && read_worker_word(node, session, worker))
                continue;
            status = kill_worker_group(node, worker->pid);
            send_worker_denials(node, session, worker);
            node_session_handle_worker_end(node, session, worker, status);
        }
        if (worker->pid > 0 && !worker->done && session->timeout > 0)
            check_worker_heartbeat(session, worker);
    }
    check_run_limits(node, session);
}

static void free_session_worker(struct tt_node_daemon *node, struct tt_session_worker *worker)
{
    if (worker->pid > 0)
        (void)kill_worker_group(node, worker->pid);
    if (worker->socket >= 0)
        close(worker->socket);
    if (worker->peers >= 0)
        close(worker->peers);
    if (worker->page)
        munmap(worker->page, sizeof *worker->page);
    if (worker->denials)
        munmap(worker->denials, sizeof *worker->denials);
}

/* How the run ended, as far as it was here; counted. */
static const char *node_session_record_end(struct tt_node_daemon *node, const struct tt_node_session *session)
{
    bool done = true;
    for (uint32_t i = 0; i < session->worker_count; i++)
        done = done && session->workers[i].done;
    (*(session->failed                    ? &node->counts.runs_failed
       : done && session->stopped_at == 0 ? &node->counts.runs_completed
                                          : &node->counts.runs_aborted))++;
    return session->failed           ? "failed"
           : session->stopped_at > 0 ? "ended by a limit"
           : done                    ? "completed"
                                     : "ended from outside";
}

void tt_node_session_free(struct tt_node_daemon *node, struct tt_node_session *session)
{
    const char *outcome = session->begun ? node_session_record_end(node, session) : NULL;
    for (uint32_t i = 0; i < session->worker_count; i++)
        free_session_worker(node, &session->workers[i]);
    if (outcome)
        tt_node_daemon_log(node, start_session_event(session, "over", TUTTI_LOG_INFO, outcome),
                           "run %u: over after %.1f s, %s", session->run, tt_wall_clock_now() - session->began,
                           outcome);
    if (session->folder)
        (void)tt_fs_remove_tree(session->folder); /* what is left goes with the node's folder */
    tt_content_arrival_free(session->arrival);
    free(session->folder);
    free(session->workers);
    free(session);
}
