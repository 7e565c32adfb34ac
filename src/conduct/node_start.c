/* SPDX-License-Identifier: MIT */
/* From START to workers that run. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/str.h"
#include "conduct/node_parts.h"

static enum tutti_err fail_message(void)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "the node does not understand what this program asks for");
}

/* ---- files ---- */

/* File `number` of the run: from the cache, or an offer. */
static enum tutti_err place_file(struct tutti_node *node, struct tutti_session *session, uint32_t number,
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

static enum tutti_err make_folder(struct tutti_node *node, struct tutti_session *session)
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
    int fd = memfd_create(name, MFD_CLOEXEC);
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 64);
    if (fd >= 0)
        close(fd);
    if (high >= 0 && size > 0 && tutti_fs_write(high, bytes, size, 0) != size) {
        close(high);
        return -1;
    }
    return high;
}

static struct tutti_worker_page *map_page(int fd)
{
    if (fd < 0 || ftruncate(fd, sizeof(struct tutti_worker_page)) != 0)
        return NULL;
    void *mapped = mmap(NULL, sizeof(struct tutti_worker_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct tutti_worker_page *page = mapped == MAP_FAILED ? NULL : mapped;
    if (page)
        atomic_store(&page->where.component, UINT32_MAX);
    return page;
}

/* This process's environment with another folder for temporary files: what a worker that is killed leaves there goes with
 * the run. `own` has room for the setting. The caller's (free); NULL when memory is out. */
static char **make_environment(const char *folder, struct tutti_text *own)
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
        if (strncmp(environ[i], "TMPDIR=", 7) != 0)
            made[n++] = environ[i];
    made[n] = own->text;
    return made;
}

/* 0 or an errno. The worker is in a group of its own: Ctrl-C is for the daemon, which then ends it. */
static int spawn(const struct tutti_node *node, pid_t *pid, const int fds[4], char *const *environment)
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
        for (int i = 0; i < 4 && !error; i++)
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

static enum tutti_err start_process(struct tutti_node *node, struct tutti_watched *worker, const int fds[4],
                                    const char *folder)
{
    struct tutti_text own = {0};
    char **environment = make_environment(folder, &own);
    int error = environment ? spawn(node, &worker->pid, fds, environment) : ENOMEM;
    if (error)
        worker->pid = 0;
    free(environment);
    tutti_text_fini(&own);
    return error ? tutti_fail(TUTTI_ERR_IO, "the node cannot start a worker: %s", strerror(error)) : TUTTI_OK;
}

static void put_setup(struct tutti_parcel *parcel, const struct tutti_node *node, const struct tutti_session *session,
                      int rank, const void *job, size_t job_size)
{
    tutti_parcel_put_text(parcel, session->folder);
    tutti_parcel_put_u32(parcel, (uint32_t)rank);
    tutti_parcel_put_u32(parcel, (uint32_t)session->ranks);
    tutti_parcel_put_u8(parcel, session->keys);
    tutti_parcel_put_text(parcel, node->address.host);
    tutti_parcel_put_bytes(parcel, session->run_id, sizeof session->run_id);
    tutti_parcel_put_block(parcel, job, job_size);
}

static enum tutti_err start_worker(struct tutti_node *node, struct tutti_session *session, struct tutti_watched *worker,
                                   const void *job, size_t job_size)
{
    int pair[2] = {-1, -1};
    struct tutti_parcel setup = {0};
    struct tutti_text folder = {0};
    put_setup(&setup, node, session, worker->rank, job, job_size);
    tutti_text_printf(&folder, "%s/tmp-%d", session->folder, worker->rank);
    int setup_fd = setup.failed ? -1 : make_memory("setup", setup.bytes, setup.size);
    int page = make_memory("page", NULL, 0);
    worker->peers = make_memory("peers", NULL, 0);
    worker->page = map_page(page);
    bool paired = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0;
    int theirs = paired ? fcntl(pair[1], F_DUPFD_CLOEXEC, 64) : -1;
    worker->socket = pair[0];
    const int fds[4] = {setup_fd, theirs, page, worker->peers};
    enum tutti_err err;
    if (setup_fd < 0 || theirs < 0 || !worker->page || worker->peers < 0 || folder.failed ||
        fcntl(theirs, F_SETFL, 0) != 0 || mkdir(folder.text, S_IRWXU) != 0)
        err = tutti_fail(TUTTI_ERR_IO, "the node cannot prepare a worker: %s", strerror(errno));
    else
        err = start_process(node, worker, fds, folder.text);
    const int spent[] = {setup_fd, theirs, page, pair[1]};
    for (size_t i = 0; i < sizeof spent / sizeof *spent; i++)
        if (spent[i] >= 0)
            close(spent[i]);
    tutti_parcel_fini(&setup);
    tutti_text_fini(&folder);
    return err;
}

/* ---- START ---- */

static enum tutti_err read_ranks(struct tutti_session *session, struct tutti_unparcel *in)
{
    uint32_t count = tutti_unparcel_u32(in);
    if (in->bad || count == 0 || count > (uint32_t)session->ranks)
        return fail_message();
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

static enum tutti_err read_head(struct tutti_node *node, struct tutti_session *session, struct tutti_unparcel *in)
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

enum tutti_err tutti_session_start(struct tutti_node *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    size_t job_size;
    TRY(read_head(node, session, in));
    TRY(read_ranks(session, in));
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

enum tutti_err tutti_session_go(struct tutti_session *session, const struct tutti_unparcel *in)
{
    size_t size = (size_t)(in->end - in->at);
    enum tutti_err err = session->run && !session->workers[0].running ? TUTTI_OK : fail_message();
    for (uint32_t i = 0; i < session->worker_count && !err; i++) {
        struct tutti_watched *worker = &session->workers[i];
        if (worker->peers >= 0 && tutti_fs_write(worker->peers, in->at, size, 0) != size)
            err = tutti_fail(TUTTI_ERR_IO, "the node cannot tell its workers of each other: %s", strerror(errno));
        if (worker->peers >= 0)
            close(worker->peers);
        worker->peers = -1;
        worker->running = true;
        worker->beat_time = tutti_clock_now();
        if (!err && worker->socket >= 0)
            (void)!send(worker->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT); /* if it is dead, its end is seen */
    }
    return err;
}
