/* SPDX-License-Identifier: MIT */
/* Rows into a file that others may read at any time, by HDF5's single writer, multiple readers (SWMR): HDF5 writes what refers
 * to something after that something.
 *
 * Invariants:
 * 1. In SWMR, a chunk that is written again with another size gets another place, and its old one is lost. So a chunk that has
 *    to be in the file before it is full is there as it is, not deflated, and stays so: further rows go to their places in it.
 * 2. No reader sees a row before it is written: the number of rows reaches the file in flush, since the datasets'
 *    metadata are held back until then.
 * 3. There is room on the disk for a block before HDF5 hears of it: HDF5 cannot go back to what was before a failure. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/hdf5/hdf5_module_parts.h"

enum { AS_THEY_ARE = 3 }; /* mask of filters that were skipped: both */

/* ---- the file */

static bool hdf5_writer_is_file(const struct tt_hdf5_writer *writer, int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_dev == writer->device && st.st_ino == writer->inode;
}

/* Before anything is written. */
static enum tutti_err check_file(struct tt_hdf5_writer *writer)
{
    if (hdf5_writer_is_file(writer, writer->fd) && hdf5_writer_is_file(writer, writer->fd_inside))
        return TUTTI_OK;
    writer->lost = writer->failed = true;
    return tt_hdf5_module_host->fail_write(writer->path, EBADF);
}

static enum tutti_err hdf5_writer_open_file(struct tt_hdf5_writer *writer)
{
    struct stat st;
    writer->fd = open(writer->path, O_RDWR | O_CLOEXEC);
    if (writer->fd < 0 || fstat(writer->fd, &st) != 0)
        return tt_hdf5_module_host->fail_write(writer->path, errno);
    WRITE_TRY(writer->path, writer->fd_inside = tt_hdf5_module_descriptor(writer->file));
    writer->device = st.st_dev;
    writer->inode = st.st_ino;
    return TUTTI_OK;
}

/* ---- chunks */

static size_t chunk_count(const struct tt_hdf5_writer *writer)
{
    return writer->groups + 1;
}

static bool hdf5_writer_is_time(const struct tt_hdf5_writer *writer, size_t chunk)
{
    return chunk == writer->groups;
}

static size_t hdf5_writer_width_of(const struct tt_hdf5_writer *writer, size_t chunk)
{
    return hdf5_writer_is_time(writer, chunk) ? 1 : writer->width;
}

/* Rows from `first` to before `end` of a chunk, as they lie in it. */
static const double *hdf5_writer_gather(struct tt_hdf5_writer *writer, size_t chunk, const double *times,
                                        const double *values, size_t first, size_t end)
{
    if (hdf5_writer_is_time(writer, chunk))
        return memcpy(writer->rectangle, times + first, (end - first) * sizeof *times);
    size_t column = chunk * writer->width, left = writer->count - column;
    size_t columns = left < writer->width ? left : writer->width;
    double *to = writer->rectangle;
    for (size_t row = first; row < end; row++, to += writer->width)
        memcpy(to, values + row * writer->count + column, columns * sizeof *to);
    return writer->rectangle;
}

static bool hdf5_writer_is_at(const struct tt_hdf5_writer *writer, haddr_t place, size_t size)
{
    return pread(writer->fd, writer->copy, size, (off_t)place) == (ssize_t)size &&
           memcmp(writer->copy, writer->rectangle, size) == 0;
}

/* Where the chunk is that was just written as it is. HDF5 takes room at the end of the file: there it is, if that moved by the
 * chunk's size and no further (for the index, too), and the chunk is there. HDF5's own answer takes the longer, the more chunks
 * there are. */
static enum tutti_err find_chunk(struct tt_hdf5_writer *writer, size_t chunk, hid_t dataset, haddr_t end_before)
{
    const hsize_t coordinates[] = {writer->done, chunk * writer->width};
    size_t size = writer->block * hdf5_writer_width_of(writer, chunk) * sizeof(double);
    unsigned mask;
    hsize_t stored;
    haddr_t end;
    WRITE_TRY(writer->path, H5Fget_eoa(writer->file, &end));
    writer->places[chunk] = end_before;
    if (end != end_before + size || !hdf5_writer_is_at(writer, end_before, size))
        WRITE_TRY(writer->path,
                  H5Dget_chunk_info_by_coord(dataset, coordinates, &mask, &writer->places[chunk], &stored));
    return TUTTI_OK;
}

