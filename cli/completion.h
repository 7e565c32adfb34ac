/* SPDX-License-Identifier: MIT */
/* completion.h - scripts that teach shells to complete the command line, made from the table of commands.
 *
 * Each prints a script on standard output. The script contains all data: it does not call tutti. */
#ifndef TUTTI_CLI_COMPLETION_H
#define TUTTI_CLI_COMPLETION_H

#include <string.h>

#include "options.h"

void completion_bash(void);
void completion_zsh(void);
void completion_fish(void);

/* Returns true for public options. */
static inline bool completion_shows(const struct option *option)
{
    return !option->heading && option->help;
}

/* Bytes of the beginning of a help that fits beside a name: without conditions, details and defaults. */
static inline size_t completion_brief(const char *help)
{
    enum { BRIEF = 12 }; /* "relax: " alone would say nothing */
    size_t length = strcspn(help, ";,(["), colon = strcspn(help, ":");
    if (colon >= BRIEF && colon < length)
        length = colon;
    while (length > 0 && help[length - 1] == ' ')
        length--;
    return length;
}

/* Returns true if the operand of a command names a command. */
static inline bool completion_takes_command(const struct command *command)
{
    return command->operands[0] == '[' && command->operands[1] == 'C';
}

#endif
