/* SPDX-License-Identifier: MIT */
/* What a node is told of a run. */
#include "conduct/node/job.h"

#include <stdlib.h>

#include "options/filled.h"

/* A job, cut off anywhere, or with any byte changed, is refused or read; nothing else happens. */
static void test_damaged_jobs(void **state)
{
    (void)state;
    const struct tutti_node_name names[] = {{"a.fmu", 0, false}, {"dir/b.ssp", 1, true}};
    const int32_t place[] = {0, 1, 1};
    struct tutti_run_options *options = fill_options();
    struct tutti_parcel parcel = {0};
    struct tutti_node_job job;
    assert_ok(tutti_node_job_pack(options, names, 2, place, 3, &parcel));
    assert_ok(tutti_node_job_unpack(&job, parcel.bytes, parcel.size, "/folder", 2));
    assert_int_equal(job.options.alias_count, 2);
    assert_string_equal(job.options.aliases[1].name, "dir/b.ssp");
    assert_string_equal(job.options.aliases[1].path, "/folder/1");
    assert_true(job.options.aliases[1].system);
    assert_int_equal(job.place_count, 3);
    assert_int_equal(job.place[2], 1);
    tutti_node_job_fini(&job);
    assert_fails(tutti_node_job_unpack(&job, parcel.bytes, parcel.size, "/folder", 1), TUTTI_ERR_FORMAT, "damaged");
    tutti_node_job_fini(&job);
    for (size_t size = 0; size < parcel.size; size++) {
        char *cut = malloc(size + 1); /* of its own, so that reading beyond it is seen */
        assert_non_null(cut);
        memcpy(cut, parcel.bytes, size);
        assert_fails(tutti_node_job_unpack(&job, cut, size, "/folder", 2), TUTTI_ERR_FORMAT, "damaged");
        tutti_node_job_fini(&job);
        free(cut);
    }
    for (size_t i = 0; i < parcel.size; i++) {
        char old = parcel.bytes[i];
        parcel.bytes[i] = (char)(old ^ (1 << i % 8));
        enum tutti_err err = tutti_node_job_unpack(&job, parcel.bytes, parcel.size, "/folder", 2);
        assert_true(err == TUTTI_OK || err == TUTTI_ERR_FORMAT);
        tutti_node_job_fini(&job);
        parcel.bytes[i] = old;
    }
    tutti_parcel_fini(&parcel);
    tutti_options_free(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
