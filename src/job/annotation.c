/* SPDX-License-Identifier: MIT */
#include "job/annotation.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "job/check_words.h"
#include "job/integration.h"
#include "signals/inputs.h"

/* A number has a flag that says whether it was given; a text is NULL, a count 0 and a flag false if it was not. A rank is a
 * component's alone: on the command line it is --place UNIT=RANK. */
enum kind { NUMBER_KIND, TEXT_KIND, COUNT_KIND, FLAG_KIND, RANK_KIND };

struct word {
    const char *name;
    enum kind kind;
    size_t value, given; /* offsets in struct tutti_run_options */
    bool per_unit;
};

#define NUMBER_WORD(name, field, per_unit)                                                                             \
    {                                                                                                                  \
        name, NUMBER_KIND, offsetof(struct tutti_run_options, field), offsetof(struct tutti_run_options, has_##field), \
            per_unit                                                                                                   \
    }
#define TEXT_WORD(name, field, per_unit)                                                                               \
    {                                                                                                                  \
        name, TEXT_KIND, offsetof(struct tutti_run_options, field), 0, per_unit                                        \
    }
#define OTHER_WORD(name, kind, field, per_unit)                                                                        \
    {                                                                                                                  \
        name, kind, offsetof(struct tutti_run_options, field), 0, per_unit                                             \
    }

static const struct word words[] = {
    NUMBER_WORD("step", step, true),
    NUMBER_WORD("output-step", output_step, false),
    NUMBER_WORD("rtol", rtol, true),
    NUMBER_WORD("atol", atol, true),
    NUMBER_WORD("h-max", h_max, true),
    NUMBER_WORD("solver-step", solver_step, true),
    TEXT_WORD("interface", interface, true),
    TEXT_WORD("solver", solver, true),
    TEXT_WORD("predictor", predictor, true),
    TEXT_WORD("jacobian", jacobian, true),
    TEXT_WORD("filter", filter, true),
    TEXT_WORD("interpolate", interpolate, true),
    TEXT_WORD("input-at", input_at, true),
    TEXT_WORD("coupling", coupling, false),
    TEXT_WORD("control", control, false),
    TEXT_WORD("extrapolate", extrapolate, false),
    TEXT_WORD("events", events, false),
    TEXT_WORD("error-per", error_per, false),
    TEXT_WORD("sweeps", sweeps, false),
    TEXT_WORD("accelerate", accelerate, false),
    TEXT_WORD("order", order, false),
    NUMBER_WORD("h-min", h_min, false),
    NUMBER_WORD("event-tolerance", event_tolerance, false),
    NUMBER_WORD("quantum", quantum, false),
    NUMBER_WORD("divergence", divergence, false),
    OTHER_WORD("convert", FLAG_KIND, convert, false),
    OTHER_WORD("correct", FLAG_KIND, correct, false),
    OTHER_WORD("smooth", FLAG_KIND, smooth, false),
    OTHER_WORD("max-iterations", COUNT_KIND, max_iterations, false),
    OTHER_WORD("no-event-mode", FLAG_KIND, no_event_mode, true),
    OTHER_WORD("no-directional-derivatives", FLAG_KIND, no_directional_derivatives, true),
    {"rank", RANK_KIND, 0, 0, true},
};
enum { WORD_COUNT = sizeof words / sizeof *words };

static bool is_for(const struct word *word, bool per_unit)
{
    return per_unit ? word->per_unit : word->kind != RANK_KIND;
}

static enum tutti_err unknown(const struct tutti_word *given, bool per_unit)
{
    struct tutti_text all = {0};
    for (int i = 0; i < WORD_COUNT; i++)
        if (is_for(&words[i], per_unit))
            tutti_text_printf(&all, "%s%s", all.length ? ", " : "", words[i].name);
    struct tutti_shown name = tutti_str_show(given->name);
    enum tutti_err err = tutti_fail(TUTTI_ERR_FORMAT, "the annotation org.tutti knows no '%s' %s; it knows %s",
                                    name.text, per_unit ? "for a component" : "for a system", all.text ? all.text : "");
    tutti_text_fini(&all);
    return err;
}

/* Is the text one that the option takes? Asked of those who will read it. */
static enum tutti_err check_text(const struct word *word, const char *value)
{
    struct tutti_run_options alone = {0};
    enum tutti_interface_choice choice;
    struct tutti_inputs_choice inputs;
    memcpy((char *)&alone + word->value, &value, sizeof value);
    TRY(tutti_interface_choose(&(struct tutti_run_options){.interface = alone.interface}, &choice));
    TRY(tutti_master_check_words(&alone));
    TRY(tutti_inputs_choose(&alone, &inputs));
    return tutti_integration_check_words(&alone);
}

static enum tutti_err fill_text(const struct word *word, const char **text, const char *value)
{
    TRY(check_text(word, value));
    *text = *text ? *text : value;
    return TUTTI_OK;
}

static enum tutti_err fill_number(const struct word *word, char *base, const char *value)
{
    double number;
    struct tutti_shown shown = tutti_str_show(value);
    if (!tutti_number_read_double(value, strlen(value), &number) || !(number > 0 && isfinite(number)))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s takes a number greater than 0, not '%s'", word->name, shown.text);
    bool *has = (bool *)(base + word->given);
    if (!*has)
        memcpy(base + word->value, &number, sizeof number);
    *has = true;
    return TUTTI_OK;
}

static enum tutti_err fill_count(const struct word *word, unsigned *count, const char *value)
{
    double number;
    struct tutti_shown shown = tutti_str_show(value);
    if (!tutti_number_read_double(value, strlen(value), &number) || !(number >= 1 && number <= 1e6) ||
        number != floor(number))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s takes a whole number from 1 to 1000000, not '%s'", word->name,
                          shown.text);
    *count = *count ? *count : (unsigned)number;
    return TUTTI_OK;
}

