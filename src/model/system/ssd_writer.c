/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "model/system/conversion.h"
#include "model/system/ssp_elements.h"

/* A variable that gets a connector though it is neither input nor output. */
struct extra_connector {
    uint32_t component, variable;
};

struct ssd_writer {
    const struct tt_ssd_writer_options *write;
    const struct tt_system *system;
    struct tt_editor maker;
    struct tt_ssp_elements_scope scope;
    struct tt_ssd_writer_box *boxes;
    struct extra_connector *extras; /* sorted, each once */
    size_t extra_count, extra_room;
    bool version_2;
};

static const struct tt_description *ssd_writer_desc(const struct ssd_writer *writer, uint32_t component)
{
    return writer->system->components[component].fmu->desc;
}

static bool ssd_writer_is_signal(const struct tt_var *var)
{
    return var->causality == TUTTI_INPUT || var->causality == TUTTI_OUTPUT;
}

/* ---- which variables have connectors ---- */

/* `component` may be TUTTI_NONE: the column of a table, which has a connector anyway. */
static enum tutti_err ssd_writer_add_extra(struct ssd_writer *writer, uint32_t component, uint32_t variable)
{
    if (component == TUTTI_NONE || ssd_writer_is_signal(&ssd_writer_desc(writer, component)->vars[variable]))
        return TUTTI_OK;
    if (!tt_vector_reserve(&writer->extras, &writer->extra_room, writer->extra_count + 1, sizeof *writer->extras))
        return tt_fail_memory();
    writer->extras[writer->extra_count++] = (struct extra_connector){component, variable};
    return TUTTI_OK;
}

/* The sizes of an array are connectors as well. */
static enum tutti_err ssd_writer_add_sizes(struct ssd_writer *writer, uint32_t component, const struct tt_var *var)
{
    for (unsigned i = 0; i < var->dimension_count; i++)
        if (var->dimensions[i].variable != TUTTI_NONE)
            TRY(ssd_writer_add_extra(writer, component, var->dimensions[i].variable));
    return TUTTI_OK;
}

static int compare_extras(const void *a, const void *b)
{
    const struct extra_connector *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return x->variable < y->variable ? -1 : x->variable > y->variable;
}

static enum tutti_err ssd_writer_collect_from(struct ssd_writer *writer, uint32_t c)
{
    const struct tt_component *component = &writer->system->components[c];
    const struct tt_description *desc = component->fmu->desc;
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (ssd_writer_is_signal(&desc->vars[i]))
            TRY(ssd_writer_add_sizes(writer, c, &desc->vars[i]));
    for (size_t i = 0; i < component->setting_count; i++) {
        uint32_t variable = component->settings[i].variable;
        const struct tt_var *var = &desc->vars[variable];
        TRY(ssd_writer_add_sizes(writer, c, var));
        /* SSP 1.0 has no word for the kind of a local variable; its value goes without a connector. */
        if (var->causality != TUTTI_LOCAL)
            TRY(ssd_writer_add_extra(writer, c, variable));
        writer->version_2 |= tt_ssp_elements_value_needs_2(var);
    }
    return TUTTI_OK;
}

