/* SPDX-License-Identifier: MIT */
/* Manual pages in roff, with the macros of man(7). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

#include "commands.h"

/* Text for roff: backslashes, minus signs, quotes, tildes and leading dots have meanings there. */
static void print_roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        const char *special = *text == '\\'   ? "\\e"
                              : *text == '-'  ? "\\-"
                              : *text == '\'' ? "\\(aq"
                              : *text == '~'  ? "\\(ti"
                              : *text == '^'  ? "\\(ha"
                                              : NULL;
        if (special)
            fputs(special, stdout);
        else
            putchar(*text);
    }
}

static void print_upper(const char *text)
{
    for (; *text; text++)
        putchar(toupper((unsigned char)*text));
}

static void print_title(const char *name)
{
    fputs(".TH TUTTI", stdout);
    if (name) {
        putchar('-');
        print_upper(name);
    }
    printf(" 1 \"\" \"Tutti %s\" \"User Commands\"\n", tutti_version());
}

static void print_option(const struct option *option)
{
    char *help = help_of_option(option);
    fputs(".TP\n\\fB", stdout);
    if (option->alternate) {
        print_roff(option->alternate);
        fputs("\\fR, \\fB", stdout);
    }
    print_roff(option->name);
    fputs("\\fR", stdout);
    if (option->argument) {
        fputs(" \\fI", stdout);
        print_roff(option->argument);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_roff(help ? help : option->help);
    putchar('\n');
    free(help);
}

/* A list of texts in bold, each with what it means. */
static void print_pairs(const struct pair *pairs)
{
    for (; pairs && pairs->name; pairs++) {
        fputs(".TP\n\\fB", stdout);
        print_roff(pairs->name);
        fputs("\\fR\n", stdout);
        print_roff(pairs->text);
        putchar('\n');
    }
}

static void print_environment(void)
{
    static const struct pair variables[] = {
        {"TMPDIR", "folder in which FMUs are unpacked (/tmp); unpacked files are removed after the run"},
        {"NO_COLOR", "if set and not empty, no colours on a terminal"},
        {NULL, NULL},
    };
    puts(".SH ENVIRONMENT");
    print_pairs(variables);
}

static void print_exit_status(const char *failure)
{
    const struct pair all[] = {
        {"0", "done"},
        {"1", failure ? failure : "the model or the run failed"},
        {"2", "the command line is wrong"},
        {"130", "interrupted by Ctrl-C (128 plus the number of the signal)"},
        {NULL, NULL},
    };
    puts(".SH EXIT STATUS");
    print_pairs(all);
}

/* The other pages; `page` is the command's, NULL the overview. */
static void print_see_also(const char *page)
{
    const char *before = page ? ".BR tutti (1),\n" : "";
    puts(".SH SEE ALSO");
    for (const struct command *command = commands; command->name; command++) {
        if (page && strcmp(command->name, page) == 0)
            continue;
        printf("%s.BR tutti\\-%s (1)", before, command->name);
        before = ",\n";
    }
    putchar('\n');
}

static void print_command(const struct command *command)
{
    print_title(command->name);
    printf(".SH NAME\ntutti\\-%s \\- ", command->name);
    print_roff(command->summary);
    printf("\n.SH SYNOPSIS\n.B tutti %s\n.I ", command->name);
    print_roff(command->operands);
    puts("\\&\n.RI [ options ]\n.SH DESCRIPTION"); /* no sentence ends there */
    print_roff(command->details ? command->details : command->summary);
    puts("\n.SH OPTIONS\nDefaults are in brackets.");
    for (const struct option *option = command_options(command); option->name; option++) {
        if (option->heading)
            printf(".SS %s\n", option->heading);
        else if (option->help)
            print_option(option);
    }
    print_option(&(struct option){.name = "--help", .alternate = "-h", .help = "show this as text"});
    if (command->examples) {
        puts(".SH EXAMPLES");
        print_pairs(command->examples);
    }
    print_exit_status(command->failure);
    if (command->paths) {
        puts(".SH FILES");
        print_pairs(command->paths);
    }
    print_environment();
    print_see_also(command->name);
}

static void print_overview(void)
{
    print_title(NULL);
    puts(".SH NAME\ntutti \\- couples simulation models (FMUs) and runs them together");
    puts(".SH SYNOPSIS\n.B tutti\n.I COMMAND\n.RI [ operands ]\n.RI [ options ]");
    puts(".SH DESCRIPTION\nTutti simulates models that come as Functional Mock\\-up Units (FMI 1.0, 2.0, 3.0), alone "
         "or coupled "
         "to systems (SSP 1.0, 2.0), here or on several machines.\nEach command has a page of its own.");
    puts(".SH COMMANDS");
    for (const struct command *command = commands; command->name; command++) {
        printf(".TP\n.BR tutti\\-%s (1)\n", command->name);
        print_roff(command->summary);
        putchar('\n');
    }
    puts(".SH OPTIONS");
    print_pairs((const struct pair[]){{"--help", "list the commands; after a command: its options"},
                                      {"--version", "print the version"},
                                      {NULL, NULL}});
    puts(".SH EXAMPLES");
    for (const struct command *command = commands; command->name; command++)
        if (command->examples)
            print_pairs((const struct pair[]){command->examples[0], {NULL, NULL}});
    print_exit_status(NULL);
    print_environment();
    print_see_also(NULL);
}

void man_print(const struct command *command)
{
    if (command)
        print_command(command);
    else
        print_overview();
}
