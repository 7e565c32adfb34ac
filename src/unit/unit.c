/* SPDX-License-Identifier: MIT */
#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "fmi/binary/binary.h"
#include "fmi/binary/platform.h"

/* In order of preference: an FMU that brings its own solver uses it, unless an option asks for another. */
static const struct tutti_unit_kind *const kinds[] = {&tutti_unit_cs, &tutti_unit_me, &tutti_unit_se};

/* An FMU that no kind fits: say what it has. */
static enum tutti_err no_kind(const struct tutti_fmu *fmu, enum tutti_interface_choice choice)
{
    const char *has = "no interface at all";
    for (int i = 0; i < TUTTI_INTERFACE_COUNT; i++)
        if (fmu->desc->interfaces[i].present)
            has = tutti_interface_name((enum tutti_interface_kind)i);
    static const char *const words[] = {[TUTTI_INTERFACE_CS] = "Co-Simulation",
                                        [TUTTI_INTERFACE_ME] = "Model Exchange",
                                        [TUTTI_INTERFACE_SE] = "Scheduled Execution"};
    if (choice == TUTTI_INTERFACE_AUTO)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: this FMU has %s; export it with one of those of FMI", fmu->path,
                          has);
    const struct tutti_interface *interfaces = fmu->desc->interfaces;
    return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: this FMU has no %s, only %s; use --interface %s", fmu->path,
                      words[choice], has,
                      interfaces[TUTTI_CS].present   ? "cs, without a solver"
                      : interfaces[TUTTI_ME].present ? "me"
                                                     : "se");
}

static const struct tutti_var *first_clock(const struct tutti_desc *desc)
{
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (desc->vars[i].type == TUTTI_TYPE_CLOCK)
            return &desc->vars[i];
    return NULL;
}

static bool has_library(const struct tutti_fmu *fmu)
{
    const char *identifier = fmu->desc->interfaces[TUTTI_CS].model_identifier;
    struct tutti_binary_entry found;
    return identifier && tutti_binary_find(fmu->archive, fmu->path, identifier, &found) == TUTTI_OK;
}

static enum tutti_err check_supported(const struct tutti_fmu *fmu, const struct tutti_interface *interface)
{
    if (fmu->desc->fmi == 1 && (interface->flags & TUTTI_NEEDS_TOOL) && !has_library(fmu))
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "%s: this FMI 1.0 FMU is for tool coupling (CoSimulation_Tool), without a library for this "
                          "platform that reaches its tool. Export it as a stand-alone FMU",
                          fmu->path);
    const struct tutti_var *clock = first_clock(fmu->desc);
    if (clock && interface == &fmu->desc->interfaces[TUTTI_CS] && !(interface->flags & TUTTI_CAN_EVENT_MODE))
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "%s: the FMU has clocks ('%s') and no event mode (hasEventMode), without which none of them "
                          "can tick; use --interface me if it has Model Exchange, or export it with event mode",
                          fmu->path, clock->name);
    return TUTTI_OK;
}

static bool fits(const struct tutti_unit_kind *kind, enum tutti_interface_choice choice)
{
    static const enum tutti_interface_kind wanted[] = {
        [TUTTI_INTERFACE_CS] = TUTTI_CS, [TUTTI_INTERFACE_ME] = TUTTI_ME, [TUTTI_INTERFACE_SE] = TUTTI_SE};
    return choice == TUTTI_INTERFACE_AUTO || wanted[choice] == kind->interface;
}

enum tutti_err tutti_unit_kind_for(const struct tutti_fmu *fmu, enum tutti_interface_choice choice, bool solver_named,
                                   const struct tutti_unit_kind **kind)
{
    if (choice == TUTTI_INTERFACE_AUTO && solver_named)
        choice = TUTTI_INTERFACE_ME;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (fits(kinds[i], choice) && fmu->desc->interfaces[kinds[i]->interface].present) {
            *kind = kinds[i];
            return check_supported(fmu, &fmu->desc->interfaces[kinds[i]->interface]);
        }
    return no_kind(fmu, choice);
}

