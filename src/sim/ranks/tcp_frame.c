/* SPDX-License-Identifier: MIT */
#include "sim/ranks/tcp_frame.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <tutti/run.h>

static const char magic[8] = "TUTTI";

void tt_tcp_frame_write_head(char *at, const struct tt_frame_head *head)
{
    uint32_t words[] = {htole32((uint32_t)head->kind), htole32(head->channel), htole32(head->number),
                        htole32(head->taken)};
    _Static_assert(sizeof words == TUTTI_FRAME_HEAD, "a head is four words");
    memcpy(at, words, sizeof words);
}

static bool frame_body_fits(uint32_t kind, size_t size)
{
    switch ((enum tt_frame_kind)kind) {
    case TUTTI_FRAME_ACK:
    case TUTTI_FRAME_PING:
    case TUTTI_FRAME_BYE: return size == 0;
    case TUTTI_FRAME_STOP:
    case TUTTI_FRAME_GRANT: return size == sizeof(uint64_t);
    case TUTTI_FRAME_REDUCE: return size % sizeof(double) == 0;
    case TUTTI_FRAME_HELLO:
    case TUTTI_FRAME_REFUSE: return size < 1024;
    default: return true;
    }
}

bool tt_tcp_frame_read_head(const void *message, size_t size, struct tt_frame_head *head)
{
    uint32_t words[4];
    if (size < sizeof words)
        return false;
    memcpy(words, message, sizeof words);
    uint32_t kind = le32toh(words[0]);
    if (kind == 0 || kind >= TUTTI_FRAME_KINDS || !frame_body_fits(kind, size - sizeof words))
        return false;
    *head = (struct tt_frame_head){(enum tt_frame_kind)kind, le32toh(words[1]), le32toh(words[2]), le32toh(words[3])};
    return true;
}

void tt_tcp_frame_write_u64(char *body, uint64_t value)
{
    value = htole64(value);
    memcpy(body, &value, sizeof value);
}

uint64_t tt_tcp_frame_read_u64(const void *message)
{
    uint64_t value;
    memcpy(&value, (const char *)message + TUTTI_FRAME_HEAD, sizeof value);
    return le64toh(value);
}

void tt_tcp_frame_fill_hello(struct tt_frame_hello *hello, const uint8_t run[TUTTI_FRAME_RUN_ID], uint32_t rank,
                             uint32_t ranks)
{
    const uint64_t number = 0x0102030405060708;
    const double third = 1.0 / 3.0;
    *hello = (struct tt_frame_hello){.protocol = TUTTI_FRAME_PROTOCOL, .rank = rank, .ranks = ranks};
    snprintf(hello->version, sizeof hello->version, "%s", tutti_version());
    memcpy(&hello->layout[0], &number, sizeof number);
    memcpy(&hello->layout[1], &third, sizeof third);
    memcpy(hello->run, run, sizeof hello->run);
}

static void put_frame_head(struct tt_byte_writer *parcel, enum tt_frame_kind kind)
{
    char head[TUTTI_FRAME_HEAD];
    tt_tcp_frame_write_head(head, &(struct tt_frame_head){.kind = kind});
    tt_bytes_put_bytes(parcel, head, sizeof head);
}

/* The common beginning of every protocol version, which distinguishes it from garbage: magic, protocol, version. */
void tt_tcp_frame_write_hello(struct tt_byte_writer *parcel, const struct tt_frame_hello *hello)
{
    put_frame_head(parcel, TUTTI_FRAME_HELLO);
    tt_bytes_put_bytes(parcel, magic, sizeof magic);
    tt_bytes_put_u32(parcel, hello->protocol);
    tt_bytes_put_text(parcel, hello->version);
    tt_bytes_put_bytes(parcel, hello->layout, sizeof hello->layout);
    tt_bytes_put_bytes(parcel, hello->run, sizeof hello->run);
    tt_bytes_put_u32(parcel, hello->rank);
    tt_bytes_put_u32(parcel, hello->ranks);
}

static struct tt_byte_reader frame_body(const void *message, size_t size)
{
    const char *bytes = message;
    return (struct tt_byte_reader){.at = bytes + TUTTI_FRAME_HEAD, .end = bytes + size};
}

