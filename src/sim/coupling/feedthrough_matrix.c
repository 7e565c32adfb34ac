/* SPDX-License-Identifier: MIT */
#include "sim/coupling/feedthrough_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/start/feedthrough.h"

struct feedthrough_pair {
    uint32_t place, real;
    uint32_t input; /* node */
};

struct feedthrough_builder {
    struct tt_feedthrough_matrix *sensitivity;
    struct tt_rank *rank;
    const struct tt_structure *running;
    bool may_miss;
    uint32_t *real_of; /* per node of the run's structure: its first real; TUTTI_NONE: it has none */
    struct feedthrough_pair *pairs;
    size_t pair_count, room;
};

/* ---- the pattern ---- */

static const struct tt_var *feedthrough_matrix_var(const struct tt_rank *rank, uint32_t node)
{
    const struct tt_structure_node *n = &rank->job->structure.nodes[node];
    return &rank->job->system->components[n->component].fmu->desc->vars[n->variable];
}

/* The signals are laid out by the structure of the initial phase, which has all nodes of the running one. */
static uint32_t feedthrough_matrix_layout_node(const struct feedthrough_builder *builder, uint32_t running)
{
    const struct tt_structure_node *n = &builder->running->nodes[running];
    return tt_structure_find(&builder->rank->job->structure, n->component, n->variable, n->output);
}

static enum tutti_err feedthrough_matrix_add_pair(struct feedthrough_builder *builder,
                                                  const struct feedthrough_pair *pair)
{
    if (builder->pair_count == builder->room) {
        size_t room = 2 * builder->room + 64;
        struct feedthrough_pair *more = realloc(builder->pairs, room * sizeof *more);
        if (!more)
            return tt_fail_memory();
        builder->pairs = more;
        builder->room = room;
    }
    builder->pairs[builder->pair_count++] = *pair;
    return TUTTI_OK;
}

static uint32_t feedthrough_matrix_input_place(const struct feedthrough_builder *builder, uint32_t input)
{
    const struct tt_wires *wires = &builder->rank->wires;
    return (uint32_t)((const double *)wires->slots[input].values - wires->gathered);
}

static bool input_is_moving(const struct feedthrough_builder *builder, uint32_t input)
{
    const struct tt_var *var = feedthrough_matrix_var(builder->rank, input);
    return tt_type_is_float((enum tt_type)var->type) && var->variability == TUTTI_CONTINUOUS;
}

/* Adds all elements of an output by all of an input, if both are continuous Float64: for floats differences are
 * inaccurate. */
static enum tutti_err add_node_pairs(struct feedthrough_builder *builder, uint32_t output, uint32_t input)
{
    const struct tt_wires *wires = &builder->rank->wires;
    uint32_t real = builder->real_of[output];
    if (real == TUTTI_NONE || !wires->reals[real].smooth || wires->reals[real].narrow ||
        !input_is_moving(builder, input) || wires->slots[input].narrow)
        return TUTTI_OK;
    uint32_t place = feedthrough_matrix_input_place(builder, input);
    for (uint32_t i = 0; i < wires->slots[input].count; i++)
        for (uint32_t o = 0; o < wires->slots[output].count; o++)
            TRY(feedthrough_matrix_add_pair(builder, &(struct feedthrough_pair){place + i, real + o, input}));
    return TUTTI_OK;
}

static int feedthrough_matrix_compare_places(const void *a, const void *b)
{
    const struct feedthrough_pair *left = a, *right = b;
    if (left->place != right->place)
        return left->place < right->place ? -1 : 1;
    return left->real < right->real ? -1 : left->real > right->real;
}

static enum tutti_err feedthrough_matrix_collect_pairs(struct feedthrough_builder *builder)
{
    const struct tt_structure *running = builder->running;
    const struct tt_wires *wires = &builder->rank->wires;
    for (uint32_t n = 0; n < builder->rank->job->structure.node_count; n++)
        builder->real_of[n] = TUTTI_NONE;
    for (uint32_t i = wires->real_count; i-- > 0;)
        builder->real_of[wires->reals[i].node] = i;
    for (uint32_t n = 0; n < running->node_count; n++)
        for (uint32_t k = running->graph.first[n]; running->nodes[n].output && k < running->graph.first[n + 1]; k++)
            TRY(add_node_pairs(builder, feedthrough_matrix_layout_node(builder, n),
                               feedthrough_matrix_layout_node(builder, running->graph.needs[k])));
    if (builder->pair_count > 0)
        qsort(builder->pairs, builder->pair_count, sizeof *builder->pairs, feedthrough_matrix_compare_places);
    return TUTTI_OK;
}

