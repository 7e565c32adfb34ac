/* SPDX-License-Identifier: MIT */
#include "sim/start/linear_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/fs.h"
#include "sim/rank.h"
#include "unit/me_linear.h"

struct linear_collector {
    struct tt_linear_model *model;
    struct tt_rank *rank;
    const struct tt_structure *running;
    const struct tt_step_sequence *sequence;
    enum tt_linear_twins twins;
    struct tt_linear_unit *units;
    double *links;
    size_t *first_input, *first_output; /* per component, and one more */
};

/* ---- what is connected ---- */

/* Values of connected continuous inputs, or outputs, of a component. */
static size_t count_values(const struct linear_collector *c, uint32_t component, bool outputs)
{
    const struct tt_structure *structure = &c->rank->job->structure;
    size_t count = 0;
    for (uint32_t n = structure->component_first[component]; n < structure->component_first[component + 1]; n++)
        if (structure->nodes[n].output == outputs && tt_linear_model_is_real(tt_linear_model_variable(structure, n)))
            count += c->rank->wires.slots[n].count;
    return count;
}

/* Returns the index of a node's first value among all inputs, or outputs; SIZE_MAX if it is not one of them. */
static size_t linear_place_of(const struct linear_collector *c, uint32_t node)
{
    const struct tt_structure *structure = &c->rank->job->structure;
    uint32_t component = structure->nodes[node].component;
    bool output = structure->nodes[node].output;
    size_t place = output ? c->first_output[component] : c->first_input[component];
    if (!tt_linear_model_is_real(tt_linear_model_variable(structure, node)))
        return SIZE_MAX;
    for (uint32_t n = structure->component_first[component]; n < node; n++)
        if (structure->nodes[n].output == output && tt_linear_model_is_real(tt_linear_model_variable(structure, n)))
            place += c->rank->wires.slots[n].count;
    return place;
}

static void linear_add_link(void *context, const struct tt_signal_link *link)
{
    struct linear_collector *c = context;
    size_t output = linear_place_of(c, link->from) + link->from_element,
           input = linear_place_of(c, link->to) + link->to_element;
    for (size_t e = 0; e < link->count; e++)
        c->links[(output + e) * c->model->system.inputs + input + e] += link->factor;
}

/* ---- constraints ---- */

struct constraint_matrices {
    double *velocities, *positions, *forces, *compliances;
    bool *holonomic;
};

/* The place of an end that the master reads, or feeds, among all outputs, or inputs. */
static enum tutti_err linear_find_end(const struct linear_collector *c, const struct tt_end *end, bool output,
                                      size_t *place)
{
    uint32_t node = tt_structure_find(&c->rank->job->structure, end->component, end->variable, output);
    *place = node == TUTTI_NONE || end->element.count > 0 ? SIZE_MAX : linear_place_of(c, node);
    return *place != SIZE_MAX ? TUTTI_OK
                              : tt_fail(TUTTI_ERR_UNSUPPORTED,
                                        "an end of a constraint is an element of an array, or no continuous number");
}

static enum tutti_err add_constraint(const struct linear_collector *c, const struct tt_constraint *constraint,
                                     size_t first, const struct constraint_matrices *of)
{
    const struct tt_system *system = c->rank->job->system;
    size_t rows = c->model->system.constraints.rows, inputs = c->model->system.inputs, place;
    for (uint32_t e = 0; e < constraint->end_count; e++)
        for (uint32_t r = 0; r < constraint->row_count; r++) {
            double ratio = constraint->ratios[(size_t)r * constraint->end_count + e];
            TRY(linear_find_end(c, &system->read[constraint->velocities[e]], true, &place));
            of->velocities[place * rows + first + r] += ratio;
            if (constraint->positions) {
                TRY(linear_find_end(c, &system->read[constraint->positions[e]], true, &place));
                of->positions[place * rows + first + r] += ratio;
            }
            TRY(linear_find_end(c, &system->fed[constraint->forces[e]], false, &place));
            of->forces[(first + r) * inputs + place] += ratio;
            of->compliances[first + r] = constraint->compliance;
            of->holonomic[first + r] = constraint->positions != NULL;
        }
    return TUTTI_OK;
}

