/* SPDX-License-Identifier: MIT */
/* The cost of rolling an FMU back by forking its process: a call, a save, a restore.
 *
 *     bench_rollback HEAP
 *
 * HEAP is bench/heap, an FMU of 50 MB. Medians, of a unit that saves, steps and is restored in turns, as with error
 * control. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fmu/fmu.h"
#include "fmu/instance.h"

enum { ROUNDS = 300 };
#define BOUND 1e-3 /* seconds of a point */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(enum tutti_err err)
{
    if (!err)
        return;
    fprintf(stderr, "bench_rollback: %s\n", tutti_err_message());
    exit(1);
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    static double call[ROUNDS], save[ROUNDS], step[ROUNDS], restore[ROUNDS];
    struct tt_fmu *fmu = NULL;
    struct tt_instance *in = NULL;
    struct tt_saved_state saved = {0};
    struct tt_fmi_step made;
    if (argc != 2) {
        fprintf(stderr, "usage: bench_rollback HEAP\n");
        return 1;
    }
    check(tt_fmu_open(&fmu, argv[1], NULL));
    check(tt_fmu_load(fmu, TUTTI_CS, NULL));
    check(
        tt_instance_new(&in, fmu->libraries[TUTTI_CS], &(struct tt_instance_options){.name = "heap", .forked = true}));
    check(tt_instance_enter_initialization(in, &(struct tt_experiment_setup){.stop = 1, .has_stop = true}));
    check(tt_instance_exit_initialization(in));
    uint32_t x = fmu->desc->vars[tt_description_find(fmu->desc, "x")].reference;
    for (int i = 0; i < ROUNDS; i++) {
        double t = i * 1e-3, h = 1e-3, value, times[5];
        times[0] = now();
        check(tt_instance_get(in, TUTTI_TYPE_FLOAT64, &x, 1, &value, 1));
        times[1] = now();
        check(tt_saved_state_save(in, &saved));
        times[2] = now();
        check(tt_instance_do_step(in, t, h, true, &made, NULL));
        times[3] = now();
        check(tt_saved_state_restore(in, &saved));
        times[4] = now();
        check(tt_instance_do_step(in, t, h, true, &made, NULL));
        call[i] = times[1] - times[0];
        save[i] = times[2] - times[1];
        step[i] = times[3] - times[2];
        restore[i] = times[4] - times[3];
    }
    tt_saved_state_discard(in, &saved);
    tt_instance_free(in);
    tt_fmu_free(fmu);
    double point = median(save);
    printf(
        "rollback    an FMU of 50 MB, by forking          call %7.1f us       point %7.1f us       back %7.1f us       "
        "step that writes 100 pages %7.1f us   (a point at most %.0f)\n",
        1e6 * median(call), 1e6 * point, 1e6 * median(restore), 1e6 * median(step), 1e6 * BOUND);
    return point <= BOUND ? 0 : 1;
}
