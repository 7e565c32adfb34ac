/* SPDX-License-Identifier: MIT */
#include "run/federate/encoding.h"

#include <string.h>

#include "base/text.h"
#include "fmu/description/type.h"
#include "model/system/conversion.h"

enum form { NUMBER, TRUTH, ASCII, UNICODE, OPAQUE };

struct tt_encoding {
    const char *name;
    enum tt_type type; /* what its bytes hold */
    enum form form;
    uint8_t size; /* of a number */
    bool little;
};

/* clang-format off */
static const struct tt_encoding encodings[] = {
    /* name                     type                form     size little */
    {"HLAfloat64BE",           TUTTI_TYPE_FLOAT64, NUMBER,  8, false},
    {"HLAfloat64LE",           TUTTI_TYPE_FLOAT64, NUMBER,  8, true},
    {"HLAfloat32BE",           TUTTI_TYPE_FLOAT32, NUMBER,  4, false},
    {"HLAfloat32LE",           TUTTI_TYPE_FLOAT32, NUMBER,  4, true},
    {"HLAinteger16BE",         TUTTI_TYPE_INT16,   NUMBER,  2, false},
    {"HLAinteger16LE",         TUTTI_TYPE_INT16,   NUMBER,  2, true},
    {"HLAinteger32BE",         TUTTI_TYPE_INT32,   NUMBER,  4, false},
    {"HLAinteger32LE",         TUTTI_TYPE_INT32,   NUMBER,  4, true},
    {"HLAinteger64BE",         TUTTI_TYPE_INT64,   NUMBER,  8, false},
    {"HLAinteger64LE",         TUTTI_TYPE_INT64,   NUMBER,  8, true},
    {"HLAunsignedInteger16BE", TUTTI_TYPE_UINT16,  NUMBER,  2, false},
    {"HLAunsignedInteger16LE", TUTTI_TYPE_UINT16,  NUMBER,  2, true},
    {"HLAunsignedInteger32BE", TUTTI_TYPE_UINT32,  NUMBER,  4, false},
    {"HLAunsignedInteger32LE", TUTTI_TYPE_UINT32,  NUMBER,  4, true},
    {"HLAunsignedInteger64BE", TUTTI_TYPE_UINT64,  NUMBER,  8, false},
    {"HLAunsignedInteger64LE", TUTTI_TYPE_UINT64,  NUMBER,  8, true},
    {"HLAoctet",               TUTTI_TYPE_UINT8,   NUMBER,  1, false},
    {"HLAbyte",                TUTTI_TYPE_UINT8,   NUMBER,  1, false},
    {"HLAinteger64Time",       TUTTI_TYPE_INT64,   NUMBER,  8, false},
    {"HLAfloat64Time",         TUTTI_TYPE_FLOAT64, NUMBER,  8, false},
    {"HLAboolean",             TUTTI_TYPE_BOOLEAN, TRUTH,   4, false},
    {"HLAASCIIstring",         TUTTI_TYPE_STRING,  ASCII,   0, false},
    {"HLAunicodeString",       TUTTI_TYPE_STRING,  UNICODE, 0, false},
    {"HLAopaqueData",          TUTTI_TYPE_BINARY,  OPAQUE,  0, false},
};
/* clang-format on */

enum { LONGEST_NAME = 256 };

const struct tt_encoding *tt_encoding_find(const char *data_type)
{
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
        if (strcmp(encodings[i].name, data_type) == 0)
            return &encodings[i];
    return NULL;
}

/* Simple and enumerated data types have a representation, which is a basic one. */
const struct tt_encoding *tt_encoding_find_in_model(const struct tt_fom *fom, const char *data_type)
{
    static const char KEY[] = "representation{";
    const struct tt_encoding *known = tt_encoding_find(data_type);
    const struct tt_fom_entry *entry = tt_fom_entry(&fom->data_types, tt_fom_find_entry(&fom->data_types, data_type));
    const char *found = known || !entry ? NULL : strstr(entry->columns, KEY);
    char name[LONGEST_NAME];
    size_t length = found ? strcspn(found + strlen(KEY), "}") : 0;
    if (!found || length >= sizeof name)
        return known;
    memcpy(name, found + strlen(KEY), length);
    name[length] = '\0';
    return tt_encoding_find(name);
}

