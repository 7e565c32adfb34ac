/* SPDX-License-Identifier: MIT */
/* Values of a packed system's variables: from and to the units that they stand for. */
#include <stdlib.h>
#include <string.h>

#include "packed/instance.h"

static const struct tutti_system *system_of(const struct tutti_packed *packed)
{
    return packed->simulation->job.system;
}

static const struct tutti_var *var_of(const struct tutti_packed *packed, const struct tutti_packed_end *end)
{
    return &system_of(packed)->components[end->component].fmu->desc->vars[end->variable];
}

/* ---- what a variable stands for ---- */

static uint32_t find_port(const struct tutti_port *ports, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (ports[i].table == TUTTI_NONE && strcmp(ports[i].name, name) == 0)
            return i;
    return TUTTI_NONE;
}

/* The ends of a connector: all that an input of the system goes to, or the one that an output comes from. */
static enum tutti_err bind_port(struct tutti_packed *packed, struct tutti_packed_variable *variable)
{
    const struct tutti_system *system = system_of(packed);
    bool output = variable->row->role == TUTTI_PACKED_OUTPUT;
    uint32_t port = output ? find_port(system->outputs, system->output_count, variable->row->name)
                           : find_port(system->inputs, system->input_count, variable->row->name);
    variable->ends = tutti_arena_array(&packed->arena, system->connection_count, sizeof *variable->ends);
    if (!variable->ends)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < system->connection_count && port != TUTTI_NONE; i++) {
        const struct tutti_connection *connection = &system->connections[i];
        const struct tutti_end *own = output ? &connection->to : &connection->from;
        const struct tutti_end *other = output ? &connection->from : &connection->to;
        if (own->component == TUTTI_NONE && own->variable == port && other->component != TUTTI_NONE)
            variable->ends[variable->end_count++] = (struct tutti_packed_end){
                .component = other->component, .variable = other->variable, .conversion = connection->conversion};
    }
    return variable->end_count > 0 ? TUTTI_OK
                                   : tutti_fail(TUTTI_ERR_FORMAT, "%s: nothing is connected to '%s' any more",
                                                packed->system, variable->row->name);
}

static enum tutti_err bind_variable(struct tutti_packed *packed, struct tutti_packed_variable *variable)
{
    struct tutti_indices element;
    variable->end_count = 0;
    if (!variable->row->target)
        return bind_port(packed, variable);
    variable->ends = tutti_arena_array(&packed->arena, 1, sizeof *variable->ends);
    if (!variable->ends)
        return tutti_fail_memory();
    variable->end_count = 1;
    return tutti_system_find(system_of(packed), variable->row->target, "packed", &variable->ends[0].component,
                             &variable->ends[0].variable, &element);
}

/* Which units are read, and where each variable stands there (PK3). */
static enum tutti_err group(struct tutti_packed *packed)
{
    const struct tutti_system *system = system_of(packed);
    size_t *of = tutti_arena_array(&packed->arena, system->component_count, sizeof *of);
    packed->units = tutti_arena_array(&packed->arena, system->component_count, sizeof *packed->units);
    if (!of || !packed->units)
        return tutti_fail_memory();
    for (size_t i = 0; i < packed->table.count; i++) {
        uint32_t component = packed->variables[i].ends[0].component;
        if (of[component] == 0) {
            packed->units[packed->unit_count].component = component;
            of[component] = ++packed->unit_count;
        }
        packed->variables[i].unit = of[component] - 1;
        packed->variables[i].slot = packed->units[of[component] - 1].count++;
    }
    for (size_t u = 0; u < packed->unit_count; u++) {
        packed->units[u].variables =
            tutti_arena_array(&packed->arena, packed->units[u].count, sizeof *packed->units[u].variables);
        if (!packed->units[u].variables)
            return tutti_fail_memory();
    }
    for (size_t i = 0; i < packed->table.count; i++)
        packed->units[packed->variables[i].unit].variables[packed->variables[i].slot] =
            packed->variables[i].ends[0].variable;
    return TUTTI_OK;
}

enum tutti_err tutti_packed_bind(struct tutti_packed *packed)
{
    for (size_t i = 0; i < packed->table.count; i++)
        TRY(bind_variable(packed, &packed->variables[i]));
    return group(packed);
}

