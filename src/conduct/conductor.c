/* SPDX-License-Identifier: MIT */
#include "conduct/conductor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/str.h"
#include "conduct/rows.h"
#include "rank/stats.h"
#include "record/file.h"
#include "report/load.h"
#include "report/observer.h"
#include "report/tally.h"
#include "report/rank_reporter.h"

enum { LAST_LINES = 8 };

/* What a rank has told so far. */
struct rank {
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
    struct tutti_text last_words;
};

struct tutti_conductor {
    const struct tutti_run_options *options;
    struct rank *ranks;
    int count, ended;
    struct tutti_rows *rows;
    struct tutti_record_file step_log;
    char *step_log_path; /* absolute; NULL: none */
    struct tutti_bytes step_log_mark;
    struct tutti_collector *collector; /* of checkpoints; NULL: none are taken */
    struct tutti_parcel result_at, step_log_at;
    const struct tutti_states *states; /* that are to be written; NULL: none ... */
    struct tutti_bytes *final;         /* ... and those that ranks have told, per component; owned */
    double last_progress, last_flush;
    bool progressed;        /* since the last time that it was shown */
    enum tutti_err err;     /* of the rank that failed first */
    int weight;             /* of that error */
    bool told;              /* ... by the rank itself */
    double err_t;           /* where that rank was to come to ... */
    uint32_t err_component; /* ... and in which component it failed */
    char *message;
    struct tutti_about about;
    enum tutti_err own_err; /* of writing, or of what was told */
    char *own_message;
};

static void release(struct tutti_conductor *conductor)
{
    for (int r = 0; conductor->ranks && r < conductor->count; r++) {
        tutti_run_stats_fini(&conductor->ranks[r].tally);
        tutti_text_fini(&conductor->ranks[r].last_words);
        for (size_t i = 0; i < LAST_LINES; i++)
            free(conductor->ranks[r].lines[i]);
    }
    free(conductor->ranks);
    for (uint32_t c = 0; conductor->final && c < conductor->states->count; c++)
        free((void *)conductor->final[c].data);
    free(conductor->final);
    tutti_parcel_fini(&conductor->result_at);
    tutti_parcel_fini(&conductor->step_log_at);
    free(conductor->step_log_path);
    free(conductor->message);
    free(conductor->own_message);
    free(conductor);
}

enum tutti_err tutti_conductor_new(struct tutti_conductor **out, const struct tutti_run_options *options,
                                   const char *result, int ranks)
{
    struct tutti_conductor *conductor = calloc(1, sizeof *conductor);
    *out = NULL;
    if (!conductor)
        return tutti_fail_memory();
    conductor->options = options;
    conductor->step_log.fd = -1;
    conductor->count = ranks;
    conductor->last_flush = tutti_clock_now();
    conductor->ranks = calloc((size_t)ranks, sizeof *conductor->ranks);
    /* Now: code of an FMU may change the folder that the process is in. */
    conductor->step_log_path = options->step_log ? tutti_fs_absolute(options->step_log) : NULL;
    bool wanted = tutti_observer_is_wanted(options, result);
    const struct tutti_output_target target = {.path = wanted ? result : NULL,
                                               .watcher = wanted ? options->watcher : NULL,
                                               .tells_digits = options->tells_digits,
                                               .room = options->room,
                                               .watched = options->watched,
                                               .log = options->log};
    enum tutti_err err = conductor->ranks && (conductor->step_log_path || !options->step_log)
                             ? tutti_rows_new(&conductor->rows, ranks, &target)
                             : tutti_fail_memory();
    if (err)
        release(conductor);
    else
        *out = conductor;
    return err;
}

/* --- an interrupted run */

void tutti_conductor_resume(struct tutti_conductor *conductor, struct tutti_bytes result, struct tutti_bytes step_log)
{
    tutti_rows_resume(conductor->rows, result);
    conductor->step_log_mark = step_log;
}

/* One that has not been opened yet is where it was. */
static enum tutti_err mark_step_log(struct tutti_conductor *conductor, struct tutti_parcel *mark)
{
    const struct tutti_bytes *before = &conductor->step_log_mark;
    if (conductor->step_log.fd >= 0)
        return tutti_fail_context(tutti_record_file_mark_lines(&conductor->step_log, mark), "--step-log");
    tutti_parcel_put_bytes(mark, before->data, before->size);
    return TUTTI_OK;
}

