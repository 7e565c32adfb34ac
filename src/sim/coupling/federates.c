/* SPDX-License-Identifier: MIT */
#include "sim/coupling/federates.h"

#include <stdio.h>
#include <stdlib.h>

#include "hla/rti/declarations.h"
#include "hla/rti/objects.h"
#include "hla/rti/rti.h"
#include "hla/rti/time_management.h"

static const char FEDERATION[] = "units";

struct federate {
    struct tt_ambassador *ambassador;
    uint32_t class, attribute, object;
    double asked; /* the time of the pending request */
    bool news;
};

struct tt_federates {
    struct tt_rti *rti;
    double start, now; /* of the run; of the last grants */
    uint32_t count;
    struct federate items[];
};

/* No service fails here but for want of memory. */
static enum tutti_err check_hla(enum tt_hla hla)
{
    return hla ? tt_fail_context(TUTTI_ERR_STATE, "federated: %s", tt_exception_name(hla)) : TUTTI_OK;
}

/* Logical times begin at 0. */
static int64_t logical_time(const struct tt_federates *federates, double t)
{
    int64_t time = 0;
    (void)tt_logical_time_from_double(TUTTI_TIME_FLOAT64, t - federates->start, &time);
    return time;
}

/* A class for each unit, so that others subscribe to what they read. */
static enum tutti_err create_object_model(uint32_t count, struct tt_fom_module **module)
{
    struct tt_text text = {0};
    tt_text_append(&text, "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2025\"><objects>"
                          "<objectClass><name>HLAobjectRoot</name>");
    for (uint32_t i = 0; i < count; i++)
        tt_text_printf(&text,
                       "<objectClass><name>Unit%u</name><attribute><name>outputs</name><order>TimeStamp</order>"
                       "</attribute></objectClass>",
                       i);
    tt_text_append(&text, "</objectClass></objects></objectModel>");
    enum tutti_err err = text.failed ? tt_fail_memory()
                                     : tt_fom_module_read_bytes(module, "units", text.text, text.length);
    tt_text_fini(&text);
    return err;
}

static enum tutti_err create_federates(struct tt_federates *federates)
{
    struct tt_fom_module *module;
    for (uint32_t i = 0; i < federates->count; i++)
        TRY(check_hla(tt_rti_connect(federates->rti, &federates->items[i].ambassador)));
    TRY(create_object_model(federates->count, &module));
    return check_hla(tt_rti_create(federates->items[0].ambassador, FEDERATION, &module, 1, "HLAfloat64Time", NULL));
}

static enum tutti_err join_federate(struct tt_federates *federates, uint32_t i, const char *name)
{
    struct federate *item = &federates->items[i];
    const struct tt_fom *fom = tt_rti_find_federation(federates->rti, FEDERATION)->fom;
    struct tt_rti_join join = {.federation = FEDERATION, .type = "unit", .name = name};
    uint32_t handle;
    enum tt_logical_time_kind kind;
    char class[24];
    snprintf(class, sizeof class, "Unit%u", i);
    item->class = tt_fom_find_class(&fom->objects, class);
    item->attribute = tt_fom_find_member(&fom->objects, item->class, "outputs");
    TRY(check_hla(tt_rti_join(item->ambassador, &join, &handle, &kind)));
    TRY(check_hla(
        tt_declarations_publish_attributes(item->ambassador, (struct tt_class_set){item->class, &item->attribute, 1})));
    TRY(check_hla(tt_time_management_enable_regulation(item->ambassador, 0)));
    return check_hla(tt_time_management_enable_constrained(item->ambassador));
}

static enum tutti_err subscribe_federate(struct tt_federates *federates, const bool *reads)
{
    uint32_t count = federates->count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++) {
            const struct federate *read = &federates->items[j];
            if (!reads[(size_t)i * count + j] || i == j)
                continue;
            TRY(check_hla(tt_declarations_subscribe_attributes(
                federates->items[i].ambassador, (struct tt_class_set){read->class, &read->attribute, 1}, true, "")));
        }
    for (uint32_t i = 0; i < count; i++)
        TRY(check_hla(tt_objects_register(federates->items[i].ambassador, federates->items[i].class, NULL,
                                          &federates->items[i].object)));
    return TUTTI_OK;
}

