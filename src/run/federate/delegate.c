/* SPDX-License-Identifier: MIT */
#include "run/federate/delegate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "base/tempdir.h"
#include "run/federate/attribute_links.h"

/* Seconds: between two checks of `interrupt` and heartbeats; between two counts of federates; until a message reports
 * the wait. */
static const double LOOK = 0.1, RECOUNT = 0.2, SILENT = 5;
static const char POINT[] = "tutti";

struct tt_delegate_object {
    const char *class_name, *name; /* name NULL: the RTI gives one */
    uint32_t number;
};

static const struct tutti_run_options *delegate_options(const struct tt_delegate *delegate)
{
    return &delegate->rank->job->options;
}

/* ---- joining ---- */

enum { LONGEST_KEY = 200 };

static enum tutti_err delegate_read_key(const char *path, char key[LONGEST_KEY])
{
    size_t size = 0;
    char *text = path ? tt_fs_read_whole(path, &size) : NULL;
    if (!text)
        return path ? tt_fail(TUTTI_ERR_IO, "--key: %s cannot be read", path) : TUTTI_OK;
    size_t length = strcspn(text, "\r\n");
    bool good = length > 0 && length < LONGEST_KEY;
    if (good)
        snprintf(key, LONGEST_KEY, "%.*s", (int)length, text);
    explicit_bzero(text, size);
    free(text);
    return good ? TUTTI_OK : tt_fail(TUTTI_ERR_FORMAT, "--key: the first line of %s is empty or too long", path);
}

