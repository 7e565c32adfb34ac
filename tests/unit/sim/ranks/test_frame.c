/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdlib.h>
#include <tutti/run.h>

#include "sim/ranks/tcp_frame.h"

static const uint8_t run[TUTTI_FRAME_RUN_ID] = {1, 2, 3, 250};

static void heads_come_back(void **state)
{
    (void)state;
    char bytes[TUTTI_FRAME_HEAD + 8] = {0};
    struct tt_frame_head head = {TUTTI_FRAME_DATA, 7, UINT32_MAX, 123456789}, back;
    tt_tcp_frame_write_head(bytes, &head);
    assert_true(tt_tcp_frame_read_head(bytes, sizeof bytes, &back));
    assert_int_equal(back.kind, head.kind);
    assert_int_equal(back.channel, head.channel);
    assert_int_equal(back.number, head.number);
    assert_int_equal(back.taken, head.taken);
    tt_tcp_frame_write_u64(bytes + TUTTI_FRAME_HEAD, UINT64_MAX - 5);
    assert_true(tt_tcp_frame_read_u64(bytes) == UINT64_MAX - 5);
}

static bool can_be(uint32_t kind, size_t body)
{
    char bytes[2048] = {(char)kind};
    struct tt_frame_head head;
    return tt_tcp_frame_read_head(bytes, TUTTI_FRAME_HEAD + body, &head);
}

static void a_body_has_the_size_of_its_kind(void **state)
{
    (void)state;
    assert_false(can_be(0, 0));
    assert_false(can_be(TUTTI_FRAME_KINDS, 0));
    assert_false(can_be(255, 0));
    assert_true(can_be(TUTTI_FRAME_DATA, 3));
    assert_true(can_be(TUTTI_FRAME_REPORT, 0));
    assert_true(can_be(TUTTI_FRAME_REDUCE, 24));
    assert_false(can_be(TUTTI_FRAME_REDUCE, 25));
    assert_true(can_be(TUTTI_FRAME_STOP, 8));
    assert_false(can_be(TUTTI_FRAME_STOP, 0));
    assert_false(can_be(TUTTI_FRAME_GRANT, 9));
    assert_true(can_be(TUTTI_FRAME_BYE, 0));
    assert_false(can_be(TUTTI_FRAME_BYE, 1));
    assert_false(can_be(TUTTI_FRAME_ACK, 1));
    assert_false(can_be(TUTTI_FRAME_PING, 1));
    assert_false(can_be(TUTTI_FRAME_HELLO, 1024));
    struct tt_frame_head head;
    assert_false(tt_tcp_frame_read_head("\3", 1, &head));
    assert_false(tt_tcp_frame_read_head(NULL, 0, &head));
}

static void hellos_come_back_and_fit(void **state)
{
    (void)state;
    struct tt_frame_hello ours, theirs, back;
    struct tt_byte_writer parcel = {0};
    tt_tcp_frame_fill_hello(&ours, run, 1, 4);
    tt_tcp_frame_fill_hello(&theirs, run, TUTTI_FRAME_HUB, 4);
    tt_tcp_frame_write_hello(&parcel, &theirs);
    assert_true(tt_tcp_frame_read_hello(parcel.bytes, parcel.size, &back));
    assert_int_equal(back.rank, TUTTI_FRAME_HUB);
    assert_int_equal(back.ranks, 4);
    assert_string_equal(back.version, tutti_version());
    assert_memory_equal(back.run, run, sizeof run);
    assert_int_equal(tt_tcp_frame_compare_hello(&back, &ours), TUTTI_FRAME_FINE);
    tt_bytes_fini(&parcel);
}

static void what_is_cut_is_no_hello(void **state)
{
    (void)state;
    struct tt_frame_hello hello, back;
    struct tt_byte_writer parcel = {0};
    tt_tcp_frame_fill_hello(&hello, run, 0, 2);
    tt_tcp_frame_write_hello(&parcel, &hello);
    for (size_t size = 0; size < parcel.size; size++) {
        char *copy = malloc(size ? size : 1); /* so that reading beyond it shows */
        assert_non_null(copy);
        memcpy(copy, parcel.bytes, size);
        assert_false(tt_tcp_frame_read_hello(copy, size, &back));
        free(copy);
    }
    tt_bytes_put_u8(&parcel, 0); /* nor what has something after it */
    assert_false(tt_tcp_frame_read_hello(parcel.bytes, parcel.size, &back));
    parcel.bytes[TUTTI_FRAME_HEAD] = 't';
    assert_false(tt_tcp_frame_read_hello(parcel.bytes, parcel.size - 1, &back));
    tt_bytes_fini(&parcel);
}

