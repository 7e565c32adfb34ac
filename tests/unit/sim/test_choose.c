/* SPDX-License-Identifier: MIT */
/* From options and what units can do to the four choices, and what is refused. */
#include "fake_unit.h"

#include "base/text.h"
#include "choose_cases.h"

/* ---- cases: options and traits ---- */

static void print_flag(FILE *out, bool set, const char *name)
{
    if (set)
        fprintf(out, " %s", name);
}

/* What the run reads before it opens the components. */
static void print_opening(FILE *out, const struct tt_method *method)
{
    fprintf(out, "opening:");
    print_flag(out, method->is & TUTTI_METHOD_SHARES_TOLERANCE, "shares-tolerance");
    print_flag(out, method->is & TUTTI_METHOD_MOVES_INPUTS, "moves-inputs");
    print_flag(out, method->is & TUTTI_METHOD_FORKS, "forks");
    print_flag(out, method->is & TUTTI_METHOD_FREE_STEPS, "free-steps");
    print_flag(out, method->is & TUTTI_METHOD_NEEDS_LOOPS, "needs-loops");
    fprintf(out, "\n");
}

static void print_reasons(FILE *out, const struct tt_method *method)
{
    static const char *const names[TUTTI_CHOICES] = {"coupling", "control", "extrapolate", "events"};
    for (int i = 0; i < TUTTI_CHOICES; i++)
        if (method->reasons[i][0])
            fprintf(out, "%s: %s\n", names[i], method->reasons[i]);
    if (method->fixed_by)
        fprintf(out, "fixed: '%s' %s\n", method->fixed_by->name, method->fixed_because);
    if (method->warning[0])
        fprintf(out, "warning: %s\n", method->warning);
}

static void print_method(FILE *out, const struct tt_method *method)
{
    fprintf(out, "%s %s %u %s", method->coupling->name, method->control->name, method->order, method->detection->name);
    print_flag(out, method->is & TUTTI_METHOD_GENERAL, "general");
    print_flag(out, method->is & TUTTI_METHOD_LAST_ONLY, "last-only");
    print_flag(out, method->is & TUTTI_METHOD_CORRECTS, "corrects");
    print_flag(out, method->is & TUTTI_METHOD_SOLVES, "solves");
    print_flag(out, method->is & TUTTI_METHOD_SMOOTHS, "smooths");
    print_flag(out, method->is & TUTTI_METHOD_LATE, "late");
    print_flag(out, method->is & TUTTI_METHOD_ACCELERATES, "accelerates");
    print_flag(out, method->is & TUTTI_METHOD_VARIES, "varies");
    print_flag(out, method->is & TUTTI_METHOD_PER_TIME, "per-time");
    print_flag(out, method->is & TUTTI_METHOD_GOES_BACK, "goes-back");
    print_flag(out, method->is & TUTTI_METHOD_TOGETHER, "together");
    print_flag(out, method->is & TUTTI_METHOD_BY_ATTEMPTS, "by-attempts");
    print_flag(out, method->is & TUTTI_METHOD_RELIES_ON_ROLLBACK, "relies-on-rollback");
    print_flag(out, method->is & TUTTI_METHOD_ROWS_BY_STEP, "rows-by-step");
    fprintf(out, "\n");
    print_reasons(out, method);
}

static void cases_are_chosen_as_listed(void **state)
{
    (void)state;
    size_t failed = 0;
    tt_text_set_dashes(true);
    for (size_t i = 0; i < sizeof choice_cases / sizeof *choice_cases; i++) {
        const struct choice_case *c = &choice_cases[i];
        struct tt_component_traits components[2];
        struct tt_traits traits = case_traits(c, components);
        struct tt_method method;
        struct tt_method_warnings warnings;
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(out);
        tt_choose_method(&c->options, &traits, &method);
        if (method.error) {
            fprintf(out, "error %d: %s\n", method.error, method.refusal);
        } else {
            print_method(out, &method);
            tt_choose_list_warnings(&c->options, &traits, &method, &warnings);
            for (unsigned w = 0; w < warnings.count; w++)
                fprintf(out, "warning: %s\n", warnings.items[w].text);
        }
        print_opening(out, &method);
        fclose(out);
        if (strcmp(text, c->expected) != 0) {
            print_error("%s: expected\n%s\nbut it is\n%s\n", c->title, c->expected, text);
            failed++;
        }
        free(text);
    }
    tt_text_set_dashes(false);
    assert_int_equal(failed, 0);
}

