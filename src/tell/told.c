/* SPDX-License-Identifier: MIT */
#include "tell/told.h"

#include <stdlib.h>
#include <tutti/tell.h>

#include "base/err.h"

enum tutti_err tutti_told_open(struct tutti_told *told)
{
    *told = (struct tutti_told){0};
    told->out = open_memstream(&told->text, &told->size);
    return told->out ? TUTTI_OK : tutti_fail_memory();
}

enum tutti_err tutti_told_take(struct tutti_told *told, enum tutti_err err, char **text)
{
    bool whole = !ferror(told->out);
    whole = fclose(told->out) == 0 && whole;
    if (!err && !whole)
        err = tutti_fail_memory();
    if (err)
        free(told->text);
    else
        *text = told->text;
    return err;
}

enum tutti_err tutti_told_json(json_t *json, size_t flags, char **text)
{
    struct tutti_told told = {0};
    enum tutti_err err = json ? tutti_told_open(&told) : tutti_fail_memory();
    if (!err) {
        bool done = json_dumpf(json, told.out, flags) == 0 && fputc('\n', told.out) != EOF;
        err = tutti_told_take(&told, done ? TUTTI_OK : tutti_fail_memory(), text);
    }
    json_decref(json);
    return err;
}

void tutti_tell_free(char *text)
{
    free(text);
}
