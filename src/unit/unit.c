/* SPDX-License-Identifier: MIT */
#include "unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "fmu/binary/binary.h"

/* In order of preference: an FMU that brings its own solver uses it, unless an option asks for another. */
static const struct tt_unit_kind *const kinds[] = {&tt_unit_cs, &tt_unit_me, &tt_unit_se};

/* An FMU that no kind fits: say what it has. */
static enum tutti_err fail_no_unit_kind(const struct tt_fmu *fmu, enum tt_interface_choice choice)
{
    const char *has = "no interface at all";
    for (int i = 0; i < TUTTI_INTERFACE_COUNT; i++)
        if (fmu->desc->interfaces[i].present)
            has = tt_fmi_state_interface_name((enum tt_interface_kind)i);
    static const char *const words[] = {[TUTTI_INTERFACE_CS] = "Co-Simulation",
                                        [TUTTI_INTERFACE_ME] = "Model Exchange",
                                        [TUTTI_INTERFACE_SE] = "Scheduled Execution"};
    if (choice == TUTTI_INTERFACE_AUTO)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: this FMU has %s; export it with one of those of FMI", fmu->path,
                       has);
    const struct tt_interface *interfaces = fmu->desc->interfaces;
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: this FMU has no %s, only %s; use --interface %s", fmu->path,
                   words[choice], has,
                   interfaces[TUTTI_CS].present   ? "cs, without a solver"
                   : interfaces[TUTTI_ME].present ? "me"
                                                  : "se");
}

static const struct tt_var *first_clock(const struct tt_description *desc)
{
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (desc->vars[i].type == TUTTI_TYPE_CLOCK)
            return &desc->vars[i];
    return NULL;
}

static bool unit_has_library(const struct tt_fmu *fmu)
{
    const char *identifier = fmu->desc->interfaces[TUTTI_CS].model_identifier;
    struct tt_binary_entry found;
    return identifier && tt_binary_find(fmu->archive, fmu->path, identifier, &found) == TUTTI_OK;
}

static enum tutti_err check_supported(const struct tt_fmu *fmu, const struct tt_interface *interface)
{
    if (fmu->desc->fmi == 1 && (interface->flags & TUTTI_NEEDS_TOOL) && !unit_has_library(fmu))
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s: this FMI 1.0 FMU is for tool coupling (CoSimulation_Tool), without a library for this "
                       "platform that reaches its tool. Export it as a stand-alone FMU",
                       fmu->path);
    const struct tt_var *clock = first_clock(fmu->desc);
    if (clock && interface == &fmu->desc->interfaces[TUTTI_CS] && !(interface->flags & TUTTI_CAN_EVENT_MODE))
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s: the FMU has clocks ('%s') and no event mode (hasEventMode), without which none of them "
                       "can tick; use --interface me if it has Model Exchange, or export it with event mode",
                       fmu->path, clock->name);
    return TUTTI_OK;
}

static bool unit_kind_fits(const struct tt_unit_kind *kind, enum tt_interface_choice choice)
{
    static const enum tt_interface_kind wanted[] = {
        [TUTTI_INTERFACE_CS] = TUTTI_CS, [TUTTI_INTERFACE_ME] = TUTTI_ME, [TUTTI_INTERFACE_SE] = TUTTI_SE};
    return choice == TUTTI_INTERFACE_AUTO || wanted[choice] == kind->interface;
}

enum tutti_err tt_unit_kind_for(const struct tt_fmu *fmu, enum tt_interface_choice choice, bool solver_named,
                                const struct tt_unit_kind **kind)
{
    if (choice == TUTTI_INTERFACE_AUTO && solver_named)
        choice = TUTTI_INTERFACE_ME;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (unit_kind_fits(kinds[i], choice) && fmu->desc->interfaces[kinds[i]->interface].present) {
            *kind = kinds[i];
            return check_supported(fmu, &fmu->desc->interfaces[kinds[i]->interface]);
        }
    return fail_no_unit_kind(fmu, choice);
}

