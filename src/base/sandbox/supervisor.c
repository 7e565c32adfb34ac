/* SPDX-License-Identifier: MIT */
#include "base/sandbox/supervisor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/child.h"
#include "base/text.h"
#include "base/wall_clock.h"

enum { LOOK_MS = 100 }; /* between looks at the scratch folder */

/* ---- in the supervisor ---- */

enum { LISTENER, PORT, HANDED }; /* descriptors that come with a byte */

static bool supervisor_answer(struct tt_supervision *judge, int listener, struct seccomp_notif *call, size_t size)
{
    memset(call, 0, size);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, call) != 0)
        return errno == EINTR || errno == ENOENT;
    int error = tt_supervisor_judge_call(judge, call);
    struct seccomp_notif_resp answer = {
        .id = call->id, .error = -error, .flags = error ? 0 : (uint32_t)SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer); /* fails where the caller was killed meanwhile */
    return true;
}

static void supervisor_serve(struct tt_supervision *judge, int listener, int socket)
{
    struct seccomp_notif_sizes sizes;
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0)
        return;
    size_t size = sizes.seccomp_notif > sizeof(struct seccomp_notif) ? sizes.seccomp_notif
                                                                     : sizeof(struct seccomp_notif);
    struct seccomp_notif *call = malloc(size);
    struct pollfd waits[] = {{.fd = listener, .events = POLLIN}, {.fd = socket, .events = POLLIN}};
    double looked = tt_wall_clock_now();
    while (call) {
        int ready = poll(waits, 2, judge->uses_scratch && !judge->scratch_is_full ? LOOK_MS : -1);
        if (ready < 0 && errno != EINTR)
            break;
        if (waits[0].revents & POLLIN && !supervisor_answer(judge, listener, call, size))
            break;
        if (waits[0].revents & (POLLHUP | POLLERR))
            break;
        if (waits[1].revents) { /* a byte: the end. Else the worker's end is closed */
            char byte;
            if (recv(socket, &byte, 1, MSG_DONTWAIT) == 1)
                break;
            waits[1].fd = -1;
        }
        if (tt_wall_clock_now() - looked >= LOOK_MS / 1e3) {
            tt_supervisor_check_scratch(judge);
            looked = tt_wall_clock_now();
        }
    }
    free(call);
}

static void supervisor_main(void *context, int socket, pid_t worker)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    const struct tt_supervised *supervised = context;
    struct tt_supervision judge = {.of = *supervised, .worker = worker};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    prctl(PR_SET_NAME, "tutti-confine");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == worker) { /* or it has died before that */
        int mine = fcntl(socket, F_DUPFD_CLOEXEC, 3);
        if (mine > 3)
            (void)close_range(3, (unsigned)mine - 1, 0);
        (void)close_range((unsigned)mine + 1, ~0U, 0);
        int handed[HANDED];
        tt_child_receive_descriptors(mine, handed, HANDED);
        judge.port = handed[PORT];
        if (handed[LISTENER] >= 0)
            supervisor_serve(&judge, handed[LISTENER], mine);
    }
    _exit(0);
}

/* ---- in the worker ---- */

enum tutti_err tt_supervisor_start(struct tt_supervisor *supervisor, const struct tt_supervised *supervised)
{
    struct tt_supervised copy = *supervised;
    *supervisor = (struct tt_supervisor){.socket = -1};
    int error = tt_child_fork(&supervisor->pid, &supervisor->socket, SOCK_STREAM, supervisor_main, &copy);
    if (error)
        return tt_fail(TUTTI_ERR_LIMIT, "a worker cannot be confined: no process for its supervisor: %s",
                       strerror(error));
    (void)prctl(PR_SET_PTRACER,
                (unsigned long)supervisor->pid); /* where that is restricted (Yama): it reads paths in our memory */
    return TUTTI_OK;
}

