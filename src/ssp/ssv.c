/* SPDX-License-Identifier: MIT */
/* Parameter values (.ssv). */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "ssp/parts.h"

static bool is_integer(enum tutti_type type, const char *text, size_t n)
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
    if (tutti_number_read_uint(text, n, &positive))
        return positive <= ranges[type].most;
    return tutti_number_read_int(text, n, &number) &&
           (number < 0 ? number >= ranges[type].least : (uint64_t)number <= ranges[type].most);
}

static bool is_hex(const char *text, size_t n)
{
    size_t digits = strspn(text, "0123456789abcdefABCDEF");
    return digits == n && n % 2 == 0;
}

static bool is_value(enum tutti_type type, const char *text, size_t n)
{
    double number;
    bool boolean;
    if (tutti_type_is_float(type))
        return tutti_number_read_double(text, n, &number);
    if (tutti_type_is_integer(type))
        return is_integer(type, text, n);
    if (type == TUTTI_TYPE_BOOLEAN)
        return tutti_parts_read_bool(text, n, &boolean);
    return type != TUTTI_TYPE_BINARY || is_hex(text, n);
}

static enum tutti_err check_value(const struct tutti_parts *parts, const struct tutti_node *node, enum tutti_type type,
                                  const char *text)
{
    if (is_value(type, text, strlen(text)))
        return TUTTI_OK;
    const char *expected = tutti_type_is_float(type)     ? "a number"
                           : tutti_type_is_integer(type) ? "a whole number that fits the type"
                           : type == TUTTI_TYPE_BOOLEAN  ? "true or false"
                                                         : "an even number of hexadecimal digits";
    return tutti_parts_fail(parts, node, "value is \"%s\", expected %s", tutti_str_show(text).text, expected);
}

/* Numbers and booleans: one attribute, white space between the values of an array. */
static enum tutti_err read_list(struct tutti_parts *parts, const struct tutti_node *node, const char *text,
                                struct tutti_ssp_parameter *parameter)
{
    size_t count = 0;
    const char *word = text;
    for (size_t n; (n = tutti_parts_next_word(&word)) > 0; word += n)
        count++;
    const char **values = tutti_arena_array(parts->arena, count ? count : 1, sizeof *values);
    char *copy = tutti_arena_text(parts->arena, text, strlen(text));
    if (!values || !copy)
        return tutti_fail_memory();
    const char *at = copy;
    for (size_t n; (n = tutti_parts_next_word(&at)) > 0;) {
        char *end = copy + (at - copy) + n;
        bool last = *end == '\0';
        *end = '\0';
        TRY(check_value(parts, node, parameter->type.type, at));
        values[parameter->value_count++] = at;
        at = last ? end : end + 1;
    }
    parameter->values = values;
    return TUTTI_OK;
}

