/* SPDX-License-Identifier: MIT */
/* Checkpoints are written by a thread: whole, with the one before beside them, and without ending the run if that is impossible. */
#include "sim/checkpoint/checkpoint.h"

#include <pthread.h>

#include "sim/checkpoint/composed.h"
#include "own_scratch.h"
#include "results/full_disk.h"
#include "test.h"

static const struct tt_checkpoint_sync no_files = {0};

static void put(struct tt_checkpoint_writer *writer, double t)
{
    struct tt_byte_writer file = {0};
    compose(&file, t);
    assert_ok(tt_checkpoint_writer_submit(writer, &file));
    assert_int_equal(file.size, 0);
    tt_bytes_fini(&file);
}

static double time_of(const char *name)
{
    return time_in(scratch_path(&scratch, name));
}

static struct tt_checkpoint_writer *writer_for(const char *name, const struct tt_checkpoint_sync *sync)
{
    struct tt_checkpoint_writer *writer;
    assert_ok(tt_checkpoint_writer_new(&writer, scratch_path(&scratch, name), sync));
    return writer;
}

static void the_last_two_are_kept(void **state)
{
    (void)state;
    struct tt_checkpoint_writer *writer = writer_for("point", &no_files);
    assert_ok(tt_checkpoint_writer_wait(writer)); /* for nothing */
    assert_false(exists(scratch_path(&scratch, "point")));
    for (int i = 1; i < 5; i++) {
        put(writer, i);
        assert_ok(tt_checkpoint_writer_wait(writer));
        assert_same_double(time_of("point"), i);
        assert_int_equal(exists(scratch_path(&scratch, "point.previous")), i > 1);
        if (i > 1)
            assert_same_double(time_of("point.previous"), i - 1);
        assert_false(exists(scratch_path(&scratch, "point.part")));
    }
    struct stat status;
    assert_int_equal(stat(scratch_path(&scratch, "point"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600); /* states of FMUs are readable by this user only */
    tt_checkpoint_writer_free(writer);
    tt_checkpoint_writer_free(NULL);
}

static void the_end_waits(void **state)
{
    (void)state;
    struct tt_checkpoint_writer *writer = writer_for("point", &no_files);
    put(writer, 7);
    tt_checkpoint_writer_free(writer);
    assert_same_double(time_of("point"), 7);
}

/* ---- files that must be on the disk before ---- */

/* Blocks the thread until it is released. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t news;
    int entered, passes; /* how often; how often it may be left */
};

static enum tutti_err pass(void *context)
{
    struct gate *gate = context;
    pthread_mutex_lock(&gate->lock);
    int mine = gate->entered++;
    pthread_cond_broadcast(&gate->news);
    while (gate->passes <= mine)
        pthread_cond_wait(&gate->news, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
    return TUTTI_OK;
}

static void wait_for(struct gate *gate, int entered)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->entered < entered)
        pthread_cond_wait(&gate->news, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void let_go(struct gate *gate, int passes)
{
    pthread_mutex_lock(&gate->lock);
    gate->passes = passes;
    pthread_cond_broadcast(&gate->news);
    pthread_mutex_unlock(&gate->lock);
}

/* While one is written, others come: of those, the last counts. */
static void only_the_last_that_waits(void **state)
{
    (void)state;
    struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER};
    struct tt_checkpoint_writer *writer = writer_for("point", &(struct tt_checkpoint_sync){pass, &gate});
    put(writer, 1);
    wait_for(&gate, 1);
    assert_false(exists(scratch_path(&scratch, "point"))); /* its files are not yet on the disk */
    put(writer, 2);
    put(writer, 3);
    put(writer, 4);
    let_go(&gate, 10);
    assert_ok(tt_checkpoint_writer_wait(writer));
    assert_same_double(time_of("point"), 4);
    assert_same_double(time_of("point.previous"), 1);
    assert_int_equal(gate.entered, 2);
    tt_checkpoint_writer_free(writer);
}

static enum tutti_err fail_now_and_then(void *context)
{
    int *calls = context;
    return ++*calls == 2 ? tt_fail(TUTTI_ERR_IO, "the disk is full") : TUTTI_OK;
}

static void files_that_are_not_on_the_disk(void **state)
{
    (void)state;
    int calls = 0;
    struct tt_checkpoint_writer *writer = writer_for("point", &(struct tt_checkpoint_sync){fail_now_and_then, &calls});
    for (int i = 1; i < 4; i++) {
        put(writer, i);
        if (i == 2)
            assert_fails(tt_checkpoint_writer_wait(writer), TUTTI_ERR_IO, "the disk is full");
        else
            assert_ok(tt_checkpoint_writer_wait(writer));
        assert_same_double(time_of("point"), i == 2 ? 1 : i);
    }
    assert_same_double(time_of("point.previous"), 1);
    tt_checkpoint_writer_free(writer);
}

/* ---- what cannot be written ---- */

/* A failure is also reported by the next put, once. */
static void a_folder_that_comes_later(void **state)
{
    (void)state;
    struct tt_byte_writer file = {0};
    struct tt_checkpoint_writer *writer = writer_for("folder/point", &no_files);
    put(writer, 1);
    assert_fails(tt_checkpoint_writer_wait(writer), TUTTI_ERR_IO, "folder/point.part' cannot be written: No such");
    assert_ok(tt_checkpoint_writer_wait(writer));
    assert_int_equal(mkdir(scratch_path(&scratch, "folder"), 0700), 0);
    compose(&file, 2);
    assert_ok(tt_checkpoint_writer_submit(writer, &file));
    tt_bytes_fini(&file);
    assert_ok(tt_checkpoint_writer_wait(writer));
    assert_same_double(time_of("folder/point"), 2);
    tt_checkpoint_writer_free(writer);
}

static enum tutti_err write_point(const char *name, double t)
{
    struct tt_byte_writer file = {0};
    compose(&file, t);
    enum tutti_err err = tt_checkpoint_write(scratch_path(&scratch, name), file.bytes, file.size);
    tt_bytes_fini(&file);
    return err;
}

/* A full disk: what was there stays. */
static void no_room(void **state)
{
    (void)state;
    assert_ok(write_point("point", 1));
    assert_ok(write_point("point", 2));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        limit_files(40);
        _exit(write_point("point", 3) == TUTTI_ERR_IO && strstr(tutti_err_message(), "cannot be written") ? 0 : 1);
    }
    assert_child_is_well(child);
    assert_same_double(time_of("point"), 2);
    assert_same_double(time_of("point.previous"), 1);
    assert_false(exists(scratch_path(&scratch, "point.part")));
}

