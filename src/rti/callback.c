/* SPDX-License-Identifier: MIT */
#include "rti/callback.h"

#include <stdlib.h>
#include <string.h>

const char *tutti_callback_name(enum tutti_callback_kind kind)
{
    static const char *const names[] = {
#define X(name) #name,
        TUTTI_CALLBACKS(X)
#undef X
    };
    return names[kind];
}

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static size_t size_of(const struct tutti_callback *c)
{
    size_t size = sizeof *c + text_size(c->text) + c->handle_count * sizeof *c->handles;
    if (!c->message)
        size += c->tag.size;
    if (!c->message || c->values != c->message->values)
        size += c->value_count * sizeof *c->values;
    size += c->report_count * sizeof *c->reports + c->name_count * sizeof *c->names;
    for (size_t i = 0; i < c->report_count; i++)
        size += text_size(c->reports[i].name) + text_size(c->reports[i].type);
    for (size_t i = 0; i < c->name_count; i++)
        size += text_size(c->names[i]);
    return size;
}

static void *put(char **at, const void *from, size_t size)
{
    void *to = *at;
    if (size)
        memcpy(to, from, size);
    *at += size;
    return to;
}

static const char *put_text(char **at, const char *text)
{
    return text ? put(at, text, strlen(text) + 1) : NULL;
}

/* What is aligned to 8 bytes goes first, texts last. */
struct tutti_callback *tutti_callback_copy(const struct tutti_callback *callback)
{
    size_t size = size_of(callback);
    struct tutti_callback *c = malloc(size);
    if (!c)
        return NULL;
    *c = *callback;
    c->next = NULL;
    c->size = size;
    if (c->message)
        tutti_message_share(c->message);
    char *at = (char *)(c + 1);
    if (!c->message || c->values != c->message->values)
        c->values = put(&at, callback->values, c->value_count * sizeof *c->values);
    struct tutti_report *reports = put(&at, callback->reports, c->report_count * sizeof *c->reports);
    const char **names = put(&at, callback->names, c->name_count * sizeof *c->names);
    c->handles = put(&at, callback->handles, c->handle_count * sizeof *c->handles);
    for (size_t i = 0; i < c->report_count; i++)
        reports[i] =
            (struct tutti_report){put_text(&at, callback->reports[i].name), put_text(&at, callback->reports[i].type)};
    for (size_t i = 0; i < c->name_count; i++)
        names[i] = put_text(&at, callback->names[i]);
    c->reports = reports;
    c->names = names;
    c->text = put_text(&at, callback->text);
    if (!c->message)
        c->tag.data = put(&at, callback->tag.data, c->tag.size);
    return c;
}

void tutti_callback_free(struct tutti_callback *callback)
{
    if (!callback)
        return;
    tutti_message_release(callback->message);
    free(callback);
}
