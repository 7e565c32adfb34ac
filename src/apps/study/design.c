/* SPDX-License-Identifier: MIT */
#include "apps/study/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/options/option_words.h"
#include "base/text.h"
#include "base/vector.h"
#include "results/csv_parser.h"
#include "sim/job/job.h"

#define NAMED(name, word, text) SAMPLE_##name,
enum design_sampling { TUTTI_SAMPLES(NAMED) };

/* A parameter that varies: its values, or the range that they lie in. */
struct design_axis {
    const char *name, *text; /* text: all of the option */
    double *values;          /* NULL: a range */
    size_t count;
    double from, to;
};

/* Parses "P=REST": the name, and the beginning of the rest. */
static enum tutti_err design_read_name(struct tt_design *design, const char *text, const char **name, const char **rest)
{
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return tt_fail(TUTTI_ERR_ARGUMENT, "--vary takes P=A:B:N or P=V,V,..., not '%s'", tt_text_excerpt(text).text);
    *name = tt_arena_copy_text(&design->arena, text, (size_t)(equals - text));
    *rest = equals + 1;
    return *name ? TUTTI_OK : tt_fail_memory();
}

/* Reads the next number of a list; *at becomes the text after its separator, or NULL after the last. */
static enum tutti_err design_read_number(const struct design_axis *axis, const char **at, char separator,
                                         double *number)
{
    if (!*at)
        return (void)tt_fail(TUTTI_ERR_ARGUMENT, "--vary %s: a number is missing", tt_text_excerpt(axis->text).text),
               TUTTI_ERR_ARGUMENT;
    const char *end = strchr(*at, separator);
    size_t n = end ? (size_t)(end - *at) : strlen(*at);
    if (!tt_number_read_double(*at, n, number) || !isfinite(*number))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--vary %s: '%.*s' is not a number", tt_text_excerpt(axis->text).text,
                       (int)(n < 60 ? n : 60), *at);
    *at = end ? end + 1 : NULL;
    return TUTTI_OK;
}

static enum tutti_err store_axis_values(struct tt_design *design, struct design_axis *axis, size_t count)
{
    axis->count = count;
    axis->values = tt_arena_array(&design->arena, count, sizeof *axis->values);
    return axis->values ? TUTTI_OK : tt_fail_memory();
}

static size_t count_characters(const char *text, char character)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == character;
    return count;
}

/* "A:B" or "A:B:N". */
static enum tutti_err read_range(struct tt_design *design, struct design_axis *axis, const char *at,
                                 enum design_sampling sample)
{
    double count = 0;
    size_t colons = count_characters(at, ':');
    bool wanted = sample == SAMPLE_GRID ? colons == 2 : colons == 1;
    if (!wanted)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       sample == SAMPLE_GRID
                           ? "--vary %s: a range is A:B:N, N values from A to B"
                           : "--vary %s: with --sample a range is A:B, and --runs says how many values",
                       tt_text_excerpt(axis->text).text);
    TRY(design_read_number(axis, &at, ':', &axis->from));
    TRY(design_read_number(axis, &at, ':', &axis->to));
    if (sample != SAMPLE_GRID)
        return TUTTI_OK;
    TRY(design_read_number(axis, &at, ':', &count));
    if (!(count >= 1 && count <= TUTTI_DESIGN_MOST_RUNS && count == floor(count)))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--vary %s: the number of values is a whole number from 1 to %d, not %s",
                       tt_text_excerpt(axis->text).text, TUTTI_DESIGN_MOST_RUNS, NUMBER(count));
    TRY(store_axis_values(design, axis, (size_t)count));
    for (size_t i = 0; i < axis->count; i++) {
        double part = axis->count > 1 ? (double)i / (double)(axis->count - 1) : 0;
        axis->values[i] = i + 1 == axis->count && i > 0 ? axis->to : axis->from + part * (axis->to - axis->from);
    }
    return TUTTI_OK;
}

static enum tutti_err read_axis(struct tt_design *design, struct design_axis *axis, const char *text,
                                enum design_sampling sample)
{
    const char *at = text;
    axis->text = text;
    TRY(design_read_name(design, text, &axis->name, &at));
    if (strchr(at, ':'))
        return read_range(design, axis, at, sample);
    TRY(store_axis_values(design, axis, count_characters(at, ',') + 1));
    for (size_t i = 0; i < axis->count; i++)
        TRY(design_read_number(axis, &at, ',', &axis->values[i]));
    if (sample != SAMPLE_GRID && axis->count > 1)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--vary %s: --sample takes values from a range, A:B, not from a list",
                       tt_text_excerpt(text).text);
    return TUTTI_OK;
}

static enum tutti_err design_check_names(const struct tt_design *design, const char *where)
{
    for (size_t i = 0; i < design->count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(design->names[i], design->names[j]) == 0)
                return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is there twice", where, design->names[i]);
    return TUTTI_OK;
}