enum tutti_err tt_unit_check_runnable(const struct tt_fmu *fmu)
{
    const struct tt_unit_kind *kind = NULL;
    struct tt_binary_entry found;
    TRY(tt_unit_kind_for(fmu, TUTTI_INTERFACE_AUTO, false, &kind));
    const char *identifier = fmu->desc->interfaces[kind->interface].model_identifier;
    return tt_binary_find(fmu->archive, fmu->path, identifier ? identifier : "", &found);
}

enum tutti_err tt_unit_new(struct tt_unit **out, struct tt_fmu *fmu, const struct tt_unit_options *options)
{
    *out = NULL;
    const struct tt_unit_kind *kind = NULL;
    TRY(tt_unit_kind_for(fmu, options->interface, options->integration.solver != NULL, &kind));
    TRY(tt_fmu_load(fmu, kind->interface, options->log));
    const struct tt_library *library = fmu->libraries[kind->interface];
    if (library->keeper && first_clock(fmu->desc))
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s (%s): the FMU has clocks, and its library is not for this platform but for one that %s "
                       "runs in another process, where clocks do not reach it; export it for %s",
                       options->name, fmu->path, library->keeper, tt_binary_platforms()->folders[0]);
    if (options->forked && first_clock(fmu->desc))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: the FMU has clocks, and cannot be taken back by forking its process",
                       options->name);
    struct tt_unit *unit = calloc(1, kind->size);
    if (!unit)
        return tt_fail_memory();
    unit->kind = kind;
    unit->name = options->name;
    unit->fmu = fmu;
    unit->can = library->can & ~options->cannot;
    unit->forked = options->forked || library->keeper;
    if (options->forked)
        unit->can = (unit->can | TUTTI_CAN_STATE) & ~(uint32_t)TUTTI_CAN_SERIALIZE;
    unit->rejects = options->rejects && kind->interface == TUTTI_CS && (unit->can & TUTTI_CAN_REJECT_STEPS);
    if (unit->rejects)
        unit->can |= TUTTI_CAN_STATE;
    unit->back_to = INFINITY;
    enum tutti_err err = kind->start(unit, options);
    if (err) {
        tt_unit_free(unit);
        return err;
    }
    if (library->keeper && !tt_instance_can_save(unit->instance))
        unit->can &= ~(uint32_t)TUTTI_CAN_STATE;
    *out = unit;
    return TUTTI_OK;
}

void tt_unit_free(struct tt_unit *unit)
{
    if (!unit)
        return;
    unit->kind->finish(unit);
    tt_clocked_free(unit->clocked);
    free(unit->sizes);
    free(unit);
}

uint64_t tt_unit_dimension(const struct tt_unit *unit, const struct tt_dimension *dimension)
{
    return dimension->variable == TUTTI_NONE ? dimension->start : unit->sizes[dimension->variable];
}

enum tutti_err tt_unit_extent(const struct tt_unit *unit, uint32_t variable, size_t *extent)
{
    const struct tt_var *var = &unit->fmu->desc->vars[variable];
    uint64_t product = 1;
    bool too_large = false;
    for (unsigned d = 0; d < var->dimension_count; d++)
        too_large = __builtin_mul_overflow(product, tt_unit_dimension(unit, &var->dimensions[d]), &product) ||
                    too_large;
    if (too_large || product > (uint64_t)1 << 28)
        return tt_fail(TUTTI_ERR_LIMIT, "%s: array '%s' has more than 2^28 elements", unit->name, var->name);
    *extent = (size_t)product;
    return TUTTI_OK;
}

