/* SPDX-License-Identifier: MIT */
#include "fmu/build/compile_fmu.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tutti/run.h>

#include "base/fs.h"
#include "base/sandbox/landlock.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "base/wall_clock.h"
#include "fmu/archive/zip.h"
#include "fmu/binary/binary.h"
#include "fmu/build/compile_process.h"
#include "fmu/build/recipe.h"

enum { MOST_SECONDS = 600, LONGEST_COMPLAINT = 100000 };

/* One compilation, in a separate folder: sources/ and binaries/ as in the FMU; fmi/, our headers; tmp/ for the
 * compiler; objects and libraries beside them. */
struct compile_work {
    const struct tt_fmu *fmu;
    const struct tt_compile_fmu_options *options;
    struct tt_recipe recipe;
    struct tt_tempdir *folder;
    const char *path; /* of the folder */
    const char *platform;
    bool is_foreign;                    /* `platform` is not the platform of this process */
    bool brings_headers, has_libraries; /* the FMU */
    double end;
};

/* ---- files ---- */

/* In the arena of the recipe; NULL when memory is out. */
static const char *compile_fmu_join(struct compile_work *work, const char *format, const char *a, const char *b)
{
    struct tt_text text = {0};
    for (const char *c = format; *c; c++)
        if (*c == '1')
            tt_text_append(&text, a);
        else if (*c == '2')
            tt_text_append(&text, b);
        else
            tt_text_append_n(&text, c, 1);
    const char *joined = text.failed ? NULL : tt_arena_copy_text(&work->recipe.arena, text.text, text.length);
    tt_text_fini(&text);
    return joined;
}

static enum tutti_err compile_fmu_make_folder(struct compile_work *work, const char *name)
{
    const char *path = compile_fmu_join(work, "1/2", work->path, name);
    if (!path)
        return tt_fail_memory();
    return tt_fs_make_folder(path) ? TUTTI_OK : tt_fail(TUTTI_ERR_IO, "cannot make %s: %s", path, strerror(errno));
}

static enum tutti_err compile_fmu_unpack_file(struct compile_work *work, const char *name)
{
    struct tt_byte_source reader;
    const char *path = compile_fmu_join(work, "1/2", work->path, name);
    char *folder = tt_text_copy(name), *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        *slash = '\0';
    enum tutti_err err = path && folder ? compile_fmu_make_folder(work, folder) : tt_fail_memory();
    free(folder);
    TRY(err);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return tt_fail(TUTTI_ERR_IO, "cannot write %s: %s", path, strerror(errno));
    err = tt_archive_open_entry(work->fmu->archive, name, &reader);
    if (!err) {
        char bytes[16384];
        size_t got = 0;
        do {
            err = reader.read(reader.context, bytes, sizeof bytes, &got);
            if (!err && tt_fs_write(fd, bytes, got, -1) != got)
                err = tt_fail(TUTTI_ERR_IO, "cannot write %s: %s", path, strerror(errno));
        } while (got > 0 && !err);
        tt_archive_close_entry(work->fmu->archive);
    }
    close(fd);
    return err;
}

/* Sources, and libraries that they may be linked with. */
static enum tutti_err compile_fmu_unpack(struct compile_work *work)
{
    const struct tt_archive *archive = work->fmu->archive;
    const char *libraries = compile_fmu_join(work, "binaries/1/", work->platform, "");
    TRY(compile_fmu_make_folder(work, "sources"));
    TRY(compile_fmu_make_folder(work, "tmp"));
    TRY(compile_fmu_make_folder(work, "fmi"));
    if (!libraries)
        return tt_fail_memory();
    for (size_t i = 0; i < tt_archive_count(archive); i++) {
        const char *name = tt_archive_name(archive, i), *base = strrchr(name, '/');
        bool is_source = strncmp(name, "sources/", 8) == 0;
        bool is_library = strncmp(name, libraries, strlen(libraries)) == 0;
        if (!base || !base[1] || (!is_source && !is_library))
            continue;
        work->has_libraries = work->has_libraries || is_library;
        work->brings_headers = work->brings_headers ||
                               (is_source && tt_compile_fmu_has_header(work->fmu->desc->fmi, base + 1));
        TRY(compile_fmu_unpack_file(work, name));
    }
    return work->brings_headers
               ? TUTTI_OK
               : tt_compile_fmu_write_headers(work->fmu->desc->fmi, compile_fmu_join(work, "1/fmi", work->path, ""));
}

