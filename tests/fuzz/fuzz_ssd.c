/* SPDX-License-Identifier: MIT */
/* System structure descriptions, with the documents inline in them; their sources as references. */
#include "model/ssp/uri.h"
#include "ssp_fuzz.h"

/* A reference that can be read does not lead out of its package. */
static size_t walk_source(const char *source)
{
    struct tt_uri uri;
    if (!source || tt_uri_read(&uri, source) != TUTTI_OK)
        return 0;
    char *joined = NULL;
    if (uri.path[0] != '/' && tt_uri_join("resources/a.ssd", uri.path, &joined) == TUTTI_OK)
        if (joined[0] == '/' || strcmp(joined, "..") == 0 || strncmp(joined, "../", 3) == 0 || strstr(joined, "/../"))
            abort();
    size_t sum = text_length(joined) + text_length(uri.fragment);
    free(joined);
    tt_uri_fini(&uri);
    return sum;
}

static size_t walk_end(const struct tt_ssp_end *end)
{
    size_t sum = text_length(end->element) + strlen(end->connector);
    for (size_t i = 0; i < end->index_count; i++)
        sum += (size_t)end->indices[i];
    return sum;
}

static size_t walk_bindings(const struct tt_ssp_element *element)
{
    size_t sum = 0;
    for (size_t i = 0; i < element->binding_count; i++) {
        const struct tt_ssp_binding *binding = &element->bindings[i];
        sum += text_length(binding->type) + walk_source(binding->source) + text_length(binding->prefix);
        sum += walk_source(binding->mapping_source) + text_length(binding->mapping_type);
        sum += binding->values ? walk_ssv(binding->values) : 0;
        sum += binding->mapping ? walk_ssm(binding->mapping) : 0;
        if (!binding->type && !binding->values == !binding->source)
            abort();
    }
    return sum;
}

static size_t walk_element(const struct tt_ssp_element *element)
{
    size_t sum = strlen(element->name) + text_length(element->id) + text_length(element->type) +
                 walk_source(element->source) + text_length(element->implementation) + text_length(element->dictionary);
    sum += walk_bindings(element) + strlen(element->node->local);
    sum += element->settings ? strlen(element->settings->local) : 0;
    for (size_t i = 0; i < element->connector_count; i++) {
        const struct tt_ssp_connector *connector = &element->connectors[i];
        sum += strlen(connector->name) + strlen(tt_ssd_kind_name(connector->kind)) + walk_type(&connector->type);
        sum += walk_dimensions(connector->dimensions, connector->dimension_count);
    }
    for (size_t i = 0; i < element->connection_count; i++)
        sum += walk_end(&element->connections[i].start) + walk_end(&element->connections[i].end) +
               walk_transformation(&element->connections[i].transformation);
    for (size_t i = 0; i < element->dictionary_count; i++) {
        const struct tt_ssp_dictionary *dictionary = &element->dictionaries[i];
        sum += strlen(dictionary->name) + text_length(dictionary->type) + walk_source(dictionary->source);
        sum += dictionary->inline_entries ? walk_ssb(dictionary->inline_entries) : 0;
    }
    for (size_t i = 0; i < element->element_count; i++)
        sum += walk_element(&element->elements[i]);
    return sum;
}

static size_t walk_ssd(const struct tt_ssd *ssd)
{
    return walk_scope(&ssd->scope) + strlen(ssd->name) + text_length(ssd->version) + walk_element(&ssd->system) +
           (ssd->settings ? strlen(ssd->settings->local) : 0);
}

SSP_FUZZ(ssd, walk_ssd)
