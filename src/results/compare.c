/* SPDX-License-Identifier: MIT */
#include "results/compare.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"

/* Numbers that are zero except for rounding count as equal. */
static const double LEAST_ATOL = 1e-14;
/* By default, of rtol times the largest value: with the default rtol the rounding of files in single precision. */
static const double ROUNDING = 1e-4;
static const double LARGEST_EXACT = 9007199254740992; /* 2^53: greater whole numbers are not all doubles */
static const double DEFAULT_TTOL = 1e-6;              /* of the time compared */

struct compared_side {
    struct tutti_result *result;
    double *times; /* of the rows that count: of one time the first and the last */
    size_t *rows;  /* which they are; NULL: all */
    size_t row_count;
    double *values; /* of a batch, variable by variable */
};

struct compared_pair {
    size_t result, reference; /* places of a variable */
    bool by_text;             /* its cells are compared as they stand in the files */
};

struct comparer {
    struct tt_comparison *out;
    const struct tt_compare_options *options;
    struct compared_side result, reference;
    struct compared_pair *pairs; /* in the result's order */
    size_t pair_count;
    double begin, end; /* what both files have of what is to be compared */
};

/* --- names */

static bool compare_is_wanted(const struct tt_compare_options *options, const char *name)
{
    for (size_t i = 0; i < options->pattern_count; i++)
        if (tt_text_glob(options->patterns[i], name))
            return true;
    return options->pattern_count == 0;
}

/* Every pattern is there for something. */
static enum tutti_err compare_check_patterns(const struct comparer *comparer)
{
    for (size_t p = 0; p < comparer->options->pattern_count; p++) {
        const char *pattern = comparer->options->patterns[p];
        struct tt_text_nearest nearest = {.wanted = pattern};
        const struct tutti_result *results[] = {comparer->result.result, comparer->reference.result};
        bool fits = false;
        for (size_t r = 0; r < 2; r++)
            for (size_t i = 0; i < results[r]->count && !fits; i++) {
                fits = tt_text_glob(pattern, results[r]->variables[i].name);
                tt_text_nearest_offer(&nearest, results[r]->variables[i].name);
            }
        if (!fits)
            return tt_fail(TUTTI_ERR_ARGUMENT, "no variable of either file fits '%s'%s", tt_text_excerpt(pattern).text,
                           tt_text_suggest(nearest.best).text);
    }
    return TUTTI_OK;
}

static enum tutti_err fail_nothing_in_common(const struct comparer *comparer)
{
    const struct tutti_result *result = comparer->result.result, *reference = comparer->reference.result;
    const char *some = NULL, *near = NULL;
    for (size_t i = 0, tried = 0; i < reference->count && tried < 20 && !near; i++) {
        const char *name = reference->variables[i].name;
        struct tt_text_nearest nearest = {.wanted = name};
        if (!compare_is_wanted(comparer->options, name))
            continue;
        for (size_t k = 0; k < result->count; k++)
            tt_text_nearest_offer(&nearest, result->variables[k].name);
        some = some && !nearest.best ? some : name;
        near = nearest.best;
        tried++;
    }
    const char *other = result->count ? result->variables[0].name : NULL;
    return tt_fail(TUTTI_ERR_FORMAT, "%s and %s have no variable in common%s%s%s%s%s%s%s", result->path,
                   reference->path, some ? ": the reference has '" : "", some ? tt_text_excerpt(some).text : "",
                   some ? "'" : "", some && other ? ", the result '" : "",
                   some && near    ? tt_text_excerpt(near).text
                   : some && other ? tt_text_excerpt(other).text
                                   : "",
                   some && other ? "'" : "", near ? "; are they meant to be the same?" : "");
}

static const char **name_list(struct tt_arena *arena, size_t count)
{
    return tt_arena_array(arena, count + 1, sizeof(const char *));
}

