/* SPDX-License-Identifier: MIT */
/* The parts of a description that are not variables, and the names of all. */
#include "description/desc_check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void tutti_check_error(struct tutti_check *check, const struct tutti_var *var, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tutti_report_add_v(&check->report, TUTTI_FINDING_ERROR, var->line, "variable", var->name, format, args);
    va_end(args);
}

void tutti_check_warning(struct tutti_check *check, const struct tutti_var *var, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tutti_report_add_v(&check->report, TUTTI_FINDING_WARNING, var->line, "variable", var->name, format, args);
    va_end(args);
}

static bool is_identifier(const char *text)
{
    for (const char *c = text; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
        if (!letter && (c == text || *c < '0' || *c > '9'))
            return false;
    }
    return *text != '\0';
}

static void check_interface(struct tutti_check *check, const struct tutti_interface *interface, const char *name)
{
    if (!interface->present)
        return;
    struct tutti_report *report = &check->report;
    if (!interface->model_identifier)
        tutti_report_add(report, TUTTI_FINDING_ERROR, interface->line, name, NULL,
                         "found no modelIdentifier, expected one: it names the library");
    else if (!is_identifier(interface->model_identifier))
        tutti_report_add(report, TUTTI_FINDING_ERROR, interface->line, name, NULL,
                         "modelIdentifier is \"%.200s\", expected a C identifier (letters, digits and _)",
                         interface->model_identifier);
    if ((interface->flags & TUTTI_CAN_SERIALIZE) && !(interface->flags & TUTTI_CAN_STATE))
        tutti_report_add(report, TUTTI_FINDING_ERROR, interface->line, name, NULL,
                         "it can serialize its state but not get and set it, expected both");
    if (interface->fixed_step < 0)
        tutti_report_add(report, TUTTI_FINDING_ERROR, interface->line, name, NULL,
                         "fixedInternalStepSize is %g, expected a positive number", interface->fixed_step);
}

static void check_root(struct tutti_check *check)
{
    static const char *const names[] = {"CoSimulation", "ModelExchange", "ScheduledExecution"};
    const struct tutti_desc *desc = check->desc;
    struct tutti_report *report = &check->report;
    bool any = false;
    for (int i = 0; i < TUTTI_INTERFACE_COUNT; i++) {
        any |= desc->interfaces[i].present;
        check_interface(check, &desc->interfaces[i], desc->fmi == 1 ? NULL : names[i]);
    }
    if (!any)
        tutti_report_add(report, TUTTI_FINDING_ERROR, desc->line, NULL, NULL,
                         "found no interface, expected <CoSimulation> or <ModelExchange>%s",
                         desc->fmi == 3 ? " or <ScheduledExecution>" : "");
    if (!desc->token)
        tutti_report_add(report, TUTTI_FINDING_ERROR, desc->line, NULL, NULL, "found no %s, expected one",
                         desc->fmi == 3 ? "instantiationToken" : "guid");
    if (!desc->model_name)
        tutti_report_add(report, TUTTI_FINDING_ERROR, desc->line, NULL, NULL, "found no modelName, expected one");
    const struct tutti_experiment *e = &desc->experiment;
    if (e->has_start && e->has_stop && e->stop < e->start)
        tutti_report_add(report, TUTTI_FINDING_WARNING, e->line, "DefaultExperiment", NULL,
                         "stopTime %g is before startTime %g", e->stop, e->start);
    if (e->has_tolerance && !(e->tolerance > 0))
        tutti_report_add(report, TUTTI_FINDING_WARNING, e->line, "DefaultExperiment", NULL,
                         "tolerance is %g, expected a positive number", e->tolerance);
    if (e->has_step && !(e->step > 0))
        tutti_report_add(report, TUTTI_FINDING_WARNING, e->line, "DefaultExperiment", NULL,
                         "stepSize is %g, expected a positive number", e->step);
}

static void check_units(struct tutti_check *check)
{
    const struct tutti_desc *desc = check->desc;
    for (uint32_t i = 0; i < desc->unit_count; i++)
        if (desc->units[i].has_base && desc->units[i].factor == 0)
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, desc->units[i].line, "unit", desc->units[i].name,
                             "factor is 0, expected another number");
    for (uint32_t i = 0; i < desc->display_count; i++) {
        const struct tutti_display_unit *display = &desc->displays[i];
        if (display->factor == 0)
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, display->line, "display unit", display->name,
                             "%s is 0, expected another number", desc->fmi == 1 ? "gain" : "factor");
        if (display->inverse && display->offset != 0)
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, display->line, "display unit", display->name,
                             "offset is %g, expected 0 because inverse is true", display->offset);
    }
}

static int compare_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The values in order, so that a start value is found quickly and equal ones lie side by side. */
static enum tutti_err check_items(struct tutti_check *check, uint32_t index)
{
    const struct tutti_type_def *type = &check->desc->types[index];
    int64_t *values = tutti_arena_array(&check->arena, type->item_count, sizeof *values);
    if (!values)
        return tutti_fail_memory();
    struct tutti_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (uint32_t i = 0; i < type->item_count && err == TUTTI_OK; i++) {
        int64_t earlier;
        values[i] = type->items[i].value;
        err = tutti_map_add(&names, type->items[i].name, i, &earlier);
        if (err == TUTTI_OK && earlier != TUTTI_MAP_NONE)
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, type->line, "type", type->name,
                             "two items are named \"%.200s\", expected different names", type->items[i].name);
    }
    tutti_map_fini(&names);
    TRY(err);
    qsort(values, type->item_count, sizeof *values, compare_values);
    for (uint32_t i = 1; i < type->item_count; i++)
        if (values[i] == values[i - 1])
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, type->line, "type", type->name,
                             "two items have the value %lld, expected different values", (long long)values[i]);
    check->items[index] = values;
    return TUTTI_OK;
}

