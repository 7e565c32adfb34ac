/* SPDX-License-Identifier: MIT */
#include "master/detect.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "master/agree.h"

const struct tutti_detection tutti_detection_none = {.name = "none"};
const struct tutti_detection tutti_detection_early = {.name = "early", .early = true};
const struct tutti_detection tutti_detection_output = {.name = "output", .early = true, .outputs = true};

enum tutti_err tutti_detection_find(const char *name, const struct tutti_detection **out)
{
    static const struct tutti_detection *const kinds[] = {&tutti_detection_none, &tutti_detection_early,
                                                          &tutti_detection_output};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i]->name) == 0) {
            *out = kinds[i];
            return TUTTI_OK;
        }
    return tutti_fail(TUTTI_ERR_ARGUMENT, "--events takes auto, none, early or output, not '%s'", name);
}

static bool is_discrete_output(const struct tutti_var *var)
{
    return var->causality == TUTTI_OUTPUT && var->type != TUTTI_TYPE_CLOCK &&
           (var->variability == TUTTI_DISCRETE || !tutti_type_is_float(var->type));
}

static size_t list_discretes(const struct tutti_desc *desc, uint32_t *variables)
{
    size_t count = 0;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (is_discrete_output(&desc->vars[v])) {
            if (variables)
                variables[count] = v;
            count++;
        }
    return count;
}

static enum tutti_err open_unit(struct run *run, uint32_t m)
{
    const struct tutti_unit *unit = run->members[m].unit;
    const struct tutti_desc *desc = unit->fmu->desc;
    size_t count = list_discretes(desc, NULL);
    if (count == 0)
        return TUTTI_OK;
    struct tutti_discretes *discretes = &run->master.discretes[m];
    discretes->variables = tutti_arena_array(&run->arena, count, sizeof *discretes->variables);
    if (!discretes->variables)
        return tutti_fail_memory();
    list_discretes(desc, discretes->variables);
    TRY(tutti_unit_signals(unit, discretes->variables, count, &discretes->now));
    return tutti_unit_signals(unit, discretes->variables, count, &discretes->start);
}

bool tutti_detect_has_outputs(const struct run *run)
{
    for (uint32_t m = 0; m < run->member_count; m++)
        if (list_discretes(run->members[m].unit->fmu->desc, NULL) > 0)
            return true;
    return false;
}

enum tutti_err tutti_detect_open(struct run *run)
{
    run->master.discretes = tutti_arena_array(&run->arena, run->member_count, sizeof *run->master.discretes);
    if (!run->master.discretes)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < run->own_count; m++)
        TRY(open_unit(run, run->own[m]->component));
    return TUTTI_OK;
}

void tutti_detect_close(struct run *run)
{
    for (uint32_t m = 0; run->master.discretes && m < run->member_count; m++) {
        tutti_signals_fini(&run->master.discretes[m].now);
        tutti_signals_fini(&run->master.discretes[m].start);
    }
    run->master.discretes = NULL;
}

enum tutti_err tutti_detect_mark(struct run *run)
{
    for (uint32_t m = 0; m < run->member_count && !run->master.discretes_known; m++)
        if (run->master.discretes[m].start.block_count > 0)
            TRY(tutti_unit_get(run->members[m].unit, &run->master.discretes[m].start));
    run->master.discretes_known = true;
    return TUTTI_OK;
}

void tutti_detect_forget(struct run *run)
{
    run->master.discretes_known = false;
}

static bool differs(enum tutti_type type, const void *a, const void *b, size_t count)
{
    if (tutti_type_is_text(type))
        return !tutti_owned_equal(type, a, b, count);
    if (type != TUTTI_TYPE_FLOAT64)
        return memcmp(a, b, count * tutti_type_size(type)) != 0;
    for (size_t i = 0; i < count; i++) {
        double x = ((const double *)a)[i], y = ((const double *)b)[i];
        if (x != y && !(isnan(x) && isnan(y))) /* 0 and -0 are one value */
            return true;
    }
    return false;
}

static bool look_at(struct run *run, uint32_t m)
{
    const struct tutti_discretes *discretes = &run->master.discretes[m];
    const struct tutti_desc *desc = run->members[m].unit->fmu->desc;
    for (size_t i = 0; i < discretes->now.count; i++)
        if (differs((enum tutti_type)desc->vars[discretes->variables[i]].type, discretes->now.slots[i],
                    discretes->start.slots[i], discretes->now.extents[i])) {
            run->master.changed_member = m;
            run->master.changed_variable = discretes->variables[i];
            return true;
        }
    return false;
}

void tutti_detect_count(struct run *run, bool at_once)
{
    enum { MOST = 10 };
    struct tutti_discretes *discretes = &run->master.discretes[run->master.changed_member];
    const struct tutti_unit *unit = run->members[run->master.changed_member].unit;
    discretes->in_a_row = at_once ? discretes->in_a_row + 1 : 0;
    if (discretes->in_a_row < MOST)
        return;
    discretes->ignored = true;
    tutti_log_printf(
        run->options->log, TUTTI_LOG_WARNING, unit->name,
        "'%s' changes in every step, however short: that is no event; discrete outputs of this unit are not "
        "located any more (--events early or none)",
        unit->fmu->desc->vars[run->master.changed_variable].name);
}

/* The first unit with a change, of all ranks. */
static enum tutti_err agree_on_change(struct run *run, bool *changed)
{
    struct tutti_master *master = &run->master;
    double member = *changed ? (double)master->changed_member : INFINITY;
    TRY(tutti_reduce(run, TUTTI_REDUCE_MIN, &member, 1));
    bool own = *changed && member == master->changed_member;
    *changed = member < INFINITY;
    if (!*changed)
        return TUTTI_OK;
    double variable = own ? (double)master->changed_variable : INFINITY;
    TRY(tutti_reduce(run, TUTTI_REDUCE_MIN, &variable, 1));
    master->changed_member = (uint32_t)member;
    master->changed_variable = (uint32_t)variable;
    tutti_detect_forget(run);
    return TUTTI_OK;
}

enum tutti_err tutti_detect_look(struct run *run, bool *changed)
{
    for (uint32_t i = 0; i < run->own_count && !*changed; i++) {
        uint32_t m = run->own[i]->component;
        struct tutti_discretes *discretes = &run->master.discretes[m];
        if (discretes->now.block_count == 0 || discretes->ignored)
            continue;
        TRY(tutti_unit_get(run->members[m].unit, &discretes->now));
        *changed = look_at(run, m);
    }
    return agree_on_change(run, changed);
}
