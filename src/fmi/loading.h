/* SPDX-License-Identifier: MIT */
/* loading.h - an FMU's shared library in this process: opened with what lies beside it, its functions in a table. Knows neither archives nor
 * files of descriptions: a keeper (src/keeper/), which is told what library it is, loads by this, too. */
#ifndef TUTTI_FMI_LOADING_H
#define TUTTI_FMI_LOADING_H

#include "fmi/library.h"

/* Gives a library whose description and interface are known its binding, and room for functions. */
TUTTI_CHECKED enum tutti_err tutti_loading_bind(struct tutti_library *library);
/* Opens the file library->path. Functions that a run cannot do without and that are missing are all named in the error; optional ones that the
 * description claims are warned of, and the capability is taken back. */
TUTTI_CHECKED enum tutti_err tutti_loading_open(struct tutti_library *library, const struct tutti_log *log);
/* The last part of it, for a library whose functions are known in another way. */
TUTTI_CHECKED enum tutti_err tutti_loading_check(struct tutti_library *library, const struct tutti_log *log);
/* The error for a library that it needs and that is not found; is_nameless: it is beside it, but has another name inside. */
enum tutti_err tutti_loading_fail_missing(const struct tutti_library *library, const char *missing, bool is_nameless);

#endif
