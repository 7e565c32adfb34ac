/* SPDX-License-Identifier: MIT */
#include "analysis/finite_step.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "master/coupling/tlm.h"
#include "unit/linear.h"

/* Steps that are looked at for the largest stable one: from a hundredth of the wanted one to a hundred times it. */
enum { STEPS_PER_DECADE = 6, DECADES = 2, MOST_SEARCHED = 120, BISECTIONS = 12 };

struct collector {
    struct tutti_rank *rank;
    const struct tutti_structure *running;
    const struct tutti_sequence *sequence;
    struct tutti_linear_unit *units;
    struct tutti_linear_system system;
    double *links;
    size_t *first_input, *first_output; /* per component, and one more */
    bool by_twins;
    struct tutti_arena arena;
};

/* ---- what is connected ---- */

static bool is_real(const struct tutti_var *var)
{
    return var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS;
}

static const struct tutti_var *var_of(const struct tutti_structure *structure, uint32_t node)
{
    const struct tutti_structure_node *n = &structure->nodes[node];
    return &structure->system->components[n->component].fmu->desc->vars[n->variable];
}

/* Values of connected continuous inputs, or outputs, of a component. */
static size_t count_values(const struct collector *c, uint32_t component, bool outputs)
{
    const struct tutti_structure *structure = &c->rank->job->structure;
    size_t count = 0;
    for (uint32_t n = structure->component_first[component]; n < structure->component_first[component + 1]; n++)
        if (structure->nodes[n].output == outputs && is_real(var_of(structure, n)))
            count += c->rank->wires.slots[n].count;
    return count;
}

/* The place of a node's first value among all inputs, or outputs; SIZE_MAX: it is none of them. */
static size_t place_of(const struct collector *c, uint32_t node)
{
    const struct tutti_structure *structure = &c->rank->job->structure;
    uint32_t component = structure->nodes[node].component;
    bool output = structure->nodes[node].output;
    size_t place = output ? c->first_output[component] : c->first_input[component];
    if (!is_real(var_of(structure, node)))
        return SIZE_MAX;
    for (uint32_t n = structure->component_first[component]; n < node; n++)
        if (structure->nodes[n].output == output && is_real(var_of(structure, n)))
            place += c->rank->wires.slots[n].count;
    return place;
}

/* What a wire brings to an input. */
static void add_link(const struct collector *c, const struct tutti_wire *wire, const struct tutti_slot *slot,
                     size_t input)
{
    const struct tutti_end *from = &wire->connection->from;
    uint32_t source = tutti_structure_find(&c->rank->job->structure, from->component, from->variable, true);
    size_t output = source == TUTTI_NONE ? SIZE_MAX : place_of(c, source);
    if (output == SIZE_MAX || wire->connection->at_start_only)
        return;
    size_t begin = wire->from / sizeof(double);
    size_t first =
        (size_t)((const double *)c->rank->wires.slots[source].values - (const double *)(void *)c->rank->wires.signals);
    size_t to = (size_t)((const double *)wire->to - (const double *)slot->values);
    double factor = wire->conversion->linear ? wire->conversion->factor : 1;
    for (uint32_t e = 0; e < wire->count; e++)
        c->links[(output + begin - first + e) * c->system.inputs + input + to + e] += factor;
}

static enum tutti_err link_up(struct collector *c)
{
    const struct tutti_wires *wires = &c->rank->wires;
    c->links = tutti_arena_array(&c->arena, c->system.inputs * c->system.outputs, sizeof *c->links);
    if (!c->links)
        return tutti_fail_memory();
    c->system.links = c->links;
    for (uint32_t n = 0; n < c->rank->job->structure.node_count; n++) {
        const struct tutti_slot *slot = &wires->slots[n];
        size_t input = c->rank->job->structure.nodes[n].output ? SIZE_MAX : place_of(c, n);
        for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count && input != SIZE_MAX; w++)
            if (wires->wires[w].conversion->from == TUTTI_TYPE_FLOAT64)
                add_link(c, &wires->wires[w], slot, input);
    }
    return TUTTI_OK;
}

