/* SPDX-License-Identifier: MIT */
/* System structure descriptions (.ssd). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/ssp/ssp_reader.h"

static enum tutti_err ssd_read_document(struct tt_ssp_reader *parts, struct tt_ssd *ssd)
{
    static const struct tt_shape_word attributes[] = {SHAPE_TOP_ATTRIBUTES, {"name", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"System", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     SHAPE_SCOPE(TUTTI_SPACE_SSD),
                                                     {"DefaultExperiment", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     SHAPE_META,
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    static const struct tt_shape_word experiment_attributes[] = {
        {"startTime", false}, {"stopTime", false}, {NULL, false}};
    static const struct tt_shape_child experiment_children[] = {SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                                {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape experiment_shape = {experiment_attributes, experiment_children};

    const struct tt_tree_node *top = ssd->tree->root;
    TRY(tt_ssp_reader_read_version(parts, top));
    TRY(tt_ssp_reader_check(parts, top, &shape));
    ssd->version = tt_tree_find_attribute(top, "version");
    TRY(tt_ssp_reader_require(parts, top, "name", &ssd->name));
    TRY(tt_ssp_reader_read_scope(parts, top, &ssd->scope));
    struct tt_tree_node *system = tt_ssp_reader_find_child(top, "System");
    if (!system)
        return tt_ssp_reader_fail(parts, top, "<System> is missing; add one");
    TRY(tt_ssd_read_system(parts, system, &ssd->system));
    const struct tt_tree_node *experiment = tt_ssp_reader_find_child(top, "DefaultExperiment");
    ssd->settings = tt_ssp_reader_read_settings(parts, top);
    ssd->foreign = ssd->system.foreign;
    tt_ssd_read_foreign(parts, top, &ssd->foreign);
    if (experiment) {
        TRY(tt_ssp_reader_check(parts, experiment, &experiment_shape));
        TRY(tt_ssp_reader_read_double(parts, experiment, "startTime", &ssd->start, &ssd->has_start));
        TRY(tt_ssp_reader_read_double(parts, experiment, "stopTime", &ssd->stop, &ssd->has_stop));
        const struct tt_tree_node *settings = tt_ssp_reader_read_settings(parts, experiment);
        ssd->settings = ssd->settings ? ssd->settings : settings;
        tt_ssd_read_foreign(parts, experiment, &ssd->foreign);
    }
    ssd->settings = ssd->settings ? ssd->settings : ssd->system.settings;
    return TUTTI_OK;
}

enum tutti_err tt_ssd_read(struct tt_ssd **out, const char *file, struct tt_byte_source *reader,
                           struct tt_findings *findings)
{
    *out = NULL;
    struct tt_ssd *ssd = calloc(1, sizeof *ssd);
    if (!ssd)
        return tt_fail_memory();
    enum tutti_err err = tt_ssp_reader_open(&ssd->tree, file, reader, TUTTI_SPACE_SSD, "SystemStructureDescription");
    if (err == TUTTI_OK) {
        struct tt_ssp_reader parts;
        tt_ssp_reader_init(&parts, ssd->tree->file, &ssd->arena, findings);
        err = ssd_read_document(&parts, ssd);
        tt_ssp_reader_fini(&parts);
    }
    if (err == TUTTI_OK)
        *out = ssd;
    else
        tt_ssd_free(ssd);
    return err;
}

void tt_ssd_free(struct tt_ssd *ssd)
{
    if (!ssd)
        return;
    tt_tree_free(ssd->tree);
    tt_arena_fini(&ssd->arena);
    free(ssd);
}

/* Annotations by which other tools describe a run in an SSD: the master algorithms and steps of OMSimulator and OSP. */

/* Elements by name, in whatever namespace and depth: versions of the tools differ in both. */
static const struct foreign_algorithm {
    const char *element, *tool;
    const char *step, *tolerance; /* attributes; NULL: none */
    bool varies;
} all[] = {
    {"FixedStepMaster", "OMSimulator", "stepSize", NULL, false},
    {"VariableStepMaster", "OMSimulator", NULL, "relativeTolerance", true},
    {"VariableStepSolver", "OMSimulator", NULL, "relativeTolerance", true},
    {"FixedStepAlgorithm", "OSP", "baseStepSize", NULL, false},
    {"StepSizeHint", "OSP", "value", NULL, false},
};

static double ssd_read_number(struct tt_ssp_reader *parts, const struct tt_tree_node *node, const char *attribute)
{
    const char *text = attribute ? tt_tree_find_attribute(node, attribute) : NULL;
    double value = 0;
    if (!text)
        return 0;
    if (tt_number_read_double(text, strlen(text), &value) && value > 0 && isfinite(value))
        return value;
    struct tt_text_excerpt shown = tt_text_excerpt(text);
    tt_ssp_reader_warn(parts, node, "%s takes a number greater than 0, not '%s'; it is ignored", attribute, shown.text);
    return 0;
}

