/* SPDX-License-Identifier: MIT */
#include "fmu/description/builder.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/vector.h"

void *tt_builder_push(struct tt_builder *build, struct tt_builder_list *list, const char *what, enum tutti_err *err)
{
    if (list->count == TUTTI_LIST_LIMIT) {
        *err = tt_xml_fail(build->xml, TUTTI_ERR_LIMIT, "more than %d %s", TUTTI_LIST_LIMIT, what);
        return NULL;
    }
    if (!tt_vector_reserve(&list->items, &list->capacity, (size_t)list->count + 1, list->size)) {
        *err = tt_fail_memory();
        return NULL;
    }
    *err = TUTTI_OK;
    return memset((char *)list->items + list->count++ * list->size, 0, list->size);
}

enum tutti_err tt_builder_copy_text(struct tt_builder *build, const char **out, const char *text)
{
    *out = text ? tt_arena_copy_text(&build->desc->arena, text, strlen(text)) : NULL;
    return text && !*out ? tt_fail_memory() : TUTTI_OK;
}

void tt_builder_report_error(struct tt_builder *build, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tt_findings_limited_add_v(&build->report, TUTTI_FINDING_ERROR, build->line, build->what, build->name, format, args);
    va_end(args);
}

void tt_builder_report_warning(struct tt_builder *build, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tt_findings_limited_add_v(&build->report, TUTTI_FINDING_WARNING, build->line, build->what, build->name, format,
                              args);
    va_end(args);
}

void tt_builder_set_subject(struct tt_builder *build, const char *what, const char *name)
{
    build->what = what;
    build->name = name;
    build->line = tt_xml_line(build->xml);
}

/* The set of attribute names is fixed and small: length and three characters distinguish nearly all of them. */
static unsigned builder_slot_of(const char *name, size_t length)
{
    unsigned hash = (unsigned)length * 7u + (unsigned char)name[0] * 31u + (unsigned char)name[length / 2] * 17u +
                    (unsigned char)name[length - 1] * 5u;
    return hash % 512u;
}

static const char *const attribute_names[ATTR_COUNT] = {"",
#define X(name) #name,
                                                        TUTTI_ATTRIBUTES(X)
#undef X
};

const char *tt_builder_attribute_name(enum tt_builder_attribute id)
{
    return attribute_names[id];
}

static enum tt_builder_attribute builder_attribute_id(const struct tt_builder *build, const char *name)
{
    for (unsigned slot = builder_slot_of(name, strlen(name)); build->ids[slot]; slot = (slot + 1) % 512u)
        if (strcmp(attribute_names[build->ids[slot]], name) == 0)
            return build->ids[slot];
    return ATTR_NONE;
}

/* Names with a colon, and xmlns, belong to other vocabularies. */
static bool builder_is_foreign_name(const char *name)
{
    return strchr(name, ':') || strcmp(name, "xmlns") == 0;
}

static void report_unknown(struct tt_builder *build, const struct tt_builder_element *element, const char *attribute)
{
    if (!builder_is_foreign_name(attribute))
        tt_findings_limited_add(&build->report, TUTTI_FINDING_WARNING, tt_xml_line(build->xml), NULL, NULL,
                                "unknown attribute %s of <%s> is ignored", attribute, element->name);
}

static enum tutti_err builder_start_known(struct tt_builder *build, const struct tt_builder_element *element,
                                          const char **attributes)
{
    uint8_t present[TUTTI_XML_ATTRIBUTES];
    unsigned count = 0;
    if (!element->start)
        return TUTTI_OK;
    for (const char **a = attributes; *a; a += 2) {
        enum tt_builder_attribute id = builder_attribute_id(build, a[0]);
        if (id == ATTR_NONE) {
            report_unknown(build, element, a[0]);
        } else {
            build->values[id] = a[1];
            present[count++] = (uint8_t)id;
        }
    }
    enum tutti_err err = element->start(build, element->tag);
    for (unsigned i = 0; i < count; i++)
        if (build->values[present[i]]) {
            report_unknown(build, element, attribute_names[present[i]]);
            build->values[present[i]] = NULL;
        }
    return err;
}

