/* SPDX-License-Identifier: MIT */
#include "master/observer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/number.h"
#include "base/str.h"
#include "unit/me_extra.h"

/* One chosen name: a variable or an alias of one. */
struct choice {
    const char *name, *description;
    uint32_t variable;
    bool elements; /* only those elements that patterns fit */
};

struct chooser {
    const struct tutti_unit *unit;
    const struct tutti_desc *desc;
    const struct tutti_run_options *options;
    struct choice *choices;
    size_t count;
    bool *used; /* per pattern */
};

/* Patterns may name the unit ("ball.h", "*.h") or not ("h"). */
static bool fits(const struct chooser *chooser, const char *pattern, const char *name)
{
    if (tutti_str_glob(pattern, name))
        return true;
    struct tutti_text full = {0};
    tutti_text_printf(&full, "%s.%s", chooser->unit->name, name);
    bool fit = !full.failed && tutti_str_glob(pattern, full.text);
    tutti_text_fini(&full);
    return fit;
}

/* Does any pattern fit? All that do have found something. */
static bool fits_any(const struct chooser *chooser, const char *name)
{
    bool any = false;
    for (size_t p = 0; p < chooser->options->record_count; p++)
        if (fits(chooser, chooser->options->record[p], name))
            any = chooser->used[p] = true;
    return any;
}

/* Might a pattern mean elements of the array `name`? Its part before the bracket must fit. */
static bool names_elements(const struct chooser *chooser, const char *name)
{
    for (size_t p = 0; p < chooser->options->record_count; p++) {
        const char *pattern = chooser->options->record[p], *bracket = strrchr(pattern, '[');
        char *base = bracket ? tutti_str_copy(pattern) : NULL;
        if (!base)
            continue;
        base[bracket - pattern] = '\0';
        bool fit = fits(chooser, base, name);
        free(base);
        if (fit)
            return true;
    }
    return false;
}

static void offer(struct chooser *chooser, const char *name, const char *description, uint32_t variable)
{
    const struct tutti_var *var = &chooser->desc->vars[variable];
    if (var->causality == TUTTI_INDEPENDENT || var->type == TUTTI_TYPE_CLOCK)
        return; /* time is the first column anyway */
    bool chosen = chooser->options->record_count == 0 ? var->causality == TUTTI_OUTPUT : fits_any(chooser, name);
    bool elements = !chosen && var->dimension_count > 0 && names_elements(chooser, name);
    if (chosen || elements)
        chooser->choices[chooser->count++] = (struct choice){name, description, variable, elements};
}

static enum tutti_err check_used(const struct chooser *chooser)
{
    for (size_t p = 0; p < chooser->options->record_count; p++) {
        if (chooser->used[p])
            continue;
        const char *pattern = chooser->options->record[p];
        const char *nearest = tutti_desc_nearest(chooser->desc, pattern);
        return nearest ? tutti_fail(TUTTI_ERR_ARGUMENT, "--record: no variable fits '%s'; did you mean '%s'?", pattern,
                                    nearest)
                       : tutti_fail(TUTTI_ERR_ARGUMENT,
                                    "--record: no variable fits '%s'; `tutti info` lists all variables", pattern);
    }
    return TUTTI_OK;
}

static enum tutti_err choose(struct chooser *chooser, struct tutti_arena *arena)
{
    const struct tutti_desc *desc = chooser->desc;
    chooser->choices = tutti_arena_array(arena, (size_t)desc->var_count + desc->alias_count, sizeof(struct choice));
    chooser->used = tutti_arena_array(arena, chooser->options->record_count, sizeof *chooser->used);
    if (!chooser->choices || !chooser->used)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < desc->var_count; i++)
        offer(chooser, desc->vars[i].name, desc->vars[i].description, i);
    for (uint32_t i = 0; i < desc->alias_count && chooser->options->record_count > 0; i++)
        offer(chooser, desc->aliases[i].name, desc->aliases[i].description, desc->aliases[i].variable);
    return TUTTI_OK;
}

/* "x[2,3]" for element `at` (row-major, from 0) of an array with the unit's present extents. */
static const char *element_name(struct tutti_arena *arena, const struct tutti_unit *unit, const struct choice *choice,
                                size_t at)
{
    const struct tutti_var *var = &unit->fmu->desc->vars[choice->variable];
    if (var->dimension_count == 0)
        return choice->name;
    struct tutti_text name = {0}, index = {0};
    for (unsigned d = var->dimension_count; d-- > 0;) {
        size_t n = (size_t)tutti_unit_dimension(unit, &var->dimensions[d]);
        struct tutti_text longer = {0};
        tutti_text_printf(&longer, "%zu%s%s", at % n + 1, index.length ? "," : "", index.length ? index.text : "");
        at /= n;
        tutti_text_fini(&index);
        index = longer;
    }
    tutti_text_printf(&name, "%s[%s]", choice->name, index.text ? index.text : "");
    const char *copy = name.failed || index.failed ? NULL : tutti_arena_text(arena, name.text, name.length);
    tutti_text_fini(&name);
    tutti_text_fini(&index);
    return copy;
}

