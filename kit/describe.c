/* SPDX-License-Identifier: MIT */
/* describe.c - writes modelDescription.xml of the model it is linked with: describe 1cs|1me|2|3 */
#include "describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void escaped(const char *value)
{
    for (; *value; value++) {
        switch (*value) {
        case '&': fputs("&amp;", stdout); break;
        case '<': fputs("&lt;", stdout); break;
        case '>': fputs("&gt;", stdout); break;
        case '"': fputs("&quot;", stdout); break;
        case '\t':
        case '\n':
        case '\r': printf("&#%d;", *value); break;
        default: putchar(*value);
        }
    }
}

void text(const char *name, const char *value)
{
    if (!value)
        return;
    printf(" %s=\"", name);
    escaped(value);
    putchar('"');
}

void flag(const char *name, bool value)
{
    if (value)
        text(name, "true");
}

void number(const char *name, double value)
{
    char digits[32];
    int precision = 6;
    do /* a short text that reads back to the same number */
        snprintf(digits, sizeof digits, "%.*g", precision, value);
    while (strtod(digits, NULL) != value && ++precision <= 17);
    if (value != 0)
        text(name, digits);
}

void whole(const char *name, long long value)
{
    if (value != 0)
        printf(" %s=\"%lld\"", name, value);
}

const char *causality_word(const struct kit_var *var)
{
    static const char *const words[] = {[KIT_LOCAL] = "local",
                                        [KIT_PARAMETER] = "parameter",
                                        [KIT_CALCULATED] = "calculatedParameter",
                                        [KIT_STRUCTURAL] = "structuralParameter",
                                        [KIT_INPUT] = "input",
                                        [KIT_OUTPUT] = "output"};
    return words[var->causality];
}

const char *variability_word(enum kit_variability variability)
{
    static const char *const words[] = {[KIT_CONSTANT] = "constant",
                                        [KIT_FIXED] = "fixed",
                                        [KIT_TUNABLE] = "tunable",
                                        [KIT_DISCRETE] = "discrete",
                                        [KIT_CONTINUOUS] = "continuous"};
    return words[variability];
}

const char *initial_word(const struct kit_var *var)
{
    enum kit_initial initial = kit_var_initial(var);
    if (kit_var_variability(var) == KIT_CONSTANT || initial == KIT_INITIAL_CALCULATED)
        return NULL;
    if (var->causality == KIT_INPUT || var->causality == KIT_PARAMETER || var->causality == KIT_STRUCTURAL)
        return NULL;
    return initial == KIT_EXACT ? "exact" : "approx";
}

const char *start_of(const struct kit_var *var)
{
    return kit_var_initial(var) == KIT_INITIAL_CALCULATED && kit_var_variability(var) != KIT_CONSTANT ? NULL
                                                                                                      : var->start;
}

bool is_state(const struct kit_var *var)
{
    return var->derivative != NULL;
}

bool belongs_to(const struct kit_model *model, const struct kit_var *var, enum structure_list list, int version)
{
    size_t state;
    if (!kit_var_exists_in(model, var, version))
        return false;
    bool derivative = kit_var_is_derivative(model, var, &state);
    bool computed = kit_var_initial(var) != KIT_EXACT && kit_var_variability(var) != KIT_CONSTANT;
    if (list == OUTPUTS)
        return var->causality == KIT_OUTPUT;
    if (var->clocks || var->type == KIT_CLOCK)
        return false; /* what ticks later is not known at the start */
    return var->causality == KIT_CALCULATED ||
           ((var->causality == KIT_OUTPUT || is_state(var) || derivative) && computed);
}

/* One dependency of `depends`. */
struct dependency {
    size_t vr;
    char kind[16];
};

static struct dependency parse_dependency(const struct kit_model *model, const char *word, size_t length)
{
    struct dependency d = {.kind = "dependent"};
    const char *colon = memchr(word, ':', length);
    if (colon)
        snprintf(d.kind, sizeof d.kind, "%.*s", (int)(word + length - colon - 1), colon + 1);
    d.vr = kit_var_find(model, word, colon ? (size_t)(colon - word) : length);
    return d;
}

/* Whether the variable is a known: FMI 2.0 has no parameters among those after the initialisation. */
static bool is_known(const struct kit_model *model, size_t vr, bool initial, int version)
{
    if (vr == 0)
        return true;
    const struct kit_var *var = &model->variables[vr - 1];
    if (!kit_var_exists_in(model, var, version))
        return false;
    if (var->causality == KIT_INPUT)
        return true;
    if (initial)
        return kit_var_initial(var) == KIT_EXACT && kit_var_variability(var) != KIT_CONSTANT;
    return is_state(var) || (version == 3 && var->causality == KIT_PARAMETER);
}

/* At the start, an unknown variable in between hides further dependencies: then they are not declared. */
static bool can_be_told(const struct kit_model *model, const char *depends, int version)
{
    const char *rest = depends, *word;
    size_t length;
    while (kit_next_word(&rest, &word, &length)) {
        struct dependency d = parse_dependency(model, word, length);
        if (!is_known(model, d.vr, true, version) && d.vr > 0 && is_state(&model->variables[d.vr - 1]))
            return false;
    }
    return true;
}

