/* SPDX-License-Identifier: MIT */
#include "fmu/binary/library.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/float_mode.h"
#include "base/text.h"
#include "fmu/binary/elf.h"
#include "fmu/binding.h"

/* The name of the library that the loader missed, out of its message; empty if it failed for another reason. */
static void missing_library_name(const char *error, char *name, size_t size)
{
    const char *colon = strstr(error, ": cannot open shared object file");
    size_t length = colon ? (size_t)(colon - error) : 0;
    snprintf(name, size, "%.*s", (int)(length < size ? length : 0), error);
}

/* RTLD_NODELETE: threads that an FMU started may outlive its instances; unmapping their code would kill the process. */
static void *library_open_shared(const char *path, const struct tt_library_scope *scope)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | scope->mode);
}

/* Where the FMU cannot be kept apart from the program, and has names that the program has, too. */
static void warn_of_clashes(struct tt_library *library, const struct tt_library_scope *scope,
                            const struct tutti_log *log)
{
    struct tt_text clashes = {0};
    if (scope->mode == 0)
        tt_library_list_clashes(library->path, &clashes);
    library->is_mixed = clashes.length > 0;
    if (library->is_mixed)
        tt_log(log, TUTTI_LOG_WARNING, library->file,
               "the FMU brings functions that this program has, too (%s), and its calls may reach those of the "
               "program: they cannot be kept apart where the program has its own '%s' (a sanitizer, "
               "LD_PRELOAD, a program's own allocator or streams)",
               clashes.text, scope->cause);
    tt_text_fini(&clashes);
}

/* FMUs often bring a library that theirs needs and put it beside their own, where the loader does not look. */
static bool load_neighbour(struct tt_library *library, const char *name)
{
    const char *path = library->path, *slash = strrchr(path, '/');
    if (!*name || !slash || strchr(name, '/') || library->neighbour_count == TUTTI_MOST_NEIGHBOURS)
        return false;
    struct tt_text neighbour = {0};
    tt_text_append_n(&neighbour, path, (size_t)(slash - path) + 1);
    tt_text_append(&neighbour, name);
    void *handle = NULL;
    if (!neighbour.failed && access(neighbour.text, R_OK) == 0 && tt_elf_check(neighbour.text, path) == TUTTI_OK) {
        struct tt_library_scope scope = tt_library_choose_scope(neighbour.text);
        handle = library_open_shared(neighbour.text, &scope); /* found by its SONAME */
    }
    tt_text_fini(&neighbour);
    if (handle)
        library->neighbours[library->neighbour_count++] = handle;
    return handle != NULL;
}

enum tutti_err tt_library_fail_missing(const struct tt_library *library, const char *missing, bool is_nameless)
{
    if (is_nameless)
        return tt_fail(TUTTI_ERR_LOAD,
                       "%s: the FMU's library needs the library %s, which is beside it in the FMU but has no name "
                       "inside (SONAME), so that the loader does not find it; ask the FMU's author to link it "
                       "with one",
                       library->file, missing);
    return tt_fail(TUTTI_ERR_LOAD,
                   "%s: the FMU's library needs the library %s, which is not installed; install the package "
                   "that has it, or ask the FMU's author for one that brings it along",
                   library->file, missing);
}

static enum tutti_err library_open_library(struct tt_library *library, const struct tutti_log *log)
{
    char error[1024], missing[256] = "", before[256];
    TRY(tt_elf_check(library->path, library->file));
    struct tt_library_scope scope = tt_library_choose_scope(library->path);
    warn_of_clashes(library, &scope, log);
    for (int i = 0; i <= TUTTI_MOST_NEIGHBOURS; i++) {
        library->handle = library_open_shared(library->path, &scope);
        if (library->handle)
            return TUTTI_OK;
        const char *reason = dlerror(); /* the next dlopen frees it */
        snprintf(error, sizeof error, "%s", reason ? reason : "unknown reason");
        memcpy(before, missing, sizeof before);
        missing_library_name(error, missing, sizeof missing);
        if (*missing && strcmp(before, missing) == 0)
            return tt_library_fail_missing(library, missing, true);
        if (!load_neighbour(library, missing))
            break;
    }
    if (*missing)
        return tt_library_fail_missing(library, missing, false);
    return tt_fail(TUTTI_ERR_LOAD, "%s: the FMU's library cannot be loaded: %s", library->file, error);
}

/* Real FMUs lack these without harm: nothing in a run depends on them. */
static bool is_dispensable(const char *name)
{
    static const char *const names[] = {"GetVersion", "GetTypesPlatform", "GetModelTypesPlatform", "SetDebugLogging"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(name, names[i]))
            return true;
    return false;
}

static void *library_find_symbol(const struct tt_library *library, const char *name)
{
    char prefixed[512];
    if (library->binding->prefixed) {
        snprintf(prefixed, sizeof prefixed, "%s_%s", library->interface->model_identifier, name);
        name = prefixed;
    }
    return dlsym(library->handle, name);
}

