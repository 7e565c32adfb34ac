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

/* Reports a failure; loading continues unless memory is out. */
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

/* The value of an enumeration whose items are still names. */
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
        tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, value->file, value->line,
                        "parameter '%s': it is unknown how the units '%s' and '%s' relate; its value is taken as it is",
                        value->origin, value->look.unit->name, way->view->unit->name);
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
    /* A variable that cannot be set is not a parameter; a parameter set may contain many of these. */
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

/* Parameter bindings (SSP 2.0, 5.2.3): sources of values, mappings, and what they apply to. */

struct active_binding {
    uint32_t item;
    const struct tt_ssp_binding *binding;
    struct tt_flat_file *file; /* the file that contains the binding */
    const struct tt_ssv *values;
    struct tt_map *parameters; /* of a file, by name; NULL: of an inline set */
};

/* ---- sources ---- */

static enum tutti_err start_values_fail_at(enum tutti_err err, const struct active_binding *bound)
{
    err = err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err; /* the document's fault, not the command line's */
    return tt_fail_context(err, "%s:%u: parameter binding", bound->file->shown, bound->binding->line);
}

/* Returns the document that a source is relative to; NULL, with a finding, if there is none. */
static struct tt_flat_file *binding_base_of(struct tt_flat *flat, const struct active_binding *bound, bool in_component)
{
    const struct tt_flat_item *item = tt_flat_item(flat, bound->item);
    if (!in_component)
        return bound->file;
    if (!item->target)
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, bound->file->shown, bound->binding->line,
                        "sourceBase=\"component\" is for components that have a file; '%s' is none",
                        item->element->name);
    return item->target;
}

static enum tutti_err open_values(struct tt_flat *flat, struct active_binding *bound)
{
    const struct tt_ssp_binding *binding = bound->binding;
    bound->values = binding->values;
    struct tt_flat_file *base = NULL, *file;
    if (!bound->values && binding->source)
        base = binding_base_of(flat, bound, binding->source_in_component);
    if (!base)
        return TUTTI_OK;
    enum tutti_err err = tt_model_files_open_document(flat, base, binding->source, DOCUMENT_SSV, &file);
    if (err)
        return start_values_fail_at(err, bound);
    bound->values = file->ssv;
    bound->parameters = &file->parameters;
    return TUTTI_OK;
}

static enum tutti_err open_mapping(struct tt_flat *flat, const struct active_binding *bound, const struct tt_ssm **out)
{
    const struct tt_ssp_binding *binding = bound->binding;
    *out = binding->mapping;
    struct tt_flat_file *base = NULL, *file;
    if (!*out && binding->mapping_source)
        base = binding_base_of(flat, bound, binding->mapping_in_component);
    if (!base)
        return TUTTI_OK;
    enum tutti_err err = tt_model_files_open_document(flat, base, binding->mapping_source, DOCUMENT_SSM, &file);
    if (err)
        return start_values_fail_at(err, bound);
    *out = file->ssm;
    return TUTTI_OK;
}

/* ---- application ---- */

static enum tutti_err start_values_make_value(struct tt_flat *flat, const struct active_binding *bound,
                                              const struct tt_ssp_parameter *parameter, struct tt_flat_value *value)
{
    uint64_t level = TUTTI_MOST_LEVELS + 1 - tt_flat_item(flat, bound->item)->depth;
    *value = (struct tt_flat_value){
        .rank = level << 32 | flat->values_given++,
        .origin = parameter->name,
        .file = bound->values->scope.file,
        .line = parameter->line,
        .texts = true,
        .dimensions = (uint8_t)(parameter->dimension_count < UINT8_MAX ? parameter->dimension_count : UINT8_MAX),
        .shape = parameter->dimensions,
        .count = parameter->value_count,
        .data = parameter->values,
    };
    enum tutti_err err = tt_start_values_parse(flat, value, parameter->type.type);
    value->look = tt_connectors_signal_spec(flat, &bound->values->scope, &parameter->type, 0);
    value->look.typed = true;
    return err;
}

