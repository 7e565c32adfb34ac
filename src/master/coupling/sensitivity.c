/* SPDX-License-Identifier: MIT */
#include "master/coupling/sensitivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "start/difference.h"

/* An entry while they are collected. */
struct pair {
    uint32_t place, real;
    uint32_t input; /* node */
};

struct builder {
    struct tutti_sensitivity *sensitivity;
    struct tutti_rank *rank;
    const struct tutti_structure *running;
    bool may_miss;
    uint32_t *real_of; /* per node of the run's structure: its first real; TUTTI_NONE: it has none */
    struct pair *pairs;
    size_t pair_count, room;
};

/* ---- the pattern ---- */

static const struct tutti_var *var_of(const struct tutti_rank *rank, uint32_t node)
{
    const struct tutti_structure_node *n = &rank->job->structure.nodes[node];
    return &rank->job->system->components[n->component].fmu->desc->vars[n->variable];
}

/* The signals are laid out by the structure of the initial phase, which has all nodes of the running one. */
static uint32_t node_of(const struct builder *builder, uint32_t running)
{
    const struct tutti_structure_node *n = &builder->running->nodes[running];
    return tutti_structure_find(&builder->rank->job->structure, n->component, n->variable, n->output);
}

static enum tutti_err add_pair(struct builder *builder, const struct pair *pair)
{
    if (builder->pair_count == builder->room) {
        size_t room = 2 * builder->room + 64;
        struct pair *more = realloc(builder->pairs, room * sizeof *more);
        if (!more)
            return tutti_fail_memory();
        builder->pairs = more;
        builder->room = room;
    }
    builder->pairs[builder->pair_count++] = *pair;
    return TUTTI_OK;
}

static uint32_t place_of(const struct builder *builder, uint32_t input)
{
    const struct tutti_wires *wires = &builder->rank->wires;
    return (uint32_t)((const double *)wires->slots[input].values - wires->gathered);
}

static bool is_moving(const struct builder *builder, uint32_t input)
{
    const struct tutti_var *var = var_of(builder->rank, input);
    return tutti_type_is_float((enum tutti_type)var->type) && var->variability == TUTTI_CONTINUOUS;
}

/* All elements of an output by all elements of an input, if both are continuous Float64: of floats, differences tell too little. */
static enum tutti_err add_nodes(struct builder *builder, uint32_t output, uint32_t input)
{
    const struct tutti_wires *wires = &builder->rank->wires;
    uint32_t real = builder->real_of[output];
    if (real == TUTTI_NONE || !wires->reals[real].smooth || wires->reals[real].narrow || !is_moving(builder, input) ||
        wires->slots[input].narrow)
        return TUTTI_OK;
    uint32_t place = place_of(builder, input);
    for (uint32_t i = 0; i < wires->slots[input].count; i++)
        for (uint32_t o = 0; o < wires->slots[output].count; o++)
            TRY(add_pair(builder, &(struct pair){place + i, real + o, input}));
    return TUTTI_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;
    if (left->place != right->place)
        return left->place < right->place ? -1 : 1;
    return left->real < right->real ? -1 : left->real > right->real;
}

static enum tutti_err collect(struct builder *builder)
{
    const struct tutti_structure *running = builder->running;
    const struct tutti_wires *wires = &builder->rank->wires;
    for (uint32_t n = 0; n < builder->rank->job->structure.node_count; n++)
        builder->real_of[n] = TUTTI_NONE;
    for (uint32_t i = wires->real_count; i-- > 0;)
        builder->real_of[wires->reals[i].node] = i;
    for (uint32_t n = 0; n < running->node_count; n++)
        for (uint32_t k = running->graph.first[n]; running->nodes[n].output && k < running->graph.first[n + 1]; k++)
            TRY(add_nodes(builder, node_of(builder, n), node_of(builder, running->graph.needs[k])));
    if (builder->pair_count > 0)
        qsort(builder->pairs, builder->pair_count, sizeof *builder->pairs, by_place);
    return TUTTI_OK;
}

