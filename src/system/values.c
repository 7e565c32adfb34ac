/* SPDX-License-Identifier: MIT */
/* Values that people gave: from where they were given to the variables that they are for. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "system/flat.h"

void tutti_value_report(struct flat *flat, const struct value *value, enum tutti_severity severity, const char *format,
                        ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (value->file)
        tutti_findings_add(flat->findings, severity, value->file, value->line, "parameter '%s': %s", value->origin,
                           text);
    else if (!flat->err)
        flat->err = tutti_fail(TUTTI_ERR_ARGUMENT, "--set %s: %s", value->origin, text);
}

static void report_units(struct flat *flat, const struct value *value, const struct look *view)
{
    tutti_findings_add(flat->findings, TUTTI_FINDING_WARNING, value->file, value->line,
                       "parameter '%s': it is unknown how the units '%s' and '%s' relate; its value is taken as it is",
                       value->origin, value->look.unit->name, view->unit->name);
}

/* What failed is reported and the loading goes on, except without memory. */
static enum tutti_err report_failure(struct flat *flat, const struct value *value, enum tutti_err err,
                                     enum tutti_severity severity)
{
    if (err == TUTTI_ERR_MEMORY)
        return err;
    char text[1024];
    struct tutti_about about = tutti_err_about();
    snprintf(text, sizeof text, "%s", tutti_err_message());
    tutti_value_report(flat, value, severity, "%s", text);
    return tutti_fail_about(flat->err, about.unit, about.variable, about.time);
}

/* ---- reading ---- */

enum tutti_err tutti_value_parse(struct flat *flat, struct value *value, enum tutti_type type)
{
    const char *const *texts = value->data;
    struct tutti_var var = {.name = "value", .type = (uint8_t)type, .type_def = TUTTI_NONE};
    size_t size = tutti_type_size(type);
    value->look.typed = true;
    value->look.type = (uint8_t)type;
    if (type == TUTTI_TYPE_ENUMERATION)
        return TUTTI_OK; /* items' names, until it is known of what */
    char *data = tutti_arena_array(&flat->arena, value->count, size);
    if (!data)
        return tutti_fail_memory();
    for (size_t i = 0; i < value->count; i++)
        TRY(tutti_setting_read_value(&flat->arena, NULL, &var, texts[i], strlen(texts[i]), data + i * size));
    value->texts = false;
    value->data = data;
    return TUTTI_OK;
}

/* Arrays are lists in the one text of an option. */
static enum tutti_err split(struct flat *flat, struct value *value)
{
    static const char separators[] = " ,;\t";
    const char *text = *(const char *const *)value->data;
    const char **texts = tutti_arena_array(&flat->arena, strlen(text) / 2 + 1, sizeof *texts);
    if (!texts)
        return tutti_fail_memory();
    value->data = texts;
    value->count = 0;
    for (text += strspn(text, separators); *text; text += strspn(text, separators)) {
        size_t n = strcspn(text, separators);
        texts[value->count] = tutti_arena_text(&flat->arena, text, n);
        if (!texts[value->count++])
            return tutti_fail_memory();
        text += n;
    }
    return TUTTI_OK;
}

/* ---- passing ---- */

/* A mapping between names of items needs no numbers. */
static enum tutti_err rename_items(struct flat *flat, struct value *value,
                                   const struct tutti_ssp_transformation *transformation)
{
    const char *const *old = value->data;
    const char **texts = tutti_arena_array(&flat->arena, value->count, sizeof *texts);
    struct tutti_map sources = {0};
    enum tutti_err err = TUTTI_OK;
    if (!texts)
        return tutti_fail_memory();
    for (size_t e = 0; e < transformation->entry_count && !err; e++)
        err = tutti_map_add(&sources, transformation->entries[e].source_name, (int64_t)e, NULL);
    for (size_t i = 0; i < value->count && !err; i++) {
        int64_t entry = sources.count ? tutti_map_find(&sources, old[i]) : TUTTI_MAP_NONE;
        texts[i] = entry == TUTTI_MAP_NONE ? old[i] : transformation->entries[entry].target_name;
    }
    tutti_map_fini(&sources);
    value->data = err ? value->data : texts;
    return err;
}

