/* SPDX-License-Identifier: MIT */
/* Hostile - in its first step tries one forbidden action: the parameter `deed` selects it; `path`, `port` and `process`
 * are its target. `succeeded` reports success, `error` the errno of a failure. All actions are harmless to their test
 * targets: a fork is one fork, a full disk is some megabytes. */
#define _GNU_SOURCE /* calls that only Linux has */
#include "kit.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

struct hostile {
    char *deed, *path;
    int32_t port, process;
    int32_t succeeded, error, steps;
    double u, y;
};
#define KIT_SELF struct hostile

static const struct kit_var variables[] = {
    KIT_PARAMETER(deed, .start = "nothing"),
    KIT_PARAMETER(path, .start = ""),
    KIT_PARAMETER(port, .start = "0"),
    KIT_PARAMETER(process, .start = "0", .description = "its number; 0: the parent"),
    KIT_OUTPUT(succeeded, .start = "0", .depends = ""),
    KIT_OUTPUT(error, .start = "0", .depends = ""),
    KIT_OUTPUT(steps, .start = "0", .depends = ""),
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .depends = "u:constant", .description = "u"),
};

static pid_t victim(const struct hostile *m)
{
    return m->process > 0 ? (pid_t)m->process : getppid();
}

/* ---- files: each is true if it came through ---- */

static bool done(int result)
{
    return result >= 0;
}

