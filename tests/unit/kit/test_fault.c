/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* The fault layer: every kind of fault, at a call and at a time. */
#include "harness.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct library library2, library3;
static struct fmi2 f2;
static struct fmi3 f3;

static int open_libraries(void **state)
{
    (void)state;
    library2 = library_open(LIB_Faulty_fmi2);
    library3 = library_open(LIB_Faulty_fmi3);
    load2(&f2, &library2);
    load3(&f3, &library3);
    return 0;
}

static int close_libraries(void **state)
{
    (void)state;
    library_close(&library2);
    library_close(&library3);
    return 0;
}

static int no_faults(void **state)
{
    (void)state;
    return unsetenv("KIT_FAULT");
}

static fmi2Component with(const char *faults)
{
    assert_int_equal(setenv("KIT_FAULT", faults, 1), 0);
    return start2(&f2, &library2, fmi2CoSimulation);
}

/* Steps of 0.1; returns the first status that is not OK, *at the start of that step. */
static fmi2Status run(fmi2Component c, double *at)
{
    for (int i = 0; i < 10; i++) {
        fmi2Status status = f2.fmi2DoStep(c, *at = i * 0.1, 0.1, fmi2False);
        if (status != fmi2OK)
            return status;
    }
    return fmi2OK;
}

static void statuses_come_on_time(void **state)
{
    (void)state;
    const struct {
        const char *fault;
        fmi2Status status;
        double at;
    } cases[] = {{"error DoStep 0.55", fmi2Error, 0.5},    {"fatal DoStep 0.35", fmi2Fatal, 0.3},
                 {"warning DoStep", fmi2Warning, 0},       {"error DoStep 0.2+ @test", fmi2Error, 0.2},
                 {"error DoStep 0.2 @other", fmi2OK, 0.9}, {"error SetReal; error NoSuchCall", fmi2OK, 0.9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double at;
        fmi2Component c = with(cases[i].fault);
        assert_int_equal(run(c, &at), cases[i].status);
        assert_near(at, cases[i].at, 1e-12);
        if (cases[i].status == fmi2Fatal)
            assert_int_equal(f2.fmi2DoStep(c, 0, 0.1, fmi2True), fmi2Fatal);
        f2.fmi2FreeInstance(c);
    }
    fmi2Component c = with("error SetReal");
    assert_int_equal(f2.fmi2SetReal(c, (unsigned[]){1}, 1, (double[]){1}), fmi2Error);
    f2.fmi2FreeInstance(c);
}

static void a_discarded_step_says_how_far_it_came(void **state)
{
    (void)state;
    fmi2Component c = with("discard DoStep 0.55");
    double at, time, value;
    assert_int_equal(run(c, &at), fmi2Discard);
    assert_near(at, 0.5, 0);
    assert_int_equal(f2.fmi2GetRealStatus(c, fmi2LastSuccessfulTime, &time), fmi2OK);
    assert_near(time, 0.55, 0);
    assert_int_equal(f2.fmi2GetReal(c, (unsigned[]){4}, 1, &value), fmi2OK);
    assert_near(value, 1 - exp(-0.55), 1e-6);
    f2.fmi2FreeInstance(c);

    setenv("KIT_FAULT", "discard DoStep 0.55; early DoStep 0.25", 1); /* FMI 3.0: no trace is left */
    fmi3Instance d = start3(&f3, &library3, false, true);
    bool event, terminate, early;
    double last;
    assert_int_equal(f3.fmi3DoStep(d, 0, 0.5, true, &event, &terminate, &early, &last), fmi3OK);
    assert_true(early && !event && last == 0.25);
    assert_int_equal(f3.fmi3DoStep(d, 0.25, 0.5, true, &event, &terminate, &early, &last), fmi3Discard);
    assert_int_equal(f3.fmi3DoStep(d, 0.25, 0.5, true, &event, &terminate, &early, &last), fmi3OK);
    assert_int_equal(f3.fmi3GetFloat64(d, (unsigned[]){4}, 1, &value, 1), fmi3OK);
    assert_near(value, 1 - exp(-0.75), 1e-3);
    f3.fmi3FreeInstance(d);
}

static void values_become_nan(void **state)
{
    (void)state;
    fmi2Component c = with("nan GetReal|GetFloat64 0.2+");
    double value;
    const unsigned y = 4;
    assert_int_equal(f2.fmi2DoStep(c, 0, 0.1, fmi2True), fmi2OK);
    assert_int_equal(f2.fmi2GetReal(c, &y, 1, &value), fmi2OK);
    assert_true(!isnan(value));
    assert_int_equal(f2.fmi2DoStep(c, 0.1, 0.1, fmi2True), fmi2OK);
    assert_int_equal(f2.fmi2GetReal(c, &y, 1, &value), fmi2OK);
    assert_true(isnan(value) != 0);
    f2.fmi2FreeInstance(c);

    setenv("KIT_FAULT", "nan GetDerivatives", 1);
    c = start2(&f2, &library2, fmi2ModelExchange);
    assert_int_equal(f2.fmi2GetDerivatives(c, &value, 1), fmi2OK);
    assert_true(isnan(value) != 0);
    f2.fmi2FreeInstance(c);
}

/* A fault that is not understood must not pass for an FMU without faults. */
static void misspelt_faults_are_refused(void **state)
{
    (void)state;
    const char *const wrong[] = {"eror DoStep",
                                 "error",
                                 "error DoStep soon",
                                 "error DoStep 1 2",
                                 "error DoStep @a @b",
                                 "error DoStep 1 @a more",
                                 "error DoStep 1; crsh SetReal"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("KIT_FAULT", wrong[i], 1);
        last_message[0] = '\0';
        assert_null(f2.fmi2Instantiate("a", fmi2CoSimulation, library2.guid, NULL, &callbacks2, fmi2False, fmi2False));
        assert_non_null(strstr(last_message, "fault"));
    }
    fmi2Component c = with(" ; error SetReal @other ; ");
    f2.fmi2FreeInstance(c);
}

static void messages_flood_and_break(void **state)
{
    (void)state;
    fmi2Component c = with("flood DoStep");
    message_count = 0;
    assert_int_equal(f2.fmi2DoStep(c, 0, 0.1, fmi2True), fmi2OK);
    assert_int_equal(message_count, 10000);
    f2.fmi2FreeInstance(c);
    c = with("badlog DoStep");
    message_count = 0;
    assert_int_equal(f2.fmi2DoStep(c, 0, 0.1, fmi2True), fmi2OK);
    assert_int_equal(message_count, 5);
    f2.fmi2FreeInstance(c);
}

static void instantiation_fails(void **state)
{
    (void)state;
    setenv("KIT_FAULT", "null Instantiate", 1);
    assert_null(f2.fmi2Instantiate("x", fmi2CoSimulation, library2.guid, NULL, &callbacks2, fmi2False, fmi2True));
    struct library library1 = library_open(LIB_Faulty_fmi1cs);
    struct fmi1 f1;
    load1(&f1, &library1, "Faulty");
    fmiCallbackFunctions callbacks = {log1, calloc, free, NULL};
    assert_null(f1.fmiInstantiateSlave("x", library1.guid, "", "", 0, fmiFalse, fmiFalse, callbacks, fmiTrue));
    library_close(&library1);
}

/* Does the first step in a child, with its standard output in a pipe; returns how the child ended. */
static int in_child(const char *fault, char *output, size_t size)
{
    int ends[2], status;
    assert_true(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        signal(SIGSEGV, SIG_DFL);
        signal(SIGALRM, SIG_DFL);
        fmi2Component c = with(fault);
        alarm(strncmp(fault, "hang", 4) == 0 ? 1 : 60); /* what hangs ends by this */
        f2.fmi2DoStep(c, 0, 0.1, fmi2True);
        _exit(0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], output, size - 1);
    output[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    return status;
}

static void the_process_crashes_hangs_and_prints(void **state)
{
    (void)state;
    char output[256];
    int status = in_child("crash DoStep", output, sizeof output);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = in_child("hang DoStep", output, sizeof output);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    status = in_child("print DoStep", output, sizeof output);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_non_null(strstr(output, "DoStep prints"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(statuses_come_on_time, no_faults),
        cmocka_unit_test_teardown(a_discarded_step_says_how_far_it_came, no_faults),
        cmocka_unit_test_teardown(values_become_nan, no_faults),
        cmocka_unit_test_teardown(misspelt_faults_are_refused, no_faults),
        cmocka_unit_test_teardown(messages_flood_and_break, no_faults),
        cmocka_unit_test_teardown(instantiation_fails, no_faults),
        cmocka_unit_test_teardown(the_process_crashes_hangs_and_prints, no_faults),
    };
    return cmocka_run_group_tests_name("kit: faults", tests, open_libraries, close_libraries);
}
