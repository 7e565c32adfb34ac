/* SPDX-License-Identifier: MIT */
#include "run/placement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "base/number.h"
#include "sim/job/integration.h"
#include "sim/job/annotation.h"
#include "model/plan/partitioner.h"

/* ---- "UNIT=..." ---- */

/* Finds the unit before the last '='; *value is the text after it. TUTTI_NONE if the unit does not exist. ARGUMENT
 * without a '='. */
static enum tutti_err placement_split_option(const struct tt_system *system, const char *option, const char *text,
                                             uint32_t *unit, const char **value)
{
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s, not '%s'", option, text);
    char *name = strndup(text, (size_t)(equals - text));
    if (!name)
        return tt_fail_memory();
    int64_t found = tt_map_find(&system->names, name);
    free(name);
    *unit = found == TUTTI_MAP_NONE ? TUTTI_NONE : (uint32_t)found;
    *value = equals + 1;
    return TUTTI_OK;
}

static enum tutti_err placement_fail_unknown(const struct tt_system *system, const char *text)
{
    struct tt_text name = {0};
    tt_text_append_n(&name, text, (size_t)(strrchr(text, '=') - text));
    struct tt_text_nearest nearest = {.wanted = name.text};
    for (uint32_t c = 0; c < system->component_count && name.text; c++)
        tt_text_nearest_offer(&nearest, system->components[c].name);
    enum tutti_err err = tt_fail(TUTTI_ERR_ARGUMENT, "--place %s: there is no unit '%s'%s", text,
                                 name.text ? name.text : "", tt_text_suggest(nearest.best).text);
    tt_text_fini(&name);
    return err;
}

/* ---- those that have their rank ---- */

static enum tutti_err apply_place_options(const struct tt_system *system, const struct tutti_run_options *options,
                                          int ranks, int32_t *fixed)
{
    for (size_t i = 0; i < options->place_count; i++) {
        const char *text = options->places[i], *value = "";
        uint32_t unit = TUTTI_NONE;
        uint64_t rank;
        TRY(placement_split_option(system, "--place takes UNIT=RANK", text, &unit, &value));
        if (unit == TUTTI_NONE)
            return placement_fail_unknown(system, text);
        if (!tt_number_read_uint(value, strlen(value), &rank))
            return tt_fail(TUTTI_ERR_ARGUMENT, "--place takes UNIT=RANK with a rank from 0 on, not '%s'", text);
        if (rank >= (uint64_t)ranks)
            return ranks == 1
                       ? tt_fail(TUTTI_ERR_ARGUMENT, "--place %s: there is one rank only, 0", text)
                       : tt_fail(TUTTI_ERR_ARGUMENT, "--place %s: there are %d ranks, 0 to %d", text, ranks, ranks - 1);
        fixed[unit] = (int32_t)rank;
    }
    return TUTTI_OK;
}

/* Options go before. */
static enum tutti_err apply_rank_annotations(const struct tt_system *system, const struct tutti_run_options *options,
                                             int ranks, int32_t *fixed)
{
    for (uint32_t c = 0; c < system->component_count; c++) {
        const struct tt_component *component = &system->components[c];
        int32_t rank;
        TRY(tt_annotation_read_rank(component, &rank));
        if (fixed[c] >= 0 || rank < 0)
            continue;
        if (rank < ranks)
            fixed[c] = rank;
        else if (ranks > 1) /* a single rank needs no choice */
            tt_log(options->log, TUTTI_LOG_WARNING, NULL,
                   "%s:%u: %s is to be on rank %d, but there are %d ranks, 0 to %d; it goes anywhere", component->file,
                   component->line, component->name, (int)rank, ranks, ranks - 1);
    }
    return TUTTI_OK;
}

/* ---- what units are like ---- */

static enum tutti_err find_component_interface(const struct tt_system *system, const struct tutti_run_options *options,
                                               uint32_t c, enum tt_interface_kind *interface)
{
    const struct tt_component *component = &system->components[c];
    struct tutti_run_options own = *options;
    const struct tt_unit_kind *kind;
    double step;
    TRY(tt_annotation_apply_component(&own, system, component, &step));
    /* In a system a solver is for those that need one. */
    if (!system->single && own.interface && strcmp(own.interface, "cs") == 0)
        own.solver = NULL;
    TRY(tt_integration_find_interface(&own, component->fmu, system->single, &kind));
    *interface = kind->interface;
    return TUTTI_OK;
}