static enum tutti_err ssd_writer_collect(struct ssd_writer *writer)
{
    const struct tt_system *system = writer->system;
    for (uint32_t c = 0; c < system->component_count; c++)
        TRY(ssd_writer_collect_from(writer, c));
    for (uint32_t i = 0; i < system->connection_count; i++) {
        char name[256];
        if (system->connections[i].of_line)
            continue; /* an annotation has the line */
        if (system->connections[i].adds)
            return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is a sum of several outputs, which SSP has no words for",
                           tt_system_name(system, &system->connections[i].to, name, sizeof name));
        TRY(ssd_writer_add_extra(writer, system->connections[i].from.component, system->connections[i].from.variable));
        TRY(ssd_writer_add_extra(writer, system->connections[i].to.component, system->connections[i].to.variable));
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

static void ssd_writer_find_version(struct ssd_writer *writer)
{
    for (uint32_t c = 0; c < writer->system->component_count; c++) {
        const struct tt_description *desc = ssd_writer_desc(writer, c);
        for (uint32_t i = 0; i < desc->var_count; i++)
            writer->version_2 |= ssd_writer_is_signal(&desc->vars[i]) &&
                                 tt_ssp_elements_connector_needs_2(&desc->vars[i]);
    }
    for (size_t i = 0; i < writer->extra_count; i++)
        writer->version_2 |= tt_ssp_elements_connector_needs_2(
            &ssd_writer_desc(writer, writer->extras[i].component)->vars[writer->extras[i].variable]);
}

/* ---- components ---- */

/* Inputs are drawn on the left, outputs on the right, from top to bottom. */
static void ssd_writer_write_signals(struct ssd_writer *writer, struct tt_tree_node *connectors,
                                     const struct tt_description *desc)
{
    uint32_t total[2] = {0}, next[2] = {0};
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (ssd_writer_is_signal(&desc->vars[i]))
            total[desc->vars[i].causality == TUTTI_OUTPUT]++;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tt_var *var = &desc->vars[i];
        if (!ssd_writer_is_signal(var))
            continue;
        struct tt_tree_node *node =
            tt_ssp_elements_write_connector(&writer->maker, connectors, desc, var, writer->version_2, &writer->scope);
        struct tt_tree_node *geometry = tt_edit_add(&writer->maker, node, TUTTI_SPACE_SSD, "ConnectorGeometry");
        bool output = var->causality == TUTTI_OUTPUT;
        tt_edit_set_number(&writer->maker, geometry, "x", output);
        double y = 1 - (next[output]++ + 0.5) / total[output];
        tt_edit_set_number(&writer->maker, geometry, "y", nearbyint(1e4 * y) / 1e4);
    }
}

static void ssd_writer_write_box(struct tt_editor *maker, struct tt_tree_node *node,
                                 const struct tt_ssd_writer_box *box)
{
    tt_edit_set_number(maker, node, "x1", box->x1);
    tt_edit_set_number(maker, node, "y1", box->y1);
    tt_edit_set_number(maker, node, "x2", box->x2);
    tt_edit_set_number(maker, node, "y2", box->y2);
}

static enum tutti_err ssd_writer_write_values(struct ssd_writer *writer, struct tt_tree_node *node,
                                              const struct tt_component *component)
{
    if (component->setting_count == 0)
        return TUTTI_OK;
    struct tt_editor *maker = &writer->maker;
    struct tt_tree_node *bindings = tt_edit_add(maker, node, TUTTI_SPACE_SSD, "ParameterBindings");
    struct tt_tree_node *parameters = tt_ssp_elements_write_binding(maker, bindings, writer->version_2 ? "2.0" : "1.0");
    for (size_t i = 0; i < component->setting_count; i++) {
        uint32_t variable = component->settings[i].variable;
        if (i == 0 || component->settings[i - 1].variable != variable) /* elements of one array are side by side */
            TRY(tt_ssp_elements_write_parameter(maker, parameters, component->fmu->desc->vars[variable].name, component,
                                                variable, writer->version_2));
    }
    return TUTTI_OK;
}

static uint32_t ssd_writer_fmu_index(const struct tt_system *system, const struct tt_fmu *fmu, uint32_t guess)
{
    for (uint32_t i = 0; i < system->fmu_count; i++) {
        uint32_t at = (guess + i) % system->fmu_count;
        if (system->fmus[at] == fmu)
            return at;
    }
    return 0;
}

