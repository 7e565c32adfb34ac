/* SPDX-License-Identifier: MIT */
#include "sim/job/driven_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sim/job/annotation.h"

/* A column may lead to several inputs, so they are counted first. */
struct input_assignment {
    struct tt_driven_inputs *drive;
    const struct tt_system *system;
    const struct tt_trajectory_file *files;
    const struct tt_formulas *formulas;
    size_t file;                      /* the current file */
    const struct tt_formula *formula; /* the current formula; NULL: a column of the file */
    bool placing;
};

static void driven_inputs_add(struct input_assignment *a, size_t column, const struct tt_end *end,
                              const struct tt_conversion *conversion)
{
    size_t at = a->drive->counts[end->component]++;
    if (a->placing)
        a->drive->inputs[end->component][at] =
            (struct tt_trajectory_input){.file = a->file,
                                         .column = column,
                                         .variable = end->variable,
                                         .element = end->element,
                                         .expression = a->formula ? a->formula->expression : NULL,
                                         .conversion = conversion};
}

static const char *driven_source_name(const struct input_assignment *a)
{
    return a->formula ? "--signal" : a->files[a->file].name;
}

static const char *driven_column_name(const struct input_assignment *a, size_t column)
{
    return a->formula ? a->formula->name : tt_csv_table_name(a->files[a->file].table, column);
}

/* Checks that the input has no other source. Arrays are set as a whole, so that applies to all their elements. */
static enum tutti_err check_not_driven_twice(const struct input_assignment *a, const char *name,
                                             const struct tt_end *end)
{
    uint32_t count;
    const struct tt_connection *connections =
        tt_system_connections_to(a->system, end->component, end->variable, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (connections[i].from.component == TUTTI_NONE || connections[i].of_line)
            continue;
        char from[256];
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "%s: %s'%s' drives an input that is connected to '%s' as well; leave out one of them%s",
                       driven_source_name(a), a->formula ? "" : "column ", name,
                       tt_system_name(a->system, &connections[i].from, from, sizeof from),
                       end->element.count ? " (an array is driven or connected, not both)" : "");
    }
    for (uint32_t i = 0; i < a->system->fed_count; i++)
        if (a->system->fed[i].component == end->component && a->system->fed[i].variable == end->variable)
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "%s: %s'%s' drives an input that a joint (--tlm, --constrain) feeds as well; leave out one "
                           "of them",
                           driven_source_name(a), a->formula ? "" : "column ", name);
    return TUTTI_OK;
}

/* The input of the system itself that has this name; TUTTI_NONE: none. */
static uint32_t driven_find_port(const struct tt_system *system, const char *name)
{
    for (uint32_t p = 0; p < system->input_count; p++)
        if (strcmp(system->inputs[p].name, name) == 0)
            return p;
    return TUTTI_NONE;
}

static enum tutti_err drive_input(struct input_assignment *a, size_t column, const struct tt_end *end,
                                  const struct tt_conversion *conversion)
{
    if (!a->placing)
        TRY(check_not_driven_twice(a, driven_column_name(a, column), end));
    driven_inputs_add(a, column, end, conversion);
    return TUTTI_OK;
}

static enum tutti_err drive_system_port(struct input_assignment *a, size_t column, uint32_t port)
{
    const struct tt_system *system = a->system;
    for (uint32_t i = 0; i < system->connection_count; i++) {
        const struct tt_connection *connection = &system->connections[i];
        if (connection->from.component == TUTTI_NONE && connection->from.variable == port &&
            connection->to.component != TUTTI_NONE)
            TRY(drive_input(a, column, &connection->to, connection->conversion));
    }
    return TUTTI_OK;
}

static enum tutti_err assign_input_column(struct input_assignment *a, size_t column)
{
    const char *name = driven_column_name(a, column);
    uint32_t port = driven_find_port(a->system, name);
    if (port != TUTTI_NONE)
        return drive_system_port(a, column, port);
    struct tt_end end = {0};
    TRY(tt_system_find(a->system, name, driven_source_name(a), &end.component, &end.variable, &end.element));
    return drive_input(a, column, &end, NULL);
}

