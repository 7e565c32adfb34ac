/* SPDX-License-Identifier: MIT */
/* The module's one symbol, what HDF5 says of its failures, and the lock around all of it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hdf5/parts.h"

const struct tutti_hdf5_host *tutti_hdf5_host;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- failures */

/* What HDF5 said when last a call of it failed; under the lock. Its own record goes with the next call. */
static struct words {
    char text[400];
    int error; /* errno, if a call of the system is the cause */
} words;

/* The innermost of HDF5's functions comes first; it knows most. */
static herr_t take_words(unsigned n, const H5E_error2_t *error, void *context)
{
    (void)context;
    if (n > 0 || !error->desc)
        return 0;
    snprintf(words.text, sizeof words.text, "%s", error->desc);
    const char *number = strstr(error->desc, "errno = ");
    for (number = number ? number + 8 : ""; *number >= '0' && *number <= '9' && words.error < 10000; number++)
        words.error = 10 * words.error + (*number - '0');
    return 0;
}

static herr_t hear(hid_t stack, void *context)
{
    words = (struct words){.text = "no reason"};
    return H5Ewalk2(stack, H5E_WALK_UPWARD, take_words, context);
}

enum tutti_err tutti_hdf5_fail_write(const char *path)
{
    if (words.error)
        return tutti_hdf5_host->fail_write(path, words.error);
    return tutti_hdf5_host->fail(TUTTI_ERR_IO, "cannot write %s: HDF5 says '%s'; the rows before are kept", path,
                                 words.text);
}

enum tutti_err tutti_hdf5_fail_read(const char *path)
{
    if (words.error)
        return tutti_hdf5_host->fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(words.error));
    return tutti_hdf5_host->fail(TUTTI_ERR_FORMAT, "cannot read %s: HDF5 says '%s'", path, words.text);
}

/* ---- open files */

int tutti_hdf5_descriptor(hid_t file)
{
    void *inside = NULL;
    if (H5Fget_vfd_handle(file, H5P_DEFAULT, &inside) < 0 || !inside)
        return -1;
    int fd = *(const int *)inside;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

/* ---- entries */

/* HDF5 need not be made for threads: one of ours at a time. */
static void enter(void)
{
    pthread_mutex_lock(&lock);
    H5Eset_auto2(H5E_DEFAULT, hear, NULL); /* instead of printing; every thread has its own */
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
}

#define LOCKED(call)                                                                                                   \
    enter();                                                                                                           \
    enum tutti_err err = (call);                                                                                       \
    leave();                                                                                                           \
    return err

static enum tutti_err create(struct tutti_hdf5_writer **out, const struct tutti_hdf5_plan *plan)
{
    LOCKED(tutti_hdf5_writer_new(out, plan, SIZE_MAX));
}

static enum tutti_err recover(const char *path)
{
    LOCKED(tutti_hdf5_recover(path));
}

static enum tutti_err reopen(struct tutti_hdf5_writer **out, const struct tutti_hdf5_plan *plan, size_t rows)
{
    LOCKED(tutti_hdf5_writer_new(out, plan, rows));
}

static enum tutti_err write_rows(struct tutti_hdf5_writer *writer, const double *times, const double *values,
                                 size_t rows, bool last)
{
    LOCKED(tutti_hdf5_writer_write(writer, times, values, rows, last));
}

static enum tutti_err flush(struct tutti_hdf5_writer *writer)
{
    LOCKED(tutti_hdf5_writer_flush(writer));
}

static enum tutti_err close_writer(struct tutti_hdf5_writer *writer)
{
    LOCKED(tutti_hdf5_writer_close(writer));
}

static enum tutti_err open_reader(struct tutti_hdf5_reader **out, const char *path, struct tutti_hdf5_content *content)
{
    enter();
    enum tutti_err err = tutti_hdf5_try(path);
    if (!err)
        err = tutti_hdf5_reader_new(out, path, content);
    leave();
    return err;
}

static enum tutti_err read_times(struct tutti_hdf5_reader *reader, size_t row, size_t rows, double *times)
{
    LOCKED(tutti_hdf5_reader_times(reader, row, rows, times));
}

static enum tutti_err read_values(struct tutti_hdf5_reader *reader, size_t row, size_t rows, size_t column,
                                  size_t columns, double *values)
{
    LOCKED(tutti_hdf5_reader_read(reader, row, rows, column, columns, values));
}

static void close_reader(struct tutti_hdf5_reader *reader)
{
    enter();
    tutti_hdf5_reader_free(reader);
    leave();
}

static enum tutti_err create_sheet(struct tutti_hdf5_sheet **out, const char *path, const char *creator,
                                   const struct tutti_hdf5_column *columns, size_t count)
{
    LOCKED(tutti_hdf5_sheet_new(out, path, creator, columns, count));
}

static enum tutti_err write_sheet(struct tutti_hdf5_sheet *sheet, const void *const *cells, size_t rows, size_t bytes)
{
    LOCKED(tutti_hdf5_sheet_write(sheet, cells, rows, bytes));
}

static enum tutti_err close_sheet(struct tutti_hdf5_sheet *sheet)
{
    LOCKED(tutti_hdf5_sheet_close(sheet));
}

static const struct tutti_hdf5_module module = {
    .abi = TUTTI_HDF5_ABI,
    .create = create,
    .recover = recover,
    .reopen = reopen,
    .write = write_rows,
    .flush = flush,
    .close = close_writer,
    .open = open_reader,
    .read_times = read_times,
    .read = read_values,
    .close_reader = close_reader,
    .create_sheet = create_sheet,
    .write_sheet = write_sheet,
    .close_sheet = close_sheet,
};

__attribute__((visibility("default"))) tutti_hdf5_entry tutti_hdf5_module;

const struct tutti_hdf5_module *tutti_hdf5_module(const struct tutti_hdf5_host *host)
{
    if (host->abi != TUTTI_HDF5_ABI)
        return NULL;
    pthread_mutex_lock(&lock);
    tutti_hdf5_host = host;
    /* What is open when a process ends was flushed; a process that leaves in a hurry, or is a copy, writes no more. */
    H5dont_atexit();
    H5PLset_loading_state(0); /* a file is not to make us load libraries */
    pthread_mutex_unlock(&lock);
    return &module;
}