static enum tutti_err ssd_writer_write_component(struct ssd_writer *writer, struct tt_tree_node *elements, uint32_t c,
                                                 size_t *extra, uint32_t *fmu)
{
    const struct tt_component *component = &writer->system->components[c];
    const struct tt_description *desc = component->fmu->desc;
    struct tt_editor *maker = &writer->maker;
    TRY(tt_ssp_elements_check_text(component->name, "the name"));
    *fmu = ssd_writer_fmu_index(writer->system, component->fmu, *fmu);
    struct tt_tree_node *node = tt_edit_add(maker, elements, TUTTI_SPACE_SSD, "Component");
    tt_edit_set(maker, node, "name", component->name);
    tt_edit_set(maker, node, "type", "application/x-fmu-sharedlibrary");
    tt_edit_set(maker, node, "source", writer->write->sources[*fmu]);
    struct tt_tree_node *connectors = tt_edit_add(maker, node, TUTTI_SPACE_SSD, "Connectors");
    ssd_writer_write_signals(writer, connectors, desc);
    for (; *extra < writer->extra_count && writer->extras[*extra].component == c; ++*extra)
        tt_ssp_elements_write_connector(maker, connectors, desc, &desc->vars[writer->extras[*extra].variable],
                                        writer->version_2, &writer->scope);
    if (!connectors->first)
        tt_tree_remove_node(connectors); /* the schema requires at least one */
    ssd_writer_write_box(maker, tt_edit_add(maker, node, TUTTI_SPACE_SSD, "ElementGeometry"), &writer->boxes[c]);
    TRY(ssd_writer_write_values(writer, node, component));
    for (size_t i = 0; i < writer->write->unit_word_count; i++) {
        const struct tt_ssd_writer_setting *word = &writer->write->unit_words[i];
        if (word->component == c)
            tt_edit_set(maker, tt_edit_add_settings(maker, node), word->name, word->value);
    }
    return maker->failed ? tt_fail_memory() : TUTTI_OK;
}

/* ---- tables ---- */

/* The name of the column, as the file has it. */
static const char *ssd_writer_column_name(const struct tt_system *system, const struct tt_port *port)
{
    return tt_csv_table_name(system->tables[port->table].table, port->column);
}

/* Connections of one column share a connector. */
static bool is_first_of_column(const struct tt_system *system, uint32_t input)
{
    const struct tt_port *port = &system->inputs[input];
    for (uint32_t i = 0; i < input; i++)
        if (system->inputs[i].table == port->table && system->inputs[i].column == port->column)
            return false;
    return true;
}

static enum tutti_err ssd_writer_write_table(struct ssd_writer *writer, struct tt_tree_node *elements, uint32_t t)
{
    const struct tt_system *system = writer->system;
    struct tt_editor *maker = &writer->maker;
    TRY(tt_ssp_elements_check_text(system->tables[t].name, "the name"));
    struct tt_tree_node *node = tt_edit_add(maker, elements, TUTTI_SPACE_SSD, "Component");
    tt_edit_set(maker, node, "name", system->tables[t].name);
    tt_edit_set(maker, node, "type", "text/csv");
    tt_edit_set(maker, node, "source", writer->write->tables[t]);
    struct tt_tree_node *connectors = tt_edit_add(maker, node, TUTTI_SPACE_SSD, "Connectors");
    for (uint32_t i = 0; i < system->input_count; i++) {
        if (system->inputs[i].table != t || !is_first_of_column(system, i))
            continue;
        TRY(tt_ssp_elements_check_text(ssd_writer_column_name(system, &system->inputs[i]), "the name of a column"));
        struct tt_tree_node *connector = tt_edit_add(maker, connectors, TUTTI_SPACE_SSD, "Connector");
        tt_edit_set(maker, connector, "name", ssd_writer_column_name(system, &system->inputs[i]));
        tt_edit_set(maker, connector, "kind", "output");
    }
    if (!connectors->first)
        tt_tree_remove_node(connectors); /* the schema requires at least one */
    ssd_writer_write_box(maker, tt_edit_add(maker, node, TUTTI_SPACE_SSD, "ElementGeometry"),
                         &writer->boxes[system->component_count + t]);
    return maker->failed ? tt_fail_memory() : TUTTI_OK;
}

/* ---- experiment and settings ---- */

