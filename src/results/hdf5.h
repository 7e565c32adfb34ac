/* SPDX-License-Identifier: MIT */
/* hdf5.h - the seam between the library and the module with HDF5 (src/hdf5/, tutti_hdf5.so), which is loaded when a .h5
 * file is written or read. The module does not use symbols of the library: struct tt_hdf5_host has the functions it
 * needs.
 *
 * A result in HDF5: `/time` (rows) and `/values` (rows x variables), both doubles, in chunks, shuffled and deflated;
 * names, units, descriptions, types and variabilities are attributes of `/values`, arrays of UTF-8 strings. Rows come
 * in blocks of the number of rows that a chunk has. */
#ifndef TT_RESULTS_HDF5_H
#define TT_RESULTS_HDF5_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

/* Both sides must agree in this. */
enum { TUTTI_HDF5_ABI = 4 };

/* Functions of the library that the module calls; valid permanently. */
struct tt_hdf5_host {
    unsigned abi;
    enum tutti_err (*fail)(enum tutti_err err, const char *format, ...) TUTTI_PRINTF(2, 3);
    enum tutti_err (*fail_memory)(void);
    enum tutti_err (*fail_write)(const char *path, int error); /* results/record_file.h */
};

/* The texts of a file: arrays of `count`, in which NULL means none. */
struct tt_hdf5_texts {
    size_t count;
    char **names, **units, **descriptions, **types, **variabilities;
};

/* How a file is to be made. */
struct tt_hdf5_plan {
    const char *path;
    const char *creator;
    const struct tt_hdf5_texts *texts;
    size_t block; /* rows of a chunk and of a block */
    size_t width; /* columns of a chunk */
};

/* The content of a file; owned by the reader. */
struct tt_hdf5_content {
    struct tt_hdf5_texts texts;
    char *time_unit; /* NULL: not known */
    size_t rows;
    size_t block, width; /* of a chunk: the unit of efficient reading */
};

/* Type of a column of a sheet; each column is a separate dataset. */
enum tt_hdf5_kind { TUTTI_HDF5_NUMBER, TUTTI_HDF5_TEXT, TUTTI_HDF5_BYTES };
struct tt_hdf5_bytes {
    size_t size;
    const void *data;
};
struct tt_hdf5_column {
    const char *name;
    enum tt_hdf5_kind kind; /* of double, const char *, struct tt_hdf5_bytes */
};

struct tt_hdf5_writer;
struct tt_hdf5_reader;
struct tt_hdf5_columns;

/* All functions may be called from any thread; messages name the file. */
struct tt_hdf5_module {
    unsigned abi;

    /* Makes the file or replaces it, up to the first row; `plan` is borrowed for the call. IO. */
    enum tutti_err (*create)(struct tt_hdf5_writer **out, const struct tt_hdf5_plan *plan);
    /* Makes a file of `create` that a killed process has left readable: all rows up to its last flush. IO, FORMAT. */
    enum tutti_err (*recover)(const char *path);
    /* Goes on with such a file, of the same plan, after `rows` rows, which are whole blocks: further ones go from sight, with the next
     * flush. Not while a reader has it open. IO. */
    enum tutti_err (*reopen)(struct tt_hdf5_writer **out, const struct tt_hdf5_plan *plan, size_t rows);
    /* The present block has `rows` rows by now: all that were there before, and further ones. values[row][column]. A block that
     * is full, and the `last` one, is deflated if the file has nothing of it yet, and the next call begins another one. After a
     * failure only close is called. */
    enum tutti_err (*write)(struct tt_hdf5_writer *writer, const double *times, const double *values, size_t rows,
                            bool last);
    /* A program that opens the file from now on sees all rows, also if this process is killed. */
    enum tutti_err (*flush)(struct tt_hdf5_writer *writer);
    /* Always releases the writer. */
    enum tutti_err (*close)(struct tt_hdf5_writer *writer);

    /* IO, FORMAT, LIMIT. *content is valid until close. */
    enum tutti_err (*open)(struct tt_hdf5_reader **out, const char *path, struct tt_hdf5_content *content);
    enum tutti_err (*read_times)(struct tt_hdf5_reader *reader, size_t row, size_t rows, double *times);
    /* values[row][column] of a rectangle. */
    enum tutti_err (*read)(struct tt_hdf5_reader *reader, size_t row, size_t rows, size_t column, size_t columns,
                           double *values);
    void (*close_reader)(struct tt_hdf5_reader *reader); /* NULL is fine */

    /* Rows with texts, which are not a result. Creates or replaces the file, without rows; borrows the columns. IO. */
    enum tutti_err (*create_sheet)(struct tt_hdf5_columns **out, const char *path, const char *creator,
                                   const struct tt_hdf5_column *columns, size_t count);
    /* Adds rows, cells[column][row]; `bytes` is the total size of their texts. A program that opens the file from now
     * on sees them, even if this process is killed. After a failure only close is called. IO. */
    enum tutti_err (*write_sheet)(struct tt_hdf5_columns *sheet, const void *const *cells, size_t rows, size_t bytes);
    /* Always releases the sheet. */
    enum tutti_err (*close_sheet)(struct tt_hdf5_columns *sheet);
};

/* The one symbol of the module, "tt_hdf5_module": NULL if the host is not of its kind. */
typedef const struct tt_hdf5_module *tt_hdf5_entry(const struct tt_hdf5_host *host);

/* For hdf5.c and hdf5.c: the module, loaded at its first use. LOAD, with what to do in words. */
TUTTI_CHECKED enum tutti_err tt_hdf5_load(const struct tt_hdf5_module **module);

#endif