static enum tutti_err collect_constraints(struct linear_collector *c)
{
    const struct tt_system *system = c->rank->job->system;
    const struct tutti_run_options *options = &c->rank->job->options;
    struct tt_linear_system *linear = &c->model->system;
    struct tt_arena *arena = &c->model->arena;
    size_t rows = 0, first = 0;
    for (uint32_t i = 0; i < system->constraint_count; i++)
        rows += system->constraints[i].row_count;
    struct constraint_matrices of = {tt_arena_array(arena, rows * linear->outputs, sizeof(double)),
                                     tt_arena_array(arena, rows * linear->outputs, sizeof(double)),
                                     tt_arena_array(arena, rows * linear->inputs, sizeof(double)),
                                     tt_arena_array(arena, rows, sizeof(double)),
                                     tt_arena_array(arena, rows, sizeof(bool))};
    if (!of.velocities || !of.positions || !of.forces || !of.compliances || !of.holonomic)
        return tt_fail_memory();
    linear->constraints =
        (struct tt_linear_constraints){rows,
                                       of.velocities,
                                       of.positions,
                                       of.forces,
                                       of.compliances,
                                       of.holonomic,
                                       options->has_relax_time ? options->relax_time : TUTTI_DEFAULT_RELAX_TIME};
    for (uint32_t i = 0; i < system->constraint_count; i++) {
        TRY(add_constraint(c, &system->constraints[i], first, &of));
        first += system->constraints[i].row_count;
    }
    return TUTTI_OK;
}

/* ---- matrices ---- */

/* Per value of an axis of the unit's own matrices (all continuous Reals of a causality, in the order of the description): its place
 * among those that are connected; SIZE_MAX: it is not. */
static enum tutti_err map_unit_axis(struct linear_collector *c, const struct tt_unit *unit, uint32_t component,
                                    bool outputs, size_t count, size_t **out)
{
    const struct tt_description *desc = unit->fmu->desc;
    size_t *map = tt_arena_array(&c->model->arena, count, sizeof *map), at = 0;
    if (!map)
        return tt_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++) {
        size_t extent;
        if (!tt_linear_model_is_real(&desc->vars[v]) ||
            desc->vars[v].causality != (outputs ? TUTTI_OUTPUT : TUTTI_INPUT))
            continue;
        TRY(tt_unit_extent(unit, v, &extent));
        uint32_t node = tt_structure_find(&c->rank->job->structure, component, v, outputs);
        size_t place = node == TUTTI_NONE ? SIZE_MAX : linear_place_of(c, node);
        size_t first = outputs ? c->first_output[component] : c->first_input[component];
        for (size_t e = 0; e < extent && at < count; e++)
            map[at++] = place == SIZE_MAX ? SIZE_MAX : place - first + e;
    }
    *out = map;
    return TUTTI_OK;
}

static enum tutti_err expand_matrix(struct linear_collector *c, const struct tt_linear *linear, int which,
                                    const size_t *rows, const size_t *columns, size_t row_count, size_t column_count,
                                    const double **out)
{
    const struct tt_pattern *pattern = &linear->patterns[which];
    double *matrix = tt_arena_array(&c->model->arena, row_count * column_count, sizeof *matrix);
    if (!matrix)
        return tt_fail_memory();
    for (int32_t column = 0; column < pattern->column_count; column++)
        for (int32_t k = pattern->starts[column]; k < pattern->starts[column + 1]; k++) {
            size_t to_row = rows ? rows[pattern->rows[k]] : (size_t)pattern->rows[k];
            size_t to_column = columns ? columns[column] : (size_t)column;
            if (to_row == SIZE_MAX || to_column == SIZE_MAX)
                continue;
            if (!isfinite(linear->values[which][k]))
                return tt_fail(TUTTI_ERR_SOLVER, "a derivative is not finite");
            matrix[to_column * row_count + to_row] = linear->values[which][k];
        }
    *out = matrix;
    return TUTTI_OK;
}

/* `linear` is what the unit's own matrices are. */
static enum tutti_err store_unit_matrices(struct linear_collector *c, const struct tt_unit *unit, uint32_t component,
                                          const struct tt_linear *linear)
{
    struct tt_linear_unit *own = &c->units[component];
    size_t *inputs = NULL, *outputs = NULL;
    TRY(map_unit_axis(c, unit, component, false, linear->input_count, &inputs));
    TRY(map_unit_axis(c, unit, component, true, linear->output_count, &outputs));
    own->states = linear->state_count;
    TRY(expand_matrix(c, linear, TUTTI_LINEAR_A, NULL, NULL, own->states, own->states, &own->a));
    TRY(expand_matrix(c, linear, TUTTI_LINEAR_B, NULL, inputs, own->states, own->inputs, &own->b));
    TRY(expand_matrix(c, linear, TUTTI_LINEAR_C, outputs, NULL, own->outputs, own->states, &own->c));
    return expand_matrix(c, linear, TUTTI_LINEAR_D, outputs, inputs, own->outputs, own->inputs, &own->d);
}

