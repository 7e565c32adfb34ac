/* SPDX-License-Identifier: MIT */
#include "ssp/parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"

void tutti_parts_init(struct tutti_parts *parts, const char *file, struct tutti_arena *arena,
                      struct tutti_findings *findings)
{
    *parts = (struct tutti_parts){.file = file, .arena = arena, .report = {.file = file, .findings = findings}};
}

void tutti_parts_fini(struct tutti_parts *parts)
{
    if (parts->report.findings)
        tutti_desc_report_end(&parts->report);
    tutti_map_fini(&parts->ids);
    tutti_map_fini(&parts->names.units);
    tutti_map_fini(&parts->names.enumerations);
}

void tutti_parts_enter(struct tutti_parts *parts, struct tutti_parts_names *outer)
{
    *outer = parts->names;
    parts->names = (struct tutti_parts_names){0};
}

void tutti_parts_leave(struct tutti_parts *parts, const struct tutti_parts_names *outer)
{
    tutti_map_fini(&parts->names.units);
    tutti_map_fini(&parts->names.enumerations);
    parts->names = *outer;
}

enum tutti_err tutti_parts_fail(const struct tutti_parts *parts, const struct tutti_node *node, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tutti_str_make_printable(text);
    const char *name = tutti_node_attribute(node, "name");
    if (!name)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: <%s>: %s", parts->file, node->line,
                          tutti_str_show(node->local).text, text);
    return tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: <%s> \"%s\": %s", parts->file, node->line,
                      tutti_str_show(node->local).text, tutti_str_show(name).text, text);
}

void tutti_parts_warn(struct tutti_parts *parts, const struct tutti_node *node, const char *format, ...)
{
    char what[110];
    const char *name = tutti_node_attribute(node, "name");
    snprintf(what, sizeof what, "<%s>", tutti_str_show(node->local).text);
    va_list args;
    va_start(args, format);
    tutti_desc_report_add_v(&parts->report, TUTTI_FINDING_WARNING, node->line, what,
                            name ? tutti_str_show(name).text : NULL, format, args);
    va_end(args);
}

/* ---- shapes ---- */

static void check_attributes(struct tutti_parts *parts, const struct tutti_node *node, const struct tutti_shape *shape)
{
    for (unsigned i = 0; i < node->attribute_count; i++) {
        const char *name = node->attributes[i].name;
        const struct tutti_shape_word *known = shape->attributes;
        while (known->text && strcmp(known->text, name) != 0)
            known++;
        if (known->text && known->since_2 && parts->names.version_1)
            tutti_parts_warn(parts, node, "the attribute %s is of SSP 2.0, but the version says 1.0", name);
        if (!known->text && strcmp(name, "xmlns") != 0 && !strchr(name, ':'))
            tutti_parts_warn(parts, node, "unknown attribute %s, which is ignored", tutti_str_show(name).text);
    }
}

static const struct tutti_shape_child *find_child(const struct tutti_shape *shape, const struct tutti_node *child)
{
    const struct tutti_shape_child *other = NULL;
    for (const struct tutti_shape_child *known = shape->children; known->local; known++)
        if (strcmp(known->local, child->local) == 0) {
            if (known->space == child->space)
                return known;
            other = known;
        }
    return other;
}

static enum tutti_err check_children(struct tutti_parts *parts, const struct tutti_node *node,
                                     const struct tutti_shape *shape)
{
    uint64_t seen = 0;
    const struct tutti_node *chosen = NULL;
    for (const struct tutti_node *child = node->first; child; child = child->next) {
        if (child->text) {
            if (strspn(child->text, " \t\r\n") != strlen(child->text))
                tutti_parts_warn(parts, node, "text inside of the element, which is ignored");
            continue;
        }
        if (child->space == TUTTI_SPACE_FOREIGN)
            continue;
        const struct tutti_shape_child *known = find_child(shape, child);
        if (!known) {
            tutti_parts_warn(parts, child, "unknown element inside of <%s>, which is ignored", node->local);
            continue;
        }
        if (known->space != child->space)
            tutti_parts_warn(parts, child, "it is of the namespace %s, expected %s", tutti_space_prefix(child->space),
                             tutti_space_prefix(known->space));
        if (known->since_2 && parts->names.version_1)
            tutti_parts_warn(parts, child, "the element is of SSP 2.0, but the version says 1.0");
        uint64_t bit = (uint64_t)1 << (known - shape->children);
        if (known->count == TUTTI_SHAPE_ONE && seen & bit)
            return tutti_parts_fail(parts, child, "a second one in the same <%s>; put all that is in them into one",
                                    node->local);
        if (known->count == TUTTI_SHAPE_CHOICE && chosen)
            return tutti_parts_fail(parts, child, "line %u has <%s> already; only one of them can be meant, remove one",
                                    chosen->line, chosen->local);
        if (known->count == TUTTI_SHAPE_CHOICE)
            chosen = child;
        seen |= bit;
    }
    return TUTTI_OK;
}