/* ---- command lines ---- */

/* A NULL argument means that memory is out, which is reported when the line is used. */
static void add_argument(struct tt_vector *line, bool *failed, const char *word)
{
    const char **slot = word ? tt_vector_push(line, sizeof *slot) : NULL;
    if (slot)
        *slot = word;
    *failed = *failed || !slot;
}

static void add_arguments(struct tt_vector *line, bool *failed, const struct tt_vector *words)
{
    for (size_t i = 0; i < words->count; i++)
        add_argument(line, failed, ((const char *const *)words->items)[i]);
}

/* Returns the first line that reports an error, otherwise the first line. */
static const char *find_error_line(const char *text)
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

static struct shown_line log_command(const char *line)
{
    struct shown_line shown;
    size_t n = strcspn(line, "\n"), length = n < sizeof shown.text ? n : sizeof shown.text - 1;
    memcpy(shown.text, line, length);
    shown.text[length] = '\0';
    tt_text_make_printable(shown.text);
    return shown;
}

/* Makes a message of the first error; the following lines go to `words` if requested. */
static enum tutti_err compile_fmu_fail(const struct compile_work *work, const char *what, const struct tt_text *said)
{
    struct tt_text *words = work->options->words;
    const char *first = said->length > 0 ? find_error_line(said->text) : "the compiler has ended without a word";
    for (const char *line = strchr(first, '\n'); words && line && line[1] && words->length < LONGEST_COMPLAINT;
         line = strchr(line + 1, '\n'))
        tt_text_printf(words, "%s\n", log_command(line + 1).text);
    return tt_fail(TUTTI_ERR_LOAD, "%s: %s: %s", work->fmu->path, what, log_command(first).text);
}

/* Runs a tool and frees the line. `what` describes the failed action in the message. */
static enum tutti_err compile_fmu_run_tool(struct compile_work *work, struct tt_vector *line, bool failed,
                                           const char *what)
{
    struct tt_text said = {0};
    bool good = false;
    double left = work->end - tt_wall_clock_now();
    const char *where = compile_fmu_join(work, "1/sources", work->path, "");
    const char **end = tt_vector_push(line, sizeof *end); /* the NULL at its end */
    enum tutti_err err = failed || !end || !where || !what ? tt_fail_memory() : TUTTI_OK;
    const struct tt_compile_process child = {line->items, work->path, where, left > 0 ? left : 0};
    if (!err)
        err = tt_fail_context(tt_compile_process_run(&child, &said, &good), "%s", work->fmu->path);
    if (!err && !good)
        err = compile_fmu_fail(work, what, &said);
    tt_vector_fini(line);
    tt_text_fini(&said);
    return err;
}

static const char *compiler_name(const struct compile_work *work)
{
    return work->options->compiler ? work->options->compiler : TUTTI_COMPILER;
}

static void add_sanitize_options(const struct compile_work *work, struct tt_vector *line, bool *failed)
{
    if (work->options->sanitize) {
        add_argument(line, failed, "-fsanitize=address,undefined");
        add_argument(line, failed, "-fno-omit-frame-pointer");
    }
}

