/* SPDX-License-Identifier: MIT */
/* Writes rows to a file that other programs may read at any time, by HDF5's single writer, multiple readers (SWMR):
 * HDF5 writes data before the metadata that refer to it.
 *
 * Invariants:
 * 1. In SWMR, a chunk that is written again with another size gets another place, and its old one is lost. So a chunk that has
 *    to be in the file before it is full is there as it is, not deflated, and stays so: further rows go to their places in it.
 * 2. No reader sees a row before it is written: the number of rows reaches the file in flush, since the datasets'
 *    metadata are held back until then.
 * 3. Disk space for a block is reserved before it is passed to HDF5, which cannot undo a failed write. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "results/hdf5/hdf5_module.h"

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

    /* The chunk is usually the last thing in the file. */
    bool is_last = end == end_before + size &&
                   pread(writer->fd, writer->copy, size, (off_t)end_before) == (ssize_t)size &&
                   memcmp(writer->copy, writer->rectangle, size) == 0;
    if (!is_last)
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
    bool tells = !writer->failed; /* otherwise the first failure has been reported */
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

/* A new file: `/time`, `/values` and their attributes, ready for rows. */

hid_t tt_hdf5_writer_string_type(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static herr_t hdf5_writer_put_attribute(hid_t object, const char *name, hid_t space, const void *texts)
{
    hid_t type = tt_hdf5_writer_string_type(),
          attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    herr_t failed = attribute < 0 ? -1 : H5Awrite(attribute, type, texts);
    if (attribute >= 0 && H5Aclose(attribute) < 0)
        failed = -1;
    H5Tclose(type);
    return failed;
}

herr_t tt_hdf5_writer_put_text(hid_t object, const char *name, const char *text)
{
    hid_t space = H5Screate(H5S_SCALAR);
    herr_t failed = hdf5_writer_put_attribute(object, name, space, &text);
    H5Sclose(space);
    return failed;
}

static herr_t hdf5_writer_put_texts(hid_t object, const struct tt_hdf5_texts *texts)
{
    hsize_t count = texts->count;
    hid_t space = H5Screate_simple(1, &count, NULL);
    herr_t failed = hdf5_writer_put_attribute(object, "names", space, texts->names) < 0 ||
                            hdf5_writer_put_attribute(object, "units", space, texts->units) < 0 ||
                            hdf5_writer_put_attribute(object, "descriptions", space, texts->descriptions) < 0 ||
                            hdf5_writer_put_attribute(object, "types", space, texts->types) < 0 ||
                            hdf5_writer_put_attribute(object, "variabilities", space, texts->variabilities) < 0
                        ? -1
                        : 0;
    H5Sclose(space);
    return failed;
}

hid_t tt_hdf5_writer_dataset_access(void)
{
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, 1, 0, 0);
    return access;
}

/* Without rows, and with any number of them to come. */
static hid_t hdf5_writer_make_dataset(hid_t file, const char *name, int rank, hsize_t columns, const hsize_t *chunk)
{
    const hsize_t now[] = {0, columns}, most[] = {H5S_UNLIMITED, columns ? columns : H5S_UNLIMITED};
    static const double nothing = NAN; /* of a row that is visible and not written */
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, rank, chunk);
    H5Pset_shuffle(list);
    H5Pset_deflate(list, 1);
    H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &nothing);
    H5Pset_obj_track_times(list, 0);

    hid_t access = tt_hdf5_writer_dataset_access(), space = H5Screate_simple(rank, now, most);
    hid_t dataset = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, list, access);
    H5Sclose(space);
    H5Pclose(access);
    H5Pclose(list);
    return dataset;
}

hid_t tt_hdf5_writer_file_access(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_file_locking(access, 0, 1);
    H5Pset_small_data_block_size(access, 0); /* chunks begin at the end of the file, also small ones */
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    return access;
}

hid_t tt_hdf5_writer_make_file(const char *path)
{
    hid_t access = tt_hdf5_writer_file_access(), creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_obj_track_times(creation, 0); /* the same run, the same bytes */
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
    H5Pclose(creation);
    H5Pclose(access);
    return file;
}

enum tutti_err tt_hdf5_writer_defer_metadata(const struct tt_hdf5_writer *writer)
{
    WRITE_TRY(writer->path, H5Odisable_mdc_flushes(writer->values));
    WRITE_TRY(writer->path, H5Odisable_mdc_flushes(writer->time));
    return TUTTI_OK;
}