void tutti_packed_unbind(struct tutti_packed *packed)
{
    tutti_packed_forget(packed);
    for (size_t u = 0; u < packed->unit_count; u++)
        if (packed->units[u].laid)
            tutti_signals_fini(&packed->units[u].signals);
    packed->unit_count = 0;
    packed->units = NULL;
    tutti_arena_fini(&packed->arena);
    packed->arena = (struct tutti_arena){0};
}

void tutti_packed_forget(struct tutti_packed *packed)
{
    for (size_t u = 0; u < packed->unit_count; u++)
        packed->units[u].fresh = false;
}

/* ---- reading ---- */

static enum tutti_err refresh(struct tutti_packed *packed, struct tutti_packed_unit *unit)
{
    struct tutti_unit *source = packed->simulation->execution.rank.members[unit->component].unit;
    if (!unit->laid) {
        TRY(tutti_unit_signals(source, unit->variables, unit->count, &unit->signals));
        unit->laid = true;
    }
    TRY(tutti_unit_get(source, &unit->signals));
    unit->fresh = true;
    return TUTTI_OK;
}

static enum tutti_err find(struct tutti_packed *packed, uint32_t reference, enum tutti_type type,
                           struct tutti_packed_variable **out)
{
    if (reference == 0 || reference > packed->table.count)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variable with value reference %u", packed->name,
                          reference);
    *out = &packed->variables[reference - 1];
    enum tutti_type own = (*out)->row->type;
    bool same = own == type || (own == TUTTI_TYPE_ENUMERATION && type == TUTTI_TYPE_INT64) ||
                (own == TUTTI_TYPE_ENUMERATION && type == TUTTI_TYPE_INT32);
    return same ? TUTTI_OK
                : tutti_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is of type %s, not %s", packed->name, (*out)->row->name,
                             tutti_type_name(own), tutti_type_name(type));
}

enum tutti_err tutti_packed_get(struct tutti_packed *packed, uint32_t reference, enum tutti_type type, void *value)
{
    struct tutti_packed_variable *variable;
    if (reference == 0 && type == TUTTI_TYPE_FLOAT64 && packed->simulation) {
        *(double *)value = tutti_simulation_time(packed->simulation);
        return TUTTI_OK;
    }
    TRY(find(packed, reference, type, &variable));
    TRY(tutti_packed_check(packed,
                           TUTTI_PACKED_IN(TUTTI_PACKED_INITIALISING) | TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING) |
                               TUTTI_PACKED_IN(TUTTI_PACKED_ENDED),
                           "reading a value"));
    TRY(tutti_packed_need(packed));
    struct tutti_packed_unit *unit = &packed->units[variable->unit];
    if (!unit->fresh)
        TRY(refresh(packed, unit));
    const struct tutti_packed_end *end = &variable->ends[0];
    enum tutti_type own = variable->row->type;
    union tutti_packed_value raw = {0}, shown = {0};
    memcpy(&raw, unit->signals.slots[variable->slot], unit->signals.sizes[variable->slot]);
    if (var_of(packed, end)->negated)
        tutti_type_negate((enum tutti_type)var_of(packed, end)->type, &raw);
    if (!end->conversion)
        shown = raw;
    else if (variable->row->role == TUTTI_PACKED_OUTPUT)
        TRY(tutti_convert(end->conversion, &raw, &shown, 1));
    else
        shown = variable->given ? variable->value : tutti_packed_before(end->conversion, raw);
    if (own == TUTTI_TYPE_ENUMERATION && type == TUTTI_TYPE_INT32)
        *(int32_t *)value = (int32_t)(int64_t)shown.bits;
    else
        memcpy(value, &shown, tutti_type_size(own));
    return TUTTI_OK;
}

/* ---- setting ---- */

static enum tutti_err keep(struct tutti_packed_variable *variable, enum tutti_type type, const void *value)
{
    bool text = variable->row->type == TUTTI_TYPE_STRING;
    union tutti_packed_value kept = {0};
    if (text) {
        kept.text = tutti_str_copy(*(const char *const *)value);
        if (!kept.text)
            return tutti_fail_memory();
        if (variable->given)
            free(variable->value.text);
    } else if (variable->row->type == TUTTI_TYPE_ENUMERATION && type == TUTTI_TYPE_INT32) {
        kept.bits = (uint64_t)(int64_t) * (const int32_t *)value;
    } else {
        memcpy(&kept, value, tutti_type_size(variable->row->type));
    }
    variable->value = kept;
    variable->given = true;
    return TUTTI_OK;
}

