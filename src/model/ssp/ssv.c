/* SPDX-License-Identifier: MIT */
/* Parameter values (.ssv). */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/ssp/ssp_reader.h"

static bool ssv_is_integer(enum tt_type type, const char *text, size_t n)
{
    static const struct {
        int64_t least;
        uint64_t most;
    } ranges[TUTTI_TYPE_COUNT] = {
        [TUTTI_TYPE_INT8] = {INT8_MIN, INT8_MAX},    [TUTTI_TYPE_UINT8] = {0, UINT8_MAX},
        [TUTTI_TYPE_INT16] = {INT16_MIN, INT16_MAX}, [TUTTI_TYPE_UINT16] = {0, UINT16_MAX},
        [TUTTI_TYPE_INT32] = {INT32_MIN, INT32_MAX}, [TUTTI_TYPE_UINT32] = {0, UINT32_MAX},
        [TUTTI_TYPE_INT64] = {INT64_MIN, INT64_MAX}, [TUTTI_TYPE_UINT64] = {0, UINT64_MAX},
    };
    int64_t number;
    uint64_t positive;
    if (tt_number_read_uint(text, n, &positive))
        return positive <= ranges[type].most;
    return tt_number_read_int(text, n, &number) &&
           (number < 0 ? number >= ranges[type].least : (uint64_t)number <= ranges[type].most);
}

static bool ssv_is_value(enum tt_type type, const char *text, size_t n)
{
    double number;
    bool boolean;
    if (tt_type_is_float(type))
        return tt_number_read_double(text, n, &number);
    if (tt_type_is_integer(type))
        return ssv_is_integer(type, text, n);
    if (type == TUTTI_TYPE_BOOLEAN)
        return tt_ssp_reader_parse_bool(text, n, &boolean);
    return type != TUTTI_TYPE_BINARY || (strspn(text, "0123456789abcdefABCDEF") == n && n % 2 == 0);
}

static enum tutti_err ssv_check_value(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                      enum tt_type type, const char *text)
{
    if (ssv_is_value(type, text, strlen(text)))
        return TUTTI_OK;
    const char *expected = tt_type_is_float(type)       ? "a number"
                           : tt_type_is_integer(type)   ? "a whole number that fits the type"
                           : type == TUTTI_TYPE_BOOLEAN ? "true or false"
                                                        : "an even number of hexadecimal digits";
    return tt_ssp_reader_fail(parts, node, "value is \"%s\", expected %s", tt_text_excerpt(text).text, expected);
}

/* Numbers and booleans: one attribute, white space between the values of an array. */
static enum tutti_err ssv_read_list(struct tt_ssp_reader *parts, const struct tt_tree_node *node, const char *text,
                                    struct tt_ssp_parameter *parameter)
{
    size_t count = 0;
    const char *word = text;
    for (size_t n; (n = tt_ssp_reader_next_word(&word)) > 0; word += n)
        count++;
    const char **values = tt_arena_array(parts->arena, count ? count : 1, sizeof *values);
    char *copy = tt_arena_copy_text(parts->arena, text, strlen(text));
    if (!values || !copy)
        return tt_fail_memory();
    const char *at = copy;
    for (size_t n; (n = tt_ssp_reader_next_word(&at)) > 0;) {
        char *end = copy + (at - copy) + n;
        bool last = *end == '\0';
        *end = '\0';
        TRY(ssv_check_value(parts, node, parameter->type.type, at));
        values[parameter->value_count++] = at;
        at = last ? end : end + 1;
    }
    parameter->values = values;
    return TUTTI_OK;
}

