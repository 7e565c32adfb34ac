/* SPDX-License-Identifier: MIT */
#include "apps/pack/pack_description.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/run.h>

#include "apps/pack/exposed.h"
#include "base/number.h"
#include "base/vector.h"
#include "model/ssp/tree.h"

struct pack_xml_writer {
    const struct tt_pack_description *description;
    const struct tt_job *job;
    struct tt_tree *tree;
    bool failed; /* memory is out */
    struct tt_dependencies depends;
};

/* ---- elements ---- */

static struct tt_tree_node *pack_xml_add_node(struct pack_xml_writer *writer, struct tt_tree_node *parent,
                                              const char *name)
{
    struct tt_tree_node *node = writer->failed ? NULL : tt_tree_add_node(writer->tree, parent, name);
    writer->failed = writer->failed || !node;
    return node;
}

static void pack_xml_set_attribute(struct pack_xml_writer *writer, struct tt_tree_node *node, const char *name,
                                   const char *value)
{
    if (!writer->failed && value)
        writer->failed = !tt_tree_set_attribute(writer->tree, node, name, value);
}

static void pack_xml_set_number(struct pack_xml_writer *writer, struct tt_tree_node *node, const char *name,
                                double value)
{
    char digits[64];
    digits[tt_number_write_double(digits, value)] = '\0';
    pack_xml_set_attribute(writer, node, name, digits);
}

static void pack_xml_set_count(struct pack_xml_writer *writer, struct tt_tree_node *node, const char *name,
                               uint64_t value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    pack_xml_set_attribute(writer, node, name, digits);
}

static void pack_xml_set_true(struct pack_xml_writer *writer, struct tt_tree_node *node, const char *name, bool value)
{
    if (value)
        pack_xml_set_attribute(writer, node, name, "true");
}

/* ---- what the system can ---- */

/* The flags that all units have, by the interface that they would be run with. */
struct common_capabilities {
    uint32_t all;
    bool once;      /* one of them can be instantiated only once in a process */
    bool varies;    /* steps of all of them can be of any size */
    bool completes; /* one of them is to hear of every step of a solver */
};

static enum tutti_err find_common_capabilities(const struct tt_job *job, struct common_capabilities *common)
{
    *common = (struct common_capabilities){.all = UINT32_MAX, .varies = true};
    for (uint32_t c = 0; c < job->system->component_count; c++) {
        const struct tt_unit_kind *kind;
        double step;
        TRY(tt_exposed_find_kind(job, c, &kind, &step));
        uint32_t flags = job->system->components[c].fmu->desc->interfaces[kind->interface].flags;
        common->all &= flags;
        common->once = common->once || flags & TUTTI_ONCE_PER_PROCESS;
        common->varies = common->varies && (kind->interface == TUTTI_ME || flags & TUTTI_CAN_VARIABLE_STEP);
        common->completes = common->completes || flags & TUTTI_NEEDS_COMPLETED_STEP;
    }
    return TUTTI_OK;
}

static struct tt_tree_node *pack_xml_add_interface(struct pack_xml_writer *writer, struct tt_tree_node *root,
                                                   const char *name, const struct common_capabilities *common,
                                                   bool directional)
{
    bool newer = writer->description->fmi == 3;
    uint32_t both = TUTTI_CAN_STATE | TUTTI_CAN_SERIALIZE;
    struct tt_tree_node *node = pack_xml_add_node(writer, root, name);
    pack_xml_set_attribute(writer, node, "modelIdentifier", writer->description->identifier);
    pack_xml_set_true(writer, node, "canBeInstantiatedOnlyOncePerProcess", common->once);
    pack_xml_set_true(writer, node, newer ? "canGetAndSetFMUState" : "canGetAndSetFMUstate",
                      common->all & TUTTI_CAN_STATE);
    pack_xml_set_true(writer, node, newer ? "canSerializeFMUState" : "canSerializeFMUstate",
                      (common->all & both) == both);
    pack_xml_set_true(writer, node, "canNotUseMemoryManagementFunctions", !newer);
    pack_xml_set_true(writer, node, newer ? "providesDirectionalDerivatives" : "providesDirectionalDerivative",
                      directional && common->all & TUTTI_CAN_DIRECTIONAL);
    return node;
}

