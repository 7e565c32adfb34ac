/* SPDX-License-Identifier: MIT */
#include "model/ssp/package.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "base/xml.h"
#include "fmu/archive/archive.h"
#include "model/ssp/uri.h"

#define DEFAULT_SSD "SystemStructure.ssd"

struct tt_package {
    struct tt_archive *archive; /* NULL: a folder, or a bare .ssd */
    char *folder;               /* where the files are: absolute, links resolved */
    char *shown;                /* of the package, or of the folder around a bare .ssd: "" for the present one */
    bool bare;
    char **variants;
    size_t variant_count;
    unsigned sharers; /* owners beside the first */
};

static bool package_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcasecmp(text + n - m, end) == 0;
}

/* "a/b", or b alone if `a` is missing. */
static char *package_join(const char *a, const char *b)
{
    size_t n = strlen(a);
    const char *slash = n == 0 || a[n - 1] == '/' ? "" : "/";
    char *joined = malloc(n + strlen(b) + 2);
    if (joined)
        stpcpy(stpcpy(stpcpy(joined, a), slash), b);
    return joined;
}

bool tt_package_is_system(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return package_ends_with(path, ".ssp") || package_ends_with(path, ".ssd");
    char ssd[PATH_MAX]; /* on the stack, because out of memory must not change what counts as a package */
    int length = snprintf(ssd, sizeof ssd, "%s/" DEFAULT_SSD, path);
    return length < (int)sizeof ssd && stat(ssd, &st) == 0 && S_ISREG(st.st_mode);
}

/* ---- opening ---- */

static enum tutti_err add_variant(struct tt_package *package, const char *name)
{
    char **variants = reallocarray(package->variants, package->variant_count + 1, sizeof *variants);
    if (!variants)
        return tt_fail_memory();
    package->variants = variants;
    variants[package->variant_count] = tt_text_copy(name);
    return variants[package->variant_count++] ? TUTTI_OK : tt_fail_memory();
}

static int compare_variants(const void *a, const void *b)
{
    const char *left = *(char *const *)a, *right = *(char *const *)b;
    bool left_default = strcmp(left, DEFAULT_SSD) == 0, right_default = strcmp(right, DEFAULT_SSD) == 0;
    return left_default != right_default ? right_default - left_default : strcmp(left, right);
}

static enum tutti_err list_folder(struct tt_package *package)
{
    DIR *folder = opendir(package->folder);
    if (!folder)
        return tt_fail(TUTTI_ERR_IO, "cannot read the folder %s: %s", package->shown, strerror(errno));
    enum tutti_err err = TUTTI_OK;
    for (struct dirent *entry; err == TUTTI_OK && (entry = readdir(folder));)
        if (package_ends_with(entry->d_name, ".ssd"))
            err = add_variant(package, entry->d_name);
    closedir(folder);
    return err;
}

enum { LISTED = 8 };

/* The names of some files, for a message. */
struct name_listing {
    struct tt_text text;
    size_t count;
};

static void package_list_name(struct name_listing *listing, const char *name)
{
    if (listing->count < LISTED)
        tt_text_printf(&listing->text, "%s%s", listing->count ? ", " : "", tt_text_excerpt(name).text);
    else if (listing->count == LISTED)
        tt_text_append(&listing->text, ", ...");
    listing->count++;
}

static const char *listing_text(const struct name_listing *listing)
{
    return listing->text.text && !listing->text.failed ? listing->text.text : "nothing";
}

/* An archive without an .ssd at its top. */
static enum tutti_err fail_archive(const struct tt_package *package)
{
    struct name_listing listing = {0};
    const char *deeper = NULL;
    for (size_t i = 0; i < tt_archive_count(package->archive); i++) {
        const char *name = tt_archive_name(package->archive, i);
        package_list_name(&listing, name);
        if (package_ends_with(name, "/" DEFAULT_SSD))
            deeper = name;
    }
    enum tutti_err err;
    if (deeper)
        err = tt_fail(TUTTI_ERR_FORMAT, "%s: no %s at its top, but %s; pack it again from inside of that folder",
                      package->shown, DEFAULT_SSD, tt_text_excerpt(deeper).text);
    else
        err = tt_fail(TUTTI_ERR_FORMAT, "%s: no %s in it, and so not a system; there is %s%s", package->shown,
                      DEFAULT_SSD, listing_text(&listing),
                      tt_archive_has(package->archive, "modelDescription.xml") ? " (an FMU: call it .fmu)" : "");
    tt_text_fini(&listing.text);
    return err;
}

