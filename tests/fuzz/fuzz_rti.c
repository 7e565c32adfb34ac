/* SPDX-License-Identifier: MIT */
/* Calls of services by four programs, as the bytes say, in a federation with narrow bounds; what federation.h promises is checked after each. */
#include <stdlib.h>
#include <string.h>

#include "hla/rti/declarations.h"
#include "hla/fom/fom_module.h"
#include "hla/rti/objects.h"
#include "hla/rti/ownership.h"
#include "hla/rti/rti.h"
#include "hla/rti/support.h"
#include "hla/rti/time_management.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROGRAMS = 4, MOST_SET = 3 };

static const char base[] =
    "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2025\">"
    "<objects><objectClass><name>HLAobjectRoot</name><objectClass><name>A</name>"
    "<attribute><name>x</name><order>TimeStamp</order></attribute><attribute><name>y</name></attribute>"
    "<objectClass><name>B</name><attribute><name>z</name><order>TimeStamp</order></attribute></objectClass>"
    "</objectClass></objectClass></objects>"
    "<interactions><interactionClass><name>HLAinteractionRoot</name><interactionClass><name>I</name><order>TimeStamp</"
    "order>"
    "<parameter><name>p</name></parameter><interactionClass><name>J</name><parameter><name>q</name></parameter></"
    "interactionClass>"
    "</interactionClass></interactionClass></interactions>"
    "<switches><autoProvide isEnabled=\"true\"/><attributeScopeAdvisory isEnabled=\"true\"/>"
    "<attributeRelevanceAdvisory isEnabled=\"true\"/><objectClassRelevanceAdvisory isEnabled=\"true\"/>"
    "<interactionRelevanceAdvisory isEnabled=\"true\"/></switches></objectModel>";
static const char more[] =
    "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2025\">"
    "<objects><objectClass><name>HLAobjectRoot</name><objectClass><name>A</name><attribute><name>w</name></attribute>"
    "<objectClass><name>C</name></objectClass></objectClass></objectClass></objects>"
    "<interactions><interactionClass><name>HLAinteractionRoot</name><interactionClass><name>K</name></interactionClass>"
    "</interactionClass></interactions></objectModel>";

static const char *const names[] = {"a", "b", "c", "HLAx", ""};

struct play {
    const uint8_t *data;
    size_t size;
    struct tt_rti *rti;
    struct tt_ambassador *a[PROGRAMS];
    uint64_t retraction;
};

static unsigned next(struct play *p, unsigned most)
{
    if (!p->size)
        return 0;
    p->size--;
    return *p->data++ % (most + 1);
}

/* A class of objects or of interactions: none, the root, one of the standard's, or one of the modules above. */
static uint32_t some_class(struct play *p)
{
    static const uint32_t classes[] = {0,
                                       TUTTI_FOM_OBJECT_ROOT,
                                       TUTTI_MOM_FEDERATE,
                                       TUTTI_MOM_FEDERATION + 1,
                                       TUTTI_MOM_FEDERATION + 2,
                                       TUTTI_MOM_FEDERATION + 3};
    return classes[next(p, 5)];
}

/* The same for attributes and parameters. */
static uint32_t some_member(struct play *p)
{
    static const uint32_t members[] = {0,
                                       TUTTI_FOM_PRIVILEGE_TO_DELETE,
                                       TUTTI_MOM_FEDERATE_HLAfederateName,
                                       TUTTI_MOM_FEDERATION_HLAautoProvide + 1,
                                       TUTTI_MOM_FEDERATION_HLAautoProvide + 2,
                                       TUTTI_MOM_FEDERATION_HLAautoProvide + 3,
                                       TUTTI_MOM_LOST_FAULT + 1};
    return members[next(p, 6)];
}

static const char *some_name(struct play *p)
{
    return names[next(p, 4)];
}

static int64_t some_time(struct play *p)
{
    int64_t time;
    return tt_logical_time_from_double(TUTTI_TIME_FLOAT64, next(p, 12) * 0.5, &time) ? time : 0;
}