/* ---- components without an FMU, from their traits on ---- */

/* Two units that see each other; nothing is said about how. */
static struct fake_world *new_pair(void)
{
    struct fake_world *world = fake_new(2);
    world->options = (struct tutti_run_options){0};
    fake_connect(world, 1, FAKE_Y, 0, FAKE_U);
    fake_connect(world, 0, FAKE_Y, 1, FAKE_U);
    return world;
}

struct expected {
    const char *coupling, *control;
    unsigned order;
    const char *events;
    bool goes_back;
};

/* ... and returns what was chosen. */
static struct tt_method check(struct fake_world *world, const struct expected *expected)
{
    struct tt_sim *master = &world->execution.master;
    fake_prepare(world);
    assert_ok(tt_decide_method(master));
    struct tt_method chosen = master->chosen;
    assert_string_equal(chosen.coupling->name, expected->coupling);
    assert_string_equal(chosen.control->name, expected->control);
    assert_int_equal(chosen.order, expected->order);
    assert_string_equal(chosen.detection->name, expected->events);
    assert_int_equal((chosen.is & TUTTI_METHOD_GOES_BACK) != 0, expected->goes_back);
    assert_int_equal((chosen.is & TUTTI_METHOD_RELIES_ON_ROLLBACK) != 0, expected->goes_back);
    fake_close(world);
    return chosen;
}

static void assert_reasons_for(const struct tt_method *chosen, const char *words)
{
    for (int i = 0; i < 4; i++)
        assert_true(chosen->reasons[i][0]);
    assert_non_null(strstr(chosen->reasons[TUTTI_CHOICE_CONTROL], words));
}

/* Units that can do everything: errors are controlled, changes located. */
static void auto_takes_the_best(void **state)
{
    (void)state;
    struct tt_method chosen = check(new_pair(), &(struct expected){"seidel", "embedded", 2, "output", true});
    assert_reasons_for(&chosen, "no step is given");
    assert_true(chosen.is & TUTTI_METHOD_PER_TIME);
    assert_false(chosen.is & (TUTTI_METHOD_CORRECTS | TUTTI_METHOD_SMOOTHS));
}

static void auto_takes_what_is_there(void **state)
{
    (void)state;
    struct fake_world *world = new_pair();
    world->smooth = true;
    check(world, &(struct expected){"seidel", "embedded", 2, "none", true});
    world = new_pair();
    world->smooth = true;
    world->scripts[1].has_events = true;
    check(world, &(struct expected){"seidel", "embedded", 2, "early", true});
    world = new_pair();
    world->options.has_step = true;
    world->smooth = true;
    struct tt_method chosen = check(world, &(struct expected){"seidel", "fixed", 0, "none", false});
    assert_reasons_for(&chosen, "step");
    world = new_pair();
    world->times.step_proposed = true;
    chosen = check(world, &(struct expected){"seidel", "embedded", 2, "output", true});
    assert_reasons_for(&chosen, "only propose a step");
    world = new_pair();
    world->times.step_proposed = world->options.has_rtol = true;
    world->options.rtol = 1e-3;
    check(world, &(struct expected){"seidel", "embedded", 2, "output", true});
}

/* One unit is enough to hold all of them back; it is named. */
static void auto_spares_units_that_cannot(void **state)
{
    (void)state;
    struct fake_world *world = new_pair();
    world->scripts[1].cannot_go_back = true;
    struct tt_method chosen = check(world, &(struct expected){"seidel", "fixed", 0, "none", false});
    assert_reasons_for(&chosen, "'b'");
    world = new_pair();
    world->scripts[0].cannot_vary_step = true;
    chosen = check(world, &(struct expected){"jacobi", "fixed", 0, "none", false});
    assert_reasons_for(&chosen, "'a' has steps of its own");
}

