/* SPDX-License-Identifier: MIT */
#include "unit/program/program_module.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"

/* The model's struct is an array: the program's variables, then the derivatives of its states. */
struct tutti_program_unit {
    struct kit_model model;
    struct tutti_program program;
    struct kit_var *variables;
    size_t state_count;
    char version[48], guid[KIT_GUID_SIZE];
    char *texts; /* of the model, concatenated */
    struct tutti_program_unit *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tutti_program_unit *units;

const struct kit_model *kit_model_of(const char *token)
{
    const struct kit_model *model = NULL;
    pthread_mutex_lock(&lock);
    for (const struct tutti_program_unit *unit = units; unit && token && !model; unit = unit->next)
        if (strcmp(unit->guid, token) == 0)
            model = &unit->model;
    pthread_mutex_unlock(&lock);
    return model;
}

/* ---- the kit's functions ---- */

static const struct tutti_program *program_of(const struct kit *kit)
{
    return &((const struct tutti_program_unit *)kit->model)->program;
}

static enum kit_status program_report_error(struct kit *kit, enum tutti_err err, const char *function)
{
    if (!err)
        return KIT_OK;
    kit_log(kit, KIT_ERROR, "%s of the program failed", function);
    return KIT_ERROR;
}

static enum kit_status program_initialise(struct kit *kit, void *self, double t)
{
    const struct tutti_program *program = program_of(kit);
    return program_report_error(kit, program->start(program->context, t, self), "start");
}

static enum kit_status program_do_step(struct kit *kit, void *self, double t, double h)
{
    const struct tutti_program *program = program_of(kit);
    return program_report_error(kit, program->step(program->context, t, h, self), "step");
}

static enum kit_status program_compute_derivatives(struct kit *kit, void *self, double t)
{
    const struct tutti_program *program = program_of(kit);
    double *values = self;
    return program_report_error(
        kit, program->derivatives(program->context, t, values, values + program->variable_count), "derivatives");
}

static enum kit_status program_compute_outputs(struct kit *kit, void *self, double t)
{
    const struct tutti_program *program = program_of(kit);
    return program_report_error(kit, program->outputs(program->context, t, self), "outputs");
}

/* ---- making a unit ---- */

/* Texts that grow: the block may move, so places are offsets until all are there. */
struct model_writer {
    char *text;
    size_t size;
    FILE *file;
};

static bool program_begin_array(struct model_writer *writer)
{
    writer->file = open_memstream(&writer->text, &writer->size);
    return writer->file != NULL;
}

static bool program_end_array(struct model_writer *writer)
{
    bool good = writer->file && !ferror(writer->file);
    return writer->file && fclose(writer->file) == 0 && good;
}

/* The offset of the text that printf would write, with its zero byte. */
#define ADD(writer, ...) (fflush((writer)->file), fprintf((writer)->file, __VA_ARGS__), fputc('\0', (writer)->file), 0)

static size_t program_write_position(struct model_writer *writer)
{
    fflush(writer->file);
    return writer->size;
}

/* Per variable: offsets of name, unit, description, start and, of a state, the name of its derivative. */
struct model_offsets {
    size_t name, unit, description, start, derivative;
};

static void program_write_texts(const struct tutti_program *program, const char *const *starts,
                                struct model_writer *writer, struct model_offsets *offsets)
{
    for (size_t i = 0; i < program->variable_count; i++) {
        const struct tutti_program_variable *var = &program->variables[i];
        offsets[i].name = program_write_position(writer);
        ADD(writer, "%s", var->name);
        offsets[i].unit = program_write_position(writer);
        ADD(writer, "%s", var->unit ? var->unit : "");
        offsets[i].description = program_write_position(writer);
        ADD(writer, "%s", var->description ? var->description : "");
        offsets[i].start = program_write_position(writer);
        ADD(writer, "%s", starts[i]);
        offsets[i].derivative = program_write_position(writer);
        ADD(writer, "der(%s)", var->name);
    }
}

static void program_lay_out(struct tutti_program_unit *unit, const struct model_offsets *offsets)
{
    static const enum kit_causality causalities[] = {[TUTTI_PROGRAM_INPUT] = KIT_INPUT,
                                                     [TUTTI_PROGRAM_OUTPUT] = KIT_OUTPUT,
                                                     [TUTTI_PROGRAM_PARAMETER] = KIT_PARAMETER,
                                                     [TUTTI_PROGRAM_STATE] = KIT_OUTPUT};
    const struct tutti_program *program = &unit->program;
    size_t derivative = program->variable_count;
    for (size_t i = 0; i < program->variable_count; i++) {
        enum tutti_program_role role = program->variables[i].role;
        const char *description = unit->texts + offsets[i].description;
        struct kit_var *var = &unit->variables[i];
        bool computed = role == TUTTI_PROGRAM_OUTPUT && (program->start || program->outputs);
        *var = (struct kit_var){.field = unit->texts + offsets[i].name,
                                .description = *description ? description : NULL,
                                .type = KIT_FLOAT64,
                                .offset = i * sizeof(double),
                                .causality = causalities[role],
                                .initial = computed ? KIT_INITIAL_CALCULATED : KIT_INITIAL_DEFAULT,
                                .start = computed ? NULL : unit->texts + offsets[i].start};
        if (role != TUTTI_PROGRAM_STATE)
            continue;
        var->derivative = unit->texts + offsets[i].derivative;
        unit->variables[derivative] =
            (struct kit_var){.field = var->derivative, .type = KIT_FLOAT64, .offset = derivative * sizeof(double)};
        derivative++;
    }
}

static struct kit_model program_model_of(const struct tutti_program_unit *unit)
{
    const struct tutti_program *program = &unit->program;
    bool free_to_go_back = program->derivatives || program->has_no_memory;
    return (struct kit_model){.name = TUTTI_PROGRAM_IDENTIFIER,
                              .size = (program->variable_count + unit->state_count) * sizeof(double),
                              .variables = unit->variables,
                              .variable_count = program->variable_count + unit->state_count,
                              /* The importer ensures that there is only one instance: the kit would count all units. */
                              .features = free_to_go_back ? KIT_FOR_FREE : 0,
                              .initialise = program->start ? program_initialise : NULL,
                              .advance = program->step ? program_do_step : NULL,
                              .derivatives = program->derivatives ? program_compute_derivatives : NULL,
                              .outputs = program->outputs ? program_compute_outputs : NULL};
}

/* ---- its description ---- */

static void program_write_text(FILE *file, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", file); break;
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        case '"': fputs("&quot;", file); break;
        default:
            if ((unsigned char)*text < ' ')
                fprintf(file, "&#%d;", *text);
            else
                fputc(*text, file);
        }
}