/* The wire that ends at the column's place, and the real that it begins at. */
static void find_source(const struct tutti_wires *wires, const struct tutti_slot *slot,
                        struct tutti_sensitivity_column *column)
{
    column->source = TUTTI_NONE;
    for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++) {
        const struct tutti_wire *wire = &wires->wires[w];
        size_t to = (size_t)((const double *)wire->to - wires->gathered);
        if (column->place < to || column->place >= to + wire->count)
            continue;
        if (column->wire && wire->adds)
            column->sums = true;
        column->wire = wire;
        column->element = column->place - (uint32_t)to;
        if (wire->conversion->from == TUTTI_TYPE_FLOAT64)
            column->source = tutti_wires_real_at(wires, wire->from / sizeof(double) + column->element);
        if (column->source != TUTTI_NONE && wires->reals[column->source].narrow)
            column->source = TUTTI_NONE;
    }
}

static double size_of(const struct tutti_rank *rank, uint32_t input, const struct tutti_sensitivity_column *column)
{
    const struct tutti_bounds *bounds = var_of(rank, input)->bounds;
    if (bounds && bounds->has_nominal && bounds->nominal > 0 && isfinite(bounds->nominal))
        return bounds->nominal;
    double size = column->source == TUTTI_NONE ? 1 : rank->wires.reals[column->source].nominal;
    if (column->wire && column->wire->conversion->linear)
        size *= fabs(column->wire->conversion->factor);
    return size > 0 && isfinite(size) ? size : 1;
}

/* ---- the units ---- */

static bool can_go_back(const struct tutti_unit *unit)
{
    return unit->kind->interface == TUTTI_ME || ((unit->can & TUTTI_CAN_STATE) && !unit->uniform);
}

static enum tutti_err no_way(const struct tutti_unit *unit)
{
    return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                      "--correct has to know how the outputs of '%s' (%s) follow its inputs: the FMU gives no "
                      "directional derivatives, and cannot go back after a short step that tries it "
                      "(canGetAndSetFMUState, canHandleVariableCommunicationStepSize); use --coupling seidel, or "
                      "another export of the FMU with one of both, or for Model Exchange. --coupling relax needs "
                      "units that go back, too, and a smaller step does not help",
                      unit->name, unit->fmu->path);
}

static struct tutti_member *member_of(struct tutti_rank *rank, uint32_t component)
{
    return &rank->members[component];
}

/* A loop needs the D of all units in it. Others' outputs are as good without, as those of any explicit coupling. */
static enum tutti_err do_without(const struct builder *builder, struct tutti_sensitivity_unit *unit)
{
    const struct tutti_unit *own = unit->member->unit;
    unit->unknown = true;
    if (builder->may_miss)
        return TUTTI_OK;
    if (tutti_structure_is_in_loop(builder->running, unit->member->component))
        return no_way(own);
    tutti_log_printf(
        builder->rank->unit_log, TUTTI_LOG_INFO, own->name,
        "--correct leaves its outputs as they are: the FMU gives no directional derivatives, and cannot go "
        "back; it is in no algebraic loop");
    return TUTTI_OK;
}

/* Directional derivatives are asked for scalars only. */
static enum tutti_err add_unit(const struct builder *builder, uint32_t component)
{
    struct tutti_sensitivity *s = builder->sensitivity;
    struct tutti_sensitivity_unit *unit = &s->units[s->unit_count++];
    *unit = (struct tutti_sensitivity_unit){.component = component, .column_first = s->column_count};
    if (!tutti_rank_owns(builder->rank, component))
        return TUTTI_OK;
    unit->member = member_of(builder->rank, component);
    const struct tutti_unit *own = unit->member->unit;
    unit->directional = own->kind->interface == TUTTI_ME || (own->can & TUTTI_CAN_DIRECTIONAL);
    return unit->directional || can_go_back(own) ? TUTTI_OK : do_without(builder, unit);
}

