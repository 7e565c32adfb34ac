/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "base/number.h"

/* ---- the table of a command ---- */

/* An option of a run as one of a command; its name gets dashes. False: memory is out. */
static bool present(const struct tt_option *of_run, struct option *out)
{
    struct tt_text name = {0};
    tt_text_printf(&name, "--%s", of_run->name);
    bool has_first = of_run->words && of_run->kind != TUTTI_OPTION_CHOICE;
    const char *otherwise = of_run->otherwise ? of_run->otherwise : has_first ? of_run->words->name : NULL;
    *out = (struct option){
        .name = name.text,
        .alternate = of_run->short_name,
        .argument = of_run->argument,
        .help = of_run->help,
        .brief = of_run->brief,
        .words = of_run->words,
        .otherwise = otherwise,
        .files = of_run->files,
        .of_run = of_run,
    };
    return !name.failed;
}

/* Of those that memory was enough for. */
static void forget(struct option *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].of_run)
            free((void *)all[i].name);
    free(all);
}

static struct option *resolve(const struct command *command)
{
    size_t count = 0, room = TUTTI_OPTIONS_TOTAL + 1;
    for (const struct option *row = command->rows; row->name; row++)
        room++;
    struct option *all = calloc(room, sizeof *all);
    bool enough = all != NULL;
    for (const struct option *row = command->rows; row->name && enough; row++) {
        if (!row->group)
            all[count++] = *row;
        for (const struct tt_option *o = tt_options; o->name && row->group && enough; o++)
            if (o->group == row->group && (o->commands & command->takes))
                enough = present(o, &all[count++]);
    }
    if (!enough)
        forget(all, count);
    return enough ? all : NULL;
}

const struct option *command_options(const struct command *command)
{
    enum { MOST_COMMANDS = 32 };
    static struct option *resolved[MOST_COMMANDS]; /* until the program ends */
    size_t place = (size_t)(command - commands);
    assert(place < MOST_COMMANDS);
    if (!resolved[place])
        resolved[place] = resolve(command);
    return resolved[place];
}

/* ---- what is given ---- */

static const struct option *find(const struct command *command, const char *text, size_t n)
{
    for (const struct option *o = command_options(command); o->name; o++)
        if ((strlen(o->name) == n && memcmp(o->name, text, n) == 0) ||
            (o->alternate && strlen(o->alternate) == n && memcmp(o->alternate, text, n) == 0))
            return o;
    return NULL;
}

/* Names of options in other tools; the first one that the command has is suggested. */
static const char *translate(const struct command *command, const char *text, size_t n)
{
    static const char *const words[][2] = {
        {"tolerance", "--rtol"},
        {"relative-tolerance", "--rtol"},
        {"relativetolerance", "--rtol"},
        {"reltol", "--rtol"},
        {"absolute-tolerance", "--atol"},
        {"abstol", "--atol"},
        {"stop-time", "--stop"},
        {"stoptime", "--stop"},
        {"end-time", "--stop"},
        {"end", "--stop"},
        {"tend", "--stop"},
        {"duration", "--stop"},
        {"start-time", "--start"},
        {"starttime", "--start"},
        {"begin-time", "--start"},
        {"param", "--set"},
        {"params", "--set"},
        {"parameter", "--set"},
        {"start-value", "--set"},
        {"start-values", "--set"},
        {"initial", "--set"},
        {"step-size", "--step"},
        {"stepsize", "--step"},
        {"communication-step-size", "--step"},
        {"dt", "--step"},
        {"output-interval", "--output-step"},
        {"interval", "--output-step"},
        {"output-file", "--output"},
        {"result-file", "--output"},
        {"resultfile", "--output"},
        {"result", "--output"},
        {"input-file", "--input"},
        {"inputs", "--input"},
        {"interface-type", "--interface"},
        {"fmi-type", "--interface"},
        {"method", "--solver"},
        {"integrator", "--solver"},
        {"output-variable", "--record"},
        {"output-variables", "--record"},
        {"variables", "--record"},
        {"filter-variables", "--record"},
        {"rtf", "--realtime"},
        {"real-time-factor", "--realtime"},
        {"max-step", "--h-max"},
        {"min-step", "--h-min"},
        {"numprocs", "--threads"},
        {"jobs", "--threads"},
    };
    while (n > 0 && *text == '-') {
        text++;
        n--;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i][0]) == n && strncasecmp(words[i][0], text, n) == 0 &&
            find(command, words[i][1], strlen(words[i][1])))
            return words[i][1];
    return NULL;
}

