/* SPDX-License-Identifier: MIT */
#include "run/live/live.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "model/system/setting.h"
#include "results/output.h"
#include "run/live/live_server.h"
#include "sim/job/driven_inputs.h"
#include "base/address.h"

struct tt_live {
    struct tt_live_state *board;
    struct tt_command_ring orders;
    struct tt_live_server *broadcast;
    char address[TUTTI_ADDRESS_SIZE], token[TUTTI_LIVE_TOKEN];
    char *token_file;
    pthread_mutex_t mutex;         /* guards `job` */
    const struct tt_job *job;      /* NULL: none at the moment */
    struct tt_driven_inputs drive; /* what input files drive */
    struct tt_arena arena;         /* of that */
    /* Where the options of the job lead here; where they led before. */
    struct tutti_watcher watcher;
    struct tt_feed *rows; /* of the board; NULL: columns are not known */
    struct tt_row_room room;
    struct tutti_log log;
    const struct tutti_watcher *watcher_before;
    const struct tutti_log *log_before;
    void (*progress_before)(void *context, const struct tutti_progress *progress);
    void *progress_context_before;
};

/* ---- data from the run ---- */

static enum tutti_err live_publish_columns(void *context, const struct tutti_recorded *shown, size_t count)
{
    struct tt_live *live = context;
    const struct tutti_watcher *before = live->watcher_before;
    TRY(tt_live_state_set_columns(live->board, shown, count));
    live->rows = tt_live_state_rows(live->board);
    live->room.values = tt_feed_first_row(live->rows);
    return before && before->columns ? before->columns(before->context, shown, count) : TUTTI_OK;
}

static enum tutti_err live_publish_text(void *context, size_t column, const char *text)
{
    const struct tt_live *live = context;
    const struct tutti_watcher *before = live->watcher_before;
    return before->text(before->context, column, text);
}

static enum tutti_err live_publish_row(void *context, double t, const double *values)
{
    struct tt_live *live = context;
    const struct tutti_watcher *before = live->watcher_before;
    live->room.values = tt_feed_add(live->rows, t, values);
    return before && before->row ? before->row(before->context, t, values) : TUTTI_OK;
}

static void live_publish_progress(void *context, const struct tutti_progress *progress)
{
    const struct tt_live *live = context;
    tt_live_state_set_progress(live->board, progress);
    if (live->progress_before)
        live->progress_before(live->progress_context_before, progress);
}

/* Without the job, or for units that it does not have, units have no name. */
static void live_publish_load(void *context, int rank, const struct tt_rank_load *load)
{
    const struct tt_live *live = context;
    const struct tt_system *system = live->job ? live->job->system : NULL;
    const char **names = calloc(load->unit_count + 1, sizeof *names);
    for (size_t i = 0; names && system && i < load->unit_count; i++)
        if (load->units[i].component < system->component_count)
            names[i] = system->components[load->units[i].component].name;
    if (names)
        tt_live_state_add_load(live->board, rank, load, names);
    free(names);
}

static void live_publish_message(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    const struct tt_live *live = context;
    const struct tutti_log *before = live->log_before;
    tt_live_state_add_message(live->board, level, origin, text);
    if (before && before->write && (level <= before->level || tt_log_is_unfiltered()))
        before->write(before->context, level, origin, text);
}

/* ---- what is asked of it ---- */

