/* SPDX-License-Identifier: MIT */
#include "unit/stop_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/number.h"

enum {
    MOST_READ = 64,
    MOST_NOTED = 64,
    POINTS = 3,   /* the start, and the ends of two steps */
    PATIENCE = 60 /* seconds for the instances beside the run */
};

/* What an instance was at the points. */
struct path {
    double values[POINTS][MOST_READ];
};

struct tutti_stop_time {
    struct tutti_unit *unit;
    struct tutti_unit_options options; /* of the instances beside the run */
    struct tutti_experiment_setup setup;
    const struct tutti_setting *settings;
    size_t setting_count;
    uint32_t variables[MOST_READ], references[MOST_READ];
    size_t count, states;       /* variables that are read; of these, the first ones, states */
    uint32_t noted[MOST_NOTED]; /* references of reals that the unit was given, and their last values */
    double notes[MOST_NOTED];
    size_t note_count;
    bool open;
    int points; /* that have been reached */
    double times[POINTS];
    struct path path;
    uint32_t guilty; /* the variable that shows the fault; TUTTI_NONE */
};

/* ---- what is read ---- */

static void add(struct tutti_stop_time *check, uint32_t v)
{
    const struct tutti_var *var = &check->unit->fmu->desc->vars[v];
    for (size_t i = 0; i < check->count; i++)
        if (check->references[i] == var->reference)
            return;
    if (check->count == MOST_READ || var->type != TUTTI_TYPE_FLOAT64 || var->dimension_count > 0 || var->alias ||
        var->variability != TUTTI_CONTINUOUS)
        return;
    check->variables[check->count] = v;
    check->references[check->count++] = var->reference;
}

static void list(struct tutti_stop_time *check)
{
    const struct tutti_desc *desc = check->unit->fmu->desc;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].derivative_of != TUTTI_NONE)
            add(check, desc->vars[v].derivative_of);
    check->states = check->count;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].causality == TUTTI_OUTPUT)
            add(check, v);
}

