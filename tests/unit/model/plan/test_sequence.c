/* SPDX-License-Identifier: MIT */
#include "model/plan/step_order.h"

#include "coupled.h"
#include "solve/random.h"

static struct coupled coupled;
static struct tt_structure structure;
static struct tt_step_sequence sequence;

/* Units of two inputs and an output are called a, b, c, ... as they are listed. */
static const char *const names[] = {"a", "b", "c", "d", "e", "f"};

static void release(void)
{
    tt_step_order_fini_sequence(&sequence);
    tt_structure_fini(&structure);
    coupled_fini(&coupled);
}

static int teardown(void **state)
{
    (void)state;
    release();
    return 0;
}

/* feeds: one letter per unit, '1' where its output follows its inputs, and '0' where it does not. */
static void make_units(const char *feeds)
{
    for (uint32_t i = 0; feeds[i]; i++) {
        uint32_t unit = coupled_add(&coupled, 2, feeds[i] == '1' ? "11" : "00");
        coupled.system.components[unit].name = names[i];
    }
}

/* "ab bc": a's output to b's next input, b's to c's. */
static void wire(const char *pairs)
{
    uint32_t used[6] = {0};
    for (const char *pair = pairs; *pair; pair += strspn(pair, " ")) {
        uint32_t to = (uint32_t)(pair[1] - 'a');
        coupled_join(&coupled, (uint32_t)(pair[0] - 'a'), 2, to, used[to]++);
        pair += 2;
    }
}

static enum tutti_err put_in_order(const char *order)
{
    tt_step_order_fini_sequence(&sequence);
    tt_structure_fini(&structure);
    assert_ok(tt_structure_init(&structure, &coupled.system, TUTTI_PHASE_RUN));
    return tt_step_order_init_sequence(&sequence, &structure, order);
}

/* "ab|c": a and b in one wave, then c. */
static void expect(const char *order, const char *expected)
{
    struct tt_text text = {0};
    assert_ok(put_in_order(order));
    assert_int_equal(sequence.count, coupled.system.component_count);
    assert_int_equal(sequence.wave_first[0], 0);
    assert_int_equal(sequence.wave_first[sequence.wave_count], sequence.count);
    for (uint32_t wave = 0; wave < sequence.wave_count; wave++) {
        tt_text_append(&text, wave > 0 ? "|" : "");
        for (uint32_t i = sequence.wave_first[wave]; i < sequence.wave_first[wave + 1]; i++)
            tt_text_append(&text, names[sequence.components[i]]);
    }
    assert_string_equal(text.text ? text.text : "", expected);
    tt_text_fini(&text);
}

/* feeds, connections -> order */
static void expect_of(const char *feeds, const char *pairs, const char *expected)
{
    make_units(feeds);
    wire(pairs);
    expect(NULL, expected);
    release();
}

static void those_that_feed_step_first(void **state)
{
    (void)state;
    expect_of("011", "ab bc", "a|b|c");
    expect_of("110", "ba cb", "c|b|a");
    expect_of("101", "bc ca", "b|c|a");
    expect_of("000", "ba cb", "c|b|a"); /* also where nothing follows at once */
}

static void feed_through_goes_before_other_wishes(void **state)
{
    (void)state;
    expect_of("01", "ab ba", "a|b");
    expect_of("10", "ab ba", "b|a");
    expect_of("100", "ab bc ca", "b|c|a");
    expect_of("010", "ab bc ca", "a|b|c");
    expect_of("110", "ab bc ca", "c|a|b");
}

/* Where nothing decides, the list does. */
static void a_cycle_is_cut_before_the_first_listed(void **state)
{
    (void)state;
    expect_of("00", "ab ba", "a|b");
    expect_of("000", "ab bc ca", "a|b|c");
    expect_of("000", "ba cb ac", "a|c|b");
    expect_of("0000", "ab ba cd dc", "ac|bd");
    expect_of("000", "ab ba cb", "ac|b");
    expect_of("000", "ba bc cb", "b|ac"); /* only there: a waits for b, listed first or not */
    expect_of("0000", "cd dc ba cb", "c|bd|a");
}

static void algebraic_loops_keep_the_order_of_the_list(void **state)
{
    (void)state;
    expect_of("11", "ab ba", "a|b");
    expect_of("111", "cb ba ac", "ab|c");
    expect_of("0111", "ab bc cb cd", "a|b|c|d");
    expect_of("1101", "ab ba ca bd", "c|a|b|d");
}

static void units_that_do_not_wait_share_a_wave(void **state)
{
    (void)state;
    expect_of("0", "", "a");
    expect_of("000", "", "abc");
    expect_of("01111", "ab ac ad be", "a|bcd|e");
    expect_of("01010", "ab cd", "ace|bd");
    expect_of("1", "aa", "a"); /* its own input: no reason to wait */
}

static void nothing_at_all(void **state)
{
    (void)state;
    expect(NULL, "");
    assert_int_equal(sequence.wave_count, 0);
}

static void an_order_that_is_given(void **state)
{
    (void)state;
    make_units("000");
    wire("ab bc ca");
    expect("b,c,a", "b|c|a");
    expect("c", "c|a|b");    /* the others after it, as if nothing was said */
    expect("c,b,a", "bc|a"); /* b steps after its reader c, which is to see how b began */
    release();
    make_units("011");
    wire("ab bc");
    expect("c,b,a", "abc"); /* against every rule: each sees the beginning of the step */
    expect("c", "ac|b");
}