/* The wire that ends at the column's place, and the real that it begins at. */
static void feedthrough_matrix_find_source(const struct tt_wires *wires, const struct tt_slot *slot,
                                           struct tt_feedthrough_column *column)
{
    column->source = TUTTI_NONE;
    for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++) {
        const struct tt_wire *wire = &wires->wires[w];
        size_t to = (size_t)((const double *)wire->to - wires->gathered);
        if (column->place < to || column->place >= to + wire->count)
            continue;
        if (column->wire && wire->adds)
            column->sums = true;
        column->wire = wire;
        column->element = column->place - (uint32_t)to;
        if (wire->conversion->from == TUTTI_TYPE_FLOAT64)
            column->source = tt_wires_find_real(wires, wire->from / sizeof(double) + column->element);
        if (column->source != TUTTI_NONE && wires->reals[column->source].narrow)
            column->source = TUTTI_NONE;
    }
}

static double feedthrough_matrix_input_size(const struct tt_rank *rank, uint32_t input,
                                            const struct tt_feedthrough_column *column)
{
    const struct tt_bounds *bounds = feedthrough_matrix_var(rank, input)->bounds;
    if (bounds && bounds->has_nominal && bounds->nominal > 0 && isfinite(bounds->nominal))
        return bounds->nominal;
    double size = column->source == TUTTI_NONE ? 1 : rank->wires.reals[column->source].nominal;
    if (column->wire && column->wire->conversion->linear)
        size *= fabs(column->wire->conversion->factor);
    return size > 0 && isfinite(size) ? size : 1;
}

/* ---- the units ---- */

static bool feedthrough_matrix_can_roll_back(const struct tt_unit *unit)
{
    return unit->kind->interface == TUTTI_ME || ((unit->can & TUTTI_CAN_STATE) && !unit->uniform);
}

static enum tutti_err fail_no_derivatives(const struct tt_unit *unit)
{
    return tt_fail(TUTTI_ERR_UNSUPPORTED,
                   "--correct has to know how the outputs of '%s' (%s) follow its inputs: the FMU gives no "
                   "directional derivatives, and cannot go back after a short step that tries it "
                   "(canGetAndSetFMUState, canHandleVariableCommunicationStepSize); use --coupling seidel, or "
                   "another export of the FMU with one of both, or for Model Exchange. --coupling relax needs "
                   "units that go back, too, and a smaller step does not help",
                   unit->name, unit->fmu->path);
}

/* A loop needs the D of all units in it. Others' outputs are as good without, as those of any explicit coupling. */
static enum tutti_err feedthrough_matrix_skip_unit(const struct feedthrough_builder *builder,
                                                   struct tt_feedthrough_unit *unit)
{
    const struct tt_unit *own = unit->member->unit;
    unit->unknown = true;
    if (builder->may_miss)
        return TUTTI_OK;
    if (tt_structure_is_in_loop(builder->running, unit->member->component))
        return fail_no_derivatives(own);
    tt_log(builder->rank->unit_log, TUTTI_LOG_INFO, own->name,
           "--correct leaves its outputs as they are: the FMU gives no directional derivatives, and cannot go "
           "back; it is in no algebraic loop");
    return TUTTI_OK;
}

/* Directional derivatives are asked for scalars only. */
static enum tutti_err feedthrough_matrix_add_unit(const struct feedthrough_builder *builder, uint32_t component)
{
    struct tt_feedthrough_matrix *s = builder->sensitivity;
    struct tt_feedthrough_unit *unit = &s->units[s->unit_count++];
    *unit = (struct tt_feedthrough_unit){.component = component, .column_first = s->column_count};
    if (!tt_rank_owns(builder->rank, component))
        return TUTTI_OK;
    unit->member = &builder->rank->members[component];
    const struct tt_unit *own = unit->member->unit;
    unit->directional = own->kind->interface == TUTTI_ME || (own->can & TUTTI_CAN_DIRECTIONAL);
    return unit->directional || feedthrough_matrix_can_roll_back(own) ? TUTTI_OK
                                                                      : feedthrough_matrix_skip_unit(builder, unit);
}

