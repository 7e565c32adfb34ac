/* SPDX-License-Identifier: MIT */
/* What counts as another value than the description says, and which parameters are looked at. */
#include "test.h"

#include "description.h"
#include "unit/parameter_check.h"

static const char text[] =
    "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"t\">"
    "<CoSimulation modelIdentifier=\"m\"/>"
    "<UnitDefinitions><Unit name=\"km\"><BaseUnit m=\"1\" factor=\"1000\"/></Unit><Unit name=\"in\"/></UnitDefinitions>"
    "<TypeDefinitions><SimpleType name=\"T\"><Enumeration><Item name=\"off\" value=\"1\"/><Item name=\"on\" "
    "value=\"2\"/>"
    "</Enumeration></SimpleType></TypeDefinitions><ModelVariables>"
    "<ScalarVariable name=\"a\" valueReference=\"0\" causality=\"parameter\"><Real start=\"2\"/></ScalarVariable>"
    "<ScalarVariable name=\"b\" valueReference=\"0\" causality=\"parameter\"><Real start=\"2\"/></ScalarVariable>"
    "<ScalarVariable name=\"zero\" valueReference=\"1\" causality=\"parameter\"><Real start=\"0\"/></ScalarVariable>"
    "<ScalarVariable name=\"way\" valueReference=\"2\" causality=\"parameter\"><Real unit=\"km\" "
    "start=\"3\"/></ScalarVariable>"
    "<ScalarVariable name=\"odd\" valueReference=\"3\" causality=\"parameter\"><Real unit=\"in\" "
    "start=\"25\"/></ScalarVariable>"
    "<ScalarVariable name=\"n\" valueReference=\"0\" causality=\"parameter\"><Integer start=\"7\"/></ScalarVariable>"
    "<ScalarVariable name=\"e\" valueReference=\"4\" causality=\"parameter\" variability=\"fixed\"><Enumeration "
    "declaredType=\"T\""
    " start=\"1\"/></ScalarVariable>"
    "<ScalarVariable name=\"u\" valueReference=\"5\" causality=\"input\"><Real start=\"1\"/></ScalarVariable>"
    "<ScalarVariable name=\"c\" valueReference=\"6\" causality=\"calculatedParameter\" variability=\"fixed\"><Real/>"
    "</ScalarVariable></ModelVariables><ModelStructure/></fmiModelDescription>";

enum { A, B, ZERO, WAY, ODD, N, E, U, C };

struct scene {
    struct tt_fmu fmu;
    struct tt_unit unit;
    struct tt_description *desc;
    struct tt_arena arena;
    struct tt_parameter_check described;
};

static bool is_way(const void *context, uint32_t variable)
{
    (void)context;
    return variable == WAY;
}

/* With "NAME=VALUE" set, if it is not NULL; `found` is as expected. */
static void open_scene(struct scene *scene, const char *set, tt_parameter_check_elsewhere *elsewhere)
{
    struct tt_setting setting;
    *scene = (struct scene){.desc = description(text)};
    scene->fmu.desc = scene->desc;
    scene->unit = (struct tt_unit){.fmu = &scene->fmu, .name = "unit"};
    if (set)
        assert_ok(tt_setting_read(&setting, &scene->arena, scene->desc, NULL, set));
    assert_ok(tt_parameter_check_init(&scene->described, &scene->unit, &setting, set != NULL, elsewhere, NULL));
    for (size_t i = 0; i < scene->described.count; i++)
        memcpy(scene->described.found.slots[i], scene->described.expected.slots[i], scene->described.found.sizes[i]);
}

static void close_scene(struct scene *scene)
{
    tt_parameter_check_fini(&scene->described);
    tt_description_free(scene->desc);
    tt_arena_fini(&scene->arena);
}

/* Where the value that was found for a variable lies; NULL: it is not looked at. */
static void *found(const struct scene *scene, uint32_t variable)
{
    for (size_t i = 0; i < scene->described.count; i++)
        if (scene->described.variables[i] == variable)
            return scene->described.found.slots[i];
    return NULL;
}

static size_t departures(const struct scene *scene)
{
    struct tt_parameter_difference first;
    return tt_parameter_check_compare(&scene->described, &first);
}

static void test_choice(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene, NULL, is_way);
    assert_int_equal(scene.described.count, 6);
    assert_null(found(&scene, WAY));
    assert_null(found(&scene, U));
    assert_null(found(&scene, C));
    close_scene(&scene);
    open_scene(&scene, "a=5", NULL); /* b has the same reference, n another type */
    assert_true(*(double *)found(&scene, A) == 5);
    assert_null(found(&scene, B));
    assert_non_null(found(&scene, N));
    assert_int_equal(departures(&scene), 0);
    close_scene(&scene);
}

static void test_reals(void **state)
{
    (void)state;
    static const struct {
        uint32_t variable;
        double value;
        size_t departures;
    } cases[] = {{A, 2.000001, 0}, {A, 2.001, 1},   {A, NAN, 1},   {A, 200, 1},  {ZERO, 1e-8, 0},   {ZERO, 1e-6, 1},
                 {WAY, 3000, 0},   {WAY, 0.003, 1}, {WAY, 300, 1}, {WAY, 0, 1},  {ODD, 0.025, 0},   {ODD, 2500, 0},
                 {ODD, -250, 1},   {ODD, 250.1, 1}, {ODD, 0, 1},   {ODD, 26, 1}, {ODD, INFINITY, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene scene;
        open_scene(&scene, NULL, NULL);
        *(double *)found(&scene, cases[i].variable) = cases[i].value;
        if (departures(&scene) != cases[i].departures)
            fail_msg("variable %u, value %g", cases[i].variable, cases[i].value);
        close_scene(&scene);
    }
}

static void test_others(void **state)
{
    (void)state;
    struct scene scene;
    struct tt_parameter_difference first;
    struct tt_text told = {0};
    open_scene(&scene, NULL, NULL);
    *(int64_t *)found(&scene, E) = 2;
    *(int32_t *)found(&scene, N) = 8;
    assert_int_equal(tt_parameter_check_compare(&scene.described, &first), 2);
    assert_int_equal(first.variable, N);
    assert_int_equal(*(const int32_t *)first.expected, 7);
    assert_int_equal(*(const int32_t *)first.found, 8);
    tt_setting_write(&told, scene.desc, &scene.desc->vars[E], found(&scene, E));
    assert_string_equal(told.text, "on");
    tt_text_fini(&told);
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice), cmocka_unit_test(test_reals),
                                       cmocka_unit_test(test_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