/* The set's own options come last, so that they count. */
static enum tutti_err compile_source(struct compile_work *work, const struct tt_recipe_set *set, const char *source,
                                     const char *object)
{
    struct tt_vector line = {0};
    bool failed = false;
    const char *prefix = work->fmu->desc->fmi == 2 ? "-DFMI2_OVERRIDE_FUNCTION_PREFIX"
                                                   : "-DFMI3_OVERRIDE_FUNCTION_PREFIX";
    const char *const usual[] = {compiler_name(work),         "-c",   "-fPIC", "-O2", "-g", "-w",
                                 "-fdiagnostics-color=never", prefix, "-I."};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        add_argument(&line, &failed, usual[i]);
    for (size_t i = 0; i < set->includes.count; i++)
        add_argument(&line, &failed, compile_fmu_join(work, "-I1", ((const char *const *)set->includes.items)[i], ""));
    if (!work->brings_headers) {
        add_argument(&line, &failed, "-idirafter");
        add_argument(&line, &failed, "../fmi");
    }
    if (set->standard)
        add_argument(&line, &failed, set->standard);
    add_arguments(&line, &failed, &set->options);
    add_arguments(&line, &failed, &set->definitions);
    add_sanitize_options(work, &line, &failed);
    add_argument(&line, &failed, "-o");
    add_argument(&line, &failed, object);
    if (set->cpp) {
        add_argument(&line, &failed, "-x");
        add_argument(&line, &failed, "c++");
    }
    add_argument(&line, &failed, compile_fmu_join(work, "./1", source, ""));
    return compile_fmu_run_tool(work, &line, failed, compile_fmu_join(work, "sources/1 does not compile", source, ""));
}

static enum tutti_err link_objects(struct compile_work *work, const struct tt_recipe_build *build,
                                   const struct tt_vector *objects, bool cpp, const char *library)
{
    struct tt_vector line = {0};
    bool failed = false;
    add_argument(&line, &failed, compiler_name(work));
    add_argument(&line, &failed, "-shared");
    add_sanitize_options(work, &line, &failed);
    if (!work->options->sanitize) /* the sanitizer's functions come from the program */
        add_argument(&line, &failed, "-Wl,-z,defs");
    add_argument(&line, &failed, "-o");
    add_argument(&line, &failed, library);
    add_arguments(&line, &failed, objects);
    if (work->has_libraries) {
        add_argument(&line, &failed, compile_fmu_join(work, "-L1/binaries/2", work->path, work->platform));
        add_argument(&line, &failed, "-Wl,-rpath,$ORIGIN");
    }
    for (size_t i = 0; i < build->libraries.count; i++)
        add_argument(&line, &failed,
                     compile_fmu_join(work, "-l1", ((const char *const *)build->libraries.items)[i], ""));
    if (cpp)
        add_argument(&line, &failed, "-lstdc++");
    add_argument(&line, &failed, "-lm");
    return compile_fmu_run_tool(work, &line, failed,
                                compile_fmu_join(work, "1.so cannot be linked", build->identifier, ""));
}

static const char *library_path(struct compile_work *work, const struct tt_recipe_build *build)
{
    return compile_fmu_join(work, "1/2.so", work->path, build->identifier);
}

static enum tutti_err make_objects(struct compile_work *work, const struct tt_recipe_build *build,
                                   struct tt_vector *objects, bool *cpp)
{
    for (size_t s = 0; s < build->sets.count; s++) {
        const struct tt_recipe_set *set = ((struct tt_recipe_set *const *)build->sets.items)[s];
        for (size_t i = 0; i < set->sources.count; i++) {
            const char *source = ((const char *const *)set->sources.items)[i];
            struct tt_text number = {0};
            const char **slot = tt_vector_push(objects, sizeof *slot);
            tt_text_printf(&number, "%zu", objects->count);
            if (slot)
                *slot = number.failed ? NULL : compile_fmu_join(work, "1/2.o", work->path, number.text);
            bool enough = slot && *slot;
            tt_text_fini(&number);
            if (!enough)
                return tt_fail_memory();
            *cpp = *cpp || set->cpp || tt_recipe_is_cpp(source);
            TRY(compile_source(work, set, source, *slot));
        }
    }
    return TUTTI_OK;
}