enum tutti_err tutti_conductor_mark(struct tutti_conductor *conductor, struct tutti_parcel *result,
                                    struct tutti_parcel *step_log)
{
    TRY(tutti_rows_mark(conductor->rows, result));
    return mark_step_log(conductor, step_log);
}

void tutti_conductor_collect(struct tutti_conductor *conductor, struct tutti_collector *collector)
{
    conductor->collector = collector;
}

enum tutti_err tutti_conductor_keep_states(struct tutti_conductor *conductor, const struct tutti_states *states)
{
    conductor->states = states;
    conductor->final = calloc((size_t)states->count + 1, sizeof *conductor->final);
    return conductor->final ? TUTTI_OK : tutti_fail_memory();
}

enum tutti_err tutti_conductor_sync(struct tutti_conductor *conductor)
{
    TRY(tutti_rows_sync(conductor->rows));
    return tutti_fail_context(tutti_record_file_sync(&conductor->step_log), "--step-log");
}

/* --- frames */

static enum tutti_err malformed(const char *what, int rank)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "%s of rank %d is malformed", what, rank);
}

static bool is_read(const struct tutti_unparcel *in)
{
    return !in->bad && in->at == in->end;
}

static void move_to(struct rank *rank, double t)
{
    rank->t = t;
    rank->t_known = true;
}

static enum tutti_err take_row(struct tutti_conductor *conductor, int r, struct tutti_unparcel *in)
{
    double t;
    TRY(tutti_rows_take_row(conductor->rows, r, in, &t));
    move_to(&conductor->ranks[r], t);
    return TUTTI_OK;
}

static enum tutti_err take_log(struct tutti_conductor *conductor, int r, struct tutti_unparcel *in)
{
    struct rank *rank = &conductor->ranks[r];
    unsigned marked = tutti_unparcel_u8(in), level = marked & ~(unsigned)TUTTI_REPORT_INSISTS;
    const char *origin = tutti_unparcel_text(in), *text = tutti_unparcel_text(in);
    if (!is_read(in) || level > TUTTI_LOG_DEBUG || !text)
        return malformed("a message", r);
    if (marked & TUTTI_REPORT_INSISTS)
        tutti_log_insist(conductor->options->log, (enum tutti_log_level)level, origin, "%s", text);
    else
        tutti_log_printf(conductor->options->log, (enum tutti_log_level)level, origin, "%s", text);
    if (!origin)
        return TUTTI_OK; /* of the run, not of a unit: nothing that a lost one would have said last */
    struct tutti_text line = {0};
    tutti_text_printf(&line, "%.500s: %.4000s", origin, text);
    if (line.failed) {
        tutti_text_fini(&line);
        return tutti_fail_memory();
    }
    tutti_str_make_printable(line.text);
    char **place = &rank->lines[rank->line_count++ % LAST_LINES];
    free(*place);
    *place = line.text;
    return TUTTI_OK;
}

static enum tutti_err take_progress(struct tutti_conductor *conductor, int r, struct tutti_unparcel *in)
{
    struct rank *rank = &conductor->ranks[r];
    struct tutti_progress progress;
    progress.start = tutti_unparcel_double(in);
    progress.stop = tutti_unparcel_double(in);
    progress.time = tutti_unparcel_double(in);
    progress.step = tutti_unparcel_double(in);
    progress.steps = (unsigned long)tutti_unparcel_u64(in);
    progress.elapsed = tutti_unparcel_double(in);
    progress.paused = tutti_unparcel_u8(in) != 0;
    if (!is_read(in))
        return malformed("the progress", r);
    move_to(rank, progress.time);
    rank->progress = progress;
    rank->has_progress = conductor->progressed = true;
    return TUTTI_OK;
}

static enum tutti_err take_load(struct tutti_conductor *conductor, int r, struct tutti_unparcel *in)
{
    const struct tutti_run_options *options = conductor->options;
    struct tutti_load load;
    TRY(tutti_fail_context(tutti_load_unpack(in, &load), "rank %d", r));
    bool whole = is_read(in);
    if (whole && options->load)
        options->load(options->load_context, r, &load);
    free(load.units);
    return whole ? TUTTI_OK : malformed("the load", r);
}

