/* SPDX-License-Identifier: MIT */
/* Units of other ranks: they can what their units can, by what went there as numbers, and do nothing. */
#include "test.h"

#include <stdlib.h>

#include "unit/shadow.h"

#define LENGTH(list) (sizeof(list) / sizeof *(list))

enum { MOST_SIZES = 64 };

/* A unit and its shadow. */
struct pair {
    struct tt_fmu *fmu;
    struct tt_unit *unit, *shadow;
    struct tt_arena arena;
};

static void open_pair(struct pair *pair, const char *path, enum tt_interface_choice choice, const char *const *set)
{
    struct tt_setting settings[8];
    size_t count = 0;
    *pair = (struct pair){0};
    assert_ok(tt_fmu_open(&pair->fmu, path, NULL));
    struct tt_unit_options options = {.name = "real", .interface = choice, .integration = {.rtol = 1e-4, .atol = 1e-6}};
    assert_ok(tt_unit_new(&pair->unit, pair->fmu, &options));
    for (; set && set[count]; count++)
        assert_ok(tt_setting_read(&settings[count], &pair->arena, pair->fmu->desc, NULL, set[count]));
    assert_ok(tt_unit_apply(pair->unit, settings, count));
    assert_ok(tt_shadow_new(&pair->shadow, pair->fmu, pair->unit->kind, "its shadow"));
}

static void close_pair(struct pair *pair)
{
    tt_unit_free(pair->shadow);
    tt_unit_free(pair->unit);
    tt_fmu_free(pair->fmu);
    tt_arena_fini(&pair->arena);
}

static void assert_same_traits(const struct tt_unit *a, const struct tt_unit *b)
{
    assert_int_equal(a->can, b->can);
    assert_int_equal(a->has_events, b->has_events);
    assert_int_equal(a->uniform, b->uniform);
    assert_int_equal(a->keeps_slopes, b->keeps_slopes);
    assert_int_equal(a->output_order, b->output_order);
    assert_int_equal(a->asks_for_inputs, b->asks_for_inputs);
}

/* ---- traits exchanged between ranks ---- */

/* Each separately, so that none hides another, over the shadow's earlier value; and back. */
static void every_trait_goes_over(void **state)
{
    (void)state;
    const struct tt_unit units[] = {
        {0},
        {.can = TUTTI_CAN_STATE},
        {.can = UINT32_MAX},
        {.can = UINT32_MAX - 1},
        {.has_events = true},
        {.uniform = true},
        {.keeps_slopes = true},
        {.output_order = 1},
        {.output_order = 7},
        {.asks_for_inputs = true},
        {.can = 5,
         .has_events = true,
         .uniform = true,
         .keeps_slopes = true,
         .output_order = 2,
         .asks_for_inputs = true},
    };
    for (size_t i = 0; i < LENGTH(units); i++)
        for (size_t before = 0; before < LENGTH(units); before++) {
            double traits[TUTTI_TRAITS + 1] = {0}, back[TUTTI_TRAITS];
            struct tt_unit shadow = units[before];
            traits[TUTTI_TRAITS] = 77;
            tt_shadow_read_traits(&units[i], traits);
            assert_same_double(traits[TUTTI_TRAITS], 77);
            tt_shadow_set_traits(&shadow, traits);
            assert_same_traits(&shadow, &units[i]);
            tt_shadow_read_traits(&shadow, back);
            assert_memory_equal(back, traits, sizeof back);
        }
}

/* Ranks that do not have the unit bring zeros: the greatest of all must be what the one that has it says. */
static void no_trait_is_less_than_zero(void **state)
{
    (void)state;
    const struct tt_unit none = {0}, all = {.can = UINT32_MAX,
                                            .has_events = true,
                                            .uniform = true,
                                            .keeps_slopes = true,
                                            .output_order = 3,
                                            .asks_for_inputs = true};
    double traits[TUTTI_TRAITS];
    tt_shadow_read_traits(&none, traits);
    for (int i = 0; i < TUTTI_TRAITS; i++)
        assert_same_double(traits[i], 0);
    tt_shadow_read_traits(&all, traits);
    for (int i = 0; i < TUTTI_TRAITS; i++)
        assert_true(traits[i] > 0);
}