static enum tutti_err fail_no_such_element(const struct tt_unit *unit, const struct tt_var *var,
                                           const struct tt_indices *element, unsigned dimension, uint64_t extent)
{
    struct tt_text name = {0};
    for (unsigned d = 0; d < element->count; d++)
        tt_text_printf(&name, "%s%llu", d ? "," : "", (unsigned long long)element->index[d]);
    enum tutti_err err = tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no element '%s[%s]': dimension %u of '%s' has %llu",
                                 unit->name, var->name, name.text ? name.text : "", dimension + 1, var->name,
                                 (unsigned long long)extent);
    tt_text_fini(&name);
    return err;
}

enum tutti_err tt_unit_element(const struct tt_unit *unit, uint32_t variable, const struct tt_indices *element,
                               size_t *place)
{
    const struct tt_var *var = &unit->fmu->desc->vars[variable];
    uint64_t at = 0;
    size_t extent;
    TRY(tt_unit_extent(unit, variable, &extent)); /* bounded, so the products below are, too */
    for (unsigned d = 0; d < element->count; d++) {
        uint64_t n = tt_unit_dimension(unit, &var->dimensions[d]);
        if (element->index[d] > n)
            return fail_no_such_element(unit, var, element, d, n);
        at = at * n + (element->index[d] - 1);
    }
    *place = (size_t)at;
    return TUTTI_OK;
}

enum tutti_err tt_unit_signals(const struct tt_unit *unit, const uint32_t *variables, size_t count,
                               struct tt_signals *signals)
{
    size_t *extents = calloc(count ? count : 1, sizeof *extents);
    if (!extents)
        return tt_fail_memory();
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < count && !err; i++)
        err = tt_unit_extent(unit, variables[i], &extents[i]);
    if (!err)
        err = tt_signals_init(signals, unit->fmu->desc, variables, extents, count);
    free(extents);
    return err;
}

enum tutti_err tt_unit_set(struct tt_unit *unit, const struct tt_signals *signals)
{
    for (size_t b = 0; b < signals->block_count; b++)
        TRY(unit->kind->set(unit, &signals->blocks[b]));
    return TUTTI_OK;
}

enum tutti_err tt_unit_get(struct tt_unit *unit, struct tt_signals *signals)
{
    for (size_t b = 0; b < signals->block_count; b++) {
        if (unit->clocked) {
            TRY(tt_clocked_get(unit, &signals->blocks[b]));
            continue;
        }
        TRY(unit->kind->get(unit, &signals->blocks[b]));
        TRY(tt_signals_own(&signals->blocks[b]));
    }
    return TUTTI_OK;
}

/* Reports a fault of a value with its origin: a file, or the command line. */
static enum tutti_err unit_report_setting(const struct tt_setting *setting, enum tutti_err err)
{
    if (err != TUTTI_ERR_ARGUMENT)
        return err;
    return setting->file ? tt_fail_context(TUTTI_ERR_FORMAT, "%s:%u", setting->file, setting->line)
                         : tt_fail_context(err, "--set");
}

/* Where the setting's values go: one element, all alike, or one by one. */
static enum tutti_err unit_fill_setting(const struct tt_unit *unit, const struct tt_setting *setting, char *slot,
                                        size_t extent)
{
    const struct tt_var *var = &unit->fmu->desc->vars[setting->variable];
    size_t size = tt_type_size(var->type);
    if (setting->element.count > 0) {
        size_t place = 0;
        TRY(unit_report_setting(setting, tt_unit_element(unit, setting->variable, &setting->element, &place)));
        memcpy(slot + place * size, setting->values, size);
        return TUTTI_OK;
    }
    if (setting->count != 1 && setting->count != extent)
        return unit_report_setting(setting,
                                   tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s': %zu values given, but the array has %zu",
                                           unit->name, var->name, setting->count, extent));
    for (size_t i = 0; i < extent; i++)
        memcpy(slot + i * size, (const char *)setting->values + (setting->count == 1 ? 0 : i) * size, size);
    return TUTTI_OK;
}

