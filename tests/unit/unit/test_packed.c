/* SPDX-License-Identifier: MIT */
/* A unit is resumed in a different process: here, in a second instance at its first step. */
#include "test.h"

#include "exchange.h"

/* A second instance resumes at this one's state; the caller unloads it. */
static void move(struct life *from, struct life *to)
{
    struct tt_unit_saved *saved = NULL, *unpacked = NULL;
    struct tt_byte_writer parcel = {0};
    assert_ok(from->kind->save(from->unit, &saved));
    assert_ok(from->kind->pack(from->unit, saved, &parcel));
    assert_false(parcel.failed);
    struct tt_byte_reader in = tt_bytes_get_begin(tt_bytes_written(&parcel));
    assert_ok(to->kind->unpack(to->unit, &in, &unpacked));
    assert_ptr_equal(in.at, in.end);
    assert_ok(to->kind->restore(to->unit, unpacked));
    to->t = from->t;
    to->next_event = from->next_event;
    from->kind->discard(from->unit, saved);
    to->kind->discard(to->unit, unpacked);
    tt_bytes_fini(&parcel);
}

/* Bytes that are cut are refused, whatever they are cut in. */
static void refuse_parts(struct life *life, struct life *other)
{
    struct tt_unit_saved *saved = NULL;
    struct tt_byte_writer parcel = {0};
    assert_ok(life->kind->save(life->unit, &saved));
    assert_ok(life->kind->pack(life->unit, saved, &parcel));
    for (size_t size = 0; size < parcel.size; size++) {
        struct tt_unit_saved *unpacked = NULL;
        char *part = malloc(size + 1); /* of the exact size, so that an overread is detected */
        memcpy(part, parcel.bytes, size);
        struct tt_byte_reader in = {.at = part, .end = part + size};
        assert_fails(other->kind->unpack(other->unit, &in, &unpacked), TUTTI_ERR_FORMAT, "no saved state");
        other->kind->discard(other->unit, unpacked);
        free(part);
    }
    life->kind->discard(life->unit, saved);
    tt_bytes_fini(&parcel);
}

/* ---- Model Exchange ---- */

/* From `at` to the end both continue alike, to the bit: parts that cannot be packed restart in both. */
static void go_on(const char *model, const char *version, const char *solver, const char *output, double at)
{
    struct life here, there;
    start(&here, model, version, integration_of(solver, 1e-6));
    start(&there, model, version, integration_of(solver, 1e-6));
    go_through(&here, at);
    move(&here, &there);
    for (int i = 1; i <= 10; i++) {
        assert_int_equal(go_through(&here, at + i * 0.1), go_through(&there, at + i * 0.1));
        assert_same_double(get_real(&there, output), get_real(&here, output));
    }
    refuse_parts(&here, &there);
    unload(&here);
    unload(&there);
}

static void every_solver(void **state)
{
    (void)state;
    for (int v = 1; v < VERSION_COUNT; v++)
        for (size_t s = 0; tt_solver_kinds[s]; s++) {
            go_on(KIT "BouncingBall", versions[v], tt_solver_kinds[s]->name, "h", 0.73); /* after an event */
            go_on(KIT "VanDerPol", versions[v], tt_solver_kinds[s]->name, "x0", 0.31);
        }
}

/* At the very start, and where the solver is ahead, with inputs that move. */
static void inputs_and_a_solver_that_is_ahead(void **state)
{
    (void)state;
    for (int v = 1; v < VERSION_COUNT; v++)
        for (int step = 0; step < 3; step++) {
            struct life here, there;
            start(&here, KIT "Tracker", versions[v], integration_of("bdf", 1e-8));
            start(&there, KIT "Tracker", versions[v], integration_of("bdf", 1e-8));
            here.unit->horizon = there.unit->horizon = 100;
            set_real(&here, "u", 1);
            set_slope(&here, "u", 1, 0.5);
            for (int i = 0; i < step; i++)
                go(&here, here.t + 0.013);
            move(&here, &there);
            assert_same_double(get_real(&there, "u"), get_real(&here, "u"));
            for (int i = 0; i < 5; i++) {
                go(&here, here.t + 0.11);
                go(&there, there.t + 0.11);
                assert_same_double(get_real(&there, "y"), get_real(&here, "y"));
                assert_same_double(get_real(&there, "u"), get_real(&here, "u"));
            }
            unload(&here);
            unload(&there);
        }
}

