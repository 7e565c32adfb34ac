/* SPDX-License-Identifier: MIT */
/* The files of an FMU that a system is packed as:
 *
 *     modelDescription.xml
 *     binaries/x86_64-linux/CAR.so      tutti_packed.so, which is all of Tutti that a simulation needs; beside it the libraries that it needs
 *     resources/tutti.json              what the variables stand for
 *     resources/system/                 the system as tutti_save writes it, with FMUs unpacked: an importer unpacks all of it once, and
 *                                       instances need no folders of their own */
#include <tutti/pack.h>

#include <ctype.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tutti/save.h>

#include "base/fs.h"
#include "base/module.h"
#include "base/tempdir.h"
#include "base/vector.h"
#include "fmi/binary/needed.h"
#include "pack/describe.h"
#include "pack/states.h"
#include "ssp/package_write.h"

#define MODULE "tutti_packed.so"
#define SYSTEM "resources/" TUTTI_PACKED_SYSTEM
enum { TOKEN_BYTES = 16 };

struct packing {
    const char *output;
    unsigned fmi;
    struct tutti_job job;
    struct tutti_exposed_list exposed;
    struct tutti_tempdir *tempdir;
    const char *saved; /* the system as an SSP, in tempdir */
    struct tutti_archive *system;
    struct tutti_vector fmus; /* struct tutti_archive *, of the system's FMUs */
    struct tutti_package_part *parts;
    size_t part_count, part_room;
    struct tutti_text description, table;
    char *module; /* the path of the module */
    char name[256], identifier[256], token[2 * TOKEN_BYTES + 1];
    const char *binaries; /* their folder in the FMU */
    struct tutti_arena arena;
    bool out_of_memory; /* while libraries were visited */
};

/* ---- parts ---- */

