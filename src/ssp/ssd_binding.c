/* SPDX-License-Identifier: MIT */
/* The parts of a structure that have their content inline or in another file: parameter bindings with their mappings,
 * signal dictionaries. */
#include <string.h>

#include "ssp/parts.h"

/* Is it the type that is meant when none is given? */
static bool is_default_type(const char *type, const char *standard)
{
    return !type || strcmp(type, standard) == 0;
}

/* The attribute `source`; an empty one counts as none, as the standard asks for it beside inline content. */
static const char *source_of(const struct tutti_node *node)
{
    const char *source = tutti_node_attribute(node, "source");
    return source && *source ? source : NULL;
}

static enum tutti_err read_base(struct tutti_parts *parts, const struct tutti_node *node, bool *in_component)
{
    static const struct tutti_shape_word words[] = {{"SSD", false}, {"component", false}, {NULL, false}};
    size_t word = 0;
    TRY(tutti_parts_word(parts, node, "sourceBase", words, &word));
    *in_component = word == 1;
    return TUTTI_OK;
}

/* The one inline document in `holder`, which may be NULL; none if `source` says where it is. */
static enum tutti_err find_inline(const struct tutti_parts *parts, const struct tutti_node *node,
                                  const struct tutti_node *holder, const char *source, const char *local,
                                  const struct tutti_node **found)
{
    *found = holder ? tutti_parts_child(holder, local) : NULL;
    if (*found && tutti_parts_next(*found, local))
        return tutti_parts_fail(parts, tutti_parts_next(*found, local),
                                "a second one; only one can be meant, remove one");
    if (*found && source)
        return tutti_parts_fail(parts, node, "it has a source and an inline <%s>; remove one of them", local);
    if (!*found && !source)
        return tutti_parts_fail(parts, node, "it has neither a source nor an inline <%s>; add one of them", local);
    return TUTTI_OK;
}