static enum tutti_err pack_xml_add_interfaces(struct pack_xml_writer *writer, struct tt_tree_node *root)
{
    bool newer = writer->description->fmi == 3;
    struct common_capabilities common;
    TRY(find_common_capabilities(writer->job, &common));
    if (writer->description->exposed->exchange) {
        struct tt_tree_node *exchange = pack_xml_add_interface(writer, root, "ModelExchange", &common, true);
        if (newer)
            pack_xml_set_true(writer, exchange, "needsCompletedIntegratorStep", common.completes);
        else
            pack_xml_set_true(writer, exchange, "completedIntegratorStepNotNeeded", !common.completes);
    }
    const char *coupling =
        writer->job->options.coupling; /* of others, what is between an input and an output takes steps */
    struct tt_tree_node *steps =
        pack_xml_add_interface(writer, root, "CoSimulation", &common,
                               writer->description->exposed->exchange && coupling && strcmp(coupling, "strong") == 0);
    pack_xml_set_true(writer, steps, "canHandleVariableCommunicationStepSize", common.varies);
    pack_xml_set_true(writer, steps, "hasEventMode", newer);
    pack_xml_set_true(writer, steps, "mightReturnEarlyFromDoStep", newer);
    return TUTTI_OK;
}

/* ---- units and types ---- */

static void pack_xml_add_unit(struct pack_xml_writer *writer, struct tt_tree_node *parent,
                              const struct tt_unit_def *unit)
{
    static const char *const bases[] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
    struct tt_tree_node *node = pack_xml_add_node(writer, parent, "Unit");
    pack_xml_set_attribute(writer, node, "name", unit->name);
    if (!unit->has_base)
        return;
    struct tt_tree_node *base = pack_xml_add_node(writer, node, "BaseUnit");
    for (unsigned i = 0; i < 8; i++) {
        char digits[16];
        snprintf(digits, sizeof digits, "%d", unit->exponents[i]);
        if (unit->exponents[i] != 0)
            pack_xml_set_attribute(writer, base, bases[i], digits);
    }
    if (unit->factor != 1)
        pack_xml_set_number(writer, base, "factor", unit->factor);
    if (unit->offset != 0)
        pack_xml_set_number(writer, base, "offset", unit->offset);
}

static void pack_xml_add_units(struct pack_xml_writer *writer, struct tt_tree_node *root)
{
    const struct tt_exposed_list *list = writer->description->exposed;
    struct tt_tree_node *parent = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (!list->items[i].unit || !tt_type_is_float(list->items[i].row.type))
            continue;
        bool first = true; /* units are known by their names */
        for (size_t k = 0; k < i && first; k++)
            first = !list->items[k].unit || strcmp(list->items[k].unit->name, list->items[i].unit->name) != 0;
        if (!first)
            continue;
        parent = parent ? parent : pack_xml_add_node(writer, root, "UnitDefinitions");
        pack_xml_add_unit(writer, parent, list->items[i].unit);
    }
}

static const struct tt_type_def *pack_xml_enumeration(const struct pack_xml_writer *writer,
                                                      const struct tt_exposed *exposed)
{
    const struct tt_description *desc = writer->job->system->components[exposed->component].fmu->desc;
    const struct tt_var *var = &desc->vars[exposed->variable];
    return exposed->row.type == TUTTI_TYPE_ENUMERATION && var->type_def != TUTTI_NONE ? &desc->types[var->type_def]
                                                                                      : NULL;
}

static void pack_xml_name_type(const struct pack_xml_writer *writer, size_t place, char out[48])
{
    const struct tt_exposed_list *list = writer->description->exposed;
    const struct tt_type_def *own = pack_xml_enumeration(writer, &list->items[place]);
    while (place > 0 && pack_xml_enumeration(writer, &list->items[place - 1]) == own)
        place--;
    snprintf(out, 48, "Enumeration%zu", place + 1);
}

