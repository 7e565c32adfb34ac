/* SPDX-License-Identifier: MIT */
/* Files of lines that a later run resumes. */
#include "results/record_file.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_scratch.h"
#include "test.h"

static char path[128];

static void begin(struct tt_record_file *file, const char *text)
{
    snprintf(path, sizeof path, "%s/steps.csv", scratch.path);
    assert_ok(tt_record_file_create(file, path));
    assert_ok(tt_record_file_append(file, text));
}

static void assert_content(const char *expected)
{
    char *text = slurp_file(path, NULL);
    assert_string_equal(text, expected);
    free(text);
}

static enum tutti_err resume(struct tt_record_file *file, const struct tt_byte_writer *mark, bool *anew)
{
    struct tt_byte_reader in = {.at = mark->bytes, .end = mark->bytes + mark->size};
    return tt_record_file_resume_lines(file, path, &in, anew);
}

static void lines_go_on(void **state)
{
    (void)state;
    struct tt_record_file file;
    struct tt_byte_writer mark = {0};
    bool anew = true;
    begin(&file, "t,h\n0,1\n");
    assert_ok(tt_record_file_mark_lines(&file, &mark));
    assert_ok(tt_record_file_append(&file, "1,1\n2,"));
    assert_ok(tt_record_file_sync(&file));
    assert_ok(tt_record_file_close(&file, TUTTI_OK));
    assert_ok(resume(&file, &mark, &anew));
    assert_false(anew);
    assert_content("t,h\n0,1\n");
    assert_ok(tt_record_file_append(&file, "1,2\n"));
    assert_ok(tt_record_file_append(&file, "3,2\n"));
    tt_bytes_reset(&mark);
    assert_ok(tt_record_file_mark_lines(&file, &mark)); /* once more */
    assert_ok(tt_record_file_close(&file, TUTTI_OK));
    assert_ok(resume(&file, &mark, &anew));
    assert_ok(tt_record_file_append(&file, "5,2\n"));
    assert_ok(tt_record_file_close(&file, TUTTI_OK));
    assert_content("t,h\n0,1\n1,2\n3,2\n5,2\n");
    tt_bytes_fini(&mark);
}

static void a_file_without_lines_needs_its_header(void **state)
{
    (void)state;
    struct tt_record_file file;
    struct tt_byte_writer mark = {0};
    bool anew = false;
    begin(&file, "");
    assert_ok(tt_record_file_mark_lines(&file, &mark));
    assert_ok(tt_record_file_append(&file, "t,h\n"));
    assert_ok(tt_record_file_close(&file, TUTTI_OK));
    assert_ok(resume(&file, &mark, &anew));
    assert_true(anew);
    assert_content("");
    assert_ok(tt_record_file_close(&file, TUTTI_OK));
    tt_bytes_fini(&mark);
}

static void devices_begin_anew(void **state)
{
    (void)state;
    struct tt_record_file file;
    struct tt_byte_writer mark = {0}, of_device = {0};
    bool anew = false;
    begin(&file, "t,h\n");
    assert_ok(tt_record_file_mark_lines(&file, &mark));
    assert_ok(tt_record_file_close(&file, TUTTI_OK));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_ok(resume(&file, &mark, &anew));
    assert_true(anew);
    assert_ok(tt_record_file_append(&file, "t,h\n"));
    assert_ok(tt_record_file_mark_lines(&file, &of_device));
    assert_ok(tt_record_file_sync(&file));
    assert_ok(tt_record_file_close(&file, TUTTI_OK));
    assert_int_equal(unlink(path), 0);
    anew = false;
    assert_ok(resume(&file, &of_device, &anew));
    assert_true(anew);
    assert_ok(tt_record_file_close(&file, TUTTI_OK));
    assert_content("");
    tt_bytes_fini(&mark);
    tt_bytes_fini(&of_device);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    struct tt_record_file file;
    struct tt_byte_writer mark = {0};
    bool anew = false;
    begin(&file, "t,h\n0,1\n");
    assert_ok(tt_record_file_mark_lines(&file, &mark));
    assert_ok(tt_record_file_close(&file, TUTTI_OK));
    assert_non_null(scratch_write(&scratch, "steps.csv", "t,h\n0,2\n3,3\n", 12));
    assert_fails(resume(&file, &mark, &anew), TUTTI_ERR_FORMAT, "it is not the file that the checkpoint");
    assert_content("t,h\n0,2\n3,3\n");
    assert_non_null(scratch_write(&scratch, "steps.csv", "t,h\n0,", 6));
    assert_fails(resume(&file, &mark, &anew), TUTTI_ERR_FORMAT, "it has 6 bytes, and had 8 when");
    assert_content("t,h\n0,");
    assert_int_equal(unlink(path), 0);
    assert_fails(resume(&file, &mark, &anew), TUTTI_ERR_IO, "No such file or directory; put the file");
    assert_false(exists(path));
    for (mark.size--; mark.size > 0; mark.size--)
        assert_fails(resume(&file, &mark, &anew), TUTTI_ERR_FORMAT, "damaged");
    tt_bytes_fini(&mark);
}

