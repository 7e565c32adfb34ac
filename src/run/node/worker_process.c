/* SPDX-License-Identifier: MIT */
#include "run/node/worker_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/crash.h"
#include "base/text.h"
#include "run/fmu_process.h"
#include "run/live/live_control.h"
#include "run/node/node_policy.h"
#include "run/node/node_protocol.h"
#include "sim/execution_run.h"
#include "sim/ranks/tcp_fabric.h"

enum { LAST_MOMENT = 100000000 }; /* nanoseconds */
enum { TICK = 100000 };           /* microseconds */
enum { LAST_SECONDS = 10 };       /* to come to its end, once an FMU has crashed when it was freed */

struct worker_process {
    int rank, ranks;
    bool keys;
    struct tt_curve_keys own; /* of this run */
    const char *folder, *address;
    struct tt_port_range ports;
    struct tt_permitted_fmus permitted;
    struct tt_arena arena;
    struct tt_node_rules rules;
    struct tt_sandbox confinement;
    enum tt_confine how;
    struct tt_node_job told;
    const struct tt_worker_role *trade; /* NULL: the job is run */
    void *trading;
    struct tt_job own_job;
    struct tt_job *job; /* NULL: not opened */
    bool meets_all;     /* some rank is confined */
    struct tt_tcp_fabric *tcp;
    struct tt_tcp_run run;
    struct tt_tcp_peer *peers;
    struct tt_worker_page *page;
    struct tt_denials *denials; /* until FMUs are loaded */
};

static struct tt_fabric *fabric_in_use; /* for worker_process_on_crash */
static volatile sig_atomic_t dies_of;   /* 0: it lives */

static void die_of_signal(int number)
{
    (void)number;
    signal(dies_of, SIG_DFL);
    raise(dies_of);
}

/* Computed results must not be lost: pending reports are sent, and the threads that transfer them to the conductor
 * continue for a moment. That is more than a handler may do; if it fails, or takes too long, the process ends as it
 * would have. */
static void worker_process_on_crash(int number)
{
    int before = errno; /* the signal ends the process when this returns, to code that may look at it */
    if (tt_crash_is_guarded() && number != SIGABRT) { /* which mostly means that memory is damaged */
        alarm(LAST_SECONDS);
        tt_crash_escape();
    }
    if (dies_of)
        die_of_signal(number);
    dies_of = number;
    signal(SIGALRM, die_of_signal);
    alarm(1);
    if (fabric_in_use)
        tt_tcp_fabric_flush_on_crash(fabric_in_use);
    nanosleep(&(struct timespec){.tv_nsec = LAST_MOMENT}, NULL);
    die_of_signal(number);
    errno = before;
}

/* ---- signs of life before the rank has its own ---- */

static struct tt_worker_page *page_of_ticks;

static void worker_process_tick(int number)
{
    (void)number;
    atomic_fetch_add_explicit(&page_of_ticks->where.beat, 1, memory_order_relaxed);
}

