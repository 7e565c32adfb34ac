/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "completion.h"

/* The part that is common to all commands; the tables before it set, for a command, `options` (all names), and for an
 * option `words` or `files`. Bash splits words at '=', so that a value may be the second word after its option. */
static const char body[] =
    "_tutti() {\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} option='' command='' options='' words='' files='' takes='' ending i\n"
    "    COMPREPLY=()\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in -*) ;; *) command=${COMP_WORDS[i]}; break ;; esac\n"
    "    done\n"
    "    if [ -z \"$command\" ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$_tutti_commands --help --version\" -- \"$current\")\n"
    "        return\n"
    "    fi\n"
    "    [ \"$current\" = = ] && current=\n"
    "    if [ \"${COMP_WORDS[COMP_CWORD]}\" = = ]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    elif [ \"${COMP_WORDS[COMP_CWORD - 1]}\" = = ]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    else\n"
    "        option=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    fi\n"
    "    _tutti_table \"$command\" \"$option\"\n"
    "    if [ -z \"$takes\" ]; then\n"
    "        case $current in\n"
    "            -*)\n"
    "                mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")\n"
    "                return\n"
    "                ;;\n"
    "        esac\n"
    "        _tutti_table \"$command\" operand\n"
    "    fi\n"
    "    if [ -n \"$words\" ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
    "    fi\n"
    "    if [ -n \"$files\" ]; then\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        mapfile -t COMPREPLY < <(\n"
    "            if [ \"$files\" = '*' ]; then\n"
    "                compgen -f -- \"$current\"\n"
    "            else\n"
    "                compgen -d -- \"$current\"\n"
    "                [ \"$files\" = / ] || for ending in $files; do compgen -f -X \"!*.$ending\" -- \"$current\"; "
    "done\n"
    "            fi | sort -u\n"
    "        )\n"
    "    fi\n"
    "}\n"
    "complete -F _tutti tutti\n";

static void print_words(const struct tutti_option_word *words)
{
    fputs("words='", stdout);
    for (const struct tutti_option_word *word = words; word->name; word++)
        printf("%s%s", word == words ? "" : " ", word->name);
    putchar('\'');
}

static void print_option(const struct option *option)
{
    if (option->alternate)
        printf("                %s | %s) takes=1", option->alternate, option->name);
    else
        printf("                %s) takes=1", option->name);
    if (option->words) {
        putchar(' ');
        print_words(option->words);
    }
    if (option->files)
        printf(" files='%s'", option->files);
    puts(" ;;");
}

static void print_command(const struct command *command)
{
    printf("        %s)\n            options='", command->name);
    for (const struct option *option = command_options(command); option->name; option++)
        if (completion_shows(option))
            printf("%s%s%s ", option->alternate ? option->alternate : "", option->alternate ? " " : "", option->name);
    puts("-h --help'\n            case $2 in");
    for (const struct option *option = command_options(command); option->name; option++)
        if (completion_shows(option) && option->argument)
            print_option(option);
    fputs("                operand) ", stdout);
    if (command->words)
        print_words(command->words);
    else if (completion_takes_command(command))
        fputs("words=$_tutti_commands", stdout);
    else
        printf("files='%s'", command->files ? command->files : "");
    puts(" ;;\n            esac\n            ;;");
}

void completion_bash(void)
{
    puts("# Completion of tutti in bash, written by 'tutti completion bash'.\n"
         "# shellcheck shell=bash disable=SC2034 # the tables set variables of their caller");
    fputs("_tutti_commands='", stdout);
    for (const struct command *command = commands; command->name; command++)
        printf("%s%s", command == commands ? "" : " ", command->name);
    puts("'\n\n# The options of a command $1, and what its option $2 takes.\n_tutti_table() {\n    case $1 in");
    for (const struct command *command = commands; command->name; command++)
        print_command(command);
    puts("    esac\n}\n");
    fputs(body, stdout);
}
