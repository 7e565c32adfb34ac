/* SPDX-License-Identifier: MIT */
/* Of all values given for a variable, the one that counts. */
#include <stdlib.h>
#include <string.h>

#include "system/flat.h"

static int compare_ranks(const struct candidate *a, const struct candidate *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* By variable, all of it before elements, the best first. */
static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    if (x->setting.variable != y->setting.variable)
        return x->setting.variable < y->setting.variable ? -1 : 1;
    int order = tutti_indices_compare(&x->setting.element, &y->setting.element);
    return order ? order : -compare_ranks(x, y);
}

/* The values as they stay: texts and bytes with them. */
static enum tutti_err keep(struct flat *flat, const struct candidate *candidate, struct tutti_setting *out)
{
    struct tutti_arena *arena = &flat->system->arena;
    const struct tutti_desc *desc = tutti_flat_component(flat, candidate->component)->fmu->desc;
    enum tutti_type type = desc->vars[candidate->setting.variable].type;
    size_t count = candidate->setting.count;
    void *values = tutti_arena_array(arena, count, tutti_type_size(type));
    *out = candidate->setting;
    out->values = values;
    if (out->file)
        out->file = tutti_arena_text(arena, out->file, strlen(out->file));
    if (!values || (candidate->setting.file && !out->file))
        return tutti_fail_memory();
    if (count > 0)
        memcpy(values, candidate->setting.values, count * tutti_type_size(type));
    for (size_t i = 0; i < count && type == TUTTI_TYPE_STRING; i++) {
        const char **text = (const char **)values + i;
        *text = tutti_arena_text(arena, *text, strlen(*text));
        if (!*text)
            return tutti_fail_memory();
    }
    for (size_t i = 0; i < count && type == TUTTI_TYPE_BINARY; i++) {
        struct tutti_bytes *bytes = (struct tutti_bytes *)values + i;
        uint8_t *copy = tutti_arena_alloc(arena, bytes->size + 1);
        if (!copy)
            return tutti_fail_memory();
        if (bytes->size > 0)
            memcpy(copy, bytes->data, bytes->size);
        bytes->data = copy;
    }
    return TUTTI_OK;
}

/* A parameter that is given by a binding, though a connection gives it, too. Options of the command line are above both. */
static void warn_connected(struct flat *flat, const struct candidate *given)
{
    const struct tutti_component *component = tutti_flat_component(flat, given->component);
    const struct tutti_var *var = &component->fmu->desc->vars[given->setting.variable];
    if (var->causality == TUTTI_PARAMETER && given->setting.file && !given->passed)
        tutti_findings_add(flat->findings, TUTTI_FINDING_WARNING, given->setting.file, given->setting.line,
                           "'%s.%s' is given here, and by a connection, too, which counts; remove one of them",
                           component->name, var->name);
}

/* A higher level is above a lower one without a word. */
static bool beats_by_connection(const struct candidate *winner, const struct candidate *beaten)
{
    return winner->passed && (winner->rank & TUTTI_RANK_CONSTANT || winner->rank >> 32 == beaten->rank >> 32);
}

/* Does a connection bring the value of its variable in the initialisation? */
static bool is_fed(const struct flat *flat, const struct candidate *candidate)
{
    uint32_t count;
    const struct tutti_connection *connection =
        tutti_system_connections_to(flat->system, candidate->component, candidate->setting.variable, &count);
    return count > 0 && connection->at_start_only;
}

/* ---- the same options again, with other values ---- */

/* A number, which nothing but the start of a run depends on. */
static bool can_be_set_again(const struct tutti_var *var, const struct tutti_setting *setting)
{
    return !tutti_type_is_text((enum tutti_type)var->type) && var->causality != TUTTI_STRUCTURAL_PARAMETER &&
           (var->dimension_count == 0 || setting->element.count > 0);
}

static enum tutti_err note_given(struct flat *flat, const struct candidate *candidate, struct tutti_setting *setting)
{
    struct tutti_system *system = flat->system;
    const struct tutti_desc *desc = tutti_flat_component(flat, candidate->component)->fmu->desc;
    if (!candidate->option || !can_be_set_again(&desc->vars[setting->variable], setting))
        return TUTTI_OK;
    struct tutti_given *given = &system->given[candidate->rank - TUTTI_RANK_SET];
    *given = (struct tutti_given){.desc = desc, .setting = setting};
    given->name = tutti_arena_text(&system->arena, candidate->option, candidate->name_length);
    return given->name ? TUTTI_OK : tutti_fail_memory();
}

/* NULL: this text is not of the same option. */
static const char *value_of(const struct tutti_given *given, const char *text)
{
    size_t length = given->name ? strlen(given->name) : 0;
    return given->name && strncmp(text, given->name, length) == 0 ? text + length : NULL;
}

static bool read_again(const struct tutti_given *given, const char *text, void *value)
{
    const struct tutti_var *var = &given->desc->vars[given->setting->variable];
    if (tutti_setting_read_value(NULL, given->desc, var, text, strlen(text), value))
        return false;
    if (var->negated)
        tutti_type_negate((enum tutti_type)var->type, value);
    return true;
}

bool tutti_system_set_again(struct tutti_system *system, const char *const *sets, size_t count)
{
    uint64_t unused; /* the largest number */
    bool fit = count == system->given_count;
    for (size_t i = 0; i < count && fit; i++) {
        const char *text = value_of(&system->given[i], sets[i]);
        fit = text && read_again(&system->given[i], text, &unused);
    }
    for (size_t i = 0; i < count && fit; i++)
        (void)read_again(&system->given[i], value_of(&system->given[i], sets[i]),
                         (void *)system->given[i].setting->values);
    return fit;
}

enum tutti_err tutti_values_settle(struct flat *flat)
{
    struct candidate *candidates = flat->candidates.items;
    size_t count = flat->candidates.count;
    const struct candidate *whole = NULL, *last = NULL, *winner = NULL;
    struct tutti_setting *settings = tutti_arena_array(&flat->system->arena, count, sizeof *settings);
    flat->system->given_count = flat->source->set_count;
    flat->system->given = tutti_arena_array(&flat->system->arena, flat->source->set_count, sizeof *flat->system->given);
    if (!settings || !flat->system->given)
        return tutti_fail_memory();
    if (count > 1)
        qsort(candidates, count, sizeof *candidates, compare_candidates);
    for (size_t i = 0; i < count; i++) {
        const struct candidate *candidate = &candidates[i];
        bool same = last && last->component == candidate->component &&
                    last->setting.variable == candidate->setting.variable;
        if (!same)
            whole = candidate->setting.element.count == 0 ? candidate : NULL;
        bool again = same && tutti_indices_compare(&last->setting.element, &candidate->setting.element) == 0;
        bool beaten = again || (whole && whole != candidate && compare_ranks(candidate, whole) < 0);
        winner = again ? winner : candidate;
        last = candidate;
        if (again ? beats_by_connection(winner, candidate) : is_fed(flat, candidate))
            warn_connected(flat, candidate);
        if (beaten)
            continue;
        struct tutti_component *component = tutti_flat_component(flat, candidate->component);
        TRY(keep(flat, candidate, settings));
        TRY(note_given(flat, candidate, settings));
        if (component->setting_count++ == 0)
            component->settings = settings;
        settings++;
    }
    return TUTTI_OK;
}
