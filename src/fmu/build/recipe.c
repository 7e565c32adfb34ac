/* SPDX-License-Identifier: MIT */
#include "fmu/build/recipe.h"

#include <string.h>

#include "base/text.h"
#include "base/xml.h"
#include "fmu/binary/binary.h"

struct recipe_reading {
    struct tt_recipe *recipe;
    const struct tt_fmu *fmu;
    const char *platform;          /* NULL: this platform */
    struct tt_recipe_build *build; /* NULL: none, or one for other platforms */
    struct tt_recipe_set *set;
    int depth;
    bool in_files; /* FMI 2.0: below SourceFiles */
};

/* ---- lists ---- */

static enum tutti_err recipe_add_text(struct tt_recipe *recipe, struct tt_vector *list, const char *text, size_t n)
{
    const char **slot = tt_vector_push(list, sizeof *slot);
    if (!slot)
        return tt_fail_memory();
    *slot = tt_arena_copy_text(&recipe->arena, text, n);
    return *slot ? TUTTI_OK : tt_fail_memory();
}

static bool recipe_has_text(const struct tt_vector *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(((const char **)list->items)[i], text) == 0)
            return true;
    return false;
}

/* A zeroed item of the recipe's own, and its address in a list; NULL when memory is out. */
static void *recipe_add_item(struct tt_recipe *recipe, struct tt_vector *list, size_t size)
{
    void **slot = tt_vector_push(list, sizeof *slot);
    if (slot)
        *slot = tt_arena_alloc(&recipe->arena, size);
    return slot ? *slot : NULL;
}

void tt_recipe_fini(struct tt_recipe *recipe)
{
    struct tt_recipe_build *const *builds = recipe->builds.items;
    for (size_t b = 0; b < recipe->builds.count && builds[b]; b++) {
        struct tt_recipe_set *const *sets = builds[b]->sets.items;
        for (size_t s = 0; s < builds[b]->sets.count && sets[s]; s++) {
            tt_vector_fini(&sets[s]->sources);
            tt_vector_fini(&sets[s]->definitions);
            tt_vector_fini(&sets[s]->includes);
            tt_vector_fini(&sets[s]->options);
        }
        tt_vector_fini(&builds[b]->sets);
        tt_vector_fini(&builds[b]->libraries);
    }
    tt_vector_fini(&recipe->builds);
    tt_arena_fini(&recipe->arena);
}

/* ---- what may be in a recipe ---- */

static bool recipe_is_word(const char *text, const char *also)
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

static enum tutti_err recipe_check_path(struct tt_xml *xml, const char *path, const char *what)
{
    return path && stays_inside(path)
               ? TUTTI_OK
               : tt_xml_fail(xml, TUTTI_ERR_FORMAT,
                             "%s '%s' is not within the sources of the FMU: give a path below sources/, with '/', "
                             "without '..'",
                             what, tt_text_excerpt(path ? path : "").text);
}

static bool recipe_ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

bool tt_recipe_is_cpp(const char *source)
{
    return recipe_ends_with(source, ".cpp") || recipe_ends_with(source, ".cc") || recipe_ends_with(source, ".cxx") ||
           recipe_ends_with(source, ".C");
}

