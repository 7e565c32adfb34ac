/* SPDX-License-Identifier: MIT */
#include "test.h"

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
    struct tutti_desc *desc = description(text);
    static const uint32_t variables[] = {0, 1, 2, 4};
    static const size_t extents[] = {1, 1, 3, 1};
    struct tutti_signals signals;
    assert_ok(tutti_signals_init(&signals, desc, variables, extents, 4));
    assert_int_equal(signals.block_count, 2);
    const struct tutti_block *real = &signals.blocks[0];
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
    tutti_signals_fini(&signals);

    assert_ok(tutti_signals_init(&signals, desc, variables, extents, 0)); /* nothing is fine, too */
    assert_int_equal(signals.block_count, 0);
    tutti_signals_fini(&signals);
    tutti_desc_free(desc);
}

/* What the FMU returned may change or vanish with its next call; the copies stay. */
static void test_ownership(void **state)
{
    (void)state;
    struct tutti_desc *desc = description(text);
    static const uint32_t variables[] = {1, 3};
    static const size_t extents[] = {1, 1};
    struct tutti_signals signals;
    assert_ok(tutti_signals_init(&signals, desc, variables, extents, 2));
    const char **string = signals.slots[0];
    struct tutti_bytes *bytes = signals.slots[1];
    char fleeting[] = "hello";
    for (int i = 0; i < 3; i++) {
        strcpy(fleeting, "hello");
        *string = fleeting;
        *bytes = (struct tutti_bytes){5, (const uint8_t *)fleeting};
        assert_ok(tutti_signals_own(&signals.blocks[0]));
        assert_ok(tutti_signals_own(&signals.blocks[1]));
        memset(fleeting, 'x', 5);
        assert_string_equal(*string, "hello");
        assert_int_equal(bytes->size, 5);
        assert_memory_equal(bytes->data, "hello", 5);
    }
    *string = NULL; /* FMUs do that */
    *bytes = (struct tutti_bytes){7, NULL};
    assert_ok(tutti_signals_own(&signals.blocks[0]));
    assert_ok(tutti_signals_own(&signals.blocks[1]));
    assert_string_equal(*string, "");
    assert_int_equal(bytes->size, 0);
    tutti_signals_fini(&signals);
    tutti_desc_free(desc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layout), cmocka_unit_test(test_ownership)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
