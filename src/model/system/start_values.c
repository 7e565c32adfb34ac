/* SPDX-License-Identifier: MIT */
/* Values that people gave: from where they were given to the variables that they are for. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/system/flat.h"

void tt_start_values_report(struct tt_flat *flat, const struct tt_flat_value *value, enum tt_severity severity,
                            const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (value->file)
        tt_findings_add(flat->findings, severity, value->file, value->line, "parameter '%s': %s", value->origin, text);
    else if (!flat->err)
        flat->err = tt_fail(TUTTI_ERR_ARGUMENT, "--set %s: %s", value->origin, text);
}

static void report_units(struct tt_flat *flat, const struct tt_flat_value *value, const struct tt_signal_spec *view)
{
    tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, value->file, value->line,
                    "parameter '%s': it is unknown how the units '%s' and '%s' relate; its value is taken as it is",
                    value->origin, value->look.unit->name, view->unit->name);
}

/* What failed is reported and the loading goes on, except without memory. */
static enum tutti_err start_values_report_failure(struct tt_flat *flat, const struct tt_flat_value *value,
                                                  enum tutti_err err, enum tt_severity severity)
{
    if (err == TUTTI_ERR_MEMORY)
        return err;
    char text[1024];
    struct tt_fail_subject about = tt_fail_subject();
    snprintf(text, sizeof text, "%s", tutti_err_message());
    tt_start_values_report(flat, value, severity, "%s", text);
    return tt_fail_about(flat->err, about.unit, about.variable, about.time);
}

/* ---- reading ---- */

enum tutti_err tt_start_values_parse(struct tt_flat *flat, struct tt_flat_value *value, enum tt_type type)
{
    const char *const *texts = value->data;
    struct tt_var var = {.name = "value", .type = (uint8_t)type, .type_def = TUTTI_NONE};
    size_t size = tt_type_size(type);
    value->look.typed = true;
    value->look.type = (uint8_t)type;
    if (type == TUTTI_TYPE_ENUMERATION)
        return TUTTI_OK; /* items' names, until it is known of what */
    char *data = tt_arena_array(&flat->arena, value->count, size);
    if (!data)
        return tt_fail_memory();
    for (size_t i = 0; i < value->count; i++)
        TRY(tt_setting_read_value(&flat->arena, NULL, &var, texts[i], strlen(texts[i]), data + i * size));
    value->texts = false;
    value->data = data;
    return TUTTI_OK;
}

/* Arrays are lists in the one text of an option. */
static enum tutti_err start_values_split_list(struct tt_flat *flat, struct tt_flat_value *value)
{
    static const char separators[] = " ,;\t";
    const char *text = *(const char *const *)value->data;
    const char **texts = tt_arena_array(&flat->arena, strlen(text) / 2 + 1, sizeof *texts);
    if (!texts)
        return tt_fail_memory();
    value->data = texts;
    value->count = 0;
    for (text += strspn(text, separators); *text; text += strspn(text, separators)) {
        size_t n = strcspn(text, separators);
        texts[value->count] = tt_arena_copy_text(&flat->arena, text, n);
        if (!texts[value->count++])
            return tt_fail_memory();
        text += n;
    }
    return TUTTI_OK;
}

/* ---- passing ---- */

/* A mapping between names of items needs no numbers. */
static enum tutti_err rename_mapped_items(struct tt_flat *flat, struct tt_flat_value *value,
                                          const struct tt_ssp_transformation *transformation)
{
    const char *const *old = value->data;
    const char **texts = tt_arena_array(&flat->arena, value->count, sizeof *texts);
    struct tt_map sources = {0};
    enum tutti_err err = TUTTI_OK;
    if (!texts)
        return tt_fail_memory();
    for (size_t e = 0; e < transformation->entry_count && !err; e++)
        err = tt_map_add(&sources, transformation->entries[e].source_name, (int64_t)e, NULL);
    for (size_t i = 0; i < value->count && !err; i++) {
        int64_t entry = sources.count ? tt_map_find(&sources, old[i]) : TUTTI_MAP_NONE;
        texts[i] = entry == TUTTI_MAP_NONE ? old[i] : transformation->entries[entry].target_name;
    }
    tt_map_fini(&sources);
    value->data = err ? value->data : texts;
    return err;
}

