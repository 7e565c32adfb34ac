/* SPDX-License-Identifier: MIT */
/* Values of a packed system's variables: from and to the units that they stand for. */
#include <stdlib.h>
#include <string.h>

#include "apps/packed/packed_equations.h"
#include "apps/packed/packed_instance.h"

static const struct tt_system *packed_values_system(const struct tt_packed *packed)
{
    return packed->simulation->job.system;
}

static const struct tt_var *packed_values_var(const struct tt_packed *packed, const struct tt_packed_end *end)
{
    return &packed_values_system(packed)->components[end->component].fmu->desc->vars[end->variable];
}

const struct tt_conversion *tt_packed_values_conversion(const struct tt_packed *packed, const struct tt_packed_end *end)
{
    return end->connection == TUTTI_NONE ? NULL : packed_values_system(packed)->connections[end->connection].conversion;
}

/* ---- what a variable stands for ---- */

static uint32_t packed_values_find_port(const struct tt_port *ports, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (ports[i].table == TUTTI_NONE && strcmp(ports[i].name, name) == 0)
            return i;
    return TUTTI_NONE;
}

/* The ends of a connector: all that an input of the system goes to, or the one that an output comes from. */
static enum tutti_err bind_packed_port(struct tt_packed *packed, struct tt_packed_variable *variable)
{
    const struct tt_system *system = packed_values_system(packed);
    bool output = variable->row->role == TUTTI_PACKED_OUTPUT;
    uint32_t port = output ? packed_values_find_port(system->outputs, system->output_count, variable->row->name)
                           : packed_values_find_port(system->inputs, system->input_count, variable->row->name);
    variable->ends = tt_arena_array(&packed->arena, system->connection_count, sizeof *variable->ends);
    if (!variable->ends)
        return tt_fail_memory();
    for (uint32_t i = 0; i < system->connection_count && port != TUTTI_NONE; i++) {
        const struct tt_connection *connection = &system->connections[i];
        const struct tt_end *own = output ? &connection->to : &connection->from;
        const struct tt_end *other = output ? &connection->from : &connection->to;
        if (own->component == TUTTI_NONE && own->variable == port && other->component != TUTTI_NONE)
            variable->ends[variable->end_count++] = (struct tt_packed_end){
                .component = other->component, .variable = other->variable, .element = other->element, .connection = i};
    }
    return variable->end_count > 0 ? TUTTI_OK
                                   : tt_fail(TUTTI_ERR_FORMAT, "%s: nothing is connected to '%s' any more",
                                             packed->system, variable->row->name);
}

static enum tutti_err bind_packed_variable(struct tt_packed *packed, struct tt_packed_variable *variable)
{
    variable->end_count = 0;
    if (!variable->row->target)
        return bind_packed_port(packed, variable);
    variable->ends = tt_arena_array(&packed->arena, 1, sizeof *variable->ends);
    if (!variable->ends)
        return tt_fail_memory();
    variable->end_count = 1;
    variable->ends[0].connection = TUTTI_NONE;
    return tt_system_find(packed_values_system(packed), variable->row->target, "packed", &variable->ends[0].component,
                          &variable->ends[0].variable, &variable->ends[0].element);
}

/* Which units are read, and where each variable stands there (PK3). */
static enum tutti_err packed_values_group_by_unit(struct tt_packed *packed)
{
    const struct tt_system *system = packed_values_system(packed);
    size_t *of = tt_arena_array(&packed->arena, system->component_count, sizeof *of);
    packed->units = tt_arena_array(&packed->arena, system->component_count, sizeof *packed->units);
    if (!of || !packed->units)
        return tt_fail_memory();
    for (size_t i = 0; i < packed->table.count; i++) {
        struct tt_packed_variable *variable = &packed->variables[i];
        if (variable->end_count == 0)
            continue;
        uint32_t component = variable->ends[0].component;
        if (of[component] == 0) {
            packed->units[packed->unit_count].component = component;
            of[component] = ++packed->unit_count;
        }
        variable->unit = of[component] - 1;
        variable->slot = packed->units[of[component] - 1].count++;
        variable->plain = !tt_packed_values_conversion(packed, &variable->ends[0]) &&
                          !packed_values_var(packed, &variable->ends[0])->negated;
    }
    for (size_t u = 0; u < packed->unit_count; u++) {
        packed->units[u].variables =
            tt_arena_array(&packed->arena, packed->units[u].count, sizeof *packed->units[u].variables);
        if (!packed->units[u].variables)
            return tt_fail_memory();
    }
    for (size_t i = 0; i < packed->table.count; i++)
        if (packed->variables[i].end_count > 0)
            packed->units[packed->variables[i].unit].variables[packed->variables[i].slot] =
                packed->variables[i].ends[0].variable;
    return TUTTI_OK;
}