static enum tutti_err recipe_add_build(struct recipe_reading *reading, struct tt_xml *xml, const char *identifier)
{
    struct tt_recipe *recipe = reading->recipe;
    struct tt_recipe_build *const *builds = recipe->builds.items;
    reading->set = NULL;
    if (!identifier || !recipe_is_word(identifier, "-."))
        return tt_xml_fail(xml, TUTTI_ERR_FORMAT, "the modelIdentifier '%s' cannot be the name of a library",
                           tt_text_excerpt(identifier ? identifier : "").text);
    for (size_t i = 0; i < recipe->builds.count; i++)
        if (strcmp(builds[i]->identifier, identifier) == 0) {
            reading->build = builds[i];
            reading->set = builds[i]->sets.count > 0 ? *(struct tt_recipe_set **)builds[i]->sets.items : NULL;
            return TUTTI_OK;
        }
    reading->build = recipe_add_item(recipe, &recipe->builds, sizeof *reading->build);
    if (!reading->build)
        return tt_fail_memory();
    reading->build->identifier = tt_arena_copy_text(&recipe->arena, identifier, strlen(identifier));
    return reading->build->identifier ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err recipe_add_set(struct recipe_reading *reading)
{
    reading->set = recipe_add_item(reading->recipe, &reading->build->sets, sizeof *reading->set);
    return reading->set ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err recipe_add_source(struct recipe_reading *reading, struct tt_xml *xml, const char *name)
{
    struct tt_text entry = {0};
    TRY(recipe_check_path(xml, name, "the source file"));
    tt_text_printf(&entry, "sources/%s", name);
    bool known = !entry.failed && tt_archive_has(reading->fmu->archive, entry.text);
    enum tutti_err err = entry.failed ? tt_fail_memory() : TUTTI_OK;
    tt_text_fini(&entry);
    if (!err && !known)
        err = tt_xml_fail(xml, TUTTI_ERR_FORMAT, "the source file '%s' is not in the FMU, below sources/",
                          tt_text_excerpt(name).text);
    if (err || recipe_has_text(&reading->set->sources, name))
        return err;
    return recipe_add_text(reading->recipe, &reading->set->sources, name, strlen(name));
}

/* ---- FMI 2.0 ---- */

static enum tutti_err recipe_start_fmi2(void *context, struct tt_xml *xml, const char *name, const char **attributes)
{
    struct recipe_reading *reading = context;
    reading->depth++;
    if (reading->depth == 2) {
        reading->build = NULL;
        if (strcmp(name, "CoSimulation") == 0 || strcmp(name, "ModelExchange") == 0)
            TRY(recipe_add_build(reading, xml, tt_xml_attribute(attributes, "modelIdentifier")));
        return reading->build && !reading->set ? recipe_add_set(reading) : TUTTI_OK;
    }
    if (reading->depth == 3)
        reading->in_files = reading->build && strcmp(name, "SourceFiles") == 0;
    if (reading->depth == 4 && reading->in_files && strcmp(name, "File") == 0)
        return recipe_add_source(reading, xml, tt_xml_attribute(attributes, "name"));
    return TUTTI_OK;
}

/* ---- FMI 3.0 ---- */

static enum tutti_err read_language(struct recipe_reading *reading, struct tt_xml *xml, const char *language)
{
    struct tt_text text = {0};
    struct tt_recipe_set *set = reading->set;
    if (!language || strcmp(language, "C") == 0)
        return TUTTI_OK;
    set->cpp = strncmp(language, "C++", 3) == 0;
    const char *year = language + (set->cpp ? 3 : 1);
    if (language[0] != 'C' || (*year && (strspn(year, "0123456789") != 2 || year[2])))
        return tt_xml_fail(xml, TUTTI_ERR_UNSUPPORTED,
                           "the sources are in the language '%s'; only C and C++ can be compiled",
                           tt_text_excerpt(language).text);
    if (!*year)
        return TUTTI_OK;
    tt_text_printf(&text, "-std=gnu%s%s", set->cpp ? "++" : "", year);
    set->standard = text.failed ? NULL : tt_arena_copy_text(&reading->recipe->arena, text.text, text.length);
    tt_text_fini(&text);
    return set->standard ? TUTTI_OK : tt_fail_memory();
}

/* Options that affect code generation only: they do not read or write other files or start other programs. */
static bool recipe_is_harmless(const char *option, size_t n)
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

static enum tutti_err recipe_read_options(struct recipe_reading *reading, struct tt_xml *xml, const char *options)
{
    for (const char *word = options ? options : ""; *word;) {
        word += strspn(word, " \t\n\r");
        size_t n = strcspn(word, " \t\n\r");
        if (n > 0 && !recipe_is_harmless(word, n))
            return tt_xml_fail(xml, TUTTI_ERR_UNSUPPORTED,
                               "compilerOptions has '%.*s', which is not handed on: only options that say how code "
                               "is made are (-O, -f, -m, -W, -g, -std=, -D, -U, -pthread)",
                               n < 100 ? (int)n : 100, word);
        if (n > 0)
            TRY(recipe_add_text(reading->recipe, &reading->set->options, word, n));
        word += n;
    }
    return TUTTI_OK;
}

/* Options are a compiler's own; those of others than GCC and Clang mean nothing here. */
static enum tutti_err recipe_start_set(struct recipe_reading *reading, struct tt_xml *xml, const char **attributes)
{
    const char *compiler = tt_xml_attribute(attributes, "compiler");
    TRY(recipe_add_set(reading));
    TRY(read_language(reading, xml, tt_xml_attribute(attributes, "language")));
    if (compiler && !strstr(compiler, "gcc") && !strstr(compiler, "clang") && strcmp(compiler, "cc") != 0)
        return TUTTI_OK;
    return recipe_read_options(reading, xml, tt_xml_attribute(attributes, "compilerOptions"));
}

static enum tutti_err add_definition(struct recipe_reading *reading, struct tt_xml *xml, const char **attributes)
{
    struct tt_text text = {0};
    const char *name = tt_xml_attribute(attributes, "name"), *value = tt_xml_attribute(attributes, "value");
    const char *optional = tt_xml_attribute(attributes, "optional");
    if (!name || !recipe_is_word(name, ""))
        return tt_xml_fail(xml, TUTTI_ERR_FORMAT, "'%s' cannot be the name of a preprocessor definition",
                           tt_text_excerpt(name ? name : "").text);
    if (optional && (strcmp(optional, "true") == 0 || strcmp(optional, "1") == 0))
        return TUTTI_OK; /* it is for callers that request it */
    tt_text_printf(&text, "-D%s%s%s", name, value ? "=" : "", value ? value : "");
    enum tutti_err err = text.failed
                             ? tt_fail_memory()
                             : recipe_add_text(reading->recipe, &reading->set->definitions, text.text, text.length);
    tt_text_fini(&text);
    return err;
}

static enum tutti_err recipe_add_library(struct recipe_reading *reading, struct tt_xml *xml, const char *name)
{
    if (!name || !recipe_is_word(name, "+-."))
        return tt_xml_fail(xml, TUTTI_ERR_FORMAT,
                           "'%s' cannot be the name of a library: give it without folders, 'lib' and '.so'",
                           tt_text_excerpt(name ? name : "").text);
    return recipe_add_text(reading->recipe, &reading->build->libraries, name, strlen(name));
}

/* Returns true if `platform` (NULL: unspecified) is that of the libraries. */
static bool recipe_is_for(const struct recipe_reading *reading, const char *platform)
{
    const char *const *ours = tt_binary_platforms()->folders;
    if (reading->platform)
        return !platform || strcmp(platform, reading->platform) == 0;
    while (platform && *ours && strcmp(*ours, platform) != 0)
        ours++;
    return !platform || *ours;
}

static enum tutti_err recipe_start_fmi3(void *context, struct tt_xml *xml, const char *name, const char **attributes)
{
    struct recipe_reading *reading = context;
    const char *called = tt_xml_attribute(attributes, "name");
    reading->depth++;
    if (reading->depth == 2) {
        reading->build = NULL;
        if (strcmp(name, "BuildConfiguration") == 0 && recipe_is_for(reading, tt_xml_attribute(attributes, "platform")))
            return recipe_add_build(reading, xml, tt_xml_attribute(attributes, "modelIdentifier"));
    } else if (reading->depth == 3 && reading->build) {
        reading->set = NULL;
        if (strcmp(name, "SourceFileSet") == 0)
            return recipe_start_set(reading, xml, attributes);
        if (strcmp(name, "Library") == 0)
            return recipe_add_library(reading, xml, called);
    } else if (reading->depth == 4 && reading->build && reading->set) {
        if (strcmp(name, "SourceFile") == 0)
            return recipe_add_source(reading, xml, called);
        if (strcmp(name, "PreprocessorDefinition") == 0)
            return add_definition(reading, xml, attributes);
        if (strcmp(name, "IncludeDirectory") == 0) {
            TRY(recipe_check_path(xml, called, "the include folder"));
            return recipe_add_text(reading->recipe, &reading->set->includes, called, strlen(called));
        }
    }
    return TUTTI_OK;
}

static enum tutti_err recipe_end_element(void *context, struct tt_xml *xml)
{
    struct recipe_reading *reading = context;
    (void)xml;
    reading->depth--;
    return TUTTI_OK;
}

/* ---- files ---- */

static enum tutti_err recipe_read_entry(struct recipe_reading *reading, const char *entry)
{
    const struct tt_fmu *fmu = reading->fmu;
    struct tt_xml_handlers handlers = {.start = fmu->desc->fmi == 2 ? recipe_start_fmi2 : recipe_start_fmi3,
                                       .end = recipe_end_element};
    struct tt_text shown = {0};
    struct tt_byte_source reader;
    tt_text_printf(&shown, "%s/%s", fmu->path, entry);
    enum tutti_err err = shown.failed ? tt_fail_memory() : TUTTI_OK;
    if (!err)
        err = tt_archive_open_entry(fmu->archive, entry, &reader);
    if (!err) {
        err = tt_xml_read(shown.text, &reader, &handlers, reading);
        tt_archive_close_entry(fmu->archive);
    }
    tt_text_fini(&shown);
    return err;
}

/* FMI 2.0 without a list: the file all.c, which includes the rest; without it, all suitable files in sources/. */
static enum tutti_err recipe_add_all_sources(struct tt_recipe *recipe, const struct tt_archive *archive,
                                             struct tt_recipe_set *set)
{
    if (tt_archive_has(archive, "sources/all.c"))
        return recipe_add_text(recipe, &set->sources, "all.c", strlen("all.c"));
    for (size_t i = 0; i < tt_archive_count(archive); i++) {
        const char *name = tt_archive_name(archive, i);
        if (strncmp(name, "sources/", 8) == 0 && !strchr(name + 8, '/') &&
            (recipe_ends_with(name + 8, ".c") || tt_recipe_is_cpp(name + 8)))
            TRY(recipe_add_text(recipe, &set->sources, name + 8, strlen(name + 8)));
    }
    return TUTTI_OK;
}

static size_t count_sources(const struct tt_recipe_build *build)
{
    size_t count = 0;
    for (size_t i = 0; i < build->sets.count; i++)
        count += ((struct tt_recipe_set **)build->sets.items)[i]->sources.count;
    return count;
}

/* Each library has something to be made of. */
static enum tutti_err recipe_complete(struct tt_recipe *recipe, const struct tt_fmu *fmu, const char *platform)
{
    struct tt_recipe_build *const *builds = recipe->builds.items;
    for (size_t i = 0; i < recipe->builds.count; i++) {
        if (fmu->desc->fmi == 2 && count_sources(builds[i]) == 0)
            TRY(recipe_add_all_sources(recipe, fmu->archive, *(struct tt_recipe_set **)builds[i]->sets.items));
        if (count_sources(builds[i]) == 0)
            return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s names no source files for the library '%s'", fmu->path,
                           builds[i]->identifier);
    }
    if (recipe->builds.count == 0)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s/sources/buildDescription.xml has no BuildConfiguration for the platform %s", fmu->path,
                       platform ? platform : tt_binary_platforms()->folders[0]);
    return TUTTI_OK;
}

enum tutti_err tt_recipe_read(struct tt_recipe *recipe, const struct tt_fmu *fmu, const char *platform)
{
    struct recipe_reading reading = {.recipe = recipe, .fmu = fmu, .platform = platform};
    *recipe = (struct tt_recipe){0};
    if (fmu->desc->fmi == 1)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s is of FMI 1.0, which does not say how sources are compiled: export it with a binary, or "
                       "as FMI 2.0 or 3.0",
                       fmu->path);
    if (!tt_archive_has(fmu->archive, "sources/"))
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s has no sources to compile (there is no folder sources/): export it with sources, or with "
                       "a binary for this platform (%s)",
                       fmu->path, tt_binary_platforms()->folders[0]);
    if (fmu->desc->fmi == 3 && !tt_archive_has(fmu->archive, "sources/buildDescription.xml"))
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s has sources, but not sources/buildDescription.xml, which says how they are compiled",
                       fmu->path);
    TRY(recipe_read_entry(&reading, fmu->desc->fmi == 2 ? "modelDescription.xml" : "sources/buildDescription.xml"));
    return recipe_complete(recipe, fmu, platform);
}
