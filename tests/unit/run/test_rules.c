/* SPDX-License-Identifier: MIT */
/* The rules of a node's owner for FMUs that runs bring: their transfer to a worker, and their effect there. The process
 * is not really confined. */
#include "failing.h"

#include <stdlib.h>
#include <unistd.h>

#include "run/node/node_policy.h"
#include "own_scratch.h"

static struct {
    int calls;
    enum tt_confine how;
} confined;

enum tutti_err __wrap_tt_sandbox_restrict_files(struct tt_sandbox *confinement, enum tt_confine how,
                                                struct tt_denials *denials, const _Atomic uint32_t *component,
                                                bool keeps_sockets);
enum tutti_err __wrap_tt_sandbox_restrict_files(struct tt_sandbox *confinement, enum tt_confine how,
                                                struct tt_denials *denials, const _Atomic uint32_t *component,
                                                bool keeps_sockets)
{
    (void)confinement, (void)denials, (void)component, (void)keeps_sockets;
    confined.calls++;
    confined.how = how;
    return TUTTI_OK;
}

static const char *const permits[] = {"net,read:/etc", "fork"};
static const struct tt_node_rules strict = {.how = TUTTI_CONFINE_STRICT,
                                            .permits = permits,
                                            .permit_count = 2,
                                            .limits = "cpu=60"};

/* ---- on their way ---- */

static void test_parcels(void **state)
{
    (void)state;
    struct tt_byte_writer parcel = {0};
    struct tt_arena arena = {0};
    struct tt_node_rules rules;
    tt_node_policy_pack_rules(&strict, &parcel);
    struct tt_byte_reader in = tt_bytes_get_begin(tt_bytes_written(&parcel));
    assert_ok(tt_node_policy_unpack_rules(&rules, &in, &arena));
    assert_true(!in.bad && in.at == in.end);
    assert_int_equal(rules.how, TUTTI_CONFINE_STRICT);
    assert_int_equal(rules.permit_count, 2);
    assert_string_equal(rules.permits[1], "fork");
    assert_string_equal(rules.limits, "cpu=60");
    for (size_t size = 0; size < parcel.size; size++) {
        in = (struct tt_byte_reader){.at = parcel.bytes, .end = parcel.bytes + size};
        assert_ok(tt_node_policy_unpack_rules(&rules, &in, &arena));
        assert_true(in.bad);
    }
    parcel.bytes[0] = 9; /* no such way to confine */
    in = tt_bytes_get_begin(tt_bytes_written(&parcel));
    assert_ok(tt_node_policy_unpack_rules(&rules, &in, &arena));
    assert_true(in.bad);
    tt_bytes_fini(&parcel);
    tt_arena_fini(&arena);
}

static void test_check(void **state)
{
    (void)state;
    static const char *const wrong[] = {"everything"};
    struct tt_node_rules rules = {.how = TUTTI_CONFINE_AUTO, .permits = wrong, .permit_count = 1};
    assert_ok(tt_node_policy_check_rules(&(struct tt_node_rules){0}, NULL));
    assert_ok(tt_node_policy_check_rules(&strict, NULL));
    assert_fails(tt_node_policy_check_rules(&rules, NULL), TUTTI_ERR_ARGUMENT, "everything");
    rules = (struct tt_node_rules){.how = TUTTI_CONFINE_AUTO, .limits = "cpu=much"};
    assert_fails(tt_node_policy_check_rules(&rules, NULL), TUTTI_ERR_ARGUMENT, "much");
    rules = (struct tt_node_rules){.limits = "cpu=1"};
    assert_fails(tt_node_policy_check_rules(&rules, NULL), TUTTI_ERR_ARGUMENT, "no effect");
    rules = (struct tt_node_rules){.permits = permits, .permit_count = 1};
    assert_fails(tt_node_policy_check_rules(&rules, NULL), TUTTI_ERR_ARGUMENT, "no effect");
}

/* ---- in a worker ---- */