static void pack_xml_add_types(struct pack_xml_writer *writer, struct tt_tree_node *root)
{
    const struct tt_exposed_list *list = writer->description->exposed;
    bool newer = writer->description->fmi == 3;
    struct tt_tree_node *parent = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct tt_type_def *type = pack_xml_enumeration(writer, &list->items[i]);
        if (!type || (i > 0 && pack_xml_enumeration(writer, &list->items[i - 1]) == type))
            continue;
        char name[48];
        pack_xml_name_type(writer, i, name);
        parent = parent ? parent : pack_xml_add_node(writer, root, "TypeDefinitions");
        struct tt_tree_node *outer = pack_xml_add_node(writer, parent, newer ? "EnumerationType" : "SimpleType");
        pack_xml_set_attribute(writer, outer, "name", name);
        struct tt_tree_node *inner = newer ? outer : pack_xml_add_node(writer, outer, "Enumeration");
        for (uint32_t k = 0; k < type->item_count; k++) {
            char digits[32];
            struct tt_tree_node *item = pack_xml_add_node(writer, inner, "Item");
            pack_xml_set_attribute(writer, item, "name", type->items[k].name);
            snprintf(digits, sizeof digits, "%lld", (long long)type->items[k].value);
            pack_xml_set_attribute(writer, item, "value", digits);
        }
    }
}

/* ---- variables ---- */

/* Of an array, or of one value: FMI 3.0 lets one stand for all. */
static void pack_xml_expand_value(void *to, const void *from, size_t from_count, size_t count, size_t size)
{
    for (size_t i = 0; i < count && from_count > 0; i++)
        memcpy((char *)to + i * size, (const char *)from + (from_count == 1 ? 0 : i % from_count) * size, size);
}

/* The start value if nothing is set: that of the system, otherwise that of its FMU, otherwise 0. */
static void compute_start_value(const struct tt_job *job, const struct tt_exposed *exposed, char *values, size_t count)
{
    const struct tt_component *component = &job->system->components[exposed->component];
    const struct tt_var *var = tt_exposed_var(job, exposed);
    size_t size = tt_type_size((enum tt_type)var->type);
    bool one = exposed->element != SIZE_MAX; /* of an array */
    if (var->start_count > 0) {
        const char *from = var->start;
        bool picks = one && exposed->element < var->start_count;
        pack_xml_expand_value(values, picks ? from + exposed->element * size : from, one ? 1 : var->start_count, count,
                              size);
    }
    for (size_t i = 0; i < component->setting_count; i++) {
        const struct tt_setting *setting = &component->settings[i];
        const struct tt_end end = {exposed->component, exposed->variable, setting->element};
        const char *from = setting->values;
        if (setting->variable != exposed->variable)
            continue;
        size_t place = setting->element.count > 0 ? tt_exposed_index(job, &end) : SIZE_MAX;
        if (place == SIZE_MAX && !one)
            pack_xml_expand_value(values, from, setting->count, count, size);
        else if (place == SIZE_MAX)
            memcpy(values, from + (setting->count > exposed->element ? exposed->element : 0) * size, size);
        else if (one ? place == exposed->element : place < count)
            memcpy(values + (one ? 0 : place) * size, from, size);
    }
}

static void write_start_value(struct tt_text *text, const struct tt_exposed *exposed, enum tt_type own,
                              const char *value)
{
    union tt_packed_value shown = {0};
    memcpy(&shown, value, tt_type_size(own));
    if (exposed->conversion)
        shown = tt_packed_table_invert_conversion(exposed->conversion, shown);
    if (exposed->row.type == TUTTI_TYPE_STRING && !shown.text)
        shown.text = "";
    tt_packed_table_write_value(text, exposed->row.type, &shown);
}

/* As an attribute, with blanks between the values of an array; or, of texts by FMI 3.0, as elements. */
static void pack_xml_set_start(struct pack_xml_writer *writer, struct tt_tree_node *node,
                               const struct tt_exposed *exposed)
{
    enum tt_type own = (enum tt_type)tt_exposed_var(writer->job, exposed)->type;
    size_t count = tt_packed_table_row_size(&exposed->row), size = tt_type_size(own);
    bool elements = writer->description->fmi == 3 && tt_type_is_text(exposed->row.type);
    char *values = calloc(count + 1, size);
    struct tt_text text = {0};
    writer->failed = writer->failed || !values;
    if (!writer->failed)
        compute_start_value(writer->job, exposed, values, count);
    for (size_t i = 0; i < count && !writer->failed; i++) {
        if (elements || i == 0)
            text.length = 0;
        else
            tt_text_append(&text, " ");
        write_start_value(&text, exposed, own, values + i * size);
        tt_text_append(&text, "");
        writer->failed = writer->failed || text.failed;
        if (elements)
            pack_xml_set_attribute(writer, pack_xml_add_node(writer, node, "Start"), "value", text.text);
    }
    if (!elements)
        pack_xml_set_attribute(writer, node, "start", text.text);
    tt_text_fini(&text);
    free(values);
}

