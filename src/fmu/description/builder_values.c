/* SPDX-License-Identifier: MIT */
/* Texts of attributes become values. What cannot be read is reported and then as good as absent. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "fmu/description/builder.h"

enum quality { GOOD, ODD /* not as the standard wants it, but clear */, BAD };

static bool builder_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void builder_report_value(struct tt_builder *build, enum tt_builder_attribute id, const char *text,
                                 const char *expected)
{
    tt_builder_report_error(build, "%s is \"%.80s\", expected %s", tt_builder_attribute_name(id), text, expected);
}

static enum quality builder_parse_bool(const char *text, size_t n, bool *out)
{
    if (n == 4 && memcmp(text, "true", 4) == 0)
        return *out = true, GOOD;
    if (n == 5 && memcmp(text, "false", 5) == 0)
        return *out = false, GOOD;
    if (n == 1 && (*text == '0' || *text == '1'))
        return *out = *text == '1', GOOD;
    for (; n && builder_is_space(*text); text++)
        n--;
    while (n && builder_is_space(text[n - 1]))
        n--;
    if (n == 4 && strncasecmp(text, "true", 4) == 0)
        return *out = true, ODD;
    if (n == 5 && strncasecmp(text, "false", 5) == 0)
        return *out = false, ODD;
    return BAD;
}

bool tt_builder_read_bool(struct tt_builder *build, enum tt_builder_attribute id, bool *out)
{
    const char *text = tt_builder_take_attribute(build, id);
    if (!text)
        return false;
    enum quality quality = builder_parse_bool(text, strlen(text), out);
    if (quality != GOOD)
        builder_report_value(build, id, text, "true or false");
    return quality != BAD;
}

void tt_builder_read_flag(struct tt_builder *build, enum tt_builder_attribute id, uint32_t *flags, uint32_t flag)
{
    bool set = false;
    if (tt_builder_read_bool(build, id, &set) && set)
        *flags |= flag;
}

bool tt_builder_read_double(struct tt_builder *build, enum tt_builder_attribute id, double *out)
{
    const char *text = tt_builder_take_attribute(build, id);
    if (!text)
        return false;
    double value;
    if (!tt_number_read_double(text, strlen(text), &value) || isnan(value))
        return builder_report_value(build, id, text, "a number"), false;
    *out = value;
    return true;
}

static bool builder_read_uint(struct tt_builder *build, enum tt_builder_attribute id, uint64_t limit, uint64_t *out)
{
    const char *text = tt_builder_take_attribute(build, id);
    if (!text)
        return false;
    uint64_t value;
    if (!tt_number_read_uint(text, strlen(text), &value) || value > limit)
        return builder_report_value(build, id, text,
                                    limit == UINT32_MAX ? "a number from 0 to 4294967295" : "a whole number"),
               false;
    *out = value;
    return true;
}