static enum tutti_err feedthrough_matrix_add_column(const struct feedthrough_builder *builder,
                                                    const struct feedthrough_pair *pair)
{
    struct tt_feedthrough_matrix *s = builder->sensitivity;
    const struct tt_rank *rank = builder->rank;
    uint32_t component = rank->wires.reals[pair->real].component;
    if (s->column_count == 0 || rank->wires.reals[s->rows[s->entry_count - 1]].component != component)
        TRY(feedthrough_matrix_add_unit(builder, component));
    struct tt_feedthrough_column *column = &s->columns[s->column_count++];
    *column = (struct tt_feedthrough_column){.place = pair->place,
                                             .unit = s->unit_count - 1,
                                             .reference = rank->wires.slots[pair->input].reference,
                                             .first = s->entry_count};
    feedthrough_matrix_find_source(&rank->wires, &rank->wires.slots[pair->input], column);
    if (column->sums)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "--correct is for inputs with one source, and '%s.%s' is a sum of several outputs; use "
                       "--coupling relax or seidel",
                       rank->job->system->components[component].name, feedthrough_matrix_var(rank, pair->input)->name);
    column->size = feedthrough_matrix_input_size(rank, pair->input, column);
    s->units[column->unit].column_count++;
    return TUTTI_OK;
}

static enum tutti_err feedthrough_matrix_add_entry(const struct feedthrough_builder *builder,
                                                   const struct feedthrough_pair *pair)
{
    struct tt_feedthrough_matrix *s = builder->sensitivity;
    const struct tt_wires *wires = &builder->rank->wires;
    uint32_t output = wires->reals[pair->real].node;
    if (s->column_count == 0 || s->columns[s->column_count - 1].place != pair->place)
        TRY(feedthrough_matrix_add_column(builder, pair));
    s->rows[s->entry_count] = pair->real;
    s->references[s->entry_count++] = wires->slots[output].reference;
    struct tt_feedthrough_unit *unit = &s->units[s->unit_count - 1];
    bool array = feedthrough_matrix_var(builder->rank, pair->input)->dimension_count > 0 ||
                 feedthrough_matrix_var(builder->rank, output)->dimension_count > 0;
    if (!array || !unit->member || !unit->directional)
        return TUTTI_OK;
    unit->directional = false;
    return feedthrough_matrix_can_roll_back(unit->member->unit) ? TUTTI_OK
                                                                : feedthrough_matrix_skip_unit(builder, unit);
}

static enum tutti_err feedthrough_matrix_allocate(const struct feedthrough_builder *builder)
{
    struct tt_feedthrough_matrix *s = builder->sensitivity;
    const struct tt_rank *rank = builder->rank;
    size_t columns = 0, units = rank->job->system->component_count;
    for (size_t i = 0; i < builder->pair_count; i++)
        columns += i == 0 || builder->pairs[i].place != builder->pairs[i - 1].place;
    s->columns = tt_arena_array(&s->arena, columns + 1, sizeof *s->columns);
    s->units = tt_arena_array(&s->arena, units, sizeof *s->units);
    s->rows = tt_arena_array(&s->arena, builder->pair_count, sizeof *s->rows);
    s->references = tt_arena_array(&s->arena, builder->pair_count, sizeof *s->references);
    s->again = tt_arena_array(&s->arena, builder->pair_count, sizeof *s->again);
    s->knowns = tt_arena_array(&s->arena, columns, sizeof *s->knowns);
    s->base = tt_arena_array(&s->arena, rank->wires.real_count, sizeof *s->base);
    s->moved = tt_arena_array(&s->arena, rank->wires.real_count, sizeof *s->moved);
    s->staged = tt_arena_array(&s->arena, rank->wires.gather_count, sizeof *s->staged);
    bool all = s->knowns && s->columns && s->units && s->rows && s->references && s->again && s->base && s->moved &&
               s->staged;
    for (unsigned o = 0; o < rank->wires.order; o++) {
        s->staged_slopes[o] = tt_arena_array(&s->arena, rank->wires.gather_count, sizeof(double));
        all = all && s->staged_slopes[o];
    }
    return all ? TUTTI_OK : tt_fail_memory();
}

/* ---- rows: adjoint derivatives (FMI 3.0 Co-Simulation) ---- */

/* Returns true for the first entry of its row among those of the unit. */
static bool entry_begins_row(const struct tt_feedthrough_matrix *s, const struct tt_feedthrough_unit *own,
                             uint32_t entry)
{
    for (uint32_t e = s->columns[own->column_first].first; e < entry; e++)
        if (s->rows[e] == s->rows[entry])
            return false;
    return true;
}