/* Without a state of the FMU: by its states and inputs, up to the first event. */
static void without_saved_states(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct tt_unit_saved *saved = NULL;
        struct tt_byte_writer parcel = {0};
        struct life here, there;
        load(&here, OWN "Clockwork", versions[v], integration_of("bdf", 1e-6));
        load(&there, OWN "Clockwork", versions[v], integration_of("bdf", 1e-6));
        begin(&here, 0.25, 10);
        begin(&there, 0.25, 10);
        go(&here, 0.75);
        move(&here, &there);
        assert_int_equal(go_through(&there, 1.5), 1);
        assert_int_equal(go_through(&here, 1.5), 1);
        assert_same_double(get_real(&there, "y"), get_real(&here, "y"));
        assert_ok(here.kind->save(here.unit, &saved));
        assert_fails(here.kind->pack(here.unit, saved, &parcel), TUTTI_ERR_UNSUPPORTED, "an event at t = 1");
        assert_non_null(strstr(tutti_err_message(), "canSerializeFMUstate"));
        here.kind->discard(here.unit, saved);
        tt_bytes_fini(&parcel);
        unload(&here);
        unload(&there);
    }
}

/* ---- Co-Simulation ---- */

static void begin_cs(struct life *life, const char *model, const char *version)
{
    const struct tt_experiment_setup setup = {.stop = 100, .has_stop = true};
    load_as(life, TUTTI_INTERFACE_CS, model, version, integration_of(NULL, 1e-6));
    assert_ok(life->kind->configure(life->unit, NULL, 0));
    assert_ok(life->kind->set_up(life->unit, &setup));
    assert_ok(life->kind->enter_init(life->unit));
    assert_ok(life->kind->exit_init(life->unit));
    if (life->unit->has_events)
        settle(life);
}

static void co_simulation(void **state)
{
    (void)state;
    for (int v = 1; v < VERSION_COUNT; v++) {
        struct life here, there;
        begin_cs(&here, KIT "Tracker", versions[v]);
        begin_cs(&there, KIT "Tracker", versions[v]);
        set_real(&here, "u", 1);
        for (int i = 1; i <= 7; i++)
            go(&here, i * 0.1);
        move(&here, &there);
        for (int i = 0; i < 5; i++) {
            go(&here, here.t + 0.1);
            go(&there, there.t + 0.1);
            assert_same_double(get_real(&there, "y"), get_real(&here, "y"));
        }
        refuse_parts(&here, &there);
        unload(&here);
        unload(&there);
    }
}

/* One that cannot says so, and what is missing. */
static void co_simulation_that_cannot(void **state)
{
    (void)state;
    struct life life;
    struct tt_unit_saved *saved = NULL;
    begin_cs(&life, KIT "Lacking", "2");
    assert_fails(life.kind->save(life.unit, &saved), TUTTI_ERR_UNSUPPORTED, "canGetAndSetFMU");
    life.kind->discard(life.unit, saved);
    unload(&life);
}

/* A state of the other interface, or of another version of FMI, is none. */
static void states_of_others(void **state)
{
    (void)state;
    struct life lives[4];
    begin_cs(&lives[0], KIT "Tracker", "2");
    begin_cs(&lives[1], KIT "Tracker", "3");
    start(&lives[2], KIT "Tracker", "2", integration_of("bdf", 1e-6));
    start(&lives[3], KIT "VanDerPol", "2", integration_of("bdf", 1e-6)); /* with more states */
    for (int from = 0; from < 4; from++) {
        struct tt_unit_saved *saved = NULL;
        struct tt_byte_writer parcel = {0};
        assert_ok(lives[from].kind->save(lives[from].unit, &saved));
        assert_ok(lives[from].kind->pack(lives[from].unit, saved, &parcel));
        for (int to = 0; to < 4; to++) {
            struct tt_unit_saved *unpacked = NULL;
            struct tt_byte_reader in = tt_bytes_get_begin(tt_bytes_written(&parcel));
            if (to != from)
                assert_int_not_equal(lives[to].kind->unpack(lives[to].unit, &in, &unpacked), TUTTI_OK);
            lives[to].kind->discard(lives[to].unit, unpacked);
        }
        lives[from].kind->discard(lives[from].unit, saved);
        tt_bytes_fini(&parcel);
    }
    for (int i = 0; i < 4; i++)
        unload(&lives[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_solver),
        cmocka_unit_test(inputs_and_a_solver_that_is_ahead),
        cmocka_unit_test(without_saved_states),
        cmocka_unit_test(co_simulation),
        cmocka_unit_test(co_simulation_that_cannot),
        cmocka_unit_test(states_of_others),
    };
    return cmocka_run_group_tests_name("unit: packed", tests, NULL, NULL);
}