/* Choices by options have no reason. */
static void options_decide(void **state)
{
    (void)state;
    struct fake_world *world = new_pair();
    world->options.coupling = "relax";
    world->options.control = "richardson";
    world->options.extrapolate = "1";
    world->options.events = "none";
    struct tt_method chosen = check(world, &(struct expected){"relax", "richardson", 1, "none", true});
    for (int i = 0; i < 4; i++)
        assert_string_equal(chosen.reasons[i], "");
    world = new_pair();
    world->options.coupling = "jacobi";
    world->options.control = "fixed";
    world->options.extrapolate = "0";
    world->options.events = "early";
    check(world, &(struct expected){"jacobi", "fixed", 0, "early", true});
    world = new_pair();
    world->options.control = "converge"; /* which needs a coupling that iterates */
    check(world, &(struct expected){"relax", "converge", 1, "output", true});
    world = new_pair();
    world->options.error_per = "step";
    chosen = check(world, &(struct expected){"seidel", "embedded", 1, "output", true});
    assert_false(chosen.is & TUTTI_METHOD_PER_TIME);
}

static void refuse(struct fake_world *world, enum tutti_err err, const char *words, const char *unit)
{
    fake_prepare(world);
    assert_fails(tt_decide_method(&world->execution.master), err, words);
    assert_non_null(strstr(tutti_err_message(), unit));
    fake_close(world);
}

/* With these choices. */
static struct fake_world *new_asking(const char *coupling, const char *control, const char *events)
{
    struct fake_world *world = new_pair();
    world->options.coupling = coupling;
    world->options.control = control;
    world->options.events = events;
    return world;
}

static void what_a_unit_cannot_is_refused(void **state)
{
    (void)state;
    static const char *const asking[][3] = {
        {"relax", "fixed", "none"}, {"jacobi", "richardson", "none"}, {"jacobi", "fixed", "early"}};
    static const char *const words[] = {"coupling relax", "control richardson", "events early"};
    for (int i = 0; i < 3; i++) {
        struct fake_world *world = new_asking(asking[i][0], asking[i][1], asking[i][2]);
        world->scripts[1].cannot_go_back = true;
        refuse(world, TUTTI_ERR_UNSUPPORTED, words[i], "'b' (fake.fmu)");
        world = new_asking(asking[i][0], asking[i][1], asking[i][2]);
        world->scripts[0].cannot_vary_step = true;
        refuse(world, TUTTI_ERR_ARGUMENT, words[i], "'a' (fake.fmu)");
    }
}

static void what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    refuse(new_asking("jacobi", "converge", "none"), TUTTI_ERR_ARGUMENT, "control converge", "coupling relax");
    refuse(new_asking("jacobi", "quantum", "none"), TUTTI_ERR_ARGUMENT, "control quantum", "quantum Q");
    struct fake_world *world = new_asking("relax", "fixed", "none");
    world->options.correct = true;
    refuse(world, TUTTI_ERR_ARGUMENT, "correct", "coupling jacobi or seidel");
    world = new_asking("seidel", "fixed", "none");
    world->options.smooth = true;
    refuse(world, TUTTI_ERR_ARGUMENT, "smooth", "coupling jacobi");
    world = new_asking("jacobi", "fixed", "none");
    world->options.smooth = true;
    world->options.extrapolate = "0";
    refuse(world, TUTTI_ERR_ARGUMENT, "smooth", "extrapolate 1 or 2");
    refuse(new_asking("gauss", "fixed", "none"), TUTTI_ERR_ARGUMENT, "gauss", "jacobi, seidel, relax");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_are_chosen_as_listed),
        cmocka_unit_test(auto_takes_the_best),
        cmocka_unit_test(auto_takes_what_is_there),
        cmocka_unit_test(auto_spares_units_that_cannot),
        cmocka_unit_test(options_decide),
        cmocka_unit_test(what_a_unit_cannot_is_refused),
        cmocka_unit_test(what_does_not_go_together_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