enum tutti_err tt_packed_values_bind(struct tt_packed *packed)
{
    size_t indicators = 0;
    for (size_t i = 0; i < packed->table.count; i++) {
        struct tt_packed_variable *variable = &packed->variables[i];
        if (variable->row->role == TUTTI_PACKED_INDICATOR) {
            variable->slot = indicators;
            indicators += variable->size;
            variable->end_count = 0;
            continue;
        }
        TRY(bind_packed_variable(packed, variable));
    }
    return packed_values_group_by_unit(packed);
}

void tt_packed_values_unbind(struct tt_packed *packed)
{
    tt_packed_invalidate(packed);
    for (size_t u = 0; u < packed->unit_count; u++)
        if (packed->units[u].laid)
            tt_signals_fini(&packed->units[u].signals);
    packed->unit_count = 0;
    packed->units = NULL;
    tt_arena_fini(&packed->arena);
    packed->arena = (struct tt_arena){0};
}

/* ---- reading ---- */

/* Finds a variable's values; structural parameters may have changed their number. */
static enum tutti_err packed_values_find_source(struct tt_packed *packed, const struct tt_unit *source,
                                                struct tt_packed_variable *variable)
{
    const struct tt_packed_end *end = &variable->ends[0];
    const struct tt_signals *signals = &packed->units[variable->unit].signals;
    size_t place = 0, extent = signals->extents[variable->slot];
    if (end->element.count > 0)
        TRY(tt_unit_element(source, end->variable, &end->element, &place));
    else if (extent != variable->size)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: '%s' has %zu values, and had %zu when the system was packed",
                       packed->name, variable->row->name, extent, variable->size);
    variable->source = (const char *)signals->slots[variable->slot] + place * signals->sizes[variable->slot];
    return TUTTI_OK;
}

static enum tutti_err packed_values_set_layout(struct tt_packed *packed, const struct tt_unit *source,
                                               struct tt_packed_unit *unit)
{
    TRY(tt_unit_signals(source, unit->variables, unit->count, &unit->signals));
    unit->laid = true;
    for (size_t i = 0; i < packed->table.count; i++)
        if (packed->variables[i].end_count > 0 && &packed->units[packed->variables[i].unit] == unit)
            TRY(packed_values_find_source(packed, source, &packed->variables[i]));
    return TUTTI_OK;
}

/* In the system itself, rows have outputs that others read as they are coupled (corrected, in algebraic loops), and inputs as their
 * connections bring them: so does the packed one. */
static enum tutti_err copy_coupled_outputs(const struct tt_wires *wires, struct tt_packed_unit *unit)
{
    for (size_t i = 0; i < unit->count; i++) {
        uint32_t output = tt_structure_find(wires->structure, unit->component, unit->variables[i], true);
        uint32_t input = tt_structure_find(wires->structure, unit->component, unit->variables[i], false);
        void *values = unit->signals.slots[i];
        if (output != TUTTI_NONE && tt_wires_slot_is_double(&wires->slots[output]))
            memcpy(values, wires->slots[output].values, wires->slots[output].count * sizeof(double));
        else if (input != TUTTI_NONE && tt_wires_slot_is_double(&wires->slots[input]) &&
                 tt_wires_has_numbers(wires, input))
            TRY(tt_wires_get_incoming(wires, input, values));
    }
    return TUTTI_OK;
}

static enum tutti_err refresh_unit_values(struct tt_packed *packed, struct tt_packed_unit *unit)
{
    struct tt_unit *source = packed->simulation->execution.rank.members[unit->component].unit;
    if (!unit->laid)
        TRY(packed_values_set_layout(packed, source, unit));
    TRY(tt_unit_get(source, &unit->signals));
    if (packed->started && !packed->exchange)
        TRY(copy_coupled_outputs(&packed->simulation->execution.rank.wires, unit));
    unit->point = packed->points;
    return TUTTI_OK;
}

/* Enumerations are read as integers of the version's own size. */
static bool is_short_enumeration(const struct tt_packed_variable *variable, enum tt_type type)
{
    return variable->row->type == TUTTI_TYPE_ENUMERATION && type == TUTTI_TYPE_INT32;
}

