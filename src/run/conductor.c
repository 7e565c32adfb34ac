/* SPDX-License-Identifier: MIT */
#include "run/conductor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wall_clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "run/merged_rows.h"
#include "sim/stats.h"
#include "results/record_file.h"
#include "sim/report/reporter.h"
#include "sim/report/record.h"

enum { LAST_LINES = 8 };

/* The reports of a rank so far. */
struct conductor_rank {
    bool ended;
    enum tutti_err err;
    uint32_t component; /* where it failed; TUTTI_NONE: in none that is known */
    double t;           /* where it is */
    bool t_known;
    struct tutti_progress progress;
    bool has_progress;
    struct tutti_run_stats tally;
    bool has_tally;
    char *lines[LAST_LINES];
    size_t line_count; /* ever */
    struct tt_text last_words;
};

struct tt_conductor {
    const struct tutti_run_options *options;
    struct conductor_rank *ranks;
    int count, ended;
    struct tt_merged_rows *rows;
    unsigned long rows_before; /* the checkpoint that the run resumes from */
    struct tt_record_file step_log;
    char *step_log_path; /* absolute; NULL: none */
    struct tt_bytes step_log_mark;
    struct tt_collector *collector; /* of checkpoints; NULL: none are taken */
    struct tt_byte_writer result_at, step_log_at;
    const struct tt_state_files *states; /* files to be written; NULL: none */
    struct tt_bytes *final;              /* final states reported by ranks, per component; owned */
    double last_progress, last_flush;
    bool progressed;        /* since the last time that it was shown */
    enum tutti_err err;     /* of the rank that failed first */
    int weight;             /* of that error */
    bool told;              /* `err` was reported by the rank itself */
    double err_t;           /* the time that the rank was to reach */
    uint32_t err_component; /* the component in which it failed */
    char *message;
    struct tt_fail_subject about;
    enum tutti_err own_err; /* error of writing, or a malformed report */
    char *own_message;
};

static void conductor_release(struct tt_conductor *conductor)
{
    for (int r = 0; conductor->ranks && r < conductor->count; r++) {
        tt_stats_fini(&conductor->ranks[r].tally);
        tt_text_fini(&conductor->ranks[r].last_words);
        for (size_t i = 0; i < LAST_LINES; i++)
            free(conductor->ranks[r].lines[i]);
    }
    free(conductor->ranks);
    for (uint32_t c = 0; conductor->final && c < conductor->states->count; c++)
        free((void *)conductor->final[c].data);
    free(conductor->final);
    tt_bytes_fini(&conductor->result_at);
    tt_bytes_fini(&conductor->step_log_at);
    free(conductor->step_log_path);
    free(conductor->message);
    free(conductor->own_message);
    free(conductor);
}

enum tutti_err tt_conductor_new(struct tt_conductor **out, const struct tutti_run_options *options, const char *result,
                                int ranks)
{
    struct tt_conductor *conductor = calloc(1, sizeof *conductor);
    *out = NULL;
    if (!conductor)
        return tt_fail_memory();
    conductor->options = options;
    conductor->step_log.fd = -1;
    conductor->count = ranks;
    conductor->last_flush = tt_wall_clock_now();
    conductor->ranks = calloc((size_t)ranks, sizeof *conductor->ranks);
    /* Now: code of an FMU may change the folder that the process is in. */
    conductor->step_log_path = options->step_log ? tt_fs_absolute(options->step_log) : NULL;
    bool wanted = tt_record_is_requested(options, result);
    const struct tt_output_target target = {.path = wanted ? result : NULL,
                                            .watcher = wanted ? options->watcher : NULL,
                                            .tells_digits = options->tells_digits,
                                            .room = options->room,
                                            .watched = options->watched,
                                            .log = options->log};
    enum tutti_err err = conductor->ranks && (conductor->step_log_path || !options->step_log)
                             ? tt_merged_rows_new(&conductor->rows, ranks, &target)
                             : tt_fail_memory();
    if (err)
        conductor_release(conductor);
    else
        *out = conductor;
    return err;
}

void tt_conductor_resume(struct tt_conductor *conductor, struct tt_bytes result, struct tt_bytes step_log,
                         unsigned long rows)
{
    conductor->rows_before = rows;
    tt_merged_rows_resume(conductor->rows, result);
    conductor->step_log_mark = step_log;
}