static enum tutti_err hdf5_writer_write_chunk(struct tt_hdf5_writer *writer, size_t chunk, bool packed)
{
    const hsize_t place[] = {writer->done, chunk * writer->width};
    size_t count = writer->block * hdf5_writer_width_of(writer, chunk), size = 0;
    hid_t dataset = hdf5_writer_is_time(writer, chunk) ? writer->time : writer->values;
    const void *bytes;
    haddr_t end;
    WRITE_TRY(writer->path, H5Fget_eoa(writer->file, &end));
    if (packed)
        size =
            tt_hdf5_writer_pack(writer->packer, writer->rectangle, count, hdf5_writer_width_of(writer, chunk), &bytes);
    if (size > 0)
        WRITE_TRY(writer->path, H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, place, size, bytes));
    else
        WRITE_TRY(writer->path,
                  H5Dwrite_chunk(dataset, H5P_DEFAULT, AS_THEY_ARE, place, count * sizeof(double), writer->rectangle));
    return packed ? TUTTI_OK : find_chunk(writer, chunk, dataset, end);
}

static enum tutti_err hdf5_writer_write_piece(const struct tt_hdf5_writer *writer, size_t chunk, size_t rows)
{
    size_t row = hdf5_writer_width_of(writer, chunk) * sizeof(double), left = rows * row;
    const char *bytes = (const char *)writer->rectangle;
    off_t at = (off_t)(writer->places[chunk] + writer->raw * row);
    while (left > 0) {
        ssize_t done = pwrite(writer->fd, bytes, left, at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return tt_hdf5_module_host->fail_write(writer->path, done < 0 ? errno : EIO);
        bytes += done, at += done, left -= (size_t)done;
    }
    return TUTTI_OK;
}

/* ---- blocks */

int tt_hdf5_writer_take_room(int fd, off_t size, off_t more)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (rlim_t)(size + more) > limit.rlim_cur)
        return EFBIG;
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, size, more) == 0)
        return 0;
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
}

/* Invariant 3. Beside the chunks HDF5 needs room for their index. */
static enum tutti_err hdf5_writer_reserve(const struct tt_hdf5_writer *writer)
{
    enum { INDEX = 64 * 1024 };
    struct stat st;
    size_t numbers = writer->block * (writer->groups * writer->width + 1);
    int error = fstat(writer->fd, &st) != 0 ? errno : 0;
    if (!error)
        error = tt_hdf5_writer_take_room(writer->fd, st.st_size,
                                         (off_t)(numbers * sizeof(double)) + INDEX + st.st_size / 512);
    return error ? tt_hdf5_module_host->fail_write(writer->path, error) : TUTTI_OK;
}

static enum tutti_err hdf5_writer_set_rows(const struct tt_hdf5_writer *writer, hsize_t rows)
{
    const hsize_t size[] = {rows, writer->count};
    WRITE_TRY(writer->path, H5Dset_extent(writer->values, size));
    WRITE_TRY(writer->path, H5Dset_extent(writer->time, size));
    return TUTTI_OK;
}

static enum tutti_err hdf5_writer_begin_block(struct tt_hdf5_writer *writer, const double *times, const double *values,
                                              size_t rows, bool packed)
{
    TRY(hdf5_writer_reserve(writer));
    TRY(hdf5_writer_set_rows(writer, writer->done + rows));
    /* After the rows, nothing that was in memory before. */
    if (rows < writer->block)
        memset(writer->rectangle, 0, writer->block * writer->width * sizeof(double));
    for (size_t chunk = chunk_count(writer); chunk-- > 0;) {
        hdf5_writer_gather(writer, chunk, times, values, 0, rows);
        TRY(hdf5_writer_write_chunk(writer, chunk, packed));
    }
    return TUTTI_OK;
}

static enum tutti_err hdf5_writer_continue_block(struct tt_hdf5_writer *writer, const double *times,
                                                 const double *values, size_t rows)
{
    for (size_t chunk = chunk_count(writer); chunk-- > 0;) {
        hdf5_writer_gather(writer, chunk, times, values, writer->raw, rows);
        TRY(hdf5_writer_write_piece(writer, chunk, rows - writer->raw));
    }
    return hdf5_writer_set_rows(writer, writer->done + rows);
}

