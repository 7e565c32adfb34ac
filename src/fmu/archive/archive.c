/* SPDX-License-Identifier: MIT */
/* Opening either kind of archive, its entries sorted, and finding one by its name. */
#include "fmu/archive/archive.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/vector.h"

/* Sorts a folder's contents right after it ('/' before all other characters), and takes "a" and "a/" for the same, so
 * that names that cannot live side by side come to lie side by side. */
static int archive_char_rank(const char *c)
{
    if (*c == '\0' || (c[0] == '/' && c[1] == '\0'))
        return 0;
    return *c == '/' ? 1 : (unsigned char)*c + 1;
}

static int archive_compare(const char *a, const char *b)
{
    while (archive_char_rank(a) == archive_char_rank(b) && archive_char_rank(a) != 0) {
        a++;
        b++;
    }
    return archive_char_rank(a) - archive_char_rank(b);
}

static int archive_compare_entries(const void *a, const void *b)
{
    const struct tt_archive_entry *const *left = a, *const *right = b;
    int order = archive_compare((*left)->name, (*right)->name);
    return order ? order : ((*left)->index > (*right)->index) - ((*left)->index < (*right)->index);
}

static bool archive_is_folder(const char *name)
{
    return name[0] && name[strlen(name) - 1] == '/';
}

/* To be followed by tt_archive_close_entry, unless it fails. */
static enum tutti_err start_entry(struct tt_archive *archive, const struct tt_archive_entry *entry)
{
    archive->entry = entry;
    enum tutti_err err = archive->kind->begin(archive);
    if (err)
        archive->entry = NULL;
    return err;
}

/* Entries that an archive holds twice: some packers do that. If both are the same, byte for byte, one is enough; if not, readers
 * would disagree on which counts. */
enum { MOST_COMPARED = 256 << 20 }; /* bytes of all entries that are compared */

/* Reads an entry into `bytes`, or compares it with what is there. */
static enum tutti_err archive_read_entry(struct tt_archive *archive, const struct tt_archive_entry *entry, char *bytes,
                                         bool compare, bool *same)
{
    char piece[16384];
    size_t at = 0, got = 1;
    TRY(start_entry(archive, entry));
    enum tutti_err err = TUTTI_OK;
    while (!err && got > 0 && *same) {
        err = archive->kind->read(archive, piece, sizeof piece, &got);
        *same = !err && at + got <= entry->size && (!compare || memcmp(bytes + at, piece, got) == 0);
        if (*same && !compare)
            memcpy(bytes + at, piece, got);
        at += got;
    }
    *same = *same && at == entry->size;
    tt_archive_close_entry(archive);
    return err;
}

static enum tutti_err compare_contents(struct tt_archive *archive, const struct tt_archive_entry *a,
                                       const struct tt_archive_entry *b, bool *same)
{
    *same = a->size == b->size && a->size <= MOST_COMPARED - archive->compared;
    if (!*same)
        return TUTTI_OK;
    archive->compared += a->size;
    char *bytes = malloc(a->size + 1);
    if (!bytes)
        return tt_fail_memory();
    enum tutti_err err = archive_read_entry(archive, a, bytes, false, same);
    if (!err && *same)
        err = archive_read_entry(archive, b, bytes, true, same);
    free(bytes);
    return err;
}

/* Marks and counts the files, in sorted, that are there under the same name with the same content already. */
static enum tutti_err find_repeats(struct tt_archive *archive)
{
    for (size_t i = 1, first = 0; i < archive->count; i++) {
        struct tt_archive_entry *entry = archive->sorted[i];
        const char *name = archive->sorted[first]->name;
        bool same = strcmp(name, entry->name) == 0 && name[0] && name[strlen(name) - 1] != '/';
        if (same)
            TRY(compare_contents(archive, archive->sorted[first], entry, &same));
        if (!same) {
            first = i;
            continue;
        }
        entry->repeated = true;
        if (archive->repeats++ == 0)
            archive->repeated = entry->name;
    }
    return TUTTI_OK;
}

static void sort_entries(struct tt_archive *archive)
{
    for (size_t i = 0; i < archive->count; i++)
        archive->sorted[i] = &archive->entries[i];
    if (archive->count > 1)
        qsort(archive->sorted, archive->count, sizeof *archive->sorted, archive_compare_entries);
}

/* Sorts the entries; refuses names that cannot be unpacked side by side. A folder listed twice is harmless, and so is a file that
 * is there twice with the same content. */
static enum tutti_err index_entries(struct tt_archive *archive)
{
    archive->sorted = malloc((archive->count + 1) * sizeof *archive->sorted);
    if (!archive->sorted)
        return tt_fail_memory();
    sort_entries(archive);
    TRY(find_repeats(archive));
    if (archive->repeats > 0) {
        size_t kept = 0;
        for (size_t i = 0; i < archive->count; i++)
            if (!archive->entries[i].repeated)
                archive->entries[kept++] = archive->entries[i];
        archive->count = kept;
        sort_entries(archive);
    }
    for (size_t i = 1; i < archive->count; i++) {
        const char *a = archive->sorted[i - 1]->name, *b = archive->sorted[i]->name;
        size_t n = strlen(a);
        if (archive_compare(a, b) == 0 ? !archive_is_folder(a) || !archive_is_folder(b)
                                       : !archive_is_folder(a) && strncmp(a, b, n) == 0 && b[n] == '/') {
            struct tt_text_excerpt first = tt_text_excerpt(a), second = tt_text_excerpt(b);
            if (strcmp(a, b) == 0)
                return tt_fail(TUTTI_ERR_FORMAT, "%s: two entries have the name '%s'; pack it again", archive->path,
                               first.text);
            return tt_fail(TUTTI_ERR_FORMAT,
                           "%s: '%s' cannot be next to '%s', as one is a file and the other a folder of "
                           "the same name; pack it again",
                           archive->path, first.text, second.text);
        }
    }
    return TUTTI_OK;
}

