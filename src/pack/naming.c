/* SPDX-License-Identifier: MIT */
#include "pack/naming.h"

#include <stddef.h>
#include <string.h>

/* Each of these passes one part of a name, and returns what follows; NULL: there is no such part. */

static bool is_letter(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *pass_number(const char *at)
{
    if (!is_digit(*at))
        return NULL;
    while (is_digit(*at))
        at++;
    return at;
}

static const char *pass_quoted(const char *at)
{
    static const char marks[] = "!#$%&()*+,-./:;<>=?@[]^{}|~ ", escapes[] = "'\"?\\abfnrtv";
    const char *begin = ++at;
    for (; *at != '\''; at++) {
        if (*at == '\\' && at[1] && strchr(escapes, at[1]))
            at++;
        else if (*at == '\0' || !(is_letter(*at) || is_digit(*at) || strchr(marks, *at)))
            return NULL;
    }
    return at > begin ? at + 1 : NULL;
}

static const char *pass_plain(const char *at)
{
    if (!is_letter(*at))
        return NULL;
    while (is_letter(*at) || is_digit(*at))
        at++;
    return at;
}

/* "[1,2]", if there is one. */
static const char *pass_indices(const char *at)
{
    if (*at != '[')
        return at;
    do
        at = pass_number(at + 1);
    while (at && *at == ',');
    return at && *at == ']' ? at + 1 : NULL;
}

static const char *pass_identifier(const char *at)
{
    for (;;) {
        at = *at == '\'' ? pass_quoted(at) : pass_plain(at);
        at = at ? pass_indices(at) : NULL;
        if (!at || *at != '.')
            return at;
        at++;
    }
}

/* "x)" or "x,2)". */
static const char *pass_derivative(const char *at)
{
    at = pass_identifier(at);
    if (at && *at == ',')
        at = pass_number(at + 1);
    return at && *at == ')' ? at + 1 : NULL;
}

bool tutti_name_is_structured(const char *name)
{
    const char *end = strncmp(name, "der(", 4) == 0 ? pass_derivative(name + 4) : pass_identifier(name);
    return end && *end == '\0';
}
