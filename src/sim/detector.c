/* SPDX-License-Identifier: MIT */
#include "sim/detector.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/options/options.h"
#include "sim/rank.h"

const struct tt_detection tt_detection_none = {.name = "none"};
const struct tt_detection tt_detection_early = {.name = "early", .early = true};
const struct tt_detection tt_detection_output = {.name = "output", .early = true, .outputs = true};

enum tutti_err tt_detector_find_kind(const char *name, const struct tt_detection **out)
{
#define LISTED(name, word, meaning) &tt_detection_##name,
    static const struct tt_detection *const kinds[] = {NULL, TUTTI_DETECTIONS(LISTED)}; /* NULL: auto */
    int place;
    TRY(tt_options_choose("events", name, &place));
    *out = kinds[place];
    return TUTTI_OK;
}

static bool is_discrete_output(const struct tt_var *var)
{
    return var->causality == TUTTI_OUTPUT && var->type != TUTTI_TYPE_CLOCK && var->clock_count == 0 &&
           (var->variability == TUTTI_DISCRETE || !tt_type_is_float(var->type));
}

static size_t list_discrete_outputs(const struct tt_description *desc, uint32_t *variables)
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

static enum tutti_err detector_open_unit(struct tt_detector *detector, uint32_t m)
{
    struct tt_rank *rank = detector->rank;
    const struct tt_unit *unit = rank->members[m].unit;
    const struct tt_description *desc = unit->fmu->desc;
    size_t count = list_discrete_outputs(desc, NULL);
    if (count == 0)
        return TUTTI_OK;
    struct tt_discrete_outputs *discretes = &detector->discretes[m];
    discretes->variables = tt_arena_array(&rank->arena, count, sizeof *discretes->variables);
    if (!discretes->variables)
        return tt_fail_memory();
    list_discrete_outputs(desc, discretes->variables);
    TRY(tt_unit_signals(unit, discretes->variables, count, &discretes->now));
    return tt_unit_signals(unit, discretes->variables, count, &discretes->start);
}

bool tt_detector_has_outputs(const struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->member_count; m++)
        if (list_discrete_outputs(rank->members[m].unit->fmu->desc, NULL) > 0)
            return true;
    return false;
}

enum tutti_err tt_detector_open(struct tt_detector *detector, struct tt_rank *rank)
{
    detector->rank = rank;
    detector->discretes = tt_arena_array(&rank->arena, rank->member_count, sizeof *detector->discretes);
    detector->restless = tt_arena_array(&rank->arena, rank->member_count, sizeof *detector->restless);
    if (!detector->discretes || !detector->restless)
        return tt_fail_memory();
    for (uint32_t m = 0; m < rank->own_count; m++)
        TRY(detector_open_unit(detector, rank->own[m]->component));
    return TUTTI_OK;
}

void tt_detector_close(struct tt_detector *detector)
{
    struct tt_rank *rank = detector->rank;
    for (uint32_t m = 0; detector->discretes && m < rank->member_count; m++) {
        tt_signals_fini(&detector->discretes[m].now);
        tt_signals_fini(&detector->discretes[m].start);
    }
    detector->discretes = NULL;
}

enum tutti_err tt_detector_register(struct tt_detector *detector, struct tt_rollback_list *remembered)
{
    for (uint32_t m = 0; detector->discretes && m < detector->rank->member_count; m++)
        TRY(tt_rollback_list_add_of(remembered, m, &detector->restless[m], sizeof *detector->restless));
    return TUTTI_OK;
}

enum tutti_err tt_detector_save_start(struct tt_detector *detector)
{
    struct tt_rank *rank = detector->rank;
    for (uint32_t m = 0; m < rank->member_count && !detector->known; m++)
        if (detector->discretes[m].start.block_count > 0)
            TRY(tt_unit_get(rank->members[m].unit, &detector->discretes[m].start));
    detector->known = true;
    return TUTTI_OK;
}

void tt_detector_invalidate(struct tt_detector *detector)
{
    detector->known = false;
}

static bool detector_differs(enum tt_type type, const void *a, const void *b, size_t count)
{
    if (tt_type_is_text(type))
        return !tt_signals_owned_equal(type, a, b, count);
    if (type != TUTTI_TYPE_FLOAT64)
        return memcmp(a, b, count * tt_type_size(type)) != 0;
    for (size_t i = 0; i < count; i++) {
        double x = ((const double *)a)[i], y = ((const double *)b)[i];
        if (x != y && !(isnan(x) && isnan(y))) /* 0 and -0 are one value */
            return true;
    }
    return false;
}

static bool detector_check_unit(const struct tt_detector *detector, uint32_t m, uint32_t *variable)
{
    struct tt_rank *rank = detector->rank;
    const struct tt_discrete_outputs *discretes = &detector->discretes[m];
    const struct tt_description *desc = rank->members[m].unit->fmu->desc;
    for (size_t i = 0; i < discretes->now.count; i++)
        if (detector_differs((enum tt_type)desc->vars[discretes->variables[i]].type, discretes->now.slots[i],
                             discretes->start.slots[i], discretes->now.extents[i])) {
            *variable = discretes->variables[i];
            return true;
        }
    return false;
}

void tt_detector_count_change(struct tt_detector *detector, const struct tt_step_result *result, bool at_once)
{
    struct tt_rank *rank = detector->rank;
    enum { MOST = 10 };
    struct tt_flapping *restless = &detector->restless[result->component];
    const struct tt_unit *unit = rank->members[result->component].unit;
    restless->in_a_row = at_once ? restless->in_a_row + 1 : 0;
    if (restless->in_a_row < MOST)
        return;
    restless->ignored = true;
    tt_log(rank->log, TUTTI_LOG_WARNING, unit->name,
           "'%s' changes in every step, however short: that is no event; discrete outputs of this unit are not "
           "located any more (--events early or none)",
           unit->fmu->desc->vars[result->variable].name);
}

enum tutti_err tt_detector_detect(struct tt_detector *detector, double target, struct tt_step_result *result)
{
    struct tt_rank *rank = detector->rank;
    uint32_t changed = TUTTI_NONE, variable = TUTTI_NONE;
    for (uint32_t i = 0; i < rank->own_count && changed == TUTTI_NONE; i++) {
        uint32_t m = rank->own[i]->component;
        struct tt_discrete_outputs *discretes = &detector->discretes[m];
        if (discretes->now.block_count == 0 || detector->restless[m].ignored)
            continue;
        TRY(tt_unit_get(rank->members[m].unit, &discretes->now));
        if (detector_check_unit(detector, m, &variable))
            changed = m;
    }

    /* The first component with a change, of all ranks. */
    double first[2] = {changed == TUTTI_NONE ? INFINITY : (double)changed, INFINITY};
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, &first[0], 1));
    if (first[0] == INFINITY)
        return TUTTI_OK;
    if (changed == first[0])
        first[1] = variable;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, &first[1], 1));
    result->end = TUTTI_END_OUTPUT_CHANGED;
    result->component = (uint32_t)first[0];
    result->variable = (uint32_t)first[1];
    result->at = target;
    tt_detector_invalidate(detector);
    return TUTTI_OK;
}
