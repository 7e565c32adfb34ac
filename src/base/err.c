/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static _Thread_local char message[4096];

const char *tutti_err_name(enum tutti_err err)
{
    static const char *const names[] = {
#define X(name, text) text,
        TUTTI_ERRORS(X)
#undef X
    };
    return (unsigned)err < sizeof names / sizeof *names ? names[err] : "unknown error";
}

const char *tutti_err_message(void)
{
    return message;
}

enum tutti_err tutti_fail(enum tutti_err err, const char *format, ...)
{
    /* The arguments may point into the old message: print beside it first. */
    char text[sizeof message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tutti_str_make_printable(text); /* names out of files go to terminals */
    memcpy(message, text, sizeof message);
    return err;
}

enum tutti_err tutti_fail_memory(void)
{
    return tutti_fail(TUTTI_ERR_MEMORY, "out of memory");
}

enum tutti_err tutti_fail_context(enum tutti_err err, const char *format, ...)
{
    if (err == TUTTI_OK)
        return err;
    char text[sizeof message];
    va_list args;
    va_start(args, format);
    int used = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof text - 2) {
        size_t room = sizeof text - (size_t)used - 3, length = strlen(message);
        length = length < room ? length : room;
        memcpy(text + used, ": ", 2);
        memcpy(text + used + 2, message, length);
        text[(size_t)used + 2 + length] = '\0';
    }
    tutti_str_make_printable(text);
    memcpy(message, text, sizeof message);
    return err;
}
