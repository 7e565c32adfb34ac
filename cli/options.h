/* SPDX-License-Identifier: MIT */
/* options.h - the command line as a table, from which parsing, --help, man pages and shell completion are generated. */
#ifndef TUTTI_CLI_OPTIONS_H
#define TUTTI_CLI_OPTIONS_H

#include "base/options/options.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct pair {
    const char *name, *text;
};

struct option {
    const char *name;      /* "--stop"; "" of a heading or a group */
    const char *alternate; /* "-o", or NULL */
    const char *argument;  /* "T", or NULL for a flag */
    const char *help;      /* for the manual; NULL: not for people */
    /* Optional fields: */
    const struct tutti_option_word *words; /* what it takes, ended by a NULL name; with meanings; after `help` */
    const char *otherwise;                 /* what holds if it is not given; in brackets after `words` */
    const char *brief;          /* for --help: one line, with the default in brackets; NULL: `help` is short enough */
    const char *files;          /* endings of files that it takes, "csv mat"; "*" for any, "/" for a folder */
    const char *heading;        /* begins a group of options */
    enum tt_option_group group; /* stands for the options of a run in this group that the command accepts */
    const struct tt_option *of_run; /* it is this option of a run; NULL: one of the command's own */
};

struct arguments;

struct command {
    const char *name;
    const char *operands; /* "FILE" */
    const char *summary;  /* a line */
    const char *details;  /* paragraphs, or NULL */
    size_t operands_min, operands_max;
    const struct option
        *rows; /* ended by a NULL name: its own options, and groups of those of a run; all commands have --help */
    int (*run)(const struct arguments *arguments);
    const struct pair *examples; /* command lines, and what they do; ended by a NULL name; NULL: none */
    const char *files;           /* endings of the files that operands are; as in struct option; NULL: they are none */
    const struct tutti_option_word *words; /* the words that operands are; NULL: they are not */
    const char *failure;                   /* what exit status 1 means here; NULL: what it means mostly */
    const struct pair *paths;              /* files that people may want to know of, ended by a NULL name; NULL: none */
    unsigned takes;                        /* TUTTI_IN_...: the accepted options of a run */
};

/* All commands, ended by a NULL name. */
extern const struct command commands[];

/* All options of a command, groups resolved, ended by a NULL name. Made once and kept; NULL: memory is out. */
const struct option *command_options(const struct command *command);

/* The given arguments. Values are borrowed from argv. */
struct arguments {
    const struct command *command;
    const char **operands;
    size_t operand_count;
    struct given {
        const struct option *option;
        const char *value;
    } * given;
    size_t given_count;
};

/* Parses what follows the command's name; false after a message on stderr (exit status 2). */
bool arguments_parse(struct arguments *arguments, const struct command *command, int argc, char **argv);
void arguments_free(struct arguments *arguments);

/* The last value given for an option ("" for a flag), or NULL. */
const char *arguments_value(const struct arguments *arguments, const char *name);
/* All values given for an option, in order; returns how many. `values` has room for given_count. */
size_t arguments_values(const struct arguments *arguments, const char *name, const char **values);
/* Reads a number; false after a message if it is invalid. *given: the option was given. */
bool arguments_number(const struct arguments *arguments, const char *name, bool *given, double *value);
/* Reads a number from one value of an option. */
bool arguments_read_number(const struct arguments *arguments, const char *name, const char *text, double *value);

/* For people, on standard output. */
void help_print(const struct command *command);
void help_print_all(void);
/* Returns the description of an option in one line. */
const char *help_brief(const struct option *option);
/* Returns the full description of an option with its words, on the heap; NULL if memory is out. */
char *help_of_option(const struct option *option);
/* The manual page in roff, of a command or (NULL) of all of them, on standard output. */
void man_print(const struct command *command);

#endif