enum tutti_err tt_supervisor_hand_over(const struct tt_supervisor *supervisor, int listener, int port)
{
    const int handed[HANDED] = {[LISTENER] = listener, [PORT] = port};
    bool sent = tt_child_send_descriptors(supervisor->socket, handed, port < 0 ? 1 : HANDED);
    close(listener);
    return sent ? TUTTI_OK
                : tt_fail(TUTTI_ERR_IO, "a worker cannot be confined: its supervisor is gone: %s", strerror(errno));
}

void tt_supervisor_end(struct tt_supervisor *supervisor)
{
    if (supervisor->pid == 0)
        return;
    bool is_told = send(supervisor->socket, "", 1, MSG_NOSIGNAL) == 1; /* an FMU may have closed it */
    close(supervisor->socket);
    if (is_told)
        (void)tt_child_wait(supervisor->pid, INFINITY, NULL);
    *supervisor = (struct tt_supervisor){.socket = -1};
}

void tt_supervisor_add_denial(struct tt_denials *denials, const struct tt_denial *denial)
{
    uint32_t count = atomic_load(&denials->count);
    for (uint32_t i = 0; i < count && i < TUTTI_DENIALS_MOST; i++)
        if (denials->list[i].component == denial->component && strcmp(denials->list[i].what, denial->what) == 0)
            return;
    if (count >= TUTTI_DENIALS_MOST)
        return;
    denials->list[count] = *denial;
    atomic_store(&denials->count, count + 1);
}

bool tt_supervisor_read_denial(const struct tt_denials *denials, uint32_t next, struct tt_denial *out)
{
    uint32_t count = atomic_load(&denials->count);
    if (next >= count || next >= TUTTI_DENIALS_MOST)
        return false;
    *out = denials->list[next];
    out->what[sizeof out->what - 1] = out->allow[sizeof out->allow - 1] = '\0';
    tt_text_make_printable(out->what);
    tt_text_make_printable(out->allow);
    return true;
}

/* How a call is judged. */
enum kind {
    OPENS,     /* a path, with flags of open */
    OPENS_HOW, /* paths of sockets in memory */
    CREATES,   /* a path, to be written */
    CUTS,      /* truncates a file; judged only where Landlock does not control it */
    CHANGES,   /* the folder that a path is in */
    CHANGES_2, /* those of two paths */
    STARTS,    /* a process, or a thread: flags of clone */
    FORKS,     /* a process */
    IS_NEW,    /* as if the kernel did not have it: its arguments lie in memory, and all programs know the older call */
    RUNS,      /* a program */
    REACHES,   /* a process, by its number */
    SIGNALS,   /* sends signals; Landlock may control it, too */
    SIGNALS_THREAD,
    OF_THREAD, /* acts on the calling thread only */
    IS_OURS,   /* needed where our own code has units forked */
    CONTROLS,  /* its process: prctl */
    SHARES,    /* memory */
    USES_NET,
    ACCEPTS, /* a connection, at a port */
};

/* `first` is the argument with the path, the folder that it begins at is before it (`at`); or that with flags, number, length. */
struct syscall_rule {
    const char *name;
    enum kind kind;
    unsigned first;
    bool at;
};

