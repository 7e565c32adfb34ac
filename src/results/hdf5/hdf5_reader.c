/* SPDX-License-Identifier: MIT */
/* Files in the layout of hdf5.h, by whomever they were written. HDF5 finds what is broken; here is what does not fit. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/hdf5/hdf5_module.h"

struct tt_hdf5_reader {
    char *path;
    hid_t file, time, values;
    struct tt_hdf5_texts texts;
    char *time_unit;
};

/* Deflate makes at most 1032 bytes of one; and so much is nothing to worry about. */
enum { MOST_INFLATED = 1032, ANYHOW = 1 << 20, LARGEST_CHUNK = 1 << 28 };

static enum tutti_err hdf5_reader_fail_layout(const struct tt_hdf5_reader *reader, const char *what)
{
    return tt_hdf5_module_host->fail(
        TUTTI_ERR_FORMAT,
        "%s: %s; a result in HDF5 has a dataset 'time' (numbers, one per row) and a dataset "
        "'values' (rows x variables) with an attribute 'names' (a text per variable)",
        reader->path, what);
}

/* ---- texts */

static void hdf5_reader_free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++)
        free(texts[i]);
    free(texts);
}

/* Converts strings of a fixed length, with any padding, to separate strings. */
static enum tutti_err hdf5_reader_read_fixed(const struct tt_hdf5_reader *reader, hid_t attribute, hid_t type,
                                             char **texts, size_t count)
{
    size_t size = H5Tget_size(type);
    char *bytes = size > 0 && size < LARGEST_CHUNK / (count + 1) ? calloc(count + 1, size) : NULL;
    if (!bytes)
        return tt_hdf5_module_host->fail_memory();
    enum tutti_err err = H5Aread(attribute, type, bytes) < 0 ? tt_hdf5_module_fail_read(reader->path) : TUTTI_OK;
    for (size_t i = 0; i < count && !err; i++) {
        texts[i] = strndup(bytes + i * size, size);
        if (!texts[i])
            err = tt_hdf5_module_host->fail_memory();
    }
    free(bytes);
    return err;
}

/* HDF5 allocates strings of any length; ours, since they are freed by us. */
static enum tutti_err hdf5_reader_read_variable(const struct tt_hdf5_reader *reader, hid_t attribute, hid_t space,
                                                hid_t type, char **texts, size_t count)
{
    char **theirs = calloc(count + 1, sizeof *theirs);
    if (!theirs)
        return tt_hdf5_module_host->fail_memory();
    enum tutti_err err = H5Aread(attribute, type, theirs) < 0 ? tt_hdf5_module_fail_read(reader->path) : TUTTI_OK;
    for (size_t i = 0; i < count && !err; i++) {
        texts[i] = strdup(theirs[i] ? theirs[i] : "");
        if (!texts[i])
            err = tt_hdf5_module_host->fail_memory();
    }
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, theirs);
    free(theirs);
    return err;
}

/* Reads attribute `name` of an object: *texts is NULL if it does not exist or has no texts; there must be `count`
 * texts. */
static enum tutti_err hdf5_reader_read_texts(const struct tt_hdf5_reader *reader, hid_t object, const char *name,
                                             size_t count, char ***texts)
{
    *texts = NULL;
    if (H5Aexists(object, name) <= 0)
        return TUTTI_OK;
    enum tutti_err err = TUTTI_OK;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    if (attribute < 0 || type < 0 || space < 0)
        err = tt_hdf5_module_fail_read(reader->path);
    else if (H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) != (hssize_t)count)
        err = tt_hdf5_module_host->fail(TUTTI_ERR_FORMAT, "%s: the attribute '%s' has %lld texts, which should be %zu",
                                        reader->path, name, (long long)H5Sget_simple_extent_npoints(space), count);
    else if (H5Tget_class(type) == H5T_STRING) {
        *texts = calloc(count + 1, sizeof **texts);
        if (!*texts)
            err = tt_hdf5_module_host->fail_memory();
        else if (count > 0)
            err = H5Tis_variable_str(type) > 0
                      ? hdf5_reader_read_variable(reader, attribute, space, type, *texts, count)
                      : hdf5_reader_read_fixed(reader, attribute, type, *texts, count);
    }
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return err;
}

static enum tutti_err read_all_texts(struct tt_hdf5_reader *reader)
{
    struct tt_hdf5_texts *texts = &reader->texts;
    char **unit;
    TRY(hdf5_reader_read_texts(reader, reader->values, "names", texts->count, &texts->names));
    if (!texts->names)
        return hdf5_reader_fail_layout(reader, "there is no attribute 'names' with texts");
    TRY(hdf5_reader_read_texts(reader, reader->values, "units", texts->count, &texts->units));
    TRY(hdf5_reader_read_texts(reader, reader->values, "descriptions", texts->count, &texts->descriptions));
    TRY(hdf5_reader_read_texts(reader, reader->values, "types", texts->count, &texts->types));
    TRY(hdf5_reader_read_texts(reader, reader->values, "variabilities", texts->count, &texts->variabilities));
    enum tutti_err err = hdf5_reader_read_texts(reader, reader->time, "unit", 1, &unit);
    reader->time_unit = unit ? unit[0] : NULL;
    free(unit);
    return err;
}