static void program_write_attribute(FILE *file, const char *name, const char *text)
{
    if (!text)
        return;
    fprintf(file, " %s=\"", name);
    program_write_text(file, text);
    fputc('"', file);
}

static bool is_first_with_unit(const struct tutti_program *program, size_t place)
{
    for (size_t i = 0; i < place; i++)
        if (program->variables[i].unit && strcmp(program->variables[i].unit, program->variables[place].unit) == 0)
            return false;
    return true;
}

static void program_write_units(FILE *file, const struct tutti_program *program)
{
    bool begun = false;
    for (size_t i = 0; i < program->variable_count; i++) {
        if (!program->variables[i].unit || !is_first_with_unit(program, i))
            continue;
        fputs(begun ? "" : "<UnitDefinitions>", file);
        begun = true;
        fputs("<Unit", file);
        program_write_attribute(file, "name", program->variables[i].unit);
        fputs("/>", file);
    }
    fputs(begun ? "</UnitDefinitions>\n" : "", file);
}

static void program_write_variables(FILE *file, const struct tutti_program_unit *unit)
{
    static const char *const causality[] = {"input", "output", "parameter", "output"};
    const struct tutti_program *program = &unit->program;
    size_t state = 0, count = program->variable_count + unit->state_count;
    fputs("<ModelVariables>\n<Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" "
          "variability=\"continuous\"/>\n",
          file);
    for (size_t i = 0; i < count; i++) {
        const struct kit_var *var = &unit->variables[i];
        bool own = i < program->variable_count;
        fputs("<Float64", file);
        program_write_attribute(file, "name", var->field);
        fprintf(file, " valueReference=\"%zu\"", i + 1);
        program_write_attribute(file, "description", var->description);
        program_write_attribute(file, "causality", own ? causality[program->variables[i].role] : "local");
        program_write_attribute(file, "variability",
                                own && program->variables[i].role == TUTTI_PROGRAM_PARAMETER ? "fixed" : "continuous");
        program_write_attribute(file, "initial",
                                !own || (var->causality == KIT_OUTPUT && !var->start) ? "calculated"
                                : var->causality == KIT_INPUT                         ? NULL
                                                                                      : "exact");
        program_write_attribute(file, "start", own ? var->start : NULL);
        program_write_attribute(file, "unit", own ? program->variables[i].unit : NULL);
        if (!own) {
            while (program->variables[state].role != TUTTI_PROGRAM_STATE)
                state++;
            fprintf(file, " derivative=\"%zu\"", ++state);
        }
        fputs("/>\n", file);
    }
    fputs("</ModelVariables>\n<ModelStructure>\n", file);
}