static enum tutti_err assign_input_columns(struct input_assignment *a, size_t count)
{
    for (a->file = 0; a->file < count; a->file++)
        for (size_t column = 0; column < tt_csv_table_columns(a->files[a->file].table); column++)
            TRY(assign_input_column(a, column));
    for (uint32_t p = 0; p < a->system->input_count; p++) {
        const struct tt_port *port = &a->system->inputs[p];
        a->file = count + port->table;
        if (port->table != TUTTI_NONE)
            TRY(drive_system_port(a, port->column, p));
    }
    a->file = 0;
    for (size_t i = 0; i < a->formulas->count; i++) {
        a->formula = &a->formulas->items[i];
        TRY(assign_input_column(a, 0));
    }
    a->formula = NULL;
    return TUTTI_OK;
}

enum tutti_err tt_driven_inputs_assign(struct tt_driven_inputs *drive, struct tt_arena *arena,
                                       const struct tt_system *system, const struct tt_trajectory_file *files,
                                       size_t count, const struct tt_formulas *formulas)
{
    struct input_assignment a = {.drive = drive, .system = system, .files = files, .formulas = formulas};
    drive->inputs = tt_arena_array(arena, system->component_count, sizeof *drive->inputs);
    drive->counts = tt_arena_array(arena, system->component_count, sizeof *drive->counts);
    if (!drive->inputs || !drive->counts)
        return tt_fail_memory();
    TRY(assign_input_columns(&a, count));
    for (uint32_t c = 0; c < system->component_count; c++) {
        if (drive->counts[c] == 0)
            continue;
        drive->inputs[c] = tt_arena_array(arena, drive->counts[c], sizeof **drive->inputs);
        if (!drive->inputs[c])
            return tt_fail_memory();
        drive->counts[c] = 0;
    }
    a.placing = true;
    return assign_input_columns(&a, count);
}

static enum tutti_err formula_find_name(void *context, const char *name, size_t *place)
{
    (void)context;
    *place = 0;
    return strcmp(name, "time") == 0
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is not known here: a signal is a function of 'time' alone", name);
}

/* "unit.u=3*time", `length` bytes of it. The first '=' is it: names of variables with one in them cannot be driven so. */
static enum tutti_err formula_add(struct tt_formulas *formulas, const char *text, size_t length)
{
    const struct tt_expression_names names = {.find = formula_find_name};
    struct tt_formula *items = realloc(formulas->items, (formulas->count + 1) * sizeof *items);
    if (!items)
        return tt_fail_memory();
    formulas->items = items;
    struct tt_formula *formula = &items[formulas->count++];
    *formula = (struct tt_formula){.name = strndup(text, length)};
    char *equals = formula->name ? strchr(formula->name, '=') : NULL;
    if (!formula->name)
        return tt_fail_memory();
    if (!equals || equals == formula->name)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--signal takes UNIT.VAR=EXPRESSION, as in u='100*sin(30*time)', not '%s'",
                       tt_text_excerpt(formula->name).text);
    *equals = '\0';
    return tt_fail_context(tt_expression_new(&formula->expression, equals + 1, &names, NULL), "--signal %s",
                           formula->name);
}

/* Several in one word, with " | " between them. */
static enum tutti_err formula_add_word(struct tt_formulas *formulas, const char *text)
{
    for (const char *at = text, *end; at; at = end ? end + strlen(TUTTI_ANNOTATION_AND) : NULL) {
        end = strstr(at, TUTTI_ANNOTATION_AND);
        TRY(formula_add(formulas, at, end ? (size_t)(end - at) : strlen(at)));
    }
    return TUTTI_OK;
}

enum tutti_err tt_driven_inputs_parse_formulas(struct tt_formulas *formulas, const struct tutti_run_options *options,
                                               const struct tt_system *system)
{
    *formulas = (struct tt_formulas){0};
    for (size_t i = 0; i < options->signal_count; i++)
        TRY(formula_add(formulas, options->signals[i], strlen(options->signals[i])));
    for (size_t i = 0; i < system->word_count; i++)
        if (strcmp(system->words[i].name, "signal") == 0)
            TRY(tt_fail_context(formula_add_word(formulas, system->words[i].value), "%s:%u", system->words_file,
                                system->words[i].line));
    return TUTTI_OK;
}

void tt_driven_inputs_free_formulas(struct tt_formulas *formulas)
{
    for (size_t i = 0; i < formulas->count; i++) {
        free(formulas->items[i].name);
        tt_expression_free(formulas->items[i].expression);
    }
    free(formulas->items);
    *formulas = (struct tt_formulas){0};
}