enum tutti_err tt_unit_describe_start(const struct tt_unit *unit, uint32_t variable, const struct tt_setting *settings,
                                      size_t count, struct tt_block *block)
{
    /* The start values of the description: one for all elements, or one each. */
    const struct tt_var *var = &unit->fmu->desc->vars[variable];
    size_t size = tt_type_size(var->type);
    for (size_t i = 0; i < block->value_count && var->start && (var->start_count == 1 || i < var->start_count); i++)
        memcpy((char *)block->values + i * size, (const char *)var->start + (var->start_count == 1 ? 0 : i) * size,
               size);
    for (size_t i = 0; i < count; i++)
        if (settings[i].variable == variable)
            TRY(unit_fill_setting(unit, &settings[i], block->values, block->value_count));
    return tt_signals_own(block);
}

enum tutti_err tt_unit_get_start(struct tt_unit *unit, uint32_t variable, const struct tt_setting *settings,
                                 size_t count, struct tt_block *block)
{
    bool refused = false;
    TRY(unit->kind->ask(unit, block, &refused));
    return refused ? tt_unit_describe_start(unit, variable, settings, count, block) : tt_signals_own(block);
}

/* An element leaves its neighbours as the FMU has them. */
static enum tutti_err apply_setting_signals(struct tt_unit *unit, const struct tt_setting *setting,
                                            const struct tt_setting *first, struct tt_signals *signals, bool *refused)
{
    if (setting->element.count > 0)
        TRY(tt_unit_get_start(unit, setting->variable, first, (size_t)(setting - first), &signals->blocks[0]));
    TRY(tt_fail_about(unit_fill_setting(unit, setting, signals->slots[0], signals->extents[0]), unit->name,
                      unit->fmu->desc->vars[setting->variable].name, NAN));
    return refused ? unit->kind->offer(unit, &signals->blocks[0], refused) : unit->kind->set(unit, &signals->blocks[0]);
}

/* `first`: the first of the unit's settings. `refused`: NULL if the FMU must not refuse. */
static enum tutti_err apply_setting(struct tt_unit *unit, const struct tt_setting *setting,
                                    const struct tt_setting *first, bool *refused)
{
    struct tt_signals signals;
    TRY(tt_unit_signals(unit, &setting->variable, 1, &signals));
    enum tutti_err err = TUTTI_OK;
    if (signals.extents[0] > 0 || setting->count > 1 || setting->element.count > 0)
        err = apply_setting_signals(unit, setting, first, &signals, refused);
    tt_signals_fini(&signals);
    return err;
}

static enum tt_causality setting_causality(const struct tt_unit *unit, const struct tt_setting *setting)
{
    return unit->fmu->desc->vars[setting->variable].causality;
}

/* FMUs that add up their steps are off by rounding errors, relative to the time. */
static const double MOST_APART = 1e-6;

/* The variable that is the FMU's time; TUTTI_NONE: it has none, or one of another type. */
static uint32_t find_time(const struct tt_description *desc)
{
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].causality == TUTTI_INDEPENDENT)
            return desc->vars[v].type == TUTTI_TYPE_FLOAT64 && desc->vars[v].dimension_count == 0 ? v : TUTTI_NONE;
    return TUTTI_NONE;
}

enum tutti_err tt_unit_adopt(struct tt_unit *unit, struct tt_instance *instance, const struct tutti_log *log,
                             const unsigned char *bytes, size_t size)
{
    const struct tt_description *desc = unit->fmu->desc;
    uint32_t variable = find_time(desc);
    TRY(tt_saved_state_import(instance, bytes, size));
    double start = tt_instance_time(instance), own = start;
    bool refused = variable == TUTTI_NONE;
    if (!refused)
        TRY(tt_instance_try_get(instance, TUTTI_TYPE_FLOAT64, &desc->vars[variable].reference, 1, &own, 1, &refused));
    if (!refused && fabs(own - start) > MOST_APART * fmax(fabs(own), fabs(start)))
        tt_log(log, TUTTI_LOG_WARNING, unit->name,
               "the initial state is one at t = %s, and the run begins at t = %s: --start %s goes on from there",
               TIME(own), TIME(start), NUMBER(own));
    return TUTTI_OK;
}

