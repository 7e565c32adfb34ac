/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "system/conversion.h"
#include "system/write_parts.h"

/* A variable that gets a connector though it is neither input nor output. */
struct extra {
    uint32_t component, variable;
};

struct writer {
    const struct tutti_write *write;
    const struct tutti_system *system;
    struct tutti_maker maker;
    struct tutti_write_scope scope;
    struct tutti_write_box *boxes;
    struct extra *extras; /* sorted, each once */
    size_t extra_count, extra_room;
    bool version_2;
};

static const struct tutti_desc *desc_of(const struct writer *writer, uint32_t component)
{
    return writer->system->components[component].fmu->desc;
}

static bool is_signal(const struct tutti_var *var)
{
    return var->causality == TUTTI_INPUT || var->causality == TUTTI_OUTPUT;
}

/* ---- which variables have connectors ---- */

/* `component` may be TUTTI_NONE: the column of a table, which has a connector anyway. */
static enum tutti_err add_extra(struct writer *writer, uint32_t component, uint32_t variable)
{
    if (component == TUTTI_NONE || is_signal(&desc_of(writer, component)->vars[variable]))
        return TUTTI_OK;
    if (writer->extra_count == writer->extra_room) {
        size_t room = writer->extra_room ? 2 * writer->extra_room : 64;
        struct extra *extras = reallocarray(writer->extras, room, sizeof *extras);
        if (!extras)
            return tutti_fail_memory();
        writer->extras = extras;
        writer->extra_room = room;
    }
    writer->extras[writer->extra_count++] = (struct extra){component, variable};
    return TUTTI_OK;
}

/* The sizes of an array are connectors as well. */
static enum tutti_err add_sizes(struct writer *writer, uint32_t component, const struct tutti_var *var)
{
    for (unsigned i = 0; i < var->dimension_count; i++)
        if (var->dimensions[i].variable != TUTTI_NONE)
            TRY(add_extra(writer, component, var->dimensions[i].variable));
    return TUTTI_OK;
}

static int compare_extras(const void *a, const void *b)
{
    const struct extra *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return x->variable < y->variable ? -1 : x->variable > y->variable;
}

static enum tutti_err collect_of_component(struct writer *writer, uint32_t c)
{
    const struct tutti_component *component = &writer->system->components[c];
    const struct tutti_desc *desc = component->fmu->desc;
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (is_signal(&desc->vars[i]))
            TRY(add_sizes(writer, c, &desc->vars[i]));
    for (size_t i = 0; i < component->setting_count; i++) {
        uint32_t variable = component->settings[i].variable;
        const struct tutti_var *var = &desc->vars[variable];
        TRY(add_sizes(writer, c, var));
        /* SSP 1.0 has no word for the kind of a local variable; its value goes without a connector. */
        if (var->causality != TUTTI_LOCAL)
            TRY(add_extra(writer, c, variable));
        writer->version_2 |= tutti_write_value_needs_2(var);
    }
    return TUTTI_OK;
}

static enum tutti_err collect(struct writer *writer)
{
    const struct tutti_system *system = writer->system;
    for (uint32_t c = 0; c < system->component_count; c++)
        TRY(collect_of_component(writer, c));
    for (uint32_t i = 0; i < system->connection_count; i++) {
        char name[256];
        if (system->connections[i].of_line)
            continue; /* an annotation has the line */
        if (system->connections[i].adds)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "'%s' is a sum of several outputs, which SSP has no words for",
                              tutti_system_name(system, &system->connections[i].to, name, sizeof name));
        TRY(add_extra(writer, system->connections[i].from.component, system->connections[i].from.variable));
        TRY(add_extra(writer, system->connections[i].to.component, system->connections[i].to.variable));
    }
    if (writer->extra_count > 1)
        qsort(writer->extras, writer->extra_count, sizeof *writer->extras, compare_extras);
    size_t kept = 0;
    for (size_t i = 0; i < writer->extra_count; i++)
        if (kept == 0 || compare_extras(&writer->extras[kept - 1], &writer->extras[i]) != 0)
            writer->extras[kept++] = writer->extras[i];
    writer->extra_count = kept;
    return TUTTI_OK;
}

static void find_version(struct writer *writer)
{
    for (uint32_t c = 0; c < writer->system->component_count; c++) {
        const struct tutti_desc *desc = desc_of(writer, c);
        for (uint32_t i = 0; i < desc->var_count; i++)
            writer->version_2 |= is_signal(&desc->vars[i]) && tutti_write_connector_needs_2(&desc->vars[i]);
    }
    for (size_t i = 0; i < writer->extra_count; i++)
        writer->version_2 |= tutti_write_connector_needs_2(
            &desc_of(writer, writer->extras[i].component)->vars[writer->extras[i].variable]);
}