/* "HOST:PORT/NAME" */
static enum tutti_err split_join_address(const char *join, char **address, const char **federation)
{
    const char *slash = strchr(join, '/');
    if (!slash || slash == join || !slash[1])
        return tt_fail(TUTTI_ERR_ARGUMENT, "--join takes HOST:PORT/FEDERATION, not '%s'", tt_text_excerpt(join).text);
    *address = strndup(join, (size_t)(slash - join));
    *federation = slash + 1;
    return *address ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err join_with_modules(struct tt_delegate *delegate, struct tutti_federate_options *wishes)
{
    const struct tutti_run_options *options = delegate_options(delegate);
    char key[LONGEST_KEY] = "", *address = NULL;
    enum tutti_err err = delegate_read_key(options->key, key);
    if (!err)
        err = split_join_address(options->join, &address, &wishes->federation);
    wishes->address = address;
    wishes->name = options->federate;
    wishes->key = options->key ? key : NULL;
    wishes->tls = options->tls_cert || options->tls_own;
    wishes->trust = options->tls_cert;
    wishes->certificate = wishes->private_key = options->tls_own;
    wishes->patience = options->has_patience ? options->patience : 0;
    wishes->interrupt = options->interrupt;
    if (!err)
        err = tutti_federate_join(&delegate->client, wishes);
    free(address);
    return err;
}

/* Without modules of the user's: one of what is published and subscribed to. */
static enum tutti_err join_with_own_module(struct tt_delegate *delegate)
{
    struct tt_tempdir *folder;
    struct tt_text path = {0};
    TRY(tt_tempdir_new(&folder));
    tt_text_printf(&path, "%s/made by tutti run.xml", tt_tempdir_path(folder));
    enum tutti_err err =
        path.failed ? tt_fail_memory()
                    : tt_attribute_links_write_module(delegate->links, delegate->rank->job->system->name, path.text);
    const char *const modules[] = {path.text};
    if (!err)
        err = join_with_modules(delegate, &(struct tutti_federate_options){.modules = modules, .module_count = 1});
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    tt_text_fini(&path);
    tt_tempdir_free(folder);
    return tt_fail_restore(&failure);
}

/* ---- what it sends and receives ---- */

static uint32_t find_object(const struct tt_delegate *delegate, const struct tt_attribute_link *link)
{
    for (uint32_t i = 0; i < delegate->object_count; i++) {
        const struct tt_delegate_object *object = &delegate->objects[i];
        bool same_name = object->name && link->object ? strcmp(object->name, link->object) == 0
                                                      : object->name == link->object;
        if (same_name && strcmp(object->class_name, link->class_name) == 0)
            return i;
    }
    return (uint32_t)delegate->object_count;
}

/* An object for each class and name. A list of attributes adds to what was declared before. */
static enum tutti_err declare_objects(struct tt_delegate *delegate)
{
    const struct tt_attribute_links *links = delegate->links;
    for (size_t i = 0; i < links->published_count; i++) {
        const struct tt_attribute_link *link = &links->published[i];
        uint32_t place = delegate->object_of[i] = find_object(delegate, link);
        if (place == delegate->object_count)
            delegate->objects[delegate->object_count++] =
                (struct tt_delegate_object){.class_name = link->class_name, .name = link->object};
        TRY(tutti_federate_publish(delegate->client, link->class_name, link->attribute));
    }
    for (size_t i = 0; i < links->subscribed_count; i++)
        TRY(tutti_federate_subscribe(delegate->client, links->subscribed[i].class_name,
                                     links->subscribed[i].attribute));
    return TUTTI_OK;
}

enum tutti_err tt_delegate_join(struct tt_delegate **out, const struct tt_attribute_links *links, struct tt_rank *rank,
                                double start)
{
    struct tt_delegate *delegate = *out = calloc(1, sizeof *delegate);
    if (!delegate)
        return tt_fail_memory();
    delegate->links = links;
    delegate->rank = rank;
    size_t out_room = links->published_count + 1, in_room = links->subscribed_count + 1;
    delegate->objects = calloc(out_room, sizeof *delegate->objects);
    delegate->object_of = calloc(out_room, sizeof *delegate->object_of);
    delegate->values = calloc(out_room, sizeof *delegate->values);
    delegate->arrivals = calloc(in_room, sizeof *delegate->arrivals);
    if (!delegate->objects || !delegate->object_of || !delegate->values || !delegate->arrivals)
        return tt_fail_memory();

    const struct tutti_run_options *options = delegate_options(delegate);
    TRY(options->fom_count > 0
            ? join_with_modules(delegate, &(struct tutti_federate_options){.modules = options->foms,
                                                                           .module_count = options->fom_count})
            : join_with_own_module(delegate));
    TRY(declare_objects(delegate));
    TRY(tutti_federate_regulate(delegate->client, 0));
    TRY(tutti_federate_constrain(delegate->client));
    double now = tutti_federate_time(delegate->client);
    return now <= start ? TUTTI_OK
                        : tt_fail(TUTTI_ERR_STATE,
                                  "the federation '%s' has gone on to t = %s, and the run begins at %s: start them "
                                  "together with --federates N, or begin later (--start)",
                                  options->join, NUMBER(now), NUMBER(start));
}

void tt_delegate_leave(struct tt_delegate *delegate)
{
    if (!delegate)
        return;
    struct tt_failure failure; /* of the run, if it failed: then events of the RTI are ignored */
    tt_fail_save(&failure, TUTTI_OK);
    (void)tutti_federate_leave(delegate->client);
    (void)tt_fail_restore(&failure);
    for (size_t i = 0; delegate->arrivals && i < delegate->links->subscribed_count; i++)
        tt_bytes_fini(&delegate->arrivals[i].bytes);
    free(delegate->arrivals);
    free(delegate->values);
    free(delegate->object_of);
    free(delegate->objects);
    free(delegate);
}

/* ---- what comes ---- */

static enum tutti_err delegate_discover(struct tt_delegate *delegate, const struct tutti_federate_event *event)
{
    for (size_t i = 0; i < delegate->links->subscribed_count; i++) {
        const struct tt_attribute_link *link = &delegate->links->subscribed[i];
        struct tt_delegate_arrival *arrival = &delegate->arrivals[i];
        if (!tt_attribute_links_match_class(link, event->class_name) ||
            (link->object && strcmp(link->object, event->object_name) != 0))
            continue;
        if (arrival->source)
            return tt_fail(TUTTI_ERR_STATE,
                           "--subscribe '%s': there are several objects of class %s, '%s' is one of them: say which "
                           "one is meant, as in %s[%s].%s",
                           link->text, link->class_name, tt_text_excerpt(event->object_name).text, link->class_name,
                           tt_text_excerpt(event->object_name).text, link->attribute);
        arrival->source = event->object;
    }
    return TUTTI_OK;
}

static void delegate_reflect(struct tt_delegate *delegate, const struct tutti_federate_event *event)
{
    for (size_t i = 0; i < delegate->links->subscribed_count; i++)
        for (size_t v = 0; v < event->count && delegate->arrivals[i].source == event->object; v++) {
            struct tt_delegate_arrival *arrival = &delegate->arrivals[i];
            if (strcmp(delegate->links->subscribed[i].attribute, event->values[v].name) != 0)
                continue;
            tt_bytes_reset(&arrival->bytes);
            tt_bytes_put_bytes(&arrival->bytes, event->values[v].data, event->values[v].size);
            arrival->fresh = true;
        }
}

static void delegate_remove_source(struct tt_delegate *delegate, const struct tutti_federate_event *event)
{
    bool told = false;
    for (size_t i = 0; i < delegate->links->subscribed_count; i++) {
        if (delegate->arrivals[i].source != event->object)
            continue;
        delegate->arrivals[i].source = 0;
        if (!told)
            tt_log(delegate->rank->log, TUTTI_LOG_WARNING, NULL,
                   "t = %s: the object '%s' has left the federation; inputs keep its last values",
                   TIME(delegate->rank->t), tt_text_excerpt(event->object_name).text);
        told = true;
    }
}

/* *granted is the time of a grant. */
static enum tutti_err delegate_handle_next(struct tt_delegate *delegate, double timeout, double *granted)
{
    struct tutti_federate_event event;
    const struct tt_rank *rank = delegate->rank;
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    atomic_fetch_add_explicit(&rank->heartbeat->beat, 1, memory_order_relaxed);
    if (interrupt && *interrupt)
        return tt_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s; everything up to there is kept", TIME(rank->t));
    TRY(tutti_federate_next(delegate->client, timeout, &event));
    switch (event.kind) {
    case TUTTI_FEDERATE_DISCOVER: return delegate_discover(delegate, &event);
    case TUTTI_FEDERATE_REFLECT: delegate_reflect(delegate, &event); break;
    case TUTTI_FEDERATE_REMOVE: delegate_remove_source(delegate, &event); break;
    case TUTTI_FEDERATE_PROVIDE: delegate->wanted = true; break;
    case TUTTI_FEDERATE_ANNOUNCE:
        return strcmp(event.label, POINT) == 0 ? TUTTI_OK : tutti_federate_achieve(delegate->client, event.label);
    case TUTTI_FEDERATE_GRANT: *granted = event.time; break;
    default: break;
    }
    return TUTTI_OK;
}

/* ---- waiting for others ---- */

/* Returns a link that has no value yet; NULL: all have one. */
static const struct tt_attribute_link *find_missing_source(const struct tt_delegate *delegate)
{
    for (size_t i = 0; i < delegate->links->subscribed_count; i++)
        if (!delegate->arrivals[i].source)
            return &delegate->links->subscribed[i];
    return NULL;
}

static enum tutti_err wait_for_sources(struct tt_delegate *delegate)
{
    double begin = tt_wall_clock_now(), granted = 0;
    bool told = false;
    for (const struct tt_attribute_link *link; (link = find_missing_source(delegate)) != NULL;) {
        TRY(delegate_handle_next(delegate, LOOK, &granted));
        if (!told && tt_wall_clock_now() - begin > SILENT) {
            told = true;
            tt_log(delegate->rank->log, TUTTI_LOG_WARNING, NULL,
                   "waiting for a federate that publishes %s (--federates 1: do not wait)",
                   tt_attribute_links_show_link(link).text);
        }
    }
    return TUTTI_OK;
}

static enum tutti_err wait_for_federates(struct tt_delegate *delegate)
{
    const struct tutti_run_options *options = delegate_options(delegate);
    double begin = tt_wall_clock_now(), counted = -INFINITY, granted = 0;
    bool told = false;
    for (size_t count = 0; count < options->federates;) {
        TRY(delegate_handle_next(delegate, LOOK, &granted));
        double now = tt_wall_clock_now();
        if (now - counted < RECOUNT)
            continue;
        counted = now;
        TRY(tutti_federate_members(delegate->client, &count));
        if (count > options->federates)
            return tt_fail(TUTTI_ERR_STATE, "--federates %u: there are %zu in the federation already",
                           options->federates, count);
        if (count < options->federates && !told && now - begin > SILENT) {
            told = true;
            tt_log(delegate->rank->log, TUTTI_LOG_WARNING, NULL, "waiting for federates: %zu of %u are there", count,
                   options->federates);
        }
    }
    return tutti_federate_synchronize(delegate->client, POINT);
}

enum tutti_err tt_delegate_gather(struct tt_delegate *delegate)
{
    unsigned federates = delegate_options(delegate)->federates;
    for (size_t i = 0; i < delegate->object_count; i++) {
        struct tt_delegate_object *object = &delegate->objects[i];
        TRY(tutti_federate_register(delegate->client, object->class_name, object->name, &object->number));
    }
    return federates == 0 ? wait_for_sources(delegate) : federates > 1 ? wait_for_federates(delegate) : TUTTI_OK;
}

/* ---- advancing ---- */

enum tutti_err tt_delegate_send(struct tt_delegate *delegate, const struct tt_byte_writer *bytes, const bool *send,
                                double stamp)
{
    for (uint32_t o = 0; o < delegate->object_count; o++) {
        size_t count = 0;
        for (size_t i = 0; i < delegate->links->published_count; i++)
            if (delegate->object_of[i] == o && (!send || send[i]))
                delegate->values[count++] = (struct tutti_federate_value){delegate->links->published[i].attribute,
                                                                          bytes[i].bytes, bytes[i].size};
        if (count > 0)
            TRY(tutti_federate_update(delegate->client, delegate->objects[o].number, delegate->values, count, &stamp));
    }
    return TUTTI_OK;
}

enum tutti_err tt_delegate_advance(struct tt_delegate *delegate, enum tutti_federate_advance how, double t,
                                   double *granted)
{
    *granted = -INFINITY;
    TRY(tutti_federate_request(delegate->client, how, t));
    while (*granted < 0)
        TRY(delegate_handle_next(delegate, LOOK, granted));
    return TUTTI_OK;
}