/* ---- matrices ---- */

/* Per value of an axis of the unit's own matrices (all continuous Reals of a causality, in the order of the description): its place
 * among those that are connected; SIZE_MAX: it is not. */
static enum tutti_err map_axis(struct collector *c, const struct tutti_unit *unit, uint32_t component, bool outputs,
                               size_t count, size_t **out)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    size_t *map = tutti_arena_array(&c->arena, count, sizeof *map), at = 0;
    if (!map)
        return tutti_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++) {
        size_t extent;
        if (!is_real(&desc->vars[v]) || desc->vars[v].causality != (outputs ? TUTTI_OUTPUT : TUTTI_INPUT))
            continue;
        TRY(tutti_unit_extent(unit, v, &extent));
        uint32_t node = tutti_structure_find(&c->rank->job->structure, component, v, outputs);
        size_t place = node == TUTTI_NONE ? SIZE_MAX : place_of(c, node);
        size_t first = outputs ? c->first_output[component] : c->first_input[component];
        for (size_t e = 0; e < extent && at < count; e++)
            map[at++] = place == SIZE_MAX ? SIZE_MAX : place - first + e;
    }
    *out = map;
    return TUTTI_OK;
}

static enum tutti_err unfold(struct collector *c, const struct tutti_linear *linear, int which, const size_t *rows,
                             const size_t *columns, size_t row_count, size_t column_count, const double **out)
{
    const struct tutti_pattern *pattern = &linear->patterns[which];
    double *matrix = tutti_arena_array(&c->arena, row_count * column_count, sizeof *matrix);
    if (!matrix)
        return tutti_fail_memory();
    for (int32_t column = 0; column < pattern->column_count; column++)
        for (int32_t k = pattern->starts[column]; k < pattern->starts[column + 1]; k++) {
            size_t to_row = rows ? rows[pattern->rows[k]] : (size_t)pattern->rows[k];
            size_t to_column = columns ? columns[column] : (size_t)column;
            if (to_row == SIZE_MAX || to_column == SIZE_MAX)
                continue;
            if (!isfinite(linear->values[which][k]))
                return tutti_fail(TUTTI_ERR_SOLVER, "a derivative is not finite");
            matrix[to_column * row_count + to_row] = linear->values[which][k];
        }
    *out = matrix;
    return TUTTI_OK;
}

/* `linear` is what the unit's own matrices are. */
static enum tutti_err take_matrices(struct collector *c, const struct tutti_unit *unit, uint32_t component,
                                    const struct tutti_linear *linear)
{
    struct tutti_linear_unit *own = &c->units[component];
    size_t *inputs = NULL, *outputs = NULL;
    TRY(map_axis(c, unit, component, false, linear->input_count, &inputs));
    TRY(map_axis(c, unit, component, true, linear->output_count, &outputs));
    own->states = linear->state_count;
    TRY(unfold(c, linear, TUTTI_LINEAR_A, NULL, NULL, own->states, own->states, &own->a));
    TRY(unfold(c, linear, TUTTI_LINEAR_B, NULL, inputs, own->states, own->inputs, &own->b));
    TRY(unfold(c, linear, TUTTI_LINEAR_C, outputs, NULL, own->outputs, own->states, &own->c));
    return unfold(c, linear, TUTTI_LINEAR_D, outputs, inputs, own->outputs, own->inputs, &own->d);
}

static enum tutti_err linearize(struct collector *c, struct tutti_unit *unit, uint32_t component)
{
    struct tutti_linear *linear = NULL;
    TRY(unit->kind->linearize(unit, TUTTI_WANT_A | TUTTI_WANT_B | TUTTI_WANT_C | TUTTI_WANT_D, &linear));
    return take_matrices(c, unit, component, linear);
}

/* ---- units for Co-Simulation ---- */