static bool unknown_option(const struct command *command, const char *text)
{
    const size_t length = strcspn(text, "=");
    struct tt_text_nearest nearest = {.wanted = text, .best = translate(command, text, length)};
    bool translated = nearest.best != NULL;
    for (const struct option *o = command_options(command); o->name && !translated; o++)
        if (o->help)
            tt_text_nearest_offer(&nearest, o->name);
    fprintf(stderr, "tutti %s: unknown option '%.*s'", command->name, (int)length, text);
    if (nearest.best)
        fprintf(stderr, "; did you mean '%s'?\n", nearest.best);
    else
        fprintf(stderr, "; see 'tutti %s --help'\n", command->name);
    return false;
}

/* For an option with an optional value: returns true if the next argument is one of its words, and so its value. */
static bool is_word_of(const struct option *option, const char *text)
{
    for (const struct tutti_option_word *word = option->words; word->name; word++)
        if (strcmp(word->name, text) == 0)
            return true;
    return false;
}

/* Parses one option; *index skips its value if that is a separate argument. */
static bool parse_option(struct arguments *arguments, int argc, char **argv, int *index)
{
    const char *text = argv[*index], *equals = strchr(text, '=');
    const struct option *option = find(arguments->command, text, equals ? (size_t)(equals - text) : strlen(text));
    if (!option)
        return unknown_option(arguments->command, text);
    const char *value = equals ? equals + 1 : "";
    if (option->of_run && option->of_run->kind == TUTTI_OPTION_CHOICE) {
        if (!equals && *index + 1 < argc && is_word_of(option, argv[*index + 1]))
            value = argv[++*index];
    } else if (option->argument && !equals) {
        if (*index + 1 >= argc) {
            fprintf(stderr, "tutti %s: %s needs a value: %s %s\n", arguments->command->name, option->name, option->name,
                    option->argument);
            return false;
        }
        value = argv[++*index];
    } else if (!option->argument && equals && !(option->of_run && option->of_run->kind == TUTTI_OPTION_UNITS)) {
        fprintf(stderr, "tutti %s: %s takes no value\n", arguments->command->name, option->name);
        return false;
    }
    arguments->given[arguments->given_count++] = (struct given){option, value};
    return true;
}

static bool check_operands(const struct arguments *arguments)
{
    const struct command *command = arguments->command;
    if (arguments->operand_count < command->operands_min)
        fprintf(stderr, "tutti %s: %s is missing; usage: tutti %s %s [options]\n", command->name, command->operands,
                command->name, command->operands);
    else if (arguments->operand_count > command->operands_max)
        fprintf(stderr, "tutti %s: one thing too many: '%s'; usage: tutti %s %s [options]\n", command->name,
                arguments->operands[command->operands_max], command->name, command->operands);
    else
        return true;
    return false;
}

bool arguments_parse(struct arguments *arguments, const struct command *command, int argc, char **argv)
{
    *arguments = (struct arguments){.command = command};
    arguments->operands = calloc((size_t)argc + 1, sizeof *arguments->operands);
    arguments->given = calloc((size_t)argc + 1, sizeof *arguments->given);
    if (!arguments->operands || !arguments->given || !command_options(command)) {
        fputs("tutti: out of memory\n", stderr);
        return false;
    }
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        if (!only_operands && strcmp(argv[i], "--") == 0)
            only_operands = true;
        else if (!only_operands && argv[i][0] == '-' && argv[i][1]) {
            if (!parse_option(arguments, argc, argv, &i))
                return false;
        } else
            arguments->operands[arguments->operand_count++] = argv[i];
    }
    return check_operands(arguments);
}

void arguments_free(struct arguments *arguments)
{
    free(arguments->operands);
    free(arguments->given);
}

const char *arguments_value(const struct arguments *arguments, const char *name)
{
    for (size_t i = arguments->given_count; i-- > 0;)
        if (strcmp(arguments->given[i].option->name, name) == 0)
            return arguments->given[i].value;
    return NULL;
}

size_t arguments_values(const struct arguments *arguments, const char *name, const char **values)
{
    size_t count = 0;
    for (size_t i = 0; i < arguments->given_count; i++)
        if (strcmp(arguments->given[i].option->name, name) == 0)
            values[count++] = arguments->given[i].value;
    return count;
}

bool arguments_read_number(const struct arguments *arguments, const char *name, const char *text, double *value)
{
    if (tt_number_read_double(text, strlen(text), value))
        return true;
    fprintf(stderr, "tutti %s: %s takes a number, not '%s'\n", arguments->command->name, name, text);
    return false;
}

bool arguments_number(const struct arguments *arguments, const char *name, bool *given, double *value)
{
    const char *text = arguments_value(arguments, name);
    *given = text != NULL;
    return !text || arguments_read_number(arguments, name, text, value);
}
