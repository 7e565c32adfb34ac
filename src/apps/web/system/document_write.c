/* SPDX-License-Identifier: MIT */
/* Converts JSON to the tree of an SSP. The content of the file (`before`, as document_read.c reports it) is compared
 * with that of the page, and the tree is changed where they differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "fmu/fmu.h"
#include "model/system/ssp_elements.h"
#include "apps/web/system/document_read.h"
#include "apps/web/system/parameter_changes.h"
#include "apps/web/system/origins.h"

enum { DEEPEST = 50, MOST_NAME = 1000 };

struct document_writer {
    struct tt_system_draft *draft;
    struct tt_editor maker;
    struct tt_tree_node *root;
    struct tt_parameter_changes sets;
    struct tt_origins origins;
};

/* ---- what is sent ---- */

static const char *document_write_text(json_t *json, const char *key)
{
    return json_string_value(json_object_get(json, key));
}

static enum tutti_err check_name(const char *name, const char *what)
{
    if (!name || !*name)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s needs a name", what);
    if (strlen(name) > MOST_NAME || !tt_tree_is_encodable(name))
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s cannot be called '%s'", what, tt_text_excerpt(name).text);
    return TUTTI_OK;
}

static enum tutti_err check_json_list(json_t *json, const char *key)
{
    json_t *list = json_object_get(json, key);
    size_t i;
    json_t *item;
    if (list && !json_is_array(list))
        return tt_fail(TUTTI_ERR_ARGUMENT, "\"%s\" has to be a list", key);
    json_array_foreach(list, i, item)
    {
        if (!json_is_object(item))
            return tt_fail(TUTTI_ERR_ARGUMENT, "item %zu of \"%s\" has to be an object", i + 1, key);
    }
    return TUTTI_OK;
}

static bool is_equal(json_t *a, json_t *b, const char *key)
{
    json_t *x = json_object_get(a, key), *y = json_object_get(b, key);
    if (json_is_number(x) && json_is_number(y))
        return json_number_value(x) == json_number_value(y);
    return json_is_null(x) || !x ? json_is_null(y) || !y : json_equal(x, y);
}

static json_t *document_write_find_named(json_t *list, const char *key, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const char *text = document_write_text(item, key);
        if (text && name && strcmp(text, name) == 0)
            return item;
    }
    return NULL;
}

/* ---- attributes ---- */

static void remove_attribute(struct tt_tree_node *node, const char *name)
{
    for (unsigned i = 0; i < node->attribute_count; i++)
        if (strcmp(node->attributes[i].name, name) == 0) {
            memmove(&node->attributes[i], &node->attributes[i + 1],
                    (node->attribute_count - i - 1) * sizeof *node->attributes);
            node->attribute_count--;
            return;
        }
}

static void document_write_set_number(struct document_writer *writer, struct tt_tree_node *node, const char *name,
                                      json_t *value)
{
    tt_edit_set_number(&writer->maker, node, name, json_number_value(value));
}

/* Related numbers in a separate element; no element if one is missing or all are unchanged. */
static void sync_numbers(struct document_writer *writer, struct tt_tree_node *node, const char *local, json_t *json,
                         json_t *before, const char *const *names)
{
    bool differs = false;
    for (const char *const *name = names; *name; name++) {
        if (!json_is_number(json_object_get(json, *name)))
            return;
        differs |= !is_equal(json, before, *name);
    }
    if (!differs)
        return;
    struct tt_tree_node *geometry = tt_edit_add_once(&writer->maker, node, TUTTI_SPACE_SSD, local);
    for (const char *const *name = names; *name; name++)
        document_write_set_number(writer, geometry, *name, json_object_get(json, *name));
}

static enum tutti_err sync_settings(struct document_writer *writer, struct tt_tree_node *node, json_t *json,
                                    json_t *before)
{
    json_t *words = json_object_get(json, "settings"), *value;
    const char *name;
    if (!words || is_equal(json, before, "settings"))
        return TUTTI_OK;
    if (!json_is_object(words))
        return tt_fail(TUTTI_ERR_ARGUMENT, "\"settings\" has to be an object");
    struct tt_tree_node *settings = tt_edit_add_settings(&writer->maker, node);
    json_object_foreach(json_object_get(before, "settings"), name, value)
    {
        if (!json_object_get(words, name))
            remove_attribute(settings, name);
    }
    json_object_foreach(words, name, value)
    {
        const char *text = json_string_value(value);
        if (!text || !*name || strspn(name, "abcdefghijklmnopqrstuvwxyz-") != strlen(name) ||
            !tt_tree_is_encodable(text))
            return tt_fail(TUTTI_ERR_ARGUMENT, "the setting '%s' is no word with a text", tt_text_excerpt(name).text);
        tt_edit_set(&writer->maker, settings, name, text);
    }
    return TUTTI_OK;
}

/* ---- connectors ---- */

