/* SPDX-License-Identifier: MIT */
/* The market as a program of its own (Awais 2015 section 4.2.3): a federate that hears what houses consume, and makes a new price every 15
 * minutes. The houses are FMUs, in a run that joins the same federation.
 *
 *     market MARKET.xml HOST:PORT DAYS
 *
 * It prints a line for each price, and in the end how many messages have come. */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/federate.h>

enum { MOST_HOUSES = 100 };

static const double period = 900, day = 86400;       /* s */
static const double full = 21;                       /* kW, if all heaters are on */
static const double least_price = 0.12, span = 0.06; /* with no heater on; how much more with all */

struct market {
    struct tutti_federate_client *federate;
    uint32_t object;
    uint32_t houses[MOST_HOUSES];
    double power[MOST_HOUSES];
    size_t house_count;
    double energy, since; /* consumed in this period until then */
    unsigned long messages;
};

/* The power of a house, by its object. */
static double *power_of(struct market *market, uint32_t house)
{
    size_t i = 0;
    while (i < market->house_count && market->houses[i] != house)
        i++;
    if (i == MOST_HOUSES)
        return NULL;
    if (i == market->house_count)
        market->houses[market->house_count++] = house;
    return &market->power[i];
}

static void consume(struct market *market, double until)
{
    for (size_t i = 0; i < market->house_count; i++)
        market->energy += market->power[i] * (until - market->since);
    market->since = until;
}

/* On to `time`, with everything that houses tell before it. At that time itself they may still tell something, which counts for the next period. */
static enum tutti_err advance(struct market *market, double time)
{
    struct tutti_federate_event event = {0};
    enum tutti_err err = tutti_federate_request(market->federate, TUTTI_FEDERATE_TARA, time);
    while (!err && event.kind != TUTTI_FEDERATE_GRANT) {
        err = tutti_federate_next(market->federate, -1, &event);
        double *power = err || event.kind != TUTTI_FEDERATE_REFLECT ? NULL : power_of(market, event.object);
        if (!power)
            continue;
        consume(market, event.time);
        tutti_federate_get_double(&event.values[0], power);
        market->messages++;
    }
    return err;
}

static enum tutti_err tell(struct market *market, double price, double time)
{
    unsigned char bytes[8];
    struct tutti_federate_value value = {"price", bytes, sizeof bytes};
    tutti_federate_put_double(bytes, price);
    return tutti_federate_update(market->federate, market->object, &value, 1, &time);
}

/* A run registers its objects when it is ready for all else. */
static enum tutti_err wait_for_houses(struct tutti_federate_client *federate)
{
    struct tutti_federate_event event = {0};
    enum tutti_err err = TUTTI_OK;
    while (!err && event.kind != TUTTI_FEDERATE_DISCOVER)
        err = tutti_federate_next(federate, -1, &event);
    return err;
}

static enum tutti_err live(struct market *market, double stop)
{
    struct tutti_federate_client *federate = market->federate;
    enum tutti_err err = tutti_federate_publish(federate, "Market", "price");
    err = err ? err : tutti_federate_subscribe(federate, "House", "power");
    err = err ? err : tutti_federate_regulate(federate, 0);
    err = err ? err : tutti_federate_constrain(federate);
    err = err ? err : tutti_federate_register(federate, "Market", "market", &market->object);
    err = err ? err : wait_for_houses(federate);
    for (int n = 1; !err && n * period <= stop; n++) {
        err = advance(market, n * period);
        consume(market, n * period);
        double price = least_price + span * market->energy / (period * full);
        market->energy = 0;
        if (!err && n * period < stop)
            err = tell(market, price, n * period);
        if (!err)
            printf("%g,%.17g\n", n * period, price);
    }
    if (!err)
        printf("%lu messages\n", market->messages);
    return err;
}

int main(int argc, char **argv)
{
    struct market market = {0};
    const char *modules[] = {argc > 1 ? argv[1] : "market.xml"};
    struct tutti_federate_options options = {.address = argc > 2 ? argv[2] : NULL,
                                             .federation = "houses",
                                             .name = "market",
                                             .modules = modules,
                                             .module_count = 1};
    enum tutti_err err = tutti_federate_join(&market.federate, &options);
    err = err ? err : live(&market, day * (argc > 3 ? strtod(argv[3], NULL) : 3));
    if (err)
        fprintf(stderr, "market: %s\n", tutti_err_message());
    return tutti_federate_leave(market.federate) || err;
}
