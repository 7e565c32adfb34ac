/* SPDX-License-Identifier: MIT */
#include "model/plan/structure.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* Limit of the edges: without declared dependencies each output needs each input, and their product can be enormous. */
enum { MOST_EDGES = 1 << 27 };

/* The dependencies of a variable that the model structure of an FMU declares. Zeroed: none declared. */
struct declared_dependencies {
    const struct tt_unknown *unknown;
    bool at_start; /* by InitialUnknowns: parameters are among the dependencies, too */
};

/* Needs nothing: a state while the model runs, a start value while it starts. */
static const struct tt_unknown known = {.has_dependencies = true};

struct structure_build {
    struct tt_structure *structure;
    const struct tt_system *system;
    enum tt_structure_phase phase;
    uint32_t (*edges)[2];
    size_t edge_count, edge_room;
    struct declared_dependencies *told; /* per variable of the current FMU */
    uint32_t *input_at; /* per variable of the current component: its node as a destination, or TUTTI_NONE */
    uint32_t *by_fmu;   /* components, those of one FMU side by side */
    bool *is_assumed;   /* per component */
};

static const struct tt_description *structure_desc(const struct tt_system *system, uint32_t component)
{
    return system->components[component].fmu->desc;
}

/* The system's own ports are given from outside, or taken there: known before, or not needed. */
static bool is_internal_connection(const struct structure_build *build, const struct tt_connection *connection)
{
    return connection->from.component != TUTTI_NONE && connection->to.component != TUTTI_NONE &&
           !(build->phase == TUTTI_PHASE_INITIAL ? connection->of_line : connection->at_start_only);
}

static int structure_compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static uint64_t node_key(const struct tt_structure_node *node)
{
    return (uint64_t)node->output << 32 | node->variable;
}

static int compare_nodes(const void *a, const void *b)
{
    return structure_compare_numbers(node_key(a), node_key(b));
}

/* Puts both ends of each connection, and what the master feeds and reads, to the nodes of their component. `next` holds, per
 * component, where. */
static void place_ends(struct structure_build *build, uint32_t *next)
{
    struct tt_structure_node *nodes = build->structure->nodes;
    for (uint32_t i = 0; i < build->system->connection_count; i++) {
        const struct tt_connection *connection = &build->system->connections[i];
        if (!is_internal_connection(build, connection))
            continue;
        const struct tt_end *from = &connection->from, *to = &connection->to;
        nodes[next[from->component]++] = (struct tt_structure_node){from->component, from->variable, true};
        nodes[next[to->component]++] = (struct tt_structure_node){to->component, to->variable, false};
    }
    for (uint32_t i = 0; i < build->system->fed_count; i++) {
        const struct tt_end *to = &build->system->fed[i];
        nodes[next[to->component]++] = (struct tt_structure_node){to->component, to->variable, false};
    }
    for (uint32_t i = 0; i < build->system->read_count; i++) {
        const struct tt_end *from = &build->system->read[i];
        nodes[next[from->component]++] = (struct tt_structure_node){from->component, from->variable, true};
    }
}

/* Sorts the ends of each component and drops repeated ones. component_first[c + 1] is where those of c end before, and
 * where its nodes end after. */
static void structure_sort_nodes(struct tt_structure *structure, uint32_t component_count)
{
    uint32_t kept = 0, from = 0;
    for (uint32_t c = 0; c < component_count; c++) {
        uint32_t first = kept, end = structure->component_first[c + 1];
        if (end > from)
            qsort(structure->nodes + from, end - from, sizeof *structure->nodes, compare_nodes);
        for (; from < end; from++)
            if (kept == first || compare_nodes(&structure->nodes[kept - 1], &structure->nodes[from]) != 0)
                structure->nodes[kept++] = structure->nodes[from];
        structure->component_first[c + 1] = kept;
    }
    structure->node_count = kept;
}

