/* SPDX-License-Identifier: MIT */
/* Messages of FMUs. Their texts are untrusted: NULL, broken UTF-8, megabytes of repetition.
 *
 *  G1  Every message is cut, made printable and kept in a ring for error reports.
 *  G2  A text that differs from one still in the ring by its numbers only is not logged again (a warning at every step is logged once), and neither is any text beyond a limit; dropped texts are counted, which is reported when the limit is reached. With debug messages enabled, repetitions are logged, too, up to a higher limit.
 *  G3  An error message inside a call is kept until the call ends: if the call fails, the message becomes part of the reported error; otherwise it is logged.
 *  G4  "#r12#" becomes the name of the variable, "##" becomes "#". */
#include "fmu/fmu_callbacks.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/text.h"
#include "fmu/fmi_call.h"

enum { PASSED_LIMIT = 200, PASSED_LIMIT_DEBUG = 100000 };

/* The types that a letter of FMI 1.0 and 2.0 references stands for; 3.0 references have no letter. */
static bool letter_fits(char letter, const struct tt_var *var)
{
    switch (letter) {
    case 'r': return var->type == TUTTI_TYPE_FLOAT64;
    case 'i': return var->type == TUTTI_TYPE_INT32 || var->type == TUTTI_TYPE_ENUMERATION;
    case 'b': return var->type == TUTTI_TYPE_BOOLEAN;
    case 's': return var->type == TUTTI_TYPE_STRING;
    default: return true;
    }
}

static const char *message_variable_name(const struct tt_description *desc, char letter, unsigned long reference)
{
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (desc->vars[i].reference == reference && letter_fits(letter, &desc->vars[i]))
            return desc->vars[i].name;
    return NULL;
}

/* G4: writes the expanded text to `out`. */
static void expand_references(const struct tt_description *desc, const char *text, char *out, size_t size)
{
    size_t at = 0;
    while (*text && at + 1 < size) {
        if (text[0] == '#' && text[1] == '#') {
            out[at++] = '#';
            text += 2;
            continue;
        }
        const char *digits = text + 1;
        char letter = 0;
        if (text[0] == '#' && desc->fmi < 3 && text[1] && strchr("ribs", text[1]))
            letter = *digits++;
        char *end = NULL;
        unsigned long reference = text[0] == '#' && isdigit((unsigned char)*digits) ? strtoul(digits, &end, 10) : 0;
        const char *name = end && *end == '#' ? message_variable_name(desc, letter, reference) : NULL;
        if (name) {
            at += (size_t)snprintf(out + at, size - at, "%s", name);
            at = at < size ? at : size - 1;
            text = end + 1;
        } else {
            out[at++] = *text++;
        }
    }
    out[at] = '\0';
}

static enum tutti_log_level level_of(enum tt_fmi_status status)
{
    switch (status) {
    case TUTTI_STATUS_OK:
    case TUTTI_STATUS_PENDING:
    case TUTTI_STATUS_DISCARD: return TUTTI_LOG_INFO; /* a discarded step is nothing wrong yet: the run tries another */
    case TUTTI_STATUS_WARNING: return TUTTI_LOG_WARNING;
    default: return TUTTI_LOG_ERROR;
    }
}

static size_t message_number_length(const char *text)
{
    return strspn(text, "0123456789.+-eE");
}

/* Returns true if both texts are equal except for numbers. */
static bool messages_are_alike(const char *a, const char *b)
{
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a += message_number_length(a);
            b += message_number_length(b);
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return *a == *b;
}

/* G1, G2: keeps the text; true if the ring has no similar text, or could not be allocated. Called with the lock held. */
static bool keep_message(struct tt_messages *messages, const char *text)
{
    if (!messages->texts)
        messages->texts = calloc(1, sizeof *messages->texts);
    if (!messages->texts)
        return true;
    unsigned long kept = messages->count < TUTTI_MESSAGES_KEPT ? messages->count : TUTTI_MESSAGES_KEPT;
    unsigned long place = messages->count % TUTTI_MESSAGES_KEPT;
    bool fresh = true;
    for (unsigned long i = 0; i < kept && fresh; i++)
        if (messages_are_alike(messages->texts->kept[i], text)) {
            place = i;
            fresh = false;
        }
    snprintf(messages->texts->kept[place], TUTTI_MESSAGE_SIZE, "%s", text);
    messages->count += fresh;
    return fresh;
}

static void log_message_of_fmu(struct tt_instance *in, enum tutti_log_level level, const char *category,
                               const char *text)
{
    tt_log(in->options.log, level, in->options.name, "%s%s%s%s", category ? "[" : "", category ? category : "",
           category ? "] " : "", text);
}

