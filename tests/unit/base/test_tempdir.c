/* SPDX-License-Identifier: MIT */
/* Temporary folders through crashes, kills and forks. Parts that need a separate process run in a forked child, which
 * returns 0 or the number of the line that failed. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

#include "base/tempdir.h"
#include "scratch.h"

static struct scratch scratch;
static char outside[4300]; /* a file that nothing may touch */

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return __LINE__ % 256;                                                                                     \
    } while (0)

static int set_up(void **state)
{
    (void)state;
    scratch_init(&scratch);
    assert_int_equal(mkdir(scratch_path(&scratch, "tmp"), 0700), 0);
    assert_int_equal(setenv("TMPDIR", scratch_path(&scratch, "tmp"), 1), 0);
    copy_text(outside, sizeof outside, scratch_write(&scratch, "outside", "precious", 8));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char *text = slurp_file(outside, NULL);
    assert_string_equal(text, "precious");
    free(text);
    scratch_fini(&scratch);
    return 0;
}

/* How many entries the folder for temporary files has. */
static int leftovers(void)
{
    int count = 0;
    DIR *folder = opendir(scratch_path(&scratch, "tmp"));
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* Puts into a folder what an FMU, or a stranger, may leave in it. */
static void litter(const char *folder)
{
    char path[4200];
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || mkdirat(fd, "full", 0700) != 0 || mkdirat(fd, "full/of", 0700) != 0 ||
        mkdirat(fd, "empty", 0700) != 0 || symlinkat(outside, fd, "link") != 0 || symlinkat("..", fd, "full/up") != 0 ||
        mkfifoat(fd, "pipe", 0600) != 0)
        _exit(99);
    for (int i = 0; i < 300; i++) { /* more than one read of the folder */
        snprintf(path, sizeof path, "full/of/a file with a rather long name %d", i);
        close(openat(fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0400));
    }
    fchmodat(fd, "full/of", 0, 0); /* closed to its owner */
    close(fd);
}

static pid_t start(int (*body)(int fd), int *out)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        _exit(body(ends[1]));
    }
    close(ends[1]);
    *out = ends[0];
    return child;
}

/* Runs `body` in a child; returns its wait status, and the path that it wrote. */
static int run(int (*body)(int fd), char path[4096])
{
    int fd, status;
    pid_t child = start(body, &fd);
    ssize_t n = read(fd, path, 4095);
    path[n > 0 ? n : 0] = '\0';
    assert_int_equal(waitpid(child, &status, 0), child);
    close(fd);
    return status;
}

static void assert_clean_exit(int status)
{
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("child: status %#x (line %d)", (unsigned)status, WEXITSTATUS(status));
}

static bool tell(int fd, const struct tt_tempdir *dir)
{
    const char *path = tt_tempdir_path(dir);
    return write(fd, path, strlen(path)) == (ssize_t)strlen(path);
}

/* Makes the house of a folder (its parent) look as if it had not been touched for an hour. */
static void age(const char *path)
{
    char house[4200];
    copy_text(house, sizeof house, path);
    *strrchr(house, '/') = '\0';
    struct timespec times[2] = {{.tv_sec = time(NULL) - 3600}, {.tv_sec = time(NULL) - 3600}};
    assert_int_equal(utimensat(AT_FDCWD, house, times, 0), 0);
}

static int make_and_free(int fd)
{
    struct tt_tempdir *a, *b;
    CHECK(tt_tempdir_new(&a) == TUTTI_OK && tt_tempdir_new(&b) == TUTTI_OK);
    const char *path = tt_tempdir_path(a);
    struct stat st;
    CHECK(path[0] == '/' && strcmp(path, tt_tempdir_path(b)) != 0);
    const char *base = getenv("TMPDIR");
    CHECK(base && strncmp(path, base, strlen(base)) == 0);
    CHECK(stat(path, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 0777) == 0700 && st.st_uid == geteuid());
    litter(tt_tempdir_path(a));
    CHECK(tell(fd, a));
    char first[4200];
    copy_text(first, sizeof first, path);
    tt_tempdir_free(a);
    CHECK(!exists(first) && exists(tt_tempdir_path(b)));
    tt_tempdir_free(b);
    tt_tempdir_free(NULL);
    CHECK(tt_tempdir_new(&a) == TUTTI_OK); /* and once more from the start */
    CHECK(exists(tt_tempdir_path(a)));
    tt_tempdir_free(a);
    return 0;
}

static void test_make_and_free(void **state)
{
    (void)state;
    char path[4096];
    assert_clean_exit(run(make_and_free, path));
    assert_false(exists(path));
    assert_int_equal(leftovers(), 0);
}