/* A pipe waits for its reader, as ever: it is not opened for reading. */
static void a_pipe_is_only_written(void **state)
{
    (void)state;
    struct tt_record_file file;
    snprintf(path, sizeof path, "%s/pipe", scratch.path);
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    assert_ok(tt_record_file_open(&file, path));
    assert_int_equal(fcntl(file.fd, F_GETFL) & O_ACCMODE, O_WRONLY);
    assert_ok(tt_record_file_close(&file, TUTTI_OK));
    close(reader);
}

/* What open_beside does in a thread. */
struct beside {
    struct tt_record_file file;
    atomic_int thread; /* its number for the kernel; 0: not yet */
    enum tutti_err err;
};

static void *open_beside(void *argument)
{
    struct beside *beside = argument;
    beside->thread = (int)syscall(SYS_gettid);
    beside->err = tt_record_file_create(&beside->file, path);
    return NULL;
}

/* Until the thread sleeps between two tries to take the lock: the kernel says in which call it is. */
static void await_sleep(const struct beside *beside)
{
    char name[64], call[64] = "";
    while (beside->thread == 0)
        sched_yield();
    snprintf(name, sizeof name, "/proc/self/task/%d/syscall", beside->thread);
    while (atoi(call) != SYS_clock_nanosleep) {
        FILE *file = fopen(name, "r");
        assert_non_null(file);
        if (!fgets(call, sizeof call, file))
            call[0] = '\0';
        fclose(file);
    }
}

static void open_while_locked(struct beside *beside, const char *last_words)
{
    struct tt_record_file first;
    pthread_t thread;
    begin(&first, "t\n0\n");
    assert_int_equal(pthread_create(&thread, NULL, open_beside, beside), 0);
    await_sleep(beside);
    if (last_words)
        assert_ok(tt_record_file_append(&first, last_words));
    assert_ok(tt_record_file_close(&first, TUTTI_OK));
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* A run that waits for the lock does not empty the file of one that ended in the meantime; a file that was not touched is free. */
static void a_run_that_just_ended_keeps_its_rows(void **state)
{
    (void)state;
    struct beside beside = {.err = TUTTI_OK};
    open_while_locked(&beside, "1\n");
    assert_int_equal(beside.err, TUTTI_ERR_IO);
    assert_content("t\n0\n1\n");
    beside = (struct beside){.err = TUTTI_OK};
    open_while_locked(&beside, NULL);
    assert_int_equal(beside.err, TUTTI_OK);
    assert_ok(tt_record_file_close(&beside.file, TUTTI_OK));
}

static void files_that_are_gone(void **state)
{
    (void)state;
    struct tt_record_file file;
    char other[160];
    begin(&file, "t\n0\n");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(tt_record_file_close(&file, TUTTI_OK), TUTTI_ERR_IO);
    assert_non_null(strstr(tutti_err_message(), "removed or replaced while the run wrote it, and its rows are lost"));
    begin(&file, "t\n0\n");
    snprintf(other, sizeof other, "%s.other", path);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(tt_record_file_close(&file, TUTTI_OK), TUTTI_ERR_IO);
    assert_non_null(strstr(tutti_err_message(), "its rows are in the file with the new name"));
    begin(&file, "t\n0\n");
    assert_int_equal(rename(other, path), 0); /* replaces it */
    assert_int_equal(tt_record_file_close(&file, TUTTI_OK), TUTTI_ERR_IO);
    begin(&file, "t\n0\n");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(tt_record_file_close(&file, TUTTI_ERR_FMU), TUTTI_ERR_FMU); /* the first failure counts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_go_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_without_lines_needs_its_header, set_up, tear_down),
        cmocka_unit_test_setup_teardown(devices_begin_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_files_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_pipe_is_only_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_that_just_ended_keeps_its_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_are_gone, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