/* Strings, enumerations and binaries: one attribute, or one child for each value (SSP 2.0). */
static enum tutti_err read_texts(struct tutti_parts *parts, const struct tutti_node *node, const char *text,
                                 struct tutti_ssp_parameter *parameter)
{
    static const struct tutti_shape_word attributes[] = {{"value", false}, {NULL, false}};
    static const struct tutti_shape_child none[] = {{NULL, TUTTI_SPACE_SSV, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, none};
    size_t count = tutti_parts_count(node, "Value");
    if (text && count)
        return tutti_parts_fail(parts, node,
                                "it has the attribute value and <Value> elements; remove one or the other");
    const char **values = tutti_arena_array(parts->arena, count ? count : 1, sizeof *values);
    if (!values)
        return tutti_fail_memory();
    parameter->values = values;
    if (text) {
        parameter->value_count = 1;
        values[0] = text;
        return check_value(parts, node, parameter->type.type, text);
    }
    for (const struct tutti_node *child = tutti_parts_child(node, "Value"); child;
         child = tutti_parts_next(child, "Value")) {
        TRY(tutti_parts_check(parts, child, &shape));
        const char **value = &values[parameter->value_count++];
        TRY(tutti_parts_required(parts, child, "value", value));
        TRY(check_value(parts, child, parameter->type.type, *value));
    }
    return TUTTI_OK;
}

static enum tutti_err read_values(struct tutti_parts *parts, const struct tutti_node *node,
                                  struct tutti_ssp_parameter *parameter)
{
    static const struct tutti_shape_word plain[] = {{"value", false}, {NULL, false}};
    static const struct tutti_shape_word with_unit[] = {{"value", false}, {"unit", false}, {NULL, false}};
    static const struct tutti_shape_word with_name[] = {{"value", false}, {"name", false}, {NULL, false}};
    static const struct tutti_shape_word with_mime_type[] = {{"value", false}, {"mime-type", false}, {NULL, false}};
    static const struct tutti_shape_child value[] = {{"Value", TUTTI_SPACE_SSV, TUTTI_SHAPE_MANY, true},
                                                     {NULL, TUTTI_SPACE_SSV, TUTTI_SHAPE_ONE, false}};
    enum tutti_type type = parameter->type.type;
    bool texts = type == TUTTI_TYPE_STRING || type == TUTTI_TYPE_ENUMERATION || type == TUTTI_TYPE_BINARY;
    const struct tutti_shape shape = {tutti_type_is_float(type)        ? with_unit
                                      : type == TUTTI_TYPE_ENUMERATION ? with_name
                                      : type == TUTTI_TYPE_BINARY      ? with_mime_type
                                                                       : plain,
                                      texts ? value : value + 1};
    TRY(tutti_parts_check(parts, node, &shape));
    const char *text = tutti_node_attribute(node, "value");
    if (texts)
        return read_texts(parts, node, text, parameter);
    TRY(tutti_parts_required(parts, node, "value", &text));
    return read_list(parts, node, text, parameter);
}

/* As many values as the dimensions want. */
static enum tutti_err check_count(const struct tutti_parts *parts, const struct tutti_node *node,
                                  const struct tutti_ssp_parameter *parameter)
{
    uint64_t wanted = 1;
    for (size_t i = 0; i < parameter->dimension_count; i++)
        if (__builtin_mul_overflow(wanted, parameter->dimensions[i].size, &wanted))
            return tutti_parts_fail(parts, node, "its dimensions are too large for any list of values");
    if (parameter->value_count == wanted)
        return TUTTI_OK;
    if (parameter->value_count == 0)
        return tutti_parts_fail(parts, node, "it has no value; add the attribute value to its type");
    if (parameter->dimension_count == 0)
        return tutti_parts_fail(parts, node, "it has %zu values, but no dimension; add <ssc:Dimension size=\"%zu\"/>",
                                parameter->value_count, parameter->value_count);
    return tutti_parts_fail(parts, node, "it has %zu values, and its dimensions ask for %llu; make them fit",
                            parameter->value_count, (unsigned long long)wanted);
}

static enum tutti_err read_parameter(struct tutti_parts *parts, const struct tutti_node *node,
                                     struct tutti_ssp_parameter *parameter)
{
    static const struct tutti_shape_word attributes[] = {SHAPE_BASE_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {SHAPE_TYPES(TUTTI_SPACE_SSV),
                                                        SHAPE_DIMENSION,
                                                        SHAPE_ANNOTATIONS(TUTTI_SPACE_SSV),
                                                        {NULL, TUTTI_SPACE_SSV, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    TRY(tutti_parts_check(parts, node, &shape));
    parameter->line = node->line;
    TRY(tutti_parts_required(parts, node, "name", &parameter->name));
    const struct tutti_node *child = tutti_parts_type_node(node);
    if (!child || tutti_parts_is(child, "Clock"))
        return tutti_parts_fail(parts, node, "it has no value; add <ssv:Real value=\"...\"/> or another type");
    tutti_parts_type(parts, child, &parameter->type);
    TRY(tutti_parts_dimensions(parts, node, true, &parameter->dimensions, &parameter->dimension_count));
    TRY(read_values(parts, child, parameter));
    return check_count(parts, node, parameter);
}

/* Adds, after the others, a parameter that was read. Names should be unique; files of well-known examples have some
 * twice, and then the last one counts, as it does among bindings. */
static enum tutti_err keep_parameter(struct tutti_parts *parts, const struct tutti_node *node, struct tutti_map *names,
                                     struct tutti_ssp_parameter *parameters, size_t *count)
{
    const struct tutti_ssp_parameter *parameter = &parameters[*count];
    int64_t earlier;
    TRY(tutti_map_add(names, parameter->name, (int64_t)*count, &earlier));
    if (earlier == TUTTI_MAP_NONE) {
        ++*count;
        return TUTTI_OK;
    }
    tutti_parts_warn(parts, node, "line %u has a value for the same name, which is ignored", parameters[earlier].line);
    parameters[earlier] = *parameter;
    parameters[*count] = (struct tutti_ssp_parameter){0};
    return TUTTI_OK;
}

static enum tutti_err read_parameters(struct tutti_parts *parts, const struct tutti_node *list, struct tutti_ssv *ssv)
{
    static const struct tutti_shape_word none[] = {{NULL, false}};
    static const struct tutti_shape_child children[] = {{"Parameter", TUTTI_SPACE_SSV, TUTTI_SHAPE_MANY, false},
                                                        {NULL, TUTTI_SPACE_SSV, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {none, children};
    TRY(tutti_parts_check(parts, list, &shape));
    struct tutti_ssp_parameter *parameters;
    TRY(tutti_parts_array(parts, list, "Parameter", sizeof *parameters, &parameters, &ssv->count));
    ssv->parameters = parameters;
    ssv->count = 0;
    struct tutti_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tutti_node *node = tutti_parts_child(list, "Parameter"); node && err == TUTTI_OK;
         node = tutti_parts_next(node, "Parameter")) {
        err = read_parameter(parts, node, &parameters[ssv->count]);
        if (err == TUTTI_OK)
            err = keep_parameter(parts, node, &names, parameters, &ssv->count);
    }
    tutti_map_fini(&names);
    return err;
}

static enum tutti_err read_set(struct tutti_parts *parts, const struct tutti_node *top, struct tutti_ssv *ssv)
{
    static const struct tutti_shape_word attributes[] = {SHAPE_TOP_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {{"Parameters", TUTTI_SPACE_SSV, TUTTI_SHAPE_ONE, false},
                                                        SHAPE_SCOPE(TUTTI_SPACE_SSV),
                                                        SHAPE_META,
                                                        SHAPE_ANNOTATIONS(TUTTI_SPACE_SSV),
                                                        {NULL, TUTTI_SPACE_SSV, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    TRY(tutti_parts_version(parts, top));
    TRY(tutti_parts_check(parts, top, &shape));
    TRY(tutti_parts_scope(parts, top, &ssv->scope));
    TRY(tutti_parts_required(parts, top, "name", &ssv->name));
    const struct tutti_node *list = tutti_parts_child(top, "Parameters");
    if (list)
        return read_parameters(parts, list, ssv);
    tutti_parts_warn(parts, top, "<Parameters> is missing, so that nothing is set");
    return TUTTI_OK;
}

enum tutti_err tutti_parts_ssv(struct tutti_parts *parts, const struct tutti_node *top, struct tutti_ssv *ssv)
{
    struct tutti_parts_names outer;
    tutti_parts_enter(parts, &outer);
    enum tutti_err err = read_set(parts, top, ssv);
    tutti_parts_leave(parts, &outer);
    return err;
}

enum tutti_err tutti_ssv_read(struct tutti_ssv **out, const char *file, struct tutti_reader *reader,
                              struct tutti_findings *findings)
{
    *out = NULL;
    struct tutti_ssv *ssv = calloc(1, sizeof *ssv);
    if (!ssv)
        return tutti_fail_memory();
    enum tutti_err err = tutti_parts_open(&ssv->tree, file, reader, TUTTI_SPACE_SSV, "ParameterSet");
    if (err == TUTTI_OK) {
        struct tutti_parts parts;
        tutti_parts_init(&parts, ssv->tree->file, &ssv->arena, findings);
        err = tutti_parts_ssv(&parts, ssv->tree->root, ssv);
        tutti_parts_fini(&parts);
    }
    if (err == TUTTI_OK)
        *out = ssv;
    else
        tutti_ssv_free(ssv);
    return err;
}

void tutti_ssv_free(struct tutti_ssv *ssv)
{
    if (!ssv)
        return;
    tutti_tree_free(ssv->tree);
    tutti_arena_fini(&ssv->arena);
    free(ssv);
}