static const struct syscall_rule rules[] = {
    {"open", OPENS, 0, false},
    {"openat", OPENS, 1, true},
    {"openat2", OPENS_HOW, 1, true},
    {"creat", CREATES, 0, false},
    {"truncate", CUTS, 0, false},
    {"truncate64", CUTS, 0, false},
    {"mkdir", CHANGES, 0, false},
    {"mkdirat", CHANGES, 1, true},
    {"rmdir", CHANGES, 0, false},
    {"unlink", CHANGES, 0, false},
    {"unlinkat", CHANGES, 1, true},
    {"symlink", CHANGES, 1, false},
    {"symlinkat", CHANGES, 2, true},
    {"rename", CHANGES_2, 0, false},
    {"renameat", CHANGES_2, 1, true},
    {"renameat2", CHANGES_2, 1, true},
    {"link", CHANGES_2, 0, false},
    {"linkat", CHANGES_2, 1, true},
    {"clone", STARTS, 0, false},
    {"fork", FORKS, 0, false},
    {"vfork", FORKS, 0, false},
    {"clone3", IS_NEW, 0, false},
    {"execve", RUNS, 0, false},
    {"execveat", RUNS, 1, true},
    {"kill", SIGNALS, 0, false},
    {"tgkill", SIGNALS, 0, false},
    {"rt_sigqueueinfo", SIGNALS, 0, false},
    {"rt_tgsigqueueinfo", SIGNALS, 0, false},
    {"prlimit64", REACHES, 0, false},
    {"tkill", SIGNALS_THREAD, 0, false},
    {"sched_setscheduler", OF_THREAD, 0, false},
    {"memfd_create", IS_OURS, 0, false},
    {"setpgid", IS_OURS, 0, false},
    {"prctl", CONTROLS, 0, false},
    {"mmap", SHARES, 1, false},
    {"mmap2", SHARES, 1, false},
    {"socket", USES_NET, 0, false},
    {"connect", USES_NET, 0, false},
    {"bind", USES_NET, 0, false},
    {"listen", USES_NET, 0, false},
    {"accept", ACCEPTS, 0, false},
    {"accept4", ACCEPTS, 0, false},
    {"sendto", USES_NET, 0, false},
    {"sendmsg", USES_NET, 0, false},
    {"sendmmsg", USES_NET, 0, false},
};

/* ---- what is refused ---- */

static void supervisor_deny(struct tt_supervision *judge, const char *allow, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void supervisor_deny(struct tt_supervision *judge, const char *allow, const char *format, ...)
{
    struct tt_denial denial = {.component = atomic_load(judge->of.component)};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(denial.what, sizeof denial.what, format, arguments);
    va_end(arguments);
    snprintf(denial.allow, sizeof denial.allow, "%s", allow);
    tt_supervisor_add_denial(judge->of.denials, &denial);
}

/* ---- the worker's memory and paths ---- */

static bool copy_memory(pid_t from, uint64_t address, void *out, size_t size)
{
    struct iovec here = {out, size};
    struct iovec there = {(void *)(uintptr_t)address, size}; /* NOLINT(performance-no-int-to-ptr): it is one there */
    return process_vm_readv(from, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* A text of the worker, cut at PATH_MAX. */
static bool supervisor_copy_text(pid_t from, uint64_t address, char out[PATH_MAX])
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), length = 0;
    while (length < PATH_MAX) {
        size_t part = page - (size_t)((address + length) % page); /* the next page may not be there */
        part = part < PATH_MAX - length ? part : PATH_MAX - length;
        if (!copy_memory(from, address + length, out + length, part))
            return false;
        if (memchr(out + length, '\0', part))
            return true;
        length += part;
    }
    return false;
}

/* Where a relative path of the worker begins. */
static bool supervisor_find_base(pid_t of, bool at, uint64_t folder, char out[PATH_MAX])
{
    char link[64];
    if (!at || (int32_t)folder == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/%d/cwd", (int)of);
    else
        snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)of, (int)(int32_t)folder);
    ssize_t length = readlink(link, out, PATH_MAX - 1);
    if (length <= 0)
        return false;
    out[length] = '\0';
    return true;
}

/* /proc/self is another folder here than there. */
static void replace_proc_self(pid_t worker, const char *path, struct tt_text *out)
{
    static const char *const names[] = {"/proc/self", "/proc/thread-self"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(path, names[i], length) == 0 && (path[length] == '/' || path[length] == '\0')) {
            tt_text_printf(out, "/proc/%d%s", (int)worker, path + length);
            return;
        }
    }
    tt_text_append(out, path);
}

/* `path` with its links resolved but for the last part. False: the kernel will find no such folder. */
static bool resolve_folder(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    char *parent = slash ? tt_text_copy(path) : NULL;
    if (!parent)
        return false;
    parent[slash - path + (slash == path)] = '\0';
    bool found = realpath(parent, out) != NULL;
    free(parent);
    size_t length = found ? strlen(out) : 0;
    if (found)
        snprintf(out + length, PATH_MAX - length, "%s%s", length > 1 ? "/" : "", slash + 1);
    return found;
}