static enum tutti_err fail_folder(const struct tt_package *package)
{
    struct name_listing listing = {0};
    struct dirent **entries = NULL;
    int count = scandir(package->folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0)
            package_list_name(&listing, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    enum tutti_err err = tt_fail(TUTTI_ERR_FORMAT, "%s: no %s in the folder, and so not a system; there is %s",
                                 package->shown, DEFAULT_SSD, listing_text(&listing));
    tt_text_fini(&listing.text);
    return err;
}

static enum tutti_err open_bare(struct tt_package *package, const char *path, const char *shown)
{
    package->bare = true;
    char *absolute = tt_fs_absolute(path);
    char *slash = absolute ? strrchr(absolute, '/') : NULL;
    const char *last = strrchr(shown, '/'), *name = last ? last + 1 : shown;
    if (slash && package_ends_with(slash, ".ssd")) /* else it lies somewhere under another name */
        name = slash + 1;
    enum tutti_err err = slash ? add_variant(package, name) : tt_fail_memory();
    if (slash)
        slash[slash == absolute] = '\0';
    package->folder = absolute;
    package->shown = last ? strndup(shown, (size_t)(last - shown + 1)) : tt_text_copy("");
    return err != TUTTI_OK ? err : package->shown ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err open_archive(struct tt_package *package, const char *path, const char *shown)
{
    enum tutti_err err = tt_archive_open(&package->archive, path);
    const char *folder = NULL;
    for (size_t i = 0; err == TUTTI_OK && i < tt_archive_count(package->archive); i++) {
        const char *name = tt_archive_name(package->archive, i);
        if (package_ends_with(name, ".ssd") && !strchr(name, '/'))
            err = add_variant(package, name);
    }
    if (err == TUTTI_OK && package->variant_count > 0) {
        err = tt_archive_unpack(package->archive, &folder);
        if (err == TUTTI_OK && !(package->folder = realpath(folder, NULL)))
            err = tt_fail(TUTTI_ERR_IO, "cannot use the folder %s: %s", folder, strerror(errno));
    }
    /* Nested packages are unpacked to temporary folders, whose names are useless in messages. */
    return strcmp(path, shown) == 0 ? err : tt_fail_context(err, "%s", shown);
}

static enum tutti_err package_open_any(struct tt_package *package, const char *path, const char *shown)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", shown, strerror(errno));
    if (!S_ISDIR(st.st_mode) && package_ends_with(shown, ".ssd"))
        return open_bare(package, path, shown);
    package->shown = tt_text_copy(shown);
    if (!package->shown)
        return tt_fail_memory();
    if (S_ISDIR(st.st_mode)) {
        package->folder = realpath(path, NULL);
        if (!package->folder)
            return tt_fail(TUTTI_ERR_IO, "cannot read the folder %s: %s", shown, strerror(errno));
        TRY(list_folder(package));
    } else {
        TRY(open_archive(package, path, shown));
    }
    if (package->variant_count == 0)
        return package->archive ? fail_archive(package) : fail_folder(package);
    qsort(package->variants, package->variant_count, sizeof *package->variants, compare_variants);
    return TUTTI_OK;
}

enum tutti_err tt_package_open(struct tt_package **out, const char *path, const char *shown)
{
    *out = NULL;
    struct tt_package *package = calloc(1, sizeof *package);
    if (!package)
        return tt_fail_memory();
    enum tutti_err err = package_open_any(package, path, shown);
    if (err == TUTTI_OK)
        *out = package;
    else
        tt_package_free(package);
    return err;
}

bool tt_package_is_bare(const struct tt_package *package)
{
    return package->bare;
}

struct tt_package *tt_package_share(struct tt_package *package)
{
    package->sharers++;
    return package;
}

void tt_package_free(struct tt_package *package)
{
    if (!package)
        return;
    if (package->sharers > 0) {
        package->sharers--;
        return;
    }
    for (size_t i = 0; i < package->variant_count; i++)
        free(package->variants[i]);
    free(package->variants);
    free(package->folder);
    free(package->shown);
    tt_archive_free(package->archive);
    free(package);
}

/* ---- places ---- */

/* Links of an unpacked folder must not lead out of it. Where the file is not there, the folders before it count. */
static enum tutti_err check_inside(const struct tt_package *package, const struct tt_package_place *place)
{
    if (package->bare)
        return TUTTI_OK;
    char *cut = tt_text_copy(place->path), *real = NULL;
    if (!cut)
        return tt_fail_memory();
    while (*cut && !(real = realpath(cut, NULL))) {
        char *slash = strrchr(cut, '/');
        *(slash ? slash : cut) = '\0';
    }
    free(cut);
    size_t n = strlen(package->folder);
    bool inside = real && strncmp(real, package->folder, n) == 0 && (real[n] == '/' || real[n] == '\0');
    free(real);
    if (inside)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s is a link that leads out of the package; put the file itself there",
                   place->shown);
}

