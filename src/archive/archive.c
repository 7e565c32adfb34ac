/* SPDX-License-Identifier: MIT */
/* Opening either kind of archive, its entries sorted, and finding one by its name. */
#include "archive/archive.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/search.h"
#include "base/str.h"
#include "archive/kind.h"

/* Sorts a folder's contents right after it ('/' before all other characters), and takes "a" and "a/" for the same, so
 * that names that cannot live side by side come to lie side by side. */
static int rank(const char *c)
{
    if (*c == '\0' || (c[0] == '/' && c[1] == '\0'))
        return 0;
    return *c == '/' ? 1 : (unsigned char)*c + 1;
}

static int compare(const char *a, const char *b)
{
    while (rank(a) == rank(b) && rank(a) != 0) {
        a++;
        b++;
    }
    return rank(a) - rank(b);
}

static int compare_entries(const void *a, const void *b)
{
    const struct tutti_archive_entry *const *left = a, *const *right = b;
    int order = compare((*left)->name, (*right)->name);
    return order ? order : ((*left)->index > (*right)->index) - ((*left)->index < (*right)->index);
}

static bool is_folder(const char *name)
{
    return name[0] && name[strlen(name) - 1] == '/';
}

/* To be followed by tutti_archive_end_entry, unless it fails. */
static enum tutti_err begin_entry(struct tutti_archive *archive, const struct tutti_archive_entry *entry)
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
static enum tutti_err read_entry(struct tutti_archive *archive, const struct tutti_archive_entry *entry, char *bytes,
                                 bool compare, bool *same)
{
    char piece[16384];
    size_t at = 0, got = 1;
    TRY(begin_entry(archive, entry));
    enum tutti_err err = TUTTI_OK;
    while (!err && got > 0 && *same) {
        err = archive->kind->read(archive, piece, sizeof piece, &got);
        *same = !err && at + got <= entry->size && (!compare || memcmp(bytes + at, piece, got) == 0);
        if (*same && !compare)
            memcpy(bytes + at, piece, got);
        at += got;
    }
    *same = *same && at == entry->size;
    tutti_archive_end_entry(archive);
    return err;
}

static enum tutti_err compare_contents(struct tutti_archive *archive, const struct tutti_archive_entry *a,
                                       const struct tutti_archive_entry *b, bool *same)
{
    *same = a->size == b->size && a->size <= MOST_COMPARED - archive->compared;
    if (!*same)
        return TUTTI_OK;
    archive->compared += a->size;
    char *bytes = malloc(a->size + 1);
    if (!bytes)
        return tutti_fail_memory();
    enum tutti_err err = read_entry(archive, a, bytes, false, same);
    if (!err && *same)
        err = read_entry(archive, b, bytes, true, same);
    free(bytes);
    return err;
}