/* The same with the last part, if that exists and is a file, not a pipe of some process or the like. */
static bool supervisor_resolve_path(const char *path, bool follow, char out[PATH_MAX])
{
    char link[64];
    int fd = open(path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
    if (fd < 0)
        return errno == ENOENT && resolve_folder(path, out);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, out, PATH_MAX - 1);
    close(fd);
    out[length > 0 ? length : 0] = '\0';
    return out[0] == '/' || resolve_folder(path, out);
}

/* Finds the absolute path in argument `first` of the call. False if the kernel would not find one either. */
static bool supervisor_find_path(const struct tt_supervision *judge, const struct seccomp_notif *call,
                                 const struct syscall_rule *rule, unsigned first, bool follow, char out[PATH_MAX])
{
    char text[PATH_MAX], base[PATH_MAX] = "";
    struct tt_text whole = {0};
    pid_t caller = (pid_t)call->pid;
    if (!supervisor_copy_text(caller, call->data.args[first], text) || !text[0])
        return false;
    if (text[0] != '/') {
        if (!supervisor_find_base(caller, rule->at, rule->at ? call->data.args[first - 1] : 0, base))
            return false;
        tt_text_printf(&whole, "%s/%s", base, text);
    } else
        replace_proc_self(judge->worker, text, &whole);
    bool found = !whole.failed && supervisor_resolve_path(whole.text, follow, out);
    tt_text_fini(&whole);
    return found;
}

/* ---- the scratch folder ---- */

static uint64_t folder_tree_size(int folder, int depth)
{
    enum { DEEPEST = 32, LEAST = 4096 }; /* an empty file takes room, too */
    uint64_t size = 0;
    struct stat status;
    DIR *dir = fdopendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(dirfd(dir), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        uint64_t taken = 512 * (uint64_t)status.st_blocks;
        size += taken > LEAST ? taken : LEAST;
        int below = S_ISDIR(status.st_mode) && depth < DEEPEST
                        ? openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                        : -1;
        if (below >= 0)
            size += folder_tree_size(below, depth + 1);
    }
    if (dir)
        closedir(dir);
    else
        close(folder);
    return size;
}

void tt_supervisor_check_scratch(struct tt_supervision *judge)
{
    const struct tt_policy *policy = judge->of.policy;
    if (judge->scratch_is_full || !judge->uses_scratch || !policy->scratch || policy->limits.scratch == 0)
        return;
    int folder = open(policy->scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || folder_tree_size(folder, 0) <= policy->limits.scratch)
        return;
    judge->scratch_is_full = true;
    prlimit(judge->worker, RLIMIT_FSIZE, &(struct rlimit){0, 0}, NULL);
    supervisor_deny(judge, "", "have more than %" PRIu64 " bytes in its scratch folder (--limits scratch=)",
                    policy->limits.scratch);
}

/* ---- calls ---- */

static int judge_path(struct tt_supervision *judge, const char *path, bool write)
{
    if (!tt_policy_allows(judge->of.policy, path, write)) {
        char allow[TUTTI_DENIAL_TEXT];
        snprintf(allow, sizeof allow, "%s:%.250s", write ? "write" : "read", path);
        supervisor_deny(judge, allow, "%s %.250s", write ? "write" : "read", path);
        return EACCES;
    }
    if (write)
        judge->uses_scratch = true;
    return write && judge->scratch_is_full ? EDQUOT : 0;
}

