/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdlib.h>

#include "description.h"
#include "unit/signals.h"

static const char text[] =
    "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">"
    "<CoSimulation modelIdentifier=\"m\"/><ModelVariables>"
    "<Float64 name=\"a\" valueReference=\"10\" causality=\"output\"/>"
    "<String name=\"s\" valueReference=\"20\" causality=\"output\"/>"
    "<Float64 name=\"m\" valueReference=\"30\" causality=\"output\"><Dimension start=\"3\"/></Float64>"
    "<Binary name=\"b\" valueReference=\"40\" causality=\"output\"/>"
    "<Float64 name=\"c\" valueReference=\"50\" causality=\"output\"/>"
    "</ModelVariables><ModelStructure/></fmiModelDescription>";

/* Variables of one type lie in one block, in the order given; arrays take as many places as they have elements. */
static void test_layout(void **state)
{
    (void)state;
    struct tt_description *desc = description(text);
    static const uint32_t variables[] = {0, 1, 2, 4};
    static const size_t extents[] = {1, 1, 3, 1};
    struct tt_signals signals;
    assert_ok(tt_signals_init(&signals, desc, variables, extents, 4));
    assert_int_equal(signals.block_count, 2);
    const struct tt_block *real = &signals.blocks[0];
    assert_int_equal(real->type, TUTTI_TYPE_FLOAT64);
    assert_int_equal(real->count, 3);
    assert_int_equal(real->value_count, 5);
    static const uint32_t references[] = {10, 30, 50};
    assert_memory_equal(real->references, references, sizeof references);
    double *values = real->values;
    assert_ptr_equal(signals.slots[0], &values[0]);
    assert_ptr_equal(signals.slots[2], &values[1]);
    assert_ptr_equal(signals.slots[3], &values[4]);
    assert_int_equal(signals.sizes[2], sizeof(double));
    assert_string_equal(*(const char **)signals.slots[1], "");
    tt_signals_fini(&signals);

    assert_ok(tt_signals_init(&signals, desc, variables, extents, 0)); /* nothing is fine, too */
    assert_int_equal(signals.block_count, 0);
    tt_signals_fini(&signals);
    tt_description_free(desc);
}

/* Values returned by the FMU may change or vanish with its next call; the copies stay. */
static void test_ownership(void **state)
{
    (void)state;
    struct tt_description *desc = description(text);
    static const uint32_t variables[] = {1, 3};
    static const size_t extents[] = {1, 1};
    struct tt_signals signals;
    assert_ok(tt_signals_init(&signals, desc, variables, extents, 2));
    const char **string = signals.slots[0];
    struct tt_bytes *bytes = signals.slots[1];
    char fleeting[] = "hello";
    for (int i = 0; i < 3; i++) {
        strcpy(fleeting, "hello");
        *string = fleeting;
        *bytes = (struct tt_bytes){5, (const uint8_t *)fleeting};
        assert_ok(tt_signals_own(&signals.blocks[0]));
        assert_ok(tt_signals_own(&signals.blocks[1]));
        memset(fleeting, 'x', 5);
        assert_string_equal(*string, "hello");
        assert_int_equal(bytes->size, 5);
        assert_memory_equal(bytes->data, "hello", 5);
    }
    *string = NULL; /* FMUs do that */
    *bytes = (struct tt_bytes){7, NULL};
    assert_ok(tt_signals_own(&signals.blocks[0]));
    assert_ok(tt_signals_own(&signals.blocks[1]));
    assert_string_equal(*string, "");
    assert_int_equal(bytes->size, 0);
    tt_signals_fini(&signals);
    tt_description_free(desc);
}

/* ---- for another process ---- */

static const uint32_t all[] = {0, 1, 2, 3, 4};
static const size_t all_extents[] = {1, 1, 3, 1, 1};

/* Two sets of the same signals: one here, one there. */
static void begin_both(struct tt_signals *here, struct tt_signals *there, const struct tt_description *desc)
{
    assert_ok(tt_signals_init(here, desc, all, all_extents, 5));
    assert_ok(tt_signals_init(there, desc, all, all_extents, 5));
    *(double *)here->slots[0] = 0.1;
    *(const char **)here->slots[1] = "hello";
    for (int i = 0; i < 3; i++)
        ((double *)here->slots[2])[i] = i;
    *(struct tt_bytes *)here->slots[3] = (struct tt_bytes){3, (const uint8_t *)"a\0b"};
    *(double *)here->slots[4] = -7;
}

static void test_packed(void **state)
{
    (void)state;
    struct tt_description *desc = description(text);
    struct tt_signals here, there;
    struct tt_byte_writer parcel = {0};
    begin_both(&here, &there, desc);
    for (int trial = 0; trial < 2; trial++) {
        tt_bytes_reset(&parcel);
        tt_signals_pack(&here, &parcel);
        struct tt_byte_reader in = tt_bytes_get_begin(tt_bytes_written(&parcel));
        assert_ok(tt_signals_unpack(&there, &in));
        assert_ptr_equal(in.at, in.end);
        memset(parcel.bytes, 'x', parcel.size); /* what came out is a copy */
        assert_same_double(*(double *)there.slots[0], 0.1);
        assert_memory_equal(there.slots[2], here.slots[2], 3 * sizeof(double));
        assert_same_double(*(double *)there.slots[4], -7);
        const struct tt_bytes *bytes = there.slots[3];
        assert_string_equal(*(const char **)there.slots[1], trial ? "" : "hello");
        assert_int_equal(bytes->size, trial ? 0 : 3);
        if (trial == 0)
            assert_memory_equal(bytes->data, "a\0b", 3);
        *(const char **)here.slots[1] = NULL; /* FMUs do that */
        *(struct tt_bytes *)here.slots[3] = (struct tt_bytes){7, NULL};
    }
    tt_bytes_fini(&parcel);
    tt_signals_fini(&here);
    tt_signals_fini(&there);
    tt_description_free(desc);
}

static void test_packed_by_others(void **state)
{
    (void)state;
    struct tt_description *desc = description(text);
    struct tt_signals here, there, fewer;
    struct tt_byte_writer parcel = {0};
    begin_both(&here, &there, desc);
    tt_signals_pack(&here, &parcel);
    for (size_t size = 0; size < parcel.size; size++) {
        char *part = malloc(size + 1); /* of the exact size, so that an overread is detected */
        memcpy(part, parcel.bytes, size);
        struct tt_byte_reader in = {.at = part, .end = part + size};
        assert_fails(tt_signals_unpack(&there, &in), TUTTI_ERR_FORMAT, "not as they should be");
        free(part);
    }
    assert_ok(tt_signals_init(&fewer, desc, all, all_extents, 2)); /* its Float64 block is shorter */
    struct tt_byte_reader in = tt_bytes_get_begin(tt_bytes_written(&parcel));
    assert_fails(tt_signals_unpack(&fewer, &in), TUTTI_ERR_FORMAT, "not as they should be");
    tt_signals_fini(&fewer);
    tt_bytes_fini(&parcel);
    tt_signals_fini(&here);
    tt_signals_fini(&there);
    tt_description_free(desc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layout), cmocka_unit_test(test_ownership),
                                       cmocka_unit_test(test_packed), cmocka_unit_test(test_packed_by_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
