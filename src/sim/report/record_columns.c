/* SPDX-License-Identifier: MIT */
/* Chooses the recorded variables. Every rank chooses among the variables of all units, so that all agree on which
 * patterns match, and keeps its own columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sim/report/record.h"

/* One chosen name of a unit: a variable or an alias of one. */
struct column_choice {
    const char *name, *description;
    uint32_t variable;
    bool elements;      /* only those elements that patterns fit */
    const char *values; /* where its values will be */
    size_t extent;
    bool gone; /* it cannot be recorded */
};

struct column_chooser {
    const struct tutti_run_options *options;
    const struct tt_wires *wires;
    const struct tt_system *system;
    const struct tt_recorded_unit *observed;
    bool *used;  /* per pattern */
    bool failed; /* for want of memory */
    bool shows;  /* anything at all, of any rank's units */
    /* Units without outputs, of which other variables are recorded. */
    const struct tt_component *substituted;
    size_t substituted_count, substitute_count, moving_count;
    bool states;
    size_t column_room;
    /* Of the present unit. */
    uint32_t component;
    bool *follows; /* per variable: an input, at once, perhaps */
    struct column_choice *choices;
    size_t count, room;
    bool *is_state; /* per variable */
    size_t state_room;
};

static const struct tt_component *record_columns_component(const struct column_chooser *chooser)
{
    return &chooser->system->components[chooser->component];
}

/* "unit.name"; in the arena. */
static const char *record_columns_full_name(const struct column_chooser *chooser, struct tt_arena *arena,
                                            const char *name)
{
    if (chooser->system->single)
        return name;
    struct tt_text full = {0};
    tt_text_printf(&full, "%s.%s", record_columns_component(chooser)->name, name);
    const char *copy = full.failed ? NULL : tt_arena_copy_text(arena, full.text, full.length);
    tt_text_fini(&full);
    return copy;
}

/* Patterns name the unit ("ball.h", "*.h"); for a single FMU it may be left out ("h"). */
static bool record_columns_pattern_matches(struct column_chooser *chooser, const char *pattern, const char *name)
{
    if (chooser->system->single && tt_text_glob(pattern, name))
        return true;
    struct tt_text full = {0};
    tt_text_printf(&full, "%s.%s", record_columns_component(chooser)->name, name);
    bool fit = !full.failed && tt_text_glob(pattern, full.text);
    chooser->failed = chooser->failed || full.failed;
    tt_text_fini(&full);
    return fit;
}

/* Returns true if any pattern matches, and marks all that do. */
static bool any_pattern_matches(struct column_chooser *chooser, const char *name)
{
    bool any = false;
    for (size_t p = 0; p < chooser->options->record_count; p++)
        if (record_columns_pattern_matches(chooser, chooser->options->records[p], name))
            any = chooser->used[p] = true;
    return any;
}

/* Returns true if a pattern may name elements of the array `name`: the part before its bracket must match. */
static bool pattern_names_elements(struct column_chooser *chooser, const char *name)
{
    for (size_t p = 0; p < chooser->options->record_count; p++) {
        const char *pattern = chooser->options->records[p], *bracket = strrchr(pattern, '[');
        char *base = bracket ? tt_text_copy(pattern) : NULL;
        chooser->failed = chooser->failed || (bracket && !base);
        if (!base)
            continue;
        base[bracket - pattern] = '\0';
        bool fit = record_columns_pattern_matches(chooser, base, name);
        free(base);
        if (fit)
            return true;
    }
    return false;
}

static enum tutti_err add_column_choice(struct column_chooser *chooser, const struct column_choice *choice)
{
    if (chooser->count == chooser->room) {
        size_t room = chooser->room ? 2 * chooser->room : 16;
        struct column_choice *more = realloc(chooser->choices, room * sizeof *more);
        if (!more)
            return tt_fail_memory();
        chooser->choices = more;
        chooser->room = room;
    }
    chooser->choices[chooser->count++] = *choice;
    chooser->shows = true;
    return TUTTI_OK;
}

static enum tutti_err record_columns_offer(struct column_chooser *chooser, const char *name, const char *description,
                                           uint32_t variable)
{
    const struct tt_var *var = &record_columns_component(chooser)->fmu->desc->vars[variable];
    if (var->causality == TUTTI_INDEPENDENT || var->type == TUTTI_TYPE_CLOCK)
        return TUTTI_OK; /* time is the first column anyway */
    bool chosen = chooser->options->record_count == 0 ? var->causality == TUTTI_OUTPUT
                                                      : any_pattern_matches(chooser, name);
    bool elements = !chosen && var->dimension_count > 0 && pattern_names_elements(chooser, name);
    if (!chosen && !elements)
        return TUTTI_OK;
    return add_column_choice(
        chooser,
        &(struct column_choice){.name = name, .description = description, .variable = variable, .elements = elements});
}

