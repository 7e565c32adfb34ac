/* SPDX-License-Identifier: MIT */
/* A thermostat as a federate: it switches a heater on below 19 degrees and off above 21 (federate_room.c has the room).
 *
 *     federate_thermostat ROOM.xml [HOST:PORT] */
#include <stdio.h>
#include <tutti/federate.h>

static const double step = 10, stop = 3600;

/* Switches the heater if the temperature says so; what it says arrives a step later. */
static enum tutti_err control(struct tutti_federate_client *federate, uint32_t heater, double temperature, bool *on,
                              int *switched)
{
    bool wanted = temperature < 19 || (*on && temperature < 21);
    unsigned char bytes[8];
    struct tutti_federate_value value = {"on", bytes, sizeof bytes};
    double time = tutti_federate_time(federate) + step;
    if (wanted == *on)
        return TUTTI_OK;
    *on = wanted;
    ++*switched;
    tutti_federate_put_double(bytes, wanted);
    return tutti_federate_update(federate, heater, &value, 1, &time);
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
    uint32_t heater = 0;
    bool on = false;
    int switched = 0;
    double temperature = 20;
    struct tutti_federate_event event;
    enum tutti_err err = tutti_federate_publish(federate, "Heater", "on");
    err = err ? err : tutti_federate_subscribe(federate, "Room", "T");
    err = err ? err : tutti_federate_regulate(federate, step);
    err = err ? err : tutti_federate_constrain(federate);
    /* Ready for all else: a peer may go on as soon as it hears of the object. */
    err = err ? err : tutti_federate_register(federate, "Heater", NULL, &heater);
    err = err ? err : meet(federate);
    while (!err && tutti_federate_time(federate) < stop) {
        err = tutti_federate_request(federate, TUTTI_FEDERATE_TAR, tutti_federate_time(federate) + step);
        do {
            err = err ? err : tutti_federate_next(federate, -1, &event);
            if (!err && event.kind == TUTTI_FEDERATE_REFLECT)
                tutti_federate_get_double(&event.values[0], &temperature);
        } while (!err && event.kind != TUTTI_FEDERATE_GRANT);
        err = err ? err : control(federate, heater, temperature, &on, &switched);
    }
    if (!err)
        printf("switched %d times\n", switched);
    return err;
}

int main(int argc, char **argv)
{
    struct tutti_federate_client *federate = NULL;
    const char *modules[] = {argc > 1 ? argv[1] : "room.xml"};
    struct tutti_federate_options options = {.address = argc > 2 ? argv[2] : NULL,
                                             .federation = "house",
                                             .name = "thermostat",
                                             .modules = modules,
                                             .module_count = 1};
    enum tutti_err err = tutti_federate_join(&federate, &options);
    err = err ? err : live(federate);
    if (err)
        fprintf(stderr, "thermostat: %s\n", tutti_err_message());
    return tutti_federate_leave(federate) || err;
}
