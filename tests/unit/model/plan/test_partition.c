/* SPDX-License-Identifier: MIT */
#include "model/plan/partitioner.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "coupled.h"
#include "solve/random.h"

/* Units of one description, whose outputs are its variables from 1 on. */
enum { MOST_UNITS = 20000, MOST_JOINS = 80000, OUTPUTS = 8, FMUS = 4, MOST_RANKS = 128 };
static struct tt_component components[MOST_UNITS];
static struct tt_connection joins[MOST_JOINS];
static struct tt_fmu fmus[FMUS] = {{.path = "zero.fmu"}, {.path = "one.fmu"}, {.path = "two.fmu"}, {.path = "3.fmu"}};
static char names[MOST_UNITS][12];
static struct tt_system system_ = {.components = components, .connections = joins};
static double costs[MOST_UNITS];
static int32_t fixed[MOST_UNITS], place[MOST_UNITS];
static bool alone[MOST_UNITS];
static struct tt_partitioner_task task = {.system = &system_, .costs = costs, .fixed = fixed, .alone = alone};

static int setup(void **state)
{
    (void)state;
    struct tt_description *desc = feed_through(1, "1 1 1 1 1 1 1 1");
    for (int i = 0; i < FMUS; i++)
        fmus[i].desc = desc;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tt_description_free(fmus[0].desc);
    return 0;
}

static void make(uint32_t count, int ranks)
{
    system_.component_count = count;
    system_.connection_count = 0;
    task.ranks = ranks;
    for (uint32_t c = 0; c < count; c++) {
        snprintf(names[c], sizeof names[c], "u%u", c);
        components[c] = (struct tt_component){.name = names[c], .fmu = &fmus[0]};
        costs[c] = 1;
        fixed[c] = -1;
        alone[c] = false;
        place[c] = -1;
    }
}

/* So many outputs of a are read by b. */
static void join(uint32_t a, uint32_t b, uint32_t values)
{
    for (uint32_t i = 0; i < values; i++) {
        assert_true(system_.connection_count < MOST_JOINS);
        joins[system_.connection_count++] =
            (struct tt_connection){.from = {.component = a, .variable = 1 + i}, .to = {.component = b, .variable = 0}};
    }
}

static void make_chain(uint32_t count, int ranks)
{
    make(count, ranks);
    for (uint32_t c = 0; c + 1 < count; c++)
        join(c, c + 1, 1);
}

static void make_grid(uint32_t side, int ranks)
{
    make(side * side, ranks);
    for (uint32_t y = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++) {
            if (x + 1 < side)
                join(y * side + x, y * side + x + 1, 1);
            if (y + 1 < side)
                join(y * side + x, y * side + x + side, 1);
        }
}

/* ---- what a placement is worth ---- */

static uint64_t crossing(void)
{
    struct tt_traffic *list;
    size_t count;
    uint64_t values = 0;
    assert_ok(tt_partitioner_list_traffic(&list, &count, &system_, place));
    for (size_t i = 0; i < count; i++)
        values += list[i].values;
    free(list);
    return values;
}

/* The greatest load over the mean. */
static double balance(void)
{
    double loads[MOST_RANKS] = {0}, most = 0, total = 0;
    for (uint32_t c = 0; c < system_.component_count; c++) {
        loads[place[c]] += costs[c];
        total += costs[c];
    }
    for (int r = 0; r < task.ranks; r++)
        most = fmax(most, loads[r]);
    return most / total * task.ranks;
}

/* What always holds. */
static void check_place(void)
{
    uint32_t counts[MOST_RANKS] = {0}, fixed_ranks = 0, used = 0, is_free = 0;
    bool has_fixed[MOST_RANKS] = {false};
    for (uint32_t c = 0; c < system_.component_count; c++) {
        assert_true(place[c] >= 0 && place[c] < task.ranks);
        used += counts[place[c]]++ == 0;
        if (fixed[c] >= 0)
            assert_int_equal(place[c], fixed[c]);
        is_free += fixed[c] < 0;
        fixed_ranks += fixed[c] >= 0 && !has_fixed[fixed[c]];
        if (fixed[c] >= 0)
            has_fixed[fixed[c]] = true;
        for (uint32_t i = 0; i < c && alone[c]; i++)
            assert_false(alone[i] && components[i].fmu == components[c].fmu && place[i] == place[c]);
    }
    uint32_t could = fixed_ranks + is_free;
    assert_int_equal(used, could < (uint32_t)task.ranks ? could : (uint32_t)task.ranks);
}

