/* SPDX-License-Identifier: MIT */
/* The cost of a checkpoint for a run: the time for which its loop is blocked, in macro steps.
 *
 *     bench_checkpoint FMU2 FILE
 *
 * FMU2 is ChainMass as FMI 2.0; a chain of 100. FILE is the checkpoint file. "In memory" is a run whose checkpoints
 *      are kept and not written (as with --recover); "with a file" passes them to the writing thread. Rare ones,
 *      1000 steps apart, run with cold caches; those at every second step with warm ones. Medians. The bound is that
 *      of rare ones in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tutti/tutti.h>

#include "by_hand.h"
#include "sim/checkpoint/collector.h"
#include "sim/checkpoint/checkpoint.h"
#include "sim/checkpoint/packed_state.h"
#include "base/options/options.h"
#include "sim/stats.h"

enum { UNITS = 100, STEPS = 100000, MOST = STEPS };
#define STEP 1e-3
#define BOUND 5 /* macro steps */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Wrapped by the linker: measure from the start of packing to the continuation of the run. */
static double began, took[MOST];
static size_t taken;
static bool keeps; /* in memory */

void __real_tt_packed_state_flush_counts(struct tt_execution *execution);
void __wrap_tt_packed_state_flush_counts(struct tt_execution *execution);
void __wrap_tt_packed_state_flush_counts(struct tt_execution *execution)
{
    began = now();
    __real_tt_packed_state_flush_counts(execution);
}

enum tutti_err __real_tt_collector_write(struct tt_collector *collector, struct tt_bytes result,
                                         struct tt_bytes step_log);
enum tutti_err __wrap_tt_collector_write(struct tt_collector *collector, struct tt_bytes result,
                                         struct tt_bytes step_log);
enum tutti_err __wrap_tt_collector_write(struct tt_collector *collector, struct tt_bytes result,
                                         struct tt_bytes step_log)
{
    enum tutti_err err = __real_tt_collector_write(collector, result, step_log);
    if (taken < MOST)
        took[taken++] = now() - began;
    return err;
}

enum tutti_err __real_tt_checkpoint_writer_submit(struct tt_checkpoint_writer *writer, struct tt_byte_writer *file);
enum tutti_err __wrap_tt_checkpoint_writer_submit(struct tt_checkpoint_writer *writer, struct tt_byte_writer *file);
enum tutti_err __wrap_tt_checkpoint_writer_submit(struct tt_checkpoint_writer *writer, struct tt_byte_writer *file)
{
    static struct tt_byte_writer last;
    if (!keeps)
        return __real_tt_checkpoint_writer_submit(writer, file);
    struct tt_byte_writer before = last;
    last = *file;
    *file = before;
    return TUTTI_OK;
}

/* Seconds of the loop. `every` 0: no checkpoints. */
static double run(const char *fmu, const char *file, double every, long steps)
{
    static char names[UNITS][512], wires[3 * UNITS][64];
    static const char *files[UNITS], *connects[3 * UNITS];
    static const char *const none[] = {"none"}, *const set[] = {"m0.x_left=0.1"};
    size_t count = 0;
    for (int i = 0; i < UNITS; i++) {
        snprintf(names[i], sizeof names[i], "m%d=%s", i, fmu);
        files[i] = names[i];
        if (i + 1 == UNITS)
            break;
        snprintf(wires[count++], sizeof *wires, "m%d.x=m%d.x_left", i, i + 1);
        snprintf(wires[count++], sizeof *wires, "m%d.v=m%d.v_left", i, i + 1);
        snprintf(wires[count++], sizeof *wires, "m%d.F=m%d.F_right", i + 1, i);
    }
    for (size_t i = 0; i < count; i++)
        connects[i] = wires[i];
    struct tutti_run_options options = {.files = files,
                                        .file_count = UNITS,
                                        .connects = connects,
                                        .connect_count = count,
                                        .has_stop = true,
                                        .stop = (double)steps * STEP,
                                        .has_step = true,
                                        .step = STEP,
                                        .coupling = "jacobi",
                                        .control = "fixed",
                                        .extrapolate = "0",
                                        .events = "none",
                                        .sets = set,
                                        .set_count = 1,
                                        .records = none,
                                        .record_count = 1,
                                        .checkpoint = every > 0 ? file : NULL,
                                        .has_every = every > 0,
                                        .every = every};
    struct tutti_run_stats stats;
    taken = 0;
    if (tutti_run(&options, &stats))
        die(tutti_err_message());
    double seconds = stats.loop_seconds;
    tt_stats_fini(&stats);
    return seconds;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(void)
{
    if (taken == 0)
        die("no checkpoint was taken");
    qsort(took, taken, sizeof *took, compare);
    return took[taken / 2];
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: bench_checkpoint FMU2 FILE\n");
        return 1;
    }
    double step = 1e9;
    for (int i = 0; i < 10; i++) {
        double seconds = run(argv[1], argv[2], 0, STEPS / 10) / (STEPS / 10);
        step = seconds < step ? seconds : step;
    }
    keeps = true;
    run(argv[1], argv[2], 2 * STEP, STEPS / 100);
    double warm = median();
    run(argv[1], argv[2], 1000 * STEP, STEPS);
    double rare = median();
    keeps = false;
    run(argv[1], argv[2], 1000 * STEP, STEPS);
    double written = median();
    printf("checkpoint  %d FMUs, a macro step of %.1f us    in memory, rare %6.1f us       at every other step %6.1f "
           "us       with a file %6.1f us    "
           "   in memory, rare, in macro steps %5.2f   (at most %d)\n",
           UNITS, 1e6 * step, 1e6 * rare, 1e6 * warm, 1e6 * written, rare / step, BOUND);
    return rare / step <= BOUND ? 0 : 1;
}