static enum tutti_err make_library(struct compile_work *work, const struct tt_recipe_build *build)
{
    struct tt_vector objects = {0};
    bool cpp = false;
    const char *library = library_path(work, build);
    enum tutti_err err = library ? make_objects(work, build, &objects, &cpp) : tt_fail_memory();
    if (!err)
        err = link_objects(work, build, &objects, cpp, library);
    for (size_t i = 0; i < objects.count && ((const char **)objects.items)[i]; i++)
        unlink(((const char **)objects.items)[i]); /* the next library has its own */
    tt_vector_fini(&objects);
    return err;
}

/* ---- the FMU ---- */

/* Returns true if the entry is a library that a compiled library replaces. */
static bool compile_fmu_is_replaced(struct compile_work *work, const char *name)
{
    const struct tt_recipe_build *const *builds = work->recipe.builds.items;
    const char *const only[] = {work->platform, NULL};
    for (const char *const *platform = work->is_foreign ? only : tt_binary_platforms()->folders; *platform; platform++)
        for (size_t i = 0; i < work->recipe.builds.count; i++) {
            const char *library = compile_fmu_join(work, "binaries/1/2.so", *platform, builds[i]->identifier);
            if (library && strcmp(library, name) == 0)
                return true;
        }
    return false;
}

static enum tutti_err write_fmu(struct compile_work *work, const char *out)
{
    struct tt_archive *archive = work->fmu->archive;
    const struct tt_recipe_build *const *builds = work->recipe.builds.items;
    size_t count = 0;
    struct tt_zip_part *parts = calloc(tt_archive_count(archive) + work->recipe.builds.count, sizeof *parts);
    if (!parts)
        return tt_fail_memory();
    for (size_t i = 0; i < tt_archive_count(archive); i++) {
        const char *name = tt_archive_name(archive, i);
        if (!compile_fmu_is_replaced(work, name))
            parts[count++] = (struct tt_zip_part){.name = name, .archive = archive, .index = i};
    }
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < work->recipe.builds.count && !err; i++) {
        struct tt_zip_part *part = &parts[count++];
        part->name = compile_fmu_join(work, "binaries/1/2.so", work->platform, builds[i]->identifier);
        part->path = library_path(work, builds[i]);
        if (!part->name || !part->path)
            err = tt_fail_memory();
    }
    if (!err)
        err = tt_zip_write(out, parts, count);
    free(parts);
    return err;
}

/* ---- the platform ---- */

/* The e_machine and word size in ELF for each platform. */
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

static enum tutti_err compile_fmu_choose_platform(struct compile_work *work)
{
    const char *given = work->options->platform;
    const char *const *own = tt_binary_platforms()->folders;
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
    struct tt_text known = {0};
    for (size_t i = 0; i < MACHINES; i++)
        tt_text_printf(&known, "%s%s", i > 0 ? ", " : "", machines[i].platform);
    tt_fail(TUTTI_ERR_ARGUMENT, "--platform %s: that is none of %s", tt_text_excerpt(given).text,
            known.failed ? "those that are known" : known.text);
    tt_text_fini(&known);
    return TUTTI_ERR_ARGUMENT;
}

/* Checks that the compiler did not make a library for a different machine than the platform's. */
static enum tutti_err check_machine(struct compile_work *work, const struct tt_recipe_build *build)
{
    Elf64_Ehdr header; /* as of 32 bits up to e_machine */
    const char *library = library_path(work, build);
    if (!library)
        return tt_fail_memory();
    FILE *file = fopen(library, "rbe");
    bool whole = file && fread(&header, offsetof(Elf64_Ehdr, e_version), 1, file) == 1;
    if (file)
        fclose(file);
    bool is_elf = whole && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    for (size_t i = 0; i < MACHINES; i++) {
        if (strcmp(machines[i].platform, work->platform) != 0 ||
            (is_elf && header.e_machine == machines[i].machine && header.e_ident[EI_CLASS] == machines[i].class))
            continue;
        return tt_fail(TUTTI_ERR_LOAD,
                       "%s: the compiler, %s, makes libraries for another machine than %s (ELF machine %u): name its "
                       "platform with --platform, or another --compiler",
                       work->fmu->path, work->options->compiler ? work->options->compiler : TUTTI_COMPILER,
                       work->platform, is_elf ? header.e_machine : 0);
    }
    return TUTTI_OK;
}