enum tutti_err tutti_unit_check_runs(const struct tutti_fmu *fmu)
{
    const struct tutti_unit_kind *kind = NULL;
    struct tutti_binary_entry found;
    TRY(tutti_unit_kind_for(fmu, TUTTI_INTERFACE_AUTO, false, &kind));
    const char *identifier = fmu->desc->interfaces[kind->interface].model_identifier;
    return tutti_binary_find(fmu->archive, fmu->path, identifier ? identifier : "", &found);
}

enum tutti_err tutti_unit_new(struct tutti_unit **out, struct tutti_fmu *fmu, const struct tutti_unit_options *options)
{
    *out = NULL;
    const struct tutti_unit_kind *kind = NULL;
    TRY(tutti_unit_kind_for(fmu, options->interface, options->integration.solver != NULL, &kind));
    TRY(tutti_fmu_load(fmu, kind->interface, options->log));
    const struct tutti_library *library = fmu->libraries[kind->interface];
    if (library->keeper && first_clock(fmu->desc))
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "%s (%s): the FMU has clocks, and its library is not for this platform but for one that %s "
                          "runs in another process, where clocks do not reach it; export it for %s",
                          options->name, fmu->path, library->keeper, tutti_platforms()->folders[0]);
    if (options->forked && first_clock(fmu->desc))
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "%s: the FMU has clocks, and cannot be taken back by forking its process", options->name);
    struct tutti_unit *unit = calloc(1, kind->size);
    if (!unit)
        return tutti_fail_memory();
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
        tutti_unit_free(unit);
        return err;
    }
    if (library->keeper && !tutti_instance_saves(unit->instance))
        unit->can &= ~(uint32_t)TUTTI_CAN_STATE;
    *out = unit;
    return TUTTI_OK;
}

void tutti_unit_free(struct tutti_unit *unit)
{
    if (!unit)
        return;
    unit->kind->finish(unit);
    tutti_clocked_free(unit->clocked);
    free(unit->sizes);
    free(unit);
}

uint64_t tutti_unit_dimension(const struct tutti_unit *unit, const struct tutti_dimension *dimension)
{
    return dimension->variable == TUTTI_NONE ? dimension->start : unit->sizes[dimension->variable];
}

enum tutti_err tutti_unit_extent(const struct tutti_unit *unit, uint32_t variable, size_t *extent)
{
    const struct tutti_var *var = &unit->fmu->desc->vars[variable];
    uint64_t product = 1;
    bool too_large = false;
    for (unsigned d = 0; d < var->dimension_count; d++)
        too_large = __builtin_mul_overflow(product, tutti_unit_dimension(unit, &var->dimensions[d]), &product) ||
                    too_large;
    if (too_large || product > (uint64_t)1 << 28)
        return tutti_fail(TUTTI_ERR_LIMIT, "%s: array '%s' has more than 2^28 elements", unit->name, var->name);
    *extent = (size_t)product;
    return TUTTI_OK;
}

static enum tutti_err no_element(const struct tutti_unit *unit, const struct tutti_var *var,
                                 const struct tutti_indices *element, unsigned dimension, uint64_t extent)
{
    struct tutti_text name = {0};
    for (unsigned d = 0; d < element->count; d++)
        tutti_text_printf(&name, "%s%llu", d ? "," : "", (unsigned long long)element->index[d]);
    enum tutti_err err =
        tutti_fail(TUTTI_ERR_ARGUMENT, "%s: there is no element '%s[%s]': dimension %u of '%s' has %llu", unit->name,
                   var->name, name.text ? name.text : "", dimension + 1, var->name, (unsigned long long)extent);
    tutti_text_fini(&name);
    return err;
}

enum tutti_err tutti_unit_element(const struct tutti_unit *unit, uint32_t variable, const struct tutti_indices *element,
                                  size_t *place)
{
    const struct tutti_var *var = &unit->fmu->desc->vars[variable];
    uint64_t at = 0;
    size_t extent;
    TRY(tutti_unit_extent(unit, variable, &extent)); /* bounded, so the products below are, too */
    for (unsigned d = 0; d < element->count; d++) {
        uint64_t n = tutti_unit_dimension(unit, &var->dimensions[d]);
        if (element->index[d] > n)
            return no_element(unit, var, element, d, n);
        at = at * n + (element->index[d] - 1);
    }
    *place = (size_t)at;
    return TUTTI_OK;
}

