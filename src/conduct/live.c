/* SPDX-License-Identifier: MIT */
#include "conduct/live.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "conduct/live_token.h"
#include "fabric/address.h"
#include "job/drive.h"
#include "live/broadcast.h"
#include "record/output.h"
#include "serve/address.h"
#include "system/value.h"

struct tutti_live {
    struct tutti_board *board;
    struct tutti_orders orders;
    struct tutti_broadcast *broadcast;
    char address[TUTTI_ADDRESS_SIZE], token[TUTTI_LIVE_TOKEN];
    char *token_file;
    pthread_mutex_t mutex;       /* guards `job` */
    const struct tutti_job *job; /* NULL: there is none at the moment */
    struct tutti_drive drive;    /* what input files drive */
    struct tutti_arena arena;    /* of that */
    /* Where the options of the job lead here; where they led before. */
    struct tutti_watcher watcher;
    struct tutti_feed *rows; /* of the board; NULL: columns are not known */
    struct tutti_row_room room;
    struct tutti_log log;
    const struct tutti_watcher *watcher_before;
    const struct tutti_log *log_before;
    void (*progress_before)(void *context, const struct tutti_progress *progress);
    void *progress_context_before;
};

/* ---- what the run tells ---- */

static enum tutti_err see_columns(void *context, const struct tutti_recorded *shown, size_t count)
{
    struct tutti_live *live = context;
    const struct tutti_watcher *before = live->watcher_before;
    TRY(tutti_board_put_columns(live->board, shown, count));
    live->rows = tutti_board_rows(live->board);
    live->room.values = tutti_feed_room(live->rows);
    return before && before->columns ? before->columns(before->context, shown, count) : TUTTI_OK;
}

static enum tutti_err see_text(void *context, size_t column, const char *text)
{
    const struct tutti_live *live = context;
    const struct tutti_watcher *before = live->watcher_before;
    return before->text(before->context, column, text);
}

static enum tutti_err see_row(void *context, double t, const double *values)
{
    struct tutti_live *live = context;
    const struct tutti_watcher *before = live->watcher_before;
    live->room.values = tutti_feed_put(live->rows, t, values);
    return before && before->row ? before->row(before->context, t, values) : TUTTI_OK;
}

static void see_progress(void *context, const struct tutti_progress *progress)
{
    const struct tutti_live *live = context;
    tutti_board_put_progress(live->board, progress);
    if (live->progress_before)
        live->progress_before(live->progress_context_before, progress);
}

/* Of a job that is not there any more, or of ranks that tell of units that it has not, no unit has a name. */
static void see_load(void *context, int rank, const struct tutti_load *load)
{
    const struct tutti_live *live = context;
    const struct tutti_system *system = live->job ? live->job->system : NULL;
    const char **names = calloc(load->unit_count + 1, sizeof *names);
    for (size_t i = 0; names && system && i < load->unit_count; i++)
        if (load->units[i].component < system->component_count)
            names[i] = system->components[load->units[i].component].name;
    if (names)
        tutti_board_put_load(live->board, rank, load, names);
    free(names);
}

static void see_message(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    const struct tutti_live *live = context;
    const struct tutti_log *before = live->log_before;
    tutti_board_put_message(live->board, level, origin, text);
    if (before && before->write && (level <= before->level || tutti_log_insists()))
        before->write(before->context, level, origin, text);
}

/* ---- what is asked of it ---- */

static enum tutti_err check_settable(const struct tutti_live *live, const struct tutti_end *end, const char *name)
{
    const struct tutti_job *job = live->job;
    const struct tutti_drive *drive = &live->drive;
    const struct tutti_var *var = &job->system->components[end->component].fmu->desc->vars[end->variable];
    bool tunable = var->causality == TUTTI_PARAMETER && var->variability == TUTTI_TUNABLE;
    if (var->causality != TUTTI_INPUT && !tunable)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "'%s' is a %s %s: while a run goes on, inputs and tunable parameters can be set", name,
                          tutti_variability_name((enum tutti_variability)var->variability),
                          tutti_causality_name((enum tutti_causality)var->causality));
    if (tutti_structure_find(&job->structure, end->component, end->variable, false) != TUTTI_NONE)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "'%s' is connected: it gets its values from another unit", name);
    for (size_t i = 0; i < drive->counts[end->component]; i++)
        if (drive->inputs[end->component][i].variable == end->variable)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "'%s' gets its values from an input file", name);
    if (var->dimension_count > 0 || tutti_type_is_text((enum tutti_type)var->type))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "'%s' is %s: while a run goes on, single numbers can be set", name,
                          var->dimension_count > 0 ? "an array" : "a text");
    return TUTTI_OK;
}