/* The first line is the header, which a file that goes on has. */
static enum tutti_err open_step_log(struct tutti_conductor *conductor, bool *anew)
{
    const struct tutti_bytes *from = &conductor->step_log_mark;
    const char *bytes = (const char *)from->data;
    struct tutti_unparcel mark = {.at = bytes, .end = bytes + from->size};
    if (from->size == 0)
        return tutti_record_file_begin(&conductor->step_log, conductor->step_log_path);
    return tutti_record_file_resume_lines(&conductor->step_log, conductor->step_log_path, &mark, anew);
}

static enum tutti_err take_step(struct tutti_conductor *conductor, int r, struct tutti_unparcel *in)
{
    const char *line = tutti_unparcel_text(in);
    if (!is_read(in) || !line || !conductor->step_log_path)
        return malformed("the step log", r);
    bool anew = true;
    enum tutti_err err = conductor->step_log.fd < 0 ? open_step_log(conductor, &anew) : TUTTI_OK;
    if (!err && anew)
        err = tutti_record_file_append(&conductor->step_log, line);
    return tutti_fail_context(err, "--step-log");
}

/* The first rank has written all steps up to here. Once all have brought their parts, every row that came before is written, and
 * none that comes after. Where the conductor itself has failed, there is nothing to go on from: the run ends. */
static enum tutti_err take_checkpoint(struct tutti_conductor *conductor, int r, struct tutti_unparcel *in)
{
    struct tutti_parcel *result = &conductor->result_at, *step_log = &conductor->step_log_at;
    bool complete;
    if (!conductor->collector)
        return malformed("a checkpoint", r);
    if (conductor->own_err)
        return TUTTI_OK;
    if (r == 0) {
        tutti_parcel_reset(step_log);
        TRY(mark_step_log(conductor, step_log));
    }
    TRY(tutti_collector_take(conductor->collector, in, &complete));
    if (!complete)
        return TUTTI_OK;
    tutti_parcel_reset(result);
    TRY(tutti_rows_mark(conductor->rows, result));
    if (result->failed || step_log->failed)
        return tutti_fail_memory();
    return tutti_collector_write(conductor->collector, tutti_parcel_bytes(result), tutti_parcel_bytes(step_log));
}

/* Kept until the end: of a run that failed no state is written. */
static enum tutti_err take_state(struct tutti_conductor *conductor, int r, struct tutti_unparcel *in)
{
    size_t size;
    uint32_t component = tutti_unparcel_u32(in);
    const void *bytes = tutti_unparcel_block(in, &size);
    if (!is_read(in) || !conductor->final || component >= conductor->states->count ||
        !tutti_states_final(conductor->states, component) || conductor->final[component].data)
        return malformed("a final state", r);
    void *copy = malloc(size + 1);
    if (!copy)
        return tutti_fail_memory();
    memcpy(copy, bytes, size);
    conductor->final[component] = (struct tutti_bytes){size, copy};
    return TUTTI_OK;
}

static enum tutti_err write_states(struct tutti_conductor *conductor)
{
    for (uint32_t c = 0; conductor->final && c < conductor->states->count; c++)
        if (conductor->final[c].data)
            TRY(tutti_states_write(conductor->states, c, conductor->final[c].data, conductor->final[c].size));
    return TUTTI_OK;
}

/* Has the frame to wait for those of other ranks? */
static bool must_wait(const struct tutti_conductor *conductor, int rank, enum tutti_report_kind kind,
                      const struct tutti_unparcel *in)
{
    return (kind == TUTTI_REPORT_ROW && tutti_rows_must_wait(conductor->rows, rank)) ||
           (kind == TUTTI_REPORT_CHECKPOINT && conductor->collector && !conductor->own_err &&
            tutti_collector_must_wait(conductor->collector, *in));
}

static enum tutti_err take_tally(struct tutti_conductor *conductor, int r, struct tutti_unparcel *in)
{
    struct rank *rank = &conductor->ranks[r];
    if (rank->has_tally)
        return malformed("a second tally", r);
    enum tutti_err err = tutti_tally_unpack(in, &rank->tally);
    rank->has_tally = !err;
    if (err)
        tutti_run_stats_fini(&rank->tally);
    return tutti_fail_context(err, "rank %d", r);
}

/* Those that were stopped are not the ones that failed, unless no other did; nor are those that tell that they have lost
 * another, of whose end more may be known elsewhere. */