static void check_object(const struct tt_federation *federation, const struct tt_object *object)
{
    for (size_t i = 0; i < object->known_count; i++)
        if ((i && object->known[i].federate <= object->known[i - 1].federate) || !object->known[i].class ||
            !tt_federation_member(federation, object->known[i].federate))
            abort();
    for (size_t i = 0; i < object->attribute_count; i++) {
        const struct tt_object_attribute *a = &object->attributes[i];
        if ((i && a->attribute <= object->attributes[i - 1].attribute) ||
            (a->owner && a->owner != TUTTI_OWNED_BY_RTI && !tt_federation_member(federation, a->owner)) ||
            (a->owner && tt_federation_has_handle(&a->acquirers, a->owner)) || (!a->owner && a->divesting))
            abort();
        for (size_t k = 0; k < a->acquirers.count; k++)
            if (!tt_federation_member(federation, a->acquirers.items[k]))
                abort();
    }
    if (object->deleter && object->known_count == 0)
        abort();
}

static void check_federate(struct tt_federate *f)
{
    const struct tt_message *first = tt_message_heap_first(&f->tso);
    struct tt_time_status status;
    tt_time_management_status(f, &status);
    if (f->time.constrained && ((first && first->time < f->time.now) || (status.has_galt && status.galt < f->time.now)))
        abort();
    if ((!f->time.constrained && (f->tso.count || f->held_count)) || f->ambassador->federate != f)
        abort();
}

static void check_federation(const struct tt_federation *federation)
{
    for (size_t i = 0; i < federation->objects.count; i++)
        check_object(federation, federation->objects.items[i].item);
    for (size_t i = 0; i < federation->federates.count; i++)
        check_federate(tt_federation_at(federation, i));
    for (size_t i = 0; i < federation->name_count; i++) {
        if (i && strcmp(federation->names[i - 1].name, federation->names[i].name) >= 0)
            abort();
        if (federation->names[i].object && !tt_federation_object(federation, federation->names[i].object))
            abort();
    }
    for (size_t i = 0; i < federation->point_count; i++)
        for (size_t k = 0; k < federation->points[i].count; k++)
            if (!tt_federation_member(federation, federation->points[i].members[k].federate))
                abort();
}

/* What waits is what is counted. */
static void check_queue(const struct tt_ambassador *a)
{
    size_t count = 0, bytes = 0;
    for (const struct tt_callback *c = a->first; c; c = c->next) {
        count++;
        bytes += c->size;
    }
    const struct tt_federate *f = a->federate;
    for (size_t i = 0; f && i < f->tso.count; i++, count++)
        bytes += f->tso.items[i]->size;
    for (size_t i = 0; f && i < f->held_count; i++, count++)
        bytes += f->held[i]->size;
    if (count != a->count || bytes != a->bytes || count > a->rti->limits.callbacks || bytes > a->rti->limits.bytes)
        abort();
}

static void check(const struct play *p)
{
    for (size_t i = 0; i < p->rti->count; i++)
        check_federation(p->rti->federations[i]);
    for (int i = 0; i < PROGRAMS; i++)
        if (p->a[i])
            check_queue(p->a[i]);
}

static struct tt_fom_module *module(const char *text)
{
    struct tt_fom_module *m;
    if (tt_fom_module_read_bytes(&m, "m", text, strlen(text)) != TUTTI_OK)
        abort();
    return m;
}

static enum tt_hla join(struct play *p, struct tt_ambassador *a)
{
    uint32_t handle;
    enum tt_logical_time_kind time;
    unsigned with = next(p, 3);
    struct tt_fom_module *m = with == 1 ? module(more) : NULL;
    return tt_rti_join(
        a, &(struct tt_rti_join){next(p, 5) ? "f" : "g", "t", with == 2 ? some_name(p) : NULL, &m, with == 1}, &handle,
        &time);
}