static enum tutti_err note_array(const struct builder *builder, struct tutti_sensitivity_unit *unit)
{
    unit->directional = false;
    return can_go_back(unit->member->unit) ? TUTTI_OK : do_without(builder, unit);
}

static enum tutti_err add_column(const struct builder *builder, const struct pair *pair)
{
    struct tutti_sensitivity *s = builder->sensitivity;
    const struct tutti_rank *rank = builder->rank;
    uint32_t component = rank->wires.reals[pair->real].component;
    if (s->column_count == 0 || rank->wires.reals[s->rows[s->entry_count - 1]].component != component)
        TRY(add_unit(builder, component));
    struct tutti_sensitivity_column *column = &s->columns[s->column_count++];
    *column = (struct tutti_sensitivity_column){.place = pair->place,
                                                .unit = s->unit_count - 1,
                                                .reference = rank->wires.slots[pair->input].reference,
                                                .first = s->entry_count};
    find_source(&rank->wires, &rank->wires.slots[pair->input], column);
    if (column->sums)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "--correct is for inputs with one source, and '%s.%s' is a sum of several outputs; use "
                          "--coupling relax or seidel",
                          rank->job->system->components[component].name, var_of(rank, pair->input)->name);
    column->size = size_of(rank, pair->input, column);
    s->units[column->unit].column_count++;
    return TUTTI_OK;
}

static enum tutti_err add_entry(const struct builder *builder, const struct pair *pair)
{
    struct tutti_sensitivity *s = builder->sensitivity;
    const struct tutti_wires *wires = &builder->rank->wires;
    uint32_t output = wires->reals[pair->real].node;
    if (s->column_count == 0 || s->columns[s->column_count - 1].place != pair->place)
        TRY(add_column(builder, pair));
    s->rows[s->entry_count] = pair->real;
    s->references[s->entry_count++] = wires->slots[output].reference;
    struct tutti_sensitivity_unit *unit = &s->units[s->unit_count - 1];
    bool array = var_of(builder->rank, pair->input)->dimension_count > 0 ||
                 var_of(builder->rank, output)->dimension_count > 0;
    return array && unit->member && unit->directional ? note_array(builder, unit) : TUTTI_OK;
}

static enum tutti_err make_room(const struct builder *builder)
{
    struct tutti_sensitivity *s = builder->sensitivity;
    const struct tutti_rank *rank = builder->rank;
    size_t columns = 0, units = rank->job->system->component_count;
    for (size_t i = 0; i < builder->pair_count; i++)
        columns += i == 0 || builder->pairs[i].place != builder->pairs[i - 1].place;
    s->columns = tutti_arena_array(&s->arena, columns + 1, sizeof *s->columns);
    s->units = tutti_arena_array(&s->arena, units, sizeof *s->units);
    s->rows = tutti_arena_array(&s->arena, builder->pair_count, sizeof *s->rows);
    s->references = tutti_arena_array(&s->arena, builder->pair_count, sizeof *s->references);
    s->again = tutti_arena_array(&s->arena, builder->pair_count, sizeof *s->again);
    s->knowns = tutti_arena_array(&s->arena, columns, sizeof *s->knowns);
    s->base = tutti_arena_array(&s->arena, rank->wires.real_count, sizeof *s->base);
    s->moved = tutti_arena_array(&s->arena, rank->wires.real_count, sizeof *s->moved);
    s->staged = tutti_arena_array(&s->arena, rank->wires.gather_count, sizeof *s->staged);
    bool all = s->knowns && s->columns && s->units && s->rows && s->references && s->again && s->base && s->moved &&
               s->staged;
    for (unsigned o = 0; o < rank->wires.order; o++) {
        s->staged_slopes[o] = tutti_arena_array(&s->arena, rank->wires.gather_count, sizeof(double));
        all = all && s->staged_slopes[o];
    }
    return all ? TUTTI_OK : tutti_fail_memory();
}

/* ---- rows: adjoint derivatives (FMI 3.0 Co-Simulation) ---- */

