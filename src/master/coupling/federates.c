/* SPDX-License-Identifier: MIT */
#include "master/coupling/federates.h"

#include <stdio.h>
#include <stdlib.h>

#include "rti/declarations.h"
#include "rti/objects.h"
#include "rti/rti.h"
#include "rti/time_management.h"

static const char FEDERATION[] = "units";

struct federate {
    struct tutti_ambassador *ambassador;
    uint32_t class, attribute, object;
    double asked; /* the time of the pending request */
    bool news;
};

struct tutti_federates {
    struct tutti_rti *rti;
    double start, now; /* of the run; of the last grants */
    uint32_t count;
    struct federate items[];
};

/* No service fails here but for want of memory. */
static enum tutti_err checked(enum tutti_hla hla)
{
    return hla ? tutti_fail_context(TUTTI_ERR_STATE, "federated: %s", tutti_hla_name(hla)) : TUTTI_OK;
}

/* Logical times begin at 0. */
static int64_t time_of(const struct tutti_federates *federates, double t)
{
    int64_t time = 0;
    (void)tutti_time_from_double(TUTTI_TIME_FLOAT64, t - federates->start, &time);
    return time;
}

/* A class for each unit, so that others subscribe to what they read. */
static enum tutti_err make_model(uint32_t count, struct tutti_fom_module **module)
{
    struct tutti_text text = {0};
    tutti_text_append(&text, "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2025\"><objects>"
                             "<objectClass><name>HLAobjectRoot</name>");
    for (uint32_t i = 0; i < count; i++)
        tutti_text_printf(&text,
                          "<objectClass><name>Unit%u</name><attribute><name>outputs</name><order>TimeStamp</order>"
                          "</attribute></objectClass>",
                          i);
    tutti_text_append(&text, "</objectClass></objects></objectModel>");
    enum tutti_err err = text.failed ? tutti_fail_memory()
                                     : tutti_fom_module_read_bytes(module, "units", text.text, text.length);
    tutti_text_fini(&text);
    return err;
}

static enum tutti_err create(struct tutti_federates *federates)
{
    struct tutti_fom_module *module;
    for (uint32_t i = 0; i < federates->count; i++)
        TRY(checked(tutti_rti_connect(federates->rti, &federates->items[i].ambassador)));
    TRY(make_model(federates->count, &module));
    return checked(tutti_rti_create(federates->items[0].ambassador, FEDERATION, &module, 1, "HLAfloat64Time", NULL));
}

static enum tutti_err join(struct tutti_federates *federates, uint32_t i, const char *name)
{
    struct federate *item = &federates->items[i];
    const struct tutti_fom *fom = tutti_rti_federation(federates->rti, FEDERATION)->fom;
    struct tutti_rti_join join = {.federation = FEDERATION, .type = "unit", .name = name};
    uint32_t handle;
    enum tutti_time_kind kind;
    char class[24];
    snprintf(class, sizeof class, "Unit%u", i);
    item->class = tutti_fom_find_class(&fom->objects, class);
    item->attribute = tutti_fom_find_member(&fom->objects, item->class, "outputs");
    TRY(checked(tutti_rti_join(item->ambassador, &join, &handle, &kind)));
    TRY(checked(
        tutti_rti_publish_attributes(item->ambassador, (struct tutti_class_set){item->class, &item->attribute, 1})));
    TRY(checked(tutti_rti_enable_time_regulation(item->ambassador, 0)));
    return checked(tutti_rti_enable_time_constrained(item->ambassador));
}

static enum tutti_err subscribe(struct tutti_federates *federates, const bool *reads)
{
    uint32_t count = federates->count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++) {
            const struct federate *read = &federates->items[j];
            if (!reads[(size_t)i * count + j] || i == j)
                continue;
            TRY(checked(tutti_rti_subscribe_attributes(
                federates->items[i].ambassador, (struct tutti_class_set){read->class, &read->attribute, 1}, true, "")));
        }
    for (uint32_t i = 0; i < count; i++)
        TRY(checked(tutti_rti_register(federates->items[i].ambassador, federates->items[i].class, NULL,
                                       &federates->items[i].object)));
    return TUTTI_OK;
}