static enum tutti_err set_inputs(struct collector *c, struct tutti_unit *twin, uint32_t component)
{
    const struct tutti_structure *structure = &c->rank->job->structure;
    const struct tutti_member *member = &c->rank->members[component];
    if (member->inputs)
        TRY(tutti_inputs_set_all(member->inputs, twin));
    for (uint32_t n = structure->component_first[component]; n < structure->component_first[component + 1]; n++) {
        struct tutti_slot *slot = &c->rank->wires.slots[n];
        struct tutti_block block = {(enum tutti_type)slot->type, 1, slot->count, &slot->reference, slot->values, NULL};
        if (structure->nodes[n].output)
            continue;
        TRY(tutti_wires_gather_node(&c->rank->wires, n));
        TRY(twin->kind->set(twin, &block));
    }
    return TUTTI_OK;
}

static enum tutti_err start_twin(struct collector *c, struct tutti_unit *twin, uint32_t component)
{
    const struct tutti_rank *rank = c->rank;
    const struct tutti_component *of = &rank->job->system->components[component];
    struct tutti_experiment_setup setup = {.start = rank->times.start, .stop = rank->times.stop, .has_stop = true};
    struct tutti_unit_event event;
    TRY(twin->kind->set_up(twin, &setup));
    TRY(tutti_unit_apply(twin, of->settings, of->setting_count));
    TRY(twin->kind->enter_init(twin));
    TRY(tutti_unit_apply_inputs(twin, of->settings, of->setting_count));
    TRY(set_inputs(c, twin, component));
    TRY(twin->kind->exit_init(twin));
    return twin->kind->settle(twin, &event);
}

/* A unit of the same FMU for Model Exchange, with the same parameters and inputs, tells what its model is. */
static enum tutti_err ask_twin(struct collector *c, uint32_t component)
{
    struct tutti_fmu *fmu = c->rank->job->system->components[component].fmu;
    const struct tutti_unit *unit = c->rank->units[component];
    struct tutti_unit *twin = NULL;
    struct tutti_unit_options options = {.name = unit->name,
                                         .log = c->rank->unit_log,
                                         .interface = TUTTI_INTERFACE_ME,
                                         .integration = {.rtol = 1e-4, .atol = 1e-6, .h_max = c->rank->span}};
    if (!fmu->desc->interfaces[TUTTI_ME].present || (fmu->desc->interfaces[TUTTI_ME].flags & TUTTI_ONCE_PER_PROCESS))
        return tutti_fail(
            TUTTI_ERR_UNSUPPORTED,
            "'%s' (%s) is for Co-Simulation%s: its states cannot be seen. What holds for small steps needs "
            "none; with another export, for Model Exchange too, more can be said",
            unit->name, fmu->path, fmu->desc->interfaces[TUTTI_ME].present ? ", and can be made once only" : "");
    c->by_twins = true;
    TRY(tutti_fmu_load(fmu, TUTTI_ME, c->rank->unit_log));
    TRY(tutti_unit_new(&twin, fmu, &options));
    enum tutti_err err = start_twin(c, twin, component);
    if (!err)
        err = linearize(c, twin, component);
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    tutti_unit_free(twin);
    return tutti_failure_return(&failure);
}

/* ---- units ---- */

/* What acts on an output at once is held where it ends, else in the middle: tutti_staging_place. */
static enum tutti_err place_inputs(struct collector *c, uint32_t component)
{
    const struct tutti_structure *running = c->running;
    struct tutti_linear_unit *own = &c->units[component];
    double *at = tutti_arena_array(&c->arena, own->inputs, sizeof *at);
    if (!at)
        return tutti_fail_memory();
    for (size_t i = 0; i < own->inputs; i++)
        at[i] = 0.5;
    for (uint32_t n = running->component_first[component]; n < running->component_first[component + 1]; n++)
        for (uint32_t k = running->graph.first[n]; running->nodes[n].output && k < running->graph.first[n + 1] &&
                                                   !tutti_structure_is_assumed(running, component);
             k++) {
            const struct tutti_structure_node *input = &running->nodes[running->graph.needs[k]];
            uint32_t node = tutti_structure_find(&c->rank->job->structure, input->component, input->variable, false);
            size_t place = place_of(c, node);
            for (uint32_t e = 0; e < c->rank->wires.slots[node].count && place != SIZE_MAX; e++)
                at[place - c->first_input[component] + e] = 1;
        }
    own->at = at;
    return TUTTI_OK;
}

