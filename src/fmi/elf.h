/* SPDX-License-Identifier: MIT */
/* elf.h - a look at a shared library before the loader sees it. */
#ifndef TUTTI_FMI_ELF_H
#define TUTTI_FMI_ELF_H

#include "base/err.h"

/* LOAD, with words for people, if `path` is no shared library, is for another machine, or is cut short (mapping such a
 * file kills the process when the missing part is touched). `file` is the FMU, for the message. */
TUTTI_CHECKED enum tutti_err tutti_elf_check(const char *path, const char *file);

#endif