/* The value as the unit's variable has it. */
static enum tutti_err convert(const struct tutti_packed *packed, const struct tutti_packed_variable *variable,
                              const struct tutti_packed_end *end, union tutti_packed_value *out)
{
    *out = variable->value;
    if (end->conversion)
        TRY(tutti_convert(end->conversion, &variable->value, out, 1));
    if (var_of(packed, end)->negated)
        tutti_type_negate((enum tutti_type)var_of(packed, end)->type, out);
    return TUTTI_OK;
}

static enum tutti_err put(struct tutti_packed *packed, const struct tutti_packed_variable *variable,
                          struct tutti_packed_end *end)
{
    struct tutti_rank *rank = &packed->simulation->execution.rank;
    union tutti_packed_value value;
    if (!end->set) {
        TRY(tutti_pending_set_new(&end->set, &packed->simulation->pending_sets, rank, end->component, end->variable));
        end->set->moves = variable->row->moves;
    }
    TRY(convert(packed, variable, end, &value));
    struct tutti_block *block = &end->set->signals.blocks[0];
    if (block->owned)
        TRY(tutti_owned_copy(block->owned, block->type, &value, block->values, 1));
    else
        memcpy(end->set->signals.slots[0], &value, end->set->signals.sizes[0]);
    tutti_pending_set_mark(end->set, rank);
    return TUTTI_OK;
}

enum tutti_err tutti_packed_set(struct tutti_packed *packed, uint32_t reference, enum tutti_type type,
                                const void *value)
{
    struct tutti_packed_variable *variable;
    TRY(find(packed, reference, type, &variable));
    enum tutti_packed_role role = variable->row->role;
    bool early = packed->stage <= TUTTI_PACKED_INITIALISING;
    if (role == TUTTI_PACKED_OUTPUT || (!early && role == TUTTI_PACKED_PARAMETER))
        return tutti_fail(TUTTI_ERR_STATE, "%s: '%s' cannot be set here: it is %s", packed->name, variable->row->name,
                          role == TUTTI_PACKED_OUTPUT ? "an output" : "a parameter, which is fixed from the start on");
    TRY(tutti_packed_check(packed,
                           TUTTI_PACKED_IN(TUTTI_PACKED_MADE) | TUTTI_PACKED_IN(TUTTI_PACKED_INITIALISING) |
                               TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING),
                           "setting a value"));
    TRY(keep(variable, type, value));
    if (early) {
        packed->started = false; /* PK1 */
        return TUTTI_OK;
    }
    for (size_t i = 0; i < variable->end_count; i++)
        TRY(put(packed, variable, &variable->ends[i]));
    return TUTTI_OK;
}

static enum tutti_err hand_over(struct tutti_packed *packed, const struct tutti_packed_variable *variable,
                                const struct tutti_packed_end *end)
{
    const struct tutti_component *component = &system_of(packed)->components[end->component];
    const struct tutti_var *var = var_of(packed, end);
    union tutti_packed_value value = variable->value;
    struct tutti_text text = {0};
    if (end->conversion)
        TRY(tutti_convert(end->conversion, &variable->value, &value, 1));
    if (!system_of(packed)->single)
        tutti_text_printf(&text, "%s.", component->name);
    tutti_text_printf(&text, "%s=", var->name);
    tutti_packed_write_value(&text, (enum tutti_type)var->type, &value);
    enum tutti_err err = text.failed ? tutti_fail_memory() : tutti_simulation_set(packed->simulation, text.text);
    tutti_text_fini(&text);
    return err;
}

enum tutti_err tutti_packed_hand_over(struct tutti_packed *packed)
{
    for (size_t u = 0; u < packed->unit_count; u++) { /* units may have changed their places */
        if (packed->units[u].laid)
            tutti_signals_fini(&packed->units[u].signals);
        packed->units[u].laid = packed->units[u].fresh = false;
    }
    for (size_t i = 0; i < packed->table.count; i++) {
        struct tutti_packed_variable *variable = &packed->variables[i];
        for (size_t e = 0; e < variable->end_count; e++) {
            variable->ends[e].set = NULL;
            if (variable->given)
                TRY(hand_over(packed, variable, &variable->ends[e]));
        }
    }
    return TUTTI_OK;
}
