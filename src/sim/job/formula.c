/* SPDX-License-Identifier: MIT */
#include "sim/job/formula.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sim/job/annotation.h"

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