static enum tt_hla manage(struct play *p, struct tt_ambassador *a)
{
    struct tt_fom_module *m;
    uint32_t federates[] = {next(p, 5), next(p, 5)};
    switch (next(p, 8)) {
    case 0: m = module(base); return tt_rti_create(a, next(p, 5) ? "f" : "g", &m, 1, "", NULL);
    case 1: return tt_rti_destroy(a, next(p, 5) ? "f" : "g");
    case 2: return tt_rti_list_federations(a);
    case 3: return tt_rti_list_members(a, next(p, 2) ? "f" : "g");
    case 4: return tt_rti_resign(a, (enum tt_resign)next(p, TUTTI_RESIGNS));
    case 5:
        return tt_rti_register_sync_point(a, some_name(p), (struct tt_octets){"tag", next(p, 3)}, federates,
                                          next(p, 2));
    case 6: return tt_rti_achieve_sync_point(a, some_name(p), next(p, 1));
    default: return join(p, a);
    }
}

static enum tt_hla declare(struct play *p, struct tt_ambassador *a)
{
    uint32_t handles[MOST_SET] = {some_member(p), some_member(p), some_member(p)}, class = some_class(p);
    struct tt_class_set set = {class, handles, next(p, MOST_SET)};
    switch (next(p, 15)) {
    case 0:
    case 1: return tt_declarations_publish_attributes(a, set);
    case 2: return tt_declarations_unpublish_attributes(a, set);
    case 3: return tt_declarations_unpublish_object_class(a, class);
    case 4:
    case 5: return tt_declarations_subscribe_attributes(a, set, next(p, 1), "");
    case 6: return tt_declarations_unsubscribe_attributes(a, set);
    case 7: return tt_declarations_unsubscribe_object_class(a, class);
    case 8: return tt_declarations_publish_interaction(a, class);
    case 9: return tt_declarations_unpublish_interaction(a, class);
    case 10: return tt_declarations_subscribe_interaction(a, class, next(p, 1));
    case 11: return tt_declarations_unsubscribe_interaction(a, class);
    case 12: return next(p, 1) ? tt_declarations_publish_directed(a, set) : tt_declarations_unpublish_directed(a, set);
    case 13:
        return next(p, 1) ? tt_declarations_subscribe_directed(a, set, next(p, 1))
                          : tt_declarations_unsubscribe_directed(a, set);
    case 14: return tt_declarations_set_default_order(a, set, (enum tt_message_order)next(p, 1));
    default: return tt_declarations_set_interaction_order(a, class, (enum tt_message_order)next(p, 1));
    }
}

static enum tt_hla exchange(struct play *p, struct tt_ambassador *a)
{
    int64_t time = some_time(p);
    struct tt_message_stamp send = {next(p, 2) ? &time : NULL, {"tag", next(p, 3)}};
    uint32_t handle, object = next(p, 9), class = some_class(p);
    struct tt_hla_value values[] = {{some_member(p), {"value", 5}}, {some_member(p), {"other value", 11}}};
    uint32_t handles[] = {values[0].handle, values[1].handle};
    size_t count = next(p, 2);
    const char *two[] = {some_name(p), some_name(p)};
    switch (next(p, 14)) {
    case 0: return tt_objects_reserve_name(a, two[0]);
    case 1: return tt_objects_release_name(a, two[0]);
    case 2: return tt_objects_reserve_names(a, two, count);
    case 3: return tt_objects_release_names(a, two, count);
    case 4:
    case 5: return tt_objects_register(a, class, next(p, 1) ? two[0] : NULL, &handle);
    case 6:
    case 7: return tt_objects_update(a, object, values, count, send, &p->retraction);
    case 8: return tt_objects_delete(a, object, send, &p->retraction);
    case 9: return tt_objects_local_delete(a, object);
    case 10: return tt_objects_request_update(a, (struct tt_attribute_set){object, handles, count}, send.tag);
    case 11: return tt_objects_request_class_update(a, class, handles, count, send.tag);
    case 12: return tt_objects_send_interaction(a, class, values, count, send, &p->retraction);
    case 13: return tt_objects_send_directed(a, class, object, values, count, send, &p->retraction);
    default: return tt_message_retract(a, next(p, 3) ? p->retraction : next(p, 255));
    }
}

