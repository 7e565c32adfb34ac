/* SPDX-License-Identifier: MIT */
/* Value references and aliases, and the lists of the model structure. */
#include <stdlib.h>
#include <string.h>

#include "description/desc_check.h"

struct entry {
    uint32_t space, reference, index;
};

/* 1.0 and 2.0: references are unique for each of the four kinds of values only. 3.0: for all. */
static uint32_t space_of(const struct tutti_desc *desc, const struct tutti_var *var)
{
    if (desc->fmi == 3)
        return 0;
    switch (var->type) {
    case TUTTI_TYPE_FLOAT64: return 0;
    case TUTTI_TYPE_BOOLEAN: return 2;
    case TUTTI_TYPE_STRING: return 3;
    default: return 1;
    }
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->space != y->space)
        return x->space < y->space ? -1 : 1;
    if (x->reference != y->reference)
        return x->reference < y->reference ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool is_settable(const struct tutti_var *var)
{
    return var->causality == TUTTI_INPUT || var->causality == TUTTI_PARAMETER;
}

/* 2.0: variables with one reference are one value under several names. Each is compared with the first, and with the
 * first that can be set or has a start value. */
static void check_aliases2(struct tutti_check *check, const struct entry *entries, uint32_t count)
{
    const struct tutti_var *vars = check->desc->vars, *first = &vars[entries[0].index];
    const struct tutti_var *settable = is_settable(first) ? first : NULL;
    const struct tutti_var *started = first->start && first->variability != TUTTI_CONSTANT ? first : NULL;
    for (uint32_t i = 1; i < count; i++) {
        const struct tutti_var *var = &vars[entries[i].index];
        if (is_settable(var) && settable) {
            tutti_check_error(check, var,
                              "it has the value reference %u of \"%.200s\" (line %u), and both can be set; expected "
                              "different references",
                              var->reference, settable->name, settable->line);
            continue;
        }
        if (is_settable(var))
            settable = var;
        if ((var->variability == TUTTI_CONSTANT) != (first->variability == TUTTI_CONSTANT))
            tutti_check_error(check, var,
                              "it has the value reference %u of \"%.200s\" (line %u), and only one of them is constant",
                              var->reference, first->name, first->line);
        if (var->unit != first->unit)
            tutti_check_error(check, var,
                              "it has the value reference %u of \"%.200s\" (line %u), expected the same unit",
                              var->reference, first->name, first->line);
        if (var->type != first->type)
            tutti_check_warning(check, var,
                                "it has the value reference %u of \"%.200s\" (line %u), expected the same type",
                                var->reference, first->name, first->line);
        if (var->start && var->variability != TUTTI_CONSTANT) {
            if (started)
                tutti_check_warning(check, var,
                                    "it has the value reference %u of \"%.200s\" (line %u), and both have a start "
                                    "value; expected one",
                                    var->reference, started->name, started->line);
            else
                started = var;
        }
    }
}

/* 1.0: the file says which ones are aliases; one of them must be the variable itself. */
static void check_aliases1(struct tutti_check *check, const struct entry *entries, uint32_t count)
{
    const struct tutti_var *vars = check->desc->vars, *base = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct tutti_var *var = &vars[entries[i].index];
        if (var->alias)
            continue;
        if (base)
            tutti_check_warning(check, var,
                                "it has the value reference %u of \"%.200s\" (line %u), expected alias or negatedAlias",
                                var->reference, base->name, base->line);
        else
            base = var;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct tutti_var *var = &vars[entries[i].index];
        if (!base)
            tutti_check_error(
                check, var, "it is an alias, but no variable of its type has the value reference %u without being one",
                var->reference);
        else if (var->alias && var->type != base->type)
            tutti_check_error(check, var, "it is an alias of \"%.200s\" (line %u), expected the same type", base->name,
                              base->line);
        if (var->negated && (var->type == TUTTI_TYPE_BOOLEAN || var->type == TUTTI_TYPE_STRING))
            tutti_check_error(check, var, "it is a negated alias of type %s, expected a number",
                              tutti_type_name(var->type));
    }
}