enum tutti_err tutti_parts_check(struct tutti_parts *parts, const struct tutti_node *node,
                                 const struct tutti_shape *shape)
{
    check_attributes(parts, node, shape);
    TRY(check_children(parts, node, shape));
    const char *id = tutti_node_attribute(node, "id");
    if (!id)
        return TUTTI_OK;
    int64_t earlier;
    TRY(tutti_map_add(&parts->ids, id, node->line, &earlier));
    if (earlier != TUTTI_MAP_NONE)
        return tutti_parts_fail(parts, node, "the id \"%s\" is that of line %u, too; give it another",
                                tutti_str_show(id).text, (unsigned)earlier);
    return TUTTI_OK;
}

/* ---- elements ---- */

bool tutti_parts_is(const struct tutti_node *node, const char *local)
{
    return !node->text && node->space != TUTTI_SPACE_FOREIGN && strcmp(node->local, local) == 0;
}

static struct tutti_node *find_from(struct tutti_node *node, const char *local)
{
    while (node && !tutti_parts_is(node, local))
        node = node->next;
    return node;
}

struct tutti_node *tutti_parts_child(const struct tutti_node *node, const char *local)
{
    return find_from(node->first, local);
}

struct tutti_node *tutti_parts_next(const struct tutti_node *node, const char *local)
{
    return find_from(node->next, local);
}

size_t tutti_parts_count(const struct tutti_node *node, const char *local)
{
    size_t count = 0;
    for (const struct tutti_node *child = tutti_parts_child(node, local); child; child = tutti_parts_next(child, local))
        count++;
    return count;
}

enum tutti_err tutti_parts_array(struct tutti_parts *parts, const struct tutti_node *node, const char *local,
                                 size_t size, void *out, size_t *count)
{
    *count = tutti_parts_count(node, local);
    void *array = *count ? tutti_arena_array(parts->arena, *count, size) : NULL;
    memcpy(out, &array, sizeof array);
    return *count && !array ? tutti_fail_memory() : TUTTI_OK;
}

/* ---- attributes ---- */

enum tutti_err tutti_parts_required(const struct tutti_parts *parts, const struct tutti_node *node, const char *name,
                                    const char **out)
{
    *out = tutti_node_attribute(node, name);
    return *out ? TUTTI_OK : tutti_parts_fail(parts, node, "the attribute %s is missing; add it", name);
}

