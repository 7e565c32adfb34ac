/* SPDX-License-Identifier: MIT */
/* The parts of a structure that have their content inline or in another file: parameter bindings with their mappings,
 * signal dictionaries. */
#include <string.h>

#include "model/ssp/ssp_reader.h"

/* Is it the type that is meant when none is given? */
static bool is_default_type(const char *type, const char *standard)
{
    return !type || strcmp(type, standard) == 0;
}

/* The attribute `source`; an empty one counts as none, as the standard asks for it beside inline content. */
static const char *ssd_source_of(const struct tt_tree_node *node)
{
    const char *source = tt_tree_find_attribute(node, "source");
    return source && *source ? source : NULL;
}

static enum tutti_err ssd_read_base(struct tt_ssp_reader *parts, const struct tt_tree_node *node, bool *in_component)
{
    static const struct tt_shape_word words[] = {{"SSD", false}, {"component", false}, {NULL, false}};
    size_t word = 0;
    TRY(tt_ssp_reader_read_word(parts, node, "sourceBase", words, &word));
    *in_component = word == 1;
    return TUTTI_OK;
}

/* The one inline document in `holder`, which may be NULL; none if `source` says where it is. */
static enum tutti_err ssd_find_inline(const struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                      const struct tt_tree_node *holder, const char *source, const char *local,
                                      const struct tt_tree_node **found)
{
    *found = holder ? tt_ssp_reader_find_child(holder, local) : NULL;
    if (*found && tt_ssp_reader_find_next(*found, local))
        return tt_ssp_reader_fail(parts, tt_ssp_reader_find_next(*found, local),
                                  "a second one; only one can be meant, remove one");
    if (*found && source)
        return tt_ssp_reader_fail(parts, node, "it has a source and an inline <%s>; remove one of them", local);
    if (!*found && !source)
        return tt_ssp_reader_fail(parts, node, "it has neither a source nor an inline <%s>; add one of them", local);
    return TUTTI_OK;
}

