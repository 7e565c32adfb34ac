/* SPDX-License-Identifier: MIT */
#include "base/sandbox/syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The macros of libseccomp leave the last field of a comparison to be zero, which clang warns of. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5) /* from Linux 5.19 on */
#endif

/* Calls that compute, wait, or use descriptors the process has. Names that the architecture lacks are skipped. */
static const char *const harmless[] = {
    /* descriptors */
    "read",
    "write",
    "pread64",
    "pwrite64",
    "readv",
    "writev",
    "preadv",
    "pwritev",
    "preadv2",
    "pwritev2",
    "lseek",
    "_llseek",
    "close",
    "close_range",
    "dup",
    "dup2",
    "dup3",
    "pipe",
    "pipe2",
    "flock",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "ftruncate",
    "ftruncate64",
    "fallocate",
    "fadvise64",
    "readahead",
    "sendfile",
    "sendfile64",
    "copy_file_range",
    "splice",
    "tee",
    "vmsplice",
    "getdents",
    "getdents64",
    /* what is known of files without opening them, which Landlock does not hide either */
    "fstat",
    "fstat64",
    "stat",
    "stat64",
    "lstat",
    "lstat64",
    "newfstatat",
    "fstatat64",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "statfs",
    "statfs64",
    "fstatfs",
    "fstatfs64",
    "getcwd",
    "chdir",
    "fchdir",
    "umask",
    /* waiting */
    "poll",
    "ppoll",
    "ppoll_time64",
    "select",
    "_newselect",
    "pselect6",
    "pselect6_time64",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "eventfd",
    "eventfd2",
    "timerfd_create",
    "timerfd_settime",
    "timerfd_gettime",
    "signalfd",
    "signalfd4",
    "futex",
    "futex_time64",
    "futex_waitv",
    "set_robust_list",
    "get_robust_list",
    "wait4",
    "waitid",
    "pause",
    "restart_syscall",
    "nanosleep",
    "clock_nanosleep",
    "clock_nanosleep_time64",
    /* memory */
    "brk",
    "munmap",
    "mremap",
    "mprotect",
    "pkey_alloc",
    "pkey_free",
    "pkey_mprotect",
    "madvise",
    "mincore",
    "mlock",
    "mlock2",
    "munlock",
    "msync",
    "membarrier",
    "get_mempolicy",
    "set_mempolicy",
    "mbind",
    /* itself */
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigpending",
    "rt_sigtimedwait",
    "rt_sigsuspend",
    "sigaltstack",
    "sigreturn",
    "set_tid_address",
    "rseq",
    "arch_prctl",
    "set_thread_area",
    "get_thread_area",
    "sched_yield",
    "sched_getaffinity",
    "sched_setaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "sched_getattr",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "sched_rr_get_interval",
    "getpriority",
    "getcpu",
    "getpid",
    "gettid",
    "getppid",
    "getuid",
    "getuid32",
    "geteuid",
    "geteuid32",
    "getgid",
    "getgid32",
    "getegid",
    "getegid32",
    "getgroups",
    "getgroups32",
    "getresuid",
    "getresgid",
    "getpgid",
    "getpgrp",
    "getsid",
    "capget",
    "getrlimit",
    "ugetrlimit",
    "setrlimit",
    "getrusage",
    "sysinfo",
    "uname",
    "getrandom",
    "exit",
    "exit_group",
    /* time */
    "clock_gettime",
    "clock_gettime64",
    "clock_getres",
    "clock_getres_time64",
    "gettimeofday",
    "time",
    "times",
    "alarm",
    "setitimer",
    "getitimer",
    "timer_create",
    "timer_settime",
    "timer_gettime",
    "timer_getoverrun",
    "timer_delete",
    /* connections that it has */
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "shutdown",
    "getsockopt",
    "setsockopt",
    "getsockname",
    "getpeername",
};

/* With a network. sendmmsg and addresses are for datagrams. */
static const char *const networking[] = {"connect", "bind",   "listen",  "accept",
                                         "accept4", "sendto", "sendmsg", "sendmmsg"};

/* Calls that the supervisor, if there is one, judges by their arguments; Landlock controls them in any case. Threads of
 * ZeroMQ set their scheduling, possibly after the filter is loaded, and end the process if the call fails. */
static const char *const judged[] = {
    "accept",
    "accept4",
    "open",
    "openat",
    "openat2",
    "creat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "truncate",
    "truncate64",
    "mmap",
    "mmap2",
    "sched_setscheduler",
};

