/* SPDX-License-Identifier: MIT */
/* What follows from --confine, --allow and --limits for the units of a rank, and how people hear of what was forbidden. */
#include "run/confined.h"

#include <string.h>

#include "test.h"

static char said[4000];

static void note(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context, (void)level, (void)origin;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

static const struct tutti_log log_of_all = {TUTTI_LOG_WARNING, note, NULL};
static const char *const files[] = {"mass=" TUTTI_FOLDERS "/ChainMass_fmi2",
                                    "ball=" TUTTI_FOLDERS "/BouncingBall_fmi2"};
static const int32_t together[] = {0, 0}, apart[] = {0, 1};

/* A job of two units with these words of --allow. */
static struct tutti_run_options open_job(struct tt_job *job, const char *const *allows, size_t count)
{
    struct tutti_run_options options = {.files = files,
                                        .file_count = 2,
                                        .log = &log_of_all,
                                        .allows = allows,
                                        .allow_count = count,
                                        .confine = "strict"};
    said[0] = '\0';
    assert_ok(tt_job_open(job, &options, NULL));
    job->place = apart;
    return options;
}

static void test_how(void **state)
{
    (void)state;
    static const char *const net[] = {"net"};
    enum tt_confine how;
    assert_ok(tt_confined_read(&(struct tutti_run_options){0}, &how));
    assert_int_equal(how, TUTTI_CONFINE_NONE);
    assert_ok(
        tt_confined_read(&(struct tutti_run_options){.confine = "strict", .allows = net, .allow_count = 1}, &how));
    assert_int_equal(how, TUTTI_CONFINE_STRICT);
    assert_fails(tt_confined_read(&(struct tutti_run_options){.confine = "tight"}, &how), TUTTI_ERR_ARGUMENT, "tight");
    assert_fails(tt_confined_read(&(struct tutti_run_options){.allows = net, .allow_count = 1}, &how),
                 TUTTI_ERR_ARGUMENT, "allow");
    assert_fails(tt_confined_read(&(struct tutti_run_options){.limits = "cpu=1"}, &how), TUTTI_ERR_ARGUMENT, "limits");
    /* A node may confine them without a request. */
    assert_ok(tt_confined_read(&(struct tutti_run_options){.limits = "cpu=1", .nodes = "a:1"}, &how));
}

static void check_policy(const struct tt_job *job, int rank, bool net, bool fork)
{
    struct tt_policy policy;
    assert_ok(tt_confined_policy(&policy, job, rank));
    assert_int_equal(policy.net, net);
    assert_int_equal(policy.fork, fork);
    tt_policy_fini(&policy);
}

static void test_units(void **state)
{
    (void)state;
    static const char *const allows[] = {"mass=net", "b*=fork"};
    struct tt_job job;
    (void)open_job(&job, allows, 2);
    assert_ok(tt_confined_check(&job));
    assert_string_equal(said, "");
    check_policy(&job, 0, true, false);
    check_policy(&job, 1, false, true);
    /* In one process both have the union of permissions, which is logged. */
    job.place = together;
    assert_ok(tt_confined_check(&job));
    assert_non_null(strstr(said, "allow mass=net: unit 'ball' shares a process with 'mass', and may do the same"));
    assert_non_null(strstr(said, "allow b*=fork: unit 'mass' shares a process with 'ball'"));
    check_policy(&job, 0, true, true);
    job.place = NULL;
    check_policy(&job, 0, true, true);
    tt_job_close(&job);
}

static void test_all_units(void **state)
{
    (void)state;
    static const char *const allows[] = {"net,read:" TUTTI_FOLDERS};
    struct tt_job job;
    (void)open_job(&job, allows, 1);
    job.place = together;
    assert_ok(tt_confined_check(&job));
    assert_string_equal(said, "");
    check_policy(&job, 0, true, false);
    check_policy(&job, 1, false, false); /* a rank without a unit */
    tt_job_close(&job);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const unknown[] = {"mas=net"}, *const wrong[] = {"mass=everything"};
    struct tt_policy policy;
    struct tt_job job;
    (void)open_job(&job, unknown, 1);
    assert_fails(tt_confined_check(&job), TUTTI_ERR_ARGUMENT,
                 "allow mas=net: there is no unit 'mas'; did you mean 'mass'?");
    tt_job_close(&job);
    (void)open_job(&job, wrong, 1);
    assert_fails(tt_confined_check(&job), TUTTI_ERR_ARGUMENT, "everything");
    job.options.allow_count = 0;
    job.options.limits = "cpu=never";
    assert_fails(tt_confined_policy(&policy, &job, 0), TUTTI_ERR_ARGUMENT, "never");
    tt_policy_fini(&policy);
    tt_job_close(&job);
}

/* The folder of its FMU is a unit's to read, and no other one's. */
static void test_folders(void **state)
{
    (void)state;
    struct tt_policy policy;
    struct tt_job job;
    (void)open_job(&job, NULL, 0);
    assert_ok(tt_confined_policy(&policy, &job, 1));
    assert_ok(tt_confined_add_folders(&policy, &job, 1));
    assert_int_equal(policy.path_count, 1);
    assert_true(tt_policy_allows(&policy, TUTTI_FOLDERS "/BouncingBall_fmi2/modelDescription.xml", false));
    assert_false(tt_policy_allows(&policy, TUTTI_FOLDERS "/BouncingBall_fmi2/modelDescription.xml", true));
    assert_false(tt_policy_allows(&policy, TUTTI_FOLDERS "/ChainMass_fmi2/modelDescription.xml", false));
    assert_ok(tt_confined_allow_forks(&policy, &job)); /* nothing goes back */
    assert_false(policy.own_forks);
    tt_policy_fini(&policy);
    tt_job_close(&job);
}

static void tell(const struct tt_system *system, uint32_t component, const char *allow, const char *words)
{
    struct tt_denial denial = {.component = component};
    snprintf(denial.what, sizeof denial.what, "open a file");
    snprintf(denial.allow, sizeof denial.allow, "%s", allow);
    said[0] = '\0';
    tt_confined_log_denial(&log_of_all, system, 1, &denial);
    if (!strstr(said, words))
        fail_msg("'%s' has no '%s'", said, words);
}

static void test_denials(void **state)
{
    (void)state;
    struct tt_job job;
    (void)open_job(&job, NULL, 0);
    tell(job.system, 1, "read:/x", "allow ball=read:/x lets it");
    tell(job.system, 1, "", "ball");
    assert_null(strstr(said, "allow"));
    tell(job.system, UINT32_MAX, "net", "allow net lets it");
    tt_job_close(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_how),      cmocka_unit_test(test_units),   cmocka_unit_test(test_all_units),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_folders), cmocka_unit_test(test_denials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
