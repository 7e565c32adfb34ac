/* SPDX-License-Identifier: MIT */
/* A file as libzip wants it. libzip's own source would do, but leaves its descriptor open to child processes, hides
 * read errors, and reads without bound while it searches for the table of contents. */
#include "fmu/archive/zip_source.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static zip_int64_t zip_source_read_some(struct tt_zip_source *file, void *data, zip_uint64_t length)
{
    if (file->at >= file->size)
        return 0;
    length = length < file->size - file->at ? length : file->size - file->at;
    if (length > file->budget) {
        file->exhausted = true;
        return -1;
    }
    zip_uint64_t done = 0;
    while (done < length) {
        ssize_t n = pread(file->fd, (char *)data + done, length - done, (off_t)(file->at + done));
        if (n == 0) /* another process has made the file shorter */
            break;
        if (n < 0 && errno != EINTR) {
            file->error = errno;
            return -1;
        }
        done += n > 0 ? (zip_uint64_t)n : 0;
    }
    file->at += done;
    if (file->budget != UINT64_MAX)
        file->budget -= done;
    return (zip_int64_t)done;
}

static zip_int64_t zip_source_answer(void *context, void *data, zip_uint64_t length, zip_source_cmd_t command)
{
    struct tt_zip_source *file = context;
    zip_error_t error = {.zip_err = file->error ? ZIP_ER_READ : ZIP_ER_INVAL, .sys_err = file->error};
    switch (command) {
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_SEEKABLE;
    case ZIP_SOURCE_OPEN: file->at = 0; return 0;
    case ZIP_SOURCE_READ: return zip_source_read_some(file, data, length);
    case ZIP_SOURCE_SEEK: {
        zip_int64_t at = zip_source_seek_compute_offset(file->at, file->size, data, length, &error);
        if (at < 0)
            return -1;
        file->at = (uint64_t)at;
        return 0;
    }
    case ZIP_SOURCE_TELL: return (zip_int64_t)file->at;
    case ZIP_SOURCE_STAT: {
        zip_stat_t *st = data;
        zip_stat_init(st);
        st->size = file->size;
        st->valid = ZIP_STAT_SIZE;
        return sizeof *st;
    }
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&error, data, length);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE: /* the archive closes the file */ return 0;
    default: return -1;
    }
}

zip_source_t *tt_zip_source_new(struct tt_zip_source *file)
{
    return zip_source_function_create(zip_source_answer, file, NULL);
}
