/* SPDX-License-Identifier: MIT */
/* Changes to a document that others wrote. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "system/scaled.h"
#include "system/write_parts.h"

struct editor {
    const struct tutti_write *write;
    struct tutti_ssd *ssd;
    struct tutti_maker maker;
};

/* What a name means in the document. */
struct meaning {
    const struct tutti_ssp_element *owner, *parent; /* parent: the system that has it as an element; NULL: the root */
    const char *connector;
    const struct tutti_ssp_connector *declared; /* NULL: the document has no connector for it */
    const struct tutti_component *component;    /* NULL: it is no variable of an FMU */
    uint32_t variable;
    struct tutti_indices element;
};

/* ---- names ---- */

static const struct tutti_ssp_connector *connector_of(const struct tutti_ssp_element *element, const char *name)
{
    for (size_t i = 0; i < element->connector_count; i++)
        if (strcmp(element->connectors[i].name, name) == 0)
            return &element->connectors[i];
    return NULL;
}

/* Is `name` a variable of the FMU that is this element, whose path is the first `length` bytes of it? */
static bool find_variable(const struct tutti_system *system, const char *name, size_t length, struct meaning *meaning)
{
    uint32_t component;
    if (tutti_system_find(system, name, "", &component, &meaning->variable, &meaning->element) != TUTTI_OK)
        return false;
    const struct tutti_component *found = &system->components[component];
    if (strlen(found->name) != length || strncmp(found->name, name, length) != 0)
        return false;
    meaning->component = found;
    meaning->connector = found->fmu->desc->vars[meaning->variable].name;
    return true;
}

/* Looks for name + offset in an element and all that are in it. */
static bool find_in(const struct tutti_system *system, const struct tutti_ssp_element *element, const char *name,
                    size_t offset, struct meaning *meaning)
{
    meaning->owner = element;
    if (element->kind == TUTTI_SSP_COMPONENT && offset > 0 && find_variable(system, name, offset - 1, meaning)) {
        meaning->declared = connector_of(element, meaning->connector);
        return true;
    }
    meaning->declared = connector_of(element, name + offset);
    if (meaning->declared) {
        meaning->connector = meaning->declared->name;
        return true;
    }
    for (size_t i = 0; i < element->element_count; i++) {
        const struct tutti_ssp_element *child = &element->elements[i];
        size_t n = strlen(child->name);
        if (strncmp(name + offset, child->name, n) != 0 || name[offset + n] != '.')
            continue;
        meaning->parent = element;
        if (find_in(system, child, name, offset + n + 1, meaning))
            return true;
    }
    return false;
}

static bool find(const struct editor *editor, const char *name, struct meaning *meaning)
{
    *meaning = (struct meaning){0};
    return find_in(editor->write->system, &editor->ssd->system, name, 0, meaning);
}

static const struct tutti_ssp_element *find_element(const struct tutti_ssp_element *system, const char *path)
{
    for (size_t i = 0; i < system->element_count; i++) {
        const struct tutti_ssp_element *child = &system->elements[i], *found;
        size_t n = strlen(child->name);
        if (strncmp(path, child->name, n) != 0)
            continue;
        if (path[n] == '\0')
            return child;
        if (path[n] == '.' && (found = find_element(child, path + n + 1)))
            return found;
    }
    return NULL;
}

static enum tutti_err fail_elsewhere(const struct editor *editor, const char *option, const char *text,
                                     const char *way_out)
{
    return tutti_fail(TUTTI_ERR_ARGUMENT, "%s %s: that is not in %s itself, but in a file that it refers to; %s",
                      option, tutti_str_show(text).text, editor->ssd->tree->file, way_out);
}

/* What follows has no words in SSP 1.0. */
static void need_2(struct tutti_maker *maker, struct tutti_node *node)
{
    const char *version = tutti_node_attribute(node, "version");
    if (!version || strncmp(version, "2", 1) != 0)
        tutti_make_set(maker, node, "version", "2.0");
}

/* ---- values ---- */

/* The list of parameters of the binding that was made for --set, which is the last one of the root system; or a new one.
 * *set is its parameter set. */
static struct tutti_node *own_parameters(struct editor *editor, struct tutti_node **set)
{
    struct tutti_maker *maker = &editor->maker;
    struct tutti_node *bindings =
        tutti_make_once(maker, editor->ssd->system.node, TUTTI_SPACE_SSD, "ParameterBindings");
    struct tutti_node *last = bindings->last;
    struct tutti_node *values = last && !last->text ? tutti_node_child(last, TUTTI_SPACE_SSD, "ParameterValues") : NULL;
    struct tutti_node *found = values ? tutti_node_child(values, TUTTI_SPACE_SSV, "ParameterSet") : NULL;
    const char *name = found ? tutti_node_attribute(found, "name") : NULL;
    struct tutti_node *list = found ? tutti_node_child(found, TUTTI_SPACE_SSV, "Parameters") : NULL;
    bool own = name && list && strcmp(name, tutti_write_set_name) == 0 && last->attribute_count == 0 &&
               values->next == NULL;
    list = own ? list : tutti_write_binding(maker, bindings, "1.0");
    *set = list->parent ? list->parent : list; /* a spare element has no parent */
    return list;
}