static enum tutti_err live_check_settable(const struct tt_live *live, const struct tt_end *end, const char *name)
{
    const struct tt_job *job = live->job;
    const struct tt_driven_inputs *drive = &live->drive;
    const struct tt_var *var = &job->system->components[end->component].fmu->desc->vars[end->variable];
    bool tunable = var->causality == TUTTI_PARAMETER && var->variability == TUTTI_TUNABLE;
    if (var->causality != TUTTI_INPUT && !tunable)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "'%s' is a %s %s: while a run goes on, inputs and tunable parameters can be set", name,
                       tt_description_variability_name((enum tt_variability)var->variability),
                       tt_description_causality_name((enum tt_causality)var->causality));
    if (tt_structure_find(&job->structure, end->component, end->variable, false) != TUTTI_NONE)
        return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is connected: it gets its values from another unit", name);
    for (size_t i = 0; i < drive->counts[end->component]; i++)
        if (drive->inputs[end->component][i].variable == end->variable)
            return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' gets its values from an input file", name);
    if (var->dimension_count > 0 || tt_type_is_text((enum tt_type)var->type))
        return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is %s: while a run goes on, single numbers can be set", name,
                       var->dimension_count > 0 ? "an array" : "a text");
    return TUTTI_OK;
}

static enum tutti_err live_resolve_in(const struct tt_live *live, const char *name, double value,
                                      struct tt_run_command *order)
{
    const struct tt_job *job = live->job;
    struct tt_end end = {0};
    TRY(tt_system_find(job->system, name, "set", &end.component, &end.variable, &end.element));
    TRY(live_check_settable(live, &end, name));
    const struct tt_description *desc = job->system->components[end.component].fmu->desc;
    TRY(tt_setting_check_number(desc, &desc->vars[end.variable], name, value));
    *order = (struct tt_run_command){TUTTI_ORDER_SET, end.component, end.variable, value};
    return TUTTI_OK;
}

static enum tutti_err live_resolve_name(const void *context, const char *name, double value,
                                        struct tt_run_command *order)
{
    struct tt_live *live = (struct tt_live *)context;
    pthread_mutex_lock(&live->mutex);
    enum tutti_err err = live->job ? live_resolve_in(live, name, value, order)
                                   : tt_fail(TUTTI_ERR_STATE, "there is no run at the moment");
    pthread_mutex_unlock(&live->mutex);
    return err;
}

/* ---- beginning and end ---- */

static enum tutti_err live_read_address(struct tt_address *address, const char *where)
{
    TRY(tt_address_read(address, where,
                        &(struct tt_address_rule){.option = "--live", .any_port = true, .host = "127.0.0.1"}));
    return tt_address_is_loopback(address)
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_ARGUMENT,
                         "--live %s: what goes over the network would not be encrypted; listen at 127.0.0.1, "
                         "and lead others there by ssh -L",
                         where);
}

static enum tutti_err live_start(struct tt_live *live, const char *where, const struct tt_job *job)
{
    struct tt_live_server_plan plan = {
        .token = live->token, .orders = &live->orders, .settle = live_resolve_name, .context = live};
    const char *file = job->asked->file_count > 0 ? job->asked->files[0] : "";
    struct tt_address address;
    struct tt_socket_address bound;
    TRY(live_read_address(&address, where));
    TRY(tt_http_load(&plan.module));
    TRY(tt_live_state_new(&live->board, file, job->times.start, job->times.stop));
    TRY(tt_address_listen(&plan.socket, &bound, &address, "--live"));
    snprintf(live->address, sizeof live->address, "%s", bound.text);
    enum tutti_err err = tt_live_token_create(live->address, live->token, &live->token_file);
    plan.board = live->board;
    if (err)
        close(plan.socket);
    return err ? err : tt_live_server_open(&live->broadcast, &plan);
}

static void live_release(struct tt_live *live)
{
    tt_live_server_close(live->broadcast);
    if (live->token_file)
        (void)unlink(live->token_file);
    free(live->token_file);
    tt_live_state_free(live->board);
    tt_arena_fini(&live->arena);
    pthread_mutex_destroy(&live->mutex);
    free(live);
}

enum tutti_err tt_live_open(struct tt_live **out, const struct tutti_run_options *options, const struct tt_job *job)
{
    struct tt_live *live = calloc(1, sizeof *live);
    if (!live)
        return tt_fail_memory();
    pthread_mutex_init(&live->mutex, NULL);
    enum tutti_err err = live_start(live, options->live, job);
    if (err) {
        live_release(live);
        return err;
    }
    tt_log_unfiltered(options->log, TUTTI_LOG_INFO, NULL, "live at http://%s/?token=%s", live->address, live->token);
    *out = live;
    return TUTTI_OK;
}

