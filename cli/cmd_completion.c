/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "completion.h"

int command_completion(const struct arguments *arguments)
{
    static const struct {
        const char *shell;
        void (*print)(void);
    } all[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(arguments->operands[0], all[i].shell) == 0) {
            all[i].print();
            return EXIT_DONE;
        }
    fprintf(stderr, "tutti completion: there are scripts for bash, zsh and fish, not for '%s'\n",
            arguments->operands[0]);
    return EXIT_USAGE;
}