static enum tutti_err linear_collect_unit(struct linear_collector *c, struct tt_unit *unit, uint32_t component)
{
    struct tt_linear *linear = NULL;
    TRY(unit->kind->linearize(unit, TUTTI_WANT_A | TUTTI_WANT_B | TUTTI_WANT_C | TUTTI_WANT_D, &linear));
    return store_unit_matrices(c, unit, component, linear);
}

/* Counts the entries of the matrices of a unit. */
static size_t count_matrix_entries(const struct tt_linear_unit *unit)
{
    return (unit->states + unit->outputs) * (unit->states + unit->inputs);
}

static void linear_lay_out(struct tt_linear_unit *unit, const double *values)
{
    unit->a = values;
    unit->b = unit->a + unit->states * unit->states;
    unit->c = unit->b + unit->states * unit->inputs;
    unit->d = unit->c + unit->outputs * unit->states;
}

static void linear_pack(const struct tt_linear_unit *unit, double *values)
{
    const size_t sizes[] = {unit->states * unit->states, unit->states * unit->inputs, unit->outputs * unit->states,
                            unit->outputs * unit->inputs};
    const double *const matrices[] = {unit->a, unit->b, unit->c, unit->d};
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < sizes[k]; i++)
            values[i] = matrices[k][i];
        values += sizes[k];
    }
}

/* ---- units for Co-Simulation ---- */

static enum tutti_err linear_set_twin_inputs(struct linear_collector *c, struct tt_unit *twin, uint32_t component)
{
    const struct tt_structure *structure = &c->rank->job->structure;
    const struct tt_member *member = &c->rank->members[component];
    if (member->inputs)
        TRY(tt_inputs_set_all(member->inputs, twin));
    for (uint32_t n = structure->component_first[component]; n < structure->component_first[component + 1]; n++) {
        struct tt_slot *slot = &c->rank->wires.slots[n];
        struct tt_block block = {(enum tt_type)slot->type, 1, slot->count, &slot->reference, slot->values, NULL};
        if (structure->nodes[n].output)
            continue;
        TRY(tt_wires_gather_node(&c->rank->wires, n));
        TRY(twin->kind->set(twin, &block));
    }
    return TUTTI_OK;
}

static enum tutti_err start_linear_twin(struct linear_collector *c, struct tt_unit *twin, uint32_t component)
{
    const struct tt_rank *rank = c->rank;
    const struct tt_component *of = &rank->job->system->components[component];
    struct tt_experiment_setup setup = {.start = rank->times.start,
                                        .stop = rank->times.stop,
                                        .has_stop = !rank->job->options.open_end &&
                                                    !rank->members[component].setup.no_stop_time};
    struct tt_unit_event event;
    TRY(twin->kind->set_up(twin, &setup));
    TRY(tt_unit_apply(twin, of->settings, of->setting_count));
    TRY(twin->kind->enter_init(twin));
    TRY(tt_unit_apply_inputs(twin, of->settings, of->setting_count));
    TRY(linear_set_twin_inputs(c, twin, component));
    TRY(twin->kind->exit_init(twin));
    return twin->kind->settle(twin, &event);
}

static enum tutti_err linearize_twin_here(struct linear_collector *c, uint32_t component, const struct tutti_log *log)
{
    struct tt_fmu *fmu = c->rank->job->system->components[component].fmu;
    const struct tt_unit *unit = c->rank->units[component];
    struct tt_unit *twin = NULL;
    struct tt_unit_options options = {.name = unit->name,
                                      .log = log,
                                      .interface = TUTTI_INTERFACE_ME,
                                      .integration = {.rtol = 1e-4, .atol = 1e-6, .h_max = c->rank->span}};
    TRY(tt_fmu_load(fmu, TUTTI_ME, log));
    TRY(tt_unit_new(&twin, fmu, &options));
    enum tutti_err err = start_linear_twin(c, twin, component);
    if (!err)
        err = linear_collect_unit(c, twin, component);
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    tt_unit_free(twin);
    return tt_fail_restore(&failure);
}

