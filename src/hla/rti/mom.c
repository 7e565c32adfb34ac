/* SPDX-License-Identifier: MIT */
#include "hla/rti/mom.h"

#include <string.h>

#include "hla/rti/message_delivery.h"
#include "hla/fom/fom_module.h"

enum { MOST = 32 }; /* values of one message */

/* ---- encodings: HLAinteger32BE, HLAunicodeString, HLAhandle, HLAlogicalTime and what is made of them ---- */

static void put_u32(struct tt_text *bytes, uint32_t value)
{
    const char big[] = {(char)(value >> 24), (char)(value >> 16), (char)(value >> 8), (char)value};
    tt_text_append_n(bytes, big, sizeof big);
}

static void mom_put_utf16_unit(struct tt_text *bytes, uint32_t unit)
{
    const char big[] = {(char)(unit >> 8), (char)unit};
    tt_text_append_n(bytes, big, sizeof big);
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

void tt_mom_put_text(struct tt_text *bytes, const char *text)
{
    enum { SURROGATE = 0x10000, HIGH = 0xd800, LOW = 0xdc00, BITS = 10, REPLACEMENT = 0xfffd };
    struct tt_text units = {0};
    size_t length = 0;
    for (const char *at = text; *at; at += length ? length : 1) {
        length = tt_text_utf8_length(at);
        uint32_t character = length ? read_utf8(at, length) : REPLACEMENT;
        if (character >= SURROGATE)
            mom_put_utf16_unit(&units, HIGH + ((character - SURROGATE) >> BITS));
        mom_put_utf16_unit(&units, character < SURROGATE ? character : LOW + (character & ((1 << BITS) - 1)));
    }
    put_u32(bytes, (uint32_t)(units.length / 2));
    tt_text_append_n(bytes, units.length ? units.text : "", units.length);
    bytes->failed |= units.failed;
    tt_text_fini(&units);
}

static void put_handle(struct tt_text *bytes, uint32_t handle)
{
    put_u32(bytes, sizeof handle);
    put_u32(bytes, handle);
}

static void put_time(struct tt_text *bytes, enum tt_logical_time_kind kind, int64_t time)
{
    unsigned char encoded[TUTTI_TIME_BYTES];
    tt_logical_time_encode(kind, time, encoded);
    put_u32(bytes, sizeof encoded);
    tt_text_append_n(bytes, (const char *)encoded, sizeof encoded);
}

static void put_federates(struct tt_text *bytes, const struct tt_federation *federation)
{
    put_u32(bytes, (uint32_t)federation->federates.count);
    for (size_t i = 0; i < federation->federates.count; i++)
        put_handle(bytes, tt_federation_at(federation, i)->handle);
}

static void put_modules(struct tt_text *bytes, const struct tt_federation *federation)
{
    put_u32(bytes, (uint32_t)federation->module_count);
    for (size_t i = 0; i < federation->module_count; i++) {
        static const char padding[4] = {0};
        tt_mom_put_text(bytes, federation->modules[i]->tree->file);
        if (i + 1 < federation->module_count) /* the next one begins where its count may */
            tt_text_append_n(bytes, padding, (4 - bytes->length % 4) % 4);
    }
}

/* ---- values ---- */

static void put_federation_attribute(struct tt_text *bytes, const struct tt_federation *federation, uint32_t attribute)
{
    switch ((enum tt_mom_attribute)attribute) {
    case TUTTI_MOM_FEDERATION_HLAfederationName: tt_mom_put_text(bytes, federation->name); break;
    case TUTTI_MOM_FEDERATION_HLAfederatesInFederation: put_federates(bytes, federation); break;
    case TUTTI_MOM_FEDERATION_HLARTIversion: tt_mom_put_text(bytes, "Tutti " TUTTI_VERSION); break;
    case TUTTI_MOM_FEDERATION_HLAMIMdesignator: tt_mom_put_text(bytes, "HLAstandardMIM"); break;
    case TUTTI_MOM_FEDERATION_HLAFOMmoduleDesignatorList: put_modules(bytes, federation); break;
    case TUTTI_MOM_FEDERATION_HLAtimeImplementationName:
        tt_mom_put_text(bytes, tt_logical_time_kind_name(federation->time_kind));
        break;
    case TUTTI_MOM_FEDERATION_HLAautoProvide: put_u32(bytes, federation->fom->switches.auto_provide); break;
    default: break;
    }
}

static void put_federate_attribute(struct tt_text *bytes, const struct tt_federate *f, uint32_t attribute)
{
    enum tt_logical_time_kind kind = f->federation->time_kind;
    switch ((enum tt_mom_attribute)attribute) {
    case TUTTI_MOM_FEDERATE_HLAfederateHandle: put_handle(bytes, f->handle); break;
    case TUTTI_MOM_FEDERATE_HLAfederateName: tt_mom_put_text(bytes, f->name); break;
    case TUTTI_MOM_FEDERATE_HLAfederateType: tt_mom_put_text(bytes, f->type); break;
    case TUTTI_MOM_FEDERATE_HLARTIversion: tt_mom_put_text(bytes, "Tutti " TUTTI_VERSION); break;
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

static bool is_attribute_observed(const struct tt_object *object, uint32_t attribute)
{
    bool of_federate = attribute >= TUTTI_MOM_FEDERATE_HLAfederateHandle &&
                       attribute <= TUTTI_MOM_FEDERATE_HLAlookahead;
    bool of_federation = attribute >= TUTTI_MOM_FEDERATION_HLAfederationName &&
                         attribute <= TUTTI_MOM_FEDERATION_HLAautoProvide;
    return object->about ? of_federate : of_federation;
}

/* A message of the RTI. Takes the bytes, in which value i ends at ends[i]. NULL: memory is out. */
static struct tt_message *mom_make_message(struct tt_federation *federation, enum tt_message_kind kind,
                                           struct tt_text *bytes, const uint32_t *handles, const size_t *ends,
                                           size_t count)
{
    struct tt_hla_value values[MOST];
    for (size_t i = 0, begin = 0; i < count; begin = ends[i++])
        values[i] = (struct tt_hla_value){handles[i], {bytes->text + begin, ends[i] - begin}};
    struct tt_message *message = bytes->failed ? NULL : tt_message_new(kind, values, count, (struct tt_octets){0});
    tt_text_fini(bytes);
    if (!message)
        return NULL;
    message->number = ++federation->last_message;
    message->sent = TUTTI_ORDER_RECEIVE;
    message->transportation = TUTTI_FOM_RELIABLE;
    return message;
}

static struct tt_message *make_mom_update(struct tt_federation *federation, const struct tt_object *object,
                                          const uint32_t *attributes, size_t count)
{
    const struct tt_federate *about = tt_federation_member(federation, object->about);
    struct tt_text bytes = {0};
    uint32_t handles[MOST];
    size_t ends[MOST], told = 0;
    for (size_t i = 0; i < count && told < MOST; i++) {
        if (!is_attribute_observed(object, attributes[i]) || (object->about && !about))
            continue;
        if (about)
            put_federate_attribute(&bytes, about, attributes[i]);
        else
            put_federation_attribute(&bytes, federation, attributes[i]);
        handles[told] = attributes[i];
        ends[told++] = bytes.length;
    }
    struct tt_message *message = told ? mom_make_message(federation, TUTTI_MESSAGE_UPDATE, &bytes, handles, ends, told)
                                      : NULL;
    if (message)
        message->object = object->handle;
    return message;
}

void tt_mom_send_values(const struct tt_object *object, struct tt_federate *to, const uint32_t *attributes,
                        size_t count)
{
    struct tt_message *message = make_mom_update(to->federation, object, attributes, count);
    if (message)
        tt_message_deliver(to, message);
    tt_message_release(message);
}

/* To all that know the object; those that do not subscribe get nothing of it. */
static void mom_send_update(struct tt_federation *federation, uint32_t about, const uint32_t *attributes, size_t count)
{
    const struct tt_object *object = federation->has_mom ? tt_mom_find_object(federation, about) : NULL;
    struct tt_message *message = object ? make_mom_update(federation, object, attributes, count) : NULL;
    for (size_t i = 0; message && i < object->known_count; i++)
        tt_message_deliver(tt_federation_member(federation, object->known[i].federate), message);
    tt_message_release(message);
}

void tt_mom_update_time(struct tt_federate *federate)
{
    static const uint32_t switches[] = {TUTTI_MOM_FEDERATE_HLAtimeConstrained, TUTTI_MOM_FEDERATE_HLAtimeRegulating,
                                        TUTTI_MOM_FEDERATE_HLAasynchronousDelivery};
    mom_send_update(federate->federation, federate->handle, switches, sizeof switches / sizeof *switches);
}

void tt_mom_update_members(struct tt_federation *federation)
{
    static const uint32_t members[] = {TUTTI_MOM_FEDERATION_HLAfederatesInFederation};
    mom_send_update(federation, 0, members, 1);
}

void tt_mom_report_lost(struct tt_federate *lost, const char *why)
{
    static const uint32_t handles[] = {TUTTI_MOM_LOST_FEDERATE, TUTTI_MOM_LOST_NAME, TUTTI_MOM_LOST_TIME,
                                       TUTTI_MOM_LOST_FAULT};
    struct tt_federation *federation = lost->federation;
    struct tt_text bytes = {0};
    size_t ends[4];
    put_handle(&bytes, lost->handle);
    ends[0] = bytes.length;
    tt_mom_put_text(&bytes, lost->name);
    ends[1] = bytes.length;
    put_time(&bytes, federation->time_kind, lost->time.now);
    ends[2] = bytes.length;
    tt_mom_put_text(&bytes, why);
    ends[3] = bytes.length;
    struct tt_message *message = mom_make_message(federation, TUTTI_MESSAGE_INTERACTION, &bytes, handles, ends, 4);
    if (message)
        message->class = TUTTI_MOM_REPORT_FEDERATE_LOST;
    for (size_t i = 0; message && i < federation->federates.count; i++) {
        struct tt_federate *to = tt_federation_at(federation, i);
        if (to != lost && tt_federation_received_class(to, message->class))
            tt_message_deliver(to, message);
    }
    tt_message_release(message);
}

struct tt_object *tt_mom_find_object(const struct tt_federation *federation, uint32_t about)
{
    for (size_t i = 0; i < federation->objects.count; i++) {
        struct tt_object *object = federation->objects.items[i].item;
        if (object->of_rti && object->about == about && !object->deleter)
            return object;
    }
    return NULL;
}
