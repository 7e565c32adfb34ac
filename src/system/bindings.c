/* SPDX-License-Identifier: MIT */
/* Parameter bindings (SSP 2.0, 5.2.3): sources of values, mappings, and what they apply to. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "system/flat.h"

/* A binding at its place. */
struct bound {
    uint32_t item;
    const struct tutti_ssp_binding *binding;
    struct file *file; /* whose binding it is */
    const struct tutti_ssv *values;
    struct tutti_map *parameters; /* of a file, by name; NULL: of an inline set */
};

/* ---- sources ---- */

static enum tutti_err fail_at(enum tutti_err err, const struct bound *bound)
{
    err = err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err; /* the document's fault, not the command line's */
    return tutti_fail_context(err, "%s:%u: parameter binding", bound->file->shown, bound->binding->line);
}

/* The document that a source is relative to; NULL, and a finding, where there is none. */
static struct file *base_of(struct flat *flat, const struct bound *bound, bool in_component)
{
    const struct item *item = tutti_flat_item(flat, bound->item);
    if (!in_component)
        return bound->file;
    if (!item->target)
        tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, bound->file->shown, bound->binding->line,
                           "sourceBase=\"component\" is for components that have a file; '%s' is none",
                           item->element->name);
    return item->target;
}

static enum tutti_err open_values(struct flat *flat, struct bound *bound)
{
    const struct tutti_ssp_binding *binding = bound->binding;
    bound->values = binding->values;
    struct file *base = NULL, *file;
    if (!bound->values && binding->source)
        base = base_of(flat, bound, binding->source_in_component);
    if (!base)
        return TUTTI_OK;
    enum tutti_err err = tutti_files_document(flat, base, binding->source, DOCUMENT_SSV, &file);
    if (err)
        return fail_at(err, bound);
    bound->values = file->ssv;
    bound->parameters = &file->parameters;
    return TUTTI_OK;
}

static enum tutti_err open_mapping(struct flat *flat, const struct bound *bound, const struct tutti_ssm **out)
{
    const struct tutti_ssp_binding *binding = bound->binding;
    *out = binding->mapping;
    struct file *base = NULL, *file;
    if (!*out && binding->mapping_source)
        base = base_of(flat, bound, binding->mapping_in_component);
    if (!base)
        return TUTTI_OK;
    enum tutti_err err = tutti_files_document(flat, base, binding->mapping_source, DOCUMENT_SSM, &file);
    if (err)
        return fail_at(err, bound);
    *out = file->ssm;
    return TUTTI_OK;
}

/* ---- application ---- */

static enum tutti_err make_value(struct flat *flat, const struct bound *bound,
                                 const struct tutti_ssp_parameter *parameter, struct value *value)
{
    uint64_t level = TUTTI_MOST_LEVELS + 1 - tutti_flat_item(flat, bound->item)->depth;
    *value = (struct value){
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
    enum tutti_err err = tutti_value_parse(flat, value, parameter->type.type);
    value->look = tutti_connectors_look(flat, &bound->values->scope, &parameter->type, 0);
    value->look.typed = true;
    return err;
}

/* Applies a value to all that `name` means; *count says to how many. */
static enum tutti_err apply(struct flat *flat, const struct bound *bound, const struct tutti_ssp_parameter *parameter,
                            const char *name, const struct tutti_ssp_mapping *mapping, size_t *count)
{
    struct tutti_vector matches = {0};
    struct value value = {0};
    enum tutti_err err = tutti_flat_match(flat, bound->item, name, &matches);
    *count = matches.count;
    if (!err && matches.count > 0) {
        err = make_value(flat, bound, parameter, &value);
        if (err && err != TUTTI_ERR_MEMORY) {
            tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, value.file, value.line, "parameter '%s': %s",
                               parameter->name, tutti_err_message());
            matches.count = 0;
            err = TUTTI_OK;
        }
    }
    for (size_t i = 0; i < matches.count && !err; i++)
        err = tutti_value_apply(flat, &value, (const struct match *)matches.items + i,
                                mapping && mapping->suppress_unit_conversion,
                                mapping ? &mapping->transformation : NULL);
    tutti_vector_fini(&matches);
    return err ? err : tutti_flat_check_size(flat);
}

/* Single parameters may be for others, but if none fits, names or prefix are wrong. */
static void warn_useless(struct flat *flat, const struct bound *bound, const char *prefix)
{
    const char *name = tutti_flat_item(flat, bound->item)->name;
    tutti_findings_add(
        flat->findings, TUTTI_FINDING_WARNING, bound->file->shown, bound->binding->line,
        "none of the %zu parameters of %s (the first is '%s%s') fits anything in %s%s%s: the binding has no effect",
        bound->values->count, bound->values->scope.file, tutti_str_show(prefix).text,
        tutti_str_show(bound->values->parameters[0].name).text, *name ? "'" : "the system", *name ? name : "",
        *name ? "'" : "");
}

