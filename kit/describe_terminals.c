/* SPDX-License-Identifier: MIT */
/* describe_terminals.c - the terminals of a model: terminalsAndIcons/terminalsAndIcons.xml of FMI 3.0. */
#include "describe.h"

#include <stdio.h>
#include <string.h>

/* Returns the terminal of this name before number `before`; NULL if it does not exist. */
static const struct kit_terminal *find(const struct kit_model *model, const char *name, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (strcmp(model->terminals[i].name, name) == 0)
            return &model->terminals[i];
    return NULL;
}

static int mistake(const char *terminal, const char *words, const char *name)
{
    fprintf(stderr, "%s: terminal %s: %s \"%s\"\n", kit_model.name, terminal, words, name);
    return 1;
}

static int check_terminal(const struct kit_model *model, size_t index)
{
    const struct kit_terminal *terminal = &model->terminals[index];
    int mistakes = 0;
    if (!terminal->name || !terminal->rule)
        return mistake(terminal->name ? terminal->name : "(no name)", "it needs a name and a rule, not", "");
    if (find(model, terminal->name, index))
        mistakes += mistake(terminal->name, "there are two of the name", terminal->name);
    if (terminal->inside && !find(model, terminal->inside, index))
        mistakes += mistake(terminal->name, "no terminal before it has the name", terminal->inside);
    for (const struct kit_member *member = terminal->members; member && member->variable; member++)
        if (kit_var_find(model, member->variable, strlen(member->variable)) == 0)
            mistakes += mistake(terminal->name, "there is no variable", member->variable);
    return mistakes;
}

int check_terminals(const struct kit_model *model)
{
    int mistakes = 0;
    for (size_t i = 0; i < model->terminal_count; i++)
        mistakes += check_terminal(model, i);
    return mistakes;
}

static void write_terminal(const struct kit_model *model, const struct kit_terminal *terminal, int depth)
{
    printf("%*s<Terminal", 2 * depth, "");
    text("name", terminal->name);
    text("matchingRule", terminal->rule);
    text("terminalKind", terminal->kind);
    text("description", terminal->description);
    puts(">");
    for (const struct kit_member *member = terminal->members; member && member->variable; member++) {
        printf("%*s<TerminalMemberVariable", 2 * depth + 2, "");
        text("variableName", member->variable);
        text("memberName", member->name ? member->name : member->variable);
        text("variableKind", member->kind ? member->kind : "signal");
        puts("/>");
    }
    for (const struct kit_terminal *other = terminal + 1; other < model->terminals + model->terminal_count; other++)
        if (other->inside && strcmp(other->inside, terminal->name) == 0)
            write_terminal(model, other, depth + 1);
    printf("%*s</Terminal>\n", 2 * depth, "");
}

void describe_terminals(const struct kit_model *model)
{
    puts("<fmiTerminalsAndIcons fmiVersion=\"3.0\">");
    if (model->terminal_count > 0)
        puts("  <Terminals>");
    for (size_t i = 0; i < model->terminal_count; i++)
        if (!model->terminals[i].inside)
            write_terminal(model, &model->terminals[i], 2);
    if (model->terminal_count > 0)
        puts("  </Terminals>");
    puts("</fmiTerminalsAndIcons>");
}