static enum tutti_err compile_fmu_build(struct compile_work *work, const char *out)
{
    const struct tt_recipe_build *const *builds = NULL;
    TRY(compile_fmu_choose_platform(work));
    TRY(tt_recipe_read(&work->recipe, work->fmu, work->is_foreign ? work->platform : NULL));
    TRY(tt_tempdir_new(&work->folder));
    work->path = tt_tempdir_path(work->folder);
    if (tt_landlock_version() == 0)
        tt_log(work->options->log, TUTTI_LOG_WARNING, work->fmu->path,
               "the kernel cannot confine the compiler (no Landlock): sources may include any file that you "
               "can read");
    TRY(compile_fmu_unpack(work));
    builds = work->recipe.builds.items;
    for (size_t i = 0; i < work->recipe.builds.count; i++) {
        TRY(make_library(work, builds[i]));
        TRY(check_machine(work, builds[i]));
    }
    return write_fmu(work, out);
}

enum tutti_err tt_compile_fmu(const struct tt_fmu *fmu, const char *out, const struct tt_compile_fmu_options *options)
{
    double seconds = options->seconds > 0 ? options->seconds : MOST_SECONDS;
    struct compile_work work = {.fmu = fmu, .options = options, .end = tt_wall_clock_now() + seconds};
    struct tt_failure failure;
    tt_fail_save(&failure, compile_fmu_build(&work, out));
    tt_recipe_fini(&work.recipe);
    if (work.folder)
        tt_tempdir_free(work.folder);
    return tt_fail_restore(&failure);
}

/* fmu/api2.h and fmu/api3.h as they are: made by the build (src/CMakeLists.txt). */
extern const char tt_compile_fmu_api2[], tt_compile_fmu_api3[];

/* Macros that follow from the list of functions, with V for the version. A shared library has no prefix before the
 * names of its functions, whatever the sources define. */
static const char types_of_functions[] = "#ifndef TUTTI_FMIV_FUNCTION_TYPES\n"
                                         "#define TUTTI_FMIV_FUNCTION_TYPES\n"
                                         "#include \"%s\"\n"
                                         "#define TUTTI_TYPE(name, type, parameters, group) "
                                         "typedef type name##TYPE parameters;\n"
                                         "FMIV_FUNCTIONS(TUTTI_TYPE)\n"
                                         "#undef TUTTI_TYPE\n"
                                         "#endif\n";
static const char functions[] = "#ifndef TUTTI_FMIV_FUNCTIONS\n"
                                "#define TUTTI_FMIV_FUNCTIONS\n"
                                "#include \"fmiVFunctionTypes.h\"\n"
                                "#define FMIV_Export __attribute__((visibility(\"default\")))\n"
                                "#define fmiVFullName(name) name\n"
                                "#ifdef __cplusplus\n"
                                "extern \"C\" {\n"
                                "#endif\n"
                                "#define TUTTI_FUNCTION(name, type, parameters, group) FMIV_Export type name "
                                "parameters;\n"
                                "FMIV_FUNCTIONS(TUTTI_FUNCTION)\n"
                                "#undef TUTTI_FUNCTION\n"
                                "#ifdef __cplusplus\n"
                                "}\n"
                                "#endif\n"
                                "#endif\n";

static const char *const names[][3] = {
    {"fmi2TypesPlatform.h", "fmi2FunctionTypes.h", "fmi2Functions.h"},
    {"fmi3PlatformTypes.h", "fmi3FunctionTypes.h", "fmi3Functions.h"},
};

bool tt_compile_fmu_has_header(int fmi, const char *name)
{
    for (size_t i = 0; i < 3; i++)
        if (strcmp(names[fmi - 2][i], name) == 0)
            return true;
    return false;
}