static int judge_open(struct tt_supervision *judge, const struct seccomp_notif *call, const struct syscall_rule *rule,
                      uint64_t flags)
{
    char path[PATH_MAX];
    bool write = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    bool follow = !(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    if ((flags & O_PATH) || !supervisor_find_path(judge, call, rule, rule->first, follow, path))
        return 0;
    struct stat status = {0};
    if (lstat(path, &status) != 0 && !(flags & O_CREAT))
        return 0;                           /* the kernel reports that the process does not exist */
    bool is_pipe = S_ISLNK(status.st_mode); /* an entry of /proc/PID/fd: the process may write to it */
    return judge_path(judge, path, write && !is_pipe);
}

static int judge_path_change(struct tt_supervision *judge, const struct seccomp_notif *call,
                             const struct syscall_rule *rule, unsigned first)
{
    char path[PATH_MAX];
    bool follow = rule->kind == CREATES || rule->kind == CUTS;
    if (!supervisor_find_path(judge, call, rule, first, follow, path))
        return 0;
    int error = judge_path(judge, path, true);
    return error == 0 && rule->kind == CUTS && !judge->of.guards_truncation ? EPERM : error;
}

static int judge_exec(struct tt_supervision *judge, const struct seccomp_notif *call, const struct syscall_rule *rule)
{
    char path[PATH_MAX] = "a program";
    (void)supervisor_find_path(judge, call, rule, rule->first, true, path);
    if (tt_policy_allows_run(judge->of.policy, path))
        return 0;
    supervisor_deny(judge, "exec", "run %.200s", path);
    return EPERM;
}

/* Threads of the process, by its folder of /proc. */
static uint64_t count_threads(pid_t pid)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return stat(path, &status) == 0 && status.st_nlink > 2 ? (uint64_t)status.st_nlink - 2 : 0;
}

static pid_t supervisor_parent_of(pid_t pid)
{
    char path[64], line[512];
    int fd;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, line, sizeof line - 1) : -1;
    if (fd >= 0)
        close(fd);
    line[length > 0 ? length : 0] = '\0';
    const char *name = strrchr(line, ')'); /* it may have brackets itself; "S PARENT" follow */
    return name && strlen(name) > 4 ? (pid_t)atoi(name + 4) : 0;
}

/* Returns true if the worker has started the process. */
static bool is_descendant(const struct tt_supervision *judge, pid_t pid)
{
    enum { DEEPEST = 64 };
    for (int i = 0; i < DEEPEST && pid > 1; i++) {
        pid = supervisor_parent_of(pid);
        if (pid == judge->worker)
            return true;
    }
    return false;
}

/* Those of the worker, and of all that it has started. */
static uint64_t count_tasks(const struct tt_supervision *judge)
{
    uint64_t count = count_threads(judge->worker);
    DIR *all = judge->of.policy->fork ? opendir("/proc") : NULL;
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid > 0 && is_descendant(judge, pid))
            count += count_threads(pid);
    }
    if (all)
        closedir(all);
    return count;
}

static int judge_new_task(struct tt_supervision *judge, bool is_thread, const char *name)
{
    const struct tt_policy *policy = judge->of.policy;
    if (!is_thread && !policy->fork) {
        supervisor_deny(judge, "fork", "start a process (%s)", name);
        return EPERM;
    }
    /* Counting takes longer than starting, so it is done when the limit might be reached. */
    if (policy->limits.processes > 0 && (judge->tasks == 0 || judge->tasks >= policy->limits.processes))
        judge->tasks = count_tasks(judge);
    if (policy->limits.processes == 0 || judge->tasks++ < policy->limits.processes)
        return 0;
    supervisor_deny(judge, "", "have more than %" PRIu64 " processes and threads (--limits processes=)",
                    policy->limits.processes);
    return EAGAIN;
}

static int judge_own_call(struct tt_supervision *judge, bool is_needed, const char *name)
{
    if (judge->of.policy->own_forks && is_needed)
        return 0;
    supervisor_deny(judge, "", "call %s", name);
    return EPERM;
}

/* `is_scoped`: what goes to others does not arrive anyway. */
static int judge_target_process(struct tt_supervision *judge, int32_t pid, bool is_scoped, const char *name)
{
    if (pid == judge->worker || (judge->of.policy->fork && (is_scoped || is_descendant(judge, pid))))
        return 0;
    supervisor_deny(judge, "", "reach another process (%s)", name);
    return EPERM;
}

static bool is_worker_thread(const struct tt_supervision *judge, int32_t thread)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)judge->worker, (int)thread);
    return access(path, F_OK) == 0;
}

