/* SPDX-License-Identifier: MIT */
#include "base/fail.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { MESSAGE_SIZE = 4096 };

/* Allocated on the heap: dlopen cannot load a library with large thread-local variables, because every thread of the
 * program would need space for them. */
struct failure {
    char text[MESSAGE_SIZE];
    struct tt_fail_subject about;
};

static _Thread_local struct {
    struct failure *last;   /* NULL: no failure yet, or its record could not be allocated */
    bool is_lost;           /* its record could not be allocated */
    unsigned long failures; /* so far */
} record;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* frees the record when its thread ends */
static bool has_key;

static void fail_make_key(void)
{
    has_key = pthread_key_create(&key, free) == 0;
}

static const struct tt_fail_subject nothing = {.time = NAN};

static void fail_set_message(const char text[MESSAGE_SIZE])
{
    record.failures++;
    if (!record.last) {
        pthread_once(&once, fail_make_key);
        struct failure *memory = has_key ? malloc(sizeof *memory) : NULL;
        if (memory && pthread_setspecific(key, memory) != 0) {
            free(memory);
            memory = NULL;
        }
        record.last = memory;
        record.is_lost = memory == NULL;
        if (memory)
            memory->about = nothing;
    }
    if (record.last)
        memcpy(record.last->text, text, MESSAGE_SIZE);
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
    if (record.last)
        return record.last->text;
    return record.is_lost ? "out of memory" : "";
}

enum tutti_err tt_fail(enum tutti_err err, const char *format, ...)
{
    /* The arguments may point into the old message: print beside it first. */
    char text[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tt_text_make_printable(text); /* names out of files go to terminals */
    tt_text_spell_options(text);
    fail_set_message(text);
    if (record.last)
        record.last->about = nothing;
    return err;
}

/* ---- what it is about ---- */

struct tt_fail_subject tt_fail_subject(void)
{
    return record.last ? record.last->about : nothing;
}

const char *tutti_err_unit(void)
{
    return record.last && record.last->about.unit[0] ? record.last->about.unit : NULL;
}

const char *tutti_err_variable(void)
{
    return record.last && record.last->about.variable[0] ? record.last->about.variable : NULL;
}

double tutti_err_time(void)
{
    return record.last ? record.last->about.time : NAN;
}

enum tutti_err tt_fail_about(enum tutti_err err, const char *unit, const char *variable, double time)
{
    struct tt_fail_subject *about = record.last ? &record.last->about : NULL;
    if (err == TUTTI_OK || !about)
        return err;
    if (unit && !about->unit[0])
        snprintf(about->unit, sizeof about->unit, "%s", unit);
    if (variable && !about->variable[0])
        snprintf(about->variable, sizeof about->variable, "%s", variable);
    if (isnan(about->time))
        about->time = time;
    return err;
}

/* ---- more words ---- */

enum tutti_err tt_fail_memory(void)
{
    return tt_fail(TUTTI_ERR_MEMORY, "out of memory");
}

enum tutti_err tt_fail_context(enum tutti_err err, const char *format, ...)
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
    tt_text_make_printable(text);
    tt_text_spell_options(text);
    fail_set_message(text);
    return err;
}

unsigned long tt_fail_count(void)
{
    return record.failures;
}

enum tutti_err tt_fail_without_message(enum tutti_err err, unsigned long before, const char *words)
{
    return err != TUTTI_OK && record.failures == before ? tt_fail(err, "%s", words) : err;
}

void tt_fail_save(struct tt_failure *failure, enum tutti_err err)
{
    failure->err = err;
    failure->message[0] = '\0';
    if (err)
        snprintf(failure->message, sizeof failure->message, "%s", tutti_err_message());
    failure->about = tt_fail_subject();
}

enum tutti_err tt_fail_restore(const struct tt_failure *failure)
{
    const struct tt_fail_subject *about = &failure->about;
    if (!failure->err)
        return TUTTI_OK;
    tt_fail(failure->err, "%s", failure->message);
    return tt_fail_about(failure->err, about->unit, about->variable, about->time);
}
