/* SPDX-License-Identifier: MIT */
#include "conduct/told.h"

#include <stdlib.h>

#include "base/str.h"

/* More different ones are passed on without a look. */
enum { MOST = 4096 };

struct message {
    char *text;
    unsigned long before, now; /* how often: by an attempt before, by this one */
};

/* NULL: it is one too many, or memory is out. Takes `text`. */
static struct message *find(struct tutti_told *told, char *text)
{
    struct message *messages = told->messages.items;
    int64_t known = text ? tutti_map_find(&told->by_text, text) : TUTTI_MAP_NONE;
    if (known != TUTTI_MAP_NONE || !text || told->messages.count == MOST) {
        free(text);
        return known == TUTTI_MAP_NONE ? NULL : &messages[known];
    }
    struct message *added = tutti_vector_push(&told->messages, sizeof *added);
    if (!added || tutti_map_add(&told->by_text, text, (int64_t)told->messages.count - 1, NULL)) {
        told->messages.count -= added != NULL;
        free(text);
        return NULL;
    }
    added->text = text;
    return added;
}

static bool is_news(struct tutti_told *told, enum tutti_log_level level, const char *origin, const char *text)
{
    struct tutti_text key = {0};
    tutti_text_printf(&key, "%d %s: %s", (int)level, origin ? origin : "", text);
    if (key.failed)
        tutti_text_fini(&key);
    pthread_mutex_lock(&told->lock);
    struct message *message = find(told, key.text);
    bool news = !message || ++message->now > message->before;
    pthread_mutex_unlock(&told->lock);
    return news;
}

static void write_news(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    struct tutti_told *told = context;
    if (is_news(told, level, origin, text))
        told->to->write(told->to->context, level, origin, text);
}

void tutti_told_init(struct tutti_told *told, const struct tutti_log *to)
{
    *told = (struct tutti_told){.log = {.level = to->level, .write = write_news, .context = told}, .to = to};
    pthread_mutex_init(&told->lock, NULL);
}

void tutti_told_fini(struct tutti_told *told)
{
    const struct message *messages = told->messages.items;
    for (size_t i = 0; i < told->messages.count; i++)
        free(messages[i].text);
    tutti_vector_fini(&told->messages);
    tutti_map_fini(&told->by_text);
    pthread_mutex_destroy(&told->lock);
}

void tutti_told_begin_anew(struct tutti_told *told)
{
    struct message *messages = told->messages.items;
    for (size_t i = 0; i < told->messages.count; i++) {
        if (messages[i].now > messages[i].before)
            messages[i].before = messages[i].now;
        messages[i].now = 0;
    }
}