static const char *pack_xml_variability(const struct pack_xml_writer *writer, const struct tt_exposed *exposed)
{
    const struct tt_var *var = tt_exposed_var(writer->job, exposed);
    switch (exposed->row.role) {
    case TUTTI_PACKED_PARAMETER: return "fixed";
    case TUTTI_PACKED_TUNABLE: return "tunable";
    case TUTTI_PACKED_INPUT: return exposed->row.moves ? "continuous" : "discrete";
    case TUTTI_PACKED_INDICATOR: return "continuous";
    case TUTTI_PACKED_OUTPUT: break;
    }
    return tt_type_is_float(exposed->row.type) && var->variability == TUTTI_CONTINUOUS ? "continuous" : "discrete";
}

static void pack_xml_set_bounds(struct pack_xml_writer *writer, struct tt_tree_node *node,
                                const struct tt_exposed *exposed)
{
    const struct tt_bounds *bounds = tt_exposed_var(writer->job, exposed)->bounds;
    if (exposed->row.type != TUTTI_TYPE_FLOAT64 || !bounds || exposed->conversion)
        return;
    if (bounds->has_min)
        pack_xml_set_number(writer, node, "min", bounds->min);
    if (bounds->has_max)
        pack_xml_set_number(writer, node, "max", bounds->max);
    if (bounds->has_nominal)
        pack_xml_set_number(writer, node, "nominal", bounds->nominal);
}

static void set_type_attributes(struct pack_xml_writer *writer, struct tt_tree_node *node, size_t place)
{
    const struct tt_exposed_list *list = writer->description->exposed;
    const struct tt_exposed *exposed = &list->items[place];
    char name[48];
    if (pack_xml_enumeration(writer, exposed)) {
        pack_xml_name_type(writer, place, name);
        pack_xml_set_attribute(writer, node, "declaredType", name);
    }
    if (tt_type_is_float(exposed->row.type) && exposed->unit)
        pack_xml_set_attribute(writer, node, "unit", exposed->unit->name);
    if (exposed->row.role == TUTTI_PACKED_INDICATOR)
        return;
    pack_xml_set_bounds(writer, node, exposed);
    if (exposed->derivative_of != SIZE_MAX)
        pack_xml_set_count(writer, node, "derivative", exposed->derivative_of + 1);
    bool is_state = false;
    for (size_t k = 0; k < list->derivative_count; k++)
        is_state = is_state || list->items[list->derivatives[k]].derivative_of == place;
    pack_xml_set_true(writer, node, "reinit", tt_exposed_var(writer->job, exposed)->reinit && is_state);
    if (exposed->row.role != TUTTI_PACKED_OUTPUT)
        pack_xml_set_start(writer, node, exposed);
}

static const char *pack_xml_element_name(unsigned fmi, enum tt_type type)
{
    if (fmi == 3)
        return tt_type_name(type);
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return "Real";
    case TUTTI_TYPE_INT32: return "Integer";
    default: return tt_type_name(type); /* Boolean, String, Enumeration */
    }
}

static const char *pack_xml_causality(const struct tt_exposed *exposed)
{
    switch (exposed->row.role) {
    case TUTTI_PACKED_INPUT: return "input";
    case TUTTI_PACKED_PARAMETER:
    case TUTTI_PACKED_TUNABLE: return "parameter";
    case TUTTI_PACKED_OUTPUT:
    case TUTTI_PACKED_INDICATOR: break;
    }
    return exposed->local ? "local" : "output";
}