/* An item's name; or its number, unless that is another one's name. */
static enum tutti_err number_named_item(struct tt_flat *flat, const struct tt_flow_items *items, const char *text,
                                        int64_t *number)
{
    if (tt_flow_find_item(items, text, number) ||
        (tt_number_read_int(text, strlen(text), number) && tt_flow_has_item(items, *number)))
        return TUTTI_OK;
    /* Says what there is. */
    struct tt_type_def def = {.items = items->look->items, .item_count = (uint32_t)items->look->item_count};
    struct tt_description desc = {.types = &def};
    struct tt_var var = {.name = "value", .type = TUTTI_TYPE_ENUMERATION};
    return tt_setting_read_value(&flat->arena, &desc, &var, text, strlen(text), number);
}

static enum tutti_err number_named_items(struct tt_flat *flat, struct tt_flat_value *value,
                                         const struct tt_signal_spec *look)
{
    const char *const *texts = value->data;
    int64_t *numbers = tt_arena_array(&flat->arena, value->count, sizeof *numbers);
    struct tt_flow_items items;
    if (!numbers)
        return tt_fail_memory();
    enum tutti_err err = tt_flow_init_items(&items, look);
    for (size_t i = 0; i < value->count && !err; i++)
        err = number_named_item(flat, &items, texts[i], &numbers[i]);
    tt_flow_fini_items(&items);
    if (err)
        return err;
    value->texts = false;
    value->data = numbers;
    return TUTTI_OK;
}

static enum tutti_err start_values_convert(struct tt_flat *flat, struct tt_flat_value *value,
                                           const struct tt_flow *flow)
{
    const struct tt_conversion *conversion;
    TRY(tt_flow_make_conversion(flow, value->look.type, flow->look.type, &flat->arena, &conversion));
    value->look = flow->look;
    if (!conversion)
        return TUTTI_OK;
    void *data = tt_arena_array(&flat->arena, value->count, tt_type_size(flow->look.type));
    if (!data)
        return tt_fail_memory();
    TRY(tt_conversion_apply(conversion, value->data, data, value->count));
    value->data = data;
    return TUTTI_OK;
}

struct value_path {
    const struct tt_signal_spec *via, *view, *target;
    bool suppress;
    const struct tt_ssp_transformation *transformation;
    bool lossy; /* a connection, which may round */
};

/* An enumeration's value whose items are names still. */
static enum tutti_err start_values_pass_items(struct tt_flat *flat, struct tt_flat_value *value,
                                              const struct value_path *way)
{
    const struct tt_ssp_transformation *transformation = way->transformation;
    const struct tt_signal_spec *target = way->target->items ? way->target : way->view;
    if (transformation && transformation->kind == TUTTI_SSP_ENUMERATION_MAP) {
        TRY(rename_mapped_items(flat, value, transformation));
        transformation = NULL;
    } else if (value->look.items && (transformation || (target->typed && target->type != TUTTI_TYPE_ENUMERATION))) {
        TRY(number_named_items(flat, value, &value->look));
    }
    if (value->texts && target->items)
        TRY(number_named_items(flat, value, target));
    struct tt_flow flow = {.look = value->look};
    bool unknown = false;
    if (value->texts && target->typed && target->type != TUTTI_TYPE_ENUMERATION)
        return tt_fail(TUTTI_ERR_ARGUMENT, "the name of an enumeration's item cannot be handed to %s",
                       tt_type_name(target->type));
    TRY(tt_flow_apply(&flow, way->via, way->view, way->target, way->suppress, transformation, &flat->arena, &unknown));
    if (!value->texts)
        return start_values_convert(flat, value, &flow);
    value->look = flow.look;
    return TUTTI_OK;
}

static enum tutti_err start_values_pass_edge(struct tt_flat *flat, struct tt_flat_value *value,
                                             const struct value_path *way)
{
    bool linear = way->transformation && way->transformation->kind == TUTTI_SSP_LINEAR;
    if (!value->look.typed && (way->view->typed || linear)) {
        /* A number of an option is in the unit of what it is given to. */
        if (way->view->dimensions > 0 && way->view->type != TUTTI_TYPE_STRING)
            TRY(start_values_split_list(flat, value));
        TRY(tt_start_values_parse(flat, value, way->view->typed ? (enum tt_type)way->view->type : TUTTI_TYPE_FLOAT64));
    }
    if (!value->look.typed) {
        value->look.unit = way->view->unit;
        return TUTTI_OK;
    }
    if (value->texts)
        return start_values_pass_items(flat, value, way);
    struct tt_flow flow = {.look = value->look, .lossy = way->lossy};
    bool unknown = false;
    TRY(tt_flow_apply(&flow, way->via, way->view, way->target, way->suppress, way->transformation, &flat->arena,
                      &unknown));
    if (unknown)
        report_units(flat, value, way->view);
    return start_values_convert(flat, value, &flow);
}

