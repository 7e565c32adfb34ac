/* SPDX-License-Identifier: MIT */
#include "apps/plot/line.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/vector.h"

void tt_plot_line_add(struct tt_plot_line *line, double x, double y)
{
    size_t room = line->capacity; /* the same for both */
    if (!line->failed)
        line->failed = !tt_vector_reserve(&line->x, &room, line->count + 1, sizeof *line->x) ||
                       !tt_vector_reserve(&line->y, &line->capacity, line->count + 1, sizeof *line->y);
    if (line->failed)
        return;
    line->x[line->count] = x;
    line->y[line->count++] = y;
}

void tt_plot_line_interrupt(struct tt_plot_line *line)
{
    if (line->count > 0 && !isnan(line->x[line->count - 1]))
        tt_plot_line_add(line, NAN, NAN);
}

void tt_plot_line_fini(struct tt_plot_line *line)
{
    free(line->x);
    free(line->y);
    *line = (struct tt_plot_line){0};
}

bool tt_plot_line_curve_failed(const struct tt_plot_curve_data *data)
{
    return data->line.failed || data->jumps.failed;
}

void tt_plot_line_curve_extent(const struct tt_plot_curve_data *data, double from, double to, double *low, double *high)
{
    for (size_t i = 0; i < data->line.count; i++)
        if (data->line.x[i] >= from && data->line.x[i] <= to) {
            *low = fmin(*low, data->line.y[i]);
            *high = fmax(*high, data->line.y[i]);
        }
}

/* From `a` to `b`, which may be further apart than the largest number. */
static double plot_line_between(double a, double b, double part)
{
    return isfinite(b - a) ? a + (b - a) * part : a * (1 - part) + b * part;
}

double tt_plot_line_at(const struct tt_plot_line *line, double x)
{
    for (size_t i = 0; i + 1 < line->count; i++)
        if (line->x[i] <= x && x < line->x[i + 1])
            return plot_line_between(line->y[i], line->y[i + 1], (x - line->x[i]) / (line->x[i + 1] - line->x[i]));
    return NAN;
}

/* ---- over time */

/* Returns the first row whose time is at least (if `after`: greater than) `t`. */
static size_t find_row_at(const struct tt_plot_values *values, double t, bool after)
{
    size_t low = 0, high = values->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (values->t[middle] < t || (after && values->t[middle] == t))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void tt_plot_line_values_cut(struct tt_plot_values *values, double from, double to)
{
    size_t begin = find_row_at(values, from, false), end = find_row_at(values, to, true);
    begin -= begin > 0;
    end += end < values->count;
    values->t = values->t ? values->t + begin : NULL;
    values->v = values->v ? values->v + begin : NULL;
    values->count = end > begin ? end - begin : 0;
}

double tt_plot_line_values_at(const struct tt_plot_values *values, double t)
{
    size_t next = find_row_at(values, t, true);
    if (next == 0 || isnan(t))
        return NAN;
    size_t row = next - 1;
    if (values->t[row] == t)
        return values->v[row];
    if (next == values->count)
        return NAN;
    double a = values->v[row], b = values->v[next], part = (t - values->t[row]) / (values->t[next] - values->t[row]);
    return values->held ? a : plot_line_between(a, b, part);
}

static bool plot_line_jumps(const struct tt_plot_values *values, size_t row)
{
    return row > 0 && !values->held && values->t[row] == values->t[row - 1] && values->v[row] != values->v[row - 1] &&
           isfinite(values->v[row]) && isfinite(values->v[row - 1]);
}

static void plot_line_add_row(struct tt_plot_curve_data *out, const struct tt_plot_values *values, size_t row)
{
    if (!isfinite(values->v[row])) {
        tt_plot_line_interrupt(&out->line);
        return;
    }
    if (plot_line_jumps(values, row)) {
        tt_plot_line_interrupt(&out->line);
        tt_plot_line_add(&out->jumps, values->t[row - 1], values->v[row - 1]);
        tt_plot_line_add(&out->jumps, values->t[row], values->v[row]);
        tt_plot_line_interrupt(&out->jumps);
    }
    tt_plot_line_add(&out->line, values->t[row], values->v[row]);
}

/* Rows first ... end - 1, of one column. */
static void plot_line_add_column(struct tt_plot_curve_data *out, const struct tt_plot_values *values, size_t first,
                                 size_t end)
{
    if (first == end)
        return;
    size_t kept[4] = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}, jump_count = 0; /* first, least, greatest, last */
    for (size_t row = first; row < end; row++) {
        if (!isfinite(values->v[row]))
            continue;
        jump_count += row > first && plot_line_jumps(values, row);
        kept[0] = kept[0] == SIZE_MAX ? row : kept[0];
        kept[1] = kept[1] == SIZE_MAX || values->v[row] < values->v[kept[1]] ? row : kept[1];
        kept[2] = kept[2] == SIZE_MAX || values->v[row] > values->v[kept[2]] ? row : kept[2];
        kept[3] = row;
    }
    if (kept[0] == SIZE_MAX) {
        tt_plot_line_interrupt(&out->line);
    } else if (end - first <= 4 || jump_count == 1) {
        /* A jump among few other points must stay visible: its sides are separate columns. */
        for (size_t row = first + 1; end - first > 4 && row < end; row++)
            if (plot_line_jumps(values, row)) {
                plot_line_add_column(out, values, first, row);
                plot_line_add_row(out, values, row);
                plot_line_add_column(out, values, row + 1, end);
                return;
            }
        for (size_t row = first; row < end; row++)
            plot_line_add_row(out, values, row);
    } else {
        size_t middle[2] = {kept[1] < kept[2] ? kept[1] : kept[2], kept[1] < kept[2] ? kept[2] : kept[1]};
        const size_t order[4] = {kept[0], middle[0], middle[1], kept[3]};
        if (kept[0] > first)
            tt_plot_line_interrupt(&out->line);
        for (size_t i = 0; i < 4; i++)
            if (i == 0 || order[i] != order[i - 1])
                tt_plot_line_add(&out->line, values->t[order[i]], values->v[order[i]]);
        if (kept[3] + 1 < end)
            tt_plot_line_interrupt(&out->line);
    }
}

