/* SPDX-License-Identifier: MIT */
/* From files to the first steps, where something is in the way: too little memory at any point, and arrays that are larger
 * than any memory. */
#include "sim/stats.h"
#include "test.h"

#include <stdlib.h>

#include "sim/execution_run.h"
#include "scratch.h"
#include "solve/allocations.h"

#define LENGTH(list) (sizeof(list) / sizeof *(list))

/* All features that a run may have at once: a loop, values of all kinds, parts of arrays, files in and out, separate
 * steps, events. FMUs are folders: archives would be unpacked a thousand times. */
static const char *const files[] = {"a=" TUTTI_FOLDERS "/Feedthrough_fmi3", "b=" TUTTI_FOLDERS "/Feedthrough_fmi3",
                                    "c=" TUTTI_FOLDERS "/Tracker_fmi2", "d=" TUTTI_FOLDERS "/Stair_fmi3"};
static const char *const connect[] = {
    "c.error=a.float64_in",     "a.float64_out=c.u",          "a.string_out=b.string_in",
    "a.binary_out=b.binary_in", "a.strings_out=b.strings_in", "a.matrix_out[1,2]=b.matrix_in[2,1]",
    "d.counter=b.int32_in",     "a.boolean_out=b.boolean_in", "b.string_out=a.string_in",
};
static const char *const set[] = {"a.gain=0.5", "c.x=1", "b.matrix_in[1,1]=3"};
static const char *const record[] = {"*out", "*.matrix_out[1,*]", "c.*", "d.counter"};
static const char *const unit_steps[] = {"b=0.4"};

/* From a system that is loaded to its end; allocation number `failing` of *made fails. */
static enum tutti_err go(const struct tutti_run_options *options, struct tutti_run_stats *stats, unsigned long failing,
                         unsigned long *made)
{
    struct tt_job job;
    assert_ok(tt_job_open(&job, options, NULL));
    struct tt_execution execution = {.rank = {.job = &job, .stats = stats}};
    allocations = 0;
    failing_allocation = failing;
    enum tutti_err err = tt_execution_start(&execution, false);
    if (!err)
        err = tt_run_until_end(&execution.loop);
    failing_allocation = 0;
    *made = allocations;
    err = tt_execution_close(&execution, err);
    tt_job_close(&job);
    return err;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char rows[] = "time,b.color_in\n0,red\n0.3,green\n1,red\n";
    struct scratch folder;
    scratch_init(&folder);
    char *input = strdup(scratch_write(&folder, "input.csv", rows, sizeof rows - 1));
    char *output = strdup(scratch_path(&folder, "result.csv"));
    assert_true(input && output);
    struct tutti_run_options options = {.files = files,
                                        .file_count = LENGTH(files),
                                        .connects = connect,
                                        .connect_count = LENGTH(connect),
                                        .sets = set,
                                        .set_count = LENGTH(set),
                                        .records = record,
                                        .record_count = LENGTH(record),
                                        .unit_steps = unit_steps,
                                        .unit_step_count = LENGTH(unit_steps),
                                        .inputs = (const char *const[]){input},
                                        .input_count = 1,
                                        .output = output,
                                        .has_step = true,
                                        .step = 0.2,
                                        .has_stop = true,
                                        .stop = 1.2};
    struct tutti_run_stats stats = {0};
    (void)tt_fail(TUTTI_ERR_MEMORY, "room for messages, which is made once, is not counted");
    unsigned long total, made;
    assert_ok(go(&options, &stats, 0, &total));
    assert_int_equal(stats.init_loops, 2); /* one of them of Strings */
    unsigned spared = 0;                   /* a result file without a thread that flushes it is as good: two of them */
    for (unsigned long failing = 1; failing <= total; failing++) {
        enum tutti_err err = go(&options, &stats, failing, &made);
        if (!err && spared++ < 2)
            continue;
        /* FMUs of FMI 2.0 take their memory from us. */
        if (err != TUTTI_ERR_MEMORY && !(err == TUTTI_ERR_FMU && strstr(tutti_err_message(), "Tracker_fmi2")))
            fail_msg("allocation %lu of %lu fails: %s", failing, total, err ? tutti_err_message() : "nobody cares");
    }
    free(input);
    free(output);
    scratch_fini(&folder);
}

/* More values than 32-bit places: refused before anything is laid out, and before an FMU is asked. */
static void arrays_beyond_all_memory(void **state)
{
    (void)state;
    enum { ARRAYS = 20 };
    struct tt_dimension dimension = {.variable = TUTTI_NONE, .start = 1 << 28};
    struct tt_var vars[ARRAYS];
    struct tt_connection connections[ARRAYS] = {0};
    for (uint32_t i = 0; i < ARRAYS; i++) {
        vars[i] = (struct tt_var){.name = "x",
                                  .type = TUTTI_TYPE_FLOAT64,
                                  .causality = TUTTI_INPUT,
                                  .variability = TUTTI_CONTINUOUS,
                                  .dimension_count = 1,
                                  .dimensions = &dimension};
        connections[i].from.variable = connections[i].to.variable = i;
        connections[i].to.component = 1;
    }
    struct tt_description desc = {.fmi = 3, .vars = vars, .var_count = ARRAYS};
    struct tt_fmu fmu = {.path = "huge.fmu", .desc = &desc};
    struct tt_component components[] = {{.name = "a", .fmu = &fmu}, {.name = "b", .fmu = &fmu}};
    struct tt_system system = {.components = components,
                               .component_count = LENGTH(components),
                               .connections = connections,
                               .connection_count = ARRAYS};
    struct tt_unit a = {.name = "a", .fmu = &fmu}, b = {.name = "b", .fmu = &fmu};
    struct tt_unit *units[] = {&a, &b};
    struct tt_structure structure;
    struct tt_wires wires;
    assert_ok(tt_structure_init(&structure, &system, TUTTI_PHASE_INITIAL));
    assert_fails(tt_wire_layout_init(&wires, &structure, units), TUTTI_ERR_LIMIT, "more than 1073741823 values");
    tt_wires_fini(&wires);
    tt_structure_fini(&structure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(arrays_beyond_all_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