static void note_unit_conflict(struct tt_comparison *out, const char *name, const char *of_result,
                               const char *of_reference)
{
    if (of_result && of_reference && strcmp(of_result, of_reference) != 0)
        out->units[out->unit_count++] = (struct tt_unit_conflict){name, of_result, of_reference};
}

static enum tutti_err match_variables(struct comparer *comparer)
{
    struct tt_comparison *out = comparer->out;
    const struct tutti_result *result = comparer->result.result, *reference = comparer->reference.result;
    TRY(compare_check_patterns(comparer));
    comparer->pairs = tt_arena_array(&out->arena, result->count + 1, sizeof *comparer->pairs);
    out->units = tt_arena_array(&out->arena, result->count + 1, sizeof *out->units);
    out->texts = name_list(&out->arena, result->count);
    out->only_result = name_list(&out->arena, result->count);
    out->only_reference = name_list(&out->arena, reference->count);
    if (!comparer->pairs || !out->units || !out->texts || !out->only_result || !out->only_reference)
        return tt_fail_memory();
    note_unit_conflict(out, "time", result->time_unit, reference->time_unit);
    for (size_t i = 0; i < result->count; i++) {
        const char *name = result->variables[i].name;
        size_t k = tutti_result_find(reference, name);
        if (!compare_is_wanted(comparer->options, name))
            continue;
        if (k == reference->count) {
            out->only_result[out->only_result_count++] = name;
            continue;
        }
        comparer->pairs[comparer->pair_count++] = (struct compared_pair){.result = i, .reference = k};
        note_unit_conflict(out, name, result->variables[i].unit, reference->variables[k].unit);
    }
    for (size_t i = 0; i < reference->count; i++) {
        const char *name = reference->variables[i].name;
        if (compare_is_wanted(comparer->options, name) && tutti_result_find(result, name) == result->count)
            out->only_reference[out->only_reference_count++] = name;
    }
    return comparer->pair_count > 0 ? TUTTI_OK : fail_nothing_in_common(comparer);
}

/* --- times */

static enum tutti_err compare_find_range(struct comparer *comparer)
{
    const struct tt_compare_options *options = comparer->options;
    const struct tutti_result *result = comparer->result.result, *reference = comparer->reference.result;
    struct tt_comparison *out = comparer->out;
    if (reference->rows == 0 || result->rows == 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s has no rows: there is nothing to compare",
                       reference->rows == 0 ? reference->path : result->path);
    double first = reference->times[0], last = reference->times[reference->rows - 1];
    out->start = isnan(options->start) ? first : fmax(first, options->start);
    out->stop = isnan(options->stop) ? last : fmin(last, options->stop);
    if (!(out->start <= out->stop))
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "there is nothing to compare between the times wanted: %s goes from %s to %s", reference->path,
                       NUMBER(first), NUMBER(last));
    out->ttol = isnan(options->ttol) ? DEFAULT_TTOL * (out->stop - out->start) : options->ttol;
    comparer->begin = fmax(out->start, result->times[0]);
    comparer->end = fmin(out->stop, result->times[result->rows - 1]);
    out->covered = comparer->begin <= out->start + out->ttol && comparer->end >= out->stop - out->ttol;
    return TUTTI_OK;
}

static bool compare_row_counts(const struct tutti_result *result, size_t row)
{
    const double *t = result->times;
    return row == 0 || row + 1 == result->rows || t[row - 1] < t[row] || t[row] < t[row + 1];
}

/* Of rows of one time the first is before an event and the last after it; what is between them lasted no time. */
static enum tutti_err choose_rows(struct compared_side *side, struct tt_arena *arena)
{
    const struct tutti_result *result = side->result;
    side->times = result->times;
    for (size_t i = 0; i < result->rows; i++)
        side->row_count += compare_row_counts(result, i);
    if (side->row_count == result->rows)
        return TUTTI_OK;
    side->times = tt_arena_array(arena, side->row_count, sizeof *side->times);
    side->rows = tt_arena_array(arena, side->row_count, sizeof *side->rows);
    if (!side->times || !side->rows)
        return tt_fail_memory();
    for (size_t i = 0, k = 0; i < result->rows; i++)
        if (compare_row_counts(result, i)) {
            side->times[k] = result->times[i];
            side->rows[k++] = i;
        }
    return TUTTI_OK;
}