static void thin_moving(struct tt_plot_curve_data *out, const struct tt_plot_values *values, double from, double to,
                        size_t columns)
{
    const size_t end = values->count;
    if (end <= 4 * columns || !(to > from)) {
        for (size_t row = 0; row < end; row++)
            plot_line_add_row(out, values, row);
        return;
    }
    for (size_t first = 0, row = 0; first < end; first = row) {
        double column = floor((values->t[first] - from) / (to - from) * (double)columns);
        while (row < end && (row == first || floor((values->t[row] - from) / (to - from) * (double)columns) == column))
            row++;
        plot_line_add_column(out, values, first, row);
    }
}

/* Moves an end of the line that is beyond `x` to where the stroke to its neighbour crosses `x`. */
static void cut_end(struct tt_plot_line *line, size_t end, size_t neighbour, double x)
{
    double width = line->x[neighbour] - line->x[end], y = line->y[end];
    if (isnan(width) || width == 0 || (x - line->x[end]) * (line->x[neighbour] - x) < 0)
        return;
    line->y[end] = plot_line_between(y, line->y[neighbour], (x - line->x[end]) / width);
    line->x[end] = x;
}

static void thin_held(struct tt_plot_curve_data *out, const struct tt_plot_values *values, double from, double to,
                      size_t columns)
{
    /* A held value is drawn as stairs: it has corners only where it changes. */
    struct tt_plot_line stairs = {0};
    for (size_t row = 0; row < values->count; row++) {
        bool known = row > 0 && isfinite(values->v[row - 1]), changes = !known || values->v[row] != values->v[row - 1];
        if (known && (changes || row + 1 == values->count))
            tt_plot_line_add(&stairs, values->t[row], values->v[row - 1]);
        if (changes)
            tt_plot_line_add(&stairs, values->t[row], values->v[row]);
    }
    struct tt_plot_values corners = {.t = stairs.x, .v = stairs.y, .count = stairs.count, .held = true};
    tt_plot_line_values_cut(&corners, from, to);
    thin_moving(out, &corners, from, to, columns);
    out->line.failed = out->line.failed || stairs.failed;
    tt_plot_line_fini(&stairs);
}

void tt_plot_line_thin(struct tt_plot_curve_data *out, const struct tt_plot_values *values, double from, double to,
                       size_t columns)
{
    struct tt_plot_values seen = *values;
    tt_plot_line_values_cut(&seen, from, to);
    (seen.held ? thin_held : thin_moving)(out, &seen, from, to, columns);

    /* gnuplot draws no line between two points that are both outside, and the extent is that of what is seen */
    size_t count = out->line.count;
    if (count > 1 && out->line.x[0] < from)
        cut_end(&out->line, 0, 1, from);
    if (count > 1 && out->line.x[count - 1] > to)
        cut_end(&out->line, count - 1, count - 2, to);
}

