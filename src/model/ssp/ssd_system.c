/* SPDX-License-Identifier: MIT */
/* Systems: elements, connectors, connections. Systems in systems are read by recursion, which is as deep as XML may be
 * (TUTTI_XML_DEPTH). */
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/ssp/ssp_reader.h"

static const struct tt_shape_word no_attributes[] = {{NULL, false}};

/* ---- connectors ---- */

/* As in enum tt_ssp_kind. */
static const struct tt_shape_word kinds[] = {{"input", false},
                                             {"output", false},
                                             {"inout", false},
                                             {"parameter", false},
                                             {"calculatedParameter", false},
                                             {"structuralParameter", true},
                                             {"constant", true},
                                             {"local", true},
                                             {"unspecified", true},
                                             {NULL, false}};

const char *tt_ssd_kind_name(enum tt_ssp_kind kind)
{
    return kinds[kind].text;
}

static enum tutti_err ssd_read_connector(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                         struct tt_map *names, struct tt_ssp_connector *connector)
{
    static const struct tt_shape_word attributes[] = {
        SHAPE_BASE_ATTRIBUTES, {"name", false}, {"kind", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"ConnectorGeometry", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     SHAPE_TYPES(TUTTI_SPACE_SSC),
                                                     {"Clock", TUTTI_SPACE_SSC, TUTTI_SHAPE_CHOICE, true},
                                                     SHAPE_DIMENSION,
                                                     {"Clock", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, true},
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    TRY(tt_ssp_reader_check(parts, node, &shape));
    connector->line = node->line;
    const char *kind;
    size_t word = 0;
    TRY(tt_ssp_reader_require(parts, node, "name", &connector->name));
    TRY(tt_ssp_reader_require(parts, node, "kind", &kind));
    TRY(tt_ssp_reader_read_word(parts, node, "kind", kinds, &word));
    connector->kind = (enum tt_ssp_kind)word;
    TRY(tt_ssp_reader_check_unique(parts, names, node, connector->name, "connectors of this element"));
    TRY(tt_ssp_reader_read_signal_type(parts, node, &connector->type));
    return tt_ssp_reader_read_dimensions(parts, node, false, &connector->dimensions, &connector->dimension_count);
}

static enum tutti_err ssd_read_connectors(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                          struct tt_ssp_element *element)
{
    static const struct tt_shape_child children[] = {{"Connector", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {no_attributes, children};
    const struct tt_tree_node *list = tt_ssp_reader_find_child(node, "Connectors");
    if (!list)
        return TUTTI_OK;
    TRY(tt_ssp_reader_check(parts, list, &shape));
    struct tt_ssp_connector *connector;
    TRY(tt_ssp_reader_new_array(parts, list, "Connector", sizeof *connector, &connector, &element->connector_count));
    element->connectors = connector;
    struct tt_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tt_tree_node *child = tt_ssp_reader_find_child(list, "Connector"); child && err == TUTTI_OK;
         child = tt_ssp_reader_find_next(child, "Connector"))
        err = ssd_read_connector(parts, child, &names, connector++);
    tt_map_fini(&names);
    return err;
}

/* ---- connections ---- */

static enum tutti_err ssd_read_indices(struct tt_ssp_reader *parts, const struct tt_tree_node *node, const char *name,
                                       struct tt_ssp_end *end)
{
    const char *text = tt_tree_find_attribute(node, name);
    if (!text)
        return TUTTI_OK;
    size_t count = 0;
    const char *word = text;
    for (size_t n; (n = tt_ssp_reader_next_word(&word)) > 0; word += n)
        count++;
    if (count == 0)
        return TUTTI_OK;
    uint64_t *indices = tt_arena_array(parts->arena, count, sizeof *indices);
    if (!indices)
        return tt_fail_memory();
    word = text;
    for (size_t n; (n = tt_ssp_reader_next_word(&word)) > 0; word += n) {
        if (!tt_number_read_uint(word, n, &indices[end->index_count]) || indices[end->index_count] == 0)
            return tt_ssp_reader_fail(parts, node, "%s is \"%s\", expected whole numbers from 1", name,
                                      tt_text_excerpt(text).text);
        end->index_count++;
    }
    end->indices = indices;
    return TUTTI_OK;
}

static enum tutti_err ssd_read_end(struct tt_ssp_reader *parts, const struct tt_tree_node *node, const char *element,
                                   const char *connector, const char *indices, struct tt_ssp_end *end)
{
    end->element = tt_tree_find_attribute(node, element);
    if (end->element && !*end->element) {
        tt_ssp_reader_warn(parts, node, "%s is empty; it is read as if it were absent, and so as the system itself",
                           element);
        end->element = NULL;
    }
    TRY(tt_ssp_reader_require(parts, node, connector, &end->connector));
    return ssd_read_indices(parts, node, indices, end);
}

static enum tutti_err ssd_read_connection(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                          struct tt_ssp_connection *connection)
{
    static const struct tt_shape_word attributes[] = {
        SHAPE_BASE_ATTRIBUTES, {"startElement", false}, {"startConnector", false}, {"startIndices", true},
        {"endElement", false}, {"endConnector", false}, {"endIndices", true},      {"suppressUnitConversion", false},
        {NULL, false}};
    static const struct tt_shape_child children[] = {SHAPE_TRANSFORMATIONS,
                                                     {"ConnectionGeometry", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    TRY(tt_ssp_reader_check(parts, node, &shape));
    connection->line = node->line;
    TRY(ssd_read_end(parts, node, "startElement", "startConnector", "startIndices", &connection->start));
    TRY(ssd_read_end(parts, node, "endElement", "endConnector", "endIndices", &connection->end));
    TRY(tt_ssp_reader_read_bool(parts, node, "suppressUnitConversion", &connection->suppress_unit_conversion));
    return tt_ssm_read_transformation(parts, node, &connection->transformation);
}

static enum tutti_err ssd_read_connections(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                           struct tt_ssp_element *system)
{
    static const struct tt_shape_child children[] = {{"Connection", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {no_attributes, children};
    const struct tt_tree_node *list = tt_ssp_reader_find_child(node, "Connections");
    if (!list)
        return TUTTI_OK;
    TRY(tt_ssp_reader_check(parts, list, &shape));
    struct tt_ssp_connection *connection;
    TRY(tt_ssp_reader_new_array(parts, list, "Connection", sizeof *connection, &connection, &system->connection_count));
    system->connections = connection;
    for (const struct tt_tree_node *child = tt_ssp_reader_find_child(list, "Connection"); child;
         child = tt_ssp_reader_find_next(child, "Connection"))
        TRY(ssd_read_connection(parts, child, connection++));
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
static enum tutti_err ssd_read_element(struct tt_ssp_reader *parts, struct tt_tree_node *node,
                                       const struct tt_shape *shape, struct tt_ssp_element *element)
{
    TRY(tt_ssp_reader_check(parts, node, shape));
    element->node = node;
    element->line = node->line;
    element->id = tt_tree_find_attribute(node, "id");
    TRY(tt_ssp_reader_require(parts, node, "name", &element->name));
    if (!*element->name)
        return tt_ssp_reader_fail(parts, node, "the name is empty; give it one");
    element->settings = tt_ssp_reader_read_settings(parts, node);
    tt_ssd_read_foreign(parts, node, &element->foreign);
    TRY(ssd_read_connectors(parts, node, element));
    return tt_ssd_read_bindings(parts, node, element);
}

static enum tutti_err ssd_read_component(struct tt_ssp_reader *parts, struct tt_tree_node *node,
                                         struct tt_ssp_element *element)
{
    static const struct tt_shape_word attributes[] = {
        SHAPE_ELEMENT_ATTRIBUTES, {"type", false}, {"source", false}, {"implementation", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {SHAPE_ELEMENT, {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    static const struct tt_shape_word implementations[] = {
        {"any", false}, {"ModelExchange", false}, {"CoSimulation", false}, {"ScheduledExecution", true}, {NULL, false}};
    element->kind = TUTTI_SSP_COMPONENT;
    TRY(ssd_read_element(parts, node, &shape, element));
    element->type = tt_tree_find_attribute(node, "type");
    element->source = tt_tree_find_attribute(node, "source");
    if (!element->source && parts->names.version_1)
        tt_ssp_reader_warn(parts, node, "the attribute source is missing, which SSP 1.0 requires");
    size_t word = 0;
    TRY(tt_ssp_reader_read_word(parts, node, "implementation", implementations, &word));
    element->implementation = word ? implementations[word].text : NULL;
    return TUTTI_OK;
}

static enum tutti_err ssd_read_reference(struct tt_ssp_reader *parts, struct tt_tree_node *node,
                                         struct tt_ssp_element *element)
{
    static const struct tt_shape_word attributes[] = {SHAPE_ELEMENT_ATTRIBUTES, {"dictionary", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {SHAPE_ELEMENT, {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    element->kind = TUTTI_SSP_DICTIONARY_REFERENCE;
    TRY(ssd_read_element(parts, node, &shape, element));
    return tt_ssp_reader_require(parts, node, "dictionary", &element->dictionary);
}

static bool ssd_is_element(const struct tt_tree_node *node)
{
    return tt_ssp_reader_has_name(node, "Component") || tt_ssp_reader_has_name(node, "System") ||
           tt_ssp_reader_has_name(node, "SignalDictionaryReference");
}

static enum tutti_err ssd_read_any_element(struct tt_ssp_reader *parts, struct tt_tree_node *node,
                                           struct tt_ssp_element *element)
{
    if (tt_ssp_reader_has_name(node, "Component"))
        return ssd_read_component(parts, node, element);
    if (tt_ssp_reader_has_name(node, "System"))
        return tt_ssd_read_system(parts, node, element);
    return ssd_read_reference(parts, node, element);
}

static enum tutti_err ssd_read_elements(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                        struct tt_ssp_element *system)
{
    static const struct tt_shape_child children[] = {
        {"Component", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
        {"SignalDictionaryReference", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
        {"System", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {no_attributes, children};
    const struct tt_tree_node *list = tt_ssp_reader_find_child(node, "Elements");
    if (!list)
        return TUTTI_OK;
    TRY(tt_ssp_reader_check(parts, list, &shape));
    size_t count = 0;
    for (const struct tt_tree_node *child = list->first; child; child = child->next)
        count += ssd_is_element(child);
    if (count == 0)
        return TUTTI_OK;
    struct tt_ssp_element *elements = tt_arena_array(parts->arena, count, sizeof *elements);
    if (!elements)
        return tt_fail_memory();
    system->elements = elements;
    struct tt_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (struct tt_tree_node *child = list->first; child && err == TUTTI_OK; child = child->next) {
        if (!ssd_is_element(child))
            continue;
        struct tt_ssp_element *element = &elements[system->element_count++];
        err = ssd_read_any_element(parts, child, element);
        if (err == TUTTI_OK)
            err = tt_ssp_reader_check_unique(parts, &names, child, element->name, "elements of this system");
    }
    tt_map_fini(&names);
    return err;
}

enum tutti_err tt_ssd_read_system(struct tt_ssp_reader *parts, struct tt_tree_node *node, struct tt_ssp_element *system)
{
    static const struct tt_shape_word attributes[] = {SHAPE_ELEMENT_ATTRIBUTES, {NULL, false}};
    static const struct tt_shape_child children[] = {SHAPE_ELEMENT,
                                                     {"Elements", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     {"Connections", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     {"SignalDictionaries", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     {"SystemGeometry", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     {"GraphicalElements", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    system->kind = TUTTI_SSP_SYSTEM;
    TRY(ssd_read_element(parts, node, &shape, system));
    TRY(ssd_read_elements(parts, node, system));
    TRY(ssd_read_connections(parts, node, system));
    return tt_ssd_read_dictionaries(parts, node, system);
}