/* An item's name; or its number, unless that is another one's name. */
static enum tutti_err number_item(struct flat *flat, const struct items *items, const char *text, int64_t *number)
{
    if (tutti_items_find(items, text, number) ||
        (tutti_number_read_int(text, strlen(text), number) && tutti_items_has(items, *number)))
        return TUTTI_OK;
    /* Says what there is. */
    struct tutti_type_def def = {.items = items->look->items, .item_count = (uint32_t)items->look->item_count};
    struct tutti_desc desc = {.types = &def};
    struct tutti_var var = {.name = "value", .type = TUTTI_TYPE_ENUMERATION};
    return tutti_setting_read_value(&flat->arena, &desc, &var, text, strlen(text), number);
}

static enum tutti_err number_items(struct flat *flat, struct value *value, const struct look *look)
{
    const char *const *texts = value->data;
    int64_t *numbers = tutti_arena_array(&flat->arena, value->count, sizeof *numbers);
    struct items items;
    if (!numbers)
        return tutti_fail_memory();
    enum tutti_err err = tutti_items_init(&items, look);
    for (size_t i = 0; i < value->count && !err; i++)
        err = number_item(flat, &items, texts[i], &numbers[i]);
    tutti_items_fini(&items);
    if (err)
        return err;
    value->texts = false;
    value->data = numbers;
    return TUTTI_OK;
}

static enum tutti_err convert(struct flat *flat, struct value *value, const struct flow *flow)
{
    const struct tutti_conversion *conversion;
    TRY(tutti_flow_conversion(flow, value->look.type, flow->look.type, &flat->arena, &conversion));
    value->look = flow->look;
    if (!conversion)
        return TUTTI_OK;
    void *data = tutti_arena_array(&flat->arena, value->count, tutti_type_size(flow->look.type));
    if (!data)
        return tutti_fail_memory();
    TRY(tutti_convert(conversion, value->data, data, value->count));
    value->data = data;
    return TUTTI_OK;
}

struct way {
    const struct look *via, *view, *target;
    bool suppress;
    const struct tutti_ssp_transformation *transformation;
    bool lossy; /* a connection, which may round */
};

/* An enumeration's value whose items are names still. */
static enum tutti_err pass_items(struct flat *flat, struct value *value, const struct way *way)
{
    const struct tutti_ssp_transformation *transformation = way->transformation;
    const struct look *target = way->target->items ? way->target : way->view;
    if (transformation && transformation->kind == TUTTI_SSP_ENUMERATION_MAP) {
        TRY(rename_items(flat, value, transformation));
        transformation = NULL;
    } else if (value->look.items && (transformation || (target->typed && target->type != TUTTI_TYPE_ENUMERATION))) {
        TRY(number_items(flat, value, &value->look));
    }
    if (value->texts && target->items)
        TRY(number_items(flat, value, target));
    struct flow flow = {.look = value->look};
    bool unknown = false;
    if (value->texts && target->typed && target->type != TUTTI_TYPE_ENUMERATION)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "the name of an enumeration's item cannot be handed to %s",
                          tutti_type_name(target->type));
    TRY(tutti_flow_pass(&flow, way->via, way->view, way->target, way->suppress, transformation, &flat->arena,
                        &unknown));
    if (!value->texts)
        return convert(flat, value, &flow);
    value->look = flow.look;
    return TUTTI_OK;
}

static enum tutti_err pass(struct flat *flat, struct value *value, const struct way *way)
{
    bool linear = way->transformation && way->transformation->kind == TUTTI_SSP_LINEAR;
    if (!value->look.typed && (way->view->typed || linear)) {
        /* A number of an option is in the unit of what it is given to. */
        if (way->view->dimensions > 0 && way->view->type != TUTTI_TYPE_STRING)
            TRY(split(flat, value));
        TRY(tutti_value_parse(flat, value, way->view->typed ? (enum tutti_type)way->view->type : TUTTI_TYPE_FLOAT64));
    }
    if (!value->look.typed) {
        value->look.unit = way->view->unit;
        return TUTTI_OK;
    }
    if (value->texts)
        return pass_items(flat, value, way);
    struct flow flow = {.look = value->look, .lossy = way->lossy};
    bool unknown = false;
    TRY(tutti_flow_pass(&flow, way->via, way->view, way->target, way->suppress, way->transformation, &flat->arena,
                        &unknown));
    if (unknown)
        report_units(flat, value, way->view);
    return convert(flat, value, &flow);
}