static struct tt_tree_node *find_connector(const struct tt_tree_node *element, const char *name)
{
    struct tt_tree_node *list = tt_tree_find_child(element, TUTTI_SPACE_SSD, "Connectors");
    for (struct tt_tree_node *node = list ? list->first : NULL; node; node = node->next) {
        const char *given = node->text ? NULL : tt_tree_find_attribute(node, "name");
        if (given && strcmp(given, name) == 0)
            return node;
    }
    return NULL;
}

static void document_write_require_ssp2(struct document_writer *writer)
{
    const char *version = tt_tree_find_attribute(writer->root, "version");
    if (!version || version[0] != '2')
        tt_edit_set(&writer->maker, writer->root, "version", "2.0");
}

static bool is_connector_kind(const char *kind)
{
    for (int k = TUTTI_SSP_INPUT; k < TUTTI_SSP_UNSPECIFIED; k++)
        if (kind && strcmp(kind, tt_ssd_kind_name((enum tt_ssp_kind)k)) == 0)
            return true;
    return false;
}

/* SSP 1.0's words for types; it has none for others. */
static const char *document_write_type_name(const char *type)
{
    static const struct {
        const char *type, *word;
    } words[] = {{"Float64", "Real"}, {"Int32", "Integer"}, {"Boolean", "Boolean"}, {"String", "String"}};
    for (size_t i = 0; type && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].type, type) == 0)
            return words[i].word;
    return NULL;
}

/* Elements that say a type, of SSP 1.0 and 2.0. */
static bool document_write_is_type(const char *local)
{
    static const char *const words[] = {"Real",    "Float64", "Float32", "Integer",    "Int8",   "Int16",
                                        "Int32",   "Int64",   "UInt8",   "UInt16",     "UInt32", "UInt64",
                                        "Boolean", "String",  "Binary",  "Enumeration"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], local) == 0)
            return true;
    return false;
}

/* The type of a connector, if SSP 1.0 has a word for it; its unit, if the document has that. Without them those of what is connected count. */
static void add_connector_type(struct document_writer *writer, struct tt_tree_node *connector, json_t *json)
{
    const char *unit = document_write_text(json, "unit"),
               *word = document_write_type_name(document_write_text(json, "type"));
    if (!word)
        return;
    struct tt_tree_node *type = tt_edit_add(&writer->maker, connector, TUTTI_SPACE_SSC, word);
    if (unit && strcmp(word, "Real") == 0 && writer->draft->ssd &&
        tt_ssp_reader_find_unit(&writer->draft->ssd->scope, unit))
        tt_edit_set(&writer->maker, type, "unit", unit);
}

/* Those of an array; SSP 1.0 has none. */
static enum tutti_err add_connector_dimensions(struct document_writer *writer, struct tt_tree_node *connector,
                                               json_t *json)
{
    json_t *list = json_object_get(json, "dimensions"), *size;
    size_t i;
    char text[TUTTI_NUMBER_MAX];
    json_array_foreach(list, i, size)
    {
        if (!json_is_null(size) && (!json_is_integer(size) || json_integer_value(size) < 0))
            return tt_fail(TUTTI_ERR_ARGUMENT, "\"dimensions\" has to be a list of whole numbers, or of null");
        struct tt_tree_node *dimension = tt_edit_add(&writer->maker, connector, TUTTI_SPACE_SSC, "Dimension");
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(size));
        if (!json_is_null(size))
            tt_edit_set(&writer->maker, dimension, "size", text);
    }
    if (json_array_size(list) > 0)
        document_write_require_ssp2(writer);
    return TUTTI_OK;
}

/* A connector that is not one of an FMU's variables. */
static enum tutti_err add_connector(struct document_writer *writer, struct tt_tree_node *element, json_t *json,
                                    struct tt_tree_node **out)
{
    const char *name = document_write_text(json, "name"), *kind = document_write_text(json, "kind");
    TRY(check_name(name, "a connector"));
    if (!is_connector_kind(kind))
        return tt_fail(TUTTI_ERR_ARGUMENT, "the connector '%s' has no kind that there is", tt_text_excerpt(name).text);
    struct tt_tree_node *list = tt_edit_add_once(&writer->maker, element, TUTTI_SPACE_SSD, "Connectors");
    *out = tt_edit_add(&writer->maker, list, TUTTI_SPACE_SSD, "Connector");
    tt_edit_set(&writer->maker, *out, "name", name);
    tt_edit_set(&writer->maker, *out, "kind", kind);
    add_connector_type(writer, *out, json);
    return add_connector_dimensions(writer, *out, json);
}

/* One for a variable of an FMU, if it has such a variable. */
static enum tutti_err declare_variable(struct document_writer *writer, struct tt_tree_node *element,
                                       const struct tt_fmu *fmu, json_t *json, struct tt_tree_node **out)
{
    const char *name = document_write_text(json, "name");
    int64_t index = fmu && name ? tt_map_find(&fmu->desc->names, name) : TUTTI_MAP_NONE;
    if (index == TUTTI_MAP_NONE)
        return add_connector(writer, element, json, out);
    const struct tt_var *var = &fmu->desc->vars[index];
    if (tt_ssp_elements_connector_needs_2(var))
        document_write_require_ssp2(writer);
    struct tt_tree_node *list = tt_edit_add_once(&writer->maker, element, TUTTI_SPACE_SSD, "Connectors");
    const char *version = tt_tree_find_attribute(writer->root, "version");
    bool ssp2 = version && version[0] == '2';
    *out = tt_ssp_elements_write_connector(&writer->maker, list, fmu->desc, var, ssp2, NULL);
    return TUTTI_OK;
}

