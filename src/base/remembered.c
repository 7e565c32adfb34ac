/* SPDX-License-Identifier: MIT */
#include "base/remembered.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum tutti_err tutti_remember(struct tutti_remembered *remembered, void *data, size_t size)
{
    return tutti_remember_of(remembered, TUTTI_OF_ALL, data, size);
}

enum tutti_err tutti_remember_of(struct tutti_remembered *remembered, int64_t of, void *data, size_t size)
{
    if (!tutti_vector_reserve(&remembered->pieces, &remembered->room, remembered->count + 1,
                              sizeof *remembered->pieces))
        return tutti_fail_memory();
    remembered->pieces[remembered->count++] = (struct tutti_remembered_piece){data, size, of};
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

static size_t size_of(const struct tutti_remembered *remembered, int64_t of)
{
    size_t size = 0;
    for (size_t i = 0; i < remembered->count; i++)
        size += remembered->pieces[i].of == of ? remembered->pieces[i].size : 0;
    return size;
}

void tutti_remembered_pack(const struct tutti_remembered *remembered, int64_t of, struct tutti_parcel *parcel)
{
    tutti_parcel_put_u64(parcel, size_of(remembered, of));
    for (size_t i = 0; i < remembered->count; i++)
        if (remembered->pieces[i].of == of && remembered->pieces[i].size > 0)
            tutti_parcel_put_bytes(parcel, remembered->pieces[i].data, remembered->pieces[i].size);
}

enum tutti_err tutti_remembered_unpack(const struct tutti_remembered *remembered, int64_t of, struct tutti_unparcel *in)
{
    size_t size = 0;
    const char *from = tutti_unparcel_block(in, &size);
    if (in->bad || size != size_of(remembered, of))
        return tutti_fail(TUTTI_ERR_FORMAT, "what a run remembers has another size");
    for (size_t i = 0; i < remembered->count; i++)
        if (remembered->pieces[i].of == of && remembered->pieces[i].size > 0) {
            memcpy(remembered->pieces[i].data, from, remembered->pieces[i].size);
            from += remembered->pieces[i].size;
        }
    return TUTTI_OK;
}

void tutti_remembered_fini(struct tutti_remembered *remembered)
{
    free(remembered->pieces);
    *remembered = (struct tutti_remembered){0};
}
