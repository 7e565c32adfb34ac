/* SPDX-License-Identifier: MIT */
/* How sources of an FMU are compiled: the first byte says whether the rest is sources/buildDescription.xml (FMI 3.0) or modelDescription.xml
 * (2.0). Nothing of a recipe leads out of the FMU, or is an option of the compiler by another name. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/tempdir.h"
#include "fmu/build/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model[] =
    "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">"
    "<CoSimulation modelIdentifier=\"m\"/><ModelVariables>"
    "<Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>"
    "</ModelVariables><ModelStructure/></fmiModelDescription>";

static const char *folder;

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static struct tt_tempdir *tempdir;

static void remove_all(void)
{
    tt_tempdir_free(tempdir);
}

/* An FMU as a folder, whose files are rewritten for every input. */
static void make_folder(void)
{
    char path[PATH_MAX];
    if (tt_tempdir_new(&tempdir) != TUTTI_OK)
        abort();
    folder = tt_tempdir_path(tempdir);
    snprintf(path, sizeof path, "%s/sources", folder);
    if (mkdir(path, 0700) != 0)
        abort();
    write_file("sources/a.c", "", 0);
    atexit(remove_all);
}

static void check_path(const char *path)
{
    if (path[0] == '/' || strcmp(path, "..") == 0 || strncmp(path, "../", 3) == 0 || strstr(path, "/../"))
        abort();
}

static void check_set(const struct tt_recipe_set *set)
{
    for (size_t i = 0; i < set->sources.count; i++)
        check_path(((const char *const *)set->sources.items)[i]);
    for (size_t i = 0; i < set->includes.count; i++)
        check_path(((const char *const *)set->includes.items)[i]);
    for (size_t i = 0; i < set->definitions.count; i++)
        if (strncmp(((const char *const *)set->definitions.items)[i], "-D", 2) != 0)
            abort();
    if (set->standard && strncmp(set->standard, "-std=", 5) != 0)
        abort();
}

static void check(const struct tt_recipe *recipe)
{
    for (size_t b = 0; b < recipe->builds.count; b++) {
        const struct tt_recipe_build *build = ((struct tt_recipe_build *const *)recipe->builds.items)[b];
        if (!build->identifier[0] || strchr(build->identifier, '/'))
            abort();
        for (size_t s = 0; s < build->sets.count; s++)
            check_set(((struct tt_recipe_set *const *)build->sets.items)[s]);
        for (size_t i = 0; i < build->libraries.count; i++)
            if (strchr(((const char *const *)build->libraries.items)[i], '/'))
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_fmu *fmu = NULL;
    struct tt_recipe recipe = {0};
    bool three = size > 0 && (data[0] & 1);
    if (size == 0)
        return 0;
    if (!folder)
        make_folder();
    write_file(three ? "sources/buildDescription.xml" : "modelDescription.xml", data + 1, size - 1);
    if (three)
        write_file("modelDescription.xml", model, sizeof model - 1);
    if (tt_fmu_open(&fmu, folder, NULL) != TUTTI_OK)
        return 0;
    if (tt_recipe_read(&recipe, fmu, NULL) == TUTTI_OK)
        check(&recipe);
    else if (!*tutti_err_message())
        abort();
    tt_recipe_fini(&recipe);
    tt_fmu_free(fmu);
    return 0;
}