static void sync_place(struct document_writer *writer, struct tt_tree_node *connector, json_t *json, json_t *before)
{
    static const char *const names[] = {"x", "y", NULL};
    sync_numbers(writer, connector, "ConnectorGeometry", json, before, names);
}

/* Finds the connector in the file: by its origin, otherwise by its name unless that is a different connector's origin. */
static struct tt_tree_node *known_connector(const struct document_writer *writer, struct tt_tree_node *system,
                                            json_t *item, json_t *old, json_t **was)
{
    const struct tt_origin *origin = tt_origins_find_node(&writer->origins, item);
    const char *name = document_write_text(item, "name");
    struct tt_tree_node *node = origin ? origin->node : name ? find_connector(system, name) : NULL;
    *was = origin ? origin->before : document_write_find_named(old, "name", name);
    return origin || (node && !tt_origins_has(&writer->origins, node)) ? node : NULL;
}

static enum tutti_err check_connectors(json_t *json)
{
    json_t *list = json_object_get(json, "connectors"), *item;
    size_t i;
    TRY(check_json_list(json, "connectors"));
    json_array_foreach(list, i, item)
    {
        const char *name = document_write_text(item, "name");
        TRY(check_name(name, "a connector"));
        if (document_write_find_named(list, "name", name) != item)
            return tt_fail(TUTTI_ERR_ARGUMENT, "two connectors are called '%s'", tt_text_excerpt(name).text);
    }
    return TUTTI_OK;
}

static void sync_type(struct document_writer *writer, struct tt_tree_node *node, json_t *item, json_t *was)
{
    struct tt_tree_node *first = node->first, *next;
    if (is_equal(item, was, "type") && is_equal(item, was, "unit"))
        return;
    for (; first; first = next) {
        next = first->next;
        if (!first->text && first->space == TUTTI_SPACE_SSC && document_write_is_type(first->local))
            tt_tree_remove_node(first);
    }
    add_connector_type(writer, node, item);
}

static enum tutti_err sync_own_connector(struct document_writer *writer, struct tt_tree_node *system, json_t *item,
                                         json_t *old)
{
    json_t *was;
    struct tt_tree_node *node = known_connector(writer, system, item, old, &was);
    if (!node) {
        TRY(add_connector(writer, system, item, &node));
        was = NULL;
    } else {
        if (!is_equal(item, was, "name"))
            tt_edit_set(&writer->maker, node, "name", document_write_text(item, "name"));
        if (!is_equal(item, was, "kind") && is_connector_kind(document_write_text(item, "kind")))
            tt_edit_set(&writer->maker, node, "kind", document_write_text(item, "kind"));
        sync_type(writer, node, item, was);
    }
    sync_place(writer, node, item, was);
    return TUTTI_OK;
}

/* Synchronises the connectors of a system. */
static enum tutti_err sync_own_connectors(struct document_writer *writer, struct tt_tree_node *system, json_t *json,
                                          json_t *before)
{
    json_t *list = json_object_get(json, "connectors"), *old = json_object_get(before, "connectors"), *item;
    struct tt_tree_node *all = tt_tree_find_child(system, TUTTI_SPACE_SSD, "Connectors"), *next;
    size_t i;
    TRY(check_connectors(json));
    for (struct tt_tree_node *node = all ? all->first : NULL; node; node = next) {
        const char *name = node->text ? NULL : tt_tree_find_attribute(node, "name");
        next = node->next;
        if (name && !tt_origins_has(&writer->origins, node) && !document_write_find_named(list, "name", name))
            tt_tree_remove_node(node);
    }
    json_array_foreach(list, i, item)
    {
        TRY(sync_own_connector(writer, system, item, old));
    }
    if (all && !all->first)
        tt_tree_remove_node(all); /* the schema requires at least one */
    return TUTTI_OK;
}

/* Declares the signals by which a new element is connected. */
static enum tutti_err declare_signals(struct document_writer *writer, struct tt_tree_node *element,
                                      const struct tt_fmu *fmu)
{
    for (uint32_t i = 0; fmu && i < fmu->desc->var_count; i++) {
        const struct tt_var *var = &fmu->desc->vars[i];
        struct tt_tree_node *made;
        if (var->causality != TUTTI_INPUT && var->causality != TUTTI_OUTPUT)
            continue;
        json_t *json = json_pack("{s:s}", "name", var->name);
        enum tutti_err err = json ? declare_variable(writer, element, fmu, json, &made) : tt_fail_memory();
        json_decref(json);
        TRY(err);
    }
    return TUTTI_OK;
}