/* The element of an array that a connection picks; a list without dimensions has one. */
static bool start_values_pick_element(struct tt_flat_value *value, const struct tt_flat_edge_end *end)
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
    size_t size = value->texts ? sizeof(char *) : tt_type_size(value->look.type);
    value->data = (const char *)value->data + place * size;
    value->count = 1;
    value->dimensions = 0;
    return true;
}

enum tutti_err tt_start_values_pass(struct tt_flat *flat, const struct tt_flat_value *value, struct tt_flat_edge *edge,
                                    const struct tt_flat_value **out)
{
    const struct tt_signal_spec *target = &tt_flat_node(flat, edge->to.node)->look;
    struct value_path way = {
        edge->from.look, edge->to.look ? edge->to.look : target, target, edge->suppress, edge->transformation,
        flat->convert};
    struct tt_flat_value *copy = tt_arena_alloc(&flat->arena, sizeof *copy);
    *out = NULL;
    if (!copy)
        return tt_fail_memory();
    *copy = *value;
    copy->passed = true;
    if (!start_values_pick_element(copy, &edge->from)) {
        tt_start_values_report(flat, value, TUTTI_FINDING_ERROR, "it has no element for the connection to '%s'",
                               tt_flat_end_name(flat, &edge->to));
        return flat->err;
    }
    enum tutti_err err = start_values_pass_edge(flat, copy, &way);
    if (err) {
        err = tt_fail_context(err, "'%s'", tt_flat_end_name(flat, &edge->to));
        return start_values_report_failure(flat, value, err, TUTTI_FINDING_ERROR);
    }
    *out = copy;
    return TUTTI_OK;
}

/* ---- giving ---- */

/* The unit that a connector names is above the FMU's. */
static struct tt_signal_spec spec_of_match(struct tt_flat *flat, const struct tt_flat_match *match)
{
    const struct tt_flat_item *item = tt_flat_item(flat, match->item);
    if (match->connector != TUTTI_NONE)
        return tt_flat_node(flat, item->nodes[match->connector])->look;
    const struct tt_description *desc = tt_flat_component(flat, item->component)->fmu->desc;
    const struct tt_var *var = &desc->vars[match->variable];
    uint32_t connector = tt_flat_find_connector(flat, match->item, var->name);
    if (connector != TUTTI_NONE && item->nodes[connector] != TUTTI_NONE)
        return tt_flat_node(flat, item->nodes[connector])->look;
    return tt_flat_variable_spec(desc, var);
}

enum tutti_err tt_start_values_apply(struct tt_flat *flat, const struct tt_flat_value *value,
                                     const struct tt_flat_match *match, bool suppress,
                                     const struct tt_ssp_transformation *transformation)
{
    const struct tt_flat_item *item = tt_flat_item(flat, match->item);
    struct tt_signal_spec look = spec_of_match(flat, match);
    struct value_path way = {NULL, &look, &look, suppress, transformation, false};
    if (match->connector == TUTTI_NONE) {
        struct tt_flat_value copy = *value;
        /* An element, or all of an array: the option's text is read by the variable. */
        enum tutti_err err = copy.look.typed ? start_values_pass_edge(flat, &copy, &way) : TUTTI_OK;
        if (err) {
            const struct tt_description *desc = tt_flat_component(flat, item->component)->fmu->desc;
            const char *name = tt_flat_path(flat, match->item, desc->vars[match->variable].name);
            return start_values_report_failure(flat, value, tt_fail_context(err, "'%s'", name), TUTTI_FINDING_ERROR);
        }
        return tt_start_values_add_candidate(flat, &copy, item->component, match->variable, &match->element);
    }
    struct tt_flat_node *node = tt_flat_node(flat, item->nodes[match->connector]);
    if (node->value && node->value->rank > value->rank)
        return TUTTI_OK;
    struct tt_flat_value *copy = tt_arena_alloc(&flat->arena, sizeof *copy);
    if (!copy)
        return tt_fail_memory();
    *copy = *value;
    enum tutti_err err = start_values_pass_edge(flat, copy, &way);
    if (err) {
        const char *name = tt_flat_node_name(flat, item->nodes[match->connector]);
        return start_values_report_failure(flat, value, tt_fail_context(err, "'%s'", name), TUTTI_FINDING_ERROR);
    }
    node->value = copy;
    return TUTTI_OK;
}

/* ---- arriving ---- */

