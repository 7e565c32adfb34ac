/* SPDX-License-Identifier: MIT */
/* recipe.h - how the sources of an FMU become libraries: the data of modelDescription.xml (FMI 2.0) or
 * sources/buildDescription.xml (3.0), checked, so that no path leaves the FMU. */
#ifndef TT_FMU_BUILD_RECIPE_H
#define TT_FMU_BUILD_RECIPE_H

#include "base/arena.h"
#include "base/vector.h"
#include "fmu/fmu.h"

/* Files that are compiled alike. Texts are the recipe's; lists are of const char *. */
struct tt_recipe_set {
    bool cpp;                     /* all files are C++, whatever they are called */
    const char *standard;         /* "-std=gnu99"; NULL: the compiler's own */
    struct tt_vector sources;     /* below sources/, '/' between folders */
    struct tt_vector definitions; /* "-DNAME=VALUE" */
    struct tt_vector includes;    /* folders below sources/ */
    struct tt_vector options;     /* of the compiler */
};

/* A library. */
struct tt_recipe_build {
    const char *identifier;     /* its name, without ".so" */
    struct tt_vector sets;      /* struct tt_recipe_set * */
    struct tt_vector libraries; /* "m": names without "lib" */
};

struct tt_recipe {
    struct tt_vector builds; /* struct tt_recipe_build * */
    struct tt_arena arena;
};

/* Reads the recipe. UNSUPPORTED without sources, or with sources in an unknown language; FORMAT, with file and line. */
/* `platform`: the target of the libraries; NULL: this platform. */
TUTTI_CHECKED enum tutti_err tt_recipe_read(struct tt_recipe *recipe, const struct tt_fmu *fmu, const char *platform);
void tt_recipe_fini(struct tt_recipe *recipe);
/* Returns true if the name of the source is that of a C++ file. */
bool tt_recipe_is_cpp(const char *source);

#endif