/* ---- in a child process ---- */

enum { PATIENCE = 60 }; /* seconds for it */

struct twin_request {
    struct linear_collector *collector;
    uint32_t component;
};

/* The answer: how many states there are, and the matrices. */
static void linear_send_answer(void *context, int fd)
{
    static const struct tutti_log silent = {0}; /* messages of a second instance would repeat those of the run's unit */
    const struct twin_request *asked = context;
    const struct tt_linear_unit *own = &asked->collector->units[asked->component];
    if (linearize_twin_here(asked->collector, asked->component, &silent))
        return;
    size_t count = 1 + count_matrix_entries(own);
    double *numbers = tt_arena_array(&asked->collector->model->arena, count, sizeof *numbers);
    if (!numbers)
        return;
    numbers[0] = (double)own->states;
    linear_pack(own, numbers + 1);
    (void)tt_fs_write(fd, numbers, count * sizeof *numbers, -1);
}

/* An incomplete answer is rejected. */
static enum tutti_err linear_read_answer(struct linear_collector *c, uint32_t component, const double *numbers,
                                         size_t count)
{
    struct tt_linear_unit *own = &c->units[component];
    own->states = count > 0 && numbers[0] >= 0 && numbers[0] < 1e6 ? (size_t)numbers[0] : 0;
    if (count != 1 + count_matrix_entries(own))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "no answer");
    double *values = tt_arena_array(&c->model->arena, count, sizeof *values);
    if (!values)
        return tt_fail_memory();
    memcpy(values, numbers + 1, (count - 1) * sizeof *values);
    linear_lay_out(own, values);
    return TUTTI_OK;
}

static enum tutti_err linearize_twin_in_child(struct linear_collector *c, uint32_t component)
{
    struct twin_request asked = {c, component};
    void *numbers;
    size_t size;
    if (!tt_child_run(linear_send_answer, &asked, PATIENCE, &numbers, &size))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "no answer");
    enum tutti_err err = linear_read_answer(c, component, numbers, size / sizeof(double));
    free(numbers);
    return err;
}

/* Linearises a second unit of the same FMU, for Model Exchange, with the same parameters and inputs. */
static enum tutti_err linearize_twin(struct linear_collector *c, uint32_t component)
{
    const struct tt_fmu *fmu = c->rank->job->system->components[component].fmu;
    const struct tt_unit *unit = c->rank->units[component];
    if (c->twins == TUTTI_TWINS_NONE || !fmu->desc->interfaces[TUTTI_ME].present ||
        (fmu->desc->interfaces[TUTTI_ME].flags & TUTTI_ONCE_PER_PROCESS))
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "'%s' (%s) is for Co-Simulation%s: its states cannot be seen. What holds for small steps needs "
                       "none; with another export, for Model Exchange too, more can be said",
                       unit->name, fmu->path,
                       fmu->desc->interfaces[TUTTI_ME].present ? ", and can be made once only" : "");
    c->model->by_twins = true;
    c->model->by_twins = true;
    return c->twins == TUTTI_TWINS_HERE ? linearize_twin_here(c, component, c->rank->unit_log)
                                        : linearize_twin_in_child(c, component);
}

/* ---- units ---- */

/* Inputs that act on an output directly are held at their end value, otherwise at their mean:
 * tt_coupled_inputs_choose_holds. */
static enum tutti_err place_held_inputs(struct linear_collector *c, uint32_t component)
{
    const struct tt_structure *running = c->running;
    struct tt_linear_unit *own = &c->units[component];
    double *at = tt_arena_array(&c->model->arena, own->inputs, sizeof *at);
    if (!at)
        return tt_fail_memory();
    for (size_t i = 0; i < own->inputs; i++)
        at[i] = 0.5;
    for (uint32_t n = running->component_first[component]; n < running->component_first[component + 1]; n++)
        for (uint32_t k = running->graph.first[n]; running->nodes[n].output && k < running->graph.first[n + 1] &&
                                                   !tt_structure_is_assumed(running, component);
             k++) {
            const struct tt_structure_node *input = &running->nodes[running->graph.needs[k]];
            uint32_t node = tt_structure_find(&c->rank->job->structure, input->component, input->variable, false);
            size_t place = linear_place_of(c, node);
            for (uint32_t e = 0; e < c->rank->wires.slots[node].count && place != SIZE_MAX; e++)
                at[place - c->first_input[component] + e] = 1;
        }
    own->at = at;
    return TUTTI_OK;
}

