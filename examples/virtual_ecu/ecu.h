/* SPDX-License-Identifier: MIT */
/* ecu.h - what both control units have: a CAN controller, its variables and its terminal. */
#ifndef VIRTUAL_ECU_H
#define VIRTUAL_ECU_H

#include "can.h"

/* Identifiers: the smaller one wins the bus. */
enum { SPEED_FRAME = 0x100, TORQUE_FRAME = 0x200, DIAGNOSIS_FRAME = 0x7df };

struct can_port {
    struct kit_clock tx_clock, rx_clock;
    struct kit_binary tx, rx;
    bool pending; /* `tx` waits for the next tick of tx_clock */
};

#define CAN_PORT(field_)                                                                                               \
    KIT_VAR(field_.tx_clock, .name = "CAN.Tx_Clock", .causality = KIT_INPUT, .clock = KIT_INTERVAL_COUNTDOWN),         \
        KIT_VAR(field_.tx, .name = "CAN.Tx_Data", .causality = KIT_OUTPUT, .clocks = "CAN.Tx_Clock",                   \
                .depends = "CAN.Tx_Clock", .mime_type = KIT_CAN_MIME_TYPE),                                            \
        KIT_VAR(field_.rx_clock, .name = "CAN.Rx_Clock", .causality = KIT_INPUT, .clock = KIT_TRIGGERED),              \
        KIT_VAR(field_.rx, .name = "CAN.Rx_Data", .causality = KIT_INPUT, .start = "", .clocks = "CAN.Rx_Clock",       \
                .mime_type = KIT_CAN_MIME_TYPE)

static const struct kit_member can_members[] = {{"CAN.Tx_Data", "Tx_Data", NULL},
                                                {"CAN.Tx_Clock", "Tx_Clock", NULL},
                                                {"CAN.Rx_Data", "Rx_Data", NULL},
                                                {"CAN.Rx_Clock", "Rx_Clock", NULL},
                                                {NULL, NULL, NULL}};
static const struct kit_terminal can_terminals[] = {{.name = "CAN",
                                                     .rule = "org.fmi-ls-bus.transceiver",
                                                     .kind = "org.fmi-ls-bus.network-terminal",
                                                     .members = can_members}};

/* Sends a frame counter / resolution seconds from now. */
static inline enum kit_status send_frame(struct kit *kit, struct can_port *port, uint32_t id, const uint8_t *data,
                                         uint16_t length, uint64_t counter, uint64_t resolution)
{
    struct kit_can_operation frame = {.code = KIT_CAN_TRANSMIT, .id = id, .length = length, .data = data};
    if (!port->pending)
        kit_set_binary(kit, &port->tx, NULL, 0); /* the last ones have been sent */
    port->pending = true;
    kit_set_interval(kit, &port->tx_clock, counter, resolution);
    return kit_can_append(kit, &port->tx, &frame);
}

/* A number of 16 bits, high byte first. */
static inline void put_number(uint8_t *data, double value)
{
    int16_t whole = (int16_t)(value < -32768 ? -32768 : value > 32767 ? 32767 : value + (value < 0 ? -0.5 : 0.5));
    data[0] = (uint8_t)((uint16_t)whole >> 8);
    data[1] = (uint8_t)whole;
}

static inline double get_number(const uint8_t *data)
{
    return (int16_t)(data[0] << 8 | data[1]);
}

#endif
