/* SPDX-License-Identifier: MIT */
/* archive.h - an FMU's files: a ZIP archive, read as hostile, or a folder of the same form.
 *
 * Opening checks the whole table of contents before a byte is unpacked: entry count, sizes, ratio, duplicate names (with
 * different content), names that lead out of the target folder, links and devices. A folder is used where it lies; it is
 * never written to. */
#ifndef TT_FMU_ARCHIVE_ARCHIVE_H
#define TT_FMU_ARCHIVE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/byte_source.h"

struct tt_archive;

/* Opens `path`. FORMAT: not a ZIP, truncated, encrypted, hostile or clashing names; LIMIT: a bomb; IO: cannot be read.
 * '\\' in names becomes '/', and "./" and empty parts are dropped, as packers err that way without harm. */
TUTTI_CHECKED enum tutti_err tt_archive_open(struct tt_archive **out, const char *path);
void tt_archive_free(struct tt_archive *archive);

/* Number of entries, and their names with '/' between folders, in file order; borrowed. Folders of an archive end in
 * '/'. For an unpacked folder, names come sorted. */
size_t tt_archive_count(const struct tt_archive *archive);
const char *tt_archive_name(const struct tt_archive *archive, size_t index);
/* Bytes of an entry, unpacked, and whether it is a program, for callers that pack it again. */
uint64_t tt_archive_size(const struct tt_archive *archive, size_t index);
bool tt_archive_is_program(const struct tt_archive *archive, size_t index);
/* How many files were in it twice, with the same content both times, which counts as one; and the first of their names. */
size_t tt_archive_count_repeats(const struct tt_archive *archive, const char **first);
/* Is there a file of this name; or, for a name that ends in '/', such a folder, with or without an entry of its own? */
bool tt_archive_has(const struct tt_archive *archive, const char *name);

/* Streams one entry. The reader is valid until tt_archive_close_entry; one entry at a time. CRC errors and sizes that
 * are not what the table of contents said come as FORMAT from read. */
TUTTI_CHECKED enum tutti_err tt_archive_open_entry(struct tt_archive *archive, const char *name,
                                                   struct tt_byte_source *reader);
void tt_archive_close_entry(struct tt_archive *archive);

/* Where the files can be used from: the folder itself, or a temporary folder (base/tempdir.h) with everything unpacked
 * on the first call, except entries under sources/ and documentation/. Files are private to the user; those that are
 * executable in the archive stay so. Absolute, no slash at the end; borrowed; removed by tt_archive_free. */
TUTTI_CHECKED enum tutti_err tt_archive_unpack(struct tt_archive *archive, const char **folder);

#endif