static int weight_of(enum tutti_err err, bool told)
{
    return err == TUTTI_OK ? 0 : err == TUTTI_ERR_STOPPED ? 1 : told && err == TUTTI_ERR_LOST ? 2 : 3;
}

/* In simulated time: ranks that do not read from each other may be far apart. At the same time, in the order in which one rank
 * would have called the units: who tells first is chance. */
static bool failed_earlier(const struct tutti_conductor *conductor, const struct rank *rank, bool told)
{
    return told && conductor->told &&
           (rank->t < conductor->err_t || (rank->t == conductor->err_t && rank->component < conductor->err_component));
}

static void blame(struct tutti_conductor *conductor, const struct rank *rank, bool told, const char *message,
                  const struct tutti_about *about)
{
    int weight = weight_of(rank->err, told);
    if (weight < conductor->weight || (weight == conductor->weight && !failed_earlier(conductor, rank, told)))
        return;
    conductor->err = rank->err;
    conductor->weight = weight;
    conductor->told = told;
    conductor->err_t = rank->t;
    conductor->err_component = rank->component;
    conductor->about = *about;
    free(conductor->message);
    conductor->message = tutti_str_copy(message); /* NULL for want of memory: the name of the error has to do */
}

/* `told`: by the rank itself. */
static void end_rank(struct tutti_conductor *conductor, int r, enum tutti_err err, bool told, const char *message,
                     const struct tutti_about *about)
{
    struct rank *rank = &conductor->ranks[r];
    rank->ended = true;
    rank->err = err;
    conductor->ended++;
    tutti_rows_end(conductor->rows, r);
    if (err)
        blame(conductor, rank, told, message, about);
}

static enum tutti_err take_end(struct tutti_conductor *conductor, int r, struct tutti_unparcel *in)
{
    uint32_t err = tutti_unparcel_u32(in);
    const char *message = tutti_unparcel_text(in), *unit = tutti_unparcel_text(in), *variable = tutti_unparcel_text(in);
    struct tutti_about about = {.time = tutti_unparcel_double(in)};
    uint32_t component = tutti_unparcel_u32(in);
    double t = tutti_unparcel_double(in);
    if (!is_read(in) || err > TUTTI_ERR_LOST)
        return malformed("the end", r);
    snprintf(about.unit, sizeof about.unit, "%s", unit ? unit : "");
    snprintf(about.variable, sizeof about.variable, "%s", variable ? variable : "");
    conductor->ranks[r].component = component;
    move_to(&conductor->ranks[r], t);
    end_rank(conductor, r, (enum tutti_err)err, true, message ? message : "", &about);
    return TUTTI_OK;
}

static enum tutti_err take_frame(struct tutti_conductor *conductor, int r, enum tutti_report_kind kind,
                                 struct tutti_unparcel *in)
{
    switch (kind) {
    case TUTTI_REPORT_COLUMNS: return tutti_rows_take_columns(conductor->rows, r, in);
    case TUTTI_REPORT_ROW: return take_row(conductor, r, in);
    case TUTTI_REPORT_LOG: return take_log(conductor, r, in);
    case TUTTI_REPORT_PROGRESS: return take_progress(conductor, r, in);
    case TUTTI_REPORT_LOAD: return take_load(conductor, r, in);
    case TUTTI_REPORT_STEP: return take_step(conductor, r, in);
    case TUTTI_REPORT_CHECKPOINT: return take_checkpoint(conductor, r, in);
    case TUTTI_REPORT_STATE: return take_state(conductor, r, in);
    case TUTTI_REPORT_TALLY: return take_tally(conductor, r, in);
    case TUTTI_REPORT_END: return take_end(conductor, r, in);
    case TUTTI_REPORT_MADE: /* of a sweep, which has no conductor */
    case TUTTI_REPORT_KINDS: break;
    }
    return malformed("a frame", r);
}

/* The first failure of the conductor itself is kept for the end. */
static enum tutti_err keep_own(struct tutti_conductor *conductor, enum tutti_err err)
{
    if (err && !conductor->own_err) {
        conductor->own_err = err;
        conductor->own_message = tutti_str_copy(tutti_err_message());
    }
    return err;
}