const struct tt_encoding *tt_encoding_default(enum tt_type type)
{
    static const char *const names[TUTTI_TYPE_COUNT] = {
        [TUTTI_TYPE_FLOAT64] = "HLAfloat64BE",
        [TUTTI_TYPE_FLOAT32] = "HLAfloat32BE",
        [TUTTI_TYPE_INT8] = "HLAinteger16BE", /* the next larger one: HLA has none of 8 bits */
        [TUTTI_TYPE_UINT8] = "HLAoctet",
        [TUTTI_TYPE_INT16] = "HLAinteger16BE",
        [TUTTI_TYPE_UINT16] = "HLAunsignedInteger16BE",
        [TUTTI_TYPE_INT32] = "HLAinteger32BE",
        [TUTTI_TYPE_UINT32] = "HLAunsignedInteger32BE",
        [TUTTI_TYPE_INT64] = "HLAinteger64BE",
        [TUTTI_TYPE_UINT64] = "HLAunsignedInteger64BE",
        [TUTTI_TYPE_BOOLEAN] = "HLAboolean",
        [TUTTI_TYPE_STRING] = "HLAunicodeString",
        [TUTTI_TYPE_BINARY] = "HLAopaqueData",
        [TUTTI_TYPE_ENUMERATION] = "HLAinteger32BE",
    };
    return names[type] ? tt_encoding_find(names[type]) : NULL;
}

const char *tt_encoding_name(const struct tt_encoding *encoding)
{
    return encoding->name;
}

bool tt_encoding_supports(const struct tt_encoding *encoding, enum tt_type type)
{
    if (tt_type_is_text(encoding->type) || tt_type_is_text(type))
        return encoding->type == type;
    return type != TUTTI_TYPE_CLOCK;
}

/* ---- bytes ---- */

static void encoding_put_number(struct tt_byte_writer *out, uint64_t bits, size_t size, bool little)
{
    for (size_t i = 0; i < size; i++)
        tt_bytes_put_u8(out, (uint8_t)(bits >> 8 * (little ? i : size - 1 - i)));
}

static uint64_t get_number(const uint8_t *bytes, size_t size, bool little)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits = bits << 8 | bytes[little ? size - 1 - i : i];
    return bits;
}

/* The bits of a value in memory, and back, whatever the order of the machine's bytes. */
static uint64_t encoding_to_bits(const void *value, size_t size)
{
    uint8_t one = 0;
    uint16_t two = 0;
    uint32_t four = 0;
    uint64_t eight = 0;
    switch (size) {
    case 1: memcpy(&one, value, 1); return one;
    case 2: memcpy(&two, value, 2); return two;
    case 4: memcpy(&four, value, 4); return four;
    default: memcpy(&eight, value, 8); return eight;
    }
}

static void encoding_from_bits(uint64_t bits, void *value, size_t size)
{
    uint8_t one = (uint8_t)bits;
    uint16_t two = (uint16_t)bits;
    uint32_t four = (uint32_t)bits;
    const void *from = size == 1 ? (void *)&one : size == 2 ? (void *)&two : size == 4 ? (void *)&four : (void *)&bits;
    memcpy(value, from, size);
}

/* ---- texts: a count of 32 bits, then `count` characters ---- */

enum { COUNT = 4, LAST_ASCII = 0x7f, FIRST_PAIR = 0x10000, HIGH = 0xd800, LOW = 0xdc00, AFTER_LOW = 0xe000 };

/* Returns the next character of UTF-8; the replacement character for invalid bytes. */
static uint32_t next_character(const unsigned char **at)
{
    static const uint32_t least[] = {0, 0x80, 0x800, FIRST_PAIR};
    unsigned char first = *(*at)++;
    int more = first < 0x80 ? 0 : first < 0xc0 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf8 ? 3 : -1;
    uint32_t character = more <= 0 ? first : first & (0x3fU >> more);
    for (int i = 0; i < more; i++, (*at)++) {
        if ((**at & 0xc0) != 0x80)
            return 0xfffd;
        character = character << 6 | (**at & 0x3f);
    }
    bool half = character >= HIGH && character < AFTER_LOW;
    return more < 0 || character < least[more] || half || character > 0x10ffff ? 0xfffd : character;
}

static enum tutti_err encoding_put_text(const struct tt_encoding *encoding, const char *text,
                                        struct tt_byte_writer *out)
{
    size_t begin = out->size;
    uint32_t count = 0;
    encoding_put_number(out, 0, COUNT, false);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        uint32_t character = next_character(&at);
        bool ascii = encoding->form == ASCII, pair = character >= FIRST_PAIR;
        if (ascii && character > LAST_ASCII)
            return tt_fail(TUTTI_ERR_LIMIT, "'%s' has characters that HLAASCIIstring cannot have",
                           tt_text_excerpt(text).text);
        if (pair)
            encoding_put_number(out, HIGH + ((character - FIRST_PAIR) >> 10), 2, false);
        encoding_put_number(out, pair ? LOW + ((character - FIRST_PAIR) & 0x3ff) : character, ascii ? 1 : 2, false);
        count += pair ? 2 : 1;
    }
    for (size_t i = 0; i < COUNT && !out->failed; i++)
        out->bytes[begin + i] = (char)(count >> 8 * (COUNT - 1 - i));
    return out->failed ? tt_fail_memory() : TUTTI_OK;
}