static enum tutti_err builder_on_start(void *context, struct tt_xml *xml, const char *name, const char **attributes)
{
    struct tt_builder *build = context;
    build->xml = xml;
    if (build->skip) {
        build->skip++;
        return TUTTI_OK;
    }
    const struct tt_builder_element *parent = build->stack[build->depth];
    for (const struct tt_builder_element *child = parent->children; child && child->name; child++)
        if (child->name[0] == name[0] && strcmp(child->name, name) == 0) {
            build->stack[++build->depth] = child;
            return builder_start_known(build, child, attributes);
        }
    if (build->depth == 0)
        return tt_xml_fail(xml, TUTTI_ERR_FORMAT, "found <%.64s>, expected <fmiModelDescription>", name);
    if (!parent->foreign && !builder_is_foreign_name(name))
        tt_findings_limited_add(&build->report, TUTTI_FINDING_WARNING, tt_xml_line(xml), NULL, NULL,
                                "unknown element <%s> in <%s> is ignored", name, parent->name);
    build->skip = 1;
    return TUTTI_OK;
}

static enum tutti_err builder_on_end(void *context, struct tt_xml *xml)
{
    struct tt_builder *build = context;
    build->xml = xml;
    if (build->skip) {
        build->skip--;
        return TUTTI_OK;
    }
    const struct tt_builder_element *element = build->stack[build->depth--];
    return element->end ? element->end(build) : TUTTI_OK;
}

static enum tutti_err builder_on_text(void *context, struct tt_xml *xml, const char *text, size_t n)
{
    struct tt_builder *build = context;
    if (n > TUTTI_XML_TAG - build->text.length)
        return tt_xml_fail(xml, TUTTI_ERR_LIMIT, "a text larger than %d MiB", TUTTI_XML_TAG / (1024 * 1024));
    tt_text_append_n(&build->text, text, n);
    return build->text.failed ? tt_fail_memory() : TUTTI_OK;
}

const struct tt_xml_handlers tt_builder_handlers = {.start = builder_on_start,
                                                    .end = builder_on_end,
                                                    .text = builder_on_text};

enum tutti_err tt_builder_init(struct tt_builder *build, const char *file, struct tt_findings *findings)
{
    struct tt_builder_description *whole = calloc(1, sizeof *whole);
    if (!whole)
        return tt_fail_memory();
    whole->vars.size = sizeof(struct tt_var);
    whole->aliases.size = sizeof(struct tt_alias);
    whole->units.size = sizeof(struct tt_unit_def);
    whole->displays.size = sizeof(struct tt_display_unit);
    whole->types.size = sizeof(struct tt_type_def);
    whole->categories.size = whole->annotations.size = sizeof(const char *);
    for (int i = 0; i < 5; i++)
        whole->unknowns[i].size = sizeof(struct tt_unknown);
    *build = (struct tt_builder){.whole = whole, .desc = &whole->desc, .report = {.file = file, .findings = findings}};
    build->pending.size = sizeof(struct tt_builder_pending);
    build->names.size = sizeof(struct tt_builder_named_dependency);
    build->items.size = sizeof(struct tt_enum_item);
    build->dimensions.size = sizeof(struct tt_dimension);
    build->strings.size = sizeof(struct tt_bytes);
    build->words.size = sizeof(uint32_t);
    build->document = (struct tt_builder_element){.name = "", .children = build->root};
    build->stack[0] = &build->document;

    _Static_assert(ATTR_COUNT < sizeof build->ids / 4, "the table must stay sparse: a search ends at a free slot");
    for (unsigned id = 1; id < ATTR_COUNT; id++) {
        unsigned slot = builder_slot_of(attribute_names[id], strlen(attribute_names[id]));
        while (build->ids[slot])
            slot = (slot + 1) % 512u;
        build->ids[slot] = (uint8_t)id;
    }
    return TUTTI_OK;
}

void tt_builder_fini(struct tt_builder *build)
{
    tt_map_fini(&build->unit_names);
    tt_map_fini(&build->type_names);
    tt_map_fini(&build->display_names);
    free(build->pending.items);
    free(build->names.items);
    free(build->items.items);
    free(build->dimensions.items);
    free(build->strings.items);
    free(build->words.items);
    tt_text_fini(&build->key);
    tt_text_fini(&build->text);
}

/* Converts texts of attributes to values. An unreadable value is reported and then treated as absent. */

enum quality { GOOD, ODD /* violates the standard, but is unambiguous */, BAD };

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