/* As FOLDER/NAME; `folder` may be NULL. */
static enum tutti_err add_part(struct packing *packing, const struct tutti_package_part *part, const char *folder,
                               const char *name)
{
    struct tutti_text path = {0};
    tutti_text_printf(&path, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    const char *copy = path.failed ? NULL : tutti_arena_text(&packing->arena, path.text, path.length);
    tutti_text_fini(&path);
    if (!copy ||
        !tutti_vector_reserve(&packing->parts, &packing->part_room, packing->part_count + 1, sizeof *packing->parts))
        return tutti_fail_memory();
    packing->parts[packing->part_count] = *part;
    packing->parts[packing->part_count++].name = copy;
    return TUTTI_OK;
}

static enum tutti_err add_text(struct packing *packing, const char *name, const struct tutti_text *text)
{
    return add_part(packing, &(struct tutti_package_part){.data = text->text, .size = text->length}, NULL, name);
}

/* ---- the system ---- */

static bool is_fmu(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcasecmp(name + length - 4, ".fmu") == 0;
}

static enum tutti_err add_fmu(struct packing *packing, const char *folder, const char *name)
{
    struct tutti_archive **fmu = tutti_vector_push(&packing->fmus, sizeof *fmu);
    struct tutti_text path = {0};
    tutti_text_printf(&path, "%s/%s", folder, name);
    enum tutti_err err = !fmu || path.failed ? tutti_fail_memory() : tutti_archive_open(fmu, path.text);
    path.length = 0;
    tutti_text_printf(&path, SYSTEM "/%s", name);
    for (size_t i = 0; !err && i < tutti_archive_count(*fmu); i++)
        err = add_part(packing, &(struct tutti_package_part){.archive = *fmu, .index = i}, path.text,
                       tutti_archive_name(*fmu, i));
    tutti_text_fini(&path);
    return err;
}

static enum tutti_err add_system(struct packing *packing, const struct tutti_run_options *options)
{
    struct tutti_text path = {0};
    const char *folder;
    TRY(tutti_tempdir_new(&packing->tempdir));
    tutti_text_printf(&path, "%s/system.ssp", tutti_tempdir_path(packing->tempdir));
    packing->saved = path.failed ? NULL : tutti_arena_text(&packing->arena, path.text, path.length);
    tutti_text_fini(&path);
    TRY(packing->saved ? tutti_save(packing->saved, options) : tutti_fail_memory());
    TRY(tutti_archive_open(&packing->system, packing->saved));
    TRY(tutti_archive_folder(packing->system, &folder));
    for (size_t i = 0; i < tutti_archive_count(packing->system); i++) {
        const char *name = tutti_archive_name(packing->system, i);
        TRY(is_fmu(name) ? add_fmu(packing, folder, name)
                         : add_part(packing, &(struct tutti_package_part){.archive = packing->system, .index = i},
                                    SYSTEM, name));
    }
    return TUTTI_OK;
}

/* ---- libraries ---- */

/* Those that every system has in the version that its loader wants. */
static bool is_of_system(const char *name)
{
    static const char *const names[] = {"ld-linux",    "libc.so.",  "libm.so.",     "libdl.so.", "libpthread.so.",
                                        "librt.so.",   "libresolv", "libgcc_s.so.", "libstdc++", "libutil.so.",
                                        "linux-vdso.", "libasan",   "libubsan",     "libtsan"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void add_library(void *context, const char *path)
{
    struct packing *packing = context;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *copy = tutti_arena_text(&packing->arena, path, strlen(path));
    if (strcmp(path, packing->module) == 0 || is_of_system(name))
        return;
    packing->out_of_memory = packing->out_of_memory || !copy ||
                             add_part(packing, &(struct tutti_package_part){.path = copy}, packing->binaries, name);
}

static enum tutti_err add_libraries(struct packing *packing)
{
    struct tutti_needed_missing missing = {0};
    struct tutti_text own = {0};
    packing->binaries = packing->fmi == 3 ? "binaries/x86_64-linux" : "binaries/linux64";
    TRY(tutti_module_find(&packing->module, MODULE));
    tutti_text_printf(&own, "%s.so", packing->identifier);
    enum tutti_err err = own.failed ? tutti_fail_memory()
                                    : add_part(packing, &(struct tutti_package_part){.path = packing->module},
                                               packing->binaries, own.text);
    tutti_text_fini(&own);
    TRY(err);
    TRY(tutti_needed_each(packing->module, add_library, packing, &missing));
    if (packing->out_of_memory)
        return tutti_fail_memory();
    return *missing.name
               ? tutti_fail(TUTTI_ERR_LOAD, "%s, which a packed system needs, is not on this machine", missing.name)
               : TUTTI_OK;
}

/* ---- names ---- */

/* "dir/my-car.fmu": the model is "my-car", its identifier "my_car". */
static void choose_names(struct packing *packing)
{
    const char *last = strrchr(packing->output, '/') ? strrchr(packing->output, '/') + 1 : packing->output;
    size_t length = strlen(last) - 4;
    length = length < sizeof packing->name - 2 ? length : sizeof packing->name - 2;
    memcpy(packing->name, last, length);
    char *to = packing->identifier;
    if (isdigit((unsigned char)*packing->name))
        *to++ = '_';
    for (size_t i = 0; i < length; i++)
        *to++ = isalnum((unsigned char)last[i]) && (unsigned char)last[i] < 128 ? last[i] : '_';
}

/* Of everything that makes this FMU what it is, its system with options and FMUs and its variables: the same gives the same token, and nothing else does. */
static enum tutti_err choose_token(struct packing *packing)
{
    struct tutti_pack_description unnamed = {
        .job = &packing->job, .exposed = &packing->exposed, .fmi = packing->fmi, .token = ""};
    struct tutti_text table = {0};
    unsigned char digest[TOKEN_BYTES];
    crypto_generichash_state hash;
    size_t size = 0;
    TRY(tutti_pack_write_table(&unnamed, &table));
    char *system = table.failed ? NULL : tutti_fs_read_whole(packing->saved, &size);
    if (system) {
        crypto_generichash_init(&hash, NULL, 0, sizeof digest);
        crypto_generichash_update(&hash, (const void *)system, size);
        crypto_generichash_update(&hash, (const void *)table.text, table.length);
        crypto_generichash_final(&hash, digest, sizeof digest);
        sodium_bin2hex(packing->token, sizeof packing->token, digest, sizeof digest);
    }
    tutti_text_fini(&table);
    free(system);
    return system ? TUTTI_OK : tutti_fail(TUTTI_ERR_IO, "%s cannot be read", packing->saved);
}

/* ---- the FMU ---- */

static enum tutti_err check_output(const char *output, unsigned fmi)
{
    if (!is_fmu(output))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "the file to write is OUT.fmu, not '%s'", output);
    if (fmi != 2 && fmi != 3)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--fmi takes 2 or 3, not %u", fmi);
    return TUTTI_OK;
}

static enum tutti_err check_input(const struct packing *packing)
{
    for (uint32_t i = 0; i < packing->job.system->file_count; i++)
        if (tutti_fs_is_same(packing->job.system->files[i].path, packing->output))
            return tutti_fail(TUTTI_ERR_ARGUMENT, "%s is read, and cannot be written at the same time",
                              packing->output);
    return TUTTI_OK;
}

static enum tutti_err pack(struct packing *packing, const struct tutti_run_options *options, const char *const *expose,
                           size_t expose_count)
{
    TRY(tutti_job_load(&packing->job, options, NULL));
    TRY(check_input(packing));
    TRY(tutti_pack_check_averages(&packing->job));
    TRY(tutti_exposed_choose(&packing->exposed, &packing->job, packing->fmi, expose, expose_count));
    TRY(tutti_pack_expose_states(&packing->exposed, &packing->job, packing->fmi));
    TRY(tutti_exposed_check_names(&packing->exposed, packing->fmi));
    TRY(add_system(packing, options));
    choose_names(packing);
    TRY(choose_token(packing));
    const struct tutti_pack_description description = {.job = &packing->job,
                                                       .exposed = &packing->exposed,
                                                       .fmi = packing->fmi,
                                                       .name = packing->name,
                                                       .identifier = packing->identifier,
                                                       .token = packing->token};
    TRY(tutti_pack_describe(&description, &packing->description));
    TRY(tutti_pack_write_table(&description, &packing->table));
    TRY(add_text(packing, "modelDescription.xml", &packing->description));
    TRY(add_text(packing, "resources/" TUTTI_PACKED_TABLE, &packing->table));
    TRY(add_libraries(packing));
    return tutti_package_write(packing->output, packing->parts, packing->part_count);
}

static void release(struct packing *packing)
{
    struct tutti_archive **fmus = packing->fmus.items;
    for (size_t i = 0; i < packing->fmus.count; i++)
        tutti_archive_free(fmus[i]);
    tutti_vector_fini(&packing->fmus);
    tutti_archive_free(packing->system);
    tutti_tempdir_free(packing->tempdir);
    tutti_exposed_fini(&packing->exposed);
    tutti_text_fini(&packing->description);
    tutti_text_fini(&packing->table);
    tutti_arena_fini(&packing->arena);
    tutti_job_close(&packing->job);
    free(packing->parts);
    free(packing->module);
    free(packing);
}

enum tutti_err tutti_pack(const char *output, const struct tutti_run_options *options, unsigned fmi,
                          const char *const *expose, size_t expose_count)
{
    struct tutti_failure failure;
    TRY(check_output(output, fmi));
    struct packing *packing = calloc(1, sizeof *packing);
    if (!packing)
        return tutti_fail_memory();
    packing->output = output;
    packing->fmi = fmi;
    tutti_failure_keep(&failure, pack(packing, options, expose, expose_count));
    release(packing);
    return tutti_failure_return(&failure);
}
