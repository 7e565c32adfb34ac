/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "completion.h"

/* Inside single quotes, in a place where zsh's _arguments gives `special` characters a meaning. */
static void print_quoted(const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr(special, *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

/* ((jacobi\:"all at once" seidel\:...)) */
static void print_words(const struct tutti_option_word *words)
{
    fputs("((", stdout);
    for (const struct tutti_option_word *word = words; word->name; word++) {
        if (word != words)
            putchar(' ');
        printf("%s\\:\"", word->name);
        print_quoted(word->text ? word->text : word->name, ":\"\\$`");
        putchar('"');
    }
    fputs("))", stdout);
}

static void print_files(const char *files, const char *function)
{
    if (strcmp(files, "/") == 0) {
        fputs("_files -/", stdout);
    } else if (strcmp(files, "*") == 0) {
        fputs("_files", stdout);
    } else {
        bool several = strchr(files, ' ') != NULL; /* one in brackets would be something else */
        printf("%s -g \"*.%s", function, several ? "(" : "");
        for (; *files; files++)
            putchar(*files == ' ' ? '|' : *files);
        fputs(several ? ")\"" : "\"", stdout);
    }
}

static void print_help(const char *help)
{
    char *first = strndup(help, completion_brief(help));
    print_quoted(first ? first : "", "[]:\\");
    free(first);
}

static void print_name(const struct option *option, const char *name, bool equals)
{
    printf("        '*%s%s[", name, option->argument ? equals ? "=" : "+" : "");
    print_help(help_brief(option));
    putchar(']');
    if (option->argument) {
        putchar(':');
        print_quoted(option->argument, ":\\");
        putchar(':');
        if (option->words)
            print_words(option->words);
        else if (option->files)
            print_files(option->files, "_files");
    }
    puts("' \\");
}

static void print_command(const struct command *command)
{
    printf("_tutti_%s() {\n    _arguments -S : \\\n", command->name);
    for (const struct option *option = command_options(command); option->name; option++) {
        if (!completion_shows(option))
            continue;
        print_name(option, option->name, true);
        if (option->alternate)
            print_name(option, option->alternate, false);
    }
    puts("        '(-h --help)'{-h,--help}'[show this help]' \\");
    fputs("        '*:", stdout);
    print_quoted(command->operands, ":\\");
    putchar(':');
    if (command->words)
        print_words(command->words);
    else if (completion_takes_command(command))
        fputs("_tutti_commands", stdout);
    else if (command->files)
        print_files(command->files, "_tutti_files");
    puts("'\n}\n");
}

void completion_zsh(void)
{
    puts("#compdef tutti\n# Completion of tutti in zsh, written by 'tutti completion zsh'.\n\n_tutti_commands() {\n    "
         "local -a list=(");
    for (const struct command *command = commands; command->name; command++) {
        printf("        '%s:", command->name);
        print_quoted(command->summary, ":\\");
        puts("'");
    }
    puts("    )\n    _describe command list\n}\n");
    puts("# Files, behind NAME= as well.\n_tutti_files() {\n    compset -P '[^-=]*='\n    _files \"$@\"\n}\n");
    for (const struct command *command = commands; command->name; command++)
        print_command(command);
    puts("_tutti() {\n"
         "    local context state line curcontext=\"$curcontext\"\n"
         "    _arguments -C '(- *)'{-h,--help}'[list the commands]' '(- *)--version[print the version]' \\\n"
         "        '1:command:_tutti_commands' '*::argument:->behind'\n"
         "    if [[ $state == behind ]] && (( $+functions[_tutti_$words[1]] )); then\n"
         "        curcontext=\"${curcontext%:*}-$words[1]:\"\n"
         "        _tutti_$words[1]\n"
         "    fi\n"
         "}\n\n"
         "if [[ $funcstack[1] == _tutti ]]; then _tutti \"$@\"; else compdef _tutti tutti; fi");
}
