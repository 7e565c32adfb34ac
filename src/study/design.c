/* SPDX-License-Identifier: MIT */
#include "study/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "base/vector.h"
#include "options/words.h"
#include "job/job.h"
#include "record/csv_reader.h"
#include "study/sample.h"

#define NAMED(name, word, text) SAMPLE_##name,
enum sample { TUTTI_SAMPLES(NAMED) };

/* A parameter that varies: its values, or the range that they lie in. */
struct axis {
    const char *name, *text; /* text: all of the option */
    double *values;          /* NULL: a range */
    size_t count;
    double from, to;
};

/* "P=REST": the name, and where the rest begins. */
static enum tutti_err read_name(struct tutti_design *design, const char *text, const char **name, const char **rest)
{
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--vary takes P=A:B:N or P=V,V,..., not '%s'", tutti_str_show(text).text);
    *name = tutti_arena_text(&design->arena, text, (size_t)(equals - text));
    *rest = equals + 1;
    return *name ? TUTTI_OK : tutti_fail_memory();
}

/* The next number of a list; *at goes on behind its separator, or is NULL after the last. */
static enum tutti_err read_number(const struct axis *axis, const char **at, char separator, double *number)
{
    if (!*at)
        return (void)tutti_fail(TUTTI_ERR_ARGUMENT, "--vary %s: a number is missing", tutti_str_show(axis->text).text),
               TUTTI_ERR_ARGUMENT;
    const char *end = strchr(*at, separator);
    size_t n = end ? (size_t)(end - *at) : strlen(*at);
    if (!tutti_number_read_double(*at, n, number) || !isfinite(*number))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--vary %s: '%.*s' is not a number", tutti_str_show(axis->text).text,
                          (int)(n < 60 ? n : 60), *at);
    *at = end ? end + 1 : NULL;
    return TUTTI_OK;
}

static enum tutti_err keep_values(struct tutti_design *design, struct axis *axis, size_t count)
{
    axis->count = count;
    axis->values = tutti_arena_array(&design->arena, count, sizeof *axis->values);
    return axis->values ? TUTTI_OK : tutti_fail_memory();
}

static size_t count_of(const char *text, char character)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == character;
    return count;
}

/* "A:B" or "A:B:N". */
static enum tutti_err read_range(struct tutti_design *design, struct axis *axis, const char *at, enum sample sample)
{
    double count = 0;
    size_t colons = count_of(at, ':');
    bool wanted = sample == SAMPLE_GRID ? colons == 2 : colons == 1;
    if (!wanted)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          sample == SAMPLE_GRID
                              ? "--vary %s: a range is A:B:N, N values from A to B"
                              : "--vary %s: with --sample a range is A:B, and --runs says how many values",
                          tutti_str_show(axis->text).text);
    TRY(read_number(axis, &at, ':', &axis->from));
    TRY(read_number(axis, &at, ':', &axis->to));
    if (sample != SAMPLE_GRID)
        return TUTTI_OK;
    TRY(read_number(axis, &at, ':', &count));
    if (!(count >= 1 && count <= TUTTI_DESIGN_MOST_RUNS && count == floor(count)))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--vary %s: the number of values is a whole number from 1 to %d, not %s",
                          tutti_str_show(axis->text).text, TUTTI_DESIGN_MOST_RUNS, NUMBER(count));
    TRY(keep_values(design, axis, (size_t)count));
    for (size_t i = 0; i < axis->count; i++) {
        double part = axis->count > 1 ? (double)i / (double)(axis->count - 1) : 0;
        axis->values[i] = i + 1 == axis->count && i > 0 ? axis->to : axis->from + part * (axis->to - axis->from);
    }
    return TUTTI_OK;
}