/* ---- components ---- */

/* Inputs are drawn on the left, outputs on the right, from top to bottom. */
static void write_signals(struct writer *writer, struct tutti_node *connectors, const struct tutti_desc *desc)
{
    uint32_t total[2] = {0}, next[2] = {0};
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (is_signal(&desc->vars[i]))
            total[desc->vars[i].causality == TUTTI_OUTPUT]++;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tutti_var *var = &desc->vars[i];
        if (!is_signal(var))
            continue;
        struct tutti_node *node =
            tutti_write_connector(&writer->maker, connectors, desc, var, writer->version_2, &writer->scope);
        struct tutti_node *geometry = tutti_make(&writer->maker, node, TUTTI_SPACE_SSD, "ConnectorGeometry");
        bool output = var->causality == TUTTI_OUTPUT;
        tutti_make_number(&writer->maker, geometry, "x", output);
        double y = 1 - (next[output]++ + 0.5) / total[output];
        tutti_make_number(&writer->maker, geometry, "y", nearbyint(1e4 * y) / 1e4);
    }
}

static void write_box(struct tutti_maker *maker, struct tutti_node *node, const struct tutti_write_box *box)
{
    tutti_make_number(maker, node, "x1", box->x1);
    tutti_make_number(maker, node, "y1", box->y1);
    tutti_make_number(maker, node, "x2", box->x2);
    tutti_make_number(maker, node, "y2", box->y2);
}

static enum tutti_err write_values(struct writer *writer, struct tutti_node *node,
                                   const struct tutti_component *component)
{
    if (component->setting_count == 0)
        return TUTTI_OK;
    struct tutti_maker *maker = &writer->maker;
    struct tutti_node *bindings = tutti_make(maker, node, TUTTI_SPACE_SSD, "ParameterBindings");
    struct tutti_node *parameters = tutti_write_binding(maker, bindings, writer->version_2 ? "2.0" : "1.0");
    for (size_t i = 0; i < component->setting_count; i++) {
        uint32_t variable = component->settings[i].variable;
        if (i == 0 || component->settings[i - 1].variable != variable) /* elements of one array are side by side */
            TRY(tutti_write_parameter(maker, parameters, component->fmu->desc->vars[variable].name, component, variable,
                                      writer->version_2));
    }
    return TUTTI_OK;
}

static uint32_t fmu_index(const struct tutti_system *system, const struct tutti_fmu *fmu, uint32_t guess)
{
    for (uint32_t i = 0; i < system->fmu_count; i++) {
        uint32_t at = (guess + i) % system->fmu_count;
        if (system->fmus[at] == fmu)
            return at;
    }
    return 0;
}

static enum tutti_err write_component(struct writer *writer, struct tutti_node *elements, uint32_t c, size_t *extra,
                                      uint32_t *fmu)
{
    const struct tutti_component *component = &writer->system->components[c];
    const struct tutti_desc *desc = component->fmu->desc;
    struct tutti_maker *maker = &writer->maker;
    TRY(tutti_write_check(component->name, "the name"));
    *fmu = fmu_index(writer->system, component->fmu, *fmu);
    struct tutti_node *node = tutti_make(maker, elements, TUTTI_SPACE_SSD, "Component");
    tutti_make_set(maker, node, "name", component->name);
    tutti_make_set(maker, node, "type", "application/x-fmu-sharedlibrary");
    tutti_make_set(maker, node, "source", writer->write->sources[*fmu]);
    struct tutti_node *connectors = tutti_make(maker, node, TUTTI_SPACE_SSD, "Connectors");
    write_signals(writer, connectors, desc);
    for (; *extra < writer->extra_count && writer->extras[*extra].component == c; ++*extra)
        tutti_write_connector(maker, connectors, desc, &desc->vars[writer->extras[*extra].variable], writer->version_2,
                              &writer->scope);
    if (!connectors->first)
        tutti_node_remove(connectors); /* the schema wants one at least */
    write_box(maker, tutti_make(maker, node, TUTTI_SPACE_SSD, "ElementGeometry"), &writer->boxes[c]);
    TRY(write_values(writer, node, component));
    for (size_t i = 0; i < writer->write->unit_word_count; i++) {
        const struct tutti_write_word *word = &writer->write->unit_words[i];
        if (word->component == c)
            tutti_make_set(maker, tutti_make_settings(maker, node), word->name, word->value);
    }
    return maker->failed ? tutti_fail_memory() : TUTTI_OK;
}