/* Is it the first entry of its row, among those of the unit? */
static bool begins_row(const struct tutti_sensitivity *s, const struct tutti_sensitivity_unit *own, uint32_t entry)
{
    for (uint32_t e = s->columns[own->column_first].first; e < entry; e++)
        if (s->rows[e] == s->rows[entry])
            return false;
    return true;
}

static uint32_t end_of(const struct tutti_sensitivity *s, const struct tutti_sensitivity_unit *own)
{
    return s->columns[own->column_first + own->column_count].first;
}

/* Are there fewer rows than columns, one more for the comparison? */
static bool prefers_rows(const struct tutti_sensitivity *s, const struct tutti_sensitivity_unit *own)
{
    const struct tutti_unit *unit = own->member->unit;
    if (unit->kind->interface != TUTTI_CS || !(unit->can & TUTTI_CAN_DIRECTIONAL) ||
        !tutti_instance_has_adjoint(unit->instance))
        return false;
    uint32_t rows = 0;
    for (uint32_t e = s->columns[own->column_first].first; e < end_of(s, own) && rows + 1 < own->column_count; e++)
        rows += begins_row(s, own, e);
    return rows + 1 < own->column_count;
}

static enum tutti_err ask_row(const struct tutti_sensitivity *s, const struct tutti_sensitivity_unit *own,
                              uint32_t entry, double *values)
{
    double seed = 1;
    TRY(tutti_instance_get_adjoint(own->member->unit->instance, &s->references[entry], 1, s->knowns + own->column_first,
                                   own->column_count, &seed, 1, s->staged, own->column_count));
    for (uint32_t c = 0; c < own->column_count; c++) {
        const struct tutti_sensitivity_column *column = &s->columns[own->column_first + c];
        for (uint32_t e = column->first; e < column[1].first; e++)
            if (s->rows[e] == s->rows[entry])
                values[e] = s->staged[c];
    }
    return TUTTI_OK;
}

/* The first row times a vector of ones, and a directional derivative: once. */
static enum tutti_err test_rows(const struct tutti_sensitivity *s, struct tutti_sensitivity_unit *own,
                                const double *values)
{
    struct tutti_unit *unit = own->member->unit;
    uint32_t first = s->columns[own->column_first].first;
    double sum = 0, size = 0, product = 0;
    own->rows_tested = true;
    for (uint32_t c = 0; c < own->column_count; c++)
        s->staged[c] = 1;
    for (uint32_t e = first; e < end_of(s, own); e++)
        if (s->rows[e] == s->rows[first]) {
            sum += values[e];
            size += fabs(values[e]);
        }
    TRY(unit->kind->get_directional(unit, &s->references[first], 1, s->knowns + own->column_first, own->column_count,
                                    s->staged, &product));
    return fabs(sum - product) <= 1e-6 * fmax(size, fabs(product))
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_UNSUPPORTED,
                            "%s: its adjoint derivatives and its directional derivatives contradict each other",
                            unit->name);
}

/* UNSUPPORTED: columns will have to do. */
static enum tutti_err ask_rows(const struct tutti_sensitivity *s, struct tutti_sensitivity_unit *own, double *values)
{
    for (uint32_t e = s->columns[own->column_first].first; e < end_of(s, own); e++)
        if (begins_row(s, own, e))
            TRY(ask_row(s, own, e, values));
    return own->rows_tested ? TUTTI_OK : test_rows(s, own, values);
}

/* ---- building ---- */

static enum tutti_err build(struct builder *builder)
{
    struct tutti_sensitivity *s = builder->sensitivity;
    TRY(collect(builder));
    if (builder->pair_count >= UINT32_MAX)
        return tutti_fail(TUTTI_ERR_LIMIT, "--correct: more than %u pairs of inputs and outputs with feed-through",
                          UINT32_MAX);
    TRY(make_room(builder));
    for (size_t i = 0; i < builder->pair_count; i++)
        TRY(add_entry(builder, &builder->pairs[i]));
    s->columns[s->column_count].first = s->entry_count;
    for (uint32_t c = 0; c < s->column_count; c++)
        s->knowns[c] = s->columns[c].reference;
    for (uint32_t u = 0; u < s->unit_count; u++)
        s->units[u].by_rows = s->units[u].member && s->units[u].directional && prefers_rows(s, &s->units[u]);
    return TUTTI_OK;
}