/* Connectors of an FMU: whatever has got a place. */
static enum tutti_err sync_variables(struct document_writer *writer, struct tt_tree_node *element,
                                     const struct tt_fmu *fmu, json_t *json, json_t *before)
{
    json_t *list = json_object_get(json, "connectors"), *old = json_object_get(before, "connectors"), *item;
    size_t i;
    TRY(check_json_list(json, "connectors"));
    json_array_foreach(list, i, item)
    {
        const char *name = document_write_text(item, "name");
        struct tt_tree_node *node = name ? find_connector(element, name) : NULL;
        bool placed = json_is_number(json_object_get(item, "x")) &&
                      !is_equal(item, document_write_find_named(old, "name", name), "x");
        if (!node && placed)
            TRY(declare_variable(writer, element, fmu, item, &node));
        if (node)
            sync_place(writer, node, item, document_write_find_named(old, "name", name));
    }
    return TUTTI_OK;
}

/* ---- connections ---- */

/* "element.connector[1,2]", taken apart; texts are in `json` and `buffer`. */
struct connection_end {
    json_t *element; /* NULL: the system itself */
    char buffer[MOST_NAME + 1];
    const char *connector, *indices; /* indices: with blanks between, or NULL */
};

static void cut_indices(json_t *owner, struct connection_end *end)
{
    char *open = strrchr(end->buffer, '[');
    size_t n = strlen(end->buffer);
    end->connector = end->buffer;
    bool whole = document_write_find_named(json_object_get(owner, "connectors"), "name", end->buffer) != NULL;
    if (whole || !open || open == end->buffer || end->buffer[n - 1] != ']')
        return;
    end->buffer[n - 1] = *open = '\0';
    end->indices = open + 1;
    for (char *c = open + 1; *c; c++)
        if (*c == ',')
            *c = ' ';
}

static enum tutti_err split_end(json_t *system, const char *text, struct connection_end *end)
{
    size_t i, longest = 0;
    json_t *item;
    *end = (struct connection_end){0};
    if (!text || strlen(text) > MOST_NAME || !tt_tree_is_encodable(text))
        return tt_fail(TUTTI_ERR_ARGUMENT, "a connection needs \"from\" and \"to\"");
    json_array_foreach(json_object_get(system, "elements"), i, item)
    {
        const char *name = document_write_text(item, "name");
        size_t n = name ? strlen(name) : 0;
        if (n > longest && strncmp(text, name, n) == 0 && text[n] == '.') {
            longest = n;
            end->element = item;
        }
    }
    if ((!end->element && text[0] != '.') || !text[longest + 1])
        return tt_fail(TUTTI_ERR_ARGUMENT, "there is no '%s' to connect", tt_text_excerpt(text).text);
    strcpy(end->buffer, text + longest + 1);
    cut_indices(end->element ? end->element : system, end);
    return TUTTI_OK;
}

static void document_write_write_end(struct document_writer *writer, struct tt_tree_node *node,
                                     const struct connection_end *end, const char *const names[3])
{
    if (end->element)
        tt_edit_set(&writer->maker, node, names[0], document_write_text(end->element, "name"));
    tt_edit_set(&writer->maker, node, names[1], end->connector);
    if (end->indices) {
        document_write_require_ssp2(writer);
        tt_edit_set(&writer->maker, node, names[2], end->indices);
    }
}

static bool is_end(const struct tt_tree_node *node, const struct connection_end *end, const char *const names[3])
{
    const char *element = tt_tree_find_attribute(node, names[0]), *connector = tt_tree_find_attribute(node, names[1]);
    const char *indices = tt_tree_find_attribute(node, names[2]), *wanted = document_write_text(end->element, "name");
    return connector && strcmp(connector, end->connector) == 0 &&
           strcmp(element ? element : "", wanted ? wanted : "") == 0 &&
           strcmp(indices ? indices : "", end->indices ? end->indices : "") == 0;
}

static const char *const START[] = {"startElement", "startConnector", "startIndices"};
static const char *const STOP[] = {"endElement", "endConnector", "endIndices"};

static bool has_ends(const struct tt_tree_node *node, const struct connection_end *from,
                     const struct connection_end *to)
{
    return (is_end(node, from, START) && is_end(node, to, STOP)) ||
           (is_end(node, to, START) && is_end(node, from, STOP));
}

static struct tt_tree_node *document_write_find_connection(struct tt_tree_node *list, const struct connection_end *from,
                                                           const struct connection_end *to)
{
    for (struct tt_tree_node *node = list ? tt_tree_find_child(list, TUTTI_SPACE_SSD, "Connection") : NULL; node;
         node = tt_tree_find_next(node, TUTTI_SPACE_SSD, "Connection"))
        if (has_ends(node, from, to))
            return node;
    return NULL;
}

static void sync_scale(struct document_writer *writer, struct tt_tree_node *node, json_t *json, json_t *before)
{
    json_t *factor = json_object_get(json, "factor"), *offset = json_object_get(json, "offset");
    if (is_equal(json, before, "factor") && is_equal(json, before, "offset"))
        return;
    struct tt_tree_node *old = tt_tree_find_child(node, TUTTI_SPACE_SSC, "LinearTransformation");
    if (old)
        tt_tree_remove_node(old);
    tt_ssd_writer_scale(&writer->maker, node, json_is_number(factor) ? json_number_value(factor) : 1,
                        json_is_number(offset) ? json_number_value(offset) : 0);
}

