/* SPDX-License-Identifier: MIT */
/* FMUs whose library is made when it is missing, once for the same content. */
#include <dirent.h>
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/run.h>

#include "base/fs.h"
#include "base/tempdir.h"
#include "fmu/build/compile_process.h"
#include "fmu/build/compile_fmu.h"
#include "fmu/binary/binary.h"
#include "fmu/binary/platform.h"
#include "base/user_folder.h"

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

/* What the compiler says of itself, with its version; empty: it cannot be started. */
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

/* ... in few digits. */
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

/* Without a compiler: what any one made of the same content, the first by its name. Appends "/NAME"; false: there is none. */
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
