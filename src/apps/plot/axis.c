/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <float.h>
#include <string.h>

#include "apps/plot/plot.h"
#include "base/number.h"
#include "base/text.h"

/* A curve that moves by less than this part of its size moves by rounding errors only. */
static const double FLAT = 4 * DBL_EPSILON;

/* Where all values are near a large number, ticks would differ in their last digits only: a round number is taken off. */
static void subtract_axis_offset(struct tt_plot_axis *axis, double span, double size)
{
    if (size < 1e3 * span)
        return;
    int power = (int)ceil(log10(span / axis->scale)) + 1,
        lift = power < -290 ? 200 : 0; /* 10^-320 has three digits only */
    double count = round(axis->low / axis->scale * pow(10, lift) / pow(10, power + lift));
    char text[48];
    int length = snprintf(text, sizeof text, "%.0fe%d", count, power); /* the numbers in the label, to the last digit */
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
        double from = fmin(floor(log10(fmax(low, DBL_MIN))), 307); /* gnuplot has no ticks from 1e308 on */
        double to = fmax(ceil(log10(high)), from + 1);
        axis->low = fmax(pow(10, from), DBL_MIN); /* nor does it draw smaller numbers */
        axis->high = fmin(pow(10, to), DBL_MAX);
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

/* Units as people print them: files have "m/s2", "kg.m2" and "degC", a picture has m/s², kg·m² and °C. */

static const char *const superscripts[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

void tt_plot_axis_append_superscript(struct tt_text *text, const char *digits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (digits[i] == '-')
            tt_text_append(text, "⁻");
        else if (isdigit((unsigned char)digits[i]))
            tt_text_append(text, superscripts[digits[i] - '0']);
}

static bool is_in_unit_list(const char *const *list, const char *word, size_t n)
{
    for (; *list; list++)
        if (strlen(*list) == n && memcmp(*list, word, n) == 0)
            return true;
    return false;
}

/* Length of the prefix before a known unit; SIZE_MAX: the word is not a unit, so that a number after it may be part of
 * its name ("mmH2O", "kgCO2"). */
static size_t unit_prefix_length(const char *word, size_t n)
{
    static const char *const units[] = {"m",  "s",  "g",   "K",    "A",   "mol", "cd",  "rad",  "sr",  "Hz",
                                        "N",  "Pa", "J",   "W",    "V",   "C",   "F",   "H",    "Ohm", "S",
                                        "Wb", "T",  "lm",  "lx",   "Bq",  "Gy",  "l",   "L",    "h",   "min",
                                        "d",  "t",  "bar", "deg",  "Wh",  "VA",  "var", "eV",   "ft",  "in",
                                        "yd", "mi", "lb",  "degC", "rev", "ohm", "kat", "degF", "lbf", NULL};
    if (is_in_unit_list(units, word, n))
        return 0;
    size_t length = n > 2 && memcmp(word, "da", 2) == 0 ? 2 : 1;
    if (n > length && (length == 2 || strchr("yzafpnumcdhkMGTPEZY", word[0])) &&
        is_in_unit_list(units, word + length, n - length))
        return length;
    return SIZE_MAX;
}

static void append_unit_word(struct tt_text *text, const char *word, size_t n)
{
    static const char *const signs[][2] = {{"degC", "°C"}, {"degF", "°F"}, {"deg", "°"}, {"Ohm", "Ω"}, {"ohm", "Ω"}};
    size_t prefix = unit_prefix_length(word, n);
    if (prefix == SIZE_MAX) {
        tt_text_append_n(text, word, n);
        return;
    }
    if (prefix == 1 && word[0] == 'u')
        tt_text_append(text, "µ");
    else
        tt_text_append_n(text, word, prefix);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strlen(signs[i][0]) == n - prefix && memcmp(word + prefix, signs[i][0], n - prefix) == 0) {
            tt_text_append(text, signs[i][1]);
            return;
        }
    tt_text_append_n(text, word + prefix, n - prefix);
}

/* Parses the exponent after a unit: "2", "-1", "^2". Returns its length; its digits begin at *digits. */
static size_t unit_exponent_length(const char *at, const char **digits)
{
    const char *c = at + (*at == '^');
    *digits = c;
    c += *c == '-';
    size_t n = strspn(c, "0123456789");
    bool ends = !isalpha((unsigned char)c[n]) && (c[n] != '.' || isalpha((unsigned char)c[n + 1]));
    return n > 0 && n < 3 && ends ? (size_t)(c - at) + n : 0;
}

const char *tt_plot_axis_typeset_unit(struct tt_plot *plot, const char *unit)
{
    struct tt_text text = {0};
    bool factor = false; /* a unit or its exponent is before this place */
    for (const char *c = unit; *c;) {
        size_t n = 0;
        while (isalpha((unsigned char)c[n]))
            n++;
        if (n > 0) {
            const char *digits;
            size_t exponent = unit_prefix_length(c, n) != SIZE_MAX ? unit_exponent_length(c + n, &digits) : 0;
            append_unit_word(&text, c, n);
            c += n;
            if (exponent > 0)
                tt_plot_axis_append_superscript(&text, digits, (size_t)(c + exponent - digits));
            c += exponent;
            factor = true;
        } else if ((*c == '.' || *c == '*') && factor && (isalpha((unsigned char)c[1]) || c[1] == '(')) {
            tt_text_append(&text, "·");
            c++;
        } else {
            factor = *c == ')';
            tt_text_append_n(&text, c++, 1);
        }
    }
    const char *copy = text.failed ? NULL : tt_arena_copy_text(&plot->arena, text.text ? text.text : "", text.length);
    tt_text_fini(&text);
    return copy;
}