static uint32_t feedthrough_matrix_column_end(const struct tt_feedthrough_matrix *s,
                                              const struct tt_feedthrough_unit *own)
{
    return s->columns[own->column_first + own->column_count].first;
}

/* Returns true if there are fewer rows than columns, counting one more for the comparison. */
static bool feedthrough_matrix_prefers_rows(const struct tt_feedthrough_matrix *s,
                                            const struct tt_feedthrough_unit *own)
{
    const struct tt_unit *unit = own->member->unit;
    if (unit->kind->interface != TUTTI_CS || !(unit->can & TUTTI_CAN_DIRECTIONAL) ||
        !tt_instance_has_adjoint(unit->instance))
        return false;
    uint32_t rows = 0;
    for (uint32_t e = s->columns[own->column_first].first;
         e < feedthrough_matrix_column_end(s, own) && rows + 1 < own->column_count; e++)
        rows += entry_begins_row(s, own, e);
    return rows + 1 < own->column_count;
}

static enum tutti_err get_adjoint_row(const struct tt_feedthrough_matrix *s, const struct tt_feedthrough_unit *own,
                                      uint32_t entry, double *values)
{
    double seed = 1;
    TRY(tt_instance_get_adjoint(own->member->unit->instance, &s->references[entry], 1, s->knowns + own->column_first,
                                own->column_count, &seed, 1, s->staged, own->column_count));
    for (uint32_t c = 0; c < own->column_count; c++) {
        const struct tt_feedthrough_column *column = &s->columns[own->column_first + c];
        for (uint32_t e = column->first; e < column[1].first; e++)
            if (s->rows[e] == s->rows[entry])
                values[e] = s->staged[c];
    }
    return TUTTI_OK;
}

/* The first row times a vector of ones, and a directional derivative: once. */
static enum tutti_err feedthrough_matrix_test_adjoint(const struct tt_feedthrough_matrix *s,
                                                      struct tt_feedthrough_unit *own, const double *values)
{
    struct tt_unit *unit = own->member->unit;
    uint32_t first = s->columns[own->column_first].first;
    double sum = 0, size = 0, product = 0;
    own->rows_tested = true;
    for (uint32_t c = 0; c < own->column_count; c++)
        s->staged[c] = 1;
    for (uint32_t e = first; e < feedthrough_matrix_column_end(s, own); e++)
        if (s->rows[e] == s->rows[first]) {
            sum += values[e];
            size += fabs(values[e]);
        }
    TRY(unit->kind->get_directional(unit, &s->references[first], 1, s->knowns + own->column_first, own->column_count,
                                    s->staged, &product));
    return fabs(sum - product) <= 1e-6 * fmax(size, fabs(product))
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_UNSUPPORTED,
                         "%s: its adjoint derivatives and its directional derivatives contradict each other",
                         unit->name);
}

/* UNSUPPORTED: columns will have to do. */
static enum tutti_err get_adjoint_rows(const struct tt_feedthrough_matrix *s, struct tt_feedthrough_unit *own,
                                       double *values)
{
    for (uint32_t e = s->columns[own->column_first].first; e < feedthrough_matrix_column_end(s, own); e++)
        if (entry_begins_row(s, own, e))
            TRY(get_adjoint_row(s, own, e, values));
    return own->rows_tested ? TUTTI_OK : feedthrough_matrix_test_adjoint(s, own, values);
}

/* ---- building ---- */

static enum tutti_err feedthrough_matrix_build(struct feedthrough_builder *builder)
{
    struct tt_feedthrough_matrix *s = builder->sensitivity;
    TRY(feedthrough_matrix_collect_pairs(builder));
    if (builder->pair_count >= UINT32_MAX)
        return tt_fail(TUTTI_ERR_LIMIT, "--correct: more than %u pairs of inputs and outputs with feed-through",
                       UINT32_MAX);
    TRY(feedthrough_matrix_allocate(builder));
    for (size_t i = 0; i < builder->pair_count; i++)
        TRY(feedthrough_matrix_add_entry(builder, &builder->pairs[i]));
    s->columns[s->column_count].first = s->entry_count;
    for (uint32_t c = 0; c < s->column_count; c++)
        s->knowns[c] = s->columns[c].reference;
    for (uint32_t u = 0; u < s->unit_count; u++)
        s->units[u].by_rows = s->units[u].member && s->units[u].directional &&
                              feedthrough_matrix_prefers_rows(s, &s->units[u]);
    return TUTTI_OK;
}