static void describe(struct collector *c)
{
    const struct tutti_sequence *sequence = c->sequence;
    for (uint32_t m = 0; m < c->rank->member_count; m++) {
        const struct tutti_unit *unit = c->rank->units[m];
        c->units[m].takes = unit->asks_for_inputs || (unit->can & TUTTI_CAN_INPUT_DERIVATIVES);
        c->units[m].gives = unit->output_order;
    }
    for (uint32_t w = 0; w < sequence->wave_count; w++)
        for (uint32_t i = sequence->wave_first[w]; i < sequence->wave_first[w + 1]; i++)
            c->units[sequence->components[i]].place = w;
}

static enum tutti_err count_all(struct collector *c)
{
    uint32_t count = c->rank->member_count;
    c->units = tutti_arena_array(&c->arena, count, sizeof *c->units);
    c->first_input = tutti_arena_array(&c->arena, (size_t)count + 1, sizeof *c->first_input);
    c->first_output = tutti_arena_array(&c->arena, (size_t)count + 1, sizeof *c->first_output);
    if (!c->units || !c->first_input || !c->first_output)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < count; m++) {
        c->units[m].inputs = count_values(c, m, false);
        c->units[m].outputs = count_values(c, m, true);
        c->first_input[m + 1] = c->first_input[m] + c->units[m].inputs;
        c->first_output[m + 1] = c->first_output[m] + c->units[m].outputs;
    }
    c->system = (struct tutti_linear_system){
        .units = c->units, .unit_count = count, .inputs = c->first_input[count], .outputs = c->first_output[count]};
    return TUTTI_OK;
}

/* Outputs of the model structure only have a row in C and D. */
static enum tutti_err check_outputs(const struct collector *c)
{
    const struct tutti_structure *structure = &c->rank->job->structure;
    for (uint32_t n = 0; n < structure->node_count; n++) {
        const struct tutti_var *var = var_of(structure, n);
        bool fits = var->causality == (structure->nodes[n].output ? TUTTI_OUTPUT : TUTTI_INPUT);
        if (is_real(var) && !fits && c->rank->wires.slots[n].wire_count + structure->nodes[n].output > 0)
            return tutti_fail(TUTTI_ERR_UNSUPPORTED, "'%s.%s' is connected, and is no %s",
                              c->rank->units[structure->nodes[n].component]->name, var->name,
                              structure->nodes[n].output ? "output" : "input");
    }
    return TUTTI_OK;
}

static enum tutti_err collect(struct collector *c)
{
    if (isfinite(tutti_tlm_shortest(c->rank->job->system)))
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "there are transmission lines, which have a past of their own");
    TRY(count_all(c));
    TRY(check_outputs(c));
    TRY(link_up(c));
    describe(c);
    for (uint32_t m = 0; m < c->rank->member_count; m++) {
        struct tutti_unit *unit = c->rank->units[m];
        if (c->rank->members[m].has_grid)
            return tutti_fail(TUTTI_ERR_UNSUPPORTED, "'%s' has steps of its own", unit->name);
        TRY(unit->kind->linearize ? linearize(c, unit, m) : ask_twin(c, m));
        TRY(place_inputs(c, m));
        c->system.states += c->units[m].states;
    }
    return TUTTI_OK;
}

/* ---- radii ---- */

static const enum tutti_step_method methods[TUTTI_STEP_ROWS] = {[TUTTI_ROW_JACOBI] = TUTTI_STEP_JACOBI,
                                                                [TUTTI_ROW_SMOOTH] = TUTTI_STEP_SMOOTH,
                                                                [TUTTI_ROW_CORRECT] = TUTTI_STEP_CORRECT,
                                                                [TUTTI_ROW_SEIDEL] = TUTTI_STEP_SEIDEL,
                                                                [TUTTI_ROW_IMPLICIT] = TUTTI_STEP_IMPLICIT};