static void append_number(struct tt_text *text, json_t *pair, size_t i)
{
    char number[TUTTI_NUMBER_MAX];
    size_t n = tt_number_write_double(number, json_number_value(json_array_get(pair, i)));
    tt_text_append(text, text->length > 0 ? " " : "");
    tt_text_append_n(text, number, n);
}

static void sync_points(struct document_writer *writer, struct tt_tree_node *node, json_t *json, json_t *before)
{
    struct tt_text x = {0}, y = {0};
    json_t *points = json_object_get(json, "points"), *point;
    struct tt_tree_node *old = tt_tree_find_child(node, TUTTI_SPACE_SSD, "ConnectionGeometry");
    size_t i;
    if (!json_is_array(points) || is_equal(json, before, "points") || (json_array_size(points) == 0 && !old))
        return;
    if (json_array_size(points) == 0) {
        tt_tree_remove_node(old);
        return;
    }
    json_array_foreach(points, i, point)
    {
        append_number(&x, point, 0);
        append_number(&y, point, 1);
    }
    struct tt_tree_node *geometry = tt_edit_add_once(&writer->maker, node, TUTTI_SPACE_SSD, "ConnectionGeometry");
    if (!x.failed && !y.failed) {
        tt_edit_set(&writer->maker, geometry, "pointsX", x.text);
        tt_edit_set(&writer->maker, geometry, "pointsY", y.text);
    }
    writer->maker.failed |= x.failed || y.failed;
    tt_text_fini(&x);
    tt_text_fini(&y);
}

static struct tt_tree_node *document_write_find_element(struct tt_tree_node *elements, const char *name)
{
    for (struct tt_tree_node *node = elements ? elements->first : NULL; node; node = node->next) {
        const char *given = node->text ? NULL : tt_tree_find_attribute(node, "name");
        if (given && name && strcmp(given, name) == 0)
            return node;
    }
    return NULL;
}

/* An end of a new connection at an FMU has to be declared. */
static enum tutti_err declare_end(struct document_writer *writer, struct tt_tree_node *system,
                                  const struct connection_end *end)
{
    json_t *given = document_write_find_named(json_object_get(end->element, "connectors"), "name", end->connector);
    json_t *connector = given ? json_incref(given) : json_pack("{s:s}", "name", end->connector);
    enum tutti_err err = connector ? TUTTI_OK : tt_fail_memory();
    struct tt_tree_node *elements = tt_tree_find_child(system, TUTTI_SPACE_SSD, "Elements");
    struct tt_tree_node *node =
        end->element ? document_write_find_element(elements, document_write_text(end->element, "name")) : NULL;
    if (!err && node && !find_connector(node, end->connector)) {
        const char *source = tt_tree_find_attribute(node, "source");
        const struct tt_fmu *fmu = source ? tt_parameter_changes_describe_fmu(&writer->sets, writer->draft, source)
                                          : NULL;
        struct tt_tree_node *made;
        err = declare_variable(writer, node, fmu, connector, &made);
    }
    json_decref(connector);
    return err;
}

/* The connection of the file, at its place among those of the system; NULL: it is new. */
static struct tt_tree_node *known_connection(const struct document_writer *writer, struct tt_tree_node *list,
                                             json_t *item, const struct connection_end *from,
                                             const struct connection_end *to, json_t **before)
{
    const struct tt_origin *origin = tt_origins_find_node(&writer->origins, item);
    if (!origin) {
        struct tt_tree_node *node = document_write_find_connection(list, from, to);
        return node && !tt_origins_has(&writer->origins, node) ? node : NULL;
    }
    if (origin->node->parent != list)
        tt_tree_move_node(origin->node, list);
    *before = origin->before;
    return origin->node;
}

static enum tutti_err write_connection_ends(struct document_writer *writer, struct tt_tree_node *system,
                                            struct tt_tree_node *node, const struct connection_end *from,
                                            const struct connection_end *to)
{
    TRY(declare_end(writer, system, from));
    TRY(declare_end(writer, system, to));
    for (size_t i = 0; i < 3; i++) {
        remove_attribute(node, START[i]);
        remove_attribute(node, STOP[i]);
    }
    document_write_write_end(writer, node, from, START);
    document_write_write_end(writer, node, to, STOP);
    return TUTTI_OK;
}

static enum tutti_err sync_connection(struct document_writer *writer, struct tt_tree_node *system, json_t *json,
                                      json_t *item, json_t *before, struct tt_tree_node **out)
{
    struct connection_end from, to;
    TRY(split_end(json, document_write_text(item, "from"), &from));
    TRY(split_end(json, document_write_text(item, "to"), &to));
    struct tt_tree_node *list = tt_edit_add_once(&writer->maker, system, TUTTI_SPACE_SSD, "Connections");
    struct tt_tree_node *node = known_connection(writer, list, item, &from, &to, &before);
    if (!node) {
        before = NULL;
        node = tt_edit_add(&writer->maker, list, TUTTI_SPACE_SSD, "Connection");
    }
    if (!has_ends(node, &from, &to))
        TRY(write_connection_ends(writer, system, node, &from, &to));
    sync_scale(writer, node, item, before);
    sync_points(writer, node, item, before);
    if (!is_equal(item, before, "suppressUnitConversion")) {
        remove_attribute(node, "suppressUnitConversion");
        if (json_is_true(json_object_get(item, "suppressUnitConversion")))
            tt_edit_set(&writer->maker, node, "suppressUnitConversion", "true");
    }
    *out = node;
    return TUTTI_OK;
}