/* A unit without outputs shows what moves inside it. */
static enum tutti_err choose_moving_columns(struct column_chooser *chooser)
{
    const struct tt_description *desc = record_columns_component(chooser)->fmu->desc;
    struct tt_substitute_choice moving;
    TRY(tt_record_find_moving(desc, &moving));
    for (size_t i = 0; i < moving.count; i++) {
        const struct tt_var *var = &desc->vars[moving.variables[i]];
        TRY(add_column_choice(chooser, &(struct column_choice){.name = var->name,
                                                               .description = var->description,
                                                               .variable = moving.variables[i]}));
    }
    if (moving.count == 0)
        return TUTTI_OK;
    if (chooser->substituted_count++ == 0)
        chooser->substituted = record_columns_component(chooser);
    chooser->states = moving.states;
    chooser->substitute_count += moving.count;
    chooser->moving_count += moving.found;
    return TUTTI_OK;
}

static enum tutti_err record_columns_choose_unit(struct column_chooser *chooser)
{
    const struct tt_description *desc = record_columns_component(chooser)->fmu->desc;
    chooser->count = 0;
    for (uint32_t i = 0; i < desc->var_count; i++)
        TRY(record_columns_offer(chooser, desc->vars[i].name, desc->vars[i].description, i));
    for (uint32_t i = 0; i < desc->alias_count && chooser->options->record_count > 0; i++)
        TRY(record_columns_offer(chooser, desc->aliases[i].name, desc->aliases[i].description,
                                 desc->aliases[i].variable));
    return chooser->count == 0 && chooser->options->record_count == 0 ? choose_moving_columns(chooser) : TUTTI_OK;
}

static enum tutti_err record_columns_check_patterns(const struct column_chooser *chooser)
{
    for (size_t p = 0; p < chooser->options->record_count; p++) {
        if (chooser->used[p])
            continue;
        const char *pattern = chooser->options->records[p];
        const char *nearest =
            chooser->system->single ? tt_description_nearest(chooser->system->components[0].fmu->desc, pattern) : NULL;
        return nearest ? tt_fail(TUTTI_ERR_ARGUMENT, "--record: no variable fits '%s'; did you mean '%s'?", pattern,
                                 nearest)
                       : tt_fail(TUTTI_ERR_ARGUMENT,
                                 "--record: no variable fits '%s'; `tutti info --variables` lists all", pattern);
    }
    return TUTTI_OK;
}

/* "x[2,3]" for element `at` (row-major, from 0) of an array with the unit's present extents. */
static const char *element_name(struct tt_arena *arena, const struct tt_unit *unit, uint32_t variable, const char *base,
                                size_t at)
{
    const struct tt_var *var = &unit->fmu->desc->vars[variable];
    if (var->dimension_count == 0)
        return base;
    struct tt_text name = {0};
    tt_text_append(&name, base);
    size_t extent = 1; /* values of what the indices so far choose */
    for (unsigned d = 0; d < var->dimension_count; d++)
        extent *= (size_t)tt_unit_dimension(unit, &var->dimensions[d]);
    for (unsigned d = 0; d < var->dimension_count; d++) {
        extent /= (size_t)tt_unit_dimension(unit, &var->dimensions[d]);
        tt_text_printf(&name, "%c%zu", d ? ',' : '[', at / extent + 1);
        at %= extent;
    }
    tt_text_append(&name, "]");
    const char *copy = name.failed ? NULL : tt_arena_copy_text(arena, name.text, name.length);
    tt_text_fini(&name);
    return copy;
}

static enum tutti_err record_columns_allocate(struct tt_record *observer, struct column_chooser *chooser)
{
    if (observer->column_count < chooser->column_room)
        return TUTTI_OK;
    size_t room = chooser->column_room ? 2 * chooser->column_room : 64;
    struct tt_column *columns = realloc(observer->columns, room * sizeof *columns);
    if (!columns)
        return tt_fail_memory();
    observer->columns = columns;
    struct tt_column_place *places = realloc(observer->places, room * sizeof *places);
    if (!places)
        return tt_fail_memory();
    observer->places = places;
    chooser->column_room = room;
    return TUTTI_OK;
}