enum tutti_err tt_unit_apply(struct tt_unit *unit, const struct tt_setting *settings, size_t count)
{
    TRY(unit->kind->configure(unit, settings, count));
    for (size_t i = 0; i < count; i++) {
        enum tt_causality causality = setting_causality(unit, &settings[i]);
        if (causality != TUTTI_STRUCTURAL_PARAMETER && causality != TUTTI_INPUT)
            TRY(apply_setting(unit, &settings[i], settings, NULL));
    }
    return TUTTI_OK;
}

enum tutti_err tt_unit_apply_inputs(struct tt_unit *unit, const struct tt_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (setting_causality(unit, &settings[i]) == TUTTI_INPUT)
            TRY(apply_setting(unit, &settings[i], settings, NULL));
    return TUTTI_OK;
}

bool tt_unit_is_settable_late(const struct tt_unit *unit, uint32_t variable)
{
    const struct tt_var *var = &unit->fmu->desc->vars[variable];
    return var->causality == TUTTI_INPUT || (var->causality == TUTTI_PARAMETER && var->variability == TUTTI_TUNABLE);
}

enum tutti_err tt_unit_apply_tunable(struct tt_unit *unit, const struct tt_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tt_unit_is_settable_late(unit, settings[i].variable))
            TRY(apply_setting(unit, &settings[i], settings, NULL));
    return TUTTI_OK;
}

enum tutti_err tt_unit_try_inputs(struct tt_unit *unit, const struct tt_setting *settings, size_t count, bool *refused)
{
    for (size_t i = 0; i < count; i++)
        if (setting_causality(unit, &settings[i]) == TUTTI_INPUT)
            TRY(apply_setting(unit, &settings[i], settings, refused));
    return TUTTI_OK;
}

/* Common operations of all kinds of units on their instance. */

enum tutti_err tt_unit_default_enter_init(struct tt_unit *unit)
{
    return tt_instance_enter_initialization(unit->instance, NULL);
}

enum tutti_err tt_unit_default_reset(struct tt_unit *unit)
{
    return tt_instance_reset(unit->instance);
}

enum tutti_err tt_unit_default_exit_init(struct tt_unit *unit)
{
    return tt_instance_exit_initialization(unit->instance);
}

enum tutti_err tt_unit_default_export_state(struct tt_unit *unit, unsigned char **bytes, size_t *size)
{
    return tt_saved_state_export(unit->instance, bytes, size);
}

enum tutti_err tt_unit_default_set(struct tt_unit *unit, const struct tt_block *block)
{
    unit->counts.sets++;
    return tt_instance_set(unit->instance, block->type, block->references, block->count, block->values,
                           block->value_count);
}

enum tutti_err tt_unit_default_get(struct tt_unit *unit, struct tt_block *block)
{
    unit->counts.gets++;
    return tt_instance_get(unit->instance, block->type, block->references, block->count, block->values,
                           block->value_count);
}

enum tutti_err tt_unit_default_try_set(struct tt_unit *unit, const struct tt_block *block, bool *refused)
{
    return tt_instance_try_set(unit->instance, block->type, block->references, block->count, block->values,
                               block->value_count, refused);
}

enum tutti_err tt_unit_default_try_get(struct tt_unit *unit, struct tt_block *block, bool *refused)
{
    return tt_instance_try_get(unit->instance, block->type, block->references, block->count, block->values,
                               block->value_count, refused);
}

enum tutti_err tt_unit_default_terminate(struct tt_unit *unit)
{
    return tt_instance_terminate(unit->instance);
}

