/* SPDX-License-Identifier: MIT */
/* Units as people print them: files have "m/s2", "kg.m2" and "degC", a picture has m/s², kg·m² and °C. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "apps/plot/plot.h"

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

/* Bytes of the prefix after which a known unit follows; SIZE_MAX: the word is no unit, so that a number after it may belong to
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

/* Of what follows a unit: "2", "-1", "^2". Returns how many bytes are an exponent, whose digits begin at *digits. */
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
