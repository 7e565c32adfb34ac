/* SPDX-License-Identifier: MIT */
#include "conduct/node/session.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tutti/run.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/kill.h"
#include "base/number.h"
#include "base/str.h"
#include "conduct/node/memory.h"

/* Begins an event of the session's. */
static struct tutti_node_event event_of(const struct tutti_session *session, const char *name,
                                        enum tutti_log_level level, const char *reason)
{
    return (struct tutti_node_event){.name = name,
                                     .level = level,
                                     .run = session->run,
                                     .id = session->run ? session->run_id : NULL,
                                     .peer = session->peer,
                                     .user = session->user,
                                     .reason = reason};
}

static enum tutti_err fail_message(void)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "the node does not understand what this program asks for");
}

/* ---- from START to workers that run ---- */

/* File `number` of the run: from the cache, or an offer. */
static enum tutti_err place_file(struct tutti_daemon *node, struct tutti_session *session, uint32_t number,
                                 struct tutti_unparcel *in)
{
    struct tutti_text path = {0};
    struct tutti_content content = {0};
    bool offered = tutti_unparcel_u8(in) != 0;
    uint32_t offer = offered ? tutti_unparcel_u32(in) : 0;
    if (!offered)
        tutti_node_take_content(in, &content);
    if (in->bad || (offered && offer >= node->offer_count))
        return fail_message();
    tutti_text_printf(&path, "%s/%u", session->folder, number);
    enum tutti_err err = path.failed ? tutti_fail_memory() : TUTTI_OK;
    if (!err && offered)
        err = tutti_offer_check(&node->offers[offer]);
    if (!err && offered && symlink(node->offers[offer].path, path.text) != 0)
        err = tutti_fail(TUTTI_ERR_IO, "cannot use the folder %s: %s", session->folder, strerror(errno));
    if (!err && !offered)
        err = tutti_cache_lend(node->cache, &content, path.text);
    tutti_text_fini(&path);
    return err;
}

static enum tutti_err make_folder(struct tutti_daemon *node, struct tutti_session *session)
{
    struct tutti_text path = {0};
    tutti_text_printf(&path, "%s/run-%u", tutti_cache_work(node->cache), session->run);
    session->folder = path.text;
    if (path.failed)
        return tutti_fail_memory();
    return mkdir(path.text, S_IRWXU) == 0
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_IO, "cannot make the folder %s: %s", path.text, strerror(errno));
}

/* ---- a worker ---- */

/* A memory file with this in it, numbered above those that a worker is to have; -1: errno. */
static int make_memory(const char *name, const void *bytes, size_t size)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 64);
    if (fd >= 0)
        close(fd);
    if (high >= 0 && size > 0 && tutti_fs_write(high, bytes, size, 0) != size) {
        close(high);
        return -1;
    }
    return high;
}

/* Memory of this size that the worker sees, too, zeroed. It stays so large: code of an FMU could cut it off otherwise, and the daemon
 * would fall with it. */
