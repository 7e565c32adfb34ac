/* SPDX-License-Identifier: MIT */
#include "sim/checkpoint/checkpoint.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/text.h"

#define MAGIC "Tutti checkpoint\n"
enum { FORMAT = 1, HASH = 32, HEAD = sizeof MAGIC - 1 + 2 * sizeof(uint32_t) + HASH };

/* Its blocks are read by memcpy: the order of bytes, and the sizes of what they hold. */
static uint32_t machine_layout(void)
{
    const uint32_t order = 0x01020304;
    uint8_t first;
    memcpy(&first, &order, 1);
    return (uint32_t)first << 24 | (uint32_t)sizeof(long) << 16 | (uint32_t)sizeof(void *) << 8 | _Alignof(double);
}

/* The file is in memory, with what owns it. */
struct owned {
    struct tt_checkpoint checkpoint;
    char *bytes; /* NULL: the caller's */
};

char *tt_checkpoint_previous_path(const char *path)
{
    struct tt_text text = {0};
    tt_text_printf(&text, "%s.previous", path);
    if (!text.failed)
        return text.text;
    tt_text_fini(&text);
    return NULL;
}

/* ---- writing ---- */

static void checkpoint_put_piece(struct tt_byte_writer *parcel, const struct tt_bytes *piece)
{
    tt_bytes_put_block(parcel, piece->data, piece->size);
}

void tt_checkpoint_encode(struct tt_byte_writer *file, const struct tt_checkpoint *checkpoint)
{
    tt_bytes_reset(file);
    tt_bytes_put_bytes(file, MAGIC, sizeof MAGIC - 1);
    tt_bytes_put_u32(file, FORMAT);
    tt_bytes_put_u32(file, machine_layout());
    if (!tt_bytes_extend(file, HASH))
        return;
    tt_bytes_put_double(file, checkpoint->t);
    checkpoint_put_piece(file, &checkpoint->identity);
    checkpoint_put_piece(file, &checkpoint->result);
    checkpoint_put_piece(file, &checkpoint->step_log);
    checkpoint_put_piece(file, &checkpoint->common);
    tt_bytes_put_u32(file, checkpoint->unit_count);
    for (uint32_t i = 0; i < checkpoint->unit_count; i++)
        checkpoint_put_piece(file, &checkpoint->units[i]);
}

void tt_checkpoint_add_hash(struct tt_byte_writer *file)
{
    unsigned char *bytes = (unsigned char *)file->bytes;
    if (!file->failed && file->size >= HEAD)
        crypto_generichash(bytes + HEAD - HASH, HASH, bytes + HEAD, file->size - HEAD, NULL, 0);
}

void tt_checkpoint_encode_and_hash(struct tt_byte_writer *file, const struct tt_checkpoint *checkpoint)
{
    tt_checkpoint_encode(file, checkpoint);
    tt_checkpoint_add_hash(file);
}

/* ---- reading ---- */

static void checkpoint_get_piece(struct tt_byte_reader *in, struct tt_bytes *piece)
{
    piece->data = tt_bytes_get_block(in, &piece->size);
}

static enum tutti_err read_payload(struct tt_checkpoint *checkpoint, struct tt_byte_reader *in, const char *name)
{
    checkpoint->t = tt_bytes_get_double(in);
    checkpoint_get_piece(in, &checkpoint->identity);
    checkpoint_get_piece(in, &checkpoint->result);
    checkpoint_get_piece(in, &checkpoint->step_log);
    checkpoint_get_piece(in, &checkpoint->common);
    uint32_t count = tt_bytes_get_u32(in);
    in->bad = in->bad || count > (size_t)(in->end - in->at) / sizeof(uint64_t); /* each has its length */
    checkpoint->units = in->bad ? NULL : calloc((size_t)count + 1, sizeof *checkpoint->units);
    if (!in->bad && !checkpoint->units)
        return tt_fail_memory();
    for (; !in->bad && checkpoint->unit_count < count; checkpoint->unit_count++)
        checkpoint_get_piece(in, &checkpoint->units[checkpoint->unit_count]);
    return in->bad || in->at != in->end
               ? tt_fail(TUTTI_ERR_FORMAT, "'%s' is damaged: its parts do not fit together", name)
               : TUTTI_OK;
}

