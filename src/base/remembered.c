/* SPDX-License-Identifier: MIT */
#include "base/remembered.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum tutti_err tutti_remember(struct tutti_remembered *remembered, void *data, size_t size)
{
    if (!tutti_vector_reserve(&remembered->pieces, &remembered->room, remembered->count + 1,
                              sizeof *remembered->pieces))
        return tutti_fail_memory();
    remembered->pieces[remembered->count++] = (struct tutti_remembered_piece){data, size};
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

void tutti_remembered_fini(struct tutti_remembered *remembered)
{
    free(remembered->pieces);
    *remembered = (struct tutti_remembered){0};
}