static void remove_parameter(struct tutti_node *parameters, const char *name)
{
    struct tutti_node *next;
    for (struct tutti_node *node = parameters->first; node; node = next) {
        next = node->next;
        const char *given = node->text ? NULL : tutti_node_attribute(node, "name");
        if (given && strcmp(given, name) == 0)
            tutti_node_remove(node);
    }
}

/* The type that a text looks like, for a connector that does not say what it is. */
static const char *guess_type(const char *text)
{
    double number;
    if (tutti_number_read_double(text, strlen(text), &number))
        return "Real";
    return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ? "Boolean" : "String";
}

/* A value as it was given: in the unit of the connector, as everything that names no unit. */
static enum tutti_err write_text(struct editor *editor, struct tutti_node *parameters, const char *name,
                                 const char *type, const char *text)
{
    struct tutti_maker *maker = &editor->maker;
    double number;
    TRY(tutti_write_check(name, "the name"));
    TRY(tutti_write_check(text, "the value"));
    struct tutti_node *parameter = tutti_make(maker, parameters, TUTTI_SPACE_SSV, "Parameter");
    tutti_make_set(maker, parameter, "name", name);
    struct tutti_node *node = tutti_make(maker, parameter, TUTTI_SPACE_SSV, type);
    if ((strcmp(type, "Real") == 0 || strcmp(type, "Float64") == 0) &&
        tutti_number_read_double(text, strlen(text), &number))
        tutti_make_number(maker, node, "value", number);
    else
        tutti_make_set(maker, node, "value", text);
    return TUTTI_OK;
}

static enum tutti_err set_variable(struct editor *editor, const struct meaning *meaning, const char *name,
                                   const char *text)
{
    const struct tutti_desc *desc = meaning->component->fmu->desc;
    const struct tutti_var *var = &desc->vars[meaning->variable];
    struct tutti_node *set, *parameters = own_parameters(editor, &set);
    if (tutti_write_value_needs_2(var))
        need_2(&editor->maker, set);
    const char *version = tutti_node_attribute(set, "version");
    bool version_2 = version && version[0] == '2';
    remove_parameter(parameters, name);
    if (var->type == TUTTI_TYPE_FLOAT64 && var->dimension_count == 0)
        return write_text(editor, parameters, name, tutti_write_type(desc, var, version_2), text);
    TRY(tutti_write_check(name, "the name"));
    return tutti_write_parameter(&editor->maker, parameters, name, meaning->component, meaning->variable, version_2);
}