/* Applies a value to all meanings of `name`; *count receives their number. */
static enum tutti_err apply_parameter(struct tt_flat *flat, const struct active_binding *bound,
                                      const struct tt_ssp_parameter *parameter, const char *name,
                                      const struct tt_ssp_mapping *mapping, size_t *count)
{
    struct tt_vector matches = {0};
    struct tt_flat_value value = {0};
    enum tutti_err err = tt_flat_find_matches(flat, bound->item, name, &matches);
    *count = matches.count;
    if (!err && matches.count > 0) {
        err = start_values_make_value(flat, bound, parameter, &value);
        if (err && err != TUTTI_ERR_MEMORY) {
            tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, value.file, value.line, "parameter '%s': %s",
                            parameter->name, tutti_err_message());
            matches.count = 0;
            err = TUTTI_OK;
        }
    }
    for (size_t i = 0; i < matches.count && !err; i++)
        err = tt_start_values_apply(flat, &value, (const struct tt_flat_match *)matches.items + i,
                                    mapping && mapping->suppress_unit_conversion,
                                    mapping ? &mapping->transformation : NULL);
    tt_vector_fini(&matches);
    return err ? err : tt_flat_check_size(flat);
}

static enum tutti_err apply_parameters(struct tt_flat *flat, const struct active_binding *bound)
{
    const char *prefix = bound->binding->prefix ? bound->binding->prefix : "";
    struct tt_text name = {0};
    enum tutti_err err = TUTTI_OK;
    size_t count, all = 0, length = strlen(prefix);
    tt_text_append(&name, prefix);
    for (size_t i = 0; i < bound->values->count && !err; i++) {
        const struct tt_ssp_parameter *parameter = &bound->values->parameters[i];
        name.length = length;
        tt_text_append(&name, parameter->name);
        err = name.failed ? tt_fail_memory() : apply_parameter(flat, bound, parameter, name.text, NULL, &count);
        all += err ? 0 : count;
    }
    tt_text_fini(&name);

    /* Single parameters may be for others, but if none fits, names or prefix are wrong. */
    if (!err && all == 0 && bound->values->count > 0) {
        const char *item = tt_flat_item(flat, bound->item)->name;
        tt_findings_add(
            flat->findings, TUTTI_FINDING_WARNING, bound->file->shown, bound->binding->line,
            "none of the %zu parameters of %s (the first is '%s%s') fits anything in %s%s%s: the binding has no effect",
            bound->values->count, bound->values->scope.file, tt_text_excerpt(prefix).text,
            tt_text_excerpt(bound->values->parameters[0].name).text, *item ? "'" : "the system", *item ? item : "",
            *item ? "'" : "");
    }
    return err;
}

static enum tutti_err apply_mapping_entry(struct tt_flat *flat, const struct active_binding *bound,
                                          const struct tt_map *parameters, const struct tt_ssm *ssm,
                                          const struct tt_ssp_mapping *mapping)
{
    const char *prefix = bound->binding->prefix ? bound->binding->prefix : "";
    size_t n = strlen(prefix), count;
    int64_t found = TUTTI_MAP_NONE;
    if (strncmp(mapping->source, prefix, n) == 0)
        found = tt_map_find(parameters, mapping->source + n);
    if (found == TUTTI_MAP_NONE) {
        TRY(tt_flat_count_lookup(flat, 0));
        tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, ssm->file, mapping->line,
                        "the mapping's source '%s' is no parameter of the source of values", mapping->source);
        return TUTTI_OK;
    }
    TRY(apply_parameter(flat, bound, &bound->values->parameters[found], mapping->target, mapping, &count));
    if (count == 0)
        tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, ssm->file, mapping->line,
                        "the mapping's target '%s' is nothing that could be set here", mapping->target);
    return TUTTI_OK;
}

static enum tutti_err apply_mappings(struct tt_flat *flat, const struct active_binding *bound, const struct tt_ssm *ssm)
{
    struct tt_map own = {0}, *parameters = bound->parameters ? bound->parameters : &own;
    enum tutti_err err = TUTTI_OK;
    for (size_t i = parameters->count; i < bound->values->count && !err; i++)
        err = tt_map_add(parameters, bound->values->parameters[i].name, (int64_t)i, NULL);
    for (size_t i = 0; i < ssm->count && !err; i++)
        err = apply_mapping_entry(flat, bound, parameters, ssm, &ssm->mappings[i]);
    tt_map_fini(&own);
    return err;
}

/* Checks that a document has the only supported type, and reports it otherwise. */
static bool start_values_check_type(struct tt_flat *flat, const struct active_binding *bound, const char *what,
                                    const char *type, const char *standard)
{
    if (!type || strcmp(type, standard) == 0)
        return true;
    tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, bound->file->shown, bound->binding->line,
                    "the %s has the type \"%s\", which is not supported; what is: %s", what, tt_text_excerpt(type).text,
                    standard);
    return false;
}