static bool is_float(const struct kit_var *var)
{
    return var->type == KIT_FLOAT64 || var->type == KIT_FLOAT32;
}

void dependencies(const struct kit_model *model, const struct kit_var *var, bool initial, int version,
                  const size_t id[])
{
    char itself[256];
    const char *depends = var->depends;
    if (!initial && is_state(var)) { /* a state that is an output depends on itself */
        snprintf(itself, sizeof itself, "%s:constant", kit_var_name(var));
        depends = itself;
    }
    if (!depends || (initial && !can_be_told(model, depends, version)))
        return;
    for (int kinds = 0; kinds < 2; kinds++) {
        const char *rest = depends, *word, *gap = "";
        size_t length;
        printf(kinds ? " dependenciesKind=\"" : " dependencies=\"");
        while (kit_next_word(&rest, &word, &length)) {
            struct dependency d = parse_dependency(model, word, length);
            if (!is_known(model, d.vr, initial, version))
                continue;
            bool plain = !is_float(var) || (initial && strcmp(d.kind, "constant") != 0);
            if (kinds)
                printf("%s%s", gap, plain ? "dependent" : d.kind);
            else
                printf("%s%zu", gap, id ? id[d.vr] : d.vr);
            gap = " ";
        }
        putchar('"');
    }
}

void write_units(const struct kit_model *model)
{
    if (model->unit_count == 0)
        return;
    puts("  <UnitDefinitions>");
    for (size_t i = 0; i < model->unit_count; i++) {
        const struct kit_unit *u = &model->units[i];
        printf("    <Unit");
        text("name", u->name);
        printf(">\n      <BaseUnit");
        const char *const names[] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
        const int exponents[] = {u->kg, u->m, u->s, u->A, u->K, u->mol, u->cd, u->rad};
        for (size_t j = 0; j < KIT_COUNT(names); j++)
            whole(names[j], exponents[j]);
        number("factor", u->factor);
        number("offset", u->offset);
        puts("/>");
        for (size_t j = 0; j < KIT_COUNT(u->display) && u->display[j].name; j++) {
            printf("      <DisplayUnit");
            text("name", u->display[j].name);
            number("factor", u->display[j].factor);
            number("offset", u->display[j].offset);
            puts("/>");
        }
        puts("    </Unit>");
    }
    puts("  </UnitDefinitions>");
}

void write_log_categories(void)
{
    puts("  <LogCategories>");
    for (int i = 0; i < KIT_LOG_CATEGORIES; i++)
        printf("    <Category name=\"%s\"/>\n", kit_category_names[i]);
    puts("  </LogCategories>");
}

void write_experiment(const struct kit_model *model, bool with_step)
{
    printf("  <DefaultExperiment startTime=\"%.17g\"", model->experiment.start);
    number("stopTime", model->experiment.stop);
    number("tolerance", model->experiment.tolerance);
    if (with_step)
        number("stepSize", model->experiment.step);
    puts("/>");
}

/* Returns the reason why the model cannot become an FMU of this version, or NULL. */
static const char *obstacle(const struct kit_model *model, const char *version)
{
    bool exchange = strcmp(version, "1me") == 0 || strcmp(version, "2") == 0;
    if (model->advance && strcmp(version, "1me") == 0)
        return "a model with .advance has no Model Exchange: leave 1me out of VERSIONS";
    for (size_t i = 0; exchange && !model->advance && i < model->variable_count; i++)
        if (is_state(&model->variables[i]) && model->variables[i].dims)
            return "a state that is an array exists in FMI 3.0 only: leave 1me and 2 out of VERSIONS";
    return NULL;
}

int main(int argc, char **argv)
{
    const char *version = argc == 2 ? argv[1] : "";
    int mistakes = check_model(&kit_model) + check_terminals(&kit_model);
    if (mistakes > 0) {
        fprintf(stderr, "%s: %d mistake%s in the model's tables\n", kit_model.name ? kit_model.name : "(no name)",
                mistakes, mistakes == 1 ? "" : "s");
        return EXIT_FAILURE;
    }
    if (obstacle(&kit_model, version)) {
        fprintf(stderr, "%s: %s\n", kit_model.name, obstacle(&kit_model, version));
        return EXIT_FAILURE;
    }
    puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    if (strcmp(version, "1cs") == 0 || strcmp(version, "1me") == 0) {
        describe1(&kit_model, strcmp(version, "1me") == 0);
    } else if (strcmp(version, "2") == 0) {
        describe2(&kit_model);
    } else if (strcmp(version, "3") == 0) {
        describe3(&kit_model);
    } else if (strcmp(version, "terminals") == 0) {
        describe_terminals(&kit_model);
    } else {
        fprintf(stderr, "usage: %s 1cs|1me|2|3|terminals\n", argv[0]);
        return 2;
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