static void shadows_can_what_their_units_can(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum tt_interface_choice choice;
    } cases[] = {
        {TUTTI_FMUS "/Dahlquist_fmi1cs.fmu", TUTTI_INTERFACE_CS},
        {TUTTI_FMUS "/Dahlquist_fmi1me.fmu", TUTTI_INTERFACE_ME},
        {TUTTI_FMUS "/Tracker_fmi2.fmu", TUTTI_INTERFACE_CS},
        {TUTTI_FMUS "/Tracker_fmi2.fmu", TUTTI_INTERFACE_ME},
        {TUTTI_FMUS "/Tracker_fmi3.fmu", TUTTI_INTERFACE_CS},
        {TUTTI_FMUS "/Stair_fmi3.fmu", TUTTI_INTERFACE_CS},
        {TUTTI_FMUS "/Stair_fmi3.fmu", TUTTI_INTERFACE_ME},
        {TUTTI_FMUS "/Ticker_fmi2.fmu", TUTTI_INTERFACE_CS},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct pair pair;
        double traits[TUTTI_TRAITS];
        open_pair(&pair, cases[i].path, cases[i].choice, NULL);
        tt_shadow_read_traits(pair.unit, traits);
        tt_shadow_set_traits(pair.shadow, traits);
        assert_same_traits(pair.shadow, pair.unit);
        assert_int_equal(pair.shadow->kind->interface, pair.unit->kind->interface);
        assert_string_equal(pair.shadow->kind->name, pair.unit->kind->name);
        close_pair(&pair);
    }
}

/* ---- extents ---- */

/* Every variable has as many values as that of the unit, whichever structural parameters were set. */
static void extents_go_over(void **state)
{
    (void)state;
    static const char *const given[][4] = {{NULL}, {"m=4", "n=1", "r=7", NULL}, {"n=0", NULL}, {"m=100", NULL}};
    static const enum tt_interface_choice choices[] = {TUTTI_INTERFACE_CS, TUTTI_INTERFACE_ME};
    for (size_t i = 0; i < LENGTH(given); i++)
        for (size_t k = 0; k < LENGTH(choices); k++) {
            struct pair pair;
            double sizes[MOST_SIZES], back[MOST_SIZES];
            open_pair(&pair, TUTTI_FMUS "/StateSpace_fmi3.fmu", choices[k], given[i]);
            const struct tt_description *desc = pair.fmu->desc;
            size_t count = tt_shadow_count_sizes(desc);
            assert_int_equal(count, 4 * 2 + 5); /* dimensions of A, B, C, D; of x0, u, y, x, der(x) */
            sizes[count] = 77;
            tt_shadow_read_sizes(pair.unit, sizes);
            assert_same_double(sizes[count], 77);
            assert_ok(tt_shadow_set_sizes(pair.shadow, sizes));
            tt_shadow_read_sizes(pair.shadow, back);
            assert_memory_equal(back, sizes, count * sizeof *sizes);
            for (uint32_t v = 0; v < desc->var_count; v++) {
                size_t extent, expected;
                assert_ok(tt_unit_extent(pair.unit, v, &expected));
                assert_ok(tt_unit_extent(pair.shadow, v, &extent));
                assert_int_equal(extent, expected);
            }
            close_pair(&pair);
        }
}

static void without_structural_parameters_there_are_no_extents(void **state)
{
    (void)state;
    static const char *const paths[] = {TUTTI_FMUS "/Feedthrough_fmi3.fmu", TUTTI_FMUS "/Feedthrough_fmi2.fmu",
                                        TUTTI_FMUS "/VanDerPol_fmi1cs.fmu"};
    for (size_t i = 0; i < LENGTH(paths); i++) {
        struct pair pair;
        open_pair(&pair, paths[i], TUTTI_INTERFACE_CS, NULL);
        assert_int_equal(tt_shadow_count_sizes(pair.fmu->desc), 0);
        for (uint32_t v = 0; v < pair.fmu->desc->var_count; v++) { /* arrays of fixed extents among them */
            size_t extent, expected;
            assert_ok(tt_unit_extent(pair.unit, v, &expected));
            assert_ok(tt_unit_extent(pair.shadow, v, &extent));
            assert_int_equal(extent, expected);
        }
        close_pair(&pair);
    }
}

/* ---- calls ---- */

/* Fake: running its code would crash, since it has none. */
static struct tt_description no_desc = {.fmi = 3};
static struct tt_fmu no_fmu = {.path = "nowhere.fmu", .desc = &no_desc};

static void check_values(struct tt_unit *shadow)
{
    uint32_t references[] = {1, 2, 3};
    int32_t orders[] = {1, 1, 2};
    double values[] = {1, -0.0, NAN}, before[3], seed[] = {1, 1};
    struct tt_block block = {
        .type = TUTTI_TYPE_FLOAT64, .count = 3, .value_count = 3, .references = references, .values = values};
    memcpy(before, values, sizeof before);
    assert_ok(shadow->kind->set(shadow, &block));
    assert_ok(shadow->kind->get(shadow, &block)); /* what came by the fabric stays */
    assert_ok(shadow->kind->set_input_derivatives(shadow, references, NULL, 3, orders, values));
    assert_memory_equal(values, before, sizeof values);
    /* These are not to be taken for the unit's. */
    assert_ok(shadow->kind->get_output_derivatives(shadow, references, 2, 1, values));
    assert_true(isnan(values[0]) && isnan(values[1]));
    values[2] = 5;
    assert_ok(shadow->kind->get_directional(shadow, references, 2, references, 2, seed, values));
    assert_memory_equal(values, ((double[]){0, 0, 5}), sizeof values);
}