/* A foreign object under the name stays unchanged. */
static void no_file_to_replace(void **state)
{
    (void)state;
    assert_int_equal(mkdir(scratch_path(&scratch, "point"), 0700), 0);
    assert_fails(write_point("point", 1), TUTTI_ERR_IO, "point' cannot be replaced: it is no regular file");
    assert_true(exists(scratch_path(&scratch, "point")));
    assert_false(exists(scratch_path(&scratch, "point.previous")));
    assert_int_equal(mkfifo(scratch_path(&scratch, "pipe"), 0600), 0);
    assert_fails(write_point("pipe", 1), TUTTI_ERR_IO, "pipe' cannot be replaced: it is no regular file");
    assert_false(exists(scratch_path(&scratch, "pipe.previous")));
    assert_false(exists(scratch_path(&scratch, "pipe.part")));
}

/* Neither are links followed where the file is written, nor is what they lead to. */
static void links(void **state)
{
    (void)state;
    (void)scratch_write(&scratch, "precious", "gold", 4);
    assert_int_equal(symlink("precious", scratch_path(&scratch, "point.part")), 0);
    assert_fails(write_point("point", 1), TUTTI_ERR_IO, "cannot be written");
    char *content = slurp_file(scratch_path(&scratch, "precious"), NULL);
    assert_string_equal(content, "gold");
    free(content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_last_two_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_end_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_the_last_that_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_are_not_on_the_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_comes_later, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_file_to_replace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