static void divide(void)
{
    assert_ok(tt_partitioner_place(&task, place));
    check_place();
}

/* ---- systems whose best placement is known ---- */

static void chains_are_cut_where_they_are_thin(void **state)
{
    (void)state;
    static const struct {
        uint32_t count;
        int ranks;
    } cases[] = {{4, 2}, {10, 2}, {10, 3}, {12, 3}, {100, 2}, {100, 7}, {1000, 2}, {1000, 4}, {1000, 8}, {1000, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_chain(cases[i].count, cases[i].ranks);
        divide();
        double ideal = ceil((double)cases[i].count / cases[i].ranks) * cases[i].ranks / cases[i].count;
        print_message("chain of %u on %d: %llu cross, balance %.4f\n", cases[i].count, cases[i].ranks,
                      (unsigned long long)crossing(), balance());
        assert_true(balance() <= fmax(ideal, 1.03) + 1e-3);
        assert_int_equal(crossing(), cases[i].ranks - 1);
    }
}

static void values_count_not_connections(void **state)
{
    (void)state;
    make(4, 2);
    join(0, 1, 1);
    join(1, 2, 8);
    join(2, 3, 1);
    join(3, 0, 8);
    divide();
    assert_int_equal(place[1], place[2]);
    assert_int_equal(place[0], place[3]);
    assert_int_equal(place[0], 0); /* numbered by the first unit */
    assert_int_equal(crossing(), 2);
    make(4, 2); /* an output that is read twice by the same unit is sent once */
    for (int i = 0; i < 5; i++)
        join(0, 1, 1);
    join(1, 2, 2);
    join(2, 3, 1);
    join(3, 0, 2);
    divide();
    assert_int_equal(place[1], place[2]);
}

static void stars_and_grids(void **state)
{
    (void)state;
    make(41, 4);
    for (uint32_t c = 1; c < 41; c++)
        join(0, c, 1);
    divide();
    assert_int_equal(crossing(), 3); /* what the middle sends is sent once to each other rank */
    assert_true(balance() <= 11.0 * 4 / 41 + 1e-3);
    make_grid(20, 4);
    divide();
    print_message("grid of 20 x 20 on 4: %llu cross, balance %.4f\n", (unsigned long long)crossing(), balance());
    assert_true(crossing() <= 60); /* 40 edges cross at best; of some units two ranks read */
    assert_true(balance() <= 1.031);
}

static void the_costly_ones_are_spread(void **state)
{
    (void)state;
    make_chain(40, 4);
    for (uint32_t c = 0; c < 4; c++)
        costs[c] = 100;
    divide();
    for (uint32_t c = 1; c < 4; c++)
        for (uint32_t i = 0; i < c; i++)
            assert_int_not_equal(place[c], place[i]);
    assert_true(balance() <= 1.031);
    make_chain(30, 3); /* one alone is more than all others */
    costs[7] = 1000;
    divide();
    for (uint32_t c = 0; c < 30; c++)
        assert_int_equal(place[c] == place[7], c == 7);
}

static void sizes_at_the_edge(void **state)
{
    (void)state;
    make(0, 3);
    assert_ok(tt_partitioner_place(&task, place));
    make_chain(1, 1);
    divide();
    make_chain(3, 8);
    divide();
    for (int32_t c = 0; c < 3; c++)
        assert_int_equal(place[c], c);
    make_chain(5, 5);
    fixed[0] = 3;
    divide();
    assert_memory_equal(place, ((int32_t[]){3, 0, 1, 2, 4}), 5 * sizeof *place);
    fixed[1] = 3;
    divide();
    make_chain(9, 1);
    divide();
    make(30, 29); /* without any connection, and as many as there can be */
    divide();
    make_chain(30, 29);
    divide();
    make(100, 7);
    divide();
    assert_true(balance() <= 15.0 * 7 / 100 + 1e-9);
    make(100, 7); /* with two islands */
    join(0, 1, 8);
    join(98, 99, 1);
    divide();
    assert_int_equal(place[0], place[1]);
    assert_int_equal(place[98], place[99]);
    make_chain(50, 8);
    memset(costs, 0, sizeof costs);
    assert_ok(tt_partitioner_place(&task, place));
    check_place();
    struct tt_partitioner_task bare = {.system = &system_, .ranks = 8};
    assert_ok(tt_partitioner_place(&bare, place));
    check_place();
    joins[0].at_start_only = true; /* these two need not be together any more */
    joins[1].from.component = TUTTI_NONE;
    divide();
}

/* ---- constraints ---- */

static void those_that_are_fixed_stay(void **state)
{
    (void)state;
    make_chain(100, 4);
    fixed[0] = 3;
    fixed[99] = 0;
    divide();
    print_message("chain of 100 on 4, ends fixed: %llu cross, balance %.3f\n", (unsigned long long)crossing(),
                  balance());
    assert_true(crossing() <= 4);
    assert_true(balance() <= 1.041);
    for (uint32_t c = 0; c < 100; c++)
        fixed[c] = (int32_t)(c % 4);
    divide();
    for (uint32_t c = 0; c < 100; c++)
        fixed[c] = 2;
    divide();
    fixed[50] = -1;
    fixed[51] = -1;
    divide(); /* two ranks get one each, the last one stays without */
    make_chain(100, 2);
    for (uint32_t c = 0; c < 60; c++)
        fixed[c] = 1;
    divide();
    for (uint32_t c = 60; c < 100; c++)
        assert_int_equal(place[c], 0);
}

static void some_share_no_process(void **state)
{
    (void)state;
    make_chain(30, 5);
    for (uint32_t c = 0; c < 30; c++) {
        components[c].fmu = &fmus[c % 3];
        alone[c] = c < 15;
    }
    assert_int_equal(tt_partitioner_least_ranks(&system_, alone), 5);
    assert_int_equal(tt_partitioner_least_ranks(&system_, NULL), 1);
    divide();
    fixed[0] = 4;
    fixed[3] = 1;
    divide();
    fixed[3] = 4;
    assert_fails(tt_partitioner_place(&task, place), TUTTI_ERR_ARGUMENT, "u0 and u3 cannot both be placed on rank 4");
    assert_non_null(strstr(tutti_err_message(), "zero.fmu"));
    fixed[3] = -1;
    task.ranks = 4;
    assert_fails(
        tt_partitioner_place(&task, place), TUTTI_ERR_ARGUMENT,
        "u0, u3, u6, u9, u12 are of an FMU (zero.fmu) that can be instantiated only once per process: they need "
        "5 ranks that are processes, and there are 4");
    make(100, 1);
    for (uint32_t c = 0; c < 100; c++)
        alone[c] = true;
    assert_fails(tt_partitioner_place(&task, place), TUTTI_ERR_ARGUMENT, "u5, ... are of an FMU");
    assert_int_equal(tt_partitioner_least_ranks(&system_, alone), 100);
    task.ranks = 100;
    divide();
}

/* ---- against all placements ---- */

/* The greatest load over the mean, plus a quarter of the share of what crosses. */
static double judge(const int32_t *at)
{
    struct tt_traffic *list;
    size_t count;
    double loads[MOST_RANKS] = {0}, most = 0, total = 0, cut = 0, values = 0;
    assert_ok(tt_partitioner_list_traffic(&list, &count, &system_, NULL));
    for (size_t i = 0; i < count; i++) {
        values += (double)list[i].values;
        cut += at[list[i].from] != at[list[i].to] ? (double)list[i].values : 0;
    }
    free(list);
    for (uint32_t c = 0; c < system_.component_count; c++) {
        total += costs[c];
        most = fmax(most, loads[at[c]] += costs[c]);
    }
    return most / total * task.ranks + (values > 0 ? 0.25 * cut / values : 0);
}

static bool is_allowed(const int32_t *at)
{
    uint32_t used = 0, is_free = 0;
    bool has[MOST_RANKS] = {false}, has_fixed[MOST_RANKS] = {false};
    uint32_t could = 0;
    for (uint32_t c = 0; c < system_.component_count; c++) {
        if (fixed[c] >= 0 && at[c] != fixed[c])
            return false;
        for (uint32_t i = 0; i < c; i++)
            if (alone[c] && alone[i] && components[i].fmu == components[c].fmu && at[i] == at[c])
                return false;
        used += !has[at[c]];
        has[at[c]] = true;
        is_free += fixed[c] < 0;
        if (fixed[c] >= 0 && !has_fixed[fixed[c]]) {
            has_fixed[fixed[c]] = true;
            could++;
        }
    }
    could = could + is_free < (uint32_t)task.ranks ? could + is_free : (uint32_t)task.ranks;
    return used == could;
}

/* INFINITY: nothing is allowed. */
static double look_at_all(void)
{
    int32_t at[16] = {0};
    double best = INFINITY;
    for (;;) {
        if (is_allowed(at))
            best = fmin(best, judge(at));
        uint32_t c = 0;
        while (c < system_.component_count && ++at[c] == task.ranks)
            at[c++] = 0;
        if (c == system_.component_count)
            return best;
    }
}

static void make_random(uint32_t count, int ranks, bool constraints)
{
    make(count, ranks);
    for (uint32_t c = 0; c < count; c++) {
        costs[c] = random_below(3) == 0 ? pow(10, random_double()) : 1;
        components[c].fmu = &fmus[random_below(FMUS)];
        if (constraints && random_below(5) == 0)
            fixed[c] = random_below(ranks);
        alone[c] = constraints && random_below(4) == 0;
    }
    for (uint32_t i = 0; i < count + (uint32_t)random_below((int32_t)count); i++)
        join((uint32_t)random_below((int32_t)count), (uint32_t)random_below((int32_t)count),
             1 + (uint32_t)random_below(OUTPUTS));
}

/* Up to ten units: nothing is better. */
static void few_units_are_placed_best(void **state)
{
    (void)state;
    int refused = 0;
    for (int trial = 0; trial < 300; trial++) {
        uint32_t count = 3 + (uint32_t)random_below(5);
        make_random(count, 2 + random_below((int32_t)count - 2), trial % 2);
        double best = look_at_all();
        if (isinf(best)) {
            refused++;
            assert_int_equal(tt_partitioner_place(&task, place), TUTTI_ERR_ARGUMENT);
            continue;
        }
        divide();
        assert_near(judge(place), best, 1e-4); /* costs are rounded to a millionth of all */
    }
    assert_in_range(refused, 1, 60);
}

/* More: near to the best. */
static void more_units_are_placed_well(void **state)
{
    (void)state;
    double sum = 0, worst = 1;
    int trials = 0;
    for (int trial = 0; trial < 60; trial++) {
        uint32_t count = 11 + (uint32_t)random_below(2);
        make_random(count, count == 11 ? 2 + random_below(2) : 2, trial % 2);
        double best = look_at_all();
        if (isinf(best))
            continue;
        divide();
        double ratio = judge(place) / best;
        sum += ratio;
        trials++;
        worst = fmax(worst, ratio);
    }
    print_message("11 or 12 units: %.4f times the best, %.4f at worst, of %d\n", sum / trials, worst, trials);
    assert_true(trials > 30);
    assert_true(worst <= 1.1);
    assert_true(sum / trials <= 1.01);
}

static void random_systems(void **state)
{
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        int ranks = 2 + random_below(14);
        make_random(11 + (uint32_t)random_below(90), ranks, trial % 2);
        enum tutti_err err = tt_partitioner_place(&task, place);
        if (err)
            assert_int_equal(err, TUTTI_ERR_ARGUMENT);
        else
            check_place();
    }
}