/* root may do everything: without its rights, closed folders really are closed. */
static int make_and_free_as_nobody(int fd)
{
    if (geteuid() == 0)
        CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    return make_and_free(fd);
}

static void test_without_rights(void **state)
{
    (void)state;
    char path[4096];
    assert_int_equal(chmod(scratch.path, 0755), 0);
    assert_int_equal(chmod(scratch_path(&scratch, "tmp"), 01777), 0);
    assert_clean_exit(run(make_and_free_as_nobody, path));
    assert_int_equal(leftovers(), 0);
}

static void on_fault(int signal)
{
    tt_tempdir_remove_all(getpid());
    struct sigaction fallback = {.sa_handler = SIG_DFL};
    sigaction(signal, &fallback, NULL);
    raise(signal);
}

static int crash(int fd)
{
    /* The handler has a separate small stack, as after a stack overflow. */
    static char stack[16384];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    struct tt_tempdir *a, *b;
    CHECK(tt_tempdir_new(&a) == TUTTI_OK && tt_tempdir_new(&b) == TUTTI_OK);
    litter(tt_tempdir_path(a));
    litter(tt_tempdir_path(b));
    CHECK(tell(fd, a));
    raise(SIGSEGV);
    return __LINE__ % 256;
}

static void test_crash(void **state)
{
    (void)state;
    char path[4096];
    int status = run(crash, path);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    assert_true(strlen(path) > 0);
    assert_int_equal(leftovers(), 0);
}

/* Makes a folder and waits to be killed. */
static int make_and_wait(int fd)
{
    struct tt_tempdir *dir;
    CHECK(tt_tempdir_new(&dir) == TUTTI_OK);
    litter(tt_tempdir_path(dir));
    CHECK(tell(fd, dir));
    close(fd);
    for (;;)
        pause();
}

static pid_t start_and_read_path(char path[4096])
{
    int fd;
    pid_t child = start(make_and_wait, &fd);
    ssize_t n = read(fd, path, 4095);
    assert_true(n > 0);
    path[n] = '\0';
    close(fd);
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void test_next_run_sweeps(void **state)
{
    (void)state;
    char abandoned[4096], path[4096];
    pid_t child = start_and_read_path(abandoned);
    end(child);
    assert_true(exists(abandoned));
    assert_clean_exit(run(make_and_free, path));
    assert_true(exists(abandoned)); /* too young: its maker might not have locked it yet */
    age(abandoned);
    assert_clean_exit(run(make_and_free, path));
    assert_false(exists(abandoned));
    assert_int_equal(leftovers(), 0);
}

static void test_in_use_is_not_swept(void **state)
{
    (void)state;
    char used[4096], path[4096];
    pid_t child = start_and_read_path(used);
    age(used);
    assert_clean_exit(run(make_and_free, path));
    assert_true(exists(used));
    end(child);
    assert_clean_exit(run(make_and_free, path));
    assert_int_equal(leftovers(), 0);
}

/* What only looks like ours stays, whatever its age. */
static void test_others_are_not_swept(void **state)
{
    (void)state;
    static const char *const names[] = {"tmp/tutti-results",  "tmp/tutti-1-result-2", "tmp/tutti--abcdef",
                                        "tmp/tutti-12-abcde", "tmp/tutti-12-abcde/",  "tmp/xtutti-12-abcdef"};
    struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)mkdir(scratch_path(&scratch, names[i]), 0700);
        utimensat(AT_FDCWD, scratch.joined, times, 0);
    }
    assert_int_equal(mkdir(scratch_path(&scratch, "tmp/tutti-12-public"), 0755), 0); /* not private: not made by us */
    utimensat(AT_FDCWD, scratch.joined, times, 0);
    assert_int_equal(mkdir(scratch_path(&scratch, "target"), 0700), 0);
    scratch_write(&scratch, "target/file", "x", 1);
    utimensat(AT_FDCWD, scratch_path(&scratch, "target"), times, 0);
    assert_int_equal(symlink("../target", scratch_path(&scratch, "tmp/tutti-12-linked")), 0);
    scratch_write(&scratch, "tmp/tutti-12-afile0", "x", 1);
    utimensat(AT_FDCWD, scratch.joined, times, 0);
    int before = leftovers();
    char path[4096];
    assert_clean_exit(run(make_and_free, path));
    assert_int_equal(leftovers(), before);
    assert_true(exists(scratch_path(&scratch, "target/file")));
}