/* Columns of one choice; inputs that a file drives are shown as the file has them. */
static enum tutti_err add_columns(struct tutti_observer *observer, const struct chooser *chooser,
                                  const struct tutti_inputs *inputs, size_t signal)
{
    const struct choice *choice = &chooser->choices[signal];
    const struct tutti_unit *unit = chooser->unit;
    const struct tutti_desc *desc = chooser->desc;
    const struct tutti_var *var = &desc->vars[choice->variable];
    for (size_t e = 0; e < observer->signals.extents[signal]; e++) {
        const char *name = element_name(&observer->arena, unit, choice, e);
        if (!name)
            return tutti_fail_memory();
        if (choice->elements && !fits_any(chooser, name))
            continue;
        const void *driven = tutti_inputs_slot(inputs, choice->variable, e);
        observer->columns[observer->column_count++] = (struct tutti_column){
            .name = name,
            .unit = var->unit == TUTTI_NONE ? NULL : desc->units[var->unit].name,
            .description = choice->description,
            .type = var->type,
            .negated = var->negated,
            .value = driven ? driven : (const char *)observer->signals.slots[signal] + e * tutti_type_size(var->type),
        };
    }
    return TUTTI_OK;
}

static enum tutti_err lay_out(struct tutti_observer *observer, struct tutti_unit *unit,
                              const struct tutti_inputs *inputs, const struct chooser *chooser)
{
    uint32_t *variables = tutti_arena_array(&observer->arena, chooser->count, sizeof *variables);
    if (!variables)
        return tutti_fail_memory();
    for (size_t i = 0; i < chooser->count; i++)
        variables[i] = chooser->choices[i].variable;
    TRY(tutti_unit_signals(unit, variables, chooser->count, &observer->signals));
    size_t values = 0;
    for (size_t i = 0; i < chooser->count; i++)
        values += observer->signals.extents[i];
    size_t extras = observer->extra ? observer->extra->output_count : 0;
    observer->columns = tutti_arena_array(&observer->arena, values + extras, sizeof *observer->columns);
    observer->extra_values = tutti_arena_array(&observer->arena, extras, sizeof *observer->extra_values);
    if (!observer->columns || !observer->extra_values)
        return tutti_fail_memory();
    for (size_t i = 0; i < chooser->count; i++)
        TRY(add_columns(observer, chooser, inputs, i));
    for (size_t i = 0; i < extras; i++)
        observer->columns[observer->column_count++] = (struct tutti_column){
            .name = observer->extra->output_names[i],
            .type = TUTTI_TYPE_FLOAT64,
            .value = &observer->extra_values[i],
        };
    return TUTTI_OK;
}

static void emergency(void *context)
{
    struct tutti_observer *observer = context;
    if (observer->recorder)
        observer->format->emergency(observer->recorder);
}

enum tutti_err tutti_observer_open(struct tutti_observer *observer, const struct tutti_run_options *options,
                                   const char *output, struct tutti_unit *unit, const struct tutti_inputs *inputs)
{
    *observer = (struct tutti_observer){.log = options->log};
    if (options->extra && options->extra->output_count > 0)
        observer->extra = options->extra;
    if (!output || (options->record_count == 1 && strcmp(options->record[0], "none") == 0))
        return TUTTI_OK;
    struct chooser chooser = {.unit = unit, .desc = unit->fmu->desc, .options = options};
    TRY(choose(&chooser, &observer->arena));
    TRY(lay_out(observer, unit, inputs, &chooser));
    TRY(check_used(&chooser));
    const struct tutti_record_format *format;
    TRY(tutti_record_format_for(&format, output));
    TRY(format->open(&observer->recorder, output, observer->columns, observer->column_count));
    observer->format = format;
    return tutti_crash_add(emergency, observer);
}

/* One warning for the first value that is not a number: the run goes on, but whoever looks should know. */
static void look_for_nan(struct tutti_observer *observer, const struct tutti_unit *unit, double t)
{
    for (size_t i = 0; i < observer->column_count && !observer->warned_of_nan; i++) {
        const struct tutti_column *column = &observer->columns[i];
        bool bad = (column->type == TUTTI_TYPE_FLOAT64 && isnan(*(const double *)column->value)) ||
                   (column->type == TUTTI_TYPE_FLOAT32 && isnan(*(const float *)column->value));
        if (bad)
            tutti_log_printf(observer->log, TUTTI_LOG_WARNING, unit->name,
                             "'%s' is not a number (NaN) at t = %s; going on", column->name, NUMBER(t));
        observer->warned_of_nan = bad;
    }
}

enum tutti_err tutti_observer_row(struct tutti_observer *observer, struct tutti_unit *unit, double t)
{
    if (!observer->format)
        return TUTTI_OK;
    TRY(tutti_unit_get(unit, &observer->signals));
    if (observer->extra)
        TRY(tutti_me_extra_outputs(unit, observer->extra_values));
    if (!observer->warned_of_nan)
        look_for_nan(observer, unit, t);
    observer->rows++;
    return observer->format->row(observer->recorder, t);
}

enum tutti_err tutti_observer_flush(struct tutti_observer *observer)
{
    return observer->format ? observer->format->flush(observer->recorder) : TUTTI_OK;
}

enum tutti_err tutti_observer_close(struct tutti_observer *observer)
{
    enum tutti_err err = TUTTI_OK;
    if (observer->format) {
        err = observer->format->flush(observer->recorder); /* while a crash would still do it for us */
        tutti_crash_remove(emergency, observer);
        enum tutti_err closing = observer->format->close(observer->recorder);
        err = err ? err : closing;
    }
    tutti_signals_fini(&observer->signals);
    tutti_arena_fini(&observer->arena);
    observer->format = NULL;
    return err;
}