static enum tutti_err design_allocate_runs(struct tt_design *design, double runs)
{
    if (!(runs <= TUTTI_DESIGN_MOST_RUNS))
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "these are %s runs, and a sweep makes at most %d; take fewer values, or --sample sobol --runs N",
                       NUMBER(runs), TUTTI_DESIGN_MOST_RUNS);
    design->runs = (size_t)runs;
    design->values = calloc(design->runs * design->count + 1, sizeof *design->values);
    return design->values ? TUTTI_OK : tt_fail_memory();
}

/* The last parameter changes with every run, the first one least often. */
static enum tutti_err design_combine_axes(struct tt_design *design, const struct design_axis *axes)
{
    double runs = 1;
    for (size_t k = 0; k < design->count; k++)
        runs *= (double)axes[k].count;
    TRY(design_allocate_runs(design, runs));
    for (size_t run = 0; run < design->runs; run++)
        for (size_t k = design->count, rest = run; k-- > 0; rest /= axes[k].count)
            design->values[run * design->count + k] = axes[k].values[rest % axes[k].count];
    return TUTTI_OK;
}

static enum tutti_err design_draw_samples(struct tt_design *design, const struct design_axis *axes,
                                          enum design_sampling sample, unsigned seed)
{
    if (sample == SAMPLE_SOBOL)
        TRY(tt_design_sample_sobol(design->values, design->runs, design->count));
    else if (sample == SAMPLE_LATIN)
        TRY(tt_design_sample_latin(design->values, design->runs, design->count, seed));
    else
        tt_design_sample_random(design->values, design->runs, design->count, seed);
    for (size_t i = 0; i < design->runs * design->count; i++) {
        const struct design_axis *axis = &axes[i % design->count];
        design->values[i] = axis->values ? axis->values[0] : axis->from + design->values[i] * (axis->to - axis->from);
    }
    return TUTTI_OK;
}

static enum tutti_err design_from_options(struct tt_design *design, const struct tutti_run_options *options,
                                          enum design_sampling sample)
{
    design->count = options->vary_count;
    design->names = tt_arena_array(&design->arena, design->count, sizeof *design->names);
    struct design_axis *axes = tt_arena_array(&design->arena, design->count, sizeof *axes);
    if (!design->names || !axes)
        return tt_fail_memory();
    for (size_t k = 0; k < design->count; k++) {
        TRY(read_axis(design, &axes[k], options->varys[k], sample));
        design->names[k] = axes[k].name;
    }
    TRY(design_check_names(design, "--vary"));
    if (sample == SAMPLE_GRID)
        return design_combine_axes(design, axes);
    TRY(design_allocate_runs(design, options->runs));
    return design_draw_samples(design, axes, sample, options->seed > 0 ? options->seed : 1);
}

/* ---- a table ---- */

static enum tutti_err design_read_header(struct tt_design *design, struct tt_csv_parser *rows)
{
    TRY(tt_csv_parser_next(rows));
    if (rows->count == 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the table is empty: its first row is to name the parameters", rows->name);
    design->count = rows->count;
    design->names = tt_arena_array(&design->arena, design->count, sizeof *design->names);
    if (!design->names)
        return tt_fail_memory();
    for (size_t k = 0; k < design->count; k++) {
        char *name = tt_arena_alloc(&design->arena, rows->cells[k].n + 1);
        if (!name)
            return tt_fail_memory();
        tt_csv_parser_copy_cell(&rows->cells[k], name);
        design->names[k] = name;
        if (!*name)
            return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: column %zu has no name", rows->name, rows->line, k + 1);
    }
    return design_check_names(design, rows->name);
}

static enum tutti_err design_read_row(struct tt_design *design, const struct tt_csv_parser *rows, size_t *room)
{
    if (rows->count != design->count)
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: %zu cells, but %zu columns", rows->name, rows->line, rows->count,
                       design->count);
    if (design->runs >= TUTTI_DESIGN_MOST_RUNS)
        return tt_fail(TUTTI_ERR_LIMIT, "%s:%zu: a sweep makes at most %d runs", rows->name, rows->line,
                       TUTTI_DESIGN_MOST_RUNS);
    if (!tt_vector_reserve(&design->values, room, design->runs + 1, design->count * sizeof *design->values))
        return tt_fail_memory();
    for (size_t k = 0; k < design->count; k++) {
        double *value = &design->values[design->runs * design->count + k];
        if (!tt_number_read_double(rows->cells[k].text, rows->cells[k].n, value) || !isfinite(*value))
            return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: '%.*s' (%s) is not a number", rows->name, rows->line,
                           (int)(rows->cells[k].n < 60 ? rows->cells[k].n : 60), rows->cells[k].text, design->names[k]);
    }
    design->runs++;
    return TUTTI_OK;
}

static enum tutti_err design_read_rows(struct tt_design *design, struct tt_csv_parser *rows)
{
    size_t room = 0;
    TRY(design_read_header(design, rows));
    for (;;) {
        TRY(tt_csv_parser_next(rows));
        if (rows->count == 0)
            break;
        TRY(design_read_row(design, rows, &room));
    }
    return design->runs > 0
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_FORMAT, "%s: the table has no rows, so that there is nothing to run", rows->name);
}

