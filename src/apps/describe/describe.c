/* SPDX-License-Identifier: MIT */
#include "apps/describe/describe.h"

#include <stdlib.h>
#include <string.h>
#include <tutti/tell.h>

#include "base/fail.h"
#include "base/number.h"
#include "base/text.h"

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

enum tutti_err tt_describe_check_options(const struct tt_display_options *given, const char *const *names)
{
    for (size_t i = 0; i < given->count; i++) {
        const struct tutti_tell_option *option = &given->options[i];
        struct tt_text_nearest nearest = {.wanted = option->name};
        bool known = false;
        for (const char *const *name = names; *name && !known; name++) {
            known = strcmp(*name, option->name) == 0;
            tt_text_nearest_offer(&nearest, *name);
        }
        if (!known)
            return tt_fail(TUTTI_ERR_ARGUMENT, "there is no option '%s'%s", tt_text_excerpt(option->name).text,
                           tt_text_suggest(nearest.best).text);
    }
    return TUTTI_OK;
}

const char *tt_describe_option_value(const struct tt_display_options *given, const char *name)
{
    for (size_t i = given->count; i-- > 0;)
        if (strcmp(given->options[i].name, name) == 0)
            return given->options[i].value;
    return NULL;
}

size_t tt_describe_option_values(const struct tt_display_options *given, const char *name, const char **values)
{
    size_t count = 0;
    for (size_t i = 0; i < given->count; i++)
        if (strcmp(given->options[i].name, name) == 0)
            values[count++] = given->options[i].value;
    return count;
}

enum tutti_err tt_describe_option_flag(const struct tt_display_options *given, const char *name, bool *flag)
{
    const char *value = tt_describe_option_value(given, name);
    *flag = value && strcmp(value, "true") == 0;
    return !value || *flag || strcmp(value, "false") == 0
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_ARGUMENT, "--%s takes true or false, not '%s'", name, tt_text_excerpt(value).text);
}

enum tutti_err tt_describe_option_number(const struct tt_display_options *given, const char *name, double *value)
{
    const char *text = tt_describe_option_value(given, name);
    return !text || tt_number_read_double(text, strlen(text), value)
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_ARGUMENT, "--%s takes a number, not '%s'", name, tt_text_excerpt(text).text);
}