/* NULL, with an ARGUMENT error, if it does not exist. */
static struct tt_packed_variable *packed_values_find(struct tt_packed *packed, uint32_t reference, enum tt_type type)
{
    if (reference == 0 || reference > packed->table.count) {
        (void)!tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variable with value reference %u", packed->name, reference);
        return NULL;
    }
    struct tt_packed_variable *variable = &packed->variables[reference - 1];
    enum tt_type own = variable->row->type;
    if (own == type || (own == TUTTI_TYPE_ENUMERATION && type == TUTTI_TYPE_INT64) ||
        is_short_enumeration(variable, type))
        return variable;
    (void)!tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is of type %s, not %s", packed->name, variable->row->name,
                   tt_type_name(own), tt_type_name(type));
    return NULL;
}

size_t tt_packed_values_size(const struct tt_packed *packed, uint32_t reference)
{
    return reference == 0 || reference > packed->table.count ? 1 : packed->variables[reference - 1].size;
}

/* One value as the packed system shows it. */
static enum tutti_err packed_values_convert_out(const struct tt_packed *packed,
                                                const struct tt_packed_variable *variable, size_t n,
                                                union tt_packed_value *shown)
{
    const struct tt_packed_end *end = &variable->ends[0];
    const struct tt_var *var = packed_values_var(packed, end);
    size_t size = tt_type_size((enum tt_type)var->type);
    const struct tt_conversion *conversion = tt_packed_values_conversion(packed, end);
    union tt_packed_value raw = {0};
    memcpy(&raw, variable->source + n * size, size);
    if (var->negated)
        tt_type_negate((enum tt_type)var->type, &raw);
    *shown = raw;
    if (!conversion)
        return TUTTI_OK;
    if (variable->row->role == TUTTI_PACKED_OUTPUT)
        return tt_conversion_apply(conversion, &raw, shown, 1);
    *shown = tt_packed_table_invert_conversion(conversion, raw);
    if (variable->given)
        memcpy(shown, (const char *)variable->values + n * tt_type_size(variable->row->type),
               tt_type_size(variable->row->type));
    return TUTTI_OK;
}

static enum tutti_err packed_values_convert_all_out(const struct tt_packed *packed,
                                                    const struct tt_packed_variable *variable, enum tt_type type,
                                                    char *values)
{
    size_t size = tt_type_size(type);
    for (size_t n = 0; n < variable->size; n++) {
        union tt_packed_value shown;
        TRY(packed_values_convert_out(packed, variable, n, &shown));
        if (is_short_enumeration(variable, type))
            ((int32_t *)(void *)values)[n] = (int32_t)(int64_t)shown.bits;
        else
            memcpy(values + n * size, &shown, size);
    }
    return TUTTI_OK;
}

enum tutti_err tt_packed_values_get(struct tt_packed *packed, uint32_t reference, enum tt_type type, void *values)
{
    const unsigned stages = TUTTI_PACKED_IN(TUTTI_PACKED_INITIALISING) | TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING) |
                            TUTTI_PACKED_IN(TUTTI_PACKED_ENDED);
    if (reference == 0 && type == TUTTI_TYPE_FLOAT64 && packed->simulation) {
        *(double *)values = tt_packed_time(packed);
        return TUTTI_OK;
    }
    struct tt_packed_variable *variable = packed_values_find(packed, reference, type);
    if (!variable)
        return TUTTI_ERR_ARGUMENT;
    TRY(tt_packed_check(packed, stages, "reading a value"));
    TRY(tt_packed_ensure_started(packed));
    if (variable->end_count == 0)
        return tt_packed_equations_indicators(packed, values, variable->slot, variable->size);
    if (packed->exchange)
        TRY(tt_packed_equations_evaluate(packed));
    struct tt_packed_unit *unit = &packed->units[variable->unit];
    if (unit->point != packed->points)
        TRY(refresh_unit_values(packed, unit));
    if (!variable->plain || is_short_enumeration(variable, type))
        return packed_values_convert_all_out(packed, variable, type, values);
    memcpy(values, variable->source, variable->size * tt_type_size(type));
    return TUTTI_OK;
}

/* ---- setting ---- */