/* From a point that is kept, the slopes are known that pass all points after it near enough; the first point that none
 * of them reaches makes its predecessor a point that is kept. (The swing filter: H. Elmeleegy et al.: Online piece-wise
 * linear approximation of numerical streams with precision guarantees, VLDB 2009.) */
void tt_plot_line_straighten(const struct tt_plot_line *line, bool log, double x_fine, double y_fine, bool *left_out)
{
    size_t kept = 0;
    double least = -INFINITY, greatest = INFINITY;
    for (size_t i = 1; i + 1 < line->count; i++) {
        /* i is needed unless the straight line from `kept` to i + 1 passes it. */
        bool whole = !isnan(line->x[kept]) && !isnan(line->x[i]) && !isnan(line->x[i + 1]);
        double y0 = log ? log10(line->y[kept]) : line->y[kept], y1 = log ? log10(line->y[i]) : line->y[i];
        double y2 = log ? log10(line->y[i + 1]) : line->y[i + 1];
        double width = line->x[i] - line->x[kept], slope = (y2 - y0) / (line->x[i + 1] - line->x[kept]);
        if (whole && width > x_fine) {
            least = fmax(least, (y1 - y_fine - y0) / width);
            greatest = fmin(greatest, (y1 + y_fine - y0) / width);
            left_out[i] = slope >= least && slope <= greatest;
        } else {
            left_out[i] = whole && fabs(y1 - y0) <= y_fine;
        }
        if (left_out[i])
            continue;
        kept = i;
        least = -INFINITY;
        greatest = INFINITY;
    }
}

/* ---- x over y */

enum { CELLS = 400 }; /* about a pixel, or the width of a line */

/* A picture in the small: where a curve was already. */
struct raster {
    double low[2], span[2];
    uint32_t stroke;                     /* number of the present one */
    uint32_t seen[CELLS + 1][CELLS + 1]; /* the first stroke that went there; 0: none */
};

static void raster_fit(struct raster *raster, const double *x, const double *y, size_t count)
{
    double high[2] = {-INFINITY, -INFINITY};
    raster->low[0] = raster->low[1] = INFINITY;
    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]) && isfinite(y[i])) {
            raster->low[0] = fmin(raster->low[0], x[i]);
            raster->low[1] = fmin(raster->low[1], y[i]);
            high[0] = fmax(high[0], x[i]);
            high[1] = fmax(high[1], y[i]);
        }
    for (int i = 0; i < 2; i++)
        raster->span[i] = high[i] > raster->low[i] ? fmin(high[i] - raster->low[i], 1e308) : 1;
}

/* Draws a stroke; returns true if it reaches a new cell. Cells of the last strokes count as new: short strokes share a
 * cell. */
static bool raster_draw(struct raster *raster, double x0, double y0, double x1, double y1)
{
    double from[2] = {(x0 - raster->low[0]) / raster->span[0], (y0 - raster->low[1]) / raster->span[1]};
    double to[2] = {(x1 - raster->low[0]) / raster->span[0], (y1 - raster->low[1]) / raster->span[1]};
    int steps = 1 + (int)(fmin(fmax(fabs(to[0] - from[0]), fabs(to[1] - from[1])), 1) * CELLS);
    enum { SHARED = 8 };
    bool fresh = false;
    raster->stroke += raster->stroke < UINT32_MAX;
    for (int i = 0; i <= steps; i++) {
        double part = (double)i / steps;
        size_t column = (size_t)(fmin(fmax(from[0] + part * (to[0] - from[0]), 0), 1) * CELLS);
        size_t line = (size_t)(fmin(fmax(from[1] + part * (to[1] - from[1]), 0), 1) * CELLS);
        uint32_t *seen = &raster->seen[column][line];
        *seen = *seen ? *seen : raster->stroke;
        fresh = fresh || raster->stroke - *seen < SHARED;
    }
    return fresh;
}

