/* SPDX-License-Identifier: MIT */
/* Systems as documents: without enough memory, and with many units. (What is written: tests/system/test_new.py.) */
#include "test.h"

#include "model/ssp/ssp_helper.h"

#include "solve/allocations.h"
#include "model/system/ssp_elements.h"

SSP_READER(ssd)

static struct tt_system *load(const char *const *files, size_t file_count, const char *const *connect,
                              size_t connect_count, const char *const *set, size_t set_count)
{
    struct tt_system_source source = {.files = files,
                                      .file_count = file_count,
                                      .connect = connect,
                                      .connect_count = connect_count,
                                      .set = set,
                                      .set_count = set_count};
    struct tt_system *system;
    struct tt_findings none = {0};
    assert_ok(tt_system_load(&system, &source, &none));
    assert_int_equal(none.errors, 0);
    return system;
}

static const char *const files[] = {"a=" TUTTI_FMUS "/Feedthrough_fmi3.fmu", "b=" TUTTI_FMUS "/Heater_fmi2.fmu"};
static const char *const connect[] = {"a.float64_out=b.T_outside", "b.T=a.float64_in", "a.vector_out[2]=a.int32_in"};
static const char *const set[] = {"a.matrix_in=1 2 3 4 5 6", "a.string_in=x", "b.mode=on", "a.strings_in=y"};
static const struct tt_run_setting words[] = {{.name = "step", .value = "0.1"}, {.name = "rtol", .value = "1e-6"}};
static const struct tt_ssd_writer_setting unit_words[] = {{1, "--step", "step", "0.2"}, {0, "--place", "rank", "3"}};

static struct tt_ssd_writer_options make_write(const struct tt_system *system)
{
    static const char *const sources[] = {"resources/a.fmu", "resources/b.fmu"};
    return (struct tt_ssd_writer_options){.system = system,
                                          .has_stop = true,
                                          .stop = 3,
                                          .words = words,
                                          .word_count = 2,
                                          .unit_words = unit_words,
                                          .unit_word_count = 2,
                                          .name = "name",
                                          .tool = "tool",
                                          .sources = sources};
}

static void test_memory(void **state)
{
    (void)state;
    struct tt_system *system = load(files, 2, connect, 3, set, 4);
    struct tt_ssd_writer_options write = make_write(system);
    struct tt_tree *tree;
    enum tutti_err err;
    assert_survives_each(err, {
        err = tt_ssd_writer_write(&tree, &write);
        assert_int_equal(err == TUTTI_OK, tree != NULL);
        if (err)
            tt_tree_free(tree);
    });
    struct tt_text text = {0};
    tt_tree_write(tree, &text);
    struct tt_ssd *ssd = read_ssd(text.text);
    expect_clean();
    assert_string_equal(ssd->version, "2.0");
    assert_int_equal(ssd->system.element_count, 2);
    assert_int_equal(ssd->system.connection_count, 3);
    assert_non_null(ssd->settings);
    tt_ssd_free(ssd);
    tt_text_fini(&text);
    tt_tree_free(tree);
    tt_system_free(system);
}

/* Each attempt needs a new document. Names that cannot be looked up count as unknown, a different error. */
static void test_memory_of_changes(void **state)
{
    (void)state;
    static const char document[] =
        "<ssd:SystemStructureDescription" SPACES " version='1.0' name='n'><ssd:System name='r'><ssd:Elements>"
        "<ssd:Component name='a' source='x'/><ssd:Component name='b' source='y'/></ssd:Elements></ssd:System>"
        "</ssd:SystemStructureDescription>";
    struct tt_system *system = load(files, 2, connect, 3, set, 4);
    struct tt_ssd_writer_options write = make_write(system);
    write.connect = connect;
    write.connect_count = 3;
    write.set = set;
    write.set_count = 4;
    enum tutti_err err = TUTTI_ERR_MEMORY;
    for (unsigned long i = 1; err; i++) {
        struct tt_ssd *ssd = read_ssd(document);
        allocations = 0;
        failing_allocation = i;
        err = tt_ssd_changes_apply(ssd, &write);
        assert_int_equal(err != TUTTI_OK, allocations >= failing_allocation);
        failing_allocation = 0;
        tt_ssd_free(ssd);
        assert_true(i < 100000);
    }
    tt_system_free(system);
}

/* Boxes of a ring with spokes do not overlap, and all lie in the outer one. */
static void test_layout(void **state)
{
    (void)state;
    enum { UNITS = 40, EDGES = 2 * UNITS };
    struct tt_system *loaded = load(files, 2, NULL, 0, NULL, 0);
    struct tt_component components[UNITS];
    struct tt_connection connections[EDGES] = {0};
    struct tt_ssd_writer_box boxes[UNITS + 1];
    for (uint32_t i = 0; i < UNITS; i++) {
        components[i] = loaded->components[i % 2];
        connections[i].from.component = i;
        connections[i].to.component = (i + 1) % UNITS;
        connections[UNITS + i].from.component = i;
        connections[UNITS + i].to.component = i % 3 == 0 ? i : 7;
    }
    struct tt_system system = {.components = components, .component_count = UNITS, .connections = connections};
    for (uint32_t edges = 0; edges <= EDGES; edges += UNITS / 2) {
        system.connection_count = edges;
        assert_ok(tt_ssd_writer_layout(&system, boxes));
        const struct tt_ssd_writer_box *all = &boxes[UNITS];
        for (int i = 0; i < UNITS; i++) {
            assert_true(boxes[i].x1 >= all->x1 && boxes[i].x1 < boxes[i].x2 && boxes[i].x2 <= all->x2);
            assert_true(boxes[i].y1 >= all->y1 && boxes[i].y1 < boxes[i].y2 && boxes[i].y2 <= all->y2);
            for (int k = 0; k < i; k++)
                assert_true(boxes[i].x2 <= boxes[k].x1 || boxes[k].x2 <= boxes[i].x1 || boxes[i].y2 <= boxes[k].y1 ||
                            boxes[k].y2 <= boxes[i].y1);
        }
    }
    tt_system_free(loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memory_of_changes),
        cmocka_unit_test(test_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