static void pack_xml_add_variable(struct pack_xml_writer *writer, struct tt_tree_node *parent, size_t place)
{
    unsigned fmi = writer->description->fmi;
    const struct tt_exposed *exposed = &writer->description->exposed->items[place];
    const char *element = pack_xml_element_name(fmi, exposed->row.type);
    bool indicator = exposed->row.role == TUTTI_PACKED_INDICATOR;
    struct tt_tree_node *node = pack_xml_add_node(writer, parent, fmi == 3 ? element : "ScalarVariable");
    pack_xml_set_attribute(writer, node, "name", exposed->row.name);
    pack_xml_set_count(writer, node, "valueReference", place + 1);
    pack_xml_set_attribute(writer, node, "description",
                           indicator ? NULL : tt_exposed_var(writer->job, exposed)->description);
    pack_xml_set_attribute(writer, node, "causality", pack_xml_causality(exposed));
    pack_xml_set_attribute(writer, node, "variability", pack_xml_variability(writer, exposed));
    if (exposed->row.role == TUTTI_PACKED_OUTPUT)
        pack_xml_set_attribute(writer, node, "initial", "calculated");
    else if (exposed->row.role == TUTTI_PACKED_PARAMETER || exposed->row.role == TUTTI_PACKED_TUNABLE)
        pack_xml_set_attribute(writer, node, "initial", "exact");
    for (size_t d = 0; d < exposed->row.dimension_count; d++)
        pack_xml_set_count(writer, pack_xml_add_node(writer, node, "Dimension"), "start", exposed->row.dimensions[d]);
    set_type_attributes(writer, fmi == 3 ? node : pack_xml_add_node(writer, node, element), place);
}

static void pack_xml_add_variables(struct pack_xml_writer *writer, struct tt_tree_node *root)
{
    struct tt_tree_node *parent = pack_xml_add_node(writer, root, "ModelVariables");
    if (writer->description->fmi == 3) {
        struct tt_tree_node *time = pack_xml_add_node(writer, parent, "Float64");
        pack_xml_set_attribute(writer, time, "name", "time");
        pack_xml_set_attribute(writer, time, "valueReference", "0");
        pack_xml_set_attribute(writer, time, "causality", "independent");
        pack_xml_set_attribute(writer, time, "variability", "continuous");
    }
    for (size_t i = 0; i < writer->description->exposed->count; i++)
        pack_xml_add_variable(writer, parent, i);
}

/* ---- structure ---- */

/* An unknown of the model structure with what it follows. FMI 2.0 counts variables from 1 on, as value references here do; and has no time among
 * them. */
static enum tutti_err pack_xml_add_unknown(struct pack_xml_writer *writer, struct tt_tree_node *parent,
                                           const char *element, size_t place)
{
    const struct tt_exposed_list *list = writer->description->exposed;
    bool newer = writer->description->fmi == 3;
    struct tt_text text = {0};
    TRY(tt_pack_description_dependencies(list, writer->job, &list->items[place], &writer->depends));
    struct tt_tree_node *node = pack_xml_add_node(writer, parent, element);
    pack_xml_set_count(writer, node, newer ? "valueReference" : "index", place + 1);
    tt_text_append(&text, newer && writer->depends.time ? "0" : "");
    for (size_t i = 0; i < list->count; i++)
        if (writer->depends.items[i])
            tt_text_printf(&text, "%s%zu", text.length > 0 ? " " : "", i + 1);
    writer->failed = writer->failed || text.failed;
    pack_xml_set_attribute(writer, node, "dependencies", text.text);
    tt_text_fini(&text);
    return TUTTI_OK;
}