static enum tutti_err record_columns_add_column(struct tt_record *observer, struct column_chooser *chooser,
                                                const struct tt_column_place *place, const struct tt_column *column)
{
    if (!column->name)
        return tt_fail_memory();
    TRY(record_columns_allocate(observer, chooser));
    observer->columns[observer->column_count] = *column;
    observer->places[observer->column_count++] = *place;
    return TUTTI_OK;
}

/* The column added last is a state, whose value must stay finite. */
static enum tutti_err record_columns_add_state(struct tt_record *observer, struct column_chooser *chooser)
{
    if (observer->state_count == chooser->state_room) {
        size_t room = chooser->state_room ? 2 * chooser->state_room : 16;
        size_t *states = realloc(observer->states, room * sizeof *states);
        if (!states)
            return tt_fail_memory();
        observer->states = states;
        chooser->state_room = room;
    }
    observer->states[observer->state_count++] = observer->column_count - 1;
    return TUTTI_OK;
}

/* Adds the columns of one choice; inputs driven by a file are shown as the unit received them. */
static enum tutti_err add_columns(struct tt_record *observer, struct column_chooser *chooser,
                                  const struct column_choice *choice)
{
    const struct tt_recorded_unit *observed = &chooser->observed[chooser->component];
    const struct tt_description *desc = record_columns_component(chooser)->fmu->desc;
    const struct tt_var *var = &desc->vars[choice->variable];
    for (size_t e = 0; e < choice->extent; e++) {
        const char *name = element_name(&observer->arena, observed->unit, choice->variable, choice->name, e);
        if (!name)
            return tt_fail_memory();
        /* Asked in any case: a pattern may fit what another one has chosen already. */
        bool fit = var->dimension_count > 0 && any_pattern_matches(chooser, name);
        if (!observed->own || choice->gone || (choice->elements && !fit))
            continue;
        const void *driven = observed->inputs ? tt_inputs_slot(observed->inputs, choice->variable, e) : NULL;
        const struct tt_column_place place = {chooser->component, 0, driven ? TUTTI_NONE : var->reference, e};
        TRY(record_columns_add_column(
            observer, chooser, &place,
            &(struct tt_column){
                .name = record_columns_full_name(chooser, &observer->arena, name),
                .unit = var->unit == TUTTI_NONE ? NULL : desc->units[var->unit].name,
                .description = choice->description,
                .type = var->type,
                .negated = var->negated,
                .fixed = var->variability == TUTTI_CONSTANT || var->variability == TUTTI_FIXED,
                .held = var->variability != TUTTI_CONTINUOUS,
                .value = driven ? driven : choice->values + e * tt_type_size(var->type),
            }));
        if (chooser->is_state[choice->variable] && var->type == TUTTI_TYPE_FLOAT64)
            TRY(record_columns_add_state(observer, chooser));
    }
    return TUTTI_OK;
}

/* ---- variables that an FMU does not let us read ---- */

static bool is_readable(struct tt_unit *unit, struct tt_signals *signals, enum tutti_err *err)
{
    bool refused = false;
    for (size_t b = 0; b < signals->block_count && !*err && !refused; b++)
        *err = unit->kind->ask(unit, &signals->blocks[b], &refused);
    tt_signals_fini(signals);
    return !refused;
}

/* Returns true if all of them can be read. */
static enum tutti_err record_columns_test_read(const struct column_chooser *chooser, const uint32_t *variables,
                                               size_t count, bool *can)
{
    struct tt_unit *unit = chooser->observed[chooser->component].unit;
    struct tt_signals signals;
    enum tutti_err err = TUTTI_OK;
    TRY(tt_unit_signals(unit, variables, count, &signals));
    *can = is_readable(unit, &signals, &err);
    return err;
}

/* The staged values of a node, or NULL: those of a Float32 are doubles (sim/signals/wires.h, W5), and a column has the variable's type. */
static const char *staged_node_values(const struct column_chooser *chooser, uint32_t node, const struct tt_var *var)
{
    const struct tt_slot *slot = &chooser->wires->slots[node];
    return slot->type == var->type ? slot->values : NULL;
}