/* The file `name`, relative to the package's folder. */
static enum tutti_err package_place_at(const struct tt_package *package, const char *name,
                                       struct tt_package_place *place)
{
    place->path = package_join(package->folder, name);
    place->shown = package_join(package->shown, name);
    if (!place->path || !place->shown)
        return tt_fail_memory();
    return check_inside(package, place);
}

/* Resolves a relative path in a package; the result never leaves the package. */
static enum tutti_err resolve_inside(const struct tt_package *package, const struct tt_package_place *base,
                                     const char *path, struct tt_package_place *place)
{
    size_t n = strlen(package->folder);
    const char *from = strncmp(base->path, package->folder, n) == 0 && base->path[n] == '/' ? base->path + n + 1 : "";
    if (path[0] == '/' || strchr(path, '\\'))
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "the source \"%s\" is not a path inside of the package; put the file into it, for instance "
                       "under resources/, and give a relative path with /",
                       tt_text_excerpt(path).text);
    char *joined;
    TRY(tt_uri_join(from, path, &joined));
    enum tutti_err err = package_place_at(package, joined, place);
    free(joined);
    return err;
}

/* The same beside a bare .ssd: anything that this user can read. */
static enum tutti_err resolve_for_bare(const struct tt_package_place *base, const char *path,
                                       struct tt_package_place *place)
{
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    if (path[0] == '/') {
        place->path = tt_text_copy(path);
        place->shown = tt_text_copy(path);
    } else {
        const char *slash = strrchr(base->path, '/'), *shown_slash = strrchr(base->shown, '/');
        char *folder = strndup(base->path, slash ? (size_t)(slash - base->path + 1) : 0);
        char *shown = strndup(base->shown, shown_slash ? (size_t)(shown_slash - base->shown + 1) : 0);
        place->path = folder ? package_join(folder, path) : NULL;
        place->shown = shown ? package_join(shown, path) : NULL;
        free(folder);
        free(shown);
    }
    return place->path && place->shown ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_package_resolve(const struct tt_package *package, const struct tt_package_place *base,
                                  const char *text, struct tt_package_place *place)
{
    *place = (struct tt_package_place){0};
    struct tt_uri uri;
    TRY(tt_uri_read(&uri, text));
    enum tutti_err err = TUTTI_OK;
    if (!*uri.path) {
        place->path = tt_text_copy(base->path);
        place->shown = tt_text_copy(base->shown);
        if (!place->path || !place->shown)
            err = tt_fail_memory();
    } else if (package->bare) {
        err = resolve_for_bare(base, uri.path, place);
    } else {
        err = resolve_inside(package, base, uri.path, place);
    }
    place->fragment = uri.fragment;
    uri.fragment = NULL;
    tt_uri_fini(&uri);
    if (err != TUTTI_OK)
        tt_package_place_fini(place);
    else
        tt_text_make_printable(place->shown); /* a URI may hold %1B */
    return err;
}

/* ---- variants ---- */

size_t tt_package_variant_count(const struct tt_package *package)
{
    return package->variant_count;
}

const char *tt_package_variant(const struct tt_package *package, size_t index)
{
    return package->variants[index];
}

struct root_peek {
    const char *wanted;
    bool same;
};

/* Looks at the top element only. */
static enum tutti_err peek_start(void *context, struct tt_xml *xml, const char *name, const char **attributes)
{
    struct root_peek *peek = context;
    (void)xml, (void)name;
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], "name") == 0)
            peek->same = strcmp(attributes[1], peek->wanted) == 0;
    return TUTTI_ERR_INTERRUPTED;
}

static enum tutti_err peek_end(void *context, struct tt_xml *xml)
{
    (void)context, (void)xml;
    return TUTTI_OK;
}

