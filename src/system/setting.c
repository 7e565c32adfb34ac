/* SPDX-License-Identifier: MIT */
#include "system/setting.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* "[2,3]" */
static bool read_indices(const struct tutti_var *var, const char *text, struct tutti_indices *element)
{
    const char *c = text + 1;
    if (var->dimension_count == 0 || var->dimension_count > TUTTI_MOST_INDICES)
        return false;
    for (unsigned d = 0; d < var->dimension_count; d++) {
        size_t digits = strspn(c, "0123456789");
        char expected = d + 1 < var->dimension_count ? ',' : ']';
        if (!tutti_number_read_uint(c, digits, &element->index[d]) || element->index[d] == 0 || c[digits] != expected)
            return false;
        c += digits + 1;
    }
    element->count = var->dimension_count;
    return *c == '\0';
}

static enum tutti_err unknown_name(const struct tutti_desc *desc, const char *option, const char *name)
{
    const char *nearest = tutti_desc_nearest(desc, name);
    if (nearest)
        tutti_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variable named '%s'; did you mean '%s'?", option, name,
                   nearest);
    else
        tutti_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variable named '%s'; `tutti info --variables` lists all",
                   option, name);
    return tutti_fail_about(TUTTI_ERR_ARGUMENT, NULL, name, NAN);
}

/* The variable `x` of "x[2,3]", TUTTI_NONE if there is none; `element` gets count 0 if the indices do not fit. */
static uint32_t find_base(const struct tutti_desc *desc, const char *name, struct tutti_indices *element)
{
    const char *bracket = strrchr(name, '[');
    uint32_t variable = bracket ? tutti_desc_find_n(desc, name, (size_t)(bracket - name)) : TUTTI_NONE;
    if (variable != TUTTI_NONE && !read_indices(&desc->vars[variable], bracket, element))
        element->count = 0;
    return variable;
}

bool tutti_setting_look_up(const struct tutti_desc *desc, const char *name, uint32_t *variable,
                           struct tutti_indices *element)
{
    element->count = 0;
    *variable = tutti_desc_find(desc, name);
    if (*variable != TUTTI_NONE)
        return true;
    *variable = find_base(desc, name, element);
    return *variable != TUTTI_NONE && element->count > 0;
}

enum tutti_err tutti_setting_find(const struct tutti_desc *desc, const char *name, const char *option,
                                  uint32_t *variable, struct tutti_indices *element)
{
    if (tutti_setting_look_up(desc, name, variable, element))
        return TUTTI_OK;
    if (*variable == TUTTI_NONE)
        return unknown_name(desc, option, name);
    const struct tutti_var *var = &desc->vars[*variable];
    return tutti_fail(TUTTI_ERR_ARGUMENT,
                      "%s: '%s' is no element of '%s', which has %u dimension%s; indices start at 1", option, name,
                      var->name, var->dimension_count, var->dimension_count == 1 ? "" : "s");
}

static enum tutti_err bad_value(const struct tutti_var *var, const char *text, size_t n, const char *expected)
{
    tutti_fail(TUTTI_ERR_ARGUMENT, "'%s' takes %s, not '%.*s'", var->name, expected, (int)(n < 80 ? n : 80), text);
    return tutti_fail_about(TUTTI_ERR_ARGUMENT, NULL, var->name, NAN);
}

static enum tutti_err check_bounds(const struct tutti_var *var, double value, const char *text, size_t n)
{
    const struct tutti_bounds *bounds = var->bounds;
    if (!bounds || (!(bounds->has_min && value < bounds->min) && !(bounds->has_max && value > bounds->max)))
        return TUTTI_OK;
    /* Bounds of integers are no 1e+09. */
    double min = bounds->has_min ? bounds->min : -INFINITY, max = bounds->has_max ? bounds->max : INFINITY;
    bool whole = tutti_type_is_integer(var->type);
    char expected[768];
    if (whole)
        snprintf(expected, sizeof expected, "values from %.0f to %.0f", min, max);
    else
        snprintf(expected, sizeof expected, "values from %s to %s", NUMBER(min), NUMBER(max));
    return bad_value(var, text, n, expected);
}

static enum tutti_err read_float(const struct tutti_var *var, const char *text, size_t n, void *value)
{
    double number;
    if (!tutti_number_read_double(text, n, &number))
        return bad_value(var, text, n, "a number");
    TRY(check_bounds(var, number, text, n));
    if (var->type == TUTTI_TYPE_FLOAT64)
        *(double *)value = number;
    else if (fabs(number) > FLT_MAX && isfinite(number))
        return bad_value(var, text, n, "a number that a Float32 can hold");
    else
        *(float *)value = (float)number;
    return TUTTI_OK;
}

