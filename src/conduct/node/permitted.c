/* SPDX-License-Identifier: MIT */
#include "conduct/node/permitted.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "conduct/lines.h"

enum tutti_err tutti_permitted_add(struct tutti_permitted *permitted, const uint8_t hash[TUTTI_CONTENT_SIZE])
{
    void *hashes = reallocarray(permitted->hashes, permitted->count + 1, sizeof *permitted->hashes);
    if (!hashes)
        return tutti_fail_memory();
    permitted->hashes = hashes;
    memcpy(permitted->hashes[permitted->count++], hash, TUTTI_CONTENT_SIZE);
    return TUTTI_OK;
}

static enum tutti_err take(void *context, char *line, const char *place)
{
    uint8_t hash[TUTTI_CONTENT_SIZE];
    size_t length = strcspn(line, " \t"), read = 0;
    if (length != 2 * sizeof hash || sodium_hex2bin(hash, sizeof hash, line, length, NULL, &read, NULL) != 0 ||
        read != sizeof hash)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is no SHA-256 (64 hexadecimal digits), as sha256sum writes it",
                          place, tutti_str_show(line).text);
    return tutti_permitted_add(context, hash);
}

enum tutti_err tutti_permitted_read(struct tutti_permitted *permitted, const char *path)
{
    return tutti_lines_read(&(struct tutti_lines){"--allow-fmu", "a line is a SHA-256", take, permitted}, path);
}

void tutti_permitted_fini(struct tutti_permitted *permitted)
{
    free(permitted->hashes);
    *permitted = (struct tutti_permitted){0};
}

void tutti_permitted_pack(const struct tutti_permitted *permitted, struct tutti_parcel *parcel)
{
    tutti_parcel_put_u8(parcel, permitted->all);
    tutti_parcel_put_block(parcel, permitted->hashes, permitted->count * sizeof *permitted->hashes);
}

enum tutti_err tutti_permitted_unpack(struct tutti_permitted *permitted, struct tutti_unparcel *in)
{
    size_t size;
    *permitted = (struct tutti_permitted){.all = tutti_unparcel_u8(in) != 0};
    const void *hashes = tutti_unparcel_block(in, &size);
    if (!hashes || size == 0)
        return TUTTI_OK;
    permitted->hashes = malloc(size);
    if (!permitted->hashes)
        return tutti_fail_memory();
    memcpy(permitted->hashes, hashes, size);
    permitted->count = size / sizeof *permitted->hashes;
    return TUTTI_OK;
}

static bool has(const struct tutti_permitted *permitted, const struct tutti_content *content)
{
    for (size_t i = 0; i < permitted->count; i++)
        if (memcmp(permitted->hashes[i], content->hash, sizeof content->hash) == 0)
            return true;
    return false;
}

enum tutti_err tutti_permitted_check(const struct tutti_permitted *permitted, const struct tutti_system *system)
{
    for (uint32_t i = 0; i < system->file_count && !permitted->all; i++) {
        const struct tutti_system_file *file = &system->files[i];
        struct tutti_content content;
        char digits[TUTTI_CONTENT_TEXT];
        if (!file->fmu)
            continue;
        TRY(tutti_content_of_file(&content, file->path)); /* what is no plain file cannot be on the list */
        tutti_content_show(&content, digits);
        if (!has(permitted, &content))
            return tutti_fail(
                TUTTI_ERR_UNSUPPORTED,
                "this node runs only the FMUs that its owner has listed, and %s is none of them; its SHA-256 "
                "is %s",
                file->name, digits);
    }
    return TUTTI_OK;
}
