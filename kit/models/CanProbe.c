/* SPDX-License-Identifier: MIT */
/* CanProbe.c - a unit on a CAN bus that sends given bytes at given times and stores all it receives: to test a bus. */
#include <stdlib.h>
#include <string.h>

#include "can.h"

struct probe {
    struct kit_clock tx_clock, rx_clock;
    struct kit_binary tx, rx, first, second, got;
    uint32_t first_at, second_at; /* microseconds */
    uint32_t sent, answers;
    double last;
};
#define KIT_SELF struct probe

static const struct kit_var variables[] = {
    KIT_VAR(tx_clock, .name = "CAN.Tx_Clock", .causality = KIT_INPUT, .clock = KIT_INTERVAL_COUNTDOWN),
    KIT_VAR(tx, .name = "CAN.Tx_Data", .causality = KIT_OUTPUT, .clocks = "CAN.Tx_Clock", .depends = "CAN.Tx_Clock",
            .mime_type = KIT_CAN_MIME_TYPE),
    KIT_VAR(rx_clock, .name = "CAN.Rx_Clock", .causality = KIT_INPUT, .clock = KIT_TRIGGERED),
    KIT_VAR(rx, .name = "CAN.Rx_Data", .causality = KIT_INPUT, .start = "", .clocks = "CAN.Rx_Clock",
            .mime_type = KIT_CAN_MIME_TYPE),
    KIT_PARAMETER(first, .start = "", .description = "what is sent first, as operations"),
    KIT_PARAMETER(second, .start = "", .description = "what is sent then; nothing: nothing is"),
    KIT_PARAMETER(first_at, .start = "0", .description = "microseconds after the start"),
    KIT_PARAMETER(second_at, .start = "1000", .description = "microseconds after the first"),
    KIT_OUTPUT(got, .clocks = "CAN.Rx_Clock", .depends = "CAN.Rx_Clock CAN.Rx_Data"),
    KIT_OUTPUT(answers, .clocks = "CAN.Rx_Clock", .depends = "CAN.Rx_Clock CAN.Rx_Data"),
    KIT_OUTPUT(last, .clocks = "CAN.Rx_Clock", .depends = "CAN.Rx_Clock CAN.Rx_Data",
               .description = "time of the last"),
};

static const struct kit_member members[] = {{"CAN.Tx_Data", "Tx_Data", NULL},
                                            {"CAN.Tx_Clock", "Tx_Clock", NULL},
                                            {"CAN.Rx_Data", "Rx_Data", NULL},
                                            {"CAN.Rx_Clock", "Rx_Clock", NULL},
                                            {NULL, NULL, NULL}};
static const struct kit_terminal terminals[] = {{.name = "CAN",
                                                 .rule = "org.fmi-ls-bus.transceiver",
                                                 .kind = "org.fmi-ls-bus.network-terminal",
                                                 .members = members}};

static enum kit_status receive(struct kit *kit, struct probe *m, double t)
{
    unsigned char *all = malloc(m->got.size + m->rx.size + 1);
    if (!all)
        return KIT_ERROR;
    if (m->got.size > 0)
        memcpy(all, m->got.data, m->got.size);
    if (m->rx.size > 0)
        memcpy(all + m->got.size, m->rx.data, m->rx.size);
    enum kit_status status = kit_set_binary(kit, &m->got, all, m->got.size + m->rx.size);
    free(all);
    m->answers++;
    m->last = t;
    return status;
}

static enum kit_status tick(struct kit *kit, void *self, double t, const struct kit_clock *clock)
{
    struct probe *m = self;
    if (clock == &m->rx_clock)
        return receive(kit, m, t);
    const struct kit_binary *now = m->sent++ == 0 ? &m->first : &m->second;
    if (m->sent == 1 && m->second.size > 0)
        kit_set_interval(kit, &m->tx_clock, m->second_at, 1000000);
    return kit_set_binary(kit, &m->tx, now->data, now->size);
}

static enum kit_status initialise(struct kit *kit, void *self, double t)
{
    struct probe *m = self;
    return m->first.size > 0 ? kit_set_interval(kit, &m->tx_clock, m->first_at, 1000000) : KIT_OK;
}

const struct kit_model kit_model = {
    .name = "CanProbe",
    .description = "A unit on a CAN bus that sends what it is told",
    .size = sizeof(struct probe),
    KIT_VARIABLES(variables),
    KIT_TERMINALS(terminals),
    .experiment = {.stop = 0.01, .step = 0.01},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .initialise = initialise,
    .tick = tick,
};
