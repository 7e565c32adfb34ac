/* SPDX-License-Identifier: MIT */
#include "base/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* Where modules may be, one folder per line: beside the program, in lib/tutti next to its bin, and the same seen from this
 * library, which need not be a part of the program; last where they were to be installed. */
static char *module_list_folders(void)
{
    static const char *const ways[] = {"", "/../" TUTTI_LIBDIR "/tutti", "/tutti"};
    struct tt_text text = {0};
    char program[PATH_MAX];
    Dl_info library = {0};
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    dladdr(ways, &library);
    const char *const files[] = {program, library.dli_fname};
    for (int f = 0; f < 2; f++) {
        const char *end = files[f] ? strrchr(files[f], '/') : NULL;
        for (size_t w = 0; end && w < sizeof ways / sizeof *ways; w++)
            tt_text_printf(&text, "%.*s%s\n", (int)(end - files[f]), files[f], ways[w]);
    }
    tt_text_printf(&text, "%s\n", TUTTI_MODULES);
    if (!text.failed)
        return text.text;
    tt_text_fini(&text);
    return NULL;
}

/* *path (free) is the first place that has it, and lets us; NULL: none does. */
static enum tutti_err module_search_folders(char **path, const char *file, int access_mode)
{
    char *all = module_list_folders(), *rest = all;
    *path = NULL;
    if (!all)
        return tt_fail_memory();
    for (const char *folder; !*path && (folder = strsep(&rest, "\n")) && *folder;) {
        struct tt_text text = {0};
        tt_text_printf(&text, "%s/%s", folder, file);
        if (!text.failed && access(text.text, access_mode) == 0)
            *path = text.text;
        else
            tt_text_fini(&text);
    }
    free(all);
    return TUTTI_OK;
}

enum tutti_err tt_module_load(void **symbol, const struct tt_module *module, const char *path)
{
    char *found = NULL;
    if (!path) {
        TRY(module_search_folders(&found, module->file, R_OK));
        if (!found)
            return tt_fail(
                TUTTI_ERR_LOAD,
                "%s is neither beside this program nor in lib/tutti: Tutti builds and installs it where %s is "
                "found (on Debian: %s)",
                module->file, module->library, module->build_package);
        path = found;
    }

    /* A loaded module is never unloaded: the libraries that it uses may have threads. */
    enum tutti_err err = TUTTI_OK;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *symbol = library ? dlsym(library, module->symbol) : NULL;
    if (!library)
        err = tt_fail(TUTTI_ERR_LOAD, "cannot load the module for %s: %s (on Debian, %s has its library)",
                      module->library, dlerror(), module->run_package);
    else if (!*symbol)
        err = tt_fail(TUTTI_ERR_LOAD, "'%s' is not a module of Tutti", path);
    free(found);
    /* cppcheck-suppress resourceLeak */
    return err;
}

static enum tutti_err module_find_part(char **path, const char *file, int access_mode)
{
    TRY(module_search_folders(path, file, access_mode));
    return *path ? TUTTI_OK
                 : tt_fail(TUTTI_ERR_LOAD,
                           "%s, which is a part of Tutti, is neither beside this program nor in lib/tutti: install "
                           "Tutti as a whole",
                           file);
}

enum tutti_err tt_module_find(char **path, const char *file)
{
    return module_find_part(path, file, R_OK);
}

enum tutti_err tt_module_find_program(char **path, const char *file)
{
    return module_find_part(path, file, X_OK);
}
