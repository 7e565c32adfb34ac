/* SPDX-License-Identifier: MIT */
/* OspSystemStructure.xml and OspModelDescription.xml, version 0.1, of the Open Simulation Platform. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "foreign/assembly.h"
#include "foreign/formats.h"
#include "ssp/tree.h"

enum { MOST_TERMS = 100000 };

struct osp {
    struct tutti_assembly *assembly;
    struct tutti_findings *findings;
};

static const char *keep(struct osp *osp, const char *text)
{
    return tutti_arena_text(&osp->assembly->arena, text, strlen(text));
}

static enum tutti_err need(const struct osp *osp, const struct tutti_node *node, const char *name, const char **value)
{
    *value = tutti_node_attribute(node, name);
    return *value ? TUTTI_OK
                  : tutti_assembly_fail(osp->assembly, node->line, "<%s> has no attribute '%s'",
                                        tutti_str_show(node->local).text, name);
}

static enum tutti_err read_number(const struct osp *osp, const struct tutti_node *node, const char *text, double *value)
{
    if (tutti_number_read_double(text, strlen(text), value) && isfinite(*value))
        return TUTTI_OK;
    return tutti_assembly_fail(osp->assembly, node->line, "found '%s' in <%s>, expected a number",
                               tutti_str_show(text).text, tutti_str_show(node->local).text);
}

/* An attribute that may be missing: *value stays then. */
static enum tutti_err read_attribute(const struct osp *osp, const struct tutti_node *node, const char *name,
                                     double *value)
{
    const char *text = tutti_node_attribute(node, name);
    return text ? read_number(osp, node, text, value) : TUTTI_OK;
}

static enum tutti_err read_count(const struct osp *osp, const struct tutti_node *node, const char *name,
                                 unsigned *count)
{
    const char *text;
    uint64_t value;
    TRY(need(osp, node, name, &text));
    if (!tutti_number_read_uint(text, strlen(text), &value) || value < 1 || value > MOST_TERMS)
        return tutti_assembly_fail(osp->assembly, node->line, "%s=\"%s\" is no number from 1 to %d", name,
                                   tutti_str_show(text).text, MOST_TERMS);
    *count = (unsigned)value;
    return TUTTI_OK;
}

static const struct tutti_node *child(const struct tutti_node *node, const char *local)
{
    return tutti_node_child(node, TUTTI_SPACE_FOREIGN, local);
}

static const struct tutti_node *next(const struct tutti_node *node, const char *local)
{
    return tutti_node_next(node, TUTTI_SPACE_FOREIGN, local);
}

/* ---- simulators ---- */