enum tutti_err tutti_conductor_take(struct tutti_conductor *conductor, int rank, const char *bytes, size_t count,
                                    size_t *taken)
{
    enum tutti_err err = TUTTI_OK;
    size_t done = 0;
    while (!err && !conductor->ranks[rank].ended) {
        enum tutti_report_kind kind;
        size_t size;
        bool whole;
        err = tutti_report_find(bytes + done, count - done, &kind, &size, &whole);
        if (err || !whole)
            break;
        const char *parcel = bytes + done + TUTTI_REPORT_HEADER;
        struct tutti_unparcel in = {.at = parcel, .end = parcel + size};
        if (must_wait(conductor, rank, kind, &in))
            break;
        err = take_frame(conductor, rank, kind, &in);
        done += TUTTI_REPORT_HEADER + size;
    }
    *taken = conductor->ranks[rank].ended ? count : done; /* after the end there is nothing to read */
    return keep_own(conductor, err);
}

void tutti_conductor_lose(struct tutti_conductor *conductor, int rank, enum tutti_err err)
{
    struct tutti_about about = tutti_err_about();
    if (!conductor->ranks[rank].ended)
        end_rank(conductor, rank, err, false, tutti_err_message(), &about);
}

/* --- what people see */

/* The rank with the least progress, among those that have told where they are. */
static const struct rank *last_of(const struct tutti_conductor *conductor, bool with_progress)
{
    const struct rank *last = NULL;
    for (int r = 0; r < conductor->count; r++) {
        const struct rank *rank = &conductor->ranks[r];
        if (rank->t_known && (rank->has_progress || !with_progress) && (!last || rank->t < last->t))
            last = rank;
    }
    return last;
}

double tutti_conductor_time(const struct tutti_conductor *conductor)
{
    const struct rank *last = last_of(conductor, false);
    return last ? last->t : -INFINITY;
}

enum tutti_err tutti_conductor_idle(struct tutti_conductor *conductor)
{
    const struct tutti_run_options *options = conductor->options;
    double now = tutti_clock_now();
    if (options->progress && conductor->progressed && now - conductor->last_progress >= 0.1) {
        conductor->last_progress = now;
        conductor->progressed = false;
        const struct rank *last = last_of(conductor, true);
        struct tutti_progress progress = last->progress;
        progress.time = last->t;
        options->progress(options->progress_context, &progress);
    }
    if (now - conductor->last_flush <= 1)
        return TUTTI_OK;
    conductor->last_flush = now;
    return keep_own(conductor, tutti_rows_flush(conductor->rows));
}

const char *tutti_conductor_last_words(struct tutti_conductor *conductor, int r)
{
    struct rank *rank = &conductor->ranks[r];
    size_t first = rank->line_count > LAST_LINES ? rank->line_count - LAST_LINES : 0;
    tutti_text_fini(&rank->last_words);
    rank->last_words = (struct tutti_text){0};
    for (size_t i = first; i < rank->line_count; i++)
        tutti_text_printf(&rank->last_words, "%s%s", i > first ? "\n" : "", rank->lines[i % LAST_LINES]);
    return rank->last_words.text && !rank->last_words.failed ? rank->last_words.text : "";
}

/* --- what ranks counted becomes the statistics of the run */

/* Of the units that ranks tell for a component, the one that has it. */
static struct tutti_unit_stats *find_unit(struct tutti_run_stats *const *tallies, int ranks, size_t component, int *at)
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
        return tutti_fail_memory();
    for (size_t c = 0; c < components; c++) {
        int rank = 0;
        struct tutti_unit_stats *unit = find_unit(tallies, ranks, c, &rank);
        if (!unit)
            continue;
        stats->units[stats->unit_count] = *unit;
        stats->units[stats->unit_count++].rank = rank;
        *unit = (struct tutti_unit_stats){0};
    }
    return TUTTI_OK;
}

/* A text out of a tally, or this one where there is none. */
static char *take_text(char **text, const char *otherwise)
{
    char *taken = text && *text ? *text : tutti_str_copy(otherwise);
    if (text)
        *text = NULL;
    return taken;
}

/* tallies[r] is what rank r counted (report/tally.h: units per component, with holes), NULL if it came to no end. Takes the
 * texts and units out of them; what is left is still to be released. What all ranks count alike is taken from the first there
 * is; of what each counts for itself, the sum, or that of the rank that has most. MEMORY: `stats` is then empty. */
