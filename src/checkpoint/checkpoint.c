/* SPDX-License-Identifier: MIT */
#include "checkpoint/checkpoint.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"

#define MAGIC "Tutti checkpoint\n"
enum { FORMAT = 1, HASH = 32, HEAD = sizeof MAGIC - 1 + 2 * sizeof(uint32_t) + HASH };

/* Its blocks are read by memcpy: the order of bytes, and the sizes of what they hold. */
static uint32_t machine(void)
{
    const uint32_t order = 0x01020304;
    uint8_t first;
    memcpy(&first, &order, 1);
    return (uint32_t)first << 24 | (uint32_t)sizeof(long) << 16 | (uint32_t)sizeof(void *) << 8 | _Alignof(double);
}

/* The file is in memory, with what owns it. */
struct owned {
    struct tutti_checkpoint checkpoint;
    char *bytes; /* NULL: the caller's */
};

char *tutti_checkpoint_previous(const char *path)
{
    struct tutti_text text = {0};
    tutti_text_printf(&text, "%s.previous", path);
    if (!text.failed)
        return text.text;
    tutti_text_fini(&text);
    return NULL;
}

/* ---- writing ---- */

static void put(struct tutti_parcel *parcel, const struct tutti_bytes *piece)
{
    tutti_parcel_put_block(parcel, piece->data, piece->size);
}

void tutti_checkpoint_lay_out(struct tutti_parcel *file, const struct tutti_checkpoint *checkpoint)
{
    tutti_parcel_reset(file);
    tutti_parcel_put_bytes(file, MAGIC, sizeof MAGIC - 1);
    tutti_parcel_put_u32(file, FORMAT);
    tutti_parcel_put_u32(file, machine());
    if (!tutti_parcel_extend(file, HASH))
        return;
    tutti_parcel_put_double(file, checkpoint->t);
    put(file, &checkpoint->identity);
    put(file, &checkpoint->result);
    put(file, &checkpoint->step_log);
    put(file, &checkpoint->common);
    tutti_parcel_put_u32(file, checkpoint->unit_count);
    for (uint32_t i = 0; i < checkpoint->unit_count; i++)
        put(file, &checkpoint->units[i]);
}

void tutti_checkpoint_seal(struct tutti_parcel *file)
{
    unsigned char *bytes = (unsigned char *)file->bytes;
    if (!file->failed && file->size >= HEAD)
        crypto_generichash(bytes + HEAD - HASH, HASH, bytes + HEAD, file->size - HEAD, NULL, 0);
}

void tutti_checkpoint_compose(struct tutti_parcel *file, const struct tutti_checkpoint *checkpoint)
{
    tutti_checkpoint_lay_out(file, checkpoint);
    tutti_checkpoint_seal(file);
}

/* ---- reading ---- */

static void get(struct tutti_unparcel *in, struct tutti_bytes *piece)
{
    piece->data = tutti_unparcel_block(in, &piece->size);
}

static enum tutti_err read_payload(struct tutti_checkpoint *checkpoint, struct tutti_unparcel *in, const char *name)
{
    checkpoint->t = tutti_unparcel_double(in);
    get(in, &checkpoint->identity);
    get(in, &checkpoint->result);
    get(in, &checkpoint->step_log);
    get(in, &checkpoint->common);
    uint32_t count = tutti_unparcel_u32(in);
    in->bad = in->bad || count > (size_t)(in->end - in->at) / sizeof(uint64_t); /* each has its length */
    checkpoint->units = in->bad ? NULL : calloc((size_t)count + 1, sizeof *checkpoint->units);
    if (!in->bad && !checkpoint->units)
        return tutti_fail_memory();
    for (; !in->bad && checkpoint->unit_count < count; checkpoint->unit_count++)
        get(in, &checkpoint->units[checkpoint->unit_count]);
    return in->bad || in->at != in->end
               ? tutti_fail(TUTTI_ERR_FORMAT, "'%s' is damaged: its parts do not fit together", name)
               : TUTTI_OK;
}

static enum tutti_err check_head(struct tutti_unparcel *in, const char *name)
{
    unsigned char found[HASH];
    const char *magic = tutti_unparcel_bytes(in, sizeof MAGIC - 1);
    if (in->bad || memcmp(magic, MAGIC, sizeof MAGIC - 1) != 0)
        return tutti_fail(TUTTI_ERR_FORMAT, "'%s' is no checkpoint of Tutti", name);
    uint32_t format = tutti_unparcel_u32(in), other = tutti_unparcel_u32(in);
    const unsigned char *hash = tutti_unparcel_bytes(in, HASH);
    if (in->bad)
        return tutti_fail(TUTTI_ERR_FORMAT, "'%s' is damaged: it ends too early", name);
    if (format != FORMAT)
        return tutti_fail(
            TUTTI_ERR_FORMAT,
            "'%s' is a checkpoint of format %u, and this version of Tutti reads format %d: go on with the "
            "version that wrote it",
            name, format, FORMAT);
    if (other != machine())
        return tutti_fail(TUTTI_ERR_FORMAT, "'%s' is a checkpoint of a machine of another kind; go on there", name);
    crypto_generichash(found, HASH, (const unsigned char *)in->at, (unsigned long long)(in->end - in->at), NULL, 0);
    return memcmp(found, hash, HASH) == 0
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_FORMAT, "'%s' is damaged: it is not as it was written", name);
}

enum tutti_err tutti_checkpoint_parse(struct tutti_checkpoint **out, const void *bytes, size_t size, const char *name)
{
    struct tutti_unparcel in = tutti_unparcel_begin((struct tutti_bytes){size, bytes});
    struct owned *owned = calloc(1, sizeof *owned);
    *out = NULL;
    if (!owned)
        return tutti_fail_memory();
    enum tutti_err err = check_head(&in, name);
    if (!err)
        err = read_payload(&owned->checkpoint, &in, name);
    if (err)
        tutti_checkpoint_free(&owned->checkpoint);
    else
        *out = &owned->checkpoint;
    return err;
}

void tutti_checkpoint_free(struct tutti_checkpoint *checkpoint)
{
    struct owned *owned = (struct owned *)checkpoint;
    if (!owned)
        return;
    free(checkpoint->units);
    free(owned->bytes);
    free(owned);
}

static enum tutti_err read_bytes(char **bytes, size_t *size, const char *path)
{
    *bytes = tutti_fs_read_whole(path, size);
    if (*bytes)
        return TUTTI_OK;
    if (errno == ENOMEM)
        return tutti_fail_memory();
    return errno == EINVAL ? tutti_fail(TUTTI_ERR_FORMAT, "'%s' is no checkpoint of Tutti", path)
                           : tutti_fail(TUTTI_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
}

static enum tutti_err read_one(struct tutti_checkpoint **out, const char *path)
{
    char *bytes;
    size_t size = 0;
    TRY(read_bytes(&bytes, &size, path));
    enum tutti_err err = tutti_checkpoint_parse(out, bytes, size, path);
    if (err)
        free(bytes);
    else
        ((struct owned *)*out)->bytes = bytes;
    return err;
}

enum tutti_err tutti_checkpoint_read(struct tutti_checkpoint **out, const char *path, bool *kept)
{
    struct tutti_failure failure;
    *kept = false;
    tutti_failure_keep(&failure, read_one(out, path));
    if (!failure.err)
        return TUTTI_OK;
    char *previous = tutti_checkpoint_previous(path);
    *kept = previous && read_one(out, previous) == TUTTI_OK;
    free(previous);
    return *kept ? TUTTI_OK : tutti_failure_return(&failure);
}