/* FMI 2.0 has separate lists; FMI 3.0 has one sequence, indicators last. */
static enum tutti_err pack_xml_add_structure(struct pack_xml_writer *writer, struct tt_tree_node *root)
{
    const struct tt_exposed_list *list = writer->description->exposed;
    bool newer = writer->description->fmi == 3, any = false;
    struct tt_tree_node *node = pack_xml_add_node(writer, root, "ModelStructure"), *within = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].row.role != TUTTI_PACKED_OUTPUT || list->items[i].local)
            continue;
        within = within ? within : newer ? node : pack_xml_add_node(writer, node, "Outputs");
        TRY(pack_xml_add_unknown(writer, within, newer ? "Output" : "Unknown", i));
    }
    within = newer || list->derivative_count == 0 ? node : pack_xml_add_node(writer, node, "Derivatives");
    for (size_t k = 0; k < list->derivative_count; k++)
        TRY(pack_xml_add_unknown(writer, within, newer ? "ContinuousStateDerivative" : "Unknown",
                                 list->derivatives[k]));
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].row.role != TUTTI_PACKED_OUTPUT)
            continue;
        within = newer || any ? within : pack_xml_add_node(writer, node, "InitialUnknowns");
        any = true;
        pack_xml_set_count(writer, pack_xml_add_node(writer, within, newer ? "InitialUnknown" : "Unknown"),
                           newer ? "valueReference" : "index", i + 1);
    }
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].row.role == TUTTI_PACKED_INDICATOR)
            TRY(pack_xml_add_unknown(writer, node, "EventIndicator", i));
    return TUTTI_OK;
}

/* ---- all of it ---- */

static enum tutti_err pack_xml_write_all(struct pack_xml_writer *writer)
{
    const struct tt_pack_description *description = writer->description;
    bool newer = description->fmi == 3;
    struct tt_text tool = {0};
    struct tt_tree_node *root = pack_xml_add_node(writer, NULL, "fmiModelDescription");
    pack_xml_set_attribute(writer, root, "fmiVersion", newer ? "3.0" : "2.0");
    pack_xml_set_attribute(writer, root, "modelName", description->name);
    pack_xml_set_attribute(writer, root, newer ? "instantiationToken" : "guid", description->token);
    tt_text_printf(&tool, "Tutti %s", tutti_version());
    pack_xml_set_attribute(writer, root, "generationTool", tool.failed ? NULL : tool.text);
    tt_text_fini(&tool);
    bool structured = true;
    for (size_t i = 0; i < description->exposed->count; i++)
        structured = structured && tt_pack_description_is_structured(description->exposed->items[i].row.name);
    pack_xml_set_attribute(writer, root, "variableNamingConvention", structured ? "structured" : "flat");
    if (!newer)
        pack_xml_set_count(writer, root, "numberOfEventIndicators", description->exposed->indicators);
    TRY(pack_xml_add_interfaces(writer, root));
    pack_xml_add_units(writer, root);
    pack_xml_add_types(writer, root);

    const struct tt_times *times = &writer->job->times;
    struct tt_tree_node *experiment = pack_xml_add_node(writer, root, "DefaultExperiment");
    pack_xml_set_number(writer, experiment, "startTime", times->start);
    pack_xml_set_number(writer, experiment, "stopTime", times->stop);
    pack_xml_set_number(writer, experiment, "stepSize", times->step);

    pack_xml_add_variables(writer, root);
    return pack_xml_add_structure(writer, root);
}

enum tutti_err tt_pack_description_write(const struct tt_pack_description *description, struct tt_text *out)
{
    struct pack_xml_writer writer = {.description = description,
                                     .job = description->job,
                                     .tree = calloc(1, sizeof *writer.tree),
                                     .depends.items = calloc(description->exposed->count + 1, sizeof(bool))};
    writer.failed = !writer.tree || !writer.depends.items;
    enum tutti_err err = writer.failed ? tt_fail_memory() : pack_xml_write_all(&writer);
    if (!err && !writer.failed)
        tt_tree_write(writer.tree, out);
    if (!err && (writer.failed || out->failed))
        err = tt_fail_memory();
    tt_tree_free(writer.tree);
    free(writer.depends.items);
    return err;
}

static json_t *describe_table_row(const struct tt_packed_row *row)
{
    json_t *json = json_pack("{s:s, s:s, s:s, s:b}", "name", row->name, "type", tt_type_name(row->type), "role",
                             tt_packed_table_role_name(row->role), "moves", (int)row->moves);
    if (row->target)
        json_object_set_new(json, "target", json_string(row->target));
    json_t *dimensions = row->dimension_count > 0 ? json_array() : NULL;
    for (size_t d = 0; d < row->dimension_count; d++)
        json_array_append_new(dimensions, json_integer((json_int_t)row->dimensions[d]));
    if (dimensions)
        json_object_set_new(json, "dimensions", dimensions);
    return json;
}