static enum tutti_err apply_binding(struct tt_flat *flat, uint32_t item, const struct tt_ssp_binding *binding,
                                    struct tt_flat_file *file)
{
    struct active_binding bound = {.item = item, .binding = binding, .file = file};
    const struct tt_ssm *mapping = NULL;
    if (!start_values_check_type(flat, &bound, "parameter binding", binding->type, "application/x-ssp-parameter-set") ||
        !start_values_check_type(flat, &bound, "parameter mapping", binding->mapping_type,
                                 "application/x-ssp-parameter-mapping"))
        return TUTTI_OK;
    TRY(open_values(flat, &bound));
    if (!bound.values)
        return TUTTI_OK;
    if (!binding->mapped)
        return apply_parameters(flat, &bound);
    TRY(open_mapping(flat, &bound, &mapping));
    return mapping ? apply_mappings(flat, &bound, mapping) : TUTTI_OK;
}

/* A component's bindings stand after those of the system that it refers to. */
enum tutti_err tt_start_values_apply_bindings(struct tt_flat *flat)
{
    for (uint32_t i = 0; i < flat->items.count; i++) {
        const struct tt_ssp_element *body = tt_flat_item(flat, i)->body;
        const struct tt_ssp_element *element = tt_flat_item(flat, i)->element;
        for (size_t b = 0; body && b < body->binding_count; b++)
            TRY(apply_binding(flat, i, &body->bindings[b], tt_flat_item(flat, i)->body_file));
        for (size_t b = 0; element && element != body && b < element->binding_count; b++)
            TRY(apply_binding(flat, i, &element->bindings[b], tt_flat_item(flat, i)->file));
    }
    return TUTTI_OK;
}

/* Of all values given for a variable, the one that counts. */

