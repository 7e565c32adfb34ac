/* SPDX-License-Identifier: MIT */
#include "hla/rti/callback.h"

#include <stdlib.h>
#include <string.h>

const char *tt_callback_name(enum tt_callback_kind kind)
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

static size_t callback_size(const struct tt_callback *c)
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

static void *callback_copy_bytes(char **at, const void *from, size_t size)
{
    void *to = *at;
    if (size)
        memcpy(to, from, size);
    *at += size;
    return to;
}

static const char *callback_copy_text(char **at, const char *text)
{
    return text ? callback_copy_bytes(at, text, strlen(text) + 1) : NULL;
}

/* Data aligned to 8 bytes goes first, texts last. */
struct tt_callback *tt_callback_copy(const struct tt_callback *callback)
{
    size_t size = callback_size(callback);
    struct tt_callback *c = malloc(size);
    if (!c)
        return NULL;
    *c = *callback;
    c->next = NULL;
    c->size = size;
    if (c->message)
        tt_message_retain(c->message);
    char *at = (char *)(c + 1);
    if (!c->message || c->values != c->message->values)
        c->values = callback_copy_bytes(&at, callback->values, c->value_count * sizeof *c->values);
    struct tt_callback_report *reports =
        callback_copy_bytes(&at, callback->reports, c->report_count * sizeof *c->reports);
    const char **names = callback_copy_bytes(&at, callback->names, c->name_count * sizeof *c->names);
    c->handles = callback_copy_bytes(&at, callback->handles, c->handle_count * sizeof *c->handles);
    for (size_t i = 0; i < c->report_count; i++)
        reports[i] = (struct tt_callback_report){callback_copy_text(&at, callback->reports[i].name),
                                                 callback_copy_text(&at, callback->reports[i].type)};
    for (size_t i = 0; i < c->name_count; i++)
        names[i] = callback_copy_text(&at, callback->names[i]);
    c->reports = reports;
    c->names = names;
    c->text = callback_copy_text(&at, callback->text);
    if (!c->message)
        c->tag.data = callback_copy_bytes(&at, callback->tag.data, c->tag.size);
    return c;
}

void tt_callback_free(struct tt_callback *callback)
{
    if (!callback)
        return;
    tt_message_release(callback->message);
    free(callback);
}