/* ---- what crosses ---- */

static void traffic(void **state)
{
    (void)state;
    struct tt_traffic *list;
    size_t count;
    make(4, 2);
    join(0, 1, 3);
    join(0, 2, 2);
    join(0, 3, 3); /* of which two go the way of the two before */
    join(3, 0, 1);
    joins[system_.connection_count - 1].from.element = (struct tt_indices){.count = 1, .index = {2}};
    join(3, 1, 1);
    joins[system_.connection_count - 1].from.element = (struct tt_indices){.count = 1, .index = {1}};
    join(3, 1, 1);
    joins[system_.connection_count - 1].from.element = (struct tt_indices){.count = 1, .index = {2}};
    assert_ok(tt_partitioner_list_traffic(&list, &count, &system_, (int32_t[]){0, 0, 1, 1}));
    assert_int_equal(count, 2);
    assert_true(list[0].from == 0 && list[0].to == 1 && list[0].values == 3);
    assert_true(list[1].from == 1 && list[1].to == 0 && list[1].values == 2);
    free(list);
    join(3, 0, 1); /* all of it: its elements come with it */
    assert_ok(tt_partitioner_list_traffic(&list, &count, &system_, (int32_t[]){0, 0, 1, 1}));
    assert_int_equal(list[1].values, 1);
    free(list);
    assert_ok(tt_partitioner_list_traffic(&list, &count, &system_, (int32_t[]){1, 1, 1, 1}));
    assert_int_equal(count, 0);
    free(list);
}