/* The range of a curve between two times. */
struct value_extent {
    double least, greatest; /* extremes of its finite values; least > greatest: none */
    bool whole;             /* all of them are whole numbers */
};

static struct value_extent compare_extent_of(const struct tt_curve *curve, double begin, double end)
{
    struct value_extent extent = {INFINITY, -INFINITY, true};
    size_t behind = tt_compare_first_row_after(curve->times, curve->rows, end);
    for (size_t i = tt_compare_first_row_from(curve->times, curve->rows, begin); i < behind; i++)
        if (isfinite(curve->values[i])) {
            extent.least = fmin(extent.least, curve->values[i]);
            extent.greatest = fmax(extent.greatest, curve->values[i]);
            extent.whole = extent.whole && curve->values[i] == trunc(curve->values[i]);
        }
    return extent;
}

static double largest_magnitude(const struct value_extent *extent)
{
    return extent->least > extent->greatest ? 0 : fmax(fabs(extent->least), fabs(extent->greatest));
}

static double allowed_deviation(const struct tt_compare_options *options, const struct value_extent *reference,
                                bool exact)
{
    double range = reference->least > reference->greatest ? 0 : reference->greatest - reference->least;
    double rounding = fmax(ROUNDING * options->rtol * largest_magnitude(reference), LEAST_ATOL);
    if (exact)
        return isnan(options->atol) ? 0 : options->atol;
    return fmin(options->rtol * range, DBL_MAX) + (isnan(options->atol) ? rounding : options->atol);
}

/* Returns true if the cells of a variable can be compared as text. */
static bool compare_has_texts(const struct comparer *comparer)
{
    return comparer->result.result->format->texts && comparer->reference.result->format->texts;
}

static struct tt_compared_variable *add_compared(struct comparer *comparer, const struct compared_pair *pair, bool held)
{
    struct tt_comparison *out = comparer->out;
    const struct tutti_result_variable *a = &comparer->result.result->variables[pair->result];
    const struct tutti_result_variable *r = &comparer->reference.result->variables[pair->reference];
    struct tt_compared_variable *compared = &out->variables[out->count++];
    *compared = (struct tt_compared_variable){.name = a->name, .unit = r->unit ? r->unit : a->unit, .held = held};
    return compared;
}

static void compare_set_verdict(struct tt_comparison *out, struct tt_compared_variable *compared)
{
    compared->agrees = compared->worst.share <= 1;
    out->disagreements += !compared->agrees;
}

static enum tutti_err compare_pair(struct comparer *comparer, struct compared_pair *pair, const double *of_result,
                                   const double *of_reference)
{
    struct tt_comparison *out = comparer->out;
    const struct tutti_result_variable *a = &comparer->result.result->variables[pair->result];
    const struct tutti_result_variable *r = &comparer->reference.result->variables[pair->reference];
    bool text = !r->numeric; /* a text of the result is NaN, and differs from a number */
    pair->by_text = text && compare_has_texts(comparer);
    if (text && !pair->by_text)
        out->texts[out->text_count++] = a->name;
    if (text)
        return TUTTI_OK;
    bool held = a->held && r->held;
    struct tt_curve curve = {comparer->result.times, of_result, comparer->result.row_count, held};
    struct tt_curve wanted = {comparer->reference.times, of_reference, comparer->reference.row_count, held};
    struct value_extent extent = compare_extent_of(&curve, out->start, out->stop);
    struct value_extent reference = compare_extent_of(&wanted, out->start, out->stop);
    bool exact = held && extent.whole && reference.whole;
    pair->by_text = exact && isnan(comparer->options->atol) && compare_has_texts(comparer) &&
                    fmin(largest_magnitude(&extent), largest_magnitude(&reference)) >= LARGEST_EXACT;
    if (pair->by_text)
        return TUTTI_OK;
    struct tt_compared_variable *compared = add_compared(comparer, pair, held);
    struct tt_tolerance tolerance = {allowed_deviation(comparer->options, &reference, exact), out->ttol};
    TRY(tt_compare_curves(&compared->worst, &curve, &wanted, comparer->begin, comparer->end, &tolerance));
    compare_set_verdict(out, compared);
    return TUTTI_OK;
}