enum tutti_err tt_hdf5_writer_create_file(struct tt_hdf5_writer *writer, const struct tt_hdf5_plan *plan)
{
    const char *path = writer->path;
    const hsize_t chunk[] = {writer->block, writer->width};
    WRITE_TRY(path, writer->file = tt_hdf5_writer_make_file(path));
    WRITE_TRY(path, writer->time = hdf5_writer_make_dataset(writer->file, "time", 1, 0, chunk));
    WRITE_TRY(path, writer->values = hdf5_writer_make_dataset(writer->file, "values", 2, writer->count, chunk));
    WRITE_TRY(path, tt_hdf5_writer_put_text(writer->file, "creator", plan->creator));
    WRITE_TRY(path, tt_hdf5_writer_put_text(writer->time, "unit", "s"));
    WRITE_TRY(path, hdf5_writer_put_texts(writer->values, plan->texts));
    WRITE_TRY(path, H5Fflush(writer->file, H5F_SCOPE_GLOBAL));
    WRITE_TRY(path, H5Fstart_swmr_write(writer->file));
    return tt_hdf5_writer_defer_metadata(writer);
}

/* Chunks, shuffled and deflated here, so that HDF5 only has to write them: its own filters would deflate everything.
 *
 * Shuffled, the first bytes of all numbers stand together, then the second ones, and so on: eight planes. In numbers that were
 * computed most planes are noise, on which deflate spends nearly all of its time in vain. Those are stored as they are (level 0
 * in the same stream), which makes packing three times as fast and files some percent larger. */

enum { PLANES = sizeof(double), SAMPLES = 512 };

struct tt_hdf5_packer {
    z_stream stream;
    unsigned char *planes, *packed;
    size_t room;
};

struct tt_hdf5_packer *tt_hdf5_writer_new_packer(size_t most)
{
    struct tt_hdf5_packer *packer = calloc(1, sizeof *packer);
    if (!packer || deflateInit(&packer->stream, Z_BEST_SPEED) != Z_OK) {
        free(packer);
        return NULL;
    }
    packer->room = most * sizeof(double);
    packer->planes = malloc(packer->room);
    packer->packed = malloc(packer->room);
    if (packer->planes && packer->packed)
        return packer;
    tt_hdf5_writer_free_packer(packer);
    return NULL;
}

void tt_hdf5_writer_free_packer(struct tt_hdf5_packer *packer)
{
    if (!packer)
        return;
    deflateEnd(&packer->stream);
    free(packer->planes);
    free(packer->packed);
    free(packer);
}

/* Estimates whether a plane is compressible. Two random bytes are equal once in 256 times. Here, of samples, either
 * some bytes are more frequent (twice the sum of squares), or many equal the previous byte in their column. */
static bool plane_is_compressible(const unsigned char *plane, size_t count, size_t width)
{
    unsigned frequency[256] = {0}, samples = 0, repeated = 0, squares = 0;
    size_t stride = count / SAMPLES + 1;
    for (size_t i = 0; i < count; i += stride, samples++) {
        frequency[plane[i]]++;
        repeated += i >= width && plane[i] == plane[i - width];
    }
    for (size_t i = 0; i < 256; i++)
        squares += frequency[i] * frequency[i];
    return repeated > samples / 16 || squares > samples + samples * samples / 128;
}

