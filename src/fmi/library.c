/* SPDX-License-Identifier: MIT */
#include "fmi/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/floating.h"
#include "base/str.h"
#include "fmi/binding.h"
#include "fmi/elf.h"
#include "fmi/needed.h"
#include "fmi/scope.h"

#if defined(__x86_64__)
#define PLATFORMS "x86_64-linux", "linux64"
#elif defined(__aarch64__)
#define PLATFORMS "aarch64-linux", "linux64-arm", "linux64"
#elif defined(__i386__)
#define PLATFORMS "x86-linux", "linux32"
#else
#error "add the folder names under binaries/ of this platform"
#endif

const char *tutti_interface_name(enum tutti_interface_kind kind)
{
    static const char *const names[] = {"Co-Simulation", "Model Exchange", "Scheduled Execution"};
    return names[kind];
}

const char *const *tutti_library_platforms(void)
{
    /* FMI 3.0's name and FMI 1.0's and 2.0's; FMUs of either kind are seen with the other. */
    static const char *const platforms[] = {PLATFORMS, NULL};
    return platforms;
}

/* "binaries/PLATFORM/NAME.so" with nothing below it; *name points to NAME. */
static bool is_library(const char *entry, const char *platform, const char **name, size_t *length)
{
    size_t n = strlen(platform);
    if (strncmp(entry, "binaries/", 9) != 0 || strncmp(entry + 9, platform, n) != 0 || entry[9 + n] != '/')
        return false;
    *name = entry + 9 + n + 1;
    *length = strlen(*name);
    if (*length <= 3 || strchr(*name, '/') || strcmp(*name + *length - 3, ".so") != 0)
        return false;
    *length -= 3;
    return true;
}

/* Is `name` (n characters) one of the names in a list like "linux64, win64"? */
static bool is_listed(const struct tutti_text *list, const char *name, size_t n)
{
    for (const char *item = list->length ? list->text : ""; *item; item += strspn(item, ", ")) {
        size_t length = strcspn(item, ",");
        if (length == n && memcmp(item, name, n) == 0)
            return true;
        item += length;
    }
    return false;
}

void tutti_library_list_platforms(const struct tutti_archive *archive, struct tutti_text *out)
{
    for (size_t i = 0; i < tutti_archive_count(archive); i++) {
        const char *entry = tutti_archive_name(archive, i);
        const char *end = strncmp(entry, "binaries/", 9) == 0 ? strchr(entry + 9, '/') : NULL;
        size_t n = end && end[1] ? (size_t)(end - entry) - 9 : 0; /* not of an empty folder */
        if (n > 0 && !is_listed(out, entry + 9, n))
            tutti_text_printf(out, "%s%.*s", out->length ? ", " : "", (int)n, entry + 9);
    }
}

/* The message for an FMU without a library for us: which platforms there are. */
static enum tutti_err no_binary(const struct tutti_archive *archive, const char *file, const char *identifier)
{
    struct tutti_text there = {0};
    tutti_library_list_platforms(archive, &there);
    enum tutti_err err = tutti_fail(
        TUTTI_ERR_LOAD, "%s: no binary for this platform: binaries/%s/%s.so is not in the FMU; it has %s. %s", file,
        tutti_library_platforms()[0], identifier, there.length ? there.text : "no binaries at all",
        there.length ? "Export it for Linux, or run it on one of those platforms"
                     : "Export it with binaries, or compile its sources, if it has some: `tutti compile`, `tutti run "
                       "--compile`");
    tutti_text_fini(&there);
    return err;
}

enum tutti_err tutti_library_find(const struct tutti_archive *archive, const char *file, const char *model_identifier,
                                  const char **entry, bool *misnamed)
{
    *misnamed = false;
    for (const char *const *platform = tutti_library_platforms(); *platform; platform++) {
        const char *only = NULL;
        size_t count = 0;
        for (size_t i = 0; i < tutti_archive_count(archive); i++) {
            const char *name;
            size_t length;
            *entry = tutti_archive_name(archive, i);
            if (!is_library(*entry, *platform, &name, &length))
                continue;
            if (strlen(model_identifier) == length && memcmp(name, model_identifier, length) == 0)
                return TUTTI_OK;
            only = *entry;
            count++;
        }
        if (count == 1) {
            *entry = only;
            *misnamed = true;
            return TUTTI_OK;
        }
    }
    return no_binary(archive, file, model_identifier);
}

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

static enum tutti_err fail_nameless(const struct tutti_library *library, const char *missing)
{
    return tutti_fail(TUTTI_ERR_LOAD,
                      "%s: the FMU's library needs the library %s, which is beside it in the FMU but has no name "
                      "inside (SONAME), so that the loader does not find it; ask the FMU's author to link it "
                      "with one",
                      library->file, missing);
}

static enum tutti_err fail_missing(const struct tutti_library *library, const char *missing)
{
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
            return fail_nameless(library, missing);
        if (!load_neighbour(library, missing))
            break;
    }
    if (*missing)
        return fail_missing(library, missing);
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