/* An FMU may need some rounds to settle; one that needs this many never will. */
enum { MOST_EVENT_ROUNDS = 1000 };

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
            if (refused) {
                unit->sizes[extent] = var->start ? *(const uint64_t *)var->start : 0;
                for (size_t s = 0; s < count; s++)
                    if (settings[s].variable == extent)
                        unit->sizes[extent] = *(const uint64_t *)settings[s].values;
            }
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
        TRY(tt_instance_update_discrete(instance, discrete));
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
    struct tt_unit_times *times = &unit->times;
    const struct tt_unit_counts *counts = &unit->counts;
    seconds = fmax(seconds, 0);
    /* The measured step stands for those since the last one, but a hiccup of the machine only for itself. */
    double others = (double)(counts->do_steps - times->timed - 1);
    double usual = times->timed > times->from ? times->seconds / (double)(times->timed - times->from) : seconds;
    times->seconds += seconds + others * fmin(seconds, 4 * usual);
    times->timed = counts->do_steps;
    /* Uses the mean instead of this step: gaps that follow single steps would favour steps after quick ones. */
    double mean = times->seconds / (double)(times->timed - times->from);
    double gap = all ? 1 : fmin(seconds_per_measurement / fmax(mean, 1e-9), MOST_STEPS_BETWEEN);
    times->next = counts->do_steps + (gap > 1 ? (unsigned long)gap | 1 : 1); /* odd: steps may come in pairs */
}

double tt_unit_seconds(const struct tt_unit *unit)
{
    return tt_unit_scale_seconds(unit, unit->times.seconds, unit->times.timed);
}

double tt_unit_scale_seconds(const struct tt_unit *unit, double seconds, unsigned long timed)
{
    unsigned long from = unit->times.from;
    return timed > from ? seconds * ((double)(unit->counts.do_steps - from) / (double)(timed - from)) : 0;
}

