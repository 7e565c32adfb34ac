/* SPDX-License-Identifier: MIT */
#include "base/remembered.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum tutti_err tutti_remember(struct tutti_remembered *remembered, void *data, size_t size)
{
    return tutti_remember_of(remembered, TUTTI_OF_ALL, data, size);
}

/* The list of these, made if there is none; NULL when memory is out. */
static struct tutti_remembered_list *list_of(struct tutti_remembered *remembered, int64_t of)
{
    size_t number = (size_t)(of - TUTTI_OF_RANK);
    if (!tutti_vector_reserve(&remembered->lists, &remembered->list_room, number + 1, sizeof *remembered->lists))
        return NULL;
    while (remembered->list_count <= number)
        remembered->lists[remembered->list_count++] = (struct tutti_remembered_list){0};
    return &remembered->lists[number];
}

enum tutti_err tutti_remember_of(struct tutti_remembered *remembered, int64_t of, void *data, size_t size)
{
    struct tutti_remembered_list *list = list_of(remembered, of);
    if (!list || !tutti_vector_reserve(&remembered->pieces, &remembered->room, remembered->count + 1,
                                       sizeof *remembered->pieces))
        return tutti_fail_memory();
    remembered->pieces[remembered->count++] = (struct tutti_remembered_piece){data, size, of, 0};
    if (list->last > 0)
        remembered->pieces[list->last - 1].next = remembered->count;
    else
        list->first = remembered->count;
    list->last = remembered->count;
    remembered->size += size;
    return TUTTI_OK;
}

void tutti_remembered_save(const struct tutti_remembered *remembered, void *bytes)
{
    char *to = bytes;
    for (size_t i = 0; i < remembered->count; to += remembered->pieces[i++].size)
        if (remembered->pieces[i].size > 0)
            memcpy(to, remembered->pieces[i].data, remembered->pieces[i].size);
}

void tutti_remembered_restore(const struct tutti_remembered *remembered, const void *bytes)
{
    const char *from = bytes;
    for (size_t i = 0; i < remembered->count; from += remembered->pieces[i++].size)
        if (remembered->pieces[i].size > 0)
            memcpy(remembered->pieces[i].data, from, remembered->pieces[i].size);
}

/* The first one of these; NULL: there is none. */
static const struct tutti_remembered_piece *first_of(const struct tutti_remembered *remembered, int64_t of)
{
    size_t number = (size_t)(of - TUTTI_OF_RANK);
    size_t first = number < remembered->list_count ? remembered->lists[number].first : 0;
    return first > 0 ? &remembered->pieces[first - 1] : NULL;
}

static const struct tutti_remembered_piece *next_of(const struct tutti_remembered *remembered,
                                                    const struct tutti_remembered_piece *piece)
{
    return piece->next > 0 ? &remembered->pieces[piece->next - 1] : NULL;
}

static size_t size_of(const struct tutti_remembered *remembered, int64_t of)
{
    size_t size = 0;
    for (const struct tutti_remembered_piece *at = first_of(remembered, of); at; at = next_of(remembered, at))
        size += at->size;
    return size;
}

void tutti_remembered_pack(const struct tutti_remembered *remembered, int64_t of, struct tutti_parcel *parcel)
{
    tutti_parcel_put_u64(parcel, size_of(remembered, of));
    for (const struct tutti_remembered_piece *at = first_of(remembered, of); at; at = next_of(remembered, at))
        if (at->size > 0)
            tutti_parcel_put_bytes(parcel, at->data, at->size);
}

enum tutti_err tutti_remembered_unpack(const struct tutti_remembered *remembered, int64_t of, struct tutti_unparcel *in)
{
    size_t size = 0;
    const char *from = tutti_unparcel_block(in, &size);
    if (in->bad || size != size_of(remembered, of))
        return tutti_fail(TUTTI_ERR_FORMAT, "what a run remembers has another size");
    for (const struct tutti_remembered_piece *at = first_of(remembered, of); at; at = next_of(remembered, at))
        if (at->size > 0) {
            memcpy(at->data, from, at->size);
            from += at->size;
        }
    return TUTTI_OK;
}

void tutti_remembered_fini(struct tutti_remembered *remembered)
{
    free(remembered->pieces);
    free(remembered->lists);
    *remembered = (struct tutti_remembered){0};
}