/* ---- the process around ---- */

static void same_again_and_nobody_notices(void **state)
{
    (void)state;
    static int32_t before[MOST_UNITS];
    char name[] = "/tmp/test-tutti.XXXXXX";
    struct sigaction untouched, after;
    fflush(stdout);
    int file = mkstemp(name), out = dup(STDOUT_FILENO);
    assert_true(file >= 0 && out >= 0);
    dup2(file, STDOUT_FILENO);
    sigaction(SIGTERM, NULL, &untouched);
    srand(42);
    int first = rand(), second = rand();
    srand(42);
    bool same = rand() == first;
    for (int trial = 0; trial < 100; trial++) {
        int ranks = 2 + random_below(40);
        make_random(11 + (uint32_t)random_below(60), ranks, false);
        for (uint32_t c = 0; c < system_.component_count; c++)
            costs[c] = random_below(10) == 0 ? 1e6 : 1;
        same = same && tt_partitioner_place(&task, before) == TUTTI_OK &&
               tt_partitioner_place(&task, place) == TUTTI_OK &&
               memcmp(before, place, system_.component_count * sizeof *place) == 0;
    }
    same = same && rand() == second;
    sigaction(SIGTERM, NULL, &after);
    fflush(stdout);
    off_t printed = lseek(STDOUT_FILENO, 0, SEEK_END);
    dup2(out, STDOUT_FILENO);
    close(out);
    close(file);
    unlink(name);
    assert_true(same);
    assert_int_equal(printed, 0);
    assert_ptr_equal(untouched.sa_handler, after.sa_handler);
}