static void compare_select_rows(const struct compared_side *side, double *values)
{
    for (size_t k = 0; side->rows && k < side->row_count; k++)
        values[k] = values[side->rows[k]];
}

struct read_request {
    size_t place, slot;
};

static int compare_read_requests(const void *a, const void *b)
{
    const struct read_request *left = a, *right = b;
    return (left->place > right->place) - (left->place < right->place);
}

/* Reads variables of one file, in the file's order. `wishes` is sorted. */
static enum tutti_err compare_read_side(struct compared_side *side, struct read_request *wishes, size_t count)
{
    size_t rows = side->result->rows;
    size_t *which = malloc(count * sizeof *which);
    double **columns = malloc(count * sizeof *columns);
    enum tutti_err err = which && columns ? TUTTI_OK : tt_fail_memory();
    qsort(wishes, count, sizeof *wishes, compare_read_requests);
    for (size_t i = 0; i < count && err == TUTTI_OK; i++) {
        which[i] = wishes[i].place;
        columns[i] = side->values + wishes[i].slot * rows;
    }
    if (err == TUTTI_OK)
        err = tutti_result_read(side->result, which, count, columns);
    for (size_t i = 0; i < count && err == TUTTI_OK; i++)
        compare_select_rows(side, columns[i]);
    free(columns);
    free(which);
    return err;
}

static enum tutti_err compare_batch(struct comparer *comparer, struct compared_pair *pairs, size_t count,
                                    struct read_request *wishes)
{
    for (size_t i = 0; i < count; i++)
        wishes[i] = (struct read_request){pairs[i].result, i};
    TRY(compare_read_side(&comparer->result, wishes, count));
    for (size_t i = 0; i < count; i++)
        wishes[i] = (struct read_request){pairs[i].reference, i};
    TRY(compare_read_side(&comparer->reference, wishes, count));
    for (size_t i = 0; i < count; i++)
        TRY(compare_pair(comparer, &pairs[i], comparer->result.values + i * comparer->result.result->rows,
                         comparer->reference.values + i * comparer->reference.result->rows));
    return TUTTI_OK;
}

/* --- texts, and whole numbers that a double does not hold: each distinct cell gets a number, and these are compared as held values */

struct compared_cells {
    struct tt_arena arena;
    struct tt_map numbers;
    const char **texts; /* by number */
    size_t count, room;
    double *values; /* of the file that is read: numbers */
};

