/* SPDX-License-Identifier: MIT */
/* Rows with texts: a dataset per column, of numbers, texts or bytes, for records that are not results.
 *
 * Texts of variable length do not work with SWMR: HDF5 stores them in heaps, which it writes at any time. So rows are
 * collected and written in flush only; after that the whole file is consistent, and any program may open it, even after
 * a kill.
 *
 * Invariants:
 * 1. Between two flushes the number of rows in the file does not change, since the datasets' metadata are held back.
 * 2. Disk space for the rows is reserved before they are passed to HDF5. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/hdf5/hdf5_module.h"

enum { CHUNK = 1024, REFERENCE = 16 }; /* rows; bytes of a text's place in a heap */

struct tt_hdf5_columns {
    char *path;
    hid_t file;
    int fd; /* of our own: for the superblock and for room */
    hid_t *datasets;
    enum tt_hdf5_kind *kinds;
    size_t count;
    hsize_t rows;
    bool failed; /* and the failure has been reported */
};

/* Of a value in memory: double, char * or struct tt_hdf5_bytes, which is laid out as hvl_t is. */
static hid_t hdf5_columns_memory_type(enum tt_hdf5_kind kind)
{
    _Static_assert(sizeof(struct tt_hdf5_bytes) == sizeof(hvl_t) &&
                       offsetof(struct tt_hdf5_bytes, size) == offsetof(hvl_t, len) &&
                       offsetof(struct tt_hdf5_bytes, data) == offsetof(hvl_t, p),
                   "bytes are handed to HDF5 as they are");
    return kind == TUTTI_HDF5_NUMBER ? H5Tcopy(H5T_NATIVE_DOUBLE)
           : kind == TUTTI_HDF5_TEXT ? tt_hdf5_writer_string_type()
                                     : H5Tvlen_create(H5T_NATIVE_UINT8);
}

static hid_t hdf5_columns_make_column(hid_t file, const struct tt_hdf5_column *column)
{
    const hsize_t none = 0, most = H5S_UNLIMITED, chunk = CHUNK;
    hid_t type = column->kind == TUTTI_HDF5_NUMBER ? H5Tcopy(H5T_IEEE_F64LE)
                 : column->kind == TUTTI_HDF5_TEXT ? tt_hdf5_writer_string_type()
                                                   : H5Tvlen_create(H5T_STD_U8LE);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &none, &most);
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_obj_track_times(list, 0);
    hid_t dataset = H5Dcreate2(file, column->name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(list);
    H5Tclose(type);
    if (dataset >= 0 && H5Odisable_mdc_flushes(dataset) < 0) {
        H5Dclose(dataset);
        return -1;
    }
    return dataset;
}

static enum tutti_err hdf5_columns_create(struct tt_hdf5_columns *sheet, const char *creator,
                                          const struct tt_hdf5_column *columns)
{
    WRITE_TRY(sheet->path, sheet->file = tt_hdf5_writer_make_file(sheet->path));
    WRITE_TRY(sheet->path, tt_hdf5_writer_put_text(sheet->file, "creator", creator));
    for (size_t i = 0; i < sheet->count; i++) {
        sheet->kinds[i] = columns[i].kind;
        WRITE_TRY(sheet->path, sheet->datasets[i] = hdf5_columns_make_column(sheet->file, &columns[i]));
    }
    sheet->fd = open(sheet->path, O_RDWR | O_CLOEXEC);
    if (sheet->fd < 0)
        return tt_hdf5_module_host->fail_write(sheet->path, errno);
    (void)tt_hdf5_module_descriptor(sheet->file);
    return tt_hdf5_columns_write(sheet, NULL, 0, 0);
}

static enum tutti_err hdf5_columns_append(const struct tt_hdf5_columns *sheet, size_t column, const void *cells,
                                          hsize_t rows)
{
    const hsize_t size = sheet->rows + rows;
    hid_t dataset = sheet->datasets[column], type = hdf5_columns_memory_type(sheet->kinds[column]);
    hid_t memory = H5Screate_simple(1, &rows, NULL), space = -1;
    bool written = H5Dset_extent(dataset, &size) >= 0 && (space = H5Dget_space(dataset)) >= 0 &&
                   H5Sselect_hyperslab(space, H5S_SELECT_SET, &sheet->rows, NULL, &rows, NULL) >= 0 &&
                   H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, cells) >= 0;
    enum tutti_err err = written ? TUTTI_OK : tt_hdf5_module_fail_write(sheet->path);
    if (space >= 0)
        H5Sclose(space);
    H5Sclose(memory);
    H5Tclose(type);
    return err;
}

