/* SPDX-License-Identifier: MIT */
/* Repeats the calls of a unit in a second one. */
#include "test.h"

#include "exchange.h"
#include "unit/replay.h"

enum { ENOUGH = 1 << 20 };

static void attach(struct life *life, const char *model, size_t most)
{
    start(life, model, "3", integration_of("bdf", 1e-6));
    assert_ok(tt_replay_attach(life->unit, most));
    life->kind = life->unit->kind;
    tt_replay_start(life->unit);
}

static unsigned passed;
static double passed_at;

static enum tutti_err pass(void *context, double t)
{
    (void)context;
    passed++;
    passed_at = t;
    return TUTTI_OK;
}

static enum tutti_err refuse(void *context, double t)
{
    (void)context;
    return t > 0.25 ? tt_fail(TUTTI_ERR_INTERRUPTED, "enough") : TUTTI_OK;
}

static const struct tt_replay_watch WATCH = {pass, NULL};

static enum tutti_err unpack(struct life *life, const char *bytes, size_t size, const struct tt_replay_watch *watch)
{
    struct tt_byte_reader in = {.at = bytes, .end = bytes + size};
    return tt_replay_unpack(life->unit, &in, watch);
}

/* Some steps with an input and an output; a part of them is taken back. */
static void play(struct life *life)
{
    struct tt_unit_saved *saved = NULL;
    for (int i = 0; i < 5; i++) {
        set_real(life, "u", i);
        assert_ok(life->kind->save(life->unit, &saved));
        double t = life->t;
        set_real(life, "u", 100 + i);
        set_slope(life, "u", 1, i);
        go(life, t + 0.3);
        (void)get_real(life, "y");
        assert_ok(life->kind->restore(life->unit, saved));
        life->t = t;
        go(life, t + 0.1);
        (void)get_real(life, "y");
    }
    life->kind->discard(life->unit, saved);
    life->kind->discard(life->unit, NULL);
}

static void test_same(void **state)
{
    (void)state;
    struct life here, there;
    struct tt_byte_writer parcel = {0}, again = {0};
    attach(&here, KIT "Tracker", ENOUGH);
    attach(&there, KIT "Tracker", ENOUGH);
    play(&here);
    assert_ok(tt_replay_pack(here.unit, &parcel));
    passed = 0;
    assert_ok(unpack(&there, parcel.bytes, parcel.size, &WATCH));
    assert_int_equal(passed, 5); /* those that were taken back are not made */
    assert_near(passed_at, 0.4, 1e-12);
    there.t = here.t;
    go(&here, 0.7);
    go(&there, 0.7);
    assert_same_double(get_real(&there, "y"), get_real(&here, "y"));
    tt_bytes_reset(&parcel);
    assert_ok(tt_replay_pack(here.unit, &parcel)); /* and from there again */
    assert_ok(tt_replay_pack(there.unit, &again));
    assert_int_equal(again.size, parcel.size);
    assert_memory_equal(again.bytes, parcel.bytes, parcel.size);
    tt_bytes_fini(&parcel);
    tt_bytes_fini(&again);
    unload(&here);
    unload(&there);
}

/* Cut anywhere, or with a byte that is another: an error, and no look beyond the end. */
static void test_damaged(void **state)
{
    (void)state;
    struct life here;
    struct tt_byte_writer parcel = {0};
    attach(&here, KIT "Tracker", ENOUGH);
    play(&here);
    assert_ok(tt_replay_pack(here.unit, &parcel));
    unload(&here);
    for (size_t size = 0; size < parcel.size; size += 7) {
        struct life there;
        char *part = malloc(size + 1);
        memcpy(part, parcel.bytes, size);
        attach(&there, KIT "Tracker", ENOUGH);
        assert_fails(unpack(&there, part, size, &WATCH), TUTTI_ERR_FORMAT, "no record");
        unload(&there);
        free(part);
    }
    for (size_t at = 8; at < parcel.size; at += 5) {
        struct life there;
        char *other = malloc(parcel.size);
        memcpy(other, parcel.bytes, parcel.size);
        other[at] = (char)(other[at] ^ 0x55);
        attach(&there, KIT "Tracker", ENOUGH);
        (void)!unpack(&there, other, parcel.size, &WATCH);
        unload(&there);
        free(other);
    }
    tt_bytes_fini(&parcel);
}

