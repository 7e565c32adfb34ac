/* SPDX-License-Identifier: MIT */
#include "sim/job/annotation.h"

#include <string.h>

#include "base/number.h"
#include "base/text.h"

/* A word of a component alone; on the command line it is --place UNIT=RANK. */
static const char RANK[] = "rank";

static bool annotation_is_for(const struct tt_option *option, bool per_unit)
{
    return option->annotation == TUTTI_OF_UNIT || (!per_unit && option->annotation == TUTTI_OF_SYSTEM);
}

static enum tutti_err annotation_report_unknown(const struct tt_run_setting *given, bool per_unit)
{
    struct tt_text all = {0};
    for (const struct tt_option *option = tt_options; option->name; option++)
        if (annotation_is_for(option, per_unit))
            tt_text_printf(&all, "%s%s", all.length ? ", " : "", option->name);
    if (per_unit)
        tt_text_printf(&all, ", %s", RANK);
    struct tt_text_excerpt name = tt_text_excerpt(given->name);
    enum tutti_err err = tt_fail(TUTTI_ERR_FORMAT, "the annotation org.tutti knows no '%s' %s; it knows %s", name.text,
                                 per_unit ? "for a component" : "for a system", all.text ? all.text : "");
    tt_text_fini(&all);
    return err;
}

static enum tutti_err annotation_read_rank(const char *value, int32_t *rank)
{
    uint64_t number;
    struct tt_text_excerpt shown = tt_text_excerpt(value);
    if (!tt_number_read_uint(value, strlen(value), &number) || number >= INT32_MAX)
        return tt_fail(TUTTI_ERR_FORMAT, "rank takes a whole number from 0 on, not '%s'", shown.text);
    *rank = (int32_t)number;
    return TUTTI_OK;
}

/* An option as an annotation has it: for the system or the component that it belongs to, without a component name. */
static struct tt_option option_for_component(const struct tt_option *option)
{
    struct tt_option own = *option;
    own.kind = option->kind == TUTTI_OPTION_STEP    ? TUTTI_OPTION_NUMBER
               : option->kind == TUTTI_OPTION_UNITS ? TUTTI_OPTION_FLAG
                                                    : option->kind;
    if (own.kind != TUTTI_OPTION_TEXTS)
        own.list = own.length = 0;
    return own;
}

/* Fills in one word, unless it was given. The annotation cannot turn off a flag of the command line. */
static enum tutti_err annotation_fill(struct tutti_run_options *options, const struct tt_run_setting *given,
                                      bool per_unit)
{
    struct tutti_run_options said = {0};
    int32_t rank; /* only checked here: other code uses it */
    if (per_unit && strcmp(given->name, RANK) == 0)
        return annotation_read_rank(given->value, &rank);
    const struct tt_option *known = tt_options_find(given->name);
    if (!known || !annotation_is_for(known, per_unit))
        return annotation_report_unknown(given, per_unit);
    if (known->kind == TUTTI_OPTION_TEXTS)
        return TUTTI_OK; /* adds to what is given: read with the system (model/system/constraints.c) */
    struct tt_option option = option_for_component(known);
    TRY(tt_options_read(&said, &option, given->value, NULL));
    if (!tt_options_is_given(options, &option))
        tt_options_copy_one(options, &said, &option);
    return TUTTI_OK;
}

static enum tutti_err annotation_fill_all(struct tutti_run_options *options, const struct tt_run_setting *given,
                                          size_t count, const char *file, bool per_unit)
{
    for (size_t g = 0; g < count; g++)
        if (annotation_fill(options, &given[g], per_unit) != TUTTI_OK)
            return tt_fail_context(TUTTI_ERR_FORMAT, "%s:%u", file, given[g].line);
    return TUTTI_OK;
}

static void annotation_check_all(const struct tt_run_setting *given, size_t count, const char *file, bool per_unit,
                                 struct tt_findings *findings)
{
    for (size_t g = 0; g < count; g++)
        if (annotation_fill(&(struct tutti_run_options){0}, &given[g], per_unit) != TUTTI_OK)
            tt_findings_add(findings, TUTTI_FINDING_ERROR, file, given[g].line, "%s", tutti_err_message());
}

