/* SPDX-License-Identifier: MIT */
#ifndef TT_RESULTS_HDF5_HDF5_MODULE_H
#define TT_RESULTS_HDF5_HDF5_MODULE_H

#include <hdf5.h>
#include <stddef.h>

#include "results/hdf5.h"

/* Shared by the files of the module. */

extern const struct tt_hdf5_host *tt_hdf5_module_host;

/* ---- module.c */

/* The failure of a call of HDF5 that was to write to `path`, in HDF5's words; a system's error in the words of the host. */
enum tutti_err tt_hdf5_module_fail_write(const char *path);
/* The same for reading. */
enum tutti_err tt_hdf5_module_fail_read(const char *path);

/* Returns HDF5's descriptor of an open file, and keeps programs that an FMU starts from inheriting it, which HDF5
 * cannot do. -1 if there is none or it is not available. */
int tt_hdf5_module_descriptor(hid_t file);

/* Leaves the function if the call of HDF5 fails. */
#define WRITE_TRY(path, call)                                                                                          \
    do {                                                                                                               \
        if ((call) < 0)                                                                                                \
            return tt_hdf5_module_fail_write(path);                                                                    \
    } while (0)
#define READ_TRY(path, call)                                                                                           \
    do {                                                                                                               \
        if ((call) < 0)                                                                                                \
            return tt_hdf5_module_fail_read(path);                                                                     \
    } while (0)

/* ---- hdf5_writer.c, hdf5_writer.c, hdf5_writer.c */

struct tt_hdf5_packer;

struct tt_hdf5_writer {
    char *path;
    int fd;        /* of our own: for the superblock, and for rows of a block that is in the file already */
    int fd_inside; /* HDF5's */
    dev_t device;  /* identity of both descriptors, unless code of an FMU has closed them and opened different files */
    ino_t inode;
    bool lost; /* the identity has changed: HDF5 is not called any more, since it would write to the wrong file */
    hid_t file, values, time;
    size_t count, block, width;
    size_t groups;     /* chunks beside each other: ceil(count / width) */
    hsize_t done;      /* rows of finished blocks */
    size_t raw;        /* rows of the present block that are in the file, as they are */
    haddr_t *places;   /* of its chunks, `/time` last */
    double *rectangle; /* a chunk */
    double *copy;      /* the chunk's content in the file */
    struct tt_hdf5_packer *packer;
    bool failed; /* and the failure has been reported */
};

/* File, datasets and attributes; `writer` has its numbers, -1 for file, values, time. */
enum tutti_err tt_hdf5_writer_create_file(struct tt_hdf5_writer *writer, const struct tt_hdf5_plan *plan);
/* A new file, empty. Type of texts in UTF-8, of any length. A text as an attribute. Negative: HDF5's failure. */
hid_t tt_hdf5_writer_make_file(const char *path);
hid_t tt_hdf5_writer_string_type(void);
herr_t tt_hdf5_writer_put_text(hid_t object, const char *name, const char *text);
/* How a file is opened for writing: in the format of HDF5 1.10 (the first with SWMR), whatever this library's own is; readers are
 * not locked out. How a dataset is: its chunks are written past the cache. */
hid_t tt_hdf5_writer_file_access(void);
hid_t tt_hdf5_writer_dataset_access(void);
/* From now on the metadata of datasets in the file change in flush only. */
enum tutti_err tt_hdf5_writer_defer_metadata(const struct tt_hdf5_writer *writer);

/* Reserves `more` bytes at the end of the file, until it is truncated. 0, or errno if the disk is full. On file systems
 * without reservation, only writing detects it. */
int tt_hdf5_writer_take_room(int fd, off_t size, off_t more);

/* As above for a file of tt_hdf5_writer_create_file, after `rows` rows. */
enum tutti_err tt_hdf5_writer_reopen_file(struct tt_hdf5_writer *writer, size_t rows);
enum tutti_err tt_hdf5_writer_recover(const char *path);

/* `rows`: number of rows of a file that is resumed, or SIZE_MAX for a new file. */
enum tutti_err tt_hdf5_writer_new(struct tt_hdf5_writer **out, const struct tt_hdf5_plan *plan, size_t rows);
enum tutti_err tt_hdf5_writer_write(struct tt_hdf5_writer *writer, const double *times, const double *values,
                                    size_t rows, bool last);
enum tutti_err tt_hdf5_writer_flush(struct tt_hdf5_writer *writer);
enum tutti_err tt_hdf5_writer_close(struct tt_hdf5_writer *writer);

/* ---- hdf5_columns.c */

enum tutti_err tt_hdf5_columns_new(struct tt_hdf5_columns **out, const char *path, const char *creator,
                                   const struct tt_hdf5_column *columns, size_t count);
enum tutti_err tt_hdf5_columns_write(struct tt_hdf5_columns *sheet, const void *const *cells, size_t rows,
                                     size_t bytes);
enum tutti_err tt_hdf5_columns_close(struct tt_hdf5_columns *sheet);

/* ---- hdf5_writer.c */

/* Repairs the superblock so that any program may open the file while it is being written: removes the mark of a writer,
 * and sets the end of the file to its current size. 0, or errno; ENOTSUP if Tutti did not write the file. */
int tt_hdf5_writer_repair_superblock(int fd);

/* ---- hdf5_writer.c */

/* The result of shuffling and deflating a chunk of at most `most` numbers. NULL: memory is out. */
struct tt_hdf5_packer *tt_hdf5_writer_new_packer(size_t most);
void tt_hdf5_writer_free_packer(struct tt_hdf5_packer *packer);
/* *bytes, borrowed, and how many they are; 0: no fewer than the numbers have. Numbers of one column are `width` apart. */
size_t tt_hdf5_writer_pack(struct tt_hdf5_packer *packer, const double *numbers, size_t count, size_t width,
                           const void **bytes);

/* ---- trial.c */

/* Checks that HDF5 can read the part before the numbers without crashing. FORMAT. */
enum tutti_err tt_hdf5_reader_try(const char *path);

/* ---- hdf5_reader.c */

enum tutti_err tt_hdf5_reader_new(struct tt_hdf5_reader **out, const char *path, struct tt_hdf5_content *content);
enum tutti_err tt_hdf5_reader_times(struct tt_hdf5_reader *reader, size_t row, size_t rows, double *times);
enum tutti_err tt_hdf5_reader_read(struct tt_hdf5_reader *reader, size_t row, size_t rows, size_t column,
                                   size_t columns, double *values);
void tt_hdf5_reader_free(struct tt_hdf5_reader *reader);

#endif