static enum tutti_err checkpoint_check_head(struct tt_byte_reader *in, const char *name)
{
    unsigned char found[HASH];
    const char *magic = tt_bytes_get(in, sizeof MAGIC - 1);
    if (in->bad || memcmp(magic, MAGIC, sizeof MAGIC - 1) != 0)
        return tt_fail(TUTTI_ERR_FORMAT, "'%s' is no checkpoint of Tutti", name);
    uint32_t format = tt_bytes_get_u32(in), other = tt_bytes_get_u32(in);
    const unsigned char *hash = tt_bytes_get(in, HASH);
    if (in->bad)
        return tt_fail(TUTTI_ERR_FORMAT, "'%s' is damaged: it ends too early", name);
    if (format != FORMAT)
        return tt_fail(TUTTI_ERR_FORMAT,
                       "'%s' is a checkpoint of format %u, and this version of Tutti reads format %d: go on with the "
                       "version that wrote it",
                       name, format, FORMAT);
    if (other != machine_layout())
        return tt_fail(TUTTI_ERR_FORMAT, "'%s' is a checkpoint of a machine of another kind; go on there", name);
    crypto_generichash(found, HASH, (const unsigned char *)in->at, (unsigned long long)(in->end - in->at), NULL, 0);
    return memcmp(found, hash, HASH) == 0
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_FORMAT, "'%s' is damaged: it is not as it was written", name);
}

enum tutti_err tt_checkpoint_parse(struct tt_checkpoint **out, const void *bytes, size_t size, const char *name)
{
    struct tt_byte_reader in = tt_bytes_get_begin((struct tt_bytes){size, bytes});
    struct owned *owned = calloc(1, sizeof *owned);
    *out = NULL;
    if (!owned)
        return tt_fail_memory();
    enum tutti_err err = checkpoint_check_head(&in, name);
    if (!err)
        err = read_payload(&owned->checkpoint, &in, name);
    if (err)
        tt_checkpoint_free(&owned->checkpoint);
    else
        *out = &owned->checkpoint;
    return err;
}

void tt_checkpoint_free(struct tt_checkpoint *checkpoint)
{
    struct owned *owned = (struct owned *)checkpoint;
    if (!owned)
        return;
    free(checkpoint->units);
    free(owned->bytes);
    free(owned);
}

static enum tutti_err checkpoint_read_bytes(char **bytes, size_t *size, const char *path)
{
    *bytes = tt_fs_read_whole(path, size);
    if (*bytes)
        return TUTTI_OK;
    if (errno == ENOMEM)
        return tt_fail_memory();
    return errno == EINVAL ? tt_fail(TUTTI_ERR_FORMAT, "'%s' is no checkpoint of Tutti", path)
                           : tt_fail(TUTTI_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
}

static enum tutti_err checkpoint_read_file(struct tt_checkpoint **out, const char *path)
{
    char *bytes;
    size_t size = 0;
    TRY(checkpoint_read_bytes(&bytes, &size, path));
    enum tutti_err err = tt_checkpoint_parse(out, bytes, size, path);
    if (err)
        free(bytes);
    else
        ((struct owned *)*out)->bytes = bytes;
    return err;
}

enum tutti_err tt_checkpoint_read(struct tt_checkpoint **out, const char *path, bool *kept)
{
    struct tt_failure failure;
    *kept = false;
    tt_fail_save(&failure, checkpoint_read_file(out, path));
    if (!failure.err)
        return TUTTI_OK;
    char *previous = tt_checkpoint_previous_path(path);
    *kept = previous && checkpoint_read_file(out, previous) == TUTTI_OK;
    free(previous);
    return *kept ? TUTTI_OK : tt_fail_restore(&failure);
}
