/* SPDX-License-Identifier: MIT */
#include "apps/describe/describe.h"

#include <stdlib.h>
#include <tutti/tell.h>

#include "base/fail.h"

enum tutti_err tt_describe_open_text(struct tt_text_stream *told)
{
    *told = (struct tt_text_stream){0};
    told->out = open_memstream(&told->text, &told->size);
    return told->out ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_describe_close_text(struct tt_text_stream *told, enum tutti_err err, char **text)
{
    bool whole = !ferror(told->out);
    whole = fclose(told->out) == 0 && whole;
    if (!err && !whole)
        err = tt_fail_memory();
    if (err)
        free(told->text);
    else
        *text = told->text;
    return err;
}

enum tutti_err tt_describe_write_json(json_t *json, size_t flags, char **text)
{
    struct tt_text_stream told = {0};
    enum tutti_err err = json ? tt_describe_open_text(&told) : tt_fail_memory();
    if (!err) {
        bool done = json_dumpf(json, told.out, flags) == 0 && fputc('\n', told.out) != EOF;
        err = tt_describe_close_text(&told, done ? TUTTI_OK : tt_fail_memory(), text);
    }
    json_decref(json);
    return err;
}

void tutti_tell_free(char *text)
{
    free(text);
}