enum tutti_err tutti_unit_signals(const struct tutti_unit *unit, const uint32_t *variables, size_t count,
                                  struct tutti_signals *signals)
{
    size_t *extents = calloc(count ? count : 1, sizeof *extents);
    if (!extents)
        return tutti_fail_memory();
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < count && !err; i++)
        err = tutti_unit_extent(unit, variables[i], &extents[i]);
    if (!err)
        err = tutti_signals_init(signals, unit->fmu->desc, variables, extents, count);
    free(extents);
    return err;
}

enum tutti_err tutti_unit_set(struct tutti_unit *unit, const struct tutti_signals *signals)
{
    for (size_t b = 0; b < signals->block_count; b++)
        TRY(unit->kind->set(unit, &signals->blocks[b]));
    return TUTTI_OK;
}

enum tutti_err tutti_unit_get(struct tutti_unit *unit, struct tutti_signals *signals)
{
    for (size_t b = 0; b < signals->block_count; b++) {
        if (unit->clocked) {
            TRY(tutti_clocked_get(unit, &signals->blocks[b]));
            continue;
        }
        TRY(unit->kind->get(unit, &signals->blocks[b]));
        TRY(tutti_signals_own(&signals->blocks[b]));
    }
    return TUTTI_OK;
}

/* What is wrong with a value, with where it came from: a file, or the command line. */
static enum tutti_err blame(const struct tutti_setting *setting, enum tutti_err err)
{
    if (err != TUTTI_ERR_ARGUMENT)
        return err;
    return setting->file ? tutti_fail_context(TUTTI_ERR_FORMAT, "%s:%u", setting->file, setting->line)
                         : tutti_fail_context(err, "--set");
}

/* Where the setting's values go: one element, all alike, or one by one. */
static enum tutti_err fill(const struct tutti_unit *unit, const struct tutti_setting *setting, char *slot,
                           size_t extent)
{
    const struct tutti_var *var = &unit->fmu->desc->vars[setting->variable];
    size_t size = tutti_type_size(var->type);
    if (setting->element.count > 0) {
        size_t place = 0;
        TRY(blame(setting, tutti_unit_element(unit, setting->variable, &setting->element, &place)));
        memcpy(slot + place * size, setting->values, size);
        return TUTTI_OK;
    }
    if (setting->count != 1 && setting->count != extent)
        return blame(setting, tutti_fail(TUTTI_ERR_ARGUMENT, "%s: '%s': %zu values given, but the array has %zu",
                                         unit->name, var->name, setting->count, extent));
    for (size_t i = 0; i < extent; i++)
        memcpy(slot + i * size, (const char *)setting->values + (setting->count == 1 ? 0 : i) * size, size);
    return TUTTI_OK;
}

/* The start values of the description: one for all elements, or one each. */
static void fill_described(const struct tutti_var *var, char *slot, size_t extent)
{
    size_t size = tutti_type_size(var->type);
    for (size_t i = 0; i < extent && var->start && (var->start_count == 1 || i < var->start_count); i++)
        memcpy(slot + i * size, (const char *)var->start + (var->start_count == 1 ? 0 : i) * size, size);
}

enum tutti_err tutti_unit_describe_start(const struct tutti_unit *unit, uint32_t variable,
                                         const struct tutti_setting *settings, size_t count, struct tutti_block *block)
{
    fill_described(&unit->fmu->desc->vars[variable], block->values, block->value_count);
    for (size_t i = 0; i < count; i++)
        if (settings[i].variable == variable)
            TRY(fill(unit, &settings[i], block->values, block->value_count));
    return tutti_signals_own(block);
}

enum tutti_err tutti_unit_get_start(struct tutti_unit *unit, uint32_t variable, const struct tutti_setting *settings,
                                    size_t count, struct tutti_block *block)
{
    bool refused = false;
    TRY(unit->kind->ask(unit, block, &refused));
    return refused ? tutti_unit_describe_start(unit, variable, settings, count, block) : tutti_signals_own(block);
}

/* An element leaves its neighbours as the FMU has them. */
static enum tutti_err apply_signals(struct tutti_unit *unit, const struct tutti_setting *setting,
                                    const struct tutti_setting *first, struct tutti_signals *signals, bool *refused)
{
    if (setting->element.count > 0)
        TRY(tutti_unit_get_start(unit, setting->variable, first, (size_t)(setting - first), &signals->blocks[0]));
    TRY(tutti_fail_about(fill(unit, setting, signals->slots[0], signals->extents[0]), unit->name,
                         unit->fmu->desc->vars[setting->variable].name, NAN));
    return refused ? unit->kind->offer(unit, &signals->blocks[0], refused) : unit->kind->set(unit, &signals->blocks[0]);
}

