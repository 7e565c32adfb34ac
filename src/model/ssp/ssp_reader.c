/* SPDX-License-Identifier: MIT */
#include "model/ssp/ssp_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"

void tt_ssp_reader_init(struct tt_ssp_reader *parts, const char *file, struct tt_arena *arena,
                        struct tt_findings *findings)
{
    *parts = (struct tt_ssp_reader){.file = file, .arena = arena, .report = {.file = file, .findings = findings}};
}

void tt_ssp_reader_fini(struct tt_ssp_reader *parts)
{
    if (parts->report.findings)
        tt_findings_limited_end(&parts->report);
    tt_map_fini(&parts->ids);
    tt_map_fini(&parts->names.units);
    tt_map_fini(&parts->names.enumerations);
}

void tt_ssp_reader_enter_inline(struct tt_ssp_reader *parts, struct tt_ssp_reader_names *outer)
{
    *outer = parts->names;
    parts->names = (struct tt_ssp_reader_names){0};
}

void tt_ssp_reader_leave_inline(struct tt_ssp_reader *parts, const struct tt_ssp_reader_names *outer)
{
    tt_map_fini(&parts->names.units);
    tt_map_fini(&parts->names.enumerations);
    parts->names = *outer;
}

enum tutti_err tt_ssp_reader_fail(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                  const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tt_text_make_printable(text);
    const char *name = tt_tree_find_attribute(node, "name");
    if (!name)
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%u: <%s>: %s", parts->file, node->line, tt_text_excerpt(node->local).text,
                       text);
    return tt_fail(TUTTI_ERR_FORMAT, "%s:%u: <%s> \"%s\": %s", parts->file, node->line,
                   tt_text_excerpt(node->local).text, tt_text_excerpt(name).text, text);
}

void tt_ssp_reader_warn(struct tt_ssp_reader *parts, const struct tt_tree_node *node, const char *format, ...)
{
    char what[110];
    const char *name = tt_tree_find_attribute(node, "name");
    snprintf(what, sizeof what, "<%s>", tt_text_excerpt(node->local).text);
    va_list args;
    va_start(args, format);
    tt_findings_limited_add_v(&parts->report, TUTTI_FINDING_WARNING, node->line, what,
                              name ? tt_text_excerpt(name).text : NULL, format, args);
    va_end(args);
}

/* ---- shapes ---- */

static void ssp_reader_check_attributes(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                        const struct tt_shape *shape)
{
    for (unsigned i = 0; i < node->attribute_count; i++) {
        const char *name = node->attributes[i].name;
        const struct tt_shape_word *known = shape->attributes;
        while (known->text && strcmp(known->text, name) != 0)
            known++;
        if (known->text && known->since_2 && parts->names.version_1)
            tt_ssp_reader_warn(parts, node, "the attribute %s is of SSP 2.0, but the version says 1.0", name);
        if (!known->text && strcmp(name, "xmlns") != 0 && !strchr(name, ':'))
            tt_ssp_reader_warn(parts, node, "unknown attribute %s, which is ignored", tt_text_excerpt(name).text);
    }
}

static const struct tt_shape_child *find_shape_child(const struct tt_shape *shape, const struct tt_tree_node *child)
{
    const struct tt_shape_child *other = NULL;
    for (const struct tt_shape_child *known = shape->children; known->local; known++)
        if (strcmp(known->local, child->local) == 0) {
            if (known->space == child->space)
                return known;
            other = known;
        }
    return other;
}

