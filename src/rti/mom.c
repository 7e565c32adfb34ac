/* SPDX-License-Identifier: MIT */
#include "rti/mom.h"

#include <string.h>

#include "rti/delivery.h"
#include "rti/fom/standard.h"

enum { MOST = 32 }; /* values of one message */

/* ---- encodings: HLAinteger32BE, HLAunicodeString, HLAhandle, HLAlogicalTime and what is made of them ---- */

static void put_u32(struct tutti_text *bytes, uint32_t value)
{
    const char big[] = {(char)(value >> 24), (char)(value >> 16), (char)(value >> 8), (char)value};
    tutti_text_append_n(bytes, big, sizeof big);
}

static void put_unit(struct tutti_text *bytes, uint32_t unit)
{
    const char big[] = {(char)(unit >> 8), (char)unit};
    tutti_text_append_n(bytes, big, sizeof big);
}

/* The character of UTF-8 at `text`; its bytes are `length`. */
static uint32_t read_utf8(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (length == 1)
        return bytes[0];
    uint32_t character = bytes[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++)
        character = character << 6 | (bytes[i] & 0x3f);
    return character;
}

void tutti_mom_put_text(struct tutti_text *bytes, const char *text)
{
    enum { SURROGATE = 0x10000, HIGH = 0xd800, LOW = 0xdc00, BITS = 10, REPLACEMENT = 0xfffd };
    struct tutti_text units = {0};
    size_t length = 0;
    for (const char *at = text; *at; at += length ? length : 1) {
        length = tutti_str_utf8_length(at);
        uint32_t character = length ? read_utf8(at, length) : REPLACEMENT;
        if (character >= SURROGATE)
            put_unit(&units, HIGH + ((character - SURROGATE) >> BITS));
        put_unit(&units, character < SURROGATE ? character : LOW + (character & ((1 << BITS) - 1)));
    }
    put_u32(bytes, (uint32_t)(units.length / 2));
    tutti_text_append_n(bytes, units.length ? units.text : "", units.length);
    bytes->failed |= units.failed;
    tutti_text_fini(&units);
}

static void put_handle(struct tutti_text *bytes, uint32_t handle)
{
    put_u32(bytes, sizeof handle);
    put_u32(bytes, handle);
}

static void put_time(struct tutti_text *bytes, enum tutti_time_kind kind, int64_t time)
{
    unsigned char encoded[TUTTI_TIME_BYTES];
    tutti_time_encode(kind, time, encoded);
    put_u32(bytes, sizeof encoded);
    tutti_text_append_n(bytes, (const char *)encoded, sizeof encoded);
}

static void put_federates(struct tutti_text *bytes, const struct tutti_federation *federation)
{
    put_u32(bytes, (uint32_t)federation->federates.count);
    for (size_t i = 0; i < federation->federates.count; i++)
        put_handle(bytes, tutti_federation_at(federation, i)->handle);
}

static void put_modules(struct tutti_text *bytes, const struct tutti_federation *federation)
{
    put_u32(bytes, (uint32_t)federation->module_count);
    for (size_t i = 0; i < federation->module_count; i++) {
        static const char padding[4] = {0};
        tutti_mom_put_text(bytes, federation->modules[i]->tree->file);
        if (i + 1 < federation->module_count) /* the next one begins where its count may */
            tutti_text_append_n(bytes, padding, (4 - bytes->length % 4) % 4);
    }
}

/* ---- values ---- */

static void put_of_federation(struct tutti_text *bytes, const struct tutti_federation *federation, uint32_t attribute)
{
    switch ((enum tutti_mom_attribute)attribute) {
    case TUTTI_MOM_FEDERATION_HLAfederationName: tutti_mom_put_text(bytes, federation->name); break;
    case TUTTI_MOM_FEDERATION_HLAfederatesInFederation: put_federates(bytes, federation); break;
    case TUTTI_MOM_FEDERATION_HLARTIversion: tutti_mom_put_text(bytes, "Tutti " TUTTI_VERSION); break;
    case TUTTI_MOM_FEDERATION_HLAMIMdesignator: tutti_mom_put_text(bytes, "HLAstandardMIM"); break;
    case TUTTI_MOM_FEDERATION_HLAFOMmoduleDesignatorList: put_modules(bytes, federation); break;
    case TUTTI_MOM_FEDERATION_HLAtimeImplementationName:
        tutti_mom_put_text(bytes, tutti_time_kind_name(federation->time_kind));
        break;
    case TUTTI_MOM_FEDERATION_HLAautoProvide: put_u32(bytes, federation->fom->switches.auto_provide); break;
    default: break;
    }
}

static void put_of_federate(struct tutti_text *bytes, const struct tutti_federate *f, uint32_t attribute)
{
    enum tutti_time_kind kind = f->federation->time_kind;
    switch ((enum tutti_mom_attribute)attribute) {
    case TUTTI_MOM_FEDERATE_HLAfederateHandle: put_handle(bytes, f->handle); break;
    case TUTTI_MOM_FEDERATE_HLAfederateName: tutti_mom_put_text(bytes, f->name); break;
    case TUTTI_MOM_FEDERATE_HLAfederateType: tutti_mom_put_text(bytes, f->type); break;
    case TUTTI_MOM_FEDERATE_HLARTIversion: tutti_mom_put_text(bytes, "Tutti " TUTTI_VERSION); break;
    case TUTTI_MOM_FEDERATE_HLAtimeConstrained: put_u32(bytes, f->time.constrained); break;
    case TUTTI_MOM_FEDERATE_HLAtimeRegulating: put_u32(bytes, f->time.regulating); break;
    case TUTTI_MOM_FEDERATE_HLAasynchronousDelivery: put_u32(bytes, f->time.asynchronous); break;
    case TUTTI_MOM_FEDERATE_HLAlogicalTime: put_time(bytes, kind, f->time.now); break;
    case TUTTI_MOM_FEDERATE_HLAlookahead:
        if (f->time.regulating)
            put_time(bytes, kind, f->time.lookahead);
        else
            put_u32(bytes, 0); /* not defined */
        break;
    default: break;
    }
}