static enum tutti_err read_mapping(struct tutti_parts *parts, const struct tutti_node *node,
                                   struct tutti_ssp_binding *binding)
{
    static const struct tutti_shape_word attributes[] = {
        SHAPE_BASE_ATTRIBUTES, {"type", false}, {"source", false}, {"sourceBase", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {{"ParameterMapping", TUTTI_SPACE_SSM, TUTTI_SHAPE_MANY, false},
                                                        SHAPE_META,
                                                        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    binding->mapped = true;
    binding->mapping_type = tutti_node_attribute(node, "type");
    binding->mapping_source = source_of(node);
    TRY(read_base(parts, node, &binding->mapping_in_component));
    if (!is_default_type(binding->mapping_type, "application/x-ssp-parameter-mapping"))
        return TUTTI_OK;
    TRY(tutti_parts_check(parts, node, &shape));
    const struct tutti_node *top;
    TRY(find_inline(parts, node, node, binding->mapping_source, "ParameterMapping", &top));
    if (!top)
        return TUTTI_OK;
    struct tutti_ssm *ssm = tutti_arena_alloc(parts->arena, sizeof *ssm);
    if (!ssm)
        return tutti_fail_memory();
    binding->mapping = ssm;
    return tutti_parts_ssm(parts, top, ssm);
}

static enum tutti_err read_values(struct tutti_parts *parts, const struct tutti_node *node,
                                  struct tutti_ssp_binding *binding)
{
    const struct tutti_node *holder = tutti_parts_child(node, "ParameterValues"), *top;
    if (holder && binding->source)
        return tutti_parts_fail(parts, node, "it has a source and <ParameterValues>; remove one of them");
    TRY(find_inline(parts, node, holder, binding->source, "ParameterSet", &top));
    if (!top)
        return TUTTI_OK;
    struct tutti_ssv *ssv = tutti_arena_alloc(parts->arena, sizeof *ssv);
    if (!ssv)
        return tutti_fail_memory();
    binding->values = ssv;
    return tutti_parts_ssv(parts, top, ssv);
}

static enum tutti_err read_binding(struct tutti_parts *parts, const struct tutti_node *node,
                                   struct tutti_ssp_binding *binding)
{
    static const struct tutti_shape_word attributes[] = {SHAPE_BASE_ATTRIBUTES, {"type", false},   {"source", false},
                                                         {"sourceBase", false}, {"prefix", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {{"ParameterValues", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                        {"ParameterMapping", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                        SHAPE_META,
                                                        SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    TRY(tutti_parts_check(parts, node, &shape));
    binding->line = node->line;
    binding->type = tutti_node_attribute(node, "type");
    binding->source = source_of(node);
    binding->prefix = tutti_node_attribute(node, "prefix");
    TRY(read_base(parts, node, &binding->source_in_component));
    if (is_default_type(binding->type, "application/x-ssp-parameter-set"))
        TRY(read_values(parts, node, binding));
    const struct tutti_node *mapping = tutti_parts_child(node, "ParameterMapping");
    return mapping ? read_mapping(parts, mapping, binding) : TUTTI_OK;
}

enum tutti_err tutti_parts_bindings(struct tutti_parts *parts, const struct tutti_node *node,
                                    struct tutti_ssp_element *element)
{
    static const struct tutti_shape_word none[] = {{NULL, false}};
    static const struct tutti_shape_child children[] = {{"ParameterBinding", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
                                                        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {none, children};
    const struct tutti_node *first = tutti_parts_child(node, "ParameterBindings");
    size_t count = 0;
    for (const struct tutti_node *list = first; list; list = tutti_parts_next(list, "ParameterBindings")) {
        TRY(tutti_parts_check(parts, list, &shape));
        if (list != first)
            tutti_parts_warn(parts, list, "a second one in the same <%s>; its bindings count after those of the first",
                             node->local);
        count += tutti_parts_count(list, "ParameterBinding");
    }
    struct tutti_ssp_binding *binding = tutti_arena_array(parts->arena, count, sizeof *binding);
    if (!binding)
        return tutti_fail_memory();
    element->bindings = binding;
    element->binding_count = count;
    for (const struct tutti_node *list = first; list; list = tutti_parts_next(list, "ParameterBindings"))
        for (const struct tutti_node *child = tutti_parts_child(list, "ParameterBinding"); child;
             child = tutti_parts_next(child, "ParameterBinding"))
            TRY(read_binding(parts, child, binding++));
    return TUTTI_OK;
}

static enum tutti_err read_dictionary(struct tutti_parts *parts, const struct tutti_node *node, struct tutti_map *names,
                                      struct tutti_ssp_dictionary *dictionary)
{
    static const struct tutti_shape_word attributes[] = {
        SHAPE_BASE_ATTRIBUTES, {"type", false}, {"source", false}, {"name", false}, {NULL, false}};
    static const struct tutti_shape_child children[] = {{"SignalDictionary", TUTTI_SPACE_SSB, TUTTI_SHAPE_MANY, false},
                                                        SHAPE_META,
                                                        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {attributes, children};
    dictionary->line = node->line;
    dictionary->type = tutti_node_attribute(node, "type");
    dictionary->source = source_of(node);
    TRY(tutti_parts_required(parts, node, "name", &dictionary->name));
    TRY(tutti_parts_unique(parts, names, node, dictionary->name, "signal dictionaries of this system"));
    if (!is_default_type(dictionary->type, "application/x-ssp-signal-dictionary"))
        return TUTTI_OK;
    TRY(tutti_parts_check(parts, node, &shape));
    const struct tutti_node *top;
    TRY(find_inline(parts, node, node, dictionary->source, "SignalDictionary", &top));
    if (!top)
        return TUTTI_OK;
    struct tutti_ssb *ssb = tutti_arena_alloc(parts->arena, sizeof *ssb);
    if (!ssb)
        return tutti_fail_memory();
    dictionary->inline_entries = ssb;
    return tutti_parts_ssb(parts, top, ssb);
}

enum tutti_err tutti_parts_dictionaries(struct tutti_parts *parts, const struct tutti_node *node,
                                        struct tutti_ssp_element *system)
{
    static const struct tutti_shape_word none[] = {{NULL, false}};
    static const struct tutti_shape_child children[] = {{"SignalDictionary", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
                                                        {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tutti_shape shape = {none, children};
    const struct tutti_node *list = tutti_parts_child(node, "SignalDictionaries");
    if (!list)
        return TUTTI_OK;
    TRY(tutti_parts_check(parts, list, &shape));
    struct tutti_ssp_dictionary *dictionary;
    TRY(tutti_parts_array(parts, list, "SignalDictionary", sizeof *dictionary, &dictionary, &system->dictionary_count));
    system->dictionaries = dictionary;
    struct tutti_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tutti_node *child = tutti_parts_child(list, "SignalDictionary"); child && err == TUTTI_OK;
         child = tutti_parts_next(child, "SignalDictionary"))
        err = read_dictionary(parts, child, &names, dictionary++);
    tutti_map_fini(&names);
    return err;
}
