/* SPDX-License-Identifier: MIT */
#include "model/ssp/ssp_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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
        tt_limited_findings_end(&parts->report);
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
    tt_limited_findings_add_v(&parts->report, TUTTI_FINDING_WARNING, node->line, what,
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
