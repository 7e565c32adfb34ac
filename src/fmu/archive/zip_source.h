/* SPDX-License-Identifier: MIT */
/* source.h - a file as libzip reads it, with a bound. Private to src/archive. */
#ifndef TT_FMU_ARCHIVE_ZIP_SOURCE_H
#define TT_FMU_ARCHIVE_ZIP_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <zip.h>

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

#endif
