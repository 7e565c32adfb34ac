/* SPDX-License-Identifier: MIT */
#include "compile/compile.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/str.h"
#include "base/tempdir.h"
#include "compile/child.h"
#include "compile/headers.h"
#include "compile/recipe.h"
#include "confine/landlock.h"
#include "fmi/binary/platform.h"
#include "ssp/package_write.h"

enum { MOST_SECONDS = 600, LONGEST_COMPLAINT = 100000 };

/* One compilation, in a folder of its own: sources/ and binaries/ as in the FMU; fmi/, our headers; tmp/ for the compiler; objects and
 * libraries beside them. */
struct work {
    const struct tutti_fmu *fmu;
    const struct tutti_compile_options *options;
    struct tutti_recipe recipe;
    struct tutti_tempdir *folder;
    const char *path; /* of the folder */
    const char *platform;
    bool is_foreign;                    /* it is not this one */
    bool brings_headers, has_libraries; /* the FMU */
    double end;
};

/* ---- files ---- */

/* In the arena of the recipe; NULL when memory is out. */
static const char *join(struct work *work, const char *format, const char *a, const char *b)
{
    struct tutti_text text = {0};
    for (const char *c = format; *c; c++)
        if (*c == '1')
            tutti_text_append(&text, a);
        else if (*c == '2')
            tutti_text_append(&text, b);
        else
            tutti_text_append_n(&text, c, 1);
    const char *joined = text.failed ? NULL : tutti_arena_text(&work->recipe.arena, text.text, text.length);
    tutti_text_fini(&text);
    return joined;
}

static enum tutti_err make_folder(struct work *work, const char *name)
{
    const char *path = join(work, "1/2", work->path, name);
    if (!path)
        return tutti_fail_memory();
    return tutti_fs_make_folder(path) ? TUTTI_OK
                                      : tutti_fail(TUTTI_ERR_IO, "cannot make %s: %s", path, strerror(errno));
}

static enum tutti_err copy(struct tutti_reader *reader, int fd, const char *path)
{
    char bytes[16384];
    size_t got = 0;
    do {
        TRY(reader->read(reader->context, bytes, sizeof bytes, &got));
        if (tutti_fs_write(fd, bytes, got, -1) != got)
            return tutti_fail(TUTTI_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    } while (got > 0);
    return TUTTI_OK;
}

static enum tutti_err unpack_file(struct work *work, const char *name)
{
    struct tutti_reader reader;
    const char *path = join(work, "1/2", work->path, name);
    char *folder = tutti_str_copy(name), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        *slash = '\0';
    enum tutti_err err = path && folder ? make_folder(work, folder) : tutti_fail_memory();
    free(folder);
    TRY(err);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return tutti_fail(TUTTI_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    err = tutti_archive_begin_entry(work->fmu->archive, name, &reader);
    if (!err) {
        err = copy(&reader, fd, path);
        tutti_archive_end_entry(work->fmu->archive);
    }
    close(fd);
    return err;
}

/* Sources, and libraries that they may be linked with. */
static enum tutti_err unpack(struct work *work)
{
    const struct tutti_archive *archive = work->fmu->archive;
    const char *libraries = join(work, "binaries/1/", work->platform, "");
    TRY(make_folder(work, "sources"));
    TRY(make_folder(work, "tmp"));
    TRY(make_folder(work, "fmi"));
    if (!libraries)
        return tutti_fail_memory();
    for (size_t i = 0; i < tutti_archive_count(archive); i++) {
        const char *name = tutti_archive_name(archive, i), *base = strrchr(name, '/');
        bool is_source = strncmp(name, "sources/", 8) == 0;
        bool is_library = strncmp(name, libraries, strlen(libraries)) == 0;
        if (!base || !base[1] || (!is_source && !is_library))
            continue;
        work->has_libraries = work->has_libraries || is_library;
        work->brings_headers = work->brings_headers || (is_source && tutti_headers_has(work->fmu->desc->fmi, base + 1));
        TRY(unpack_file(work, name));
    }
    return work->brings_headers ? TUTTI_OK
                                : tutti_headers_write(work->fmu->desc->fmi, join(work, "1/fmi", work->path, ""));
}

/* ---- command lines ---- */

/* NULL is for want of memory, which is told when the line is used. */
static void say(struct tutti_vector *line, bool *failed, const char *word)
{
    const char **slot = word ? tutti_vector_push(line, sizeof *slot) : NULL;
    if (slot)
        *slot = word;
    *failed = *failed || !slot;
}

static void say_all(struct tutti_vector *line, bool *failed, const struct tutti_vector *words)
{
    for (size_t i = 0; i < words->count; i++)
        say(line, failed, ((const char *const *)words->items)[i]);
}

/* The first line that tells of an error; else the first line. */
static const char *find_error(const char *text)
{
    static const char *const signs[] = {"error:", "undefined reference", "cannot find", "multiple definition"};
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
            const char *found = strstr(line, signs[i]);
            if (found && found < line + n)
                return line;
        }
        line += n + (line[n] == '\n');
    }
    return text;
}