/* Returns where an input's last set value is stored, or NULL if it was set by the system, or once only. */
static enum tutti_err find_set_value(struct tt_record *observer, const struct column_chooser *chooser,
                                     struct column_choice *choice)
{
    const struct tt_recorded_unit *observed = &chooser->observed[chooser->component];
    const struct tt_component *component = record_columns_component(chooser);
    const struct tt_var *var = &component->fmu->desc->vars[choice->variable];
    uint32_t node = tt_structure_find(chooser->wires->structure, chooser->component, choice->variable, false);
    TRY(tt_unit_extent(observed->unit, choice->variable, &choice->extent));
    if (node != TUTTI_NONE) {
        choice->values = staged_node_values(chooser, node, var);
        return TUTTI_OK;
    }
    if (var->causality != TUTTI_INPUT || observed->has_pending || tt_type_is_text((enum tt_type)var->type))
        return TUTTI_OK;
    struct tt_block block = {(enum tt_type)var->type, 1, choice->extent, NULL, NULL, NULL};
    block.values = tt_arena_array(&observer->arena, choice->extent, tt_type_size(var->type));
    if (!block.values)
        return tt_fail_memory();
    choice->values = block.values;
    return tt_unit_describe_start(observed->unit, choice->variable, component->settings, component->setting_count,
                                  &block);
}

/* Replaces a choice that the FMU refuses to read by the value last set, or drops it. */
static enum tutti_err record_columns_replace_unreadable(struct tt_record *observer,
                                                        const struct column_chooser *chooser,
                                                        struct column_choice *choice)
{
    TRY(find_set_value(observer, chooser, choice));
    tt_log(chooser->observed[chooser->component].log, TUTTI_LOG_WARNING, record_columns_component(chooser)->name,
           "'%s' cannot be read, the FMU returns Error: %s", choice->name,
           choice->values ? "its column shows what the FMU was told" : "it is not recorded");
    choice->gone = !choice->values;
    return TUTTI_OK;
}

/* Outputs must be readable; some FMUs refuse to return a few other variables, which must not prevent a simulation. */
static enum tutti_err filter_readable(struct tt_record *observer, struct column_chooser *chooser, uint32_t *variables)
{
    const struct tt_description *desc = record_columns_component(chooser)->fmu->desc;
    size_t doubtful = 0;
    bool can = true;
    for (size_t i = 0; i < chooser->count; i++)
        if (!chooser->choices[i].values && desc->vars[chooser->choices[i].variable].causality != TUTTI_OUTPUT)
            variables[doubtful++] = chooser->choices[i].variable;
    if (doubtful > 0)
        TRY(record_columns_test_read(chooser, variables, doubtful, &can));
    if (can)
        return TUTTI_OK;
    for (size_t i = 0; i < chooser->count; i++) {
        struct column_choice *choice = &chooser->choices[i];
        can = choice->values || desc->vars[choice->variable].causality == TUTTI_OUTPUT;
        if (!can)
            TRY(record_columns_test_read(chooser, &choice->variable, 1, &can));
        if (!can)
            TRY(record_columns_replace_unreadable(observer, chooser, choice));
    }
    return TUTTI_OK;
}

/* Returns true if connections provide numbers to this input. */
static bool record_columns_is_connected(const struct column_chooser *chooser, uint32_t component, uint32_t variable)
{
    uint32_t node = tt_structure_find(chooser->wires->structure, component, variable, false);
    return node != TUTTI_NONE && tt_wires_has_numbers(chooser->wires, node);
}

/* Returns true if connections provide numbers to any of the component's inputs. */
static bool any_is_connected(const struct column_chooser *chooser, uint32_t component)
{
    const uint32_t *nodes = chooser->wires->structure->component_first + component;
    for (uint32_t n = nodes[0]; n < nodes[1]; n++)
        if (tt_wires_has_numbers(chooser->wires, n))
            return true;
    return false;
}

/* Finds the variables of a component that may depend directly on connected inputs: neither states, nor outputs that
 * depend on none of these inputs according to the model structure. A component without such inputs is read in one call. */
static enum tutti_err record_columns_find_followers(struct column_chooser *chooser, uint32_t component)
{
    const struct tt_description *desc = chooser->system->components[component].fmu->desc;
    bool *more = realloc(chooser->follows, ((size_t)desc->var_count + 1) * sizeof *more);
    if (!more)
        return tt_fail_memory();
    chooser->follows = more;
    bool any_fed = any_is_connected(chooser, component);
    for (uint32_t i = 0; i < desc->var_count; i++)
        more[i] = any_fed && tt_type_is_float((enum tt_type)desc->vars[i].type) &&
                  desc->vars[i].variability == TUTTI_CONTINUOUS && desc->vars[i].causality != TUTTI_INPUT;
    for (uint32_t i = 0; i < desc->outputs.count; i++) {
        const struct tt_unknown *output = &desc->outputs.items[i];
        bool any = !output->has_dependencies || (any_fed && chooser->observed[component].unit->undeclared);
        for (uint32_t d = 0; d < output->dependency_count; d++)
            any = any || record_columns_is_connected(chooser, component, output->dependencies[d]);
        more[output->variable] = more[output->variable] && any;
    }
    for (uint32_t i = 0; i < desc->derivatives.count; i++) {
        uint32_t state = desc->vars[desc->derivatives.items[i].variable].derivative_of;
        if (state != TUTTI_NONE)
            more[state] = false;
    }
    return TUTTI_OK;
}

