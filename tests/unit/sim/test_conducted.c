/* SPDX-License-Identifier: MIT */
/* Ranks by hand, each a thread, with a conductor that only reads what they report: what they come to when one fails or
 * ends early, and what they compute at the start, whichever rank has which unit. */
#include "ranks.h"

#include <stdlib.h>

#define LENGTH(list) (sizeof(list) / sizeof *(list))
#define OWN(model) TEST_FMUS "/" model ".fmu"
#define KIT(model) TUTTI_FMUS "/" model ".fmu"

/* ---- systems ---- */

static struct tutti_run_options options_of(const char *const *files, size_t file_count, const char *const *connect,
                                           size_t connect_count)
{
    return (struct tutti_run_options){.files = files,
                                      .file_count = file_count,
                                      .connects = connect,
                                      .connect_count = connect_count,
                                      .output = "-", /* recorded; it is not written */
                                      .coupling = "jacobi",
                                      .has_step = true,
                                      .step = 0.1,
                                      .has_stop = true,
                                      .stop = 1};
}

static const int32_t together[] = {0, 0, 0, 0}, apart[] = {0, 1, 2, 3}, crossed[] = {1, 0, 1, 0};

static const char *const pair[] = {"a=" KIT("Faulty_fmi3"), "b=" KIT("Faulty_fmi3")};
static const char *const both_ways[] = {"a.y=b.u", "b.y=a.u"};
static const char *const one_way[] = {"b.y=a.u"};

static int let_all_be_well(void **state)
{
    (void)state;
    unsetenv("KIT_FAULT");
    return 0;
}

static void ranks_tell_their_part_of_a_run(void **state)
{
    (void)state;
    struct outcome one, two;
    struct tutti_run_options options = options_of(pair, 2, both_ways, 2);
    static const char *const set[] = {"a.x=1", "b.x=-3"};
    options.sets = set;
    options.set_count = 2;
    run_ranks(&one, &options, 1, together);
    assert_came_through(&one.told[0]);
    assert_int_equal(one.told[0].rows, 11);
    assert_int_equal(one.told[0].columns, 2);
    for (int k = 0; k < 2; k++) {
        const int32_t *place = k ? crossed : apart;
        run_ranks(&two, &options, 2, place);
        assert_same_rows(&one, &two);
        for (int r = 0; r < 2; r++) {
            const struct told *told = &two.told[r];
            assert_came_through(told);
            assert_string_equal(told->message, "");
            assert_same_double(told->t, 1);
            assert_int_equal(told->columns, 1);
            assert_string_equal(told->names[0], place[0] == r ? "a.y" : "b.y");
            assert_true(told->has_tally);
            assert_int_equal(told->tally.steps, 10);
            assert_int_equal(told->tally.ranks, 2);
            /* units of others are holes */
            for (size_t u = 0; u < told->tally.unit_count; u++)
                assert_int_equal(told->tally.units[u].name != NULL, place[u] == r);
            assert_int_equal(told->tally.units[place[0] == r ? 0 : 1].do_steps, 10);
        }
        forget(&two);
    }
    forget(&one);
}

/* A rank without units has no reports, except for the first one, which reports the time; its end is equal. */
static void a_rank_may_have_no_unit(void **state)
{
    (void)state;
    static const int32_t places[][2] = {{1, 2}, {0, 2}, {1, 1}};
    struct tutti_run_options options = options_of(pair, 2, both_ways, 2);
    struct outcome one, three;
    run_ranks(&one, &options, 1, together);
    for (size_t p = 0; p < LENGTH(places); p++) {
        run_ranks(&three, &options, 3, places[p]);
        assert_same_rows(&one, &three);
        for (int r = 0; r < 3; r++) {
            bool has_units = places[p][0] == r || places[p][1] == r;
            assert_came_through(&three.told[r]);
            assert_int_equal(three.told[r].rows, has_units || r == 0 ? 11 : 0);
            assert_same_double(three.told[r].t, 1);
        }
        forget(&three);
    }
    forget(&one);
}

/* ---- a rank that fails ---- */