/* Commands of fcntl but those that have signals sent to others. */
static const uint64_t fcntls[] = {F_GETFD,
                                  F_SETFD,
                                  F_GETFL,
                                  F_SETFL,
                                  F_GETLK,
                                  F_SETLK,
                                  F_SETLKW,
                                  F_GETOWN,
                                  F_DUPFD,
                                  F_DUPFD_CLOEXEC,
                                  F_GETPIPE_SZ,
                                  F_SETPIPE_SZ,
                                  36 /* F_OFD_GETLK */,
                                  37,
                                  38,
                                  1033 /* F_ADD_SEALS */,
                                  1034};
static const uint64_t ioctls[] = {FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, TIOCGWINSZ, TIOCGPGRP, 0x5401 /* TCGETS */};
static const uint64_t prctls[] = {PR_SET_NAME,         PR_GET_NAME,         PR_GET_DUMPABLE,    PR_GET_PDEATHSIG,
                                  PR_GET_SECCOMP,      PR_SET_TIMERSLACK,   PR_GET_TIMERSLACK,  PR_CAPBSET_READ,
                                  PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_SET_THP_DISABLE, PR_GET_THP_DISABLE,
                                  0x53564d41 /* PR_SET_VMA */};

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct syscall_filter_builder {
    scmp_filter_ctx context;
    int error; /* the first one, negative; 0: none */
};

static void syscall_filter_add_error(struct syscall_filter_builder *builder, int error)
{
    if (error && error != -EDOM && !builder->error) /* EDOM: the architecture has no such call */
        builder->error = error;
}

static void syscall_filter_allow_all(struct syscall_filter_builder *builder, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int number = seccomp_syscall_resolve_name(names[i]);
        if (number >= 0)
            syscall_filter_add_error(builder, seccomp_rule_add(builder->context, SCMP_ACT_ALLOW, number, 0));
    }
}

static void syscall_filter_allow_if(struct syscall_filter_builder *builder, const char *name,
                                    struct scmp_arg_cmp condition)
{
    int number = seccomp_syscall_resolve_name(name);
    if (number >= 0)
        syscall_filter_add_error(builder,
                                 seccomp_rule_add_array(builder->context, SCMP_ACT_ALLOW, number, 1, &condition));
}

static void syscall_filter_allow_commands(struct syscall_filter_builder *builder, const char *name, unsigned argument,
                                          const uint64_t *commands, size_t count)
{
    for (size_t i = 0; i < count; i++)
        syscall_filter_allow_if(builder, name, SCMP_CMP64(argument, SCMP_CMP_EQ, commands[i]));
}

