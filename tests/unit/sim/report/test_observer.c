/* SPDX-License-Identifier: MIT */
/* The reports of several ranks about their units equal, in the conductor, the output of one rank. */
#include "run/conducted.h"

#include "count_allocations.h"
#include "sim/stats.h"
#include "sim/report/record.h"
#include "unit/shadow.h"

enum { UNITS = 4 };

/* Outputs of the system: of two units in turn, one of them converted. */
static const char document[] =
    "<?xml version=\"1.0\"?><ssd:SystemStructureDescription version=\"1.0\" name=\"plant\" "
    "xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\" "
    "xmlns:ssc=\"http://ssp-standard.org/SSP1/SystemStructureCommon\"><ssd:System name=\"plant\">"
    "<ssd:Connectors><ssd:Connector name=\"height\" kind=\"output\"><ssc:Real/></ssd:Connector>"
    "<ssd:Connector name=\"echo\" kind=\"output\"><ssc:Real/></ssd:Connector>"
    "<ssd:Connector name=\"speed\" kind=\"output\"><ssc:Real/></ssd:Connector></ssd:Connectors>"
    "<ssd:Elements>"
    "<ssd:Component name=\"ball\" source=\"BouncingBall_fmi3.fmu\"><ssd:Connectors>"
    "<ssd:Connector name=\"h\" kind=\"output\"><ssc:Real/></ssd:Connector>"
    "<ssd:Connector name=\"v\" kind=\"output\"><ssc:Real/></ssd:Connector></ssd:Connectors></ssd:Component>"
    "<ssd:Component name=\"first\" source=\"Feedthrough_fmi3.fmu\"><ssd:Connectors>"
    "<ssd:Connector name=\"float64_in\" kind=\"input\"><ssc:Real/></ssd:Connector>"
    "<ssd:Connector name=\"float64_out\" kind=\"output\"><ssc:Real/></ssd:Connector>"
    "</ssd:Connectors></ssd:Component>"
    "<ssd:Component name=\"space\" source=\"StateSpace_fmi3.fmu\"/>"
    "<ssd:Component name=\"second\" source=\"Feedthrough_fmi3.fmu\"/></ssd:Elements>"
    "<ssd:Connections>"
    "<ssd:Connection startElement=\"ball\" startConnector=\"h\" endElement=\"first\" "
    "endConnector=\"float64_in\"/>"
    "<ssd:Connection startElement=\"ball\" startConnector=\"h\" endConnector=\"height\">"
    "<ssc:LinearTransformation factor=\"1000\"/></ssd:Connection>"
    "<ssd:Connection startElement=\"first\" startConnector=\"float64_out\" endConnector=\"echo\"/>"
    "<ssd:Connection startElement=\"ball\" startConnector=\"v\" endConnector=\"speed\"/>"
    "</ssd:Connections></ssd:System><ssd:DefaultExperiment startTime=\"0\" stopTime=\"1\"/>"
    "</ssd:SystemStructureDescription>";

struct plant {
    struct scratch scratch;
    char whole[4200], merged[4200];
    struct tt_system *system;
    struct tt_structure structure;
    struct tt_unit *units[UNITS], *shadows[UNITS];
    struct tt_wires wires;
};

static void link_fmu(struct plant *plant, const char *name)
{
    char path[4200];
    snprintf(path, sizeof path, TUTTI_FMUS "/%s", name);
    assert_int_equal(symlink(path, scratch_path(&plant->scratch, name)), 0);
}

static void load(struct plant *plant)
{
    static const char *const set[] = {"second.float64_in=1.25", "second.string_in=a \"text\"", "second.int32_in=7",
                                      "first.boolean_in=true", "space.r=3"};
    memset(plant, 0, sizeof *plant);
    scratch_init(&plant->scratch);
    link_fmu(plant, "BouncingBall_fmi3.fmu");
    link_fmu(plant, "Feedthrough_fmi3.fmu");
    link_fmu(plant, "StateSpace_fmi3.fmu");
    copy_text(plant->whole, sizeof plant->whole, scratch_path(&plant->scratch, "whole.csv"));
    copy_text(plant->merged, sizeof plant->merged, scratch_path(&plant->scratch, "merged.csv"));
    const char *file = scratch_write(&plant->scratch, "plant.ssd", document, sizeof document - 1);
    struct tt_findings findings = {0};
    struct tt_system_source source = {.files = &file, .file_count = 1, .set = set, .set_count = 5};
    assert_ok(tt_system_load(&plant->system, &source, &findings));
    assert_int_equal(findings.errors, 0);
    assert_int_equal(plant->system->component_count, UNITS);
    assert_ok(tt_structure_init(&plant->structure, plant->system, TUTTI_PHASE_INITIAL));
}

