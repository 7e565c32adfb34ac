/* SPDX-License-Identifier: MIT */
/* elf.h - a look at a shared library before the loader sees it. */
#ifndef TUTTI_FMI_ELF_H
#define TUTTI_FMI_ELF_H

#include <stdbool.h>

#include "base/err.h"

/* LOAD, with words for people, if `path` is no shared library, is for another machine, or is cut short (mapping such a
 * file kills the process when the missing part is touched). `file` is the FMU, for the message. */
TUTTI_CHECKED enum tutti_err tutti_elf_check(const char *path, const char *file);

/* Visits the names of functions and variables that the library wants from others, and of those that it shows to others
 * (`is_defined`); none if it has no list of them that can be read. */
void tutti_elf_each_name(const char *path, void (*visit)(void *context, const char *name, bool is_defined),
                         void *context);

#endif
