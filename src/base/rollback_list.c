/* SPDX-License-Identifier: MIT */
#include "base/rollback_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum tutti_err tt_rollback_list_add(struct tt_rollback_list *remembered, void *data, size_t size)
{
    return tt_rollback_list_add_of(remembered, TUTTI_OF_ALL, data, size);
}

enum tutti_err tt_rollback_list_add_of(struct tt_rollback_list *remembered, int64_t of, void *data, size_t size)
{
    size_t number = (size_t)(of - TUTTI_OF_RANK);
    if (!tt_vector_reserve(&remembered->lists, &remembered->list_room, number + 1, sizeof *remembered->lists))
        return tt_fail_memory();
    while (remembered->list_count <= number)
        remembered->lists[remembered->list_count++] = (struct tt_rollback_range){0};
    struct tt_rollback_range *list = &remembered->lists[number];
    if (!tt_vector_reserve(&remembered->pieces, &remembered->room, remembered->count + 1, sizeof *remembered->pieces))
        return tt_fail_memory();
    remembered->pieces[remembered->count++] = (struct tt_rollback_piece){data, size, of, 0};
    if (list->last > 0)
        remembered->pieces[list->last - 1].next = remembered->count;
    else
        list->first = remembered->count;
    list->last = remembered->count;
    remembered->size += size;
    return TUTTI_OK;
}

void tt_rollback_list_save(const struct tt_rollback_list *remembered, void *bytes)
{
    char *to = bytes;
    for (size_t i = 0; i < remembered->count; to += remembered->pieces[i++].size)
        if (remembered->pieces[i].size > 0)
            memcpy(to, remembered->pieces[i].data, remembered->pieces[i].size);
}

void tt_rollback_list_restore(const struct tt_rollback_list *remembered, const void *bytes)
{
    const char *from = bytes;
    for (size_t i = 0; i < remembered->count; from += remembered->pieces[i++].size)
        if (remembered->pieces[i].size > 0)
            memcpy(remembered->pieces[i].data, from, remembered->pieces[i].size);
}

/* Returns the first piece; NULL if there is none. */
static const struct tt_rollback_piece *rollback_list_first(const struct tt_rollback_list *remembered, int64_t of)
{
    size_t number = (size_t)(of - TUTTI_OF_RANK);
    size_t first = number < remembered->list_count ? remembered->lists[number].first : 0;
    return first > 0 ? &remembered->pieces[first - 1] : NULL;
}

static const struct tt_rollback_piece *rollback_list_next(const struct tt_rollback_list *remembered,
                                                          const struct tt_rollback_piece *piece)
{
    return piece->next > 0 ? &remembered->pieces[piece->next - 1] : NULL;
}

size_t tt_rollback_list_size(const struct tt_rollback_list *remembered, int64_t of)
{
    size_t size = 0;
    for (const struct tt_rollback_piece *at = rollback_list_first(remembered, of); at;
         at = rollback_list_next(remembered, at))
        size += at->size;
    return size;
}

void tt_rollback_list_pack(const struct tt_rollback_list *remembered, int64_t of, struct tt_byte_writer *parcel)
{
    tt_bytes_put_u64(parcel, tt_rollback_list_size(remembered, of));
    for (const struct tt_rollback_piece *at = rollback_list_first(remembered, of); at;
         at = rollback_list_next(remembered, at))
        if (at->size > 0)
            tt_bytes_put_bytes(parcel, at->data, at->size);
}

enum tutti_err tt_rollback_list_unpack(const struct tt_rollback_list *remembered, int64_t of, struct tt_byte_reader *in)
{
    size_t size = 0;
    const char *from = tt_bytes_get_block(in, &size);
    if (in->bad || size != tt_rollback_list_size(remembered, of))
        return tt_fail(TUTTI_ERR_FORMAT, "what a run remembers has another size");
    for (const struct tt_rollback_piece *at = rollback_list_first(remembered, of); at;
         at = rollback_list_next(remembered, at))
        if (at->size > 0) {
            memcpy(at->data, from, at->size);
            from += at->size;
        }
    return TUTTI_OK;
}

void tt_rollback_list_fini(struct tt_rollback_list *remembered)
{
    free(remembered->pieces);
    free(remembered->lists);
    *remembered = (struct tt_rollback_list){0};
}
