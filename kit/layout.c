/* SPDX-License-Identifier: MIT */
/* layout.c - facts about the model's tables, for the FMU and for the program that writes its description. */
#define _GNU_SOURCE /* strtod_l */
#include "core.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

size_t kit_type_size(enum kit_type type)
{
    static const size_t sizes[] = {
        [KIT_FLOAT64] = sizeof(double),
        [KIT_FLOAT32] = sizeof(float),
        [KIT_INT8] = sizeof(int8_t),
        [KIT_UINT8] = sizeof(uint8_t),
        [KIT_INT16] = sizeof(int16_t),
        [KIT_UINT16] = sizeof(uint16_t),
        [KIT_INT32] = sizeof(int32_t),
        [KIT_UINT32] = sizeof(uint32_t),
        [KIT_INT64] = sizeof(int64_t),
        [KIT_UINT64] = sizeof(uint64_t),
        [KIT_BOOLEAN] = sizeof(bool),
        [KIT_STRING] = sizeof(char *),
        [KIT_BINARY] = sizeof(struct kit_binary),
        [KIT_ENUMERATION] = sizeof(int64_t),
        [KIT_CLOCK] = sizeof(struct kit_clock),
    };
    return sizes[type];
}

const char *kit_var_name(const struct kit_var *var)
{
    return var->name ? var->name : var->field;
}

enum kit_type kit_var_type(const struct kit_var *var)
{
    return var->enumeration ? KIT_ENUMERATION : var->type;
}

enum kit_variability kit_var_variability(const struct kit_var *var)
{
    if (var->variability != KIT_BY_DEFAULT)
        return var->variability;
    if (var->causality == KIT_PARAMETER || var->causality == KIT_CALCULATED || var->causality == KIT_STRUCTURAL)
        return KIT_FIXED;
    bool continuous = (var->type == KIT_FLOAT64 || var->type == KIT_FLOAT32) && !var->clocks;
    return continuous ? KIT_CONTINUOUS : KIT_DISCRETE;
}

enum kit_initial kit_var_initial(const struct kit_var *var)
{
    if (var->initial != KIT_INITIAL_DEFAULT)
        return var->initial;
    return var->start ? KIT_EXACT : KIT_INITIAL_CALCULATED;
}

size_t kit_var_find(const struct kit_model *model, const char *name, size_t length)
{
    if (length == 4 && memcmp(name, "time", 4) == 0)
        return 0;
    for (size_t i = 0; i < model->variable_count; i++) {
        const char *other = kit_var_name(&model->variables[i]);
        if (strlen(other) == length && memcmp(other, name, length) == 0)
            return i + 1;
    }
    return SIZE_MAX;
}

bool kit_var_is_derivative(const struct kit_model *model, const struct kit_var *var, size_t *state)
{
    for (size_t i = 0; i < model->variable_count; i++) {
        const char *derivative = model->variables[i].derivative;
        if (derivative && strcmp(derivative, kit_var_name(var)) == 0) {
            *state = i + 1;
            return true;
        }
    }
    return false;
}

static const struct kit_enumeration *find_enumeration(const struct kit_model *model, const char *name)
{
    for (size_t i = 0; i < model->enumeration_count; i++)
        if (strcmp(model->enumerations[i].name, name) == 0)
            return &model->enumerations[i];
    return NULL;
}

/* FMI 1.0 numbers the items by their place, FMI 2.0 gives them 32 bits. */
static bool items_fit(const struct kit_enumeration *enumeration, int version)
{
    for (size_t i = 0; i < KIT_COUNT(enumeration->items) && enumeration->items[i].name; i++) {
        int64_t value = enumeration->items[i].value;
        if ((version == 1 && value != (int64_t)i + 1) || value < INT32_MIN || value > INT32_MAX)
            return false;
    }
    return true;
}