static int judge_shared_memory(struct tt_supervision *judge, uint64_t length)
{
    uint64_t limit = judge->of.policy->limits.memory;
    if (limit == 0 || (length <= limit && judge->shared <= limit - length)) {
        judge->shared += length;
        return 0;
    }
    supervisor_deny(judge, "", "have more than %" PRIu64 " bytes of shared memory (--limits memory=)", limit);
    return ENOMEM;
}

/* Who connects to the port of a run once that has its connections is a stranger, and turned away here: the worker's own code asks for him
 * again and again, and FMUs are not to meet him. */
static int judge_accept(struct tt_supervision *judge)
{
    if (judge->port < 0) {
        supervisor_deny(judge, "net", "use the network (accept)");
        return EPERM;
    }
    struct pollfd wait = {.fd = judge->port, .events = POLLIN};
    int stranger = poll(&wait, 1, 0) == 1 ? accept4(judge->port, NULL, NULL, SOCK_CLOEXEC) : -1;
    if (stranger >= 0)
        close(stranger);
    return stranger >= 0 ? ECONNABORTED : EAGAIN;
}

static int judge_open_how(struct tt_supervision *judge, const struct seccomp_notif *call,
                          const struct syscall_rule *rule)
{
    uint64_t flags;
    if (!copy_memory((pid_t)call->pid, call->data.args[2], &flags, sizeof flags))
        return EFAULT;
    return judge_open(judge, call, rule, flags);
}

static int judge_by_rule(struct tt_supervision *judge, const struct seccomp_notif *call,
                         const struct syscall_rule *rule)
{
    uint64_t argument = call->data.args[rule->first];
    int32_t target = (int32_t)argument; /* of calls that name a process or a thread */
    int error;
    switch (rule->kind) {
    case OPENS: return judge_open(judge, call, rule, call->data.args[rule->first + 1]);
    case OPENS_HOW: return judge_open_how(judge, call, rule);
    case CREATES:
    case CUTS:
    case CHANGES: return judge_path_change(judge, call, rule, rule->first);
    case CHANGES_2:
        error = judge_path_change(judge, call, rule, rule->first);
        return error ? error : judge_path_change(judge, call, rule, rule->first + (rule->at ? 2 : 1));
    case STARTS: return judge_new_task(judge, argument & CLONE_THREAD, rule->name);
    case FORKS: return judge_new_task(judge, false, rule->name);
    case IS_NEW: return ENOSYS;
    case RUNS: return judge_exec(judge, call, rule);
    case REACHES: return judge_target_process(judge, target, false, rule->name);
    case SIGNALS: return judge_target_process(judge, target, judge->of.scopes_signals, rule->name);
    case OF_THREAD:
        return target == 0 || is_worker_thread(judge, target) ? 0
                                                              : judge_target_process(judge, target, false, rule->name);
    case SIGNALS_THREAD:
        return is_worker_thread(judge, target)
                   ? 0
                   : judge_target_process(judge, target, judge->of.scopes_signals, rule->name);
    case IS_OURS: return judge_own_call(judge, true, rule->name);
    case CONTROLS: return judge_own_call(judge, argument == PR_SET_CHILD_SUBREAPER, rule->name);
    case SHARES: return judge_shared_memory(judge, argument);
    case ACCEPTS: return judge_accept(judge);
    case USES_NET: supervisor_deny(judge, "net", "use the network (%s)", rule->name); return EPERM;
    }
    return EPERM;
}

int tt_supervisor_judge_call(struct tt_supervision *judge, const struct seccomp_notif *call)
{
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call->data.nr);
    const struct syscall_rule *rule = NULL;
    int error;
    if (!name)
        return ENOSYS; /* newer than libseccomp: programs take it for newer than the kernel */
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !rule; i++)
        if (strcmp(rules[i].name, name) == 0)
            rule = &rules[i];
    if (rule)
        error = judge_by_rule(judge, call, rule);
    else {
        supervisor_deny(judge, "", "call %s", name);
        error = EPERM;
    }
    free(name);
    return error;
}