/* A job of two units, each on a separate rank, as a run sends it. */
static void open_job(struct tt_job *job, struct tutti_run_options *options)
{
    static const char *const files[] = {"mass=" TUTTI_FOLDERS "/ChainMass_fmi2",
                                        "ball=" TUTTI_FOLDERS "/BouncingBall_fmi2"};
    static const int32_t apart[] = {0, 1};
    options->files = files;
    options->file_count = 2;
    assert_ok(tt_job_open(job, options, NULL));
    job->place = apart;
}

/* In the scratch folder of a rank. */
static enum tutti_err apply(const struct tt_node_rules *rules, const struct tt_job *job, int rank,
                            struct tt_limits *limits, enum tt_confine *how)
{
    char folder[200];
    enum failing_kind kind = failing_pause();
    copy_text(folder, sizeof folder, scratch_path(&scratch, "own"));
    (void)rmdir(folder);
    failing.kind = kind;
    struct tt_sandbox confinement = {0};
    enum tutti_err err = tt_node_policy_apply_rules(rules, job, rank, folder, NULL, NULL, &confinement, how);
    if (limits)
        *limits = confinement.policy.limits;
    if (*how != TUTTI_CONFINE_NONE)
        tt_policy_fini(&confinement.policy);
    return err;
}

static void test_apply(void **state)
{
    (void)state;
    static const char *const asked[] = {"net"}, *const too_much[] = {"exec"};
    struct tutti_run_options options = {.nodes = "a:1", .allows = asked, .allow_count = 1, .limits = "cpu=600"};
    struct tt_job job;
    struct tt_limits limits;
    enum tt_confine how;
    open_job(&job, &options);
    assert_ok(apply(&(struct tt_node_rules){0}, &job, 0, NULL, &how));
    assert_int_equal(how, TUTTI_CONFINE_NONE); /* neither the node nor the run asks for it */
    assert_int_equal(confined.calls, 0);
    assert_ok(apply(&strict, &job, 0, &limits, &how));
    assert_int_equal(how, TUTTI_CONFINE_STRICT);
    assert_int_equal(confined.how, TUTTI_CONFINE_STRICT);
    assert_true(limits.cpu == 60); /* the lower one */
    assert_fails(apply(&(struct tt_node_rules){.how = TUTTI_CONFINE_AUTO}, &job, 0, NULL, &how), TUTTI_ERR_UNSUPPORTED,
                 "net");
    job.options.allows = too_much;
    assert_fails(apply(&strict, &job, 1, NULL, &how), TUTTI_ERR_UNSUPPORTED, "exec");
    job.options.confine = "strict"; /* a run may ask for it where the node does not, and then allow what it likes */
    assert_ok(apply(&(struct tt_node_rules){0}, &job, 1, NULL, &how));
    assert_int_equal(how, TUTTI_CONFINE_STRICT);
    job.options.confine = "tight";
    assert_fails(apply(&strict, &job, 1, NULL, &how), TUTTI_ERR_ARGUMENT, "tight");
    tt_job_close(&job);
}

struct applied {
    struct tt_job job;
};

static enum tutti_err apply_strictly(void *context)
{
    struct applied *applied = context;
    enum tt_confine how = TUTTI_CONFINE_NONE;
    return apply(&strict, &applied->job, 0, NULL, &how);
}

static void test_memory(void **state)
{
    (void)state;
    static const char *const asked[] = {"net,read:/etc/hostname"};
    struct tutti_run_options options = {.nodes = "a:1", .allows = asked, .allow_count = 1};
    struct applied applied;
    open_job(&applied.job, &options);
    fail_each_call(FAILING_MEMORY, ENOMEM, apply_strictly, &applied);
    fail_each_call(FAILING_FILES, EIO, apply_strictly, &applied);
    tt_job_close(&applied.job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parcels),
        cmocka_unit_test(test_check),
        cmocka_unit_test_setup_teardown(test_apply, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
