/* SPDX-License-Identifier: MIT */
#include "can.h"

#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { HEAD = 8 }; /* code and length */

/* ---- numbers ---- */

static void put(uint8_t **at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *(*at)++ = (uint8_t)(value >> 8 * i);
}

static uint32_t get(const uint8_t **at, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint32_t)(*at)[i] << 8 * i;
    *at += bytes;
    return value;
}

/* ---- sizes ---- */

/* Returns the size of an operation without its data; 0 for an unknown code. */
static size_t size_of(uint32_t code, uint32_t parameter)
{
    switch (code) {
    case KIT_CAN_FORMAT_ERROR: return HEAD + 2;
    case KIT_CAN_TRANSMIT: return HEAD + 8;
    case KIT_CAN_FD_TRANSMIT: return HEAD + 9;
    case KIT_CAN_XL_TRANSMIT: return HEAD + 14;
    case KIT_CAN_CONFIRM:
    case KIT_CAN_ARBITRATION_LOST: return HEAD + 4;
    case KIT_CAN_BUS_ERROR: return HEAD + 7;
    case KIT_CAN_CONFIGURATION: return HEAD + (parameter == KIT_CAN_ARBITRATION_LOST_BEHAVIOR ? 2 : 5);
    case KIT_CAN_STATUS: return HEAD + 1;
    case KIT_CAN_WAKEUP: return HEAD;
    default: return 0;
    }
}

static bool is_frame(enum kit_can_code code)
{
    return code >= KIT_CAN_TRANSMIT && code <= KIT_CAN_XL_TRANSMIT;
}

static bool has_data(enum kit_can_code code)
{
    return is_frame(code) || code == KIT_CAN_FORMAT_ERROR;
}

/* CAN FD has lengths of 0 to 8 and of some steps above. */
static bool is_fd_length(unsigned length)
{
    static const uint8_t steps[] = {12, 16, 20, 24, 32, 48, 64};
    for (size_t i = 0; i < sizeof steps; i++)
        if (length == steps[i])
            return true;
    return length <= 8;
}

static bool is_frame_good(const struct kit_can_operation *frame)
{
    if (frame->id > (frame->extended ? 0x1fffffffu : 0x7ffu))
        return false;
    switch (frame->code) {
    case KIT_CAN_TRANSMIT: return frame->length <= KIT_CAN_MOST_DATA;
    case KIT_CAN_FD_TRANSMIT: return is_fd_length(frame->length);
    default: return !frame->extended && frame->length >= 1 && frame->length <= KIT_CAN_XL_MOST_DATA;
    }
}

/* Returns true if all fields have values that the standard defines. */
static bool is_good(const struct kit_can_operation *o)
{
    switch (o->code) {
    case KIT_CAN_BUS_ERROR:
        return o->error >= KIT_CAN_BIT_ERROR && o->error <= KIT_CAN_BROKEN_ERROR_FRAME &&
               (o->flag == KIT_CAN_PRIMARY || o->flag == KIT_CAN_SECONDARY);
    case KIT_CAN_CONFIGURATION:
        if (o->parameter == KIT_CAN_ARBITRATION_LOST_BEHAVIOR)
            return o->value == KIT_CAN_BUFFER_AND_RETRANSMIT || o->value == KIT_CAN_DISCARD_AND_NOTIFY;
        return o->parameter >= KIT_CAN_BAUDRATE && o->parameter <= KIT_CAN_XL_BAUDRATE && o->value > 0;
    case KIT_CAN_STATUS: return o->state >= KIT_CAN_ERROR_ACTIVE && o->state <= KIT_CAN_BUS_OFF;
    default: return !is_frame(o->code) || is_frame_good(o);
    }
}

/* ---- reading ---- */

static void read_frame(const uint8_t **at, struct kit_can_operation *o)
{
    o->id = get(at, 4);
    o->extended = get(at, 1);
    if (o->code == KIT_CAN_TRANSMIT) {
        o->remote = get(at, 1);
    } else if (o->code == KIT_CAN_FD_TRANSMIT) {
        o->bit_rate_switch = get(at, 1);
        o->error_state = get(at, 1);
    } else {
        o->simple_extended_content = get(at, 1);
        o->sdu_type = (uint8_t)get(at, 1);
        o->virtual_network = (uint8_t)get(at, 1);
        o->acceptance = get(at, 4);
    }
}

