/* SPDX-License-Identifier: MIT */
#include "compile/recipe.h"

#include <string.h>

#include "base/str.h"
#include "base/xml.h"
#include "fmi/binary/platform.h"

/* Where the reader is. */
struct reading {
    struct tutti_recipe *recipe;
    const struct tutti_fmu *fmu;
    const char *platform;             /* NULL: this one */
    struct tutti_recipe_build *build; /* NULL: none, or one for other platforms */
    struct tutti_recipe_set *set;
    int depth;
    bool in_files; /* FMI 2.0: below SourceFiles */
};

/* ---- lists ---- */

static enum tutti_err add_text(struct tutti_recipe *recipe, struct tutti_vector *list, const char *text, size_t n)
{
    const char **slot = tutti_vector_push(list, sizeof *slot);
    if (!slot)
        return tutti_fail_memory();
    *slot = tutti_arena_text(&recipe->arena, text, n);
    return *slot ? TUTTI_OK : tutti_fail_memory();
}

static bool has_text(const struct tutti_vector *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(((const char **)list->items)[i], text) == 0)
            return true;
    return false;
}

/* A zeroed item of the recipe's own, and its address in a list; NULL when memory is out. */
static void *add_item(struct tutti_recipe *recipe, struct tutti_vector *list, size_t size)
{
    void **slot = tutti_vector_push(list, sizeof *slot);
    if (slot)
        *slot = tutti_arena_alloc(&recipe->arena, size);
    return slot ? *slot : NULL;
}

void tutti_recipe_fini(struct tutti_recipe *recipe)
{
    struct tutti_recipe_build *const *builds = recipe->builds.items;
    for (size_t b = 0; b < recipe->builds.count && builds[b]; b++) {
        struct tutti_recipe_set *const *sets = builds[b]->sets.items;
        for (size_t s = 0; s < builds[b]->sets.count && sets[s]; s++) {
            tutti_vector_fini(&sets[s]->sources);
            tutti_vector_fini(&sets[s]->definitions);
            tutti_vector_fini(&sets[s]->includes);
            tutti_vector_fini(&sets[s]->options);
        }
        tutti_vector_fini(&builds[b]->sets);
        tutti_vector_fini(&builds[b]->libraries);
    }
    tutti_vector_fini(&recipe->builds);
    tutti_arena_fini(&recipe->arena);
}

/* ---- what may be in a recipe ---- */