/* Strings, enumerations and binaries: one attribute, or one child for each value (SSP 2.0). */
static enum tutti_err ssv_read_texts(struct tt_ssp_reader *parts, const struct tt_tree_node *node, const char *text,
                                     struct tt_ssp_parameter *parameter)
{
    static const struct tt_shape_word attributes[] = {{"value", false}, {NULL, false}};
    static const struct tt_shape_child none[] = {{NULL, TUTTI_SPACE_SSV, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, none};
    size_t count = tt_ssp_reader_count_children(node, "Value");
    if (text && count)
        return tt_ssp_reader_fail(parts, node,
                                  "it has the attribute value and <Value> elements; remove one or the other");
    const char **values = tt_arena_array(parts->arena, count ? count : 1, sizeof *values);
    if (!values)
        return tt_fail_memory();
    parameter->values = values;
    if (text) {
        parameter->value_count = 1;
        values[0] = text;
        return ssv_check_value(parts, node, parameter->type.type, text);
    }
    for (const struct tt_tree_node *child = tt_ssp_reader_find_child(node, "Value"); child;
         child = tt_ssp_reader_find_next(child, "Value")) {
        TRY(tt_ssp_reader_check(parts, child, &shape));
        const char **value = &values[parameter->value_count++];
        TRY(tt_ssp_reader_require(parts, child, "value", value));
        TRY(ssv_check_value(parts, child, parameter->type.type, *value));
    }
    return TUTTI_OK;
}

static enum tutti_err ssv_read_values(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                      struct tt_ssp_parameter *parameter)
{
    static const struct tt_shape_word plain[] = {{"value", false}, {NULL, false}};
    static const struct tt_shape_word with_unit[] = {{"value", false}, {"unit", false}, {NULL, false}};
    static const struct tt_shape_word with_name[] = {{"value", false}, {"name", false}, {NULL, false}};
    static const struct tt_shape_word with_mime_type[] = {{"value", false}, {"mime-type", false}, {NULL, false}};
    static const struct tt_shape_child value[] = {{"Value", TUTTI_SPACE_SSV, TUTTI_SHAPE_MANY, true},
                                                  {NULL, TUTTI_SPACE_SSV, TUTTI_SHAPE_ONE, false}};
    enum tt_type type = parameter->type.type;
    bool texts = type == TUTTI_TYPE_STRING || type == TUTTI_TYPE_ENUMERATION || type == TUTTI_TYPE_BINARY;
    const struct tt_shape shape = {tt_type_is_float(type)           ? with_unit
                                   : type == TUTTI_TYPE_ENUMERATION ? with_name
                                   : type == TUTTI_TYPE_BINARY      ? with_mime_type
                                                                    : plain,
                                   texts ? value : value + 1};
    TRY(tt_ssp_reader_check(parts, node, &shape));
    const char *text = tt_tree_find_attribute(node, "value");
    if (texts)
        return ssv_read_texts(parts, node, text, parameter);
    TRY(tt_ssp_reader_require(parts, node, "value", &text));
    return ssv_read_list(parts, node, text, parameter);
}

/* As many values as the dimensions want. */
static enum tutti_err ssv_check_count(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                      const struct tt_ssp_parameter *parameter)
{
    uint64_t wanted = 1;
    for (size_t i = 0; i < parameter->dimension_count; i++)
        if (__builtin_mul_overflow(wanted, parameter->dimensions[i].size, &wanted))
            return tt_ssp_reader_fail(parts, node, "its dimensions are too large for any list of values");
    if (parameter->value_count == wanted)
        return TUTTI_OK;
    if (parameter->value_count == 0)
        return tt_ssp_reader_fail(parts, node, "it has no value; add the attribute value to its type");
    if (parameter->dimension_count == 0)
        return tt_ssp_reader_fail(parts, node, "it has %zu values, but no dimension; add <ssc:Dimension size=\"%zu\"/>",
                                  parameter->value_count, parameter->value_count);
    return tt_ssp_reader_fail(parts, node, "it has %zu values, and its dimensions ask for %llu; make them fit",
                              parameter->value_count, (unsigned long long)wanted);
}

static enum tutti_err ssv_read_parameter(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                         struct tt_ssp_parameter *parameter)
{
    static const struct tt_shape_word attributes[] = {SHAPE_BASE_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {SHAPE_TYPES(TUTTI_SPACE_SSV),
                                                     SHAPE_DIMENSION,
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSV),
                                                     {NULL, TUTTI_SPACE_SSV, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    TRY(tt_ssp_reader_check(parts, node, &shape));
    parameter->line = node->line;
    TRY(tt_ssp_reader_require(parts, node, "name", &parameter->name));
    const struct tt_tree_node *child = tt_ssp_reader_find_type_node(node);
    if (!child || tt_ssp_reader_has_name(child, "Clock"))
        return tt_ssp_reader_fail(parts, node, "it has no value; add <ssv:Real value=\"...\"/> or another type");
    tt_ssp_reader_read_type(parts, child, &parameter->type);
    TRY(tt_ssp_reader_read_dimensions(parts, node, true, &parameter->dimensions, &parameter->dimension_count));
    TRY(ssv_read_values(parts, child, parameter));
    return ssv_check_count(parts, node, parameter);
}

/* Appends a parameter. Names should be unique; in well-known files with duplicates the last one applies, as among
 * bindings. */
static enum tutti_err ssv_add_parameter(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                        struct tt_map *names, struct tt_ssp_parameter *parameters, size_t *count)
{
    const struct tt_ssp_parameter *parameter = &parameters[*count];
    int64_t earlier;
    TRY(tt_map_add(names, parameter->name, (int64_t)*count, &earlier));
    if (earlier == TUTTI_MAP_NONE) {
        ++*count;
        return TUTTI_OK;
    }
    tt_ssp_reader_warn(parts, node, "line %u has a value for the same name, which is ignored",
                       parameters[earlier].line);
    parameters[earlier] = *parameter;
    parameters[*count] = (struct tt_ssp_parameter){0};
    return TUTTI_OK;
}

static enum tutti_err ssv_read_parameters(struct tt_ssp_reader *parts, const struct tt_tree_node *list,
                                          struct tt_ssv *ssv)
{
    static const struct tt_shape_word none[] = {{NULL, false}};
    static const struct tt_shape_child children[] = {{"Parameter", TUTTI_SPACE_SSV, TUTTI_SHAPE_MANY, false},
                                                     {NULL, TUTTI_SPACE_SSV, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {none, children};
    TRY(tt_ssp_reader_check(parts, list, &shape));
    struct tt_ssp_parameter *parameters;
    TRY(tt_ssp_reader_new_array(parts, list, "Parameter", sizeof *parameters, &parameters, &ssv->count));
    ssv->parameters = parameters;
    ssv->count = 0;
    struct tt_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tt_tree_node *node = tt_ssp_reader_find_child(list, "Parameter"); node && err == TUTTI_OK;
         node = tt_ssp_reader_find_next(node, "Parameter")) {
        err = ssv_read_parameter(parts, node, &parameters[ssv->count]);
        if (err == TUTTI_OK)
            err = ssv_add_parameter(parts, node, &names, parameters, &ssv->count);
    }
    tt_map_fini(&names);
    return err;
}

static enum tutti_err ssv_read_set(struct tt_ssp_reader *parts, const struct tt_tree_node *top, struct tt_ssv *ssv)
{
    static const struct tt_shape_word attributes[] = {SHAPE_TOP_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"Parameters", TUTTI_SPACE_SSV, TUTTI_SHAPE_ONE, false},
                                                     SHAPE_SCOPE(TUTTI_SPACE_SSV),
                                                     SHAPE_META,
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSV),
                                                     {NULL, TUTTI_SPACE_SSV, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    TRY(tt_ssp_reader_read_version(parts, top));
    TRY(tt_ssp_reader_check(parts, top, &shape));
    TRY(tt_ssp_reader_read_scope(parts, top, &ssv->scope));
    TRY(tt_ssp_reader_require(parts, top, "name", &ssv->name));
    const struct tt_tree_node *list = tt_ssp_reader_find_child(top, "Parameters");
    if (list)
        return ssv_read_parameters(parts, list, ssv);
    tt_ssp_reader_warn(parts, top, "<Parameters> is missing, so that nothing is set");
    return TUTTI_OK;
}

enum tutti_err tt_ssv_parse(struct tt_ssp_reader *parts, const struct tt_tree_node *top, struct tt_ssv *ssv)
{
    struct tt_ssp_reader_names outer;
    tt_ssp_reader_enter_inline(parts, &outer);
    enum tutti_err err = ssv_read_set(parts, top, ssv);
    tt_ssp_reader_leave_inline(parts, &outer);
    return err;
}

enum tutti_err tt_ssv_read(struct tt_ssv **out, const char *file, struct tt_byte_source *reader,
                           struct tt_findings *findings)
{
    *out = NULL;
    struct tt_ssv *ssv = calloc(1, sizeof *ssv);
    if (!ssv)
        return tt_fail_memory();
    enum tutti_err err = tt_ssp_reader_open(&ssv->tree, file, reader, TUTTI_SPACE_SSV, "ParameterSet");
    if (err == TUTTI_OK) {
        struct tt_ssp_reader parts;
        tt_ssp_reader_init(&parts, ssv->tree->file, &ssv->arena, findings);
        err = tt_ssv_parse(&parts, ssv->tree->root, ssv);
        tt_ssp_reader_fini(&parts);
    }
    if (err == TUTTI_OK)
        *out = ssv;
    else
        tt_ssv_free(ssv);
    return err;
}

void tt_ssv_free(struct tt_ssv *ssv)
{
    if (!ssv)
        return;
    tt_tree_free(ssv->tree);
    tt_arena_fini(&ssv->arena);
    free(ssv);
}