/* V in words that begin with FMI or fmi is the version, and %s the name of the first header. */
static void fill_header(struct tt_text *out, const char *text, int fmi)
{
    for (const char *c = text; *c; c++)
        if (*c == 'V' && c - text >= 3 && (strncmp(c - 3, "FMI", 3) == 0 || strncmp(c - 3, "fmi", 3) == 0))
            tt_text_printf(out, "%d", fmi);
        else if (*c == '%' && *++c == 's')
            tt_text_append(out, names[fmi - 2][0]);
        else
            tt_text_append_n(out, c, 1);
}

enum tutti_err tt_compile_fmu_write_headers(int fmi, const char *folder)
{
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < 3 && !err; i++) {
        struct tt_text text = {0};
        if (i == 0)
            tt_text_append(&text, fmi == 2 ? tt_compile_fmu_api2 : tt_compile_fmu_api3);
        else
            fill_header(&text, i == 1 ? types_of_functions : functions, fmi);

        struct tt_text path = {0};
        tt_text_printf(&path, "%s/%s", folder, names[fmi - 2][i]);
        err = path.failed || text.failed ? tt_fail_memory() : TUTTI_OK;
        if (!err && !tt_fs_replace(path.text, text.text, text.length))
            err = tt_fail(TUTTI_ERR_IO, "cannot write %s: %s", path.text, strerror(errno));
        tt_text_fini(&path);
        tt_text_fini(&text);
    }
    return err;
}

/* FMUs without a library: it is compiled once per content. */

enum { COMPILER_DIGITS = 16 };

static bool compile_fmu_has_library(const struct tt_fmu *fmu)
{
    struct tt_binary_entry found;
    for (int i = 0; i < TUTTI_INTERFACE_COUNT; i++) {
        const struct tt_interface *interface = &fmu->desc->interfaces[i];
        if (interface->present && interface->model_identifier &&
            (tt_binary_find(fmu->archive, fmu->path, interface->model_identifier, &found) != TUTTI_OK || found.keeper))
            return false;
    }
    return true;
}

static enum tutti_err hash_entry(crypto_hash_sha256_state *state, struct tt_archive *archive, size_t index)
{
    unsigned char bytes[16384];
    size_t got = 0;
    struct tt_byte_source reader;
    const char *name = tt_archive_name(archive, index);
    uint64_t size = tt_archive_size(archive, index);
    crypto_hash_sha256_update(state, (const unsigned char *)name, strlen(name) + 1);
    if (name[strlen(name) - 1] == '/')
        return TUTTI_OK;
    crypto_hash_sha256_update(state, (const unsigned char *)&size, sizeof size);
    TRY(tt_archive_open_entry(archive, name, &reader));
    enum tutti_err err;
    do {
        err = reader.read(reader.context, bytes, sizeof bytes, &got);
        crypto_hash_sha256_update(state, bytes, err ? 0 : got);
    } while (!err && got > 0);
    tt_archive_close_entry(archive);
    return err;
}

/* Of all files in it, their names, and of us, who may compile otherwise in another version. */
static enum tutti_err compile_fmu_hash(const struct tt_fmu *fmu, char digits[2 * crypto_hash_sha256_BYTES + 1])
{
    unsigned char result[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    const char *version = tutti_version(), *platform = tt_binary_platforms()->folders[0];
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)version, strlen(version) + 1);
    crypto_hash_sha256_update(&state, (const unsigned char *)platform, strlen(platform) + 1);
    for (size_t i = 0; i < tt_archive_count(fmu->archive); i++)
        TRY(hash_entry(&state, fmu->archive, i));
    crypto_hash_sha256_final(&state, result);
    sodium_bin2hex(digits, 2 * sizeof result + 1, result, sizeof result);
    return TUTTI_OK;
}