static bool is_word(const char *text, const char *also)
{
    static const char usual[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t n = 0;
    while (text[n] && (strchr(usual, text[n]) || strchr(also, text[n])))
        n++;
    return n > 0 && !text[n] && text[0] != '-';
}

/* Below sources/: neither absolute nor with a part "..". */
static bool stays_inside(const char *path)
{
    if (path[0] == '\0' || path[0] == '/' || strchr(path, '\\') || strchr(path, ':'))
        return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

static enum tutti_err check_path(struct tutti_xml *xml, const char *path, const char *what)
{
    return path && stays_inside(path)
               ? TUTTI_OK
               : tutti_xml_fail(xml, TUTTI_ERR_FORMAT,
                                "%s '%s' is not within the sources of the FMU: give a path below sources/, with '/', "
                                "without '..'",
                                what, tutti_str_show(path ? path : "").text);
}

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

bool tutti_recipe_is_cpp(const char *source)
{
    return ends_with(source, ".cpp") || ends_with(source, ".cc") || ends_with(source, ".cxx") ||
           ends_with(source, ".C");
}

static bool is_source(const char *name)
{
    return ends_with(name, ".c") || tutti_recipe_is_cpp(name);
}

static enum tutti_err add_build(struct reading *reading, struct tutti_xml *xml, const char *identifier)
{
    struct tutti_recipe *recipe = reading->recipe;
    struct tutti_recipe_build *const *builds = recipe->builds.items;
    reading->set = NULL;
    if (!identifier || !is_word(identifier, "-."))
        return tutti_xml_fail(xml, TUTTI_ERR_FORMAT, "the modelIdentifier '%s' cannot be the name of a library",
                              tutti_str_show(identifier ? identifier : "").text);
    for (size_t i = 0; i < recipe->builds.count; i++)
        if (strcmp(builds[i]->identifier, identifier) == 0) {
            reading->build = builds[i];
            reading->set = builds[i]->sets.count > 0 ? *(struct tutti_recipe_set **)builds[i]->sets.items : NULL;
            return TUTTI_OK;
        }
    reading->build = add_item(recipe, &recipe->builds, sizeof *reading->build);
    if (!reading->build)
        return tutti_fail_memory();
    reading->build->identifier = tutti_arena_text(&recipe->arena, identifier, strlen(identifier));
    return reading->build->identifier ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err add_set(struct reading *reading)
{
    reading->set = add_item(reading->recipe, &reading->build->sets, sizeof *reading->set);
    return reading->set ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err add_source(struct reading *reading, struct tutti_xml *xml, const char *name)
{
    struct tutti_text entry = {0};
    TRY(check_path(xml, name, "the source file"));
    tutti_text_printf(&entry, "sources/%s", name);
    bool known = !entry.failed && tutti_archive_has(reading->fmu->archive, entry.text);
    enum tutti_err err = entry.failed ? tutti_fail_memory() : TUTTI_OK;
    tutti_text_fini(&entry);
    if (!err && !known)
        err = tutti_xml_fail(xml, TUTTI_ERR_FORMAT, "the source file '%s' is not in the FMU, below sources/",
                             tutti_str_show(name).text);
    if (err || has_text(&reading->set->sources, name))
        return err;
    return add_text(reading->recipe, &reading->set->sources, name, strlen(name));
}

/* ---- FMI 2.0 ---- */

static enum tutti_err start2(void *context, struct tutti_xml *xml, const char *name, const char **attributes)
{
    struct reading *reading = context;
    reading->depth++;
    if (reading->depth == 2) {
        reading->build = NULL;
        if (strcmp(name, "CoSimulation") == 0 || strcmp(name, "ModelExchange") == 0)
            TRY(add_build(reading, xml, tutti_xml_attribute(attributes, "modelIdentifier")));
        return reading->build && !reading->set ? add_set(reading) : TUTTI_OK;
    }
    if (reading->depth == 3)
        reading->in_files = reading->build && strcmp(name, "SourceFiles") == 0;
    if (reading->depth == 4 && reading->in_files && strcmp(name, "File") == 0)
        return add_source(reading, xml, tutti_xml_attribute(attributes, "name"));
    return TUTTI_OK;
}

/* ---- FMI 3.0 ---- */

/* "C99", "C++11". */
static enum tutti_err read_language(struct reading *reading, struct tutti_xml *xml, const char *language)
{
    struct tutti_text text = {0};
    struct tutti_recipe_set *set = reading->set;
    if (!language || strcmp(language, "C") == 0)
        return TUTTI_OK;
    set->cpp = strncmp(language, "C++", 3) == 0;
    const char *year = language + (set->cpp ? 3 : 1);
    if (language[0] != 'C' || (*year && (strspn(year, "0123456789") != 2 || year[2])))
        return tutti_xml_fail(xml, TUTTI_ERR_UNSUPPORTED,
                              "the sources are in the language '%s'; only C and C++ can be compiled",
                              tutti_str_show(language).text);
    if (!*year)
        return TUTTI_OK;
    tutti_text_printf(&text, "-std=gnu%s%s", set->cpp ? "++" : "", year);
    set->standard = text.failed ? NULL : tutti_arena_text(&reading->recipe->arena, text.text, text.length);
    tutti_text_fini(&text);
    return set->standard ? TUTTI_OK : tutti_fail_memory();
}

/* Options that tell how code is made, and neither read nor write other files nor start other programs. */
static bool is_harmless(const char *option, size_t n)
{
    static const char *const begin[] = {
        "-O", "-f", "-W", "-m", "-g", "-std=", "-D", "-U", "-ansi", "-pedantic", "-pthread"};
    static const char *const harm[] = {
        "-Wl,",          "-Wa,",     "-Wp,",      "-fplugin",      "-fdump",
        "-fprofile",     "-fmodule", "-fauto",    "-fcallgraph",   "-foptimization-record",
        "-fsave",        "-frepo",   "-gsplit",   "-fuse-ld",      "-ftest-coverage",
        "-fdiagnostics", "-fada",    "-fmodules", "-fpass-plugin", "-fload"};
    bool good = false;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        good = good || (n >= strlen(begin[i]) && strncmp(option, begin[i], strlen(begin[i])) == 0);
    for (size_t i = 0; i < sizeof harm / sizeof *harm; i++)
        good = good && strncmp(option, harm[i], strlen(harm[i])) != 0;
    return good && n > 2;
}

static enum tutti_err read_options(struct reading *reading, struct tutti_xml *xml, const char *options)
{
    for (const char *word = options ? options : ""; *word;) {
        word += strspn(word, " \t\n\r");
        size_t n = strcspn(word, " \t\n\r");
        if (n > 0 && !is_harmless(word, n))
            return tutti_xml_fail(xml, TUTTI_ERR_UNSUPPORTED,
                                  "compilerOptions has '%.*s', which is not handed on: only options that say how code "
                                  "is made are (-O, -f, -m, -W, -g, -std=, -D, -U, -pthread)",
                                  n < 100 ? (int)n : 100, word);
        if (n > 0)
            TRY(add_text(reading->recipe, &reading->set->options, word, n));
        word += n;
    }
    return TUTTI_OK;
}

/* Options are a compiler's own; those of others than GCC and Clang mean nothing here. */
static enum tutti_err start_set(struct reading *reading, struct tutti_xml *xml, const char **attributes)
{
    const char *compiler = tutti_xml_attribute(attributes, "compiler");
    TRY(add_set(reading));
    TRY(read_language(reading, xml, tutti_xml_attribute(attributes, "language")));
    if (compiler && !strstr(compiler, "gcc") && !strstr(compiler, "clang") && strcmp(compiler, "cc") != 0)
        return TUTTI_OK;
    return read_options(reading, xml, tutti_xml_attribute(attributes, "compilerOptions"));
}

static enum tutti_err add_definition(struct reading *reading, struct tutti_xml *xml, const char **attributes)
{
    struct tutti_text text = {0};
    const char *name = tutti_xml_attribute(attributes, "name"), *value = tutti_xml_attribute(attributes, "value");
    const char *optional = tutti_xml_attribute(attributes, "optional");
    if (!name || !is_word(name, ""))
        return tutti_xml_fail(xml, TUTTI_ERR_FORMAT, "'%s' cannot be the name of a preprocessor definition",
                              tutti_str_show(name ? name : "").text);
    if (optional && (strcmp(optional, "true") == 0 || strcmp(optional, "1") == 0))
        return TUTTI_OK; /* it is for those who want it */
    tutti_text_printf(&text, "-D%s%s%s", name, value ? "=" : "", value ? value : "");
    enum tutti_err err = text.failed ? tutti_fail_memory()
                                     : add_text(reading->recipe, &reading->set->definitions, text.text, text.length);
    tutti_text_fini(&text);
    return err;
}

static enum tutti_err add_library(struct reading *reading, struct tutti_xml *xml, const char *name)
{
    if (!name || !is_word(name, "+-."))
        return tutti_xml_fail(xml, TUTTI_ERR_FORMAT,
                              "'%s' cannot be the name of a library: give it without folders, 'lib' and '.so'",
                              tutti_str_show(name ? name : "").text);
    return add_text(reading->recipe, &reading->build->libraries, name, strlen(name));
}

/* Is `platform` (NULL: it is not told) that of the libraries? */
static bool is_for(const struct reading *reading, const char *platform)
{
    const char *const *ours = tutti_platforms()->folders;
    if (reading->platform)
        return !platform || strcmp(platform, reading->platform) == 0;
    while (platform && *ours && strcmp(*ours, platform) != 0)
        ours++;
    return !platform || *ours;
}

static enum tutti_err start3(void *context, struct tutti_xml *xml, const char *name, const char **attributes)
{
    struct reading *reading = context;
    const char *called = tutti_xml_attribute(attributes, "name");
    reading->depth++;
    if (reading->depth == 2) {
        reading->build = NULL;
        if (strcmp(name, "BuildConfiguration") == 0 && is_for(reading, tutti_xml_attribute(attributes, "platform")))
            return add_build(reading, xml, tutti_xml_attribute(attributes, "modelIdentifier"));
    } else if (reading->depth == 3 && reading->build) {
        reading->set = NULL;
        if (strcmp(name, "SourceFileSet") == 0)
            return start_set(reading, xml, attributes);
        if (strcmp(name, "Library") == 0)
            return add_library(reading, xml, called);
    } else if (reading->depth == 4 && reading->build && reading->set) {
        if (strcmp(name, "SourceFile") == 0)
            return add_source(reading, xml, called);
        if (strcmp(name, "PreprocessorDefinition") == 0)
            return add_definition(reading, xml, attributes);
        if (strcmp(name, "IncludeDirectory") == 0) {
            TRY(check_path(xml, called, "the include folder"));
            return add_text(reading->recipe, &reading->set->includes, called, strlen(called));
        }
    }
    return TUTTI_OK;
}

static enum tutti_err end(void *context, struct tutti_xml *xml)
{
    struct reading *reading = context;
    (void)xml;
    reading->depth--;
    return TUTTI_OK;
}

/* ---- files ---- */

static enum tutti_err read_entry(struct reading *reading, const char *entry)
{
    const struct tutti_fmu *fmu = reading->fmu;
    struct tutti_xml_handlers handlers = {.start = fmu->desc->fmi == 2 ? start2 : start3, .end = end};
    struct tutti_text shown = {0};
    struct tutti_reader reader;
    tutti_text_printf(&shown, "%s/%s", fmu->path, entry);
    enum tutti_err err = shown.failed ? tutti_fail_memory() : TUTTI_OK;
    if (!err)
        err = tutti_archive_begin_entry(fmu->archive, entry, &reader);
    if (!err) {
        err = tutti_xml_read(shown.text, &reader, &handlers, reading);
        tutti_archive_end_entry(fmu->archive);
    }
    tutti_text_fini(&shown);
    return err;
}

/* FMI 2.0 without a list: the file all.c, which includes the others, or else all that are right in sources/. */
static enum tutti_err take_all(struct tutti_recipe *recipe, const struct tutti_archive *archive,
                               struct tutti_recipe_set *set)
{
    if (tutti_archive_has(archive, "sources/all.c"))
        return add_text(recipe, &set->sources, "all.c", strlen("all.c"));
    for (size_t i = 0; i < tutti_archive_count(archive); i++) {
        const char *name = tutti_archive_name(archive, i);
        if (strncmp(name, "sources/", 8) == 0 && !strchr(name + 8, '/') && is_source(name + 8))
            TRY(add_text(recipe, &set->sources, name + 8, strlen(name + 8)));
    }
    return TUTTI_OK;
}

static size_t count_sources(const struct tutti_recipe_build *build)
{
    size_t count = 0;
    for (size_t i = 0; i < build->sets.count; i++)
        count += ((struct tutti_recipe_set **)build->sets.items)[i]->sources.count;
    return count;
}

/* Each library has something to be made of. */
static enum tutti_err complete(struct tutti_recipe *recipe, const struct tutti_fmu *fmu, const char *platform)
{
    struct tutti_recipe_build *const *builds = recipe->builds.items;
    for (size_t i = 0; i < recipe->builds.count; i++) {
        if (fmu->desc->fmi == 2 && count_sources(builds[i]) == 0)
            TRY(take_all(recipe, fmu->archive, *(struct tutti_recipe_set **)builds[i]->sets.items));
        if (count_sources(builds[i]) == 0)
            return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s names no source files for the library '%s'", fmu->path,
                              builds[i]->identifier);
    }
    if (recipe->builds.count == 0)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "%s/sources/buildDescription.xml has no BuildConfiguration for the platform %s", fmu->path,
                          platform ? platform : tutti_platforms()->folders[0]);
    return TUTTI_OK;
}

enum tutti_err tutti_recipe_read(struct tutti_recipe *recipe, const struct tutti_fmu *fmu, const char *platform)
{
    struct reading reading = {.recipe = recipe, .fmu = fmu, .platform = platform};
    *recipe = (struct tutti_recipe){0};
    if (fmu->desc->fmi == 1)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "%s is of FMI 1.0, which does not say how sources are compiled: export it with a binary, or "
                          "as FMI 2.0 or 3.0",
                          fmu->path);
    if (!tutti_archive_has(fmu->archive, "sources/"))
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "%s has no sources to compile (there is no folder sources/): export it with sources, or with "
                          "a binary for this platform (%s)",
                          fmu->path, tutti_platforms()->folders[0]);
    if (fmu->desc->fmi == 3 && !tutti_archive_has(fmu->archive, "sources/buildDescription.xml"))
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "%s has sources, but not sources/buildDescription.xml, which says how they are compiled",
                          fmu->path);
    TRY(read_entry(&reading, fmu->desc->fmi == 2 ? "modelDescription.xml" : "sources/buildDescription.xml"));
    return complete(recipe, fmu, platform);
}
