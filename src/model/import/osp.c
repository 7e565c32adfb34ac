/* SPDX-License-Identifier: MIT */
/* OspSystemStructure.xml and OspModelDescription.xml, version 0.1, of the Open Simulation Platform. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/import/import.h"
#include "model/ssp/tree.h"

enum { MOST_TERMS = 100000 };

struct osp {
    struct tt_import *assembly;
    struct tt_findings *findings;
};

static const char *osp_copy_text(struct osp *osp, const char *text)
{
    return tt_arena_copy_text(&osp->assembly->arena, text, strlen(text));
}

static enum tutti_err osp_require_attribute(const struct osp *osp, const struct tt_tree_node *node, const char *name,
                                            const char **value)
{
    *value = tt_tree_find_attribute(node, name);
    return *value ? TUTTI_OK
                  : tt_import_fail(osp->assembly, node->line, "<%s> has no attribute '%s'",
                                   tt_text_excerpt(node->local).text, name);
}

static enum tutti_err osp_read_number(const struct osp *osp, const struct tt_tree_node *node, const char *text,
                                      double *value)
{
    if (tt_number_read_double(text, strlen(text), value) && isfinite(*value))
        return TUTTI_OK;
    return tt_import_fail(osp->assembly, node->line, "found '%s' in <%s>, expected a number",
                          tt_text_excerpt(text).text, tt_text_excerpt(node->local).text);
}

/* An attribute that may be missing: *value stays then. */
static enum tutti_err osp_read_attribute(const struct osp *osp, const struct tt_tree_node *node, const char *name,
                                         double *value)
{
    const char *text = tt_tree_find_attribute(node, name);
    return text ? osp_read_number(osp, node, text, value) : TUTTI_OK;
}

static enum tutti_err osp_read_count(const struct osp *osp, const struct tt_tree_node *node, const char *name,
                                     unsigned *count)
{
    const char *text;
    uint64_t value;
    TRY(osp_require_attribute(osp, node, name, &text));
    if (!tt_number_read_uint(text, strlen(text), &value) || value < 1 || value > MOST_TERMS)
        return tt_import_fail(osp->assembly, node->line, "%s=\"%s\" is no number from 1 to %d", name,
                              tt_text_excerpt(text).text, MOST_TERMS);
    *count = (unsigned)value;
    return TUTTI_OK;
}

static const struct tt_tree_node *osp_first_child(const struct tt_tree_node *node, const char *local)
{
    return tt_tree_find_child(node, TUTTI_SPACE_FOREIGN, local);
}

static const struct tt_tree_node *osp_next_sibling(const struct tt_tree_node *node, const char *local)
{
    return tt_tree_find_next(node, TUTTI_SPACE_FOREIGN, local);
}

/* ---- simulators ---- */