static void make_units(struct plant *plant, uint32_t c)
{
    const struct tt_component *component = &plant->system->components[c];
    struct tt_unit_options options = {.name = component->name, .interface = TUTTI_INTERFACE_CS};
    assert_ok(tt_unit_new(&plant->units[c], component->fmu, &options));
    assert_ok(tt_unit_apply(plant->units[c], component->settings, component->setting_count));
    assert_ok(tt_shadow_new(&plant->shadows[c], component->fmu, plant->units[c]->kind, component->name));
    double sizes[64];
    size_t count = tt_shadow_count_sizes(component->fmu->desc);
    assert_true(count <= 64);
    if (count > 0) {
        tt_shadow_read_sizes(plant->units[c], sizes);
        assert_ok(tt_shadow_set_sizes(plant->shadows[c], sizes));
    }
}

/* All units initialised, with their outputs in the signals. */
static void start(struct plant *plant)
{
    load(plant);
    for (uint32_t c = 0; c < UNITS; c++)
        make_units(plant, c);
    assert_ok(tt_wire_layout_init(&plant->wires, &plant->structure, plant->units));
    for (uint32_t c = 0; c < UNITS; c++) {
        const struct tt_component *component = &plant->system->components[c];
        struct tt_experiment_setup setup = {.stop = 1, .has_stop = true};
        assert_ok(plant->units[c]->kind->set_up(plant->units[c], &setup));
        assert_ok(plant->units[c]->kind->enter_init(plant->units[c]));
        assert_ok(tt_unit_apply_inputs(plant->units[c], component->settings, component->setting_count));
        for (unsigned b = 0; b < plant->wires.units[c].output_blocks; b++)
            assert_ok(plant->units[c]->kind->get(plant->units[c], &plant->wires.units[c].outputs[b]));
    }
}

static void finish(struct plant *plant)
{
    tt_wires_fini(&plant->wires);
    for (int c = 0; c < UNITS; c++) {
        tt_unit_free(plant->units[c]);
        tt_unit_free(plant->shadows[c]);
    }
    tt_structure_fini(&plant->structure);
    tt_system_free(plant->system);
    scratch_fini(&plant->scratch);
}

/* As rank `rank` of the placement sees the units; all of them for one rank alone. */
static void observe(const struct plant *plant, const int *place, int rank, struct tt_recorded_unit *observed)
{
    for (int c = 0; c < UNITS; c++) {
        bool own = !place || place[c] == rank;
        observed[c] = (struct tt_recorded_unit){.unit = own ? plant->units[c] : plant->shadows[c], .own = own};
    }
}

static enum tutti_err record_whole(const struct plant *plant, const struct tutti_run_options *options)
{
    struct tt_recorded_unit observed[UNITS];
    struct tt_record observer;
    observe(plant, NULL, 0, observed);
    enum tutti_err err =
        tt_record_open(&observer, options, plant->whole, &plant->wires, observed, NULL, NULL, (struct tt_bytes){0});
    for (int k = 0; k < 3 && !err; k++)
        err = tt_record_write_row(&observer, 0.5 * k);
    enum tutti_err closing = tt_record_close(&observer);
    return err ? err : closing;
}

/* The same by ranks, up to the end of all of them. */
static void record_merged(const struct plant *plant, const struct tutti_run_options *options, const int *place)
{
    struct fixture f;
    begin(&f, RANKS);
    assert_ok(tt_conductor_new(&f.conductor, options, plant->merged, RANKS));
    for (int r = 0; r < RANKS; r++) {
        struct tt_recorded_unit observed[UNITS];
        struct tt_record observer;
        observe(plant, place, r, observed);
        assert_ok(tt_record_open(&observer, options, "elsewhere.csv", &plant->wires, observed, NULL, &f.ranks[r].fabric,
                                 (struct tt_bytes){0}));
        assert_true(observer.records);
        for (int k = 0; k < 3; k++)
            assert_ok(tt_record_write_row(&observer, 0.5 * k));
        assert_ok(tt_record_close(&observer));
        rank_end(&f.ranks[r], TUTTI_OK, "", 1);
    }
    assert_ok(offer_all(&f));
    assert_true(tt_conductor_is_done(f.conductor));
    struct tutti_run_stats stats;
    assert_ok(tt_conductor_finish(f.conductor, &stats));
    assert_int_equal(stats.rows, 3);
    tt_stats_fini(&stats);
    end(&f);
}

