/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include "base/text.h"
#include "commands.h"
#include "console.h"

enum { HELP_COLUMN = 28 };

/* Lines end before the edge of the terminal, and are not longer than is good to read. */
static int width(void)
{
    int columns = console_width(STDOUT_FILENO);
    return columns < 40 ? 40 : columns > 100 ? 100 : columns;
}

/* Prints text from `column` on, broken at blanks, continuation lines indented as far. */
static void print_wrapped(const char *text, int column)
{
    int at = column, end = width();
    while (*text) {
        size_t word = strcspn(text, " ");
        if (at > column && at + 1 + (int)word >= end) {
            printf("\n%*s", column, "");
            at = column;
        } else if (at > column) {
            putchar(' ');
            at++;
        }
        printf("%.*s", (int)word, text);
        at += (int)word;
        text += word + strspn(text + word, " ");
    }
    putchar('\n');
}

char *help_of_option(const struct option *option)
{
    struct tt_text text = {0};
    tt_text_append(&text, option->help);
    for (const struct tutti_option_word *word = option->words; word && word->name; word++) {
        tt_text_append(&text, word == option->words ? ": " : word[1].name ? ", " : " or ");
        tt_text_append(&text, word->name);
        if (word->text)
            tt_text_printf(&text, " (%s)", word->text);
    }
    if (option->otherwise)
        tt_text_printf(&text, option->words ? " [%s]" : " (%s)", option->otherwise);
    if (!text.failed)
        return text.text;
    tt_text_fini(&text);
    return NULL;
}

const char *help_brief(const struct option *option)
{
    return option->brief ? option->brief : option->help;
}

static void print_option(const struct option *option)
{
    int length = printf("  %s%s%s%s%s", option->alternate ? option->alternate : "", option->alternate ? ", " : "",
                        option->name, option->argument ? " " : "", option->argument ? option->argument : "");
    printf("%*s%s\n", length + 2 <= HELP_COLUMN ? HELP_COLUMN - length : 2, "", help_brief(option));
}

static void print_options(const struct command *command)
{
    static const struct option help = {.name = "--help", .alternate = "-h", .help = "show this help"};
    printf("Options (defaults in brackets):\n");
    for (const struct option *option = command_options(command); option->name; option++) {
        if (option->heading)
            printf("\n%s:\n", option->heading);
        else if (option->help)
            print_option(option);
    }
    print_option(&help);
}

/* Examples that fit into a line of 80 columns; the manual has all of them. */
static void print_examples(const struct pair *examples)
{
    enum { MOST_EXAMPLES = 2, MOST_COLUMNS = 78 };
    int count = 0;
    for (; examples && examples->name && count < MOST_EXAMPLES; examples++)
        if (strlen(examples->name) <= MOST_COLUMNS)
            printf("%s  %s\n      %s\n", count++ == 0 ? "\nExamples:\n" : "", examples->name, examples->text);
}

void help_print(const struct command *command)
{
    printf("tutti %s - %s\n\nUsage: tutti %s %s%s\n\n", command->name, command->summary, command->name,
           command->operands, command->rows->name ? " [options]" : "");
    print_options(command);
    print_examples(command->examples);
    printf("\nMore: man tutti-%s, or tutti help --man %s | man -l -\n", command->name, command->name);
}

void help_print_all(void)
{
    printf("Tutti %s - couples simulation models (FMUs) and runs them together\n\n", tutti_version());
    puts("Usage: tutti COMMAND ... [options]\n\nCommands:");
    int column = 0;
    for (const struct command *command = commands; command->name; command++) {
        int length = (int)(strlen(command->name) + strlen(command->operands)) + 5; /* and the blanks around them */
        column = length > column ? length : column;
    }
    for (const struct command *command = commands; command->name; command++) {
        int length = printf("  %s %s", command->name, command->operands);
        printf("%*s", column - length, "");
        print_wrapped(command->summary, column);
    }
    puts("\nFirst steps:\n"
         "    tutti info model.fmu               describe it\n"
         "    tutti run model.fmu -o model.csv   simulate it\n"
         "    tutti plot model.csv -o model.svg  draw the result\n");
    print_wrapped(
        "'tutti COMMAND --help' lists the options of a command; 'man tutti-COMMAND' has the details; 'tutti --version' "
        "prints the version.",
        0);
    putchar('\n');
    fputs("Exit status: ", stdout);
    print_wrapped("0 done; 1 the model or the run failed; 2 the command line is wrong; 130 interrupted. Results go to "
                  "files or standard output, everything else to standard error.",
                  13);
}

int command_help(const struct arguments *arguments)
{
    const char *name = arguments->operand_count > 0 ? arguments->operands[0] : NULL;
    bool man = arguments_value(arguments, "--man") != NULL;
    const struct command *command = commands;
    while (name && command->name && strcmp(command->name, name) != 0)
        command++;
    if (name && !command->name) {
        fprintf(stderr, "tutti help: there is no command '%s'\n", name);
        return EXIT_USAGE;
    }
    if (man)
        man_print(name ? command : NULL);
    else if (name)
        help_print(command);
    else
        help_print_all();
    return EXIT_DONE;
}