/* One that has not been opened yet is where it was. */
static enum tutti_err mark_step_log(struct tt_conductor *conductor, struct tt_byte_writer *mark)
{
    const struct tt_bytes *before = &conductor->step_log_mark;
    if (conductor->step_log.fd >= 0)
        return tt_fail_context(tt_record_file_mark_lines(&conductor->step_log, mark), "--step-log");
    tt_bytes_put_bytes(mark, before->data, before->size);
    return TUTTI_OK;
}

enum tutti_err tt_conductor_mark(struct tt_conductor *conductor, struct tt_byte_writer *result,
                                 struct tt_byte_writer *step_log)
{
    TRY(tt_merged_rows_mark(conductor->rows, result));
    return mark_step_log(conductor, step_log);
}

void tt_conductor_collect(struct tt_conductor *conductor, struct tt_collector *collector)
{
    conductor->collector = collector;
}

enum tutti_err tt_conductor_expect_states(struct tt_conductor *conductor, const struct tt_state_files *states)
{
    conductor->states = states;
    conductor->final = calloc((size_t)states->count + 1, sizeof *conductor->final);
    return conductor->final ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_conductor_sync(struct tt_conductor *conductor)
{
    TRY(tt_merged_rows_sync(conductor->rows));
    return tt_fail_context(tt_record_file_sync(&conductor->step_log), "--step-log");
}

static enum tutti_err conductor_fail_malformed(const char *what, int rank)
{
    return tt_fail(TUTTI_ERR_FORMAT, "%s of rank %d is malformed", what, rank);
}

static bool is_report_read(const struct tt_byte_reader *in)
{
    return !in->bad && in->at == in->end;
}

static void conductor_advance_rank(struct conductor_rank *rank, double t)
{
    rank->t = t;
    rank->t_known = true;
}

static enum tutti_err conductor_handle_row(struct tt_conductor *conductor, int r, struct tt_byte_reader *in)
{
    double t;
    TRY(tt_merged_rows_receive_row(conductor->rows, r, in, &t));
    conductor_advance_rank(&conductor->ranks[r], t);
    return TUTTI_OK;
}

static enum tutti_err conductor_handle_log(struct tt_conductor *conductor, int r, struct tt_byte_reader *in)
{
    struct conductor_rank *rank = &conductor->ranks[r];
    unsigned marked = tt_bytes_get_u8(in), level = marked & ~(unsigned)TUTTI_REPORT_INSISTS;
    const char *origin = tt_bytes_get_text(in), *text = tt_bytes_get_text(in);
    if (!is_report_read(in) || level > TUTTI_LOG_DEBUG || !text)
        return conductor_fail_malformed("a message", r);
    if (marked & TUTTI_REPORT_INSISTS)
        tt_log_unfiltered(conductor->options->log, (enum tutti_log_level)level, origin, "%s", text);
    else
        tt_log(conductor->options->log, (enum tutti_log_level)level, origin, "%s", text);
    if (!origin)
        return TUTTI_OK; /* of the run, not of a unit: not the last message of a lost unit */
    struct tt_text line = {0};
    tt_text_printf(&line, "%.500s: %.4000s", origin, text);
    if (line.failed) {
        tt_text_fini(&line);
        return tt_fail_memory();
    }
    tt_text_make_printable(line.text);
    char **place = &rank->lines[rank->line_count++ % LAST_LINES];
    free(*place);
    *place = line.text;
    return TUTTI_OK;
}

static enum tutti_err conductor_handle_progress(struct tt_conductor *conductor, int r, struct tt_byte_reader *in)
{
    struct conductor_rank *rank = &conductor->ranks[r];
    struct tutti_progress progress;
    progress.start = tt_bytes_get_double(in);
    progress.stop = tt_bytes_get_double(in);
    progress.time = tt_bytes_get_double(in);
    progress.step = tt_bytes_get_double(in);
    progress.steps = (unsigned long)tt_bytes_get_u64(in);
    progress.elapsed = tt_bytes_get_double(in);
    progress.paused = tt_bytes_get_u8(in) != 0;
    if (!is_report_read(in))
        return conductor_fail_malformed("the progress", r);
    conductor_advance_rank(rank, progress.time);
    rank->progress = progress;
    rank->has_progress = conductor->progressed = true;
    return TUTTI_OK;
}

static enum tutti_err conductor_handle_load(struct tt_conductor *conductor, int r, struct tt_byte_reader *in)
{
    const struct tutti_run_options *options = conductor->options;
    struct tt_rank_load load;
    TRY(tt_fail_context(tt_reporter_unpack_load(in, &load), "rank %d", r));
    bool whole = is_report_read(in);
    if (whole && options->load)
        options->load(options->load_context, r, &load);
    free(load.units);
    return whole ? TUTTI_OK : conductor_fail_malformed("the load", r);
}

static enum tutti_err conductor_handle_step(struct tt_conductor *conductor, int r, struct tt_byte_reader *in)
{
    const char *line = tt_bytes_get_text(in);
    if (!is_report_read(in) || !line || !conductor->step_log_path)
        return conductor_fail_malformed("the step log", r);
    bool anew = true;
    struct tt_byte_reader mark = tt_bytes_get_begin(conductor->step_log_mark);
    enum tutti_err err = TUTTI_OK;
    if (conductor->step_log.fd < 0) /* the first line is the header, which a file that is resumed has */
        err = conductor->step_log_mark.size == 0
                  ? tt_record_file_create(&conductor->step_log, conductor->step_log_path)
                  : tt_record_file_resume_lines(&conductor->step_log, conductor->step_log_path, &mark, &anew);
    if (!err && anew)
        err = tt_record_file_append(&conductor->step_log, line);
    return tt_fail_context(err, "--step-log");
}

/* The first rank has written all steps up to here. Once all ranks have delivered their parts, every earlier row is
 * written, and no later one. If the conductor itself has failed, the checkpoint is unusable: the run ends. */
static enum tutti_err conductor_handle_checkpoint(struct tt_conductor *conductor, int r, struct tt_byte_reader *in)
{
    struct tt_byte_writer *result = &conductor->result_at, *step_log = &conductor->step_log_at;
    bool complete;
    if (!conductor->collector)
        return conductor_fail_malformed("a checkpoint", r);
    if (conductor->own_err)
        return TUTTI_OK;
    if (r == 0) {
        tt_bytes_reset(step_log);
        TRY(mark_step_log(conductor, step_log));
    }
    TRY(tt_collector_add_frame(conductor->collector, in, &complete));
    if (!complete)
        return TUTTI_OK;
    tt_bytes_reset(result);
    TRY(tt_merged_rows_mark(conductor->rows, result));
    if (result->failed || step_log->failed)
        return tt_fail_memory();
    return tt_collector_write(conductor->collector, tt_bytes_written(result), tt_bytes_written(step_log));
}

/* Kept until the end: of a run that failed no state is written. */
static enum tutti_err conductor_handle_state(struct tt_conductor *conductor, int r, struct tt_byte_reader *in)
{
    size_t size;
    uint32_t component = tt_bytes_get_u32(in);
    const void *bytes = tt_bytes_get_block(in, &size);
    if (!is_report_read(in) || !conductor->final || component >= conductor->states->count ||
        !tt_state_files_final(conductor->states, component) || conductor->final[component].data)
        return conductor_fail_malformed("a final state", r);
    void *copy = malloc(size + 1);
    if (!copy)
        return tt_fail_memory();
    memcpy(copy, bytes, size);
    conductor->final[component] = (struct tt_bytes){size, copy};
    return TUTTI_OK;
}

static enum tutti_err conductor_handle_tally(struct tt_conductor *conductor, int r, struct tt_byte_reader *in)
{
    struct conductor_rank *rank = &conductor->ranks[r];
    if (rank->has_tally)
        return conductor_fail_malformed("a second tally", r);
    enum tutti_err err = tt_reporter_unpack_tally(in, &rank->tally);
    rank->has_tally = !err;
    if (err)
        tt_stats_fini(&rank->tally);
    return tt_fail_context(err, "rank %d", r);
}

static void conductor_record_error(struct tt_conductor *conductor, const struct conductor_rank *rank, bool told,
                                   const char *message, const struct tt_fail_subject *about)
{
    /* A stopped rank counts only if no other rank failed; so does a rank that reports the loss of a second rank, about
     * whose end other ranks may know more. */
    int weight = rank->err == TUTTI_OK                 ? 0
                 : rank->err == TUTTI_ERR_STOPPED      ? 1
                 : told && rank->err == TUTTI_ERR_LOST ? 2
                                                       : 3;

    /* Earlier in simulated time: ranks that do not read from each other may be far apart. At the same time, in the order in
     * which one rank would have called the units: which rank reports first is chance. */
    bool earlier =
        told && conductor->told &&
        (rank->t < conductor->err_t || (rank->t == conductor->err_t && rank->component < conductor->err_component));
    if (weight < conductor->weight || (weight == conductor->weight && !earlier))
        return;

    conductor->err = rank->err;
    conductor->weight = weight;
    conductor->told = told;
    conductor->err_t = rank->t;
    conductor->err_component = rank->component;
    conductor->about = *about;
    free(conductor->message);
    conductor->message = tt_text_copy(message); /* NULL for want of memory: the name of the error has to do */
}

/* `told`: reported by the rank itself. */
static void end_rank(struct tt_conductor *conductor, int r, enum tutti_err err, bool told, const char *message,
                     const struct tt_fail_subject *about)
{
    struct conductor_rank *rank = &conductor->ranks[r];
    rank->ended = true;
    rank->err = err;
    conductor->ended++;
    tt_merged_rows_end_rank(conductor->rows, r);
    if (err)
        conductor_record_error(conductor, rank, told, message, about);
}

static enum tutti_err conductor_handle_end(struct tt_conductor *conductor, int r, struct tt_byte_reader *in)
{
    uint32_t err = tt_bytes_get_u32(in);
    const char *message = tt_bytes_get_text(in), *unit = tt_bytes_get_text(in), *variable = tt_bytes_get_text(in);
    struct tt_fail_subject about = {.time = tt_bytes_get_double(in)};
    uint32_t component = tt_bytes_get_u32(in);
    double t = tt_bytes_get_double(in);
    if (!is_report_read(in) || err > TUTTI_ERR_LOST)
        return conductor_fail_malformed("the end", r);
    snprintf(about.unit, sizeof about.unit, "%s", unit ? unit : "");
    snprintf(about.variable, sizeof about.variable, "%s", variable ? variable : "");
    conductor->ranks[r].component = component;
    conductor_advance_rank(&conductor->ranks[r], t);
    end_rank(conductor, r, (enum tutti_err)err, true, message ? message : "", &about);
    return TUTTI_OK;
}

static enum tutti_err conductor_handle_frame(struct tt_conductor *conductor, int r, enum tt_report_kind kind,
                                             struct tt_byte_reader *in)
{
    switch (kind) {
    case TUTTI_REPORT_COLUMNS: return tt_merged_rows_receive_columns(conductor->rows, r, in);
    case TUTTI_REPORT_ROW: return conductor_handle_row(conductor, r, in);
    case TUTTI_REPORT_LOG: return conductor_handle_log(conductor, r, in);
    case TUTTI_REPORT_PROGRESS: return conductor_handle_progress(conductor, r, in);
    case TUTTI_REPORT_LOAD: return conductor_handle_load(conductor, r, in);
    case TUTTI_REPORT_STEP: return conductor_handle_step(conductor, r, in);
    case TUTTI_REPORT_CHECKPOINT: return conductor_handle_checkpoint(conductor, r, in);
    case TUTTI_REPORT_STATE: return conductor_handle_state(conductor, r, in);
    case TUTTI_REPORT_TALLY: return conductor_handle_tally(conductor, r, in);
    case TUTTI_REPORT_END: return conductor_handle_end(conductor, r, in);
    case TUTTI_REPORT_MADE: /* of a sweep, which has no conductor */
    case TUTTI_REPORT_KINDS: break;
    }
    return conductor_fail_malformed("a frame", r);
}

/* The first failure of the conductor itself is kept for the end. */
static enum tutti_err store_conductor_error(struct tt_conductor *conductor, enum tutti_err err)
{
    if (err && !conductor->own_err) {
        conductor->own_err = err;
        conductor->own_message = tt_text_copy(tutti_err_message());
    }
    return err;
}

enum tutti_err tt_conductor_receive(struct tt_conductor *conductor, int rank, const char *bytes, size_t count,
                                    size_t *taken)
{
    enum tutti_err err = TUTTI_OK;
    size_t done = 0;
    while (!err && !conductor->ranks[rank].ended) {
        enum tt_report_kind kind;
        size_t size;
        bool whole;
        err = tt_fabric_find_report(bytes + done, count - done, &kind, &size, &whole);
        if (err || !whole)
            break;
        const char *parcel = bytes + done + TUTTI_REPORT_HEADER;
        struct tt_byte_reader in = {.at = parcel, .end = parcel + size};
        bool must_wait = (kind == TUTTI_REPORT_ROW && tt_merged_rows_must_wait(conductor->rows, rank)) ||
                         (kind == TUTTI_REPORT_CHECKPOINT && conductor->collector && !conductor->own_err &&
                          tt_collector_must_wait(conductor->collector, in));
        if (must_wait) /* for frames of other ranks */
            break;
        err = conductor_handle_frame(conductor, rank, kind, &in);
        done += TUTTI_REPORT_HEADER + size;
    }
    *taken = conductor->ranks[rank].ended ? count : done; /* later bytes are ignored */
    return store_conductor_error(conductor, err);
}

void tt_conductor_mark_lost(struct tt_conductor *conductor, int rank, enum tutti_err err)
{
    struct tt_fail_subject about = tt_fail_subject();
    if (!conductor->ranks[rank].ended)
        end_rank(conductor, rank, err, false, tutti_err_message(), &about);
}

/* Finds the rank with the least progress among those that have reported their time. */
static const struct conductor_rank *find_slowest_rank(const struct tt_conductor *conductor, bool with_progress)
{
    const struct conductor_rank *last = NULL;
    for (int r = 0; r < conductor->count; r++) {
        const struct conductor_rank *rank = &conductor->ranks[r];
        if (rank->t_known && (rank->has_progress || !with_progress) && (!last || rank->t < last->t))
            last = rank;
    }
    return last;
}

double tt_conductor_time(const struct tt_conductor *conductor)
{
    const struct conductor_rank *last = find_slowest_rank(conductor, false);
    return last ? last->t : -INFINITY;
}

enum tutti_err tt_conductor_update(struct tt_conductor *conductor)
{
    const struct tutti_run_options *options = conductor->options;
    double now = tt_wall_clock_now();
    if (options->progress && conductor->progressed && now - conductor->last_progress >= 0.1) {
        conductor->last_progress = now;
        conductor->progressed = false;
        const struct conductor_rank *last = find_slowest_rank(conductor, true);
        struct tutti_progress progress = last->progress;
        progress.time = last->t;
        options->progress(options->progress_context, &progress);
    }
    if (now - conductor->last_flush <= 1)
        return TUTTI_OK;
    conductor->last_flush = now;
    return store_conductor_error(conductor, tt_merged_rows_flush(conductor->rows));
}

const char *tt_conductor_last_log_lines(struct tt_conductor *conductor, int r)
{
    struct conductor_rank *rank = &conductor->ranks[r];
    size_t first = rank->line_count > LAST_LINES ? rank->line_count - LAST_LINES : 0;
    tt_text_fini(&rank->last_words);
    rank->last_words = (struct tt_text){0};
    for (size_t i = first; i < rank->line_count; i++)
        tt_text_printf(&rank->last_words, "%s%s", i > first ? "\n" : "", rank->lines[i % LAST_LINES]);
    return rank->last_words.text && !rank->last_words.failed ? rank->last_words.text : "";
}

/* --- what ranks counted becomes the statistics of the run */

/* Of the units that ranks report for a component, returns the one with data. */
static struct tt_unit_stats *conductor_find_unit(struct tutti_run_stats *const *tallies, int ranks, size_t component,
                                                 int *at)
{
    for (int r = 0; r < ranks; r++)
        if (tallies[r] && component < tallies[r]->unit_count && tallies[r]->units[component].name) {
            *at = r;
            return &tallies[r]->units[component];
        }
    return NULL;
}

/* In the order of components; those of ranks that were lost are left out. */
static enum tutti_err gather_units(struct tutti_run_stats *stats, struct tutti_run_stats *const *tallies, int ranks)
{
    size_t components = 0;
    for (int r = 0; r < ranks; r++)
        if (tallies[r] && tallies[r]->unit_count > components)
            components = tallies[r]->unit_count;
    stats->units = components ? calloc(components, sizeof *stats->units) : NULL;
    if (components && !stats->units)
        return tt_fail_memory();
    for (size_t c = 0; c < components; c++) {
        int rank = 0;
        struct tt_unit_stats *unit = conductor_find_unit(tallies, ranks, c, &rank);
        if (!unit)
            continue;
        stats->units[stats->unit_count] = *unit;
        stats->units[stats->unit_count++].rank = rank;
        *unit = (struct tt_unit_stats){0};
    }
    return TUTTI_OK;
}

/* Moves a text out of a tally, or returns `other` if it is NULL. */
static char *conductor_move_text(char **text, const char *otherwise)
{
    char *taken = text && *text ? *text : tt_text_copy(otherwise);
    if (text)
        *text = NULL;
    return taken;
}

/* Sums the counts. tallies[r] has those of rank r (sim/report/reporter.h: units per component, with gaps), NULL if it
 * did not end. Moves texts and units out of them; the caller releases the rest. Counts that are equal on all ranks are
 * taken from the first tally; all others are summed, or taken from the rank with the largest. MEMORY: `stats` is then
 * empty. */
static enum tutti_err sum_tallies(struct tutti_run_stats *stats, struct tutti_run_stats *const *tallies, int ranks)
{
    struct tutti_run_stats *first = NULL;
    for (int r = ranks - 1; r >= 0; r--)
        first = tallies[r] ? tallies[r] : first;
    *stats = first ? *first : (struct tutti_run_stats){0};
    stats->units = NULL;
    stats->unit_count = 0;
    tt_stats_start_sum(stats);
    stats->ranks = ranks;
    stats->coupling = conductor_move_text(first ? &first->coupling : NULL, "none");
    stats->control = conductor_move_text(first ? &first->control : NULL, "fixed");
    stats->events = conductor_move_text(first ? &first->events : NULL, "none");
    stats->fabric = conductor_move_text(first ? &first->fabric : NULL, "none");
    if (first) /* which has handed on all of its texts */
        tt_stats_detach_texts(first);
    for (int r = 0; r < ranks; r++)
        if (tallies[r])
            tt_stats_combine(stats, tallies[r]);
    bool named = stats->coupling && stats->control && stats->events && stats->fabric;
    if (named && gather_units(stats, tallies, ranks) == TUTTI_OK)
        return TUTTI_OK;
    tt_stats_fini(stats);
    *stats = (struct tutti_run_stats){0};
    return tt_fail_memory();
}

bool tt_conductor_is_done(const struct tt_conductor *conductor)
{
    return conductor->ended == conductor->count;
}

bool tt_conductor_has_ended(const struct tt_conductor *conductor, int rank)
{
    return conductor->ranks[rank].ended;
}

bool tt_conductor_has_failed(const struct tt_conductor *conductor)
{
    return conductor->err != TUTTI_OK;
}

static enum tutti_err conductor_sum_statistics(struct tt_conductor *conductor, unsigned long rows,
                                               struct tutti_run_stats *stats)
{
    struct tutti_run_stats **tallies = calloc((size_t)conductor->count, sizeof(struct tutti_run_stats *));
    *stats = (struct tutti_run_stats){0};
    if (!tallies)
        return tt_fail_memory();
    for (int r = 0; r < conductor->count; r++)
        tallies[r] = conductor->ranks[r].has_tally ? &conductor->ranks[r].tally : NULL;
    enum tutti_err err = sum_tallies(stats, tallies, conductor->count);
    free(tallies);
    stats->rows = rows;
    return err;
}

enum tutti_err tt_conductor_finish(struct tt_conductor *conductor, struct tutti_run_stats *stats)
{
    unsigned long rows = conductor->rows_before + tt_merged_rows_count(conductor->rows);