static int fork_and_free(int fd)
{
    struct tt_tempdir *dir, *own;
    CHECK(tt_tempdir_new(&dir) == TUTTI_OK && tell(fd, dir));
    pid_t child = fork();
    if (child == 0) {
        tt_tempdir_remove_all(getpid());
        CHECK(exists(tt_tempdir_path(dir)));
        CHECK(tt_tempdir_new(&own) == TUTTI_OK); /* in a house of the child's own */
        char path[4200], house[4200];
        copy_text(path, sizeof path, tt_tempdir_path(own));
        copy_text(house, sizeof house, tt_tempdir_path(dir));
        *strrchr(house, '/') = '\0';
        CHECK(strncmp(path, house, strlen(house)) != 0);
        char parents[4200];
        copy_text(parents, sizeof parents, tt_tempdir_path(dir));
        tt_tempdir_free(dir);
        CHECK(exists(parents) && exists(path));
        tt_tempdir_remove_all(getpid());
        CHECK(!exists(path) && exists(parents));
        return 0;
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    if (WEXITSTATUS(status) != 0)
        return WEXITSTATUS(status);
    CHECK(exists(tt_tempdir_path(dir)));
    /* The child's copy of the lock went without taking the lock along. */
    char house[4200];
    copy_text(house, sizeof house, tt_tempdir_path(dir));
    *strrchr(house, '/') = '\0';
    int other = open(house, O_RDONLY | O_DIRECTORY);
    CHECK(other >= 0 && flock(other, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK);
    close(other);
    tt_tempdir_free(dir);
    return 0;
}

static void test_fork(void **state)
{
    (void)state;
    char path[4096];
    assert_clean_exit(run(fork_and_free, path));
    assert_int_equal(leftovers(), 0);
}

static void test_no_such_folder(void **state)
{
    (void)state;
    struct tt_tempdir *dir;
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_int_equal(tt_tempdir_new(&dir), TUTTI_ERR_IO);
    assert_contains(tutti_err_message(), "/no/such/folder");
    assert_contains(tutti_err_message(), "TMPDIR");
    setenv("TMPDIR", "/proc", 1);
    assert_int_equal(tt_tempdir_new(&dir), TUTTI_ERR_IO);
    assert_contains(tutti_err_message(), "TMPDIR");
    unsetenv("TMPDIR");
    assert_int_equal(tt_tempdir_new(&dir), TUTTI_OK);
    assert_int_equal(strncmp(tt_tempdir_path(dir), "/tmp/tutti-", 11), 0);
    tt_tempdir_free(dir);
}

static void *make_some(void *argument)
{
    (void)argument;
    for (int i = 0; i < 100; i++) {
        struct tt_tempdir *dir;
        if (tt_tempdir_new(&dir) != TUTTI_OK || !exists(tt_tempdir_path(dir)))
            return (void *)1;
        tt_tempdir_free(dir);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_some, NULL), 0);
    for (size_t i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    assert_int_equal(leftovers(), 0);
}

static void test_remove_tree(void **state)
{
    (void)state;
    const char *tree = "tree";
    assert_int_equal(tt_fs_remove_tree(scratch_path(&scratch, "absent")), 0);
    assert_int_equal(symlink(outside, scratch_path(&scratch, tree)), 0);
    assert_int_equal(tt_fs_remove_tree(scratch.joined), 0);
    assert_false(exists(scratch.joined));
    assert_int_equal(symlink(scratch.path, scratch_path(&scratch, tree)), 0); /* to a folder */
    assert_int_equal(tt_fs_remove_tree(scratch.joined), 0);
    scratch_write(&scratch, tree, "x", 1);
    assert_int_equal(tt_fs_remove_tree(scratch.joined), 0);
    assert_int_equal(tt_fs_remove_tree("/proc/self"), -1); /* what cannot go */
}

/* Deeper than the longest path, wide at every level, and with names as long as they may be. */
static void test_deep_tree(void **state)
{
    (void)state;
    assert_int_equal(mkdir(scratch_path(&scratch, "deep"), 0700), 0);
    int fd = open(scratch.joined, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    for (int level = 0; level < 100; level++) {
        for (int i = 0; i < 5; i++) {
            name[0] = (char)('a' + i);
            assert_int_equal(mkdirat(fd, name, 0700), 0);
            int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            close(openat(inner, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
            close(inner);
        }
        name[0] = 'c';
        int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(inner >= 0);
        close(fd);
        fd = inner;
    }
    close(fd);
    assert_int_equal(tt_fs_remove_tree(scratch_path(&scratch, "deep")), 0);
    assert_false(exists(scratch_path(&scratch, "deep")));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_make_and_free),
        TEST(test_without_rights),
        TEST(test_crash),
        TEST(test_next_run_sweeps),
        TEST(test_in_use_is_not_swept),
        TEST(test_others_are_not_swept),
        TEST(test_fork),
        TEST(test_no_such_folder),
        TEST(test_threads),
        TEST(test_remove_tree),
        TEST(test_deep_tree),
    };
    return cmocka_run_group_tests_name("base/tempdir", tests, NULL, NULL);
}