/* <Real value="2.2"/>, and others like it. */
static enum tutti_err osp_read_value(struct osp *osp, const char *unit, const struct tt_tree_node *node)
{
    const char *variable, *text;
    const struct tt_tree_node *typed = node->first;
    TRY(osp_require_attribute(osp, node, "variable", &variable));
    while (typed && typed->text)
        typed = typed->next;
    if (!typed)
        return tt_import_fail(osp->assembly, node->line, "the initial value of '%s' is missing",
                              tt_text_excerpt(variable).text);
    TRY(osp_require_attribute(osp, typed, "value", &text));
    struct tt_import_value *value = tt_import_add_value(osp->assembly);
    if (!value)
        return tt_fail_memory();
    *value = (struct tt_import_value){unit, osp_copy_text(osp, variable), osp_copy_text(osp, text), node->line};
    return value->variable && value->value ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err osp_read_simulator(struct osp *osp, const struct tt_tree_node *node)
{
    const char *name, *source;
    TRY(osp_require_attribute(osp, node, "name", &name));
    TRY(osp_require_attribute(osp, node, "source", &source));
    struct tt_import_component *unit = tt_import_add_component(osp->assembly);
    if (!unit)
        return tt_fail_memory();
    *unit = (struct tt_import_component){
        .name = osp_copy_text(osp, name), .source = osp_copy_text(osp, source), .line = node->line};
    if (!unit->name || !unit->source)
        return tt_fail_memory();
    TRY(osp_read_attribute(osp, node, "stepSize", &unit->step));
    if (!(unit->step >= 0))
        return tt_import_fail(osp->assembly, node->line, "the step size of '%s' is not greater than 0",
                              tt_text_excerpt(name).text);
    const char *kept = unit->name;
    const struct tt_tree_node *values = osp_first_child(node, "InitialValues");
    for (const struct tt_tree_node *v = values ? osp_first_child(values, "InitialValue") : NULL; v;
         v = osp_next_sibling(v, "InitialValue"))
        TRY(osp_read_value(osp, kept, v));
    return TUTTI_OK;
}

/* ---- functions ---- */

static enum tutti_err osp_read_function(struct osp *osp, const struct tt_tree_node *node)
{
    bool linear = strcmp(node->local, "LinearTransformation") == 0, sum = strcmp(node->local, "Sum") == 0;
    bool vectors = strcmp(node->local, "VectorSum") == 0;
    const char *name;
    if (!linear && !sum && !vectors)
        return tt_import_fail(osp->assembly, node->line,
                              "found the function <%s>, expected LinearTransformation, Sum or VectorSum",
                              tt_text_excerpt(node->local).text);
    TRY(osp_require_attribute(osp, node, "name", &name));
    struct tt_import_function *function = tt_import_add_function(osp->assembly);
    if (!function)
        return tt_fail_memory();
    *function = (struct tt_import_function){
        .name = osp_copy_text(osp, name), .sums = !linear, .factor = 1, .terms = 1, .line = node->line};
    if (!function->name)
        return tt_fail_memory();
    if (linear) {
        TRY(osp_read_attribute(osp, node, "factor", &function->factor));
        return osp_read_attribute(osp, node, "offset", &function->offset);
    }
    TRY(osp_read_count(osp, node, "inputCount", &function->terms));
    if (vectors)
        TRY(osp_read_count(osp, node, "dimension", &function->dimension));
    return (uint64_t)function->terms * (function->dimension + 1) <= MOST_TERMS
               ? TUTTI_OK
               : tt_import_fail(osp->assembly, node->line, "the function has more than %d signals", MOST_TERMS);
}

/* ---- connections ---- */

static enum tutti_err osp_read_end(struct osp *osp, const struct tt_tree_node *node, struct tt_import_end *end)
{
    end->function = strncmp(node->local, "Signal", 6) == 0;
    const char *owner, *name;
    TRY(osp_require_attribute(osp, node, end->function ? "function" : "simulator", &owner));
    TRY(osp_require_attribute(osp, node, "name", &name));
    end->owner = osp_copy_text(osp, owner);
    end->name = osp_copy_text(osp, name);
    return end->owner && end->name ? TUTTI_OK : tt_fail_memory();
}

/* VariableConnection, SignalConnection, VariableGroupConnection, SignalGroupConnection: two ends, whatever their order. */
static enum tutti_err osp_read_connection(struct osp *osp, const struct tt_tree_node *node)
{
    struct tt_import_connection link = {
        .groups = strstr(node->local, "Group") != NULL, .factor = 1, .line = node->line};
    unsigned count = 0;
    for (const struct tt_tree_node *end = node->first; end; end = end->next) {
        if (end->text)
            continue;
        if (count == 2)
            return tt_import_fail(osp->assembly, node->line, "a connection has more than two ends");
        TRY(osp_read_end(osp, end, &link.ends[count++]));
    }
    if (count < 2)
        return tt_import_fail(osp->assembly, node->line, "a connection has fewer than two ends");
    struct tt_import_connection *place = tt_import_add_connection(osp->assembly);
    if (!place)
        return tt_fail_memory();
    *place = link;
    return TUTTI_OK;
}

/* ---- the document ---- */

static enum tutti_err osp_read_time(struct osp *osp, const struct tt_tree_node *top, const char *local, bool *has,
                                    double *value)
{
    const struct tt_tree_node *node = osp_first_child(top, local);
    *has = node && node->first && node->first->text;
    return *has ? osp_read_number(osp, node, node->first->text, value) : TUTTI_OK;
}

static enum tutti_err osp_read_root(struct osp *osp, const struct tt_tree_node *top)
{
    static const char *const fixed_step[][2] = {
        {"coupling", "jacobi"}, {"control", "fixed"}, {"extrapolate", "0"}, {"events", "none"}};
    struct tt_import *assembly = osp->assembly;
    const struct tt_tree_node *algorithm = osp_first_child(top, "Algorithm");
    bool has_step;
    double step;
    TRY(osp_read_time(osp, top, "StartTime", &assembly->has_start, &assembly->start));
    TRY(osp_read_time(osp, top, "EndTime", &assembly->has_stop, &assembly->stop));
    TRY(osp_read_time(osp, top, "BaseStepSize", &has_step, &step));
    if (has_step && !(step > 0))
        return tt_import_fail(assembly, top->line, "BaseStepSize is not greater than 0");
    if (has_step)
        TRY(tt_import_set_number(assembly, "step", step, top->line));
    const char *text = algorithm && algorithm->first && algorithm->first->text ? algorithm->first->text : "fixedStep";
    if (strcmp(text, "fixedStep") == 0) /* all units at once, inputs held, and nothing ends a step */
        for (size_t i = 0; i < sizeof fixed_step / sizeof *fixed_step; i++)
            TRY(tt_import_set(assembly, fixed_step[i][0], fixed_step[i][1], top->line));
    else
        tt_findings_add(osp->findings, TUTTI_FINDING_WARNING, assembly->file, algorithm->line,
                        "the algorithm '%s' is not known; Tutti chooses one (--coupling, --control)",
                        tt_text_excerpt(text).text);
    return TUTTI_OK;
}

static enum tutti_err osp_read_lists(struct osp *osp, const struct tt_tree_node *top)
{
    const struct tt_tree_node *simulators = osp_first_child(top, "Simulators"),
                              *functions = osp_first_child(top, "Functions");
    const struct tt_tree_node *connections = osp_first_child(top, "Connections");
    if (!simulators)
        return tt_import_fail(osp->assembly, top->line, "<Simulators> is missing");
    for (const struct tt_tree_node *s = osp_first_child(simulators, "Simulator"); s;
         s = osp_next_sibling(s, "Simulator"))
        TRY(osp_read_simulator(osp, s));
    for (const struct tt_tree_node *f = functions ? functions->first : NULL; f; f = f->next)
        if (!f->text)
            TRY(osp_read_function(osp, f));
    for (const struct tt_tree_node *c = connections ? connections->first : NULL; c; c = c->next)
        if (!c->text)
            TRY(osp_read_connection(osp, c));
    return TUTTI_OK;
}

enum tutti_err tt_osp_read(struct tt_import *assembly, struct tt_byte_source *reader, struct tt_findings *findings)
{
    struct osp osp = {assembly, findings};
    struct tt_tree *tree;
    TRY(tt_tree_read(&tree, assembly->file, reader));
    const struct tt_tree_node *top = tree->root;
    enum tutti_err err = strcmp(top->local, "OspSystemStructure") == 0
                             ? osp_read_root(&osp, top)
                             : tt_import_fail(assembly, top->line, "found <%s>, expected <OspSystemStructure>",
                                              tt_text_excerpt(top->local).text);
    if (err == TUTTI_OK)
        err = osp_read_lists(&osp, top);
    tt_tree_free(tree);
    return err;
}

/* ---- groups ---- */

/* The element with this name; groups lie in groups. */
static const struct tt_tree_node *osp_find_group(const struct tt_tree_node *node, const char *name)
{
    for (const struct tt_tree_node *c = node->first; c; c = c->next) {
        const char *own = c->text ? NULL : tt_tree_find_attribute(c, "name");
        const struct tt_tree_node *found = own && strcmp(own, name) == 0 ? c : c->text ? NULL : osp_find_group(c, name);
        if (found)
            return found;
    }
    return NULL;
}

static size_t osp_list_variables(const struct tt_tree_node *node, struct tt_arena *arena, const char **names)
{
    size_t count = 0;
    for (const struct tt_tree_node *c = node->first; c; c = c->next) {
        const char *ref = c->text ? NULL : tt_tree_find_attribute(c, "ref");
        if (ref && strcmp(c->local, "Variable") == 0) {
            if (names)
                names[count] = tt_arena_copy_text(arena, ref, strlen(ref));
            count++;
        } else if (!c->text) {
            count += osp_list_variables(c, arena, names ? names + count : NULL);
        }
    }
    return count;
}

enum tutti_err tt_osp_read_group(const char *file, struct tt_byte_source *reader, const char *name,
                                 struct tt_arena *arena, struct tt_import_group *group, bool *found)
{
    struct tt_tree *tree;
    *group = (struct tt_import_group){0};
    TRY(tt_tree_read(&tree, file, reader));
    const struct tt_tree_node *groups = osp_first_child(tree->root, "VariableGroups");
    const struct tt_tree_node *node = groups ? osp_find_group(groups, name) : NULL;
    *found = node != NULL;
    enum tutti_err err = TUTTI_OK;
    if (node) {
        group->count = osp_list_variables(node, arena, NULL);
        group->variables = tt_arena_array(arena, group->count + 1, sizeof *group->variables);
        err = group->variables ? TUTTI_OK : tt_fail_memory();
    }
    if (node && err == TUTTI_OK) {
        osp_list_variables(node, arena, group->variables);
        for (size_t i = 0; i < group->count; i++)
            err = group->variables[i] ? err : tt_fail_memory();
    }
    tt_tree_free(tree);
    return err;
}