/* A unit that takes derivatives gets those of all its inputs; one that asks for values inside a step (open.h) asks for some
 * of them. */
static void record_moving_input(const struct feedthrough_builder *builder, uint32_t input)
{
    const struct tt_rank *rank = builder->rank;
    const struct tt_slopes *slopes = rank->wires.units[rank->job->structure.nodes[input].component].slopes;
    const struct tt_var *var = feedthrough_matrix_var(rank, input);
    bool asked = tt_description_var_moves(var);
    for (uint32_t e = 0; slopes && (slopes->count > 0 || asked) && e < rank->wires.slots[input].count; e++)
        builder->sensitivity->moves[feedthrough_matrix_input_place(builder, input) + e] = true;
}

static enum tutti_err find_moving_inputs(const struct feedthrough_builder *builder)
{
    struct tt_feedthrough_matrix *s = builder->sensitivity;
    s->moves = tt_arena_array(&s->arena, builder->rank->wires.gather_count, sizeof *s->moves);
    if (!s->moves)
        return tt_fail_memory();
    for (uint32_t n = 0; n < builder->running->node_count; n++) {
        uint32_t input = feedthrough_matrix_layout_node(builder, n);
        if (!builder->running->nodes[n].output && input_is_moving(builder, input))
            record_moving_input(builder, input);
    }
    return TUTTI_OK;
}

enum tutti_err tt_feedthrough_matrix_init(struct tt_feedthrough_matrix *sensitivity, struct tt_rank *rank,
                                          const struct tt_structure *running, struct tt_feedthrough_scope scope)
{
    *sensitivity = (struct tt_feedthrough_matrix){0};
    struct feedthrough_builder builder = {
        .sensitivity = sensitivity, .rank = rank, .running = running, .may_miss = scope.may_miss};
    TRY(find_moving_inputs(&builder));
    if (!scope.entries)
        return TUTTI_OK;
    builder.real_of = calloc((size_t)rank->job->structure.node_count + 1, sizeof *builder.real_of);
    enum tutti_err err = builder.real_of ? feedthrough_matrix_build(&builder) : tt_fail_memory();
    free(builder.real_of);
    free(builder.pairs);
    return err;
}

void tt_feedthrough_matrix_fini(struct tt_feedthrough_matrix *sensitivity)
{
    for (uint32_t u = 0; u < sensitivity->unit_count; u++) {
        struct tt_feedthrough_unit *unit = &sensitivity->units[u];
        if (unit->member)
            unit->member->unit->kind->discard(unit->member->unit, unit->saved);
    }
    tt_arena_fini(&sensitivity->arena);
    *sensitivity = (struct tt_feedthrough_matrix){0};
}

/* ---- values ---- */

/* Slopes go with a step: at an event, inputs are set without any. */
double tt_feedthrough_matrix_input_value(const struct tt_feedthrough_matrix *s, const struct tt_rank *rank,
                                         const struct tt_member *member, uint32_t place, unsigned derivative)
{
    const struct tt_wires *wires = &rank->wires;
    double elapsed = member->now.t - member->now.staged_at;
    bool moves = s->moves[place] && (elapsed > 0 || member->now.slopes_at == member->now.t);
    if (derivative == 0)
        return moves ? tt_wires_extrapolate(wires, place, elapsed) : wires->gathered[place];
    if (!moves || derivative > wires->order)
        return 0;
    double value = wires->gathered_slopes[derivative - 1][place];
    return derivative == 1 && wires->order > 1 ? value + elapsed * wires->gathered_slopes[1][place] : value;
}

/* ---- columns ---- */

static enum tutti_err feedthrough_matrix_get_columns(const struct tt_feedthrough_matrix *s,
                                                     struct tt_feedthrough_unit *own, double *values)
{
    if (own->by_rows) {
        enum tutti_err err = get_adjoint_rows(s, own, values);
        if (err != TUTTI_ERR_UNSUPPORTED)
            return err;
        own->by_rows = false;
    }
    struct tt_unit *unit = own->member->unit;
    for (uint32_t c = own->column_first; c < own->column_first + own->column_count; c++) {
        const struct tt_feedthrough_column *column = &s->columns[c];
        double seed = 1;
        TRY(unit->kind->get_directional(unit, s->references + column->first, column[1].first - column->first,
                                        &column->reference, 1, &seed, values + column->first));
    }
    return TUTTI_OK;
}