/* A line of the compiler, fit for people. */
struct shown_line {
    char text[500];
};

static struct shown_line show_line(const char *line)
{
    struct shown_line shown;
    size_t n = strcspn(line, "\n"), length = n < sizeof shown.text ? n : sizeof shown.text - 1;
    memcpy(shown.text, line, length);
    shown.text[length] = '\0';
    tutti_str_make_printable(shown.text);
    return shown;
}

/* The first error is the message; what follows it goes to those who want it. */
static enum tutti_err complain(const struct work *work, const char *what, const struct tutti_text *said)
{
    struct tutti_text *words = work->options->words;
    const char *first = said->length > 0 ? find_error(said->text) : "the compiler has ended without a word";
    for (const char *line = strchr(first, '\n'); words && line && line[1] && words->length < LONGEST_COMPLAINT;
         line = strchr(line + 1, '\n'))
        tutti_text_printf(words, "%s\n", show_line(line + 1).text);
    return tutti_fail(TUTTI_ERR_LOAD, "%s: %s: %s", work->fmu->path, what, show_line(first).text);
}

/* Frees the line. `what` says what has failed, if it does. */
static enum tutti_err run(struct work *work, struct tutti_vector *line, bool failed, const char *what)
{
    struct tutti_text said = {0};
    bool good = false;
    double left = work->end - tutti_clock_now();
    const char *where = join(work, "1/sources", work->path, "");
    const char **end = tutti_vector_push(line, sizeof *end); /* the NULL at its end */
    enum tutti_err err = failed || !end || !where || !what ? tutti_fail_memory() : TUTTI_OK;
    const struct tutti_child child = {line->items, work->path, where, left > 0 ? left : 0};
    if (!err)
        err = tutti_fail_context(tutti_child_run(&child, &said, &good), "%s", work->fmu->path);
    if (!err && !good)
        err = complain(work, what, &said);
    tutti_vector_fini(line);
    tutti_text_fini(&said);
    return err;
}

static const char *compiler_of(const struct work *work)
{
    return work->options->compiler ? work->options->compiler : TUTTI_COMPILER;
}

static void say_sanitize(const struct work *work, struct tutti_vector *line, bool *failed)
{
    if (work->options->sanitize) {
        say(line, failed, "-fsanitize=address,undefined");
        say(line, failed, "-fno-omit-frame-pointer");
    }
}

/* The set's own options come last, so that they count. */
static enum tutti_err compile_source(struct work *work, const struct tutti_recipe_set *set, const char *source,
                                     const char *object)
{
    struct tutti_vector line = {0};
    bool failed = false;
    const char *prefix = work->fmu->desc->fmi == 2 ? "-DFMI2_OVERRIDE_FUNCTION_PREFIX"
                                                   : "-DFMI3_OVERRIDE_FUNCTION_PREFIX";
    const char *const usual[] = {compiler_of(work),           "-c",   "-fPIC", "-O2", "-g", "-w",
                                 "-fdiagnostics-color=never", prefix, "-I."};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        say(&line, &failed, usual[i]);
    for (size_t i = 0; i < set->includes.count; i++)
        say(&line, &failed, join(work, "-I1", ((const char *const *)set->includes.items)[i], ""));
    if (!work->brings_headers) {
        say(&line, &failed, "-idirafter");
        say(&line, &failed, "../fmi");
    }
    if (set->standard)
        say(&line, &failed, set->standard);
    say_all(&line, &failed, &set->options);
    say_all(&line, &failed, &set->definitions);
    say_sanitize(work, &line, &failed);
    say(&line, &failed, "-o");
    say(&line, &failed, object);
    if (set->cpp) {
        say(&line, &failed, "-x");
        say(&line, &failed, "c++");
    }
    say(&line, &failed, join(work, "./1", source, ""));
    return run(work, &line, failed, join(work, "sources/1 does not compile", source, ""));
}