static enum tutti_err locate(struct tutti_library *library, struct tutti_archive *archive, const struct tutti_log *log)
{
    const char *entry = NULL, *folder = NULL;
    bool misnamed;
    TRY(tutti_library_find(archive, library->file, library->interface->model_identifier, &entry, &misnamed));
    if (misnamed)
        tutti_log_printf(log, TUTTI_LOG_WARNING, library->file, "no library named %s.so; using %s, the only one",
                         library->interface->model_identifier, entry);
    TRY(tutti_archive_folder(archive, &folder));
    struct tutti_text path = {0}, resources = {0};
    tutti_text_printf(&path, "%s/%s", folder, entry);
    tutti_text_printf(&resources, "%s/resources/", folder);
    library->path = path.text;
    library->resources = resources.text;
    library->folder = tutti_str_copy(folder);
    if (path.failed || resources.failed || !library->folder)
        return tutti_fail_memory();
    struct stat status;
    library->has_resources = stat(library->resources, &status) == 0;
    return TUTTI_OK;
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

static enum tutti_err prepare(struct tutti_library *library, struct tutti_archive *archive, const struct tutti_log *log)
{
    if (!library->interface->model_identifier)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: the model description has no modelIdentifier", library->file);
    library->functions = calloc(library->binding->symbol_count, sizeof *library->functions);
    if (!library->functions)
        return tutti_fail_memory();
    return locate(library, archive, log);
}

static enum tutti_err load(struct tutti_library *library, struct tutti_archive *archive, const struct tutti_log *log)
{
    TRY(prepare(library, archive, log));
    struct tutti_floating before = tutti_floating_now();
    enum tutti_err err = open_library(library, log);
    restore_modes(library, &before, log);
    TRY(err);
    find_functions(library);
    TRY(check_functions(library));
    reconcile(library, log);
    check_version(library, log);
    return TUTTI_OK;
}

/* ---- without loading */

/* Notes a function that the library, or one that it needs, shows: where it will be does not matter. */
static void note_function(void *context, const char *name, bool is_defined)
{
    static char somewhere;
    const struct tutti_library *library = context;
    const struct tutti_binding *binding = library->binding;
    if (binding->prefixed) {
        size_t length = strlen(library->interface->model_identifier);
        if (strncmp(name, library->interface->model_identifier, length) != 0 || name[length] != '_')
            return;
        name += length + 1;
    }
    for (size_t i = 0; is_defined && i < binding->symbol_count; i++)
        if (strcmp(binding->symbols[i].name, name) == 0)
            library->functions[i] = &somewhere;
}

static void note_functions(void *context, const char *path)
{
    tutti_elf_each_name(path, note_function, context);
}

static enum tutti_err inspect(struct tutti_library *library, struct tutti_archive *archive, const struct tutti_log *log)
{
    struct tutti_needed_missing missing;
    TRY(prepare(library, archive, log));
    TRY(tutti_elf_check(library->path, library->file));
    TRY(tutti_needed_each(library->path, note_functions, library, &missing));
    if (missing.name[0])
        return missing.is_nameless ? fail_nameless(library, missing.name) : fail_missing(library, missing.name);
    TRY(check_functions(library));
    reconcile(library, log);
    return TUTTI_OK;
}

/* ---- */

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

static enum tutti_err make(struct tutti_library **out, struct tutti_archive *archive, const char *file,
                           const struct tutti_desc *desc, enum tutti_interface_kind kind, const struct tutti_log *log,
                           enum tutti_err (*fill)(struct tutti_library *library, struct tutti_archive *archive,
                                                  const struct tutti_log *log))
{
    static const struct tutti_binding *const bindings[] = {&tutti_binding_fmi1_cs, &tutti_binding_fmi2,
                                                           &tutti_binding_fmi3};
    *out = NULL;
    struct tutti_library *library = calloc(1, sizeof *library);
    if (!library)
        return tutti_fail_memory();
    library->desc = desc;
    library->interface = &desc->interfaces[kind];
    library->kind = kind;
    library->binding = desc->fmi == 1 && kind == TUTTI_ME ? &tutti_binding_fmi1_me : bindings[desc->fmi - 1];
    library->file = file;
    enum tutti_err err = list_narrow(desc, &library->narrow, &library->narrow_count);
    if (!err)
        err = fill(library, archive, log);
    if (err) {
        tutti_library_free(library);
        return err;
    }
    *out = library;
    return TUTTI_OK;
}

enum tutti_err tutti_library_load(struct tutti_library **out, struct tutti_archive *archive, const char *file,
                                  const struct tutti_desc *desc, enum tutti_interface_kind kind,
                                  const struct tutti_log *log)
{
    return make(out, archive, file, desc, kind, log, load);
}

enum tutti_err tutti_library_inspect(struct tutti_archive *archive, const char *file, const struct tutti_desc *desc,
                                     enum tutti_interface_kind kind, const struct tutti_log *log)
{
    struct tutti_library *library = NULL;
    TRY(make(&library, archive, file, desc, kind, log, inspect));
    tutti_library_free(library);
    return TUTTI_OK;
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