static void program_write_structure(FILE *file, const struct tutti_program_unit *unit)
{
    const struct tutti_program *program = &unit->program;
    for (size_t i = 0; i < program->variable_count; i++) {
        bool output = program->variables[i].role == TUTTI_PROGRAM_OUTPUT;
        bool state = program->variables[i].role == TUTTI_PROGRAM_STATE;
        if (!output && !state)
            continue;
        fprintf(file, "<Output valueReference=\"%zu\"", i + 1);
        if (state)
            fprintf(file, " dependencies=\"%zu\" dependenciesKind=\"constant\"", i + 1);
        else if (!program->feeds_through && program->step)
            fputs(" dependencies=\"\"", file);
        fputs("/>\n", file);
    }
    for (size_t i = 0; i < unit->state_count; i++)
        fprintf(file, "<ContinuousStateDerivative valueReference=\"%zu\"/>\n", program->variable_count + i + 1);
    for (size_t i = 0; i < program->variable_count; i++)
        if (program->variables[i].role == TUTTI_PROGRAM_OUTPUT && !unit->variables[i].start)
            fprintf(file, "<InitialUnknown valueReference=\"%zu\"/>\n", i + 1);
    for (size_t i = 0; i < unit->state_count; i++)
        fprintf(file, "<InitialUnknown valueReference=\"%zu\"/>\n", program->variable_count + i + 1);
    fputs("</ModelStructure>\n</fmiModelDescription>\n", file);
}

static void program_write_description(FILE *file, const struct tutti_program_unit *unit)
{
    const struct tutti_program *program = &unit->program;
    bool back = unit->model.features & KIT_ROLLBACK;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"3.0\"", file);
    program_write_attribute(file, "modelName", program->name);
    program_write_attribute(file, "instantiationToken", unit->guid);
    fprintf(file, ">\n<%s modelIdentifier=\"" TUTTI_PROGRAM_IDENTIFIER "\"",
            program->step ? "CoSimulation" : "ModelExchange");
    if (back)
        fputs(" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"", file);
    else
        fputs(" canBeInstantiatedOnlyOncePerProcess=\"true\"", file);
    fputs(program->step ? " canHandleVariableCommunicationStepSize=\"true\"/>\n" : "/>\n", file);
    program_write_units(file, program);
    program_write_variables(file, unit);
    program_write_structure(file, unit);
}

/* ---- the module ---- */

static void program_release(struct tutti_program_unit *unit)
{
    free((void *)unit->program.variables);
    free(unit->variables);
    free(unit->texts);
    free(unit);
}

static bool program_fill(struct tutti_program_unit *unit, const struct tutti_program *program,
                         const char *const *starts)
{
    struct model_writer writer = {0};
    size_t count = program->variable_count;
    struct tutti_program_variable *variables = calloc(count + 1, sizeof *variables);
    struct model_offsets *offsets = calloc(count + 1, sizeof *offsets);
    unit->program = *program;
    unit->program.variables = variables;
    for (size_t i = 0; i < count; i++)
        unit->state_count += program->variables[i].role == TUTTI_PROGRAM_STATE;
    unit->variables = calloc(count + unit->state_count + 1, sizeof *unit->variables);
    bool good = variables && offsets && unit->variables && program_begin_array(&writer);
    if (good) {
        program_write_texts(program, starts, &writer, offsets);
        good = program_end_array(&writer);
        unit->texts = writer.text;
    }
    for (size_t i = 0; good && i < count; i++) {
        variables[i] = program->variables[i];
        variables[i].name = unit->texts + offsets[i].name;
        variables[i].unit = variables[i].unit ? unit->texts + offsets[i].unit : NULL;
        variables[i].description = NULL; /* the kit's table has it */
    }
    if (good)
        program_lay_out(unit, offsets);
    free(offsets);
    return good;
}

static struct tutti_program_unit *program_build(const struct tutti_program *program, const char *const *starts,
                                                char **description)
{
    struct model_writer writer = {0};
    struct tutti_program_unit *unit = calloc(1, sizeof *unit);
    if (!unit)
        return NULL;
    bool good = program_fill(unit, program, starts) && program_begin_array(&writer);
    if (good) {
        unit->model = program_model_of(unit);

        /* A token that no other unit has, of this process or of another: it is made of what the model reports. */
        static atomic_ulong number;
        snprintf(unit->version, sizeof unit->version, "%ld-%lu", (long)getpid(), atomic_fetch_add(&number, 1));
        unit->model.version = unit->version;
        kit_guid(&unit->model, 3, unit->guid);

        program_write_description(writer.file, unit);
        good = program_end_array(&writer);
    }
    if (!good) {
        free(writer.text);
        program_release(unit);
        return NULL;
    }
    *description = writer.text;
    pthread_mutex_lock(&lock);
    unit->next = units;
    units = unit;
    pthread_mutex_unlock(&lock);
    return unit;
}

static void program_free(struct tutti_program_unit *unit)
{
    pthread_mutex_lock(&lock);
    for (struct tutti_program_unit **at = &units; *at; at = &(*at)->next)
        if (*at == unit) {
            *at = unit->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    program_release(unit);
}

extern const struct tt_program_module tt_program_module;
__attribute__((visibility("default")))
const struct tt_program_module tt_program_module = {.make = program_build, .drop = program_free};
