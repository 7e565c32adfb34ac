/* SPDX-License-Identifier: MIT */
#include "master/words.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"

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

static enum tutti_err unknown(const struct tutti_word *given, const char *file, bool per_unit)
{
    struct tutti_text all = {0};
    for (int i = 0; i < WORD_COUNT; i++)
        if (words[i].per_unit || !per_unit)
            tutti_text_printf(&all, "%s%s", all.length ? ", " : "", words[i].name);
    struct tutti_shown name = tutti_str_show(given->name);
    enum tutti_err err = tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: the annotation org.tutti knows no '%s' %s; it knows %s",
                                    file, given->line, name.text, per_unit ? "for a component" : "for a system",
                                    all.text ? all.text : "");
    tutti_text_fini(&all);
    return err;
}

static enum tutti_err fill(struct tutti_run_options *options, const struct word *word, const struct tutti_word *given,
                           const char *file)
{
    char *base = (char *)options;
    if (word->given == 0) {
        const char **text = (const char **)(base + word->value);
        *text = *text ? *text : given->value;
        return TUTTI_OK;
    }
    double number;
    if (!tutti_number_read_double(given->value, strlen(given->value), &number) || !(number > 0 && isfinite(number))) {
        struct tutti_shown shown = tutti_str_show(given->value);
        return tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: %s takes a number greater than 0, not '%s'", file, given->line,
                          word->name, shown.text);
    }
    bool *has = (bool *)(base + word->given);
    if (!*has)
        memcpy(base + word->value, &number, sizeof number);
    *has = true;
    return TUTTI_OK;
}

static enum tutti_err fill_all(struct tutti_run_options *options, const struct tutti_word *given, size_t count,
                               const char *file, bool per_unit)
{
    for (size_t g = 0; g < count; g++) {
        const struct word *found = NULL;
        for (int i = 0; i < WORD_COUNT; i++)
            if (strcmp(words[i].name, given[g].name) == 0 && (words[i].per_unit || !per_unit))
                found = &words[i];
        if (!found)
            return unknown(&given[g], file, per_unit);
        TRY(fill(options, found, &given[g], file));
    }
    return TUTTI_OK;
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
    TRY(fill_all(&own, component->words, component->word_count, component->file, true));
    *step = own.has_step ? own.step : 0;
    own.has_step = options->has_step;
    own.step = options->step;
    if (!own.interface && component->implementation && system->package_count > 0)
        own.interface = strcmp(component->implementation, "ModelExchange") == 0  ? "me"
                        : strcmp(component->implementation, "CoSimulation") == 0 ? "cs"
                                                                                 : NULL;
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
