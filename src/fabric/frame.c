/* SPDX-License-Identifier: MIT */
#include "fabric/frame.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <tutti/run.h>

static const char magic[8] = "TUTTI";

void tutti_frame_put_head(char *at, const struct tutti_frame_head *head)
{
    uint32_t words[] = {htole32((uint32_t)head->kind), htole32(head->channel), htole32(head->number),
                        htole32(head->taken)};
    _Static_assert(sizeof words == TUTTI_FRAME_HEAD, "a head is four words");
    memcpy(at, words, sizeof words);
}

static bool body_fits(uint32_t kind, size_t size)
{
    switch ((enum tutti_frame_kind)kind) {
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

bool tutti_frame_get_head(const void *message, size_t size, struct tutti_frame_head *head)
{
    uint32_t words[4];
    if (size < sizeof words)
        return false;
    memcpy(words, message, sizeof words);
    uint32_t kind = le32toh(words[0]);
    if (kind == 0 || kind >= TUTTI_FRAME_KINDS || !body_fits(kind, size - sizeof words))
        return false;
    *head =
        (struct tutti_frame_head){(enum tutti_frame_kind)kind, le32toh(words[1]), le32toh(words[2]), le32toh(words[3])};
    return true;
}

void tutti_frame_put_u64(char *body, uint64_t value)
{
    value = htole64(value);
    memcpy(body, &value, sizeof value);
}

uint64_t tutti_frame_get_u64(const void *message)
{
    uint64_t value;
    memcpy(&value, (const char *)message + TUTTI_FRAME_HEAD, sizeof value);
    return le64toh(value);
}

void tutti_frame_introduce(struct tutti_frame_hello *hello, const uint8_t run[TUTTI_FRAME_RUN_ID], uint32_t rank,
                           uint32_t ranks)
{
    const uint64_t number = 0x0102030405060708;
    const double third = 1.0 / 3.0;
    *hello = (struct tutti_frame_hello){.protocol = TUTTI_FRAME_PROTOCOL, .rank = rank, .ranks = ranks};
    snprintf(hello->version, sizeof hello->version, "%s", tutti_version());
    memcpy(&hello->layout[0], &number, sizeof number);
    memcpy(&hello->layout[1], &third, sizeof third);
    memcpy(hello->run, run, sizeof hello->run);
}

static void put_head(struct tutti_parcel *parcel, enum tutti_frame_kind kind)
{
    char head[TUTTI_FRAME_HEAD];
    tutti_frame_put_head(head, &(struct tutti_frame_head){.kind = kind});
    tutti_parcel_put_bytes(parcel, head, sizeof head);
}

/* What every protocol begins with, so that the next one can still be told from garbage: magic, protocol, version. */
void tutti_frame_put_hello(struct tutti_parcel *parcel, const struct tutti_frame_hello *hello)
{
    put_head(parcel, TUTTI_FRAME_HELLO);
    tutti_parcel_put_bytes(parcel, magic, sizeof magic);
    tutti_parcel_put_u32(parcel, hello->protocol);
    tutti_parcel_put_text(parcel, hello->version);
    tutti_parcel_put_bytes(parcel, hello->layout, sizeof hello->layout);
    tutti_parcel_put_bytes(parcel, hello->run, sizeof hello->run);
    tutti_parcel_put_u32(parcel, hello->rank);
    tutti_parcel_put_u32(parcel, hello->ranks);
}

static struct tutti_unparcel body_of(const void *message, size_t size)
{
    const char *bytes = message;
    return (struct tutti_unparcel){.at = bytes + TUTTI_FRAME_HEAD, .end = bytes + size};
}

bool tutti_frame_get_hello(const void *message, size_t size, struct tutti_frame_hello *hello)
{
    struct tutti_frame_head head;
    if (!tutti_frame_get_head(message, size, &head) || head.kind != TUTTI_FRAME_HELLO)
        return false;
    struct tutti_unparcel in = body_of(message, size);
    const char *word = tutti_unparcel_bytes(&in, sizeof magic);
    *hello = (struct tutti_frame_hello){.protocol = tutti_unparcel_u32(&in)};
    const char *version = tutti_unparcel_text(&in);
    if (in.bad || !version || memcmp(word, magic, sizeof magic) != 0)
        return false;
    snprintf(hello->version, sizeof hello->version, "%s", version);
    if (hello->protocol != TUTTI_FRAME_PROTOCOL)
        return true;
    const void *layout = tutti_unparcel_bytes(&in, sizeof hello->layout);
    const void *run = tutti_unparcel_bytes(&in, sizeof hello->run);
    hello->rank = tutti_unparcel_u32(&in);
    hello->ranks = tutti_unparcel_u32(&in);
    if (in.bad || in.at != in.end)
        return false;
    memcpy(hello->layout, layout, sizeof hello->layout);
    memcpy(hello->run, run, sizeof hello->run);
    return true;
}

enum tutti_frame_reason tutti_frame_compare(const struct tutti_frame_hello *theirs,
                                            const struct tutti_frame_hello *ours)
{
    if (theirs->protocol != ours->protocol || strcmp(theirs->version, ours->version) != 0)
        return TUTTI_FRAME_OTHER_VERSION;
    if (memcmp(theirs->layout, ours->layout, sizeof ours->layout) != 0)
        return TUTTI_FRAME_OTHER_LAYOUT;
    if (memcmp(theirs->run, ours->run, sizeof ours->run) != 0 || theirs->ranks != ours->ranks)
        return TUTTI_FRAME_OTHER_RUN;
    return TUTTI_FRAME_FINE;
}

enum tutti_err tutti_frame_disagree(enum tutti_frame_reason reason, const char *who, const char *version)
{
    switch (reason) {
    case TUTTI_FRAME_OTHER_VERSION:
        return tutti_fail(TUTTI_ERR_FORMAT, "%s speaks version %s of Tutti, we %s: install the same version", who,
                          version, tutti_version());
    case TUTTI_FRAME_OTHER_LAYOUT:
        return tutti_fail(TUTTI_ERR_FORMAT, "%s is a machine with another byte order or other numbers than this one",
                          who);
    case TUTTI_FRAME_OTHER_RUN: return tutti_fail(TUTTI_ERR_FORMAT, "%s belongs to another run", who);
    case TUTTI_FRAME_NOT_EXPECTED:
        return tutti_fail(TUTTI_ERR_FORMAT, "%s does not expect us, or takes this rank for one that is there already",
                          who);
    default: return tutti_fail(TUTTI_ERR_FORMAT, "%s sent what no member of a run sends", who);
    }
}

void tutti_frame_put_refusal(struct tutti_parcel *parcel, enum tutti_frame_reason reason)
{
    put_head(parcel, TUTTI_FRAME_REFUSE);
    tutti_parcel_put_u32(parcel, (uint32_t)reason);
    tutti_parcel_put_text(parcel, tutti_version());
}

bool tutti_frame_get_refusal(const void *message, size_t size, enum tutti_frame_reason *reason,
                             char version[TUTTI_FRAME_VERSION])
{
    struct tutti_frame_head head;
    if (!tutti_frame_get_head(message, size, &head) || head.kind != TUTTI_FRAME_REFUSE)
        return false;
    struct tutti_unparcel in = body_of(message, size);
    uint32_t number = tutti_unparcel_u32(&in);
    const char *text = tutti_unparcel_text(&in);
    if (in.bad || !text || number == TUTTI_FRAME_FINE || number >= TUTTI_FRAME_REASONS)
        return false;
    *reason = (enum tutti_frame_reason)number;
    snprintf(version, TUTTI_FRAME_VERSION, "%s", text);
    return true;
}