static enum tutti_err read_axis(struct tutti_design *design, struct axis *axis, const char *text, enum sample sample)
{
    const char *at = text;
    axis->text = text;
    TRY(read_name(design, text, &axis->name, &at));
    if (strchr(at, ':'))
        return read_range(design, axis, at, sample);
    TRY(keep_values(design, axis, count_of(at, ',') + 1));
    for (size_t i = 0; i < axis->count; i++)
        TRY(read_number(axis, &at, ',', &axis->values[i]));
    if (sample != SAMPLE_GRID && axis->count > 1)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--vary %s: --sample takes values from a range, A:B, not from a list",
                          tutti_str_show(text).text);
    return TUTTI_OK;
}

static enum tutti_err check_names(const struct tutti_design *design, const char *where)
{
    for (size_t i = 0; i < design->count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(design->names[i], design->names[j]) == 0)
                return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is there twice", where, design->names[i]);
    return TUTTI_OK;
}

static enum tutti_err make_room(struct tutti_design *design, double runs)
{
    if (!(runs <= TUTTI_DESIGN_MOST_RUNS))
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "these are %s runs, and a sweep makes at most %d; take fewer values, or --sample sobol --runs N",
            NUMBER(runs), TUTTI_DESIGN_MOST_RUNS);
    design->runs = (size_t)runs;
    design->values = calloc(design->runs * design->count + 1, sizeof *design->values);
    return design->values ? TUTTI_OK : tutti_fail_memory();
}

/* The last parameter changes with every run, the first one least often. */
static enum tutti_err combine(struct tutti_design *design, const struct axis *axes)
{
    double runs = 1;
    for (size_t k = 0; k < design->count; k++)
        runs *= (double)axes[k].count;
    TRY(make_room(design, runs));
    for (size_t run = 0; run < design->runs; run++)
        for (size_t k = design->count, rest = run; k-- > 0; rest /= axes[k].count)
            design->values[run * design->count + k] = axes[k].values[rest % axes[k].count];
    return TUTTI_OK;
}

static enum tutti_err draw(struct tutti_design *design, const struct axis *axes, enum sample sample, unsigned seed)
{
    if (sample == SAMPLE_SOBOL)
        TRY(tutti_sample_sobol(design->values, design->runs, design->count));
    else if (sample == SAMPLE_LATIN)
        TRY(tutti_sample_latin(design->values, design->runs, design->count, seed));
    else
        tutti_sample_random(design->values, design->runs, design->count, seed);
    for (size_t i = 0; i < design->runs * design->count; i++) {
        const struct axis *axis = &axes[i % design->count];
        design->values[i] = axis->values ? axis->values[0] : axis->from + design->values[i] * (axis->to - axis->from);
    }
    return TUTTI_OK;
}

static enum tutti_err vary(struct tutti_design *design, const struct tutti_run_options *options, enum sample sample)
{
    design->count = options->vary_count;
    design->names = tutti_arena_array(&design->arena, design->count, sizeof *design->names);
    struct axis *axes = tutti_arena_array(&design->arena, design->count, sizeof *axes);
    if (!design->names || !axes)
        return tutti_fail_memory();
    for (size_t k = 0; k < design->count; k++) {
        TRY(read_axis(design, &axes[k], options->varys[k], sample));
        design->names[k] = axes[k].name;
    }
    TRY(check_names(design, "--vary"));
    if (sample == SAMPLE_GRID)
        return combine(design, axes);
    TRY(make_room(design, options->runs));
    return draw(design, axes, sample, options->seed > 0 ? options->seed : 1);
}

/* ---- a table ---- */

static enum tutti_err read_header(struct tutti_design *design, struct tutti_csv_reader *rows)
{
    TRY(tutti_csv_next(rows));
    if (rows->count == 0)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: the table is empty: its first row is to name the parameters",
                          rows->name);
    design->count = rows->count;
    design->names = tutti_arena_array(&design->arena, design->count, sizeof *design->names);
    if (!design->names)
        return tutti_fail_memory();
    for (size_t k = 0; k < design->count; k++) {
        char *name = tutti_arena_alloc(&design->arena, rows->cells[k].n + 1);
        if (!name)
            return tutti_fail_memory();
        tutti_csv_write_cell(&rows->cells[k], name);
        design->names[k] = name;
        if (!*name)
            return tutti_fail(TUTTI_ERR_FORMAT, "%s:%zu: column %zu has no name", rows->name, rows->line, k + 1);
    }
    return check_names(design, rows->name);
}