/* The first element that is known, in the order of the document. */
static void ssd_search_foreign(struct tt_ssp_reader *parts, const struct tt_tree_node *top,
                               struct tt_ssp_foreign *foreign)
{
    const struct tt_tree_node *node = top->first;
    while (node && node != top && !foreign->tool) {
        for (size_t i = 0; i < sizeof all / sizeof *all && !node->text; i++)
            if (node->space == TUTTI_SPACE_FOREIGN && strcmp(node->local, all[i].element) == 0)
                *foreign = (struct tt_ssp_foreign){.tool = all[i].tool,
                                                   .step = ssd_read_number(parts, node, all[i].step),
                                                   .tolerance = ssd_read_number(parts, node, all[i].tolerance),
                                                   .varies = all[i].varies,
                                                   .line = node->line};
        if (node->first) {
            node = node->first;
            continue;
        }
        while (node != top && !node->next)
            node = node->parent;
        node = node == top ? top : node->next;
    }
}

void tt_ssd_read_foreign(struct tt_ssp_reader *parts, const struct tt_tree_node *node, struct tt_ssp_foreign *foreign)
{
    const struct tt_tree_node *list = tt_ssp_reader_find_child(node, "Annotations");
    if (list && !foreign->tool)
        ssd_search_foreign(parts, list, foreign);
}

/* The parts of a structure that have their content inline or in another file: parameter bindings with their mappings,
 * signal dictionaries. */

/* Returns true for the type that applies without an attribute. */
static bool is_default_type(const char *type, const char *standard)
{
    return !type || strcmp(type, standard) == 0;
}

/* The attribute `source`; an empty one counts as none, as the standard asks for it beside inline content. */
static const char *ssd_source_of(const struct tt_tree_node *node)
{
    const char *source = tt_tree_find_attribute(node, "source");
    return source && *source ? source : NULL;
}

static enum tutti_err ssd_read_base(struct tt_ssp_reader *parts, const struct tt_tree_node *node, bool *in_component)
{
    static const struct tt_shape_word words[] = {{"SSD", false}, {"component", false}, {NULL, false}};
    size_t word = 0;
    TRY(tt_ssp_reader_read_word(parts, node, "sourceBase", words, &word));
    *in_component = word == 1;
    return TUTTI_OK;
}

/* Finds the inline document in `holder`, which may be NULL; there must be none if `source` refers to a file. */
static enum tutti_err ssd_find_inline(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                      const struct tt_tree_node *holder, const char *source, const char *local,
                                      const struct tt_tree_node **found)
{
    *found = holder ? tt_ssp_reader_find_child(holder, local) : NULL;
    if (*found && tt_ssp_reader_find_next(*found, local))
        return tt_ssp_reader_fail(parts, tt_ssp_reader_find_next(*found, local),
                                  "a second one; only one can be meant, remove one");
    if (*found && source)
        return tt_ssp_reader_fail(parts, node, "it has a source and an inline <%s>; remove one of them", local);
    if (!*found && !source)
        return tt_ssp_reader_fail(parts, node, "it has neither a source nor an inline <%s>; add one of them", local);
    return TUTTI_OK;
}