/* Checks that all functions that a run needs exist. */
static enum tutti_err check_functions(const struct tt_library *library)
{
    const struct tt_binding *binding = library->binding;
    struct tt_text lacking = {0};
    size_t found = 0;
    for (size_t i = 0; i < binding->symbol_count; i++) {
        const struct tt_symbol *s = &binding->symbols[i];
        found += library->functions[i] != NULL;
        if (!library->functions[i] && (s->group & binding->required[library->kind]) && !is_dispensable(s->name))
            tt_text_printf(&lacking, "%s%s", lacking.length ? ", " : "", s->name);
    }
    enum tutti_err err = TUTTI_OK;
    if (lacking.length && found == 0 && binding->prefixed)
        err = tt_fail(TUTTI_ERR_LOAD,
                      "%s: the library has no FMI 1.0 function named %s_...; the model identifier does not fit the "
                      "library",
                      library->file, library->interface->model_identifier);
    else if (lacking.length)
        err = tt_fail(TUTTI_ERR_LOAD, "%s: the FMU's library lacks functions that FMI %s requires: %s", library->file,
                      binding->version, lacking.text);
    tt_text_fini(&lacking);
    return err;
}

/* A function of the group that the library lacks, or NULL. */
static const char *find_lacking_function(const struct tt_library *library, unsigned group)
{
    for (size_t i = 0; i < library->binding->symbol_count; i++)
        if ((library->binding->symbols[i].group & group) && !library->functions[i])
            return library->binding->symbols[i].name;
    return NULL;
}

/* Takes back what the description claims and the library does not have. */
static void drop_missing_capabilities(struct tt_library *library, const struct tutti_log *log)
{
    struct tt_text claims = {0}, functions = {0};
    library->can = library->interface->flags;
    if (library->interface->max_output_derivative_order > 0)
        library->can |= TUTTI_CAN_OUTPUT_DERIVATIVES;
    for (const struct tt_optional *o = library->binding->optional; o->name; o++) {
        const char *lacking = library->can & o->can ? find_lacking_function(library, o->group) : NULL;
        if (!lacking)
            continue;
        library->can &= ~o->can;
        tt_text_printf(&claims, "%s%s", claims.length ? ", " : "", o->name);
        if (!functions.text || !strstr(functions.text, lacking))
            tt_text_printf(&functions, "%s%s", functions.length ? ", " : "", lacking);
    }
    if (claims.length > 0)
        tt_log(log, TUTTI_LOG_WARNING, library->file, "%s claims %s, but the library lacks %s; not used",
               tt_fmi_state_interface_name(library->kind), claims.text, functions.text ? functions.text : "that");
    tt_text_fini(&claims);
    tt_text_fini(&functions);
}

/* Libraries that were linked with -Ofast or -ffast-math switch the processor to flush-to-zero when they are loaded. */
static void library_restore_modes(const struct tt_library *library, const struct tt_float_mode *before,
                                  const struct tutti_log *log)
{
    struct tt_float_mode now = tt_float_mode_get();
    if (tt_float_mode_is_same(&now, before))
        return;
    tt_float_mode_set(before);
    tt_log(log, TUTTI_LOG_WARNING, library->file,
           "the FMU's library changes a floating-point mode of the processor when it is loaded: %s (it may be "
           "linked with -Ofast). That is taken back: all FMUs run in the usual modes",
           tt_float_mode_difference(&now, before));
}

enum tutti_err tt_library_check(struct tt_library *library, const struct tutti_log *log)
{
    TRY(check_functions(library));
    drop_missing_capabilities(library, log);
    return TUTTI_OK;
}

enum tutti_err tt_library_open(struct tt_library *library, const struct tutti_log *log)
{
    struct tt_float_mode before = tt_float_mode_get();
    enum tutti_err err = library_open_library(library, log);
    library_restore_modes(library, &before, log);
    TRY(err);
    for (size_t i = 0; i < library->binding->symbol_count; i++)
        library->functions[i] = library_find_symbol(library, library->binding->symbols[i].name);
    TRY(tt_library_check(library, log));

    /* The FMU's code may change the floating-point modes here, too. */
    before = tt_float_mode_get();
    const char *version = library->binding->get_version(library);
    tt_float_mode_set(&before);
    if (version && strncmp(version, library->binding->version, 1) != 0)
        tt_log(log, TUTTI_LOG_WARNING, library->file, "the library says that it is FMI %s, the description %s", version,
               library->binding->version);
    return TUTTI_OK;
}

