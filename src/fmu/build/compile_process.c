/* SPDX-License-Identifier: MIT */
#include "fmu/build/compile_process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "base/child.h"
#include "base/thread.h"
#include "base/sandbox/landlock.h"

enum { LARGEST_OUTPUT = 4 << 20 };

/* Arguments and result of the thread that starts the process. */
struct compile_errand {
    const struct tt_compile_process *child;
    struct tt_policy policy;
    struct tt_text *out;
    bool good;
    struct tt_failure failure;
};

/* ---- in the thread, which is confined as its child is to be ---- */

/* Reads its output until it has closed its streams; false if it takes too long or writes too much. */
static bool compile_process_read_output(int fd, struct tt_text *out, double end)
{
    char bytes[16384];
    for (;;) {
        struct pollfd watched = {.fd = fd, .events = POLLIN};
        double left = end - tt_wall_clock_now();
        if (left <= 0 || out->length > LARGEST_OUTPUT)
            return false;
        if (poll(&watched, 1, (int)(1e3 * left) + 1) <= 0)
            continue;
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n == 0)
            return true;
        if (n > 0)
            tt_text_append_n(out, bytes, (size_t)n);
    }
}

static enum tutti_err compile_process_execute(struct compile_errand *errand, char *const environment[],
                                              const int ends[2])
{
    const struct tt_compile_process *child = errand->child;
    double end = tt_wall_clock_now() + child->seconds;
    int status = 0;
    pid_t pid;
    if (tt_landlock_version() != 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
            return tt_fail(TUTTI_ERR_IO, "the compiler cannot be confined: %s", strerror(errno));
        TRY(tt_landlock_apply(&errand->policy));
    }
    int error = tt_child_start(
        &pid, &(struct tt_child_plan){.words = child->words,
                                      .environment = environment,
                                      .folder = child->where,
                                      .streams = {TUTTI_CHILD_NOWHERE, ends[1], ends[1]},
                                      .flags = TUTTI_CHILD_IN_PATH | TUTTI_CHILD_GROUP | TUTTI_CHILD_CLEAR_SIGNALS});
    close(ends[1]);
    if (error)
        return tt_fail(TUTTI_ERR_IO,
                       "the compiler '%s' cannot be started: %s. Install one (Debian package gcc), or name another "
                       "(--compiler)",
                       child->words[0], strerror(error));

    const struct tt_limits *limits = &errand->policy.limits;
    rlim_t seconds = (rlim_t)child->seconds + 1;
    (void)prlimit(pid, RLIMIT_CPU, &(struct rlimit){seconds, seconds}, NULL);
    (void)prlimit(pid, RLIMIT_FSIZE, &(struct rlimit){limits->file, limits->file}, NULL);
    (void)prlimit(pid, RLIMIT_CORE, &(struct rlimit){0, 0}, NULL);
    if (limits->memory > 0)
        (void)prlimit(pid, RLIMIT_AS, &(struct rlimit){limits->memory, limits->memory}, NULL);

    bool whole = compile_process_read_output(ends[0], errand->out, end);
    if (!whole)
        (void)tt_child_kill_group(pid, SIGKILL);
    (void)tt_child_wait(pid, INFINITY, &status);
    errand->good = whole && status == 0;
    if (!whole)
        return tt_fail(TUTTI_ERR_LIMIT,
                       "the compiler took longer than it may (--timeout), or said more than %d MB, and was ended",
                       LARGEST_OUTPUT >> 20);
    return errand->out->failed ? tt_fail_memory() : TUTTI_OK;
}

static void *compile_process_thread(void *context)
{
    struct compile_errand *errand = context;
    struct tt_text temporary = {0};
    int ends[2] = {-1, -1};
    char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", language[] = "LC_ALL=C", no_cache[] = "CCACHE_DISABLE=1";
    tt_text_printf(&temporary, "TMPDIR=%s/tmp", errand->child->folder);
    enum tutti_err err = temporary.failed ? tt_fail_memory() : TUTTI_OK;
    if (!err && pipe2(ends, O_CLOEXEC) != 0)
        err = tt_fail(TUTTI_ERR_IO, "no pipe to the compiler: %s", strerror(errno));
    if (!err)
        err = compile_process_execute(errand, (char *const[]){path, language, no_cache, temporary.text, NULL}, ends);
    tt_fail_save(&errand->failure, err);
    if (ends[0] >= 0)
        close(ends[0]);
    tt_text_fini(&temporary);
    return NULL;
}

/* ---- */

/* Permits running the programs of a folder PREFIX/bin, and reading the files beside it. */
static enum tutti_err allow_compiler_folder(struct tt_policy *policy, char *folder)
{
    static const char *const beside[] = {"lib", "lib64", "libexec", "include"};
    char *slash = strrchr(folder, '/');
    enum tutti_err err = tt_policy_add(policy, folder, false, true);
    if (!slash || strcmp(slash, "/bin") != 0)
        return err;
    *slash = '\0';
    for (size_t i = 0; i < sizeof beside / sizeof *beside && !err; i++) {
        struct tt_text path = {0};
        tt_text_printf(&path, "%s/%s", folder, beside[i]);
        err = path.failed ? tt_fail_memory() : tt_policy_add(policy, path.text, false, true);
        tt_text_fini(&path);
    }
    return err;
}

/* A program that is named by its path may lie outside the system's folders. */
static enum tutti_err allow_compiler(struct tt_policy *policy, const char *program)
{
    char *real = strchr(program, '/') ? realpath(program, NULL) : NULL;
    char *slash = real ? strrchr(real, '/') : NULL;
    if (slash)
        *slash = '\0';
    enum tutti_err err = slash && slash > real ? allow_compiler_folder(policy, real) : TUTTI_OK;
    free(real);
    return err;
}

enum tutti_err tt_compile_process_run(const struct tt_compile_process *child, struct tt_text *out, bool *good)
{
    struct compile_errand errand = {.child = child, .out = out};
    pthread_t thread;
    tt_policy_init(&errand.policy);
    errand.policy.fork = errand.policy.exec = true;
    enum tutti_err err = tt_policy_add(&errand.policy, child->folder, true, false);
    if (!err)
        err = allow_compiler(&errand.policy, child->words[0]);
    if (!err)
        err = tt_policy_add_system(&errand.policy);
    if (!err && tt_thread_start(&thread, compile_process_thread, &errand) != 0)
        err = tt_fail_memory();
    if (!err) {
        pthread_join(thread, NULL);
        err = tt_fail_restore(&errand.failure);
    }
    tt_policy_fini(&errand.policy);
    *good = errand.good;
    return err;
}