static bool closed(int fd)
{
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool read_file(const struct hostile *m)
{
    char bytes[16];
    int fd = open(m->path, O_RDONLY | O_CLOEXEC);
    bool got = fd >= 0 && read(fd, bytes, sizeof bytes) > 0;
    int error = errno;
    closed(fd);
    errno = error;
    return got;
}

static bool read_directly(const struct hostile *m)
{
    return closed((int)syscall(SYS_openat, AT_FDCWD, m->path, O_RDONLY | O_CLOEXEC));
}

static bool read_by_link(const struct hostile *m)
{
    char link[4096];
    const char *folder = getenv("TMPDIR");
    snprintf(link, sizeof link, "%s/hostile-link", folder ? folder : "/tmp");
    unlink(link);
    bool made = symlink(m->path, link) == 0;
    bool got = made && closed(open(link, O_RDONLY | O_CLOEXEC));
    int error = errno;
    unlink(link);
    errno = error;
    return got;
}

/* The path is changed while the call is on its way, in the hope that one is judged and another one opened. */
static char raced[2][4096];
static char *volatile which = raced[0];
static volatile bool races;

static void *race(void *unused)
{
    static const char fine[] = "/dev/null";
    while (races) {
        memcpy(raced[0], fine, sizeof fine);
        memcpy(raced[0], raced[1], strlen(raced[1]) + 1);
    }
    return unused;
}

static bool read_by_race(const struct hostile *m)
{
    enum { TRIES = 3000 };
    pthread_t thread;
    struct stat wanted, got;
    bool reached = false;
    if (stat(m->path, &wanted) != 0)
        return false;
    snprintf(raced[1], sizeof raced[1], "%s", m->path);
    races = true;
    if (pthread_create(&thread, NULL, race, NULL) != 0)
        return false;
    for (int i = 0; i < TRIES && !reached; i++) {
        int fd = open(which, O_RDONLY | O_CLOEXEC);
        reached = fd >= 0 && fstat(fd, &got) == 0 && got.st_ino == wanted.st_ino && got.st_dev == wanted.st_dev;
        closed(fd);
    }
    races = false;
    pthread_join(thread, NULL);
    return reached;
}

static bool list_folder(const struct hostile *m)
{
    DIR *dir = opendir(m->path);
    if (dir)
        closedir(dir);
    return dir != NULL;
}

static bool create_file(const struct hostile *m)
{
    return closed(open(m->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static bool append_file(const struct hostile *m)
{
    return closed(open(m->path, O_WRONLY | O_APPEND | O_CLOEXEC));
}

static bool truncate_file(const struct hostile *m)
{
    return done(truncate(m->path, 0));
}

static bool remove_file(const struct hostile *m)
{
    return done(unlink(m->path));
}

static bool rename_file(const struct hostile *m)
{
    char other[4096];
    snprintf(other, sizeof other, "%s.gone", m->path);
    return done(rename(m->path, other));
}

static bool make_folder(const struct hostile *m)
{
    return done(mkdir(m->path, 0700));
}

static bool make_link(const struct hostile *m)
{
    return done(symlink("/etc/passwd", m->path));
}

static bool change_mode(const struct hostile *m)
{
    return done(chmod(m->path, 0777));
}

static bool change_time(const struct hostile *m)
{
    return done(utimensat(AT_FDCWD, m->path, NULL, 0));
}

static bool change_attribute(const struct hostile *m)
{
    return done(setxattr(m->path, "user.hostile", "1", 1, 0));
}

static bool watch_file(const struct hostile *m)
{
    int fd = inotify_init1(IN_CLOEXEC);
    bool watched = fd >= 0 && inotify_add_watch(fd, m->path, IN_ALL_EVENTS) >= 0;
    int error = errno;
    closed(fd);
    errno = error;
    return watched;
}

/* A file that the process has open to write, and that is not the FMU's. */
static bool write_to_descriptor(const struct hostile *m)
{
    struct stat status;
    bool found = false;
    DIR *all = opendir("/proc/self/fd");
    (void)m;
    for (const struct dirent *entry; all && !found && (entry = readdir(all));) {
        int fd = atoi(entry->d_name);
        found = fd > 2 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
    }
    if (all)
        closedir(all);
    return found;
}

/* Whoever has such a file mapped, too, would fall over its end. */
static bool cut_descriptors(const struct hostile *m)
{
    bool cut = false;
    DIR *all = opendir("/proc/self/fd");
    (void)m;
    for (const struct dirent *entry; all && (entry = readdir(all));)
        cut = (atoi(entry->d_name) > 2 && ftruncate(atoi(entry->d_name), 0) == 0) || cut;
    if (all)
        closedir(all);
    return cut;
}

/* ---- the network ---- */

static bool reach(int type, int family, const void *address, socklen_t length,
                  int (*way)(int, const struct sockaddr *, socklen_t))
{
    int fd = socket(family, type | SOCK_CLOEXEC, 0);
    bool reached = fd >= 0 && way(fd, address, length) == 0;
    int error = errno;
    closed(fd);
    errno = error;
    return reached;
}

static struct sockaddr_in loopback(const struct hostile *m)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)m->port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static bool connect_to_port(const struct hostile *m)
{
    struct sockaddr_in address = loopback(m);
    return reach(SOCK_STREAM, AF_INET, &address, sizeof address, connect);
}

static bool send_datagram(const struct hostile *m)
{
    struct sockaddr_in address = loopback(m);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool sent = fd >= 0 && sendto(fd, "x", 1, 0, (struct sockaddr *)&address, sizeof address) == 1;
    int error = errno;
    closed(fd);
    errno = error;
    return sent;
}

static bool listen_at_port(const struct hostile *m)
{
    struct sockaddr_in address = loopback(m);
    address.sin_port = 0;
    return reach(SOCK_STREAM, AF_INET, &address, sizeof address, bind);
}

static bool connect_to_path(const struct hostile *m)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", m->path);
    return reach(SOCK_STREAM, AF_UNIX, &address, sizeof address, connect);
}

static bool connect_to_name(const struct hostile *m)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", m->path);
    return reach(SOCK_STREAM, AF_UNIX, &address, (socklen_t)(sizeof(sa_family_t) + 1 + strlen(m->path)), connect);
}

/* ---- other processes ---- */

static bool signal_process(const struct hostile *m)
{
    return done(kill(victim(m), SIGCONT));
}

static bool signal_group(const struct hostile *m)
{
    (void)m;
    return done(kill(0, SIGCONT));
}

/* The reader of a pipe sends a signal to any process. */
static bool signal_by_pipe(const struct hostile *m)
{
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0)
        return false;
    bool set = fcntl(pair[0], F_SETOWN, victim(m)) == 0 && fcntl(pair[0], F_SETSIG, SIGCONT) == 0;
    int error = errno;
    closed(pair[0]);
    closed(pair[1]);
    errno = error;
    return set;
}