/* A unit that takes derivatives gets those of all its inputs; one that asks for values inside a step (moving.h) asks for some
 * of them. */
static void note_moving(const struct builder *builder, uint32_t input)
{
    const struct tutti_rank *rank = builder->rank;
    const struct tutti_slopes *slopes = rank->wires.units[rank->job->structure.nodes[input].component].slopes;
    const struct tutti_var *var = var_of(rank, input);
    bool asked = tutti_var_moves(var);
    for (uint32_t e = 0; slopes && (slopes->count > 0 || asked) && e < rank->wires.slots[input].count; e++)
        builder->sensitivity->moves[place_of(builder, input) + e] = true;
}

static enum tutti_err find_moving(const struct builder *builder)
{
    struct tutti_sensitivity *s = builder->sensitivity;
    s->moves = tutti_arena_array(&s->arena, builder->rank->wires.gather_count, sizeof *s->moves);
    if (!s->moves)
        return tutti_fail_memory();
    for (uint32_t n = 0; n < builder->running->node_count; n++) {
        uint32_t input = node_of(builder, n);
        if (!builder->running->nodes[n].output && is_moving(builder, input))
            note_moving(builder, input);
    }
    return TUTTI_OK;
}

enum tutti_err tutti_sensitivity_init(struct tutti_sensitivity *sensitivity, struct tutti_rank *rank,
                                      const struct tutti_structure *running, struct tutti_sensitivity_scope scope)
{
    *sensitivity = (struct tutti_sensitivity){0};
    struct builder builder = {.sensitivity = sensitivity, .rank = rank, .running = running, .may_miss = scope.may_miss};
    TRY(find_moving(&builder));
    if (!scope.entries)
        return TUTTI_OK;
    builder.real_of = calloc((size_t)rank->job->structure.node_count + 1, sizeof *builder.real_of);
    enum tutti_err err = builder.real_of ? build(&builder) : tutti_fail_memory();
    free(builder.real_of);
    free(builder.pairs);
    return err;
}

void tutti_sensitivity_fini(struct tutti_sensitivity *sensitivity)
{
    for (uint32_t u = 0; u < sensitivity->unit_count; u++) {
        struct tutti_sensitivity_unit *unit = &sensitivity->units[u];
        if (unit->member)
            unit->member->unit->kind->discard(unit->member->unit, unit->saved);
    }
    tutti_arena_fini(&sensitivity->arena);
    *sensitivity = (struct tutti_sensitivity){0};
}

/* ---- values ---- */

/* Slopes go with a step: at an event, inputs are set without any. */
double tutti_sensitivity_input(const struct tutti_sensitivity *s, const struct tutti_rank *rank,
                               const struct tutti_member *member, uint32_t place, unsigned derivative)
{
    const struct tutti_wires *wires = &rank->wires;
    double elapsed = member->now.t - member->now.staged_at;
    bool moves = s->moves[place] && (elapsed > 0 || member->now.slopes_at == member->now.t);
    if (derivative == 0)
        return moves ? tutti_wires_moved(wires, place, elapsed) : wires->gathered[place];
    if (!moves || derivative > wires->order)
        return 0;
    double value = wires->gathered_slopes[derivative - 1][place];
    return derivative == 1 && wires->order > 1 ? value + elapsed * wires->gathered_slopes[1][place] : value;
}

/* ---- columns ---- */