static enum tutti_err connect_federates(struct tt_federates *federates, const char *const *names, const bool *reads)
{
    federates->rti = tt_rti_new((struct tt_rti_limits){0});
    if (!federates->rti)
        return tt_fail_memory();
    TRY(create_federates(federates));
    for (uint32_t i = 0; i < federates->count; i++)
        TRY(join_federate(federates, i, names[i]));
    TRY(subscribe_federate(federates, reads));
    for (uint32_t i = 0; i < federates->count; i++) /* what was found out about each other */
        while (tt_rti_next_callback(federates->items[i].ambassador)) {
        }
    return TUTTI_OK;
}

enum tutti_err tt_federated_new_federates(struct tt_federates **out, uint32_t count, const char *const *names,
                                          const bool *reads, double start, double now)
{
    *out = calloc(1, sizeof **out + count * sizeof(*out)->items[0]);
    if (!*out)
        return tt_fail_memory();
    (*out)->count = count;
    (*out)->start = start;
    (*out)->now = now;
    enum tutti_err err = connect_federates(*out, names, reads);
    if (!err)
        return TUTTI_OK;
    tt_federated_free_federates(*out);
    *out = NULL;
    return err;
}

void tt_federated_free_federates(struct tt_federates *federates)
{
    if (!federates)
        return;
    tt_rti_free(federates->rti);
    free(federates);
}

enum tutti_err tt_federated_request_advance(struct tt_federates *federates, uint32_t unit, enum tt_time_advance how,
                                            double t)
{
    struct federate *item = &federates->items[unit];
    item->asked = t;
    return check_hla(tt_time_management_advance(item->ambassador, how, logical_time(federates, t)));
}

enum tutti_err tt_federated_send_update(struct tt_federates *federates, uint32_t unit, double t)
{
    const struct federate *item = &federates->items[unit];
    int64_t time = logical_time(federates, t);
    struct tt_hla_value value = {.handle = item->attribute};
    return check_hla(
        tt_objects_update(item->ambassador, item->object, &value, 1, (struct tt_message_stamp){.time = &time}, NULL));
}

/* Times of messages are those of earlier grants, and no grant is of another time than that or the one that was asked for. */
static double received_message_time(const struct tt_federates *federates, const struct federate *item, int64_t time)
{
    return time == logical_time(federates, item->asked) ? item->asked : federates->now;
}

static bool check_federate_grant(struct tt_federates *federates, struct federate *item, struct tt_federate_grant *grant)
{
    const struct tt_callback *callback;
    bool granted = false;
    while ((callback = tt_rti_next_callback(item->ambassador))) {
        if (callback->kind == TUTTI_CALLBACK_ReflectAttributeValues)
            item->news = true;
        if (callback->kind != TUTTI_CALLBACK_TimeAdvanceGrant)
            continue;
        *grant =
            (struct tt_federate_grant){.t = received_message_time(federates, item, callback->time), .news = item->news};
        item->news = false;
        granted = true;
    }
    return granted;
}

enum tutti_err tt_federated_get_grants(struct tt_federates *federates, struct tt_federate_grant *grants,
                                       uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < federates->count; i++) {
        if (tt_rti_has_overflowed(federates->items[i].ambassador))
            return tt_fail_memory();
        if (!check_federate_grant(federates, &federates->items[i], &grants[*count]))
            continue;
        grants[(*count)++].unit = i;
    }
    if (*count > 0)
        federates->now = grants[0].t;
    return TUTTI_OK;
}

enum tutti_err tt_federated_fail_deadlock(struct tt_federates *federates)
{
    struct tt_text text = {0};
    tt_time_management_explain(tt_rti_find_federation(federates->rti, FEDERATION), &text);
    enum tutti_err err = tt_fail(TUTTI_ERR_STATE, "federated: no unit may go on: %s", text.text ? text.text : "");
    tt_text_fini(&text);
    return err;
}