/* Queries the compiler's name and version; empty if it cannot be started. */
static enum tutti_err query_compiler_version(struct tt_text *says)
{
    const char *const words[] = {TUTTI_COMPILER, "--version", NULL};
    struct tt_tempdir *tempdir;
    struct tt_text temporary = {0};
    bool good = false;
    TRY(tt_tempdir_new(&tempdir));
    const char *folder = tt_tempdir_path(tempdir);
    tt_text_printf(&temporary, "%s/tmp", folder);
    bool made = !temporary.failed && tt_fs_make_folder(temporary.text);
    const struct tt_compile_process child = {.words = words, .folder = folder, .where = folder, .seconds = 10};
    if (!made || tt_compile_process_run(&child, says, &good) != TUTTI_OK || !good)
        says->length = 0;
    tt_text_fini(&temporary);
    tt_tempdir_free(tempdir);
    return says->failed ? tt_fail_memory() : TUTTI_OK;
}

static enum tutti_err hash_compiler(char digits[COMPILER_DIGITS + 1])
{
    unsigned char result[crypto_hash_sha256_BYTES];
    struct tt_text says = {0};
    enum tutti_err err = query_compiler_version(&says);
    digits[0] = '\0';
    if (!err && says.length > 0) {
        crypto_hash_sha256(result, (const unsigned char *)says.text, says.length);
        sodium_bin2hex(digits, COMPILER_DIGITS + 1, result, COMPILER_DIGITS / 2);
    }
    tt_text_fini(&says);
    return err;
}

/* Without a compiler: finds the first library that any compiler made of this content. Appends "/NAME"; false if there
 * is none. */
static bool compile_fmu_find_cached(struct tt_text *folder, const char *content)
{
    struct tt_text first = {0};
    DIR *list = opendir(folder->text);
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        const char *ending = strrchr(entry->d_name, '.');
        if (strncmp(entry->d_name, content, strlen(content)) != 0 || !ending || strcmp(ending, ".fmu") != 0 ||
            (first.length > 0 && strcmp(first.text, entry->d_name) < 0))
            continue;
        first.length = 0;
        tt_text_append(&first, entry->d_name);
    }
    if (list)
        closedir(list);
    bool found = first.length > 0 && !first.failed;
    if (found)
        tt_text_printf(folder, "/%s", first.text);
    tt_text_fini(&first);
    return found;
}

/* CACHE/compiled/CONTENT-COMPILER.fmu; its folder is made. */
static enum tutti_err compile_fmu_cache_path(const struct tt_fmu *fmu, struct tt_text *path)
{
    char digits[2 * crypto_hash_sha256_BYTES + 1], compiler[COMPILER_DIGITS + 1];
    TRY(compile_fmu_hash(fmu, digits));
    TRY(hash_compiler(compiler));
    char *folder = tt_fs_own_cache();
    if (!folder)
        return tt_fail(TUTTI_ERR_IO, "there is no folder to keep what is compiled (~/.cache/tutti): set "
                                     "XDG_CACHE_HOME, or compile with `tutti compile`");
    tt_text_printf(path, "%s/compiled", folder);
    free(folder);
    if (!path->failed && !tt_fs_make_folder(path->text))
        return tt_fail(TUTTI_ERR_IO, "cannot make %s: %s", path->text, strerror(errno));
    if (compiler[0] || !compile_fmu_find_cached(path, digits))
        tt_text_printf(path, "/%s-%s.fmu", digits, compiler);
    return path->failed || !path->text ? tt_fail_memory() : TUTTI_OK;
}

enum tutti_err tt_compile_fmu_if_missing(const struct tt_fmu *fmu, const struct tutti_log *log, char **built)
{
    struct tt_text path = {0};
    struct stat status;
    *built = NULL;
    if (compile_fmu_has_library(fmu))
        return TUTTI_OK;
    enum tutti_err err = compile_fmu_cache_path(fmu, &path);
    if (!err && path.text && stat(path.text, &status) != 0) {
        tt_log(log, TUTTI_LOG_INFO, fmu->path, "compiled from its sources, as %s", path.text);
        err = tt_compile_fmu(fmu, path.text, &(struct tt_compile_fmu_options){.log = log});
    }
    if (err)
        tt_text_fini(&path);
    *built = path.text;
    return err;
}
