/* SPDX-License-Identifier: MIT */
/* A room as a federate: its temperature follows the heater, which is another federate's (federate_thermostat.c).
 *
 *     federate_room ROOM.xml [HOST:PORT]
 *
 * Both go in steps of 10 s with a lookahead of the same size: what is sent in a step arrives at its end. */
#include <math.h>
#include <stdio.h>
#include <tutti/federate.h>

static const double step = 10, stop = 3600;

/* Sends the temperature as of `time`. */
static enum tutti_err tell(struct tutti_federate_client *federate, uint32_t room, double temperature, double time)
{
    unsigned char bytes[8];
    struct tutti_federate_value value = {"T", bytes, sizeof bytes};
    tutti_federate_put_double(bytes, temperature);
    return tutti_federate_update(federate, room, &value, 1, &time);
}

/* Goes on to `time`; takes in what the thermostat says on the way. */
static enum tutti_err advance(struct tutti_federate_client *federate, double time, double *on)
{
    struct tutti_federate_event event;
    enum tutti_err err = tutti_federate_request(federate, TUTTI_FEDERATE_TAR, time);
    do {
        err = err ? err : tutti_federate_next(federate, -1, &event);
        if (!err && event.kind == TUTTI_FEDERATE_REFLECT)
            tutti_federate_get_double(&event.values[0], on);
    } while (!err && event.kind != TUTTI_FEDERATE_GRANT);
    return err;
}

/* Waits until the other one is there, and until both are ready. */
static enum tutti_err meet(struct tutti_federate_client *federate)
{
    struct tutti_federate_event event = {0};
    enum tutti_err err = TUTTI_OK;
    while (!err && event.kind != TUTTI_FEDERATE_DISCOVER)
        err = tutti_federate_next(federate, -1, &event);
    return err ? err : tutti_federate_synchronize(federate, "ready");
}

static enum tutti_err live(struct tutti_federate_client *federate)
{
    uint32_t room = 0;
    double on = 0, temperature = 15;
    enum tutti_err err = tutti_federate_publish(federate, "Room", "T");
    err = err ? err : tutti_federate_subscribe(federate, "Heater", "on");
    err = err ? err : tutti_federate_regulate(federate, step);
    err = err ? err : tutti_federate_constrain(federate);
    /* Ready for all else: a peer may go on as soon as it hears of the object. */
    err = err ? err : tutti_federate_register(federate, "Room", "office", &room);
    err = err ? err : meet(federate);
    for (double time = step; !err && time <= stop; time += step) {
        temperature += step * (2000 * on - (temperature - 10) * 100) / 200000; /* W, W/K, J/K */
        err = tell(federate, room, temperature, time);
        err = err ? err : advance(federate, time, &on);
    }
    if (!err)
        printf("%.2f degrees after %g s\n", temperature, tutti_federate_time(federate));
    return err;
}

int main(int argc, char **argv)
{
    struct tutti_federate_client *federate = NULL;
    const char *modules[] = {argc > 1 ? argv[1] : "room.xml"};
    struct tutti_federate_options options = {.address = argc > 2 ? argv[2] : NULL,
                                             .federation = "house",
                                             .name = "room",
                                             .modules = modules,
                                             .module_count = 1};
    enum tutti_err err = tutti_federate_join(&federate, &options);
    err = err ? err : live(federate);
    if (err)
        fprintf(stderr, "room: %s\n", tutti_err_message());
    return tutti_federate_leave(federate) || err;
}