/* At its start, in its initialisation: no rank comes to a first row. */
static void a_rank_that_fails_at_the_start_stops_all(void **state)
{
    (void)state;
    static const char *const faults[] = {"null Instantiate @b", "error EnterInitializationMode @b",
                                         "error ExitInitializationMode @b"};
    struct tutti_run_options options = options_of(pair, 2, both_ways, 2);
    for (size_t f = 0; f < LENGTH(faults); f++)
        for (int k = 0; k < 2; k++) {
            const int32_t *place = k ? crossed : apart;
            struct outcome outcome;
            setenv("KIT_FAULT", faults[f], 1);
            run_ranks(&outcome, &options, 2, place);
            const struct told *failed = &outcome.told[place[1]], *other = &outcome.told[place[0]];
            assert_int_equal(failed->returned, TUTTI_ERR_FMU);
            assert_non_null(strstr(failed->message, "b ("));
            assert_int_equal(other->returned, TUTTI_ERR_STOPPED);
            assert_int_equal(failed->rows, 0);
            assert_int_equal(other->rows, 0);
            assert_true(failed->has_tally && other->has_tally);
            forget(&outcome);
        }
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
static bool memory_is_out;

void *__wrap_calloc(size_t n, size_t size)
{
    return memory_is_out ? NULL : __real_calloc(n, size);
}

/* Failing before any report: the ranks that wait for it are notified nevertheless. */
static void a_rank_without_memory_stops_all(void **state)
{
    (void)state;
    const struct tt_job job = {0};
    struct tt_shared_fabric *area;
    struct tt_fabric *fabrics[2];
    double value = 1;
    assert_ok(tt_shared_fabric_new(&area, 2, "threads"));
    for (int r = 0; r < 2; r++)
        assert_ok(tt_shared_fabric_join(area, r, &fabrics[r]));
    memory_is_out = true;
    enum tutti_err err = tt_execution_run_rank(&job, fabrics[0]);
    memory_is_out = false;
    assert_int_equal(err, TUTTI_ERR_MEMORY);
    assert_int_equal(fabrics[1]->kind->reduce(fabrics[1], TUTTI_REDUCE_MAX, &value, 1), TUTTI_ERR_STOPPED);
    for (int r = 0; r < 2; r++)
        fabrics[r]->kind->close(fabrics[r]);
    tt_shared_fabric_free(area);
}

/* In a step: the others reach its step, and no further if they wait for it, and all rows up to there are reported. */
static void a_rank_that_fails_in_a_step_keeps_its_rows(void **state)
{
    (void)state;
    struct tutti_run_options options = options_of(pair, 2, both_ways, 2);
    for (int k = 0; k < 2; k++) {
        const int32_t *place = k ? crossed : apart;
        struct outcome one, two;
        unsetenv("KIT_FAULT");
        run_ranks(&one, &options, 1, together);
        setenv("KIT_FAULT", "error DoStep 0.55 @b", 1);
        run_ranks(&two, &options, 2, place);
        const struct told *failed = &two.told[place[1]], *other = &two.told[place[0]];
        assert_int_equal(failed->returned, TUTTI_ERR_FMU);
        assert_non_null(strstr(failed->message, "b ("));
        assert_came_through(other); /* it ended where it should */
        assert_int_equal(failed->rows, 6);
        assert_int_equal(other->rows, 6);
        assert_near(failed->t, 0.6, 1e-12); /* where the step was to lead */
        assert_near(other->t, 0.5, 1e-12);
        assert_int_equal(other->tally.steps, 5);
        for (uint32_t row = 0; row < 6; row++)
            assert_same_double(other->values[row][0], one.told[0].values[row][0]);
        forget(&one);
        forget(&two);
    }
}

/* The one that fails reads from the other, not the other from it: that one comes as far in any case. */
static void those_who_are_behind_come_up(void **state)
{
    (void)state;
    struct tutti_run_options options = options_of(pair, 2, one_way, 1);
    for (int k = 0; k < 2; k++) {
        const int32_t *place = k ? crossed : apart;
        struct outcome outcome;
        setenv("KIT_FAULT", "error DoStep 0.55 @a", 1);
        run_ranks(&outcome, &options, 2, place);
        const struct told *failed = &outcome.told[place[0]], *other = &outcome.told[place[1]];
        assert_int_equal(failed->returned, TUTTI_ERR_FMU);
        assert_int_equal(failed->rows, 6);
        assert_came_through(other);
        assert_in_range(other->rows, 6, 11); /* it may have been ahead: it is not stopped in the middle */
        assert_true(other->t >= 0.5 - 1e-12);
        forget(&outcome);
    }
}

/* ---- units that come back early, or end the run ---- */

/* All go back to where the unit stopped: the same rows as on one rank. */
static void an_early_return_is_one_for_all(void **state)
{
    (void)state;
    static const char *const files[] = {"a=" KIT("Faulty_fmi3"), "b=" KIT("Faulty_fmi3"), "c=" KIT("Tracker_fmi3")};
    static const char *const ring[] = {"a.y=b.u", "b.y=c.u", "c.y=a.u"};
    static const char *const set[] = {"a.x=1", "b.x=-3", "c.x=2"};
    struct tutti_run_options options = options_of(files, 3, ring, 3);
    struct outcome one, other;
    options.sets = set;
    options.set_count = LENGTH(set);
    options.events = "early";
    setenv("KIT_FAULT", "early DoStep 0.55 @b; early DoStep 0.73 @a", 1);
    for (int k = 0; k < 2; k++) {
        options.coupling = k ? "seidel" : "jacobi";
        run_ranks(&one, &options, 1, together);
        assert_came_through(&one.told[0]);
        assert_true(one.told[0].tally.steps > 10); /* some ended early */
        run_ranks(&other, &options, 2, crossed);
        assert_same_rows(&one, &other);
        forget(&other);
        run_ranks(&other, &options, 3, apart);
        assert_same_rows(&one, &other);
        for (int r = 0; r < 3; r++) {
            assert_came_through(&other.told[r]);
            assert_int_equal(other.told[r].tally.steps, one.told[0].tally.steps);
        }
        forget(&other);
        forget(&one);
    }
}

/* An FMU that ends the simulation in an event: ranks end with it, without an error, and one of them says who it was. */
static void an_end_is_one_for_all(void **state)
{
    (void)state;
    static const char *const files[] = {"a=" OWN("Ramp_fmi3"), "b=" OWN("Gate_fmi3"), "c=" KIT("Tracker_fmi3")};
    static const char *const connect[] = {"a.y=b.u", "a.y=c.u"};
    static const char *const set[] = {"b.ends=true"};
    static const char *const record[] = {"a.y", "b.y", "c.y"};
    struct tutti_run_options options = options_of(files, 3, connect, 2);
    struct outcome one, other;
    options.sets = set;
    options.set_count = LENGTH(set);
    options.records = record;
    options.record_count = LENGTH(record);
    run_ranks(&one, &options, 1, together);
    assert_came_through(&one.told[0]);
    assert_true(one.told[0].tally.terminated_by_fmu);
    assert_true(one.told[0].t > 0 && one.told[0].t < 1);
    assert_non_null(strstr(one.told[0].last_log, "ended the simulation"));
    for (int ranks = 2; ranks <= 3; ranks++) {
        run_ranks(&other, &options, ranks, ranks == 2 ? crossed : apart);
        assert_same_rows(&one, &other);
        int sayers = 0;
        for (int r = 0; r < ranks; r++) {
            assert_came_through(&other.told[r]);
            assert_same_double(other.told[r].t, one.told[0].t);
            sayers += strstr(other.told[r].last_log, "ended the simulation") != NULL;
        }
        assert_int_equal(sayers, 1);
        forget(&other);
    }
    forget(&one);
}

/* ---- loops at the start ---- */

/* Two loops: a and b, which is quickly solved, c and d, which takes longer. */
static const char *const relations[] = {"a=" OWN("Relation_fmi3"), "b=" OWN("Relation_fmi3"), "c=" OWN("Relation_fmi3"),
                                        "d=" OWN("PlainRelation_fmi2")};
static const char *const loops[] = {"a.y=b.u", "b.y=a.u", "c.y=d.u", "d.y=c.u"};
static const char *const parameters[] = {"a.offset=1",     "a.factor=0.5", "b.offset=2",
                                         "b.factor=0.25",  "c.offset=3",   "c.cubic=0.02",
                                         "d.offset=-0.25", "d.factor=0.3", "d.square=0.1"};
static const char *const outputs[] = {"*.y"};

static struct tutti_run_options loop_options(size_t first, size_t count, size_t set_first, size_t set_count)
{
    struct tutti_run_options options = options_of(relations + first, count, loops + first, count);
    options.sets = parameters + set_first;
    options.set_count = set_count;
    options.records = outputs;
    options.record_count = 1;
    options.stop = 0.1;
    return options;
}

static unsigned long iterations_alone(const struct tutti_run_options *options)
{
    struct outcome outcome;
    run_ranks(&outcome, options, 1, together);
    assert_came_through(&outcome.told[0]);
    unsigned long iterations = outcome.told[0].tally.init_iterations;
    forget(&outcome);
    return iterations;
}

/* On two ranks: each solves its own, and counts its own iterations. */
static void loops_on_two_ranks_are_solved_independently(void **state)
{
    (void)state;
    static const int32_t place[] = {0, 0, 1, 1}, other_way[] = {1, 1, 0, 0};
    struct tutti_run_options first = loop_options(0, 2, 0, 4), second = loop_options(2, 2, 4, 5),
                             both = loop_options(0, 4, 0, 9);
    unsigned long few = iterations_alone(&first), many = iterations_alone(&second);
    struct outcome one, two;
    assert_true(few > 0 && many > few);
    run_ranks(&one, &both, 1, together);
    assert_came_through(&one.told[0]);
    assert_int_equal(one.told[0].tally.init_iterations, few + many);
    assert_int_equal(one.told[0].tally.init_loops, 2);
    for (int k = 0; k < 2; k++) {
        run_ranks(&two, &both, 2, k ? other_way : place);
        assert_same_rows(&one, &two);
        assert_int_equal(two.told[k].tally.init_iterations, few);
        assert_int_equal(two.told[1 - k].tally.init_iterations, many);
        for (int r = 0; r < 2; r++)
            assert_int_equal(two.told[r].tally.init_loops, 2); /* all know of all */
        forget(&two);
    }
    forget(&one);
}

/* Over two ranks, and over all: each computes the same iteration, which is counted once. */
static void a_loop_over_ranks_has_the_same_bits(void **state)
{
    (void)state;
    static const struct {
        int ranks;
        int32_t place[4];
    } cases[] = {{2, {0, 1, 0, 1}}, {2, {1, 0, 1, 0}}, {2, {0, 0, 0, 1}}, {3, {0, 1, 2, 2}}, {4, {3, 1, 0, 2}}};
    struct tutti_run_options options = loop_options(0, 4, 0, 9);
    struct outcome one, several;
    run_ranks(&one, &options, 1, together);
    assert_came_through(&one.told[0]);
    /* y = 1 + 0.5 (2 + 0.25 y) */
    uint32_t column = 0;
    const struct told *told = find_column(&one, "a.y", &column);
    assert_near(told->values[0][column], 2 / (1 - 0.125), 1e-9);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        unsigned long iterations = 0;
        run_ranks(&several, &options, cases[i].ranks, cases[i].place);
        assert_same_rows(&one, &several);
        for (int r = 0; r < cases[i].ranks; r++) {
            assert_came_through(&several.told[r]);
            iterations += several.told[r].tally.init_iterations;
        }
        assert_int_equal(iterations, one.told[0].tally.init_iterations);
        forget(&several);
    }
    forget(&one);
}