/* The input that another name of it has shown already, or NULL: aliases come after the variables of a unit. */
static const struct tt_recorded_input *find_shown_alias(const struct tt_record *observer, uint32_t node)
{
    for (size_t i = 0; i < observer->input_count; i++)
        if (observer->inputs[i].node == node)
            return &observer->inputs[i];
    return NULL;
}

/* The input of the unit that connections bring numbers to and that the choice names, also by an alias; TUTTI_NONE. */
static uint32_t find_connected_input(const struct column_chooser *chooser, const struct column_choice *choice)
{
    const struct tt_wires *wires = chooser->wires;
    const struct tt_structure *structure = wires->structure;
    const struct tt_var *vars = record_columns_component(chooser)->fmu->desc->vars, *var = &vars[choice->variable];
    uint32_t node = tt_structure_find(structure, chooser->component, choice->variable, false);
    if (node != TUTTI_NONE)
        return tt_wires_has_numbers(wires, node) ? node : TUTTI_NONE;
    bool may_be = record_columns_component(chooser)->fmu->desc->fmi < 3; /* aliases of 3.0 are not variables */
    for (uint32_t n = structure->component_first[chooser->component];
         may_be && n < structure->component_first[chooser->component + 1]; n++)
        if (!structure->nodes[n].output && wires->slots[n].reference == var->reference &&
            vars[structure->nodes[n].variable].type == var->type && tt_wires_has_numbers(wires, n))
            return n;
    return TUTTI_NONE;
}

static enum tutti_err record_columns_add_input(struct tt_record *observer, const struct column_chooser *chooser,
                                               uint32_t node, struct column_choice *choice)
{
    const struct tt_slot *slot = &chooser->wires->slots[node];
    const struct tt_var *var = &record_columns_component(chooser)->fmu->desc->vars[choice->variable];
    bool alias = choice->name != var->name || choice->variable != chooser->wires->structure->nodes[node].variable;
    const struct tt_recorded_input *shown = alias ? find_shown_alias(observer, node) : NULL;
    if (!shown) {
        struct tt_recorded_input *input = &observer->inputs[observer->input_count++];
        size_t size = tt_type_size((enum tt_type)slot->type);
        *input =
            (struct tt_recorded_input){.node = node, .staged = tt_arena_array(&observer->arena, slot->count, size)};
        if (slot->narrow)
            input->floats = tt_arena_array(&observer->arena, slot->count, sizeof *input->floats);
        if (!input->staged || (slot->narrow && !input->floats))
            return tt_fail_memory();
        shown = input;
    }
    choice->values = shown->floats ? (const char *)shown->floats : (const char *)shown->staged;
    return TUTTI_OK;
}

/* Finds choices whose values exist already: outputs with readers, inputs that connections or a file drive. */
static enum tutti_err find_known_columns(struct tt_record *observer, const struct column_chooser *chooser)
{
    const struct tt_recorded_unit *observed = &chooser->observed[chooser->component];
    for (size_t i = 0; i < chooser->count; i++) {
        struct column_choice *choice = &chooser->choices[i];
        uint32_t node = tt_structure_find(chooser->wires->structure, chooser->component, choice->variable, true);
        uint32_t input = find_connected_input(chooser, choice);
        TRY(tt_unit_extent(observed->unit, choice->variable, &choice->extent));
        if (node != TUTTI_NONE)
            choice->values = staged_node_values(chooser, node,
                                                &record_columns_component(chooser)->fmu->desc->vars[choice->variable]);
        else if (input != TUTTI_NONE)
            TRY(record_columns_add_input(observer, chooser, input, choice));
        else if (observed->inputs)
            choice->values = tt_inputs_slot(observed->inputs, choice->variable, 0);
    }
    return TUTTI_OK;
}