static enum tutti_err find_separate_components(const struct tt_system *system, const struct tutti_run_options *options,
                                               bool *alone)
{
    for (uint32_t c = 0; c < system->component_count; c++) {
        enum tt_interface_kind interface;
        TRY(find_component_interface(system, options, c, &interface));
        alone[c] = (system->components[c].fmu->desc->interfaces[interface].flags & TUTTI_ONCE_PER_PROCESS) != 0;
    }
    return TUTTI_OK;
}

enum tutti_err tt_placement_least_ranks(const struct tt_system *system, const struct tutti_run_options *options,
                                        int *ranks)
{
    bool *alone = calloc((size_t)system->component_count + 1, sizeof *alone);
    enum tutti_err err = alone ? find_separate_components(system, options, alone) : tt_fail_memory();
    *ranks = err ? 1 : tt_partitioner_least_ranks(system, alone);
    for (uint32_t c = 0; !err && options->twin && c < system->component_count; c++)
        if (alone[c]) { /* two of each */
            *ranks *= 2;
            break;
        }
    free(alone);
    return err;
}

/* ---- costs ---- */

static void add_connected_costs(const struct tt_system *system, double *costs)
{
    for (uint32_t i = 0; i < system->connection_count; i++) {
        const struct tt_end *ends[] = {&system->connections[i].from, &system->connections[i].to};
        for (int e = 0; e < 2; e++) {
            if (ends[e]->component == TUTTI_NONE)
                continue;
            const struct tt_description *desc = system->components[ends[e]->component].fmu->desc;
            costs[ends[e]->component] +=
                ends[e]->element.count > 0 ? 1 : (double)tt_description_var_size(&desc->vars[ends[e]->variable]);
        }
    }
}

static enum tutti_err placement_estimate_costs(const struct tt_system *system, const struct tutti_run_options *options,
                                               double *costs)
{
    for (uint32_t c = 0; c < system->component_count; c++) {
        const struct tt_description *desc = system->components[c].fmu->desc;
        enum tt_interface_kind interface;
        TRY(find_component_interface(system, options, c, &interface));
        costs[c] = 10 + desc->var_count / 100.0 + (interface == TUTTI_ME ? 20.0 : 10.0) * desc->state_count;
    }
    add_connected_costs(system, costs);
    return TUTTI_OK;
}

/* costs[c] of those that are named; others -1. */
static enum tutti_err read_cost_options(const struct tt_system *system, const struct tutti_run_options *options,
                                        double *costs)
{
    for (uint32_t c = 0; c < system->component_count; c++)
        costs[c] = -1;
    for (size_t i = 0; i < options->cost_count; i++) {
        const char *text = options->costs[i], *value = "";
        uint32_t unit = TUTTI_NONE;
        double seconds;
        TRY(placement_split_option(system, "costs are UNIT=SECONDS", text, &unit, &value));
        if (!tt_number_read_double(value, strlen(value), &seconds) || !(seconds >= 0 && isfinite(seconds)))
            return tt_fail(TUTTI_ERR_ARGUMENT, "costs are UNIT=SECONDS with a number from 0 on, not '%s'", text);
        if (unit != TUTTI_NONE)
            costs[unit] = seconds;
    }
    return TUTTI_OK;
}

enum tutti_err tt_placement_costs(const struct tt_system *system, const struct tutti_run_options *options,
                                  double *costs, bool *measured)
{
    double total = 0;
    uint32_t known = 0;
    *measured = false;
    if (options->cost_count == 0)
        return placement_estimate_costs(system, options, costs);
    TRY(read_cost_options(system, options, costs));
    for (uint32_t c = 0; c < system->component_count; c++)
        if (costs[c] >= 0) {
            total += costs[c];
            known++;
        }
    if (known == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--costs: none of its units is in this system; the first one is '%s'",
                       options->costs[0]);
    if (total == 0) {
        tt_log(options->log, TUTTI_LOG_WARNING, NULL, "--costs: no unit took any time; costs are estimated");
        return placement_estimate_costs(system, options, costs);
    }
    for (uint32_t c = 0; c < system->component_count; c++)
        costs[c] = costs[c] >= 0 ? costs[c] : total / known;
    *measured = true;
    return TUTTI_OK;
}

/* ---- together ---- */

struct placement_search {
    double *costs, *loads;
    int32_t *fixed;
    bool *alone;
    bool measured;
};