bool kit_var_exists_in(const struct kit_model *model, const struct kit_var *var, int version)
{
    if (version >= 3)
        return true;
    if (var->dims || var->causality == KIT_STRUCTURAL || var->clocks)
        return false;
    switch (kit_var_type(var)) {
    case KIT_FLOAT64:
    case KIT_INT32:
    case KIT_BOOLEAN:
    case KIT_STRING: return true;
    case KIT_ENUMERATION: {
        const struct kit_enumeration *enumeration = find_enumeration(model, var->enumeration);
        return enumeration && items_fit(enumeration, version);
    }
    default: return false;
    }
}

bool kit_next_word(const char **text, const char **word, size_t *length)
{
    const char *p = *text;
    while (isspace((unsigned char)*p))
        p++;
    *word = p;
    while (*p && !isspace((unsigned char)*p))
        p++;
    *length = (size_t)(p - *word);
    *text = p;
    return *length > 0;
}

/* More than any model needs, and few enough for sizes in bytes not to overflow. */
#define MOST_ELEMENTS (UINT64_C(1) << 31)

size_t kit_var_count(const struct kit_model *model, const struct kit_var *var, const void *self)
{
    if (!var->dims)
        return 1;
    size_t count = 1;
    const char *rest = var->dims;
    const char *word;
    size_t length;
    while (kit_next_word(&rest, &word, &length)) {
        unsigned long long extent;
        if (isdigit((unsigned char)*word)) {
            extent = strtoull(word, NULL, 10);
        } else {
            size_t vr = kit_var_find(model, word, length);
            if (vr == 0 || vr == SIZE_MAX)
                return SIZE_MAX;
            const struct kit_var *parameter = &model->variables[vr - 1];
            if (self)
                extent = *(const uint64_t *)(const void *)((const char *)self + parameter->offset);
            else
                extent = parameter->start ? strtoull(parameter->start, NULL, 10) : 0;
        }
        if (extent > MOST_ELEMENTS || (extent > 0 && count > MOST_ELEMENTS / extent))
            return SIZE_MAX;
        count *= (size_t)extent;
    }
    return count;
}

/* Numbers in tables have a decimal point whatever locale the importer runs in. */
static double parse_float(const char *text, char **end, bool single)
{
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = single ? (double)strtof_l(text, end, locale) : strtod_l(text, end, locale);
    freelocale(locale);
    return value;
}

bool kit_parse_double(const char *text, double *value)
{
    char *end;
    *value = parse_float(text, &end, false);
    while (isspace((unsigned char)*end))
        end++;
    return end != text && *end == '\0';
}

static bool parse_whole(const char *text, size_t length, uint64_t *value)
{
    char digits[32], *end;
    if (length == 0 || length >= sizeof digits || !isdigit((unsigned char)*text))
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    errno = 0;
    *value = strtoull(digits, &end, 10);
    return errno == 0 && *end == '\0';
}

bool kit_parse_fraction(const char *text, double *value, uint64_t *counter, uint64_t *resolution)
{
    const char *slash = strchr(text, '/');
    *counter = *resolution = 0;
    if (!slash)
        return kit_parse_double(text, value);
    if (!parse_whole(text, (size_t)(slash - text), counter) || !parse_whole(slash + 1, strlen(slash + 1), resolution) ||
        *resolution == 0)
        return false;
    *value = (double)*counter / (double)*resolution;
    return true;
}

bool kit_has_fraction(const struct kit_var *var)
{
    return (!var->period || strchr(var->period, '/')) && (!var->shift || strchr(var->shift, '/'));
}

bool kit_has_clocks(const struct kit_model *model)
{
    for (size_t i = 0; i < model->variable_count; i++)
        if (model->variables[i].type == KIT_CLOCK)
            return true;
    return false;
}

