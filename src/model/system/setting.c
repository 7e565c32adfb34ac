/* SPDX-License-Identifier: MIT */
#include "model/system/setting.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "fmu/description/type.h"
#include "model/system/conversion.h"

/* "[2,3]" */
static bool setting_read_indices(const struct tt_var *var, const char *text, struct tt_indices *element)
{
    const char *c = text + 1;
    if (var->dimension_count == 0 || var->dimension_count > TUTTI_MOST_INDICES)
        return false;
    for (unsigned d = 0; d < var->dimension_count; d++) {
        size_t digits = strspn(c, "0123456789");
        char expected = d + 1 < var->dimension_count ? ',' : ']';
        if (!tt_number_read_uint(c, digits, &element->index[d]) || element->index[d] == 0 || c[digits] != expected)
            return false;
        c += digits + 1;
    }
    element->count = var->dimension_count;
    return *c == '\0';
}

bool tt_setting_look_up(const struct tt_description *desc, const char *name, uint32_t *variable,
                        struct tt_indices *element)
{
    element->count = 0;
    *variable = tt_description_find(desc, name);
    if (*variable != TUTTI_NONE)
        return true;

    /* The variable `x` of "x[2,3]"; `element` gets count 0 if the indices do not fit. */
    const char *bracket = strrchr(name, '[');
    *variable = bracket ? tt_description_find_n(desc, name, (size_t)(bracket - name)) : TUTTI_NONE;
    if (*variable != TUTTI_NONE && !setting_read_indices(&desc->vars[*variable], bracket, element))
        element->count = 0;
    return *variable != TUTTI_NONE && element->count > 0;
}

enum tutti_err tt_setting_find(const struct tt_description *desc, const char *name, const char *option,
                               uint32_t *variable, struct tt_indices *element)
{
    if (tt_setting_look_up(desc, name, variable, element))
        return TUTTI_OK;
    if (*variable == TUTTI_NONE) {
        const char *nearest = tt_description_nearest(desc, name);
        if (nearest)
            tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variable named '%s'; did you mean '%s'?", option, name,
                    nearest);
        else
            tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variable named '%s'; `tutti info --variables` lists all",
                    option, name);
        return tt_fail_about(TUTTI_ERR_ARGUMENT, NULL, name, NAN);
    }
    const struct tt_var *var = &desc->vars[*variable];
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is no element of '%s', which has %u dimension%s; indices start at 1",
                   option, name, var->name, var->dimension_count, var->dimension_count == 1 ? "" : "s");
}

static enum tutti_err setting_fail_value(const struct tt_var *var, const char *text, size_t n, const char *expected)
{
    tt_fail(TUTTI_ERR_ARGUMENT, "'%s' takes %s, not '%.*s'", var->name, expected, (int)(n < 80 ? n : 80), text);
    return tt_fail_about(TUTTI_ERR_ARGUMENT, NULL, var->name, NAN);
}

static enum tutti_err setting_check_bounds(const struct tt_var *var, double value, const char *text, size_t n)
{
    const struct tt_bounds *bounds = var->bounds;
    if (!bounds || (!(bounds->has_min && value < bounds->min) && !(bounds->has_max && value > bounds->max)))
        return TUTTI_OK;
    /* Bounds of integers are no 1e+09. */
    double min = bounds->has_min ? bounds->min : -INFINITY, max = bounds->has_max ? bounds->max : INFINITY;
    bool whole = tt_type_is_integer(var->type);
    char expected[768];
    if (whole)
        snprintf(expected, sizeof expected, "values from %.0f to %.0f", min, max);
    else
        snprintf(expected, sizeof expected, "values from %s to %s", NUMBER(min), NUMBER(max));
    return setting_fail_value(var, text, n, expected);
}

static enum tutti_err setting_read_float(const struct tt_var *var, const char *text, size_t n, void *value)
{
    double number;
    if (!tt_number_read_double(text, n, &number))
        return setting_fail_value(var, text, n, "a number");
    TRY(setting_check_bounds(var, number, text, n));
    if (var->type == TUTTI_TYPE_FLOAT64)
        *(double *)value = number;
    else if (fabs(number) > FLT_MAX && isfinite(number))
        return setting_fail_value(var, text, n, "a number that a Float32 can hold");
    else
        *(float *)value = (float)number;
    return TUTTI_OK;
}