static enum tutti_err read_integer(const struct tutti_var *var, const char *text, size_t n, void *value)
{
    static const struct {
        int64_t min;
        uint64_t max;
    } ranges[] = {
        [TUTTI_TYPE_INT8] = {INT8_MIN, INT8_MAX},    [TUTTI_TYPE_UINT8] = {0, UINT8_MAX},
        [TUTTI_TYPE_INT16] = {INT16_MIN, INT16_MAX}, [TUTTI_TYPE_UINT16] = {0, UINT16_MAX},
        [TUTTI_TYPE_INT32] = {INT32_MIN, INT32_MAX}, [TUTTI_TYPE_UINT32] = {0, UINT32_MAX},
        [TUTTI_TYPE_INT64] = {INT64_MIN, INT64_MAX}, [TUTTI_TYPE_UINT64] = {0, UINT64_MAX},
    };
    int64_t number = 0;
    uint64_t positive = 0;
    bool small = tutti_number_read_int(text, n, &number), large = tutti_number_read_uint(text, n, &positive);
    bool fits = large ? positive <= ranges[var->type].max : small && number >= ranges[var->type].min;
    if (!fits) {
        char expected[96];
        snprintf(expected, sizeof expected, "whole numbers from %lld to %llu", (long long)ranges[var->type].min,
                 (unsigned long long)ranges[var->type].max);
        return bad_value(var, text, n, expected);
    }
    TRY(check_bounds(var, large ? (double)positive : (double)number, text, n));
    uint64_t bits = large ? positive : (uint64_t)number; /* two's complement: the low bytes are right for any width */
    memcpy(value, &bits, tutti_type_size(var->type));
    return TUTTI_OK;
}

static bool is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncasecmp(text, word, n) == 0;
}

static enum tutti_err read_boolean(const struct tutti_var *var, const char *text, size_t n, void *value)
{
    if (is_word(text, n, "true") || is_word(text, n, "1"))
        *(bool *)value = true;
    else if (is_word(text, n, "false") || is_word(text, n, "0"))
        *(bool *)value = false;
    else
        return bad_value(var, text, n, "true, false, 1 or 0");
    return TUTTI_OK;
}

