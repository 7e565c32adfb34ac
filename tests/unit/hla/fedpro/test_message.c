/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "hla/fedpro/fedpro_message.h"

static void a_header_is_24_big_endian_bytes(void **state)
{
    (void)state;
    static const uint8_t expected[TUTTI_FEDPRO_HEADER] = {0,    0,    0,    28,   0,    0, 1, 2, 0x11, 0x22, 0x33, 0x44,
                                                          0x55, 0x66, 0x77, 0x88, 0x80, 0, 0, 0, 0,    0,    0,    1};
    struct tt_fedpro_header header = {28, 258, UINT64_C(0x1122334455667788), TUTTI_FEDPRO_NO_SEQUENCE,
                                      TUTTI_FEDPRO_NEW_SESSION};
    uint8_t bytes[TUTTI_FEDPRO_HEADER];
    tt_fedpro_message_put_header(bytes, &header);
    assert_memory_equal(bytes, expected, sizeof bytes);
    struct tt_fedpro_header back = tt_fedpro_message_get_header(bytes);
    assert_int_equal(back.size, 28);
    assert_int_equal(back.sequence, 258);
    assert_true(back.session == header.session);
    assert_int_equal(back.last_received, INT32_MIN);
    assert_int_equal(back.type, 1);
}

static bool sound(uint32_t type, uint32_t payload)
{
    struct tt_fedpro_header header = {.size = TUTTI_FEDPRO_HEADER + payload, .type = type};
    return tt_fedpro_message_check_header(&header);
}

static void a_message_has_the_size_of_its_type(void **state)
{
    (void)state;
    assert_true(sound(TUTTI_FEDPRO_NEW_SESSION, 4));
    assert_false(sound(TUTTI_FEDPRO_NEW_SESSION, 3));
    assert_false(sound(TUTTI_FEDPRO_NEW_SESSION, 5));
    assert_true(sound(TUTTI_FEDPRO_RESUME, 8));
    assert_false(sound(TUTTI_FEDPRO_RESUME, 4));
    assert_true(sound(TUTTI_FEDPRO_CALL, 0));
    assert_true(sound(TUTTI_FEDPRO_CALLBACK_RESPONSE, 4));
    assert_false(sound(TUTTI_FEDPRO_CALLBACK_RESPONSE, 3));
    assert_false(sound(TUTTI_FEDPRO_TERMINATE, 1));
    for (uint32_t type = 7; type < 10; type++)
        assert_false(sound(type, 0));
    assert_false(sound(0, 0));
    assert_false(sound(24, 0));
    assert_false(sound(UINT32_MAX, 0));
    struct tt_fedpro_header header = {.size = 23, .type = TUTTI_FEDPRO_CALL};
    assert_false(tt_fedpro_message_check_header(&header));
    char name[24];
    assert_string_equal(tt_fedpro_message_type_name(20, name), "CALL_REQUEST");
    assert_string_equal(tt_fedpro_message_type_name(UINT32_MAX, name), "type 4294967295");
}

static void numbers_begin_anew_after_the_last(void **state)
{
    (void)state;
    assert_int_equal(tt_fedpro_message_next_sequence(0), 1);
    assert_int_equal(tt_fedpro_message_next_sequence(INT32_MAX), 0);
    assert_int_equal(tt_fedpro_message_next_sequence(TUTTI_FEDPRO_NO_SEQUENCE), 0);
    assert_true(tt_fedpro_message_is_later(2, 1));
    assert_false(tt_fedpro_message_is_later(1, 1));
    assert_false(tt_fedpro_message_is_later(1, 2));
    assert_true(tt_fedpro_message_is_later(0, INT32_MAX));
    assert_true(tt_fedpro_message_is_later(5, INT32_MAX - 5));
    assert_false(tt_fedpro_message_is_later(INT32_MAX, 0));
}

static bool next_of(struct tt_fedpro_intake *intake, struct tt_fedpro_message *message)
{
    bool whole = false;
    assert_ok(tt_fedpro_message_parse_next(intake, message, &whole));
    return whole;
}

/* Messages of several sizes, in pieces of `piece` bytes. */
static void feed_in_pieces(size_t piece)
{
    enum { COUNT = 40 };
    struct tt_fedpro_intake intake = {.limit = 1 << 20};
    uint8_t bytes[2000];
    unsigned seen = 0;
    for (unsigned n = 0; n < COUNT; n++) {
        uint32_t size = TUTTI_FEDPRO_HEADER + n * 37 % 1500;
        struct tt_fedpro_header header = {.size = size, .sequence = (int32_t)n, .type = TUTTI_FEDPRO_CALL};
        memset(bytes, (int)n, size);
        tt_fedpro_message_put_header(bytes, &header);
        for (size_t done = 0; done < size; done += piece) {
            assert_ok(tt_fedpro_message_append_bytes(&intake, bytes + done, piece < size - done ? piece : size - done));
            if (n % 3 == 0)
                continue; /* several wait */
            struct tt_fedpro_message message;
            while (next_of(&intake, &message)) {
                assert_int_equal(message.header.sequence, seen);
                assert_int_equal(message.size, seen * 37 % 1500);
                for (size_t i = 0; i < message.size; i++)
                    assert_int_equal(message.payload[i], seen);
                seen++;
            }
        }
    }
    assert_int_equal(seen, COUNT - 1); /* the last one was not asked for */
    tt_fedpro_message_free_intake(&intake);
}

static void messages_come_in_any_pieces(void **state)
{
    (void)state;
    feed_in_pieces(1);
    feed_in_pieces(7);
    feed_in_pieces(100000);
}

static void garbage_and_giants_are_refused_at_the_header(void **state)
{
    (void)state;
    struct tt_fedpro_intake intake = {.limit = 1000};
    struct tt_fedpro_message message;
    bool whole = true;
    assert_ok(tt_fedpro_message_append_bytes(&intake, "GET / HTTP/1.1\r\nHost: here\r\n\r\n", 30));
    assert_int_equal(tt_fedpro_message_parse_next(&intake, &message, &whole), TUTTI_ERR_FORMAT);
    tt_fedpro_message_free_intake(&intake);
    uint8_t bytes[TUTTI_FEDPRO_HEADER];
    tt_fedpro_message_put_header(bytes, &(struct tt_fedpro_header){.size = 1001, .type = TUTTI_FEDPRO_CALL});
    assert_ok(tt_fedpro_message_append_bytes(&intake, bytes, sizeof bytes));
    assert_int_equal(tt_fedpro_message_parse_next(&intake, &message, &whole), TUTTI_ERR_LIMIT);
    assert_non_null(strstr(tutti_err_message(), "CALL_REQUEST of 1001 bytes; at most 1000"));
    tt_fedpro_message_free_intake(&intake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_24_big_endian_bytes),
        cmocka_unit_test(a_message_has_the_size_of_its_type),
        cmocka_unit_test(numbers_begin_anew_after_the_last),
        cmocka_unit_test(messages_come_in_any_pieces),
        cmocka_unit_test(garbage_and_giants_are_refused_at_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
