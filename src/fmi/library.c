/* SPDX-License-Identifier: MIT */
#include "fmi/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/floating.h"
#include "base/str.h"
#include "fmi/binary/elf.h"
#include "fmi/binary/scope.h"
#include "fmi/binding.h"

/* The name of the library that the loader missed, out of its message; empty if it failed for another reason. */
static void missing_library(const char *error, char *name, size_t size)
{
    const char *colon = strstr(error, ": cannot open shared object file");
    size_t length = colon ? (size_t)(colon - error) : 0;
    snprintf(name, size, "%.*s", (int)(length < size ? length : 0), error);
}

/* RTLD_NODELETE: threads that an FMU started may outlive its instances; unmapping their code would kill the process. */
static void *open_shared(const char *path, const struct tutti_scope *scope)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | scope->mode);
}

/* Where the FMU cannot be kept apart from the program, and has names that the program has, too. */
static void tell_clashes(struct tutti_library *library, const struct tutti_scope *scope, const struct tutti_log *log)
{
    struct tutti_text clashes = {0};
    if (scope->mode == 0)
        tutti_scope_list_clashes(library->path, &clashes);
    library->is_mixed = clashes.length > 0;
    if (library->is_mixed)
        tutti_log_printf(
            log, TUTTI_LOG_WARNING, library->file,
            "the FMU brings functions that this program has, too (%s), and its calls may reach those of the "
            "program: they cannot be kept apart where the program has its own '%s' (a sanitizer, "
            "LD_PRELOAD, a program's own allocator or streams)",
            clashes.text, scope->cause);
    tutti_text_fini(&clashes);
}

/* FMUs often bring a library that theirs needs and put it beside their own, where the loader does not look. */
static bool load_neighbour(struct tutti_library *library, const char *name)
{
    const char *path = library->path, *slash = strrchr(path, '/');
    if (!*name || !slash || strchr(name, '/') || library->neighbour_count == TUTTI_MOST_NEIGHBOURS)
        return false;
    struct tutti_text neighbour = {0};
    tutti_text_append_n(&neighbour, path, (size_t)(slash - path) + 1);
    tutti_text_append(&neighbour, name);
    void *handle = NULL;
    if (!neighbour.failed && access(neighbour.text, R_OK) == 0 && tutti_elf_check(neighbour.text, path) == TUTTI_OK) {
        struct tutti_scope scope = tutti_scope_choose(neighbour.text);
        handle = open_shared(neighbour.text, &scope); /* found by its SONAME */
    }
    tutti_text_fini(&neighbour);
    if (handle)
        library->neighbours[library->neighbour_count++] = handle;
    return handle != NULL;
}

enum tutti_err tutti_library_fail_missing(const struct tutti_library *library, const char *missing, bool is_nameless)
{
    if (is_nameless)
        return tutti_fail(TUTTI_ERR_LOAD,
                          "%s: the FMU's library needs the library %s, which is beside it in the FMU but has no name "
                          "inside (SONAME), so that the loader does not find it; ask the FMU's author to link it "
                          "with one",
                          library->file, missing);
    return tutti_fail(TUTTI_ERR_LOAD,
                      "%s: the FMU's library needs the library %s, which is not installed; install the package "
                      "that has it, or ask the FMU's author for one that brings it along",
                      library->file, missing);
}

static enum tutti_err open_library(struct tutti_library *library, const struct tutti_log *log)
{
    char error[1024], missing[256] = "", before[256];
    TRY(tutti_elf_check(library->path, library->file));
    struct tutti_scope scope = tutti_scope_choose(library->path);
    tell_clashes(library, &scope, log);
    for (int i = 0; i <= TUTTI_MOST_NEIGHBOURS; i++) {
        library->handle = open_shared(library->path, &scope);
        if (library->handle)
            return TUTTI_OK;
        const char *reason = dlerror(); /* the next dlopen frees it */
        snprintf(error, sizeof error, "%s", reason ? reason : "unknown reason");
        memcpy(before, missing, sizeof before);
        missing_library(error, missing, sizeof missing);
        if (*missing && strcmp(before, missing) == 0)
            return tutti_library_fail_missing(library, missing, true);
        if (!load_neighbour(library, missing))
            break;
    }
    if (*missing)
        return tutti_library_fail_missing(library, missing, false);
    return tutti_fail(TUTTI_ERR_LOAD, "%s: the FMU's library cannot be loaded: %s", library->file, error);
}

/* Real FMUs lack these without harm: nothing in a run depends on them. */
static bool can_do_without(const char *name)
{
    static const char *const names[] = {"GetVersion", "GetTypesPlatform", "GetModelTypesPlatform", "SetDebugLogging"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(name, names[i]))
            return true;
    return false;
}

static void *symbol(const struct tutti_library *library, const char *name)
{
    char prefixed[512];
    if (library->binding->prefixed) {
        snprintf(prefixed, sizeof prefixed, "%s_%s", library->interface->model_identifier, name);
        name = prefixed;
    }
    return dlsym(library->handle, name);
}

static void find_functions(struct tutti_library *library)
{
    for (size_t i = 0; i < library->binding->symbol_count; i++)
        library->functions[i] = symbol(library, library->binding->symbols[i].name);
}

