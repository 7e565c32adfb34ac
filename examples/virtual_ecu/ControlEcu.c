/* SPDX-License-Identifier: MIT */
/* ControlEcu.c - the control unit that decides: from each speed that comes (frame 0x100) a PI controller computes the torque, which it sends
 * 1 ms later (frame 0x200). Every 10 ms it also sends eight bytes of diagnosis (frame 0x7df), at the very instant at which the speed is
 * sent. */
#include "ecu.h"

struct control {
    struct can_port can;
    struct kit_clock diagnose;
    double first, second, change, gain, gain_per_sample;
    double speed, torque, integral;
    int32_t received, confirmed, diagnoses;
};
#define KIT_SELF struct control

static const struct kit_var variables[] = {
    KIT_INPUT_CLOCK(diagnose, KIT_INTERVAL_CONSTANT, .period = "1/100"),
    CAN_PORT(can),
    KIT_PARAMETER(first, .start = "100", .description = "the speed that is wanted, rad/s"),
    KIT_PARAMETER(second, .start = "40", .description = "... from `change` on"),
    KIT_PARAMETER(change, .start = "0.5"),
    KIT_PARAMETER(gain, .start = "0.05"),
    KIT_PARAMETER(gain_per_sample, .start = "0.005"),
    KIT_OUTPUT(speed, .clocks = "CAN.Rx_Clock", .depends = "CAN.Rx_Clock CAN.Rx_Data"),
    KIT_OUTPUT(torque, .clocks = "CAN.Rx_Clock", .depends = "CAN.Rx_Clock CAN.Rx_Data"),
    KIT_OUTPUT(received, .clocks = "CAN.Rx_Clock", .depends = "CAN.Rx_Clock CAN.Rx_Data"),
    KIT_OUTPUT(confirmed, .clocks = "CAN.Rx_Clock", .depends = "CAN.Rx_Clock CAN.Rx_Data"),
};

static enum kit_status control(struct kit *kit, struct control *m, double t, const struct kit_can_operation *frame)
{
    uint8_t data[2];
    m->speed = 0.01 * get_number(frame->data);
    m->received++;
    double error = (t < m->change ? m->first : m->second) - m->speed;
    m->integral += m->gain_per_sample * error;
    m->torque = m->gain * error + m->integral;
    put_number(data, m->torque / 0.001);
    return send_frame(kit, &m->can, TORQUE_FRAME, data, sizeof data, 1, 1000);
}

static enum kit_status receive(struct kit *kit, struct control *m, double t)
{
    struct kit_can_operation operation;
    enum kit_can_result result;
    enum kit_status status = KIT_OK;
    for (size_t at = 0; status <= KIT_WARNING && (result = kit_can_next(&m->can.rx, &at, &operation)) != KIT_CAN_END;) {
        if (result != KIT_CAN_READ)
            continue;
        m->confirmed += operation.code == KIT_CAN_CONFIRM;
        if (operation.code == KIT_CAN_TRANSMIT && operation.id == SPEED_FRAME && operation.length == 2)
            status = control(kit, m, t, &operation);
    }
    return status;
}

static enum kit_status tick(struct kit *kit, void *self, double t, const struct kit_clock *clock)
{
    struct control *m = self;
    if (clock == &m->can.rx_clock)
        return receive(kit, m, t);
    if (clock == &m->can.tx_clock) {
        m->can.pending = false;
        return KIT_OK;
    }
    const uint8_t data[8] = {0, 0, 0, 0, 0, 0, (uint8_t)(m->diagnoses >> 8), (uint8_t)m->diagnoses};
    m->diagnoses++;
    return send_frame(kit, &m->can, DIAGNOSIS_FRAME, data, sizeof data, 0, 1);
}

const struct kit_model kit_model = {
    .name = "ControlEcu",
    .description = "The control unit that decides",
    .size = sizeof(struct control),
    KIT_VARIABLES(variables),
    KIT_TERMINALS(can_terminals),
    .experiment = {.stop = 1, .step = 0.01},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_EARLY_RETURN,
    .tick = tick,
};