/* Invariant 2. `bytes` of texts go into heaps, which have some room to spare. */
static enum tutti_err hdf5_columns_reserve(const struct tt_hdf5_columns *sheet, size_t rows, size_t bytes)
{
    enum { SPARE = 256 * 1024 };
    struct stat st;
    size_t more = 2 * bytes + sheet->count * (rows + CHUNK) * 3 * REFERENCE + SPARE;
    int error = fstat(sheet->fd, &st) != 0 ? errno : tt_hdf5_writer_take_room(sheet->fd, st.st_size, (off_t)more);
    return error ? tt_hdf5_module_host->fail_write(sheet->path, error) : TUTTI_OK;
}

static enum tutti_err hdf5_columns_write_rows(struct tt_hdf5_columns *sheet, const void *const *cells, size_t rows,
                                              size_t bytes)
{
    TRY(hdf5_columns_reserve(sheet, rows, bytes));
    for (size_t i = 0; i < sheet->count && rows > 0; i++)
        TRY(hdf5_columns_append(sheet, i, cells[i], rows));
    sheet->rows += rows;
    WRITE_TRY(sheet->path, H5Fflush(sheet->file, H5F_SCOPE_GLOBAL));
    int error = tt_hdf5_writer_repair_superblock(sheet->fd);
    return error ? tt_hdf5_module_host->fail_write(sheet->path, error) : TUTTI_OK;
}

enum tutti_err tt_hdf5_columns_write(struct tt_hdf5_columns *sheet, const void *const *cells, size_t rows, size_t bytes)
{
    enum tutti_err err = hdf5_columns_write_rows(sheet, cells, rows, bytes);
    sheet->failed = err != TUTTI_OK;
    return err;
}

/* After a failure the file stays as it was in the last flush: what HDF5 has in memory is not written. */
enum tutti_err tt_hdf5_columns_close(struct tt_hdf5_columns *sheet)
{
    herr_t closed = 0;
    for (size_t i = 0; i < sheet->count; i++)
        if (sheet->datasets[i] >= 0 && H5Dclose(sheet->datasets[i]) < 0)
            closed = -1;
    if (sheet->file >= 0 && H5Fclose(sheet->file) < 0)
        closed = -1;
    enum tutti_err err = closed < 0 && !sheet->failed ? tt_hdf5_module_fail_write(sheet->path) : TUTTI_OK;
    struct stat st;
    if (sheet->fd >= 0) {
        if (fstat(sheet->fd, &st) == 0 && S_ISREG(st.st_mode))
            (void)!ftruncate(sheet->fd, st.st_size); /* gives back what was reserved */
        if (sheet->failed)
            tt_hdf5_writer_repair_superblock(sheet->fd);
        close(sheet->fd);
    }
    free(sheet->datasets);
    free(sheet->kinds);
    free(sheet->path);
    free(sheet);
    return err;
}

enum tutti_err tt_hdf5_columns_new(struct tt_hdf5_columns **out, const char *path, const char *creator,
                                   const struct tt_hdf5_column *columns, size_t count)
{
    struct tt_hdf5_columns *sheet = calloc(1, sizeof *sheet);
    if (!sheet)
        return tt_hdf5_module_host->fail_memory();
    sheet->file = sheet->fd = -1;
    sheet->path = strdup(path);
    sheet->datasets = calloc(count + 1, sizeof *sheet->datasets);
    sheet->kinds = calloc(count + 1, sizeof *sheet->kinds);
    sheet->count = sheet->datasets ? count : 0;
    for (size_t i = 0; i < sheet->count; i++)
        sheet->datasets[i] = -1;
    enum tutti_err err = sheet->path && sheet->datasets && sheet->kinds ? hdf5_columns_create(sheet, creator, columns)
                                                                        : tt_hdf5_module_host->fail_memory();
    if (err) {
        sheet->failed = true;
        (void)!tt_hdf5_columns_close(sheet);
        return err;
    }
    *out = sheet;
    return TUTTI_OK;
}