static void check_group(struct tutti_check *check, const struct entry *entries, uint32_t count)
{
    const struct tutti_var *vars = check->desc->vars;
    if (entries[0].reference == TUTTI_NONE)
        return; /* those have none, which the reader reported */
    if (check->desc->fmi == 1) {
        check_aliases1(check, entries, count);
    } else if (check->desc->fmi == 2) {
        check_aliases2(check, entries, count);
    } else {
        for (uint32_t i = 1; i < count; i++)
            tutti_check_error(check, &vars[entries[i].index],
                              "it has the value reference %u of \"%.200s\" (line %u), expected different references",
                              entries[i].reference, vars[entries[0].index].name, vars[entries[0].index].line);
    }
}

enum tutti_err tutti_check_references(struct tutti_check *check)
{
    const struct tutti_desc *desc = check->desc;
    uint32_t n = desc->var_count;
    struct entry *entries = malloc(((size_t)n + 1) * sizeof *entries);
    check->roles = tutti_arena_alloc(&check->arena, (size_t)n + 1);
    if (!entries || !check->roles) {
        free(entries);
        return tutti_fail_memory();
    }
    for (uint32_t i = 0; i < n; i++) {
        entries[i] = (struct entry){space_of(desc, &desc->vars[i]), desc->vars[i].reference, i};
        if (desc->vars[i].derivative_of != TUTTI_NONE)
            check->roles[desc->vars[i].derivative_of] |= TUTTI_ROLE_DIFFERENTIATED;
    }
    qsort(entries, n, sizeof *entries, compare_entries);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1;
             end < n && entries[end].space == entries[i].space && entries[end].reference == entries[i].reference;)
            end++;
        check_group(check, entries + i, end - i);
    }
    free(entries);
    return TUTTI_OK;
}

/* Marks the variables of a list and reports those that are in it twice. */
static void mark(struct tutti_check *check, const struct tutti_unknowns *list, uint8_t role, const char *what)
{
    const struct tutti_var *vars = check->desc->vars;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct tutti_unknown *unknown = &list->items[i];
        if (list->given && (check->roles[unknown->variable] & role))
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, unknown->line, what, vars[unknown->variable].name,
                             "it is listed twice, expected once");
        check->roles[unknown->variable] |= role;
    }
}

static void check_outputs(struct tutti_check *check)
{
    const struct tutti_desc *desc = check->desc;
    const char *where = desc->fmi == 3 ? "<ModelStructure>" : "<ModelStructure><Outputs>";
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (desc->vars[i].causality == TUTTI_OUTPUT && (!desc->outputs.given || !(check->roles[i] & TUTTI_ROLE_OUTPUT)))
            tutti_check_error(check, &desc->vars[i], "the output is missing in %s, expected all of them there", where);
    for (uint32_t i = 0; i < desc->outputs.count; i++) {
        const struct tutti_var *var = &desc->vars[desc->outputs.items[i].variable];
        if (var->causality != TUTTI_OUTPUT)
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, desc->outputs.items[i].line, "output", var->name,
                             "the variable (line %u) has causality %s, expected output", var->line,
                             tutti_causality_name(var->causality));
    }
}

static void check_derivatives(struct tutti_check *check)
{
    const struct tutti_desc *desc = check->desc;
    for (uint32_t i = 0; i < desc->derivatives.count; i++) {
        const struct tutti_unknown *unknown = &desc->derivatives.items[i];
        const struct tutti_var *var = &desc->vars[unknown->variable];
        if (var->derivative_of == TUTTI_NONE) {
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, unknown->line, "derivative", var->name,
                             "the variable (line %u) has no derivative attribute, expected one that names its state",
                             var->line);
            continue;
        }
        const struct tutti_var *state = &desc->vars[var->derivative_of];
        if (check->roles[var->derivative_of] & TUTTI_ROLE_STATE)
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, unknown->line, "derivative", var->name,
                             "the state \"%.200s\" (line %u) has another derivative in the list, expected one",
                             state->name, state->line);
        check->roles[var->derivative_of] |= TUTTI_ROLE_STATE;
        if (state->causality != TUTTI_LOCAL && state->causality != TUTTI_OUTPUT)
            tutti_check_error(check, state, "a state with causality %s, expected local or output",
                              tutti_causality_name(state->causality));
    }
}

/* Why a variable must be among the initial unknowns; NULL if it need not. */
static const char *initial_reason(const struct tutti_check *check, uint32_t index)
{
    const struct tutti_var *var = &check->desc->vars[index];
    bool computed = var->initial == TUTTI_APPROX || var->initial == TUTTI_CALCULATED;
    if (var->clock_count || var->type == TUTTI_TYPE_CLOCK)
        return NULL;
    if (var->causality == TUTTI_CALCULATED_PARAMETER)
        return "a calculated parameter";
    if (!computed)
        return NULL;
    if (var->causality == TUTTI_OUTPUT)
        return "an output that is not initial exact";
    if (check->roles[index] & TUTTI_ROLE_STATE)
        return "a state that is not initial exact";
    return check->roles[index] & TUTTI_ROLE_DERIVATIVE ? "a derivative that is not initial exact" : NULL;
}