static bool start_clock(const struct kit_var *var, struct kit_clock *clock)
{
    *clock = (struct kit_clock){.shift_resolution = 1};
    return (!var->period || kit_parse_fraction(var->period, &clock->interval, &clock->counter, &clock->resolution)) &&
           (!var->shift ||
            kit_parse_fraction(var->shift, &clock->shift, &clock->shift_counter, &clock->shift_resolution));
}

#define STORE(c_type, number) (*(c_type *)data = (c_type)(number), *(c_type *)data == (number))

static bool parse_number(enum kit_type type, const char *word, void *data)
{
    char *end = NULL;
    bool is_float = type == KIT_FLOAT64 || type == KIT_FLOAT32;
    if (type == KIT_BOOLEAN) {
        *(bool *)data = strcmp(word, "true") == 0 || strcmp(word, "1") == 0;
        return *(bool *)data || strcmp(word, "false") == 0 || strcmp(word, "0") == 0;
    }
    errno = 0;
    double real = is_float ? parse_float(word, &end, type == KIT_FLOAT32) : 0;
    long long whole = is_float ? 0 : strtoll(word, &end, 10);
    if (type == KIT_UINT64) {
        errno = 0;
        *(uint64_t *)data = strtoull(word, &end, 10);
    }
    if (!end || end == word || *end != '\0' || (errno != 0 && !is_float))
        return false;
    switch (type) {
    case KIT_FLOAT64: *(double *)data = real; return true;
    case KIT_FLOAT32: *(float *)data = (float)real; return true;
    case KIT_INT8: return STORE(int8_t, whole);
    case KIT_UINT8: return STORE(uint8_t, whole);
    case KIT_INT16: return STORE(int16_t, whole);
    case KIT_UINT16: return STORE(uint16_t, whole);
    case KIT_INT32: return STORE(int32_t, whole);
    case KIT_UINT32: return STORE(uint32_t, whole);
    case KIT_INT64:
    case KIT_ENUMERATION: return STORE(int64_t, whole);
    case KIT_UINT64: return *word != '-';
    default: return false;
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_binary(const char *word, size_t length, struct kit_binary *data)
{
    if (length % 2 != 0 || !(data->data = malloc(length / 2 + 1)))
        return false;
    data->size = length / 2;
    for (size_t i = 0; i < data->size; i++) {
        int high = hex_digit(word[2 * i]), low = hex_digit(word[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        data->data[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

/* Strings are the lines of the text; a String that is not given is empty, not NULL. */
static bool start_strings(const char *text, char **data, size_t count)
{
    const char *first = text ? text : "";
    bool single = !strchr(first, '\n');
    const char *rest = first;
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(rest, "\n");
        if (!(data[i] = strndup(rest, length)))
            return false;
        if (!single)
            rest += length + (rest[length] == '\n' ? 1 : 0);
    }
    return true;
}

bool kit_var_start(const struct kit_var *var, void *data, size_t count)
{
    enum kit_type type = kit_var_type(var);
    if (type == KIT_STRING)
        return start_strings(var->start, data, count);
    if (type == KIT_CLOCK)
        return start_clock(var, data);
    if (!var->start)
        return true;
    size_t size = kit_type_size(type);
    const char *rest = var->start;
    const char *word;
    size_t length, i = 0;
    for (; i < count && kit_next_word(&rest, &word, &length); i++) {
        char *element = (char *)data + i * size;
        char number[64];
        if (type == KIT_BINARY) {
            if (!parse_binary(word, length, (struct kit_binary *)(void *)element))
                return false;
            continue;
        }
        if (length >= sizeof number)
            return false;
        memcpy(number, word, length);
        number[length] = '\0';
        if (!parse_number(type, number, element))
            return false;
    }
    bool single = i == 1 && !kit_next_word(&rest, &word, &length);
    for (; single && i < count; i++)
        if (type == KIT_BINARY ? !kit_var_start(var, (char *)data + i * size, 1)
                               : !memcpy((char *)data + i * size, data, size))
            return false;
    return true;
}