static enum tutti_err check_types(struct tutti_check *check)
{
    const struct tutti_desc *desc = check->desc;
    check->items = tutti_arena_array(&check->arena, (size_t)desc->type_count + 1, sizeof *check->items);
    if (!check->items)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < desc->type_count; i++) {
        const struct tutti_type_def *type = &desc->types[i];
        const struct tutti_bounds *bounds = type->bounds;
        if (type->unit != TUTTI_NONE && !desc->units[type->unit].defined && desc->fmi > 1)
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, type->line, "type", type->name,
                             "unit is \"%.200s\", expected one that UnitDefinitions defines",
                             desc->units[type->unit].name);
        if (bounds && bounds->has_min && bounds->has_max && bounds->min > bounds->max)
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, type->line, "type", type->name,
                             "min %g is greater than max %g", bounds->min, bounds->max);
        if (type->item_count)
            TRY(check_items(check, i));
        else if (type->type == TUTTI_TYPE_ENUMERATION)
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, type->line, "type", type->name,
                             "found no <Item>, expected at least one");
    }
    return TUTTI_OK;
}

static enum tutti_err check_categories(struct tutti_check *check)
{
    const struct tutti_desc *desc = check->desc;
    struct tutti_map names = {0};
    enum tutti_err err = TUTTI_OK;
    for (uint32_t i = 0; i < desc->log_category_count && err == TUTTI_OK; i++) {
        int64_t earlier;
        err = tutti_map_add(&names, desc->log_categories[i], i, &earlier);
        if (err == TUTTI_OK && earlier != TUTTI_MAP_NONE)
            tutti_report_add(&check->report, TUTTI_FINDING_ERROR, desc->line, "log category", desc->log_categories[i],
                             "defined twice, expected different names");
    }
    tutti_map_fini(&names);
    return err;
}

/* Variables and aliases share one space of names; an alias i is known as var_count + i. */
static enum tutti_err add_name(struct tutti_check *check, struct tutti_map *names, uint32_t index)
{
    const struct tutti_desc *desc = check->desc;
    bool is_alias = index >= desc->var_count;
    const struct tutti_alias *alias = is_alias ? &desc->aliases[index - desc->var_count] : NULL;
    const char *name = is_alias ? alias->name : desc->vars[index].name;
    unsigned line = is_alias ? alias->line : desc->vars[index].line;
    const char *what = is_alias ? "alias" : "variable";
    int64_t earlier;
    TRY(tutti_map_add(names, name, index, &earlier));
    if (*name == '\0')
        tutti_report_add(&check->report, TUTTI_FINDING_ERROR, line, what, NULL, "the name is empty, expected a text");
    else if (earlier != TUTTI_MAP_NONE)
        tutti_report_add(&check->report, TUTTI_FINDING_ERROR, line, what, name,
                         "the name is used twice, first in line %u; expected different names",
                         earlier >= desc->var_count ? desc->aliases[earlier - desc->var_count].line
                                                    : desc->vars[earlier].line);
    return TUTTI_OK;
}

static enum tutti_err add_names(struct tutti_check *check, struct tutti_map *names)
{
    const struct tutti_desc *desc = check->desc;
    uint32_t count = desc->var_count + desc->alias_count;
    TRY(tutti_map_reserve(names, count));
    for (uint32_t i = 0; i < count; i++)
        TRY(add_name(check, names, i));
    if (desc->fmi == 1)
        return TUTTI_OK;
    for (uint32_t i = 0; i < desc->type_count; i++)
        if (tutti_map_find(names, desc->types[i].name) != TUTTI_MAP_NONE)
            tutti_report_add(&check->report, TUTTI_FINDING_WARNING, desc->types[i].line, "type", desc->types[i].name,
                             "a variable has the same name, expected different names");
    return TUTTI_OK;
}

static enum tutti_err check_names(struct tutti_check *check)
{
    struct tutti_map names = {0};
    enum tutti_err err = add_names(check, &names);
    tutti_map_fini(&names);
    return err;
}

static enum tutti_err check_all(struct tutti_check *check)
{
    check_root(check);
    check_units(check);
    TRY(check_types(check));
    TRY(check_categories(check));
    TRY(check_names(check));
    TRY(tutti_check_references(check));
    tutti_check_vars(check);
    tutti_check_structure(check);
    return TUTTI_OK;
}

enum tutti_err tutti_desc_check(struct tutti_desc *desc, const char *file, struct tutti_findings *findings)
{
    struct tutti_check check = {.desc = desc, .report = {.file = file, .findings = findings}};
    enum tutti_err err = check_all(&check);
    tutti_report_end(&check.report);
    tutti_arena_fini(&check.arena);
    return err;
}