static void ssd_writer_write_end(struct ssd_writer *writer, struct tt_tree_node *node, const struct tt_end *end,
                                 const char *const names[3])
{
    const struct tt_system *system = writer->system;
    struct tt_editor *maker = &writer->maker;
    const struct tt_port *port = end->component == TUTTI_NONE ? &system->inputs[end->variable] : NULL;
    tt_edit_set(maker, node, names[0],
                port ? system->tables[port->table].name : system->components[end->component].name);
    tt_edit_set(maker, node, names[1],
                port ? ssd_writer_column_name(system, port)
                     : ssd_writer_desc(writer, end->component)->vars[end->variable].name);
    struct tt_text indices = {0};
    for (unsigned i = 0; i < end->element.count; i++)
        tt_text_printf(&indices, "%s%llu", i ? " " : "", (unsigned long long)end->element.index[i]);
    if (indices.length > 0)
        tt_edit_set(maker, node, names[2], indices.text);
    maker->failed |= indices.failed;
    tt_text_fini(&indices);
}

void tt_ssd_writer_scale(struct tt_editor *maker, struct tt_tree_node *connection, double factor, double offset)
{
    if (factor == 1 && offset == 0)
        return;
    struct tt_tree_node *node = tt_edit_add(maker, connection, TUTTI_SPACE_SSC, "LinearTransformation");
    tt_edit_set_number(maker, node, "factor", factor);
    tt_edit_set_number(maker, node, "offset", offset);
}

static const struct tt_unit_def *ssd_writer_unit_of(const struct ssd_writer *writer, const struct tt_end *end)
{
    if (end->component == TUTTI_NONE)
        return NULL;
    const struct tt_description *desc = ssd_writer_desc(writer, end->component);
    const struct tt_var *var = &desc->vars[end->variable];
    return tt_type_is_float(var->type) && var->unit != TUTTI_NONE ? &desc->units[var->unit] : NULL;
}

/* Whether the connection suppresses a conversion that importers of the SSD would carry out or refuse. */
static bool suppresses_conversion(const struct ssd_writer *writer, const struct tt_connection *connection)
{
    const struct tt_unit_def *from = ssd_writer_unit_of(writer, &connection->from),
                             *to = ssd_writer_unit_of(writer, &connection->to);
    double factor, offset;
    bool known;
    if (!connection->unconverted || !from || !to)
        return false;
    enum tutti_err err = tt_conversion_units(from, to, &factor, &offset, &known);
    return err != TUTTI_OK || !known || factor != 1 || offset != 0;
}

static void ssd_writer_write_connections(struct ssd_writer *writer, struct tt_tree_node *system)
{
    static const char *const start[] = {"startElement", "startConnector", "startIndices"};
    static const char *const end[] = {"endElement", "endConnector", "endIndices"};
    if (writer->system->connection_count == 2 * writer->system->line_count)
        return; /* those of lines are all there are */
    struct tt_tree_node *connections = tt_edit_add(&writer->maker, system, TUTTI_SPACE_SSD, "Connections");
    for (uint32_t i = 0; i < writer->system->connection_count; i++) {
        const struct tt_connection *connection = &writer->system->connections[i];
        if (connection->of_line)
            continue;
        struct tt_tree_node *node = tt_edit_add(&writer->maker, connections, TUTTI_SPACE_SSD, "Connection");
        ssd_writer_write_end(writer, node, &connection->from, start);
        ssd_writer_write_end(writer, node, &connection->to, end);
        if (suppresses_conversion(writer, connection))
            tt_edit_set(&writer->maker, node, "suppressUnitConversion", "true");
        tt_ssd_writer_scale(&writer->maker, node, connection->factor, connection->offset);
    }
}

