/* SPDX-License-Identifier: MIT */
#include "base/bytes.h"

#include <stdlib.h>

#include "test.h"

static void put_everything(struct tt_byte_writer *parcel)
{
    tt_bytes_put_u8(parcel, 200);
    tt_bytes_put_u32(parcel, 0x12345678);
    tt_bytes_put_u64(parcel, 0x123456789abcdef0);
    tt_bytes_put_double(parcel, -0.1);
    tt_bytes_put_text(parcel, "words");
    tt_bytes_put_text(parcel, "");
    tt_bytes_put_text(parcel, NULL);
    tt_bytes_put_block(parcel, "a\0b", 3);
    tt_bytes_put_block(parcel, NULL, 0);
    tt_bytes_put_bytes(parcel, "xyz", 3);
}

/* Reads the same again; says whether it was all there. */
static bool get_everything(const char *bytes, size_t size)
{
    struct tt_byte_reader in = {.at = bytes, .end = bytes + size};
    bool same = tt_bytes_get_u8(&in) == 200;
    same &= tt_bytes_get_u32(&in) == 0x12345678;
    same &= tt_bytes_get_u64(&in) == 0x123456789abcdef0;
    same &= tt_bytes_get_double(&in) == -0.1;
    const char *words = tt_bytes_get_text(&in), *empty = tt_bytes_get_text(&in), *none = tt_bytes_get_text(&in);
    same &= words && strcmp(words, "words") == 0;
    same &= empty && strcmp(empty, "") == 0;
    same &= none == NULL;
    size_t n, nothing;
    const void *block = tt_bytes_get_block(&in, &n);
    same &= block && n == 3 && memcmp(block, "a\0b", 3) == 0;
    block = tt_bytes_get_block(&in, &nothing);
    same &= nothing == 0;
    const void *rest = tt_bytes_get(&in, 3);
    same &= rest && memcmp(rest, "xyz", 3) == 0;
    assert_int_equal(same, !in.bad); /* what is bad is not the same, and nothing else is */
    assert_true(in.bad || in.at == in.end);
    return same;
}

static void test_there_and_back(void **state)
{
    (void)state;
    struct tt_byte_writer parcel = {0};
    for (int round = 0; round < 3; round++) {
        tt_bytes_reset(&parcel); /* a parcel is used again and again */
        put_everything(&parcel);
        assert_false(parcel.failed);
        assert_true(get_everything(parcel.bytes, parcel.size));
    }
    tt_bytes_fini(&parcel);
    assert_null(parcel.bytes);
}

/* The bytes on the way are the same on every machine. */
static void test_little_endian(void **state)
{
    (void)state;
    struct tt_byte_writer parcel = {0};
    tt_bytes_put_u32(&parcel, 0x01020304);
    tt_bytes_put_double(&parcel, 1);
    tt_bytes_put_text(&parcel, "A");
    assert_int_equal(parcel.size, 4 + 8 + 8 + 2);
    assert_memory_equal(parcel.bytes, "\4\3\2\1\0\0\0\0\0\0\xf0\x3f\2\0\0\0\0\0\0\0A\0", parcel.size);
    tt_bytes_fini(&parcel);
}

/* In memory of just that size: a read beyond it is caught. */
static void test_cut(void **state)
{
    (void)state;
    struct tt_byte_writer parcel = {0};
    put_everything(&parcel);
    for (size_t n = 0; n < parcel.size; n++) {
        char *part = malloc(n + 1);
        assert_non_null(part);
        memcpy(part + 1, parcel.bytes, n);
        assert_false(get_everything(part + 1, n));
        free(part);
    }
    tt_bytes_fini(&parcel);
}

/* What cannot be: it is bad, stays bad, and gives nothing. */
static void test_hostile(void **state)
{
    (void)state;
    static const char long_length[] = "\xff\xff\xff\xff\xff\xff\xff\xff"
                                      "abc";
    struct tt_byte_reader in = {.at = long_length, .end = long_length + sizeof long_length};
    size_t size = 1;
    assert_null(tt_bytes_get_block(&in, &size));
    assert_int_equal(size, 0);
    assert_true(in.bad);
    assert_int_equal(tt_bytes_get_u8(&in), 0); /* though there are bytes left */
    assert_true(in.bad);
    static const char no_end[] = "\3\0\0\0\0\0\0\0abc"; /* a text whose last byte is not zero */
    in = (struct tt_byte_reader){.at = no_end, .end = no_end + 11};
    assert_null(tt_bytes_get_text(&in));
    assert_true(in.bad);
    assert_near(tt_bytes_get_double(&in), 0, 0);
    assert_null(tt_bytes_get(&in, 0));
}

static void test_much(void **state)
{
    (void)state;
    struct tt_byte_writer parcel = {0};
    for (uint32_t i = 0; i < 100000; i++)
        tt_bytes_put_u32(&parcel, i);
    assert_false(parcel.failed);
    struct tt_byte_reader in = {.at = parcel.bytes, .end = parcel.bytes + parcel.size};
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(tt_bytes_get_u32(&in), i);
    assert_true(!in.bad && in.at == in.end);
    /* More than any memory: the parcel fails, and takes nothing more. */
    tt_bytes_put_bytes(&parcel, "", SIZE_MAX - 10);
    assert_true(parcel.failed);
    size_t before = parcel.size;
    tt_bytes_put_u8(&parcel, 1);
    assert_int_equal(parcel.size, before);
    tt_bytes_fini(&parcel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_little_endian), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_hostile),        cmocka_unit_test(test_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
