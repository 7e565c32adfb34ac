/* SPDX-License-Identifier: MIT */
#include "conduct/recovery.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"

void tutti_recovery_init(struct tutti_recovery *recovery, const struct tutti_run_options *options)
{
    *recovery = (struct tutti_recovery){.asked = options, .options = *options};
    if (options->recover == 0)
        return;
    recovery->options.watched = &recovery->watched;
    if (!options->log || !options->log->write)
        return;
    tutti_told_init(&recovery->told, options->log);
    recovery->options.log = &recovery->told.log;
}

void tutti_recovery_fini(struct tutti_recovery *recovery)
{
    free(recovery->why);
    free(recovery->path);
    if (recovery->told.to)
        tutti_told_fini(&recovery->told);
    tutti_tempdir_free(recovery->folder);
    *recovery = (struct tutti_recovery){0};
}

static enum tutti_err make_place(struct tutti_recovery *recovery)
{
    struct tutti_text path = {0};
    if (recovery->path)
        return TUTTI_OK;
    TRY(tutti_tempdir_new(&recovery->folder));
    tutti_text_printf(&path, "%s/checkpoint", tutti_tempdir_path(recovery->folder));
    recovery->path = path.failed ? NULL : tutti_str_copy(path.text);
    tutti_text_fini(&path);
    return recovery->path ? TUTTI_OK : tutti_fail_memory();
}

/* As a file: nodes get it sent like any other that a run reads. */
enum tutti_err tutti_recovery_keep(struct tutti_recovery *recovery, struct tutti_collector *collector)
{
    struct tutti_bytes last = collector ? tutti_collector_last(collector) : (struct tutti_bytes){0};
    if (last.size == 0 || recovery->asked->recover == 0)
        return TUTTI_OK;
    TRY(make_place(recovery));
    TRY(tutti_checkpoint_write(recovery->path, last.data, last.size));
    recovery->options.resume = recovery->path;
    recovery->t = tutti_collector_time(collector);
    return TUTTI_OK;
}

/* Once, a machine or a cable may be the cause. The same loss at the same time again is the FMU's. */
static bool comes_again(struct tutti_recovery *recovery, const char *why)
{
    bool again = recovery->why && strcmp(recovery->why, why) == 0;
    free(recovery->why);
    recovery->why = tutti_str_copy(why);
    return again;
}

static void explain(struct tutti_failure *failure, const char *words)
{
    tutti_failure_keep(failure, tutti_fail(failure->err, "%.3000s; %s", failure->message, words));
}

bool tutti_recovery_goes_on(struct tutti_recovery *recovery, struct tutti_failure *failure)
{
    const struct tutti_run_options *asked = recovery->asked;
    const volatile sig_atomic_t *interrupt = asked->interrupt;
    /* What cannot be reached at the start is the person's to mend. */
    bool under_way = recovery->started || recovery->used > 0;
    bool ends = failure->err != TUTTI_ERR_LOST || asked->recover == 0 || !under_way || (interrupt && *interrupt);
    recovery->started = false;
    if (ends)
        return false;
    if (comes_again(recovery, failure->message)) {
        explain(failure, "the same has happened after a recovery, so that it is not tried again");
        return false;
    }
    if (recovery->used == asked->recover) {
        explain(failure, "as many recoveries as --recover allows have been made");
        return false;
    }
    recovery->used++;
    recovery->options.used = NULL; /* files were told */
    recovery->options.spares_nodes = true;
    if (recovery->told.to)
        tutti_told_begin_anew(&recovery->told);
    tutti_log_printf(asked->log, TUTTI_LOG_WARNING, NULL, "%s. The run goes on from %s%s (recovery %u of %u)",
                     failure->message, recovery->path ? "the checkpoint at t = " : "the beginning",
                     recovery->path ? TIME(recovery->t) : "", recovery->used, asked->recover);
    return true;
}
