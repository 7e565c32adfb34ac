/* SPDX-License-Identifier: MIT */
/* Of all values given for a variable, the one that counts. */
#include <stdlib.h>
#include <string.h>

#include "model/system/flat.h"

static int compare_ranks(const struct tt_flat_candidate *a, const struct tt_flat_candidate *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* By variable, all of it before elements, the best first. */
static int compare_candidates(const void *a, const void *b)
{
    const struct tt_flat_candidate *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    if (x->setting.variable != y->setting.variable)
        return x->setting.variable < y->setting.variable ? -1 : 1;
    int order = tt_setting_compare_indices(&x->setting.element, &y->setting.element);
    return order ? order : -compare_ranks(x, y);
}

/* The values as they stay: texts and bytes with them. */
static enum tutti_err start_values_store(struct tt_flat *flat, const struct tt_flat_candidate *candidate,
                                         struct tt_setting *out)
{
    struct tt_arena *arena = &flat->system->arena;
    const struct tt_description *desc = tt_flat_component(flat, candidate->component)->fmu->desc;
    enum tt_type type = desc->vars[candidate->setting.variable].type;
    size_t count = candidate->setting.count;
    void *values = tt_arena_array(arena, count, tt_type_size(type));
    *out = candidate->setting;
    out->values = values;
    if (out->file)
        out->file = tt_arena_copy_text(arena, out->file, strlen(out->file));
    if (!values || (candidate->setting.file && !out->file))
        return tt_fail_memory();
    if (count > 0)
        memcpy(values, candidate->setting.values, count * tt_type_size(type));
    for (size_t i = 0; i < count && type == TUTTI_TYPE_STRING; i++) {
        const char **text = (const char **)values + i;
        *text = tt_arena_copy_text(arena, *text, strlen(*text));
        if (!*text)
            return tt_fail_memory();
    }
    for (size_t i = 0; i < count && type == TUTTI_TYPE_BINARY; i++) {
        struct tt_bytes *bytes = (struct tt_bytes *)values + i;
        uint8_t *copy = tt_arena_alloc(arena, bytes->size + 1);
        if (!copy)
            return tt_fail_memory();
        if (bytes->size > 0)
            memcpy(copy, bytes->data, bytes->size);
        bytes->data = copy;
    }
    return TUTTI_OK;
}

/* A parameter that is given by a binding, though a connection gives it, too. Options of the command line are above both. */
static void warn_connected(struct tt_flat *flat, const struct tt_flat_candidate *given)
{
    const struct tt_component *component = tt_flat_component(flat, given->component);
    const struct tt_var *var = &component->fmu->desc->vars[given->setting.variable];
    if (var->causality == TUTTI_PARAMETER && given->setting.file && !given->passed)
        tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, given->setting.file, given->setting.line,
                        "'%s.%s' is given here, and by a connection, too, which counts; remove one of them",
                        component->name, var->name);
}

/* A higher level is above a lower one without a word. */
static bool wins_by_connection(const struct tt_flat_candidate *winner, const struct tt_flat_candidate *beaten)
{
    return winner->passed && (winner->rank & TUTTI_RANK_CONSTANT || winner->rank >> 32 == beaten->rank >> 32);
}

/* Does a connection bring the value of its variable in the initialisation? */
static bool start_values_is_connected(const struct tt_flat *flat, const struct tt_flat_candidate *candidate)
{
    uint32_t count;
    const struct tt_connection *connection =
        tt_system_connections_to(flat->system, candidate->component, candidate->setting.variable, &count);
    return count > 0 && connection->at_start_only;
}

/* ---- the same options again, with other values ---- */

/* A number, which nothing but the start of a run depends on. */
static bool can_be_set_again(const struct tt_var *var, const struct tt_setting *setting)
{
    return !tt_type_is_text((enum tt_type)var->type) && var->causality != TUTTI_STRUCTURAL_PARAMETER &&
           (var->dimension_count == 0 || setting->element.count > 0);
}

static enum tutti_err record_given_option(struct tt_flat *flat, const struct tt_flat_candidate *candidate,
                                          struct tt_setting *setting)
{
    struct tt_system *system = flat->system;
    const struct tt_description *desc = tt_flat_component(flat, candidate->component)->fmu->desc;
    if (!candidate->option || !can_be_set_again(&desc->vars[setting->variable], setting))
        return TUTTI_OK;
    struct tt_given_option *given = &system->given[candidate->rank - TUTTI_RANK_SET];
    *given = (struct tt_given_option){.desc = desc, .setting = setting};
    given->name = tt_arena_copy_text(&system->arena, candidate->option, candidate->name_length);
    return given->name ? TUTTI_OK : tt_fail_memory();
}

/* NULL: this text is not of the same option. */
static const char *start_values_text_of(const struct tt_given_option *given, const char *text)
{
    size_t length = given->name ? strlen(given->name) : 0;
    return given->name && strncmp(text, given->name, length) == 0 ? text + length : NULL;
}

static bool reread_given_option(const struct tt_given_option *given, const char *text, void *value)
{
    const struct tt_var *var = &given->desc->vars[given->setting->variable];
    if (tt_setting_read_value(NULL, given->desc, var, text, strlen(text), value))
        return false;
    if (var->negated)
        tt_type_negate((enum tt_type)var->type, value);
    return true;
}

bool tt_start_values_replace(struct tt_system *system, const char *const *sets, size_t count)
{
    uint64_t unused; /* the largest number */
    bool fit = count == system->given_count;
    for (size_t i = 0; i < count && fit; i++) {
        const char *text = start_values_text_of(&system->given[i], sets[i]);
        fit = text && reread_given_option(&system->given[i], text, &unused);
    }
    for (size_t i = 0; i < count && fit; i++)
        (void)reread_given_option(&system->given[i], start_values_text_of(&system->given[i], sets[i]),
                                  (void *)system->given[i].setting->values);
    return fit;
}

enum tutti_err tt_start_values_resolve(struct tt_flat *flat)
{
    struct tt_flat_candidate *candidates = flat->candidates.items;
    size_t count = flat->candidates.count;
    const struct tt_flat_candidate *whole = NULL, *last = NULL, *winner = NULL;
    struct tt_setting *settings = tt_arena_array(&flat->system->arena, count, sizeof *settings);
    flat->system->given_count = flat->source->set_count;
    flat->system->given = tt_arena_array(&flat->system->arena, flat->source->set_count, sizeof *flat->system->given);
    if (!settings || !flat->system->given)
        return tt_fail_memory();
    if (count > 1)
        qsort(candidates, count, sizeof *candidates, compare_candidates);
    for (size_t i = 0; i < count; i++) {
        const struct tt_flat_candidate *candidate = &candidates[i];
        bool same = last && last->component == candidate->component &&
                    last->setting.variable == candidate->setting.variable;
        if (!same)
            whole = candidate->setting.element.count == 0 ? candidate : NULL;
        bool again = same && tt_setting_compare_indices(&last->setting.element, &candidate->setting.element) == 0;
        bool beaten = again || (whole && whole != candidate && compare_ranks(candidate, whole) < 0);
        winner = again ? winner : candidate;
        last = candidate;
        if (again ? wins_by_connection(winner, candidate) : start_values_is_connected(flat, candidate))
            warn_connected(flat, candidate);
        if (beaten)
            continue;
        struct tt_component *component = tt_flat_component(flat, candidate->component);
        TRY(start_values_store(flat, candidate, settings));
        TRY(record_given_option(flat, candidate, settings));
        if (component->setting_count++ == 0)
            component->settings = settings;
        settings++;
    }
    return TUTTI_OK;
}