static enum tutti_err setting_read_integer(const struct tt_var *var, const char *text, size_t n, void *value)
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
    bool small = tt_number_read_int(text, n, &number), large = tt_number_read_uint(text, n, &positive);
    bool fits = large ? positive <= ranges[var->type].max : small && number >= ranges[var->type].min;
    if (!fits) {
        char expected[96];
        snprintf(expected, sizeof expected, "whole numbers from %lld to %llu", (long long)ranges[var->type].min,
                 (unsigned long long)ranges[var->type].max);
        return setting_fail_value(var, text, n, expected);
    }
    TRY(setting_check_bounds(var, large ? (double)positive : (double)number, text, n));
    uint64_t bits = large ? positive : (uint64_t)number; /* two's complement: the low bytes are right for any width */
    memcpy(value, &bits, tt_type_size(var->type));
    return TUTTI_OK;
}

static bool setting_is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncasecmp(text, word, n) == 0;
}

static enum tutti_err setting_read_boolean(const struct tt_var *var, const char *text, size_t n, void *value)
{
    if (setting_is_word(text, n, "true") || setting_is_word(text, n, "1"))
        *(bool *)value = true;
    else if (setting_is_word(text, n, "false") || setting_is_word(text, n, "0"))
        *(bool *)value = false;
    else
        return setting_fail_value(var, text, n, "true, false, 1 or 0");
    return TUTTI_OK;
}

static enum tutti_err setting_read_enumeration(const struct tt_description *desc, const struct tt_var *var,
                                               const char *text, size_t n, void *value)
{
    const struct tt_type_def *def = var->type_def == TUTTI_NONE ? NULL : &desc->types[var->type_def];
    int64_t number = 0, named = 0;
    bool numeric = tt_number_read_int(text, n, &number);
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
    struct tt_text expected = {0};
    tt_text_append(&expected, def && def->item_count ? "one of " : "a whole number");
    for (uint32_t i = 0; def && i < def->item_count && i < 20; i++)
        tt_text_printf(&expected, "%s%s (%lld)", i ? ", " : "", def->items[i].name, (long long)def->items[i].value);
    enum tutti_err err = setting_fail_value(var, text, n, expected.text ? expected.text : "another value");
    tt_text_fini(&expected);
    return err;
}

static int setting_hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

