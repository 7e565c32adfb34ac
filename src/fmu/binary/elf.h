/* SPDX-License-Identifier: MIT */
/* elf.h - inspects a shared library without loading or running it. Files are untrusted. */
#ifndef TT_FMU_BINARY_ELF_H
#define TT_FMU_BINARY_ELF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

/* Checks a shared library. LOAD if `path` is not a shared library, is for a different machine, or is truncated (mapping
 * a truncated file kills the process when the missing part is accessed). `file` names the FMU in the message. */
TUTTI_CHECKED enum tutti_err tt_elf_check(const char *path, const char *file);

/* Visits the names of functions and variables that the library imports, and of those that it exports (`is_defined`);
 * none if its symbol table is unreadable. */
void tt_elf_each_name(const char *path, void (*visit)(void *context, const char *name, bool is_defined), void *context);

/* The loader's use of a text of the library: a library that it needs, its own name, folders to search. */
enum tt_elf_entry { TUTTI_ELF_NEEDED, TUTTI_ELF_NAME, TUTTI_ELF_FOLDERS };

/* Visits these, in the order of the file; none if they cannot be read. */
void tt_elf_each_entry(const char *path, void (*visit)(void *context, enum tt_elf_entry entry, const char *text),
                       void *context);

/* Both for a file in memory, at an address that suits any type; for tests. */
void tt_elf_read(const void *bytes, size_t size, void (*name)(void *context, const char *name, bool is_defined),
                 void (*entry)(void *context, enum tt_elf_entry entry, const char *text), void *context);

#endif