void tt_annotation_check(const struct tt_system *system, struct tt_findings *findings)
{
    annotation_check_all(system->words, system->word_count, system->words_file, false, findings);
    for (uint32_t c = 0; c < system->component_count; c++)
        annotation_check_all(system->components[c].words, system->components[c].word_count, system->components[c].file,
                             true, findings);
}

enum tutti_err tt_annotation_apply_system(struct tutti_run_options *options, const struct tt_system *system)
{
    return annotation_fill_all(options, system->words, system->word_count, system->words_file, false);
}

enum tutti_err tt_annotation_apply_component(struct tutti_run_options *options, const struct tt_system *system,
                                             const struct tt_component *component, double *step)
{
    struct tutti_run_options own = *options;
    own.has_step = false;
    if (!own.interface && component->implementation)
        own.interface = strcmp(component->implementation, "ModelExchange") == 0  ? "me"
                        : strcmp(component->implementation, "CoSimulation") == 0 ? "cs"
                                                                                 : NULL;
    TRY(annotation_fill_all(&own, component->words, component->word_count, component->file, true));
    *step = own.has_step ? own.step : 0;
    own.has_step = options->has_step;
    own.step = options->step;
    *options = own;
    return tt_annotation_apply_system(options, system);
}

enum tutti_err tt_annotation_read_rank(const struct tt_component *component, int32_t *rank)
{
    *rank = -1;
    for (size_t i = 0; i < component->word_count; i++)
        if (strcmp(component->words[i].name, RANK) == 0 &&
            annotation_read_rank(component->words[i].value, rank) != TUTTI_OK)
            return tt_fail_context(TUTTI_ERR_FORMAT, "%s:%u", component->file, component->words[i].line);
    return TUTTI_OK;
}

/* Of an option that may be given again: all that it was given, in one text. */
static enum tutti_err annotation_format_all(const struct tutti_run_options *options, const struct tt_option *option,
                                            struct tt_arena *arena, const char **text)
{
    const char *const *list = *(const char *const *const *)(const void *)((const char *)options + option->list);
    size_t count = *(const size_t *)(const void *)((const char *)options + option->length);
    struct tt_text all = {0};
    for (size_t i = 0; i < count; i++)
        tt_text_printf(&all, "%s%s", i > 0 ? TUTTI_ANNOTATION_AND : "", list[i]);
    *text = all.failed ? NULL : tt_arena_copy_text(arena, all.text, all.length);
    tt_text_fini(&all);
    return *text ? TUTTI_OK : tt_fail_memory();
}

/* The text of an option's value; *text is NULL if it is not given. */
static enum tutti_err annotation_format(const struct tutti_run_options *options, const struct tt_option *option,
                                        struct tt_arena *arena, const char **text)
{
    const void *value = (const char *)options + option->value;
    double number = 0;
    *text = NULL;
    if (!tt_options_is_given(options, option))
        return TUTTI_OK;
    if (option->kind == TUTTI_OPTION_TEXTS)
        return annotation_format_all(options, option, arena, text);
    const char *how = option->how ? *(const char *const *)(const void *)((const char *)options + option->how) : NULL;
    if (option->kind == TUTTI_OPTION_FLAG || option->kind == TUTTI_OPTION_CHOICE)
        *text = how ? how : "true";
    else if (option->kind == TUTTI_OPTION_TEXT)
        *text = *(const char *const *)value;
    else
        number = option->kind == TUTTI_OPTION_COUNT ? *(const unsigned *)value : *(const double *)value;
    if (*text)
        return TUTTI_OK;
    struct tt_number_text shown = tt_number_show(number);
    *text = tt_arena_copy_text(arena, shown.text, strlen(shown.text));
    return *text ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_annotation_list_given(const struct tutti_run_options *options, struct tt_arena *arena,
                                        struct tt_run_setting *list, size_t *count)
{
    *count = 0;
    for (const struct tt_option *known = tt_options; known->name; known++) {
        struct tt_option option = option_for_component(known);
        const char *text;
        if (option.annotation == TUTTI_NOT_ANNOTATED)
            continue;
        TRY(annotation_format(options, &option, arena, &text));
        if (text)
            list[(*count)++] = (struct tt_run_setting){.name = option.name, .value = text};
    }
    return TUTTI_OK;
}