static enum tutti_err setting_read_binary(struct tt_arena *arena, const struct tt_var *var, const char *text, size_t n,
                                          void *value)
{
    uint8_t *bytes = tt_arena_alloc(arena, n / 2 + 1);
    if (!bytes)
        return tt_fail_memory();
    for (size_t i = 0; i < n / 2; i++) {
        int high = setting_hex_digit(text[2 * i]), low = setting_hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return setting_fail_value(var, text, n, "pairs of hexadecimal digits");
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    if (n % 2)
        return setting_fail_value(var, text, n, "pairs of hexadecimal digits");
    *(struct tt_bytes *)value = (struct tt_bytes){n / 2, bytes};
    return TUTTI_OK;
}

static enum tutti_err setting_read_string(struct tt_arena *arena, const char *text, size_t n, void *value)
{
    const char *copy = tt_arena_copy_text(arena, text, n);
    *(const char **)value = copy;
    return copy ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_setting_read_value(struct tt_arena *arena, const struct tt_description *desc,
                                     const struct tt_var *var, const char *text, size_t n, void *value)
{
    switch ((enum tt_type)var->type) {
    case TUTTI_TYPE_FLOAT64:
    case TUTTI_TYPE_FLOAT32: return setting_read_float(var, text, n, value);
    case TUTTI_TYPE_BOOLEAN: return setting_read_boolean(var, text, n, value);
    case TUTTI_TYPE_ENUMERATION: return setting_read_enumeration(desc, var, text, n, value);
    case TUTTI_TYPE_STRING: return setting_read_string(arena, text, n, value);
    case TUTTI_TYPE_BINARY: return setting_read_binary(arena, var, text, n, value);
    case TUTTI_TYPE_CLOCK: return tt_fail(TUTTI_ERR_UNSUPPORTED, "'%s' is a clock; clocks cannot be set", var->name);
    default: return setting_read_integer(var, text, n, value);
    }
}

static double setting_as_double(const struct tt_var *var, const void *values, size_t i)
{
    switch ((enum tt_type)var->type) {
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

enum tutti_err tt_setting_check_bounds(const struct tt_var *var, const void *values, size_t count)
{
    if (!var->bounds || !(tt_type_is_float(var->type) || tt_type_is_integer(var->type)))
        return TUTTI_OK;
    for (size_t i = 0; i < count; i++) {
        struct tt_number_text shown = tt_number_show(setting_as_double(var, values, i));
        TRY(setting_check_bounds(var, setting_as_double(var, values, i), shown.text, strlen(shown.text)));
    }
    return TUTTI_OK;
}

/* Which variables a person may set: those with a start value that the FMU takes as given. */
enum tutti_err tt_setting_check_settable(const struct tt_var *var)
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
    tt_fail(TUTTI_ERR_ARGUMENT, "'%s' cannot be set: it is %s", var->name, why);
    return tt_fail_about(TUTTI_ERR_ARGUMENT, NULL, var->name, NAN);
}

static bool setting_is_separator(char c)
{
    return c == ' ' || c == ',' || c == '\t' || c == ';';
}

static enum tutti_err setting_read_list(struct tt_setting *out, struct tt_arena *arena,
                                        const struct tt_description *desc, const struct tt_var *var, const char *text)
{
    size_t size = tt_type_size(var->type), count = 0;
    unsigned char *values = tt_arena_array(arena, strlen(text) / 2 + 1, size);
    if (!values)
        return tt_fail_memory();
    while (*text) {
        while (setting_is_separator(*text))
            text++;
        size_t n = 0;
        while (text[n] && !setting_is_separator(text[n]))
            n++;
        if (n > 0)
            TRY(tt_setting_read_value(arena, desc, var, text, n, values + size * count++));
        text += n;
    }
    out->values = values;
    out->count = count;
    return TUTTI_OK;
}

enum tutti_err tt_setting_read_text(struct tt_setting *out, struct tt_arena *arena, const struct tt_description *desc,
                                    const char *text)
{
    const struct tt_var *var = &desc->vars[out->variable];
    TRY(tt_setting_check_settable(var));
    bool list = var->dimension_count > 0 && out->element.count == 0 && var->type != TUTTI_TYPE_STRING;
    if (list)
        return setting_read_list(out, arena, desc, var, text);
    void *values = tt_arena_alloc(arena, tt_type_size(var->type));
    if (!values)
        return tt_fail_memory();
    out->values = values;
    out->count = 1;
    TRY(tt_setting_read_value(arena, desc, var, text, strlen(text), values));
    if (var->negated)
        tt_type_negate(var->type, values);
    return TUTTI_OK;
}

enum tutti_err tt_setting_read(struct tt_setting *out, struct tt_arena *arena, const struct tt_description *desc,
                               const char *unit, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--set takes NAME=VALUE, not '%s'", text);
    char *name = tt_text_copy(text);
    if (!name)
        return tt_fail_memory();
    name[equals - text] = '\0';
    size_t n = unit ? strlen(unit) : 0;
    bool prefixed = unit && strncmp(name, unit, n) == 0 && name[n] == '.' &&
                    tt_description_find(desc, name) == TUTTI_NONE;
    enum tutti_err err = tt_setting_find(desc, prefixed ? name + n + 1 : name, "--set", &out->variable, &out->element);
    if (!err)
        err = tt_fail_context(tt_setting_read_text(out, arena, desc, equals + 1), "--set %s", name);
    free(name);
    return err;
}

int tt_setting_compare_indices(const struct tt_indices *a, const struct tt_indices *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    for (unsigned i = 0; i < a->count && i < b->count; i++)
        if (a->index[i] != b->index[i])
            return a->index[i] < b->index[i] ? -1 : 1;
    return a->count < b->count ? -1 : a->count > b->count;
}

/* ---- as text ---- */

static void setting_write_float(struct tt_text *out, double value, bool narrow)
{
    char text[TUTTI_NUMBER_MAX];
    if (isnan(value))
        tt_text_append(out, "NaN");
    else if (isinf(value))
        tt_text_append(out, value > 0 ? "INF" : "-INF");
    else
        tt_text_append_n(out, text,
                         narrow ? tt_number_write_float(text, (float)value) : tt_number_write_double(text, value));
}

static void setting_write_item(struct tt_text *out, const struct tt_description *desc, const struct tt_var *var,
                               int64_t value)
{
    const struct tt_type_def *def = var->type_def == TUTTI_NONE ? NULL : &desc->types[var->type_def];
    for (uint32_t i = 0; def && i < def->item_count; i++)
        if (def->items[i].value == value) {
            tt_text_append(out, def->items[i].name);
            return;
        }
    tt_text_printf(out, "%lld", (long long)value);
}

void tt_setting_write(struct tt_text *out, const struct tt_description *desc, const struct tt_var *var,
                      const void *value)
{
    const struct tt_bytes *bytes = value;
    switch ((enum tt_type)var->type) {
    case TUTTI_TYPE_FLOAT64: setting_write_float(out, *(const double *)value, false); break;
    case TUTTI_TYPE_FLOAT32: setting_write_float(out, (double)*(const float *)value, true); break;
    case TUTTI_TYPE_INT8: tt_text_printf(out, "%d", *(const int8_t *)value); break;
    case TUTTI_TYPE_UINT8: tt_text_printf(out, "%u", *(const uint8_t *)value); break;
    case TUTTI_TYPE_INT16: tt_text_printf(out, "%d", *(const int16_t *)value); break;
    case TUTTI_TYPE_UINT16: tt_text_printf(out, "%u", *(const uint16_t *)value); break;
    case TUTTI_TYPE_INT32: tt_text_printf(out, "%d", *(const int32_t *)value); break;
    case TUTTI_TYPE_UINT32: tt_text_printf(out, "%u", *(const uint32_t *)value); break;
    case TUTTI_TYPE_INT64: tt_text_printf(out, "%lld", (long long)*(const int64_t *)value); break;
    case TUTTI_TYPE_UINT64: tt_text_printf(out, "%llu", (unsigned long long)*(const uint64_t *)value); break;
    case TUTTI_TYPE_BOOLEAN:
    case TUTTI_TYPE_CLOCK: tt_text_append(out, *(const bool *)value ? "true" : "false"); break;
    case TUTTI_TYPE_STRING: tt_text_append(out, *(const char *const *)value); break;
    case TUTTI_TYPE_ENUMERATION: setting_write_item(out, desc, var, *(const int64_t *)value); break;
    case TUTTI_TYPE_BINARY:
        for (size_t i = 0; i < bytes->size; i++)
            tt_text_printf(out, "%02x", bytes->data[i]);
        break;
    }
}

static bool setting_is_item(const struct tt_description *desc, const struct tt_var *var, double value)
{
    const struct tt_type_def *def = var->type_def == TUTTI_NONE ? NULL : &desc->types[var->type_def];
    bool found = !def || def->item_count == 0;
    for (uint32_t i = 0; !found && i < def->item_count; i++)
        found = (double)def->items[i].value == value;
    return found;
}

static void setting_store_value(enum tt_type type, double value, void *to)
{
    switch (type) {
#define STORE(name, ctype)                                                                                             \
    case TUTTI_TYPE_##name: *(ctype *)to = (ctype)value; break
        STORE(FLOAT64, double);
        STORE(FLOAT32, float);
        STORE(INT8, int8_t);
        STORE(UINT8, uint8_t);
        STORE(INT16, int16_t);
        STORE(UINT16, uint16_t);
        STORE(INT32, int32_t);
        STORE(UINT32, uint32_t);
        STORE(INT64, int64_t);
        STORE(UINT64, uint64_t);
        STORE(ENUMERATION, int64_t);
        STORE(BOOLEAN, bool);
#undef STORE
    default: break;
    }
}

enum tutti_err tt_setting_check_number(const struct tt_description *desc, const struct tt_var *var, const char *name,
                                       double value)
{
    enum tt_type type = (enum tt_type)var->type;
    tt_wide room; /* as large as the largest */
    bool whole = value == floor(value) && fabs(value) < 0x1p64, fits;
    if (type == TUTTI_TYPE_FLOAT64)
        fits = true;
    else if (type == TUTTI_TYPE_FLOAT32)
        fits = !(fabs(value) > FLT_MAX) || isinf(value);
    else
        fits = whole && tt_conversion_fits(type, (tt_wide)value) &&
               (type != TUTTI_TYPE_ENUMERATION || setting_is_item(desc, var, value));
    if (!fits)
        return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is %s: it cannot be %s", name, tt_type_name(type), NUMBER(value));
    setting_store_value(type, value, &room);
    return tt_setting_check_bounds(var, &room, 1);
}

void tt_setting_store_number(const struct tt_var *var, double value, void *to)
{
    setting_store_value((enum tt_type)var->type, value, to);
    if (var->negated)
        tt_type_negate((enum tt_type)var->type, to);
}
