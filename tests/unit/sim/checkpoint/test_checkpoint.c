/* SPDX-License-Identifier: MIT */
/* The file of a checkpoint: what was put in comes out, and nothing else does. */
#include "sim/checkpoint/checkpoint.h"

#include <sodium.h>

#include "sim/checkpoint/composed.h"
#include "own_scratch.h"
#include "test.h"

enum {
    FORMAT_AT = sizeof "Tutti checkpoint\n" - 1,
    MACHINE_AT = FORMAT_AT + 4,
    HASH_AT = MACHINE_AT + 4,
    HASH_SIZE = 32
};

static enum tutti_err parse(const char *bytes, size_t size)
{
    struct tt_checkpoint *checkpoint;
    enum tutti_err err = tt_checkpoint_parse(&checkpoint, bytes, size, "it");
    assert_true(!err == (checkpoint != NULL));
    tt_checkpoint_free(checkpoint);
    return err;
}

static void round_trip(void **state)
{
    (void)state;
    struct tt_byte_writer file = {0};
    struct tt_checkpoint *checkpoint;
    for (int again = 0; again < 2; again++) {
        compose(&file, 0.1);
        assert_ok(tt_checkpoint_parse(&checkpoint, file.bytes, file.size, "it"));
        assert_same_double(checkpoint->t, 0.1);
        assert_bytes(checkpoint->identity, "who");
        assert_bytes(checkpoint->result, "row 7");
        assert_bytes(checkpoint->step_log, "");
        assert_bytes(checkpoint->common, "all");
        assert_int_equal(checkpoint->unit_count, 2);
        assert_bytes(checkpoint->units[0], "the first");
        assert_bytes(checkpoint->units[1], "");
        tt_checkpoint_free(checkpoint);
    }
    tt_bytes_fini(&file);
}

static void nothing_in_it(void **state)
{
    (void)state;
    struct tt_byte_writer file = {0};
    tt_checkpoint_encode_and_hash(&file, &(struct tt_checkpoint){.t = -1});
    assert_ok(parse(file.bytes, file.size));
    tt_bytes_fini(&file);
}

static void every_flipped_bit(void **state)
{
    (void)state;
    struct tt_byte_writer file = {0};
    compose(&file, 2);
    for (size_t i = 0; i < file.size; i++)
        for (int bit = 0; bit < 8; bit++) {
            file.bytes[i] = (char)(file.bytes[i] ^ 1 << bit);
            assert_fails(parse(file.bytes, file.size), TUTTI_ERR_FORMAT, "'it' is");
            file.bytes[i] = (char)(file.bytes[i] ^ 1 << bit);
        }
    assert_ok(parse(file.bytes, file.size));
    tt_bytes_fini(&file);
}

/* In memory of the exact size, so that valgrind and sanitizers detect an overread. */
static void every_length(void **state)
{
    (void)state;
    struct tt_byte_writer file = {0};
    compose(&file, 2);
    for (size_t size = 0; size < file.size; size++) {
        char *part = malloc(size + 1);
        memcpy(part, file.bytes, size);
        assert_fails(parse(part, size), TUTTI_ERR_FORMAT, size < FORMAT_AT ? "is no checkpoint" : "is damaged");
        free(part);
    }
    tt_bytes_put_u8(&file, 0);
    assert_fails(parse(file.bytes, file.size), TUTTI_ERR_FORMAT, "is damaged");
    tt_bytes_fini(&file);
}

/* The sum is right, and what it is of is not what it should be: as of a program that went wrong. */
static void parts_that_do_not_fit(void **state)
{
    (void)state;
    struct tt_byte_writer file = {0};
    compose(&file, 2);
    const size_t payload = HASH_AT + HASH_SIZE, count_at = file.size - 2 * sizeof(uint64_t) - strlen("the first") - 4;
    assert_int_equal(file.bytes[count_at], 2);
    for (int count = 0; count < 256; count++) {
        file.bytes[count_at] = file.bytes[count_at + 3] = (char)count;
        crypto_generichash((unsigned char *)file.bytes + HASH_AT, HASH_SIZE, (unsigned char *)file.bytes + payload,
                           file.size - payload, NULL, 0);
        assert_fails(parse(file.bytes, file.size), TUTTI_ERR_FORMAT, "its parts do not fit together");
    }
    tt_bytes_fini(&file);
}

static void other_formats_and_machines(void **state)
{
    (void)state;
    struct tt_byte_writer file = {0};
    compose(&file, 2);
    file.bytes[FORMAT_AT] = 9;
    assert_fails(parse(file.bytes, file.size), TUTTI_ERR_FORMAT, "checkpoint of format 9, and this version");
    file.bytes[FORMAT_AT] = 2;
    file.bytes[MACHINE_AT]++;
    assert_fails(parse(file.bytes, file.size), TUTTI_ERR_FORMAT, "a machine of another kind");
    tt_bytes_fini(&file);
}

/* ---- files ---- */

static void put(const char *name, double t, size_t less)
{
    struct tt_byte_writer file = {0};
    compose(&file, t);
    (void)scratch_write(&scratch, name, file.bytes, file.size - less);
    tt_bytes_fini(&file);
}

/* The time of what is read from "point"; *kept, whether it is the one before. */
static double read_point(bool *kept)
{
    struct tt_checkpoint *checkpoint;
    assert_ok(tt_checkpoint_read(&checkpoint, scratch_path(&scratch, "point"), kept));
    assert_bytes(checkpoint->units[0], "the first");
    double t = checkpoint->t;
    tt_checkpoint_free(checkpoint);
    return t;
}

static void the_one_before(void **state)
{
    (void)state;
    bool kept;
    put("point.previous", 1, 0);
    assert_same_double(read_point(&kept), 1); /* it is the only one */
    assert_true(kept);
    put("point", 2, 1);
    assert_same_double(read_point(&kept), 1);
    assert_true(kept);
    put("point", 2, 0);
    assert_same_double(read_point(&kept), 2);
    assert_false(kept);
    put("point.previous", 1, 1); /* is not looked at */
    assert_same_double(read_point(&kept), 2);
}

static void neither(void **state)
{
    (void)state;
    struct tt_checkpoint *checkpoint;
    bool kept = true;
    const char *path = scratch_path(&scratch, "point");
    assert_fails(tt_checkpoint_read(&checkpoint, path, &kept), TUTTI_ERR_IO, "cannot open");
    assert_false(kept);
    put("point", 2, 3);
    put("point.previous", 2, 100);
    path = scratch_path(&scratch, "point");
    assert_fails(tt_checkpoint_read(&checkpoint, path, &kept), TUTTI_ERR_FORMAT,
                 "point' is damaged: it is not as it was written"); /* not what is wrong with the other */
    assert_false(kept);
}

/* A folder, and a pipe without a writer. */
static void no_files(void **state)
{
    (void)state;
    struct tt_checkpoint *checkpoint;
    bool kept;
    assert_fails(tt_checkpoint_read(&checkpoint, scratch.path, &kept), TUTTI_ERR_FORMAT, "is no checkpoint");
    const char *path = scratch_path(&scratch, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(tt_checkpoint_read(&checkpoint, path, &kept), TUTTI_ERR_FORMAT, "is no checkpoint");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(nothing_in_it),
        cmocka_unit_test(every_flipped_bit),
        cmocka_unit_test(every_length),
        cmocka_unit_test(parts_that_do_not_fit),
        cmocka_unit_test(other_formats_and_machines),
        cmocka_unit_test_setup_teardown(the_one_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(neither, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
