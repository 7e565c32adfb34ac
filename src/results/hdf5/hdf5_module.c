/* SPDX-License-Identifier: MIT */
/* The module's one symbol, HDF5's error messages, and the lock around all calls. */
#include "results/hdf5/hdf5_module.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const struct tt_hdf5_host *tt_hdf5_module_host;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- failures */

/* The message of HDF5's last failed call, protected by the lock. HDF5 itself discards its record at the next call. */
static struct hdf5_error_text {
    char text[400];
    int error; /* errno, if a call of the system is the cause */
} words;

/* The innermost of HDF5's functions comes first; its message is the most specific. */
static herr_t collect_error_text(unsigned n, const H5E_error2_t *error, void *context)
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

static herr_t hdf5_module_error_text(hid_t stack, void *context)
{
    words = (struct hdf5_error_text){.text = "no reason"};
    return H5Ewalk2(stack, H5E_WALK_UPWARD, collect_error_text, context);
}

enum tutti_err tt_hdf5_module_fail_write(const char *path)
{
    if (words.error)
        return tt_hdf5_module_host->fail_write(path, words.error);
    return tt_hdf5_module_host->fail(TUTTI_ERR_IO, "cannot write %s: HDF5 says '%s'; the rows before are kept", path,
                                     words.text);
}

enum tutti_err tt_hdf5_module_fail_read(const char *path)
{
    if (words.error)
        return tt_hdf5_module_host->fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(words.error));
    return tt_hdf5_module_host->fail(TUTTI_ERR_FORMAT, "cannot read %s: HDF5 says '%s'", path, words.text);
}

/* ---- open files */

int tt_hdf5_module_descriptor(hid_t file)
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
static void hdf5_module_lock(void)
{
    pthread_mutex_lock(&lock);
    H5Eset_auto2(H5E_DEFAULT, hdf5_module_error_text, NULL); /* instead of printing; every thread has its own */
}

static void hdf5_module_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

#define LOCKED(call)                                                                                                   \
    hdf5_module_lock();                                                                                                \
    enum tutti_err err = (call);                                                                                       \
    hdf5_module_unlock();                                                                                              \
    return err

static enum tutti_err hdf5_module_create(struct tt_hdf5_writer **out, const struct tt_hdf5_plan *plan)
{
    LOCKED(tt_hdf5_writer_new(out, plan, SIZE_MAX));
}

static enum tutti_err hdf5_module_recover(const char *path)
{
    LOCKED(tt_hdf5_writer_recover(path));
}

static enum tutti_err hdf5_module_reopen(struct tt_hdf5_writer **out, const struct tt_hdf5_plan *plan, size_t rows)
{
    LOCKED(tt_hdf5_writer_new(out, plan, rows));
}

static enum tutti_err hdf5_module_write_rows(struct tt_hdf5_writer *writer, const double *times, const double *values,
                                             size_t rows, bool last)
{
    LOCKED(tt_hdf5_writer_write(writer, times, values, rows, last));
}

static enum tutti_err hdf5_module_flush(struct tt_hdf5_writer *writer)
{
    LOCKED(tt_hdf5_writer_flush(writer));
}

static enum tutti_err hdf5_module_close_writer(struct tt_hdf5_writer *writer)
{
    LOCKED(tt_hdf5_writer_close(writer));
}

static enum tutti_err hdf5_module_open_reader(struct tt_hdf5_reader **out, const char *path,
                                              struct tt_hdf5_content *content)
{
    hdf5_module_lock();
    enum tutti_err err = tt_hdf5_reader_try(path);
    if (!err)
        err = tt_hdf5_reader_new(out, path, content);
    hdf5_module_unlock();
    return err;
}

static enum tutti_err hdf5_module_read_times(struct tt_hdf5_reader *reader, size_t row, size_t rows, double *times)
{
    LOCKED(tt_hdf5_reader_times(reader, row, rows, times));
}

static enum tutti_err hdf5_module_read_values(struct tt_hdf5_reader *reader, size_t row, size_t rows, size_t column,
                                              size_t columns, double *values)
{
    LOCKED(tt_hdf5_reader_read(reader, row, rows, column, columns, values));
}

static void hdf5_module_close_reader(struct tt_hdf5_reader *reader)
{
    hdf5_module_lock();
    tt_hdf5_reader_free(reader);
    hdf5_module_unlock();
}

static enum tutti_err hdf5_module_create_columns(struct tt_hdf5_columns **out, const char *path, const char *creator,
                                                 const struct tt_hdf5_column *columns, size_t count)
{
    LOCKED(tt_hdf5_columns_new(out, path, creator, columns, count));
}

static enum tutti_err hdf5_module_write_columns(struct tt_hdf5_columns *sheet, const void *const *cells, size_t rows,
                                                size_t bytes)
{
    LOCKED(tt_hdf5_columns_write(sheet, cells, rows, bytes));
}

static enum tutti_err hdf5_module_close_columns(struct tt_hdf5_columns *sheet)
{
    LOCKED(tt_hdf5_columns_close(sheet));
}

static const struct tt_hdf5_module module = {
    .abi = TUTTI_HDF5_ABI,
    .create = hdf5_module_create,
    .recover = hdf5_module_recover,
    .reopen = hdf5_module_reopen,
    .write = hdf5_module_write_rows,
    .flush = hdf5_module_flush,
    .close = hdf5_module_close_writer,
    .open = hdf5_module_open_reader,
    .read_times = hdf5_module_read_times,
    .read = hdf5_module_read_values,
    .close_reader = hdf5_module_close_reader,
    .create_sheet = hdf5_module_create_columns,
    .write_sheet = hdf5_module_write_columns,
    .close_sheet = hdf5_module_close_columns,
};

__attribute__((visibility("default"))) tt_hdf5_entry tt_hdf5_module;

const struct tt_hdf5_module *tt_hdf5_module(const struct tt_hdf5_host *host)
{
    if (host->abi != TUTTI_HDF5_ABI)
        return NULL;
    pthread_mutex_lock(&lock);
    tt_hdf5_module_host = host;
    /* Open files were flushed before a process ends; one that exits abnormally, or is a copy, must not write again. */
    H5dont_atexit();
    H5PLset_loading_state(0); /* a file is not to make us load libraries */
    pthread_mutex_unlock(&lock);
    return &module;
}