/* <Real value="2.2"/>, and others like it. */
static enum tutti_err read_value(struct osp *osp, const char *unit, const struct tutti_node *node)
{
    const char *variable, *text;
    const struct tutti_node *typed = node->first;
    TRY(need(osp, node, "variable", &variable));
    while (typed && typed->text)
        typed = typed->next;
    if (!typed)
        return tutti_assembly_fail(osp->assembly, node->line, "the initial value of '%s' is missing",
                                   tutti_str_show(variable).text);
    TRY(need(osp, typed, "value", &text));
    struct tutti_assembly_value *value = tutti_assembly_add_value(osp->assembly);
    if (!value)
        return tutti_fail_memory();
    *value = (struct tutti_assembly_value){unit, keep(osp, variable), keep(osp, text), node->line};
    return value->variable && value->value ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err read_simulator(struct osp *osp, const struct tutti_node *node)
{
    const char *name, *source;
    TRY(need(osp, node, "name", &name));
    TRY(need(osp, node, "source", &source));
    struct tutti_assembly_unit *unit = tutti_assembly_add_unit(osp->assembly);
    if (!unit)
        return tutti_fail_memory();
    *unit = (struct tutti_assembly_unit){.name = keep(osp, name), .source = keep(osp, source), .line = node->line};
    if (!unit->name || !unit->source)
        return tutti_fail_memory();
    TRY(read_attribute(osp, node, "stepSize", &unit->step));
    if (!(unit->step >= 0))
        return tutti_assembly_fail(osp->assembly, node->line, "the step size of '%s' is not greater than 0",
                                   tutti_str_show(name).text);
    const char *kept = unit->name;
    const struct tutti_node *values = child(node, "InitialValues");
    for (const struct tutti_node *v = values ? child(values, "InitialValue") : NULL; v; v = next(v, "InitialValue"))
        TRY(read_value(osp, kept, v));
    return TUTTI_OK;
}

/* ---- functions ---- */

static enum tutti_err read_function(struct osp *osp, const struct tutti_node *node)
{
    bool linear = strcmp(node->local, "LinearTransformation") == 0, sum = strcmp(node->local, "Sum") == 0;
    bool vectors = strcmp(node->local, "VectorSum") == 0;
    const char *name;
    if (!linear && !sum && !vectors)
        return tutti_assembly_fail(osp->assembly, node->line,
                                   "found the function <%s>, expected LinearTransformation, Sum or VectorSum",
                                   tutti_str_show(node->local).text);
    TRY(need(osp, node, "name", &name));
    struct tutti_assembly_function *function = tutti_assembly_add_function(osp->assembly);
    if (!function)
        return tutti_fail_memory();
    *function = (struct tutti_assembly_function){
        .name = keep(osp, name), .sums = !linear, .factor = 1, .terms = 1, .line = node->line};
    if (!function->name)
        return tutti_fail_memory();
    if (linear) {
        TRY(read_attribute(osp, node, "factor", &function->factor));
        return read_attribute(osp, node, "offset", &function->offset);
    }
    TRY(read_count(osp, node, "inputCount", &function->terms));
    if (vectors)
        TRY(read_count(osp, node, "dimension", &function->dimension));
    return (uint64_t)function->terms * (function->dimension + 1) <= MOST_TERMS
               ? TUTTI_OK
               : tutti_assembly_fail(osp->assembly, node->line, "the function has more than %d signals", MOST_TERMS);
}

/* ---- connections ---- */

static enum tutti_err read_end(struct osp *osp, const struct tutti_node *node, struct tutti_assembly_end *end)
{
    end->function = strncmp(node->local, "Signal", 6) == 0;
    const char *owner, *name;
    TRY(need(osp, node, end->function ? "function" : "simulator", &owner));
    TRY(need(osp, node, "name", &name));
    end->owner = keep(osp, owner);
    end->name = keep(osp, name);
    return end->owner && end->name ? TUTTI_OK : tutti_fail_memory();
}

/* VariableConnection, SignalConnection, VariableGroupConnection, SignalGroupConnection: two ends, whatever their order. */
static enum tutti_err read_connection(struct osp *osp, const struct tutti_node *node)
{
    struct tutti_assembly_link link = {.groups = strstr(node->local, "Group") != NULL, .factor = 1, .line = node->line};
    unsigned count = 0;
    for (const struct tutti_node *end = node->first; end; end = end->next) {
        if (end->text)
            continue;
        if (count == 2)
            return tutti_assembly_fail(osp->assembly, node->line, "a connection has more than two ends");
        TRY(read_end(osp, end, &link.ends[count++]));
    }
    if (count < 2)
        return tutti_assembly_fail(osp->assembly, node->line, "a connection has fewer than two ends");
    struct tutti_assembly_link *place = tutti_assembly_add_link(osp->assembly);
    if (!place)
        return tutti_fail_memory();
    *place = link;
    return TUTTI_OK;
}

/* ---- the document ---- */

static enum tutti_err read_time(struct osp *osp, const struct tutti_node *top, const char *local, bool *has,
                                double *value)
{
    const struct tutti_node *node = child(top, local);
    *has = node && node->first && node->first->text;
    return *has ? read_number(osp, node, node->first->text, value) : TUTTI_OK;
}

static enum tutti_err read_top(struct osp *osp, const struct tutti_node *top)
{
    static const char *const fixed_step[][2] = {
        {"coupling", "jacobi"}, {"control", "fixed"}, {"extrapolate", "0"}, {"events", "none"}};
    struct tutti_assembly *assembly = osp->assembly;
    const struct tutti_node *algorithm = child(top, "Algorithm");
    bool has_step;
    double step;
    TRY(read_time(osp, top, "StartTime", &assembly->has_start, &assembly->start));
    TRY(read_time(osp, top, "EndTime", &assembly->has_stop, &assembly->stop));
    TRY(read_time(osp, top, "BaseStepSize", &has_step, &step));
    if (has_step && !(step > 0))
        return tutti_assembly_fail(assembly, top->line, "BaseStepSize is not greater than 0");
    if (has_step)
        TRY(tutti_assembly_set_number(assembly, "step", step, top->line));
    const char *text = algorithm && algorithm->first && algorithm->first->text ? algorithm->first->text : "fixedStep";
    if (strcmp(text, "fixedStep") == 0) /* all units at once, inputs held, and nothing ends a step */
        for (size_t i = 0; i < sizeof fixed_step / sizeof *fixed_step; i++)
            TRY(tutti_assembly_set(assembly, fixed_step[i][0], fixed_step[i][1], top->line));
    else
        tutti_findings_add(osp->findings, TUTTI_FINDING_WARNING, assembly->file, algorithm->line,
                           "the algorithm '%s' is not known; Tutti chooses one (--coupling, --control)",
                           tutti_str_show(text).text);
    return TUTTI_OK;
}

static enum tutti_err read_lists(struct osp *osp, const struct tutti_node *top)
{
    const struct tutti_node *simulators = child(top, "Simulators"), *functions = child(top, "Functions");
    const struct tutti_node *connections = child(top, "Connections");
    if (!simulators)
        return tutti_assembly_fail(osp->assembly, top->line, "<Simulators> is missing");
    for (const struct tutti_node *s = child(simulators, "Simulator"); s; s = next(s, "Simulator"))
        TRY(read_simulator(osp, s));
    for (const struct tutti_node *f = functions ? functions->first : NULL; f; f = f->next)
        if (!f->text)
            TRY(read_function(osp, f));
    for (const struct tutti_node *c = connections ? connections->first : NULL; c; c = c->next)
        if (!c->text)
            TRY(read_connection(osp, c));
    return TUTTI_OK;
}

enum tutti_err tutti_osp_read(struct tutti_assembly *assembly, struct tutti_reader *reader,
                              struct tutti_findings *findings)
{
    struct osp osp = {assembly, findings};
    struct tutti_tree *tree;
    TRY(tutti_tree_read(&tree, assembly->file, reader));
    const struct tutti_node *top = tree->root;
    enum tutti_err err = strcmp(top->local, "OspSystemStructure") == 0
                             ? read_top(&osp, top)
                             : tutti_assembly_fail(assembly, top->line, "found <%s>, expected <OspSystemStructure>",
                                                   tutti_str_show(top->local).text);
    if (err == TUTTI_OK)
        err = read_lists(&osp, top);
    tutti_tree_free(tree);
    return err;
}

/* ---- groups ---- */

/* The element with this name; groups lie in groups. */
static const struct tutti_node *find_group(const struct tutti_node *node, const char *name)
{
    for (const struct tutti_node *c = node->first; c; c = c->next) {
        const char *own = c->text ? NULL : tutti_node_attribute(c, "name");
        const struct tutti_node *found = own && strcmp(own, name) == 0 ? c : c->text ? NULL : find_group(c, name);
        if (found)
            return found;
    }
    return NULL;
}

static size_t list_variables(const struct tutti_node *node, struct tutti_arena *arena, const char **names)
{
    size_t count = 0;
    for (const struct tutti_node *c = node->first; c; c = c->next) {
        const char *ref = c->text ? NULL : tutti_node_attribute(c, "ref");
        if (ref && strcmp(c->local, "Variable") == 0) {
            if (names)
                names[count] = tutti_arena_text(arena, ref, strlen(ref));
            count++;
        } else if (!c->text) {
            count += list_variables(c, arena, names ? names + count : NULL);
        }
    }
    return count;
}

enum tutti_err tutti_assembly_read_group(const char *file, struct tutti_reader *reader, const char *name,
                                         struct tutti_arena *arena, struct tutti_assembly_group *group, bool *found)
{
    struct tutti_tree *tree;
    *group = (struct tutti_assembly_group){0};
    TRY(tutti_tree_read(&tree, file, reader));
    const struct tutti_node *groups = child(tree->root, "VariableGroups");
    const struct tutti_node *node = groups ? find_group(groups, name) : NULL;
    *found = node != NULL;
    enum tutti_err err = TUTTI_OK;
    if (node) {
        group->count = list_variables(node, arena, NULL);
        group->variables = tutti_arena_array(arena, group->count + 1, sizeof *group->variables);
        err = group->variables ? TUTTI_OK : tutti_fail_memory();
    }
    if (node && err == TUTTI_OK) {
        list_variables(node, arena, group->variables);
        for (size_t i = 0; i < group->count; i++)
            err = group->variables[i] ? err : tutti_fail_memory();
    }
    tutti_tree_free(tree);
    return err;
}
