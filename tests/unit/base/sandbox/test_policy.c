/* SPDX-License-Identifier: MIT */
#include "base/sandbox/policy.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sandbox/supervisor.h"
#include "test.h"

static void test_lists(void **state)
{
    struct tt_policy policy;
    (void)state;
    tt_policy_init(&policy);
    assert_true(policy.limits.memory > 0 && policy.limits.cpu == 0);
    assert_ok(tt_policy_allow(&policy, "net,read:/usr/../usr/lib,write:/dev"));
    assert_true(policy.net && !policy.fork && !policy.exec);
    assert_true(tt_policy_allows(&policy, "/usr/lib", false));
    assert_true(tt_policy_allows(&policy, "/usr/lib/x/y", false));
    assert_false(tt_policy_allows(&policy, "/usr/lib", true));
    assert_false(tt_policy_allows(&policy, "/usr/library", false));
    assert_false(tt_policy_allows(&policy, "/usr", false));
    assert_true(tt_policy_allows(&policy, "/dev/null", true));
    assert_ok(tt_policy_allow(&policy, "exec"));
    assert_true(policy.fork && policy.exec);
    assert_ok(tt_policy_allow(&policy, "write:/"));
    assert_true(tt_policy_allows(&policy, "/anything", true));
    tt_policy_fini(&policy);
}

static void test_wrong_lists(void **state)
{
    struct tt_policy policy;
    (void)state;
    tt_policy_init(&policy);
    assert_fails(tt_policy_allow(&policy, ""), TUTTI_ERR_ARGUMENT, "nothing that can be allowed");
    assert_fails(tt_policy_allow(&policy, "net,"), TUTTI_ERR_ARGUMENT, "nothing that can be allowed");
    assert_fails(tt_policy_allow(&policy, "network"), TUTTI_ERR_ARGUMENT, "'network'");
    assert_fails(tt_policy_allow(&policy, "read:"), TUTTI_ERR_ARGUMENT, "no '' to read");
    assert_fails(tt_policy_allow(&policy, "read:/no/such/place"), TUTTI_ERR_ARGUMENT, "/no/such/place");
    char *longest = calloc(1, 2 * PATH_MAX);
    memset(longest, 'x', 2 * PATH_MAX - 1);
    memcpy(longest, "write:/", 7);
    assert_fails(tt_policy_allow(&policy, longest), TUTTI_ERR_ARGUMENT, "to write");
    free(longest);
    tt_policy_fini(&policy);
}

static void test_limits(void **state)
{
    struct tt_limits limits = {.memory = 7}, other = {0};
    (void)state;
    assert_ok(tt_policy_read_limits(&limits, "cpu=3600,file=2.5M,scratch=1G,processes=64,memory=none"));
    assert_int_equal(limits.memory, 0);
    assert_int_equal(limits.cpu, 3600);
    assert_int_equal(limits.file, 2500000);
    assert_int_equal(limits.scratch, 1000000000);
    assert_int_equal(limits.processes, 64);
    static const char *const wrong[] = {"",        "cpu",    "cpu=",      "cpu=0",   "cpu=-1",
                                        "file=1,", "time=1", "memory=1X", "file=nan"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(tt_policy_read_limits(&other, wrong[i]), TUTTI_ERR_ARGUMENT, "is no limit");
    other = (struct tt_limits){.cpu = 10, .memory = 5};
    tt_policy_lower_limits(&limits, &other);
    assert_int_equal(limits.cpu, 10);
    assert_int_equal(limits.memory, 5);
    assert_int_equal(limits.processes, 64);
}

/* Requests of a run to a node that permits some of them. */
static void test_within(void **state)
{
    static const struct {
        const char *asked, *lacks;
    } cases[] = {{"net", NULL},
                 {"read:/usr/lib", NULL},
                 {"write:/dev/null", NULL},
                 {"read:/dev", NULL},
                 {"fork", "fork"},
                 {"exec", "exec"},
                 {"write:/usr/lib", "write:/usr/lib"},
                 {"read:/", "read:/"}};
    struct tt_policy mine;
    (void)state;
    tt_policy_init(&mine);
    assert_ok(tt_policy_allow(&mine, "net,read:/usr,write:/dev"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tt_policy asked;
        tt_policy_init(&asked);
        assert_ok(tt_policy_allow(&asked, cases[i].asked));
        if (cases[i].lacks)
            assert_fails(tt_policy_check_within(&asked, &mine), TUTTI_ERR_UNSUPPORTED, cases[i].lacks);
        else
            assert_ok(tt_policy_check_within(&asked, &mine));
        tt_policy_fini(&asked);
    }
    tt_policy_fini(&mine);
}

/* Links of what is allowed are resolved once, when it is allowed. */
static void test_links(void **state)
{
    char folder[] = "/tmp/test-policy-XXXXXX", path[64], list[80];
    struct tt_policy policy;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/link", folder);
    snprintf(list, sizeof list, "read:%s", path);
    assert_int_equal(symlink("/usr/lib", path), 0);
    tt_policy_init(&policy);
    assert_ok(tt_policy_allow(&policy, list));
    assert_true(tt_policy_allows(&policy, "/usr/lib/x", false));
    assert_false(tt_policy_allows(&policy, path, false));
    tt_policy_fini(&policy);
    unlink(path);
    rmdir(folder);
}

static void test_denials(void **state)
{
    struct tt_denials *denials = calloc(1, sizeof *denials);
    struct tt_denial denial = {.component = 3, .what = "call ptrace"}, got;
    (void)state;
    tt_supervisor_add_denial(denials, &denial);
    tt_supervisor_add_denial(denials, &denial); /* each once */
    denial.component = 4;
    tt_supervisor_add_denial(denials, &denial);
    assert_true(tt_supervisor_read_denial(denials, 0, &got));
    assert_int_equal(got.component, 3);
    assert_true(tt_supervisor_read_denial(denials, 1, &got));
    assert_false(tt_supervisor_read_denial(denials, 2, &got));
    for (uint32_t i = 0; i < 2 * TUTTI_DENIALS_MOST; i++) {
        denial.component = i;
        tt_supervisor_add_denial(denials, &denial);
    }
    assert_int_equal(atomic_load(&denials->count), TUTTI_DENIALS_MOST);
    /* The worker may write anything there. */
    memset(denials, 0xff, sizeof *denials);
    memset(denials->list[0].what, '\n', sizeof denials->list[0].what);
    assert_true(tt_supervisor_read_denial(denials, 0, &got));
    assert_true(strlen(got.what) < sizeof got.what && !strchr(got.what, '\n'));
    assert_false(tt_supervisor_read_denial(denials, TUTTI_DENIALS_MOST, &got));
    free(denials);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),  cmocka_unit_test(test_wrong_lists), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_within), cmocka_unit_test(test_links),       cmocka_unit_test(test_denials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
