/* SPDX-License-Identifier: MIT */
#include "rti/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

static char *put(char *at, struct tutti_octets *to, struct tutti_octets from)
{
    if (from.size)
        memcpy(at, from.data, from.size);
    *to = (struct tutti_octets){at, from.size};
    return at + from.size;
}

struct tutti_message *tutti_message_new(enum tutti_message_kind kind, const struct tutti_value *values, size_t count,
                                        struct tutti_octets tag)
{
    size_t size = sizeof(struct tutti_message) + count * sizeof *values + tag.size;
    for (size_t i = 0; i < count; i++)
        size += values[i].bytes.size;
    struct tutti_message *message = malloc(size);
    if (!message)
        return NULL;
    *message = (struct tutti_message){.kind = kind, .references = 1, .value_count = count, .size = size};
    message->values = (struct tutti_value *)(message + 1);
    char *at = put((char *)(message->values + count), &message->tag, tag);
    for (size_t i = 0; i < count; i++) {
        message->values[i].handle = values[i].handle;
        at = put(at, &message->values[i].bytes, values[i].bytes);
    }
    return message;
}

struct tutti_message *tutti_message_share(struct tutti_message *message)
{
    message->references++;
    return message;
}

void tutti_message_release(struct tutti_message *message)
{
    if (!message || --message->references)
        return;
    free(message->delivered);
    free(message);
}

bool tutti_message_before(const struct tutti_message *a, const struct tutti_message *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->sender != b->sender)
        return a->sender < b->sender;
    return a->number != b->number ? a->number < b->number : a->part < b->part;
}

void tutti_message_heap_fini(struct tutti_message_heap *heap)
{
    for (size_t i = 0; i < heap->count; i++)
        tutti_message_release(heap->items[i]);
    free(heap->items);
    *heap = (struct tutti_message_heap){0};
}

static void rise(struct tutti_message_heap *heap, size_t at, struct tutti_message *message)
{
    for (; at && tutti_message_before(message, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = message;
}

bool tutti_message_heap_push(struct tutti_message_heap *heap, struct tutti_message *message)
{
    if (!tutti_vector_reserve(&heap->items, &heap->room, heap->count + 1, sizeof *heap->items))
        return false;
    rise(heap, heap->count++, tutti_message_share(message));
    return true;
}

/* Takes the one at this place out; the last one takes the place, or one near it. */
static struct tutti_message *take(struct tutti_message_heap *heap, size_t at)
{
    struct tutti_message *taken = heap->items[at], *last = heap->items[--heap->count];
    if (at == heap->count)
        return taken;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < heap->count && tutti_message_before(heap->items[child + 1], heap->items[child]))
            child++;
        if (child >= heap->count || !tutti_message_before(heap->items[child], last))
            break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    rise(heap, at, last);
    return taken;
}

struct tutti_message *tutti_message_heap_pop(struct tutti_message_heap *heap)
{
    return take(heap, 0);
}

bool tutti_message_heap_remove(struct tutti_message_heap *heap, struct tutti_message *message)
{
    for (size_t i = 0; i < heap->count; i++)
        if (heap->items[i] == message) {
            tutti_message_release(take(heap, i));
            return true;
        }
    return false;
}
