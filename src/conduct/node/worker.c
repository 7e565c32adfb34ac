/* SPDX-License-Identifier: MIT */
#include "conduct/node/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/str.h"
#include "conduct/node/job.h"
#include "conduct/node/keeper.h"
#include "conduct/node/messages.h"
#include "conduct/node/permitted.h"
#include "conduct/node/rules.h"
#include "fabric/tcp.h"
#include "live/pilot.h"
#include "master/conducted.h"

enum { LAST_MOMENT = 100000000 }; /* nanoseconds */
enum { TICK = 100000 };           /* microseconds */
enum { LAST_SECONDS = 10 };       /* to come to its end, once an FMU has crashed when it was freed */

struct worker {
    int rank, ranks;
    bool keys;
    struct tutti_keys own; /* of this run */
    const char *folder, *address;
    struct tutti_ports ports;
    struct tutti_permitted permitted;
    struct tutti_arena arena;
    struct tutti_node_rules rules;
    struct tutti_confinement confinement;
    enum tutti_confine how;
    struct tutti_node_job told;
    const struct tutti_node_trade *trade; /* NULL: the job is run */
    void *trading;
    struct tutti_job own_job;
    struct tutti_job *job; /* NULL: not opened */
    bool meets_all;        /* some rank is confined */
    struct tutti_tcp *tcp;
    struct tutti_tcp_run run;
    struct tutti_tcp_peer *peers;
    struct tutti_worker_page *page;
    struct tutti_denials *denials; /* until FMUs are loaded */
};

static struct tutti_fabric *fabric_in_use; /* for on_crash */
static volatile sig_atomic_t dies_of;      /* 0: it lives */

static void die(int number)
{
    (void)number;
    signal(dies_of, SIG_DFL);
    raise(dies_of);
}

/* What was computed is not to be lost: what waits to be reported is sent, and the threads that bring it to the conductor go on for
 * a moment. That is more than a handler may do; where it goes wrong, or takes too long, the death is what it was. */
static void on_crash(int number)
{
    int before = errno; /* the signal ends the process when this returns, to code that may look at it */
    if (tutti_crash_is_guarded() && number != SIGABRT) { /* which mostly means that memory is damaged */
        alarm(LAST_SECONDS);
        tutti_crash_escape();
    }
    if (dies_of)
        die(number);
    dies_of = number;
    signal(SIGALRM, die);
    alarm(1);
    if (fabric_in_use)
        tutti_tcp_hurry(fabric_in_use);
    nanosleep(&(struct timespec){.tv_nsec = LAST_MOMENT}, NULL);
    die(number);
    errno = before;
}

/* ---- signs of life before the rank has its own ---- */

static struct tutti_worker_page *page_of_ticks;

static void tick(int number)
{
    (void)number;
    atomic_fetch_add_explicit(&page_of_ticks->where.beat, 1, memory_order_relaxed);
}

/* While files are unpacked, and while others do so: how long that takes tells nothing, but a worker that is stopped does not tick. */
static void begin_ticks(struct tutti_worker_page *page)
{
    const struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    const struct itimerval often = {.it_interval = {.tv_usec = TICK}, .it_value = {.tv_usec = TICK}};
    page_of_ticks = page;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void end_ticks(void)
{
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    signal(SIGALRM, SIG_DFL);
}

/* All of a memory file. */
static const void *map_all(int fd, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size <= 0)
        return NULL;
    *size = (size_t)st.st_size;
    void *bytes = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

/* Releases the parcel. */
static enum tutti_err tell_daemon(struct tutti_parcel *parcel)
{
    ssize_t sent = -1;
    errno = ENOMEM;
    if (!parcel->failed)
        do
            sent = send(TUTTI_WORKER_SOCKET, parcel->bytes, parcel->size, MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
    enum tutti_err err = sent < 0 ? tutti_fail(TUTTI_ERR_IO, "a worker cannot answer its node: %s", strerror(errno))
                                  : TUTTI_OK;
    tutti_parcel_fini(parcel);
    return err;
}

static enum tutti_err fail_setup(void)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "what the node handed to its worker is damaged");
}