static void read_arguments(const uint8_t *at, struct kit_can_operation *o)
{
    switch (o->code) {
    case KIT_CAN_CONFIRM:
    case KIT_CAN_ARBITRATION_LOST: o->id = get(&at, 4); break;
    case KIT_CAN_BUS_ERROR:
        o->id = get(&at, 4);
        o->error = (enum kit_can_error)get(&at, 1);
        o->flag = (enum kit_can_flag)get(&at, 1);
        o->sender = get(&at, 1);
        break;
    case KIT_CAN_CONFIGURATION:
        o->parameter = (enum kit_can_parameter)get(&at, 1);
        o->value = get(&at, o->parameter == KIT_CAN_ARBITRATION_LOST_BEHAVIOR ? 1 : 4);
        break;
    case KIT_CAN_STATUS: o->state = (enum kit_can_state)get(&at, 1); break;
    default: break;
    }
    if (is_frame(o->code))
        read_frame(&at, o);
    if (has_data(o->code)) {
        o->length = (uint16_t)get(&at, 2);
        o->data = at;
    }
}

/* The operation of `size` bytes at `at`; false: it is none. */
static bool read_operation(const uint8_t *at, uint32_t size, struct kit_can_operation *o)
{
    const uint8_t *rest = at;
    *o = (struct kit_can_operation){.code = (enum kit_can_code)get(&rest, 4)};
    uint32_t parameter = o->code == KIT_CAN_CONFIGURATION && size > HEAD ? at[HEAD] : 0;
    size_t fixed = size_of(o->code, parameter);
    if (fixed == 0 || size < fixed)
        return false;
    read_arguments(at + HEAD, o);
    return size == fixed + o->length && is_good(o);
}

enum kit_can_result kit_can_next(const struct kit_binary *binary, size_t *at, struct kit_can_operation *operation)
{
    size_t left = binary->size > *at ? binary->size - *at : 0;
    if (left == 0)
        return KIT_CAN_END;
    const uint8_t *here = binary->data + *at, *length = here + 4;
    uint32_t size = left >= HEAD ? get(&length, 4) : 0;
    bool believed = size >= HEAD && size <= left;
    size_t taken = believed ? size : left;
    *at += taken;
    if (believed && read_operation(here, size, operation))
        return KIT_CAN_READ;
    *operation = (struct kit_can_operation){
        .code = KIT_CAN_FORMAT_ERROR, .length = (uint16_t)(taken < UINT16_MAX ? taken : UINT16_MAX), .data = here};
    return KIT_CAN_MALFORMED;
}

/* ---- writing ---- */

static void write_frame(uint8_t **at, const struct kit_can_operation *o)
{
    put(at, o->id, 4);
    put(at, o->extended, 1);
    if (o->code == KIT_CAN_TRANSMIT) {
        put(at, o->remote, 1);
    } else if (o->code == KIT_CAN_FD_TRANSMIT) {
        put(at, o->bit_rate_switch, 1);
        put(at, o->error_state, 1);
    } else {
        put(at, o->simple_extended_content, 1);
        put(at, o->sdu_type, 1);
        put(at, o->virtual_network, 1);
        put(at, o->acceptance, 4);
    }
}

static void write_operation(uint8_t *at, const struct kit_can_operation *o, size_t size)
{
    put(&at, o->code, 4);
    put(&at, size, 4);
    if (is_frame(o->code))
        write_frame(&at, o);
    if (o->code == KIT_CAN_CONFIRM || o->code == KIT_CAN_ARBITRATION_LOST || o->code == KIT_CAN_BUS_ERROR)
        put(&at, o->id, 4);
    if (o->code == KIT_CAN_BUS_ERROR) {
        put(&at, o->error, 1);
        put(&at, o->flag, 1);
        put(&at, o->sender, 1);
    }
    if (o->code == KIT_CAN_CONFIGURATION) {
        put(&at, o->parameter, 1);
        put(&at, o->value, o->parameter == KIT_CAN_ARBITRATION_LOST_BEHAVIOR ? 1 : 4);
    }
    if (o->code == KIT_CAN_STATUS)
        put(&at, o->state, 1);
    if (has_data(o->code)) {
        put(&at, o->length, 2);
        if (o->length > 0)
            memcpy(at, o->data, o->length);
    }
}

enum kit_status kit_can_append(struct kit *kit, struct kit_binary *binary, const struct kit_can_operation *operation)
{
    size_t size = size_of(operation->code, operation->parameter);
    if (size == 0 || !is_good(operation))
        return kit_fail(kit, KIT_ERROR, "an operation of CAN with code 0x%02x has a value that CAN does not know",
                        (unsigned)operation->code);
    size += has_data(operation->code) ? operation->length : 0;
    uint8_t *bytes = malloc(binary->size + size);
    if (!bytes)
        return kit_fail(kit, KIT_ERROR, "out of memory for %zu bytes", binary->size + size);
    if (binary->size > 0)
        memcpy(bytes, binary->data, binary->size);
    write_operation(bytes + binary->size, operation, size);
    enum kit_status status = kit_set_binary(kit, binary, bytes, binary->size + size);
    free(bytes);
    return status;
}

/* ---- on the wire ---- */

enum {
    AFTER_CRC = 1 + 2 + 7, /* delimiter of the checksum, acknowledgement and its delimiter, end of frame */
    STUFFED_MOST = 64 + 8 * KIT_CAN_FD_MOST_DATA, /* bits that are stuffed, at most */
};