static enum tutti_err linear_count_values(struct linear_collector *c)
{
    uint32_t count = c->rank->member_count;
    c->units = tt_arena_array(&c->model->arena, count, sizeof *c->units);
    c->first_input = tt_arena_array(&c->model->arena, (size_t)count + 1, sizeof *c->first_input);
    c->first_output = tt_arena_array(&c->model->arena, (size_t)count + 1, sizeof *c->first_output);
    if (!c->units || !c->first_input || !c->first_output)
        return tt_fail_memory();
    for (uint32_t m = 0; m < count; m++) {
        c->units[m].inputs = count_values(c, m, false);
        c->units[m].outputs = count_values(c, m, true);
        c->first_input[m + 1] = c->first_input[m] + c->units[m].inputs;
        c->first_output[m + 1] = c->first_output[m] + c->units[m].outputs;
    }
    c->model->system = (struct tt_linear_system){
        .units = c->units, .unit_count = count, .inputs = c->first_input[count], .outputs = c->first_output[count]};
    return TUTTI_OK;
}

static bool is_linearized_by_twin(const struct linear_collector *c, uint32_t component)
{
    return tt_rank_owns(c->rank, component);
}

static enum tutti_err collect_own_units(struct linear_collector *c)
{
    for (uint32_t m = 0; m < c->rank->member_count; m++) {
        struct tt_unit *unit = c->rank->units[m];
        if (is_linearized_by_twin(c, m))
            TRY(unit->kind->interface == TUTTI_ME ? linear_collect_unit(c, unit, m) : linearize_twin(c, m));
    }
    return TUTTI_OK;
}

/* ---- several ranks ---- */

/* How many states there are, and whether all ranks came so far. */
static enum tutti_err agree_on_states(struct linear_collector *c, enum tutti_err own)
{
    uint32_t count = c->rank->member_count;
    double *states = tt_arena_array(&c->model->arena, (size_t)count + 1, sizeof *states);
    if (!states)
        return tt_fail_memory();
    for (uint32_t m = 0; m < count; m++)
        states[m] = is_linearized_by_twin(c, m) ? (double)c->units[m].states : -INFINITY;
    states[count] = own != TUTTI_OK;
    TRY(tt_rank_reduce(c->rank, TUTTI_REDUCE_MAX, states, (size_t)count + 1));
    if (own)
        return own;
    if (states[count] > 0)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "a unit of another rank cannot be linearised");
    for (uint32_t m = 0; m < count; m++) {
        c->units[m].states = (size_t)states[m];
        c->model->system.states += c->units[m].states;
    }
    return TUTTI_OK;
}

static enum tutti_err linear_share(struct linear_collector *c)
{
    uint32_t count = c->rank->member_count;
    size_t total = 0;
    for (uint32_t m = 0; m < count; m++)
        total += count_matrix_entries(&c->units[m]);
    double *values = tt_arena_array(&c->model->arena, total, sizeof *values), *at = values;
    if (!values)
        return tt_fail_memory();
    for (uint32_t m = 0; m < count; m++) {
        if (is_linearized_by_twin(c, m))
            linear_pack(&c->units[m], at);
        for (size_t i = 0; i < count_matrix_entries(&c->units[m]) && !is_linearized_by_twin(c, m); i++)
            at[i] = -INFINITY;
        linear_lay_out(&c->units[m], at);
        at += count_matrix_entries(&c->units[m]);
    }
    return tt_rank_reduce(c->rank, TUTTI_REDUCE_MAX, values, total);
}

static enum tutti_err linear_model_collect(struct linear_collector *c)
{
    TRY(linear_count_values(c));
    TRY(tt_linear_model_check_links(c->rank)); /* outputs of the model structure only have a row in C and D */
    struct tt_linear_system *system = &c->model->system;
    system->links = c->links = tt_arena_array(&c->model->arena, system->inputs * system->outputs, sizeof *c->links);
    if (!c->links)
        return tt_fail_memory();
    tt_linear_model_each_link(c->rank, linear_add_link, c);
    TRY(collect_constraints(c));