static enum tutti_err make_nodes(struct structure_build *build)
{
    struct tt_structure *structure = build->structure;
    const struct tt_system *system = build->system;
    if (system->connection_count > UINT32_MAX / 2 - 1)
        return tt_fail(TUTTI_ERR_LIMIT, "%u connections; the limit is %u", system->connection_count,
                       UINT32_MAX / 2 - 1);
    structure->component_first = calloc((size_t)system->component_count + 2, sizeof *structure->component_first);
    size_t joined = (size_t)system->fed_count + system->read_count;
    structure->nodes = calloc(2 * (size_t)system->connection_count + joined + 1, sizeof *structure->nodes);
    if (!structure->component_first || !structure->nodes)
        return tt_fail_memory();
    /* Counted two places too far: placing moves each start to where it belongs. */
    uint32_t *next = structure->component_first + 1;
    for (uint32_t i = 0; i < system->connection_count; i++) {
        const struct tt_connection *connection = &system->connections[i];
        if (!is_internal_connection(build, connection))
            continue;
        next[connection->from.component + 1]++;
        next[connection->to.component + 1]++;
    }
    for (uint32_t i = 0; i < system->fed_count; i++)
        next[system->fed[i].component + 1]++;
    for (uint32_t i = 0; i < system->read_count; i++)
        next[system->read[i].component + 1]++;
    for (uint32_t c = 0; c < system->component_count; c++)
        next[c + 1] += next[c];
    place_ends(build, next);
    structure_sort_nodes(structure, system->component_count);
    return TUTTI_OK;
}

static enum tutti_err structure_add_edge(struct structure_build *build, uint32_t node, uint32_t needed)
{
    if (build->edge_count >= MOST_EDGES)
        return tt_fail(TUTTI_ERR_LIMIT, "more than %d dependencies between connected variables", MOST_EDGES);
    if (!tt_vector_reserve(&build->edges, &build->edge_room, build->edge_count + 1, sizeof *build->edges))
        return tt_fail_memory();
    build->edges[build->edge_count][0] = node;
    build->edges[build->edge_count++][1] = needed;
    return TUTTI_OK;
}

/* Andersson 2016 eq. 5.5: an input needs its sources. */
static enum tutti_err structure_add_connections(struct structure_build *build)
{
    for (uint32_t i = 0; i < build->system->connection_count; i++) {
        const struct tt_connection *connection = &build->system->connections[i];
        if (!is_internal_connection(build, connection))
            continue;
        const struct tt_end *from = &connection->from, *to = &connection->to;
        TRY(structure_add_edge(build, tt_structure_find(build->structure, to->component, to->variable, false),
                               tt_structure_find(build->structure, from->component, from->variable, true)));
    }
    return TUTTI_OK;
}

static void structure_read_list(struct structure_build *build, const struct tt_unknowns *list, bool at_start)
{
    for (uint32_t i = 0; i < list->count; i++)
        build->told[list->items[i].variable] = (struct declared_dependencies){&list->items[i], at_start};
}

/* Returns true if the value is known without an input. FMI 1.0 is excluded: there "fixed" is the default of every start
 * value, even for computed outputs. */
static bool structure_is_known(const struct tt_description *desc, const struct tt_var *var,
                               enum tt_structure_phase phase)
{
    if (var->variability == TUTTI_CONSTANT || var->causality == TUTTI_INDEPENDENT || var->causality == TUTTI_INPUT ||
        var->causality == TUTTI_PARAMETER || var->causality == TUTTI_STRUCTURAL_PARAMETER)
        return true;
    if (phase == TUTTI_PHASE_RUN)
        return var->variability == TUTTI_FIXED;
    return desc->fmi > 1 && var->initial == TUTTI_EXACT;
}

