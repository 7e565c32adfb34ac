/* SPDX-License-Identifier: MIT */
#include "tell/json.h"

#include <stdlib.h>

#include "test.h"

/* A part that is missing, as memory is out, leaves nothing of the whole. */
static void test_missing_parts(void **state)
{
    (void)state;
    json_t *object = json_object(), *list = json_array();
    tutti_json_set(&object, "a", json_integer(1));
    tutti_json_append(&list, object);
    object = json_object();
    tutti_json_set(&object, "a", NULL);
    assert_null(object);
    tutti_json_set(&object, "b", json_integer(2)); /* which is freed */
    assert_null(object);
    tutti_json_append(&list, object);
    assert_null(list);
    tutti_json_append(&list, json_string("x"));
    assert_null(list);
}

static void test_values(void **state)
{
    (void)state;
    json_t *list = json_array();
    tutti_json_append(&list, tutti_number_json(0.5));
    tutti_json_append(&list, tutti_number_json(NAN));
    tutti_json_append(&list, tutti_number_json(-INFINITY));
    tutti_json_append(&list, tutti_text_json("a\nb\xff"));
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