enum tutti_err tt_packed_values_allocate(struct tt_packed *packed)
{
    for (size_t i = 0; i < packed->table.count; i++) {
        struct tt_packed_variable *variable = &packed->variables[i];
        variable->row = &packed->table.rows[i];
        variable->size = tt_packed_table_row_size(variable->row);
        if (variable->row->role == TUTTI_PACKED_OUTPUT || variable->row->role == TUTTI_PACKED_INDICATOR)
            continue;
        variable->values = tt_arena_array(&packed->table.arena, variable->size + 1, tt_type_size(variable->row->type));
        if (tt_type_is_text(variable->row->type))
            variable->owned = tt_signals_owned_array(&packed->table.arena, variable->size);
        if (!variable->values || (tt_type_is_text(variable->row->type) && !variable->owned))
            return tt_fail_memory();
    }
    return TUTTI_OK;
}

void tt_packed_values_release(struct tt_packed *packed)
{
    for (size_t i = 0; packed->variables && i < packed->table.count; i++)
        if (packed->variables[i].owned)
            tt_signals_owned_fini(packed->variables[i].owned, packed->variables[i].size);
}

static enum tutti_err packed_values_store(struct tt_packed_variable *variable, enum tt_type type, const void *values)
{
    enum tt_type own = variable->row->type;
    if (variable->owned)
        TRY(tt_signals_owned_copy(variable->owned, own, values, variable->values, variable->size));
    else if (is_short_enumeration(variable, type))
        for (size_t n = 0; n < variable->size; n++)
            ((int64_t *)variable->values)[n] = ((const int32_t *)values)[n];
    else
        memcpy(variable->values, values, variable->size * tt_type_size(own));
    variable->given = true;
    return TUTTI_OK;
}

/* A value as the unit's variable has it. */
static enum tutti_err packed_values_convert_in(const struct tt_packed *packed,
                                               const struct tt_packed_variable *variable, size_t n,
                                               const struct tt_packed_end *end, union tt_packed_value *out)
{
    size_t size = tt_type_size(variable->row->type);
    const char *value = (const char *)variable->values + n * size;
    *out = (union tt_packed_value){0};
    memcpy(out, value, size);
    if (tt_packed_values_conversion(packed, end))
        TRY(tt_conversion_apply(tt_packed_values_conversion(packed, end), value, out, 1));
    if (packed_values_var(packed, end)->negated)
        tt_type_negate((enum tt_type)packed_values_var(packed, end)->type, out);
    return TUTTI_OK;
}

/* Into the values that the unit is to take. */
static enum tutti_err packed_values_write_pending(struct tt_packed *packed, const struct tt_packed_variable *variable,
                                                  struct tt_packed_end *end)
{
    struct tt_block *block = &end->set->signals.blocks[0];
    size_t place = 0, size = end->set->signals.sizes[0];
    if (end->element.count > 0)
        TRY(tt_unit_element(packed->simulation->execution.rank.members[end->component].unit, end->variable,
                            &end->element, &place));
    for (size_t n = 0; n < variable->size; n++) {
        union tt_packed_value value;
        char *to = (char *)end->set->signals.slots[0] + (place + n) * size;
        TRY(packed_values_convert_in(packed, variable, n, end, &value));
        if (block->owned)
            TRY(tt_signals_owned_copy(tt_signals_owned_at(block->owned, place + n), block->type, &value, to, 1));
        else
            memcpy(to, &value, size);
    }
    return TUTTI_OK;
}

static enum tutti_err packed_values_write(struct tt_packed *packed, const struct tt_packed_variable *variable,
                                          struct tt_packed_end *end)
{
    struct tt_rank *rank = &packed->simulation->execution.rank;
    if (!end->set) { /* elements of one array have one */
        TRY(tt_pending_set_find(&end->set, &packed->simulation->pending_sets, rank, end->component, end->variable));
        end->set->moves = variable->row->moves;
    }
    TRY(packed_values_write_pending(packed, variable, end));
    if (packed->exchange && variable->row->moves) /* PK4: it is a part of the point */
        return tt_unit_set(rank->members[end->component].unit, &end->set->signals);
    packed->sets = true;
    tt_pending_set_submit(end->set, rank);
    return TUTTI_OK;
}

static enum tutti_err packed_values_check_set(const struct tt_packed *packed, const struct tt_packed_variable *variable)
{
    enum tt_packed_role role = variable->row->role;
    bool early = packed->stage <= TUTTI_PACKED_INITIALISING;
    bool output = role == TUTTI_PACKED_OUTPUT || role == TUTTI_PACKED_INDICATOR;
    if (output || (!early && role == TUTTI_PACKED_PARAMETER))
        return tt_fail(TUTTI_ERR_STATE, "%s: '%s' cannot be set here: it is %s", packed->name, variable->row->name,
                       output ? "an output" : "a parameter, which is fixed from the start on");
    if (!early && packed->exchange && !variable->row->moves && !packed->in_event_mode)
        return tt_fail(TUTTI_ERR_STATE, "%s: '%s' can be set in event mode only: it does not change continuously",
                       packed->name, variable->row->name);
    return tt_packed_check(packed,
                           TUTTI_PACKED_IN(TUTTI_PACKED_MADE) | TUTTI_PACKED_IN(TUTTI_PACKED_INITIALISING) |
                               TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING),
                           "setting a value");
}