/* Returns true if the SSD declares this name. An unreadable SSD has no name. */
static bool package_has_name(const struct tt_package_place *place, const char *name)
{
    static const struct tt_xml_handlers handlers = {.start = peek_start, .end = peek_end};
    struct root_peek peek = {.wanted = name};
    struct tt_byte_source reader;
    enum tutti_err err = tt_package_open_file(place, &reader);
    if (err == TUTTI_OK)
        err = tt_xml_read(place->shown, &reader, &handlers, &peek);
    tt_package_close_file(&reader);
    return err == TUTTI_ERR_INTERRUPTED && peek.same;
}

static enum tutti_err fail_variant(const struct tt_package *package, const char *variant)
{
    struct name_listing listing = {0};
    for (size_t i = 0; i < package->variant_count; i++)
        package_list_name(&listing, package->variants[i]);
    const char *variants = listing_text(&listing);
    enum tutti_err err;
    if (variant)
        err = tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variant \"%s\" in it; there is %s",
                      package->bare ? package->variants[0] : package->shown, tt_text_excerpt(variant).text, variants);
    else
        err = tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no %s in it; choose one of %s by %s#NAME", package->shown,
                      DEFAULT_SSD, variants, package->shown);
    tt_text_fini(&listing.text);
    return err;
}

/* The index of a variant by the name that it gives itself. */
static enum tutti_err find_named(const struct tt_package *package, const char *name, size_t *index)
{
    *index = package->variant_count;
    for (size_t i = 0; i < package->variant_count; i++) {
        struct tt_package_place place = {0};
        enum tutti_err err = package_place_at(package, package->variants[i], &place);
        bool same = err == TUTTI_OK && package_has_name(&place, name);
        tt_package_place_fini(&place);
        if (!same)
            continue;
        if (*index < package->variant_count)
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s: both %s and %s call themselves \"%s\"; choose by the file's name",
                           package->shown, package->variants[*index], package->variants[i], tt_text_excerpt(name).text);
        *index = i;
    }
    return *index < package->variant_count ? TUTTI_OK : fail_variant(package, name);
}

enum tutti_err tt_package_find_ssd(struct tt_package *package, const char *variant, struct tt_package_place *place)
{
    *place = (struct tt_package_place){0};
    size_t index = 0;
    if (variant) {
        while (index < package->variant_count && strcmp(package->variants[index], variant) != 0)
            index++;
        if (index == package->variant_count)
            TRY(find_named(package, variant, &index));
    } else if (!package->bare && strcmp(package->variants[0], DEFAULT_SSD) != 0) {
        return fail_variant(package, NULL);
    }
    enum tutti_err err = package_place_at(package, package->variants[index], place);
    if (err != TUTTI_OK)
        tt_package_place_fini(place);
    return err;
}

struct package_stream {
    int fd;
    char *shown;
};

void tt_package_place_fini(struct tt_package_place *place)
{
    free(place->path);
    free(place->shown);
    free(place->fragment);
    *place = (struct tt_package_place){0};
}

static enum tutti_err package_fail_reading(const char *shown, int error)
{
    return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", shown, strerror(error));
}

static enum tutti_err package_read_stream(void *context, void *buffer, size_t size, size_t *got)
{
    const struct package_stream *stream = context;
    ssize_t n;
    do
        n = read(stream->fd, buffer, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return package_fail_reading(stream->shown, errno);
    *got = (size_t)n;
    return TUTTI_OK;
}

enum tutti_err tt_package_open_file(const struct tt_package_place *place, struct tt_byte_source *reader)
{
    *reader = (struct tt_byte_source){0};
    struct package_stream *stream = malloc(sizeof *stream);
    if (!stream)
        return tt_fail_memory();
    /* O_NONBLOCK: a named pipe must not hold us up. */
    stream->fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    stream->shown = tt_text_copy(place->shown);
    *reader = (struct tt_byte_source){package_read_stream, stream};
    struct stat st;
    if (stream->fd < 0 || fstat(stream->fd, &st) != 0)
        return package_fail_reading(place->shown, errno);
    if (!stream->shown)
        return tt_fail_memory();
    if (!S_ISREG(st.st_mode))
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: it is %s, expected a file", place->shown,
                       S_ISDIR(st.st_mode) ? "a folder" : "not a plain file");
    return TUTTI_OK;
}

void tt_package_close_file(struct tt_byte_source *reader)
{
    struct package_stream *stream = reader->context;
    if (!stream)
        return;
    if (stream->fd >= 0)
        close(stream->fd);
    free(stream->shown);
    free(stream);
    *reader = (struct tt_byte_source){0};
}
