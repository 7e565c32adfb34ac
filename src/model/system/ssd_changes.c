/* SPDX-License-Identifier: MIT */
/* Changes to a document that others wrote. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/system/command_line.h"
#include "model/system/ssp_elements.h"

struct ssd_editor {
    const struct tt_ssd_writer_options *write;
    struct tt_ssd *ssd;
    struct tt_editor maker;
};

struct name_target {
    const struct tt_ssp_element *owner, *parent; /* parent: the system that has it as an element; NULL: the root */
    const char *connector;
    const struct tt_ssp_connector *declared; /* NULL: the document has no connector for it */
    const struct tt_component *component;    /* NULL: not a variable of an FMU */
    uint32_t variable;
    struct tt_indices element;
};

/* ---- names ---- */

static const struct tt_ssp_connector *ssd_changes_connector_of(const struct tt_ssp_element *element, const char *name)
{
    for (size_t i = 0; i < element->connector_count; i++)
        if (strcmp(element->connectors[i].name, name) == 0)
            return &element->connectors[i];
    return NULL;
}

/* Returns true if `name` is a variable of the FMU of this element, whose path is the first `length` bytes of it. */
static bool ssd_changes_find_variable(const struct tt_system *system, const char *name, size_t length,
                                      struct name_target *meaning)
{
    uint32_t component;
    if (tt_system_find(system, name, "", &component, &meaning->variable, &meaning->element) != TUTTI_OK)
        return false;
    const struct tt_component *found = &system->components[component];
    if (strlen(found->name) != length || strncmp(found->name, name, length) != 0)
        return false;
    meaning->component = found;
    meaning->connector = found->fmu->desc->vars[meaning->variable].name;
    return true;
}

/* Looks for name + offset in an element and all that are in it. */
static bool ssd_changes_find_in(const struct tt_system *system, const struct tt_ssp_element *element, const char *name,
                                size_t offset, struct name_target *meaning)
{
    meaning->owner = element;
    if (element->kind == TUTTI_SSP_COMPONENT && offset > 0 &&
        ssd_changes_find_variable(system, name, offset - 1, meaning)) {
        meaning->declared = ssd_changes_connector_of(element, meaning->connector);
        return true;
    }
    meaning->declared = ssd_changes_connector_of(element, name + offset);
    if (meaning->declared) {
        meaning->connector = meaning->declared->name;
        return true;
    }
    for (size_t i = 0; i < element->element_count; i++) {
        const struct tt_ssp_element *child = &element->elements[i];
        size_t n = strlen(child->name);
        if (strncmp(name + offset, child->name, n) != 0 || name[offset + n] != '.')
            continue;
        meaning->parent = element;
        if (ssd_changes_find_in(system, child, name, offset + n + 1, meaning))
            return true;
    }
    return false;
}

static bool ssd_changes_find(const struct ssd_editor *editor, const char *name, struct name_target *meaning)
{
    *meaning = (struct name_target){0};
    return ssd_changes_find_in(editor->write->system, &editor->ssd->system, name, 0, meaning);
}

static const struct tt_ssp_element *ssd_changes_find_element(const struct tt_ssp_element *system, const char *path)
{
    for (size_t i = 0; i < system->element_count; i++) {
        const struct tt_ssp_element *child = &system->elements[i], *found;
        size_t n = strlen(child->name);
        if (strncmp(path, child->name, n) != 0)
            continue;
        if (path[n] == '\0')
            return child;
        if (path[n] == '.' && (found = ssd_changes_find_element(child, path + n + 1)))
            return found;
    }
    return NULL;
}

static enum tutti_err ssd_changes_fail_elsewhere(const struct ssd_editor *editor, const char *option, const char *text,
                                                 const char *way_out)
{
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s %s: that is not in %s itself, but in a file that it refers to; %s", option,
                   tt_text_excerpt(text).text, editor->ssd->tree->file, way_out);
}

/* The following content cannot be expressed in SSP 1.0. */
static void ssd_changes_require_2(struct tt_editor *maker, struct tt_tree_node *node)
{
    const char *version = tt_tree_find_attribute(node, "version");
    if (!version || strncmp(version, "2", 1) != 0)
        tt_edit_set(maker, node, "version", "2.0");
}