bool tt_tcp_frame_read_hello(const void *message, size_t size, struct tt_frame_hello *hello)
{
    struct tt_frame_head head;
    if (!tt_tcp_frame_read_head(message, size, &head) || head.kind != TUTTI_FRAME_HELLO)
        return false;
    struct tt_byte_reader in = frame_body(message, size);
    const char *word = tt_bytes_get(&in, sizeof magic);
    *hello = (struct tt_frame_hello){.protocol = tt_bytes_get_u32(&in)};
    const char *version = tt_bytes_get_text(&in);
    if (in.bad || !version || memcmp(word, magic, sizeof magic) != 0)
        return false;
    snprintf(hello->version, sizeof hello->version, "%s", version);
    if (hello->protocol != TUTTI_FRAME_PROTOCOL)
        return true;
    const void *layout = tt_bytes_get(&in, sizeof hello->layout);
    const void *run = tt_bytes_get(&in, sizeof hello->run);
    hello->rank = tt_bytes_get_u32(&in);
    hello->ranks = tt_bytes_get_u32(&in);
    if (in.bad || in.at != in.end)
        return false;
    memcpy(hello->layout, layout, sizeof hello->layout);
    memcpy(hello->run, run, sizeof hello->run);
    return true;
}

enum tt_frame_reason tt_tcp_frame_compare_hello(const struct tt_frame_hello *theirs, const struct tt_frame_hello *ours)
{
    if (theirs->protocol != ours->protocol || strcmp(theirs->version, ours->version) != 0)
        return TUTTI_FRAME_OTHER_VERSION;
    if (memcmp(theirs->layout, ours->layout, sizeof ours->layout) != 0)
        return TUTTI_FRAME_OTHER_LAYOUT;
    if (memcmp(theirs->run, ours->run, sizeof ours->run) != 0 || theirs->ranks != ours->ranks)
        return TUTTI_FRAME_OTHER_RUN;
    return TUTTI_FRAME_FINE;
}

enum tutti_err tt_tcp_frame_fail_mismatch(enum tt_frame_reason reason, const char *who, const char *version)
{
    switch (reason) {
    case TUTTI_FRAME_OTHER_VERSION:
        return tt_fail(TUTTI_ERR_FORMAT, "%s speaks version %s of Tutti, we %s: install the same version", who, version,
                       tutti_version());
    case TUTTI_FRAME_OTHER_LAYOUT:
        return tt_fail(TUTTI_ERR_FORMAT, "%s is a machine with another byte order or other numbers than this one", who);
    case TUTTI_FRAME_OTHER_RUN: return tt_fail(TUTTI_ERR_FORMAT, "%s belongs to another run", who);
    case TUTTI_FRAME_NOT_EXPECTED:
        return tt_fail(TUTTI_ERR_FORMAT, "%s does not expect us, or takes this rank for one that is there already",
                       who);
    default: return tt_fail(TUTTI_ERR_FORMAT, "%s sent what no member of a run sends", who);
    }
}

void tt_tcp_frame_write_refusal(struct tt_byte_writer *parcel, enum tt_frame_reason reason)
{
    put_frame_head(parcel, TUTTI_FRAME_REFUSE);
    tt_bytes_put_u32(parcel, (uint32_t)reason);
    tt_bytes_put_text(parcel, tutti_version());
}

bool tt_tcp_frame_read_refusal(const void *message, size_t size, enum tt_frame_reason *reason,
                               char version[TUTTI_FRAME_VERSION])
{
    struct tt_frame_head head;
    if (!tt_tcp_frame_read_head(message, size, &head) || head.kind != TUTTI_FRAME_REFUSE)
        return false;
    struct tt_byte_reader in = frame_body(message, size);
    uint32_t number = tt_bytes_get_u32(&in);
    const char *text = tt_bytes_get_text(&in);
    if (in.bad || !text || number == TUTTI_FRAME_FINE || number >= TUTTI_FRAME_REASONS)
        return false;
    *reason = (enum tt_frame_reason)number;
    snprintf(version, TUTTI_FRAME_VERSION, "%s", text);
    return true;
}
