/* SPDX-License-Identifier: MIT */
#include "unit/fresh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"

enum { PATIENCE = 60 /* seconds for a test in a child process */ };

/* ---- what is read ---- */

static void add(struct tt_probes *shown, const struct tt_description *desc, uint32_t v)
{
    const struct tt_var *var = &desc->vars[v];
    for (size_t i = 0; i < shown->count; i++)
        if (shown->references[i] == var->reference)
            return;
    if (shown->count == TUTTI_MOST_PROBES || var->type != TUTTI_TYPE_FLOAT64 || var->dimension_count > 0 ||
        var->alias || var->variability != TUTTI_CONTINUOUS)
        return;
    shown->variables[shown->count] = v;
    shown->references[shown->count++] = var->reference;
}

void tt_fresh_list_probes(struct tt_probes *shown, const struct tt_description *desc)
{
    *shown = (struct tt_probes){0};
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].derivative_of != TUTTI_NONE)
            add(shown, desc, desc->vars[v].derivative_of);
    shown->states = shown->count;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].causality == TUTTI_OUTPUT)
            add(shown, desc, v);
}

enum tutti_err tt_fresh_read_probes(const struct tt_probes *shown, struct tt_unit *unit, double *values, bool *refused)
{
    uint32_t references[TUTTI_MOST_PROBES];
    struct tt_block block = {TUTTI_TYPE_FLOAT64, shown->count, shown->count, references, values, NULL};
    memcpy(references, shown->references, sizeof references);
    return unit->kind->ask(unit, &block, refused);
}

uint64_t tt_fresh_probe_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- what the unit was given ---- */

struct tt_fresh tt_fresh_make(struct tt_fmu *fmu, const struct tt_unit_options *options,
                              const struct tt_experiment_setup *setup)
{
    return (struct tt_fresh){.fmu = fmu,
                             .setup = *setup,
                             .options = {.name = options->name,
                                         .interface = options->interface,
                                         .cannot = options->cannot,
                                         .forked = options->forked,
                                         .is_fresh = true}};
}

enum tutti_err tt_fresh_new(struct tt_fresh **out, const struct tt_unit *unit, const struct tt_unit_options *options,
                            const struct tt_experiment_setup *setup)
{
    *out = NULL;
    if (options->is_fresh || (unit->fmu->desc->interfaces[TUTTI_CS].flags & TUTTI_ONCE_PER_PROCESS))
        return TUTTI_OK;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return tt_fail_memory();
    **out = tt_fresh_make(unit->fmu, options, setup);
    (*out)->options.forked = unit->forked;
    return TUTTI_OK;
}

/* Units are given the same variables in the same order at each point. */
static void note_one(struct tt_fresh *fresh, uint32_t reference, double value, size_t *at)
{
    size_t i = *at < fresh->note_count && fresh->noted[*at] == reference ? *at : 0;
    while (i < fresh->note_count && fresh->noted[i] != reference)
        i++;
    if (i == TUTTI_MOST_NOTED)
        return;
    fresh->noted[i] = reference;
    fresh->notes[i] = value;
    fresh->note_count += i == fresh->note_count;
    *at = i + 1;
}

void tt_fresh_note(struct tt_fresh *fresh, const struct tt_block *block)
{
    size_t at = 0;
    if (block->type != TUTTI_TYPE_FLOAT64 || block->value_count != block->count)
        return;
    for (size_t i = 0; i < block->count; i++)
        note_one(fresh, block->references[i], ((const double *)block->values)[i], &at);
}

double tt_fresh_recall(const struct tt_fresh *fresh, uint32_t reference)
{
    for (size_t i = 0; i < fresh->note_count; i++)
        if (fresh->noted[i] == reference)
            return fresh->notes[i];
    return NAN;
}

/* ---- instances ---- */

static enum tutti_err initialise(const struct tt_fresh *fresh, struct tt_unit *unit)
{
    unit->back_to = INFINITY;
    TRY(unit->kind->set_up(unit, &fresh->setup));
    TRY(tt_unit_apply(unit, fresh->settings, fresh->setting_count));
    TRY(unit->kind->enter_init(unit));
    TRY(tt_unit_apply_inputs(unit, fresh->settings, fresh->setting_count));
    return unit->kind->exit_init(unit);
}

enum tutti_err tt_fresh_begin(const struct tt_fresh *fresh, struct tt_unit **unit)
{
    TRY(tt_unit_new(unit, fresh->fmu, &fresh->options));
    enum tutti_err err = initialise(fresh, *unit);
    if (err) {
        tt_unit_free(*unit);
        *unit = NULL;
    }
    return err;
}

enum tutti_err tt_fresh_settle(const struct tt_fresh *fresh, struct tt_unit *unit)
{
    struct tt_unit_event event;
    uint32_t references[TUTTI_MOST_NOTED];
    double values[TUTTI_MOST_NOTED];
    struct tt_block inputs = {TUTTI_TYPE_FLOAT64, fresh->note_count, fresh->note_count, references, values, NULL};
    memcpy(references, fresh->noted, sizeof references);
    memcpy(values, fresh->notes, sizeof values);
    if (unit->has_events)
        TRY(unit->kind->settle(unit, &event));
    return fresh->note_count > 0 ? unit->kind->set(unit, &inputs) : TUTTI_OK;
}

struct fresh_test {
    size_t (*test)(void *context);
    void *context;
};

static void test_in_child(void *context, int answer)
{
    const struct fresh_test *of = context;
    unsigned char byte = (unsigned char)of->test(of->context);
    (void)!write(answer, &byte, 1);
}

size_t tt_fresh_test(const struct tt_fresh *fresh, size_t (*test)(void *context), void *context)
{
    struct fresh_test of = {test, context};
    void *answer;
    size_t size;
    if (fresh->options.forked)
        return test(context);
    if (!tt_child_run(test_in_child, &of, PATIENCE, &answer, &size))
        return TUTTI_MOST_PROBES;
    size_t shown = *(const unsigned char *)answer;
    free(answer);
    return shown < TUTTI_MOST_PROBES ? shown : TUTTI_MOST_PROBES;
}
