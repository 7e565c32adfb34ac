/* SPDX-License-Identifier: MIT */
/* trajectory.h - inputs over time from tables, and from expressions.
 *
 * Real inputs are linear between rows, or on a cubic spline; all others are held. Two rows with equal time are a jump: the first ends the
 * stretch before, the second begins the one after. Before the first row and after the last their values hold. An expression is known at all times;
 * it has jumps and kinks where comparisons, floor(), abs() and so on in it change (base/expr/breaks.h). */
#ifndef TT_MODEL_SYSTEM_TRAJECTORY_H
#define TT_MODEL_SYSTEM_TRAJECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "fmu/description/description.h"
#include "base/expr/expression.h"
#include "results/csv_table.h"
#include "model/system/conversion.h"
#include "model/system/setting.h"

struct tt_trajectory;

/* A table, and its name for messages. */
struct tt_trajectory_file {
    const char *name;
    struct tt_csv_table *table;
};

/* A column of a file, and the input, or the element of it, that it drives: an input, or a parameter that is tunable. */
struct tt_trajectory_input {
    size_t file, column;
    const struct tt_expression *expression; /* in place of a column; of one value, the time; NULL: none. Borrowed */
    uint32_t variable;
    struct tt_indices element;
    /* From the file's value to the variable's; NULL: none. Numbers only. */
    const struct tt_conversion *conversion;
    /* Set by tt_trajectory_new: */
    bool continuous; /* a float of continuous variability: it moves between rows */
    bool curved;     /* not linear: an expression, or a spline */
    size_t width;    /* values in a cell: 1, or those of an array */
};

/* Interpolation of columns of floats between rows. */
enum tt_trajectory_form { TUTTI_TRAJECTORY_LINEAR, TUTTI_TRAJECTORY_HELD, TUTTI_TRAJECTORY_CUBIC };

/* The columns in `inputs` (copied; in any order) drive inputs of `desc`. Checks every cell. `files`, their tables and
 * `desc` are borrowed until free. ARGUMENT or FORMAT, naming file, line and column. */
TUTTI_CHECKED enum tutti_err tt_trajectory_new(struct tt_trajectory **out, const struct tt_trajectory_file *files,
                                               size_t file_count, const struct tt_description *desc,
                                               const struct tt_trajectory_input *inputs, size_t count,
                                               enum tt_trajectory_form form);
void tt_trajectory_free(struct tt_trajectory *trajectory);

/* Sets the range of the run, in which expressions are searched for jumps and kinks. Without it they have none. */
void tt_trajectory_set_range(struct tt_trajectory *trajectory, double start, double stop);

/* Number of inputs, and the n-th one: "column" below. */
size_t tt_trajectory_count(const struct tt_trajectory *trajectory);
const struct tt_trajectory_input *tt_trajectory_input(const struct tt_trajectory *trajectory, size_t column);

/* The name of the file that a column is in; "--signal" of an expression. */
const char *tt_trajectory_file(const struct tt_trajectory *trajectory, size_t column);

/* Where sample() puts the values of a column; `slot` holds `width` values of the variable's type. */
void tt_trajectory_bind(struct tt_trajectory *trajectory, size_t column, void *slot);

/* Fills all bound slots with the values at t; at a jump, with those after it if `after`, otherwise before it. Fast when
 * times increase from call to call. */
void tt_trajectory_sample(struct tt_trajectory *trajectory, double t, bool after);

/* The same for one column. */
void tt_trajectory_sample_column(struct tt_trajectory *trajectory, size_t column, double t, bool after);

/* One value of a continuous column at t (`place` < its width), whatever was sampled: for inputs that move inside a step. */
double tt_trajectory_value(struct tt_trajectory *trajectory, size_t column, size_t place, double t, bool after);

/* Its derivative by time of order 1. */
double tt_trajectory_slope(struct tt_trajectory *trajectory, size_t column, size_t place, double t, bool after);

/* Fails if an expression has no finite value at t. Of tables all values were checked. */
TUTTI_CHECKED enum tutti_err tt_trajectory_check(const struct tt_trajectory *trajectory, double t);

/* Returns the first time after t at which a jump happens or a held value changes; INFINITY if there is none. */
double tt_trajectory_next_event(struct tt_trajectory *trajectory, double t);

/* Returns the first time after t at which a continuous column changes its slope (or anything jumps, or a table begins
 * or ends); INFINITY if there is none. Between these times all columns are straight lines or smooth curves. */
double tt_trajectory_next_kink(struct tt_trajectory *trajectory, double t);

/* Largest minus smallest value of a continuous column. */
double tt_trajectory_range(const struct tt_trajectory *trajectory, size_t column);

/* A row that is nearer to the end of a step than this part of the step is at its end: times in files are rounded. */
#define TUTTI_TRAJECTORY_SPLINTER 1e-2

/* Returns the longest step from `start` whose points include all events (with `kinks`, also all kinks) between `start`
 * and `stop`, and `stop` itself; 0 without events, or if it would take more than a million steps. *smallest: the
 * shortest distance between two of them. */
double tt_trajectory_spacing(struct tt_trajectory *trajectory, double start, double stop, bool kinks, double *smallest);

#endif