static enum tutti_err check_shape_children(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                           const struct tt_shape *shape)
{
    uint64_t seen = 0;
    const struct tt_tree_node *chosen = NULL;
    for (const struct tt_tree_node *child = node->first; child; child = child->next) {
        if (child->text) {
            if (strspn(child->text, " \t\r\n") != strlen(child->text))
                tt_ssp_reader_warn(parts, node, "text inside of the element, which is ignored");
            continue;
        }
        if (child->space == TUTTI_SPACE_FOREIGN)
            continue;
        const struct tt_shape_child *known = find_shape_child(shape, child);
        if (!known) {
            tt_ssp_reader_warn(parts, child, "unknown element inside of <%s>, which is ignored", node->local);
            continue;
        }
        if (known->space != child->space)
            tt_ssp_reader_warn(parts, child, "it is of the namespace %s, expected %s",
                               tt_tree_space_prefix(child->space), tt_tree_space_prefix(known->space));
        if (known->since_2 && parts->names.version_1)
            tt_ssp_reader_warn(parts, child, "the element is of SSP 2.0, but the version says 1.0");
        uint64_t bit = (uint64_t)1 << (known - shape->children);
        if (known->count == TUTTI_SHAPE_ONE && seen & bit)
            return tt_ssp_reader_fail(parts, child, "a second one in the same <%s>; put all that is in them into one",
                                      node->local);
        if (known->count == TUTTI_SHAPE_CHOICE && chosen)
            return tt_ssp_reader_fail(parts, child,
                                      "line %u has <%s> already; only one of them can be meant, remove one",
                                      chosen->line, chosen->local);
        if (known->count == TUTTI_SHAPE_CHOICE)
            chosen = child;
        seen |= bit;
    }
    return TUTTI_OK;
}

enum tutti_err tt_ssp_reader_check(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                   const struct tt_shape *shape)
{
    ssp_reader_check_attributes(parts, node, shape);
    TRY(check_shape_children(parts, node, shape));
    const char *id = tt_tree_find_attribute(node, "id");
    if (!id)
        return TUTTI_OK;
    int64_t earlier;
    TRY(tt_map_add(&parts->ids, id, node->line, &earlier));
    if (earlier != TUTTI_MAP_NONE)
        return tt_ssp_reader_fail(parts, node, "the id \"%s\" is that of line %u, too; give it another",
                                  tt_text_excerpt(id).text, (unsigned)earlier);
    return TUTTI_OK;
}

/* ---- elements ---- */

bool tt_ssp_reader_has_name(const struct tt_tree_node *node, const char *local)
{
    return !node->text && node->space != TUTTI_SPACE_FOREIGN && strcmp(node->local, local) == 0;
}

static struct tt_tree_node *ssp_reader_find_from(struct tt_tree_node *node, const char *local)
{
    while (node && !tt_ssp_reader_has_name(node, local))
        node = node->next;
    return node;
}

struct tt_tree_node *tt_ssp_reader_find_child(const struct tt_tree_node *node, const char *local)
{
    return ssp_reader_find_from(node->first, local);
}

struct tt_tree_node *tt_ssp_reader_find_next(const struct tt_tree_node *node, const char *local)
{
    return ssp_reader_find_from(node->next, local);
}

size_t tt_ssp_reader_count_children(const struct tt_tree_node *node, const char *local)
{
    size_t count = 0;
    for (const struct tt_tree_node *child = tt_ssp_reader_find_child(node, local); child;
         child = tt_ssp_reader_find_next(child, local))
        count++;
    return count;
}

enum tutti_err tt_ssp_reader_new_array(struct tt_ssp_reader *parts, const struct tt_tree_node *node, const char *local,
                                       size_t size, void *out, size_t *count)
{
    *count = tt_ssp_reader_count_children(node, local);
    void *array = *count ? tt_arena_array(parts->arena, *count, size) : NULL;
    memcpy(out, &array, sizeof array);
    return *count && !array ? tt_fail_memory() : TUTTI_OK;
}

/* ---- attributes ---- */

enum tutti_err tt_ssp_reader_require(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                     const char *name, const char **out)
{
    *out = tt_tree_find_attribute(node, name);
    return *out ? TUTTI_OK : tt_ssp_reader_fail(parts, node, "the attribute %s is missing; add it", name);
}

static enum tutti_err ssp_reader_fail_value(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                            const char *name, const char *text, const char *expected)
{
    return tt_ssp_reader_fail(parts, node, "%s is \"%s\", expected %s", name, tt_text_excerpt(text).text, expected);
}