/* Where it was, by its ends as they were called. */
static json_t *old_connection(json_t *old, const char *from, const char *to)
{
    size_t i;
    json_t *was;
    json_array_foreach(old, i, was)
    {
        if (from && to && strcmp(document_write_text(was, "from"), from) == 0 &&
            strcmp(document_write_text(was, "to"), to) == 0)
            return was;
    }
    return NULL;
}

static enum tutti_err sync_connections(struct document_writer *writer, struct tt_tree_node *system, json_t *json,
                                       json_t *before)
{
    json_t *list = json_object_get(json, "connections"), *item;
    size_t i, count = json_array_size(list);
    TRY(check_json_list(json, "connections"));
    struct tt_tree_node **kept = calloc(count + 1, sizeof *kept), *all, *next;
    enum tutti_err err = kept ? TUTTI_OK : tt_fail_memory();
    json_array_foreach(list, i, item)
    {
        if (!err)
            err = sync_connection(writer, system, json, item,
                                  old_connection(json_object_get(before, "connections"),
                                                 document_write_text(item, "from"), document_write_text(item, "to")),
                                  &kept[i]);
    }
    all = tt_tree_find_child(system, TUTTI_SPACE_SSD, "Connections");
    for (struct tt_tree_node *node = all ? all->first : NULL; !err && node; node = next) {
        bool wanted = node->text != NULL || strcmp(node->local, "Connection") != 0;
        next = node->next;
        for (i = 0; i < count && !wanted; i++)
            wanted = kept[i] == node;
        if (!wanted)
            tt_tree_remove_node(node);
    }
    if (!err && all && !all->first)
        tt_tree_remove_node(all);
    free(kept);
    return err;
}

/* ---- elements ---- */

static enum tutti_err sync_system(struct document_writer *writer, struct tt_tree_node *node, json_t *json,
                                  json_t *before, const char *path, unsigned depth);

/* Writes the name in the package of an FMU from the folder. */
static enum tutti_err write_element_source(struct document_writer *writer, struct tt_tree_node *node, json_t *json)
{
    char *uri;
    const char *source = document_write_text(json, "source");
    if (!source)
        return tt_fail(TUTTI_ERR_ARGUMENT, "the unit '%s' needs a \"source\"",
                       tt_text_excerpt(document_write_text(json, "name")).text);
    TRY(tt_system_draft_adopt(writer->draft, source, &uri));
    tt_edit_set(&writer->maker, node, "source", uri);
    free(uri);
    return TUTTI_OK;
}

static enum tutti_err add_element_node(struct document_writer *writer, struct tt_tree_node *elements, json_t *json,
                                       struct tt_tree_node **node)
{
    const char *kind = document_write_text(json, "kind");
    bool system = kind && strcmp(kind, "system") == 0;
    *node = tt_edit_add(&writer->maker, elements, TUTTI_SPACE_SSD, system ? "System" : "Component");
    tt_edit_set(&writer->maker, *node, "name", document_write_text(json, "name"));
    return system ? TUTTI_OK : write_element_source(writer, *node, json);
}

/* The element of the file, at its place among those of the system. */
static struct tt_tree_node *known_element(struct document_writer *writer, struct tt_tree_node *elements, json_t *json,
                                          const struct tt_origin *origin)
{
    struct tt_tree_node *node = origin->node;
    if (node->parent != elements)
        tt_tree_move_node(node, elements);
    if (!is_equal(json, origin->before, "name"))
        tt_edit_set(&writer->maker, node, "name", document_write_text(json, "name"));
    return node;
}

static enum tutti_err sync_inside(struct document_writer *writer, struct tt_tree_node *node, json_t *json,
                                  const struct tt_origin *origin, const char *id, unsigned depth)
{
    const char *source = tt_tree_find_attribute(node, "source");
    json_t *before = origin ? origin->before : NULL;
    if (strcmp(node->local, "System") == 0) {
        TRY(tt_parameter_changes_compare(&writer->sets, id, json, before, origin ? origin->id : NULL));
        return sync_system(writer, node, json, before, id, depth + 1);
    }
    const struct tt_fmu *fmu = source ? tt_parameter_changes_describe_fmu(&writer->sets, writer->draft, source) : NULL;
    if (!before)
        TRY(declare_signals(writer, node, fmu));
    TRY(sync_variables(writer, node, fmu, json, before));
    return tt_parameter_changes_compare(&writer->sets, id, json, before, origin ? origin->id : NULL);
}