bool tt_builder_read_uint32(struct tt_builder *build, enum tt_builder_attribute id, uint32_t *out)
{
    uint64_t value;
    if (!builder_read_uint(build, id, UINT32_MAX, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

bool tt_builder_read_uint64(struct tt_builder *build, enum tt_builder_attribute id, uint64_t *out)
{
    return builder_read_uint(build, id, UINT64_MAX, out);
}

bool tt_builder_read_int32(struct tt_builder *build, enum tt_builder_attribute id, int32_t *out)
{
    const char *text = tt_builder_take_attribute(build, id);
    if (!text)
        return false;
    int64_t value;
    if (!tt_number_read_int(text, strlen(text), &value) || value < INT32_MIN || value > INT32_MAX)
        return builder_report_value(build, id, text, "a whole number"), false;
    *out = (int32_t)value;
    return true;
}

static void builder_report_word(struct tt_builder *build, enum tt_builder_attribute id, const char *text,
                                const char *const *words)
{
    char expected[256] = "";
    size_t used = 0;
    for (int i = 0; words[i]; i++) {
        size_t n = strlen(words[i]);
        if (used + n + 3 > sizeof expected)
            break;
        if (i)
            used = (size_t)(stpcpy(expected + used, ", ") - expected);
        used = (size_t)(stpcpy(expected + used, words[i]) - expected);
    }
    tt_builder_report_error(build, "%s is \"%.80s\", expected one of %s", tt_builder_attribute_name(id), text,
                            expected);
}

bool tt_builder_read_word(struct tt_builder *build, enum tt_builder_attribute id, const char *const *words,
                          uint8_t *out)
{
    const char *text = tt_builder_take_attribute(build, id);
    if (!text)
        return false;
    for (uint8_t i = 0; words[i]; i++)
        if (words[i][0] == text[0] && strcmp(words[i], text) == 0)
            return *out = i, true;
    builder_report_word(build, id, text, words);
    const char *first = text;
    while (builder_is_space(*first))
        first++;
    size_t n = strlen(first);
    while (n && builder_is_space(first[n - 1]))
        n--;
    for (uint8_t i = 0; words[i]; i++)
        if (strlen(words[i]) == n && strncasecmp(words[i], first, n) == 0)
            return *out = i, true;
    return false;
}

enum tutti_err tt_builder_read_numbers(struct tt_builder *build, const char *text, bool *good)
{
    build->words.count = 0;
    *good = true;
    for (const char *c = text;;) {
        while (builder_is_space(*c))
            c++;
        if (!*c)
            return TUTTI_OK;
        uint64_t value = 0;
        const char *first = c;
        for (; *c >= '0' && *c <= '9' && value <= UINT32_MAX; c++)
            value = 10 * value + (uint64_t)(*c - '0');
        if (c == first || (*c && !builder_is_space(*c)) || value > UINT32_MAX) {
            *good = false;
            return TUTTI_OK;
        }
        enum tutti_err err;
        uint32_t *word = tt_builder_push(build, &build->words, "numbers in a list", &err);
        if (!word)
            return err;
        *word = (uint32_t)value;
    }
}

static void builder_store_int(enum tt_type type, int64_t value, void *out)
{
    switch (type) {
    case TUTTI_TYPE_INT8: *(int8_t *)out = (int8_t)value; break;
    case TUTTI_TYPE_UINT8: *(uint8_t *)out = (uint8_t)value; break;
    case TUTTI_TYPE_INT16: *(int16_t *)out = (int16_t)value; break;
    case TUTTI_TYPE_UINT16: *(uint16_t *)out = (uint16_t)value; break;
    case TUTTI_TYPE_INT32: *(int32_t *)out = (int32_t)value; break;
    case TUTTI_TYPE_UINT32: *(uint32_t *)out = (uint32_t)value; break;
    default: *(int64_t *)out = value; break;
    }
}

static bool builder_int_fits(enum tt_type type, int64_t value)
{
    switch (type) {
    case TUTTI_TYPE_INT8: return value >= INT8_MIN && value <= INT8_MAX;
    case TUTTI_TYPE_UINT8: return value >= 0 && value <= UINT8_MAX;
    case TUTTI_TYPE_INT16: return value >= INT16_MIN && value <= INT16_MAX;
    case TUTTI_TYPE_UINT16: return value >= 0 && value <= UINT16_MAX;
    case TUTTI_TYPE_INT32: return value >= INT32_MIN && value <= INT32_MAX;
    case TUTTI_TYPE_UINT32: return value >= 0 && value <= UINT32_MAX;
    default: return true;
    }
}

static enum quality builder_parse_integer(enum tt_type type, const char *text, size_t n, void *out)
{
    int64_t value;
    if (type == TUTTI_TYPE_UINT64 && tt_number_read_uint(text, n, out))
        return GOOD;
    enum quality quality = GOOD;
    if (!tt_number_read_int(text, n, &value)) {
        double real; /* "1.0" or "1e3" */
        if (!tt_number_read_double(text, n, &real) || !(fabs(real) <= 9007199254740992.0) || real != floor(real))
            return BAD;
        value = (int64_t)real;
        quality = ODD;
    }
    if (!builder_int_fits(type, value) || (type == TUTTI_TYPE_UINT64 && value < 0))
        return BAD;
    builder_store_int(type, value, out);
    return quality;
}

static enum quality builder_parse_value(enum tt_type type, const char *text, size_t n, void *out)
{
    double value;
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return tt_number_read_double(text, n, out) ? GOOD : BAD;
    case TUTTI_TYPE_FLOAT32:
        if (!tt_number_read_double(text, n, &value) || (isfinite(value) && fabs(value) > (double)FLT_MAX))
            return BAD;
        *(float *)out = (float)value;
        return GOOD;
    case TUTTI_TYPE_BOOLEAN: return builder_parse_bool(text, n, out);
    default: return builder_parse_integer(type, text, n, out);
    }
}

static const char *builder_expected_value(enum tt_type type)
{
    if (tt_type_is_float(type))
        return "a number";
    return type == TUTTI_TYPE_BOOLEAN ? "true or false" : "a whole number that fits the type";
}

/* 3.0: one value for each element, with white space between. */
static enum tutti_err builder_parse_list(struct tt_builder *build, struct tt_var *var, const char *text)
{
    size_t size = tt_type_size(var->type), count = 0;
    for (const char *c = text; *c; c++)
        count += !builder_is_space(*c) && (c == text || builder_is_space(c[-1]));
    if (count == 0 || count > UINT32_MAX)
        return builder_report_value(build, ATTR_start, text, builder_expected_value(var->type)), TUTTI_OK;
    char *values = tt_arena_array(&build->desc->arena, count, size), *value = values;
    if (!values)
        return tt_fail_memory();
    bool odd = false;
    for (const char *c = text, *end; *c; c = end) {
        while (builder_is_space(*c))
            c++;
        for (end = c; *end && !builder_is_space(*end);)
            end++;
        if (end == c)
            break;
        enum quality quality = builder_parse_value(var->type, c, (size_t)(end - c), value);
        if (quality == BAD) {
            char bad[64];
            size_t n = (size_t)(end - c) < sizeof bad - 1 ? (size_t)(end - c) : sizeof bad - 1;
            *(char *)mempcpy(bad, c, n) = '\0';
            return builder_report_value(build, ATTR_start, bad, builder_expected_value(var->type)), TUTTI_OK;
        }
        odd |= quality == ODD;
        value += size;
    }
    if (odd)
        builder_report_value(build, ATTR_start, text, builder_expected_value(var->type));
    var->start = values;
    var->start_count = (uint32_t)count;
    return TUTTI_OK;
}

enum tutti_err tt_builder_read_start(struct tt_builder *build, struct tt_var *var, const char *text)
{
    if (var->type == TUTTI_TYPE_BINARY || var->type == TUTTI_TYPE_CLOCK)
        return builder_report_value(build, ATTR_start, text,
                                    var->type == TUTTI_TYPE_CLOCK ? "none" : "<Start> elements"),
               TUTTI_OK;
    if (var->type == TUTTI_TYPE_STRING) {
        const char **value = tt_arena_alloc(&build->desc->arena, sizeof *value);
        if (!value)
            return tt_fail_memory();
        if (build->desc->fmi == 3)
            builder_report_value(build, ATTR_start, text, "<Start> elements");
        TRY(tt_builder_copy_text(build, value, text));
        var->start = value;
        var->start_count = 1;
        return TUTTI_OK;
    }
    union {
        double real;
        int64_t integer;
        bool boolean;
    } value = {0};
    enum quality quality = builder_parse_value(var->type, text, strlen(text), &value);
    if (quality == BAD && build->desc->fmi == 3)
        return builder_parse_list(build, var, text);
    if (quality != GOOD)
        builder_report_value(build, ATTR_start, text, builder_expected_value(var->type));
    if (quality == BAD)
        return TUTTI_OK;
    size_t size = tt_type_size(var->type);
    void *start = tt_arena_alloc(&build->desc->arena, size);
    if (!start)
        return tt_fail_memory();
    var->start = memcpy(start, &value, size);
    var->start_count = 1;
    return TUTTI_OK;
}

static int builder_hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

enum tutti_err tt_builder_read_bytes(struct tt_builder *build, const char *text, struct tt_bytes *out)
{
    *out = (struct tt_bytes){0};
    const char *first = text;
    while (builder_is_space(*first))
        first++;
    size_t n = strlen(first);
    while (n && builder_is_space(first[n - 1]))
        n--;
    uint8_t *bytes = tt_arena_alloc(&build->desc->arena, n / 2 + 1);
    if (!bytes)
        return tt_fail_memory();
    for (size_t i = 0; i + 1 < n + n % 2; i += 2) {
        int high = builder_hex_digit(first[i]), low = i + 1 < n ? builder_hex_digit(first[i + 1]) : -1;
        if (high < 0 || low < 0)
            return builder_report_value(build, ATTR_value, text, "pairs of hexadecimal digits"), TUTTI_OK;
        bytes[i / 2] = (uint8_t)(16 * high + low);
    }
    *out = (struct tt_bytes){n / 2, bytes};
    return TUTTI_OK;
}