/* Those of the unit's choices that have to be read for the record, and that follow inputs, or do not. */
static enum tutti_err record_columns_add_reads(struct tt_record *observer, const struct column_chooser *chooser,
                                               bool follows, uint32_t *variables)
{
    struct tt_unit *unit = chooser->observed[chooser->component].unit;
    size_t own = 0;
    for (size_t i = 0; i < chooser->count; i++)
        if (!chooser->choices[i].values && !chooser->choices[i].gone &&
            chooser->follows[chooser->choices[i].variable] == follows)
            variables[own++] = chooser->choices[i].variable;
    if (own == 0)
        return TUTTI_OK;
    struct tt_recorded_read *looking = &observer->looks[observer->look_count];
    *looking = (struct tt_recorded_read){.unit = unit, .component = chooser->component, .follows = follows};
    TRY(tt_unit_signals(unit, variables, own, &looking->signals));
    observer->look_count++;
    own = 0;
    for (size_t i = 0; i < chooser->count; i++)
        if (!chooser->choices[i].values && !chooser->choices[i].gone &&
            chooser->follows[chooser->choices[i].variable] == follows)
            chooser->choices[i].values = looking->signals.slots[own++];
    return TUTTI_OK;
}

/* Lists the unit's choices that must be read for the record. */
static enum tutti_err record_columns_list_reads(struct tt_record *observer, struct column_chooser *chooser,
                                                uint32_t *variables)
{
    TRY(record_columns_find_followers(chooser, chooser->component));
    TRY(find_known_columns(observer, chooser));
    TRY(filter_readable(observer, chooser, variables));
    TRY(record_columns_add_reads(observer, chooser, false, variables));
    return record_columns_add_reads(observer, chooser, true, variables);
}

/* The description identifies states: variables that have a derivative. */
static enum tutti_err record_columns_find_states(struct column_chooser *chooser)
{
    const struct tt_description *desc = record_columns_component(chooser)->fmu->desc;
    free(chooser->is_state);
    chooser->is_state = calloc((size_t)desc->var_count + 1, sizeof *chooser->is_state);
    if (!chooser->is_state)
        return tt_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].derivative_of != TUTTI_NONE)
            chooser->is_state[desc->vars[v].derivative_of] = true;
    return TUTTI_OK;
}

static enum tutti_err choose_unit_columns(struct tt_record *observer, struct column_chooser *chooser)
{
    TRY(record_columns_choose_unit(chooser));
    TRY(record_columns_find_states(chooser));
    if (!chooser->observed[chooser->component].own) {
        /* Nothing is read from a unit of another rank; the number of elements still determines the names. */
        for (size_t i = 0; i < chooser->count; i++)
            TRY(tt_unit_extent(chooser->observed[chooser->component].unit, chooser->choices[i].variable,
                               &chooser->choices[i].extent));
        for (size_t i = 0; i < chooser->count; i++)
            TRY(add_columns(observer, chooser, &chooser->choices[i]));
        return TUTTI_OK;
    }
    uint32_t *variables = calloc(chooser->count + 1, sizeof *variables);
    if (!variables)
        return tt_fail_memory();
    enum tutti_err err = record_columns_list_reads(observer, chooser, variables);
    free(variables);
    for (size_t i = 0; i < chooser->count && !err; i++)
        err = add_columns(observer, chooser, &chooser->choices[i]);
    return err;
}

/* Returns true if a pattern matches an output of the system itself. */
static bool pattern_matches_port(const struct column_chooser *chooser, const char *name)
{
    bool any = chooser->options->record_count == 0;
    for (size_t p = 0; p < chooser->options->record_count; p++)
        if (tt_text_glob(chooser->options->records[p], name))
            any = chooser->used[p] = true;
    return any;
}

/* Values of the variable that a connector shows: in the signals, of an input file, or read for it. */
static enum tutti_err record_columns_find_source(struct tt_record *observer, struct column_chooser *chooser,
                                                 const struct tt_end *end, const char **values, size_t *count)
{
    const struct tt_recorded_unit *observed = &chooser->observed[end->component];
    struct tt_unit *unit = observed->unit;
    const void *driven = observed->inputs ? tt_inputs_slot(observed->inputs, end->variable, 0) : NULL;
    uint32_t node = tt_structure_find(chooser->wires->structure, end->component, end->variable, true);
    size_t place = 0;
    if (end->element.count > 0)
        TRY(tt_unit_element(unit, end->variable, &end->element, &place));
    *values = node == TUTTI_NONE ? NULL : staged_node_values(chooser, node, &unit->fmu->desc->vars[end->variable]);
    if (*values) {
        *count = chooser->wires->slots[node].count;
    } else if (driven) {
        *values = driven;
        TRY(tt_unit_extent(unit, end->variable, count));
    } else {
        struct tt_recorded_read *looking = &observer->looks[observer->look_count];
        TRY(record_columns_find_followers(chooser, end->component));
        *looking = (struct tt_recorded_read){
            .unit = unit, .component = end->component, .follows = chooser->follows[end->variable]};
        TRY(tt_unit_signals(unit, &end->variable, 1, &looking->signals));
        observer->look_count++;
        *values = looking->signals.slots[0];
        *count = looking->signals.extents[0];
    }
    *values += place * tt_type_size(unit->fmu->desc->vars[end->variable].type);
    if (end->element.count > 0)
        *count = 1;
    return TUTTI_OK;
}