void tt_ssd_writer_experiment(struct tt_editor *maker, struct tt_tree_node *root,
                              const struct tt_ssd_writer_options *write)
{
    if (write->has_start || write->has_stop) {
        struct tt_tree_node *experiment = tt_edit_add_once(maker, root, TUTTI_SPACE_SSD, "DefaultExperiment");
        if (write->has_start)
            tt_edit_set_number(maker, experiment, "startTime", write->start);
        if (write->has_stop)
            tt_edit_set_number(maker, experiment, "stopTime", write->stop);
    }
    for (size_t i = 0; i < write->word_count; i++)
        tt_edit_set(maker, tt_edit_add_settings(maker, root), write->words[i].name, write->words[i].value);
}

static enum tutti_err ssd_writer_write_document(struct ssd_writer *writer)
{
    static const enum tt_tree_space spaces[] = {TUTTI_SPACE_SSD, TUTTI_SPACE_SSC, TUTTI_SPACE_SSV};
    const struct tt_ssd_writer_options *write = writer->write;
    struct tt_editor *maker = &writer->maker;
    TRY(tt_ssp_elements_check_text(write->name, "the name"));
    struct tt_tree_node *root = tt_edit_add_root(maker, "SystemStructureDescription", spaces, 3);
    tt_edit_set(maker, root, "version", writer->version_2 ? "2.0" : "1.0");
    tt_edit_set(maker, root, "name", write->name);
    tt_edit_set(maker, root, "generationTool", write->tool);
    struct tt_tree_node *system = tt_edit_add(maker, root, TUTTI_SPACE_SSD, "System");
    tt_edit_set(maker, system, "name", write->name);
    struct tt_tree_node *elements = tt_edit_add(maker, system, TUTTI_SPACE_SSD, "Elements");
    size_t extra = 0;
    uint32_t fmu = 0;
    for (uint32_t c = 0; c < writer->system->component_count; c++)
        TRY(ssd_writer_write_component(writer, elements, c, &extra, &fmu));
    for (uint32_t t = 0; t < writer->system->table_count; t++)
        TRY(ssd_writer_write_table(writer, elements, t));
    ssd_writer_write_connections(writer, system);
    ssd_writer_write_box(maker, tt_edit_add(maker, system, TUTTI_SPACE_SSD, "SystemGeometry"),
                         &writer->boxes[writer->system->component_count + writer->system->table_count]);
    tt_ssp_elements_write_scope(&writer->scope, root);
    tt_ssd_writer_experiment(maker, root, write);
    return maker->failed ? tt_fail_memory() : TUTTI_OK;
}

static enum tutti_err ssd_writer_build(struct ssd_writer *writer)
{
    writer->boxes =
        calloc((size_t)writer->system->component_count + writer->system->table_count + 1, sizeof *writer->boxes);
    if (!writer->boxes || !writer->maker.tree)
        return tt_fail_memory();
    TRY(ssd_writer_collect(writer));
    ssd_writer_find_version(writer);
    TRY(tt_ssd_writer_layout(writer->system, writer->boxes));
    return ssd_writer_write_document(writer);
}

enum tutti_err tt_ssd_writer_write(struct tt_tree **tree, const struct tt_ssd_writer_options *write)
{
    struct ssd_writer writer = {.write = write, .system = write->system};
    writer.maker.tree = tt_edit_new_tree("SystemStructure.ssd");
    writer.scope.maker = &writer.maker;
    enum tutti_err err = ssd_writer_build(&writer);
    tt_ssp_elements_scope_fini(&writer.scope);
    free(writer.boxes);
    free(writer.extras);
    *tree = writer.maker.tree;
    if (err) {
        tt_tree_free(*tree);
        *tree = NULL;
    }
    return err;
}

/* Where components are drawn: a column for those that depend on no other, the next for those that depend on them only, and
 * so on, as readers of block diagrams expect. Loops are opened at the component that was named first. */

/* In units of the drawing; other tools show some hundred in a window. */
enum { WIDTH = 80, HEAD = 20, PITCH = 10, GAP_X = 60, GAP_Y = 20, FEWEST_ROWS = 8 };

