/* SPDX-License-Identifier: MIT */
/* Any bytes as a message of the tcp fabric. The first three say which layout the receiver expects of an exchange: how many pieces,
 * how many texts of which type; the rest is the message. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/ranks/fabric.h"
#include "sim/ranks/tcp_frame.h"

enum { MOST = 8, VALUES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
    if (!good)
        abort();
}

/* What was read must be written as it was. */
static void read_hello(const char *message, size_t size)
{
    static const uint8_t run[TUTTI_FRAME_RUN_ID] = {1, 2, 3};
    struct tt_frame_hello hello, ours, again;
    enum tt_frame_reason reason;
    char version[TUTTI_FRAME_VERSION];
    if (tt_tcp_frame_read_hello(message, size, &hello)) {
        tt_tcp_frame_fill_hello(&ours, run, 0, 2);
        reason = tt_tcp_frame_compare_hello(&hello, &ours);
        check(reason == TUTTI_FRAME_FINE ||
              tt_tcp_frame_fail_mismatch(reason, "rank 1", hello.version) == TUTTI_ERR_FORMAT);
        struct tt_byte_writer parcel = {0};
        tt_tcp_frame_write_hello(&parcel, &hello);
        check(tt_tcp_frame_read_hello(parcel.bytes, parcel.size, &again));
        check(hello.protocol != TUTTI_FRAME_PROTOCOL || memcmp(&hello, &again, sizeof hello) == 0);
        tt_bytes_fini(&parcel);
    }
    if (tt_tcp_frame_read_refusal(message, size, &reason, version))
        check(tt_tcp_frame_fail_mismatch(reason, "rank 1", version) == TUTTI_ERR_FORMAT);
}

static void read_head(const char *message, size_t size)
{
    struct tt_frame_head head;
    char bytes[TUTTI_FRAME_HEAD];
    if (!tt_tcp_frame_read_head(message, size, &head))
        return;
    tt_tcp_frame_write_head(bytes, &head);
    check(memcmp(bytes, message, sizeof bytes) == 0);
    if (head.kind == TUTTI_FRAME_STOP || head.kind == TUTTI_FRAME_GRANT) {
        tt_tcp_frame_write_u64(bytes, tt_tcp_frame_read_u64(message));
        check(memcmp(bytes, message + TUTTI_FRAME_HEAD, sizeof(uint64_t)) == 0);
    }
}

struct layout {
    struct tt_arena arena;
    struct tt_cargo_piece pieces[MOST];
    struct tt_cargo_text texts[MOST];
    struct tt_cargo cargo;
    bool has_strings;
    _Alignas(16) char values[VALUES];
};

static void lay_out(struct layout *layout, const uint8_t *shape)
{
    size_t offset = 0;
    layout->cargo = (struct tt_cargo){.pieces = layout->pieces, .texts = layout->texts};
    for (unsigned i = 0; i < shape[0] % MOST; i++) {
        size_t size = (size_t)1 << (shape[0] + i) % 7;
        layout->pieces[layout->cargo.piece_count++] = (struct tt_cargo_piece){offset, size};
        layout->cargo.size += size;
        offset += size + 3;
    }
    offset = (offset + 15) / 16 * 16;
    for (unsigned i = 0; i < shape[1] % MOST; i++) {
        enum tt_type type = shape[2] >> i & 1 ? TUTTI_TYPE_STRING : TUTTI_TYPE_BINARY;
        uint32_t count = 1 + (shape[1] / MOST + i) % 3;
        struct tt_owned *owned = tt_signals_owned_array(&layout->arena, count);
        check(owned != NULL);
        layout->texts[layout->cargo.text_count++] = (struct tt_cargo_text){offset, type, count, owned};
        layout->has_strings |= type == TUTTI_TYPE_STRING;
        offset += count * 16;
    }
}

static void read_cargo(const uint8_t *shape, const char *message, size_t size)
{
    struct layout layout = {0};
    lay_out(&layout, shape);
    enum tutti_err err = tt_fabric_cargo_unpack(&layout.cargo, layout.values, message, size);
    check(err != TUTTI_OK || layout.cargo.text_count > 0 || size == layout.cargo.size);
    if (!err && !layout.has_strings) { /* a String ends at its first zero */
        check(tt_fabric_cargo_size(&layout.cargo, layout.values) == size);
        char *again = malloc(size + 1);
        check(again != NULL);
        tt_fabric_cargo_pack(&layout.cargo, layout.values, again);
        check(memcmp(again, message, size) == 0);
        free(again);
    }
    for (uint32_t i = 0; i < layout.cargo.text_count; i++)
        tt_signals_owned_fini(layout.texts[i].owned, layout.texts[i].count);
    tt_arena_fini(&layout.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { SHAPE = 3 };
    if (size < SHAPE)
        return 0;
    char *message = malloc(size > SHAPE ? size - SHAPE : 1); /* of the exact size, so that an overread is detected */
    check(message != NULL);
    memcpy(message, data + SHAPE, size - SHAPE);
    read_head(message, size - SHAPE);
    read_hello(message, size - SHAPE);
    read_cargo(data, message, size - SHAPE);
    free(message);
    return 0;
}