/* False: no room. */
static bool deflate_plane(z_stream *stream, unsigned char *plane, size_t count, int level, int flush)
{
    stream->avail_in = 0;
    if (deflateParams(stream, level, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    stream->next_in = plane;
    stream->avail_in = (uInt)count;
    int result = deflate(stream, flush);
    return result == (flush == Z_FINISH ? Z_STREAM_END : Z_OK) && stream->avail_in == 0;
}

size_t tt_hdf5_writer_pack(struct tt_hdf5_packer *packer, const double *numbers, size_t count, size_t width,
                           const void **bytes)
{
    z_stream *stream = &packer->stream;
    const unsigned char *raw = (const unsigned char *)numbers;
    for (size_t p = 0; p < PLANES; p++)
        for (size_t i = 0; i < count; i++)
            packer->planes[p * count + i] = raw[PLANES * i + p];

    deflateReset(stream);
    stream->next_out = packer->packed;
    stream->avail_out = (uInt)(count * sizeof(double) - 1);
    for (size_t p = 0; p < PLANES; p++) {
        unsigned char *plane = packer->planes + p * count;
        int level = plane_is_compressible(plane, count, width) ? Z_BEST_SPEED : Z_NO_COMPRESSION;
        if (!deflate_plane(stream, plane, count, level, p + 1 == PLANES ? Z_FINISH : Z_NO_FLUSH))
            return 0;
    }
    *bytes = packer->packed;
    return stream->total_out;
}

/* Prepares a file that an interrupted run left for further rows.
 *
 * It is opened for SWMR at once: HDF5 then writes data before the metadata that refer to it, and does not reuse space.
 * So the rows that stay are intact whenever the process is killed: finished blocks are not touched, and a block is
 * replaced by a block at a different place. The space of replaced blocks is lost. */

/* The superblock has the end of the file: new data is written there and must not overwrite anything. */
enum tutti_err tt_hdf5_writer_recover(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    int error = fd < 0 ? errno : tt_hdf5_writer_repair_superblock(fd);
    if (fd >= 0)
        close(fd);
    if (error == ENOTSUP)
        return tt_hdf5_module_host->fail(TUTTI_ERR_FORMAT, "%s is no result of Tutti in HDF5", path);
    return error ? tt_hdf5_module_host->fail_write(path, error) : TUTTI_OK;
}

static hid_t open_dataset(hid_t file, const char *name)
{
    hid_t access = tt_hdf5_writer_dataset_access(), dataset = H5Dopen2(file, name, access);
    H5Pclose(access);
    return dataset;
}

enum tutti_err tt_hdf5_writer_reopen_file(struct tt_hdf5_writer *writer, size_t rows)
{
    const hsize_t size[] = {rows, writer->count};
    hid_t access = tt_hdf5_writer_file_access();
    writer->file = H5Fopen(writer->path, H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access);
    H5Pclose(access);
    WRITE_TRY(writer->path, writer->file);
    WRITE_TRY(writer->path, writer->time = open_dataset(writer->file, "time"));
    WRITE_TRY(writer->path, writer->values = open_dataset(writer->file, "values"));
    TRY(tt_hdf5_writer_defer_metadata(writer));
    WRITE_TRY(writer->path, H5Dset_extent(writer->values, size));
    WRITE_TRY(writer->path, H5Dset_extent(writer->time, size));
    writer->done = rows;
    return TUTTI_OK;
}

/* The superblock, the first 48 bytes of a file (HDF5 File Format Specification Version 3.0, II.A, version 3 of it):
 * signature (8), version (1), size of offsets (1), size of lengths (1), consistency flags (1), then 8 bytes each: base
 * address, superblock extension, end of file, root group; and a checksum (4) of what is before it.
 *
 * While HDF5 writes, the flags keep out all readers that do not ask for SWMR, and after a kill for ever. */

enum { VERSION_AT = 8, OFFSETS_AT = 9, FLAGS_AT = 11, END_AT = 28, CHECKSUM_AT = 44, SIZE = 48 };

static const unsigned char SIGNATURE[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

static uint32_t rotate_bits(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

static uint32_t read_word_32(const unsigned char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return le32toh(value);
}

/* Bob Jenkins's lookup3 (hashlittle, from 0), of a length that 4 divides and that is not 0. */
static uint32_t lookup3_checksum(const unsigned char *bytes, size_t length)
{
    uint32_t a = 0xdeadbeef + (uint32_t)length, b = a, c = a;
    for (; length > 12; length -= 12, bytes += 12) {
        a += read_word_32(bytes), b += read_word_32(bytes + 4), c += read_word_32(bytes + 8);
        a = (a - c) ^ rotate_bits(c, 4), c += b;
        b = (b - a) ^ rotate_bits(a, 6), a += c;
        c = (c - b) ^ rotate_bits(b, 8), b += a;
        a = (a - c) ^ rotate_bits(c, 16), c += b;
        b = (b - a) ^ rotate_bits(a, 19), a += c;
        c = (c - b) ^ rotate_bits(b, 4), b += a;
    }
    a += read_word_32(bytes);
    b += length > 4 ? read_word_32(bytes + 4) : 0;
    c += length > 8 ? read_word_32(bytes + 8) : 0;
    c = (c ^ b) - rotate_bits(b, 14);
    a = (a ^ c) - rotate_bits(c, 11);
    b = (b ^ a) - rotate_bits(a, 25);
    c = (c ^ b) - rotate_bits(b, 16);
    a = (a ^ c) - rotate_bits(c, 4);
    b = (b ^ a) - rotate_bits(a, 14);
    return (c ^ b) - rotate_bits(b, 24);
}

int tt_hdf5_writer_repair_superblock(int fd)
{
    unsigned char bytes[SIZE];
    struct stat st;
    errno = 0;
    if (fstat(fd, &st) != 0 || pread(fd, bytes, SIZE, 0) != SIZE)
        return errno ? errno : ENOTSUP; /* it is too short */
    if (memcmp(bytes, SIGNATURE, sizeof SIGNATURE) != 0 || bytes[VERSION_AT] != 3 || bytes[OFFSETS_AT] != 8)
        return ENOTSUP;
    uint64_t end = htole64((uint64_t)st.st_size);
    bytes[FLAGS_AT] = 0;
    memcpy(bytes + END_AT, &end, sizeof end);
    uint32_t sum = htole32(lookup3_checksum(bytes, CHECKSUM_AT));
    memcpy(bytes + CHECKSUM_AT, &sum, sizeof sum);
    return pwrite(fd, bytes, SIZE, 0) == SIZE ? 0 : errno ? errno : EIO;
}