enum tutti_err tt_packed_values_set(struct tt_packed *packed, uint32_t reference, enum tt_type type, const void *values)
{
    struct tt_packed_variable *variable = packed_values_find(packed, reference, type);
    if (!variable)
        return TUTTI_ERR_ARGUMENT;
    TRY(packed_values_check_set(packed, variable));
    TRY(packed_values_store(variable, type, values));
    if (packed->stage <= TUTTI_PACKED_INITIALISING) {
        packed->started = false; /* PK1 */
        return TUTTI_OK;
    }
    if (packed->exchange)
        tt_packed_equations_invalidate(packed);
    for (size_t i = 0; i < variable->end_count; i++)
        TRY(packed_values_write(packed, variable, &variable->ends[i]));
    return TUTTI_OK;
}

/* ---- before the start ---- */

/* "x[2,3]": the element that the end is, or one of the array's. */
static void packed_values_name_element(struct tt_text *text, const struct tt_packed_row *row,
                                       const struct tt_indices *element, size_t place)
{
    size_t below = tt_packed_table_row_size(row), count = element->count > 0 ? element->count : row->dimension_count;
    for (size_t d = 0; d < count; d++) {
        below = element->count > 0 ? 1 : below / row->dimensions[d];
        uint64_t index = element->count > 0 ? element->index[d] : place / below % row->dimensions[d] + 1;
        tt_text_printf(text, "%s%llu", d ? "," : "[", (unsigned long long)index);
    }
    tt_text_append(text, "]");
}

/* Values from `first` on, as --set has them: numbers of an array at once, texts one by one. */
static enum tutti_err pass_start_values(struct tt_packed *packed, const struct tt_packed_variable *variable,
                                        const struct tt_packed_end *end, size_t first, size_t count)
{
    const struct tt_var *var = packed_values_var(packed, end);
    struct tt_text text = {0};
    enum tutti_err err = TUTTI_OK;
    if (!packed_values_system(packed)->single)
        tt_text_printf(&text, "%s.", packed_values_system(packed)->components[end->component].name);
    tt_text_append(&text, var->name);
    if (end->element.count > 0 || count < variable->size)
        packed_values_name_element(&text, variable->row, &end->element, first);
    for (size_t n = first; n < first + count && !err; n++) {
        union tt_packed_value value;
        err = packed_values_convert_in(packed, variable, n, end, &value);
        if (var->negated) /* --set handles negation itself */
            tt_type_negate((enum tt_type)var->type, &value);
        tt_text_append(&text, n == first ? "=" : " ");
        tt_packed_table_write_value(&text, (enum tt_type)var->type, &value);
    }
    if (!err)
        err = text.failed ? tt_fail_memory() : tutti_simulation_set(packed->simulation, text.text);
    tt_text_fini(&text);
    return err;
}

static enum tutti_err packed_values_pass_variable(struct tt_packed *packed, const struct tt_packed_variable *variable,
                                                  const struct tt_packed_end *end)
{
    bool one_by_one = variable->owned && variable->row->dimension_count > 0;
    for (size_t n = 0; n < variable->size; n += one_by_one ? 1 : variable->size)
        TRY(pass_start_values(packed, variable, end, n, one_by_one ? 1 : variable->size));
    return TUTTI_OK;
}

enum tutti_err tt_packed_values_pass_start_values(struct tt_packed *packed)
{
    for (size_t u = 0; u < packed->unit_count; u++) { /* units may have changed their places */
        if (packed->units[u].laid)
            tt_signals_fini(&packed->units[u].signals);
        packed->units[u].laid = false;
        packed->units[u].point = 0;
    }
    for (size_t i = 0; i < packed->table.count; i++) {
        struct tt_packed_variable *variable = &packed->variables[i];
        for (size_t e = 0; e < variable->end_count; e++) {
            variable->ends[e].set = NULL;
            if (variable->given)
                TRY(packed_values_pass_variable(packed, variable, &variable->ends[e]));
        }
    }
    return TUTTI_OK;
}
