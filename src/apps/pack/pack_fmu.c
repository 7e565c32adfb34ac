/* SPDX-License-Identifier: MIT */
/* The files of an FMU that a system is packed as:
 *
 *     modelDescription.xml
 *     binaries/x86_64-linux/CAR.so      tt_packed.so, the parts of Tutti for a simulation, and libraries
 *     resources/tutti.json              the meaning of the variables
 *     resources/system/                 the system as tutti_save writes it, with FMUs unpacked for all instances */
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
#include "fmu/binary/binary.h"
#include "apps/pack/pack_description.h"
#include "apps/pack/exposed.h"
#include "fmu/archive/zip.h"

#define MODULE "tutti_packed.so"
#define SYSTEM "resources/" TUTTI_PACKED_SYSTEM
enum { TOKEN_BYTES = 16 };

struct packing {
    const char *output;
    unsigned fmi;
    struct tt_job job;
    struct tt_exposed_list exposed;
    struct tt_tempdir *tempdir;
    const char *saved; /* the system as an SSP, in tempdir */
    struct tt_archive *system;
    struct tt_vector fmus; /* struct tt_archive *, of the system's FMUs */
    struct tt_zip_part *parts;
    size_t part_count, part_room;
    struct tt_text description, table;
    char *module; /* the path of the module */
    char name[256], identifier[256], token[2 * TOKEN_BYTES + 1];
    const char *binaries; /* their folder in the FMU */
    struct tt_arena arena;
    bool out_of_memory; /* while libraries were visited */
};

/* ---- parts ---- */