static void who_does_not_fit_is_told_why(void **state)
{
    (void)state;
    struct tt_frame_hello ours, theirs;
    tt_tcp_frame_fill_hello(&ours, run, 1, 4);
    theirs = ours;
    snprintf(theirs.version, sizeof theirs.version, "9.9.9");
    assert_int_equal(tt_tcp_frame_compare_hello(&theirs, &ours), TUTTI_FRAME_OTHER_VERSION);
    assert_fails(tt_tcp_frame_fail_mismatch(TUTTI_FRAME_OTHER_VERSION, "rank 3 at b:1", "9.9.9"), TUTTI_ERR_FORMAT,
                 "rank 3 at b:1 speaks version 9.9.9");
    theirs = ours;
    theirs.layout[0] = __builtin_bswap64(theirs.layout[0]);
    assert_int_equal(tt_tcp_frame_compare_hello(&theirs, &ours), TUTTI_FRAME_OTHER_LAYOUT);
    assert_fails(tt_tcp_frame_fail_mismatch(TUTTI_FRAME_OTHER_LAYOUT, "x", ""), TUTTI_ERR_FORMAT, "byte order");
    theirs = ours;
    theirs.run[15] ^= 1;
    assert_int_equal(tt_tcp_frame_compare_hello(&theirs, &ours), TUTTI_FRAME_OTHER_RUN);
    theirs = ours;
    theirs.ranks = 5;
    assert_int_equal(tt_tcp_frame_compare_hello(&theirs, &ours), TUTTI_FRAME_OTHER_RUN);
    assert_fails(tt_tcp_frame_fail_mismatch(TUTTI_FRAME_OTHER_RUN, "x", ""), TUTTI_ERR_FORMAT, "another run");
    assert_fails(tt_tcp_frame_fail_mismatch(TUTTI_FRAME_NOT_EXPECTED, "x", ""), TUTTI_ERR_FORMAT, "does not expect us");
}

/* A later protocol may have more, or other things, after its version. */
static void another_protocol_is_told_from_garbage(void **state)
{
    (void)state;
    struct tt_frame_hello ours, back;
    struct tt_byte_writer parcel = {0};
    tt_tcp_frame_fill_hello(&ours, run, 0, 2);
    struct tt_frame_hello later = ours;
    later.protocol = 2;
    snprintf(later.version, sizeof later.version, "2.0.0");
    tt_tcp_frame_write_hello(&parcel, &later);
    parcel.size -= 7;
    assert_true(tt_tcp_frame_read_hello(parcel.bytes, parcel.size, &back));
    assert_int_equal(tt_tcp_frame_compare_hello(&back, &ours), TUTTI_FRAME_OTHER_VERSION);
    assert_string_equal(back.version, "2.0.0");
    tt_bytes_fini(&parcel);
}

static void refusals_come_back(void **state)
{
    (void)state;
    struct tt_byte_writer parcel = {0};
    enum tt_frame_reason reason;
    char version[TUTTI_FRAME_VERSION];
    tt_tcp_frame_write_refusal(&parcel, TUTTI_FRAME_OTHER_RUN);
    assert_true(tt_tcp_frame_read_refusal(parcel.bytes, parcel.size, &reason, version));
    assert_int_equal(reason, TUTTI_FRAME_OTHER_RUN);
    assert_string_equal(version, tutti_version());
    assert_false(tt_tcp_frame_read_refusal(parcel.bytes, parcel.size - 1, &reason, version));
    parcel.bytes[TUTTI_FRAME_HEAD] = TUTTI_FRAME_REASONS;
    assert_false(tt_tcp_frame_read_refusal(parcel.bytes, parcel.size, &reason, version));
    tt_bytes_fini(&parcel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_come_back),
        cmocka_unit_test(a_body_has_the_size_of_its_kind),
        cmocka_unit_test(hellos_come_back_and_fit),
        cmocka_unit_test(what_is_cut_is_no_hello),
        cmocka_unit_test(who_does_not_fit_is_told_why),
        cmocka_unit_test(another_protocol_is_told_from_garbage),
        cmocka_unit_test(refusals_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