struct box_layout {
    const struct tt_system *system;
    uint32_t *first, *target;       /* destinations of component c: target[first[c]] to target[first[c + 1] - 1] */
    uint32_t *waits, *layer;        /* sources that have no place yet; the column, before columns are split */
    uint32_t *queue, head, tail;    /* components whose sources have all been placed */
    uint32_t *column, column_count; /* where it is in the end */
    double *heights;                /* of columns */
};

/* Height of a box with connectors on one or both sides, `rows` on the side that has more. */
static double box_height_for_rows(double rows)
{
    return HEAD + PITCH * rows;
}

static bool connects_components(const struct tt_connection *connection)
{
    return connection->from.component != TUTTI_NONE && connection->to.component != TUTTI_NONE &&
           connection->from.component != connection->to.component;
}

static void ssd_writer_list_targets(struct box_layout *layout)
{
    const struct tt_system *system = layout->system;
    for (uint32_t i = 0; i < system->connection_count; i++)
        if (connects_components(&system->connections[i])) {
            layout->first[system->connections[i].from.component + 1]++;
            layout->waits[system->connections[i].to.component]++;
        }
    for (uint32_t c = 0; c < system->component_count; c++)
        layout->first[c + 1] += layout->first[c];
    for (uint32_t i = system->connection_count; i > 0; i--)
        if (connects_components(&system->connections[i - 1])) {
            const struct tt_connection *connection = &system->connections[i - 1];
            /* The lists are filled from their ends, which moves their beginnings. */
            layout->target[--layout->first[connection->from.component + 1]] = connection->to.component;
        }
    for (uint32_t c = 0; c < system->component_count; c++)
        layout->first[c] = layout->first[c + 1];
}

static void ssd_writer_place(struct box_layout *layout, uint32_t component, uint32_t end)
{
    for (uint32_t i = layout->first[component]; i < end; i++) {
        uint32_t target = layout->target[i];
        if (layout->waits[target] == 0)
            continue; /* it opened a loop */
        if (layout->layer[target] <= layout->layer[component])
            layout->layer[target] = layout->layer[component] + 1;
        if (--layout->waits[target] == 0)
            layout->queue[layout->tail++] = target;
    }
}

static void ssd_writer_find_layers(struct box_layout *layout, uint32_t edges)
{
    uint32_t count = layout->system->component_count, next = 0;
    for (uint32_t c = 0; c < count; c++)
        if (layout->waits[c] == 0)
            layout->queue[layout->tail++] = c;
    while (layout->head < count) {
        if (layout->head == layout->tail) {
            while (layout->waits[next] == 0)
                next++;
            layout->waits[next] = 0;
            layout->queue[layout->tail++] = next;
        }
        uint32_t component = layout->queue[layout->head++];
        ssd_writer_place(layout, component, component + 1 < count ? layout->first[component + 1] : edges);
    }
}

/* The higher one of its two sides. */
static double ssd_writer_box_height(const struct tt_description *desc)
{
    uint32_t inputs = 0, outputs = 0;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        inputs += desc->vars[i].causality == TUTTI_INPUT;
        outputs += desc->vars[i].causality == TUTTI_OUTPUT;
    }
    return box_height_for_rows(inputs > outputs ? (double)inputs : (double)outputs);
}

/* Layers become columns; one that has very many components, several. */
static void ssd_writer_make_columns(struct box_layout *layout, struct tt_ssd_writer_box *boxes)
{
    uint32_t count = layout->system->component_count, layers = 0;
    double rows = fmax(FEWEST_ROWS, ceil(sqrt(2.0 * count)));
    uint32_t *size = layout->waits, *begin = layout->queue; /* both are free again; a layer has a component at least */
    for (uint32_t c = 0; c < count; c++) {
        layers = layout->layer[c] >= layers ? layout->layer[c] + 1 : layers;
        size[c] = begin[c] = 0;
    }
    for (uint32_t c = 0; c < count; c++)
        size[layout->layer[c]]++;
    for (uint32_t l = 0; l < layers; l++) {
        begin[l] = layout->column_count;
        layout->column_count += (uint32_t)ceil(size[l] / rows);
        size[l] = 0;
    }
    for (uint32_t c = 0; c < count; c++) {
        uint32_t layer = layout->layer[c], column = begin[layer] + (uint32_t)(size[layer]++ / rows);
        double height = ssd_writer_box_height(layout->system->components[c].fmu->desc);
        layout->column[c] = column;
        boxes[c].y1 = layout->heights[column];
        boxes[c].y2 = boxes[c].y1 + height;
        layout->heights[column] += height + GAP_Y;
    }
}

