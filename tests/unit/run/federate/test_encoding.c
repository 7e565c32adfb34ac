/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdlib.h>

#include "run/federate/encoding.h"
#include "hla/fom/fom.h"

struct owner {
    struct tt_arena arena;
    struct tt_owned *owned;
};

static int set_up(void **state)
{
    struct owner *owner = calloc(1, sizeof *owner);
    owner->owned = tt_signals_owned_array(&owner->arena, 1);
    *state = owner;
    return owner->owned ? 0 : -1;
}

static int tear_down(void **state)
{
    struct owner *owner = *state;
    tt_signals_owned_fini(owner->owned, 1);
    tt_arena_fini(&owner->arena);
    free(owner);
    return 0;
}

/* The value's bytes, and the value again. */
static void goes(const char *name, enum tt_type type, const void *value, const char *bytes, size_t size)
{
    const struct tt_encoding *encoding = tt_encoding_find(name);
    struct tt_byte_writer out = {0};
    unsigned char back[16] = {0};
    assert_non_null(encoding);
    assert_true(tt_encoding_supports(encoding, type));
    assert_int_equal(tt_encoding_encode(encoding, type, value, &out), TUTTI_OK);
    assert_int_equal(out.size, size);
    assert_memory_equal(out.bytes, bytes, size);
    assert_int_equal(tt_encoding_decode(encoding, out.bytes, out.size, type, back, NULL), TUTTI_OK);
    assert_memory_equal(back, value, tt_type_size(type));
    tt_bytes_fini(&out);
}

#define GOES(name, type, ctype, value, bytes) goes(name, TUTTI_TYPE_##type, &(ctype){value}, bytes, sizeof(bytes) - 1)

