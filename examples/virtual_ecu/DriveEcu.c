/* SPDX-License-Identifier: MIT */
/* DriveEcu.c - the control unit at the motor: every 10 ms it sends the speed (frame 0x100, in 0.01 rad/s), and it applies the torque of each
 * frame 0x200 (in 0.001 N m). */
#include "ecu.h"

struct drive {
    struct can_port can;
    struct kit_clock sample;
    double speed, torque;
    int32_t sent;
};
#define KIT_SELF struct drive

static const struct kit_var variables[] = {
    KIT_INPUT_CLOCK(sample, KIT_INTERVAL_CONSTANT, .period = "1/100"),
    KIT_INPUT(speed, .start = "0", .clocks = "sample"),
    CAN_PORT(can),
    KIT_OUTPUT(torque, .clocks = "CAN.Rx_Clock", .depends = "CAN.Rx_Clock CAN.Rx_Data"),
    KIT_OUTPUT(sent, .clocks = "sample", .depends = "sample"),
};

static enum kit_status receive(struct drive *m)
{
    struct kit_can_operation operation;
    enum kit_can_result result;
    for (size_t at = 0; (result = kit_can_next(&m->can.rx, &at, &operation)) != KIT_CAN_END;)
        if (result == KIT_CAN_READ && operation.code == KIT_CAN_TRANSMIT && operation.id == TORQUE_FRAME &&
            operation.length == 2)
            m->torque = 0.001 * get_number(operation.data);
    return KIT_OK;
}

static enum kit_status tick(struct kit *kit, void *self, double t, const struct kit_clock *clock)
{
    struct drive *m = self;
    uint8_t data[2];
    if (clock == &m->can.rx_clock)
        return receive(m);
    if (clock == &m->can.tx_clock) {
        m->can.pending = false;
        return KIT_OK;
    }
    m->sent++;
    put_number(data, m->speed / 0.01);
    return send_frame(kit, &m->can, SPEED_FRAME, data, sizeof data, 0, 1);
}

const struct kit_model kit_model = {
    .name = "DriveEcu",
    .description = "The control unit at the motor",
    .size = sizeof(struct drive),
    KIT_VARIABLES(variables),
    KIT_TERMINALS(can_terminals),
    .experiment = {.stop = 1, .step = 0.01},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .tick = tick,
};
