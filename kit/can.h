/* SPDX-License-Identifier: MIT */
/* can.h - operations of a CAN bus as bytes, for models that exchange frames (the layered standard fmi-ls-bus 1.0, Network Abstraction, 4.5.1).
 *
 * A Binary variable holds operations one after the other, each with its code and its length in front, numbers with their low byte first. It
 * belongs to a clock, and is sent where that clock ticks:
 *
 *     struct kit_can_operation frame = {.code = KIT_CAN_TRANSMIT, .id = 0x100, .length = 2, .data = bytes};
 *     kit_can_append(kit, &m->tx, &frame);
 *     kit_set_interval(kit, &m->tx_clock, 0, 1);
 *
 *     size_t at = 0;
 *     while (kit_can_next(&m->rx, &at, &operation) == KIT_CAN_READ)
 *         if (operation.code == KIT_CAN_TRANSMIT) ...
 */
#ifndef KIT_CAN_H
#define KIT_CAN_H

#include "kit.h"

#define KIT_CAN_MIME_TYPE "application/org.fmi-standard.fmi-ls-bus.can; version=\"1.0.0\""

enum kit_can_code {
    KIT_CAN_FORMAT_ERROR = 0x01,
    KIT_CAN_TRANSMIT = 0x10,
    KIT_CAN_FD_TRANSMIT = 0x11,
    KIT_CAN_XL_TRANSMIT = 0x12,
    KIT_CAN_CONFIRM = 0x20,
    KIT_CAN_ARBITRATION_LOST = 0x30,
    KIT_CAN_BUS_ERROR = 0x31,
    KIT_CAN_CONFIGURATION = 0x40,
    KIT_CAN_STATUS = 0x41,
    KIT_CAN_WAKEUP = 0x42,
};

enum kit_can_error { /* of a bus error */
                     KIT_CAN_BIT_ERROR = 1,
                     KIT_CAN_BIT_STUFFING_ERROR,
                     KIT_CAN_FORM_ERROR,
                     KIT_CAN_CRC_ERROR,
                     KIT_CAN_ACK_ERROR,
                     KIT_CAN_BROKEN_ERROR_FRAME,
};
enum kit_can_flag { KIT_CAN_PRIMARY = 1, KIT_CAN_SECONDARY };
enum kit_can_parameter { /* of a configuration */
                         KIT_CAN_BAUDRATE = 1,
                         KIT_CAN_FD_BAUDRATE,
                         KIT_CAN_XL_BAUDRATE,
                         KIT_CAN_ARBITRATION_LOST_BEHAVIOR,
};
enum kit_can_behavior { KIT_CAN_BUFFER_AND_RETRANSMIT = 1, KIT_CAN_DISCARD_AND_NOTIFY };
enum kit_can_state { KIT_CAN_ERROR_ACTIVE = 1, KIT_CAN_ERROR_PASSIVE, KIT_CAN_BUS_OFF };

enum { KIT_CAN_MOST_DATA = 8, KIT_CAN_FD_MOST_DATA = 64, KIT_CAN_XL_MOST_DATA = 2048 };

/* One operation; which fields count follows from the code. */
struct kit_can_operation {
    enum kit_can_code code;
    uint32_t id;                       /* of the frame: Transmit, Confirm, Arbitration Lost, Bus Error */
    bool extended, remote;             /* Transmit: an identifier of 29 bits; a remote frame */
    bool bit_rate_switch, error_state; /* CAN FD */
    bool simple_extended_content;      /* CAN XL, with what follows */
    uint8_t sdu_type, virtual_network;
    uint32_t acceptance;
    uint16_t length; /* of the data: Transmit, Format Error */
    const uint8_t *data;
    enum kit_can_error error; /* Bus Error */
    enum kit_can_flag flag;
    bool sender;
    enum kit_can_parameter parameter; /* Configuration, and its value: a rate in bit/s, or enum kit_can_behavior */
    uint32_t value;
    enum kit_can_state state; /* Status */
};

enum kit_can_result { KIT_CAN_END, KIT_CAN_READ, KIT_CAN_MALFORMED };

/* Returns the operation at *at, which advances to the next. Its data points into the Binary. KIT_CAN_MALFORMED: it is
 * not an operation, or has values that the standard does not define; *at skips it if its length is plausible, otherwise
 * moves to the end; `operation` is then the Format Error to answer with. */
enum kit_can_result kit_can_next(const struct kit_binary *binary, size_t *at, struct kit_can_operation *operation);
/* Adds the operation at the end of the Binary. KIT_ERROR: it has more data than its kind of frame, or memory is out. */
enum kit_status kit_can_append(struct kit *kit, struct kit_binary *binary, const struct kit_can_operation *operation);

/* Returns the bits of a frame on the wire from its start to the end of its end-of-frame, with its checksum and stuff
 * bits (ISO 11898-1:2015, 10.4): those at the nominal rate, and of a CAN FD frame with bit_rate_switch those at the
 * data rate, *fast. 0: CAN XL, which is not counted. */
unsigned kit_can_bits(const struct kit_can_operation *frame, unsigned *fast);
/* Returns the precedence of a frame on the bus: the smaller number wins. */
uint32_t kit_can_precedence(const struct kit_can_operation *frame);

#endif
