/* SPDX-License-Identifier: MIT */
/* Entries that an archive holds twice: some packers do that. If both are the same, byte for byte, one is enough; if not, readers
 * would disagree on which counts. */
#include <stdlib.h>
#include <string.h>

#include "archive/archive_parts.h"

enum { MOST_COMPARED = 256 << 20 }; /* bytes of all entries that are compared */

/* Reads an entry into `bytes`, or compares it with what is there. */
static enum tutti_err read_entry(struct tutti_archive *archive, const struct tutti_archive_entry *entry, char *bytes,
                                 bool compare, bool *same)
{
    char piece[16384];
    size_t at = 0, got = 1;
    archive->entry = entry;
    enum tutti_err err = archive->kind->begin(archive);
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

static enum tutti_err compare(struct tutti_archive *archive, const struct tutti_archive_entry *a,
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

enum tutti_err tutti_archive_find_repeats(struct tutti_archive *archive)
{
    for (size_t i = 1, first = 0; i < archive->count; i++) {
        struct tutti_archive_entry *entry = archive->sorted[i];
        const char *name = archive->sorted[first]->name;
        bool same = strcmp(name, entry->name) == 0 && name[0] && name[strlen(name) - 1] != '/';
        if (same)
            TRY(compare(archive, archive->sorted[first], entry, &same));
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

void tutti_archive_drop_repeats(struct tutti_archive *archive)
{
    size_t kept = 0;
    for (size_t i = 0; i < archive->count; i++)
        if (!archive->entries[i].repeated)
            archive->entries[kept++] = archive->entries[i];
    archive->count = kept;
}

size_t tutti_archive_repeats(const struct tutti_archive *archive, const char **first)
{
    *first = archive->repeated;
    return archive->repeats;
}