static enum tutti_err ask(const struct tutti_sensitivity *s, struct tutti_sensitivity_unit *own, double *values)
{
    if (own->by_rows) {
        enum tutti_err err = ask_rows(s, own, values);
        if (err != TUTTI_ERR_UNSUPPORTED)
            return err;
        own->by_rows = false;
    }
    struct tutti_unit *unit = own->member->unit;
    for (uint32_t c = own->column_first; c < own->column_first + own->column_count; c++) {
        const struct tutti_sensitivity_column *column = &s->columns[c];
        double seed = 1;
        TRY(unit->kind->get_directional(unit, s->references + column->first, column[1].first - column->first,
                                        &column->reference, 1, &seed, values + column->first));
    }
    return TUTTI_OK;
}

/* One short step from where the unit is, with the inputs that are staged. (Model Exchange needs none.) */
static enum tutti_err try_inputs(const struct tutti_member *member, double h, double *outputs, bool *done)
{
    struct tutti_unit *unit = member->unit;
    struct tutti_step step = {.reached = member->now.t + h};
    for (unsigned b = 0; b < member->wires->moving_blocks; b++)
        TRY(unit->kind->set(unit, &member->wires->moving[b]));
    if (unit->kind->interface == TUTTI_CS) {
        TRY(unit->kind->step(unit, member->now.t, h, &step));
        unit->counts.auxiliary++;
        unit->counts.attributed++;
    }
    *done = !step.discarded && !step.event && !step.terminate && step.reached >= member->now.t + h;
    for (unsigned b = 0; b < member->wires->output_blocks && *done; b++) {
        struct tutti_block block = member->wires->outputs[b];
        block.values = outputs;
        if (block.type != TUTTI_TYPE_FLOAT64)
            continue;
        TRY(unit->kind->get(unit, &block));
        outputs += block.value_count;
    }
    return TUTTI_OK;
}

static enum tutti_err try_and_go_back(const struct tutti_sensitivity_unit *own, double h, double *outputs, bool *done)
{
    struct tutti_unit *unit = own->member->unit;
    enum tutti_err err = try_inputs(own->member, h, outputs, done);
    if (err && err != TUTTI_ERR_DISCARD)
        return err;
    *done = *done && !err;
    return unit->kind->restore(unit, own->saved);
}

/* The quotients of a column, its input moved by `distance`; *steep: outputs follow steeply. */
static enum tutti_err try_distance(const struct tutti_sensitivity *s, struct tutti_rank *rank,
                                   const struct tutti_sensitivity_column *column, double h, double distance,
                                   double *values, bool *steep, bool *done)
{
    const struct tutti_sensitivity_unit *own = &s->units[column->unit];
    double *input = &rank->wires.gathered[column->place], value = *input;
    uint32_t first = rank->wires.real_first[rank->wires.reals[s->rows[column->first]].component];
    *input = value + distance;
    distance = *input - value; /* what it really moves by */
    enum tutti_err err = try_and_go_back(own, h, s->moved, done);
    *input = value;
    TRY(err);
    *steep = false;
    for (uint32_t e = column->first; e < column[1].first && *done; e++) {
        double before = s->base[s->rows[e] - first], after = s->moved[s->rows[e] - first];
        values[e] = (after - before) / distance;
        *steep = *steep || tutti_difference_is_steep(before, after);
        *done = isfinite(values[e]);
    }
    return TUTTI_OK;
}

/* A forward difference; backward where that leads out of the domain, or over a jump. The input moves by 1e-7 of its size:
 * rounding of the outputs and their bend then leave about seven digits. */
static enum tutti_err try_column(const struct tutti_sensitivity *s, struct tutti_rank *rank,
                                 const struct tutti_sensitivity_column *column, double h, double *values, bool *done)
{
    double size = fmax(fabs(rank->wires.gathered[column->place]), column->size);
    *done = false;
    for (int side = 0; side < 2 && !*done; side++) {
        double distance = (side ? -1e-7 : 1e-7) * size;
        bool steep, unused;
        TRY(try_distance(s, rank, column, h, distance, values, &steep, done));
        if (!*done || !steep)
            continue;
        TRY(try_distance(s, rank, column, h, 2 * distance, s->again, &unused, done));
        for (uint32_t e = column->first; e < column[1].first && *done; e++)
            *done = tutti_difference_agrees(values[e], s->again[e]);
    }
    return TUTTI_OK;
}

