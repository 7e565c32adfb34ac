/* SPDX-License-Identifier: MIT */
/* line.h - curves as points, thinned out to the resolution of a picture. */
#ifndef TT_APPS_PLOT_LINE_H
#define TT_APPS_PLOT_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Points in the order of drawing; where x and y are NaN the line is interrupted. Zeroed is empty. */
struct tt_plot_line {
    double *x, *y;
    size_t count, capacity;
    bool failed; /* out of memory: some points are not there */
};

void tt_plot_line_add(struct tt_plot_line *line, double x, double y);
/* Once, however often it is called in a row, and not at the beginning. */
void tt_plot_line_interrupt(struct tt_plot_line *line);
void tt_plot_line_fini(struct tt_plot_line *line);

/* A curve: `jumps` are pairs of points, each with an interruption after it. */
struct tt_plot_curve_data {
    struct tt_plot_line line, jumps;
    struct tt_plot_curve_data *next;
};
bool tt_plot_line_curve_failed(const struct tt_plot_curve_data *data);
/* Extends [*low, *high] by its values with `from` <= x <= `to`. */
void tt_plot_line_curve_extent(const struct tt_plot_curve_data *data, double from, double to, double *low,
                               double *high);

/* Values over times that do not descend. */
struct tt_plot_values {
    const double *t, *v;
    size_t count;
    bool held; /* values are constant until the next row; false: linear, with jumps between rows of equal time */
};

/* Only the rows that a line from `from` to `to` needs: one before and one after them, too. */
void tt_plot_line_values_cut(struct tt_plot_values *values, double from, double to);
/* The value at time t, after all rows of that time; NaN before the first and after the last row. */
double tt_plot_line_values_at(const struct tt_plot_values *values, double t);

/* Between `from` and `to`, where the first and the last stroke are cut, into the empty `out`. If there are many rows,
 * each of `columns` equal pieces of time keeps its first, least, greatest and last value, which draw the same pixels as
 * all of them (U. Jugel et al.: A visualization-oriented time series data aggregation, VLDB 2014). Values that are not
 * finite make a gap. */
void tt_plot_line_thin(struct tt_plot_curve_data *out, const struct tt_plot_values *values, double from, double to,
                       size_t columns);

/* Of a line whose x does not descend: marks points that are redundant, because the line between their neighbours passes
 * them at a distance of less than `y_fine` (of y, or if `log` of its decimal logarithm). `x_fine` is the least
 * difference of x that counts. `left_out` has a place for each point and is all false before. */
void tt_plot_line_straighten(const struct tt_plot_line *line, bool log, double x_fine, double y_fine, bool *left_out);

/* Returns y at x for a line whose x does not descend; NaN where it has no value. */
double tt_plot_line_at(const struct tt_plot_line *line, double x);

/* Thins y over x, row by row; `t` marks where they jump. Of many rows, it keeps those that draw cells which the curve
 * has not reached before. */
void tt_plot_line_thin_phase(struct tt_plot_curve_data *out, const double *t, const double *x, const double *y,
                             size_t count);

/* Computes a - b at the times of both, in their common range. A jump of either gives two values. `t` and `v` belong to
 * the caller (free). False: out of memory. */
bool tt_plot_line_difference(const struct tt_plot_values *a, const struct tt_plot_values *b, double **t, double **v,
                             size_t *count);

/* Marks that would cover each other are one. `x` and `y` are between 0 and 1 of the panel where they are to be seen. */
struct tt_plot_sieve {
    unsigned char seen[128][64];
};
bool tt_plot_line_sieve_keeps(struct tt_plot_sieve *sieve, double x, double y);

#endif