/* Marks and counts the files, in sorted, that are there under the same name with the same content already. */
static enum tutti_err find_repeats(struct tutti_archive *archive)
{
    for (size_t i = 1, first = 0; i < archive->count; i++) {
        struct tutti_archive_entry *entry = archive->sorted[i];
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

/* Leaves them out; `sorted` is to be made anew. */
static void drop_repeats(struct tutti_archive *archive)
{
    size_t kept = 0;
    for (size_t i = 0; i < archive->count; i++)
        if (!archive->entries[i].repeated)
            archive->entries[kept++] = archive->entries[i];
    archive->count = kept;
}

static enum tutti_err refuse_clash(const struct tutti_archive *archive, const char *a, const char *b)
{
    struct tutti_shown first = tutti_str_show(a), second = tutti_str_show(b);
    if (strcmp(a, b) == 0)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: two entries have the name '%s'; pack it again", archive->path,
                          first.text);
    return tutti_fail(TUTTI_ERR_FORMAT,
                      "%s: '%s' cannot be next to '%s', as one is a file and the other a folder of "
                      "the same name; pack it again",
                      archive->path, first.text, second.text);
}

static void sort_entries(struct tutti_archive *archive)
{
    for (size_t i = 0; i < archive->count; i++)
        archive->sorted[i] = &archive->entries[i];
    if (archive->count > 1)
        qsort(archive->sorted, archive->count, sizeof *archive->sorted, compare_entries);
}

/* Sorts the entries; refuses names that cannot be unpacked side by side. A folder listed twice is harmless, and so is a file that
 * is there twice with the same content. */
static enum tutti_err index_entries(struct tutti_archive *archive)
{
    archive->sorted = malloc((archive->count + 1) * sizeof *archive->sorted);
    if (!archive->sorted)
        return tutti_fail_memory();
    sort_entries(archive);
    TRY(find_repeats(archive));
    if (archive->repeats > 0) {
        drop_repeats(archive);
        sort_entries(archive);
    }
    for (size_t i = 1; i < archive->count; i++) {
        const char *a = archive->sorted[i - 1]->name, *b = archive->sorted[i]->name;
        size_t n = strlen(a);
        if (compare(a, b) == 0 ? !is_folder(a) || !is_folder(b) : !is_folder(a) && strncmp(a, b, n) == 0 && b[n] == '/')
            return refuse_clash(archive, a, b);
    }
    return TUTTI_OK;
}

enum tutti_err tutti_archive_open(struct tutti_archive **out, const char *path)
{
    /* O_NONBLOCK: a named pipe must not hold us up; it is refused below. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return tutti_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(error));
    }
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        close(fd);
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: neither a file nor a folder; expected a ZIP archive or a folder",
                          path);
    }
    struct tutti_archive *archive = NULL;
    enum tutti_err err = S_ISDIR(st.st_mode) ? tutti_archive_open_folder(&archive, path, fd)
                                             : tutti_archive_open_zip(&archive, path, fd, st.st_size);
    if (err == TUTTI_OK)
        err = index_entries(archive);
    if (err != TUTTI_OK) {
        tutti_archive_free(archive);
        return err;
    }
    *out = archive;
    return TUTTI_OK;
}

void tutti_archive_free(struct tutti_archive *archive)
{
    if (!archive)
        return;
    tutti_archive_end_entry(archive);
    archive->kind->fini(archive);
    tutti_arena_fini(&archive->names);
    free(archive->sorted);
    free(archive->entries);
    free(archive->path);
    free(archive);
}

size_t tutti_archive_count(const struct tutti_archive *archive)
{
    return archive->count;
}

const char *tutti_archive_name(const struct tutti_archive *archive, size_t index)
{
    return archive->entries[index].name;
}

uint64_t tutti_archive_size(const struct tutti_archive *archive, size_t index)
{
    return archive->entries[index].size;
}

bool tutti_archive_is_program(const struct tutti_archive *archive, size_t index)
{
    return archive->entries[index].executable;
}

size_t tutti_archive_repeats(const struct tutti_archive *archive, const char **first)
{
    *first = archive->repeated;
    return archive->repeats;
}

/* The first entry that does not sort before `name`, or NULL. */
static const struct tutti_archive_entry *lower_bound(const struct tutti_archive *archive, const char *name)
{
    size_t at;
    TUTTI_SEARCH(at, archive->count, compare(archive->sorted[at]->name, name) < 0);
    return at < archive->count ? archive->sorted[at] : NULL;
}

bool tutti_archive_has(const struct tutti_archive *archive, const char *name)
{
    const struct tutti_archive_entry *entry = lower_bound(archive, name);
    /* A folder is there, too, if it has no entry of its own but something lies in it. */
    return entry && (is_folder(name) ? strncmp(entry->name, name, strlen(name)) == 0 : strcmp(entry->name, name) == 0);
}

enum tutti_err tutti_archive_begin_entry(struct tutti_archive *archive, const char *name, struct tutti_reader *reader)
{
    assert(!archive->entry);
    const struct tutti_archive_entry *entry = lower_bound(archive, name);
    if (!entry || strcmp(entry->name, name) != 0 || is_folder(name))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: there is no file '%s' in it", archive->path,
                          tutti_str_show(name).text);
    TRY(begin_entry(archive, entry));
    *reader = (struct tutti_reader){archive->kind->read, archive};
    return TUTTI_OK;
}

void tutti_archive_end_entry(struct tutti_archive *archive)
{
    if (!archive->entry)
        return;
    archive->kind->end(archive);
    archive->entry = NULL;
}

enum tutti_err tutti_archive_folder(struct tutti_archive *archive, const char **folder)
{
    return archive->kind->folder(archive, folder);
}