static bool ssp_reader_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool tt_ssp_reader_parse_bool(const char *text, size_t n, bool *out)
{
    for (; n && ssp_reader_is_space(*text); text++)
        n--;
    while (n && ssp_reader_is_space(text[n - 1]))
        n--;
    if ((n == 4 && memcmp(text, "true", 4) == 0) || (n == 1 && *text == '1'))
        return *out = true, true;
    if ((n == 5 && memcmp(text, "false", 5) == 0) || (n == 1 && *text == '0'))
        return *out = false, true;
    return false;
}

enum tutti_err tt_ssp_reader_read_bool(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                       const char *name, bool *out)
{
    const char *text = tt_tree_find_attribute(node, name);
    if (!text || tt_ssp_reader_parse_bool(text, strlen(text), out))
        return TUTTI_OK;
    return ssp_reader_fail_value(parts, node, name, text, "true or false");
}

enum tutti_err tt_ssp_reader_read_double(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                         const char *name, double *out, bool *given)
{
    const char *text = tt_tree_find_attribute(node, name);
    double value;
    if (given)
        *given = text != NULL;
    if (!text)
        return TUTTI_OK;
    if (!tt_number_read_double(text, strlen(text), &value) || !isfinite(value))
        return ssp_reader_fail_value(parts, node, name, text, "a finite number");
    *out = value;
    return TUTTI_OK;
}

enum tutti_err tt_ssp_reader_read_int(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                      const char *name, int64_t *out)
{
    const char *text = tt_tree_find_attribute(node, name);
    if (!text || tt_number_read_int(text, strlen(text), out))
        return TUTTI_OK;
    return ssp_reader_fail_value(parts, node, name, text, "a whole number of at most 64 bits");
}

enum tutti_err tt_ssp_reader_read_wide(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                       const char *name, tt_wide *out)
{
    const char *text = tt_tree_find_attribute(node, name);
    int64_t number = 0;
    uint64_t large = 0;
    if (!text)
        return TUTTI_OK;
    if (tt_number_read_int(text, strlen(text), &number))
        *out = number;
    else if (tt_number_read_uint(text, strlen(text), &large))
        *out = large;
    else
        return ssp_reader_fail_value(parts, node, name, text, "a whole number of at most 64 bits");
    return TUTTI_OK;
}