/* As FOLDER/NAME; `folder` may be NULL. */
static enum tutti_err pack_fmu_add_part(struct packing *packing, const struct tt_zip_part *part, const char *folder,
                                        const char *name)
{
    struct tt_text path = {0};
    tt_text_printf(&path, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    const char *copy = path.failed ? NULL : tt_arena_copy_text(&packing->arena, path.text, path.length);
    tt_text_fini(&path);
    if (!copy ||
        !tt_vector_reserve(&packing->parts, &packing->part_room, packing->part_count + 1, sizeof *packing->parts))
        return tt_fail_memory();
    packing->parts[packing->part_count] = *part;
    packing->parts[packing->part_count++].name = copy;
    return TUTTI_OK;
}

static enum tutti_err pack_fmu_add_text(struct packing *packing, const char *name, const struct tt_text *text)
{
    return pack_fmu_add_part(packing, &(struct tt_zip_part){.data = text->text, .size = text->length}, NULL, name);
}

/* ---- the system ---- */

static bool is_fmu(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcasecmp(name + length - 4, ".fmu") == 0;
}

static enum tutti_err add_fmu(struct packing *packing, const char *folder, const char *name)
{
    struct tt_archive **fmu = tt_vector_push(&packing->fmus, sizeof *fmu);
    struct tt_text path = {0};
    tt_text_printf(&path, "%s/%s", folder, name);
    enum tutti_err err = !fmu || path.failed ? tt_fail_memory() : tt_archive_open(fmu, path.text);
    path.length = 0;
    tt_text_printf(&path, SYSTEM "/%s", name);
    for (size_t i = 0; !err && i < tt_archive_count(*fmu); i++)
        err = pack_fmu_add_part(packing, &(struct tt_zip_part){.archive = *fmu, .index = i}, path.text,
                                tt_archive_name(*fmu, i));
    tt_text_fini(&path);
    return err;
}

static enum tutti_err pack_fmu_add_system(struct packing *packing, const struct tutti_run_options *options)
{
    struct tt_text path = {0};
    const char *folder;
    TRY(tt_tempdir_new(&packing->tempdir));
    tt_text_printf(&path, "%s/system.ssp", tt_tempdir_path(packing->tempdir));
    packing->saved = path.failed ? NULL : tt_arena_copy_text(&packing->arena, path.text, path.length);
    tt_text_fini(&path);
    TRY(packing->saved ? tutti_save(packing->saved, options) : tt_fail_memory());
    TRY(tt_archive_open(&packing->system, packing->saved));
    TRY(tt_archive_unpack(packing->system, &folder));
    for (size_t i = 0; i < tt_archive_count(packing->system); i++) {
        const char *name = tt_archive_name(packing->system, i);
        TRY(is_fmu(name) ? add_fmu(packing, folder, name)
                         : pack_fmu_add_part(packing, &(struct tt_zip_part){.archive = packing->system, .index = i},
                                             SYSTEM, name));
    }
    return TUTTI_OK;
}

/* ---- libraries ---- */

/* Returns true for libraries whose version always matches the system's loader. */
static bool is_system_library(const char *name)
{
    static const char *const names[] = {"ld-linux",    "libc.so.",  "libm.so.",     "libdl.so.", "libpthread.so.",
                                        "librt.so.",   "libresolv", "libgcc_s.so.", "libstdc++", "libutil.so.",
                                        "linux-vdso.", "libasan",   "libubsan",     "libtsan"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void pack_fmu_add_library(void *context, const char *path)
{
    struct packing *packing = context;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *copy = tt_arena_copy_text(&packing->arena, path, strlen(path));
    if (strcmp(path, packing->module) == 0 || is_system_library(name))
        return;
    packing->out_of_memory = packing->out_of_memory || !copy ||
                             pack_fmu_add_part(packing, &(struct tt_zip_part){.path = copy}, packing->binaries, name);
}

static enum tutti_err pack_fmu_add_libraries(struct packing *packing)
{
    struct tt_needed_missing missing = {0};
    struct tt_text own = {0};
    packing->binaries = packing->fmi == 3 ? "binaries/x86_64-linux" : "binaries/linux64";
    TRY(tt_module_find(&packing->module, MODULE));
    tt_text_printf(&own, "%s.so", packing->identifier);
    enum tutti_err err = own.failed ? tt_fail_memory()
                                    : pack_fmu_add_part(packing, &(struct tt_zip_part){.path = packing->module},
                                                        packing->binaries, own.text);
    tt_text_fini(&own);
    TRY(err);
    TRY(tt_binary_each_needed(packing->module, pack_fmu_add_library, packing, &missing));
    if (packing->out_of_memory)
        return tt_fail_memory();
    return *missing.name
               ? tt_fail(TUTTI_ERR_LOAD, "%s, which a packed system needs, is not on this machine", missing.name)
               : TUTTI_OK;
}

/* ---- names ---- */

/* "dir/my-car.fmu": the model is "my-car", its identifier "my_car". */
static void choose_pack_names(struct packing *packing)
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
static enum tutti_err compute_pack_token(struct packing *packing)
{
    struct tt_pack_description unnamed = {
        .job = &packing->job, .exposed = &packing->exposed, .fmi = packing->fmi, .token = ""};
    struct tt_text table = {0};
    unsigned char digest[TOKEN_BYTES];
    crypto_generichash_state hash;
    size_t size = 0;
    TRY(tt_pack_description_write_table(&unnamed, &table));
    char *system = table.failed ? NULL : tt_fs_read_whole(packing->saved, &size);
    if (system) {
        crypto_generichash_init(&hash, NULL, 0, sizeof digest);
        crypto_generichash_update(&hash, (const void *)system, size);
        crypto_generichash_update(&hash, (const void *)table.text, table.length);
        crypto_generichash_final(&hash, digest, sizeof digest);
        sodium_bin2hex(packing->token, sizeof packing->token, digest, sizeof digest);
    }
    tt_text_fini(&table);
    free(system);
    return system ? TUTTI_OK : tt_fail(TUTTI_ERR_IO, "%s cannot be read", packing->saved);
}

/* ---- the FMU ---- */

static enum tutti_err pack_fmu_write(struct packing *packing, const struct tutti_run_options *options,
                                     const char *const *expose, size_t expose_count)
{
    TRY(tt_job_load(&packing->job, options, NULL));
    for (uint32_t i = 0; i < packing->job.system->file_count; i++)
        if (tt_fs_is_same_file(packing->job.system->files[i].path, packing->output))
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s is read, and cannot be written at the same time", packing->output);
    TRY(tt_exposed_check_averages(&packing->job));
    TRY(tt_exposed_choose(&packing->exposed, &packing->job, packing->fmi, expose, expose_count));
    TRY(tt_exposed_add_states(&packing->exposed, &packing->job, packing->fmi));
    TRY(tt_exposed_check_names(&packing->exposed, packing->fmi));
    TRY(pack_fmu_add_system(packing, options));
    choose_pack_names(packing);
    TRY(compute_pack_token(packing));
    const struct tt_pack_description description = {.job = &packing->job,
                                                    .exposed = &packing->exposed,
                                                    .fmi = packing->fmi,
                                                    .name = packing->name,
                                                    .identifier = packing->identifier,
                                                    .token = packing->token};
    TRY(tt_pack_description_write(&description, &packing->description));
    TRY(tt_pack_description_write_table(&description, &packing->table));
    TRY(pack_fmu_add_text(packing, "modelDescription.xml", &packing->description));
    TRY(pack_fmu_add_text(packing, "resources/" TUTTI_PACKED_TABLE, &packing->table));
    TRY(pack_fmu_add_libraries(packing));
    return tt_zip_write(packing->output, packing->parts, packing->part_count);
}

static void pack_fmu_release(struct packing *packing)
{
    struct tt_archive **fmus = packing->fmus.items;
    for (size_t i = 0; i < packing->fmus.count; i++)
        tt_archive_free(fmus[i]);
    tt_vector_fini(&packing->fmus);
    tt_archive_free(packing->system);
    tt_tempdir_free(packing->tempdir);
    tt_exposed_fini(&packing->exposed);
    tt_text_fini(&packing->description);
    tt_text_fini(&packing->table);
    tt_arena_fini(&packing->arena);
    tt_job_close(&packing->job);
    free(packing->parts);
    free(packing->module);
    free(packing);
}

enum tutti_err tutti_pack(const char *output, const struct tutti_run_options *options, unsigned fmi,
                          const char *const *expose, size_t expose_count)
{
    struct tt_failure failure;
    if (!is_fmu(output))
        return tt_fail(TUTTI_ERR_ARGUMENT, "the file to write is OUT.fmu, not '%s'", output);
    if (fmi != 2 && fmi != 3)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--fmi takes 2 or 3, not %u", fmi);
    struct packing *packing = calloc(1, sizeof *packing);
    if (!packing)
        return tt_fail_memory();
    packing->output = output;
    packing->fmi = fmi;
    tt_fail_save(&failure, pack_fmu_write(packing, options, expose, expose_count));
    pack_fmu_release(packing);
    return tt_fail_restore(&failure);
}
