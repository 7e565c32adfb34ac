/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "apps/plot/plot.h"

/* A curve that moves by less than this part of its size moves by rounding errors only. */
static const double FLAT = 4 * DBL_EPSILON;

static void fit_log_axis(struct tt_plot_axis *axis, double low, double high)
{
    double from = fmin(floor(log10(fmax(low, DBL_MIN))), 307) /* gnuplot has no ticks from 1e308 on */,
           to = fmax(ceil(log10(high)), from + 1);
    axis->low = fmax(pow(10, from), DBL_MIN); /* nor does it draw smaller numbers */
    axis->high = fmin(pow(10, to), DBL_MAX);
}

/* Where all values are near a large number, ticks would differ in their last digits only: a round number is taken off. */
static void subtract_axis_offset(struct tt_plot_axis *axis, double span, double size)
{
    if (size < 1e3 * span)
        return;
    int power = (int)ceil(log10(span / axis->scale)) + 1,
        lift = power < -290 ? 200 : 0; /* 10^-320 has three digits only */
    double count = round(axis->low / axis->scale * pow(10, lift) / pow(10, power + lift));
    char text[48];
    int length = snprintf(text, sizeof text, "%.0fe%d", count, power); /* what the label says, to the last digit */
    tt_number_read_double(text, (size_t)length, &axis->offset);
}

void tt_plot_axis_fit(struct tt_plot_axis *axis, double low, double high)
{
    axis->offset = 0;
    axis->power = 0;
    axis->scale = axis->scale > 0 ? axis->scale : 1;
    if (!isfinite(low) || !isfinite(high)) {
        axis->low = axis->log ? 1 : 0;
        axis->high = axis->log ? 10 : 1;
        return;
    }
    if (axis->log) {
        fit_log_axis(axis, low, high);
        return;
    }
    /* Half of each: the difference of two large numbers may be too large for a number. */
    double size = fmax(fabs(low), fabs(high)), half = high / 2 - low / 2;
    if (half <= FLAT * size) {
        double margin = size / 10 > 0 ? size / 10 : size > 0 ? size : 1;
        axis->low = fmax(low - margin, -DBL_MAX);
        axis->high = fmin(high + margin, DBL_MAX);
    } else {
        axis->low = low;
        axis->high = high;
        subtract_axis_offset(axis, 2 * half, size);
    }
    size = fmax(fabs(axis->low / axis->scale - axis->offset), fabs(axis->high / axis->scale - axis->offset));
    int power = (int)floor(log10(size));
    if (power >= 5 || size < 0.02) /* below that ticks like -0.002 would be as wide as to touch the label */
        axis->power = 3 * (int)floor((power < 0 ? power + 1 : power) / 3.0); /* 150 10^3, but 0.6 10^-3 */
    axis->whole = axis->whole && axis->power == 0;
}

void tt_plot_axis_append_power(struct tt_text *text, int power, bool unicode)
{
    char plain[16];
    int n = snprintf(plain, sizeof plain, "%d", power);
    if (!unicode) {
        tt_text_printf(text, "1e%s", plain);
        return;
    }
    tt_text_append(text, "10");
    tt_plot_axis_append_superscript(text, plain, (size_t)n);
}

/* Its 15 digits are all that it has; the smallest numbers have fewer. */
static void append_offset(struct tt_text *text, const char *sign, double offset)
{
    if (offset < DBL_MIN)
        tt_text_printf(text, "%s%s", sign, NUMBER(offset));
    else
        tt_text_printf(text, "%s%.15g", sign, offset);
}

const char *tt_plot_axis_label(struct tt_plot *plot, const struct tt_plot_axis *axis, const char *name,
                               const char *unit)
{
    struct tt_text text = {0};
    tt_text_append(&text, name ? name : "");
    if (axis->offset > 0)
        append_offset(&text, " - ", axis->offset);
    else if (axis->offset < 0)
        append_offset(&text, " + ", -axis->offset);
    if (unit || axis->power != 0)
        tt_text_append(&text, text.length > 0 ? " in " : "in ");
    if (axis->power != 0)
        tt_plot_axis_append_power(&text, axis->power, plot->options->unicode);
    if (unit)
        tt_text_printf(&text, "%s%s", axis->power != 0 ? " " : "", unit);
    const char *copy = text.failed ? NULL : tt_arena_copy_text(&plot->arena, text.text ? text.text : "", text.length);
    tt_text_fini(&text);
    return copy;
}

/* ---- ticks */

/* The first of these that is at least `least`; 0: none is. */
static double round_up_step(const double *steps, size_t count, double least)
{
    for (size_t i = 0; i < count; i++)
        if (steps[i] >= least * (1 - 1e-12))
            return steps[i];
    return 0;
}

/* 1, 2, 2.5 or 5 times a power of ten; of hours what divides a day. */
double tt_plot_axis_tick_step(const struct tt_plot_axis *axis, double span, double most)
{
    static const double hours[] = {0.25, 0.5, 1, 2, 3, 6, 12, 24}, steps[] = {1, 2, 2.5, 5, 10},
                        wholes[] = {1, 2, 5, 10};
    double least = span / most;
    if (axis->scale == TUTTI_PLOT_HOUR && axis->power == 0 && round_up_step(hours, 8, least) > 0)
        return round_up_step(hours, 8, least);
    if (axis->whole && least < 1)
        return 1;
    double power = pow(10, floor(log10(least)));
    return power * (axis->whole ? round_up_step(wholes, 4, least / power) : round_up_step(steps, 5, least / power));
}
