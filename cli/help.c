/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include "commands.h"
#include "console.h"

enum { HELP_COLUMN = 26 };

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

static void print_option(const struct option *option)
{
    char names[80];
    int length = snprintf(names, sizeof names, "%s%s%s%s%s", option->alternate ? option->alternate : "",
                          option->alternate ? ", " : "", option->name, option->argument ? " " : "",
                          option->argument ? option->argument : "");
    printf("  %-*s", HELP_COLUMN - 2, names);
    if (length > HELP_COLUMN - 4)
        printf("\n%*s", HELP_COLUMN, "");
    print_wrapped(option->help, HELP_COLUMN);
}

static const char exit_status[] = "0 done; 1 the model or the run failed; 2 the command line is wrong; 130 "
                                  "interrupted. Results go to files or standard output, everything else to standard "
                                  "error.";

void help_print(const struct command *command)
{
    printf("tutti %s - %s\n\nUsage: tutti %s %s%s\n\n", command->name, command->summary, command->name,
           command->operands, command->options->name ? " [options]" : "");
    if (command->details) {
        print_wrapped(command->details, 0);
        putchar('\n');
    }
    puts("Options (defaults in brackets):");
    for (const struct option *option = command->options; option->name; option++)
        if (option->help)
            print_option(option);
    print_option(&(struct option){"--help", "-h", NULL, "show this help"});
}

void help_print_all(void)
{
    printf("Tutti %s - couples simulation models (FMUs) and runs them together\n\n", tutti_version());
    puts("Usage: tutti COMMAND ... [options]\n\nCommands:");
    for (const struct command *command = commands; command->name; command++) {
        char usage[80];
        snprintf(usage, sizeof usage, "%s %s", command->name, command->operands);
        printf("  %-*s%s\n", HELP_COLUMN - 2, usage, command->summary);
    }
    puts("\n'tutti COMMAND --help' shows the options of a command, 'tutti --version' the version.");
    fputs("Exit status: ", stdout);
    print_wrapped(exit_status, 13);
}

int command_help(const struct arguments *arguments)
{
    if (arguments_value(arguments, "--man")) {
        help_print_man();
        return EXIT_DONE;
    }
    if (arguments->operand_count == 0) {
        help_print_all();
        return EXIT_DONE;
    }
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(command->name, arguments->operands[0]) == 0) {
            help_print(command);
            return EXIT_DONE;
        }
    fprintf(stderr, "tutti help: there is no command '%s'\n", arguments->operands[0]);
    return EXIT_USAGE;
}

/* Text for roff: backslashes, minus signs and leading dots have meanings there. */
static void print_roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

static void print_man_option(const struct option *option)
{
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
    print_roff(option->help);
    putchar('\n');
}

static const char *const examples[][2] = {
    {"tutti info ball.fmu", "what is in the file"},
    {"tutti run ball.fmu --stop 3 --output-step 0.01 -o ball.csv", "simulate; a row every 0.01 s"},
    {"tutti run room.fmu --set T_set=295 --input weather.csv", "with a parameter, and inputs from a file"},
    {"tutti new car.ssp body.fmu wheel.fmu --connect wheel.F=body.F",
     "a system as SSP, which 'tutti run' and others take"},
    {"tutti plot ball.csv -o ball.svg -v h -v v", "a picture with two panels"},
    {"tutti linearize room.fmu --at 100 -o room.mat", "a linear system about the state at t = 100"},
};

void help_print_man(void)
{
    printf(".TH TUTTI 1 \"\" \"Tutti %s\" \"User Commands\"\n", tutti_version());
    puts(".SH NAME\ntutti \\- couples simulation models (FMUs) and runs them together");
    puts(".SH SYNOPSIS\n.B tutti\n.I COMMAND\n.RI [ options ]");
    puts(".SH DESCRIPTION\nTutti simulates models that come as Functional Mock\\-up Units (FMI 1.0, 2.0, 3.0).");
    puts(".SH COMMANDS");
    for (const struct command *command = commands; command->name; command++) {
        if (strcmp(command->name, "help") == 0)
            continue; /* whoever reads this page has found help */
        printf(".SS tutti %s %s\n", command->name, command->operands);
        print_roff(command->details ? command->details : command->summary);
        putchar('\n');
        for (const struct option *option = command->options; option->name; option++)
            if (option->help)
                print_man_option(option);
    }
    puts(".SH EXAMPLES");
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        fputs(".TP\n.B ", stdout);
        print_roff(examples[i][0]);
        putchar('\n');
        print_roff(examples[i][1]);
        putchar('\n');
    }
    puts(".SH EXIT STATUS");
    print_roff(exit_status);
    puts("\n.SH ENVIRONMENT\n.TP\n.B TMPDIR\nwhere FMUs are unpacked (/tmp); unpacked files go away with the run");
}
