/* SPDX-License-Identifier: MIT */
/* FMUs whose library is made when it is missing, once for the same content. */
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/run.h>

#include "base/fs.h"
#include "compile/compile.h"
#include "user/userdir.h"

static bool has_library(const struct tutti_fmu *fmu)
{
    const char *entry;
    bool misnamed;
    for (int i = 0; i < TUTTI_INTERFACE_COUNT; i++) {
        const struct tutti_interface *interface = &fmu->desc->interfaces[i];
        if (interface->present && interface->model_identifier &&
            tutti_library_find(fmu->archive, fmu->path, interface->model_identifier, &entry, &misnamed) != TUTTI_OK)
            return false;
    }
    return true;
}

static enum tutti_err hash_entry(crypto_hash_sha256_state *state, struct tutti_archive *archive, size_t index)
{
    unsigned char bytes[16384];
    size_t got = 0;
    struct tutti_reader reader;
    const char *name = tutti_archive_name(archive, index);
    uint64_t size = tutti_archive_size(archive, index);
    crypto_hash_sha256_update(state, (const unsigned char *)name, strlen(name) + 1);
    if (name[strlen(name) - 1] == '/')
        return TUTTI_OK;
    crypto_hash_sha256_update(state, (const unsigned char *)&size, sizeof size);
    TRY(tutti_archive_begin_entry(archive, name, &reader));
    enum tutti_err err;
    do {
        err = reader.read(reader.context, bytes, sizeof bytes, &got);
        crypto_hash_sha256_update(state, bytes, err ? 0 : got);
    } while (!err && got > 0);
    tutti_archive_end_entry(archive);
    return err;
}

/* Of all files in it, their names, and of us, who may compile otherwise in another version. */
static enum tutti_err hash(const struct tutti_fmu *fmu, char digits[2 * crypto_hash_sha256_BYTES + 1])
{
    unsigned char result[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    const char *version = tutti_version(), *platform = tutti_library_platforms()[0];
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)version, strlen(version) + 1);
    crypto_hash_sha256_update(&state, (const unsigned char *)platform, strlen(platform) + 1);
    for (size_t i = 0; i < tutti_archive_count(fmu->archive); i++)
        TRY(hash_entry(&state, fmu->archive, i));
    crypto_hash_sha256_final(&state, result);
    sodium_bin2hex(digits, 2 * sizeof result + 1, result, sizeof result);
    return TUTTI_OK;
}

/* CACHE/compiled/HASH.fmu; its folder is made. */
static enum tutti_err place(const struct tutti_fmu *fmu, struct tutti_text *path)
{
    char digits[2 * crypto_hash_sha256_BYTES + 1];
    TRY(hash(fmu, digits));
    char *folder = tutti_userdir_own();
    if (!folder)
        return tutti_fail(TUTTI_ERR_IO, "there is no folder to keep what is compiled (~/.cache/tutti): set "
                                        "XDG_CACHE_HOME, or compile with `tutti compile`");
    tutti_text_printf(path, "%s/compiled", folder);
    free(folder);
    if (!path->failed && !tutti_fs_make_folder(path->text))
        return tutti_fail(TUTTI_ERR_IO, "cannot make %s: %s", path->text, strerror(errno));
    tutti_text_printf(path, "/%s.fmu", digits);
    return path->failed ? tutti_fail_memory() : TUTTI_OK;
}

enum tutti_err tutti_compile_missing(const struct tutti_fmu *fmu, const struct tutti_log *log, char **built)
{
    struct tutti_text path = {0};
    struct stat status;
    *built = NULL;
    if (has_library(fmu))
        return TUTTI_OK;
    enum tutti_err err = place(fmu, &path);
    if (!err && stat(path.text, &status) != 0) {
        tutti_log_printf(log, TUTTI_LOG_INFO, fmu->path, "compiled from its sources, as %s", path.text);
        err = tutti_compile(fmu, path.text, &(struct tutti_compile_options){.log = log});
    }
    if (err)
        tutti_text_fini(&path);
    *built = path.text;
    return err;
}