/* What a command line turned on stays on. */
static enum tutti_err fill_flag(const struct word *word, bool *flag, const char *value)
{
    struct tutti_shown shown = tutti_str_show(value);
    bool on = strcmp(value, "true") == 0;
    if (!on && strcmp(value, "false") != 0)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s takes true or false, not '%s'", word->name, shown.text);
    *flag = *flag || on;
    return TUTTI_OK;
}

static enum tutti_err read_rank(const char *value, int32_t *rank)
{
    uint64_t number;
    struct tutti_shown shown = tutti_str_show(value);
    if (!tutti_number_read_uint(value, strlen(value), &number) || number >= INT32_MAX)
        return tutti_fail(TUTTI_ERR_FORMAT, "rank takes a whole number from 0 on, not '%s'", shown.text);
    *rank = (int32_t)number;
    return TUTTI_OK;
}

/* Fills in one word, unless it was given. */
static enum tutti_err fill(struct tutti_run_options *options, const struct tutti_word *given, bool per_unit)
{
    const struct word *word = NULL;
    char *base = (char *)options;
    int32_t rank; /* only checked here: other code uses it */
    for (int i = 0; i < WORD_COUNT; i++)
        if (strcmp(words[i].name, given->name) == 0 && is_for(&words[i], per_unit))
            word = &words[i];
    if (!word)
        return unknown(given, per_unit);
    switch (word->kind) {
    case NUMBER_KIND: return fill_number(word, base, given->value);
    case TEXT_KIND: return fill_text(word, (const char **)(void *)(base + word->value), given->value);
    case COUNT_KIND: return fill_count(word, (unsigned *)(void *)(base + word->value), given->value);
    case FLAG_KIND: return fill_flag(word, (bool *)(base + word->value), given->value);
    case RANK_KIND: break;
    }
    return read_rank(given->value, &rank);
}

static enum tutti_err fill_all(struct tutti_run_options *options, const struct tutti_word *given, size_t count,
                               const char *file, bool per_unit)
{
    for (size_t g = 0; g < count; g++)
        if (fill(options, &given[g], per_unit) != TUTTI_OK)
            return tutti_fail_context(TUTTI_ERR_FORMAT, "%s:%u", file, given[g].line);
    return TUTTI_OK;
}

static void check_all(const struct tutti_word *given, size_t count, const char *file, bool per_unit,
                      struct tutti_findings *findings)
{
    for (size_t g = 0; g < count; g++)
        if (fill(&(struct tutti_run_options){0}, &given[g], per_unit) != TUTTI_OK)
            tutti_findings_add(findings, TUTTI_FINDING_ERROR, file, given[g].line, "%s", tutti_err_message());
}

void tutti_annotation_check(const struct tutti_system *system, struct tutti_findings *findings)
{
    check_all(system->words, system->word_count, system->words_file, false, findings);
    for (uint32_t c = 0; c < system->component_count; c++)
        check_all(system->components[c].words, system->components[c].word_count, system->components[c].file, true,
                  findings);
}

enum tutti_err tutti_annotation_of_system(struct tutti_run_options *options, const struct tutti_system *system)
{
    return fill_all(options, system->words, system->word_count, system->words_file, false);
}

enum tutti_err tutti_annotation_of_component(struct tutti_run_options *options, const struct tutti_system *system,
                                             const struct tutti_component *component, double *step)
{
    struct tutti_run_options own = *options;
    own.has_step = false;
    if (!own.interface && component->implementation)
        own.interface = strcmp(component->implementation, "ModelExchange") == 0  ? "me"
                        : strcmp(component->implementation, "CoSimulation") == 0 ? "cs"
                                                                                 : NULL;
    TRY(fill_all(&own, component->words, component->word_count, component->file, true));
    *step = own.has_step ? own.step : 0;
    own.has_step = options->has_step;
    own.step = options->step;
    *options = own;
    return tutti_annotation_of_system(options, system);
}

enum tutti_err tutti_annotation_rank(const struct tutti_component *component, int32_t *rank)
{
    *rank = -1;
    for (size_t i = 0; i < component->word_count; i++)
        if (strcmp(component->words[i].name, "rank") == 0 && read_rank(component->words[i].value, rank) != TUTTI_OK)
            return tutti_fail_context(TUTTI_ERR_FORMAT, "%s:%u", component->file, component->words[i].line);
    return TUTTI_OK;
}

enum tutti_err tutti_annotation_given(const struct tutti_run_options *options, struct tutti_arena *arena,
                                      struct tutti_word *list, size_t *count)
{
    static_assert((int)WORD_COUNT <= (int)TUTTI_ANNOTATION_MOST, "room for all words");
    const char *base = (const char *)options;
    *count = 0;
    for (int i = 0; i < WORD_COUNT; i++) {
        const char *text = NULL;
        const void *value = base + words[i].value;
        double number = 0;
        if (words[i].kind == TEXT_KIND)
            text = *(const char *const *)value;
        else if (words[i].kind == FLAG_KIND)
            text = *(const bool *)value ? "true" : NULL;
        else if (words[i].kind == COUNT_KIND)
            number = *(const unsigned *)value;
        else if (words[i].kind == NUMBER_KIND && *(const bool *)(base + words[i].given))
            memcpy(&number, value, sizeof number);
        if (number > 0) {
            struct tutti_number_text shown = tutti_number_show(number);
            text = tutti_arena_text(arena, shown.text, strlen(shown.text));
            if (!text)
                return tutti_fail_memory();
        }
        if (text)
            list[(*count)++] = (struct tutti_word){.name = words[i].name, .value = text};
    }
    return TUTTI_OK;
}