static enum tutti_err fail_value(const struct tutti_parts *parts, const struct tutti_node *node, const char *name,
                                 const char *text, const char *expected)
{
    return tutti_parts_fail(parts, node, "%s is \"%s\", expected %s", name, tutti_str_show(text).text, expected);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool tutti_parts_read_bool(const char *text, size_t n, bool *out)
{
    for (; n && is_space(*text); text++)
        n--;
    while (n && is_space(text[n - 1]))
        n--;
    if ((n == 4 && memcmp(text, "true", 4) == 0) || (n == 1 && *text == '1'))
        return *out = true, true;
    if ((n == 5 && memcmp(text, "false", 5) == 0) || (n == 1 && *text == '0'))
        return *out = false, true;
    return false;
}

enum tutti_err tutti_parts_bool(const struct tutti_parts *parts, const struct tutti_node *node, const char *name,
                                bool *out)
{
    const char *text = tutti_node_attribute(node, name);
    if (!text || tutti_parts_read_bool(text, strlen(text), out))
        return TUTTI_OK;
    return fail_value(parts, node, name, text, "true or false");
}

enum tutti_err tutti_parts_double(const struct tutti_parts *parts, const struct tutti_node *node, const char *name,
                                  double *out, bool *given)
{
    const char *text = tutti_node_attribute(node, name);
    double value;
    if (given)
        *given = text != NULL;
    if (!text)
        return TUTTI_OK;
    if (!tutti_number_read_double(text, strlen(text), &value) || !isfinite(value))
        return fail_value(parts, node, name, text, "a finite number");
    *out = value;
    return TUTTI_OK;
}

enum tutti_err tutti_parts_int(const struct tutti_parts *parts, const struct tutti_node *node, const char *name,
                               int64_t *out)
{
    const char *text = tutti_node_attribute(node, name);
    if (!text || tutti_number_read_int(text, strlen(text), out))
        return TUTTI_OK;
    return fail_value(parts, node, name, text, "a whole number of at most 64 bits");
}

enum tutti_err tutti_parts_wide(const struct tutti_parts *parts, const struct tutti_node *node, const char *name,
                                tutti_wide *out)
{
    const char *text = tutti_node_attribute(node, name);
    int64_t number = 0;
    uint64_t large = 0;
    if (!text)
        return TUTTI_OK;
    if (tutti_number_read_int(text, strlen(text), &number))
        *out = number;
    else if (tutti_number_read_uint(text, strlen(text), &large))
        *out = large;
    else
        return fail_value(parts, node, name, text, "a whole number of at most 64 bits");
    return TUTTI_OK;
}

enum tutti_err tutti_parts_word(struct tutti_parts *parts, const struct tutti_node *node, const char *name,
                                const struct tutti_shape_word *words, size_t *out)
{
    const char *text = tutti_node_attribute(node, name);
    if (!text)
        return TUTTI_OK;
    for (size_t i = 0; words[i].text; i++)
        if (strcmp(words[i].text, text) == 0) {
            if (words[i].since_2 && parts->names.version_1)
                tutti_parts_warn(parts, node, "%s=\"%s\" is of SSP 2.0, but the version says 1.0", name, text);
            *out = i;
            return TUTTI_OK;
        }
    char expected[256] = "one of ";
    for (size_t i = 0, used = strlen(expected); words[i].text && used < sizeof expected; i++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%s", i ? ", " : "", words[i].text);
    return fail_value(parts, node, name, text, expected);
}

size_t tutti_parts_next_word(const char **text)
{
    while (is_space(**text))
        ++*text;
    size_t n = 0;
    while ((*text)[n] && !is_space((*text)[n]))
        n++;
    return n;
}

enum tutti_err tutti_parts_unique(const struct tutti_parts *parts, struct tutti_map *map, const struct tutti_node *node,
                                  const char *name, const char *what)
{
    int64_t earlier;
    TRY(tutti_map_add(map, name, node->line, &earlier));
    if (earlier == TUTTI_MAP_NONE)
        return TUTTI_OK;
    return tutti_parts_fail(parts, node, "two %s are called \"%s\", the other one in line %u; rename or remove one",
                            what, tutti_str_show(name).text, (unsigned)earlier);
}

enum tutti_err tutti_parts_open(struct tutti_tree **tree, const char *file, struct tutti_reader *reader,
                                enum tutti_space space, const char *local)
{
    TRY(tutti_tree_read(tree, file, reader));
    const struct tutti_node *root = (*tree)->root;
    if (root->space == space && strcmp(root->local, local) == 0)
        return TUTTI_OK;
    enum tutti_err err;
    if (strcmp(root->local, local) == 0)
        err = tutti_fail(TUTTI_ERR_FORMAT,
                         "%s:%u: the element <%s> is not of SSP's namespace; expected <%s:%s xmlns:%s=\"%s\">", file,
                         root->line, tutti_str_show(root->name).text, tutti_space_prefix(space), local,
                         tutti_space_prefix(space), tutti_space_uri(space));
    else
        err = tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: the document is a <%s>, expected <%s:%s>", file, root->line,
                         tutti_str_show(root->name).text, tutti_space_prefix(space), local);
    tutti_tree_free(*tree);
    *tree = NULL;
    return err;
}