/* All placements of four units on three ranks, ranks without any included. */
static void compare_placements(const struct plant *plant, const struct tutti_run_options *options)
{
    assert_ok(record_whole(plant, options));
    char *expected = slurp_file(plant->whole, NULL);
    for (int i = 0; i < 81; i++) {
        const int place[UNITS] = {i % 3, i / 3 % 3, i / 9 % 3, i / 27};
        record_merged(plant, options, place);
        assert_file(plant->merged, expected);
    }
    free(expected);
}

static void test_all_outputs(void **state)
{
    (void)state;
    struct plant plant;
    struct tutti_run_options options = {0};
    start(&plant);
    compare_placements(&plant, &options);
    char *whole = slurp_file(plant.whole, NULL);
    assert_contains(whole, "second.string_out");
    assert_contains(whole, ",space.y[1],space.y[2],space.y[3],");
    assert_contains(whole, ",\"a \"\"text\"\"\",");
    assert_contains(whole, ",height,echo,speed\n");
    assert_contains(whole, ",1000,0,0\n"); /* the height in millimetres */
    free(whole);
    finish(&plant);
}

static void test_patterns(void **state)
{
    (void)state;
    struct plant plant;
    const char *patterns[] = {"space.A[2,*]", "*.int32_*", "ball.h", "speed"};
    struct tutti_run_options options = {.records = patterns, .record_count = 4};
    start(&plant);
    compare_placements(&plant, &options);
    char *whole = slurp_file(plant.whole, NULL);
    assert_contains(whole, "\"space.A[2,1]\",\"space.A[2,2]\",\"space.A[2,3]\",");
    assert_null(strstr(whole, "space.A[1"));
    free(whole);
    finish(&plant);
}

/* A pattern that fits nothing is refused by all ranks, one that fits another rank's unit by none. */
static void test_refused_alike(void **state)
{
    (void)state;
    struct plant plant;
    const char *patterns[] = {"ball.h", "nothing.here"};
    struct tutti_run_options options = {.records = patterns, .record_count = 2};
    const int place[UNITS] = {1, 0, 0, 0};
    start(&plant);
    for (int r = 0; r < RANKS; r++)
        for (options.record_count = 1; options.record_count <= 2; options.record_count++) {
            struct reporting_rank rank;
            struct tt_recorded_unit observed[UNITS];
            struct tt_record observer;
            rank_init(&rank, r, RANKS);
            observe(&plant, place, r, observed);
            enum tutti_err err = tt_record_open(&observer, &options, "-", &plant.wires, observed, NULL, &rank.fabric,
                                                (struct tt_bytes){0});
            assert_int_equal(err, options.record_count == 1 ? TUTTI_OK : TUTTI_ERR_ARGUMENT);
            assert_int_equal(rank.bytes.size > 0, options.record_count == 1); /* a rejected choice is not reported */
            assert_ok(tt_record_close(&observer));
            rank_fini(&rank);
        }
    finish(&plant);
}

static enum tutti_err forget(struct tt_fabric *fabric, const void *bytes, size_t size)
{
    (void)fabric;
    (void)bytes;
    (void)size;
    return TUTTI_OK;
}

/* After the first row, rows allocate no memory: with texts that do not grow, and without texts. */
static void test_rows_without_allocation(void **state)
{
    (void)state;
    static const struct tt_fabric_kind deaf = {.name = "deaf", .report = forget};
    const char *patterns[] = {"*.float64_out", "ball.*", "*.int32_out"};
    struct plant plant;
    start(&plant);
    for (size_t count = 0; count <= 3; count += 3) {
        struct tutti_run_options options = {.records = patterns, .record_count = count};
        struct reporting_rank rank;
        struct tt_recorded_unit observed[UNITS];
        struct tt_record observer;
        rank_init(&rank, 0, 1);
        rank.fabric.kind = &deaf;
        observe(&plant, NULL, 0, observed);
        assert_ok(
            tt_record_open(&observer, &options, "-", &plant.wires, observed, NULL, &rank.fabric, (struct tt_bytes){0}));
        assert_ok(tt_record_write_row(&observer, 0));
        unsigned long before = allocations;
        for (int k = 1; k < 100; k++)
            assert_ok(tt_record_write_row(&observer, k));
        assert_int_equal(allocations, before);
        assert_int_equal(observer.rows, 100);
        assert_ok(tt_record_close(&observer));
        rank_fini(&rank);
    }
    finish(&plant);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_outputs),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_refused_alike),
        cmocka_unit_test(test_rows_without_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