void tt_fmu_callbacks_message(struct tt_instance *in, enum tt_fmi_status status, const char *category, const char *text)
{
    if (!in)
        return;
    if (in->relay) {
        in->relay(in, status, category, text);
        return;
    }
    char clean[TUTTI_MESSAGE_SIZE];
    expand_references(in->library->desc, text ? text : "(a message without text)", clean, sizeof clean);
    tt_text_make_printable(clean);

    struct tt_messages *messages = &in->messages;
    enum tutti_log_level level = level_of(status);
    bool debug = tt_log_accepts(in->options.log, TUTTI_LOG_DEBUG);
    unsigned long limit = debug ? PASSED_LIMIT_DEBUG : PASSED_LIMIT;
    pthread_mutex_lock(&messages->lock);
    bool fresh = keep_message(messages, clean) || debug;
    bool pass = fresh && messages->passed < limit;
    bool defer = pass && messages->texts && level == TUTTI_LOG_ERROR && tt_fmi_call_current_instance() == in;
    messages->passed += pass;
    messages->dropped += !pass;
    bool last = pass && messages->passed == limit;
    pthread_mutex_unlock(&messages->lock);

    if (defer && in->deferred < TUTTI_MESSAGES_KEPT)
        memcpy(messages->texts->deferred[in->deferred++], clean, sizeof clean);
    else if (pass)
        log_message_of_fmu(in, level, category, clean);
    if (last)
        tt_log(in->options.log, TUTTI_LOG_WARNING, in->options.name,
               "the FMU has said %lu things; its further messages are dropped", limit);
}

void tt_fmu_callbacks_format_message(const void *environment, enum tt_fmi_status status, const char *category,
                                     const char *format, va_list args)
{
    struct tt_fmu_callback called = tt_fmu_callbacks_enter(environment);
    char text[4 * TUTTI_MESSAGE_SIZE];
    tt_fmi_call_takes_message = true;
    if (format)
        vsnprintf(text, sizeof text, format, args);
    tt_fmu_callbacks_message(called.instance, status, category, format ? text : NULL);
    tt_fmi_call_takes_message = false;
    tt_fmu_callbacks_leave(called);
}

enum tt_fmi_status tt_fmu_callbacks_fail_missing(struct tt_instance *in)
{
    tt_fmu_callbacks_message(in, TUTTI_STATUS_ERROR, NULL, "the FMU's library lacks this function");
    return TUTTI_STATUS_ERROR;
}

void tt_fmu_callbacks_log_deferred(struct tt_instance *in)
{
    for (unsigned i = 0; i < in->deferred; i++)
        log_message_of_fmu(in, TUTTI_LOG_ERROR, NULL, in->messages.texts->deferred[i]);
    in->deferred = 0;
}

/* Chains by a hash of the address. Callbacks from threads of FMUs are rare: thousands of instances may make the chains long. */
enum { CHAINS = 1024 };
static struct tt_instance *chains[CHAINS];
/* Held for reading during the callbacks of other threads. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

/* The link that points to it, or the one at the end of its chain. */
static struct tt_instance **find_instance_link(const void *address)
{
    enum { SHIFT = 8 }; /* instances are larger, so neighbours in memory get different chains */
    struct tt_instance **link = &chains[((uintptr_t)address >> SHIFT) % CHAINS];
    while (*link && *link != address)
        link = &(*link)->in_chain;
    return link;
}

void tt_fmu_callbacks_register(struct tt_instance *in)
{
    tt_child_hold();
    pthread_rwlock_wrlock(&lock);
    struct tt_instance **link = find_instance_link(in);
    if (!*link) {
        in->in_chain = NULL;
        *link = in;
    }
    pthread_rwlock_unlock(&lock);
    tt_child_release();
}

void tt_fmu_callbacks_unregister(struct tt_instance *in)
{
    tt_child_hold();
    pthread_rwlock_wrlock(&lock);
    struct tt_instance **link = find_instance_link(in);
    if (*link)
        *link = in->in_chain;
    pthread_rwlock_unlock(&lock);
    tt_child_release();
}

struct tt_fmu_callback tt_fmu_callbacks_enter(const void *environment)
{
    struct tt_fmu_callback called = {tt_fmi_call_current_instance(), false};
    if (!environment || environment == called.instance)
        return called;
    tt_child_hold();
    pthread_rwlock_rdlock(&lock);
    struct tt_instance *found = *find_instance_link(environment);
    if (found)
        return (struct tt_fmu_callback){found, true};
    pthread_rwlock_unlock(&lock);
    tt_child_release();
    return called;
}

void tt_fmu_callbacks_leave(struct tt_fmu_callback called)
{
    if (!called.held)
        return;
    pthread_rwlock_unlock(&lock);
    tt_child_release();
}