/* FMI 1.0: a negated alias is minus what is read, before anything else is done to it. */
static enum tutti_err record_columns_negate(const struct tt_conversion **conversion, const char *port,
                                            struct tt_arena *arena)
{
    struct tt_conversion *own = tt_arena_alloc(arena, sizeof *own);
    if (!own)
        return tt_fail_memory();
    if (!tt_type_is_float((*conversion)->to))
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "the output '%s' shows an integer negatedAlias, converted; connect it to the variable that "
                       "it is an alias of",
                       port);
    *own = **conversion;
    own->factor = -own->factor;
    own->linear = true;
    *conversion = own;
    return TUTTI_OK;
}

/* Finds the values that a connector shows, converted if necessary. */
static enum tutti_err find_connector_values(struct tt_record *observer, struct column_chooser *chooser,
                                            const struct tt_probe *probe, struct tt_recorded_port *out,
                                            enum tt_type *type, bool *negated)
{
    const struct tt_end *end = &probe->from;
    const struct tt_var *var = &chooser->observed[end->component].unit->fmu->desc->vars[end->variable];
    const char *from;
    *out = (struct tt_recorded_port){.conversion = probe->conversion};
    TRY(record_columns_find_source(observer, chooser, end, &from, &out->count));
    out->from = out->to = (void *)from;
    *type = (enum tt_type)var->type;
    *negated = var->negated;
    if (!out->conversion || tt_conversion_is_identity(out->conversion))
        return TUTTI_OK;
    *type = out->conversion->to;
    *negated = false;
    out->to = tt_arena_array(&observer->arena, out->count, tt_type_size(*type));
    if (!out->to)
        return tt_fail_memory();
    if (var->negated)
        TRY(record_columns_negate(&out->conversion, probe->name, &observer->arena));
    observer->ports[observer->port_count++] = *out;
    return TUTTI_OK;
}

/* A connector of a system; `place` orders such columns. */
static enum tutti_err choose_connector_column(struct tt_record *observer, struct column_chooser *chooser,
                                              const struct tt_probe *probe, uint32_t place)
{
    const struct tt_end *end = &probe->from;
    if (end->component == TUTTI_NONE || !pattern_matches_port(chooser, probe->name))
        return TUTTI_OK;
    chooser->shows = true;
    if (!chooser->observed[end->component].own)
        return TUTTI_OK;
    const struct tt_unit *unit = chooser->observed[end->component].unit;
    struct tt_recorded_port port;
    enum tt_type type;
    bool negated;
    TRY(find_connector_values(observer, chooser, probe, &port, &type, &negated));
    for (size_t e = 0; e < port.count; e++)
        TRY(record_columns_add_column(
            observer, chooser, &(struct tt_column_place){TUTTI_NONE, place, TUTTI_NONE, 0},
            &(struct tt_column){
                .name = end->element.count > 0 ? probe->name
                                               : element_name(&observer->arena, unit, end->variable, probe->name, e),
                .unit = probe->unit ? probe->unit->name : NULL,
                .type = (uint8_t)type,
                .negated = negated,
                .held = unit->fmu->desc->vars[end->variable].variability != TUTTI_CONTINUOUS,
                .value = (const char *)port.to + e * tt_type_size(type),
            }));
    return TUTTI_OK;
}

static enum tutti_err choose_connector_columns(struct tt_record *observer, struct column_chooser *chooser)
{
    const struct tt_system *system = chooser->system;
    for (uint32_t i = 0; i < system->connection_count; i++) {
        const struct tt_connection *connection = &system->connections[i];
        if (connection->to.component != TUTTI_NONE)
            continue;
        const struct tt_port *port = &system->outputs[connection->to.variable];
        const struct tt_probe probe = {port->name, port->unit, connection->from, connection->conversion};
        TRY(choose_connector_column(observer, chooser, &probe, i));
    }
    for (uint32_t i = 0; i < system->probe_count; i++)
        TRY(choose_connector_column(observer, chooser, &system->probes[i], system->connection_count + 1 + i));
    return TUTTI_OK;
}