enum tutti_err tt_hdf5_writer_write(struct tt_hdf5_writer *writer, const double *times, const double *values,
                                    size_t rows, bool last)
{
    bool full = last || rows == writer->block;
    TRY(check_file(writer));
    if (rows > writer->raw) {
        enum tutti_err err = writer->raw ? hdf5_writer_continue_block(writer, times, values, rows)
                                         : hdf5_writer_begin_block(writer, times, values, rows, full);
        if (err) {
            /* The rows before are kept; of these, nothing is to be seen. */
            const hsize_t size[] = {writer->done + writer->raw, writer->count};
            H5Dset_extent(writer->values, size);
            H5Dset_extent(writer->time, size);
            writer->failed = true;
            return err;
        }
    }
    writer->done += full ? rows : 0;
    writer->raw = full ? 0 : rows;
    return TUTTI_OK;
}

enum tutti_err tt_hdf5_writer_flush(struct tt_hdf5_writer *writer)
{
    TRY(check_file(writer));
    WRITE_TRY(writer->path, H5Dflush(writer->values));
    WRITE_TRY(writer->path, H5Dflush(writer->time));
    int error = tt_hdf5_writer_repair_superblock(writer->fd);
    return error ? tt_hdf5_module_host->fail_write(writer->path, error) : TUTTI_OK;
}

/* ---- opening and closing */

static void hdf5_writer_release(struct tt_hdf5_writer *writer)
{
    tt_hdf5_writer_free_packer(writer->packer);
    free(writer->places);
    free(writer->rectangle);
    free(writer->copy);
    free(writer->path);
    free(writer);
}

enum tutti_err tt_hdf5_writer_close(struct tt_hdf5_writer *writer)
{
    enum tutti_err err = writer->lost || writer->fd < 0 ? TUTTI_OK : check_file(writer);
    if (writer->lost) {
        hdf5_writer_release(writer);
        return err;
    }
    bool tells = !writer->failed; /* else the first failure has been told */
    const hid_t datasets[] = {writer->values, writer->time};
    for (int i = 0; i < 2; i++)
        if (datasets[i] >= 0 && H5Dclose(datasets[i]) < 0 && tells && !err)
            err = tt_hdf5_module_fail_write(writer->path);
    if (writer->file >= 0 && H5Fclose(writer->file) < 0 && tells && !err)
        err = tt_hdf5_module_fail_write(writer->path);
    struct stat st;
    if (writer->fd >= 0) {
        if (fstat(writer->fd, &st) == 0 && S_ISREG(st.st_mode))
            (void)!ftruncate(writer->fd, st.st_size); /* gives back what was reserved */
        if (writer->failed)
            tt_hdf5_writer_repair_superblock(writer->fd); /* what is there may be shorter than HDF5 thinks */
        if (close(writer->fd) != 0 && tells && !err)
            err = tt_hdf5_module_host->fail_write(writer->path, errno);
    }
    hdf5_writer_release(writer);
    return err;
}

/* Everything that needs memory. */
static enum tutti_err hdf5_writer_prepare(struct tt_hdf5_writer *writer, const struct tt_hdf5_plan *plan)
{
    size_t most = plan->block * plan->width;
    *writer = (struct tt_hdf5_writer){.fd = -1, .fd_inside = -1, .file = -1, .values = -1, .time = -1};
    writer->count = plan->texts->count;
    writer->block = plan->block;
    writer->width = plan->width;
    writer->groups = (writer->count + plan->width - 1) / plan->width;
    writer->path = strdup(plan->path);
    writer->places = calloc(chunk_count(writer), sizeof *writer->places);
    writer->rectangle = calloc(most, sizeof *writer->rectangle);
    writer->copy = malloc(most * sizeof *writer->copy);
    writer->packer = tt_hdf5_writer_new_packer(most);
    bool enough = writer->path && writer->places && writer->rectangle && writer->copy && writer->packer;
    return enough ? TUTTI_OK : tt_hdf5_module_host->fail_memory();
}

enum tutti_err tt_hdf5_writer_new(struct tt_hdf5_writer **out, const struct tt_hdf5_plan *plan, size_t rows)
{
    struct tt_hdf5_writer *writer = malloc(sizeof *writer);
    if (!writer)
        return tt_hdf5_module_host->fail_memory();
    enum tutti_err err = hdf5_writer_prepare(writer, plan);
    if (!err)
        err = rows == SIZE_MAX ? tt_hdf5_writer_create_file(writer, plan) : tt_hdf5_writer_reopen_file(writer, rows);
    if (!err)
        err = hdf5_writer_open_file(writer);
    if (!err && rows == SIZE_MAX)
        err = tt_hdf5_writer_flush(writer);
    if (err) {
        writer->failed = true;
        (void)!tt_hdf5_writer_close(writer);
        return err;
    }
    *out = writer;
    return TUTTI_OK;
}