static enum tutti_err ssd_read_mapping(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                       struct tt_ssp_binding *binding)
{
    static const struct tt_shape_word attributes[] = {
        SHAPE_BASE_ATTRIBUTES, {"type", false}, {"source", false}, {"sourceBase", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"ParameterMapping", TUTTI_SPACE_SSM, TUTTI_SHAPE_MANY, false},
                                                     SHAPE_META,
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    binding->mapped = true;
    binding->mapping_type = tt_tree_find_attribute(node, "type");
    binding->mapping_source = ssd_source_of(node);
    TRY(ssd_read_base(parts, node, &binding->mapping_in_component));
    if (!is_default_type(binding->mapping_type, "application/x-ssp-parameter-mapping"))
        return TUTTI_OK;
    TRY(tt_ssp_reader_check(parts, node, &shape));
    const struct tt_tree_node *top;
    TRY(ssd_find_inline(parts, node, node, binding->mapping_source, "ParameterMapping", &top));
    if (!top)
        return TUTTI_OK;
    struct tt_ssm *ssm = tt_arena_alloc(parts->arena, sizeof *ssm);
    if (!ssm)
        return tt_fail_memory();
    binding->mapping = ssm;
    return tt_ssm_parse(parts, top, ssm);
}

static enum tutti_err ssd_read_values(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                      struct tt_ssp_binding *binding)
{
    const struct tt_tree_node *holder = tt_ssp_reader_find_child(node, "ParameterValues"), *top;
    if (holder && binding->source)
        return tt_ssp_reader_fail(parts, node, "it has a source and <ParameterValues>; remove one of them");
    TRY(ssd_find_inline(parts, node, holder, binding->source, "ParameterSet", &top));
    if (!top)
        return TUTTI_OK;
    struct tt_ssv *ssv = tt_arena_alloc(parts->arena, sizeof *ssv);
    if (!ssv)
        return tt_fail_memory();
    binding->values = ssv;
    return tt_ssv_parse(parts, top, ssv);
}

static enum tutti_err ssd_read_binding(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                       struct tt_ssp_binding *binding)
{
    static const struct tt_shape_word attributes[] = {SHAPE_BASE_ATTRIBUTES, {"type", false},   {"source", false},
                                                      {"sourceBase", false}, {"prefix", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"ParameterValues", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     {"ParameterMapping", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     SHAPE_META,
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    TRY(tt_ssp_reader_check(parts, node, &shape));
    binding->line = node->line;
    binding->type = tt_tree_find_attribute(node, "type");
    binding->source = ssd_source_of(node);
    binding->prefix = tt_tree_find_attribute(node, "prefix");
    TRY(ssd_read_base(parts, node, &binding->source_in_component));
    if (is_default_type(binding->type, "application/x-ssp-parameter-set"))
        TRY(ssd_read_values(parts, node, binding));
    const struct tt_tree_node *mapping = tt_ssp_reader_find_child(node, "ParameterMapping");
    return mapping ? ssd_read_mapping(parts, mapping, binding) : TUTTI_OK;
}

enum tutti_err tt_ssd_read_bindings(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                    struct tt_ssp_element *element)
{
    static const struct tt_shape_word none[] = {{NULL, false}};
    static const struct tt_shape_child children[] = {{"ParameterBinding", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {none, children};
    const struct tt_tree_node *first = tt_ssp_reader_find_child(node, "ParameterBindings");
    size_t count = 0;
    for (const struct tt_tree_node *list = first; list; list = tt_ssp_reader_find_next(list, "ParameterBindings")) {
        TRY(tt_ssp_reader_check(parts, list, &shape));
        if (list != first)
            tt_ssp_reader_warn(
                parts, list, "a second one in the same <%s>; its bindings count after those of the first", node->local);
        count += tt_ssp_reader_count_children(list, "ParameterBinding");
    }
    struct tt_ssp_binding *binding = tt_arena_array(parts->arena, count, sizeof *binding);
    if (!binding)
        return tt_fail_memory();
    element->bindings = binding;
    element->binding_count = count;
    for (const struct tt_tree_node *list = first; list; list = tt_ssp_reader_find_next(list, "ParameterBindings"))
        for (const struct tt_tree_node *child = tt_ssp_reader_find_child(list, "ParameterBinding"); child;
             child = tt_ssp_reader_find_next(child, "ParameterBinding"))
            TRY(ssd_read_binding(parts, child, binding++));
    return TUTTI_OK;
}

static enum tutti_err ssd_read_dictionary(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                          struct tt_map *names, struct tt_ssp_dictionary *dictionary)
{
    static const struct tt_shape_word attributes[] = {
        SHAPE_BASE_ATTRIBUTES, {"type", false}, {"source", false}, {"name", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"SignalDictionary", TUTTI_SPACE_SSB, TUTTI_SHAPE_MANY, false},
                                                     SHAPE_META,
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    dictionary->line = node->line;
    dictionary->type = tt_tree_find_attribute(node, "type");
    dictionary->source = ssd_source_of(node);
    TRY(tt_ssp_reader_require(parts, node, "name", &dictionary->name));
    TRY(tt_ssp_reader_check_unique(parts, names, node, dictionary->name, "signal dictionaries of this system"));
    if (!is_default_type(dictionary->type, "application/x-ssp-signal-dictionary"))
        return TUTTI_OK;
    TRY(tt_ssp_reader_check(parts, node, &shape));
    const struct tt_tree_node *top;
    TRY(ssd_find_inline(parts, node, node, dictionary->source, "SignalDictionary", &top));
    if (!top)
        return TUTTI_OK;
    struct tt_ssb *ssb = tt_arena_alloc(parts->arena, sizeof *ssb);
    if (!ssb)
        return tt_fail_memory();
    dictionary->inline_entries = ssb;
    return tt_ssb_parse(parts, top, ssb);
}

enum tutti_err tt_ssd_read_dictionaries(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                        struct tt_ssp_element *system)
{
    static const struct tt_shape_word none[] = {{NULL, false}};
    static const struct tt_shape_child children[] = {{"SignalDictionary", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {none, children};
    const struct tt_tree_node *list = tt_ssp_reader_find_child(node, "SignalDictionaries");
    if (!list)
        return TUTTI_OK;
    TRY(tt_ssp_reader_check(parts, list, &shape));
    struct tt_ssp_dictionary *dictionary;
    TRY(tt_ssp_reader_new_array(parts, list, "SignalDictionary", sizeof *dictionary, &dictionary,
                                &system->dictionary_count));
    system->dictionaries = dictionary;
    struct tt_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tt_tree_node *child = tt_ssp_reader_find_child(list, "SignalDictionary");
         child && err == TUTTI_OK; child = tt_ssp_reader_find_next(child, "SignalDictionary"))
        err = ssd_read_dictionary(parts, child, &names, dictionary++);
    tt_map_fini(&names);
    return err;
}

/* Systems: elements, connectors, connections. Systems in systems are read by recursion, which is as deep as XML may be
 * (TUTTI_XML_DEPTH). */

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