/* One short step from where the unit is, with the inputs that are staged. (Model Exchange needs none.) */
static enum tutti_err feedthrough_matrix_trial_step(const struct tt_member *member, double h, double *outputs,
                                                    bool *done)
{
    struct tt_unit *unit = member->unit;
    struct tt_fmi_step step = {.reached = member->now.t + h};
    for (unsigned b = 0; b < member->wires->moving_blocks; b++)
        TRY(unit->kind->set(unit, &member->wires->moving[b]));
    if (unit->kind->interface == TUTTI_CS) {
        TRY(unit->kind->step(unit, member->now.t, h, &step));
        unit->counts.auxiliary++;
        unit->counts.attributed++;
    }
    *done = !step.discarded && !step.event && !step.terminate && step.reached >= member->now.t + h;
    for (unsigned b = 0; b < member->wires->output_blocks && *done; b++) {
        struct tt_block block = member->wires->outputs[b];
        block.values = outputs;
        if (block.type != TUTTI_TYPE_FLOAT64)
            continue;
        TRY(unit->kind->get(unit, &block));
        outputs += block.value_count;
    }
    return TUTTI_OK;
}

static enum tutti_err trial_step_and_restore(const struct tt_feedthrough_unit *own, double h, double *outputs,
                                             bool *done)
{
    struct tt_unit *unit = own->member->unit;
    enum tutti_err err = feedthrough_matrix_trial_step(own->member, h, outputs, done);
    if (err && err != TUTTI_ERR_DISCARD)
        return err;
    *done = *done && !err;
    return unit->kind->restore(unit, own->saved);
}

/* The quotients of a column, its input moved by `distance`; *steep: outputs follow steeply. */
static enum tutti_err difference_quotients(const struct tt_feedthrough_matrix *s, struct tt_rank *rank,
                                           const struct tt_feedthrough_column *column, double h, double distance,
                                           double *values, bool *steep, bool *done)
{
    const struct tt_feedthrough_unit *own = &s->units[column->unit];
    double *input = &rank->wires.gathered[column->place], value = *input;
    uint32_t first = rank->wires.real_first[rank->wires.reals[s->rows[column->first]].component];
    *input = value + distance;
    distance = *input - value; /* what it really moves by */
    enum tutti_err err = trial_step_and_restore(own, h, s->moved, done);
    *input = value;
    TRY(err);
    *steep = false;
    for (uint32_t e = column->first; e < column[1].first && *done; e++) {
        double before = s->base[s->rows[e] - first], after = s->moved[s->rows[e] - first];
        values[e] = (after - before) / distance;
        *steep = *steep || tt_feedthrough_is_steep(before, after);
        *done = isfinite(values[e]);
    }
    return TUTTI_OK;
}

/* A forward difference; backward where that leads out of the domain, or over a jump. The input moves by 1e-7 of its size:
 * rounding of the outputs and their bend then leave about seven digits. */
static enum tutti_err feedthrough_matrix_measure_column(const struct tt_feedthrough_matrix *s, struct tt_rank *rank,
                                                        const struct tt_feedthrough_column *column, double h,
                                                        double *values, bool *done)
{
    double size = fmax(fabs(rank->wires.gathered[column->place]), column->size);
    *done = false;
    for (int side = 0; side < 2 && !*done; side++) {
        double distance = (side ? -1e-7 : 1e-7) * size;
        bool steep, unused;
        TRY(difference_quotients(s, rank, column, h, distance, values, &steep, done));
        if (!*done || !steep)
            continue;
        TRY(difference_quotients(s, rank, column, h, 2 * distance, s->again, &unused, done));
        for (uint32_t e = column->first; e < column[1].first && *done; e++)
            *done = tt_feedthrough_quotient_agrees(values[e], s->again[e]);
    }
    return TUTTI_OK;
}

/* Nothing may happen in a short step but that. */
static bool feedthrough_matrix_has_time(const struct tt_rank *rank, const struct tt_member *member, double h)
{
    bool steps = member->unit->kind->interface == TUTTI_CS;
    double end = member->now.t + h;
    return !steps || (!member->now.event && end <= rank->times.stop && !(member->now.next_event <= end));
}