static enum tutti_err set_connector(struct editor *editor, const struct meaning *meaning, const char *name,
                                    const char *text)
{
    const struct tutti_ssp_type *type = &meaning->declared->type;
    struct tutti_node *set, *parameters = own_parameters(editor, &set);
    const char *word = !type->given ? guess_type(text) : tutti_type_name(type->type);
    if (type->given && type->loose)
        word = type->type == TUTTI_TYPE_FLOAT64 ? "Real" : "Integer";
    else if (type->given && type->type <= TUTTI_TYPE_UINT64)
        need_2(&editor->maker, set);
    if (meaning->declared->dimension_count > 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--set %s: an array of the system itself; set those of the FMUs that it leads to", name);
    remove_parameter(parameters, name);
    return write_text(editor, parameters, name, word, text);
}

/* "A.x=1": the name ends at the first '=' before which it means something, as when it was loaded. */
static enum tutti_err set_one(struct editor *editor, const char *text)
{
    struct meaning meaning;
    for (const char *equals = strchr(text, '='); equals; equals = strchr(equals + 1, '=')) {
        char *name = strndup(text, (size_t)(equals - text));
        uint32_t component = 0;
        enum tutti_err err = TUTTI_OK;
        if (!name)
            return tutti_fail_memory();
        bool found = tutti_system_find(editor->write->system, name, "--set", &component, &meaning.variable,
                                       &meaning.element) == TUTTI_OK;
        if (found) {
            meaning.component = &editor->write->system->components[component];
            if (meaning.element.count > 0) /* the parameter is the whole array */
                *strrchr(name, '[') = '\0';
            err = set_variable(editor, &meaning, name, equals + 1);
        } else if ((found = find(editor, name, &meaning) && meaning.declared)) {
            err = set_connector(editor, &meaning, name, equals + 1);
        }
        free(name);
        if (found || err)
            return err;
    }
    return fail_elsewhere(editor, "--set", text, "set a variable of an FMU, or change that file");
}

/* ---- connections ---- */

static void declare_connector(struct editor *editor, const struct meaning *end)
{
    struct tutti_maker *maker = &editor->maker;
    if (end->declared)
        return;
    struct tutti_node *connectors = tutti_make_once(maker, end->owner->node, TUTTI_SPACE_SSD, "Connectors");
    for (const struct tutti_node *node = connectors->first; node; node = node->next) {
        const char *name = node->text ? NULL : tutti_node_attribute(node, "name");
        if (name && strcmp(name, end->connector) == 0)
            return; /* made by an option before */
    }
    const struct tutti_desc *desc = end->component->fmu->desc;
    const struct tutti_var *var = &desc->vars[end->variable];
    if (tutti_write_connector_needs_2(var))
        need_2(maker, editor->ssd->tree->root);
    const char *version = tutti_node_attribute(editor->ssd->tree->root, "version");
    tutti_write_connector(maker, connectors, desc, var, version && version[0] == '2', NULL);
}

static void write_end(struct editor *editor, struct tutti_node *node, const struct meaning *end,
                      const struct tutti_ssp_element *system, const char *const names[3])
{
    struct tutti_maker *maker = &editor->maker;
    if (end->owner != system)
        tutti_make_set(maker, node, names[0], end->owner->name);
    tutti_make_set(maker, node, names[1], end->connector);
    struct tutti_text indices = {0};
    for (unsigned i = 0; i < end->element.count; i++)
        tutti_text_printf(&indices, "%s%llu", i ? " " : "", (unsigned long long)end->element.index[i]);
    if (indices.length > 0) {
        need_2(maker, editor->ssd->tree->root);
        tutti_make_set(maker, node, names[2], indices.text);
    }
    maker->failed |= indices.failed;
    tutti_text_fini(&indices);
}

/* Connections join elements of one system, or one of them with the system itself. */
static const struct tutti_ssp_element *common_system(const struct meaning *a, const struct meaning *b)
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
static enum tutti_err find_source(struct editor *editor, const char *text, size_t length, struct meaning *from,
                                  struct tutti_scaled *scaled, bool *found)
{
    *scaled = tutti_scaled_all(length);
    do {
        char *name = strndup(text, scaled->length);
        if (!name)
            return tutti_fail_memory();
        *found = find(editor, name, from);
        free(name);
    } while (!*found && tutti_scaled_next(text, length, scaled));
    return TUTTI_OK;
}

static enum tutti_err connect_one(struct editor *editor, const char *text)
{
    static const char *const start[] = {"startElement", "startConnector", "startIndices"};
    static const char *const stop[] = {"endElement", "endConnector", "endIndices"};
    struct meaning from, to;
    struct tutti_scaled scaled;
    bool found = false;
    for (const char *equals = strchr(text, '='); equals && !found; equals = strchr(equals + 1, '=')) {
        TRY(find_source(editor, text, (size_t)(equals - text), &from, &scaled, &found));
        found = found && find(editor, equals + 1, &to);
    }
    const struct tutti_ssp_element *system = found ? common_system(&from, &to) : NULL;
    if (!found)
        return fail_elsewhere(editor, "--connect", text, "change that file, or use connectors of this one");
    if (!system)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--connect %s: the two are not in the same system of %s; lead the signal through a connector "
                          "of the inner system",
                          tutti_str_show(text).text, editor->ssd->tree->file);
    declare_connector(editor, &from);
    declare_connector(editor, &to);
    struct tutti_node *list = tutti_make_once(&editor->maker, system->node, TUTTI_SPACE_SSD, "Connections");
    struct tutti_node *node = tutti_make(&editor->maker, list, TUTTI_SPACE_SSD, "Connection");
    write_end(editor, node, &from, system, start);
    write_end(editor, node, &to, system, stop);
    tutti_write_scale(&editor->maker, node, scaled.factor, scaled.offset);
    return TUTTI_OK;
}

/* ---- all ---- */

static enum tutti_err change(struct editor *editor)
{
    const struct tutti_write *write = editor->write;
    for (size_t i = 0; i < write->connect_count; i++)
        TRY(connect_one(editor, write->connect[i]));
    for (size_t i = 0; i < write->set_count; i++)
        TRY(set_one(editor, write->set[i]));
    for (size_t i = 0; i < write->unit_word_count; i++) {
        const struct tutti_write_word *word = &write->unit_words[i];
        const char *name = write->system->components[word->component].name;
        const struct tutti_ssp_element *element = find_element(&editor->ssd->system, name);
        if (!element || element->kind != TUTTI_SSP_COMPONENT)
            return fail_elsewhere(editor, word->option, name, "say it there, or when it is run");
        tutti_make_set(&editor->maker, tutti_make_settings(&editor->maker, element->node), word->name, word->value);
    }
    tutti_write_experiment(&editor->maker, editor->ssd->tree->root, write);
    return editor->maker.failed ? tutti_fail_memory() : TUTTI_OK;
}

enum tutti_err tutti_write_changes(struct tutti_ssd *ssd, const struct tutti_write *write)
{
    struct editor editor = {.write = write, .ssd = ssd, .maker = {.tree = ssd->tree}};
    return change(&editor);
}