static enum tutti_err set_up(struct tutti_federates *federates, const char *const *names, const bool *reads)
{
    federates->rti = tutti_rti_new((struct tutti_rti_limits){0});
    if (!federates->rti)
        return tutti_fail_memory();
    TRY(create(federates));
    for (uint32_t i = 0; i < federates->count; i++)
        TRY(join(federates, i, names[i]));
    TRY(subscribe(federates, reads));
    for (uint32_t i = 0; i < federates->count; i++) /* what was found out about each other */
        while (tutti_rti_next(federates->items[i].ambassador)) {
        }
    return TUTTI_OK;
}

enum tutti_err tutti_federates_new(struct tutti_federates **out, uint32_t count, const char *const *names,
                                   const bool *reads, double start, double now)
{
    *out = calloc(1, sizeof **out + count * sizeof(*out)->items[0]);
    if (!*out)
        return tutti_fail_memory();
    (*out)->count = count;
    (*out)->start = start;
    (*out)->now = now;
    enum tutti_err err = set_up(*out, names, reads);
    if (!err)
        return TUTTI_OK;
    tutti_federates_free(*out);
    *out = NULL;
    return err;
}

void tutti_federates_free(struct tutti_federates *federates)
{
    if (!federates)
        return;
    tutti_rti_free(federates->rti);
    free(federates);
}

enum tutti_err tutti_federates_ask(struct tutti_federates *federates, uint32_t unit, enum tutti_advance how, double t)
{
    struct federate *item = &federates->items[unit];
    item->asked = t;
    return checked(tutti_rti_advance(item->ambassador, how, time_of(federates, t)));
}

enum tutti_err tutti_federates_tell(struct tutti_federates *federates, uint32_t unit, double t)
{
    const struct federate *item = &federates->items[unit];
    int64_t time = time_of(federates, t);
    struct tutti_value value = {.handle = item->attribute};
    return checked(
        tutti_rti_update(item->ambassador, item->object, &value, 1, (struct tutti_send){.time = &time}, NULL));
}

/* Times of messages are those of earlier grants, and no grant is of another time than that or the one that was asked for. */
static double when(const struct tutti_federates *federates, const struct federate *item, int64_t time)
{
    return time == time_of(federates, item->asked) ? item->asked : federates->now;
}

static bool look(struct tutti_federates *federates, struct federate *item, struct tutti_grant *grant)
{
    const struct tutti_callback *callback;
    bool granted = false;
    while ((callback = tutti_rti_next(item->ambassador))) {
        if (callback->kind == TUTTI_CALLBACK_ReflectAttributeValues)
            item->news = true;
        if (callback->kind != TUTTI_CALLBACK_TimeAdvanceGrant)
            continue;
        *grant = (struct tutti_grant){.t = when(federates, item, callback->time), .news = item->news};
        item->news = false;
        granted = true;
    }
    return granted;
}

enum tutti_err tutti_federates_take(struct tutti_federates *federates, struct tutti_grant *grants, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < federates->count; i++) {
        if (tutti_rti_overflowed(federates->items[i].ambassador))
            return tutti_fail_memory();
        if (!look(federates, &federates->items[i], &grants[*count]))
            continue;
        grants[(*count)++].unit = i;
    }
    if (*count > 0)
        federates->now = grants[0].t;
    return TUTTI_OK;
}

enum tutti_err tutti_federates_stall(struct tutti_federates *federates)
{
    struct tutti_text text = {0};
    tutti_time_explain(tutti_rti_federation(federates->rti, FEDERATION), &text);
    enum tutti_err err = tutti_fail(TUTTI_ERR_STATE, "federated: no unit may go on: %s", text.text ? text.text : "");
    tutti_text_fini(&text);
    return err;
}