/* Rules for a filter without a supervisor. */
static void syscall_filter_allow_unjudged(struct syscall_filter_builder *builder, const struct tt_policy *policy,
                                          int pid)
{
    syscall_filter_allow_all(builder, judged, COUNT(judged));
    syscall_filter_allow_if(builder, "kill", SCMP_CMP64(0, SCMP_CMP_EQ, (uint64_t)pid));
    syscall_filter_allow_if(builder, "tgkill", SCMP_CMP64(0, SCMP_CMP_EQ, (uint64_t)pid));
    if (policy->fork)
        syscall_filter_allow_all(builder, (const char *const[]){"clone", "clone3", "fork", "vfork"}, 4);
    else
        syscall_filter_allow_if(builder, "clone", SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    if (policy->exec || policy->own_forks)
        syscall_filter_allow_all(builder, (const char *const[]){"execve", "execveat"}, 2);
    if (policy->own_forks)
        syscall_filter_allow_all(builder, (const char *const[]){"memfd_create", "setpgid", "prctl"}, 3);
}

static void syscall_filter_add_rules(struct syscall_filter_builder *builder, const struct tt_policy *policy, bool asks,
                                     int pid)
{
    syscall_filter_allow_all(builder, harmless, COUNT(harmless));
    syscall_filter_allow_commands(builder, "fcntl", 1, fcntls, COUNT(fcntls));
    syscall_filter_allow_commands(builder, "fcntl64", 1, fcntls, COUNT(fcntls));
    syscall_filter_allow_commands(builder, "ioctl", 1, ioctls, COUNT(ioctls));
    syscall_filter_allow_commands(builder, "prctl", 0, prctls, COUNT(prctls));
    syscall_filter_add_error(builder, seccomp_rule_add(builder->context, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 2,
                                                       SCMP_A0_64(SCMP_CMP_EQ, PR_SET_PDEATHSIG),
                                                       SCMP_A1_64(SCMP_CMP_EQ, SIGKILL)));
    syscall_filter_allow_if(builder, "prlimit64", SCMP_CMP64(0, SCMP_CMP_EQ, 0));
    syscall_filter_allow_if(builder, "socketpair", SCMP_CMP64(0, SCMP_CMP_EQ, AF_UNIX));
    if (policy->net) {
        static const uint64_t domains[] = {AF_INET, AF_INET6, AF_NETLINK /* lists the addresses of this machine */};
        syscall_filter_allow_all(builder, networking, COUNT(networking));
        syscall_filter_allow_commands(builder, "socket", 0, domains, COUNT(domains));
    } else {
        /* Existing connections may be used, but a first message must not open one. */
        syscall_filter_allow_if(builder, "sendto", SCMP_CMP64(4, SCMP_CMP_EQ, 0));
        syscall_filter_allow_if(builder, "sendmsg", SCMP_CMP64(2, SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0));
    }
    if (!asks) {
        syscall_filter_allow_unjudged(builder, policy, pid);
        return;
    }
    /* Memory that is shared is not in RLIMIT_DATA, and put to the supervisor, which counts it. */
    for (int i = 0; i < 2; i++) {
        syscall_filter_allow_if(builder, i ? "mmap2" : "mmap", SCMP_CMP64(3, SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, 0));
        syscall_filter_allow_if(builder, i ? "mmap2" : "mmap", SCMP_CMP64(3, SCMP_CMP_MASKED_EQ, MAP_SHARED, 0));
    }
}

static enum tutti_err syscall_filter_fail(const char *what, int error)
{
    return tt_fail(TUTTI_ERR_IO, "a worker cannot be confined by seccomp: %s: %s", what, strerror(error));
}

/* libseccomp writes the program to a file only. */
static enum tutti_err syscall_filter_export(struct tt_syscall_filter *filter, scmp_filter_ctx context)
{
    struct stat status;
    int fd = memfd_create("filter", MFD_CLOEXEC);
    int error = fd < 0 ? -errno : seccomp_export_bpf(context, fd);
    if (!error && fstat(fd, &status) != 0)
        error = -errno;
    size_t size = error ? 0 : (size_t)status.st_size;
    filter->code = size > 0 ? malloc(size) : NULL;
    filter->count = (unsigned short)(size / sizeof *filter->code);
    if (filter->code && pread(fd, filter->code, size, 0) != (ssize_t)size)
        error = -EIO;
    if (fd >= 0)
        close(fd);
    return filter->code && !error ? TUTTI_OK : syscall_filter_fail("its program", error ? -error : ENOMEM);
}

enum tutti_err tt_syscall_filter_make(struct tt_syscall_filter *filter, const struct tt_policy *policy, bool asks,
                                      int pid)
{
    struct syscall_filter_builder builder = {.context = seccomp_init(asks ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(EPERM))};
    *filter = (struct tt_syscall_filter){0};
    if (!builder.context)
        return syscall_filter_fail("libseccomp", ENOMEM);
    syscall_filter_add_error(&builder,
                             seccomp_attr_set(builder.context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    syscall_filter_add_rules(&builder, policy, asks, pid);
    enum tutti_err err = builder.error ? syscall_filter_fail("its rules", -builder.error)
                                       : syscall_filter_export(filter, builder.context);
    seccomp_release(builder.context);
    return err;
}

void tt_syscall_filter_fini(struct tt_syscall_filter *filter)
{
    free(filter->code);
    *filter = (struct tt_syscall_filter){0};
}

bool tt_syscall_filter_is_supported(void)
{
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 &&
           syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &(uint32_t){SECCOMP_RET_ERRNO}) == 0;
}

bool tt_syscall_filter_can_notify(void)
{
    struct seccomp_notif_sizes sizes;
    return tt_syscall_filter_is_supported() &&
           syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &(uint32_t){SECCOMP_RET_USER_NOTIF}) == 0 &&
           syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0;
}

enum tutti_err tt_syscall_filter_load(const struct tt_syscall_filter *filter, bool asks, int *listener)
{
    struct sock_fprog program = {.len = filter->count, .filter = filter->code};
    unsigned long flags = SECCOMP_FILTER_FLAG_TSYNC;
    if (asks)
        flags |= SECCOMP_FILTER_FLAG_TSYNC_ESRCH | SECCOMP_FILTER_FLAG_NEW_LISTENER;
    *listener = -1;
    long result = -1;
    if (asks) /* an answer is waited for, whatever other signals come */
        result =
            syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
    if (result < 0)
        result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (result < 0)
        return syscall_filter_fail("it cannot be loaded", errno);
    if (asks)
        *listener = (int)result;
    return TUTTI_OK;
}
