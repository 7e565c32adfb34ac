/* SPDX-License-Identifier: MIT */
/* base/module.h - parts of Tutti that are loaded when they are wanted, so that nothing else needs their libraries. */
#ifndef TT_BASE_MODULE_H
#define TT_BASE_MODULE_H

#include "base/fail.h"

struct tt_module {
    const char *file;          /* "tutti_mpi.so" */
    const char *symbol;        /* its one symbol */
    const char *library;       /* whose functions it calls, for messages: "MPICH" */
    const char *build_package; /* of Debian: what Tutti needs to build the module ... */
    const char *run_package;   /* ... and what the module needs to run */
};

/* Loads the module from `path`; NULL: from beside this program or library, or from lib/tutti next to its bin, or from where
 * it was to be installed. *symbol is what the name stands for. The module stays loaded. LOAD, with words of what to do. */
TUTTI_CHECKED enum tutti_err tt_module_load(void **symbol, const struct tt_module *module, const char *path);
/* The file of a module or of another part of Tutti, from the same places; *path is the caller's (free). LOAD if there is none. */
TUTTI_CHECKED enum tutti_err tt_module_find(char **path, const char *file);
/* A program that is a part of Tutti, from the same places; *path is the caller's (free). LOAD if there is none. */
TUTTI_CHECKED enum tutti_err tt_module_find_program(char **path, const char *file);

#endif
