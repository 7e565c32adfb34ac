/* SPDX-License-Identifier: MIT */
#include "sim/checkpoint/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "base/thread.h"

#define MAGIC "Tutti checkpoint\n"
enum { FORMAT = 2, HASH = 32, HEAD = sizeof MAGIC - 1 + 2 * sizeof(uint32_t) + HASH };

/* Its blocks are read by memcpy: the order of bytes, and the sizes of what they hold. */
static uint32_t machine_layout(void)
{
    const uint32_t order = 0x01020304;
    uint8_t first;
    memcpy(&first, &order, 1);
    return (uint32_t)first << 24 | (uint32_t)sizeof(long) << 16 | (uint32_t)sizeof(void *) << 8 | _Alignof(double);
}

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

static enum tutti_err checkpoint_read_file(struct tt_checkpoint **out, const char *path)
{
    size_t size = 0;
    char *bytes = tt_fs_read_whole(path, &size);
    if (!bytes && errno == ENOMEM)
        return tt_fail_memory();
    if (!bytes)
        return errno == EINVAL ? tt_fail(TUTTI_ERR_FORMAT, "'%s' is no checkpoint of Tutti", path)
                               : tt_fail(TUTTI_ERR_IO, "cannot open '%s': %s", path, strerror(errno));
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

/* ---- a file ---- */

static enum tutti_err checkpoint_fail_write(const char *what, const char *path)
{
    return tt_fail(TUTTI_ERR_IO, "the checkpoint '%s' cannot be %s: %s", path, what, strerror(errno));
}

static enum tutti_err write_temporary(const char *beside, const void *bytes, size_t size)
{
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return checkpoint_fail_write("written", beside);
    enum tutti_err err = tt_fs_write(fd, bytes, size, -1) == size ? TUTTI_OK : checkpoint_fail_write("written", beside);
    if (!err && fsync(fd))
        err = checkpoint_fail_write("forced to the disk", beside);
    if (close(fd) && !err)
        err = checkpoint_fail_write("closed", beside);
    return err;
}

/* At every moment one of the two names has a complete file. */
static enum tutti_err checkpoint_replace_file(const char *path, const char *beside, const char *previous)
{
    (void)unlink(previous);
    if (link(path, previous) && errno != ENOENT && rename(path, previous))
        return checkpoint_fail_write("replaced", path);
    if (rename(beside, path))
        return checkpoint_fail_write("replaced", path);
    return tt_fs_sync_folder(path) ? TUTTI_OK : checkpoint_fail_write("forced to the disk", path);
}

enum tutti_err tt_checkpoint_write(const char *path, const void *bytes, size_t size)
{
    struct tt_text beside = {0};
    char *previous = tt_checkpoint_previous_path(path);
    tt_text_printf(&beside, "%s.part", path);
    struct stat status;
    enum tutti_err err = previous && !beside.failed ? TUTTI_OK : tt_fail_memory();
    if (!err && stat(path, &status) == 0 && !S_ISREG(status.st_mode)) /* a folder, or a device: it stays */
        err = tt_fail(TUTTI_ERR_IO, "the checkpoint '%s' cannot be replaced: it is no regular file", path);
    if (!err)
        err = write_temporary(beside.text, bytes, size);
    if (!err)
        err = checkpoint_replace_file(path, beside.text, previous);
    if (err && !beside.failed)
        (void)unlink(beside.text);
    tt_text_fini(&beside);
    free(previous);
    return err;
}

/* ---- the thread ---- */

struct tt_checkpoint_writer {
    char *path;
    struct tt_checkpoint_sync sync;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t news;
    struct tt_byte_writer waiting; /* of size 0: nothing is */
    bool writes, over;
    struct tt_failure failure; /* of the last one */
};

static void *checkpoint_run_thread(void *context)
{
    struct tt_checkpoint_writer *writer = context;
    struct tt_byte_writer file = {0};
    pthread_mutex_lock(&writer->lock);
    while (!writer->over || writer->waiting.size > 0) {
        if (writer->waiting.size == 0) {
            pthread_cond_wait(&writer->news, &writer->lock);
            continue;
        }
        struct tt_byte_writer empty = file;
        file = writer->waiting;
        writer->waiting = empty;
        writer->waiting.size = 0;
        writer->writes = true;
        pthread_mutex_unlock(&writer->lock);
        tt_checkpoint_add_hash(&file);
        enum tutti_err err = writer->sync.sync ? writer->sync.sync(writer->sync.context) : TUTTI_OK;
        if (!err)
            err = tt_checkpoint_write(writer->path, file.bytes, file.size);
        pthread_mutex_lock(&writer->lock);
        tt_fail_save(&writer->failure, err);
        writer->writes = false;
        pthread_cond_broadcast(&writer->news);
    }
    pthread_mutex_unlock(&writer->lock);
    tt_bytes_fini(&file);
    return NULL;
}

enum tutti_err tt_checkpoint_writer_new(struct tt_checkpoint_writer **out, const char *path,
                                        const struct tt_checkpoint_sync *sync)
{
    struct tt_checkpoint_writer *writer = calloc(1, sizeof *writer);
    *out = NULL;
    if (!writer)
        return tt_fail_memory();
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->news, NULL);
    writer->sync = *sync;
    writer->path = tt_text_copy(path);
    if (!writer->path) {
        tt_checkpoint_writer_free(writer);
        return tt_fail_memory();
    }
    *out = writer;
    return TUTTI_OK;
}

enum tutti_err tt_checkpoint_writer_submit(struct tt_checkpoint_writer *writer, struct tt_byte_writer *file)
{
    struct tt_failure failure;
    if (!writer->has_thread) { /* only now: processes that are forked before have none */
        int number = tt_thread_start(&writer->thread, checkpoint_run_thread, writer);
        if (number)
            return tt_fail(TUTTI_ERR_MEMORY, "a thread for checkpoints cannot be started: %s", strerror(number));
        writer->has_thread = true;
    }

    pthread_mutex_lock(&writer->lock);
    struct tt_byte_writer old = writer->waiting;
    writer->waiting = *file;
    *file = old;
    tt_bytes_reset(file);
    failure = writer->failure;
    writer->failure.err = TUTTI_OK;
    pthread_cond_broadcast(&writer->news);
    pthread_mutex_unlock(&writer->lock);
    return tt_fail_restore(&failure);
}

enum tutti_err tt_checkpoint_writer_wait(struct tt_checkpoint_writer *writer)
{
    struct tt_failure failure;
    pthread_mutex_lock(&writer->lock);
    while (writer->has_thread && (writer->writes || writer->waiting.size > 0))
        pthread_cond_wait(&writer->news, &writer->lock);
    failure = writer->failure;
    writer->failure.err = TUTTI_OK;
    pthread_mutex_unlock(&writer->lock);
    return tt_fail_restore(&failure);
}

void tt_checkpoint_writer_free(struct tt_checkpoint_writer *writer)
{
    if (!writer)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->over = true;
    pthread_cond_broadcast(&writer->news);
    pthread_mutex_unlock(&writer->lock);
    if (writer->has_thread)
        pthread_join(writer->thread, NULL);
    tt_bytes_fini(&writer->waiting);
    pthread_cond_destroy(&writer->news);
    pthread_mutex_destroy(&writer->lock);
    free(writer->path);
    free(writer);
}