static void check_initial(struct tutti_check *check)
{
    const struct tutti_desc *desc = check->desc;
    bool me = desc->interfaces[TUTTI_ME].present;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const char *reason = initial_reason(check, i);
        if (!reason || (check->roles[i] & TUTTI_ROLE_INITIAL))
            continue;
        if (me || desc->vars[i].causality != TUTTI_LOCAL)
            tutti_check_error(check, &desc->vars[i], "it is missing among the initial unknowns, expected there as %s",
                              reason);
        else
            tutti_check_warning(check, &desc->vars[i], "it is missing among the initial unknowns, expected there as %s",
                                reason);
    }
    for (uint32_t i = 0; i < desc->initial_unknowns.count; i++) {
        const struct tutti_unknown *unknown = &desc->initial_unknowns.items[i];
        const struct tutti_var *var = &desc->vars[unknown->variable];
        if (!initial_reason(check, unknown->variable) && var->clock_count == 0)
            tutti_report_add(&check->report, TUTTI_FINDING_WARNING, unknown->line, "initial unknown", var->name,
                             "the variable (line %u) is not expected there: causality %s, initial %s", var->line,
                             tutti_causality_name(var->causality), tutti_initial_name(var->initial));
        if (desc->fmi == 2 && i && unknown->variable < desc->initial_unknowns.items[i - 1].variable)
            tutti_report_add(&check->report, TUTTI_FINDING_WARNING, unknown->line, "initial unknown", var->name,
                             "it comes after a variable with a larger index, expected an ascending order");
    }
}

/* Factors that are known only after the initialisation say nothing about it. (That factors are for real numbers only is
 * not held against other types: even reference FMUs have them there.) */
static void check_initial_kinds(struct tutti_check *check)
{
    const struct tutti_unknowns *list = &check->desc->initial_unknowns;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct tutti_unknown *unknown = &list->items[i];
        for (uint32_t k = 0; unknown->kinds && k < unknown->dependency_count; k++) {
            if (unknown->kinds[k] == TUTTI_DEPENDENT || unknown->kinds[k] == TUTTI_DEPENDENCY_CONSTANT)
                continue;
            tutti_report_add(&check->report, TUTTI_FINDING_WARNING, unknown->line, "initial unknown",
                             check->desc->vars[unknown->variable].name,
                             "dependenciesKind has fixed, tunable or discrete, expected dependent or constant");
            break;
        }
    }
}

static void check_fmi3_lists(struct tutti_check *check)
{
    const struct tutti_desc *desc = check->desc;
    for (uint32_t i = 0; i < desc->clocked_states.count; i++) {
        const struct tutti_var *var = &desc->vars[desc->clocked_states.items[i].variable];
        if (var->previous == TUTTI_NONE || var->clock_count == 0)
            tutti_check_error(check, var,
                              "it is listed as a clocked state, expected the attributes previous and clocks");
    }
    for (uint32_t i = 0; i < desc->event_indicators.count; i++) {
        const struct tutti_var *var = &desc->vars[desc->event_indicators.items[i].variable];
        if (!tutti_type_is_float(var->type) || var->variability != TUTTI_CONTINUOUS ||
            (var->causality != TUTTI_LOCAL && var->causality != TUTTI_OUTPUT))
            tutti_check_error(check, var,
                              "it is listed as an event indicator, expected a continuous Float32 or Float64 that is "
                              "local or output");
    }
}

void tutti_check_structure(struct tutti_check *check)
{
    const struct tutti_desc *desc = check->desc;
    if (desc->fmi == 1)
        return;
    mark(check, &desc->outputs, TUTTI_ROLE_OUTPUT, "output");
    mark(check, &desc->derivatives, TUTTI_ROLE_DERIVATIVE, "derivative");
    mark(check, &desc->initial_unknowns, TUTTI_ROLE_INITIAL, "initial unknown");
    check_outputs(check);
    check_derivatives(check);
    check_initial(check);
    check_initial_kinds(check);
    check_fmi3_lists(check);
}