static enum tutti_err feedthrough_matrix_measure_columns(struct tt_feedthrough_matrix *s, struct tt_rank *rank,
                                                         struct tt_feedthrough_unit *own, double h, double *values,
                                                         bool *done)
{
    struct tt_unit *unit = own->member->unit;
    TRY(unit->kind->save(unit, &own->saved));
    TRY(trial_step_and_restore(own, h, s->base, done));
    for (uint32_t c = own->column_first; c < own->column_first + own->column_count && *done; c++)
        TRY(feedthrough_matrix_measure_column(s, rank, &s->columns[c], h, values, done));
    return TUTTI_OK;
}

/* Inputs are gathered at their present values and held constant: units may request them inside the step. */
static enum tutti_err measure_by_trial_steps(struct tt_feedthrough_matrix *s, struct tt_rank *rank,
                                             struct tt_feedthrough_unit *own, double h, double *values, bool *done)
{
    struct tt_wires *wires = &rank->wires;
    uint32_t first = own->member->wires->gather_first, count = own->member->wires->gather_count;
    *done = false;
    if (!feedthrough_matrix_has_time(rank, own->member, h))
        return TUTTI_OK;
    memcpy(s->staged, wires->gathered + first, count * sizeof(double));
    for (uint32_t i = first; i < first + count; i++)
        wires->gathered[i] = tt_feedthrough_matrix_input_value(s, rank, own->member, i, 0);
    for (unsigned o = 0; o < wires->order; o++) {
        memcpy(s->staged_slopes[o], wires->gathered_slopes[o] + first, count * sizeof(double));
        memset(wires->gathered_slopes[o] + first, 0, count * sizeof(double));
    }
    enum tutti_err err = feedthrough_matrix_measure_columns(s, rank, own, h, values, done);
    memcpy(wires->gathered + first, s->staged, count * sizeof(double));
    for (unsigned o = 0; o < wires->order; o++)
        memcpy(wires->gathered_slopes[o] + first, s->staged_slopes[o], count * sizeof(double));
    return err;
}

static bool unit_entries_finite(const struct tt_feedthrough_matrix *s, const struct tt_feedthrough_unit *own,
                                const double *values)
{
    bool finite = true;
    uint32_t end = s->columns[own->column_first + own->column_count].first;
    for (uint32_t e = s->columns[own->column_first].first; e < end; e++)
        finite = finite && isfinite(values[e]);
    return finite;
}

enum tutti_err tt_feedthrough_matrix_measure(struct tt_feedthrough_matrix *s, struct tt_rank *rank, uint32_t unit,
                                             double h, double *values, bool *done)
{
    struct tt_feedthrough_unit *own = &s->units[unit];
    const struct tt_unit *fmu = own->member->unit;
    *done = !own->unknown;
    if (own->unknown)
        return TUTTI_OK;
    if (own->directional) {
        enum tutti_err err = feedthrough_matrix_get_columns(s, own, values);
        if (err != TUTTI_ERR_UNSUPPORTED || !feedthrough_matrix_can_roll_back(fmu)) {
            *done = err != TUTTI_ERR_DISCARD && unit_entries_finite(s, own, values);
            return err == TUTTI_ERR_DISCARD ? TUTTI_OK : err;
        }
        own->directional = false; /* the FMU does not keep what it promises */
    }

    /* A step so short that states do not move (their part in the measured change goes with the step), and no shorter than
     * time allows. */
    double trial = fmax(1e-8 * h, 1e-10 * fmax(fabs(own->member->now.t), rank->span));
    enum tutti_err err = measure_by_trial_steps(s, rank, own, trial, values, done);
    return err ? tt_fail_context(err, "--correct: a short step that finds out how outputs follow inputs") : TUTTI_OK;
}

double tt_feedthrough_matrix_factor(const struct tt_feedthrough_column *column)
{
    const struct tt_conversion *conversion = column->wire->conversion;
    return conversion->linear ? conversion->factor : 1;
}

/* ---- getting ready ---- */

static enum tutti_err create_feedback_factors(struct tt_feedthrough_loop *f, const struct tt_pattern *pattern,
                                              struct tt_feedthrough_factors *factors)
{
    factors->values = tt_arena_array(&f->arena, f->product_count, sizeof *factors->values);
    return factors->values ? tt_lu_new(&factors->lu, (size_t)pattern->column_count, pattern, false) : tt_fail_memory();
}

