/* SPDX-License-Identifier: MIT */
/* The data about a run that a node receives. */
#include "run/node/node_protocol.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/job/job.h"
#include "base/options/filled.h"
#include "scratch.h"

/* A job, cut off anywhere, or with any byte changed, is refused or read; nothing else happens. */
static void test_damaged_jobs(void **state)
{
    (void)state;
    const struct tt_node_name names[] = {{"a.fmu", 0, false}, {"dir/b.ssp", 1, true}};
    const int32_t place[] = {0, 1, 1};
    struct tutti_run_options *options = fill_options();
    struct tt_byte_writer parcel = {0};
    struct tt_node_job job;
    assert_ok(tt_node_protocol_write_job(options, names, 2, place, 3, &parcel));
    assert_ok(tt_node_protocol_read_job(&job, parcel.bytes, parcel.size, "/folder", 2));
    assert_int_equal(job.options.alias_count, 2);
    assert_string_equal(job.options.aliases[1].name, "dir/b.ssp");
    assert_string_equal(job.options.aliases[1].path, "/folder/1");
    assert_true(job.options.aliases[1].system);
    assert_int_equal(job.place_count, 3);
    assert_int_equal(job.place[2], 1);
    tt_node_protocol_free_job(&job);
    assert_fails(tt_node_protocol_read_job(&job, parcel.bytes, parcel.size, "/folder", 1), TUTTI_ERR_FORMAT, "damaged");
    tt_node_protocol_free_job(&job);
    for (size_t size = 0; size < parcel.size; size++) {
        char *cut = malloc(size + 1); /* separate, so that an overread is detected */
        assert_non_null(cut);
        memcpy(cut, parcel.bytes, size);
        assert_fails(tt_node_protocol_read_job(&job, cut, size, "/folder", 2), TUTTI_ERR_FORMAT, "damaged");
        tt_node_protocol_free_job(&job);
        free(cut);
    }
    for (size_t i = 0; i < parcel.size; i++) {
        char old = parcel.bytes[i];
        parcel.bytes[i] = (char)(old ^ (1 << i % 8));
        enum tutti_err err = tt_node_protocol_read_job(&job, parcel.bytes, parcel.size, "/folder", 2);
        assert_true(err == TUTTI_OK || err == TUTTI_ERR_FORMAT);
        tt_node_protocol_free_job(&job);
        parcel.bytes[i] = old;
    }
    tt_bytes_fini(&parcel);
    tutti_options_free(options);
}

#define BALL TUTTI_FMUS "/BouncingBall_fmi2.fmu"
#define SSD                                                                                                            \
    "<ssd:SystemStructureDescription xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\" "           \
    "version=\"1.0\" "                                                                                                 \
    "name=\"s\"><ssd:System name=\"s\"><ssd:Elements><ssd:Component name=\"a\" "                                       \
    "type=\"application/x-fmu-sharedlibrary\" "                                                                        \
    "source=\"%s\"/></ssd:Elements></ssd:System></ssd:SystemStructureDescription>"

/* The run, whose files with these names lie in the folder "run", as a worker of a node opens it. */
static enum tutti_err open_there(const struct scratch *scratch, const struct tutti_run_options *options,
                                 const struct tt_node_name *names, uint32_t count)
{
    struct tt_byte_writer parcel = {0};
    struct tt_node_job told;
    struct tt_job job;
    const int32_t place = 0;
    char folder[4200];
    snprintf(folder, sizeof folder, "%s/run", scratch->path);
    assert_ok(tt_node_protocol_write_job(options, names, count, &place, 1, &parcel));
    assert_ok(tt_node_protocol_read_job(&told, parcel.bytes, parcel.size, folder, 1));
    enum tutti_err err = tt_job_open(&job, &told.options, NULL);
    if (!err)
        tt_job_close(&job);
    tt_node_protocol_free_job(&told);
    tt_bytes_fini(&parcel);
    return err;
}

/* Files of the node's machine that a run names and does not send are not read. */
static void test_files_that_were_not_sent(void **state)
{
    (void)state;
    struct scratch scratch;
    char outside[4200], text[2000];
    scratch_init(&scratch);
    copy_text(outside, sizeof outside, scratch_write(&scratch, "outside.csv", "time,u\n0,1\n", 11));
    assert_int_equal(mkdir(scratch_path(&scratch, "run"), 0700), 0);
    assert_int_equal(symlink(BALL, scratch_path(&scratch, "run/0")), 0); /* as daemons lay what they offer */
    const struct tt_node_name ball[] = {{"ball.fmu", 0, false}, {"s.ssd", 1, true}};
    const char *const file = "ball.fmu", *const elsewhere = BALL, *const system = "s.ssd", *const other = outside;
    struct tutti_run_options options = {.files = &file, .file_count = 1};
    assert_ok(open_there(&scratch, &options, ball, 1));
    options.resume = outside;
    assert_fails(open_there(&scratch, &options, ball, 1), TUTTI_ERR_UNSUPPORTED, "not among the files");
    options = (struct tutti_run_options){.files = &file, .file_count = 1, .inputs = &other, .input_count = 1};
    assert_fails(open_there(&scratch, &options, ball, 1), TUTTI_ERR_UNSUPPORTED, "not among the files");
    options =
        (struct tutti_run_options){.files = &file, .file_count = 1, .initial_states = &other, .initial_state_count = 1};
    assert_fails(open_there(&scratch, &options, ball, 1), TUTTI_ERR_UNSUPPORTED, "not among the files");
    options = (struct tutti_run_options){.files = &elsewhere, .file_count = 1};
    assert_fails(open_there(&scratch, &options, ball, 1), TUTTI_ERR_UNSUPPORTED, "not among the files");
    options = (struct tutti_run_options){.files = &system, .file_count = 1};
    snprintf(text, sizeof text, SSD, BALL);
    scratch_write(&scratch, "run/1", text, strlen(text));
    assert_fails(open_there(&scratch, &options, ball, 2), TUTTI_ERR_UNSUPPORTED, "not among the files");
    snprintf(text, sizeof text, SSD, "../outside.fmu");
    scratch_write(&scratch, "run/1", text, strlen(text));
    assert_int_equal(symlink(BALL, scratch_path(&scratch, "outside.fmu")), 0);
    assert_fails(open_there(&scratch, &options, ball, 2), TUTTI_ERR_UNSUPPORTED, "not among the files");
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_jobs),
        cmocka_unit_test(test_files_that_were_not_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
