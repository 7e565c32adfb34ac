/* SPDX-License-Identifier: MIT */
#include "run/recovery.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

void tt_recovery_init(struct tt_recovery *recovery, const struct tutti_run_options *options)
{
    *recovery = (struct tt_recovery){.asked = options, .options = *options};
    if (options->recover == 0)
        return;
    recovery->options.watched = &recovery->watched;
    if (!options->log || !options->log->write)
        return;
    tt_recovery_filter_init(&recovery->told, options->log);
    recovery->options.log = &recovery->told.log;
}

void tt_recovery_fini(struct tt_recovery *recovery)
{
    free(recovery->why);
    free(recovery->path);
    if (recovery->told.to)
        tt_recovery_filter_fini(&recovery->told);
    tt_tempdir_free(recovery->folder);
    *recovery = (struct tt_recovery){0};
}

/* As a file: nodes get it sent like any other that a run reads. */
enum tutti_err tt_recovery_store(struct tt_recovery *recovery, struct tt_collector *collector)
{
    struct tt_bytes last = collector ? tt_collector_last_file(collector) : (struct tt_bytes){0};
    if (last.size == 0 || recovery->asked->recover == 0)
        return TUTTI_OK;
    if (!recovery->path) {
        struct tt_text path = {0};
        TRY(tt_tempdir_new(&recovery->folder));
        tt_text_printf(&path, "%s/checkpoint", tt_tempdir_path(recovery->folder));
        recovery->path = path.failed ? NULL : tt_text_copy(path.text);
        tt_text_fini(&path);
        if (!recovery->path)
            return tt_fail_memory();
    }
    TRY(tt_checkpoint_write(recovery->path, last.data, last.size));
    recovery->options.resume = recovery->path;
    recovery->t = tt_collector_time(collector);
    return TUTTI_OK;
}

static void recovery_explain(struct tt_failure *failure, const char *words)
{
    tt_fail_save(failure, tt_fail(failure->err, "%.3000s; %s", failure->message, words));
}

bool tt_recovery_retry(struct tt_recovery *recovery, struct tt_failure *failure)
{
    const struct tutti_run_options *asked = recovery->asked;
    const volatile sig_atomic_t *interrupt = asked->interrupt;
    /* A node that is unreachable at the start is for the user to fix. */
    bool under_way = recovery->started || recovery->used > 0;
    bool ends = failure->err != TUTTI_ERR_LOST || asked->recover == 0 || !under_way || (interrupt && *interrupt);
    recovery->started = false;
    if (ends)
        return false;

    /* Once, a machine or a cable may be the cause. The same loss at the same time again is the FMU's. */
    bool repeated = recovery->why && strcmp(recovery->why, failure->message) == 0;
    free(recovery->why);
    recovery->why = tt_text_copy(failure->message);
    if (repeated) {
        recovery_explain(failure, "the same has happened after a recovery, so that it is not tried again");
        return false;
    }
    if (recovery->used == asked->recover) {
        recovery_explain(failure, "as many recoveries as --recover allows have been made");
        return false;
    }
    recovery->used++;
    recovery->options.used = NULL; /* files were reported already */
    recovery->options.spares_nodes = true;
    if (recovery->told.to)
        tt_recovery_filter_restart(&recovery->told);
    tt_log(asked->log, TUTTI_LOG_WARNING, NULL, "%s. The run goes on from %s%s (recovery %u of %u)", failure->message,
           recovery->path ? "the checkpoint at t = " : "the beginning", recovery->path ? TIME(recovery->t) : "",
           recovery->used, asked->recover);
    return true;
}

/* More different ones are passed on without a look. */
enum { MOST = 4096 };

struct filtered_message {
    char *text;
    unsigned long before, now; /* number of occurrences: in the previous attempt, in this one */
};

/* NULL: it is one too many, or memory is out. Takes `text`. */
static struct filtered_message *message_filter_find(struct tt_message_filter *told, char *text)
{
    struct filtered_message *messages = told->messages.items;
    int64_t known = text ? tt_map_find(&told->by_text, text) : TUTTI_MAP_NONE;
    if (known != TUTTI_MAP_NONE || !text || told->messages.count == MOST) {
        free(text);
        return known == TUTTI_MAP_NONE ? NULL : &messages[known];
    }
    struct filtered_message *added = tt_vector_push(&told->messages, sizeof *added);
    if (!added || tt_map_add(&told->by_text, text, (int64_t)told->messages.count - 1, NULL)) {
        told->messages.count -= added != NULL;
        free(text);
        return NULL;
    }
    added->text = text;
    return added;
}

static bool message_filter_is_new(struct tt_message_filter *told, enum tutti_log_level level, const char *origin,
                                  const char *text)
{
    struct tt_text key = {0};
    tt_text_printf(&key, "%d %s: %s", (int)level, origin ? origin : "", text);
    if (key.failed)
        tt_text_fini(&key);
    pthread_mutex_lock(&told->lock);
    struct filtered_message *message = message_filter_find(told, key.text);
    bool news = !message || ++message->now > message->before;
    pthread_mutex_unlock(&told->lock);
    return news;
}

static void write_new_message(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    struct tt_message_filter *told = context;
    if (message_filter_is_new(told, level, origin, text))
        told->to->write(told->to->context, level, origin, text);
}

void tt_recovery_filter_init(struct tt_message_filter *told, const struct tutti_log *to)
{
    *told =
        (struct tt_message_filter){.log = {.level = to->level, .write = write_new_message, .context = told}, .to = to};
    pthread_mutex_init(&told->lock, NULL);
}

void tt_recovery_filter_fini(struct tt_message_filter *told)
{
    const struct filtered_message *messages = told->messages.items;
    for (size_t i = 0; i < told->messages.count; i++)
        free(messages[i].text);
    tt_vector_fini(&told->messages);
    tt_map_fini(&told->by_text);
    pthread_mutex_destroy(&told->lock);
}

void tt_recovery_filter_restart(struct tt_message_filter *told)
{
    struct filtered_message *messages = told->messages.items;
    for (size_t i = 0; i < told->messages.count; i++) {
        if (messages[i].now > messages[i].before)
            messages[i].before = messages[i].now;
        messages[i].now = 0;
    }
}
