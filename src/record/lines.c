/* SPDX-License-Identifier: MIT */
#include "record/lines.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/str.h"

enum tutti_err tutti_lines_prepare(struct tutti_lines *lines, const char *path, size_t room)
{
    enum { LEAST = 128 * 1024 };
    lines->file.fd = -1;
    lines->is_standard = strcmp(path, "-") == 0;
    lines->path = tutti_str_copy(lines->is_standard ? "to standard output" : path); /* for messages */
    lines->capacity = room > LEAST ? room : LEAST;
    lines->buffer = malloc(lines->capacity);
    return lines->path && lines->buffer ? TUTTI_OK : tutti_fail_memory();
}

enum tutti_err tutti_lines_open(struct tutti_lines *lines)
{
    enum tutti_err err = tutti_record_file_begin(&lines->file, lines->is_standard ? "-" : lines->path);
    lines->offset = lines->file.is_regular ? 0 : -1;
    return err ? tutti_record_file_close(&lines->file, err) : TUTTI_OK;
}

static enum tutti_err resume(struct tutti_lines *lines, size_t n, off_t position)
{
    if ((off_t)n > position)
        return tutti_record_file_fail_mark(lines->path);
    TRY(tutti_record_file_expect(&lines->file, lines->buffer, n, 0));
    TRY(tutti_record_file_cut(&lines->file, position));
    lines->offset = position;
    return TUTTI_OK;
}

enum tutti_err tutti_lines_reopen(struct tutti_lines *lines, size_t n, struct tutti_unparcel *mark)
{
    off_t position;
    TRY(tutti_record_file_reopen(&lines->file, lines->path, mark, &position));
    enum tutti_err err = resume(lines, n, position);
    return err ? tutti_record_file_close(&lines->file, err) : TUTTI_OK;
}

/* How many of the first n bytes are whole rows. The bytes start with a row. */
static size_t whole_rows(const struct tutti_lines *lines, size_t n)
{
    size_t whole = 0;
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (lines->quotes && lines->buffer[i] == '"')
            quoted = !quoted;
        else if (lines->buffer[i] == '\n' && !quoted)
            whole = i + 1;
    }
    return whole;
}

/* Writes the first `whole` bytes; returns how many of them are whole rows in the file. Fewer: `error` says why. */
static size_t store(struct tutti_lines *lines, size_t whole, off_t offset)
{
    errno = 0;
    size_t done = tutti_fs_write(lines->file.fd, lines->buffer, whole, offset);
    if (done == whole)
        return done;
    lines->error = errno ? errno : EIO;
    done = whole_rows(lines, done);
    if (offset >= 0)
        (void)!ftruncate(lines->file.fd, offset + (off_t)done); /* half a row would spoil the file */
    return done;
}

enum tutti_err tutti_lines_flush(struct tutti_lines *lines)
{
    if (lines->error)
        return tutti_record_file_fail_write(lines->path, lines->error);
    size_t whole = lines->whole, done = 0;
    off_t offset = lines->offset;
    if (whole == 0)
        return TUTTI_OK;
    lines->writing = true;
    if (tutti_record_file_hold(&lines->file, offset))
        done = store(lines, whole, offset);
    else
        lines->error = errno;
    lines->whole = 0; /* first: B3 */
    if (offset >= 0)
        lines->offset = offset + (off_t)done;
    lines->writing = false;
    return lines->error ? tutti_record_file_fail_write(lines->path, lines->error) : TUTTI_OK;
}

enum tutti_err tutti_lines_mark(struct tutti_lines *lines, struct tutti_parcel *mark)
{
    TRY(tutti_lines_flush(lines));
    if (lines->offset < 0)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: what was written there cannot be taken back", lines->path);
    return tutti_record_file_mark(&lines->file, 0, lines->offset, mark);
}

enum tutti_err tutti_lines_sync(struct tutti_lines *lines)
{
    return tutti_record_file_sync(&lines->file);
}

/* Room for a row of `need` bytes. */
static enum tutti_err make_room(struct tutti_lines *lines, size_t need)
{
    TRY(tutti_lines_flush(lines));
    if (lines->capacity >= need)
        return TUTTI_OK;
    char *larger = need > SIZE_MAX / 2 ? NULL : malloc(2 * need);
    if (!larger)
        return tutti_fail_memory();
    char *old = lines->buffer;
    lines->buffer = larger;
    lines->capacity = 2 * need;
    free(old);
    return TUTTI_OK;
}

enum tutti_err tutti_lines_begin(struct tutti_lines *lines, size_t need, char **at)
{
    if (lines->error)
        return tutti_record_file_fail_write(lines->path, lines->error);
    size_t whole = atomic_load_explicit(&lines->whole, memory_order_relaxed);
    if (lines->capacity - whole < need) {
        TRY(make_room(lines, need));
        whole = 0;
    }
    *at = lines->buffer + whole;
    return TUTTI_OK;
}

void tutti_lines_emergency(struct tutti_lines *lines)
{
    size_t whole = atomic_load_explicit(&lines->whole, memory_order_acquire);
    bool saved = whole == 0;
    if (!saved && !lines->error && !(lines->offset < 0 && lines->writing) &&
        tutti_record_file_hold(&lines->file, -1)) /* a write may have been under way */
        saved = tutti_fs_write(lines->file.fd, lines->buffer, whole, lines->offset) == whole;
    if (!saved)
        tutti_crash_admit_loss();
    lines->whole = 0;
}

enum tutti_err tutti_lines_close(struct tutti_lines *lines, enum tutti_err err)
{
    return tutti_record_file_close(&lines->file, err);
}

void tutti_lines_fini(struct tutti_lines *lines)
{
    free(lines->buffer);
    free(lines->path);
}