static bool trace_process(const struct hostile *m)
{
    return done((int)ptrace(PTRACE_SEIZE, victim(m), NULL, NULL));
}

static bool open_of_process(const struct hostile *m, const char *file, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)victim(m), file);
    return closed(open(path, flags | O_CLOEXEC));
}

static bool open_memory(const struct hostile *m)
{
    return open_of_process(m, "mem", O_RDWR);
}

static bool open_environment(const struct hostile *m)
{
    return open_of_process(m, "environ", O_RDONLY);
}

static bool open_descriptor(const struct hostile *m)
{
    return open_of_process(m, "fd/2", O_WRONLY);
}

static bool read_memory(const struct hostile *m)
{
    static char here[8]; /* the parent of a fork has its memory at the same addresses */
    struct iovec local = {here, sizeof here}, remote = {here, sizeof here};
    return process_vm_readv(victim(m), &local, 1, &remote, 1, 0) > 0;
}

static bool take_descriptor(const struct hostile *m)
{
    int process = (int)syscall(SYS_pidfd_open, victim(m), 0);
    bool taken = process >= 0 && closed((int)syscall(SYS_pidfd_getfd, process, 2, 0));
    int error = errno;
    closed(process);
    errno = error;
    return taken;
}

static bool change_priority(const struct hostile *m)
{
    return done(setpriority(PRIO_PROCESS, (id_t)victim(m), getpriority(PRIO_PROCESS, (id_t)victim(m))));
}

static bool change_limit(const struct hostile *m)
{
    struct rlimit limit;
    return prlimit(victim(m), RLIMIT_CORE, NULL, &limit) == 0 && prlimit(victim(m), RLIMIT_CORE, &limit, NULL) == 0;
}

static bool share_memory(const struct hostile *m)
{
    return closed(shm_open(m->path, O_RDWR, 0600));
}

/* Overwrites memory that the process already shares, which corrupts it for other readers. */
static bool damage_memory(const struct hostile *m)
{
    enum { MOST = 3 << 20 };
    char line[512], mode[8];
    uintptr_t begin, end;
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    (void)m;
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &begin, &end, mode) == 3 && strcmp(mode, "rw-s") == 0) {
            void *memory = (void *)begin; /* NOLINT(performance-no-int-to-ptr): the kernel lists mappings as numbers */
            memset(memory, 0x5a, end - begin < MOST ? end - begin : MOST);
            found = true;
        }
    if (maps)
        fclose(maps);
    return found;
}

/* System V's, by a key. */
static bool attach_memory(const struct hostile *m)
{
    int id = shmget((key_t)m->port, 0, 0);
    const void *memory = id >= 0 ? shmat(id, NULL, 0) : NULL;
    bool attached = memory && (intptr_t)memory != -1;
    if (attached)
        shmdt(memory);
    return attached;
}

static bool queue_messages(const struct hostile *m)
{
    mqd_t queue = mq_open(m->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600, NULL);
    if (queue == (mqd_t)-1)
        return false;
    mq_close(queue);
    mq_unlink(m->path);
    return true;
}

/* ---- more processes, threads, memory, room ---- */

static bool fork_process(const struct hostile *m)
{
    (void)m;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return pid > 0;
}

static bool run_program(const struct hostile *m)
{
    char *arguments[] = {"true", NULL};
    pid_t pid = 0;
    (void)m;
    int error = posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, NULL);
    if (error == 0)
        waitpid(pid, NULL, 0);
    errno = error;
    return error == 0;
}