static void encoding_put_utf8(struct tt_byte_writer *out, uint32_t character)
{
    int more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < FIRST_PAIR ? 2 : 3;
    static const uint8_t marks[] = {0, 0xc0, 0xe0, 0xf0};
    tt_bytes_put_u8(out, (uint8_t)(marks[more] | character >> 6 * more));
    while (more-- > 0)
        tt_bytes_put_u8(out, (uint8_t)(0x80 | (character >> 6 * more & 0x3f)));
}

static enum tutti_err get_unicode(const uint8_t *bytes, size_t count, struct tt_byte_writer *out)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t unit = (uint32_t)get_number(bytes + 2 * i, 2, false);
        uint32_t next = i + 1 < count ? (uint32_t)get_number(bytes + 2 * i + 2, 2, false) : 0;
        bool pair = unit >= HIGH && unit < LOW && next >= LOW && next < AFTER_LOW;
        if (unit == 0 || (unit >= HIGH && unit < AFTER_LOW && !pair))
            return tt_fail(TUTTI_ERR_FORMAT, "a text that is no UTF-16");
        encoding_put_utf8(out, pair ? FIRST_PAIR + ((unit - HIGH) << 10) + (next - LOW) : unit);
        i += pair;
    }
    return TUTTI_OK;
}

static enum tutti_err get_ascii(const uint8_t *bytes, size_t count, struct tt_byte_writer *out)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] == 0 || bytes[i] > LAST_ASCII)
            return tt_fail(TUTTI_ERR_FORMAT, "a text that is not in ASCII");
    tt_bytes_put_bytes(out, bytes, count);
    return TUTTI_OK;
}

static enum tutti_err get_text(const struct tt_encoding *encoding, const uint8_t *bytes, size_t size, void *value,
                               struct tt_owned *owned)
{
    size_t width = encoding->form == UNICODE ? 2 : 1;
    if (size < COUNT || (size - COUNT) / width != get_number(bytes, COUNT, false) || (size - COUNT) % width != 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%zu bytes that are no %s", size, encoding->name);
    struct tt_byte_writer text = {0};
    size_t count = (size - COUNT) / width;
    enum tutti_err err = TUTTI_OK;
    switch (encoding->form) {
    case UNICODE: err = get_unicode(bytes + COUNT, count, &text); break;
    case ASCII: err = get_ascii(bytes + COUNT, count, &text); break;
    default: tt_bytes_put_bytes(&text, bytes + COUNT, count);
    }
    if (!err && text.failed)
        err = tt_fail_memory();
    if (!err)
        err = tt_signals_owned_put(owned, encoding->type, text.bytes ? text.bytes : "", text.size, value);
    tt_bytes_fini(&text);
    return err;
}

/* ---- values ---- */

enum tutti_err tt_encoding_encode(const struct tt_encoding *encoding, enum tt_type type, const void *value,
                                  struct tt_byte_writer *out)
{
    struct tt_conversion conversion = {.from = type, .to = encoding->type, .factor = 1};
    tt_wide room = 0; /* as large as the largest */
    if (encoding->form == ASCII || encoding->form == UNICODE)
        return encoding_put_text(encoding, *(const char *const *)value, out);
    if (encoding->form == OPAQUE) {
        const struct tt_bytes *bytes = value;
        encoding_put_number(out, bytes->size, COUNT, false);
        tt_bytes_put_bytes(out, bytes->data, bytes->size);
        return out->failed ? tt_fail_memory() : TUTTI_OK;
    }
    TRY(tt_conversion_apply(&conversion, value, &room, 1));
    encoding_put_number(out, encoding_to_bits(&room, tt_type_size(encoding->type)), encoding->size, encoding->little);
    return out->failed ? tt_fail_memory() : TUTTI_OK;
}

enum tutti_err tt_encoding_decode(const struct tt_encoding *encoding, const void *bytes, size_t size, enum tt_type type,
                                  void *value, struct tt_owned *owned)
{
    struct tt_conversion conversion = {.from = encoding->type, .to = type, .factor = 1};
    tt_wide room = 0;
    if (tt_type_is_text(encoding->type))
        return get_text(encoding, bytes, size, value, owned);
    if (size != encoding->size)
        return tt_fail(TUTTI_ERR_FORMAT, "%zu bytes that are no %s", size, encoding->name);
    uint64_t bits = get_number(bytes, size, encoding->little);
    encoding_from_bits(encoding->form == TRUTH ? bits != 0 : bits, &room, tt_type_size(encoding->type));
    return tt_conversion_apply(&conversion, &room, value, 1);
}