static enum tutti_err read_setup(struct worker *worker)
{
    size_t size = 0, job_size;
    const void *bytes = map_all(TUTTI_WORKER_SETUP, &size);
    struct tutti_unparcel in = {.at = bytes, .end = bytes ? (const char *)bytes + size : NULL, .bad = !bytes};
    worker->folder = tutti_unparcel_text(&in);
    worker->rank = (int)tutti_unparcel_u32(&in);
    worker->ranks = (int)tutti_unparcel_u32(&in);
    worker->keys = tutti_unparcel_u8(&in) != 0;
    worker->address = tutti_unparcel_text(&in);
    worker->ports.first = (int)tutti_unparcel_u32(&in);
    worker->ports.last = (int)tutti_unparcel_u32(&in);
    const void *id = tutti_unparcel_bytes(&in, sizeof worker->run.id);
    TRY(tutti_permitted_unpack(&worker->permitted, &in));
    TRY(tutti_node_rules_unpack(&worker->rules, &in, &worker->arena));
    const void *job = tutti_unparcel_block(&in, &job_size);
    if (in.bad || !worker->folder || !worker->address)
        return fail_setup();
    memcpy(worker->run.id, id, sizeof worker->run.id);
    return tutti_node_job_unpack(&worker->told, job, job_size, worker->folder, worker->ranks);
}

static enum tutti_err open_own_job(struct worker *worker)
{
    TRY(tutti_job_open(&worker->own_job, &worker->told.options, NULL));
    worker->job = &worker->own_job;
    return TUTTI_OK;
}

static enum tutti_err open_job(struct worker *worker)
{
    worker->told.options.interrupt = &worker->page->interrupt;
    worker->told.options.orders = &worker->page->orders;
    if (worker->trade && !worker->trade->is_asked_for(&worker->told.options))
        worker->trade = NULL;
    TRY(worker->trade ? worker->trade->open(&worker->trading, &worker->told.options, &worker->job)
                      : open_own_job(worker));
    TRY(tutti_permitted_check(&worker->permitted, worker->job->system));
    if (worker->job->system->component_count != worker->told.place_count || (worker->trade && worker->ranks != 1))
        return fail_setup();
    worker->job->place = worker->told.place;
    if (!worker->trade)
        tutti_pilot_go_along(worker->job);
    return TUTTI_OK;
}

/* The first step: files, while there is one thread. */
static enum tutti_err confine_files(struct worker *worker)
{
    struct tutti_text scratch = {0};
    tutti_text_printf(&scratch, "%s/tmp-%d/scratch", worker->folder, worker->rank);
    enum tutti_err err = scratch.failed
                             ? tutti_fail_memory()
                             : tutti_node_rules_apply(&worker->rules, worker->job, worker->rank, scratch.text,
                                                      worker->denials, &worker->page->where.component,
                                                      &worker->confinement, &worker->how);
    tutti_text_fini(&scratch);
    munmap(worker->denials, sizeof *worker->denials); /* the supervisor's from now on */
    worker->denials = NULL;
    return err;
}

static enum tutti_err get_ready(struct worker *worker)
{
    struct tutti_parcel parcel = {0};
    if (worker->keys)
        TRY(tutti_keys_make(&worker->own));
    TRY(tutti_tcp_listen(&worker->tcp, worker->address, &worker->ports, worker->keys ? &worker->own : NULL,
                         TUTTI_NODE_LOST_MS / 1e3, NULL));
    tutti_parcel_put_u32(&parcel, TUTTI_WORKER_READY);
    tutti_parcel_put_u32(&parcel, (uint32_t)tutti_tcp_port(worker->tcp));
    tutti_parcel_put_bytes(&parcel, worker->own.public_key, sizeof worker->own.public_key);
    tutti_parcel_put_u8(&parcel, worker->how != TUTTI_CONFINE_NONE);
    return tell_daemon(&parcel);
}

/* Waits for the others to be ready, too. Everything else that can happen is the daemon's end, and then ours. */
static enum tutti_err meet_peers(struct worker *worker)
{
    char go;
    ssize_t n;
    size_t size = 0;
    do
        n = recv(TUTTI_WORKER_SOCKET, &go, sizeof go, 0);
    while (n < 0 && errno == EINTR);
    const void *bytes = n == 1 ? map_all(TUTTI_WORKER_PEERS, &size) : NULL;
    struct tutti_unparcel in = {.at = bytes, .end = bytes ? (const char *)bytes + size : NULL, .bad = !bytes};
    worker->peers = calloc((size_t)worker->ranks, sizeof *worker->peers);
    if (!worker->peers)
        return tutti_fail_memory();
    if (!tutti_node_read_peers(&in, worker->ranks, &worker->meets_all, worker->run.hub_key, worker->peers))
        return fail_setup();
    worker->run.lost_after = TUTTI_NODE_LOST_MS / 1e3;
    worker->run.has_keys = worker->keys;
    worker->run.ranks = worker->ranks;
    worker->run.peers = worker->peers;
    return TUTTI_OK;
}

