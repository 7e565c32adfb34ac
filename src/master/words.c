/* SPDX-License-Identifier: MIT */
#include "master/words.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "master/coupling.h"
#include "master/integration.h"

/* A number has a flag that says whether it was given; a text is NULL if it was not. */
struct word {
    const char *name;
    size_t value, given; /* offsets in struct tutti_run_options; given 0: a text */
    bool per_unit;
};

#define NUMBER_WORD(name, field, per_unit)                                                                             \
    {                                                                                                                  \
        name, offsetof(struct tutti_run_options, field), offsetof(struct tutti_run_options, has_##field), per_unit     \
    }
#define TEXT_WORD(name, field, per_unit)                                                                               \
    {                                                                                                                  \
        name, offsetof(struct tutti_run_options, field), 0, per_unit                                                   \
    }

static const struct word words[] = {
    NUMBER_WORD("step", step, true),         NUMBER_WORD("output-step", output_step, false),
    NUMBER_WORD("rtol", rtol, true),         NUMBER_WORD("atol", atol, true),
    NUMBER_WORD("h-max", h_max, true),       NUMBER_WORD("solver-step", solver_step, true),
    TEXT_WORD("interface", interface, true), TEXT_WORD("solver", solver, true),
    TEXT_WORD("predictor", predictor, true), TEXT_WORD("jacobian", jacobian, true),
    TEXT_WORD("filter", filter, true),       TEXT_WORD("coupling", coupling, false),
};
enum { WORD_COUNT = sizeof words / sizeof *words };

static enum tutti_err unknown(const struct tutti_word *given, bool per_unit)
{
    struct tutti_text all = {0};
    for (int i = 0; i < WORD_COUNT; i++)
        if (words[i].per_unit || !per_unit)
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
    const struct tutti_coupling *coupling;
    memcpy((char *)&alone + word->value, &value, sizeof value);
    TRY(tutti_interface_choose(&(struct tutti_run_options){.interface = alone.interface}, &choice));
    TRY(tutti_coupling_find(alone.coupling, &coupling));
    return tutti_integration_check_words(&alone);
}

/* Fills in one word, unless it was given. */
static enum tutti_err fill(struct tutti_run_options *options, const struct tutti_word *given, bool per_unit)
{
    const struct word *word = NULL;
    char *base = (char *)options;
    for (int i = 0; i < WORD_COUNT; i++)
        if (strcmp(words[i].name, given->name) == 0 && (words[i].per_unit || !per_unit))
            word = &words[i];
    if (!word)
        return unknown(given, per_unit);
    if (word->given == 0) {
        const char **text = (const char **)(base + word->value);
        TRY(check_text(word, given->value));
        *text = *text ? *text : given->value;
        return TUTTI_OK;
    }
    double number;
    struct tutti_shown shown = tutti_str_show(given->value);
    if (!tutti_number_read_double(given->value, strlen(given->value), &number) || !(number > 0 && isfinite(number)))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s takes a number greater than 0, not '%s'", word->name, shown.text);
    bool *has = (bool *)(base + word->given);
    if (!*has)
        memcpy(base + word->value, &number, sizeof number);
    *has = true;
    return TUTTI_OK;
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

void tutti_words_check(const struct tutti_system *system, struct tutti_findings *findings)
{
    check_all(system->words, system->word_count, system->words_file, false, findings);
    for (uint32_t c = 0; c < system->component_count; c++)
        check_all(system->components[c].words, system->components[c].word_count, system->components[c].file, true,
                  findings);
}

enum tutti_err tutti_words_of_system(struct tutti_run_options *options, const struct tutti_system *system)
{
    return fill_all(options, system->words, system->word_count, system->words_file, false);
}

enum tutti_err tutti_words_of_component(struct tutti_run_options *options, const struct tutti_system *system,
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
    return tutti_words_of_system(options, system);
}

enum tutti_err tutti_words_given(const struct tutti_run_options *options, struct tutti_arena *arena,
                                 struct tutti_word *list, size_t *count)
{
    static_assert((int)WORD_COUNT <= (int)TUTTI_MOST_WORDS, "room for all words");
    const char *base = (const char *)options;
    *count = 0;
    for (int i = 0; i < WORD_COUNT; i++) {
        const char *text = NULL;
        if (words[i].given == 0) {
            text = *(const char *const *)(base + words[i].value);
        } else if (*(const bool *)(base + words[i].given)) {
            double value;
            memcpy(&value, base + words[i].value, sizeof value);
            struct tutti_number_text number = tutti_number_show(value);
            text = tutti_arena_text(arena, number.text, strlen(number.text));
            if (!text)
                return tutti_fail_memory();
        }
        if (text)
            list[(*count)++] = (struct tutti_word){.name = words[i].name, .value = text};
    }
    return TUTTI_OK;
}