/* ---- datasets */

static bool holds_numbers(hid_t dataset)
{
    hid_t type = H5Dget_type(dataset);
    H5T_class_t kind = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    if (type >= 0)
        H5Tclose(type);
    return kind == H5T_FLOAT || kind == H5T_INTEGER;
}

/* False: it has another rank. */
static bool hdf5_reader_get_size(hid_t dataset, int rank, hsize_t *size)
{
    hid_t space = H5Dget_space(dataset);
    bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, size, NULL) == rank;
    if (space >= 0)
        H5Sclose(space);
    return fits;
}

/* Chunks are read as a whole; {0, 0} without chunks. External storage is rejected: a result is one file. */
static enum tutti_err hdf5_reader_get_chunk(const struct tt_hdf5_reader *reader, hid_t dataset, int rank,
                                            hsize_t chunk[2])
{
    enum tutti_err err = TUTTI_OK;
    hid_t list = H5Dget_create_plist(dataset);
    chunk[0] = chunk[1] = 0;
    if (list < 0)
        return tt_hdf5_module_fail_read(reader->path);
    if (H5Pget_layout(list) == H5D_CHUNKED && H5Pget_chunk(list, rank, chunk) != rank)
        err = tt_hdf5_module_fail_read(reader->path);
    else if (H5Pget_layout(list) == H5D_VIRTUAL || H5Pget_external_count(list) > 0)
        err = hdf5_reader_fail_layout(reader, "its numbers are in other files");
    double size = (double)chunk[0] * (rank > 1 ? (double)chunk[1] : 1) * 8;
    if (!err && size > LARGEST_CHUNK)
        err = tt_hdf5_module_host->fail(TUTTI_ERR_LIMIT, "%s: a chunk of %.0f bytes is larger than Tutti reads (%d)",
                                        reader->path, size, LARGEST_CHUNK);
    H5Pclose(list);
    return err;
}

static enum tutti_err check_datasets(struct tt_hdf5_reader *reader, struct tt_hdf5_content *content)
{
    hsize_t rows, size[2], chunk[2], unused[2];
    if (!holds_numbers(reader->time) || !hdf5_reader_get_size(reader->time, 1, &rows))
        return hdf5_reader_fail_layout(reader, "'time' is something else");
    if (!holds_numbers(reader->values) || !hdf5_reader_get_size(reader->values, 2, size))
        return hdf5_reader_fail_layout(reader, "'values' is something else");
    if (size[1] > UINT32_MAX)
        return tt_hdf5_module_host->fail(TUTTI_ERR_LIMIT, "%s: too many variables", reader->path);
    rows = rows < size[0] ? rows : size[0]; /* while the file is written, datasets grow one after the other */

    /* A few bytes can claim many rows, none of which was ever written. */
    if ((double)rows * 8 > (double)H5Dget_storage_size(reader->time) * MOST_INFLATED + ANYHOW)
        return tt_hdf5_module_host->fail(TUTTI_ERR_LIMIT,
                                         "%s: it says that it has %llu rows, but has no bytes for them", reader->path,
                                         (unsigned long long)rows);

    TRY(hdf5_reader_get_chunk(reader, reader->time, 1, unused));
    TRY(hdf5_reader_get_chunk(reader, reader->values, 2, chunk));
    content->rows = (size_t)rows;
    content->block = (size_t)chunk[0];
    content->width = (size_t)chunk[1];
    reader->texts.count = (size_t)size[1];
    return TUTTI_OK;
}

/* ---- opening and closing */

static enum tutti_err check_is_local(const struct tt_hdf5_reader *reader, const char *name)
{
    H5L_info_t link;
    htri_t there = H5Lexists(reader->file, name, H5P_DEFAULT);
    READ_TRY(reader->path, there);
    if (there)
        READ_TRY(reader->path, H5Lget_info(reader->file, name, &link, H5P_DEFAULT));
    return there && link.type == H5L_TYPE_HARD ? TUTTI_OK
                                               : hdf5_reader_fail_layout(reader, "this is another kind of HDF5 file");
}

static enum tutti_err open_datasets(struct tt_hdf5_reader *reader)
{
    /* Our files are open to all while they grow. (To open for SWMR, as files of other writers need it, HDF5 tries for
     * minutes if a file is broken.) */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, 0, 1);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    reader->file = H5Fopen(reader->path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    if (reader->file >= 0)
        (void)tt_hdf5_module_descriptor(reader->file);
    READ_TRY(reader->path, reader->file);

    TRY(check_is_local(reader, "time"));
    TRY(check_is_local(reader, "values"));
    reader->time = H5Dopen2(reader->file, "time", H5P_DEFAULT);
    reader->values = reader->time < 0 ? -1 : H5Dopen2(reader->file, "values", H5P_DEFAULT);
    READ_TRY(reader->path, reader->values);
    return TUTTI_OK;
}