static void ten_thousand(void **state)
{
    (void)state;
    static const int ranks[] = {2, 16, 100};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        make_chain(10000, ranks[i]);
        divide();
        print_message("chain of 10000 on %d: %llu cross, balance %.4f\n", ranks[i], (unsigned long long)crossing(),
                      balance());
        assert_true(balance() <= 1.031);
        assert_true(crossing() <= 2 * (uint64_t)ranks[i]);
        make_grid(100, ranks[i]);
        divide();
        print_message("grid of 100 x 100 on %d: %llu cross, balance %.4f\n", ranks[i], (unsigned long long)crossing(),
                      balance());
        assert_true(balance() <= 1.031);
        assert_true((double)crossing() <= 1.3 * 2 * 100 * (sqrt(ranks[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_cut_where_they_are_thin),
        cmocka_unit_test(values_count_not_connections),
        cmocka_unit_test(stars_and_grids),
        cmocka_unit_test(the_costly_ones_are_spread),
        cmocka_unit_test(sizes_at_the_edge),
        cmocka_unit_test(those_that_are_fixed_stay),
        cmocka_unit_test(some_share_no_process),
        cmocka_unit_test(few_units_are_placed_best),
        cmocka_unit_test(more_units_are_placed_well),
        cmocka_unit_test(random_systems),
        cmocka_unit_test(traffic),
        cmocka_unit_test(same_again_and_nobody_notices),
        cmocka_unit_test(ten_thousand),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