/* The element of an array that a connection picks; a list without dimensions has one. */
static bool pick(struct value *value, const struct edge_end *end)
{
    uint64_t place = 0;
    if (end->index_count == 0 || value->count == 1)
        return true;
    if (end->index_count != (value->dimensions > 0 ? value->dimensions : 1))
        return false;
    for (uint32_t i = 0; i < end->index_count; i++) {
        uint64_t size = value->dimensions > 0 ? value->shape[i].size : value->count;
        if (end->indices[i] > size)
            return false;
        place = place * size + end->indices[i] - 1;
    }
    size_t size = value->texts ? sizeof(char *) : tutti_type_size(value->look.type);
    value->data = (const char *)value->data + place * size;
    value->count = 1;
    value->dimensions = 0;
    return true;
}

enum tutti_err tutti_value_pass(struct flat *flat, const struct value *value, struct edge *edge,
                                const struct value **out)
{
    const struct look *target = &tutti_flat_node(flat, edge->to.node)->look;
    struct way way = {
        edge->from.look, edge->to.look ? edge->to.look : target, target, edge->suppress, edge->transformation,
        flat->convert};
    struct value *copy = tutti_arena_alloc(&flat->arena, sizeof *copy);
    *out = NULL;
    if (!copy)
        return tutti_fail_memory();
    *copy = *value;
    copy->passed = true;
    if (!pick(copy, &edge->from)) {
        tutti_value_report(flat, value, TUTTI_FINDING_ERROR, "it has no element for the connection to '%s'",
                           tutti_flat_end_name(flat, &edge->to));
        return flat->err;
    }
    enum tutti_err err = pass(flat, copy, &way);
    if (err) {
        err = tutti_fail_context(err, "'%s'", tutti_flat_end_name(flat, &edge->to));
        return report_failure(flat, value, err, TUTTI_FINDING_ERROR);
    }
    *out = copy;
    return TUTTI_OK;
}

/* ---- giving ---- */

/* The unit that a connector names is above the FMU's. */
static struct look look_of_match(struct flat *flat, const struct match *match)
{
    const struct item *item = tutti_flat_item(flat, match->item);
    if (match->connector != TUTTI_NONE)
        return tutti_flat_node(flat, item->nodes[match->connector])->look;
    const struct tutti_desc *desc = tutti_flat_component(flat, item->component)->fmu->desc;
    const struct tutti_var *var = &desc->vars[match->variable];
    uint32_t connector = tutti_flat_connector(flat, match->item, var->name);
    if (connector != TUTTI_NONE && item->nodes[connector] != TUTTI_NONE)
        return tutti_flat_node(flat, item->nodes[connector])->look;
    return tutti_flat_variable_look(desc, var);
}

enum tutti_err tutti_value_apply(struct flat *flat, const struct value *value, const struct match *match, bool suppress,
                                 const struct tutti_ssp_transformation *transformation)
{
    const struct item *item = tutti_flat_item(flat, match->item);
    struct look look = look_of_match(flat, match);
    struct way way = {NULL, &look, &look, suppress, transformation, false};
    if (match->connector == TUTTI_NONE) {
        struct value copy = *value;
        /* An element, or all of an array: the option's text is read by the variable. */
        enum tutti_err err = copy.look.typed ? pass(flat, &copy, &way) : TUTTI_OK;
        if (err) {
            const struct tutti_desc *desc = tutti_flat_component(flat, item->component)->fmu->desc;
            const char *name = tutti_flat_path(flat, match->item, desc->vars[match->variable].name);
            return report_failure(flat, value, tutti_fail_context(err, "'%s'", name), TUTTI_FINDING_ERROR);
        }
        return tutti_value_arrive(flat, &copy, item->component, match->variable, &match->element);
    }
    struct node *node = tutti_flat_node(flat, item->nodes[match->connector]);
    if (node->value && node->value->rank > value->rank)
        return TUTTI_OK;
    struct value *copy = tutti_arena_alloc(&flat->arena, sizeof *copy);
    if (!copy)
        return tutti_fail_memory();
    *copy = *value;
    enum tutti_err err = pass(flat, copy, &way);
    if (err) {
        const char *name = tutti_flat_node_name(flat, item->nodes[match->connector]);
        return report_failure(flat, value, tutti_fail_context(err, "'%s'", name), TUTTI_FINDING_ERROR);
    }
    node->value = copy;
    return TUTTI_OK;
}

/* ---- arriving ---- */