static enum tutti_err read_row(struct tutti_design *design, const struct tutti_csv_reader *rows, size_t *room)
{
    if (rows->count != design->count)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s:%zu: %zu cells, but %zu columns", rows->name, rows->line, rows->count,
                          design->count);
    if (design->runs >= TUTTI_DESIGN_MOST_RUNS)
        return tutti_fail(TUTTI_ERR_LIMIT, "%s:%zu: a sweep makes at most %d runs", rows->name, rows->line,
                          TUTTI_DESIGN_MOST_RUNS);
    if (!tutti_vector_reserve(&design->values, room, design->runs + 1, design->count * sizeof *design->values))
        return tutti_fail_memory();
    for (size_t k = 0; k < design->count; k++) {
        double *value = &design->values[design->runs * design->count + k];
        if (!tutti_number_read_double(rows->cells[k].text, rows->cells[k].n, value) || !isfinite(*value))
            return tutti_fail(TUTTI_ERR_FORMAT, "%s:%zu: '%.*s' (%s) is not a number", rows->name, rows->line,
                              (int)(rows->cells[k].n < 60 ? rows->cells[k].n : 60), rows->cells[k].text,
                              design->names[k]);
    }
    design->runs++;
    return TUTTI_OK;
}

static enum tutti_err read_rows(struct tutti_design *design, struct tutti_csv_reader *rows)
{
    size_t room = 0;
    TRY(read_header(design, rows));
    for (;;) {
        TRY(tutti_csv_next(rows));
        if (rows->count == 0)
            break;
        TRY(read_row(design, rows, &room));
    }
    return design->runs > 0
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_FORMAT, "%s: the table has no rows, so that there is nothing to run", rows->name);
}

static enum tutti_err read_table(struct tutti_design *design, const struct tutti_run_options *options)
{
    struct tutti_csv_reader rows;
    const char *path = tutti_job_where_is(options, options->csv);
    if (!path)
        return tutti_files_fail_foreign(options->csv);
    TRY(tutti_csv_open(&rows, path));
    enum tutti_err err = read_rows(design, &rows);
    tutti_csv_fini(&rows);
    return err;
}

/* ---- both ---- */

static enum tutti_err check(const struct tutti_run_options *options, enum sample sample)
{
    if (options->vary_count == 0 && !options->csv)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "nothing varies: say --vary P=A:B:N, or --csv TABLE.csv");
    if (options->csv && (options->vary_count > 0 || options->sample || options->runs > 0))
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--csv has all values of all runs: --vary, --sample and --runs do not go with it");
    if (sample != SAMPLE_GRID && options->runs == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--sample %s needs --runs N", options->sample);
    if (sample == SAMPLE_GRID && options->runs > 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--runs is for --sample latin, sobol and random: how many a grid has, its values say");
    return TUTTI_OK;
}

enum tutti_err tutti_design_make(struct tutti_design *design, const struct tutti_run_options *options)
{
    int sample;
    *design = (struct tutti_design){0};
    TRY(tutti_option_choose("sample", options->sample, &sample));
    TRY(check(options, (enum sample)sample));
    enum tutti_err err = options->csv ? read_table(design, options) : vary(design, options, (enum sample)sample);
    if (err)
        tutti_design_fini(design);
    return err;
}

void tutti_design_fini(struct tutti_design *design)
{
    free(design->values);
    tutti_arena_fini(&design->arena);
    *design = (struct tutti_design){0};
}
