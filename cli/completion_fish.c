/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "completion.h"

/* Prints in single quotes, where fish supports \' and \\. */
static void print_quoted(const char *text, size_t length)
{
    putchar('\'');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'' || text[i] == '\\')
            putchar('\\');
        putchar(text[i]);
    }
    putchar('\'');
}

/* A list for -a: what fish puts into double quotes inside it is the description. */
static void print_words(const struct tutti_option_word *words)
{
    fputs(" -a '", stdout);
    for (const struct tutti_option_word *word = words; word->name; word++)
        printf("%s%s%s%s%s", word == words ? "" : " ", word->name, word->text ? "\\t\"" : "",
               word->text ? word->text : "", word->text ? "\"" : "");
    putchar('\'');
}

/* Files with these endings, and folders that may hold some. */
static void print_files(const char *files)
{
    if (strcmp(files, "/") == 0) {
        fputs(" -a '(__fish_complete_directories)'", stdout);
        return;
    }
    fputs(" -a '(_tutti_files", stdout);
    while (*files) {
        size_t length = strcspn(files, " ");
        printf(" .%.*s", (int)length, files);
        files += length + strspn(files + length, " ");
    }
    fputs(")'", stdout);
}

static void print_option(const struct command *command, const struct option *option)
{
    printf("complete -c tutti -n '_tutti_is %s' -l %s", command->name, option->name + 2);
    if (option->alternate)
        printf(" -s %s", option->alternate + 1);
    if (option->argument)
        fputs(option->files && strcmp(option->files, "*") == 0 ? " -r -F" : " -x", stdout);
    if (option->words)
        print_words(option->words);
    else if (option->files && strcmp(option->files, "*") != 0)
        print_files(option->files);
    fputs(" -d ", stdout);
    print_quoted(help_brief(option), completion_brief(help_brief(option)));
    putchar('\n');
}

static void print_command(const struct command *command)
{
    printf("\ncomplete -c tutti -n _tutti_is_none -a %s -d ", command->name);
    print_quoted(command->summary, strlen(command->summary));
    putchar('\n');
    for (const struct option *option = command_options(command); option->name; option++)
        if (completion_shows(option))
            print_option(command, option);
    printf("complete -c tutti -n '_tutti_is %s' -l help -s h -d 'show this help'\n", command->name);
    if (!command->words && !command->files && !completion_takes_command(command))
        return;
    printf("complete -c tutti -n '_tutti_is %s'", command->name);
    if (command->words) {
        print_words(command->words);
    } else if (command->files) {
        print_files(command->files);
    } else {
        fputs(" -a '", stdout);
        for (const struct command *other = commands; other->name; other++)
            printf("%s%s", other == commands ? "" : " ", other->name);
        putchar('\'');
    }
    putchar('\n');
}

void completion_fish(void)
{
    puts("# Completion of tutti in fish, written by 'tutti completion fish'.\n\n"
         "function _tutti_is_none\n"
         "    test (count (commandline -poc)) -eq 1\n"
         "end\n\n"
         "function _tutti_is\n"
         "    set -l words (commandline -poc)\n"
         "    test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
         "end\n\n"
         "# Files that end so, and folders; behind NAME= as well.\n"
         "function _tutti_files\n"
         "    set -l word (commandline -ct)\n"
         "    set -l before (string match -r '^[^-=][^=]*=' -- \"$word\"; or echo)\n"
         "    set -l rest (string replace -r '^[^=]*=' '' -- \"$word\")\n"
         "    set -l ending (string join '|' -- (string escape --style=regex -- $argv))\n"
         "    for path in \"$rest\"*\n"
         "        if test -d \"$path\"\n"
         "            echo \"$before$path/\"\n"
         "        else if string match -q -r \"($ending)\\$\" -- \"$path\"\n"
         "            echo \"$before$path\"\n"
         "        end\n"
         "    end\n"
         "end\n\n"
         "complete -c tutti -f\n"
         "complete -c tutti -n _tutti_is_none -l help -s h -d 'list the commands'\n"
         "complete -c tutti -n _tutti_is_none -l version -d 'print the version'");
    for (const struct command *command = commands; command->name; command++)
        print_command(command);
}