/* ---- values ---- */

/* The list of parameters of the binding that was made for --set, which is the last one of the root system; or a new one.
 * *set is its parameter set. */
static struct tt_tree_node *ssd_changes_own_parameters(struct ssd_editor *editor, struct tt_tree_node **set)
{
    struct tt_editor *maker = &editor->maker;
    struct tt_tree_node *bindings =
        tt_edit_add_once(maker, editor->ssd->system.node, TUTTI_SPACE_SSD, "ParameterBindings");
    struct tt_tree_node *last = bindings->last;
    struct tt_tree_node *values = last && !last->text ? tt_tree_find_child(last, TUTTI_SPACE_SSD, "ParameterValues")
                                                      : NULL;
    struct tt_tree_node *found = values ? tt_tree_find_child(values, TUTTI_SPACE_SSV, "ParameterSet") : NULL;
    const char *name = found ? tt_tree_find_attribute(found, "name") : NULL;
    struct tt_tree_node *list = found ? tt_tree_find_child(found, TUTTI_SPACE_SSV, "Parameters") : NULL;
    bool own = name && list && strcmp(name, tt_ssp_elements_set_name) == 0 && last->attribute_count == 0 &&
               values->next == NULL;
    list = own ? list : tt_ssp_elements_write_binding(maker, bindings, "1.0");
    *set = list->parent ? list->parent : list; /* a spare element has no parent */
    return list;
}

static void ssd_changes_remove_parameter(struct tt_tree_node *parameters, const char *name)
{
    struct tt_tree_node *next;
    for (struct tt_tree_node *node = parameters->first; node; node = next) {
        next = node->next;
        const char *given = node->text ? NULL : tt_tree_find_attribute(node, "name");
        if (given && strcmp(given, name) == 0)
            tt_tree_remove_node(node);
    }
}

/* The type that a text looks like, for a connector that does not say what it is. */
static const char *guess_type(const char *text)
{
    double number;
    if (tt_number_read_double(text, strlen(text), &number))
        return "Real";
    return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ? "Boolean" : "String";
}

/* A value as it was given: in the unit of the connector, as everything that names no unit. */
static enum tutti_err ssd_changes_write_text(struct ssd_editor *editor, struct tt_tree_node *parameters,
                                             const char *name, const char *type, const char *text)
{
    struct tt_editor *maker = &editor->maker;
    double number;
    TRY(tt_ssp_elements_check_text(name, "the name"));
    TRY(tt_ssp_elements_check_text(text, "the value"));
    struct tt_tree_node *parameter = tt_edit_add(maker, parameters, TUTTI_SPACE_SSV, "Parameter");
    tt_edit_set(maker, parameter, "name", name);
    struct tt_tree_node *node = tt_edit_add(maker, parameter, TUTTI_SPACE_SSV, type);
    if ((strcmp(type, "Real") == 0 || strcmp(type, "Float64") == 0) &&
        tt_number_read_double(text, strlen(text), &number))
        tt_edit_set_number(maker, node, "value", number);
    else
        tt_edit_set(maker, node, "value", text);
    return TUTTI_OK;
}

static enum tutti_err ssd_changes_set_variable(struct ssd_editor *editor, const struct name_target *meaning,
                                               const char *name, const char *text)
{
    const struct tt_description *desc = meaning->component->fmu->desc;
    const struct tt_var *var = &desc->vars[meaning->variable];
    struct tt_tree_node *set, *parameters = ssd_changes_own_parameters(editor, &set);
    if (tt_ssp_elements_value_needs_2(var))
        ssd_changes_require_2(&editor->maker, set);
    const char *version = tt_tree_find_attribute(set, "version");
    bool version_2 = version && version[0] == '2';
    ssd_changes_remove_parameter(parameters, name);
    if (var->type == TUTTI_TYPE_FLOAT64 && var->dimension_count == 0)
        return ssd_changes_write_text(editor, parameters, name, tt_ssp_elements_type_name(desc, var, version_2), text);
    TRY(tt_ssp_elements_check_text(name, "the name"));
    return tt_ssp_elements_write_parameter(&editor->maker, parameters, name, meaning->component, meaning->variable,
                                           version_2);
}