/* Whole numbers have one spelling: "+007" and "7.0" are "7". */
static enum tutti_err normalize_number(struct compared_cells *cells, const char *text, size_t n, const char **out)
{
    double value;
    int64_t whole;
    uint64_t positive;
    struct tt_text spelt = {0};
    if (tt_number_read_int(text, n, &whole))
        tt_text_printf(&spelt, "%lld", (long long)whole);
    else if (tt_number_read_uint(text, n, &positive))
        tt_text_printf(&spelt, "%llu", (unsigned long long)positive);
    else if (tt_number_read_double(text, n, &value) && isfinite(value) && value == trunc(value))
        tt_text_printf(&spelt, "%.0f", value + 0.0);
    *out = spelt.failed
               ? NULL
               : tt_arena_copy_text(&cells->arena, spelt.text ? spelt.text : text, spelt.text ? spelt.length : n);
    tt_text_fini(&spelt);
    return *out ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err collect_cell(void *context, size_t row, const char *text, size_t n)
{
    struct compared_cells *cells = context;
    const char *name;
    int64_t number;
    TRY(normalize_number(cells, text, n, &name));
    TRY(tt_map_add(&cells->numbers, name, (int64_t)cells->count, &number));
    if (number == TUTTI_MAP_NONE) {
        if (!tt_vector_reserve(&cells->texts, &cells->room, cells->count + 1, sizeof *cells->texts))
            return tt_fail_memory();
        cells->texts[cells->count] = name;
        number = (int64_t)cells->count++;
    }
    cells->values[row] = (double)number;
    return TUTTI_OK;
}

static const char *compare_text_of(struct comparer *comparer, const struct compared_cells *cells, double number)
{
    const char *text = number >= 0 && number < (double)cells->count ? cells->texts[(size_t)number] : "";
    return tt_arena_copy_text(&comparer->out->arena, text, strlen(text));
}

static enum tutti_err compare_text_cells(struct comparer *comparer, const struct compared_pair *pair,
                                         struct compared_cells *cells)
{
    struct compared_side *sides[] = {&comparer->result, &comparer->reference};
    const size_t places[] = {pair->result, pair->reference};
    for (size_t i = 0; i < 2; i++) {
        cells->values = sides[i]->values;
        TRY(sides[i]->result->format->texts(sides[i]->result, places[i], collect_cell, cells));
        compare_select_rows(sides[i], sides[i]->values);
    }
    struct tt_compared_variable *compared = add_compared(comparer, pair, true);
    struct tt_curve curve = {sides[0]->times, sides[0]->values, sides[0]->row_count, true};
    struct tt_curve wanted = {sides[1]->times, sides[1]->values, sides[1]->row_count, true};
    TRY(tt_compare_curves(&compared->worst, &curve, &wanted, comparer->begin, comparer->end,
                          &(struct tt_tolerance){0, comparer->out->ttol}));
    compared->result_text = compare_text_of(comparer, cells, compared->worst.result);
    compared->reference_text = compare_text_of(comparer, cells, compared->worst.reference);
    compared->worst.error = compared->worst.share > 0 ? NAN : 0;
    compare_set_verdict(comparer->out, compared);
    return compared->result_text && compared->reference_text ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err compare_texts(struct comparer *comparer)
{
    for (size_t i = 0; i < comparer->pair_count; i++) {
        struct compared_cells cells = {0};
        if (!comparer->pairs[i].by_text)
            continue;
        enum tutti_err err = compare_text_cells(comparer, &comparer->pairs[i], &cells);
        tt_map_fini(&cells.numbers);
        tt_arena_fini(&cells.arena);
        free(cells.texts);
        TRY(err);
    }
    return TUTTI_OK;
}

static enum tutti_err compare_all(struct comparer *comparer)
{
    size_t rows = comparer->result.result->rows, reference_rows = comparer->reference.result->rows;
    size_t most = comparer->options->memory / sizeof(double) / (rows + reference_rows);
    most = most < 1 ? 1 : most > comparer->pair_count ? comparer->pair_count : most;
    comparer->out->variables =
        tt_arena_array(&comparer->out->arena, comparer->pair_count, sizeof *comparer->out->variables);
    struct read_request *wishes = tt_arena_array(&comparer->out->arena, most, sizeof *wishes);
    comparer->result.values = malloc(most * rows * sizeof(double));
    comparer->reference.values = malloc(most * reference_rows * sizeof(double));
    if (!comparer->out->variables || !wishes || !comparer->result.values || !comparer->reference.values)
        return tt_fail_memory();
    for (size_t i = 0; i < comparer->pair_count; i += most) {
        size_t left = comparer->pair_count - i;
        TRY(compare_batch(comparer, comparer->pairs + i, left < most ? left : most, wishes));
    }
    return compare_texts(comparer);
}

static int compare_worst(const void *a, const void *b)
{
    const struct tt_compared_variable *left = a, *right = b;
    if (left->worst.share != right->worst.share)
        return left->worst.share > right->worst.share ? -1 : 1;
    return strcmp(left->name, right->name);
}

static enum tutti_err compare_results(struct comparer *comparer)
{
    struct tt_comparison *out = comparer->out;
    TRY(compare_find_range(comparer));
    TRY(match_variables(comparer));
    TRY(choose_rows(&comparer->result, &out->arena));
    TRY(choose_rows(&comparer->reference, &out->arena));
    if (comparer->begin <= comparer->end)
        TRY(compare_all(comparer));
    if (out->count > 0)
        qsort(out->variables, out->count, sizeof *out->variables, compare_worst);
    bool alike = out->only_result_count + out->only_reference_count + out->unit_count == 0;
    out->agree = out->covered && out->disagreements == 0 && (alike || !comparer->options->strict);
    return TUTTI_OK;
}

enum tutti_err tt_compare(struct tt_comparison *out, struct tutti_result *result, struct tutti_result *reference,
                          const struct tt_compare_options *options)
{
    *out = (struct tt_comparison){0};
    struct comparer comparer = {.out = out, .options = options, .result.result = result, .reference.result = reference};
    enum tutti_err err = compare_results(&comparer);
    free(comparer.result.values);
    free(comparer.reference.values);
    return err;
}

void tt_compare_fini(struct tt_comparison *comparison)
{
    tt_arena_fini(&comparison->arena);
}

/* Minimum and maximum over a window that moves on are kept as in D. Lemire, "Streaming maximum-minimum filter using no
 * more than three comparisons per element" (2006): of the rows in the window only those are kept that no later row
 * exceeds. */

size_t tt_compare_first_row_from(const double *times, size_t rows, double t)
{
    size_t row;
    TUTTI_SEARCH(row, rows, times[row] < t);
    return row;
}

size_t tt_compare_first_row_after(const double *times, size_t rows, double t)
{
    return tt_compare_first_row_from(times, rows, nextafter(t, INFINITY));
}

/* The curve from row `i` to the next one, at t: a line, infinite if one of its ends is; after the last row, and if the
 * curve is held, the row's value. */
static double curve_value_at(const struct tt_curve *curve, size_t i, double t)
{
    double from = curve->values[i];
    if (curve->held || i + 1 == curve->rows)
        return from;
    double to = curve->values[i + 1], rise = to - from;
    double x = (t - curve->times[i]) / (curve->times[i + 1] - curve->times[i]);
    if (isfinite(rise))
        return from + rise * x;
    if (isfinite(from) && isfinite(to)) /* the difference is too large for a double */
        return from * (1 - x) + to * x;
    if (isnan(from) || isnan(to))
        return NAN;
    return isinf(to) ? to : from;
}

struct value_range {
    double low, high; /* low > high: no number */
    bool nan;
};

static const struct value_range nothing = {INFINITY, -INFINITY, false};

static void extend_range(struct value_range *range, double value)
{
    range->nan |= isnan(value);
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

/* --- a window that moves along a curve */

/* Rows of the window in order of time; each has a better value than all later ones. */
struct window_extremum {
    size_t *rows;
    size_t head, tail, room;
};

struct value_window {
    const struct tt_curve *curve;
    size_t first, behind; /* rows of the curve that are in it */
    size_t nans;          /* among them */
    struct window_extremum low, high;
};

static enum tutti_err window_push(struct window_extremum *best, size_t row)
{
    if (best->tail == best->room && best->head > best->room / 2) {
        memmove(best->rows, best->rows + best->head, (best->tail - best->head) * sizeof *best->rows);
        best->tail -= best->head;
        best->head = 0;
    } else if (!tt_vector_reserve(&best->rows, &best->room, best->tail + 1, sizeof *best->rows)) {
        return tt_fail_memory();
    }
    best->rows[best->tail++] = row;
    return TUTTI_OK;
}

static enum tutti_err window_enter(struct value_window *window, size_t row)
{
    const double *values = window->curve->values;
    if (isnan(values[row])) {
        window->nans++;
        return TUTTI_OK;
    }
    struct window_extremum *low = &window->low, *high = &window->high;
    while (low->tail > low->head && values[low->rows[low->tail - 1]] >= values[row])
        low->tail--;
    while (high->tail > high->head && values[high->rows[high->tail - 1]] <= values[row])
        high->tail--;
    TRY(window_push(low, row));
    return window_push(high, row);
}

static void window_leave(struct value_window *window, size_t row)
{
    window->nans -= isnan(window->curve->values[row]) ? 1 : 0;
    window->low.head += window->low.head < window->low.tail && window->low.rows[window->low.head] == row;
    window->high.head += window->high.head < window->high.tail && window->high.rows[window->high.head] == row;
}

/* Moves the window to [from, to], neither of which decreases, and computes the range of the curve there. */
static enum tutti_err window_move(struct value_window *window, double from, double to, struct value_range *range)
{
    const struct tt_curve *curve = window->curve;
    const double *times = curve->times;
    from = fmin(fmax(from, times[0]), times[curve->rows - 1]);
    to = fmin(fmax(to, times[0]), times[curve->rows - 1]);
    for (; window->behind < curve->rows && times[window->behind] <= to; window->behind++)
        TRY(window_enter(window, window->behind));
    for (; window->first < window->behind && times[window->first] < from; window->first++)
        window_leave(window, window->first);
    *range = nothing;
    range->nan = window->nans > 0;
    if (window->low.head < window->low.tail) {
        extend_range(range, curve->values[window->low.rows[window->low.head]]);
        extend_range(range, curve->values[window->high.rows[window->high.head]]);
    }
    if (window->first > 0 && (curve->held || times[window->first] > from))
        extend_range(range, curve_value_at(curve, window->first - 1, from));
    if (window->behind < curve->rows && times[window->behind - 1] < to)
        extend_range(range, curve_value_at(curve, window->behind - 1, to));
    return TUTTI_OK;
}

/* --- checks */

struct curve_check {
    const struct tt_tolerance *tolerance;
    struct tt_distance *worst;
    bool of_result; /* values of the result are checked against the reference; false: the other way round */
};

/* Checks the value at t against the range of the other curve. */
static void compare_check_value(const struct curve_check *check, double t, double value,
                                const struct value_range *range)
{
    double other = value;
    if (isnan(value) ? !range->nan : range->low > range->high)
        other = isnan(value) ? range->low : NAN;
    else if (value > range->high)
        other = range->high;
    else if (value < range->low)
        other = range->low;
    double reference = check->of_result ? other : value;
    struct tt_distance found = {.time = t, .reference = reference, .result = check->of_result ? value : other};
    bool same = value == other || (isnan(value) && isnan(other));
    found.error = same ? 0 : fabs(value - other);
    found.allowed = check->tolerance->allowed;
    found.share = same ? 0 : isfinite(found.error) && found.allowed > 0 ? found.error / found.allowed : INFINITY;
    if (found.share > check->worst->share)
        *check->worst = found;
}

/* Finds the rows of `curve` from begin to end. At the ends of the range one curve may have both sides of an event and
 * the other curve only the inner side. */
static void compare_find_rows(const struct tt_curve *curve, const struct tt_curve *other, double begin, double end,
                              size_t *first, size_t *behind)
{
    size_t n = curve->rows, m = other->rows;
    *first = tt_compare_first_row_from(curve->times, n, begin);
    *behind = tt_compare_first_row_after(curve->times, n, end);
    if (!(begin < end))
        return;
    size_t after_begin = tt_compare_first_row_after(curve->times, n, begin),
           from_end = tt_compare_first_row_from(curve->times, n, end);
    size_t others_at_begin = tt_compare_first_row_after(other->times, m, begin) -
                             tt_compare_first_row_from(other->times, m, begin);
    size_t others_at_end = tt_compare_first_row_after(other->times, m, end) -
                           tt_compare_first_row_from(other->times, m, end);
    if (after_begin > *first && others_at_begin == 1)
        *first = after_begin - 1;
    if (from_end < *behind && others_at_end == 1)
        *behind = from_end + 1;
}

/* Condition 1 of compare.h: the rows of one curve are on the other curve. */
static enum tutti_err compare_check_rows(const struct curve_check *check, const struct tt_curve *curve,
                                         struct value_window *window, double begin, double end)
{
    double tau = check->tolerance->time;
    size_t first, behind;
    compare_find_rows(curve, window->curve, begin, end, &first, &behind);
    for (size_t i = first; i < behind; i++) {
        double t = curve->times[i];
        struct value_range range;
        TRY(window_move(window, t - tau, t + tau, &range));
        compare_check_value(check, t, curve->values[i], &range);
        if (curve->held && i > 0 && t > begin)
            compare_check_value(check, t, curve->values[i - 1], &range);
    }
    return TUTTI_OK;
}

static enum tutti_err compare_is_on(const struct tt_curve *curve, const struct tt_curve *other, double begin,
                                    double end, const struct curve_check *check)
{
    struct value_window window = {.curve = other};
    enum tutti_err err = compare_check_rows(check, curve, &window, begin, end);
    free(window.low.rows);
    free(window.high.rows);
    return err;
}

/* 2. of compare.h: both are straight from g to h, row i of the result and row j of the reference are the last up to g. */
static void compare_check_segments(const struct curve_check *check, const struct tt_curve *result, size_t i,
                                   const struct tt_curve *reference, size_t j, double g, double h)
{
    double tau = check->tolerance->time;
    if (!(h - g > 2 * tau))
        return;
    const double places[] = {g + tau, h - tau};
    for (size_t k = 0; k < 2; k++) {
        struct value_range range = nothing;
        extend_range(&range, curve_value_at(reference, j, fmax(places[k] - tau, g)));
        extend_range(&range, curve_value_at(reference, j, fmin(places[k] + tau, h)));
        compare_check_value(check, places[k], curve_value_at(result, i, places[k]), &range);
    }
}

static double compare_time_of(const struct tt_curve *curve, size_t row)
{
    return row < curve->rows ? curve->times[row] : INFINITY;
}

static void compare_check_between(const struct curve_check *check, const struct tt_curve *result,
                                  const struct tt_curve *reference, double begin, double end)
{
    /* The rows after g. */
    size_t i = tt_compare_first_row_after(result->times, result->rows, begin);
    size_t j = tt_compare_first_row_after(reference->times, reference->rows, begin);
    double g = begin;
    while (g < end) {
        double h = fmin(fmin(compare_time_of(result, i), compare_time_of(reference, j)), end);
        if (i > 0 && j > 0)
            compare_check_segments(check, result, i - 1, reference, j - 1, g, h);
        while (compare_time_of(result, i) <= h)
            i++;
        while (compare_time_of(reference, j) <= h)
            j++;
        g = h;
    }
}

enum tutti_err tt_compare_curves(struct tt_distance *worst, const struct tt_curve *result,
                                 const struct tt_curve *reference, double begin, double end,
                                 const struct tt_tolerance *tolerance)
{
    struct curve_check check = {.tolerance = tolerance, .worst = worst, .of_result = true};
    *worst = (struct tt_distance){.share = -1};
    TRY(compare_is_on(result, reference, begin, end, &check));
    check.of_result = false;
    TRY(compare_is_on(reference, result, begin, end, &check));
    check.of_result = true;
    compare_check_between(&check, result, reference, begin, end);
    if (worst->share >= 0)
        return TUTTI_OK;

    /* The range contains neither a row nor a piece: it is one point. */
    size_t i = tt_compare_first_row_after(result->times, result->rows, begin);
    size_t j = tt_compare_first_row_after(reference->times, reference->rows, begin);
    struct value_range range = nothing;
    extend_range(&range, curve_value_at(reference, j > 0 ? j - 1 : 0, begin));
    compare_check_value(&check, begin, curve_value_at(result, i > 0 ? i - 1 : 0, begin), &range);
    return TUTTI_OK;
}
