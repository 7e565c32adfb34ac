/* SPDX-License-Identifier: MIT */
#include "fmu/description/unit_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KG, M, S, A, K, MOL, CD, RAD, BASES };

/* base = factor * value + offset. SI Brochure, 9th edition (BIPM 2019), tables 2, 4, 7, 8. */
struct unit_symbol {
    const char *name;
    double factor, offset;
    int8_t exponents[BASES];
    bool takes_prefix;
};

#define PI 3.14159265358979323846

static const struct unit_symbol symbols[] = {
    {"1", 1, 0, {0}, false},
    {"-", 1, 0, {0}, false},
    {"%", 0.01, 0, {0}, false},
    {"g", 1e-3, 0, {[KG] = 1}, true},
    {"t", 1e3, 0, {[KG] = 1}, false},
    {"m", 1, 0, {[M] = 1}, true},
    {"l", 1e-3, 0, {[M] = 3}, true},
    {"L", 1e-3, 0, {[M] = 3}, true},
    {"s", 1, 0, {[S] = 1}, true},
    {"min", 60, 0, {[S] = 1}, false},
    {"h", 3600, 0, {[S] = 1}, false},
    {"d", 86400, 0, {[S] = 1}, false},
    {"A", 1, 0, {[A] = 1}, true},
    {"Ah", 3600, 0, {[A] = 1, [S] = 1}, true},
    {"K", 1, 0, {[K] = 1}, true},
    {"degC", 1, 273.15, {[K] = 1}, false},
    {"\302\260C", 1, 273.15, {[K] = 1}, false},
    {"degF", 5.0 / 9, 459.67 * 5 / 9, {[K] = 1}, false},
    {"\302\260F", 5.0 / 9, 459.67 * 5 / 9, {[K] = 1}, false},
    {"mol", 1, 0, {[MOL] = 1}, true},
    {"cd", 1, 0, {[CD] = 1}, true},
    {"rad", 1, 0, {[RAD] = 1}, true},
    {"deg", PI / 180, 0, {[RAD] = 1}, false},
    {"\302\260", PI / 180, 0, {[RAD] = 1}, false},
    {"rev", 2 * PI, 0, {[RAD] = 1}, false},
    {"rpm", PI / 30, 0, {[RAD] = 1, [S] = -1}, false},
    {"Hz", 1, 0, {[S] = -1}, true},
    {"N", 1, 0, {[KG] = 1, [M] = 1, [S] = -2}, true},
    {"Pa", 1, 0, {[KG] = 1, [M] = -1, [S] = -2}, true},
    {"bar", 1e5, 0, {[KG] = 1, [M] = -1, [S] = -2}, true},
    {"J", 1, 0, {[KG] = 1, [M] = 2, [S] = -2}, true},
    {"Wh", 3600, 0, {[KG] = 1, [M] = 2, [S] = -2}, true},
    {"W", 1, 0, {[KG] = 1, [M] = 2, [S] = -3}, true},
    {"C", 1, 0, {[A] = 1, [S] = 1}, true},
    {"V", 1, 0, {[KG] = 1, [M] = 2, [S] = -3, [A] = -1}, true},
    {"F", 1, 0, {[KG] = -1, [M] = -2, [S] = 4, [A] = 2}, true},
    {"Ohm", 1, 0, {[KG] = 1, [M] = 2, [S] = -3, [A] = -2}, true},
    {"S", 1, 0, {[KG] = -1, [M] = -2, [S] = 3, [A] = 2}, true},
    {"Wb", 1, 0, {[KG] = 1, [M] = 2, [S] = -2, [A] = -1}, true},
    {"T", 1, 0, {[KG] = 1, [S] = -2, [A] = -1}, true},
    {"H", 1, 0, {[KG] = 1, [M] = 2, [S] = -2, [A] = -2}, true},
};

static const struct {
    const char *name;
    double factor;
} prefixes[] = {{"da", 1e1},        {"p", 1e-12}, {"n", 1e-9}, {"u", 1e-6}, {"\302\265", 1e-6},
                {"\316\274", 1e-6}, {"m", 1e-3},  {"c", 1e-2}, {"d", 1e-1}, {"h", 1e2},
                {"k", 1e3},         {"M", 1e6},   {"G", 1e9},  {"T", 1e12}};

static const struct unit_symbol *find_symbol(const char *name, size_t n, bool prefixed)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strlen(symbols[i].name) == n && memcmp(symbols[i].name, name, n) == 0 &&
            (!prefixed || symbols[i].takes_prefix))
            return &symbols[i];
    return NULL;
}

/* A symbol, or a prefix and a symbol that takes one: "min" is a minute, "mm" a thousandth of a metre. */
static const struct unit_symbol *find_prefixed_symbol(const char *name, size_t n, double *scale)
{
    const struct unit_symbol *symbol = find_symbol(name, n, false);
    *scale = 1;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !symbol; i++) {
        size_t length = strlen(prefixes[i].name);
        if (n > length && memcmp(name, prefixes[i].name, length) == 0) {
            *scale = prefixes[i].factor;
            symbol = find_symbol(name + length, n - length, true);
        }
    }
    return symbol;
}

/* "m2", "s-1", "s^-2": the symbol's length and the exponent. */
static bool split_exponent(const char *name, size_t n, size_t *symbol_length, int *exponent)
{
    size_t digits = n;
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    *symbol_length = n;
    *exponent = 1;
    if (digits == n || digits == 0) /* no digits, or only digits: "1" */
        return true;
    if (n - digits > 1)
        return false; /* no unit is raised to a power above 9 */
    *exponent = name[digits] - '0';
    if (name[digits - 1] == '-') {
        *exponent = -*exponent;
        digits--;
    }
    if (digits > 0 && name[digits - 1] == '^')
        digits--;
    *symbol_length = digits;
    return digits > 0;
}

bool tt_unit_name_read(const char *name, struct tt_unit_def *out)
{
    size_t terms = 0;
    double offset = 0;
    int sign = 1;
    *out = (struct tt_unit_def){.name = name, .defined = true, .has_base = true, .factor = 1};
    for (const char *at = name;;) {
        size_t n = strcspn(at, "./*"), length;
        int exponent;
        double scale;
        if (n == 0 || !split_exponent(at, n, &length, &exponent))
            return false;
        const struct unit_symbol *symbol = find_prefixed_symbol(at, length, &scale);
        if (!symbol)
            return false;
        out->factor *= pow(symbol->factor * scale, sign * exponent);
        for (int i = 0; i < BASES; i++)
            out->exponents[i] += sign * exponent * symbol->exponents[i];
        offset = exponent == 1 ? symbol->offset : 0;
        terms++;
        at += n;
        if (!*at)
            break;
        sign = *at++ == '/' ? -1 : 1;
    }
    out->offset = terms == 1 ? offset : 0; /* "J/degC" is per difference of temperature */
    return true;
}
