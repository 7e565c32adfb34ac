/* SPDX-License-Identifier: MIT */
/* base/module.h - parts of Tutti that are loaded on demand, so that the rest does not need their libraries. */
#ifndef TT_BASE_MODULE_H
#define TT_BASE_MODULE_H

#include "base/fail.h"

struct tt_module {
    const char *file;          /* "tutti_mpi.so" */
    const char *symbol;        /* its one symbol */
    const char *library;       /* name of the library that the module calls, for messages: "MPICH" */
    const char *build_package; /* Debian package needed to build the module */
    const char *run_package;   /* Debian package needed to run the module */
};

/* Loads the module from `path`; NULL: from beside this program or library, from lib/tutti next to its bin, or from its
 * install location. *symbol is the address of the name. The module stays loaded. LOAD, with the remedy. */
TUTTI_CHECKED enum tutti_err tt_module_load(void **symbol, const struct tt_module *module, const char *path);
/* Finds the file of a module or of a different part of Tutti in the places of tt_module_load; *path belongs to the
 * caller (free). LOAD if it does not exist. */
TUTTI_CHECKED enum tutti_err tt_module_find(char **path, const char *file);
/* Finds a program of Tutti in the places of tt_module_load; *path belongs to the caller (free). LOAD if it is missing. */
TUTTI_CHECKED enum tutti_err tt_module_find_program(char **path, const char *file);

#endif
