/* SPDX-License-Identifier: MIT */
#include "base/sandbox/sandbox.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "base/sandbox/landlock.h"

enum { LAST_SECONDS = 5 }; /* of processor time, from the signal that the limit is reached to the end */

enum tutti_err tt_sandbox_check(enum tt_confine how, const struct tutti_log *log)
{
    struct tt_text lacks = {0};
    if (how == TUTTI_CONFINE_NONE)
        return TUTTI_OK;
    if (tt_landlock_version() == 0)
        tt_text_append(&lacks, "Landlock (Linux 5.13; which files FMUs may use)");
    if (!tt_syscall_filter_can_notify())
        tt_text_printf(&lacks, "%s%s", lacks.length ? ", " : "",
                       tt_syscall_filter_is_supported()
                           ? "notifications of seccomp (Linux 5.7; what was forbidden is not told)"
                           : "seccomp (which system calls they may make)");
    enum tutti_err err = TUTTI_OK;
    if (lacks.length > 0 && how == TUTTI_CONFINE_STRICT)
        err = tt_fail(TUTTI_ERR_UNSUPPORTED,
                      "this machine cannot confine FMUs as --confine strict promises: its kernel lacks %s, or the "
                      "container hides it; --confine auto does what it can",
                      lacks.text);
    else if (lacks.length > 0)
        tt_log(log, TUTTI_LOG_WARNING, NULL, "FMUs are not confined in all: the kernel lacks %s", lacks.text);
    tt_text_fini(&lacks);
    return err;
}

/* ---- files ---- */

static enum tutti_err sandbox_fail(const char *what)
{
    return tt_fail(TUTTI_ERR_IO, "a worker cannot be confined: %s: %s", what, strerror(errno));
}

/* Of root's privileges only those are left that let it use files of others, over which Landlock watches. */
static enum tutti_err drop_privileges(void)
{
    enum { KEPT = 1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH };
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &head, data) != 0)
        return sandbox_fail("capget");
    bool has_more = false;
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        uint32_t kept = i == 0 ? KEPT : 0;
        has_more = has_more || (data[i].permitted & ~kept) || data[i].inheritable;
        data[i].effective &= kept;
        data[i].permitted &= kept;
        data[i].inheritable = 0;
    }
    /* In a process without capabilities, the service manager's filter may forbid the call. */
    return !has_more || syscall(SYS_capset, &head, data) == 0 ? TUTTI_OK : sandbox_fail("capset");
}

enum tutti_err tt_sandbox_restrict_files(struct tt_sandbox *confinement, enum tt_confine how,
                                         struct tt_denials *denials, const _Atomic uint32_t *component, bool keeps_net)
{
    int version = tt_landlock_version();
    confinement->by_landlock = version > 0;
    confinement->by_seccomp = tt_syscall_filter_is_supported();
    confinement->asks = tt_syscall_filter_can_notify();
    TRY(tt_sandbox_check(how, NULL));
    struct stat threads; /* one folder per thread, besides "." and ".." */
    if (how == TUTTI_CONFINE_STRICT && stat("/proc/self/task", &threads) == 0 && threads.st_nlink > 3)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "a worker cannot be confined: it has threads already");
    confinement->policy.keeps_net = keeps_net;
    TRY(tt_policy_add_system(&confinement->policy));
    if (confinement->policy.scratch && setenv("TMPDIR", confinement->policy.scratch, 1) != 0)
        return tt_fail_memory();
    struct tt_supervised supervised = {.policy = &confinement->policy,
                                       .denials = denials,
                                       .component = component,
                                       .guards_truncation = version >= TUTTI_LANDLOCK_TRUNCATE,
                                       .scopes_signals = version >= TUTTI_LANDLOCK_SCOPES};
    if (confinement->asks)
        TRY(tt_supervisor_start(&confinement->supervisor, &supervised));
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return sandbox_fail("no_new_privs");
    TRY(drop_privileges());
    return confinement->by_landlock ? tt_landlock_apply(&confinement->policy) : TUTTI_OK;
}

/* ---- calls ---- */

/* Bytes of memory that are the process's own: what RLIMIT_DATA counts. */
static uint64_t sandbox_measure_memory(void)
{
    unsigned long numbers[6] = {0};
    char line[256] = "";
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fgets(line, sizeof line, file)) {
        char *at = line;
        for (size_t i = 0; i < 6; i++)
            numbers[i] = strtoul(at, &at, 10);
    }
    if (file)
        fclose(file);
    return (uint64_t)numbers[5] * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Never above what holds already. */
static enum tutti_err sandbox_set_limit(enum __rlimit_resource resource, uint64_t soft, uint64_t hard, const char *name)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return sandbox_fail(name);
    now.rlim_max = now.rlim_max < hard ? now.rlim_max : hard;
    now.rlim_cur = now.rlim_cur < soft ? now.rlim_cur : soft;
    now.rlim_cur = now.rlim_cur < now.rlim_max ? now.rlim_cur : now.rlim_max;
    return setrlimit(resource, &now) == 0 ? TUTTI_OK : sandbox_fail(name);
}

static enum tutti_err set_limits(const struct tt_limits *limits)
{
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit fails, and that is all */
    if (limits->memory > 0) {
        uint64_t most = sandbox_measure_memory() + limits->memory;
        TRY(sandbox_set_limit(RLIMIT_DATA, most, most, "the limit of memory"));
    }
    if (limits->cpu > 0)
        TRY(sandbox_set_limit(RLIMIT_CPU, limits->cpu, limits->cpu + LAST_SECONDS, "the limit of processor time"));
    if (limits->file > 0)
        TRY(sandbox_set_limit(RLIMIT_FSIZE, limits->file, limits->file, "the limit of files"));
    return TUTTI_OK;
}

/* The descriptor at which this process takes connections; -1: none. It is a library's, which has no way to be asked for it. */
static int sandbox_find_port(void)
{
    struct rlimit most;
    int last = getrlimit(RLIMIT_NOFILE, &most) == 0 && most.rlim_cur < INT_MAX ? (int)most.rlim_cur : INT_MAX;
    for (int fd = STDERR_FILENO + 1; fd < last; fd++) {
        int listens = 0;
        socklen_t size = sizeof listens;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens)
            return fd;
    }
    return -1;
}

enum tutti_err tt_sandbox_restrict_calls(struct tt_sandbox *confinement)
{
    int listener = -1, port = confinement->policy.keeps_net ? sandbox_find_port() : -1;
    TRY(set_limits(&confinement->policy.limits));
    if (!confinement->by_seccomp)
        return TUTTI_OK;
    TRY(tt_syscall_filter_make(&confinement->filter, &confinement->policy, confinement->asks, (int)getpid()));
    TRY(tt_syscall_filter_load(&confinement->filter, confinement->asks, &listener));
    tt_syscall_filter_fini(&confinement->filter);
    return confinement->asks ? tt_supervisor_hand_over(&confinement->supervisor, listener, port) : TUTTI_OK;
}

void tt_sandbox_end(struct tt_sandbox *confinement)
{
    tt_syscall_filter_fini(&confinement->filter);
    tt_supervisor_end(&confinement->supervisor);
}