/* ---- tables ---- */

/* The name of the column, as the file has it. */
static const char *column_name(const struct tutti_system *system, const struct tutti_port *port)
{
    return tutti_table_name(system->tables[port->table].table, port->column);
}

/* Connections of one column share a connector. */
static bool is_first_of_column(const struct tutti_system *system, uint32_t input)
{
    const struct tutti_port *port = &system->inputs[input];
    for (uint32_t i = 0; i < input; i++)
        if (system->inputs[i].table == port->table && system->inputs[i].column == port->column)
            return false;
    return true;
}

static enum tutti_err write_table(struct writer *writer, struct tutti_node *elements, uint32_t t)
{
    const struct tutti_system *system = writer->system;
    struct tutti_maker *maker = &writer->maker;
    TRY(tutti_write_check(system->tables[t].name, "the name"));
    struct tutti_node *node = tutti_make(maker, elements, TUTTI_SPACE_SSD, "Component");
    tutti_make_set(maker, node, "name", system->tables[t].name);
    tutti_make_set(maker, node, "type", "text/csv");
    tutti_make_set(maker, node, "source", writer->write->tables[t]);
    struct tutti_node *connectors = tutti_make(maker, node, TUTTI_SPACE_SSD, "Connectors");
    for (uint32_t i = 0; i < system->input_count; i++) {
        if (system->inputs[i].table != t || !is_first_of_column(system, i))
            continue;
        TRY(tutti_write_check(column_name(system, &system->inputs[i]), "the name of a column"));
        struct tutti_node *connector = tutti_make(maker, connectors, TUTTI_SPACE_SSD, "Connector");
        tutti_make_set(maker, connector, "name", column_name(system, &system->inputs[i]));
        tutti_make_set(maker, connector, "kind", "output");
    }
    if (!connectors->first)
        tutti_node_remove(connectors); /* the schema wants one at least */
    write_box(maker, tutti_make(maker, node, TUTTI_SPACE_SSD, "ElementGeometry"),
              &writer->boxes[system->component_count + t]);
    return maker->failed ? tutti_fail_memory() : TUTTI_OK;
}

/* ---- the rest ---- */

static void write_end(struct writer *writer, struct tutti_node *node, const struct tutti_end *end,
                      const char *const names[3])
{
    const struct tutti_system *system = writer->system;
    struct tutti_maker *maker = &writer->maker;
    const struct tutti_port *port = end->component == TUTTI_NONE ? &system->inputs[end->variable] : NULL;
    tutti_make_set(maker, node, names[0],
                   port ? system->tables[port->table].name : system->components[end->component].name);
    tutti_make_set(maker, node, names[1],
                   port ? column_name(system, port) : desc_of(writer, end->component)->vars[end->variable].name);
    struct tutti_text indices = {0};
    for (unsigned i = 0; i < end->element.count; i++)
        tutti_text_printf(&indices, "%s%llu", i ? " " : "", (unsigned long long)end->element.index[i]);
    if (indices.length > 0)
        tutti_make_set(maker, node, names[2], indices.text);
    maker->failed |= indices.failed;
    tutti_text_fini(&indices);
}

void tutti_write_scale(struct tutti_maker *maker, struct tutti_node *connection, double factor, double offset)
{
    if (factor == 1 && offset == 0)
        return;
    struct tutti_node *node = tutti_make(maker, connection, TUTTI_SPACE_SSC, "LinearTransformation");
    tutti_make_number(maker, node, "factor", factor);
    tutti_make_number(maker, node, "offset", offset);
}

static const struct tutti_unit_def *unit_of(const struct writer *writer, const struct tutti_end *end)
{
    if (end->component == TUTTI_NONE)
        return NULL;
    const struct tutti_desc *desc = desc_of(writer, end->component);
    const struct tutti_var *var = &desc->vars[end->variable];
    return tutti_type_is_float(var->type) && var->unit != TUTTI_NONE ? &desc->units[var->unit] : NULL;
}

/* Whether the connection suppresses a conversion that importers of the SSD would carry out or refuse. */
static bool suppresses(const struct writer *writer, const struct tutti_connection *connection)
{
    const struct tutti_unit_def *from = unit_of(writer, &connection->from), *to = unit_of(writer, &connection->to);
    double factor, offset;
    bool known;
    if (!connection->unconverted || !from || !to)
        return false;
    enum tutti_err err = tutti_conversion_units(from, to, &factor, &offset, &known);
    return err != TUTTI_OK || !known || factor != 1 || offset != 0;
}