static enum tutti_err hdf5_reader_start(struct tt_hdf5_reader *reader, struct tt_hdf5_content *content)
{
    *content = (struct tt_hdf5_content){0};
    TRY(open_datasets(reader));
    TRY(check_datasets(reader, content));
    TRY(read_all_texts(reader));
    content->texts = reader->texts;
    content->time_unit = reader->time_unit;
    return TUTTI_OK;
}

enum tutti_err tt_hdf5_reader_new(struct tt_hdf5_reader **out, const char *path, struct tt_hdf5_content *content)
{
    struct tt_hdf5_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return tt_hdf5_module_host->fail_memory();
    reader->file = reader->time = reader->values = -1;
    reader->path = strdup(path);
    enum tutti_err err = reader->path ? hdf5_reader_start(reader, content) : tt_hdf5_module_host->fail_memory();
    if (err)
        tt_hdf5_reader_free(reader);
    else
        *out = reader;
    return err;
}

void tt_hdf5_reader_free(struct tt_hdf5_reader *reader)
{
    if (!reader)
        return;
    if (reader->values >= 0)
        H5Dclose(reader->values);
    if (reader->time >= 0)
        H5Dclose(reader->time);
    if (reader->file >= 0)
        H5Fclose(reader->file);
    hdf5_reader_free_texts(reader->texts.names, reader->texts.count);
    hdf5_reader_free_texts(reader->texts.units, reader->texts.count);
    hdf5_reader_free_texts(reader->texts.descriptions, reader->texts.count);
    hdf5_reader_free_texts(reader->texts.types, reader->texts.count);
    hdf5_reader_free_texts(reader->texts.variabilities, reader->texts.count);
    free(reader->time_unit);
    free(reader->path);
    free(reader);
}

/* ---- numbers */

static enum tutti_err read_rectangle(const struct tt_hdf5_reader *reader, hid_t dataset, int rank, const hsize_t *first,
                                     const hsize_t *count, double *values)
{
    hid_t memory = H5Screate_simple(rank, count, NULL), space = H5Dget_space(dataset);
    herr_t failed = memory < 0 || space < 0 ? -1 : 0;
    if (!failed)
        failed = H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, count, NULL);
    if (!failed)
        failed = H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values);
    enum tutti_err err = failed ? tt_hdf5_module_fail_read(reader->path) : TUTTI_OK;
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return err;
}

enum tutti_err tt_hdf5_reader_times(struct tt_hdf5_reader *reader, size_t row, size_t rows, double *times)
{
    const hsize_t first = row, count = rows;
    return rows ? read_rectangle(reader, reader->time, 1, &first, &count, times) : TUTTI_OK;
}

enum tutti_err tt_hdf5_reader_read(struct tt_hdf5_reader *reader, size_t row, size_t rows, size_t column,
                                   size_t columns, double *values)
{
    const hsize_t first[] = {row, column}, count[] = {rows, columns};
    return read_rectangle(reader, reader->values, 2, first, count, values);
}

/* HDF5 checks sums of most that is in a file, but not of its heap of strings, and up to 1.14 takes what stands there on trust: a
 * broken one ends in a fault or in a loop without end (H5HG_read). So a copy of this process reads the strings first. */

static _Noreturn void try_in_child(const char *path)
{
    static const int ends[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTERM, SIGINT};
    struct tt_hdf5_reader *reader = NULL;
    struct tt_hdf5_content content;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        signal(ends[i], SIG_DFL); /* no handler is to run */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});

    /* The time that the copy may compute: a hundred thousand names, of 10 MB, take a fifth of a second. */
    struct stat st = {0};
    stat(path, &st);
    rlim_t seconds = 1 + (rlim_t)st.st_size / (16 << 20);
    setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
    (void)!tt_hdf5_reader_new(&reader, path, &content); /* a failure is reported to the caller that tries again */
    for (;;)
        syscall(SYS_exit_group, 0); /* past what a sanitizer looks for at an end: this is not one */
}

enum tutti_err tt_hdf5_reader_try(const char *path)
{
    int status = 0;
    pid_t copy = fork();
    if (copy < 0)
        return tt_hdf5_module_host->fail_memory();
    if (copy == 0)
        try_in_child(path);
    while (waitpid(copy, &status, 0) < 0)
        if (errno != EINTR)
            return TUTTI_OK; /* the program does not let us wait for it */
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return TUTTI_OK;
    return tt_hdf5_module_host->fail(TUTTI_ERR_FORMAT,
                                     "cannot read %s: the file is broken: HDF5 does not find its way through it", path);
}
