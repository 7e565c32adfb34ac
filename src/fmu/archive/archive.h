/* SPDX-License-Identifier: MIT */
/* archive.h - an FMU's files: an untrusted ZIP archive, or a folder with its content.
 *
 * Opening checks the whole table of contents before a byte is unpacked: entry count, sizes, ratio, duplicate names
 * (with different content), names that lead out of the target folder, links and devices. A folder is used in place; it
 * is never written to. */
#ifndef TT_FMU_ARCHIVE_ARCHIVE_H
#define TT_FMU_ARCHIVE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"

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
/* Returns true if the archive has the file `name`, or, if it ends in '/', the folder, even without an explicit entry. */
bool tt_archive_has(const struct tt_archive *archive, const char *name);

/* Streams one entry. The reader is valid until tt_archive_close_entry; one entry at a time. Wrong CRCs and sizes that
 * contradict the table of contents are FORMAT errors of read. */
TUTTI_CHECKED enum tutti_err tt_archive_open_entry(struct tt_archive *archive, const char *name,
                                                   struct tt_byte_source *reader);
void tt_archive_close_entry(struct tt_archive *archive);

/* Where the files can be used from: the folder itself, or a temporary folder (base/tempdir.h) with everything unpacked
 * on the first call, except entries under sources/ and documentation/. Files are private to the user; those that are
 * executable in the archive stay so. Absolute, no slash at the end; borrowed; removed by tt_archive_free. */
TUTTI_CHECKED enum tutti_err tt_archive_unpack(struct tt_archive *archive, const char **folder);

/* Common to ZIP archives and folders: reading, and the list of entries. Private to src/fmu/archive. */

enum {
    TUTTI_ARCHIVE_ENTRIES = 100000, /* most entries */
    TUTTI_ARCHIVE_NAME = 1024,      /* longest name */
    TUTTI_ARCHIVE_PART = 255,       /* longest part of a name between slashes, the limit of Linux file systems */
    TUTTI_ARCHIVE_DEPTH = 64,       /* most folders in each other */
};

struct tt_archive_entry {
    const char *name; /* '/' between folders; ends in '/' for a folder */
    uint64_t size;    /* unpacked */
    uint32_t index;   /* in the ZIP's table of contents */
    bool executable;
    bool repeated; /* the same is there already */
};

struct tt_archive;

struct tt_archive_kind {
    /* Make *archive->entry readable; read as in base/bytes.h, with the archive as context; release what begin took. */
    enum tutti_err (*begin)(struct tt_archive *archive);
    enum tutti_err (*read)(void *archive, void *buffer, size_t size, size_t *got);
    void (*end)(struct tt_archive *archive);
    /* As tt_archive_unpack. */
    enum tutti_err (*folder)(struct tt_archive *archive, const char **folder);
    /* Release everything of the kind's own; also called when opening failed half-way. */
    void (*fini)(struct tt_archive *archive);
};

/* The first member of either kind's own struct. */
struct tt_archive {
    const struct tt_archive_kind *kind;
    char *path; /* as the caller gave it, for messages */
    struct tt_arena names;
    struct tt_archive_entry *entries;
    size_t count, room;
    struct tt_archive_entry **sorted;     /* entries by name, parent before child, see compare() in archive.c */
    const struct tt_archive_entry *entry; /* being streamed, or NULL */
    size_t repeats;                       /* entries that were left out, as they are there already */
    const char *repeated;                 /* the first of them */
    uint64_t compared;                    /* bytes, to find that out */
};

/* Adds an entry under a copy of `name`; entry->name is not looked at. */
TUTTI_CHECKED enum tutti_err tt_archive_add(struct tt_archive *archive, const char *name,
                                            const struct tt_archive_entry *entry);

/* Makes a zeroed struct of `size` bytes that starts with a struct tt_archive; NULL when memory is out. */
struct tt_archive *tt_archive_new(size_t size, const struct tt_archive_kind *kind, const char *path);

/* Open, and fill the entries. Both take `fd`, also on failure; then the caller frees *out if it is not NULL. */
TUTTI_CHECKED enum tutti_err tt_zip_open(struct tt_archive **out, const char *path, int fd, off_t size);
TUTTI_CHECKED enum tutti_err tt_folder_archive_open(struct tt_archive **out, const char *path, int fd);

#endif
