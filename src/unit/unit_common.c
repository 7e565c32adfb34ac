/* SPDX-License-Identifier: MIT */
/* What all kinds of units do with their instance. */
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "unit/unit.h"

/* An FMU may need some rounds to settle; one that needs this many never will. */
enum { MOST_EVENT_ROUNDS = 1000 };

/* What an extent is if the FMU does not tell it yet. */
static uint64_t described_size(const struct tt_description *desc, uint32_t variable, const struct tt_setting *settings,
                               size_t count)
{
    const struct tt_var *var = &desc->vars[variable];
    uint64_t size = var->start ? *(const uint64_t *)var->start : 0;
    for (size_t i = 0; i < count; i++)
        if (settings[i].variable == variable)
            size = *(const uint64_t *)settings[i].values;
    return size;
}

/* Asks the FMU for the extents of its arrays, which one structural parameter may have changed in several at once. */
static enum tutti_err read_sizes(struct tt_unit *unit, struct tt_instance *instance, const struct tt_setting *settings,
                                 size_t count)
{
    const struct tt_description *desc = unit->fmu->desc;
    for (uint32_t i = 0; i < desc->var_count; i++)
        for (unsigned d = 0; d < desc->vars[i].dimension_count; d++) {
            uint32_t extent = desc->vars[i].dimensions[d].variable;
            if (extent == TUTTI_NONE)
                continue;
            const struct tt_var *var = &desc->vars[extent];
            if (!unit->sizes)
                unit->sizes = calloc(desc->var_count, sizeof *unit->sizes);
            if (!unit->sizes)
                return tt_fail_memory();
            if (var->type != TUTTI_TYPE_UINT64)
                return tt_fail(TUTTI_ERR_FORMAT, "%s: the extent of '%s' is the variable '%s', which is no UInt64",
                               unit->fmu->path, desc->vars[i].name, var->name);
            bool refused = false;
            TRY(tt_instance_try_get(instance, TUTTI_TYPE_UINT64, &var->reference, 1, &unit->sizes[extent], 1,
                                    &refused));
            if (refused)
                unit->sizes[extent] = described_size(desc, extent, settings, count);
        }
    return TUTTI_OK;
}

enum tutti_err tt_unit_configure(struct tt_unit *unit, struct tt_instance *instance, const struct tt_setting *settings,
                                 size_t count)
{
    bool entered = false;
    for (size_t i = 0; i < count; i++) {
        const struct tt_var *var = &unit->fmu->desc->vars[settings[i].variable];
        if (var->causality != TUTTI_STRUCTURAL_PARAMETER)
            continue;
        if (!entered)
            TRY(tt_instance_enter_configuration(instance));
        entered = true;
        unit->counts.sets++;
        TRY(tt_instance_set(instance, var->type, &var->reference, 1, settings[i].values, 1));
    }
    if (entered)
        TRY(tt_instance_exit_configuration(instance));
    return unit->fmu->desc->fmi == 3 ? read_sizes(unit, instance, settings, count) : TUTTI_OK;
}

enum tutti_err tt_unit_update_discrete(const struct tt_unit *unit, struct tt_instance *instance,
                                       struct tt_discrete_update *discrete)
{
    bool states_changed = false, nominals_changed = false;
    *discrete = (struct tt_discrete_update){.again = true};
    for (int round = 0; discrete->again && !discrete->terminate; round++) {
        if (round == MOST_EVENT_ROUNDS)
            return tt_fail(TUTTI_ERR_FMU, "%s: the discrete states do not settle after %d rounds at t = %s", unit->name,
                           MOST_EVENT_ROUNDS, TIME(tt_instance_time(instance)));
        if (unit->ticking.before)
            TRY(unit->ticking.before(unit->ticking.context));
        TRY(tt_co_simulation_update_discrete(instance, discrete));
        states_changed = states_changed || discrete->states_changed;
        nominals_changed = nominals_changed || discrete->nominals_changed;
    }
    discrete->states_changed = states_changed;
    discrete->nominals_changed = nominals_changed;
    return unit->ticking.after && !discrete->terminate ? unit->ticking.after(unit->ticking.context) : TUTTI_OK;
}

/* Three readings of the clock take some 75 ns: a measurement for every 20 us of do-steps adds less than half a percent. */
static const double seconds_per_measurement = 20e-6;
enum { MOST_STEPS_BETWEEN = 1000 };

void tt_unit_record_time(struct tt_unit *unit, bool all, double seconds)
{
    struct tt_unit_counts *counts = &unit->counts;
    seconds = fmax(seconds, 0);
    /* The measured step stands for those since the last one, but a hiccup of the machine only for itself. */
    double others = (double)(counts->do_steps - counts->timed - 1);
    double usual = counts->timed > 0 ? counts->seconds / (double)counts->timed : seconds;
    counts->seconds += seconds + others * fmin(seconds, 4 * usual);
    counts->timed = counts->do_steps;
    /* By the mean, not by this one: gaps that follow single steps would favour what comes after quick ones. */
    double mean = counts->seconds / (double)counts->timed;
    double gap = all ? 1 : fmin(seconds_per_measurement / fmax(mean, 1e-9), MOST_STEPS_BETWEEN);
    counts->time_next = counts->do_steps + (gap > 1 ? (unsigned long)gap | 1 : 1); /* odd: steps may come in pairs */
}

double tt_unit_seconds(const struct tt_unit *unit)
{
    const struct tt_unit_counts *counts = &unit->counts;
    return counts->timed > 0 ? counts->seconds * ((double)counts->do_steps / (double)counts->timed) : 0;
}

void tt_unit_report(const struct tt_unit *unit, const struct tt_instance *instance, const struct tutti_log *log)
{
    unsigned long dropped = tt_instance_dropped_messages(instance);
    unsigned long warnings = tt_instance_warnings(instance);
    if (dropped > 0)
        tt_log(log, TUTTI_LOG_INFO, unit->name, "%lu repeated messages were not shown", dropped);
    if (warnings > 1)
        tt_log(log, TUTTI_LOG_WARNING, unit->name, "the FMU returned Warning %lu times", warnings);
}