/* D L has an entry wherever an output follows an input that a real feeds. */
static enum tutti_err locate_feedback_products(struct tt_feedthrough_loop *f, uint32_t reals,
                                               struct tt_pattern_place *places)
{
    const struct tt_feedthrough_matrix *s = f->sensitivity;
    struct tt_pattern pattern;
    size_t count = 0;
    for (uint32_t k = 0; k < s->column_count; k++)
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first; e++)
            if (s->columns[k].source != TUTTI_NONE)
                places[count++] = (struct tt_pattern_place){(int32_t)s->rows[e], (int32_t)s->columns[k].source};
    TRY(tt_pattern_init(&pattern, (int32_t)reals, (int32_t)reals, places, count));
    f->product_count = tt_pattern_entries(&pattern);
    count = 0;
    for (uint32_t k = 0; k < s->column_count; k++)
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first; e++)
            f->product_at[e] = s->columns[k].source == TUTTI_NONE ? SIZE_MAX
                                                                  : tt_pattern_find(&pattern, &places[count++]);
    enum tutti_err err = create_feedback_factors(f, &pattern, &f->main);
    if (!err)
        err = create_feedback_factors(f, &pattern, &f->aside);
    tt_pattern_fini(&pattern);
    return err;
}

enum tutti_err tt_feedthrough_matrix_init_loop(struct tt_feedthrough_loop *feedback,
                                               const struct tt_feedthrough_matrix *sensitivity, uint32_t reals)
{
    *feedback = (struct tt_feedthrough_loop){.sensitivity = sensitivity};
    if (reals > INT32_MAX)
        return tt_fail(TUTTI_ERR_LIMIT, "--correct: more than %d outputs", (int)INT32_MAX);
    struct tt_pattern_place *places = calloc((size_t)sensitivity->entry_count + 1, sizeof *places);
    feedback->product_at = tt_arena_array(&feedback->arena, sensitivity->entry_count, sizeof *feedback->product_at);
    feedback->values = tt_arena_array(&feedback->arena, sensitivity->entry_count, sizeof *feedback->values);
    bool all = places && feedback->product_at && feedback->values;
    enum tutti_err err = all ? locate_feedback_products(feedback, reals, places) : tt_fail_memory();
    free(places);
    return err;
}

void tt_feedthrough_matrix_fini_loop(struct tt_feedthrough_loop *feedback)
{
    tt_lu_free(feedback->main.lu);
    tt_lu_free(feedback->aside.lu);
    tt_arena_fini(&feedback->arena);
    *feedback = (struct tt_feedthrough_loop){0};
}

/* ---- solving ---- */

/* KLU keeps the order of the rows from one matrix to the next, and rounding errors depend on it: each gets its own. */
static enum tutti_err factorize_feedback(struct tt_feedthrough_loop *f, struct tt_feedthrough_factors *factors,
                                         bool *singular)
{
    factors->made = false;
    tt_lu_forget(factors->lu);
    TRY(tt_lu_factor(factors->lu, f->values, 1, 0, singular));
    f->factorizations++;
    memcpy(factors->values, f->values, f->product_count * sizeof *f->values);
    factors->made = !*singular;
    return TUTTI_OK;
}

static bool feedback_factors_fit(const struct tt_feedthrough_loop *f, const struct tt_feedthrough_factors *factors)
{
    return factors->made && memcmp(factors->values, f->values, f->product_count * sizeof *f->values) == 0;
}

enum tutti_err tt_feedthrough_matrix_solve_loop(struct tt_feedthrough_loop *f, const double *d, bool aside,
                                                double *right, bool *singular)
{
    const struct tt_feedthrough_matrix *s = f->sensitivity;
    *singular = false;
    if (f->product_count == 0) /* nothing comes back */
        return TUTTI_OK;
    memset(f->values, 0, f->product_count * sizeof *f->values);
    for (uint32_t k = 0; k < s->column_count; k++)
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first; e++)
            if (f->product_at[e] != SIZE_MAX)
                f->values[f->product_at[e]] += d[e] * tt_feedthrough_matrix_factor(&s->columns[k]);
    struct tt_feedthrough_factors *factors = aside && !feedback_factors_fit(f, &f->main) ? &f->aside : &f->main;
    if (!feedback_factors_fit(f, factors))
        TRY(factorize_feedback(f, factors, singular));
    if (!*singular)
        tt_lu_solve(factors->lu, right, NULL);
    return TUTTI_OK;
}