static enum tutti_err design_read_table(struct tt_design *design, const struct tutti_run_options *options)
{
    struct tt_csv_parser rows;
    const char *path = tt_job_find_path(options, options->csv);
    if (!path)
        return tt_model_files_fail_foreign(options->csv);
    TRY(tt_csv_parser_open(&rows, path));
    enum tutti_err err = design_read_rows(design, &rows);
    tt_csv_parser_fini(&rows);
    return err;
}

/* ---- both ---- */

static enum tutti_err design_check_options(const struct tutti_run_options *options, enum design_sampling sample)
{
    if (options->vary_count == 0 && !options->csv)
        return tt_fail(TUTTI_ERR_ARGUMENT, "nothing varies: say --vary P=A:B:N, or --csv TABLE.csv");
    if (options->csv && (options->vary_count > 0 || options->sample || options->runs > 0))
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--csv has all values of all runs: --vary, --sample and --runs do not go with it");
    if (sample != SAMPLE_GRID && options->runs == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--sample %s needs --runs N", options->sample);
    if (sample == SAMPLE_GRID && options->runs > 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--runs is for --sample latin, sobol and random: how many a grid has, its values say");
    return TUTTI_OK;
}

enum tutti_err tt_design_create(struct tt_design *design, const struct tutti_run_options *options)
{
    int sample;
    *design = (struct tt_design){0};
    TRY(tt_options_choose("sample", options->sample, &sample));
    TRY(design_check_options(options, (enum design_sampling)sample));
    enum tutti_err err = options->csv ? design_read_table(design, options)
                                      : design_from_options(design, options, (enum design_sampling)sample);
    if (err)
        tt_design_fini(design);
    return err;
}

void tt_design_fini(struct tt_design *design)
{
    free(design->values);
    tt_arena_fini(&design->arena);
    *design = (struct tt_design){0};
}

uint64_t tt_design_random_next(struct tt_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double tt_design_random_uniform(struct tt_random *random)
{
    return (double)(tt_design_random_next(random) >> 11) * 0x1p-53;
}

void tt_design_sample_random(double *points, size_t count, size_t dimensions, uint64_t seed)
{
    struct tt_random random = {seed};
    for (size_t i = 0; i < count * dimensions; i++)
        points[i] = tt_design_random_uniform(&random);
}

enum tutti_err tt_design_sample_latin(double *points, size_t count, size_t dimensions, uint64_t seed)
{
    struct tt_random random = {seed};
    size_t *parts = calloc(count, sizeof *parts);
    if (!parts)
        return tt_fail_memory();
    for (size_t k = 0; k < dimensions; k++) {
        for (size_t i = 0; i < count; i++)
            parts[i] = i;
        for (size_t i = count - 1; i > 0; i--) { /* Fisher and Yates' shuffle */
            /* below i + 1, all with the same probability but for (i + 1) / 2^64 */
            size_t j = (size_t)(tt_design_random_next(&random) % (i + 1)), kept = parts[i];
            parts[i] = parts[j];
            parts[j] = kept;
        }
        for (size_t i = 0; i < count; i++)
            points[i * dimensions + k] = ((double)parts[i] + tt_design_random_uniform(&random)) / (double)count;
    }
    free(parts);
    return TUTTI_OK;
}

enum { BITS = 32 };

/* Of dimension 2 on: the degree of a primitive polynomial, its inner coefficients, the first direction numbers. */
static const struct {
    unsigned degree, coefficients, first[7];
} joe_kuo[TUTTI_SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

/* The direction numbers of a dimension, as fractions of 2^BITS (Joe and Kuo, eq. 2). */
static void compute_sobol_directions(size_t dimension, uint32_t v[BITS])
{
    if (dimension == 0) {
        for (unsigned i = 0; i < BITS; i++)
            v[i] = 1u << (BITS - 1 - i);
        return;
    }
    unsigned s = joe_kuo[dimension - 1].degree, a = joe_kuo[dimension - 1].coefficients;
    for (unsigned i = 0; i < s; i++)
        v[i] = joe_kuo[dimension - 1].first[i] << (BITS - 1 - i);
    for (unsigned i = s; i < BITS; i++) {
        v[i] = v[i - s] ^ (v[i - s] >> s);
        for (unsigned k = 1; k < s; k++)
            v[i] ^= ((a >> (s - 1 - k)) & 1) * v[i - k];
    }
}

/* In Gray code's order (Antonov, Saleev 1979): each point differs from the last by one direction number. */
enum tutti_err tt_design_sample_sobol(double *points, size_t count, size_t dimensions)
{
    if (dimensions > TUTTI_SOBOL_DIMENSIONS)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--sample sobol takes up to %d parameters, not %zu; --sample latin takes any number",
                       TUTTI_SOBOL_DIMENSIONS, dimensions);
    for (size_t k = 0; k < dimensions; k++) {
        uint32_t v[BITS], x = 0;
        compute_sobol_directions(k, v);
        for (size_t i = 0; i < count; i++) {
            points[i * dimensions + k] = x * 0x1p-32;
            x ^= v[__builtin_ctz(~(unsigned)i)]; /* the lowest bit of i that is 0 */
        }
    }
    return TUTTI_OK;
}
