/* SPDX-License-Identifier: MIT */
#include "checkpoint/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "base/thread.h"
#include "checkpoint/checkpoint.h"

/* ---- a file ---- */

static enum tutti_err cannot(const char *what, const char *path)
{
    return tutti_fail(TUTTI_ERR_IO, "the checkpoint '%s' cannot be %s: %s", path, what, strerror(errno));
}

static enum tutti_err write_beside(const char *beside, const void *bytes, size_t size)
{
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return cannot("written", beside);
    enum tutti_err err = tutti_fs_write(fd, bytes, size, -1) == size ? TUTTI_OK : cannot("written", beside);
    if (!err && fsync(fd))
        err = cannot("forced to the disk", beside);
    if (close(fd) && !err)
        err = cannot("closed", beside);
    return err;
}

/* What is there is another checkpoint, or nothing: a folder or a device with this name stays. */
static enum tutti_err check_place(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode))
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_IO, "the checkpoint '%s' cannot be replaced: it is no regular file", path);
}

/* At every moment there is a whole file under one of the two names. */
static enum tutti_err replace(const char *path, const char *beside, const char *previous)
{
    (void)unlink(previous);
    if (link(path, previous) && errno != ENOENT && rename(path, previous))
        return cannot("replaced", path);
    if (rename(beside, path))
        return cannot("replaced", path);
    return tutti_fs_sync_folder(path) ? TUTTI_OK : cannot("forced to the disk", path);
}

enum tutti_err tutti_checkpoint_write(const char *path, const void *bytes, size_t size)
{
    struct tutti_text beside = {0};
    char *previous = tutti_checkpoint_previous(path);
    tutti_text_printf(&beside, "%s.part", path);
    enum tutti_err err = previous && !beside.failed ? check_place(path) : tutti_fail_memory();
    if (!err)
        err = write_beside(beside.text, bytes, size);
    if (!err)
        err = replace(path, beside.text, previous);
    if (err && !beside.failed)
        (void)unlink(beside.text);
    tutti_text_fini(&beside);
    free(previous);
    return err;
}

/* ---- the thread ---- */

struct tutti_checkpoint_writer {
    char *path;
    struct tutti_checkpoint_sync sync;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t news;
    struct tutti_parcel waiting; /* of size 0: nothing is */
    bool writes, over;
    struct tutti_failure failure; /* of the last one */
};

static enum tutti_err write_one(const struct tutti_checkpoint_writer *writer, struct tutti_parcel *file)
{
    tutti_checkpoint_seal(file);
    if (writer->sync.sync)
        TRY(writer->sync.sync(writer->sync.context));
    return tutti_checkpoint_write(writer->path, file->bytes, file->size);
}

static void *work(void *context)
{
    struct tutti_checkpoint_writer *writer = context;
    struct tutti_parcel file = {0};
    pthread_mutex_lock(&writer->lock);
    while (!writer->over || writer->waiting.size > 0) {
        if (writer->waiting.size == 0) {
            pthread_cond_wait(&writer->news, &writer->lock);
            continue;
        }
        struct tutti_parcel empty = file;
        file = writer->waiting;
        writer->waiting = empty;
        writer->waiting.size = 0;
        writer->writes = true;
        pthread_mutex_unlock(&writer->lock);
        enum tutti_err err = write_one(writer, &file);
        pthread_mutex_lock(&writer->lock);
        tutti_failure_keep(&writer->failure, err);
        writer->writes = false;
        pthread_cond_broadcast(&writer->news);
    }
    pthread_mutex_unlock(&writer->lock);
    tutti_parcel_fini(&file);
    return NULL;
}

enum tutti_err tutti_checkpoint_writer_new(struct tutti_checkpoint_writer **out, const char *path,
                                           const struct tutti_checkpoint_sync *sync)
{
    struct tutti_checkpoint_writer *writer = calloc(1, sizeof *writer);
    *out = NULL;
    if (!writer)
        return tutti_fail_memory();
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->news, NULL);
    writer->sync = *sync;
    writer->path = tutti_str_copy(path);
    if (!writer->path) {
        tutti_checkpoint_writer_free(writer);
        return tutti_fail_memory();
    }
    *out = writer;
    return TUTTI_OK;
}

/* Only now: processes that are forked before have none. */
static enum tutti_err start(struct tutti_checkpoint_writer *writer)
{
    int number = writer->has_thread ? 0 : tutti_thread_start(&writer->thread, work, writer);
    writer->has_thread = number == 0;
    return number ? tutti_fail(TUTTI_ERR_MEMORY, "a thread for checkpoints cannot be started: %s", strerror(number))
                  : TUTTI_OK;
}

enum tutti_err tutti_checkpoint_writer_put(struct tutti_checkpoint_writer *writer, struct tutti_parcel *file)
{
    struct tutti_failure failure;
    TRY(start(writer));
    pthread_mutex_lock(&writer->lock);
    struct tutti_parcel old = writer->waiting;
    writer->waiting = *file;
    *file = old;
    tutti_parcel_reset(file);
    failure = writer->failure;
    writer->failure.err = TUTTI_OK;
    pthread_cond_broadcast(&writer->news);
    pthread_mutex_unlock(&writer->lock);
    return tutti_failure_return(&failure);
}

enum tutti_err tutti_checkpoint_writer_wait(struct tutti_checkpoint_writer *writer)
{
    struct tutti_failure failure;
    pthread_mutex_lock(&writer->lock);
    while (writer->has_thread && (writer->writes || writer->waiting.size > 0))
        pthread_cond_wait(&writer->news, &writer->lock);
    failure = writer->failure;
    writer->failure.err = TUTTI_OK;
    pthread_mutex_unlock(&writer->lock);
    return tutti_failure_return(&failure);
}

void tutti_checkpoint_writer_free(struct tutti_checkpoint_writer *writer)
{
    if (!writer)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->over = true;
    pthread_cond_broadcast(&writer->news);
    pthread_mutex_unlock(&writer->lock);
    if (writer->has_thread)
        pthread_join(writer->thread, NULL);
    tutti_parcel_fini(&writer->waiting);
    pthread_cond_destroy(&writer->news);
    pthread_mutex_destroy(&writer->lock);
    free(writer->path);
    free(writer);
}