static int compare_numbers_32(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

static enum tutti_err list_narrow(const struct tt_description *desc, uint32_t **references, size_t *count)
{
    *references = NULL;
    *count = 0;
    for (uint32_t v = 0; v < desc->var_count; v++)
        *count += desc->vars[v].type == TUTTI_TYPE_FLOAT32;
    if (*count == 0)
        return TUTTI_OK;
    *references = malloc(*count * sizeof **references);
    if (!*references)
        return tt_fail_memory();
    size_t at = 0;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].type == TUTTI_TYPE_FLOAT32)
            (*references)[at++] = desc->vars[v].reference;
    qsort(*references, *count, sizeof **references, compare_numbers_32);
    return TUTTI_OK;
}

bool tt_library_is_narrow(const struct tt_library *library, uint32_t reference)
{
    return library->narrow_count > 0 &&
           bsearch(&reference, library->narrow, library->narrow_count, sizeof reference, compare_numbers_32);
}

enum tutti_err tt_library_bind(struct tt_library *library)
{
    static const struct tt_binding *const bindings[] = {&tt_fmi1_cs_binding, &tt_fmi2_binding, &tt_fmi3_binding};
    int fmi = library->desc->fmi;
    library->binding = fmi == 1 && library->kind == TUTTI_ME ? &tt_fmi1_me_binding : bindings[fmi - 1];
    library->functions = calloc(library->binding->symbol_count, sizeof *library->functions);
    return library->functions ? list_narrow(library->desc, &library->narrow, &library->narrow_count) : tt_fail_memory();
}

void tt_library_free(struct tt_library *library)
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

/* The C++ library with the C library after it, or the C library alone; never unloaded, since this process runs on it. */
static void *standard_libraries(void)
{
    void *handle = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    /* cppcheck-suppress resourceLeak ; it is meant to stay */
    return handle ? handle : dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
}

/* A program that is not position-independent has stubs of functions whose address it takes, and the stubs represent the
 * functions in all libraries; a stub jumps to the next definition of the name. */
static bool is_plt_stub(const void *address)
{
    Dl_info info;
    void *entry = NULL;
    if (!address || !dladdr1(address, &info, &entry, RTLD_DL_SYMENT) || !entry)
        return false;
    return ((const ElfW(Sym) *)entry)->st_shndx == SHN_UNDEF;
}

/* Returns the next definition of a name after the program; the libraries of LD_PRELOAD come first. */
static const void *find_after_program(const char *name)
{
    const struct link_map *map = NULL;
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    const void *found = NULL;
    if (program && dlinfo(program, RTLD_DI_LINKMAP, &map) == 0)
        for (map = map->l_next; map && !found; map = map->l_next) {
            void *library = map->l_name[0] ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
            found = library ? dlsym(library, name) : NULL;
            if (library)
                dlclose(library);
        }
    return found;
}

/* Returns true if the program redefines a name of the standard libraries: as a function, or as a copy of a variable. */
static bool library_is_replaced(void *standard, const char *name)
{
    const void *usual = dlsym(standard, name), *found = usual ? dlsym(RTLD_DEFAULT, name) : NULL;
    if (found != usual && is_plt_stub(found))
        found = find_after_program(name);
    return found != usual;
}

/* Programs have copies of these, but all of them point to the same streams. */
static bool library_is_harmless(const char *name)
{
    return strcmp(name, "stdin") == 0 || strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0;
}

enum { MOST_NAMES = 3 }; /* in a message */

struct scope_search {
    void *standard;
    struct tt_library_scope *scope;
    struct tt_text *clashes;
    size_t count;
};

static void check_replaced(void *context, const char *name, bool is_defined)
{
    struct scope_search *search = context;
    if (!is_defined && !search->scope->cause[0] && !library_is_harmless(name) &&
        library_is_replaced(search->standard, name))
        snprintf(search->scope->cause, sizeof search->scope->cause, "%s", name);
}

struct tt_library_scope tt_library_choose_scope(const char *path)
{
    struct tt_library_scope scope = {0};
    struct scope_search search = {.standard = standard_libraries(), .scope = &scope};
    if (search.standard && library_is_replaced(search.standard, "malloc"))
        snprintf(scope.cause, sizeof scope.cause, "malloc");
    else if (search.standard)
        tt_elf_each_name(path, check_replaced, &search);
    scope.mode = scope.cause[0] ? 0 : RTLD_DEEPBIND;
    return scope;
}

static void check_clash(void *context, const char *name, bool is_defined)
{
    struct scope_search *search = context;
    if (!is_defined || !dlsym(RTLD_DEFAULT, name) || (search->standard && dlsym(search->standard, name)))
        return;
    if (search->count++ < MOST_NAMES)
        tt_text_printf(search->clashes, "%s%s", search->count > 1 ? ", " : "", name);
}

void tt_library_list_clashes(const char *path, struct tt_text *out)
{
    struct scope_search search = {.standard = standard_libraries(), .clashes = out};
    tt_elf_each_name(path, check_clash, &search);
    if (search.count > MOST_NAMES)
        tt_text_printf(out, " and %zu more", search.count - MOST_NAMES);
}