static enum tutti_err placement_log(const struct tt_system *system, const struct tutti_run_options *options, int ranks,
                                    const int32_t *place, const struct placement_search *work)
{
    struct tt_traffic *list;
    size_t count;
    double total = 0, most = 0;
    unsigned long long values = 0;
    if (!options->log || ranks == 1)
        return TUTTI_OK;
    for (uint32_t c = 0; c < system->component_count; c++) {
        work->loads[place[c]] += work->costs[c];
        most = fmax(most, work->loads[place[c]]);
        total += work->costs[c];
    }
    TRY(tt_partitioner_list_traffic(&list, &count, system, place));
    for (size_t i = 0; i < count; i++)
        values += list[i].values;
    free(list);
    tt_log(options->log, TUTTI_LOG_INFO, NULL,
           "%u units on %d ranks, by %s costs: the greatest load is %.3g times the mean; %llu value%s cross%s "
           "ranks at an exchange, in %zu message%s",
           system->component_count, ranks, work->measured ? "measured" : "estimated",
           total > 0 ? most / total * ranks : 1, values, values == 1 ? "" : "s", values == 1 ? "es" : "", count,
           count == 1 ? "" : "s");
    return TUTTI_OK;
}

static enum tutti_err partition_components(const struct tt_system *system, const struct tutti_run_options *options,
                                           int ranks, int32_t *place, struct placement_search *work)
{
    for (uint32_t c = 0; c < system->component_count; c++)
        work->fixed[c] = -1;
    TRY(apply_place_options(system, options, ranks, work->fixed));
    TRY(apply_rank_annotations(system, options, ranks, work->fixed));
    TRY(find_separate_components(system, options, work->alone));
    TRY(tt_placement_costs(system, options, work->costs, &work->measured));
    struct tt_partitioner_task task = {
        .system = system, .costs = work->costs, .fixed = work->fixed, .alone = work->alone, .ranks = ranks};
    TRY(tt_partitioner_place(&task, place));
    return placement_log(system, options, ranks, place, work);
}

/* Counts the ranks that have an instance of the unit. */
static int count_rank_instances(const struct tutti_run_options *options)
{
    return options->twin ? 2 : 1;
}

enum tutti_err tt_placement_compute(const struct tt_system *system, const struct tutti_run_options *options, int ranks,
                                    int32_t *place)
{
    if (ranks % count_rank_instances(options) != 0)
        return tt_fail(
            TUTTI_ERR_ARGUMENT,
            "--twin takes an even number of ranks, since half of them have second instances of the units: use "
            "%d or %d, not %d",
            ranks > 1 ? ranks - 1 : 2, ranks > 1 ? ranks + 1 : 4, ranks);
    ranks /= count_rank_instances(options);
    size_t count = (size_t)system->component_count + 1;
    struct placement_search work = {.costs = calloc(count, sizeof *work.costs),
                                    .loads = calloc((size_t)ranks, sizeof *work.loads),
                                    .fixed = calloc(count, sizeof *work.fixed),
                                    .alone = calloc(count, sizeof *work.alone)};
    enum tutti_err err = work.costs && work.loads && work.fixed && work.alone
                             ? partition_components(system, options, ranks, place, &work)
                             : tt_fail_memory();
    free(work.costs);
    free(work.loads);
    free(work.fixed);
    free(work.alone);
    return err;
}

int tt_placement_clamp_ranks(const struct tt_system *system, const struct tutti_run_options *options, unsigned wanted,
                             int least)
{
    unsigned each = (unsigned)count_rank_instances(options);

    /* --place names ranks from 0 to placed - 1. */
    unsigned placed = 0;
    for (size_t i = 0; i < options->place_count; i++) {
        const char *equals = strrchr(options->places[i], '=');
        uint64_t rank = 0;
        if (equals && tt_number_read_uint(equals + 1, strlen(equals + 1), &rank) && rank < UINT32_MAX)
            placed = rank + 1 > placed ? (unsigned)rank + 1 : placed;
    }

    uint32_t units = system->component_count;
    uint32_t most = (units > placed ? units : placed) * each;
    if (wanted > most)
        tt_log(options->log, TUTTI_LOG_INFO, NULL, "there are %u units%s: running on %u ranks, not on %u", units,
               each > 1 ? ", twice" : "", most, wanted);
    int ranks = (int)(wanted > most ? most : wanted);
    if (ranks < least)
        tt_log(options->log, TUTTI_LOG_INFO, NULL,
               "FMUs that can be instantiated only once per process get a worker each: running on %d", least);
    ranks = ranks < least ? least : ranks;
    return ranks < (int)each ? (int)each : ranks;
}