    /* A rank ahead of the rank whose FMU ended the run has not failed in it. */
    double end = INFINITY;
    for (int r = 0; r < conductor->count; r++)
        if (!conductor->ranks[r].err && conductor->ranks[r].has_tally && conductor->ranks[r].tally.terminated_by_fmu)
            end = fmin(end, conductor->ranks[r].t);
    if (conductor->told && conductor->err_t > end)
        conductor->err = TUTTI_OK;

    tt_collector_wait(conductor->collector);
    if (!conductor->err && !conductor->own_err)
        (void)store_conductor_error(conductor, tt_merged_rows_finish(conductor->rows));
    (void)store_conductor_error(conductor, tt_merged_rows_close(conductor->rows));
    (void)store_conductor_error(conductor,
                                tt_fail_context(tt_record_file_close(&conductor->step_log, TUTTI_OK), "--step-log"));
    if (stats)
        (void)store_conductor_error(conductor, conductor_sum_statistics(conductor, rows, stats));
    const struct tt_bytes *final = conductor->final;
    for (uint32_t c = 0; final && !conductor->err && !conductor->own_err && c < conductor->states->count; c++)
        if (final[c].data)
            (void)store_conductor_error(conductor,
                                        tt_state_files_write(conductor->states, c, final[c].data, final[c].size));
    bool own = conductor->own_err && (!conductor->err || conductor->err == TUTTI_ERR_STOPPED);
    enum tutti_err err = own ? conductor->own_err : conductor->err;
    const char *message = own ? conductor->own_message : conductor->message;
    if (err)
        (void)tt_fail(err, "%s", message ? message : tutti_err_name(err));
    if (err && !own)
        (void)tt_fail_about(err, conductor->about.unit, conductor->about.variable, conductor->about.time);
    conductor_release(conductor);
    return err;
}