static enum tutti_err link_objects(struct work *work, const struct tutti_recipe_build *build,
                                   const struct tutti_vector *objects, bool cpp, const char *library)
{
    struct tutti_vector line = {0};
    bool failed = false;
    say(&line, &failed, compiler_of(work));
    say(&line, &failed, "-shared");
    say_sanitize(work, &line, &failed);
    if (!work->options->sanitize) /* whose functions are the program's */
        say(&line, &failed, "-Wl,-z,defs");
    say(&line, &failed, "-o");
    say(&line, &failed, library);
    say_all(&line, &failed, objects);
    if (work->has_libraries) {
        say(&line, &failed, join(work, "-L1/binaries/2", work->path, work->platform));
        say(&line, &failed, "-Wl,-rpath,$ORIGIN");
    }
    for (size_t i = 0; i < build->libraries.count; i++)
        say(&line, &failed, join(work, "-l1", ((const char *const *)build->libraries.items)[i], ""));
    if (cpp)
        say(&line, &failed, "-lstdc++");
    say(&line, &failed, "-lm");
    return run(work, &line, failed, join(work, "1.so cannot be linked", build->identifier, ""));
}

static const char *library_of(struct work *work, const struct tutti_recipe_build *build)
{
    return join(work, "1/2.so", work->path, build->identifier);
}

static enum tutti_err make_objects(struct work *work, const struct tutti_recipe_build *build,
                                   struct tutti_vector *objects, bool *cpp)
{
    for (size_t s = 0; s < build->sets.count; s++) {
        const struct tutti_recipe_set *set = ((struct tutti_recipe_set *const *)build->sets.items)[s];
        for (size_t i = 0; i < set->sources.count; i++) {
            const char *source = ((const char *const *)set->sources.items)[i];
            struct tutti_text number = {0};
            const char **slot = tutti_vector_push(objects, sizeof *slot);
            tutti_text_printf(&number, "%zu", objects->count);
            if (slot)
                *slot = number.failed ? NULL : join(work, "1/2.o", work->path, number.text);
            bool enough = slot && *slot;
            tutti_text_fini(&number);
            if (!enough)
                return tutti_fail_memory();
            *cpp = *cpp || set->cpp || tutti_recipe_is_cpp(source);
            TRY(compile_source(work, set, source, *slot));
        }
    }
    return TUTTI_OK;
}

static enum tutti_err make_library(struct work *work, const struct tutti_recipe_build *build)
{
    struct tutti_vector objects = {0};
    bool cpp = false;
    const char *library = library_of(work, build);
    enum tutti_err err = library ? make_objects(work, build, &objects, &cpp) : tutti_fail_memory();
    if (!err)
        err = link_objects(work, build, &objects, cpp, library);
    for (size_t i = 0; i < objects.count && ((const char **)objects.items)[i]; i++)
        unlink(((const char **)objects.items)[i]); /* the next library has its own */
    tutti_vector_fini(&objects);
    return err;
}

/* ---- the FMU ---- */

/* Is it a library that takes the place of one that was made? */
static bool is_replaced(struct work *work, const char *name)
{
    const struct tutti_recipe_build *const *builds = work->recipe.builds.items;
    const char *const only[] = {work->platform, NULL};
    for (const char *const *platform = work->is_foreign ? only : tutti_platforms()->folders; *platform; platform++)
        for (size_t i = 0; i < work->recipe.builds.count; i++) {
            const char *library = join(work, "binaries/1/2.so", *platform, builds[i]->identifier);
            if (library && strcmp(library, name) == 0)
                return true;
        }
    return false;
}

static enum tutti_err write_fmu(struct work *work, const char *out)
{
    struct tutti_archive *archive = work->fmu->archive;
    const struct tutti_recipe_build *const *builds = work->recipe.builds.items;
    size_t count = 0;
    struct tutti_package_part *parts = calloc(tutti_archive_count(archive) + work->recipe.builds.count, sizeof *parts);
    if (!parts)
        return tutti_fail_memory();
    for (size_t i = 0; i < tutti_archive_count(archive); i++) {
        const char *name = tutti_archive_name(archive, i);
        if (!is_replaced(work, name))
            parts[count++] = (struct tutti_package_part){.name = name, .archive = archive, .index = i};
    }
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < work->recipe.builds.count && !err; i++) {
        struct tutti_package_part *part = &parts[count++];
        part->name = join(work, "binaries/1/2.so", work->platform, builds[i]->identifier);
        part->path = library_of(work, builds[i]);
        if (!part->name || !part->path)
            err = tutti_fail_memory();
    }
    if (!err)
        err = tutti_package_write(out, parts, count);
    free(parts);
    return err;
}

/* ---- the platform ---- */

