/* SPDX-License-Identifier: MIT */
/* A ZIP archive from anywhere. Nothing in it is believed: names are cleaned or refused before they are used, the
 * table of contents is bounded before anything is unpacked, and what is unpacked is counted against it. */
#include "fmu/archive/zip.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "base/fs.h"
#include "base/tempdir.h"
#include "base/text.h"
#include "fmu/archive/archive.h"

#define MIB ((uint64_t)1 << 20)
#define ENTRY_LARGEST (8192 * MIB)
#define TOTAL_LARGEST (16384 * MIB)
/* Large model descriptions shrink to a fortieth, bombs to a thousandth; small archives may be as they like. */
#define RATIO_MOST 250
#define RATIO_FROM (32 * MIB)
/* Bytes that reading the table of contents may take: enough for 100,000 entries with long names. Less for a small file,
 * whose table can only be small; bytes may be read twice, if a stored archive at the end makes libzip search again. */
#define OPEN_BUDGET(size) ((size) < 9 * MIB ? 4 * (size) + MIB : 40 * MIB)

enum { BUFFER = 64 * 1024 };

struct zip_archive {
    struct tt_archive base;
    struct tt_zip_source source;
    zip_t *zip;
    zip_file_t *file; /* the entry being read */
    uint64_t got;     /* bytes of it so far */
    struct tt_tempdir *unpacked;
};

static enum tutti_err fail_zip(const struct zip_archive *archive, const char *entry, int code)
{
    char place[160] = "";
    if (entry)
        snprintf(place, sizeof place, " at '%s'", tt_text_excerpt(entry).text);
    const char *path = archive->base.path;
    if (archive->source.error)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s%s: %s", path, place, strerror(archive->source.error));
    if (archive->source.exhausted)
        return tt_fail(TUTTI_ERR_LIMIT, "%s: the archive's table of contents is too large", path);
    if (code == ZIP_ER_MEMORY)
        return tt_fail_memory();
    if (code == ZIP_ER_MULTIDISK)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: a part of a split archive; join the parts, or pack it again", path);
    zip_error_t error = {.zip_err = code};
    const char *reason = code == ZIP_ER_CRC    ? "wrong checksum"
                         : code == ZIP_ER_ZLIB ? "what is compressed cannot be decompressed"
                                               : zip_error_strerror(&error);
    enum tutti_err err =
        tt_fail(TUTTI_ERR_FORMAT, "%s: the archive is damaged or cut off%s (%s); get a new copy", path, place, reason);
    zip_error_fini(&error);
    return err;
}

/* Why libzip found no table of contents, in words that help. */
static enum tutti_err zip_fail_open(struct zip_archive *archive)
{
    char magic[4] = "";
    const char *path = archive->base.path;
    ssize_t n = pread(archive->source.fd, magic, sizeof magic, 0);
    if (n == sizeof magic && memcmp(magic, "PK\3\4", 4) == 0)
        return tt_fail(TUTTI_ERR_FORMAT,
                       "%s: the archive is cut off (its table of contents is missing); get a new copy", path);
    return tt_fail(TUTTI_ERR_FORMAT, "%s: not a ZIP archive, and so neither an FMU nor an SSP", path);
}

/* Copies a name with '/' for '\\' (a common fault of packers for Windows) and without empty and "." parts. Returns
 * what is wrong with it, or NULL. */