static enum tutti_err sync_element(struct document_writer *writer, struct tt_tree_node *elements, json_t *json,
                                   const char *path, unsigned depth, struct tt_tree_node **out)
{
    static const char *const box[] = {"x1", "y1", "x2", "y2", NULL};
    const struct tt_origin *origin = tt_origins_find_node(&writer->origins, json);
    json_t *before = origin ? origin->before : NULL;
    struct tt_tree_node *node;
    struct tt_text id = {0};
    if (!origin)
        TRY(add_element_node(writer, elements, json, &node));
    else {
        node = known_element(writer, elements, json, origin);
        if (!is_equal(json, before, "source"))
            TRY(write_element_source(writer, node, json));
    }
    *out = node;
    sync_numbers(writer, node, "ElementGeometry", json, before, box);
    TRY(sync_settings(writer, node, json, before));
    tt_text_printf(&id, "%s%s%s", path, *path ? "." : "", document_write_text(json, "name"));
    enum tutti_err err = id.failed ? tt_fail_memory() : sync_inside(writer, node, json, origin, id.text, depth);
    tt_text_fini(&id);
    return err;
}

static void rename_ends(struct document_writer *writer, struct tt_tree_node *system, const char *from, const char *to)
{
    static const char *const names[] = {"startElement", "endElement"};
    struct tt_tree_node *list = tt_tree_find_child(system, TUTTI_SPACE_SSD, "Connections");
    for (struct tt_tree_node *node = list ? list->first : NULL; node; node = node->next)
        for (size_t i = 0; i < 2 && !node->text; i++) {
            const char *value = tt_tree_find_attribute(node, names[i]);
            if (value && strcmp(value, from) == 0)
                tt_edit_set(&writer->maker, node, names[i], to);
        }
}

/* Ends of connections follow elements of the system that have another name now. In two steps, by a name that nothing else has: two of them may
 * have changed their names with each other. */
static void rename_all_ends(struct document_writer *writer, struct tt_tree_node *system, struct tt_tree_node *elements,
                            json_t *list)
{
    size_t i;
    json_t *item;
    for (int step = 0; step < 2; step++)
        json_array_foreach(list, i, item)
        {
            const struct tt_origin *origin = tt_origins_find_node(&writer->origins, item);
            struct tt_text between = {0};
            tt_text_printf(&between, "\x01%zu", i);
            if (origin && origin->node->parent == elements && !is_equal(item, origin->before, "name") &&
                !between.failed)
                rename_ends(writer, system, step ? between.text : document_write_text(origin->before, "name"),
                            step ? document_write_text(item, "name") : between.text);
            tt_text_fini(&between);
        }
}

static enum tutti_err check_elements(const struct tt_origins *origins, json_t *json)
{
    json_t *list = json_object_get(json, "elements"), *item;
    size_t i;
    TRY(check_json_list(json, "elements"));
    json_array_foreach(list, i, item)
    {
        const struct tt_origin *origin = tt_origins_find_node(origins, item);
        const char *name = document_write_text(item, "name");
        TRY(check_name(name, "a unit"));
        if (document_write_find_named(list, "name", name) != item)
            return tt_fail(TUTTI_ERR_ARGUMENT, "two units are called '%s'", tt_text_excerpt(name).text);
        if ((!origin || !is_equal(item, origin->before, "name")) && strpbrk(name, "./#=;,\"'"))
            return tt_fail(TUTTI_ERR_ARGUMENT, "the name '%s' of a unit has a character that cannot be in it",
                           tt_text_excerpt(name).text);
    }
    return TUTTI_OK;
}

/* Units are in the document's order, which is that of columns and, for some couplings, of steps. */
static void document_write_sort(struct tt_tree_node *const *nodes, size_t count)
{
    size_t right = 0;
    for (struct tt_tree_node *node = nodes[0]->parent->first; node && right < count; node = node->next)
        right += node == nodes[right];
    for (size_t i = 0; i < count && right < count; i++)
        tt_tree_move_node(nodes[i], nodes[i]->parent);
}

static enum tutti_err sync_elements(struct document_writer *writer, struct tt_tree_node *system, json_t *json,
                                    json_t *before, const char *path, unsigned depth)
{
    json_t *list = json_object_get(json, "elements"), *old = json_object_get(before, "elements"), *item;
    struct tt_tree_node *elements = tt_tree_find_child(system, TUTTI_SPACE_SSD, "Elements");
    size_t i;
    TRY(check_elements(&writer->origins, json));
    json_array_foreach(old, i, item)
    {
        struct tt_tree_node *node = document_write_find_element(elements, document_write_text(item, "name"));
        if (node && !tt_origins_has(&writer->origins, node))
            tt_tree_remove_node(node);
    }
    rename_all_ends(writer, system, elements, list);
    if (json_array_size(list) == 0)
        return TUTTI_OK;
    elements = tt_edit_add_once(&writer->maker, system, TUTTI_SPACE_SSD, "Elements");
    struct tt_tree_node **nodes = calloc(json_array_size(list), sizeof *nodes);
    enum tutti_err err = nodes ? TUTTI_OK : tt_fail_memory();
    json_array_foreach(list, i, item)
    {
        if (!err)
            err = sync_element(writer, elements, item, path, depth, &nodes[i]);
    }
    if (!err)
        document_write_sort(nodes, json_array_size(list));
    free(nodes);
    return err;
}