/* A record with one list of one variable, and a call that uses it. */
static enum tutti_err use_list(unsigned type, uint32_t reference, uint32_t value_count, unsigned call)
{
    struct life there;
    struct tt_byte_writer entries = {0}, record = {0};
    tt_bytes_put_u8(&entries, 1);
    tt_bytes_put_u8(&entries, (uint8_t)type);
    tt_bytes_put_u32(&entries, 1);
    tt_bytes_put_u32(&entries, value_count);
    tt_bytes_put_u32(&entries, reference);
    tt_bytes_put_u8(&entries, (uint8_t)call);
    tt_bytes_put_u32(&entries, 0);
    for (int i = 0; i < 4; i++)
        tt_bytes_put_u64(&entries, UINT64_MAX);
    tt_bytes_put_block(&record, entries.bytes, entries.size);
    attach(&there, KIT "Tracker", ENOUGH);
    enum tutti_err err = unpack(&there, record.bytes, record.size, &WATCH);
    unload(&there);
    tt_bytes_fini(&entries);
    tt_bytes_fini(&record);
    return err;
}

/* FMUs rely on the number of values, and C on what a truth value is: such records do not reach the FMU. */
static void test_wrong_values(void **state)
{
    (void)state;
    enum { SET = 2, GET = 3 };
    struct life life;
    attach(&life, KIT "Tracker", ENOUGH);
    uint32_t u = life.fmu->desc->vars[tt_description_find(life.fmu->desc, "u")].reference;
    unload(&life);
    for (unsigned call = SET; call <= GET; call++) {
        assert_fails(use_list(TUTTI_TYPE_FLOAT64, u, 2, call), TUTTI_ERR_FORMAT, "no record");
        assert_fails(use_list(TUTTI_TYPE_FLOAT64, u, 0, call), TUTTI_ERR_FORMAT, "no record");
        assert_fails(use_list(TUTTI_TYPE_FLOAT64, u, INT32_MAX, call), TUTTI_ERR_FORMAT, "no record");
        assert_fails(use_list(TUTTI_TYPE_FLOAT64, 4711, 1, call), TUTTI_ERR_FORMAT, "no record");
        assert_fails(use_list(TUTTI_TYPE_BOOLEAN, u, 1, call), TUTTI_ERR_FORMAT, "no record");
        assert_fails(use_list(TUTTI_TYPE_COUNT, u, 1, call), TUTTI_ERR_FORMAT, "no record");
    }
}

static void test_other_answers(void **state)
{
    (void)state;
    struct life here, there;
    struct tt_byte_writer parcel = {0};
    attach(&here, KIT "VanDerPol", ENOUGH);
    go(&here, 0.1);
    (void)get_real(&here, "x0");
    assert_ok(tt_replay_pack(here.unit, &parcel));
    start(&there, KIT "VanDerPol", "3", integration_of("euler", 1e-6)); /* with other steps */
    assert_ok(tt_replay_attach(there.unit, ENOUGH));
    assert_fails(unpack(&there, parcel.bytes, parcel.size, &WATCH), TUTTI_ERR_FMU,
                 "told the same once more, the FMU answers otherwise at t = 0.1");
    there.kind = there.unit->kind;
    tt_bytes_fini(&parcel);
    unload(&here);
    unload(&there);
}

static void test_interrupted(void **state)
{
    (void)state;
    struct life here, there;
    struct tt_byte_writer parcel = {0};
    attach(&here, KIT "Tracker", ENOUGH);
    attach(&there, KIT "Tracker", ENOUGH);
    play(&here);
    assert_ok(tt_replay_pack(here.unit, &parcel));
    assert_fails(unpack(&there, parcel.bytes, parcel.size, &(struct tt_replay_watch){refuse, NULL}),
                 TUTTI_ERR_INTERRUPTED, "enough");
    tt_bytes_fini(&parcel);
    unload(&here);
    unload(&there);
}

static void test_too_long(void **state)
{
    (void)state;
    struct life here;
    struct tt_byte_writer parcel = {0};
    attach(&here, KIT "Tracker", 200);
    play(&here);
    play(&here);
    assert_fails(tt_replay_pack(here.unit, &parcel), TUTTI_ERR_UNSUPPORTED, "the record of what the FMU was told");
    tt_bytes_fini(&parcel);
    unload(&here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),        cmocka_unit_test(test_damaged),  cmocka_unit_test(test_other_answers),
        cmocka_unit_test(test_interrupted), cmocka_unit_test(test_too_long), cmocka_unit_test(test_wrong_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
