/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { MESSAGE_SIZE = 4096 };

/* The text lies on the heap: a library whose thread-local variables are large cannot be loaded by dlopen, since all threads of
 * the program would have to have room for them already. */
static _Thread_local struct {
    char *text;             /* MESSAGE_SIZE bytes; NULL: nothing failed yet, or ... */
    bool is_lost;           /* ... there was no memory for it */
    unsigned long failures; /* so far */
} record;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* frees the text when its thread ends */
static bool has_key;

static void make_key(void)
{
    has_key = pthread_key_create(&key, free) == 0;
}

static void set_message(const char text[MESSAGE_SIZE])
{
    record.failures++;
    if (!record.text) {
        pthread_once(&once, make_key);
        char *memory = has_key ? malloc(MESSAGE_SIZE) : NULL;
        if (memory && pthread_setspecific(key, memory) != 0) {
            free(memory);
            memory = NULL;
        }
        record.text = memory;
        record.is_lost = memory == NULL;
    }
    if (record.text)
        memcpy(record.text, text, MESSAGE_SIZE);
}

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
    if (record.text)
        return record.text;
    return record.is_lost ? "out of memory" : "";
}

enum tutti_err tutti_fail(enum tutti_err err, const char *format, ...)
{
    /* The arguments may point into the old message: print beside it first. */
    char text[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tutti_str_make_printable(text); /* names out of files go to terminals */
    tutti_spelling_apply(text);
    set_message(text);
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
    char text[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    int used = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof text - 2) {
        const char *message = tutti_err_message();
        size_t room = sizeof text - (size_t)used - 3, length = strlen(message);
        length = length < room ? length : room;
        memcpy(text + used, ": ", 2);
        memcpy(text + used + 2, message, length);
        text[(size_t)used + 2 + length] = '\0';
    }
    tutti_str_make_printable(text);
    tutti_spelling_apply(text);
    set_message(text);
    return err;
}

unsigned long tutti_fail_count(void)
{
    return record.failures;
}

enum tutti_err tutti_fail_unsaid(enum tutti_err err, unsigned long before, const char *words)
{
    return err != TUTTI_OK && record.failures == before ? tutti_fail(err, "%s", words) : err;
}

void tutti_failure_keep(struct tutti_failure *failure, enum tutti_err err)
{
    failure->err = err;
    snprintf(failure->message, sizeof failure->message, "%s", err ? tutti_err_message() : "");
}

enum tutti_err tutti_failure_return(const struct tutti_failure *failure)
{
    return failure->err ? tutti_fail(failure->err, "%s", failure->message) : TUTTI_OK;
}