/* Replaces the process by a different program. */
static bool become_program(const struct hostile *m)
{
    char *arguments[] = {"true", NULL};
    (void)m;
    execv("/bin/true", arguments);
    return false;
}

static bool run_command(const struct hostile *m)
{
    char command[4200];
    snprintf(command, sizeof command, "exec >'%s'", m->path);
    return system(command) == 0;
}

static void *sleep_long(void *unused)
{
    pause();
    return unused;
}

static bool start_threads(const struct hostile *m)
{
    enum { MANY = 80 };
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    (void)m;
    for (int i = 0; i < MANY; i++) {
        pthread_t thread;
        errno = pthread_create(&thread, &small, sleep_long, NULL);
        if (errno)
            return false;
    }
    return true;
}

enum { MUCH = 64 << 20 };

static bool take_memory(int flags)
{
    void *memory = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    munmap(memory, MUCH);
    return true;
}

static bool take_own_memory(const struct hostile *m)
{
    (void)m;
    return take_memory(MAP_PRIVATE);
}

static bool take_shared_memory(const struct hostile *m)
{
    (void)m;
    return take_memory(MAP_SHARED);
}

static bool take_memory_file(const struct hostile *m)
{
    (void)m;
    return closed(memfd_create("hostile", MFD_CLOEXEC));
}

/* Writes `files` files of `blocks` blocks each to the temporary folder. */
static bool fill_folder(size_t files, size_t blocks)
{
    static const char block[1 << 16];
    char path[4096];
    const char *folder = getenv("TMPDIR");
    bool written = true;
    for (size_t i = 0; i < files && written; i++) {
        snprintf(path, sizeof path, "%s/hostile-%zu", folder ? folder : "/tmp", i);
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        for (size_t n = 0; n < blocks && fd >= 0 && written; n++) {
            written = write(fd, block, sizeof block) == (ssize_t)sizeof block;
            usleep(2000); /* as a disk would take its time */
        }
        written = written && fd >= 0;
        int error = errno;
        closed(fd);
        errno = error;
    }
    return written;
}

static bool write_large_file(const struct hostile *m)
{
    (void)m;
    return fill_folder(1, 64);
}

static bool write_many_files(const struct hostile *m)
{
    (void)m;
    return fill_folder(400, 1);
}

static bool raise_limit(const struct hostile *m)
{
    (void)m;
    return done(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}));
}

/* ---- the system ---- */

static bool outlive_parent(const struct hostile *m)
{
    (void)m;
    return done(prctl(PR_SET_PDEATHSIG, 0));
}

static bool leave_group(const struct hostile *m)
{
    (void)m;
    return done(setpgid(0, 0));
}

static bool make_namespace(const struct hostile *m)
{
    (void)m;
    return done((int)syscall(SYS_unshare, 0x10000000 /* CLONE_NEWUSER */));
}

static bool queue_calls(const struct hostile *m)
{
    struct io_uring_params parameters = {0};
    (void)m;
    return closed((int)syscall(SYS_io_uring_setup, 1, &parameters));
}

static bool add_key(const struct hostile *m)
{
    (void)m;
    return done((int)syscall(SYS_add_key, "user", "hostile", "x", 1, -2 /* of the process */));
}

static bool load_bpf(const struct hostile *m)
{
    union bpf_attr attributes = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    (void)m;
    return closed((int)syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
}

static bool burn_time(const struct hostile *m)
{
    struct rusage usage;
    (void)m;
    do
        getrusage(RUSAGE_SELF, &usage);
    while (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec < 5);
    return true;
}

/* ---- what any FMU may do ---- */

static bool nothing(const struct hostile *m)
{
    (void)m;
    return true;
}

static bool use_scratch(const struct hostile *m)
{
    (void)m;
    char path[4096];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/hostile-scratch", folder ? folder : "/tmp");
    return closed(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)) && rename(path, path) == 0 && unlink(path) == 0;
}