void tt_unit_restart_times(struct tt_unit *unit)
{
    unsigned long done = unit->counts.do_steps;
    bool measures = unit->times.next < ULONG_MAX;
    unit->times = (struct tt_unit_times){
        .from = done, .timed = done, .exchanges_timed = done, .next = measures ? done + 1 : ULONG_MAX};
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

/* Directional derivatives of an FMU: asked for, and compared with differences before they are relied on. */

void tt_unit_disable_directional(struct tt_unit *unit, const struct tutti_log *log, const char *why)
{
    unit->can &= ~(uint32_t)TUTTI_CAN_DIRECTIONAL;
    tt_log(log, TUTTI_LOG_WARNING, unit->name,
           "%s. Differences take the place of the FMU's directional derivatives "
           "(--no-directional-derivatives=%s says so from the start)",
           why, unit->name);
}

enum tutti_err tt_unit_get_directional(struct tt_unit *unit, struct tt_instance *instance, const struct tutti_log *log,
                                       const uint32_t *unknowns, size_t unknown_count, const uint32_t *knowns,
                                       size_t known_count, const double *seed, size_t seed_count, double *sensitivity,
                                       size_t sensitivity_count)
{
    if (!(unit->can & TUTTI_CAN_DIRECTIONAL))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: the FMU offers no directional derivatives", unit->name);
    enum tutti_err err = tt_instance_get_directional(instance, unknowns, unknown_count, knowns, known_count, seed,
                                                     seed_count, sensitivity, sensitivity_count);
    if (err == TUTTI_ERR_UNSUPPORTED)
        tt_unit_disable_directional(unit, log, tt_instance_refusal(instance));
    for (size_t i = 0; i < sensitivity_count && !err; i++)
        if (!isfinite(sensitivity[i])) {
            err = tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: a directional derivative is not a finite number", unit->name);
            tt_unit_disable_directional(unit, log, "a directional derivative is not a finite number");
        }
    return err;
}

bool tt_unit_differences_contradict(double derivative, double ahead, double behind)
{
    double scale = fmax(fabs(derivative), fmax(fabs(ahead), fabs(behind)));
    return fabs(ahead - behind) <= 0.02 * scale && fabs(derivative - (ahead + behind) / 2) > 0.2 * scale;
}

static enum tutti_err unit_get_reals(struct tt_unit *unit, struct tt_instance *instance, const uint32_t *references,
                                     size_t count, double *values)
{
    unit->counts.gets++;
    return tt_instance_get(instance, TUTTI_TYPE_FLOAT64, references, count, values, count);
}

enum tutti_err tt_unit_central_difference(struct tt_unit *unit, struct tt_instance *instance, const uint32_t *unknowns,
                                          size_t unknown_count, const uint32_t *knowns, size_t known_count,
                                          const double *seed, double share, struct tt_central_difference *beside)
{
    double *base = malloc((2 * known_count + 1) * sizeof *base), largest = 0, scale = 0;
    if (!base)
        return tt_fail_memory();
    double *moved = base + known_count;
    enum tutti_err err = unit_get_reals(unit, instance, knowns, known_count, base);
    for (size_t i = 0; i < known_count && !err; i++) {
        largest = fmax(largest, fabs(seed[i]));
        scale = fmax(scale, fabs(base[i]));
    }
    double d = largest > 0 ? share * fmax(scale, 1) / largest : 0;
    for (int side = -1; side <= 1 && !err && d > 0; side += 2) {
        for (size_t i = 0; i < known_count; i++)
            moved[i] = base[i] + side * d * seed[i];
        err = tt_instance_set(instance, TUTTI_TYPE_FLOAT64, knowns, known_count, moved, known_count);
        if (!err)
            err = unit_get_reals(unit, instance, unknowns, unknown_count, side < 0 ? beside->behind : beside->ahead);
    }
    bool moves = d > 0 && (!err || err == TUTTI_ERR_DISCARD);
    enum tutti_err back = moves ? tt_instance_set(instance, TUTTI_TYPE_FLOAT64, knowns, known_count, base, known_count)
                                : TUTTI_OK;
    err = err ? err : back;
    if (!err && beside->here)
        err = unit_get_reals(unit, instance, unknowns, unknown_count, beside->here);
    beside->distance = d;
    free(base);
    return err;
}

enum tutti_err tt_unit_test_directional(struct tt_unit *unit, struct tt_instance *instance, const struct tutti_log *log,
                                        const uint32_t *unknowns, size_t unknown_count, const uint32_t *knowns,
                                        size_t known_count, const double *seed, const double *sensitivity)
{
    double *room = malloc(3 * (unknown_count + 1) * sizeof *room);
    if (!room)
        return tt_fail_memory();
    struct tt_central_difference b = {.here = room, .ahead = room + unknown_count, .behind = room + 2 * unknown_count};
    unit->directional_tests++;
    enum tutti_err err =
        tt_unit_central_difference(unit, instance, unknowns, unknown_count, knowns, known_count, seed, 1e-4, &b);
    for (size_t i = 0; i < unknown_count && !err && b.distance > 0 && (unit->can & TUTTI_CAN_DIRECTIONAL); i++) {
        double ahead = (b.ahead[i] - b.here[i]) / b.distance, behind = (b.here[i] - b.behind[i]) / b.distance;
        bool told = b.distance * fabs(sensitivity[i]) > 1e-12 * fabs(b.here[i]) || ahead != 0;
        if (!told || !tt_unit_differences_contradict(sensitivity[i], ahead, behind))
            continue;
        char why[256];
        snprintf(
            why, sizeof why,
            "the FMU's directional derivatives are wrong: at t = %s one of an output by an input is %.6g, and %.6g "
            "by differences",
            TIME(tt_instance_time(instance)), sensitivity[i], (ahead + behind) / 2);
        tt_unit_disable_directional(unit, log, why);
    }
    free(room);
    return err == TUTTI_ERR_DISCARD ? TUTTI_OK : err; /* not here, then */
}