/* A step is stable if errors grow no more than the equations themselves let them, which no method hits exactly: a tenth of that growth
 * is allowed beside it. */
static enum tutti_err is_stable(const struct collector *c, enum tutti_step_method method, unsigned order, double h,
                                double *radius, bool *stable)
{
    double exact;
    TRY(tutti_exact_radius(&c->system, h, &exact));
    TRY(tutti_step_radius(&c->system, method, order, h, radius));
    *stable = tutti_radius_is_stable(*radius / pow(fmax(exact, 1), 1.1));
    return TUTTI_OK;
}

/* The end of the stable steps that begin with the least one looked at; between `low`, stable, and `high`, not, by bisection. */
static double bisect(const struct collector *c, enum tutti_step_method method, unsigned order, double low, double high)
{
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = sqrt(low * high), radius;
        bool stable = false;
        if (is_stable(c, method, order, middle, &radius, &stable) != TUTTI_OK)
            stable = false;
        *(stable ? &low : &high) = middle;
    }
    return low;
}

static void search(const struct collector *c, const struct tutti_step_analysis *analysis, enum tutti_step_method method,
                   unsigned order, struct tutti_step_cell *cell)
{
    double before = NAN;
    cell->searched = true;
    for (int k = 0; k <= 2 * DECADES * STEPS_PER_DECADE; k++) {
        double h = analysis->least * pow(10, (double)k / STEPS_PER_DECADE), radius;
        bool stable = false;
        if (is_stable(c, method, order, h, &radius, &stable) != TUTTI_OK || !stable) {
            cell->largest = k > 0 ? bisect(c, method, order, before, h) : NAN;
            return;
        }
        before = h;
    }
    cell->any_step = true;
}

static void fill_cell(const struct collector *c, struct tutti_step_analysis *analysis, enum tutti_step_row row,
                      unsigned order)
{
    struct tutti_step_cell *cell = &analysis->cells[row][order];
    *cell = (struct tutti_step_cell){.radius = NAN, .largest = NAN};
    cell->known = is_stable(c, methods[row], order, analysis->h, &cell->radius, &cell->stable) == TUTTI_OK;
    size_t rows = c->system.states + 5 * c->system.outputs + c->system.inputs;
    if (cell->known && rows <= MOST_SEARCHED)
        search(c, analysis, methods[row], order, cell);
}

static enum tutti_err fill(const struct collector *c, struct tutti_step_analysis *analysis)
{
    analysis->least = analysis->h / pow(10, DECADES);
    analysis->most = analysis->h * pow(10, DECADES);
    analysis->by_twins = c->by_twins;
    TRY(tutti_exact_radius(&c->system, analysis->h, &analysis->exact));
    for (int row = 0; row < TUTTI_STEP_ROWS; row++)
        for (unsigned order = row == TUTTI_ROW_SMOOTH; order < (row == TUTTI_ROW_IMPLICIT ? 1 : TUTTI_ORDERS); order++)
            fill_cell(c, analysis, (enum tutti_step_row)row, order);
    for (int all = 0; all < 2; all++)
        if (tutti_sweep_radius(&c->system, all == 0, analysis->h, &analysis->sweeps[all]) != TUTTI_OK)
            analysis->sweeps[all] = NAN;
    return TUTTI_OK;
}

enum tutti_err tutti_finite_step(struct tutti_rank *rank, const struct tutti_structure *running,
                                 const struct tutti_sequence *sequence, double h, struct tutti_step_analysis *analysis)
{
    struct collector c = {.rank = rank, .running = running, .sequence = sequence};
    *analysis = (struct tutti_step_analysis){.asked = true, .h = h, .exact = NAN};
    enum tutti_err err = collect(&c);
    if (!err)
        err = fill(&c, analysis);
    analysis->known = err == TUTTI_OK;
    if (err)
        snprintf(analysis->why_not, sizeof analysis->why_not, "%s", tutti_err_message());
    tutti_arena_fini(&c.arena);
    return err == TUTTI_ERR_MEMORY ? err : TUTTI_OK;
}
