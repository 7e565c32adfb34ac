/* SPDX-License-Identifier: MIT */
#include "sim/checkpoint/checkpoint_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "base/thread.h"
#include "sim/checkpoint/checkpoint.h"

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

/* What is there is another checkpoint, or nothing: a folder or a device with this name stays. */
static enum tutti_err checkpoint_check_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode))
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_IO, "the checkpoint '%s' cannot be replaced: it is no regular file", path);
}

/* At every moment there is a whole file under one of the two names. */
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
    enum tutti_err err = previous && !beside.failed ? checkpoint_check_path(path) : tt_fail_memory();
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

static enum tutti_err write_next_checkpoint(const struct tt_checkpoint_writer *writer, struct tt_byte_writer *file)
{
    tt_checkpoint_add_hash(file);
    if (writer->sync.sync)
        TRY(writer->sync.sync(writer->sync.context));
    return tt_checkpoint_write(writer->path, file->bytes, file->size);
}

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
        enum tutti_err err = write_next_checkpoint(writer, &file);
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

/* Only now: processes that are forked before have none. */
static enum tutti_err checkpoint_start_thread(struct tt_checkpoint_writer *writer)
{
    int number = writer->has_thread ? 0 : tt_thread_start(&writer->thread, checkpoint_run_thread, writer);
    writer->has_thread = number == 0;
    return number ? tt_fail(TUTTI_ERR_MEMORY, "a thread for checkpoints cannot be started: %s", strerror(number))
                  : TUTTI_OK;
}

enum tutti_err tt_checkpoint_writer_submit(struct tt_checkpoint_writer *writer, struct tt_byte_writer *file)
{
    struct tt_failure failure;
    TRY(checkpoint_start_thread(writer));
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