/* What libraries of a platform are for: e_machine of ELF, and whether they have 64 bits. */
static const struct {
    const char *platform;
    uint16_t machine;
    unsigned char class;
} machines[] = {
    {"x86_64-linux", EM_X86_64, ELFCLASS64},   {"linux64", EM_X86_64, ELFCLASS64},
    {"x86-linux", EM_386, ELFCLASS32},         {"linux32", EM_386, ELFCLASS32},
    {"aarch64-linux", EM_AARCH64, ELFCLASS64}, {"linux64-arm", EM_AARCH64, ELFCLASS64},
    {"aarch32-linux", EM_ARM, ELFCLASS32},     {"riscv64-linux", EM_RISCV, ELFCLASS64},
    {"ppc64-linux", EM_PPC64, ELFCLASS64},
};
enum { MACHINES = sizeof machines / sizeof *machines };

static enum tutti_err choose_platform(struct work *work)
{
    const char *given = work->options->platform;
    const char *const *own = tutti_platforms()->folders;
    /* By preference FMI 3.0's name, then 2.0's. */
    work->platform = given ? given : own[work->fmu->desc->fmi == 2];
    for (size_t i = 0; i < MACHINES; i++)
        if (strcmp(machines[i].platform, work->platform) == 0) {
            while (*own && strcmp(*own, work->platform) != 0)
                own++;
            work->is_foreign = !*own;
            return TUTTI_OK;
        }
    if (!given)
        return TUTTI_OK;
    struct tutti_text known = {0};
    for (size_t i = 0; i < MACHINES; i++)
        tutti_text_printf(&known, "%s%s", i > 0 ? ", " : "", machines[i].platform);
    tutti_fail(TUTTI_ERR_ARGUMENT, "--platform %s: that is none of %s", tutti_str_show(given).text,
               known.failed ? "those that are known" : known.text);
    tutti_text_fini(&known);
    return TUTTI_ERR_ARGUMENT;
}

/* A compiler for another machine must not make what passes for a library of this one. */
static enum tutti_err check_machine(struct work *work, const struct tutti_recipe_build *build)
{
    Elf64_Ehdr header; /* as of 32 bits up to e_machine */
    const char *library = library_of(work, build);
    if (!library)
        return tutti_fail_memory();
    FILE *file = fopen(library, "rbe");
    bool whole = file && fread(&header, offsetof(Elf64_Ehdr, e_version), 1, file) == 1;
    if (file)
        fclose(file);
    bool is_elf = whole && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    for (size_t i = 0; i < MACHINES; i++) {
        if (strcmp(machines[i].platform, work->platform) != 0 ||
            (is_elf && header.e_machine == machines[i].machine && header.e_ident[EI_CLASS] == machines[i].class))
            continue;
        return tutti_fail(
            TUTTI_ERR_LOAD,
            "%s: the compiler, %s, makes libraries for another machine than %s (ELF machine %u): name its "
            "platform with --platform, or another --compiler",
            work->fmu->path, work->options->compiler ? work->options->compiler : TUTTI_COMPILER, work->platform,
            is_elf ? header.e_machine : 0);
    }
    return TUTTI_OK;
}

static enum tutti_err compile(struct work *work, const char *out)
{
    const struct tutti_recipe_build *const *builds = NULL;
    TRY(choose_platform(work));
    TRY(tutti_recipe_read(&work->recipe, work->fmu, work->is_foreign ? work->platform : NULL));
    TRY(tutti_tempdir_new(&work->folder));
    work->path = tutti_tempdir_path(work->folder);
    if (tutti_landlock_version() == 0)
        tutti_log_printf(work->options->log, TUTTI_LOG_WARNING, work->fmu->path,
                         "the kernel cannot confine the compiler (no Landlock): sources may include any file that you "
                         "can read");
    TRY(unpack(work));
    builds = work->recipe.builds.items;
    for (size_t i = 0; i < work->recipe.builds.count; i++) {
        TRY(make_library(work, builds[i]));
        TRY(check_machine(work, builds[i]));
    }
    return write_fmu(work, out);
}

enum tutti_err tutti_compile(const struct tutti_fmu *fmu, const char *out, const struct tutti_compile_options *options)
{
    double seconds = options->seconds > 0 ? options->seconds : MOST_SECONDS;
    struct work work = {.fmu = fmu, .options = options, .end = tutti_clock_now() + seconds};
    struct tutti_failure failure;
    tutti_failure_keep(&failure, compile(&work, out));
    tutti_recipe_fini(&work.recipe);
    if (work.folder)
        tutti_tempdir_free(work.folder);
    return tutti_failure_return(&failure);
}