static void write_connections(struct writer *writer, struct tutti_node *system)
{
    static const char *const start[] = {"startElement", "startConnector", "startIndices"};
    static const char *const end[] = {"endElement", "endConnector", "endIndices"};
    if (writer->system->connection_count == 2 * writer->system->line_count)
        return; /* those of lines are all there are */
    struct tutti_node *connections = tutti_make(&writer->maker, system, TUTTI_SPACE_SSD, "Connections");
    for (uint32_t i = 0; i < writer->system->connection_count; i++) {
        const struct tutti_connection *connection = &writer->system->connections[i];
        if (connection->of_line)
            continue;
        struct tutti_node *node = tutti_make(&writer->maker, connections, TUTTI_SPACE_SSD, "Connection");
        write_end(writer, node, &connection->from, start);
        write_end(writer, node, &connection->to, end);
        if (suppresses(writer, connection))
            tutti_make_set(&writer->maker, node, "suppressUnitConversion", "true");
        tutti_write_scale(&writer->maker, node, connection->factor, connection->offset);
    }
}

void tutti_write_experiment(struct tutti_maker *maker, struct tutti_node *root, const struct tutti_write *write)
{
    if (write->has_start || write->has_stop) {
        struct tutti_node *experiment = tutti_make_once(maker, root, TUTTI_SPACE_SSD, "DefaultExperiment");
        if (write->has_start)
            tutti_make_number(maker, experiment, "startTime", write->start);
        if (write->has_stop)
            tutti_make_number(maker, experiment, "stopTime", write->stop);
    }
    for (size_t i = 0; i < write->word_count; i++)
        tutti_make_set(maker, tutti_make_settings(maker, root), write->words[i].name, write->words[i].value);
}

static enum tutti_err write_document(struct writer *writer)
{
    static const enum tutti_space spaces[] = {TUTTI_SPACE_SSD, TUTTI_SPACE_SSC, TUTTI_SPACE_SSV};
    const struct tutti_write *write = writer->write;
    struct tutti_maker *maker = &writer->maker;
    TRY(tutti_write_check(write->name, "the name"));
    struct tutti_node *root = tutti_make_root(maker, "SystemStructureDescription", spaces, 3);
    tutti_make_set(maker, root, "version", writer->version_2 ? "2.0" : "1.0");
    tutti_make_set(maker, root, "name", write->name);
    tutti_make_set(maker, root, "generationTool", write->tool);
    struct tutti_node *system = tutti_make(maker, root, TUTTI_SPACE_SSD, "System");
    tutti_make_set(maker, system, "name", write->name);
    struct tutti_node *elements = tutti_make(maker, system, TUTTI_SPACE_SSD, "Elements");
    size_t extra = 0;
    uint32_t fmu = 0;
    for (uint32_t c = 0; c < writer->system->component_count; c++)
        TRY(write_component(writer, elements, c, &extra, &fmu));
    for (uint32_t t = 0; t < writer->system->table_count; t++)
        TRY(write_table(writer, elements, t));
    write_connections(writer, system);
    write_box(maker, tutti_make(maker, system, TUTTI_SPACE_SSD, "SystemGeometry"),
              &writer->boxes[writer->system->component_count + writer->system->table_count]);
    tutti_write_scope_end(&writer->scope, root);
    tutti_write_experiment(maker, root, write);
    return maker->failed ? tutti_fail_memory() : TUTTI_OK;
}

static enum tutti_err build(struct writer *writer)
{
    writer->boxes =
        calloc((size_t)writer->system->component_count + writer->system->table_count + 1, sizeof *writer->boxes);
    if (!writer->boxes || !writer->maker.tree)
        return tutti_fail_memory();
    TRY(collect(writer));
    find_version(writer);
    TRY(tutti_write_layout(writer->system, writer->boxes));
    return write_document(writer);
}

enum tutti_err tutti_write_ssd(struct tutti_tree **tree, const struct tutti_write *write)
{
    struct writer writer = {.write = write, .system = write->system};
    writer.maker.tree = tutti_tree_new("SystemStructure.ssd");
    writer.scope.maker = &writer.maker;
    enum tutti_err err = build(&writer);
    tutti_write_scope_fini(&writer.scope);
    free(writer.boxes);
    free(writer.extras);
    *tree = writer.maker.tree;
    if (err) {
        tutti_tree_free(*tree);
        *tree = NULL;
    }
    return err;
}