enum tutti_err tt_pack_description_write_table(const struct tt_pack_description *description, struct tt_text *out)
{
    json_t *root = json_pack("{s:s, s:[]}", "token", description->token, "variables");
    json_t *rows = json_object_get(root, "variables");
    bool good = root != NULL;
    for (size_t i = 0; good && i < description->exposed->count; i++)
        good = json_array_append_new(rows, describe_table_row(&description->exposed->items[i].row)) == 0;
    if (good && description->exposed->exchange)
        good = json_object_set_new(root, "states", json_integer((json_int_t)description->exposed->states)) == 0 &&
               json_object_set_new(root, "indicators", json_integer((json_int_t)description->exposed->indicators)) == 0;
    char *text = good ? json_dumps(root, JSON_INDENT(1)) : NULL;
    json_decref(root);
    if (!text)
        return tt_fail_memory();
    tt_text_append(out, text);
    free(text);
    return out->failed ? tt_fail_memory() : TUTTI_OK;
}

/* Unknowns of units that are still to be looked at, each once. */
struct dependency_walk {
    const struct tt_exposed_list *list;
    const struct tt_system *system;
    struct tt_dependencies *depends;
    struct tt_end *ends;
    size_t count, room;
};

static enum tutti_err dependencies_visit(struct dependency_walk *walk, uint32_t component, uint32_t variable)
{
    for (size_t i = 0; i < walk->count; i++)
        if (walk->ends[i].component == component && walk->ends[i].variable == variable)
            return TUTTI_OK;
    if (!tt_vector_reserve(&walk->ends, &walk->room, walk->count + 1, sizeof *walk->ends))
        return tt_fail_memory();
    walk->ends[walk->count++] = (struct tt_end){.component = component, .variable = variable};
    return TUTTI_OK;
}

/* An input of a unit: it is one of the FMU's, or gets its value from outputs of units. */
static enum tutti_err dependencies_follow_input(struct dependency_walk *walk, uint32_t component, uint32_t variable)
{
    uint32_t count;
    const struct tt_connection *first = tt_system_connections_to(walk->system, component, variable, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (first[i].from.component != TUTTI_NONE) {
            TRY(dependencies_visit(walk, first[i].from.component, first[i].from.variable));
            continue;
        }
        for (size_t e = 0; e < walk->list->count; e++)
            if (walk->list->items[e].port == first[i].from.variable &&
                walk->list->items[e].row.role == TUTTI_PACKED_INPUT)
                walk->depends->items[e] = true;
    }
    for (size_t e = 0; e < walk->list->count; e++) {
        const struct tt_exposed *item = &walk->list->items[e];
        if (item->port == TUTTI_NONE && item->row.role == TUTTI_PACKED_INPUT && item->component == component &&
            item->variable == variable)
            walk->depends->items[e] = true;
    }
    return TUTTI_OK;
}

/* Adds one state of a unit, or all of them (TUTTI_NONE). */
static void dependencies_follow_states(struct dependency_walk *walk, uint32_t component, uint32_t variable)
{
    for (size_t k = 0; k < walk->list->derivative_count; k++) {
        size_t state = walk->list->items[walk->list->derivatives[k]].derivative_of;
        const struct tt_exposed *item = &walk->list->items[state];
        if (item->component == component && (variable == TUTTI_NONE || item->variable == variable))
            walk->depends->items[state] = true;
    }
}

/* Something that an unknown of a unit follows. */
static enum tutti_err dependencies_follow(struct dependency_walk *walk, uint32_t component, uint32_t variable)
{
    const struct tt_var *var = &walk->system->components[component].fmu->desc->vars[variable];
    if (var->causality == TUTTI_INPUT)
        return dependencies_follow_input(walk, component, variable);
    if (var->causality == TUTTI_INDEPENDENT)
        walk->depends->time = true;
    dependencies_follow_states(walk, component, variable);
    return TUTTI_OK;
}

static const struct tt_unknown *dependencies_find_unknown(const struct tt_unknowns *among, uint32_t variable)
{
    for (uint32_t i = 0; i < among->count; i++)
        if (among->items[i].variable == variable)
            return &among->items[i];
    return NULL;
}