static bool is_told(const struct tutti_object *object, uint32_t attribute)
{
    bool of_federate = attribute >= TUTTI_MOM_FEDERATE_HLAfederateHandle &&
                       attribute <= TUTTI_MOM_FEDERATE_HLAlookahead;
    bool of_federation = attribute >= TUTTI_MOM_FEDERATION_HLAfederationName &&
                         attribute <= TUTTI_MOM_FEDERATION_HLAautoProvide;
    return object->about ? of_federate : of_federation;
}

/* A message of the RTI. Takes the bytes, in which value i ends at ends[i]. NULL: memory is out. */
static struct tutti_message *make(struct tutti_federation *federation, enum tutti_message_kind kind,
                                  struct tutti_text *bytes, const uint32_t *handles, const size_t *ends, size_t count)
{
    struct tutti_value values[MOST];
    for (size_t i = 0, begin = 0; i < count; begin = ends[i++])
        values[i] = (struct tutti_value){handles[i], {bytes->text + begin, ends[i] - begin}};
    struct tutti_message *message = bytes->failed ? NULL
                                                  : tutti_message_new(kind, values, count, (struct tutti_octets){0});
    tutti_text_fini(bytes);
    if (!message)
        return NULL;
    message->number = ++federation->last_message;
    message->sent = TUTTI_ORDER_RECEIVE;
    message->transportation = TUTTI_FOM_RELIABLE;
    return message;
}

static struct tutti_message *make_update(struct tutti_federation *federation, const struct tutti_object *object,
                                         const uint32_t *attributes, size_t count)
{
    const struct tutti_federate *about = tutti_federation_member(federation, object->about);
    struct tutti_text bytes = {0};
    uint32_t handles[MOST];
    size_t ends[MOST], told = 0;
    for (size_t i = 0; i < count && told < MOST; i++) {
        if (!is_told(object, attributes[i]) || (object->about && !about))
            continue;
        if (about)
            put_of_federate(&bytes, about, attributes[i]);
        else
            put_of_federation(&bytes, federation, attributes[i]);
        handles[told] = attributes[i];
        ends[told++] = bytes.length;
    }
    struct tutti_message *message = told ? make(federation, TUTTI_MESSAGE_UPDATE, &bytes, handles, ends, told) : NULL;
    if (message)
        message->object = object->handle;
    return message;
}

void tutti_mom_answer(const struct tutti_object *object, struct tutti_federate *to, const uint32_t *attributes,
                      size_t count)
{
    struct tutti_message *message = make_update(to->federation, object, attributes, count);
    if (message)
        tutti_deliver(to, message);
    tutti_message_release(message);
}

/* To all that know the object; those that do not subscribe get nothing of it. */
static void update(struct tutti_federation *federation, uint32_t about, const uint32_t *attributes, size_t count)
{
    const struct tutti_object *object = federation->has_mom ? tutti_mom_object(federation, about) : NULL;
    struct tutti_message *message = object ? make_update(federation, object, attributes, count) : NULL;
    for (size_t i = 0; message && i < object->known_count; i++)
        tutti_deliver(tutti_federation_member(federation, object->known[i].federate), message);
    tutti_message_release(message);
}

void tutti_mom_time_changed(struct tutti_federate *federate)
{
    static const uint32_t switches[] = {TUTTI_MOM_FEDERATE_HLAtimeConstrained, TUTTI_MOM_FEDERATE_HLAtimeRegulating,
                                        TUTTI_MOM_FEDERATE_HLAasynchronousDelivery};
    update(federate->federation, federate->handle, switches, sizeof switches / sizeof *switches);
}

void tutti_mom_members_changed(struct tutti_federation *federation)
{
    static const uint32_t members[] = {TUTTI_MOM_FEDERATION_HLAfederatesInFederation};
    update(federation, 0, members, 1);
}

void tutti_mom_report_lost(struct tutti_federate *lost, const char *why)
{
    static const uint32_t handles[] = {TUTTI_MOM_LOST_FEDERATE, TUTTI_MOM_LOST_NAME, TUTTI_MOM_LOST_TIME,
                                       TUTTI_MOM_LOST_FAULT};
    struct tutti_federation *federation = lost->federation;
    struct tutti_text bytes = {0};
    size_t ends[4];
    put_handle(&bytes, lost->handle);
    ends[0] = bytes.length;
    tutti_mom_put_text(&bytes, lost->name);
    ends[1] = bytes.length;
    put_time(&bytes, federation->time_kind, lost->time.now);
    ends[2] = bytes.length;
    tutti_mom_put_text(&bytes, why);
    ends[3] = bytes.length;
    struct tutti_message *message = make(federation, TUTTI_MESSAGE_INTERACTION, &bytes, handles, ends, 4);
    if (message)
        message->class = TUTTI_MOM_REPORT_FEDERATE_LOST;
    for (size_t i = 0; message && i < federation->federates.count; i++) {
        struct tutti_federate *to = tutti_federation_at(federation, i);
        if (to != lost && tutti_federate_receives(to, message->class))
            tutti_deliver(to, message);
    }
    tutti_message_release(message);
}

struct tutti_object *tutti_mom_object(const struct tutti_federation *federation, uint32_t about)
{
    for (size_t i = 0; i < federation->objects.count; i++) {
        struct tutti_object *object = federation->objects.items[i].item;
        if (object->of_rti && object->about == about && !object->deleter)
            return object;
    }
    return NULL;
}