static void numbers_have_the_bytes_of_the_standard(void **state)
{
    (void)state;
    GOES("HLAfloat64BE", FLOAT64, double, -2.5, "\xc0\x04\0\0\0\0\0\0");
    GOES("HLAfloat64LE", FLOAT64, double, -2.5, "\0\0\0\0\0\0\x04\xc0");
    GOES("HLAfloat32BE", FLOAT32, float, 1.5F, "\x3f\xc0\0\0");
    GOES("HLAfloat32LE", FLOAT32, float, 1.5F, "\0\0\xc0\x3f");
    GOES("HLAinteger16BE", INT16, int16_t, -2, "\xff\xfe");
    GOES("HLAinteger16LE", INT16, int16_t, -2, "\xfe\xff");
    GOES("HLAinteger32BE", INT32, int32_t, 258, "\0\0\1\2");
    GOES("HLAinteger32LE", INT32, int32_t, 258, "\2\1\0\0");
    GOES("HLAinteger64BE", INT64, int64_t, INT64_MIN, "\x80\0\0\0\0\0\0\0");
    GOES("HLAinteger64LE", INT64, int64_t, 1, "\1\0\0\0\0\0\0\0");
    GOES("HLAunsignedInteger16BE", UINT16, uint16_t, 65535, "\xff\xff");
    GOES("HLAunsignedInteger16LE", UINT16, uint16_t, 1, "\1\0");
    GOES("HLAunsignedInteger32BE", UINT32, uint32_t, 4294967295U, "\xff\xff\xff\xff");
    GOES("HLAunsignedInteger32LE", UINT32, uint32_t, 1, "\1\0\0\0");
    GOES("HLAunsignedInteger64BE", UINT64, uint64_t, UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff");
    GOES("HLAunsignedInteger64LE", UINT64, uint64_t, 1, "\1\0\0\0\0\0\0\0");
    GOES("HLAoctet", UINT8, uint8_t, 255, "\xff");
    GOES("HLAbyte", UINT8, uint8_t, 7, "\7");
    GOES("HLAboolean", BOOLEAN, bool, true, "\0\0\0\1");
    GOES("HLAinteger32BE", ENUMERATION, int64_t, 3, "\0\0\0\3");
    GOES("HLAfloat64BE", BOOLEAN, bool, true, "\x3f\xf0\0\0\0\0\0\0"); /* a number for a switch */
    GOES("HLAinteger16BE", INT8, int8_t, -128, "\xff\x80");
}

/* Texts, and back. */
static void says(struct owner *owner, const char *name, const char *text, const char *bytes, size_t size)
{
    const struct tt_encoding *encoding = tt_encoding_find(name);
    struct tt_byte_writer out = {0};
    const char *back = NULL;
    assert_int_equal(tt_encoding_encode(encoding, TUTTI_TYPE_STRING, &text, &out), TUTTI_OK);
    assert_int_equal(out.size, size);
    assert_memory_equal(out.bytes, bytes, size);
    assert_int_equal(tt_encoding_decode(encoding, out.bytes, out.size, TUTTI_TYPE_STRING, &back, owner->owned),
                     TUTTI_OK);
    assert_string_equal(back, text);
    tt_bytes_fini(&out);
}

static void texts_count_their_characters(void **state)
{
    says(*state, "HLAASCIIstring", "ab", "\0\0\0\2ab", 6);
    says(*state, "HLAASCIIstring", "", "\0\0\0\0", 4);
    says(*state, "HLAunicodeString", "a\xc3\xa4\xe2\x82\xac", "\0\0\0\3\0a\0\xe4\x20\xac", 10);
    says(*state, "HLAunicodeString", "\xf0\x9d\x84\x9e", "\0\0\0\2\xd8\x34\xdd\x1e", 8); /* a pair */
    const char *wrong[] = {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tt_byte_writer out = {0};
        assert_int_equal(tt_encoding_encode(tt_encoding_find("HLAunicodeString"), TUTTI_TYPE_STRING, &wrong[i], &out),
                         0);
        assert_true(out.size >= 6);
        assert_memory_equal(out.bytes + 4, "\xff\xfd", 2);
        tt_bytes_fini(&out);
    }
}

static void bytes_stay_bytes(void **state)
{
    struct owner *owner = *state;
    struct tt_bytes value = {3, (const uint8_t *)"\0\xff\1"}, back = {0};
    struct tt_byte_writer out = {0};
    const struct tt_encoding *encoding = tt_encoding_default(TUTTI_TYPE_BINARY);
    assert_int_equal(tt_encoding_encode(encoding, TUTTI_TYPE_BINARY, &value, &out), TUTTI_OK);
    assert_int_equal(out.size, 7);
    assert_int_equal(tt_encoding_decode(encoding, out.bytes, out.size, TUTTI_TYPE_BINARY, &back, owner->owned),
                     TUTTI_OK);
    assert_int_equal(back.size, 3);
    assert_memory_equal(back.data, value.data, 3);
    tt_bytes_fini(&out);
}

static void refused(struct owner *owner, const char *name, enum tt_type type, const char *bytes, size_t size,
                    enum tutti_err err)
{
    unsigned char back[16] = {0};
    assert_int_equal(tt_encoding_decode(tt_encoding_find(name), bytes, size, type, back, owner->owned), err);
}

static void what_is_no_value_is_refused(void **state)
{
    struct owner *owner = *state;
    refused(owner, "HLAfloat64BE", TUTTI_TYPE_FLOAT64, "1234567", 7, TUTTI_ERR_FORMAT);
    refused(owner, "HLAinteger32BE", TUTTI_TYPE_INT8, "\0\0\1\0", 4, TUTTI_ERR_LIMIT);
    refused(owner, "HLAASCIIstring", TUTTI_TYPE_STRING, "\0\0", 2, TUTTI_ERR_FORMAT);
    refused(owner, "HLAASCIIstring", TUTTI_TYPE_STRING, "\0\0\0\3ab", 6, TUTTI_ERR_FORMAT);
    refused(owner, "HLAASCIIstring", TUTTI_TYPE_STRING, "\0\0\0\1\xe4", 5, TUTTI_ERR_FORMAT);
    refused(owner, "HLAunicodeString", TUTTI_TYPE_STRING, "\0\0\0\1\0a\0", 7, TUTTI_ERR_FORMAT);
    refused(owner, "HLAunicodeString", TUTTI_TYPE_STRING, "\0\0\0\1\0\0", 6, TUTTI_ERR_FORMAT);
    refused(owner, "HLAunicodeString", TUTTI_TYPE_STRING, "\0\0\0\1\xdc\0", 6, TUTTI_ERR_FORMAT);
    struct tt_byte_writer out = {0};
    const char *text = "\xc3\xa4";
    assert_int_equal(tt_encoding_encode(tt_encoding_find("HLAASCIIstring"), TUTTI_TYPE_STRING, &text, &out),
                     TUTTI_ERR_LIMIT);
    int64_t large = INT64_MAX;
    assert_int_equal(tt_encoding_encode(tt_encoding_find("HLAinteger32BE"), TUTTI_TYPE_INT64, &large, &out),
                     TUTTI_ERR_LIMIT);
    tt_bytes_fini(&out);
    assert_null(tt_encoding_find("HLAinteger128BE"));
    assert_null(tt_encoding_default(TUTTI_TYPE_CLOCK));
    assert_false(tt_encoding_supports(tt_encoding_find("HLAfloat64BE"), TUTTI_TYPE_STRING));
    assert_false(tt_encoding_supports(tt_encoding_find("HLAopaqueData"), TUTTI_TYPE_FLOAT64));
}

static void every_type_has_one(void **state)
{
    (void)state;
    for (int type = 0; type < TUTTI_TYPE_CLOCK; type++) {
        const struct tt_encoding *encoding = tt_encoding_default((enum tt_type)type);
        assert_non_null(encoding);
        assert_true(tt_encoding_supports(encoding, (enum tt_type)type));
    }
}

/* A model's own names for what is one value. */
static void types_of_a_model_are_what_they_are_made_of(void **state)
{
    (void)state;
    static const char text[] =
        "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2010\"><dataTypes><simpleDataTypes><simpleData>"
        "<name>Meters</name><representation>HLAfloat32LE</representation></simpleData></simpleDataTypes>"
        "<enumeratedDataTypes><enumeratedData><name>Color</name><representation>HLAinteger16BE</representation>"
        "<enumerator><name>red</name><value>1</value></enumerator></enumeratedData></enumeratedDataTypes>"
        "<arrayDataTypes><arrayData><name>Row</name><dataType>HLAfloat64BE</dataType><cardinality>3</cardinality>"
        "<encoding>HLAfixedArray</encoding></arrayData></arrayDataTypes></dataTypes></objectModel>";
    struct tt_fom_module *module = NULL;
    struct tt_fom *fom = NULL;
    assert_int_equal(tt_fom_module_read_bytes(&module, "m.xml", text, sizeof text - 1), TUTTI_OK);
    assert_int_equal(tt_fom_merge_modules(&fom, &module, 1, NULL), 0);
    assert_string_equal(tt_encoding_name(tt_encoding_find_in_model(fom, "Meters")), "HLAfloat32LE");
    assert_string_equal(tt_encoding_name(tt_encoding_find_in_model(fom, "Color")), "HLAinteger16BE");
    assert_string_equal(tt_encoding_name(tt_encoding_find_in_model(fom, "HLAboolean")), "HLAboolean");
    assert_null(tt_encoding_find_in_model(fom, "Row"));
    assert_null(tt_encoding_find_in_model(fom, "Nothing"));
    tt_fom_free(fom);
    tt_fom_module_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_have_the_bytes_of_the_standard, set_up, tear_down),
        cmocka_unit_test_setup_teardown(texts_count_their_characters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_stay_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_value_is_refused, set_up, tear_down),
        cmocka_unit_test(every_type_has_one),
        cmocka_unit_test(types_of_a_model_are_what_they_are_made_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