static const char *clean_name(const char *raw, char clean[TUTTI_ARCHIVE_NAME + 1])
{
    size_t length = strlen(raw), n = 0, depth = 0;
    if (length == 0)
        return "it has no name";
    if (length > TUTTI_ARCHIVE_NAME)
        return "its name is too long";
    if (raw[0] == '/' || raw[0] == '\\')
        return "its name starts at the root of the file system";
    if (((raw[0] >= 'A' && raw[0] <= 'Z') || (raw[0] >= 'a' && raw[0] <= 'z')) && raw[1] == ':')
        return "its name starts with a drive";
    for (const char *c = raw; *c;) {
        size_t step = tt_text_utf8_length(c);
        bool c1 = step == 2 && (unsigned char)c[0] == 0xc2 && (unsigned char)c[1] < 0xa0;
        if (step == 0 || (unsigned char)*c < 0x20 || *c == 0x7f || c1)
            return "its name has control characters";
        c += step;
    }
    for (const char *part = raw, *zip_close_entry; *part;
         part = *zip_close_entry ? zip_close_entry + 1 : zip_close_entry) {
        size_t size = strcspn(part, "/\\");
        zip_close_entry = part + size;
        if (size == 0 || (size == 1 && part[0] == '.'))
            continue;
        if (size == 2 && part[0] == '.' && part[1] == '.')
            return "its name leads out of the archive";
        if (size > TUTTI_ARCHIVE_PART || ++depth > TUTTI_ARCHIVE_DEPTH)
            return size > TUTTI_ARCHIVE_PART ? "its name is too long" : "it lies too deep in folders";
        memcpy(clean + n, part, size);
        n += size;
        if (*zip_close_entry)
            clean[n++] = '/';
    }
    clean[n] = '\0';
    return NULL;
}

/* Returns the permission bits of an entry; 0 if the archiver wrote none. */
static mode_t zip_entry_mode(zip_t *zip, zip_uint64_t index)
{
    zip_uint8_t system = 0;
    zip_uint32_t attributes = 0;
    if (zip_file_get_external_attributes(zip, index, 0, &system, &attributes) != 0 ||
        (system != ZIP_OPSYS_UNIX && system != ZIP_OPSYS_OS_X))
        return 0;
    return (mode_t)(attributes >> 16);
}

static const char *zip_entry_fault(const struct zip_archive *archive, const zip_stat_t *st, mode_t mode)
{
    if ((mode & S_IFMT) == S_IFLNK)
        return "it is a link, which FMI forbids";
    if ((mode & S_IFMT) != 0 && !S_ISREG(mode) && !S_ISDIR(mode))
        return "it is a device or another special file";
    if (st->encryption_method != ZIP_EM_NONE)
        return "it is encrypted, which FMI forbids";
    if (st->comp_method != ZIP_CM_STORE && st->comp_method != ZIP_CM_DEFLATE)
        return "it is compressed in a way that FMI does not allow (only 'deflate' and 'store' are)";
    if (st->comp_size > archive->source.size)
        return "it is said to be larger than the archive: the archive is damaged";
    return NULL;
}

static enum tutti_err zip_add_entry(struct zip_archive *archive, zip_uint64_t index, uint64_t *total)
{
    struct tt_archive *base = &archive->base;
    zip_stat_t st;
    if (zip_stat_index(archive->zip, index, 0, &st) != 0 || !st.name)
        return fail_zip(archive, NULL, zip_error_code_zip(zip_get_error(archive->zip)));
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if ((st.valid & needed) != needed)
        return fail_zip(archive, st.name, ZIP_ER_INCONS);
    char name[TUTTI_ARCHIVE_NAME + 1];
    mode_t mode = zip_entry_mode(archive->zip, index);
    const char *fault = clean_name(st.name, name);
    fault = fault ? fault : zip_entry_fault(archive, &st, mode);
    if (fault)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: entry '%s' is refused: %s; pack it again, or ask who made it", base->path,
                       tt_text_excerpt(st.name).text, fault);
    if (st.size > ENTRY_LARGEST || (*total += st.size) > TOTAL_LARGEST)
        return tt_fail(TUTTI_ERR_LIMIT,
                       "%s: with '%s' the archive unpacks to more than is allowed (%" PRIu64 " MB a file, %" PRIu64
                       " MB in all); if you trust it, unpack it yourself and name the folder",
                       base->path, tt_text_excerpt(name).text, ENTRY_LARGEST / MIB, TOTAL_LARGEST / MIB);
    if (name[0] == '\0') /* the folder "./" itself */
        return TUTTI_OK;
    return tt_archive_add(
        base, name,
        &(struct tt_archive_entry){.size = st.size, .index = (uint32_t)index, .executable = (mode & 0111) != 0});
}