    for (uint32_t m = 0; m < c->rank->member_count; m++) {
        const struct tt_unit *unit = c->rank->units[m];
        c->units[m].takes = unit->asks_for_inputs || (unit->can & TUTTI_CAN_INPUT_DERIVATIVES);
        c->units[m].gives = unit->output_order;
    }
    const struct tt_step_sequence *sequence = c->sequence;
    for (uint32_t w = 0; w < sequence->wave_count; w++)
        for (uint32_t i = sequence->wave_first[w]; i < sequence->wave_first[w + 1]; i++)
            c->units[sequence->components[i]].place = w;

    for (uint32_t m = 0; m < c->rank->member_count; m++) {
        if (c->rank->members[m].has_grid)
            return tt_fail(TUTTI_ERR_UNSUPPORTED, "'%s' has steps of its own", c->rank->units[m]->name);
        TRY(place_held_inputs(c, m));
    }
    enum tutti_err err = collect_own_units(c);
    TRY(agree_on_states(c, err));
    return linear_share(c);
}

enum tutti_err tt_linear_model_init(struct tt_linear_model *model, struct tt_rank *rank,
                                    const struct tt_structure *running, const struct tt_step_sequence *sequence,
                                    enum tt_linear_twins twins)
{
    *model = (struct tt_linear_model){0};
    struct linear_collector c = {
        .model = model, .rank = rank, .running = running, .sequence = sequence, .twins = twins};
    return linear_model_collect(&c);
}

void tt_linear_model_fini(struct tt_linear_model *model)
{
    tt_arena_fini(&model->arena);
}

bool tt_linear_model_is_real(const struct tt_var *var)
{
    return var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS;
}

const struct tt_var *tt_linear_model_variable(const struct tt_structure *structure, uint32_t node)
{
    const struct tt_structure_node *n = &structure->nodes[node];
    return &structure->system->components[n->component].fmu->desc->vars[n->variable];
}

static void visit_wire_links(const struct tt_rank *rank, const struct tt_wire *wire, uint32_t node,
                             tt_linear_model_visit_link *visit, void *context)
{
    const struct tt_structure *structure = &rank->job->structure;
    const struct tt_wires *wires = &rank->wires;
    const struct tt_end *from = &wire->connection->from;
    uint32_t source = tt_structure_find(structure, from->component, from->variable, true);
    if (source == TUTTI_NONE || wire->connection->at_start_only ||
        !tt_linear_model_is_real(tt_linear_model_variable(structure, source)))
        return;
    const double *signals = (const double *)(const void *)wires->signals;
    size_t first = (size_t)((const double *)wires->slots[source].values - signals);
    visit(context, &(struct tt_signal_link){
                       .from = source,
                       .to = node,
                       .from_element = wire->from / sizeof(double) - first,
                       .to_element = (size_t)((const double *)wire->to - (const double *)wires->slots[node].values),
                       .count = wire->count,
                       .factor = wire->conversion->linear ? wire->conversion->factor : 1});
}

void tt_linear_model_each_link(const struct tt_rank *rank, tt_linear_model_visit_link *visit, void *context)
{
    const struct tt_structure *structure = &rank->job->structure;
    const struct tt_wires *wires = &rank->wires;
    for (uint32_t n = 0; n < structure->node_count; n++) {
        const struct tt_slot *slot = &wires->slots[n];
        if (structure->nodes[n].output || !tt_linear_model_is_real(tt_linear_model_variable(structure, n)))
            continue;
        for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++)
            if (wires->wires[w].conversion->from == TUTTI_TYPE_FLOAT64)
                visit_wire_links(rank, &wires->wires[w], n, visit, context);
    }
}

enum tutti_err tt_linear_model_check_links(const struct tt_rank *rank)
{
    const struct tt_structure *structure = &rank->job->structure;
    for (uint32_t n = 0; n < structure->node_count; n++) {
        const struct tt_var *var = tt_linear_model_variable(structure, n);
        bool fits = var->causality == (structure->nodes[n].output ? TUTTI_OUTPUT : TUTTI_INPUT);
        if (tt_linear_model_is_real(var) && !fits && rank->wires.slots[n].wire_count + structure->nodes[n].output > 0)
            return tt_fail(TUTTI_ERR_UNSUPPORTED, "'%s.%s' is connected, and is no %s",
                           rank->units[structure->nodes[n].component]->name, var->name,
                           structure->nodes[n].output ? "output" : "input");
    }
    return TUTTI_OK;
}
