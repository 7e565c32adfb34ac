/* SPDX-License-Identifier: MIT */
#ifndef TT_FMU_ARCHIVE_ZIP_H
#define TT_FMU_ARCHIVE_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zip.h>

#include "base/fail.h"
#include "fmu/archive/archive.h"

/* A file as libzip reads it, with a bound. Private to src/archive. */

/* libzip borrows it until the archive is closed. */
struct tt_zip_source {
    int fd;
    uint64_t size, at;
    /* Bytes that may still be read; UINT64_MAX: no bound. Crafted archives make libzip read the same table of contents
     * thousands of times while opening. */
    uint64_t budget;
    bool exhausted; /* the budget was not enough */
    int error;      /* errno of a failed read, which libzip takes for an early end of the file */
};
/* NULL when memory is out. */
zip_source_t *tt_zip_source_new(struct tt_zip_source *file);

/* Packages as files: an .ssp, or an .fmu, from its parts. */

/* A file of the package, from memory, from the disk, or from an archive. */
struct tt_zip_part {
    const char *name; /* UTF-8, '/' between folders; a folder itself ends in '/', and has no content */
    const char *data; /* `size` bytes; NULL: not from memory */
    size_t size;
    const char *path;           /* NULL: not from the disk */
    struct tt_archive *archive; /* NULL: not from an archive; otherwise its entry `index` */
    size_t index;
};

/* Writes a ZIP archive that all programs can read: deflated or stored entries, no extensions of the format. Equal parts
 * give equal bytes. The file appears complete, or not at all: an earlier file is replaced at the end. IO, naming the
 * file; FORMAT where a part's archive is damaged. */
TUTTI_CHECKED enum tutti_err tt_zip_write(const char *path, const struct tt_zip_part *parts, size_t count);

#endif