static enum tutti_err choose_extra_column(struct tt_record *observer, struct column_chooser *chooser,
                                          const struct tutti_extra *extra)
{
    size_t count = extra && chooser->observed[0].own ? extra->output_count : 0;
    chooser->shows = chooser->shows || count > 0;
    observer->extra_values = tt_arena_array(&observer->arena, count, sizeof *observer->extra_values);
    if (!observer->extra_values)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++)
        TRY(record_columns_add_column(
            observer, chooser, &(struct tt_column_place){TUTTI_NONE, chooser->system->connection_count, TUTTI_NONE, 0},
            &(struct tt_column){
                .name = extra->output_names[i],
                .type = TUTTI_TYPE_FLOAT64,
                .value = &observer->extra_values[i],
            }));
    if (count > 0) {
        observer->extra = extra;
        observer->extra_unit = chooser->observed[0].unit;
    }
    return TUTTI_OK;
}

/* Says what is recorded of units that have no outputs, on one rank. A warning where nothing else is: it is not asked for. */
static void log_substituted_columns(const struct tt_record *observer, const struct column_chooser *chooser)
{
    const struct tt_system *system = chooser->system;
    size_t count = chooser->substituted_count, recorded = chooser->substitute_count;
    if (!chooser->shows)
        tt_log(observer->log, TUTTI_LOG_WARNING, observer->name,
               "there are no outputs, and no states or local variables that change: the result holds nothing "
               "but the time; --record '*' records what else there is");
    if (count == 0)
        return;
    char part[80] = "", others[80] = "";
    if (recorded < chooser->moving_count)
        snprintf(part, sizeof part, "the first %zu of ", recorded);
    if (count > 1)
        snprintf(others, sizeof others, " and %zu other unit%s", count - 1, count == 2 ? "" : "s");
    const char *what = count > 1         ? "states and local variable"
                       : chooser->states ? "continuous state"
                                         : "local variable";
    tt_log(observer->log, count == system->component_count ? TUTTI_LOG_WARNING : TUTTI_LOG_INFO, observer->name,
           "%s%s ha%s no outputs; recorded instead: %s%zu %s%s; --record PATTERN chooses",
           system->single ? "the FMU" : chooser->substituted->name, others, count == 1 ? "s" : "ve", part,
           chooser->moving_count, what, chooser->moving_count == 1 ? "" : "s");
}

static enum tutti_err choose_all_columns(struct tt_record *observer, struct column_chooser *chooser)
{
    const struct tt_system *system = chooser->system;
    size_t ports = (size_t)system->output_count + system->probe_count,
           looks = 2 * (size_t)system->component_count + ports;
    /* A name of an input may come before the variable that is connected. */
    observer->inputs =
        tt_arena_array(&observer->arena, 2 * (size_t)chooser->wires->structure->node_count, sizeof *observer->inputs);
    observer->looks = tt_arena_array(&observer->arena, looks, sizeof *observer->looks);
    observer->ports = tt_arena_array(&observer->arena, ports, sizeof *observer->ports);
    chooser->used = tt_arena_array(&observer->arena, chooser->options->record_count, sizeof *chooser->used);
    if (!observer->inputs || !observer->looks || !observer->ports || !chooser->used)
        return tt_fail_memory();
    for (uint32_t c = 0; c < system->component_count; c++) {
        chooser->component = c;
        TRY(choose_unit_columns(observer, chooser));
    }
    TRY(choose_connector_columns(observer, chooser));
    TRY(choose_extra_column(observer, chooser, chooser->options->extra));
    if (chooser->failed)
        return tt_fail_memory();
    TRY(record_columns_check_patterns(chooser));
    log_substituted_columns(observer, chooser);
    return TUTTI_OK;
}

enum tutti_err tt_record_columns_choose(struct tt_record *observer, const struct tutti_run_options *options,
                                        const struct tt_wires *wires, const struct tt_recorded_unit *observed)
{
    struct column_chooser chooser = {
        .options = options, .wires = wires, .system = wires->structure->system, .observed = observed};
    enum tutti_err err = choose_all_columns(observer, &chooser);
    free(chooser.choices);
    free(chooser.is_state);
    free(chooser.follows);
    return err ? err : tt_record_find_sources(observer);
}