static enum tutti_err ssd_changes_set_connector(struct ssd_editor *editor, const struct name_target *meaning,
                                                const char *name, const char *text)
{
    const struct tt_ssp_type *type = &meaning->declared->type;
    struct tt_tree_node *set, *parameters = ssd_changes_own_parameters(editor, &set);
    const char *word = !type->given ? guess_type(text) : tt_type_name(type->type);
    if (type->given && type->loose)
        word = type->type == TUTTI_TYPE_FLOAT64 ? "Real" : "Integer";
    else if (type->given && type->type <= TUTTI_TYPE_UINT64)
        ssd_changes_require_2(&editor->maker, set);
    if (meaning->declared->dimension_count > 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--set %s: an array of the system itself; set those of the FMUs that it leads to", name);
    ssd_changes_remove_parameter(parameters, name);
    return ssd_changes_write_text(editor, parameters, name, word, text);
}

/* "A.x=1": the name ends at the first '=' before which it means something, as when it was loaded. */
static enum tutti_err ssd_changes_set(struct ssd_editor *editor, const char *text)
{
    struct name_target meaning;
    for (const char *equals = strchr(text, '='); equals; equals = strchr(equals + 1, '=')) {
        char *name = strndup(text, (size_t)(equals - text));
        uint32_t component = 0;
        enum tutti_err err = TUTTI_OK;
        if (!name)
            return tt_fail_memory();
        bool found = tt_system_find(editor->write->system, name, "--set", &component, &meaning.variable,
                                    &meaning.element) == TUTTI_OK;
        if (found) {
            meaning.component = &editor->write->system->components[component];
            if (meaning.element.count > 0) /* the parameter is the whole array */
                *strrchr(name, '[') = '\0';
            err = ssd_changes_set_variable(editor, &meaning, name, equals + 1);
        } else if ((found = ssd_changes_find(editor, name, &meaning) && meaning.declared)) {
            err = ssd_changes_set_connector(editor, &meaning, name, equals + 1);
        }
        free(name);
        if (found || err)
            return err;
    }
    return ssd_changes_fail_elsewhere(editor, "--set", text, "set a variable of an FMU, or change that file");
}

/* ---- connections ---- */

static void declare_connector(struct ssd_editor *editor, const struct name_target *end)
{
    struct tt_editor *maker = &editor->maker;
    if (end->declared)
        return;
    struct tt_tree_node *connectors = tt_edit_add_once(maker, end->owner->node, TUTTI_SPACE_SSD, "Connectors");
    for (const struct tt_tree_node *node = connectors->first; node; node = node->next) {
        const char *name = node->text ? NULL : tt_tree_find_attribute(node, "name");
        if (name && strcmp(name, end->connector) == 0)
            return; /* made by an option before */
    }
    const struct tt_description *desc = end->component->fmu->desc;
    const struct tt_var *var = &desc->vars[end->variable];
    if (tt_ssp_elements_connector_needs_2(var))
        ssd_changes_require_2(maker, editor->ssd->tree->root);
    const char *version = tt_tree_find_attribute(editor->ssd->tree->root, "version");
    tt_ssp_elements_write_connector(maker, connectors, desc, var, version && version[0] == '2', NULL);
}

static void ssd_changes_write_end(struct ssd_editor *editor, struct tt_tree_node *node, const struct name_target *end,
                                  const struct tt_ssp_element *system, const char *const names[3])
{
    struct tt_editor *maker = &editor->maker;
    if (end->owner != system)
        tt_edit_set(maker, node, names[0], end->owner->name);
    tt_edit_set(maker, node, names[1], end->connector);
    struct tt_text indices = {0};
    for (unsigned i = 0; i < end->element.count; i++)
        tt_text_printf(&indices, "%s%llu", i ? " " : "", (unsigned long long)end->element.index[i]);
    if (indices.length > 0) {
        ssd_changes_require_2(maker, editor->ssd->tree->root);
        tt_edit_set(maker, node, names[2], indices.text);
    }
    maker->failed |= indices.failed;
    tt_text_fini(&indices);
}

/* Connections join elements of one system, or one of them with the system itself. */
static const struct tt_ssp_element *ssd_changes_common_system(const struct name_target *a, const struct name_target *b)
{
    if (a->parent && a->parent == b->parent)
        return a->parent;
    if (a->parent == b->owner)
        return b->owner;
    if (b->parent == a->owner)
        return a->owner;
    return a->owner == b->owner && a->owner->kind == TUTTI_SSP_SYSTEM ? a->owner : NULL;
}

/* "a.y" or "a.y*2+1". */
static enum tutti_err ssd_changes_find_source(struct ssd_editor *editor, const char *text, size_t length,
                                              struct name_target *from, struct tt_scaled_name *scaled, bool *found)
{
    *scaled = tt_command_line_unscaled(length);
    do {
        char *name = strndup(text, scaled->length);
        if (!name)
            return tt_fail_memory();
        *found = ssd_changes_find(editor, name, from);
        free(name);
    } while (!*found && tt_command_line_next_scaled(text, length, scaled));
    return TUTTI_OK;
}

static enum tutti_err ssd_changes_connect(struct ssd_editor *editor, const char *text)
{
    static const char *const start[] = {"startElement", "startConnector", "startIndices"};
    static const char *const stop[] = {"endElement", "endConnector", "endIndices"};
    struct name_target from, to;
    struct tt_scaled_name scaled;
    bool found = false;
    for (const char *equals = strchr(text, '='); equals && !found; equals = strchr(equals + 1, '=')) {
        TRY(ssd_changes_find_source(editor, text, (size_t)(equals - text), &from, &scaled, &found));
        found = found && ssd_changes_find(editor, equals + 1, &to);
    }
    const struct tt_ssp_element *system = found ? ssd_changes_common_system(&from, &to) : NULL;
    if (!found)
        return ssd_changes_fail_elsewhere(editor, "--connect", text, "change that file, or use connectors of this one");
    if (!system)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--connect %s: the two are not in the same system of %s; lead the signal through a connector "
                       "of the inner system",
                       tt_text_excerpt(text).text, editor->ssd->tree->file);
    declare_connector(editor, &from);
    declare_connector(editor, &to);
    struct tt_tree_node *list = tt_edit_add_once(&editor->maker, system->node, TUTTI_SPACE_SSD, "Connections");
    struct tt_tree_node *node = tt_edit_add(&editor->maker, list, TUTTI_SPACE_SSD, "Connection");
    ssd_changes_write_end(editor, node, &from, system, start);
    ssd_changes_write_end(editor, node, &to, system, stop);
    tt_ssd_writer_scale(&editor->maker, node, scaled.factor, scaled.offset);
    return TUTTI_OK;
}