static enum tutti_err sum_tallies(struct tutti_run_stats *stats, struct tutti_run_stats *const *tallies, int ranks)
{
    struct tutti_run_stats *first = NULL;
    for (int r = ranks - 1; r >= 0; r--)
        first = tallies[r] ? tallies[r] : first;
    *stats = first ? *first : (struct tutti_run_stats){0};
    stats->units = NULL;
    stats->unit_count = 0;
    tutti_stats_begin_sum(stats);
    stats->ranks = ranks;
    stats->coupling = take_text(first ? &first->coupling : NULL, "none");
    stats->control = take_text(first ? &first->control : NULL, "fixed");
    stats->events = take_text(first ? &first->events : NULL, "none");
    stats->fabric = take_text(first ? &first->fabric : NULL, "none");
    if (first) /* which has handed on all of its texts */
        tutti_stats_forget_texts(first);
    for (int r = 0; r < ranks; r++)
        if (tallies[r])
            tutti_stats_combine(stats, tallies[r]);
    bool named = stats->coupling && stats->control && stats->events && stats->fabric;
    if (named && gather_units(stats, tallies, ranks) == TUTTI_OK)
        return TUTTI_OK;
    tutti_run_stats_fini(stats);
    *stats = (struct tutti_run_stats){0};
    return tutti_fail_memory();
}

/* --- the end */

bool tutti_conductor_is_done(const struct tutti_conductor *conductor)
{
    return conductor->ended == conductor->count;
}

bool tutti_conductor_has_ended(const struct tutti_conductor *conductor, int rank)
{
    return conductor->ranks[rank].ended;
}

bool tutti_conductor_has_failed(const struct tutti_conductor *conductor)
{
    return conductor->err != TUTTI_OK;
}

static enum tutti_err close_step_log(struct tutti_conductor *conductor)
{
    return tutti_fail_context(tutti_record_file_close(&conductor->step_log, TUTTI_OK), "--step-log");
}

static enum tutti_err sum(struct tutti_conductor *conductor, unsigned long rows, struct tutti_run_stats *stats)
{
    struct tutti_run_stats **tallies = calloc((size_t)conductor->count, sizeof(struct tutti_run_stats *));
    *stats = (struct tutti_run_stats){0};
    if (!tallies)
        return tutti_fail_memory();
    for (int r = 0; r < conductor->count; r++)
        tallies[r] = conductor->ranks[r].has_tally ? &conductor->ranks[r].tally : NULL;
    enum tutti_err err = sum_tallies(stats, tallies, conductor->count);
    free(tallies);
    stats->rows = rows;
    return err;
}

/* A rank that was ahead of the one whose FMU ended the run has not failed in it. */
static void forgive(struct tutti_conductor *conductor)
{
    double end = INFINITY;
    for (int r = 0; r < conductor->count; r++)
        if (!conductor->ranks[r].err && conductor->ranks[r].has_tally && conductor->ranks[r].tally.terminated_by_fmu)
            end = fmin(end, conductor->ranks[r].t);
    if (conductor->told && conductor->err_t > end)
        conductor->err = TUTTI_OK;
}

enum tutti_err tutti_conductor_finish(struct tutti_conductor *conductor, struct tutti_run_stats *stats)
{
    unsigned long rows = tutti_rows_count(conductor->rows);
    forgive(conductor);
    tutti_collector_wait(conductor->collector);
    if (!conductor->err && !conductor->own_err)
        (void)keep_own(conductor, tutti_rows_conclude(conductor->rows));
    (void)keep_own(conductor, tutti_rows_close(conductor->rows));
    (void)keep_own(conductor, close_step_log(conductor));
    if (stats)
        (void)keep_own(conductor, sum(conductor, rows, stats));
    if (!conductor->err && !conductor->own_err)
        (void)keep_own(conductor, write_states(conductor));
    bool own = conductor->own_err && (!conductor->err || conductor->err == TUTTI_ERR_STOPPED);
    enum tutti_err err = own ? conductor->own_err : conductor->err;
    const char *message = own ? conductor->own_message : conductor->message;
    if (err)
        (void)tutti_fail(err, "%s", message ? message : tutti_err_name(err));
    if (err && !own)
        (void)tutti_fail_about(err, conductor->about.unit, conductor->about.variable, conductor->about.time);
    release(conductor);
    return err;
}
