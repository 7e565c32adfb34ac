/* SPDX-License-Identifier: MIT */
#include "run/message_filter.h"

#include <stdlib.h>

#include "base/text.h"

/* More different ones are passed on without a look. */
enum { MOST = 4096 };

struct filtered_message {
    char *text;
    unsigned long before, now; /* how often: by an attempt before, by this one */
};

/* NULL: it is one too many, or memory is out. Takes `text`. */
static struct filtered_message *message_filter_find(struct tt_message_filter *told, char *text)
{
    struct filtered_message *messages = told->messages.items;
    int64_t known = text ? tt_map_find(&told->by_text, text) : TUTTI_MAP_NONE;
    if (known != TUTTI_MAP_NONE || !text || told->messages.count == MOST) {
        free(text);
        return known == TUTTI_MAP_NONE ? NULL : &messages[known];
    }
    struct filtered_message *added = tt_vector_push(&told->messages, sizeof *added);
    if (!added || tt_map_add(&told->by_text, text, (int64_t)told->messages.count - 1, NULL)) {
        told->messages.count -= added != NULL;
        free(text);
        return NULL;
    }
    added->text = text;
    return added;
}

static bool message_filter_is_new(struct tt_message_filter *told, enum tutti_log_level level, const char *origin,
                                  const char *text)
{
    struct tt_text key = {0};
    tt_text_printf(&key, "%d %s: %s", (int)level, origin ? origin : "", text);
    if (key.failed)
        tt_text_fini(&key);
    pthread_mutex_lock(&told->lock);
    struct filtered_message *message = message_filter_find(told, key.text);
    bool news = !message || ++message->now > message->before;
    pthread_mutex_unlock(&told->lock);
    return news;
}

static void write_new_message(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    struct tt_message_filter *told = context;
    if (message_filter_is_new(told, level, origin, text))
        told->to->write(told->to->context, level, origin, text);
}

void tt_recovery_filter_init(struct tt_message_filter *told, const struct tutti_log *to)
{
    *told =
        (struct tt_message_filter){.log = {.level = to->level, .write = write_new_message, .context = told}, .to = to};
    pthread_mutex_init(&told->lock, NULL);
}

void tt_recovery_filter_fini(struct tt_message_filter *told)
{
    const struct filtered_message *messages = told->messages.items;
    for (size_t i = 0; i < told->messages.count; i++)
        free(messages[i].text);
    tt_vector_fini(&told->messages);
    tt_map_fini(&told->by_text);
    pthread_mutex_destroy(&told->lock);
}

void tt_recovery_filter_restart(struct tt_message_filter *told)
{
    struct filtered_message *messages = told->messages.items;
    for (size_t i = 0; i < told->messages.count; i++) {
        if (messages[i].now > messages[i].before)
            messages[i].before = messages[i].now;
        messages[i].now = 0;
    }
}