static void check_steps(struct tt_unit *shadow)
{
    static const double steps[][2] = {{0, 0.1}, {0.3, 0.1}, {-1, 1e-9}, {1e6, 1e-7}, {0, 0}};
    for (size_t i = 0; i < LENGTH(steps); i++) {
        struct tt_fmi_step step;
        memset(&step, 1, sizeof step);
        assert_ok(shadow->kind->step(shadow, steps[i][0], steps[i][1], &step));
        assert_same_double(step.reached, steps[i][0] + steps[i][1]);
        assert_false(step.discarded || step.can_retry || step.early || step.event || step.terminate);
    }
    struct tt_unit_event event;
    memset(&event, 1, sizeof event);
    assert_ok(shadow->kind->enter_event(shadow));
    assert_ok(shadow->kind->settle(shadow, &event));
    assert_false(event.terminate);
    assert_same_double(event.next_event, INFINITY);
}

static void check_life(struct tt_unit *shadow)
{
    struct tt_unit_saved *saved = NULL;
    assert_ok(shadow->kind->start(shadow, &(struct tt_unit_options){0}));
    assert_ok(shadow->kind->configure(shadow, NULL, 0));
    assert_ok(shadow->kind->set_up(shadow, &(struct tt_experiment_setup){.start = 0}));
    assert_ok(shadow->kind->enter_init(shadow));
    assert_ok(shadow->kind->exit_init(shadow));
    assert_ok(shadow->kind->save(shadow, &saved));
    assert_null(saved); /* nothing to release */
    assert_ok(shadow->kind->restore(shadow, saved));
    shadow->kind->discard(shadow, saved);
    assert_ok(shadow->kind->terminate(shadow));
}

static void calls_are_done_and_without_effect(void **state)
{
    (void)state;
    static const struct tt_unit_kind *const kinds[] = {&tt_unit_cs, &tt_unit_me};
    for (size_t k = 0; k < LENGTH(kinds); k++) {
        struct tt_unit *shadow;
        assert_ok(tt_shadow_new(&shadow, &no_fmu, kinds[k], "shadow"));
        struct tt_unit before = *shadow;
        assert_string_equal(shadow->name, "shadow");
        assert_ptr_equal(shadow->fmu, &no_fmu);
        assert_string_equal(shadow->kind->name, kinds[k]->name);
        assert_int_equal(shadow->kind->interface, kinds[k]->interface);
        assert_ptr_not_equal(shadow->kind, kinds[k]);
        check_life(shadow);
        check_values(shadow);
        check_steps(shadow);
        assert_memory_equal(shadow, &before, sizeof before);
        tt_unit_free(shadow);
    }
}

/* A master calls what the kind of the unit has, whichever rank has the unit. */
static void a_shadow_has_every_call_that_masters_make(void **state)
{
    (void)state;
    static const struct tt_unit_kind *const kinds[] = {&tt_unit_cs, &tt_unit_me};
    for (size_t k = 0; k < LENGTH(kinds); k++) {
        struct tt_unit *shadow;
        assert_ok(tt_shadow_new(&shadow, &no_fmu, kinds[k], "shadow"));
#define HAS(call) assert_true(!kinds[k]->call || shadow->kind->call)
        HAS(start);
        HAS(finish);
        HAS(set_up);
        HAS(configure);
        HAS(enter_init);
        HAS(reset);
        HAS(exit_init);
        HAS(set);
        HAS(get);
        HAS(offer);
        HAS(ask);
        HAS(set_input_derivatives);
        HAS(get_output_derivatives);
        HAS(get_directional);
        HAS(step);
        HAS(enter_event);
        HAS(settle);
        HAS(save);
        HAS(restore);
        HAS(discard);
        HAS(terminate);
#undef HAS
        assert_null(shadow->kind->linearize); /* for visitors of a single unit */
        tt_unit_free(shadow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_trait_goes_over),
        cmocka_unit_test(no_trait_is_less_than_zero),
        cmocka_unit_test(shadows_can_what_their_units_can),
        cmocka_unit_test(extents_go_over),
        cmocka_unit_test(without_structural_parameters_there_are_no_extents),
        cmocka_unit_test(calls_are_done_and_without_effect),
        cmocka_unit_test(a_shadow_has_every_call_that_masters_make),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