static enum tutti_err start_values_check_count(const struct tt_var *var, const struct tt_indices *element,
                                               const struct tt_flat_value *value)
{
    bool fixed = true;
    const struct tt_ssp_dimension *odd = NULL;
    for (unsigned i = 0; i < var->dimension_count; i++) {
        bool own = var->dimensions[i].variable == TUTTI_NONE;
        fixed &= own;
        if (own && value->dimensions == var->dimension_count && value->shape[i].size != var->dimensions[i].start)
            odd = &value->shape[i];
    }
    if (var->dimension_count == 0 || element->count > 0) {
        if (value->count != 1)
            return tt_fail(TUTTI_ERR_ARGUMENT, "it takes 1 value, not %zu", value->count);
    } else if (value->dimensions > 0 && value->dimensions != var->dimension_count) {
        return tt_fail(TUTTI_ERR_ARGUMENT, "it has %u dimension%s, the values have %u", var->dimension_count,
                       var->dimension_count == 1 ? "" : "s", value->dimensions);
    } else if (fixed && value->count != 1 && value->count != tt_description_var_size(var)) {
        return tt_fail(TUTTI_ERR_ARGUMENT, "it takes %llu values, not %zu",
                       (unsigned long long)tt_description_var_size(var), value->count);
    } else if (odd) {
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "dimension %d of the values has the size %llu, which is not that of the "
                       "variable",
                       (int)(odd - value->shape) + 1, (unsigned long long)odd->size);
    }
    return TUTTI_OK;
}

static enum tutti_err read_candidate(struct tt_flat *flat, const struct tt_flat_value *value,
                                     const struct tt_description *desc, struct tt_setting *setting)
{
    const struct tt_var *var = &desc->vars[setting->variable];
    size_t size = tt_type_size(var->type);
    if (value->texts && !value->look.typed)
        return tt_setting_read_text(setting, &flat->arena, desc, *(const char *const *)value->data);
    TRY(start_values_check_count(var, &setting->element, value));
    setting->count = value->count;
    setting->values = value->data;
    if (!value->texts && !var->negated)
        return tt_setting_check_bounds(var, setting->values, setting->count);
    char *data = tt_arena_array(&flat->arena, value->count, size);
    if (!data)
        return tt_fail_memory();
    setting->values = data;
    for (size_t i = 0; i < value->count; i++) {
        const char *text = value->texts ? ((const char *const *)value->data)[i] : NULL;
        if (text)
            TRY(tt_setting_read_value(&flat->arena, desc, var, text, strlen(text), data + i * size));
        else
            memcpy(data + i * size, (const char *)value->data + i * size, size);
    }
    TRY(tt_setting_check_bounds(var, data, value->count));
    for (size_t i = 0; i < value->count && var->negated; i++)
        tt_type_negate(var->type, data + i * size);
    return TUTTI_OK;
}

static bool start_values_is_parameter(const struct tt_var *var)
{
    return var->causality == TUTTI_PARAMETER || var->causality == TUTTI_STRUCTURAL_PARAMETER;
}

enum tutti_err tt_start_values_add_candidate(struct tt_flat *flat, const struct tt_flat_value *value,
                                             uint32_t component, uint32_t variable, const struct tt_indices *element)
{
    const struct tt_description *desc = tt_flat_component(flat, component)->fmu->desc;
    struct tt_flat_candidate candidate = {
        .rank = value->passed && start_values_is_parameter(&desc->vars[variable]) ? value->rank | TUTTI_RANK_CONNECTED
                                                                                  : value->rank,
        .passed = value->passed,
        .component = component,
        .order = (uint32_t)flat->candidates.count,
        .setting = {.variable = variable, .element = *element, .file = value->file, .line = value->line}};
    /* What cannot be set is no parameter; a set may hold far more than those. */
    enum tutti_err err = tt_setting_check_settable(&desc->vars[variable]);
    enum tt_severity severity = err ? TUTTI_FINDING_WARNING : TUTTI_FINDING_ERROR;
    if (!err)
        err = read_candidate(flat, value, desc, &candidate.setting);
    if (err) {
        const char *unit = tt_flat_component(flat, component)->name;
        err = tt_fail_about(tt_fail_context(err, "'%s'", unit), unit, desc->vars[variable].name, NAN);
        return start_values_report_failure(flat, value, err, severity);
    }
    if (value->alone) {
        candidate.option = value->origin;
        candidate.name_length = (size_t)(*(const char *const *)value->data - value->origin);
    }
    struct tt_flat_candidate *place = tt_vector_push(&flat->candidates, sizeof *place);
    if (!place)
        return tt_fail_memory();
    *place = candidate;
    return tt_flat_check_size(flat);
}
