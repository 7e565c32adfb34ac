/* SPDX-License-Identifier: MIT */
/* A file that an interrupted run left, ready for further rows.
 *
 * It is opened for SWMR at once: HDF5 then writes what refers to something after that something, and gives no room back. So at any
 * moment at which the process is killed, the rows that stay are there: those of finished blocks are not touched, and a block is
 * replaced by another one at another place. What the blocks took that are not needed any more is lost. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "results/hdf5/hdf5_module_parts.h"

/* The superblock says where the file ends: what is written next goes there, and must not go over anything. */
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

static hid_t hdf5_writer_open_existing(const char *path)
{
    hid_t access = tt_hdf5_writer_file_access();
    hid_t file = H5Fopen(path, H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access);
    H5Pclose(access);
    return file;
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
    WRITE_TRY(writer->path, writer->file = hdf5_writer_open_existing(writer->path));
    WRITE_TRY(writer->path, writer->time = open_dataset(writer->file, "time"));
    WRITE_TRY(writer->path, writer->values = open_dataset(writer->file, "values"));
    TRY(tt_hdf5_writer_defer_metadata(writer));
    WRITE_TRY(writer->path, H5Dset_extent(writer->values, size));
    WRITE_TRY(writer->path, H5Dset_extent(writer->time, size));
    writer->done = rows;
    return TUTTI_OK;
}
