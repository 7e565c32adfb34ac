/* SPDX-License-Identifier: MIT */
#include "fmu/archive/zip_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <zip.h>

/* The day that all entries are from, as MS-DOS writes it: 2000-01-01. */
enum { DATE = (2000 - 1980) << 9 | 1 << 5 | 1 };

/* An entry of another archive, as libzip reads it. */
struct zip_write_entry {
    const struct tt_zip_part *part;
    struct tt_byte_source reader;
    zip_error_t error;
    enum tutti_err err; /* what reading it met; its message is this thread's */
};

static zip_int64_t zip_write_fail_entry(struct zip_write_entry *entry, enum tutti_err err)
{
    entry->err = err;
    zip_error_set(&entry->error, ZIP_ER_READ, 0);
    return -1;
}

static zip_int64_t zip_write_open_entry(struct zip_write_entry *entry)
{
    const struct tt_zip_part *part = entry->part;
    const char *name = tt_archive_name(part->archive, part->index);
    enum tutti_err err = tt_archive_open_entry(part->archive, name, &entry->reader);
    return err ? zip_write_fail_entry(entry, err) : 0;
}

static zip_int64_t zip_write_read_entry(struct zip_write_entry *entry, void *data, size_t size)
{
    size_t got = 0;
    enum tutti_err err = entry->reader.read(entry->reader.context, data, size, &got);
    return err ? zip_write_fail_entry(entry, err) : (zip_int64_t)got;
}

/* Without a size libzip would write an archive in the form for large files, which not all programs read. */
static zip_int64_t zip_write_stat_entry(const struct zip_write_entry *entry, zip_stat_t *st)
{
    zip_stat_init(st);
    st->size = tt_archive_size(entry->part->archive, entry->part->index);
    st->valid = ZIP_STAT_SIZE;
    return sizeof *st;
}

static zip_int64_t zip_write_callback(void *context, void *data, zip_uint64_t size, zip_source_cmd_t command)
{
    struct zip_write_entry *entry = context;
    switch (command) {
    case ZIP_SOURCE_OPEN: return zip_write_open_entry(entry);
    case ZIP_SOURCE_READ: return zip_write_read_entry(entry, data, size);
    case ZIP_SOURCE_CLOSE: tt_archive_close_entry(entry->part->archive); return 0;
    case ZIP_SOURCE_STAT: return zip_write_stat_entry(entry, data);
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&entry->error, data, size);
    case ZIP_SOURCE_FREE: return 0;
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                              ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
    default: zip_error_set(&entry->error, ZIP_ER_OPNOTSUPP, 0); return -1;
    }
}

/* What is compressed already would only take time. */
static bool is_compressed(const char *name)
{
    static const char *const endings[] = {".fmu", ".ssp", ".zip", ".png", ".jpg"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (n > 4 && strcasecmp(name + n - 4, endings[i]) == 0)
            return true;
    return false;
}

static bool zip_write_is_program(const struct tt_zip_part *part)
{
    struct stat st;
    if (part->archive)
        return tt_archive_is_program(part->archive, part->index);
    return part->path && stat(part->path, &st) == 0 && (st.st_mode & S_IXUSR);
}

static enum tutti_err zip_write_fail(const char *path, zip_error_t *error)
{
    int number = zip_error_system_type(error) == ZIP_ET_SYS ? zip_error_code_system(error) : 0;
    if (zip_error_code_zip(error) == ZIP_ER_MEMORY)
        return tt_fail_memory();
    return tt_fail(TUTTI_ERR_IO, "'%s' cannot be written: %s", path,
                   number ? strerror(number) : zip_error_strerror(error));
}

static bool zip_write_is_folder(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && name[n - 1] == '/';
}

/* The fastest. 4 takes 1.4 times as long for a sixteenth of the size, and libzip's own choice, 9, six times for a tenth. */
enum { DEFLATE_LEVEL = 1 };

/* The index of the new entry, or -1. */
static zip_int64_t zip_write_add_file(zip_t *zip, const struct tt_zip_part *part, struct zip_write_entry *entry)
{
    zip_source_t *source;
    if (part->archive)
        source = zip_source_function(zip, zip_write_callback, entry);
    else if (part->path)
        source = zip_source_file(zip, part->path, 0, -1);
    else
        source = zip_source_buffer(zip, part->data, part->size, 0);
    zip_int64_t index = source ? zip_file_add(zip, part->name, source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
        zip_source_free(source);
        return -1;
    }
    zip_int32_t method = is_compressed(part->name) ? ZIP_CM_STORE : ZIP_CM_DEFLATE;
    return zip_set_file_compression(zip, (zip_uint64_t)index, method, DEFLATE_LEVEL) == 0 ? index : -1;
}

static enum tutti_err zip_write_add_part(zip_t *zip, const char *path, const struct tt_zip_part *part,
                                         struct zip_write_entry *entry)
{
    *entry = (struct zip_write_entry){.part = part};
    zip_error_init(&entry->error);
    bool folder = zip_write_is_folder(part->name);
    zip_int64_t index = folder ? zip_dir_add(zip, part->name, ZIP_FL_ENC_UTF_8) : zip_write_add_file(zip, part, entry);
    if (index < 0)
        return zip_write_fail(path, zip_get_error(zip));
    zip_uint32_t mode = folder ? S_IFDIR | 0755u : S_IFREG | (zip_write_is_program(part) ? 0755u : 0644u);
    if (zip_file_set_dostime(zip, (zip_uint64_t)index, 0, DATE, 0) != 0 ||
        zip_file_set_external_attributes(zip, (zip_uint64_t)index, 0, ZIP_OPSYS_UNIX, mode << 16) != 0)
        return zip_write_fail(path, zip_get_error(zip));
    return TUTTI_OK;
}

/* libzip writes into a new file beside `path` and renames that in the end. */
static enum tutti_err zip_write_parts(const char *path, const struct tt_zip_part *parts, size_t count,
                                      struct zip_write_entry *entries)
{
    int code = 0;
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!zip) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        enum tutti_err err = zip_write_fail(path, &error);
        zip_error_fini(&error);
        return err;
    }
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < count && !err; i++)
        err = zip_write_add_part(zip, path, &parts[i], &entries[i]);
    if (!err && zip_close(zip) == 0)
        return TUTTI_OK;
    for (size_t i = 0; i < count && !err; i++)
        err = entries[i].err;
    if (!err)
        err = zip_write_fail(path, zip_get_error(zip));
    zip_discard(zip);
    return err;
}

enum tutti_err tt_zip_write(const char *path, const struct tt_zip_part *parts, size_t count)
{
    struct zip_write_entry *entries = calloc(count ? count : 1, sizeof *entries);
    if (!entries)
        return tt_fail_memory();
    enum tutti_err err = zip_write_parts(path, parts, count, entries);
    free(entries);
    return err;
}
