/* SPDX-License-Identifier: MIT */
/* find_parameter - tries again and again from one point: when does the heating have to go on, so that the room has 20 degrees at
 * 6 o'clock? The hour up to midnight is simulated once; every trial goes back there.
 *
 *     cc find_parameter.c -o find_parameter $(pkg-config --cflags --libs tutti)
 *     ./find_parameter Heater_fmi3.fmu
 */
#include <stdio.h>
#include <tutti/tutti.h>

static const double midnight = 3600, morning = 7 * 3600, target = 20;
static const double off = 1, on = 3; /* of the input `mode` */

struct trials {
    struct tutti_simulation *room;
    struct tutti_point *midnight;
    size_t temperature, mode;
    unsigned count;
};

/* The temperature in the morning, if the heating goes on at `time`. */
static enum tutti_err try_time(struct trials *trials, double time, double *celsius)
{
    enum tutti_err err = tutti_simulation_restore(trials->room, trials->midnight);
    if (!err)
        err = tutti_simulation_advance(trials->room, time);
    if (!err)
        err = tutti_simulation_put(trials->room, trials->mode, &on, 1);
    if (!err)
        err = tutti_simulation_advance(trials->room, morning);
    if (!err)
        err = tutti_simulation_get(trials->room, trials->temperature, celsius, 1);
    trials->count++;
    return err;
}

/* From 11 o'clock to midnight, with the heating off. */
static enum tutti_err prepare(struct trials *trials)
{
    enum tutti_err err = tutti_simulation_find(trials->room, "T_celsius", &trials->temperature);
    if (!err)
        err = tutti_simulation_find(trials->room, "mode", &trials->mode);
    if (!err)
        err = tutti_simulation_start(trials->room);
    if (!err)
        err = tutti_simulation_put(trials->room, trials->mode, &off, 1);
    if (!err)
        err = tutti_simulation_advance(trials->room, midnight);
    return err ? err : tutti_simulation_save(trials->room, &trials->midnight);
}

/* Bisection: too late is too cold. */
static enum tutti_err search(struct trials *trials, double *time)
{
    double early = midnight, late = morning, celsius = 0;
    enum tutti_err err = prepare(trials);
    while (!err && late - early > 0.1) {
        *time = early + (late - early) / 2;
        err = try_time(trials, *time, &celsius);
        if (celsius > target)
            early = *time;
        else
            late = *time;
    }
    return err;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: find_parameter Heater_fmi3.fmu\n");
        return 2;
    }
    struct tutti_run_options *options = NULL;
    struct trials trials = {0};
    double time = 0;
    enum tutti_err err = tutti_options_make(&options);
    if (!err)
        err = tutti_options_set(options, "file", argv[1]);
    if (!err)
        err = tutti_options_set(options, "step", "60");
    if (!err)
        err = tutti_options_set_number(options, "stop", morning);
    if (!err)
        err = tutti_simulation_open(&trials.room, options);
    if (!err)
        err = search(&trials, &time);
    if (err)
        fprintf(stderr, "find_parameter: %s\n", tutti_err_message());
    else
        printf("on %.0f s before the morning, found in %u trials\n", morning - time, trials.count);
    tutti_simulation_free(trials.room); /* with its points */
    tutti_options_free(options);
    return err ? 1 : 0;
}