static enum tutti_err read_point(const struct tutti_stop_time *check, struct tutti_unit *unit, double *values,
                                 bool *refused)
{
    uint32_t references[MOST_READ];
    struct tutti_block block = {TUTTI_TYPE_FLOAT64, check->count, check->count, references, values, NULL};
    memcpy(references, check->references, sizeof references);
    return unit->kind->ask(unit, &block, refused);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool same(double a, double b)
{
    return bits_of(a) == bits_of(b);
}

/* The first variable that moved in the first step and kept its bits in the second; MOST_READ: none did, or a state has moved. */
static size_t find_standing(const struct tutti_stop_time *check, const struct path *path)
{
    size_t standing = MOST_READ;
    for (size_t i = check->count; i-- > 0;) {
        bool moves = !same(path->values[1][i], path->values[2][i]);
        if (moves && i < check->states)
            return MOST_READ;
        if (!moves && !same(path->values[0][i], path->values[1][i]))
            standing = i;
    }
    return standing;
}

/* ---- the same steps, beside the run ---- */

static enum tutti_err settle(struct tutti_unit *unit)
{
    struct tutti_unit_event event;
    return unit->has_events ? unit->kind->settle(unit, &event) : TUTTI_OK;
}

static bool can_go_on(const struct tutti_step *step)
{
    return !step->discarded && !step->terminate;
}

static enum tutti_err walk(struct tutti_stop_time *check, struct tutti_unit *unit, bool has_stop, struct path *path)
{
    struct tutti_experiment_setup setup = check->setup;
    struct tutti_block inputs = {TUTTI_TYPE_FLOAT64, check->note_count, check->note_count,
                                 check->noted,       check->notes,      NULL};
    bool refused = false;
    setup.has_stop = has_stop;
    TRY(unit->kind->set_up(unit, &setup));
    TRY(tutti_unit_apply(unit, check->settings, check->setting_count));
    TRY(unit->kind->enter_init(unit));
    TRY(tutti_unit_apply_inputs(unit, check->settings, check->setting_count));
    TRY(unit->kind->exit_init(unit));
    TRY(read_point(check, unit, path->values[0], &refused));
    TRY(settle(unit));
    if (check->note_count > 0)
        TRY(unit->kind->set(unit, &inputs));
    for (int i = 1; i < POINTS && !refused; i++) {
        struct tutti_step step;
        TRY(unit->kind->step(unit, check->times[i - 1], check->times[i] - check->times[i - 1], &step));
        refused = !can_go_on(&step) || !same(step.reached, check->times[i]);
        if (!refused)
            TRY(read_point(check, unit, path->values[i], &refused));
        if (!refused && step.event && unit->has_events && i + 1 < POINTS) {
            TRY(unit->kind->enter_event(unit));
            TRY(settle(unit));
        }
    }
    return refused ? tutti_fail(TUTTI_ERR_FMU, "%s: steps beside the run end otherwise", unit->name) : TUTTI_OK;
}

static enum tutti_err walk_beside(struct tutti_stop_time *check, bool has_stop, struct path *path)
{
    struct tutti_unit *unit = NULL;
    TRY(tutti_unit_new(&unit, check->unit->fmu, &check->options));
    unit->back_to = INFINITY;
    enum tutti_err err = walk(check, unit, has_stop, path);
    tutti_unit_free(unit);
    return err;
}

static bool compare_paths(struct tutti_stop_time *check, size_t *at)
{
    struct path with = {0}, without = {0};
    if (walk_beside(check, true, &with) || walk_beside(check, false, &without))
        return false;
    size_t standing = find_standing(check, &with);
    *at = standing;
    return standing < check->count && !same(without.values[1][standing], without.values[2][standing]);
}

static void compare_in_child(void *context, int answer)
{
    size_t at;
    if (!compare_paths(context, &at))
        return;
    unsigned char byte = (unsigned char)at;
    (void)!write(answer, &byte, 1);
}

/* Whether the stop time makes the difference, and where it is seen. An inconclusive comparison is not reported. */
static bool is_guilty(struct tutti_stop_time *check, size_t *at)
{
    void *answer;
    size_t size;
    if (check->options.forked)
        return compare_paths(check, at);
    if (!tutti_beside(compare_in_child, check, PATIENCE, &answer, &size))
        return false;
    *at = *(const unsigned char *)answer;
    free(answer);
    return *at < check->count;
}

/* ---- the run ---- */

enum tutti_err tutti_stop_time_new(struct tutti_stop_time **out, struct tutti_unit *unit,
                                   const struct tutti_unit_options *options, const struct tutti_experiment_setup *setup)
{
    *out = NULL;
    bool once = unit->fmu->desc->interfaces[TUTTI_CS].flags & TUTTI_ONCE_PER_PROCESS;
    if (!setup->has_stop || options->trusts_stop_time || once)
        return TUTTI_OK;
    struct tutti_stop_time *check = calloc(1, sizeof *check);
    if (!check)
        return tutti_fail_memory();
    check->unit = unit;
    check->setup = *setup;
    check->options = (struct tutti_unit_options){.name = options->name,
                                                 .interface = options->interface,
                                                 .cannot = options->cannot,
                                                 .forked = unit->forked,
                                                 .trusts_stop_time = true};
    check->guilty = TUTTI_NONE;
    list(check);
    if (check->count > 0)
        *out = check;
    else
        free(check);
    return TUTTI_OK;
}

void tutti_stop_time_free(struct tutti_stop_time *check)
{
    free(check);
}

void tutti_stop_time_configure(struct tutti_stop_time *check, const struct tutti_setting *settings, size_t count)
{
    if (!check)
        return;
    check->settings = settings;
    check->setting_count = count;
}

static void note_one(struct tutti_stop_time *check, uint32_t reference, double value)
{
    size_t i = 0;
    while (i < check->note_count && check->noted[i] != reference)
        i++;
    if (i == MOST_NOTED)
        return;
    check->noted[i] = reference;
    check->notes[i] = value;
    check->note_count += i == check->note_count;
}

void tutti_stop_time_note(struct tutti_stop_time *check, const struct tutti_block *block)
{
    bool over = check && check->points > 0 && !check->open;
    if (!check || over || block->type != TUTTI_TYPE_FLOAT64 || block->value_count != block->count)
        return;
    for (size_t i = 0; i < block->count; i++)
        note_one(check, block->references[i], ((const double *)block->values)[i]);
}

enum tutti_err tutti_stop_time_begin(struct tutti_stop_time *check)
{
    bool refused = false;
    if (!check)
        return TUTTI_OK;
    TRY(read_point(check, check->unit, check->path.values[0], &refused));
    check->open = !refused;
    check->points = 1;
    check->times[0] = check->setup.start;
    return TUTTI_OK;
}

bool tutti_stop_time_is_open(const struct tutti_stop_time *check)
{
    return check && check->open;
}

static enum tutti_err report(const struct tutti_stop_time *check, size_t i)
{
    const char *name = check->unit->name;
    return tutti_fail(
        TUTTI_ERR_FMU,
        "%s: the FMU integrates to the stop time in its first step: '%s' is %s at t = %s and constant after "
        "that, but not without a stop time; use --no-stop-time=%s",
        name, check->unit->fmu->desc->vars[check->variables[i]].name, NUMBER(check->path.values[1][i]),
        TIME(check->times[1]), name);
}

enum tutti_err tutti_stop_time_step(struct tutti_stop_time *check, double t, const struct tutti_step *step)
{
    size_t at;
    bool refused = false;
    if (!check || (!check->open && check->guilty == TUTTI_NONE))
        return TUTTI_OK;
    if (!check->open)
        return report(check, check->guilty);
    if (same(t, check->times[0])) /* it may have been taken back to the start */
        check->points = 1;
    check->open = same(t, check->times[check->points - 1]) && can_go_on(step) && step->reached > t;
    if (!check->open)
        return TUTTI_OK;
    TRY(read_point(check, check->unit, check->path.values[check->points], &refused));
    check->times[check->points++] = step->reached;
    check->open = check->points < POINTS && !refused;
    if (refused || check->points < POINTS || find_standing(check, &check->path) == MOST_READ || !is_guilty(check, &at))
        return TUTTI_OK;
    check->guilty = (uint32_t)at;
    check->unit->rushes = true;
    return report(check, at);
}