static void *map_memory(int fd, size_t size)
{
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return NULL;
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* What FMUs may know of the node's environment, unless its owner names more: that may hold passwords. */
static bool is_passed_on(const struct tutti_node_options *options, const char *setting)
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

/* What a worker gets of this process's environment, with another folder for temporary files: what a worker that is killed leaves
 * there goes with the run. `own` has room for the setting. The caller's (free); NULL when memory is out. */
static char **make_environment(const struct tutti_node_options *options, const char *folder, struct tutti_text *own)
{
    size_t count = 0, n = 0;
    while (environ[count])
        count++;
    char **made = calloc(count + 2, sizeof *made);
    tutti_text_printf(own, "TMPDIR=%s", folder);
    if (!made || own->failed) {
        free(made);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (is_passed_on(options, environ[i]))
            made[n++] = environ[i];
    made[n] = own->text;
    return made;
}

/* 0 or an errno. The worker is in a group of its own: Ctrl-C is for the daemon, which then ends it. */
static int spawn(const struct tutti_daemon *node, pid_t *pid, const int fds[TUTTI_WORKER_FDS], char *const *environment)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (!error)
            error = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
        for (int i = 0; i < TUTTI_WORKER_FDS && !error; i++)
            error = posix_spawn_file_actions_adddup2(&actions, fds[i], TUTTI_WORKER_SETUP + i);
        if (!error)
            error = posix_spawnattr_setflags(&attributes,
                                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (!error)
            error = posix_spawnattr_setsigmask(&attributes, &none);
        if (!error)
            error = posix_spawnattr_setsigdefault(&attributes, &all);
        if (!error) /* its arguments are only read */
            error = posix_spawn(pid, node->options->worker[0], &actions, &attributes,
                                (char *const *)node->options->worker, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static enum tutti_err start_process(struct tutti_daemon *node, struct tutti_watched *worker,
                                    const int fds[TUTTI_WORKER_FDS], const char *folder)
{
    struct tutti_text own = {0};
    char **environment = make_environment(node->options, folder, &own);
    int error = environment ? spawn(node, &worker->pid, fds, environment) : ENOMEM;
    if (error)
        worker->pid = 0;
    free(environment);
    tutti_text_fini(&own);
    return error ? tutti_fail(TUTTI_ERR_IO, "the node cannot start a worker: %s", strerror(error)) : TUTTI_OK;
}

static void put_setup(struct tutti_parcel *parcel, const struct tutti_daemon *node, const struct tutti_session *session,
                      int rank, const void *job, size_t job_size)
{
    tutti_parcel_put_text(parcel, session->folder);
    tutti_parcel_put_u32(parcel, (uint32_t)rank);
    tutti_parcel_put_u32(parcel, (uint32_t)session->ranks);
    tutti_parcel_put_u8(parcel, session->keys);
    tutti_parcel_put_text(parcel, node->address.host);
    tutti_parcel_put_u32(parcel, (uint32_t)node->ports.first);
    tutti_parcel_put_u32(parcel, (uint32_t)node->ports.last);
    tutti_parcel_put_bytes(parcel, session->run_id, sizeof session->run_id);
    tutti_permitted_pack(&node->permitted, parcel);
    tutti_node_rules_pack(&node->options->rules, parcel);
    tutti_parcel_put_block(parcel, job, job_size);
}

static enum tutti_err start_worker(struct tutti_daemon *node, struct tutti_session *session,
                                   struct tutti_watched *worker, const void *job, size_t job_size)
{
    int pair[2] = {-1, -1};
    struct tutti_parcel setup = {0};
    struct tutti_text folder = {0};
    put_setup(&setup, node, session, worker->rank, job, job_size);
    tutti_text_printf(&folder, "%s/tmp-%d", session->folder, worker->rank);
    int setup_fd = setup.failed ? -1 : make_memory("setup", setup.bytes, setup.size);
    int page = make_memory("page", NULL, 0);
    worker->peers = make_memory("peers", NULL, 0);
    int denials = make_memory("denials", NULL, 0);
    worker->page = map_memory(page, sizeof *worker->page);
    worker->denials = map_memory(denials, sizeof *worker->denials);
    if (worker->page)
        atomic_store(&worker->page->where.component, UINT32_MAX);
    bool paired = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0;
    int theirs = paired ? fcntl(pair[1], F_DUPFD_CLOEXEC, 64) : -1;
    worker->socket = pair[0];
    const int fds[TUTTI_WORKER_FDS] = {setup_fd, theirs, page, worker->peers, denials};
    enum tutti_err err;
    if (setup_fd < 0 || theirs < 0 || !worker->page || !worker->denials || worker->peers < 0 || folder.failed ||
        fcntl(theirs, F_SETFL, 0) != 0 || mkdir(folder.text, S_IRWXU) != 0)
        err = tutti_fail(TUTTI_ERR_IO, "the node cannot prepare a worker: %s", strerror(errno));
    else
        err = start_process(node, worker, fds, folder.text);
    const int spent[] = {setup_fd, theirs, page, denials, pair[1]};
    for (size_t i = 0; i < sizeof spent / sizeof *spent; i++)
        if (spent[i] >= 0)
            close(spent[i]);
    tutti_parcel_fini(&setup);
    tutti_text_fini(&folder);
    return err;
}

/* ---- START ---- */

/* What there is of runs and ranks, of how many there may be; 0: of any number. */
struct share {
    uint32_t runs, ranks, most_runs, most_ranks;
};

static bool has_room_for_run(const struct share *share)
{
    return share->most_runs == 0 || share->runs < share->most_runs;
}

static bool has_room_for_ranks(const struct share *share, uint32_t ranks)
{
    return share->most_ranks == 0 || (ranks <= share->most_ranks && share->ranks <= share->most_ranks - ranks);
}

static enum tutti_err check_shares(const struct share *node, const struct share *user, uint32_t ranks)
{
    const char *plural = ranks == 1 ? "" : "s";
    if (!has_room_for_run(node))
        return tutti_fail(TUTTI_ERR_LIMIT, "it has as many runs as it may have, %u (--max-runs); try again later",
                          node->runs);
    if (!has_room_for_ranks(node, ranks))
        return tutti_fail(
            TUTTI_ERR_LIMIT,
            "the run wants %u rank%s of it, and %u of its %u are taken (--max-ranks); try again later, or name "
            "other nodes",
            ranks, plural, node->ranks, node->most_ranks);
    if (!has_room_for_run(user))
        return tutti_fail(TUTTI_ERR_LIMIT,
                          "this user has %u run%s on it, and may have no more (--quota); wait for one to end",
                          user->runs, user->runs == 1 ? "" : "s");
    if (!has_room_for_ranks(user, ranks))
        return tutti_fail(
            TUTTI_ERR_LIMIT,
            "the run wants %u rank%s of it, and this user has taken %u of %u (--quota); wait for a run to end, "
            "or name other nodes",
            ranks, plural, user->ranks, user->most_ranks);
    return TUTTI_OK;
}

static double least_of(double a, double b)
{
    return a > 0 && b > 0 ? fmin(a, b) : a + b; /* 0 is none */
}

/* Whether the node may have a run of so many ranks besides those that it has, and what the run may take. */
static enum tutti_err check_limits(const struct tutti_daemon *node, struct tutti_session *session, uint32_t ranks)
{
    const struct tutti_node_options *options = node->options;
    const struct tutti_quota quota = tutti_quotas_of(&node->quotas, session->user);
    struct share all = {.most_runs = options->max_runs, .most_ranks = options->max_ranks};
    struct share own = {.most_runs = quota.runs, .most_ranks = quota.ranks};
    for (size_t i = 0; i < node->session_count; i++) {
        const struct tutti_session *other = node->sessions[i];
        bool is_own = strcmp(other->user, session->user) == 0;
        all.runs += other->worker_count > 0;
        all.ranks += other->worker_count;
        own.runs += is_own && other->worker_count > 0;
        own.ranks += is_own ? other->worker_count : 0;
    }
    session->max_seconds = least_of(options->max_seconds, quota.seconds);
    session->max_memory = (uint64_t)least_of((double)options->max_memory, (double)quota.memory);
    return check_shares(&all, &own, ranks);
}

static enum tutti_err read_ranks(const struct tutti_daemon *node, struct tutti_session *session,
                                 struct tutti_unparcel *in)
{
    uint32_t count = tutti_unparcel_u32(in);
    if (in->bad || count == 0 || count > (uint32_t)session->ranks)
        return fail_message();
    TRY(check_limits(node, session, count));
    session->workers = calloc(count, sizeof *session->workers);
    if (!session->workers)
        return tutti_fail_memory();
    for (session->worker_count = 0; session->worker_count < count; session->worker_count++) {
        uint32_t rank = tutti_unparcel_u32(in);
        session->workers[session->worker_count] = (struct tutti_watched){.rank = (int)rank, .socket = -1, .peers = -1};
        for (uint32_t i = 0; i < session->worker_count; i++)
            in->bad = in->bad || session->workers[i].rank == (int)rank;
        if (in->bad || rank >= (uint32_t)session->ranks)
            return fail_message();
    }
    return TUTTI_OK;
}

static enum tutti_err check_draining(const struct tutti_daemon *node)
{
    const volatile sig_atomic_t *drain = node->options->drain;
    return drain && *drain ? tutti_fail(TUTTI_ERR_LIMIT, "it is being shut down, and takes no new runs") : TUTTI_OK;
}

static enum tutti_err read_head(struct tutti_daemon *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    const void *id = tutti_unparcel_bytes(in, sizeof session->run_id);
    session->keys = tutti_unparcel_u8(in) != 0;
    session->timeout = tutti_unparcel_double(in);
    uint32_t ranks = tutti_unparcel_u32(in);
    if (in->bad || session->run || ranks == 0 || ranks > TUTTI_NODE_MOST_RANKS || !(session->timeout >= 0))
        return fail_message();
    if (!session->keys && !node->loopback)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "this node is beyond loopback, where nothing runs without keys");
    memcpy(session->run_id, id, sizeof session->run_id);
    session->ranks = (int)ranks;
    session->run = ++node->runs;
    session->began = tutti_clock_now();
    return TUTTI_OK;
}

static enum tutti_err start(struct tutti_daemon *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    size_t job_size;
    TRY(check_draining(node));
    TRY(read_head(node, session, in));
    TRY(read_ranks(node, session, in));
    TRY(make_folder(node, session));
    uint32_t files = tutti_unparcel_u32(in);
    if (in->bad || files > TUTTI_NODE_MOST_FILES)
        return fail_message();
    for (uint32_t i = 0; i < files; i++)
        TRY(place_file(node, session, i, in));
    const void *job = tutti_unparcel_block(in, &job_size);
    if (in->bad || in->at != in->end)
        return fail_message();
    for (uint32_t i = 0; i < session->worker_count; i++)
        TRY(start_worker(node, session, &session->workers[i], job, job_size));
    return TUTTI_OK;
}

/* ---- PEERS ---- */

/* A worker without this word waits for ever, and shows signs of life. True, too, if it is dead: its end is seen elsewhere. */
static bool send_word(int socket)
{
    ssize_t sent;
    do
        sent = send(socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == 1 || errno == EPIPE || errno == ECONNRESET;
}

static enum tutti_err go(struct tutti_session *session, const struct tutti_unparcel *in)
{
    size_t size = (size_t)(in->end - in->at);
    enum tutti_err err = session->run && !session->workers[0].running ? TUTTI_OK : fail_message();
    for (uint32_t i = 0; i < session->worker_count && !err; i++) {
        struct tutti_watched *worker = &session->workers[i];
        if ((worker->peers >= 0 && tutti_fs_write(worker->peers, in->at, size, 0) != size) ||
            (worker->socket >= 0 && !send_word(worker->socket)))
            err = tutti_fail(TUTTI_ERR_IO, "the node cannot tell its workers of each other: %s", strerror(errno));
        if (worker->peers >= 0)
            close(worker->peers);
        worker->peers = -1;
        worker->running = true;
        worker->beat_time = tutti_clock_now();
    }
    return err;
}

static const uint64_t LARGEST_FILE = (uint64_t)1 << 36;
static const double LAST_WORDS = 0.5; /* seconds */
static const double BEGINNING = 5.0;  /* seconds that a program may take to be loaded, at least */

static void answer(struct tutti_daemon *node, struct tutti_session *session)
{
    if (!tutti_node_send(node->router, session->id, session->id_size, &node->parcel))
        session->over = true; /* it is gone, or takes nothing any more */
    else
        node->counts.bytes_out += node->parcel.size;
}

/* ---- messages ---- */

static enum tutti_err take_hello(struct tutti_daemon *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    TRY(tutti_node_read_hello(in));
    TRY(check_draining(node));
    session->greeted = true;
    tutti_node_begin(&node->parcel, TUTTI_NODE_WELCOME);
    tutti_parcel_put_text(&node->parcel, tutti_version());
    tutti_parcel_put_u32(&node->parcel, (uint32_t)node->offer_count);
    for (size_t i = 0; i < node->offer_count; i++) {
        tutti_parcel_put_text(&node->parcel, node->offers[i].name);
        tutti_node_put_content(&node->parcel, &node->offers[i].content);
    }
    answer(node, session);
    return TUTTI_OK;
}

static enum tutti_err take_fetch(struct tutti_daemon *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    uint32_t index = tutti_unparcel_u32(in);
    uint64_t offset = tutti_unparcel_u64(in);
    if (in->bad || index >= node->offer_count || offset > node->offers[index].content.size)
        return fail_message();
    char *bytes = malloc(TUTTI_NODE_PIECE);
    int fd = bytes ? open(node->offers[index].stand, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd < 0 ? -1 : pread(fd, bytes, TUTTI_NODE_PIECE, (off_t)offset);
    enum tutti_err err = n < 0 ? tutti_fail(TUTTI_ERR_IO, "the node cannot read what it offers: %s", strerror(errno))
                               : TUTTI_OK;
    if (fd >= 0)
        close(fd);
    if (!err) {
        tutti_node_begin(&node->parcel, TUTTI_NODE_PIECE_OF);
        tutti_parcel_put_u32(&node->parcel, index);
        tutti_parcel_put_u64(&node->parcel, offset);
        tutti_parcel_put_block(&node->parcel, bytes, (size_t)n);
        answer(node, session);
    }
    free(bytes);
    return err;
}

static enum tutti_err take_ask(struct tutti_daemon *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    uint32_t count = tutti_unparcel_u32(in), lacking = 0;
    if (in->bad || count > TUTTI_NODE_MOST_FILES)
        return fail_message();
    uint32_t *lacks = calloc((size_t)count + 1, sizeof *lacks); /* looked at once: another node may share the cache */
    if (!lacks)
        return tutti_fail_memory();
    bool sound = true;
    for (uint32_t i = 0; i < count && sound; i++) {
        struct tutti_content content;
        tutti_node_take_content(in, &content);
        sound = !in->bad && content.size <= LARGEST_FILE;
        if (sound && !tutti_cache_has(node->cache, &content))
            lacks[lacking++] = i;
    }
    tutti_node_begin(&node->parcel, TUTTI_NODE_LACK);
    tutti_parcel_put_u32(&node->parcel, lacking);
    for (uint32_t i = 0; i < lacking; i++)
        tutti_parcel_put_u32(&node->parcel, lacks[i]);
    free(lacks);
    if (!sound)
        return fail_message();
    node->counts.cache_hits += count - lacking;
    node->counts.cache_misses += lacking;
    answer(node, session);
    return TUTTI_OK;
}

/* What sessions that have not begun need stays: it was brought, or found, after they came. */
static void keep_quota(struct tutti_daemon *node)
{
    struct timespec since;
    clock_gettime(CLOCK_REALTIME_COARSE, &since);
    for (size_t i = 0; i < node->session_count; i++) {
        const struct tutti_session *session = node->sessions[i];
        if (session->run == 0 && (session->since.tv_sec < since.tv_sec ||
                                  (session->since.tv_sec == since.tv_sec && session->since.tv_nsec < since.tv_nsec)))
            since = session->since;
    }
    node->counts.cache_evictions += tutti_cache_clear(node->cache, node->options->cache_size, &since);
}

static enum tutti_err take_put(struct tutti_daemon *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    size_t size;
    struct tutti_content content;
    tutti_node_take_content(in, &content);
    uint64_t offset = tutti_unparcel_u64(in);
    const void *bytes = tutti_unparcel_block(in, &size);
    if (in->bad || content.size > LARGEST_FILE)
        return fail_message();
    if (content.size > node->options->cache_size)
        return tutti_fail(TUTTI_ERR_LIMIT,
                          "a file of the run has %" PRIu64 " bytes, and the node keeps no more than %" PRIu64
                          " in all; its owner can start it with a larger --cache-size",
                          content.size, node->options->cache_size);
    if (!session->arrival)
        TRY(tutti_arrival_new(&session->arrival, node->cache, &content));
    if (!tutti_content_same(tutti_arrival_content(session->arrival), &content) ||
        tutti_arrival_size(session->arrival) != offset)
        return fail_message();
    TRY(tutti_arrival_put(session->arrival, bytes, size));
    if (offset + size == content.size) {
        struct tutti_arrival *whole = session->arrival;
        session->arrival = NULL;
        TRY(tutti_arrival_finish(whole));
        keep_quota(node);
    }
    tutti_node_begin(&node->parcel, TUTTI_NODE_GOT);
    tutti_node_put_content(&node->parcel, &content);
    tutti_parcel_put_u64(&node->parcel, offset + size);
    answer(node, session);
    return TUTTI_OK;
}

static enum tutti_err take_start(struct tutti_daemon *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    enum tutti_err err = start(node, session, in);
    keep_quota(node);
    tutti_cache_sweep(node->cache);
    if (!err) {
        session->begun = true;
        node->counts.runs_started++;
        tutti_daemon_tell(node, event_of(session, "begun", TUTTI_LOG_INFO, NULL),
                          "run %u: %u of %d rank%s, for %s at %s", session->run, session->worker_count, session->ranks,
                          session->ranks == 1 ? "" : "s", session->user[0] ? session->user : "a user", session->peer);
    }
    return err;
}

static void interrupt(struct tutti_session *session)
{
    for (uint32_t i = 0; i < session->worker_count; i++)
        session->workers[i].page->interrupt = 1;
}

/* It is for the first rank, if that is here. Should it have too many already, this one is lost, as it would be a moment later. */
static enum tutti_err take_order(struct tutti_session *session, struct tutti_unparcel *in)
{
    struct tutti_run_order order = {.kind = tutti_unparcel_u32(in)};
    order.component = tutti_unparcel_u32(in);
    order.variable = tutti_unparcel_u32(in);
    order.value = tutti_unparcel_double(in);
    if (in->bad || in->at != in->end || order.kind >= TUTTI_ORDER_KINDS)
        return fail_message();
    for (uint32_t i = 0; i < session->worker_count; i++)
        if (session->workers[i].rank == 0 && session->workers[i].page)
            (void)!tutti_orders_give(&session->workers[i].page->orders, &order);
    return TUTTI_OK;
}

static enum tutti_err take(struct tutti_daemon *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    uint32_t kind = tutti_unparcel_u32(in);
    if (kind == TUTTI_NODE_END && !session->greeted) { /* the end of its connection was seen before its last word */
        session->over = true;
        return TUTTI_OK;
    }
    if (in->bad || (!session->greeted && kind != TUTTI_NODE_HELLO))
        return fail_message();
    switch (kind) {
    case TUTTI_NODE_HELLO: return take_hello(node, session, in);
    case TUTTI_NODE_FETCH: return take_fetch(node, session, in);
    case TUTTI_NODE_ASK: return take_ask(node, session, in);
    case TUTTI_NODE_PUT: return take_put(node, session, in);
    case TUTTI_NODE_START: return take_start(node, session, in);
    case TUTTI_NODE_PEERS: return go(session, in);
    case TUTTI_NODE_ORDER: return take_order(session, in);
    case TUTTI_NODE_INTERRUPT:
    case TUTTI_NODE_END:
        if (in->at != in->end)
            return fail_message();
        session->over = kind == TUTTI_NODE_END;
        interrupt(session);
        return TUTTI_OK;
    default: return fail_message();
    }
}

/* Tells the runner the error that this thread has met, and the log: a user "was refused", a run "was stopped". */
static void tell_error(struct tutti_daemon *node, struct tutti_session *session, enum tutti_err err, const char *event)
{
    tutti_daemon_tell(node, event_of(session, event, TUTTI_LOG_WARNING, tutti_err_message()), "%s at %s was %s: %s",
                      session->user[0] ? session->user : "a user", session->peer, event, tutti_err_message());
    tutti_node_begin(&node->parcel, TUTTI_NODE_REFUSED);
    tutti_parcel_put_u32(&node->parcel, err);
    tutti_parcel_put_text(&node->parcel, tutti_err_message());
    answer(node, session);
}

void tutti_session_refuse(struct tutti_daemon *node, struct tutti_session *session, enum tutti_err err)
{
    tutti_node_count_refusal(&node->counts, err);
    tell_error(node, session, err, "refused");
    session->over = true;
}

void tutti_session_take(struct tutti_daemon *node, struct tutti_session *session, const void *bytes, size_t size)
{
    struct tutti_unparcel in = {.at = bytes, .end = (const char *)bytes + size};
    session->heard = tutti_clock_now();
    node->counts.bytes_in += size;
    enum tutti_err err = take(node, session, &in);
    if (err)
        tutti_session_refuse(node, session, err);
}

bool tutti_session_is_running(const struct tutti_session *session)
{
    return session->worker_count > 0 && session->workers[0].running;
}

/* ---- workers ---- */

static void tell_ready(struct tutti_daemon *node, struct tutti_session *session, const struct tutti_watched *worker,
                       struct tutti_unparcel *in)
{
    uint32_t port = tutti_unparcel_u32(in);
    const void *key = tutti_unparcel_bytes(in, TUTTI_KEY_SIZE);
    uint8_t is_confined = tutti_unparcel_u8(in);
    if (in->bad)
        return;
    tutti_node_begin(&node->parcel, TUTTI_NODE_READY);
    tutti_parcel_put_u32(&node->parcel, (uint32_t)worker->rank);
    tutti_parcel_put_u32(&node->parcel, port);
    tutti_parcel_put_bytes(&node->parcel, key, TUTTI_KEY_SIZE);
    tutti_parcel_put_u8(&node->parcel, is_confined);
    answer(node, session);
}

/* What its FMUs have tried in vain since it was last looked at. */
static void tell_denials(struct tutti_daemon *node, struct tutti_session *session, struct tutti_watched *worker)
{
    struct tutti_denial denial;
    while (worker->denials && tutti_denials_take(worker->denials, worker->denied, &denial)) {
        worker->denied++;
        tutti_node_begin(&node->parcel, TUTTI_NODE_DENIED);
        tutti_parcel_put_u32(&node->parcel, (uint32_t)worker->rank);
        tutti_parcel_put_u32(&node->parcel, denial.component);
        tutti_parcel_put_text(&node->parcel, denial.what);
        tutti_parcel_put_text(&node->parcel, denial.allow);
        answer(node, session);
        tutti_daemon_tell(node, event_of(session, "denied", TUTTI_LOG_WARNING, denial.what),
                          "run %u: an FMU of rank %d tried to %s, which --confine forbids", session->run, worker->rank,
                          denial.what);
    }
}

static void tell_lost(struct tutti_daemon *node, struct tutti_session *session, struct tutti_watched *worker,
                      enum tutti_node_loss loss, uint32_t detail, enum tutti_err err, const char *message)
{
    if (worker->told)
        return;
    worker->told = true;
    tutti_node_begin(&node->parcel, TUTTI_NODE_LOST);
    tutti_parcel_put_u32(&node->parcel, (uint32_t)worker->rank);
    tutti_parcel_put_u8(&node->parcel, (uint8_t)loss);
    tutti_parcel_put_u32(&node->parcel, detail);
    tutti_parcel_put_u32(&node->parcel, atomic_load(&worker->page->where.component));
    tutti_parcel_put_double(&node->parcel, atomic_load(&worker->page->where.t));
    tutti_parcel_put_u64(&node->parcel, atomic_load(&worker->page->where.step));
    tutti_parcel_put_u32(&node->parcel, err);
    tutti_parcel_put_text(&node->parcel, message);
    answer(node, session);
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
    tutti_daemon_tell(node, event_of(session, "lost", TUTTI_LOG_WARNING, reason), "run %u: the worker of rank %d %s",
                      session->run, worker->rank, reason);
}

/* The next thing that the worker says. False: there is none. */
static bool listen_to(struct tutti_daemon *node, struct tutti_session *session, struct tutti_watched *worker)
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
    struct tutti_unparcel in = {.at = bytes, .end = bytes + n};
    uint32_t kind = tutti_unparcel_u32(&in);
    if (kind == TUTTI_WORKER_READY) {
        tell_ready(node, session, worker, &in);
    } else if (kind == TUTTI_WORKER_DONE) {
        worker->done = true;
    } else if (kind == TUTTI_WORKER_FAILED) {
        uint32_t err = tutti_unparcel_u32(&in);
        const char *message = tutti_unparcel_text(&in);
        worker->done = true;
        tell_lost(node, session, worker, TUTTI_LOSS_ERROR, err, (enum tutti_err)err, message ? message : "");
    }
    return true;
}

/* Its process has ended. */
static void bury(struct tutti_daemon *node, struct tutti_session *session, struct tutti_watched *worker, int status)
{
    worker->pid = 0;
    if (worker->done && !worker->told) {
        worker->told = true;
        tutti_node_begin(&node->parcel, TUTTI_NODE_GONE);
        tutti_parcel_put_u32(&node->parcel, (uint32_t)worker->rank);
        answer(node, session);
    } else if (worker->hangs_since > 0) {
        tell_lost(node, session, worker, TUTTI_LOSS_HANG, (uint32_t)fmin(session->timeout, 1e9), TUTTI_ERR_LOST, "");
    } else if (WIFSIGNALED(status)) {
        tell_lost(node, session, worker, TUTTI_LOSS_SIGNAL, (uint32_t)WTERMSIG(status), TUTTI_ERR_LOST, "");
    } else {
        tell_lost(node, session, worker, TUTTI_LOSS_EXIT, (uint32_t)WEXITSTATUS(status), TUTTI_ERR_LOST, "");
    }
}

/* A worker that computes, or waits, moves its beat. One that does not is given the time to send what it has reported. */
static void check_beat(const struct tutti_session *session, struct tutti_watched *worker)
{
    double now = tutti_clock_now(), limit = worker->running ? session->timeout : fmax(session->timeout, BEGINNING);
    uint64_t beat = tutti_heartbeat_sign(&worker->page->where);
    if (beat != worker->beat) {
        worker->beat = beat;
        worker->beat_time = now;
    } else if (now - worker->beat_time > limit) {
        if (worker->hangs_since == 0)
            (void)tutti_kill_child(worker->pid, SIGQUIT);
        else if (now - worker->hangs_since > LAST_WORDS)
            (void)tutti_kill_child(worker->pid, SIGKILL);
        worker->hangs_since = worker->hangs_since == 0 ? now : worker->hangs_since;
    }
}

/* ---- limits of a run ---- */

/* The run has taken too much, as the error of this thread says. Its workers have a moment to send what they have reported. */
static void stop_run(struct tutti_daemon *node, struct tutti_session *session, enum tutti_err err)
{
    session->stopped_at = tutti_clock_now();
    tell_error(node, session, err, "stopped");
    for (uint32_t i = 0; i < session->worker_count; i++) {
        session->workers[i].told = true;
        if (session->workers[i].pid > 0)
            (void)tutti_kill_child(session->workers[i].pid, SIGQUIT);
    }
}

static void check_seconds(struct tutti_daemon *node, struct tutti_session *session)
{
    if (session->max_seconds > 0 && tutti_clock_now() - session->began > session->max_seconds)
        stop_run(node, session,
                 tutti_fail(TUTTI_ERR_LIMIT,
                            "the run has taken longer than the %s s that it may take on this node (--max-seconds, or "
                            "the user's --quota)",
                            NUMBER(session->max_seconds)));
}

static void check_memory(struct tutti_daemon *node, struct tutti_session *session)
{
    uint64_t used = 0;
    if (session->max_memory == 0)
        return;
    for (uint32_t i = 0; i < session->worker_count; i++)
        used += session->workers[i].pid > 0 ? tutti_process_memory(session->workers[i].pid) : 0;
    if (used > session->max_memory)
        stop_run(
            node, session,
            tutti_fail(TUTTI_ERR_LIMIT,
                       "the run uses %.3g MB of memory there, and may use no more than %.3g MB (--max-memory, or the "
                       "user's --quota)",
                       (double)used / 1e6, (double)session->max_memory / 1e6));
}

/* Now and then. */
static void check_run(struct tutti_daemon *node, struct tutti_session *session)
{
    static const double PERIOD = 0.1;
    double now = tutti_clock_now();
    if (session->stopped_at > 0)
        session->over = session->over || now - session->stopped_at > LAST_WORDS;
    if (!session->begun || session->stopped_at > 0 || now - session->checked_at < PERIOD)
        return;
    session->checked_at = now;
    check_seconds(node, session);
    if (session->stopped_at == 0)
        check_memory(node, session);
}

/* ---- the end of workers ---- */

/* It is not collected yet: its number, and that of its group, are no other process's. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* Kills what is left of the worker, with its group; what has left the group becomes the daemon's child (N2). Returns
 * the status of waitpid. */
static int end_process(struct tutti_daemon *node, pid_t pid)
{
    int status = 0;
    (void)tutti_kill_group(pid, SIGKILL);
    (void)tutti_kill_child(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    node->orphans = true;
    return status;
}

void tutti_session_watch(struct tutti_daemon *node, struct tutti_session *session)
{
    for (uint32_t i = 0; i < session->worker_count; i++) {
        struct tutti_watched *worker = &session->workers[i];
        int status;
        tell_denials(node, session, worker);
        if (worker->socket >= 0)
            (void)listen_to(node, session, worker);
        if (worker->pid > 0 && has_ended(worker->pid)) {
            /* What it said before it ended; processes that it has started may hold its end of the socket open. */
            while (worker->socket >= 0 && listen_to(node, session, worker))
                continue;
            status = end_process(node, worker->pid);
            tell_denials(node, session, worker);
            bury(node, session, worker, status);
        }
        if (worker->pid > 0 && !worker->done && session->timeout > 0)
            check_beat(session, worker);
    }
    check_run(node, session);
}

static void worker_fini(struct tutti_daemon *node, struct tutti_watched *worker)
{
    if (worker->pid > 0)
        (void)end_process(node, worker->pid);
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
static const char *conclude(struct tutti_daemon *node, const struct tutti_session *session)
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

void tutti_session_free(struct tutti_daemon *node, struct tutti_session *session)
{
    const char *outcome = session->begun ? conclude(node, session) : NULL;
    for (uint32_t i = 0; i < session->worker_count; i++)
        worker_fini(node, &session->workers[i]);
    if (outcome)
        tutti_daemon_tell(node, event_of(session, "over", TUTTI_LOG_INFO, outcome), "run %u: over after %.1f s, %s",
                          session->run, tutti_clock_now() - session->began, outcome);
    if (session->folder)
        (void)tutti_fs_remove_tree(session->folder); /* what is left goes with the node's folder */
    tutti_arrival_free(session->arrival);
    free(session->folder);
    free(session->workers);
    free(session);
}