struct bits {
    uint8_t bit[STUFFED_MOST];
    unsigned count;
};

static void push(struct bits *bits, uint32_t value, unsigned width)
{
    while (width-- > 0)
        bits->bit[bits->count++] = value >> width & 1;
}

/* After five equal bits a complementary bit is inserted, which counts for the next five. `from`: counts only those from
 * that bit on. */
static unsigned count_stuff(const struct bits *bits, unsigned from)
{
    unsigned run = 0, stuffed = 0;
    uint8_t last = 2;
    for (unsigned i = 0; i < bits->count; i++) {
        run = bits->bit[i] == last ? run + 1 : 1;
        last = bits->bit[i];
        if (run == 5) {
            stuffed += i >= from;
            last = !last;
            run = 1;
        }
    }
    return stuffed;
}

/* Start of frame, identifier and control bits up to those of the format. */
static void push_head(struct bits *bits, const struct kit_can_operation *frame)
{
    bool fd = frame->code == KIT_CAN_FD_TRANSMIT;
    push(bits, 0, 1);
    if (frame->extended) {
        push(bits, frame->id >> 18, 11);
        push(bits, 3, 2); /* SRR, IDE */
        push(bits, frame->id & 0x3ffff, 18);
        push(bits, fd ? 0 : frame->remote, 1);
    } else {
        push(bits, frame->id, 11);
        push(bits, fd ? 0 : frame->remote, 1);
        push(bits, 0, 1); /* IDE */
    }
}

static void push_data(struct bits *bits, const struct kit_can_operation *frame)
{
    for (unsigned i = 0; i < frame->length && !frame->remote; i++)
        push(bits, frame->data[i], 8);
}

/* x^15 + x^14 + x^10 + x^8 + x^7 + x^4 + x^3 + 1 over all bits before it, without stuff bits. */
static uint32_t checksum(const struct bits *bits)
{
    uint32_t crc = 0;
    for (unsigned i = 0; i < bits->count; i++) {
        bool next = bits->bit[i] ^ (crc >> 14 & 1);
        crc = crc << 1 & 0x7fff;
        crc ^= next ? 0x4599 : 0;
    }
    return crc;
}

static unsigned classic_bits(const struct kit_can_operation *frame)
{
    struct bits bits = {.count = 0};
    push_head(&bits, frame);
    push(&bits, 0, frame->extended ? 2 : 1); /* reserved */
    push(&bits, frame->length, 4);
    push_data(&bits, frame);
    push(&bits, checksum(&bits), 15);
    return bits.count + count_stuff(&bits, 0) + AFTER_CRC;
}

static unsigned fd_code(unsigned length)
{
    unsigned code = length;
    static const uint8_t steps[] = {12, 16, 20, 24, 32, 48, 64};
    for (unsigned i = 0; i < sizeof steps; i++)
        if (length == steps[i])
            code = 9 + i;
    return code;
}

/* Up to BRS at the nominal rate; then ESI, length, data, count of stuff bits and checksum with their fixed stuff bits at the data rate; from the
 * delimiter of the checksum on at the nominal rate. */
static unsigned fd_bits(const struct kit_can_operation *frame, unsigned *fast)
{
    struct bits bits = {.count = 0};
    push_head(&bits, frame);
    push(&bits, 2, 2); /* FDF, res */
    push(&bits, frame->bit_rate_switch, 1);
    unsigned head = bits.count, crc = frame->length <= 16 ? 17 : 21, guarded = 4 + crc;
    push(&bits, frame->error_state, 1);
    push(&bits, fd_code(frame->length), 4);
    push_data(&bits, frame);
    unsigned all = count_stuff(&bits, 0), late = count_stuff(&bits, head);
    unsigned quick = bits.count - head + late + guarded + 1 + guarded / 4;
    *fast = frame->bit_rate_switch ? quick : 0;
    return head + all - late + AFTER_CRC + (frame->bit_rate_switch ? 0 : quick);
}

unsigned kit_can_bits(const struct kit_can_operation *frame, unsigned *fast)
{
    *fast = 0;
    if (frame->code == KIT_CAN_TRANSMIT)
        return classic_bits(frame);
    return frame->code == KIT_CAN_FD_TRANSMIT ? fd_bits(frame, fast) : 0;
}

/* The bits of the arbitration in wire order: of two frames the one that has a 0 where its competitor has a 1 wins. */
uint32_t kit_can_precedence(const struct kit_can_operation *frame)
{
    uint32_t remote = frame->code == KIT_CAN_TRANSMIT && frame->remote;
    if (!frame->extended)
        return frame->id << 21 | remote << 20;
    return (frame->id >> 18) << 21 | 3u << 19 | (frame->id & 0x3ffff) << 1 | remote;
}