enum tutti_err tt_ssp_reader_read_word(struct tt_ssp_reader *parts, const struct tt_tree_node *node, const char *name,
                                       const struct tt_shape_word *words, size_t *out)
{
    const char *text = tt_tree_find_attribute(node, name);
    if (!text)
        return TUTTI_OK;
    for (size_t i = 0; words[i].text; i++)
        if (strcmp(words[i].text, text) == 0) {
            if (words[i].since_2 && parts->names.version_1)
                tt_ssp_reader_warn(parts, node, "%s=\"%s\" is of SSP 2.0, but the version says 1.0", name, text);
            *out = i;
            return TUTTI_OK;
        }
    char expected[256] = "one of ";
    for (size_t i = 0, used = strlen(expected); words[i].text && used < sizeof expected; i++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%s", i ? ", " : "", words[i].text);
    return ssp_reader_fail_value(parts, node, name, text, expected);
}

size_t tt_ssp_reader_next_word(const char **text)
{
    while (ssp_reader_is_space(**text))
        ++*text;
    size_t n = 0;
    while ((*text)[n] && !ssp_reader_is_space((*text)[n]))
        n++;
    return n;
}

enum tutti_err tt_ssp_reader_check_unique(const struct tt_ssp_reader *parts, struct tt_map *map,
                                          const struct tt_tree_node *node, const char *name, const char *what)
{
    int64_t earlier;
    TRY(tt_map_add(map, name, node->line, &earlier));
    if (earlier == TUTTI_MAP_NONE)
        return TUTTI_OK;
    return tt_ssp_reader_fail(parts, node, "two %s are called \"%s\", the other one in line %u; rename or remove one",
                              what, tt_text_excerpt(name).text, (unsigned)earlier);
}

enum tutti_err tt_ssp_reader_open(struct tt_tree **tree, const char *file, struct tt_byte_source *reader,
                                  enum tt_tree_space space, const char *local)
{
    TRY(tt_tree_read(tree, file, reader));
    const struct tt_tree_node *root = (*tree)->root;
    if (root->space == space && strcmp(root->local, local) == 0)
        return TUTTI_OK;
    enum tutti_err err;
    if (strcmp(root->local, local) == 0)
        err = tt_fail(TUTTI_ERR_FORMAT,
                      "%s:%u: the element <%s> is not of SSP's namespace; expected <%s:%s xmlns:%s=\"%s\">", file,
                      root->line, tt_text_excerpt(root->name).text, tt_tree_space_prefix(space), local,
                      tt_tree_space_prefix(space), tt_tree_space_uri(space));
    else
        err = tt_fail(TUTTI_ERR_FORMAT, "%s:%u: the document is a <%s>, expected <%s:%s>", file, root->line,
                      tt_text_excerpt(root->name).text, tt_tree_space_prefix(space), local);
    tt_tree_free(*tree);
    *tree = NULL;
    return err;
}

/* Parts that several kinds of documents share: version, units, enumerations, types, dimensions, annotations. */

static const struct tt_shape_word no_attributes[] = {{NULL, false}};
static const struct tt_shape_child no_children[] = {{NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};

enum tutti_err tt_ssp_reader_read_version(struct tt_ssp_reader *parts, const struct tt_tree_node *top)
{
    const char *version = tt_tree_find_attribute(top, "version");
    if (!version) {
        tt_ssp_reader_warn(parts, top, "the attribute version is missing; it is read as 2.0");
        version = "2.0";
    }
    parts->names.version_1 = strcmp(version, "1.0") == 0;
    if (!parts->names.version_1 && strcmp(version, "2.0") != 0)
        tt_ssp_reader_warn(parts, top, "version is \"%s\", expected 1.0 or 2.0; it is read as 2.0",
                           tt_text_excerpt(version).text);
    return TUTTI_OK;
}

/* ---- units ---- */

static int compare_units(const void *a, const void *b)
{
    const struct tt_unit_def *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static enum tutti_err read_base_unit(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                     struct tt_unit_def *unit)
{
    static const struct tt_shape_word attributes[] = {
        {"kg", false}, {"m", false},   {"s", false},      {"A", false},      {"K", false}, {"mol", false},
        {"cd", false}, {"rad", false}, {"factor", false}, {"offset", false}, {NULL, false}};
    static const struct tt_shape shape = {attributes, no_children};
    TRY(tt_ssp_reader_check(parts, node, &shape));
    for (size_t i = 0; i < sizeof unit->exponents / sizeof *unit->exponents; i++) {
        int64_t exponent = 0;
        TRY(tt_ssp_reader_read_int(parts, node, attributes[i].text, &exponent));
        if (exponent < INT32_MIN || exponent > INT32_MAX)
            return tt_ssp_reader_fail(parts, node, "%s is beyond all use as an exponent", attributes[i].text);
        unit->exponents[i] = (int32_t)exponent;
    }
    TRY(tt_ssp_reader_read_double(parts, node, "factor", &unit->factor, NULL));
    TRY(tt_ssp_reader_read_double(parts, node, "offset", &unit->offset, NULL));
    if (unit->factor == 0)
        return tt_ssp_reader_fail(parts, node,
                                  "factor is 0, so that no value can be converted; expected another number");
    unit->has_base = true;
    return TUTTI_OK;
}

static enum tutti_err read_units(struct tt_ssp_reader *parts, const struct tt_tree_node *list,
                                 struct tt_ssp_scope *scope)
{
    static const struct tt_shape_child list_children[] = {{"Unit", TUTTI_SPACE_SSC, TUTTI_SHAPE_MANY, false},
                                                          {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape_word attributes[] = {SHAPE_BASE_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"BaseUnit", TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false},
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSC),
                                                     {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape list_shape = {no_attributes, list_children}, shape = {attributes, children};
    TRY(tt_ssp_reader_check(parts, list, &list_shape));
    struct tt_unit_def *units, *unit;
    TRY(tt_ssp_reader_new_array(parts, list, "Unit", sizeof *units, &units, &scope->unit_count));
    scope->units = unit = units;
    for (const struct tt_tree_node *node = tt_ssp_reader_find_child(list, "Unit"); node;
         node = tt_ssp_reader_find_next(node, "Unit")) {
        TRY(tt_ssp_reader_check(parts, node, &shape));
        TRY(tt_ssp_reader_require(parts, node, "name", &unit->name));
        TRY(tt_ssp_reader_check_unique(parts, &parts->names.units, node, unit->name, "units of this document"));
        unit->defined = true;
        unit->factor = 1;
        unit->line = node->line;
        const struct tt_tree_node *base = tt_ssp_reader_find_child(node, "BaseUnit");
        if (base)
            TRY(read_base_unit(parts, base, unit));
        else
            tt_ssp_reader_warn(parts, node, "<BaseUnit> is missing; the unit cannot be converted to others");
        unit++;
    }
    if (scope->unit_count > 1)
        qsort(units, scope->unit_count, sizeof *units, compare_units);
    return TUTTI_OK;
}

/* ---- enumerations ---- */

static int compare_enumerations(const void *a, const void *b)
{
    const struct tt_ssp_enumeration *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static enum tutti_err read_enumeration_items(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                             struct tt_ssp_enumeration *enumeration)
{
    static const struct tt_shape_word attributes[] = {{"name", false}, {"value", false}, {NULL, false}};
    static const struct tt_shape shape = {attributes, no_children};
    struct tt_enum_item *item;
    TRY(tt_ssp_reader_new_array(parts, node, "Item", sizeof *item, &item, &enumeration->item_count));
    enumeration->items = item;
    struct tt_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tt_tree_node *child = tt_ssp_reader_find_child(node, "Item"); child && err == TUTTI_OK;
         child = tt_ssp_reader_find_next(child, "Item"), item++) {
        const char *value;
        if ((err = tt_ssp_reader_check(parts, child, &shape)) == TUTTI_OK &&
            (err = tt_ssp_reader_require(parts, child, "name", &item->name)) == TUTTI_OK &&
            (err = tt_ssp_reader_require(parts, child, "value", &value)) == TUTTI_OK &&
            (err = tt_ssp_reader_read_int(parts, child, "value", &item->value)) == TUTTI_OK)
            err = tt_ssp_reader_check_unique(parts, &names, child, item->name, "items of this enumeration");
    }
    tt_map_fini(&names);
    if (err == TUTTI_OK && enumeration->item_count == 0)
        tt_ssp_reader_warn(parts, node, "it has no <Item>");
    return err;
}

static enum tutti_err read_enumerations(struct tt_ssp_reader *parts, const struct tt_tree_node *list,
                                        struct tt_ssp_scope *scope)
{
    static const struct tt_shape_child list_children[] = {{"Enumeration", TUTTI_SPACE_SSC, TUTTI_SHAPE_MANY, false},
                                                          {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape_word attributes[] = {SHAPE_BASE_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"Item", TUTTI_SPACE_SSC, TUTTI_SHAPE_MANY, false},
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSC),
                                                     {NULL, TUTTI_SPACE_SSC, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape list_shape = {no_attributes, list_children}, shape = {attributes, children};
    TRY(tt_ssp_reader_check(parts, list, &list_shape));
    struct tt_ssp_enumeration *enumerations, *enumeration;
    TRY(tt_ssp_reader_new_array(parts, list, "Enumeration", sizeof *enumerations, &enumerations,
                                &scope->enumeration_count));
    scope->enumerations = enumeration = enumerations;
    for (const struct tt_tree_node *node = tt_ssp_reader_find_child(list, "Enumeration"); node;
         node = tt_ssp_reader_find_next(node, "Enumeration"), enumeration++) {
        TRY(tt_ssp_reader_check(parts, node, &shape));
        TRY(tt_ssp_reader_require(parts, node, "name", &enumeration->name));
        TRY(tt_ssp_reader_check_unique(parts, &parts->names.enumerations, node, enumeration->name,
                                       "enumerations of this document"));
        TRY(read_enumeration_items(parts, node, enumeration));
    }
    if (scope->enumeration_count > 1)
        qsort(enumerations, scope->enumeration_count, sizeof *enumerations, compare_enumerations);
    return TUTTI_OK;
}

enum tutti_err tt_ssp_reader_read_scope(struct tt_ssp_reader *parts, const struct tt_tree_node *top,
                                        struct tt_ssp_scope *scope)
{
    scope->file = parts->file;
    const struct tt_tree_node *units = tt_ssp_reader_find_child(top, "Units");
    const struct tt_tree_node *enumerations = tt_ssp_reader_find_child(top, "Enumerations");
    if (units)
        TRY(read_units(parts, units, scope));
    if (enumerations)
        TRY(read_enumerations(parts, enumerations, scope));
    return TUTTI_OK;
}

const struct tt_unit_def *tt_ssp_reader_find_unit(const struct tt_ssp_scope *scope, const char *name)
{
    const struct tt_unit_def wanted = {.name = name};
    return scope->unit_count ? bsearch(&wanted, scope->units, scope->unit_count, sizeof wanted, compare_units) : NULL;
}

const struct tt_ssp_enumeration *tt_ssp_reader_find_enum(const struct tt_ssp_scope *scope, const char *name)
{
    const struct tt_ssp_enumeration wanted = {.name = name};
    return scope->enumeration_count
               ? bsearch(&wanted, scope->enumerations, scope->enumeration_count, sizeof wanted, compare_enumerations)
               : NULL;
}

/* ---- types ---- */

static const struct {
    const char *name;
    enum tt_type type;
    bool loose;
} types[] = {{"Real", TUTTI_TYPE_FLOAT64, true},
             {"Integer", TUTTI_TYPE_INT32, true},
#define X(name, text, ctype) {text, TUTTI_TYPE_##name, false},
             TUTTI_TYPES(X)
#undef X
};

static bool ssp_reader_find_type(const struct tt_tree_node *node, size_t *index)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (tt_ssp_reader_has_name(node, types[i].name)) {
            *index = i;
            return types[i].type != TUTTI_TYPE_CLOCK || node->space != TUTTI_SPACE_SSD;
        }
    return false;
}

const struct tt_tree_node *tt_ssp_reader_find_type_node(const struct tt_tree_node *node)
{
    size_t index;
    const struct tt_tree_node *child = node->first;
    while (child && !ssp_reader_find_type(child, &index))
        child = child->next;
    return child;
}

void tt_ssp_reader_read_type(struct tt_ssp_reader *parts, const struct tt_tree_node *node, struct tt_ssp_type *type)
{
    size_t index = 0;
    if (!ssp_reader_find_type(node, &index))
        return;
    *type = (struct tt_ssp_type){.given = true, .loose = types[index].loose, .type = types[index].type};
    if (tt_type_is_float(type->type)) {
        type->unit = tt_tree_find_attribute(node, "unit");
        if (type->unit && !*type->unit) {
            tt_ssp_reader_warn(parts, node, "unit is empty; it is read as if it were absent");
            type->unit = NULL;
        }
        if (type->unit && tt_map_find(&parts->names.units, type->unit) == TUTTI_MAP_NONE)
            tt_ssp_reader_warn(parts, node, "the unit \"%s\" is not among the <Units> of this document",
                               tt_text_excerpt(type->unit).text);
    } else if (type->type == TUTTI_TYPE_ENUMERATION) {
        type->enumeration = tt_tree_find_attribute(node, "name");
        if (type->enumeration && tt_map_find(&parts->names.enumerations, type->enumeration) == TUTTI_MAP_NONE)
            tt_ssp_reader_warn(parts, node, "it is not among the <Enumerations> of this document");
    } else if (type->type == TUTTI_TYPE_BINARY) {
        type->mime_type = tt_tree_find_attribute(node, "mime-type");
    }
}

enum tutti_err tt_ssp_reader_read_signal_type(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                              struct tt_ssp_type *type)
{
    static const struct tt_shape_word unit[] = {{"unit", false}, {NULL, false}};
    static const struct tt_shape_word name[] = {{"name", false}, {NULL, false}};
    static const struct tt_shape_word mime_type[] = {{"mime-type", false}, {NULL, false}};
    static const struct tt_shape_word clock[] = {
        {"intervalVariability", false}, {"intervalDecimal", false}, {"shiftDecimal", false},
        {"supportsFraction", false},    {"resolution", false},      {"intervalCounter", false},
        {"shiftCounter", false},        {"priority", false},        {NULL, false}};
    const struct tt_tree_node *child = tt_ssp_reader_find_type_node(node);
    if (!child)
        return TUTTI_OK;
    tt_ssp_reader_read_type(parts, child, type);
    struct tt_shape shape = {no_attributes, no_children};
    if (tt_type_is_float(type->type))
        shape.attributes = unit;
    else if (type->type == TUTTI_TYPE_ENUMERATION)
        shape.attributes = name;
    else if (type->type == TUTTI_TYPE_BINARY)
        shape.attributes = mime_type;
    else if (type->type == TUTTI_TYPE_CLOCK)
        shape.attributes = clock;
    TRY(tt_ssp_reader_check(parts, child, &shape));
    if (type->type == TUTTI_TYPE_ENUMERATION && !type->enumeration)
        return tt_ssp_reader_fail(parts, child, "the attribute name is missing; add the name of an enumeration");
    return TUTTI_OK;
}

/* ---- dimensions ---- */

enum tutti_err tt_ssp_reader_read_dimensions(struct tt_ssp_reader *parts, const struct tt_tree_node *node, bool fixed,
                                             const struct tt_ssp_dimension **dimensions, size_t *count)
{
    static const struct tt_shape_word attributes[] = {{"size", false}, {"sizeConnector", false}, {NULL, false}};
    static const struct tt_shape shape = {attributes, no_children};
    struct tt_ssp_dimension *dimension;
    TRY(tt_ssp_reader_new_array(parts, node, "Dimension", sizeof *dimension, &dimension, count));
    *dimensions = dimension;
    for (const struct tt_tree_node *child = tt_ssp_reader_find_child(node, "Dimension"); child;
         child = tt_ssp_reader_find_next(child, "Dimension"), dimension++) {
        TRY(tt_ssp_reader_check(parts, child, &shape));
        const char *size = tt_tree_find_attribute(child, "size");
        dimension->size_connector = tt_tree_find_attribute(child, "sizeConnector");
        dimension->has_size = size != NULL;
        if (size && !tt_number_read_uint(size, strlen(size), &dimension->size))
            return tt_ssp_reader_fail(parts, child, "size is \"%s\", expected a whole number",
                                      tt_text_excerpt(size).text);
        if (size && dimension->size_connector)
            return tt_ssp_reader_fail(parts, child, "it has a size and a sizeConnector; remove one of them");
        if (fixed && !size)
            return tt_ssp_reader_fail(parts, child, "the size must be a number here; add the attribute size");
    }
    return TUTTI_OK;
}

/* ---- annotations ---- */

const struct tt_tree_node *tt_ssp_reader_read_settings(struct tt_ssp_reader *parts, const struct tt_tree_node *node)
{
    const struct tt_tree_node *settings = NULL, *list = tt_ssp_reader_find_child(node, "Annotations");
    bool found = false;
    for (const struct tt_tree_node *annotation = list ? tt_ssp_reader_find_child(list, "Annotation") : NULL; annotation;
         annotation = tt_ssp_reader_find_next(annotation, "Annotation")) {
        const char *type = tt_tree_find_attribute(annotation, "type");
        if (!type || strcmp(type, TUTTI_ANNOTATION) != 0)
            continue;
        if (found) {
            tt_ssp_reader_warn(parts, annotation, "a second annotation of type " TUTTI_ANNOTATION ", which is ignored");
            continue;
        }
        found = true;
        settings = annotation->first;
        while (settings && settings->text)
            settings = settings->next;
    }
    return settings;
}