/* Everything that the rank needs of the network is there. The second step: calls. */
static enum tutti_err confine_calls(struct worker *worker, struct tutti_fabric *fabric)
{
    if (worker->meets_all)
        TRY(tutti_tcp_meet_all(fabric));
    return worker->how == TUTTI_CONFINE_NONE ? TUTTI_OK : tutti_confine_calls(&worker->confinement);
}

/* What the rank itself comes to, it reports; an error here is one that it could not. */
static enum tutti_err work(struct worker *worker)
{
    struct tutti_fabric *fabric = NULL;
    begin_ticks(worker->page);
    TRY(read_setup(worker));
    TRY(open_job(worker));
    TRY(confine_files(worker));
    TRY(get_ready(worker));
    TRY(meet_peers(worker));
    end_ticks();
    struct tutti_tcp *tcp = worker->tcp;
    worker->tcp = NULL;
    TRY(tutti_tcp_connect(&fabric, tcp, worker->rank, &worker->run, &worker->page->where));
    fabric_in_use = fabric;
    enum tutti_err err = confine_calls(worker, fabric);
    if (err)
        tutti_rank_give_up(fabric, err);
    else if (worker->trade)
        err = worker->trade->work(worker->trading, fabric);
    else
        (void)!tutti_rank_run(worker->job, fabric);
    fabric_in_use = NULL;
    fabric->kind->close(fabric);
    return worker->trade ? err : TUTTI_OK;
}

/* Deaths are to be seen by the daemon as what they are; whatever a worker leaves on the disk, the daemon removes. */
static bool take_over(struct worker *worker)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT}, plain[] = {SIGINT, SIGTERM, SIGHUP};
    /* On another stack, which was set up at the start of the program: this one may have overflowed. */
    struct sigaction crash = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &crash, NULL);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        signal(plain[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* large, and not asked for */
    signal(SIGPIPE, SIG_IGN);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return false;
    (void)close_range(TUTTI_WORKER_END, ~0U, 0);
    /* What an FMU starts gets none of these, and stays below this process: the daemon ends it with the worker. */
    for (int fd = TUTTI_WORKER_SETUP; fd < TUTTI_WORKER_END; fd++)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    void *page = mmap(NULL, sizeof *worker->page, PROT_READ | PROT_WRITE, MAP_SHARED, TUTTI_WORKER_PAGE, 0);
    worker->page = page == MAP_FAILED ? NULL : page;
    void *denials = mmap(NULL, sizeof *worker->denials, PROT_READ | PROT_WRITE, MAP_SHARED, TUTTI_WORKER_DENIALS, 0);
    worker->denials = denials == MAP_FAILED ? NULL : denials;
    close(TUTTI_WORKER_DENIALS);
    return worker->page && worker->denials;
}

int tutti_node_worker(const struct tutti_node_trade *trade)
{
    struct worker worker = {.trade = trade};
    struct tutti_parcel parcel = {0};
    tutti_keeper_fork();
    if (!take_over(&worker))
        return EXIT_FAILURE; /* it was started by hand */
    enum tutti_err err = work(&worker);
    tutti_parcel_put_u32(&parcel, err ? TUTTI_WORKER_FAILED : TUTTI_WORKER_DONE);
    tutti_parcel_put_u32(&parcel, err);
    tutti_parcel_put_text(&parcel, err ? tutti_err_message() : "");
    (void)!tell_daemon(&parcel); /* the node sees its end, too */
    tutti_tcp_free(worker.tcp);
    tutti_confine_end(&worker.confinement);
    tutti_policy_fini(&worker.confinement.policy);
    tutti_arena_fini(&worker.arena);
    free(worker.peers);
    if (worker.job)
        worker.job->place = NULL;
    if (worker.trade)
        worker.trade->close(worker.trading);
    else if (worker.job)
        tutti_job_close(worker.job);
    tutti_node_job_fini(&worker.told);
    tutti_permitted_fini(&worker.permitted);
    tutti_keys_wipe(&worker.own);
    return EXIT_SUCCESS;
}