/* Once per FMU, even if several components share it. Later sources override earlier ones. */
static void read_structure(struct structure_build *build, const struct tt_description *desc)
{
    memset(build->told, 0, desc->var_count * sizeof *build->told);
    structure_read_list(build, &desc->derivatives, false);
    structure_read_list(build, &desc->outputs, false);
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (structure_is_known(desc, &desc->vars[i], build->phase))
            build->told[i] = (struct declared_dependencies){&known, true};
    if (build->phase == TUTTI_PHASE_INITIAL) {
        structure_read_list(build, &desc->initial_unknowns, true);
        return;
    }
    for (uint32_t i = 0; i < desc->derivatives.count; i++) {
        uint32_t state = desc->vars[desc->derivatives.items[i].variable].derivative_of;
        if (state != TUTTI_NONE)
            build->told[state] = (struct declared_dependencies){&known, true};
    }
}

static bool structure_is_parameter(const struct tt_var *var)
{
    return var->causality == TUTTI_PARAMETER || var->causality == TUTTI_STRUCTURAL_PARAMETER;
}

/* Andersson 2016 eq. 5.4: an output needs the inputs that it depends on; inputs are nodes first ... end - 1. */
static enum tutti_err structure_add_output(struct structure_build *build, uint32_t node, uint32_t first, uint32_t end)
{
    const struct tt_structure_node *nodes = build->structure->nodes;
    uint32_t component = nodes[node].component, variable = nodes[node].variable;
    const struct tt_description *desc = structure_desc(build->system, component);
    const struct declared_dependencies *told = &build->told[variable];
    if (!told->unknown || !told->unknown->has_dependencies) {
        for (uint32_t input = first; input < end; input++)
            TRY(structure_add_edge(build, node, input));
        build->is_assumed[component] |= end > first;
        return TUTTI_OK;
    }
    for (uint32_t i = 0; i < told->unknown->dependency_count; i++) {
        uint32_t needed = build->input_at[told->unknown->dependencies[i]];
        if (needed != TUTTI_NONE)
            TRY(structure_add_edge(build, node, needed));
    }
    if (!told->at_start) /* lists for a running model are silent about parameters */
        for (uint32_t input = first; input < end; input++)
            if (structure_is_parameter(&desc->vars[nodes[input].variable]))
                TRY(structure_add_edge(build, node, input));
    if (build->input_at[variable] != TUTTI_NONE) /* handed on from a source to others */
        TRY(structure_add_edge(build, node, build->input_at[variable]));
    return TUTTI_OK;
}

static enum tutti_err add_component(struct structure_build *build, uint32_t component)
{
    const struct tt_structure *structure = build->structure;
    uint32_t first = structure->component_first[component], end = structure->component_first[component + 1];
    uint32_t outputs = first;
    while (outputs < end && !structure->nodes[outputs].output)
        outputs++;
    for (uint32_t input = first; input < outputs; input++)
        build->input_at[structure->nodes[input].variable] = input;
    enum tutti_err err = TUTTI_OK;
    bool begun = build->phase == TUTTI_PHASE_INITIAL && build->system->components[component].has_state;
    for (uint32_t node = outputs; node < end && err == TUTTI_OK && !begun; node++)
        err = structure_add_output(build, node, first, outputs);
    for (uint32_t input = first; input < outputs; input++)
        build->input_at[structure->nodes[input].variable] = TUTTI_NONE;
    return err;
}

static int compare_fmus(const void *a, const void *b, void *context)
{
    const struct tt_system *system = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    int order =
        structure_compare_numbers((uintptr_t)system->components[left].fmu, (uintptr_t)system->components[right].fmu);
    return order != 0 ? order : structure_compare_numbers(left, right);
}