static int compare_ranks(const struct tt_flat_candidate *a, const struct tt_flat_candidate *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* By variable, all of it before elements, the best first. */
static int compare_candidates(const void *a, const void *b)
{
    const struct tt_flat_candidate *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    if (x->setting.variable != y->setting.variable)
        return x->setting.variable < y->setting.variable ? -1 : 1;
    int order = tt_setting_compare_indices(&x->setting.element, &y->setting.element);
    return order ? order : -compare_ranks(x, y);
}

/* The values as they stay: texts and bytes with them. */
static enum tutti_err start_values_store(struct tt_flat *flat, const struct tt_flat_candidate *candidate,
                                         struct tt_setting *out)
{
    struct tt_arena *arena = &flat->system->arena;
    const struct tt_description *desc = tt_flat_component(flat, candidate->component)->fmu->desc;
    enum tt_type type = desc->vars[candidate->setting.variable].type;
    size_t count = candidate->setting.count;
    void *values = tt_arena_array(arena, count, tt_type_size(type));
    *out = candidate->setting;
    out->values = values;
    if (out->file)
        out->file = tt_arena_copy_text(arena, out->file, strlen(out->file));
    if (!values || (candidate->setting.file && !out->file))
        return tt_fail_memory();
    if (count > 0)
        memcpy(values, candidate->setting.values, count * tt_type_size(type));
    for (size_t i = 0; i < count && type == TUTTI_TYPE_STRING; i++) {
        const char **text = (const char **)values + i;
        *text = tt_arena_copy_text(arena, *text, strlen(*text));
        if (!*text)
            return tt_fail_memory();
    }
    for (size_t i = 0; i < count && type == TUTTI_TYPE_BINARY; i++) {
        struct tt_bytes *bytes = (struct tt_bytes *)values + i;
        uint8_t *copy = tt_arena_alloc(arena, bytes->size + 1);
        if (!copy)
            return tt_fail_memory();
        if (bytes->size > 0)
            memcpy(copy, bytes->data, bytes->size);
        bytes->data = copy;
    }
    return TUTTI_OK;
}

/* A value of a higher level replaces one of a lower level silently. */
static bool wins_by_connection(const struct tt_flat_candidate *winner, const struct tt_flat_candidate *beaten)
{
    return winner->passed && (winner->rank & TUTTI_RANK_CONSTANT || winner->rank >> 32 == beaten->rank >> 32);
}

/* Returns true if a connection provides the variable's value in the initialisation. */
static bool start_values_is_connected(const struct tt_flat *flat, const struct tt_flat_candidate *candidate)
{
    uint32_t count;
    const struct tt_connection *connection =
        tt_system_connections_to(flat->system, candidate->component, candidate->setting.variable, &count);
    return count > 0 && connection->at_start_only;
}

/* ---- the same options again, with other values ---- */

/* A number, which nothing but the start of a run depends on. */
static bool can_be_set_again(const struct tt_var *var, const struct tt_setting *setting)
{
    return !tt_type_is_text((enum tt_type)var->type) && var->causality != TUTTI_STRUCTURAL_PARAMETER &&
           (var->dimension_count == 0 || setting->element.count > 0);
}

static enum tutti_err record_given_option(struct tt_flat *flat, const struct tt_flat_candidate *candidate,
                                          struct tt_setting *setting)
{
    struct tt_system *system = flat->system;
    const struct tt_description *desc = tt_flat_component(flat, candidate->component)->fmu->desc;
    if (!candidate->option || !can_be_set_again(&desc->vars[setting->variable], setting))
        return TUTTI_OK;
    struct tt_given_option *given = &system->given[candidate->rank - TUTTI_RANK_SET];
    *given = (struct tt_given_option){.desc = desc, .setting = setting};
    given->name = tt_arena_copy_text(&system->arena, candidate->option, candidate->name_length);
    return given->name ? TUTTI_OK : tt_fail_memory();
}

/* NULL: this text is not of the same option. */
static const char *start_values_text_of(const struct tt_given_option *given, const char *text)
{
    size_t length = given->name ? strlen(given->name) : 0;
    return given->name && strncmp(text, given->name, length) == 0 ? text + length : NULL;
}

static bool reread_given_option(const struct tt_given_option *given, const char *text, void *value)
{
    const struct tt_var *var = &given->desc->vars[given->setting->variable];
    if (tt_setting_read_value(NULL, given->desc, var, text, strlen(text), value))
        return false;
    if (var->negated)
        tt_type_negate((enum tt_type)var->type, value);
    return true;
}

bool tt_start_values_replace(struct tt_system *system, const char *const *sets, size_t count)
{
    uint64_t unused; /* the largest number */
    bool fit = count == system->given_count;
    for (size_t i = 0; i < count && fit; i++) {
        const char *text = start_values_text_of(&system->given[i], sets[i]);
        fit = text && reread_given_option(&system->given[i], text, &unused);
    }
    for (size_t i = 0; i < count && fit; i++)
        (void)reread_given_option(&system->given[i], start_values_text_of(&system->given[i], sets[i]),
                                  (void *)system->given[i].setting->values);
    return fit;
}

enum tutti_err tt_start_values_resolve(struct tt_flat *flat)
{
    struct tt_flat_candidate *candidates = flat->candidates.items;
    size_t count = flat->candidates.count;
    const struct tt_flat_candidate *whole = NULL, *last = NULL, *winner = NULL;
    struct tt_setting *settings = tt_arena_array(&flat->system->arena, count, sizeof *settings);
    flat->system->given_count = flat->source->set_count;
    flat->system->given = tt_arena_array(&flat->system->arena, flat->source->set_count, sizeof *flat->system->given);
    if (!settings || !flat->system->given)
        return tt_fail_memory();
    if (count > 1)
        qsort(candidates, count, sizeof *candidates, compare_candidates);
    for (size_t i = 0; i < count; i++) {
        const struct tt_flat_candidate *candidate = &candidates[i];
        bool same = last && last->component == candidate->component &&
                    last->setting.variable == candidate->setting.variable;
        if (!same)
            whole = candidate->setting.element.count == 0 ? candidate : NULL;
        bool again = same && tt_setting_compare_indices(&last->setting.element, &candidate->setting.element) == 0;
        bool beaten = again || (whole && whole != candidate && compare_ranks(candidate, whole) < 0);
        winner = again ? winner : candidate;
        last = candidate;
        if (again ? wins_by_connection(winner, candidate) : start_values_is_connected(flat, candidate)) {
            /* A parameter that both a binding and a connection give. Options of the command line are above both. */
            const struct tt_component *component = tt_flat_component(flat, candidate->component);
            const struct tt_var *var = &component->fmu->desc->vars[candidate->setting.variable];
            if (var->causality == TUTTI_PARAMETER && candidate->setting.file && !candidate->passed)
                tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, candidate->setting.file, candidate->setting.line,
                                "'%s.%s' is given here, and by a connection, too, which counts; remove one of them",
                                component->name, var->name);
        }
        if (beaten)
            continue;
        struct tt_component *component = tt_flat_component(flat, candidate->component);
        TRY(start_values_store(flat, candidate, settings));
        TRY(record_given_option(flat, candidate, settings));
        if (component->setting_count++ == 0)
            component->settings = settings;
        settings++;
    }
    return TUTTI_OK;
}