/* b steps before c, which feeds it: so c is not to be done before b begins. */
static void readers_that_step_first_see_the_beginning(void **state)
{
    (void)state;
    make_units("000");
    wire("ab cb");
    expect(NULL, "ac|b");
    expect("a,b,c", "a|bc");
}

static void orders_that_are_wrong(void **state)
{
    (void)state;
    make_units("00");
    wire("ab");
    assert_fails(put_in_order("a,x"), TUTTI_ERR_ARGUMENT, "order: there is no unit 'x'");
    assert_fails(put_in_order("ab"), TUTTI_ERR_ARGUMENT, "there is no unit 'ab'");
    assert_fails(put_in_order(""), TUTTI_ERR_ARGUMENT, "there is no unit ''");
    assert_fails(put_in_order("a,"), TUTTI_ERR_ARGUMENT, "there is no unit ''");
    assert_fails(put_in_order("b,a,b"), TUTTI_ERR_ARGUMENT, "order: 'b' is there twice");
}

/* Only what holds in the running phase counts. */
static void connections_of_the_start_do_not_count(void **state)
{
    (void)state;
    make_units("00");
    coupled_join(&coupled, 1, 2, 0, 0)->at_start_only = true;
    expect(NULL, "ab");
}

static uint32_t wave_of(uint32_t unit)
{
    for (uint32_t wave = 0; wave < sequence.wave_count; wave++)
        for (uint32_t i = sequence.wave_first[wave]; i < sequence.wave_first[wave + 1]; i++)
            if (sequence.components[i] == unit)
                return wave;
    fail_msg("unit %u is in no wave", unit);
    return 0;
}

enum { MOST = 12 };

static void close_over(bool (*reach)[MOST], uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t j = 0; j < count; j++)
                reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
}

/* Every unit waits for what feeds it, but for cycles; units whose output follows their input wait also there, but for
 * loops. */
static void random_systems(void **state)
{
    (void)state;
    for (int trial = 0; trial < 2000; trial++) {
        uint32_t count = 2 + (uint32_t)random_below(MOST - 1), source[MOST];
        bool direct[MOST][MOST] = {{false}}, all[MOST][MOST] = {{false}}, feeds[MOST];
        bool read[MOST] = {false}, follows[MOST];
        for (uint32_t u = 0; u < count; u++) {
            feeds[u] = random_below(2) == 0;
            coupled_add(&coupled, 1, feeds[u] ? "1" : "0");
        }
        for (uint32_t u = 0; u < count; u++) {
            source[u] = (uint32_t)random_below((int32_t)count);
            if (random_below(4) == 0)
                source[u] = u; /* of no other unit */
            else
                coupled_join(&coupled, source[u], 1, u, 0);
        }
        for (uint32_t u = 0; u < count; u++)
            read[source[u]] = read[source[u]] || source[u] != u;
        for (uint32_t u = 0; u < count; u++) {
            follows[u] = feeds[u] && read[u] && source[u] != u;
            direct[u][source[u]] = follows[u];
            all[u][source[u]] = source[u] != u;
        }
        close_over(direct, count);
        close_over(all, count);
        assert_ok(put_in_order(NULL));
        for (uint32_t u = 0; u < count; u++) {
            uint32_t s = source[u];
            if (s != u && (!all[s][u] || (follows[u] && !direct[s][u])))
                assert_true(wave_of(s) < wave_of(u));
        }
        release();
    }
}

/* Listed from its end to its beginning: what looks through all units for each one of them does not come to an end. */
static void a_chain_of_many(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    struct tt_system *system = &coupled.system;
    static struct tt_fmu fmu;
    fmu.desc = feed_through(1, "1");
    system->components = calloc(MANY, sizeof *system->components);
    system->connections = calloc(MANY, sizeof *system->connections);
    assert_non_null(system->components);
    assert_non_null(system->connections);
    system->component_count = MANY;
    system->connection_count = MANY - 1;
    for (uint32_t i = 0; i < MANY; i++)
        system->components[i] = (struct tt_component){.name = "model", .fmu = &fmu};
    for (uint32_t i = 0; i + 1 < MANY; i++)
        system->connections[i] =
            (struct tt_connection){.from = {.component = i + 1, .variable = 1}, .to = {.component = i, .variable = 0}};
    enum tutti_err err = put_in_order(NULL);
    bool in_order = !err && sequence.wave_count == MANY;
    for (uint32_t i = 0; i < MANY && in_order; i++)
        in_order = sequence.components[i] == MANY - 1 - i;
    system->component_count = 0; /* they share one description */
    tt_description_free(fmu.desc);
    assert_ok(err);
    assert_true(in_order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(those_that_feed_step_first, teardown),
        cmocka_unit_test_teardown(feed_through_goes_before_other_wishes, teardown),
        cmocka_unit_test_teardown(a_cycle_is_cut_before_the_first_listed, teardown),
        cmocka_unit_test_teardown(algebraic_loops_keep_the_order_of_the_list, teardown),
        cmocka_unit_test_teardown(units_that_do_not_wait_share_a_wave, teardown),
        cmocka_unit_test_teardown(nothing_at_all, teardown),
        cmocka_unit_test_teardown(an_order_that_is_given, teardown),
        cmocka_unit_test_teardown(readers_that_step_first_see_the_beginning, teardown),
        cmocka_unit_test_teardown(orders_that_are_wrong, teardown),
        cmocka_unit_test_teardown(connections_of_the_start_do_not_count, teardown),
        cmocka_unit_test_teardown(random_systems, teardown),
        cmocka_unit_test_teardown(a_chain_of_many, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
