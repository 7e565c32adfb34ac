/* SPDX-License-Identifier: MIT */
#include "apps/describe/json.h"

#include <stdlib.h>

#include "test.h"

/* A part that is missing, as memory is out, leaves nothing of the whole. */
static void test_missing_parts(void **state)
{
    (void)state;
    json_t *object = json_object(), *list = json_array();
    tt_json_set(&object, "a", json_integer(1));
    tt_json_append(&list, object);
    object = json_object();
    tt_json_set(&object, "a", NULL);
    assert_null(object);
    tt_json_set(&object, "b", json_integer(2)); /* which is freed */
    assert_null(object);
    tt_json_append(&list, object);
    assert_null(list);
    tt_json_append(&list, json_string("x"));
    assert_null(list);
}

static void test_values(void **state)
{
    (void)state;
    json_t *list = json_array();
    tt_json_append(&list, tt_json_number(0.5));
    tt_json_append(&list, tt_json_number(NAN));
    tt_json_append(&list, tt_json_number(-INFINITY));
    tt_json_append(&list, tt_json_text("a\nb\xff"));
    char *text = json_dumps(list, 0);
    assert_string_equal(text, "[0.5, null, null, \"a b?\"]");
    free(text);
    json_decref(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_parts),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
