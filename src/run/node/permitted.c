/* SPDX-License-Identifier: MIT */
#include "run/node/permitted.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "run/list_file.h"

enum tutti_err tt_node_policy_permit(struct tt_permitted_fmus *permitted, const uint8_t hash[TUTTI_CONTENT_SIZE])
{
    void *hashes = reallocarray(permitted->hashes, permitted->count + 1, sizeof *permitted->hashes);
    if (!hashes)
        return tt_fail_memory();
    permitted->hashes = hashes;
    memcpy(permitted->hashes[permitted->count++], hash, TUTTI_CONTENT_SIZE);
    return TUTTI_OK;
}

static enum tutti_err permitted_parse_line(void *context, char *line, const char *place)
{
    uint8_t hash[TUTTI_CONTENT_SIZE];
    size_t length = strcspn(line, " \t"), read = 0;
    if (length != 2 * sizeof hash || sodium_hex2bin(hash, sizeof hash, line, length, NULL, &read, NULL) != 0 ||
        read != sizeof hash)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is no SHA-256 (64 hexadecimal digits), as sha256sum writes it",
                       place, tt_text_excerpt(line).text);
    return tt_node_policy_permit(context, hash);
}

enum tutti_err tt_node_policy_read_permitted(struct tt_permitted_fmus *permitted, const char *path)
{
    return tt_list_file_read(
        &(struct tt_list_file){"--allow-fmu", "a line is a SHA-256", permitted_parse_line, permitted}, path);
}

void tt_node_policy_free_permitted(struct tt_permitted_fmus *permitted)
{
    free(permitted->hashes);
    *permitted = (struct tt_permitted_fmus){0};
}

void tt_node_policy_pack_permitted(const struct tt_permitted_fmus *permitted, struct tt_byte_writer *parcel)
{
    tt_bytes_put_u8(parcel, permitted->all);
    tt_bytes_put_block(parcel, permitted->hashes, permitted->count * sizeof *permitted->hashes);
}

enum tutti_err tt_node_policy_unpack_permitted(struct tt_permitted_fmus *permitted, struct tt_byte_reader *in)
{
    size_t size;
    *permitted = (struct tt_permitted_fmus){.all = tt_bytes_get_u8(in) != 0};
    const void *hashes = tt_bytes_get_block(in, &size);
    if (!hashes || size == 0)
        return TUTTI_OK;
    permitted->hashes = malloc(size);
    if (!permitted->hashes)
        return tt_fail_memory();
    memcpy(permitted->hashes, hashes, size);
    permitted->count = size / sizeof *permitted->hashes;
    return TUTTI_OK;
}

static bool permitted_contains(const struct tt_permitted_fmus *permitted, const struct tt_content *content)
{
    for (size_t i = 0; i < permitted->count; i++)
        if (memcmp(permitted->hashes[i], content->hash, sizeof content->hash) == 0)
            return true;
    return false;
}

enum tutti_err tt_node_policy_check_permitted(const struct tt_permitted_fmus *permitted, const struct tt_system *system)
{
    for (uint32_t i = 0; i < system->file_count && !permitted->all; i++) {
        const struct tt_system_file *file = &system->files[i];
        struct tt_content content;
        char digits[TUTTI_CONTENT_TEXT];
        if (!file->fmu)
            continue;
        TRY(tt_content_of_file(&content, file->path)); /* what is no plain file cannot be on the list */
        tt_content_format(&content, digits);
        if (!permitted_contains(permitted, &content))
            return tt_fail(
                TUTTI_ERR_UNSUPPORTED,
                "this node runs only the FMUs that its owner has listed, and %s is none of them; its SHA-256 "
                "is %s",
                file->name, digits);
    }
    return TUTTI_OK;
}