static enum tutti_err dependencies_follow_all(struct dependency_walk *walk, uint32_t component)
{
    const struct tt_description *desc = walk->system->components[component].fmu->desc;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].causality == TUTTI_INPUT)
            TRY(dependencies_follow_input(walk, component, v));
    dependencies_follow_states(walk, component, TUTTI_NONE);
    walk->depends->time = true;
    return TUTTI_OK;
}

/* Adds the declared dependencies of an unknown; all variables if there are none. A state depends on itself. */
static enum tutti_err dependencies_expand(struct dependency_walk *walk, const struct tt_end *end)
{
    const struct tt_description *desc = walk->system->components[end->component].fmu->desc;
    const struct tt_unknown *unknown =
        end->variable == TUTTI_NONE ? NULL : dependencies_find_unknown(&desc->outputs, end->variable);
    if (!unknown && end->variable != TUTTI_NONE)
        unknown = dependencies_find_unknown(&desc->derivatives, end->variable);
    if (!unknown || !unknown->has_dependencies)
        return dependencies_follow_all(walk, end->component);
    for (uint32_t i = 0; i < unknown->dependency_count; i++)
        TRY(dependencies_follow(walk, end->component, unknown->dependencies[i]));
    return TUTTI_OK;
}

enum tutti_err tt_pack_description_dependencies(const struct tt_exposed_list *list, const struct tt_job *job,
                                                const struct tt_exposed *unknown, struct tt_dependencies *depends)
{
    struct dependency_walk walk = {.list = list, .system = job->system, .depends = depends};
    bool indicators = unknown->row.role == TUTTI_PACKED_INDICATOR; /* without declared dependencies */
    memset(depends->items, 0, list->count * sizeof *depends->items);
    depends->time = false;
    enum tutti_err err = dependencies_visit(&walk, unknown->component, indicators ? TUTTI_NONE : unknown->variable);
    for (size_t i = 0; i < walk.count && !err; i++) {
        struct tt_end end = walk.ends[i];
        err = dependencies_expand(&walk, &end);
    }
    free(walk.ends);
    return err;
}

/* Each of these functions skips one part of a name and returns its end; NULL if the part is missing. */

static bool naming_is_letter(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool naming_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_name_number(const char *at)
{
    if (!naming_is_digit(*at))
        return NULL;
    while (naming_is_digit(*at))
        at++;
    return at;
}

static const char *skip_quoted_name(const char *at)
{
    static const char marks[] = "!#$%&()*+,-./:;<>=?@[]^{}|~ ", escapes[] = "'\"?\\abfnrtv";
    const char *begin = ++at;
    for (; *at != '\''; at++) {
        if (*at == '\\' && at[1] && strchr(escapes, at[1]))
            at++;
        else if (*at == '\0' || !(naming_is_letter(*at) || naming_is_digit(*at) || strchr(marks, *at)))
            return NULL;
    }
    return at > begin ? at + 1 : NULL;
}

static const char *skip_plain_name(const char *at)
{
    if (!naming_is_letter(*at))
        return NULL;
    while (naming_is_letter(*at) || naming_is_digit(*at))
        at++;
    return at;
}

/* "[1,2]", if there is one. */
static const char *skip_name_indices(const char *at)
{
    if (*at != '[')
        return at;
    do
        at = skip_name_number(at + 1);
    while (at && *at == ',');
    return at && *at == ']' ? at + 1 : NULL;
}

static const char *skip_name_identifier(const char *at)
{
    for (;;) {
        at = *at == '\'' ? skip_quoted_name(at) : skip_plain_name(at);
        at = at ? skip_name_indices(at) : NULL;
        if (!at || *at != '.')
            return at;
        at++;
    }
}

/* "x)" or "x,2)". */
static const char *skip_name_derivative(const char *at)
{
    at = skip_name_identifier(at);
    if (at && *at == ',')
        at = skip_name_number(at + 1);
    return at && *at == ')' ? at + 1 : NULL;
}

bool tt_pack_description_is_structured(const char *name)
{
    const char *end = strncmp(name, "der(", 4) == 0 ? skip_name_derivative(name + 4) : skip_name_identifier(name);
    return end && *end == '\0';
}