static void *return_it(void *it)
{
    return it;
}

static bool use_threads(const struct hostile *m)
{
    (void)m;
    pthread_t thread;
    sigset_t all;
    sigfillset(&all); /* as libraries do that want no signals in their threads */
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    errno = pthread_create(&thread, NULL, return_it, NULL);
    bool ran = errno == 0 && pthread_join(thread, NULL) == 0;
    sigemptyset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    return ran && raise(SIGCONT) == 0;
}

static bool look_at_itself(const struct hostile *m)
{
    (void)m;
    return closed(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) &&
           closed(open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC)) && closed(open("/dev/null", O_WRONLY | O_CLOEXEC));
}

static const struct {
    const char *name;
    bool (*try)(const struct hostile *m);
} deeds[] = {
    {"nothing", nothing},
    {"use_scratch", use_scratch},
    {"use_threads", use_threads},
    {"look_at_itself", look_at_itself},
    {"read_file", read_file},
    {"read_directly", read_directly},
    {"read_by_link", read_by_link},
    {"read_by_race", read_by_race},
    {"list_folder", list_folder},
    {"create_file", create_file},
    {"append_file", append_file},
    {"truncate_file", truncate_file},
    {"remove_file", remove_file},
    {"rename_file", rename_file},
    {"make_folder", make_folder},
    {"make_link", make_link},
    {"change_mode", change_mode},
    {"change_time", change_time},
    {"change_attribute", change_attribute},
    {"watch_file", watch_file},
    {"write_to_descriptor", write_to_descriptor},
    {"cut_descriptors", cut_descriptors},
    {"connect_to_port", connect_to_port},
    {"send_datagram", send_datagram},
    {"listen_at_port", listen_at_port},
    {"connect_to_path", connect_to_path},
    {"connect_to_name", connect_to_name},
    {"signal_process", signal_process},
    {"signal_group", signal_group},
    {"signal_by_pipe", signal_by_pipe},
    {"trace_process", trace_process},
    {"open_memory", open_memory},
    {"open_environment", open_environment},
    {"open_descriptor", open_descriptor},
    {"read_memory", read_memory},
    {"take_descriptor", take_descriptor},
    {"change_priority", change_priority},
    {"change_limit", change_limit},
    {"share_memory", share_memory},
    {"damage_memory", damage_memory},
    {"attach_memory", attach_memory},
    {"queue_messages", queue_messages},
    {"fork_process", fork_process},
    {"run_program", run_program},
    {"become_program", become_program},
    {"run_command", run_command},
    {"start_threads", start_threads},
    {"take_own_memory", take_own_memory},
    {"take_shared_memory", take_shared_memory},
    {"take_memory_file", take_memory_file},
    {"write_large_file", write_large_file},
    {"write_many_files", write_many_files},
    {"raise_limit", raise_limit},
    {"outlive_parent", outlive_parent},
    {"leave_group", leave_group},
    {"make_namespace", make_namespace},
    {"queue_calls", queue_calls},
    {"add_key", add_key},
    {"load_bpf", load_bpf},
    {"burn_time", burn_time},
};

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct hostile *m = self;
    m->y = m->u;
    return KIT_OK;
}

static enum kit_status advance(struct kit *kit, void *self, double t, double h)
{
    struct hostile *m = self;
    if (m->steps++ > 0)
        return KIT_OK;
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        if (strcmp(deeds[i].name, m->deed) == 0) {
            errno = 0;
            m->succeeded = deeds[i].try(m);
            m->error = m->succeeded ? 0 : errno;
            return KIT_OK;
        }
    kit_log(kit, KIT_ERROR, "'%s' is none of the deeds of this model", m->deed);
    return KIT_ERROR;
}

const struct kit_model kit_model = {
    .name = "Hostile",
    .description = "Tries what no FMU should",
    .size = sizeof(struct hostile),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE,
    .outputs = outputs,
    .advance = advance,
};