/* Nothing may happen in a short step but that. */
static bool has_room(const struct tutti_rank *rank, const struct tutti_member *member, double h)
{
    bool steps = member->unit->kind->interface == TUTTI_CS;
    double end = member->now.t + h;
    return !steps || (!member->now.event && end <= rank->times.stop && !(member->now.next_event <= end));
}

static enum tutti_err try_all(struct tutti_sensitivity *s, struct tutti_rank *rank, struct tutti_sensitivity_unit *own,
                              double h, double *values, bool *done)
{
    struct tutti_unit *unit = own->member->unit;
    TRY(unit->kind->save(unit, &own->saved));
    TRY(try_and_go_back(own, h, s->base, done));
    for (uint32_t c = own->column_first; c < own->column_first + own->column_count && *done; c++)
        TRY(try_column(s, rank, &s->columns[c], h, values, done));
    return TUTTI_OK;
}

/* Inputs are staged as they are now, and stand still: units may ask for them inside the step. */
static enum tutti_err by_trying(struct tutti_sensitivity *s, struct tutti_rank *rank,
                                struct tutti_sensitivity_unit *own, double h, double *values, bool *done)
{
    struct tutti_wires *wires = &rank->wires;
    uint32_t first = own->member->wires->gather_first, count = own->member->wires->gather_count;
    *done = false;
    if (!has_room(rank, own->member, h))
        return TUTTI_OK;
    memcpy(s->staged, wires->gathered + first, count * sizeof(double));
    for (uint32_t i = first; i < first + count; i++)
        wires->gathered[i] = tutti_sensitivity_input(s, rank, own->member, i, 0);
    for (unsigned o = 0; o < wires->order; o++) {
        memcpy(s->staged_slopes[o], wires->gathered_slopes[o] + first, count * sizeof(double));
        memset(wires->gathered_slopes[o] + first, 0, count * sizeof(double));
    }
    enum tutti_err err = try_all(s, rank, own, h, values, done);
    memcpy(wires->gathered + first, s->staged, count * sizeof(double));
    for (unsigned o = 0; o < wires->order; o++)
        memcpy(wires->gathered_slopes[o] + first, s->staged_slopes[o], count * sizeof(double));
    return err;
}

static bool all_finite(const struct tutti_sensitivity *s, const struct tutti_sensitivity_unit *own,
                       const double *values)
{
    bool finite = true;
    uint32_t end = s->columns[own->column_first + own->column_count].first;
    for (uint32_t e = s->columns[own->column_first].first; e < end; e++)
        finite = finite && isfinite(values[e]);
    return finite;
}

/* So short that states do not move (their part in what is measured goes with the step), and no shorter than time allows. */
static double short_step(const struct tutti_rank *rank, const struct tutti_member *member, double h)
{
    return fmax(1e-8 * h, 1e-10 * fmax(fabs(member->now.t), rank->span));
}

enum tutti_err tutti_sensitivity_measure(struct tutti_sensitivity *s, struct tutti_rank *rank, uint32_t unit, double h,
                                         double *values, bool *done)
{
    struct tutti_sensitivity_unit *own = &s->units[unit];
    const struct tutti_unit *fmu = own->member->unit;
    *done = !own->unknown;
    if (own->unknown)
        return TUTTI_OK;
    if (own->directional) {
        enum tutti_err err = ask(s, own, values);
        if (err != TUTTI_ERR_UNSUPPORTED || !can_go_back(fmu)) {
            *done = err != TUTTI_ERR_DISCARD && all_finite(s, own, values);
            return err == TUTTI_ERR_DISCARD ? TUTTI_OK : err;
        }
        own->directional = false; /* the FMU does not keep what it promises */
    }
    enum tutti_err err = by_trying(s, rank, own, short_step(rank, own->member, h), values, done);
    return err ? tutti_fail_context(err, "--correct: a short step that finds out how outputs follow inputs") : TUTTI_OK;
}
