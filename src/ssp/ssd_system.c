/* SPDX-License-Identifier: MIT */
/* Systems: elements, connectors, connections. Systems in systems are read by recursion, which is as deep as XML may be
 * (TUTTI_XML_DEPTH). */
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "ssp/parts.h"

static const struct tutti_shape_word no_attributes[] = {{NULL, false}};

/* ---- connectors ---- */

/* As in enum tutti_ssp_kind. */
static const struct tutti_shape_word kinds[] = {{"input", false},
                                                {"output", false},
                                                {"inout", false},
                                                {"parameter", false},
                                                {"calculatedParameter", false},
                                                {"structuralParameter", true},
                                                {"constant", true},
                                                {"local", true},
                                                {"unspecified", true},
                                                {NULL, false}};

const char *tutti_ssp_kind_name(enum tutti_ssp_kind kind)
{
    return kinds[kind].text;
}

static enum tutti_err read_connector(struct tutti_parts *parts, const struct tutti_node *node, struct tutti_map *names,
                                     struct tutti_ssp_connector *connector)
{
    static const struct tutti_shape_word attributes[] = {
        SHAPE_BASE_ATTRIBUTES, {"name", false}, {"kind", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {{"ConnectorGeometry", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                        SHAPE_TYPES(TUTTI_SPACE_SSC),
                                                        {"Clock", TUTTI_SPACE_SSC, TUTTI_SHAPE_CHOICE, true},
                                                        SHAPE_DIMENSION,
                                                        {"Clock", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, true},
                                                        SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    TRY(tutti_parts_check(parts, node, &shape));
    connector->line = node->line;
    const char *kind;
    size_t word = 0;
    TRY(tutti_parts_required(parts, node, "name", &connector->name));
    TRY(tutti_parts_required(parts, node, "kind", &kind));
    TRY(tutti_parts_word(parts, node, "kind", kinds, &word));
    connector->kind = (enum tutti_ssp_kind)word;
    TRY(tutti_parts_unique(parts, names, node, connector->name, "connectors of this element"));
    TRY(tutti_parts_signal_type(parts, node, &connector->type));
    return tutti_parts_dimensions(parts, node, false, &connector->dimensions, &connector->dimension_count);
}

static enum tutti_err read_connectors(struct tutti_parts *parts, const struct tutti_node *node,
                                      struct tutti_ssp_element *element)
{
    static const struct tutti_shape_child children[] = {{"Connector", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
                                                        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {no_attributes, children};
    const struct tutti_node *list = tutti_parts_child(node, "Connectors");
    if (!list)
        return TUTTI_OK;
    TRY(tutti_parts_check(parts, list, &shape));
    struct tutti_ssp_connector *connector;
    TRY(tutti_parts_array(parts, list, "Connector", sizeof *connector, &connector, &element->connector_count));
    element->connectors = connector;
    struct tutti_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tutti_node *child = tutti_parts_child(list, "Connector"); child && err == TUTTI_OK;
         child = tutti_parts_next(child, "Connector"))
        err = read_connector(parts, child, &names, connector++);
    tutti_map_fini(&names);
    return err;
}

/* ---- connections ---- */

static enum tutti_err read_indices(struct tutti_parts *parts, const struct tutti_node *node, const char *name,
                                   struct tutti_ssp_end *end)
{
    const char *text = tutti_node_attribute(node, name);
    if (!text)
        return TUTTI_OK;
    size_t count = 0;
    const char *word = text;
    for (size_t n; (n = tutti_parts_next_word(&word)) > 0; word += n)
        count++;
    if (count == 0)
        return TUTTI_OK;
    uint64_t *indices = tutti_arena_array(parts->arena, count, sizeof *indices);
    if (!indices)
        return tutti_fail_memory();
    word = text;
    for (size_t n; (n = tutti_parts_next_word(&word)) > 0; word += n) {
        if (!tutti_number_read_uint(word, n, &indices[end->index_count]) || indices[end->index_count] == 0)
            return tutti_parts_fail(parts, node, "%s is \"%s\", expected whole numbers from 1", name,
                                    tutti_str_show(text).text);
        end->index_count++;
    }
    end->indices = indices;
    return TUTTI_OK;
}

static enum tutti_err read_end(struct tutti_parts *parts, const struct tutti_node *node, const char *element,
                               const char *connector, const char *indices, struct tutti_ssp_end *end)
{
    end->element = tutti_node_attribute(node, element);
    if (end->element && !*end->element) {
        tutti_parts_warn(parts, node, "%s is empty; it is read as if it were absent, and so as the system itself",
                         element);
        end->element = NULL;
    }
    TRY(tutti_parts_required(parts, node, connector, &end->connector));
    return read_indices(parts, node, indices, end);
}

static enum tutti_err read_connection(struct tutti_parts *parts, const struct tutti_node *node,
                                      struct tutti_ssp_connection *connection)
{
    static const struct tutti_shape_word attributes[] = {
        SHAPE_BASE_ATTRIBUTES, {"startElement", false}, {"startConnector", false}, {"startIndices", true},
        {"endElement", false}, {"endConnector", false}, {"endIndices", true},      {"suppressUnitConversion", false},
        {NULL, false}};
    static const struct tutti_shape_child children[] = {SHAPE_TRANSFORMATIONS,
                                                        {"ConnectionGeometry", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                        SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    TRY(tutti_parts_check(parts, node, &shape));
    connection->line = node->line;
    TRY(read_end(parts, node, "startElement", "startConnector", "startIndices", &connection->start));
    TRY(read_end(parts, node, "endElement", "endConnector", "endIndices", &connection->end));
    TRY(tutti_parts_bool(parts, node, "suppressUnitConversion", &connection->suppress_unit_conversion));
    return tutti_parts_transformation(parts, node, &connection->transformation);
}

static enum tutti_err read_connections(struct tutti_parts *parts, const struct tutti_node *node,
                                       struct tutti_ssp_element *system)
{
    static const struct tutti_shape_child children[] = {{"Connection", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
                                                        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {no_attributes, children};
    const struct tutti_node *list = tutti_parts_child(node, "Connections");
    if (!list)
        return TUTTI_OK;
    TRY(tutti_parts_check(parts, list, &shape));
    struct tutti_ssp_connection *connection;
    TRY(tutti_parts_array(parts, list, "Connection", sizeof *connection, &connection, &system->connection_count));
    system->connections = connection;
    for (const struct tutti_node *child = tutti_parts_child(list, "Connection"); child;
         child = tutti_parts_next(child, "Connection"))
        TRY(read_connection(parts, child, connection++));
    return TUTTI_OK;
}

/* ---- elements ---- */

#define SHAPE_ELEMENT_ATTRIBUTES                                                                                       \
    SHAPE_BASE_ATTRIBUTES,                                                                                             \
    {                                                                                                                  \
        "name", false                                                                                                  \
    }
#define SHAPE_ELEMENT                                                                                                  \
    {"Connectors", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},                                                           \
        {"ElementGeometry", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},                                                  \
        {"ParameterBindings", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false}, SHAPE_META,                                   \
        SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD)

/* What all three kinds have. */
static enum tutti_err read_element(struct tutti_parts *parts, struct tutti_node *node, const struct tutti_shape *shape,
                                   struct tutti_ssp_element *element)
{
    TRY(tutti_parts_check(parts, node, shape));
    element->node = node;
    element->line = node->line;
    element->id = tutti_node_attribute(node, "id");
    TRY(tutti_parts_required(parts, node, "name", &element->name));
    if (!*element->name)
        return tutti_parts_fail(parts, node, "the name is empty; give it one");
    element->settings = tutti_parts_settings(parts, node);
    tutti_parts_foreign(parts, node, &element->foreign);
    TRY(read_connectors(parts, node, element));
    return tutti_parts_bindings(parts, node, element);
}

static enum tutti_err read_component(struct tutti_parts *parts, struct tutti_node *node,
                                     struct tutti_ssp_element *element)
{
    static const struct tutti_shape_word attributes[] = {
        SHAPE_ELEMENT_ATTRIBUTES, {"type", false}, {"source", false}, {"implementation", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {SHAPE_ELEMENT, {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    static const struct tutti_shape_word implementations[] = {
        {"any", false}, {"ModelExchange", false}, {"CoSimulation", false}, {"ScheduledExecution", true}, {NULL, false}};
    element->kind = TUTTI_SSP_COMPONENT;
    TRY(read_element(parts, node, &shape, element));
    element->type = tutti_node_attribute(node, "type");
    element->source = tutti_node_attribute(node, "source");
    if (!element->source && parts->names.version_1)
        tutti_parts_warn(parts, node, "the attribute source is missing, which SSP 1.0 requires");
    size_t word = 0;
    TRY(tutti_parts_word(parts, node, "implementation", implementations, &word));
    element->implementation = word ? implementations[word].text : NULL;
    return TUTTI_OK;
}

static enum tutti_err read_reference(struct tutti_parts *parts, struct tutti_node *node,
                                     struct tutti_ssp_element *element)
{
    static const struct tutti_shape_word attributes[] = {
        SHAPE_ELEMENT_ATTRIBUTES, {"dictionary", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {SHAPE_ELEMENT, {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    element->kind = TUTTI_SSP_DICTIONARY_REFERENCE;
    TRY(read_element(parts, node, &shape, element));
    return tutti_parts_required(parts, node, "dictionary", &element->dictionary);
}

static bool is_element(const struct tutti_node *node)
{
    return tutti_parts_is(node, "Component") || tutti_parts_is(node, "System") ||
           tutti_parts_is(node, "SignalDictionaryReference");
}

static enum tutti_err read_any(struct tutti_parts *parts, struct tutti_node *node, struct tutti_ssp_element *element)
{
    if (tutti_parts_is(node, "Component"))
        return read_component(parts, node, element);
    if (tutti_parts_is(node, "System"))
        return tutti_parts_system(parts, node, element);
    return read_reference(parts, node, element);
}

static enum tutti_err read_elements(struct tutti_parts *parts, const struct tutti_node *node,
                                    struct tutti_ssp_element *system)
{
    static const struct tutti_shape_child children[] = {
        {"Component", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
        {"SignalDictionaryReference", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
        {"System", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {no_attributes, children};
    const struct tutti_node *list = tutti_parts_child(node, "Elements");
    if (!list)
        return TUTTI_OK;
    TRY(tutti_parts_check(parts, list, &shape));
    size_t count = 0;
    for (const struct tutti_node *child = list->first; child; child = child->next)
        count += is_element(child);
    if (count == 0)
        return TUTTI_OK;
    struct tutti_ssp_element *elements = tutti_arena_array(parts->arena, count, sizeof *elements);
    if (!elements)
        return tutti_fail_memory();
    system->elements = elements;
    struct tutti_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (struct tutti_node *child = list->first; child && err == TUTTI_OK; child = child->next) {
        if (!is_element(child))
            continue;
        struct tutti_ssp_element *element = &elements[system->element_count++];
        err = read_any(parts, child, element);
        if (err == TUTTI_OK)
            err = tutti_parts_unique(parts, &names, child, element->name, "elements of this system");
    }
    tutti_map_fini(&names);
    return err;
}

enum tutti_err tutti_parts_system(struct tutti_parts *parts, struct tutti_node *node, struct tutti_ssp_element *system)
{
    static const struct tutti_shape_word attributes[] = {SHAPE_ELEMENT_ATTRIBUTES, {NULL, false}};
    static const struct tutti_shape_child children[] = {SHAPE_ELEMENT,
                                                        {"Elements", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                        {"Connections", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                        {"SignalDictionaries", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                        {"SystemGeometry", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                        {"GraphicalElements", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    system->kind = TUTTI_SSP_SYSTEM;
    TRY(read_element(parts, node, &shape, system));
    TRY(read_elements(parts, node, system));
    TRY(read_connections(parts, node, system));
    return tutti_parts_dictionaries(parts, node, system);
}