enum tutti_err tt_archive_open(struct tt_archive **out, const char *path)
{
    /* O_NONBLOCK: a named pipe must not hold us up; it is refused below. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(error));
    }
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        close(fd);
        return tt_fail(TUTTI_ERR_FORMAT, "%s: neither a file nor a folder; expected a ZIP archive or a folder", path);
    }
    struct tt_archive *archive = NULL;
    enum tutti_err err = S_ISDIR(st.st_mode) ? tt_folder_archive_open(&archive, path, fd)
                                             : tt_zip_open(&archive, path, fd, st.st_size);
    if (err == TUTTI_OK)
        err = index_entries(archive);
    if (err != TUTTI_OK) {
        tt_archive_free(archive);
        return err;
    }
    *out = archive;
    return TUTTI_OK;
}

void tt_archive_free(struct tt_archive *archive)
{
    if (!archive)
        return;
    tt_archive_close_entry(archive);
    archive->kind->fini(archive);
    tt_arena_fini(&archive->names);
    free(archive->sorted);
    free(archive->entries);
    free(archive->path);
    free(archive);
}

size_t tt_archive_count(const struct tt_archive *archive)
{
    return archive->count;
}

const char *tt_archive_name(const struct tt_archive *archive, size_t index)
{
    return archive->entries[index].name;
}

uint64_t tt_archive_size(const struct tt_archive *archive, size_t index)
{
    return archive->entries[index].size;
}

bool tt_archive_is_program(const struct tt_archive *archive, size_t index)
{
    return archive->entries[index].executable;
}

size_t tt_archive_count_repeats(const struct tt_archive *archive, const char **first)
{
    *first = archive->repeated;
    return archive->repeats;
}

/* The first entry that does not sort before `name`, or NULL. */
static const struct tt_archive_entry *archive_lower_bound(const struct tt_archive *archive, const char *name)
{
    size_t at;
    TUTTI_SEARCH(at, archive->count, archive_compare(archive->sorted[at]->name, name) < 0);
    return at < archive->count ? archive->sorted[at] : NULL;
}

bool tt_archive_has(const struct tt_archive *archive, const char *name)
{
    const struct tt_archive_entry *entry = archive_lower_bound(archive, name);
    /* A folder without an entry exists if any entry lies in it. */
    return entry &&
           (archive_is_folder(name) ? strncmp(entry->name, name, strlen(name)) == 0 : strcmp(entry->name, name) == 0);
}

enum tutti_err tt_archive_open_entry(struct tt_archive *archive, const char *name, struct tt_byte_source *reader)
{
    assert(!archive->entry);
    const struct tt_archive_entry *entry = archive_lower_bound(archive, name);
    if (!entry || strcmp(entry->name, name) != 0 || archive_is_folder(name))
        return tt_fail(TUTTI_ERR_FORMAT, "%s: there is no file '%s' in it", archive->path, tt_text_excerpt(name).text);
    TRY(start_entry(archive, entry));
    *reader = (struct tt_byte_source){archive->kind->read, archive};
    return TUTTI_OK;
}

void tt_archive_close_entry(struct tt_archive *archive)
{
    if (!archive->entry)
        return;
    archive->kind->end(archive);
    archive->entry = NULL;
}

enum tutti_err tt_archive_unpack(struct tt_archive *archive, const char **folder)
{
    return archive->kind->folder(archive, folder);
}

struct tt_archive *tt_archive_new(size_t size, const struct tt_archive_kind *kind, const char *path)
{
    struct tt_archive *archive = calloc(1, size);
    char *copy = tt_text_copy(path);
    if (!archive || !copy) {
        free(archive);
        free(copy);
        return NULL;
    }
    archive->kind = kind;
    archive->path = copy;
    return archive;
}

enum tutti_err tt_archive_add(struct tt_archive *archive, const char *name, const struct tt_archive_entry *entry)
{
    if (archive->count == TUTTI_ARCHIVE_ENTRIES)
        return tt_fail(TUTTI_ERR_LIMIT, "%s: more than %d files; no FMU and no system needs so many", archive->path,
                       TUTTI_ARCHIVE_ENTRIES);
    const char *copy = tt_arena_copy_text(&archive->names, name, strlen(name));
    if (!copy || !tt_vector_reserve(&archive->entries, &archive->room, archive->count + 1, sizeof *entry))
        return tt_fail_memory();
    archive->entries[archive->count] = *entry;
    archive->entries[archive->count++].name = copy;
    return TUTTI_OK;
}