/* `first`: the first of the unit's settings. `refused`: NULL if the FMU must not refuse. */
static enum tutti_err apply_one(struct tutti_unit *unit, const struct tutti_setting *setting,
                                const struct tutti_setting *first, bool *refused)
{
    struct tutti_signals signals;
    TRY(tutti_unit_signals(unit, &setting->variable, 1, &signals));
    enum tutti_err err = TUTTI_OK;
    if (signals.extents[0] > 0 || setting->count > 1 || setting->element.count > 0)
        err = apply_signals(unit, setting, first, &signals, refused);
    tutti_signals_fini(&signals);
    return err;
}

static enum tutti_causality causality_of(const struct tutti_unit *unit, const struct tutti_setting *setting)
{
    return unit->fmu->desc->vars[setting->variable].causality;
}

/* FMUs that add up their steps are off by rounding errors, relative to the time. */
static const double MOST_APART = 1e-6;

/* The variable that is the FMU's time; TUTTI_NONE: it has none, or one of another type. */
static uint32_t find_time(const struct tutti_desc *desc)
{
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].causality == TUTTI_INDEPENDENT)
            return desc->vars[v].type == TUTTI_TYPE_FLOAT64 && desc->vars[v].dimension_count == 0 ? v : TUTTI_NONE;
    return TUTTI_NONE;
}

enum tutti_err tutti_unit_adopt(struct tutti_unit *unit, struct tutti_instance *instance, const struct tutti_log *log,
                                const unsigned char *bytes, size_t size)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    uint32_t variable = find_time(desc);
    TRY(tutti_instance_adopt(instance, bytes, size));
    double start = tutti_instance_time(instance), own = start;
    bool refused = variable == TUTTI_NONE;
    if (!refused)
        TRY(tutti_instance_ask(instance, TUTTI_TYPE_FLOAT64, &desc->vars[variable].reference, 1, &own, 1, &refused));
    if (!refused && fabs(own - start) > MOST_APART * fmax(fabs(own), fabs(start)))
        tutti_log_printf(
            log, TUTTI_LOG_WARNING, unit->name,
            "the initial state is one at t = %s, and the run begins at t = %s: --start %s goes on from there",
            TIME(own), TIME(start), NUMBER(own));
    return TUTTI_OK;
}

enum tutti_err tutti_unit_apply(struct tutti_unit *unit, const struct tutti_setting *settings, size_t count)
{
    TRY(unit->kind->configure(unit, settings, count));
    for (size_t i = 0; i < count; i++) {
        enum tutti_causality causality = causality_of(unit, &settings[i]);
        if (causality != TUTTI_STRUCTURAL_PARAMETER && causality != TUTTI_INPUT)
            TRY(apply_one(unit, &settings[i], settings, NULL));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_unit_apply_inputs(struct tutti_unit *unit, const struct tutti_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (causality_of(unit, &settings[i]) == TUTTI_INPUT)
            TRY(apply_one(unit, &settings[i], settings, NULL));
    return TUTTI_OK;
}

bool tutti_unit_takes_late(const struct tutti_unit *unit, uint32_t variable)
{
    const struct tutti_var *var = &unit->fmu->desc->vars[variable];
    return var->causality == TUTTI_INPUT || (var->causality == TUTTI_PARAMETER && var->variability == TUTTI_TUNABLE);
}

enum tutti_err tutti_unit_apply_tunable(struct tutti_unit *unit, const struct tutti_setting *settings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (tutti_unit_takes_late(unit, settings[i].variable))
            TRY(apply_one(unit, &settings[i], settings, NULL));
    return TUTTI_OK;
}

enum tutti_err tutti_unit_offer_inputs(struct tutti_unit *unit, const struct tutti_setting *settings, size_t count,
                                       bool *refused)
{
    for (size_t i = 0; i < count; i++)
        if (causality_of(unit, &settings[i]) == TUTTI_INPUT)
            TRY(apply_one(unit, &settings[i], settings, refused));
    return TUTTI_OK;
}
