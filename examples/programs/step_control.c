/* SPDX-License-Identifier: MIT */
/* step_control - a controller in C that steps an FMU: a room is kept between 19.5 and 20.5 degrees by a heater that can only be
 * on or off. Every 10 s the temperature is read, and the switch is set.
 *
 *     cc step_control.c -o step_control $(pkg-config --cflags --libs tutti)
 *     ./step_control Heater_fmi3.fmu
 */
#include <stdio.h>
#include <tutti/tutti.h>

enum { OFF = 1, ON = 3 }; /* of the input `mode` */

struct control {
    int mode;
    unsigned switches;
    double coldest, warmest, seconds_on;
};

/* Between two steps: reads the temperature, decides, and puts the switch where it has to be. */
static enum tutti_err decide(struct tutti_simulation *room, size_t temperature, size_t mode, struct control *control)
{
    double celsius, wanted = control->mode;
    enum tutti_err err = tutti_simulation_get(room, temperature, &celsius, 1);
    if (err)
        return err;
    if (celsius < 19.5)
        wanted = ON;
    else if (celsius > 20.5)
        wanted = OFF;
    if (celsius < control->coldest)
        control->coldest = celsius;
    if (celsius > control->warmest)
        control->warmest = celsius;
    if ((int)wanted == control->mode)
        return TUTTI_OK;
    control->mode = (int)wanted;
    control->switches++;
    return tutti_simulation_put(room, mode, &wanted, 1); /* the next step takes it */
}

static enum tutti_err control_room(struct tutti_simulation *room, struct control *control)
{
    size_t temperature, mode;
    enum tutti_err err = tutti_simulation_find(room, "T_celsius", &temperature);
    if (!err)
        err = tutti_simulation_find(room, "mode", &mode);
    if (!err)
        err = tutti_simulation_set(room, "mode=off"); /* before the start: start values, as with --set */
    if (!err)
        err = tutti_simulation_start(room);
    while (!err && !tutti_simulation_is_over(room)) {
        err = decide(room, temperature, mode, control);
        if (!err)
            err = tutti_simulation_step(room);
        control->seconds_on += control->mode == ON ? 10 : 0;
    }
    return err ? err : tutti_simulation_finish(room, NULL);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: step_control Heater_fmi3.fmu\n");
        return 2;
    }
    const double hours = 4;
    struct control control = {.mode = OFF, .coldest = 100, .warmest = -100};
    struct tutti_run_options *options = NULL;
    struct tutti_simulation *room = NULL;
    enum tutti_err err = tutti_options_make(&options);
    if (!err)
        err = tutti_options_set(options, "file", argv[1]);
    if (!err)
        err = tutti_options_set(options, "step", "10");
    if (!err)
        err = tutti_options_set_number(options, "stop", hours * 3600);
    if (!err)
        err = tutti_simulation_open(&room, options);
    if (!err)
        err = control_room(room, &control);
    tutti_simulation_free(room);
    tutti_options_free(options);
    if (err) {
        fprintf(stderr, "step_control: %s\n", tutti_err_message());
        return 1;
    }
    printf("%.2f to %.2f degrees, switched %u times, on for %.0f %% of the time\n", control.coldest, control.warmest,
           control.switches, control.seconds_on / (hours * 3600) * 100);
    return 0;
}