static enum tutti_err zip_add_entries(struct zip_archive *archive)
{
    zip_int64_t count = zip_get_num_entries(archive->zip, 0);
    if (count <= 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the archive is empty; get a new copy", archive->base.path);
    if (count > TUTTI_ARCHIVE_ENTRIES)
        return tt_fail(TUTTI_ERR_LIMIT,
                       "%s: %" PRId64 " entries, and %d are allowed; no FMU and no system needs so many",
                       archive->base.path, count, TUTTI_ARCHIVE_ENTRIES);
    uint64_t total = 0;
    for (zip_uint64_t i = 0; i < (zip_uint64_t)count; i++)
        TRY(zip_add_entry(archive, i, &total));
    /* Against the size of the file, not the sizes in the table: entries may share their bytes. */
    if (total > RATIO_FROM && total / RATIO_MOST > archive->source.size)
        return tt_fail(TUTTI_ERR_LIMIT,
                       "%s: %" PRIu64 " MB are packed into %" PRIu64 " kB: this looks like an archive made to fill "
                       "disks; if you trust it, unpack it yourself and name the folder",
                       archive->base.path, total / MIB, archive->source.size / 1024 + 1);
    return TUTTI_OK;
}

static enum tutti_err zip_open_entry(struct tt_archive *base)
{
    struct zip_archive *archive = (struct zip_archive *)base;
    archive->source.error = 0;
    archive->got = 0;
    archive->file = zip_fopen_index(archive->zip, base->entry->index, 0);
    return archive->file ? TUTTI_OK
                         : fail_zip(archive, base->entry->name, zip_error_code_zip(zip_get_error(archive->zip)));
}

static enum tutti_err zip_read_entry(void *context, void *buffer, size_t size, size_t *got)
{
    struct zip_archive *archive = context;
    const struct tt_archive_entry *entry = archive->base.entry;
    zip_int64_t n = zip_fread(archive->file, buffer, size);
    if (n < 0)
        return fail_zip(archive, entry->name, zip_error_code_zip(zip_file_get_error(archive->file)));
    archive->got += (uint64_t)n;
    if (archive->got > entry->size || (n == 0 && size > 0 && archive->got < entry->size))
        return tt_fail(TUTTI_ERR_FORMAT,
                       "%s: the archive is damaged at '%s' (%s bytes than its table of contents says); get a new copy",
                       archive->base.path, tt_text_excerpt(entry->name).text,
                       archive->got > entry->size ? "more" : "fewer");
    *got = (size_t)n;
    return TUTTI_OK;
}

static void zip_close_entry(struct tt_archive *base)
{
    zip_fclose(((struct zip_archive *)base)->file);
}

struct unpacking {
    struct zip_archive *archive;
    const char *folder;
    int root;
    int parent; /* the folder of the last entry, or -1; most entries lie where the one before did */
    char parent_name[TUTTI_ARCHIVE_NAME + 1];
    char *buffer;
};

static enum tutti_err fail_unpack(const struct unpacking *unpack, const char *name)
{
    return tt_fail(TUTTI_ERR_IO,
                   "cannot unpack '%s' of %s into %s: %s; make room, or set TMPDIR to a folder on another disk",
                   tt_text_excerpt(name).text, unpack->archive->base.path, unpack->folder, strerror(errno));
}

/* Makes and opens the folder named by the first `length` bytes of `name`, step by step, without following links. */
static enum tutti_err open_parent_folder(struct unpacking *unpack, const char *name, size_t length)
{
    if (unpack->parent >= 0 && strlen(unpack->parent_name) == length && memcmp(unpack->parent_name, name, length) == 0)
        return TUTTI_OK;
    if (unpack->parent >= 0)
        close(unpack->parent);
    memcpy(unpack->parent_name, name, length);
    unpack->parent_name[length] = '\0';
    unpack->parent = openat(unpack->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *part = name; unpack->parent >= 0 && part < name + length;) {
        char folder[TUTTI_ARCHIVE_PART + 1];
        size_t n = strcspn(part, "/");
        memcpy(folder, part, n);
        folder[n] = '\0';
        part += n + 1;
        int outer = unpack->parent;
        unpack->parent = -1;
        if (mkdirat(outer, folder, S_IRWXU) == 0 || errno == EEXIST)
            unpack->parent = openat(outer, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        close(outer);
        errno = error;
    }
    return unpack->parent >= 0 ? TUTTI_OK : fail_unpack(unpack, name);
}

/* Copies the entry that is begun into `fd`. */
static enum tutti_err copy_entry(struct unpacking *unpack, int fd, const char *name)
{
    for (size_t got = 1; got > 0;) {
        TRY(zip_read_entry(unpack->archive, unpack->buffer, BUFFER, &got));
        if (tt_fs_write(fd, unpack->buffer, got, -1) != got)
            return fail_unpack(unpack, name);
    }
    return TUTTI_OK;
}

static enum tutti_err zip_unpack_file(struct unpacking *unpack, const char *name, bool executable)
{
    struct tt_byte_source reader;
    const char *slash = strrchr(name, '/');
    TRY(open_parent_folder(unpack, name, slash ? (size_t)(slash + 1 - name) : 0));
    TRY(tt_archive_open_entry(&unpack->archive->base, name, &reader));
    /* Programs that an FMU brings along stay programs; set-user-ID and the like are dropped. */
    int fd = openat(unpack->parent, slash ? slash + 1 : name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    executable ? S_IRWXU : S_IRUSR | S_IWUSR);
    enum tutti_err err = fd < 0 ? fail_unpack(unpack, name) : copy_entry(unpack, fd, name);
    if (fd >= 0 && close(fd) != 0 && err == TUTTI_OK) /* network file systems report a full disk here */
        err = fail_unpack(unpack, name);
    tt_archive_close_entry(&unpack->archive->base);
    return err;
}

static enum tutti_err unpack_all(struct unpacking *unpack)
{
    struct tt_archive *base = &unpack->archive->base;
    for (size_t i = 0; i < base->count; i++) {
        const char *name = base->entries[i].name;
        size_t length = strlen(name);
        if (strncmp(name, "sources/", 8) == 0 || strncmp(name, "documentation/", 14) == 0)
            continue;
        TRY(name[length - 1] == '/' ? open_parent_folder(unpack, name, length)
                                    : zip_unpack_file(unpack, name, base->entries[i].executable));
    }
    return TUTTI_OK;
}

static enum tutti_err zip_unpack(struct tt_archive *base, const char **folder)
{
    struct zip_archive *archive = (struct zip_archive *)base;
    if (!archive->unpacked) {
        struct tt_tempdir *dir;
        TRY(tt_tempdir_new(&dir));
        struct unpacking unpack = {.archive = archive, .folder = tt_tempdir_path(dir), .parent = -1};
        unpack.root = open(unpack.folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        unpack.buffer = malloc(BUFFER);
        enum tutti_err err = !unpack.buffer    ? tt_fail_memory()
                             : unpack.root < 0 ? fail_unpack(&unpack, "")
                                               : unpack_all(&unpack);
        free(unpack.buffer);
        if (unpack.parent >= 0)
            close(unpack.parent);
        if (unpack.root >= 0)
            close(unpack.root);
        if (err != TUTTI_OK) {
            tt_tempdir_free(dir);
            return err;
        }
        archive->unpacked = dir;
    }
    *folder = tt_tempdir_path(archive->unpacked);
    return TUTTI_OK;
}

static void zip_fini(struct tt_archive *base)
{
    struct zip_archive *archive = (struct zip_archive *)base;
    if (archive->zip)
        zip_discard(archive->zip);
    close(archive->source.fd);
    tt_tempdir_free(archive->unpacked);
}

static const struct tt_archive_kind kind = {.begin = zip_open_entry,
                                            .read = zip_read_entry,
                                            .end = zip_close_entry,
                                            .folder = zip_unpack,
                                            .fini = zip_fini};

enum tutti_err tt_zip_open(struct tt_archive **out, const char *path, int fd, off_t size)
{
    *out = tt_archive_new(sizeof(struct zip_archive), &kind, path);
    if (!*out) {
        close(fd);
        return tt_fail_memory();
    }
    struct zip_archive *archive = (struct zip_archive *)*out;
    archive->source = (struct tt_zip_source){.fd = fd, .size = (uint64_t)size, .budget = OPEN_BUDGET((uint64_t)size)};
    if (size == 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the file is empty; get a new copy", path);
    zip_source_t *source = tt_zip_source_new(&archive->source);
    if (!source)
        return tt_fail_memory();
    zip_error_t error;
    zip_error_init(&error);
    archive->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
    int code = zip_error_code_zip(&error);
    zip_error_fini(&error);
    if (!archive->zip) {
        zip_source_free(source);
        return code == ZIP_ER_NOZIP && !archive->source.error && !archive->source.exhausted
                   ? zip_fail_open(archive)
                   : fail_zip(archive, NULL, code);
    }
    archive->source.budget = UINT64_MAX;
    return zip_add_entries(archive);
}

/* A file as a source for libzip. libzip's file source leaves its descriptor open to child processes, hides read errors,
 * and reads without bound while it searches for the table of contents. */

static zip_int64_t zip_source_read_some(struct tt_zip_source *file, void *data, zip_uint64_t length)
{
    if (file->at >= file->size)
        return 0;
    length = length < file->size - file->at ? length : file->size - file->at;
    if (length > file->budget) {
        file->exhausted = true;
        return -1;
    }
    zip_uint64_t done = 0;
    while (done < length) {
        ssize_t n = pread(file->fd, (char *)data + done, length - done, (off_t)(file->at + done));
        if (n == 0) /* another process has made the file shorter */
            break;
        if (n < 0 && errno != EINTR) {
            file->error = errno;
            return -1;
        }
        done += n > 0 ? (zip_uint64_t)n : 0;
    }
    file->at += done;
    if (file->budget != UINT64_MAX)
        file->budget -= done;
    return (zip_int64_t)done;
}

static zip_int64_t zip_source_answer(void *context, void *data, zip_uint64_t length, zip_source_cmd_t command)
{
    struct tt_zip_source *file = context;
    zip_error_t error = {.zip_err = file->error ? ZIP_ER_READ : ZIP_ER_INVAL, .sys_err = file->error};
    switch (command) {
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_SEEKABLE;
    case ZIP_SOURCE_OPEN: file->at = 0; return 0;
    case ZIP_SOURCE_READ: return zip_source_read_some(file, data, length);
    case ZIP_SOURCE_SEEK: {
        zip_int64_t at = zip_source_seek_compute_offset(file->at, file->size, data, length, &error);
        if (at < 0)
            return -1;
        file->at = (uint64_t)at;
        return 0;
    }
    case ZIP_SOURCE_TELL: return (zip_int64_t)file->at;
    case ZIP_SOURCE_STAT: {
        zip_stat_t *st = data;
        zip_stat_init(st);
        st->size = file->size;
        st->valid = ZIP_STAT_SIZE;
        return sizeof *st;
    }
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&error, data, length);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE: /* the archive closes the file */ return 0;
    default: return -1;
    }
}

zip_source_t *tt_zip_source_new(struct tt_zip_source *file)
{
    return zip_source_function_create(zip_source_answer, file, NULL);
}

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

/* Returns true for compressed formats, for which compression only costs time. */
static bool is_compressed(const char *name)
{
    static const char *const endings[] = {".fmu", ".ssp", ".zip", ".png", ".jpg"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (n > 4 && strcasecmp(name + n - 4, endings[i]) == 0)
            return true;
    return false;
}

static enum tutti_err zip_write_fail(const char *path, zip_error_t *error)
{
    int number = zip_error_system_type(error) == ZIP_ET_SYS ? zip_error_code_system(error) : 0;
    if (zip_error_code_zip(error) == ZIP_ER_MEMORY)
        return tt_fail_memory();
    return tt_fail(TUTTI_ERR_IO, "'%s' cannot be written: %s", path,
                   number ? strerror(number) : zip_error_strerror(error));
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
    size_t n = strlen(part->name);
    bool folder = n > 0 && part->name[n - 1] == '/';
    zip_int64_t index = folder ? zip_dir_add(zip, part->name, ZIP_FL_ENC_UTF_8) : zip_write_add_file(zip, part, entry);
    if (index < 0)
        return zip_write_fail(path, zip_get_error(zip));

    struct stat st;
    bool program = !folder && (part->archive ? tt_archive_is_program(part->archive, part->index)
                                             : part->path && stat(part->path, &st) == 0 && (st.st_mode & S_IXUSR));
    zip_uint32_t mode = folder ? S_IFDIR | 0755u : S_IFREG | (program ? 0755u : 0644u);
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