/* All of a curve that few points make; of many, what draws a cell of the raster for the first time. */
static void thin_phase(struct tt_plot_curve_data *out, struct raster *raster, const double *t, const double *x,
                       const double *y, size_t count)
{
    enum { FEW = 2000 };
    size_t last = SIZE_MAX; /* where the pen is */
    bool drawn = false;     /* the line is drawn up to there */
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) {
            tt_plot_line_interrupt(&out->line);
            last = SIZE_MAX;
            continue;
        }
        bool jump = last != SIZE_MAX && t[i] == t[i - 1] && (x[i] != x[i - 1] || y[i] != y[i - 1]);
        if (!jump && last != SIZE_MAX && count > FEW && i + 1 < count && t[i] != t[i + 1] &&
            fabs(x[i] - x[last]) < raster->span[0] / (2 * CELLS) &&
            fabs(y[i] - y[last]) < raster->span[1] / (2 * CELLS))
            continue; /* less than half a cell from the pen */
        size_t from = last == SIZE_MAX ? i : last;
        bool fresh = raster_draw(raster, x[from], y[from], x[i], y[i]) || count <= FEW || last == SIZE_MAX;
        if (jump && fresh) {
            tt_plot_line_interrupt(&out->line);
            tt_plot_line_add(&out->jumps, x[from], y[from]);
            tt_plot_line_add(&out->jumps, x[i], y[i]);
            tt_plot_line_interrupt(&out->jumps);
        }
        if (fresh && !jump && !drawn && last != SIZE_MAX)
            tt_plot_line_add(&out->line, x[last], y[last]);
        if (fresh)
            tt_plot_line_add(&out->line, x[i], y[i]);
        else
            tt_plot_line_interrupt(&out->line);
        drawn = fresh;
        last = i;
    }
}

void tt_plot_line_thin_phase(struct tt_plot_curve_data *out, const double *t, const double *x, const double *y,
                             size_t count)
{
    struct raster *raster = calloc(1, sizeof *raster);
    out->line.failed = !raster;
    if (!raster)
        return;
    raster_fit(raster, x, y, count);
    thin_phase(out, raster, t, x, y, count);
    free(raster);
}

/* ---- a difference */

struct cursor {
    const struct tt_plot_values *values;
    size_t row; /* index of the first row that is not passed */
};

/* The values before and after `t`, which is at or after all times that were asked for. */
static void cursor_values_at(struct cursor *cursor, double t, double *before, double *behind)
{
    const struct tt_plot_values *values = cursor->values;
    while (cursor->row < values->count && values->t[cursor->row] < t)
        cursor->row++;
    size_t row = cursor->row, last = row;
    *before = *behind = NAN;
    if (row < values->count && values->t[row] == t) {
        while (last + 1 < values->count && values->t[last + 1] == t)
            last++;
        *before = values->held && row > 0 ? values->v[row - 1] : values->v[row];
        *behind = values->v[last];
        return;
    }
    if (row == 0 || row == values->count)
        return;
    double left = values->t[row - 1], right = values->t[row], a = values->v[row - 1], b = values->v[row];
    *before = *behind = values->held ? a : plot_line_between(a, b, (t - left) / (right - left));
}

bool tt_plot_line_difference(const struct tt_plot_values *a, const struct tt_plot_values *b, double **t, double **v,
                             size_t *count)
{
    struct tt_plot_line line = {0};
    struct cursor cursors[2] = {{.values = a}, {.values = b}};
    size_t next[2] = {0, 0};
    while (next[0] < a->count || next[1] < b->count) {
        double now = fmin(next[0] < a->count ? a->t[next[0]] : INFINITY, next[1] < b->count ? b->t[next[1]] : INFINITY);
        while (next[0] < a->count && a->t[next[0]] <= now)
            next[0]++;
        while (next[1] < b->count && b->t[next[1]] <= now)
            next[1]++;
        double before[2], behind[2];
        cursor_values_at(&cursors[0], now, &before[0], &behind[0]);
        cursor_values_at(&cursors[1], now, &before[1], &behind[1]);
        tt_plot_line_add(&line, now, before[0] - before[1]);
        if (before[0] != behind[0] || before[1] != behind[1])
            tt_plot_line_add(&line, now, behind[0] - behind[1]);
    }
    *t = line.x;
    *v = line.y;
    *count = line.count;
    return !line.failed;
}

bool tt_plot_line_sieve_keeps(struct tt_plot_sieve *sieve, double x, double y)
{
    if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1))
        return false;
    unsigned char *seen = &sieve->seen[(size_t)(x * 127)][(size_t)(y * 63)];
    bool first = !*seen;
    *seen = 1;
    return first;
}
