/* SPDX-License-Identifier: MIT */
/* A new file: `/time`, `/values` and their attributes, ready for rows. */
#include <math.h>

#include "results/hdf5/hdf5_module_parts.h"

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

/* How a dataset is stored. A row that were visible and not written would be NaN. */
static hid_t hdf5_writer_storage(int rank, const hsize_t *chunk)
{
    static const double nothing = NAN;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, rank, chunk);
    H5Pset_shuffle(list);
    H5Pset_deflate(list, 1);
    H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &nothing);
    H5Pset_obj_track_times(list, 0);
    return list;
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
    hid_t list = hdf5_writer_storage(rank, chunk), access = tt_hdf5_writer_dataset_access(),
          space = H5Screate_simple(rank, now, most);
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