/* Are all functions there that a run needs? */
static enum tutti_err check_functions(const struct tutti_library *library)
{
    const struct tutti_binding *binding = library->binding;
    struct tutti_text lacking = {0};
    size_t found = 0;
    for (size_t i = 0; i < binding->symbol_count; i++) {
        const struct tutti_symbol *s = &binding->symbols[i];
        found += library->functions[i] != NULL;
        if (!library->functions[i] && (s->group & binding->required[library->kind]) && !can_do_without(s->name))
            tutti_text_printf(&lacking, "%s%s", lacking.length ? ", " : "", s->name);
    }
    enum tutti_err err = TUTTI_OK;
    if (lacking.length && found == 0 && binding->prefixed)
        err = tutti_fail(TUTTI_ERR_LOAD,
                         "%s: the library has no FMI 1.0 function named %s_...; the model identifier does not fit the "
                         "library",
                         library->file, library->interface->model_identifier);
    else if (lacking.length)
        err = tutti_fail(TUTTI_ERR_LOAD, "%s: the FMU's library lacks functions that FMI %s requires: %s",
                         library->file, binding->version, lacking.text);
    tutti_text_fini(&lacking);
    return err;
}

/* A function of the group that the library lacks, or NULL. */
static const char *lacking_of(const struct tutti_library *library, unsigned group)
{
    for (size_t i = 0; i < library->binding->symbol_count; i++)
        if ((library->binding->symbols[i].group & group) && !library->functions[i])
            return library->binding->symbols[i].name;
    return NULL;
}

/* Takes back what the description claims and the library does not have. */
static void reconcile(struct tutti_library *library, const struct tutti_log *log)
{
    struct tutti_text claims = {0}, functions = {0};
    library->can = library->interface->flags;
    if (library->interface->max_output_derivative_order > 0)
        library->can |= TUTTI_CAN_OUTPUT_DERIVATIVES;
    for (const struct tutti_optional *o = library->binding->optional; o->name; o++) {
        const char *lacking = library->can & o->can ? lacking_of(library, o->group) : NULL;
        if (!lacking)
            continue;
        library->can &= ~o->can;
        tutti_text_printf(&claims, "%s%s", claims.length ? ", " : "", o->name);
        if (!functions.text || !strstr(functions.text, lacking))
            tutti_text_printf(&functions, "%s%s", functions.length ? ", " : "", lacking);
    }
    if (claims.length > 0)
        tutti_log_printf(log, TUTTI_LOG_WARNING, library->file, "%s claims %s, but the library lacks %s; not used",
                         tutti_interface_name(library->kind), claims.text, functions.text ? functions.text : "that");
    tutti_text_fini(&claims);
    tutti_text_fini(&functions);
}

static void check_version(const struct tutti_library *library, const struct tutti_log *log)
{
    struct tutti_floating before = tutti_floating_now();
    const char *version = library->binding->get_version(library);
    tutti_floating_set(&before);
    if (version && strncmp(version, library->binding->version, 1) != 0)
        tutti_log_printf(log, TUTTI_LOG_WARNING, library->file,
                         "the library says that it is FMI %s, the description %s", version, library->binding->version);
}

/* Libraries that were linked with -Ofast or -ffast-math switch the processor to flush-to-zero when they are loaded. */
static void restore_modes(const struct tutti_library *library, const struct tutti_floating *before,
                          const struct tutti_log *log)
{
    struct tutti_floating now = tutti_floating_now();
    if (tutti_floating_same(&now, before))
        return;
    tutti_floating_set(before);
    tutti_log_printf(
        log, TUTTI_LOG_WARNING, library->file,
        "the FMU's library changes a floating-point mode of the processor when it is loaded: %s (it may be "
        "linked with -Ofast). That is taken back: all FMUs run in the usual modes",
        tutti_floating_difference(&now, before));
}

enum tutti_err tutti_library_check(struct tutti_library *library, const struct tutti_log *log)
{
    TRY(check_functions(library));
    reconcile(library, log);
    return TUTTI_OK;
}

enum tutti_err tutti_library_open(struct tutti_library *library, const struct tutti_log *log)
{
    struct tutti_floating before = tutti_floating_now();
    enum tutti_err err = open_library(library, log);
    restore_modes(library, &before, log);
    TRY(err);
    find_functions(library);
    TRY(tutti_library_check(library, log));
    check_version(library, log);
    return TUTTI_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

static enum tutti_err list_narrow(const struct tutti_desc *desc, uint32_t **references, size_t *count)
{
    *references = NULL;
    *count = 0;
    for (uint32_t v = 0; v < desc->var_count; v++)
        *count += desc->vars[v].type == TUTTI_TYPE_FLOAT32;
    if (*count == 0)
        return TUTTI_OK;
    *references = malloc(*count * sizeof **references);
    if (!*references)
        return tutti_fail_memory();
    size_t at = 0;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].type == TUTTI_TYPE_FLOAT32)
            (*references)[at++] = desc->vars[v].reference;
    qsort(*references, *count, sizeof **references, by_number);
    return TUTTI_OK;
}

bool tutti_library_is_narrow(const struct tutti_library *library, uint32_t reference)
{
    return library->narrow_count > 0 &&
           bsearch(&reference, library->narrow, library->narrow_count, sizeof reference, by_number);
}

enum tutti_err tutti_library_bind(struct tutti_library *library)
{
    static const struct tutti_binding *const bindings[] = {&tutti_binding_fmi1_cs, &tutti_binding_fmi2,
                                                           &tutti_binding_fmi3};
    int fmi = library->desc->fmi;
    library->binding = fmi == 1 && library->kind == TUTTI_ME ? &tutti_binding_fmi1_me : bindings[fmi - 1];
    library->functions = calloc(library->binding->symbol_count, sizeof *library->functions);
    return library->functions ? list_narrow(library->desc, &library->narrow, &library->narrow_count)
                              : tutti_fail_memory();
}

void tutti_library_free(struct tutti_library *library)
{
    if (!library)
        return;
    if (library->handle && !library->fatal)
        dlclose(library->handle);
    for (size_t i = 0; i < library->neighbour_count && !library->fatal; i++)
        dlclose(library->neighbours[i]);
    free(library->functions);
    free(library->path);
    free(library->folder);
    free(library->resources);
    free(library->narrow);
    free(library);
}