static enum tutti_err read_enumeration(const struct tutti_desc *desc, const struct tutti_var *var, const char *text,
                                       size_t n, void *value)
{
    const struct tutti_type_def *def = var->type_def == TUTTI_NONE ? NULL : &desc->types[var->type_def];
    int64_t number = 0, named = 0;
    bool numeric = tutti_number_read_int(text, n, &number);
    bool known = numeric && (!def || def->item_count == 0), is_name = false;
    for (uint32_t i = 0; def && i < def->item_count && !is_name; i++) {
        is_name = strlen(def->items[i].name) == n && memcmp(def->items[i].name, text, n) == 0;
        named = def->items[i].value;
        known |= is_name || (numeric && named == number);
    }
    /* An item may have a number for its name. */
    if (is_name)
        number = named;
    if (known) {
        *(int64_t *)value = number;
        return TUTTI_OK;
    }
    struct tutti_text expected = {0};
    tutti_text_append(&expected, def && def->item_count ? "one of " : "a whole number");
    for (uint32_t i = 0; def && i < def->item_count && i < 20; i++)
        tutti_text_printf(&expected, "%s%s (%lld)", i ? ", " : "", def->items[i].name, (long long)def->items[i].value);
    enum tutti_err err = bad_value(var, text, n, expected.text ? expected.text : "another value");
    tutti_text_fini(&expected);
    return err;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

static enum tutti_err read_binary(struct tutti_arena *arena, const struct tutti_var *var, const char *text, size_t n,
                                  void *value)
{
    uint8_t *bytes = tutti_arena_alloc(arena, n / 2 + 1);
    if (!bytes)
        return tutti_fail_memory();
    for (size_t i = 0; i < n / 2; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return bad_value(var, text, n, "pairs of hexadecimal digits");
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    if (n % 2)
        return bad_value(var, text, n, "pairs of hexadecimal digits");
    *(struct tutti_bytes *)value = (struct tutti_bytes){n / 2, bytes};
    return TUTTI_OK;
}

static enum tutti_err read_string(struct tutti_arena *arena, const char *text, size_t n, void *value)
{
    const char *copy = tutti_arena_text(arena, text, n);
    *(const char **)value = copy;
    return copy ? TUTTI_OK : tutti_fail_memory();
}

enum tutti_err tutti_setting_read_value(struct tutti_arena *arena, const struct tutti_desc *desc,
                                        const struct tutti_var *var, const char *text, size_t n, void *value)
{
    switch ((enum tutti_type)var->type) {
    case TUTTI_TYPE_FLOAT64:
    case TUTTI_TYPE_FLOAT32: return read_float(var, text, n, value);
    case TUTTI_TYPE_BOOLEAN: return read_boolean(var, text, n, value);
    case TUTTI_TYPE_ENUMERATION: return read_enumeration(desc, var, text, n, value);
    case TUTTI_TYPE_STRING: return read_string(arena, text, n, value);
    case TUTTI_TYPE_BINARY: return read_binary(arena, var, text, n, value);
    case TUTTI_TYPE_CLOCK: return tutti_fail(TUTTI_ERR_UNSUPPORTED, "'%s' is a clock; clocks cannot be set", var->name);
    default: return read_integer(var, text, n, value);
    }
}

static double as_double(const struct tutti_var *var, const void *values, size_t i)
{
    switch ((enum tutti_type)var->type) {
#define X(name, ctype)                                                                                                 \
    case TUTTI_TYPE_##name: return (double)((const ctype *)values)[i];
        X(FLOAT64, double)
        X(FLOAT32, float)
        X(INT8, int8_t)
        X(UINT8, uint8_t)
        X(INT16, int16_t)
        X(UINT16, uint16_t)
        X(INT32, int32_t)
        X(UINT32, uint32_t)
        X(INT64, int64_t)
        X(UINT64, uint64_t)
#undef X
    default: return 0;
    }
}

enum tutti_err tutti_setting_check_bounds(const struct tutti_var *var, const void *values, size_t count)
{
    if (!var->bounds || !(tutti_type_is_float(var->type) || tutti_type_is_integer(var->type)))
        return TUTTI_OK;
    for (size_t i = 0; i < count; i++) {
        struct tutti_number_text shown = tutti_number_show(as_double(var, values, i));
        TRY(check_bounds(var, as_double(var, values, i), shown.text, strlen(shown.text)));
    }
    return TUTTI_OK;
}

/* Which variables a person may set: those with a start value that the FMU takes as given. */
enum tutti_err tutti_setting_check_settable(const struct tutti_var *var)
{
    const char *why = NULL;
    if (var->variability == TUTTI_CONSTANT)
        why = "a constant";
    else if (var->causality == TUTTI_INDEPENDENT)
        why = "the independent variable (use --start)";
    else if (var->causality == TUTTI_CALCULATED_PARAMETER)
        why = "a calculated parameter: it follows from the others";
    else if (var->causality != TUTTI_INPUT && var->initial == TUTTI_CALCULATED)
        why = "calculated by the FMU";
    if (!why)
        return TUTTI_OK;
    tutti_fail(TUTTI_ERR_ARGUMENT, "'%s' cannot be set: it is %s", var->name, why);
    return tutti_fail_about(TUTTI_ERR_ARGUMENT, NULL, var->name, NAN);
}

static bool is_separator(char c)
{
    return c == ' ' || c == ',' || c == '\t' || c == ';';
}

static enum tutti_err read_list(struct tutti_setting *out, struct tutti_arena *arena, const struct tutti_desc *desc,
                                const struct tutti_var *var, const char *text)
{
    size_t size = tutti_type_size(var->type), count = 0;
    unsigned char *values = tutti_arena_array(arena, strlen(text) / 2 + 1, size);
    if (!values)
        return tutti_fail_memory();
    while (*text) {
        while (is_separator(*text))
            text++;
        size_t n = 0;
        while (text[n] && !is_separator(text[n]))
            n++;
        if (n > 0)
            TRY(tutti_setting_read_value(arena, desc, var, text, n, values + size * count++));
        text += n;
    }
    out->values = values;
    out->count = count;
    return TUTTI_OK;
}

enum tutti_err tutti_setting_read_text(struct tutti_setting *out, struct tutti_arena *arena,
                                       const struct tutti_desc *desc, const char *text)
{
    const struct tutti_var *var = &desc->vars[out->variable];
    TRY(tutti_setting_check_settable(var));
    bool list = var->dimension_count > 0 && out->element.count == 0 && var->type != TUTTI_TYPE_STRING;
    if (list)
        return read_list(out, arena, desc, var, text);
    void *values = tutti_arena_alloc(arena, tutti_type_size(var->type));
    if (!values)
        return tutti_fail_memory();
    out->values = values;
    out->count = 1;
    TRY(tutti_setting_read_value(arena, desc, var, text, strlen(text), values));
    if (var->negated)
        tutti_type_negate(var->type, values);
    return TUTTI_OK;
}

static enum tutti_err read_setting(struct tutti_setting *out, struct tutti_arena *arena, const struct tutti_desc *desc,
                                   const char *name, const char *told, const char *value)
{
    TRY(tutti_setting_find(desc, name, "--set", &out->variable, &out->element));
    return tutti_fail_context(tutti_setting_read_text(out, arena, desc, value), "--set %s", told);
}

enum tutti_err tutti_setting_read(struct tutti_setting *out, struct tutti_arena *arena, const struct tutti_desc *desc,
                                  const char *unit, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--set takes NAME=VALUE, not '%s'", text);
    char *name = tutti_str_copy(text);
    if (!name)
        return tutti_fail_memory();
    name[equals - text] = '\0';
    size_t n = unit ? strlen(unit) : 0;
    bool prefixed = unit && strncmp(name, unit, n) == 0 && name[n] == '.' && tutti_desc_find(desc, name) == TUTTI_NONE;
    enum tutti_err err = read_setting(out, arena, desc, prefixed ? name + n + 1 : name, name, equals + 1);
    free(name);
    return err;
}

int tutti_indices_compare(const struct tutti_indices *a, const struct tutti_indices *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    for (unsigned i = 0; i < a->count && i < b->count; i++)
        if (a->index[i] != b->index[i])
            return a->index[i] < b->index[i] ? -1 : 1;
    return a->count < b->count ? -1 : a->count > b->count;
}

/* ---- as text ---- */

static void show_float(struct tutti_text *out, double value, bool narrow)
{
    char text[TUTTI_NUMBER_MAX];
    if (isnan(value))
        tutti_text_append(out, "NaN");
    else if (isinf(value))
        tutti_text_append(out, value > 0 ? "INF" : "-INF");
    else
        tutti_text_append_n(
            out, text, narrow ? tutti_number_write_float(text, (float)value) : tutti_number_write_double(text, value));
}

static void show_item(struct tutti_text *out, const struct tutti_desc *desc, const struct tutti_var *var, int64_t value)
{
    const struct tutti_type_def *def = var->type_def == TUTTI_NONE ? NULL : &desc->types[var->type_def];
    for (uint32_t i = 0; def && i < def->item_count; i++)
        if (def->items[i].value == value) {
            tutti_text_append(out, def->items[i].name);
            return;
        }
    tutti_text_printf(out, "%lld", (long long)value);
}

void tutti_setting_show(struct tutti_text *out, const struct tutti_desc *desc, const struct tutti_var *var,
                        const void *value)
{
    const struct tutti_bytes *bytes = value;
    switch ((enum tutti_type)var->type) {
    case TUTTI_TYPE_FLOAT64: show_float(out, *(const double *)value, false); break;
    case TUTTI_TYPE_FLOAT32: show_float(out, (double)*(const float *)value, true); break;
    case TUTTI_TYPE_INT8: tutti_text_printf(out, "%d", *(const int8_t *)value); break;
    case TUTTI_TYPE_UINT8: tutti_text_printf(out, "%u", *(const uint8_t *)value); break;
    case TUTTI_TYPE_INT16: tutti_text_printf(out, "%d", *(const int16_t *)value); break;
    case TUTTI_TYPE_UINT16: tutti_text_printf(out, "%u", *(const uint16_t *)value); break;
    case TUTTI_TYPE_INT32: tutti_text_printf(out, "%d", *(const int32_t *)value); break;
    case TUTTI_TYPE_UINT32: tutti_text_printf(out, "%u", *(const uint32_t *)value); break;
    case TUTTI_TYPE_INT64: tutti_text_printf(out, "%lld", (long long)*(const int64_t *)value); break;
    case TUTTI_TYPE_UINT64: tutti_text_printf(out, "%llu", (unsigned long long)*(const uint64_t *)value); break;
    case TUTTI_TYPE_BOOLEAN:
    case TUTTI_TYPE_CLOCK: tutti_text_append(out, *(const bool *)value ? "true" : "false"); break;
    case TUTTI_TYPE_STRING: tutti_text_append(out, *(const char *const *)value); break;
    case TUTTI_TYPE_ENUMERATION: show_item(out, desc, var, *(const int64_t *)value); break;
    case TUTTI_TYPE_BINARY:
        for (size_t i = 0; i < bytes->size; i++)
            tutti_text_printf(out, "%02x", bytes->data[i]);
        break;
    }
}
