/* SPDX-License-Identifier: MIT */
#include "apps/pack/naming.h"

#include <stddef.h>
#include <string.h>

/* Each of these passes one part of a name, and returns what follows; NULL: there is no such part. */

static bool naming_is_letter(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool naming_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_name_number(const char *at)
{
    if (!naming_is_digit(*at))
        return NULL;
    while (naming_is_digit(*at))
        at++;
    return at;
}

static const char *skip_quoted_name(const char *at)
{
    static const char marks[] = "!#$%&()*+,-./:;<>=?@[]^{}|~ ", escapes[] = "'\"?\\abfnrtv";
    const char *begin = ++at;
    for (; *at != '\''; at++) {
        if (*at == '\\' && at[1] && strchr(escapes, at[1]))
            at++;
        else if (*at == '\0' || !(naming_is_letter(*at) || naming_is_digit(*at) || strchr(marks, *at)))
            return NULL;
    }
    return at > begin ? at + 1 : NULL;
}

static const char *skip_plain_name(const char *at)
{
    if (!naming_is_letter(*at))
        return NULL;
    while (naming_is_letter(*at) || naming_is_digit(*at))
        at++;
    return at;
}

/* "[1,2]", if there is one. */
static const char *skip_name_indices(const char *at)
{
    if (*at != '[')
        return at;
    do
        at = skip_name_number(at + 1);
    while (at && *at == ',');
    return at && *at == ']' ? at + 1 : NULL;
}

static const char *skip_name_identifier(const char *at)
{
    for (;;) {
        at = *at == '\'' ? skip_quoted_name(at) : skip_plain_name(at);
        at = at ? skip_name_indices(at) : NULL;
        if (!at || *at != '.')
            return at;
        at++;
    }
}

/* "x)" or "x,2)". */
static const char *skip_name_derivative(const char *at)
{
    at = skip_name_identifier(at);
    if (at && *at == ',')
        at = skip_name_number(at + 1);
    return at && *at == ')' ? at + 1 : NULL;
}

bool tt_pack_description_is_structured(const char *name)
{
    const char *end = strncmp(name, "der(", 4) == 0 ? skip_name_derivative(name + 4) : skip_name_identifier(name);
    return end && *end == '\0';
}