static enum tutti_err apply_all(struct flat *flat, const struct bound *bound)
{
    const char *prefix = bound->binding->prefix ? bound->binding->prefix : "";
    struct tutti_text name = {0};
    enum tutti_err err = TUTTI_OK;
    size_t count, all = 0, length = strlen(prefix);
    tutti_text_append(&name, prefix);
    for (size_t i = 0; i < bound->values->count && !err; i++) {
        const struct tutti_ssp_parameter *parameter = &bound->values->parameters[i];
        name.length = length;
        tutti_text_append(&name, parameter->name);
        err = name.failed ? tutti_fail_memory() : apply(flat, bound, parameter, name.text, NULL, &count);
        all += err ? 0 : count;
    }
    tutti_text_fini(&name);
    if (!err && all == 0 && bound->values->count > 0)
        warn_useless(flat, bound, prefix);
    return err;
}

static enum tutti_err apply_mapping(struct flat *flat, const struct bound *bound, const struct tutti_map *parameters,
                                    const struct tutti_ssm *ssm, const struct tutti_ssp_mapping *mapping)
{
    const char *prefix = bound->binding->prefix ? bound->binding->prefix : "";
    size_t n = strlen(prefix), count;
    int64_t found = TUTTI_MAP_NONE;
    if (strncmp(mapping->source, prefix, n) == 0)
        found = tutti_map_find(parameters, mapping->source + n);
    if (found == TUTTI_MAP_NONE) {
        TRY(tutti_flat_spend(flat, 0));
        tutti_findings_add(flat->findings, TUTTI_FINDING_WARNING, ssm->file, mapping->line,
                           "the mapping's source '%s' is no parameter of the source of values", mapping->source);
        return TUTTI_OK;
    }
    TRY(apply(flat, bound, &bound->values->parameters[found], mapping->target, mapping, &count));
    if (count == 0)
        tutti_findings_add(flat->findings, TUTTI_FINDING_WARNING, ssm->file, mapping->line,
                           "the mapping's target '%s' is nothing that could be set here", mapping->target);
    return TUTTI_OK;
}

static enum tutti_err apply_mappings(struct flat *flat, const struct bound *bound, const struct tutti_ssm *ssm)
{
    struct tutti_map own = {0}, *parameters = bound->parameters ? bound->parameters : &own;
    enum tutti_err err = TUTTI_OK;
    for (size_t i = parameters->count; i < bound->values->count && !err; i++)
        err = tutti_map_add(parameters, bound->values->parameters[i].name, (int64_t)i, NULL);
    for (size_t i = 0; i < ssm->count && !err; i++)
        err = apply_mapping(flat, bound, parameters, ssm, &ssm->mappings[i]);
    tutti_map_fini(&own);
    return err;
}

/* Is a document of the only type that there is so far? Says so, if it is not. */
static bool check_type(struct flat *flat, const struct bound *bound, const char *what, const char *type,
                       const char *standard)
{
    if (!type || strcmp(type, standard) == 0)
        return true;
    tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, bound->file->shown, bound->binding->line,
                       "the %s has the type \"%s\", which is not supported; what is: %s", what,
                       tutti_str_show(type).text, standard);
    return false;
}

static enum tutti_err apply_binding(struct flat *flat, uint32_t item, const struct tutti_ssp_binding *binding,
                                    struct file *file)
{
    struct bound bound = {.item = item, .binding = binding, .file = file};
    const struct tutti_ssm *mapping = NULL;
    if (!check_type(flat, &bound, "parameter binding", binding->type, "application/x-ssp-parameter-set") ||
        !check_type(flat, &bound, "parameter mapping", binding->mapping_type, "application/x-ssp-parameter-mapping"))
        return TUTTI_OK;
    TRY(open_values(flat, &bound));
    if (!bound.values)
        return TUTTI_OK;
    if (!binding->mapped)
        return apply_all(flat, &bound);
    TRY(open_mapping(flat, &bound, &mapping));
    return mapping ? apply_mappings(flat, &bound, mapping) : TUTTI_OK;
}

/* A component's bindings stand after those of the system that it refers to. */
enum tutti_err tutti_bindings_apply(struct flat *flat)
{
    for (uint32_t i = 0; i < flat->items.count; i++) {
        const struct tutti_ssp_element *body = tutti_flat_item(flat, i)->body;
        const struct tutti_ssp_element *element = tutti_flat_item(flat, i)->element;
        for (size_t b = 0; body && b < body->binding_count; b++)
            TRY(apply_binding(flat, i, &body->bindings[b], tutti_flat_item(flat, i)->body_file));
        for (size_t b = 0; element && element != body && b < element->binding_count; b++)
            TRY(apply_binding(flat, i, &element->bindings[b], tutti_flat_item(flat, i)->file));
    }
    return TUTTI_OK;
}