/* FMU after FMU: where these lie in memory does not matter to the graph, since a row of it is one component's. */
static enum tutti_err add_components(struct structure_build *build)
{
    const struct tt_system *system = build->system;
    uint32_t most = 0;
    for (uint32_t c = 0; c < system->component_count; c++)
        if (structure_desc(system, c)->var_count > most)
            most = structure_desc(system, c)->var_count;
    build->told = malloc(((size_t)most + 1) * sizeof *build->told);
    build->input_at = malloc(((size_t)most + 1) * sizeof *build->input_at);
    build->by_fmu = malloc(((size_t)system->component_count + 1) * sizeof *build->by_fmu);
    build->is_assumed = calloc((size_t)system->component_count + 1, sizeof *build->is_assumed);
    if (!build->told || !build->input_at || !build->by_fmu || !build->is_assumed)
        return tt_fail_memory();
    for (uint32_t i = 0; i < most; i++)
        build->input_at[i] = TUTTI_NONE;
    for (uint32_t c = 0; c < system->component_count; c++)
        build->by_fmu[c] = c;
    qsort_r(build->by_fmu, system->component_count, sizeof *build->by_fmu, compare_fmus, (void *)system);
    for (uint32_t i = 0; i < system->component_count; i++) {
        uint32_t component = build->by_fmu[i];
        const struct tt_fmu *fmu = system->components[component].fmu;
        if (i == 0 || system->components[build->by_fmu[i - 1]].fmu != fmu)
            read_structure(build, fmu->desc);
        TRY(add_component(build, component));
    }
    return TUTTI_OK;
}

bool tt_structure_is_assumed(const struct tt_structure *structure, uint32_t component)
{
    size_t at;
    TUTTI_SEARCH(at, structure->assumed_count, structure->assumed[at] < component);
    return at < structure->assumed_count && structure->assumed[at] == component;
}

bool tt_structure_is_in_loop(const struct tt_structure *structure, uint32_t component)
{
    const struct tt_components *scc = &structure->scc;
    bool found = false;
    for (uint32_t n = structure->component_first[component]; n < structure->component_first[component + 1]; n++)
        found = found || scc->first[scc->of[n] + 1] - scc->first[scc->of[n]] > 1;
    return found;
}

static enum tutti_err structure_make(struct structure_build *build)
{
    struct tt_structure *structure = build->structure;
    TRY(make_nodes(build));
    TRY(structure_add_connections(build));
    TRY(add_components(build));

    structure->assumed = malloc(((size_t)build->system->component_count + 1) * sizeof *structure->assumed);
    if (!structure->assumed)
        return tt_fail_memory();
    for (uint32_t c = 0; c < build->system->component_count; c++)
        if (build->is_assumed[c])
            structure->assumed[structure->assumed_count++] = c;

    TRY(tt_digraph_init(&structure->graph, structure->node_count, (const uint32_t(*)[2])build->edges,
                        build->edge_count));
    return tt_digraph_components_init(&structure->scc, &structure->graph);
}

enum tutti_err tt_structure_init(struct tt_structure *structure, const struct tt_system *system,
                                 enum tt_structure_phase phase)
{
    *structure = (struct tt_structure){.system = system};
    struct structure_build build = {.structure = structure, .system = system, .phase = phase};
    enum tutti_err err = structure_make(&build);
    free(build.edges);
    free(build.told);
    free(build.input_at);
    free(build.by_fmu);
    free(build.is_assumed);
    if (err != TUTTI_OK)
        tt_structure_fini(structure);
    return err;
}

void tt_structure_fini(struct tt_structure *structure)
{
    tt_digraph_components_fini(&structure->scc);
    tt_digraph_fini(&structure->graph);
    free(structure->nodes);
    free(structure->component_first);
    free(structure->assumed);
    *structure = (struct tt_structure){0};
}

uint32_t tt_structure_find(const struct tt_structure *structure, uint32_t component, uint32_t variable, bool output)
{
    struct tt_structure_node wanted = {component, variable, output};
    uint32_t first = structure->component_first[component];
    uint32_t count = structure->component_first[component + 1] - first;
    const struct tt_structure_node *found =
        count ? bsearch(&wanted, structure->nodes + first, count, sizeof wanted, compare_nodes) : NULL;
    return found ? (uint32_t)(found - structure->nodes) : TUTTI_NONE;
}
