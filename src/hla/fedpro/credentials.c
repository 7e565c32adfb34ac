/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/credentials.h"

#include <string.h>

#include "base/text.h"
#include "hla/fedpro/fedpro_message.h"
#include "hla/rti/mom.h"

enum { LONGEST = 1024 };

/* One character of UTF-16 as UTF-8; returns its bytes. Surrogates are taken one by one: such a key does not fit any. */
static size_t payload_put_utf8(char *text, unsigned character)
{
    if (character < 0x80) {
        text[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        text[0] = (char)(0xc0 | character >> 6);
        text[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    text[0] = (char)(0xe0 | character >> 12);
    text[1] = (char)(0x80 | (character >> 6 & 0x3f));
    text[2] = (char)(0x80 | (character & 0x3f));
    return 3;
}

/* HLAunicodeString: how many characters in four bytes, then two bytes each, big-endian. */
static const char *payload_read_unicode(struct tt_payload_memory *memory, const uint8_t *bytes, size_t size)
{
    if (size < 4)
        return NULL;
    size_t count = tt_fedpro_message_get_u32(bytes), length = 0;
    if (count > LONGEST || size < 4 + 2 * count)
        return NULL;
    char *text = tt_payload_memory_allocate(memory, 3 * count + 1);
    for (size_t i = 0; text && i < count; i++)
        length += payload_put_utf8(text + length, (unsigned)bytes[4 + 2 * i] << 8 | bytes[5 + 2 * i]);
    return text;
}

const char *tt_payload_read_credentials(struct tt_payload_memory *memory, const Fedpro__Credentials *credentials)
{
    if (!credentials || strcmp(credentials->type, "HLAplainTextPassword") != 0)
        return NULL;
    return payload_read_unicode(memory, credentials->data.data, credentials->data.len);
}

const char *tt_payload_read_settings_key(struct tt_payload_memory *memory, const char *settings)
{
    static const char name[] = "tutti.key=";
    while (settings && *settings) {
        settings += strspn(settings, ", \t\r\n");
        size_t length = strcspn(settings, ",\r\n");
        if (strncmp(settings, name, sizeof name - 1) == 0) {
            size_t value = length - (sizeof name - 1);
            char *text = tt_payload_memory_allocate(memory, value + 1);
            return text ? memcpy(text, settings + sizeof name - 1, value) : NULL;
        }
        settings += length;
    }
    return NULL;
}

enum tutti_err tt_payload_make_credentials(struct tt_payload_memory *memory, const char *key, ProtobufCBinaryData *data)
{
    enum { BEYOND_UTF_16 = 4 }; /* bytes of characters that have two units there */
    struct tt_text text = {0};
    size_t length = 0;
    for (const char *at = key; *at; at += length) {
        length = tt_text_utf8_length(at);
        if (length == 0 || length == BEYOND_UTF_16)
            return tt_fail(TUTTI_ERR_ARGUMENT, "the key has a character that cannot be sent: use letters and digits");
    }
    tt_mom_put_text(&text, key);
    uint8_t *bytes = text.failed ? NULL : tt_payload_memory_allocate(memory, text.length);
    if (bytes)
        memcpy(bytes, text.text, text.length);
    *data = (ProtobufCBinaryData){text.length, bytes};
    tt_text_fini(&text);
    return bytes ? TUTTI_OK : tt_fail_memory();
}