/* ---- all ---- */

static enum tutti_err ssd_changes_edit(struct ssd_editor *editor)
{
    const struct tt_ssd_writer_options *write = editor->write;
    for (size_t i = 0; i < write->connect_count; i++)
        TRY(ssd_changes_connect(editor, write->connect[i]));
    for (size_t i = 0; i < write->set_count; i++)
        TRY(ssd_changes_set(editor, write->set[i]));
    for (size_t i = 0; i < write->unit_word_count; i++) {
        const struct tt_ssd_writer_setting *word = &write->unit_words[i];
        const char *name = write->system->components[word->component].name;
        const struct tt_ssp_element *element = ssd_changes_find_element(&editor->ssd->system, name);
        if (!element || element->kind != TUTTI_SSP_COMPONENT)
            return ssd_changes_fail_elsewhere(editor, word->option, name, "say it there, or when it is run");
        tt_edit_set(&editor->maker, tt_edit_add_settings(&editor->maker, element->node), word->name, word->value);
    }
    tt_ssd_writer_experiment(&editor->maker, editor->ssd->tree->root, write);
    return editor->maker.failed ? tt_fail_memory() : TUTTI_OK;
}

enum tutti_err tt_ssd_changes_apply(struct tt_ssd *ssd, const struct tt_ssd_writer_options *write)
{
    struct ssd_editor editor = {.write = write, .ssd = ssd, .maker = {.tree = ssd->tree}};
    return ssd_changes_edit(&editor);
}
