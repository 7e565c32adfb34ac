/* SPDX-License-Identifier: MIT */
#include "master/detect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

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
    uint32_t *variables = calloc(count, sizeof *variables);
    if (!variables)
        return tutti_fail_memory();
    list_discretes(desc, variables);
    enum tutti_err err = tutti_unit_signals(unit, variables, count, &run->master.discretes[m].now);
    if (!err)
        err = tutti_unit_signals(unit, variables, count, &run->master.discretes[m].start);
    free(variables);
    return err;
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
    for (uint32_t m = 0; m < run->member_count; m++)
        TRY(open_unit(run, m));
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

static bool differs(const struct tutti_block *a, const struct tutti_block *b)
{
    if (a->owned)
        return !tutti_owned_equal(a->type, a->values, b->values, a->value_count);
    if (a->type != TUTTI_TYPE_FLOAT64)
        return memcmp(a->values, b->values, a->value_count * tutti_type_size(a->type)) != 0;
    for (size_t i = 0; i < a->value_count; i++) {
        double x = ((const double *)a->values)[i], y = ((const double *)b->values)[i];
        if (x != y && !(isnan(x) && isnan(y))) /* 0 and -0 are one value */
            return true;
    }
    return false;
}

enum tutti_err tutti_detect_look(struct run *run, bool *changed)
{
    for (uint32_t m = 0; m < run->member_count && !*changed; m++) {
        struct tutti_discretes *discretes = &run->master.discretes[m];
        if (discretes->now.block_count == 0)
            continue;
        TRY(tutti_unit_get(run->members[m].unit, &discretes->now));
        for (size_t b = 0; b < discretes->now.block_count; b++)
            *changed = *changed || differs(&discretes->now.blocks[b], &discretes->start.blocks[b]);
    }
    double any = *changed;
    TRY(run->fabric->kind->reduce(run->fabric, TUTTI_REDUCE_MAX, &any, 1));
    *changed = any > 0;
    if (*changed)
        tutti_detect_forget(run);
    return TUTTI_OK;
}