static enum tutti_err sync_system(struct document_writer *writer, struct tt_tree_node *node, json_t *json,
                                  json_t *before, const char *path, unsigned depth)
{
    if (depth > DEEPEST)
        return tt_fail(TUTTI_ERR_LIMIT, "systems in systems are nested too deeply");
    TRY(sync_elements(writer, node, json, before, path, depth));
    TRY(sync_own_connectors(writer, node, json, before));
    return sync_connections(writer, node, json, before);
}

/* ---- the document ---- */

static enum tutti_err sync_times(struct document_writer *writer, json_t *json, json_t *before)
{
    static const char *const keys[] = {"start", "stop"}, *const names[] = {"startTime", "stopTime"};
    for (size_t i = 0; i < 2; i++) {
        json_t *value = json_object_get(json, keys[i]);
        if (!value || is_equal(json, before, keys[i]))
            continue;
        if (!json_is_number(value) && !json_is_null(value))
            return tt_fail(TUTTI_ERR_ARGUMENT, "\"%s\" has to be a number", keys[i]);
        struct tt_tree_node *node =
            tt_edit_add_once(&writer->maker, writer->root, TUTTI_SPACE_SSD, "DefaultExperiment");
        if (json_is_null(value))
            remove_attribute(node, names[i]);
        else
            document_write_set_number(writer, node, names[i], value);
    }
    return TUTTI_OK;
}

static struct tt_tree_node *start_tree(struct document_writer *writer, const char *name)
{
    static const enum tt_tree_space spaces[] = {TUTTI_SPACE_SSD, TUTTI_SPACE_SSC, TUTTI_SPACE_SSV, TUTTI_SPACE_SSM,
                                                TUTTI_SPACE_SSB};
    struct tt_editor *maker = &writer->maker;
    writer->root = tt_edit_add_root(maker, "SystemStructureDescription", spaces, sizeof spaces / sizeof *spaces);
    tt_edit_set(maker, writer->root, "version", "1.0");
    tt_edit_set(maker, writer->root, "name", name);
    tt_edit_set(maker, writer->root, "generationTool", "Tutti");
    struct tt_tree_node *system = tt_edit_add(maker, writer->root, TUTTI_SPACE_SSD, "System");
    tt_edit_set(maker, system, "name", name);
    return system;
}

static enum tutti_err sync_document(struct document_writer *writer, json_t *json, json_t *before)
{
    const char *name = document_write_text(json, "name");
    struct tt_tree_node *system;
    TRY(check_name(name, "the system"));
    if (writer->draft->ssd) {
        writer->root = writer->draft->ssd->tree->root;
        system = writer->draft->ssd->system.node;
        if (!is_equal(json, before, "name"))
            tt_edit_set(&writer->maker, system, "name", name);
    } else
        system = start_tree(writer, name);
    TRY(tt_origins_collect(&writer->origins, writer->draft->ssd ? system : NULL, before, json));
    TRY(sync_times(writer, json, before));
    TRY(sync_settings(writer, writer->root, json, before));
    TRY(tt_parameter_changes_compare(&writer->sets, "", json, before, ""));
    TRY(sync_system(writer, system, json, before, "", 0));
    return writer->maker.failed ? tt_fail_memory() : TUTTI_OK;
}

enum tutti_err tt_document_write(struct tt_system_draft *draft, json_t *json, struct tt_text *text)
{
    struct document_writer writer = {.draft = draft};
    struct tt_tree *fresh = draft->ssd ? NULL : tt_edit_new_tree(draft->ssd_name);
    json_t *before = NULL;
    if (draft->ssd)
        TRY(tt_document_read(draft, &before));
    writer.maker.tree = draft->ssd ? draft->ssd->tree : fresh;
    enum tutti_err err = writer.maker.tree ? sync_document(&writer, json, before) : tt_fail_memory();
    if (!err)
        err = tt_parameter_changes_write(&writer.sets, draft, &writer.maker, text);
    tt_parameter_changes_fini(&writer.sets);
    tt_origins_fini(&writer.origins);
    tt_tree_free(fresh);
    json_decref(before);
    return err;
}

enum tutti_err tt_document_write_open_draft(const struct tt_served_folder *folder, json_t *json,
                                            struct tt_system_draft *draft, struct tt_text *text)
{
    json_t *path = json_object_get(json, "path");
    *draft = (struct tt_system_draft){0};
    if (!json_is_object(json))
        return tt_fail(TUTTI_ERR_ARGUMENT, "\"document\" has to be an object");
    if (path && !json_is_null(path) && !json_is_string(path))
        return tt_fail(TUTTI_ERR_ARGUMENT, "\"path\" has to be the name of a file, or null");
    TRY(tt_system_draft_init(draft, folder, json_string_value(path)));
    return tt_document_write(draft, json, text);
}