/* Ticks while files are unpacked, here and by other workers: that has no limit, but a stopped worker does not tick. */
static void start_ticks(struct tt_worker_page *page)
{
    const struct sigaction action = {.sa_handler = worker_process_tick, .sa_flags = SA_RESTART};
    const struct itimerval often = {.it_interval = {.tv_usec = TICK}, .it_value = {.tv_usec = TICK}};
    page_of_ticks = page;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void stop_ticks(void)
{
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    signal(SIGALRM, SIG_DFL);
}

static const void *map_memory_file(int fd, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size <= 0)
        return NULL;
    *size = (size_t)st.st_size;
    void *bytes = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

/* Releases the parcel. */
static enum tutti_err send_to_daemon(struct tt_byte_writer *parcel)
{
    ssize_t sent = -1;
    errno = ENOMEM;
    if (!parcel->failed)
        do
            sent = send(TUTTI_WORKER_SOCKET, parcel->bytes, parcel->size, MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
    enum tutti_err err = sent < 0 ? tt_fail(TUTTI_ERR_IO, "a worker cannot answer its node: %s", strerror(errno))
                                  : TUTTI_OK;
    tt_bytes_fini(parcel);
    return err;
}

static enum tutti_err fail_worker_setup(void)
{
    return tt_fail(TUTTI_ERR_FORMAT, "what the node handed to its worker is damaged");
}

static enum tutti_err read_worker_setup(struct worker_process *worker)
{
    size_t size = 0, job_size;
    const void *bytes = map_memory_file(TUTTI_WORKER_SETUP, &size);
    struct tt_byte_reader in = {.at = bytes, .end = bytes ? (const char *)bytes + size : NULL, .bad = !bytes};
    worker->folder = tt_bytes_get_text(&in);
    worker->rank = (int)tt_bytes_get_u32(&in);
    worker->ranks = (int)tt_bytes_get_u32(&in);
    worker->keys = tt_bytes_get_u8(&in) != 0;
    worker->address = tt_bytes_get_text(&in);
    worker->ports.first = (int)tt_bytes_get_u32(&in);
    worker->ports.last = (int)tt_bytes_get_u32(&in);
    const void *id = tt_bytes_get(&in, sizeof worker->run.id);
    TRY(tt_node_policy_unpack_permitted(&worker->permitted, &in));
    TRY(tt_node_policy_unpack_rules(&worker->rules, &in, &worker->arena));
    const void *job = tt_bytes_get_block(&in, &job_size);
    if (in.bad || !worker->folder || !worker->address)
        return fail_worker_setup();
    memcpy(worker->run.id, id, sizeof worker->run.id);
    return tt_node_protocol_read_job(&worker->told, job, job_size, worker->folder, worker->ranks);
}

static enum tutti_err worker_process_open_job(struct worker_process *worker)
{
    worker->told.options.interrupt = &worker->page->interrupt;
    worker->told.options.orders = &worker->page->orders;
    if (worker->trade && !worker->trade->is_asked_for(&worker->told.options))
        worker->trade = NULL;
    if (worker->trade) {
        TRY(worker->trade->open(&worker->trading, &worker->told.options, &worker->job));
    } else {
        TRY(tt_job_open(&worker->own_job, &worker->told.options, NULL));
        worker->job = &worker->own_job;
    }
    TRY(tt_node_policy_check_permitted(&worker->permitted, worker->job->system));
    if (worker->job->system->component_count != worker->told.place_count || (worker->trade && worker->ranks != 1))
        return fail_worker_setup();
    worker->job->place = worker->told.place;
    if (!worker->trade)
        tt_live_control_attach(worker->job);
    return TUTTI_OK;
}

/* The first stage: restricts files, while there is one thread. */
static enum tutti_err confine_files(struct worker_process *worker)
{
    struct tt_text scratch = {0};
    tt_text_printf(&scratch, "%s/tmp-%d/scratch", worker->folder, worker->rank);
    enum tutti_err err = scratch.failed
                             ? tt_fail_memory()
                             : tt_node_policy_apply_rules(&worker->rules, worker->job, worker->rank, scratch.text,
                                                          worker->denials, &worker->page->where.component,
                                                          &worker->confinement, &worker->how);
    tt_text_fini(&scratch);
    munmap(worker->denials, sizeof *worker->denials); /* the supervisor's from now on */
    worker->denials = NULL;
    return err;
}

static enum tutti_err report_ready(struct worker_process *worker)
{
    struct tt_byte_writer parcel = {0};
    if (worker->keys)
        TRY(tt_curve_auth_make_keys(&worker->own));
    TRY(tt_tcp_fabric_listen(&worker->tcp, worker->address, &worker->ports, worker->keys ? &worker->own : NULL,
                             TUTTI_NODE_LOST_MS / 1e3, NULL));
    tt_bytes_put_u32(&parcel, TUTTI_WORKER_READY);
    tt_bytes_put_u32(&parcel, (uint32_t)tt_tcp_fabric_port(worker->tcp));
    tt_bytes_put_bytes(&parcel, worker->own.public_key, sizeof worker->own.public_key);
    tt_bytes_put_u8(&parcel, worker->how != TUTTI_CONFINE_NONE);
    return send_to_daemon(&parcel);
}

/* Waits for all other workers to be ready. Any other event is the end of the daemon, and then of this process. */
static enum tutti_err wait_for_peers(struct worker_process *worker)
{
    char go;
    ssize_t n;
    size_t size = 0;
    do
        n = recv(TUTTI_WORKER_SOCKET, &go, sizeof go, 0);
    while (n < 0 && errno == EINTR);
    const void *bytes = n == 1 ? map_memory_file(TUTTI_WORKER_PEERS, &size) : NULL;
    struct tt_byte_reader in = {.at = bytes, .end = bytes ? (const char *)bytes + size : NULL, .bad = !bytes};
    worker->peers = calloc((size_t)worker->ranks, sizeof *worker->peers);
    if (!worker->peers)
        return tt_fail_memory();
    if (!tt_node_protocol_read_peers(&in, worker->ranks, &worker->meets_all, worker->run.hub_key, worker->peers))
        return fail_worker_setup();
    worker->run.lost_after = TUTTI_NODE_LOST_MS / 1e3;
    worker->run.has_keys = worker->keys;
    worker->run.ranks = worker->ranks;
    worker->run.peers = worker->peers;
    return TUTTI_OK;
}

/* The outcome of the rank is in its report; an error here is one that it could not report. */
static enum tutti_err worker_process_run_rank(struct worker_process *worker)
{
    struct tt_fabric *fabric = NULL;
    start_ticks(worker->page);
    TRY(read_worker_setup(worker));
    TRY(worker_process_open_job(worker));
    TRY(confine_files(worker));
    TRY(report_ready(worker));
    TRY(wait_for_peers(worker));
    stop_ticks();
    struct tt_tcp_fabric *tcp = worker->tcp;
    worker->tcp = NULL;
    TRY(tt_tcp_fabric_connect(&fabric, tcp, worker->rank, &worker->run, &worker->page->where));
    fabric_in_use = fabric;

    /* The second step, calls, when everything that the rank needs of the network is there. */
    enum tutti_err err = worker->meets_all ? tt_tcp_fabric_await_all_links(fabric) : TUTTI_OK;
    if (!err && worker->how != TUTTI_CONFINE_NONE)
        err = tt_sandbox_restrict_calls(&worker->confinement);

    if (err)
        tt_execution_fail_rank(fabric, err);
    else if (worker->trade)
        err = worker->trade->work(worker->trading, fabric);
    else
        (void)!tt_execution_run_rank(worker->job, fabric);
    fabric_in_use = NULL;
    fabric->kind->close(fabric);
    return worker->trade ? err : TUTTI_OK;
}

/* Deaths are to be seen by the daemon as what they are; whatever a worker leaves on the disk, the daemon removes. */
static bool set_up_process(struct worker_process *worker)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT}, plain[] = {SIGINT, SIGTERM, SIGHUP};
    /* On a separate stack, which was allocated at the start of the program: this one may have overflowed. */
    struct sigaction crash = {.sa_handler = worker_process_on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &crash, NULL);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        signal(plain[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* large, and not asked for */
    signal(SIGPIPE, SIG_IGN);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return false;
    (void)close_range(TUTTI_WORKER_END, ~0U, 0);
    /* Processes started by an FMU inherit none of these descriptors, and stay below this process: the daemon ends them
     * with the worker. */
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

int tt_worker_process_run(const struct tt_worker_role *trade)
{
    struct worker_process worker = {.trade = trade};
    struct tt_byte_writer parcel = {0};
    tt_worker_process_fork_supervised();
    if (!set_up_process(&worker))
        return EXIT_FAILURE; /* it was started by hand */
    enum tutti_err err = worker_process_run_rank(&worker);
    tt_bytes_put_u32(&parcel, err ? TUTTI_WORKER_FAILED : TUTTI_WORKER_DONE);
    tt_bytes_put_u32(&parcel, err);
    tt_bytes_put_text(&parcel, err ? tutti_err_message() : "");
    (void)!send_to_daemon(&parcel); /* the node sees its end, too */
    tt_tcp_fabric_free(worker.tcp);
    tt_sandbox_end(&worker.confinement);
    tt_policy_fini(&worker.confinement.policy);
    tt_arena_fini(&worker.arena);
    free(worker.peers);
    if (worker.job)
        worker.job->place = NULL;
    if (worker.trade)
        worker.trade->close(worker.trading);
    else if (worker.job)
        tt_job_close(worker.job);
    tt_node_protocol_free_job(&worker.told);
    tt_node_policy_free_permitted(&worker.permitted);
    tt_curve_auth_wipe_keys(&worker.own);
    return EXIT_SUCCESS;
}

static bool is_any_process(void *context, pid_t pid)
{
    (void)context, (void)pid;
    return true;
}

/* As the worker did. */
static void exit_like_worker(int status)
{
    sigset_t one;
    if (WIFSIGNALED(status)) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(WTERMSIG(status), SIG_DFL);
        sigemptyset(&one);
        sigaddset(&one, WTERMSIG(status));
        raise(WTERMSIG(status));
        sigprocmask(SIG_UNBLOCK, &one, NULL);
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* All signals are blocked. */
static void keeper_reap(pid_t worker, const sigset_t *all)
{
    int status = 0;
    for (;;) {
        int number = sigwaitinfo(all, NULL);
        if (number == SIGQUIT)
            (void)tt_child_kill(worker, SIGQUIT);
        else if (number == SIGTERM) /* the daemon has ended */
            (void)tt_child_kill(worker, SIGKILL);
        for (pid_t ended; number == SIGCHLD && (ended = waitpid(-1, &status, WNOHANG)) > 0;)
            if (ended == worker) {
                /* All children, and what they leave in turn, unless the system is in the way. */
                for (int i = 0; i < 100 && tt_fmu_process_signal_orphans(SIGKILL, is_any_process, NULL) > 0; i++)
                    (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
                exit_like_worker(status);
            }
    }
}

void tt_worker_process_fork_supervised(void)
{
    pid_t daemon = getppid(), keeper = getpid();
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t worker = fork();
    if (worker > 0) {
        (void)close_range(STDERR_FILENO + 1, ~0U, 0); /* the daemon sees when the worker closes its end of the socket */
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != daemon)
            raise(SIGTERM); /* is taken by keeper_reap() */
        keeper_reap(worker, &all);
    }
    if (worker == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != keeper))
        raise(SIGKILL);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

enum { DEEPEST = 16 }; /* processes that start processes */

/* "VmRSS:    1234 kB" and "VmSwap:", of the process alone. */
static uint64_t read_own_memory(pid_t pid)
{
    char path[64], line[256];
    uint64_t kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0 || strncmp(line, "VmSwap:", 7) == 0)
            kilobytes += strtoull(strchr(line, ':') + 1, NULL, 10);
    if (file)
        fclose(file);
    return 1024 * kilobytes;
}

static uint64_t sum_process_memory(pid_t pid, int depth);

/* Of the processes that a thread has started: "/proc/PID/task/TID/children" is "123 456 ". */
static uint64_t read_children_memory(pid_t pid, const char *thread, int depth)
{
    char path[320], text[4096] = "";
    uint64_t sum = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, thread);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    for (char *next, *word = strtok_r(text, " ", &next); word; word = strtok_r(NULL, " ", &next))
        sum += sum_process_memory((pid_t)strtol(word, NULL, 10), depth + 1);
    return sum;
}

static uint64_t sum_process_memory(pid_t pid, int depth)
{
    char path[64];
    uint64_t sum = read_own_memory(pid);
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = depth < DEEPEST ? opendir(path) : NULL;
    for (struct dirent *entry; threads && (entry = readdir(threads));)
        if (entry->d_name[0] != '.')
            sum += read_children_memory(pid, entry->d_name, depth);
    if (threads)
        closedir(threads);
    return sum;
}

uint64_t tt_worker_process_memory(pid_t pid)
{
    return sum_process_memory(pid, 0);
}