/* ---- jobs ---- */

static void a_job_that_cannot_be_opened_leaves_nothing(void **state)
{
    (void)state;
    static const char *const missing[] = {"a=" KIT("Nowhere")}, *const wrong[] = {"a.y=b.nothing"};
    struct tutti_run_options options = options_of(missing, 1, NULL, 0);
    struct tt_job job;
    assert_int_not_equal(tt_job_open(&job, &options, NULL), TUTTI_OK);
    assert_non_null(strstr(tutti_err_message(), "Nowhere"));
    options = options_of(pair, 2, wrong, 1);
    assert_int_not_equal(tt_job_open(&job, &options, NULL), TUTTI_OK);
    assert_non_null(strstr(tutti_err_message(), "nothing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(ranks_tell_their_part_of_a_run, let_all_be_well),
        cmocka_unit_test_setup(a_rank_may_have_no_unit, let_all_be_well),
        cmocka_unit_test_setup(a_rank_that_fails_at_the_start_stops_all, let_all_be_well),
        cmocka_unit_test(a_rank_without_memory_stops_all),
        cmocka_unit_test_setup(a_rank_that_fails_in_a_step_keeps_its_rows, let_all_be_well),
        cmocka_unit_test_setup(those_who_are_behind_come_up, let_all_be_well),
        cmocka_unit_test_setup(an_early_return_is_one_for_all, let_all_be_well),
        cmocka_unit_test_setup(an_end_is_one_for_all, let_all_be_well),
        cmocka_unit_test_setup(loops_on_two_ranks_are_solved_independently, let_all_be_well),
        cmocka_unit_test_setup(a_loop_over_ranks_has_the_same_bits, let_all_be_well),
        cmocka_unit_test_setup(a_job_that_cannot_be_opened_leaves_nothing, let_all_be_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