static enum tutti_err ssd_read_mapping(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                       struct tt_ssp_binding *binding)
{
    static const struct tt_shape_word attributes[] = {
        SHAPE_BASE_ATTRIBUTES, {"type", false}, {"source", false}, {"sourceBase", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"ParameterMapping", TUTTI_SPACE_SSM, TUTTI_SHAPE_MANY, false},
                                                     SHAPE_META,
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    binding->mapped = true;
    binding->mapping_type = tt_tree_find_attribute(node, "type");
    binding->mapping_source = ssd_source_of(node);
    TRY(ssd_read_base(parts, node, &binding->mapping_in_component));
    if (!is_default_type(binding->mapping_type, "application/x-ssp-parameter-mapping"))
        return TUTTI_OK;
    TRY(tt_ssp_reader_check(parts, node, &shape));
    const struct tt_tree_node *top;
    TRY(ssd_find_inline(parts, node, node, binding->mapping_source, "ParameterMapping", &top));
    if (!top)
        return TUTTI_OK;
    struct tt_ssm *ssm = tt_arena_alloc(parts->arena, sizeof *ssm);
    if (!ssm)
        return tt_fail_memory();
    binding->mapping = ssm;
    return tt_ssm_parse(parts, top, ssm);
}

static enum tutti_err ssd_read_values(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                      struct tt_ssp_binding *binding)
{
    const struct tt_tree_node *holder = tt_ssp_reader_find_child(node, "ParameterValues"), *top;
    if (holder && binding->source)
        return tt_ssp_reader_fail(parts, node, "it has a source and <ParameterValues>; remove one of them");
    TRY(ssd_find_inline(parts, node, holder, binding->source, "ParameterSet", &top));
    if (!top)
        return TUTTI_OK;
    struct tt_ssv *ssv = tt_arena_alloc(parts->arena, sizeof *ssv);
    if (!ssv)
        return tt_fail_memory();
    binding->values = ssv;
    return tt_ssv_parse(parts, top, ssv);
}

static enum tutti_err ssd_read_binding(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                       struct tt_ssp_binding *binding)
{
    static const struct tt_shape_word attributes[] = {SHAPE_BASE_ATTRIBUTES, {"type", false},   {"source", false},
                                                      {"sourceBase", false}, {"prefix", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"ParameterValues", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     {"ParameterMapping", TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false},
                                                     SHAPE_META,
                                                     SHAPE_ANNOTATIONS(TUTTI_SPACE_SSD),
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    TRY(tt_ssp_reader_check(parts, node, &shape));
    binding->line = node->line;
    binding->type = tt_tree_find_attribute(node, "type");
    binding->source = ssd_source_of(node);
    binding->prefix = tt_tree_find_attribute(node, "prefix");
    TRY(ssd_read_base(parts, node, &binding->source_in_component));
    if (is_default_type(binding->type, "application/x-ssp-parameter-set"))
        TRY(ssd_read_values(parts, node, binding));
    const struct tt_tree_node *mapping = tt_ssp_reader_find_child(node, "ParameterMapping");
    return mapping ? ssd_read_mapping(parts, mapping, binding) : TUTTI_OK;
}

enum tutti_err tt_ssd_read_bindings(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                    struct tt_ssp_element *element)
{
    static const struct tt_shape_word none[] = {{NULL, false}};
    static const struct tt_shape_child children[] = {{"ParameterBinding", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {none, children};
    const struct tt_tree_node *first = tt_ssp_reader_find_child(node, "ParameterBindings");
    size_t count = 0;
    for (const struct tt_tree_node *list = first; list; list = tt_ssp_reader_find_next(list, "ParameterBindings")) {
        TRY(tt_ssp_reader_check(parts, list, &shape));
        if (list != first)
            tt_ssp_reader_warn(
                parts, list, "a second one in the same <%s>; its bindings count after those of the first", node->local);
        count += tt_ssp_reader_count_children(list, "ParameterBinding");
    }
    struct tt_ssp_binding *binding = tt_arena_array(parts->arena, count, sizeof *binding);
    if (!binding)
        return tt_fail_memory();
    element->bindings = binding;
    element->binding_count = count;
    for (const struct tt_tree_node *list = first; list; list = tt_ssp_reader_find_next(list, "ParameterBindings"))
        for (const struct tt_tree_node *child = tt_ssp_reader_find_child(list, "ParameterBinding"); child;
             child = tt_ssp_reader_find_next(child, "ParameterBinding"))
            TRY(ssd_read_binding(parts, child, binding++));
    return TUTTI_OK;
}

static enum tutti_err ssd_read_dictionary(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                          struct tt_map *names, struct tt_ssp_dictionary *dictionary)
{
    static const struct tt_shape_word attributes[] = {
        SHAPE_BASE_ATTRIBUTES, {"type", false}, {"source", false}, {"name", false}, {NULL, false}};
    static const struct tt_shape_child children[] = {{"SignalDictionary", TUTTI_SPACE_SSB, TUTTI_SHAPE_MANY, false},
                                                     SHAPE_META,
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {attributes, children};
    dictionary->line = node->line;
    dictionary->type = tt_tree_find_attribute(node, "type");
    dictionary->source = ssd_source_of(node);
    TRY(tt_ssp_reader_require(parts, node, "name", &dictionary->name));
    TRY(tt_ssp_reader_check_unique(parts, names, node, dictionary->name, "signal dictionaries of this system"));
    if (!is_default_type(dictionary->type, "application/x-ssp-signal-dictionary"))
        return TUTTI_OK;
    TRY(tt_ssp_reader_check(parts, node, &shape));
    const struct tt_tree_node *top;
    TRY(ssd_find_inline(parts, node, node, dictionary->source, "SignalDictionary", &top));
    if (!top)
        return TUTTI_OK;
    struct tt_ssb *ssb = tt_arena_alloc(parts->arena, sizeof *ssb);
    if (!ssb)
        return tt_fail_memory();
    dictionary->inline_entries = ssb;
    return tt_ssb_parse(parts, top, ssb);
}

enum tutti_err tt_ssd_read_dictionaries(struct tt_ssp_reader *parts, const struct tt_tree_node *node,
                                        struct tt_ssp_element *system)
{
    static const struct tt_shape_word none[] = {{NULL, false}};
    static const struct tt_shape_child children[] = {{"SignalDictionary", TUTTI_SPACE_SSD, TUTTI_SHAPE_MANY, false},
                                                     {NULL, TUTTI_SPACE_SSD, TUTTI_SHAPE_ONE, false}};
    static const struct tt_shape shape = {none, children};
    const struct tt_tree_node *list = tt_ssp_reader_find_child(node, "SignalDictionaries");
    if (!list)
        return TUTTI_OK;
    TRY(tt_ssp_reader_check(parts, list, &shape));
    struct tt_ssp_dictionary *dictionary;
    TRY(tt_ssp_reader_new_array(parts, list, "SignalDictionary", sizeof *dictionary, &dictionary,
                                &system->dictionary_count));
    system->dictionaries = dictionary;
    struct tt_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (const struct tt_tree_node *child = tt_ssp_reader_find_child(list, "SignalDictionary");
         child && err == TUTTI_OK; child = tt_ssp_reader_find_next(child, "SignalDictionary"))
        err = ssd_read_dictionary(parts, child, &names, dictionary++);
    tt_map_fini(&names);
    return err;
}
