/* SPDX-License-Identifier: MIT */
/* Ranks as workers: processes that are forked from this one, so that whatever an FMU does to its process, the others and the
 * results stay. The process that calls is the conductor; only it writes files and hears signals. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/number.h"
#include "base/str.h"
#include "conduct/drain.h"
#include "conduct/launch.h"
#include "conduct/lost.h"

/* Seconds that the others have to come back, once one is lost. */
static const double GRACE = 0.5;

enum end { NOT_YET, BY_ITSELF, DIED, HUNG };

struct worker {
    pid_t pid; /* 0: there is none, or it has ended and is collected */
    enum end end;
    int status; /* DIED: as waitpid told it */
    uint64_t beat;
    double moved; /* when it was last seen to move */
};

struct crew {
    const struct tutti_job *job;
    struct tutti_drain drain;
    struct worker *workers;
    double timeout;  /* seconds; INFINITY: none */
    double looked;   /* when it was last looked after */
    double deadline; /* when those who are left are killed; INFINITY: all is well */
    int first;       /* that died or hung; -1: none */
};

/* Seconds that a worker has to come to its end, once an FMU has crashed when it was freed: it may hold what others wait for. */
enum { LAST_SECONDS = 10 };

static void on_crash(int number)
{
    if (tutti_crash_is_guarded() && number != SIGABRT) { /* which mostly means that memory is damaged */
        alarm(LAST_SECONDS);
        tutti_crash_escape();
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* In the worker. Signals from the terminal reach the whole group: what they mean, the conductor tells. */
static void settle_in(pid_t parent)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static const int usual[] = {SIGSYS, SIGTRAP, SIGCHLD, SIGALRM};
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = on_crash};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaction(crashes[i], &action, NULL);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        signal(usual[i], SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* large, and not asked for */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it has died before that */
        kill(getpid(), SIGKILL);
}

/* The child of a fork: it never returns. */
static void be_rank(const struct crew *crew, int rank, pid_t parent)
{
    settle_in(parent);
    /* The interrupt of the options is the conductor's, out of sight from here; that of the area is not. */
    struct tutti_job job = *crew->job;
    job.options.interrupt = tutti_shared_interrupt(crew->drain.area);
    struct tutti_fabric *fabric;
    enum tutti_err err = tutti_shared_join(crew->drain.area, rank, &fabric);
    if (err == TUTTI_OK) {
        err = tutti_rank_run(&job, fabric);
        fflush(NULL); /* what an FMU printed */
        fabric->kind->close(fabric);
    }
    _exit(err == TUTTI_OK ? 0 : 1);
}

static enum tutti_err start(struct crew *crew)
{
    pid_t parent = getpid();
    fflush(NULL); /* or workers would write it once more */
    for (int r = 0; r < crew->drain.ranks; r++) {
        struct worker *worker = &crew->workers[r];
        worker->pid = fork();
        worker->moved = tutti_clock_now();
        if (worker->pid == 0)
            be_rank(crew, r, parent);
        if (worker->pid < 0) {
            worker->pid = 0;
            return tutti_fail(TUTTI_ERR_LIMIT, "cannot start %d processes: %s; use fewer (--processes)",
                              crew->drain.ranks, strerror(errno));
        }
    }
    return TUTTI_OK;
}

/* "worker 2 (unit 'engine' of engine.fmu, t = 1.25)" */
static const char *name_worker(const struct crew *crew, int rank, char *out, size_t size)
{
    const struct tutti_system *system = crew->job->system;
    const struct tutti_heartbeat *where = tutti_shared_heartbeat(crew->drain.area, rank);
    uint32_t component = atomic_load(&where->component);
    double t = atomic_load(&where->t);
    if (component < system->component_count)
        snprintf(out, size, "worker %d (unit '%s', %s, t = %s)", rank, system->components[component].name,
                 system->components[component].fmu->path, TIME(t));
    else
        snprintf(out, size, "worker %d (in no FMU, t = %s)", rank, TIME(t));
    return out;
}

enum { NAME_ROOM = 1024, WORDS_ROOM = 2048 };

static void lose_dead(struct crew *crew, int rank)
{
    int status = crew->workers[rank].status;
    char name[NAME_ROOM], words[WORDS_ROOM], how[256];
    name_worker(crew, rank, name, sizeof name);
    tutti_lost_last_words(crew->drain.conductor, rank, words, sizeof words);
    if (WIFSIGNALED(status))
        tutti_lost_by_signal(WTERMSIG(status), how, sizeof how);
    else
        tutti_lost_by_exit(WEXITSTATUS(status), how, sizeof how);
    tutti_conductor_lose(crew->drain.conductor, rank,
                         tutti_fail(TUTTI_ERR_LOST, "%s %s; everything computed before is kept%s", name, how, words));
}

static void lose_hung(struct crew *crew, int rank)
{
    char name[NAME_ROOM], words[WORDS_ROOM], how[256];
    name_worker(crew, rank, name, sizeof name);
    tutti_lost_last_words(crew->drain.conductor, rank, words, sizeof words);
    tutti_lost_by_silence(crew->timeout, how, sizeof how);
    tutti_conductor_lose(crew->drain.conductor, rank,
                         tutti_fail(TUTTI_ERR_LOST, "%s %s; everything computed before is kept%s", name, how, words));
}

/* Tells the conductor of a worker that will not come to its end. Only now: what others have computed until they heard of it
 * belongs into the result, as far as this one came as well. */
static void lose(struct crew *crew, int rank)
{
    if (crew->workers[rank].end == DIED)
        lose_dead(crew, rank);
    else if (crew->workers[rank].end == HUNG)
        lose_hung(crew, rank);
}

static void lose_all(struct crew *crew)
{
    if (crew->first >= 0)
        lose(crew, crew->first); /* its error is that of the run */
    for (int r = 0; r < crew->drain.ranks; r++)
        lose(crew, r);
    crew->first = -1;
}

/* A worker is no more, or never comes back: the others are to end. */
static void give_up(struct crew *crew, int rank, enum end end)
{
    crew->workers[rank].end = end;
    if (crew->first < 0)
        crew->first = rank;
    if (crew->deadline == INFINITY)
        crew->deadline = tutti_clock_now() + GRACE;
    /* As far as it came, they have everything that they need: no row is lost. */
    tutti_shared_stop(crew->drain.area, atomic_load(&tutti_shared_heartbeat(crew->drain.area, rank)->step));
}

/* Collects the worker if it has ended. */
static void look_for_end(struct crew *crew, int rank, int flags)
{
    struct worker *worker = &crew->workers[rank];
    int status = 0;
    pid_t ended;
    do
        ended = worker->pid ? waitpid(worker->pid, &status, flags) : 0;
    while (ended < 0 && errno == EINTR);
    if (ended == 0)
        return;
    worker->pid = 0;
    if (worker->end != NOT_YET)
        return;
    worker->status = status;
    if (tutti_shared_has_left(crew->drain.area, rank))
        worker->end = BY_ITSELF;
    else
        give_up(crew, rank, DIED);
}

/* Has it moved since the last time? */
static void look_for_life(struct crew *crew, int rank, double now)
{
    struct worker *worker = &crew->workers[rank];
    uint64_t beat = tutti_heartbeat_sign(tutti_shared_heartbeat(crew->drain.area, rank));
    /* A conductor that looks rarely, because it was stopped itself, has seen nothing. */
    if (beat != worker->beat || now - crew->looked > crew->timeout / 2) {
        worker->beat = beat;
        worker->moved = now;
    }
    if (now - worker->moved > crew->timeout && !tutti_shared_has_left(crew->drain.area, rank)) {
        give_up(crew, rank, HUNG);
        kill(worker->pid, SIGKILL);
    }
}

/* Does any worker still run? */
static bool look_after(struct crew *crew)
{
    double now = tutti_clock_now();
    bool any = false;
    for (int r = 0; r < crew->drain.ranks; r++) {
        look_for_end(crew, r, WNOHANG);
        if (crew->workers[r].pid && crew->workers[r].end == NOT_YET && isfinite(crew->timeout))
            look_for_life(crew, r, now);
        any |= crew->workers[r].pid != 0;
    }
    crew->looked = now;
    return any;
}

/* Those who were told to end and did not. That is no fault of theirs: they are not lost but stopped. */
static void kill_all(struct crew *crew)
{
    for (int r = 0; r < crew->drain.ranks; r++)
        if (crew->workers[r].pid) {
            crew->workers[r].end = crew->workers[r].end == NOT_YET ? BY_ITSELF : crew->workers[r].end;
            kill(crew->workers[r].pid, SIGKILL);
        }
    for (int r = 0; r < crew->drain.ranks; r++)
        look_for_end(crew, r, 0);
}

/* How long to sleep: no bell rings once a worker that has left is really gone, but that is soon. */
static double nap(const struct crew *crew)
{
    for (int r = 0; r < crew->drain.ranks; r++)
        if (crew->workers[r].pid && tutti_shared_has_left(crew->drain.area, r))
            return 1e-3;
    return TUTTI_DRAIN_NAP;
}

static enum tutti_err conduct(struct crew *crew)
{
    struct tutti_drain *drain = &crew->drain;
    enum tutti_err err = start(crew);
    if (err != TUTTI_OK) {
        tutti_drain_fail(drain, err);
        crew->deadline = tutti_clock_now() + GRACE;
    }
    for (bool any = true; any;) {
        uint32_t seen = tutti_shared_bell(drain->area);
        any = look_after(crew); /* before the last look at their reports */
        tutti_drain_all(drain);
        double left = crew->deadline - tutti_clock_now();
        if (left < GRACE / 2) /* some may wait for rows of the lost to be taken */
            lose_all(crew);
        if (any && left < 0) {
            kill_all(crew);
            any = false;
        }
        if (any)
            tutti_shared_wait(drain->area, seen, nap(crew));
    }
    tutti_drain_all(drain);
    lose_all(crew);
    return tutti_drain_finish(drain);
}

enum tutti_err tutti_conduct_processes(const struct tutti_job *job, int ranks, struct tutti_conductor *conductor)
{
    const struct tutti_run_options *options = &job->options;
    struct tutti_shared *area = NULL;
    struct crew crew = {.job = job,
                        .workers = calloc((size_t)ranks, sizeof(struct worker)),
                        .timeout = options->has_timeout ? options->timeout : INFINITY,
                        .looked = tutti_clock_now(),
                        .deadline = INFINITY,
                        .first = -1};
    if (!crew.workers)
        return tutti_fail_memory();
    enum tutti_err err = tutti_shared_new(&area, ranks, "processes");
    if (err == TUTTI_OK)
        err = tutti_drain_init(&crew.drain, area, conductor, options->interrupt, ranks);
    if (err == TUTTI_OK)
        err = conduct(&crew);
    tutti_drain_fini(&crew.drain);
    free(crew.workers);
    tutti_shared_free(area);
    return err;
}