static enum tt_hla own(struct play *p, struct tt_ambassador *a)
{
    uint32_t handles[MOST_SET] = {some_member(p), some_member(p), some_member(p)}, divested[MOST_SET];
    struct tt_attribute_set set = {next(p, 9), handles, next(p, MOST_SET)};
    struct tt_octets tag = {"tag", 3};
    size_t count;
    bool owned;
    switch (next(p, 11)) {
    case 0: return tt_ownership_unconditional_divest(a, set, tag);
    case 1: return tt_ownership_negotiated_divest(a, set, tag);
    case 2: return tt_ownership_cancel_negotiated_divest(a, set);
    case 3: return tt_ownership_confirm_divestiture(a, set, tag);
    case 4: return tt_ownership_acquire(a, set, tag);
    case 5: return tt_ownership_acquire_if_available(a, set, tag);
    case 6: return tt_ownership_cancel_acquisition(a, set);
    case 7: return tt_ownership_release_denied(a, set);
    case 8: return tt_ownership_divest_if_wanted(a, set, tag, divested, &count);
    case 9: return tt_ownership_query(a, set);
    case 10: return tt_objects_set_attribute_order(a, set, (enum tt_message_order)next(p, 1));
    default: return tt_ownership_is_owned(a, set.object, handles[0], &owned);
    }
}

static enum tt_hla advance(struct play *p, struct tt_ambassador *a)
{
    int64_t time = some_time(p);
    switch (next(p, 11)) {
    case 0: return tt_time_management_enable_regulation(a, time);
    case 1: return tt_time_management_disable_regulation(a);
    case 2: return tt_time_management_enable_constrained(a);
    case 3: return tt_time_management_disable_constrained(a);
    case 4: return tt_time_management_flush_queue(a, time);
    case 5: return tt_time_management_enable_async(a);
    case 6: return tt_time_management_disable_async(a);
    case 7: return tt_time_management_modify_lookahead(a, time);
    default: return tt_time_management_advance(a, (enum tt_time_advance)(TUTTI_ADVANCE_TAR + (int)next(p, 3)), time);
    }
}

static size_t take(struct tt_ambassador *a)
{
    size_t sum = 0;
    for (const struct tt_callback *c = tt_rti_next_callback(a); c; c = tt_rti_next_callback(a)) {
        sum += strlen(tt_callback_name(c->kind)) + (c->text ? strlen(c->text) : 0);
        for (size_t i = 0; i < c->value_count; i++)
            sum += ((const unsigned char *)c->values[i].bytes.data)[c->values[i].bytes.size - 1];
        for (size_t i = 0; i < c->handle_count; i++)
            sum += c->handles[i];
        for (size_t i = 0; i < c->tag.size; i++)
            sum += ((const unsigned char *)c->tag.data)[i];
    }
    return sum;
}

/* Connecting, being lost and taking what waits cannot fail. */
static enum tt_hla step(struct play *p)
{
    unsigned i = next(p, PROGRAMS - 1), what = next(p, 11);
    size_t sum = 0;
    if (!p->a[i])
        return tt_rti_connect(p->rti, &p->a[i]);
    if (what == 0) {
        sum = take(p->a[i]);
        __asm__ volatile("" : : "r"(sum)); /* the compiler must not drop the walk */
        return TUTTI_HLA_OK;
    }
    if (what == 1 && (next(p, 7) == 0 || tt_rti_has_overflowed(p->a[i]))) {
        tt_rti_drop_federate(p->a[i], "it is gone");
        p->a[i] = NULL;
        return TUTTI_HLA_OK;
    }
    enum tt_hla (*const services[])(struct play *, struct tt_ambassador *) = {
        manage, declare, declare, exchange, exchange, exchange, own, advance, advance};
    return services[what % 9](p, p->a[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct play p = {.data = data, .size = size};
    p.rti = tt_rti_new(
        (struct tt_rti_limits){.callbacks = 40, .bytes = 20000, .federations = 2, .federates = 3, .objects = 8});
    if (!p.rti)
        return 0;
    while (p.size) {
        if (step(&p) != TUTTI_HLA_OK && !*tutti_err_message())
            abort();
        check(&p);
    }
    tt_rti_free(p.rti);
    return 0;
}