enum tutti_err tt_live_attach(struct tt_live *live, struct tt_job *job)
{
    struct tutti_run_options *options = &job->options;
    tt_options_resolve_live(options);
    if (!options->output) {
        free(job->result);
        job->result = NULL;
    }
    tt_arena_fini(&live->arena);
    live->arena = (struct tt_arena){0};
    TRY(tt_driven_inputs_assign(&live->drive, &live->arena, job->system, job->tables, job->table_count,
                                &job->formulas));
    live->watcher_before = options->watcher;
    live->log_before = options->log;
    live->progress_before = options->progress;
    live->progress_context_before = options->progress_context;
    live->watcher = (struct tutti_watcher){live, live_publish_columns,
                                           options->watcher && options->watcher->text ? live_publish_text : NULL,
                                           live_publish_row};
    live->log = (struct tutti_log){options->log ? options->log->level : TUTTI_LOG_WARNING, live_publish_message, live};
    live->room.of = &live->watcher;
    options->watcher = &live->watcher;
    options->tells_digits = false; /* what is a text for the page is a text by its type */
    options->room = &live->room;
    options->log = &live->log;
    options->progress = live_publish_progress;
    options->progress_context = live;
    options->load = live_publish_load;
    options->load_context = live;
    options->orders = &live->orders;
    pthread_mutex_lock(&live->mutex);
    live->job = job;
    pthread_mutex_unlock(&live->mutex);
    return TUTTI_OK;
}

void tt_live_detach(struct tt_live *live)
{
    pthread_mutex_lock(&live->mutex);
    live->job = NULL;
    pthread_mutex_unlock(&live->mutex);
}

void tt_live_close(struct tt_live *live, enum tutti_err err, double t)
{
    if (!live)
        return;
    const char *state = !err ? "done" : err == TUTTI_ERR_INTERRUPTED ? "interrupted" : "failed";
    tt_live_state_set_end(live->board, state, err ? tutti_err_message() : NULL, t);
    live_release(live);
}

/* NULL: no place to store it. */
static char *live_token_path(const char *address)
{
    char *folder = tt_fs_own_cache();
    struct tt_text path = {0};
    if (folder)
        tt_text_printf(&path, "%s/live-%s", folder, address);
    free(folder);
    if (path.failed)
        tt_text_fini(&path);
    return path.text;
}

enum tutti_err tt_live_token_create(const char *address, char token[TUTTI_LIVE_TOKEN], char **path)
{
    *path = NULL;
    if (strchr(address, '/'))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--live: '%s' is no address", tt_text_excerpt(address).text);
    TRY(tt_random_token(token, TUTTI_LIVE_TOKEN));
    char *place = live_token_path(address);
    if (!place)
        return TUTTI_OK;
    (void)unlink(place); /* a run that was killed may have left a file of that name */
    int fd = open(place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (fd >= 0 && tt_fs_write(fd, token, strlen(token), -1) == strlen(token))
        *path = place;
    else
        free(place);
    if (fd >= 0)
        close(fd);
    return TUTTI_OK;
}

enum tutti_err tt_live_token_read(const char *address, char token[TUTTI_LIVE_TOKEN])
{
    char *path = strchr(address, '/') ? NULL : live_token_path(address);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    ssize_t size = fd >= 0 ? read(fd, token, TUTTI_LIVE_TOKEN) : -1;
    if (fd >= 0)
        close(fd);
    free(path);
    if (size != TUTTI_LIVE_TOKEN - 1)
        return tt_fail(TUTTI_ERR_IO,
                       "no run of this user on this machine is live at %s; for one of others, or elsewhere, give its "
                       "token as it is shown there (--token)",
                       tt_text_excerpt(address).text);
    token[size] = '\0';
    return TUTTI_OK;
}