static enum tutti_err settle_in(const struct tutti_live *live, const char *name, double value,
                                struct tutti_run_order *order)
{
    const struct tutti_job *job = live->job;
    struct tutti_end end = {0};
    TRY(tutti_system_find(job->system, name, "set", &end.component, &end.variable, &end.element));
    TRY(check_settable(live, &end, name));
    const struct tutti_desc *desc = job->system->components[end.component].fmu->desc;
    TRY(tutti_value_check(desc, &desc->vars[end.variable], name, value));
    *order = (struct tutti_run_order){TUTTI_ORDER_SET, end.component, end.variable, value};
    return TUTTI_OK;
}

static enum tutti_err settle(const void *context, const char *name, double value, struct tutti_run_order *order)
{
    struct tutti_live *live = (struct tutti_live *)context;
    pthread_mutex_lock(&live->mutex);
    enum tutti_err err = live->job ? settle_in(live, name, value, order)
                                   : tutti_fail(TUTTI_ERR_STATE, "there is no run at the moment");
    pthread_mutex_unlock(&live->mutex);
    return err;
}

/* ---- beginning and end ---- */

static enum tutti_err check_address(const char *where)
{
    struct tutti_address address;
    char text[sizeof address.host];
    snprintf(text, sizeof text, "%s%s", strchr(where, ':') ? "" : "127.0.0.1:", where);
    TRY(tutti_address_read(&address, text, "--live", true));
    return tutti_address_is_loopback(&address)
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_ARGUMENT,
                            "--live %s: what goes over the network would not be encrypted; listen at 127.0.0.1, "
                            "and lead others there by ssh -L",
                            where);
}

static enum tutti_err start(struct tutti_live *live, const char *where, const struct tutti_job *job)
{
    struct tutti_live_plan plan = {.token = live->token, .orders = &live->orders, .settle = settle, .context = live};
    const char *file = job->asked->file_count > 0 ? job->asked->files[0] : "";
    TRY(check_address(where));
    TRY(tutti_http_load(&plan.module));
    TRY(tutti_board_new(&live->board, file, job->times.start, job->times.stop));
    TRY(tutti_http_listen(&plan.socket, where, "--live", live->address, sizeof live->address));
    enum tutti_err err = tutti_live_token_make(live->address, live->token, &live->token_file);
    plan.board = live->board;
    if (err)
        close(plan.socket);
    return err ? err : tutti_broadcast_open(&live->broadcast, &plan);
}

static void release(struct tutti_live *live)
{
    tutti_broadcast_close(live->broadcast);
    if (live->token_file)
        (void)unlink(live->token_file);
    free(live->token_file);
    tutti_board_free(live->board);
    tutti_arena_fini(&live->arena);
    pthread_mutex_destroy(&live->mutex);
    free(live);
}

enum tutti_err tutti_live_open(struct tutti_live **out, const struct tutti_run_options *options,
                               const struct tutti_job *job)
{
    struct tutti_live *live = calloc(1, sizeof *live);
    if (!live)
        return tutti_fail_memory();
    pthread_mutex_init(&live->mutex, NULL);
    enum tutti_err err = start(live, options->live, job);
    if (err) {
        release(live);
        return err;
    }
    tutti_log_insist(options->log, TUTTI_LOG_INFO, NULL, "live at http://%s/?token=%s", live->address, live->token);
    *out = live;
    return TUTTI_OK;
}

enum tutti_err tutti_live_attach(struct tutti_live *live, struct tutti_job *job)
{
    struct tutti_run_options *options = &job->options;
    tutti_options_settle_live(options);
    if (!options->output) {
        free(job->result);
        job->result = NULL;
    }
    tutti_arena_fini(&live->arena);
    live->arena = (struct tutti_arena){0};
    TRY(tutti_drive_assign(&live->drive, &live->arena, job->system, job->tables, job->table_count, &job->formulas));
    live->watcher_before = options->watcher;
    live->log_before = options->log;
    live->progress_before = options->progress;
    live->progress_context_before = options->progress_context;
    live->watcher = (struct tutti_watcher){live, see_columns,
                                           options->watcher && options->watcher->text ? see_text : NULL, see_row};
    live->log = (struct tutti_log){options->log ? options->log->level : TUTTI_LOG_WARNING, see_message, live};
    live->room.of = &live->watcher;
    options->watcher = &live->watcher;
    options->tells_digits = false; /* what is a text for the page is a text by its type */
    options->room = &live->room;
    options->log = &live->log;
    options->progress = see_progress;
    options->progress_context = live;
    options->load = see_load;
    options->load_context = live;
    options->orders = &live->orders;
    pthread_mutex_lock(&live->mutex);
    live->job = job;
    pthread_mutex_unlock(&live->mutex);
    return TUTTI_OK;
}

void tutti_live_detach(struct tutti_live *live)
{
    pthread_mutex_lock(&live->mutex);
    live->job = NULL;
    pthread_mutex_unlock(&live->mutex);
}

void tutti_live_close(struct tutti_live *live, enum tutti_err err, double t)
{
    if (!live)
        return;
    const char *state = !err ? "done" : err == TUTTI_ERR_INTERRUPTED ? "interrupted" : "failed";
    tutti_board_put_end(live->board, state, err ? tutti_err_message() : NULL, t);
    release(live);
}