static enum tutti_err check_count(const struct tutti_var *var, const struct tutti_indices *element,
                                  const struct value *value)
{
    bool fixed = true;
    const struct tutti_ssp_dimension *odd = NULL;
    for (unsigned i = 0; i < var->dimension_count; i++) {
        bool own = var->dimensions[i].variable == TUTTI_NONE;
        fixed &= own;
        if (own && value->dimensions == var->dimension_count && value->shape[i].size != var->dimensions[i].start)
            odd = &value->shape[i];
    }
    if (var->dimension_count == 0 || element->count > 0) {
        if (value->count != 1)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "it takes 1 value, not %zu", value->count);
    } else if (value->dimensions > 0 && value->dimensions != var->dimension_count) {
        return tutti_fail(TUTTI_ERR_ARGUMENT, "it has %u dimension%s, the values have %u", var->dimension_count,
                          var->dimension_count == 1 ? "" : "s", value->dimensions);
    } else if (fixed && value->count != 1 && value->count != tutti_var_size(var)) {
        return tutti_fail(TUTTI_ERR_ARGUMENT, "it takes %llu values, not %zu", (unsigned long long)tutti_var_size(var),
                          value->count);
    } else if (odd) {
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "dimension %d of the values has the size %llu, which is not that of the "
                          "variable",
                          (int)(odd - value->shape) + 1, (unsigned long long)odd->size);
    }
    return TUTTI_OK;
}

static enum tutti_err read_candidate(struct flat *flat, const struct value *value, const struct tutti_desc *desc,
                                     struct tutti_setting *setting)
{
    const struct tutti_var *var = &desc->vars[setting->variable];
    size_t size = tutti_type_size(var->type);
    if (value->texts && !value->look.typed)
        return tutti_setting_read_text(setting, &flat->arena, desc, *(const char *const *)value->data);
    TRY(check_count(var, &setting->element, value));
    setting->count = value->count;
    setting->values = value->data;
    if (!value->texts && !var->negated)
        return tutti_setting_check_bounds(var, setting->values, setting->count);
    char *data = tutti_arena_array(&flat->arena, value->count, size);
    if (!data)
        return tutti_fail_memory();
    setting->values = data;
    for (size_t i = 0; i < value->count; i++) {
        const char *text = value->texts ? ((const char *const *)value->data)[i] : NULL;
        if (text)
            TRY(tutti_setting_read_value(&flat->arena, desc, var, text, strlen(text), data + i * size));
        else
            memcpy(data + i * size, (const char *)value->data + i * size, size);
    }
    TRY(tutti_setting_check_bounds(var, data, value->count));
    for (size_t i = 0; i < value->count && var->negated; i++)
        tutti_type_negate(var->type, data + i * size);
    return TUTTI_OK;
}

static bool is_parameter(const struct tutti_var *var)
{
    return var->causality == TUTTI_PARAMETER || var->causality == TUTTI_STRUCTURAL_PARAMETER;
}

enum tutti_err tutti_value_arrive(struct flat *flat, const struct value *value, uint32_t component, uint32_t variable,
                                  const struct tutti_indices *element)
{
    const struct tutti_desc *desc = tutti_flat_component(flat, component)->fmu->desc;
    struct candidate candidate = {
        .rank = value->passed && is_parameter(&desc->vars[variable]) ? value->rank | TUTTI_RANK_CONNECTED : value->rank,
        .passed = value->passed,
        .component = component,
        .order = (uint32_t)flat->candidates.count,
        .setting = {.variable = variable, .element = *element, .file = value->file, .line = value->line}};
    /* What cannot be set is no parameter; a set may hold far more than those. */
    enum tutti_err err = tutti_setting_check_settable(&desc->vars[variable]);
    enum tutti_severity severity = err ? TUTTI_FINDING_WARNING : TUTTI_FINDING_ERROR;
    if (!err)
        err = read_candidate(flat, value, desc, &candidate.setting);
    if (err) {
        const char *unit = tutti_flat_component(flat, component)->name;
        err = tutti_fail_about(tutti_fail_context(err, "'%s'", unit), unit, desc->vars[variable].name, NAN);
        return report_failure(flat, value, err, severity);
    }
    if (value->alone) {
        candidate.option = value->origin;
        candidate.name_length = (size_t)(*(const char *const *)value->data - value->origin);
    }
    struct candidate *place = tutti_vector_push(&flat->candidates, sizeof *place);
    if (!place)
        return tutti_fail_memory();
    *place = candidate;
    return tutti_flat_check_size(flat);
}
