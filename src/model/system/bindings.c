/* SPDX-License-Identifier: MIT */
/* Parameter bindings (SSP 2.0, 5.2.3): sources of values, mappings, and what they apply to. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/system/flat.h"

/* A binding at its place. */
struct active_binding {
    uint32_t item;
    const struct tt_ssp_binding *binding;
    struct tt_flat_file *file; /* whose binding it is */
    const struct tt_ssv *values;
    struct tt_map *parameters; /* of a file, by name; NULL: of an inline set */
};

/* ---- sources ---- */

static enum tutti_err start_values_fail_at(enum tutti_err err, const struct active_binding *bound)
{
    err = err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err; /* the document's fault, not the command line's */
    return tt_fail_context(err, "%s:%u: parameter binding", bound->file->shown, bound->binding->line);
}

/* The document that a source is relative to; NULL, and a finding, where there is none. */
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

/* Applies a value to all that `name` means; *count says to how many. */
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

/* Single parameters may be for others, but if none fits, names or prefix are wrong. */
static void warn_useless(struct tt_flat *flat, const struct active_binding *bound, const char *prefix)
{
    const char *name = tt_flat_item(flat, bound->item)->name;
    tt_findings_add(
        flat->findings, TUTTI_FINDING_WARNING, bound->file->shown, bound->binding->line,
        "none of the %zu parameters of %s (the first is '%s%s') fits anything in %s%s%s: the binding has no effect",
        bound->values->count, bound->values->scope.file, tt_text_excerpt(prefix).text,
        tt_text_excerpt(bound->values->parameters[0].name).text, *name ? "'" : "the system", *name ? name : "",
        *name ? "'" : "");
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
    if (!err && all == 0 && bound->values->count > 0)
        warn_useless(flat, bound, prefix);
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

/* Is a document of the only type that there is so far? Says so, if it is not. */
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
