/* SPDX-License-Identifier: MIT */
#include "tell/given.h"

#include <string.h>

#include "base/nearest.h"
#include "base/number.h"
#include "base/str.h"

enum tutti_err tutti_given_check(const struct tutti_given *given, const char *const *names)
{
    for (size_t i = 0; i < given->count; i++) {
        const struct tutti_tell_option *option = &given->options[i];
        struct tutti_nearest nearest = {.wanted = option->name};
        bool known = false;
        for (const char *const *name = names; *name && !known; name++) {
            known = strcmp(*name, option->name) == 0;
            tutti_nearest_offer(&nearest, *name);
        }
        if (!known)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "there is no option '%s'%s", tutti_str_show(option->name).text,
                              tutti_nearest_hint(nearest.best).text);
    }
    return TUTTI_OK;
}

const char *tutti_given_value(const struct tutti_given *given, const char *name)
{
    for (size_t i = given->count; i-- > 0;)
        if (strcmp(given->options[i].name, name) == 0)
            return given->options[i].value;
    return NULL;
}

size_t tutti_given_values(const struct tutti_given *given, const char *name, const char **values)
{
    size_t count = 0;
    for (size_t i = 0; i < given->count; i++)
        if (strcmp(given->options[i].name, name) == 0)
            values[count++] = given->options[i].value;
    return count;
}

enum tutti_err tutti_given_flag(const struct tutti_given *given, const char *name, bool *flag)
{
    const char *value = tutti_given_value(given, name);
    *flag = value && strcmp(value, "true") == 0;
    return !value || *flag || strcmp(value, "false") == 0
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_ARGUMENT, "--%s takes true or false, not '%s'", name, tutti_str_show(value).text);
}

enum tutti_err tutti_given_number(const struct tutti_given *given, const char *name, double *value)
{
    const char *text = tutti_given_value(given, name);
    return !text || tutti_number_read_double(text, strlen(text), value)
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_ARGUMENT, "--%s takes a number, not '%s'", name, tutti_str_show(text).text);
}