/* So far y is measured downwards in each column; SSP's axis points up, and columns are centred. */
static void place_boxes(const struct box_layout *layout, struct tt_ssd_writer_box *boxes)
{
    uint32_t count = layout->system->component_count;
    double highest = 0;
    for (uint32_t k = 0; k < layout->column_count; k++)
        highest = fmax(highest, layout->heights[k]);
    for (uint32_t c = 0; c < count; c++) {
        uint32_t column = layout->column[c];
        double top = highest - floor((highest - layout->heights[column]) / 2);
        struct tt_ssd_writer_box box = {.x1 = GAP_X + column * (double)(WIDTH + GAP_X)};
        box.x2 = box.x1 + WIDTH;
        box.y1 = top - boxes[c].y2;
        box.y2 = top - boxes[c].y1;
        boxes[c] = box;
    }
    boxes[count + layout->system->table_count] =
        (struct tt_ssd_writer_box){.x2 = GAP_X + layout->column_count * (double)(WIDTH + GAP_X), .y2 = highest + GAP_Y};
}

/* Tables stand in a column on the left: everything else moves to the right. */
static void place_tables(const struct tt_system *system, struct tt_ssd_writer_box *boxes)
{
    uint32_t count = system->component_count;
    struct tt_ssd_writer_box *all = &boxes[count + system->table_count];
    double y = 0;
    for (uint32_t i = 0; i < count && system->table_count > 0; i++) {
        boxes[i].x1 += WIDTH + GAP_X;
        boxes[i].x2 += WIDTH + GAP_X;
    }
    for (uint32_t t = 0; t < system->table_count; t++) {
        double rows = 0;
        for (uint32_t i = 0; i < system->input_count; i++)
            rows += system->inputs[i].table == t;
        boxes[count + t] = (struct tt_ssd_writer_box){.x1 = GAP_X, .x2 = GAP_X + WIDTH, .y1 = y + GAP_Y};
        y = boxes[count + t].y2 = boxes[count + t].y1 + box_height_for_rows(rows);
    }
    all->x2 += system->table_count > 0 ? WIDTH + GAP_X : 0;
    all->y2 = fmax(all->y2, y + GAP_Y);
}

enum tutti_err tt_ssd_writer_layout(const struct tt_system *system, struct tt_ssd_writer_box *boxes)
{
    size_t count = (size_t)system->component_count + 2;
    uint32_t *room = calloc(5 * count + system->connection_count, sizeof *room);
    double *heights = calloc(count, sizeof *heights);
    if (room && heights) {
        struct box_layout layout = {.system = system, .heights = heights};
        layout.first = room;
        layout.waits = room + count;
        layout.layer = room + 2 * count;
        layout.queue = room + 3 * count;
        layout.column = room + 4 * count;
        layout.target = room + 5 * count;
        ssd_writer_list_targets(&layout);
        uint32_t edges = 0;
        for (uint32_t i = 0; i < system->connection_count; i++)
            edges += connects_components(&system->connections[i]);
        ssd_writer_find_layers(&layout, edges);
        ssd_writer_make_columns(&layout, boxes);
        place_boxes(&layout, boxes);
        place_tables(system, boxes);
    }
    enum tutti_err err = room && heights ? TUTTI_OK : tt_fail_memory();
    free(room);
    free(heights);
    return err;
}
