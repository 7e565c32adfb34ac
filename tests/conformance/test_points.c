/* SPDX-License-Identifier: MIT */
/* What follows a point that a program has saved is the same every time that it goes back there, to the bit: with every control
 * of the step (the argument), coupling, order of extrapolation and kind of events, on units of all sorts in one system. */
#include "conformance.h"
#include "kinds.h"
#include "masters.h"

#include "apps/api/simulation.h"
#include "apps/api/stepped.h"

#define KIND conformance_arguments[1]

/* ---- systems ---- */

/* A ring of lags, events and discrete outputs beside it, and one that only listens. */
static const struct component units[] = {
    {"a", "Follower", "2", "cs"}, {"b", "Follower", "3", "cs"},      {"c", "Follower", "2", "me"},
    {"d", "Tracker", "3", "me"},  {"e", "EarlySwitches", "3", "cs"}, {"f", "Switches", "2", "cs"},
    {"g", "Gate", "3", "cs"},     {"count", "Tally", "2", "cs"},
};
static const char *const wires[] = {"a.x=b.u", "b.x=c.u", "c.x=d.u", "d.y=a.u", "f.x=g.u", "g.y=e.u", "c.x=count.u"};
static const char *const values[] = {"a.x=1",          "b.x=2",           "e.flag_at=0.31", "e.width=0.1",
                                     "f.flag_at=0.21", "f.level_at=0.47", "g.level=0.4"};
static const struct model model = MODEL(units, wires, values);

/* The gate sees its input of a later time (seidel, relax): it comes back at the start of every step until it is let. */
static const struct component gated[] = {{"s", "Switches", "2", "cs"},
                                         {"g", "Gate", "3", "cs"},
                                         {"b", "Follower", "2", "me"}};
static const char *const gate_wires[] = {"s.x=g.u", "g.y=b.u"}, *const gate_values[] = {"g.level=0.13"};
static const struct model gate = MODEL(gated, gate_wires, gate_values);

/* ---- there and back again ---- */

/* What steps leave besides rows. */
struct counts {
    unsigned long rejected, iterations, do_steps[MOST_STATES];
};

static struct counts count(const struct tutti_simulation *simulation)
{
    const struct tt_rank *rank = &simulation->execution.rank;
    struct counts counts = {.rejected = simulation->stats.rejected, .iterations = simulation->stats.iterations};
    for (uint32_t m = 0; m < rank->member_count; m++)
        counts.do_steps[m] = rank->members[m].unit->counts.do_steps;
    return counts;
}

/* So many steps, or to the end: what they cost. */
static struct counts step_on(struct tutti_simulation *simulation, int steps)
{
    struct counts before = count(simulation);
    for (int n = 0; n < steps && !tutti_simulation_is_over(simulation); n++)
        assert_ok(tutti_simulation_step(simulation));
    struct counts after = count(simulation);
    after.rejected -= before.rejected;
    after.iterations -= before.iterations;
    for (int m = 0; m < MOST_STATES; m++)
        after.do_steps[m] -= before.do_steps[m];
    return after;
}

/* From every point on, `ahead` steps there, back, and there again, before the simulation continues from that point. */
static void go_back_and_forth(const char *name, const struct tutti_run_options *options, int ahead)
{
    struct tutti_run_options watched = *options;
    struct rows rows = {0};
    struct tutti_watcher watcher = WATCHER(&rows);
    struct tutti_point *point = NULL;
    watched.watcher = &watcher;
    struct tutti_simulation *simulation = start_simulation(&watched);
    for (int n = 0; n < 25 && !tutti_simulation_is_over(simulation); n++) {
        assert_ok(tutti_simulation_save(simulation, &point));
        size_t first = rows.count;
        struct counts once = step_on(simulation, ahead);
        double reached = tutti_simulation_time(simulation);
        assert_ok(tutti_simulation_restore(simulation, point));
        size_t second = rows.count;
        struct counts again = step_on(simulation, ahead);
        assert_same_double(tutti_simulation_time(simulation), reached);
        assert_int_equal(rows.count - second, second - first);
        assert_same_rows(name, &rows, first, &rows, second, second - first);
        if (memcmp(&once, &again, sizeof once) != 0)
            fail_msg("%s: from point %d on, steps cost something else after going back", name, n);
        assert_ok(tutti_simulation_restore(simulation, point));
        (void)step_on(simulation, 1);
    }
    finish_and_free(simulation);
    rows_fini(&rows);
}

/* ---- all combinations ---- */

static void all_combinations_of(const struct model *of, int ahead)
{
    struct scratch file = scratch;
    const char *path = scratch_path(&file, "system.ssd");
    write_system(of->components, of->component_count);
    for (size_t c = 0; couplings[c]; c++)
        for (size_t o = 0; o < order_count(couplings[c]); o++)
            for (size_t e = 0; e < COUNT(detections); e++) {
                struct tutti_run_options options = {.files = &path,
                                                    .file_count = 1,
                                                    .connects = of->connect,
                                                    .connect_count = of->connect_count,
                                                    .sets = of->set,
                                                    .set_count = of->set_count,
                                                    .has_stop = true,
                                                    .stop = 1,
                                                    .has_step = true,
                                                    .step = 0.1,
                                                    .has_rtol = true,
                                                    .rtol = 1e-3,
                                                    .solver = "bdf",
                                                    .coupling = couplings[c],
                                                    .control = KIND,
                                                    .extrapolate = orders[o],
                                                    .events = detections[e],
                                                    .has_quantum = control_of(KIND)->takes_quantum,
                                                    .quantum = 0.05};
                char name[128];
                if (!fit_all(couplings[c], KIND, orders[o], detections[e]))
                    continue;
                snprintf(name, sizeof name, "%s, %s, extrapolation %s, events %s", KIND, couplings[c], orders[o],
                         detections[e]);
                print_message("%s\n", name);
                go_back_and_forth(name, &options, ahead);
            }
}

static void what_follows_is_the_same(void **state)
{
    (void)state;
    all_combinations_of(&model, 5);
}

/* Until the master has learned how to treat the unit, and beyond. */
static void what_is_learned_of_a_unit_is_forgotten_again(void **state)
{
    (void)state;
    all_combinations_of(&gate, 12);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_follows_is_the_same),
        cmocka_unit_test(what_is_learned_of_a_unit_is_forgotten_again),
    };
    conformance_begin(argc, argv, 1, "CONTROL");
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
