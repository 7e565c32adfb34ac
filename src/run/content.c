/* SPDX-License-Identifier: MIT */
#include "run/content.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "base/vector.h"

_Static_assert(TUTTI_CONTENT_SIZE == crypto_hash_sha256_BYTES, "a hash is a SHA-256");

enum { BLOCK = 256 * 1024, GRACE_SECONDS = 60 };

bool tt_content_equal(const struct tt_content *a, const struct tt_content *b)
{
    return a->size == b->size && memcmp(a->hash, b->hash, sizeof a->hash) == 0;
}

void tt_content_format(const struct tt_content *content, char text[TUTTI_CONTENT_TEXT])
{
    sodium_bin2hex(text, TUTTI_CONTENT_TEXT, content->hash, sizeof content->hash);
}

void tt_content_of_bytes(struct tt_content *out, const void *bytes, size_t size)
{
    out->size = size;
    crypto_hash_sha256(out->hash, bytes, size);
}

/* Reads to the end, and writes the same to `copy` (-1: nowhere); -1 and errno if that cannot be done. */
static int hash_and_copy(struct tt_content *out, int fd, int copy, char *block)
{
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    out->size = 0;
    for (;;) {
        ssize_t n = read(fd, block, BLOCK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            crypto_hash_sha256_final(&state, out->hash);
            return (int)n;
        }
        if (copy >= 0 && tt_fs_write(copy, block, (size_t)n, -1) != (size_t)n)
            return -1;
        crypto_hash_sha256_update(&state, (const unsigned char *)block, (size_t)n);
        out->size += (uint64_t)n;
    }
}

enum tutti_err tt_content_of_file(struct tt_content *out, const char *path)
{
    struct stat st;
    char *block = malloc(BLOCK);
    if (!block)
        return tt_fail_memory();
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int result = fd < 0 ? -1 : fstat(fd, &st);
    if (result == 0 && !S_ISREG(st.st_mode)) {
        errno = EINVAL;
        result = -1;
    }
    if (result == 0)
        result = hash_and_copy(out, fd, -1, block);
    enum tutti_err err = result == 0 ? TUTTI_OK : tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(block);
    return err;
}

/* ---- the cache ---- */

#define WORK "work-"

struct tt_content_cache {
    char *folder, *work; /* absolute */
    int lock;            /* on `work`: it is in use */
};

void tt_content_cache_clean_up(const struct tt_content_cache *cache)
{
    const char *folder = cache->folder, *own = cache->work ? strrchr(cache->work, '/') + 1 : "";
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, WORK, strlen(WORK)) != 0 || strcmp(entry->d_name, own) == 0)
            continue;
        int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;
        struct tt_text path = {0};
        tt_text_printf(&path, "%s/%s", folder, entry->d_name);
        /* One that is being made is not locked yet; it is young. */
        if (fd >= 0 && !path.failed && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
            time(NULL) - st.st_mtime > GRACE_SECONDS && flock(fd, LOCK_EX | LOCK_NB) == 0)
            (void)tt_fs_remove_tree(path.text);
        tt_text_fini(&path);
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
}

static enum tutti_err create_work_folder(struct tt_content_cache *cache)
{
    struct tt_text path = {0};
    tt_text_printf(&path, "%s/" WORK "XXXXXX", cache->folder);
    cache->work = path.text;
    if (path.failed)
        return tt_fail_memory();
    if (!mkdtemp(cache->work)) {
        free(cache->work);
        cache->work = NULL;
        return tt_fail(TUTTI_ERR_IO, "the folder %s for files of runs cannot be written to: %s", cache->folder,
                       strerror(errno));
    }
    cache->lock = open(cache->work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (cache->lock >= 0)
        (void)flock(cache->lock, LOCK_EX | LOCK_NB); /* without locks, no process removes folders either */
    return TUTTI_OK;
}

static enum tutti_err open_cache(struct tt_content_cache *cache, const char *folder)
{
    cache->lock = -1;
    cache->folder = tt_fs_absolute(folder);
    if (!cache->folder)
        return tt_fail_memory();
    if (!tt_fs_make_folder(cache->folder))
        return tt_fail(TUTTI_ERR_IO, "the folder %s for files of runs cannot be used: %s; name another with --cache",
                       cache->folder, strerror(errno));
    tt_content_cache_clean_up(cache);
    return create_work_folder(cache);
}

enum tutti_err tt_content_cache_open(struct tt_content_cache **out, const char *folder)
{
    *out = NULL;
    struct tt_content_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return tt_fail_memory();
    enum tutti_err err = open_cache(cache, folder);
    if (err)
        tt_content_cache_free(cache);
    else
        *out = cache;
    return err;
}

void tt_content_cache_free(struct tt_content_cache *cache)
{
    if (!cache)
        return;
    if (cache->work)
        (void)tt_fs_remove_tree(cache->work);
    if (cache->lock >= 0)
        close(cache->lock);
    free(cache->work);
    free(cache->folder);
    free(cache);
}

const char *tt_content_cache_work_folder(const struct tt_content_cache *cache)
{
    return cache->work;
}

char *tt_content_cache_path(const struct tt_content_cache *cache, const struct tt_content *content)
{
    char digits[TUTTI_CONTENT_TEXT];
    struct tt_text path = {0};
    tt_content_format(content, digits);
    tt_text_printf(&path, "%s/%s", cache->folder, digits);
    if (path.failed)
        tt_text_fini(&path);
    return path.text;
}

/* By its name and size. */
static bool is_in_cache(const char *path, const struct tt_content *content)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == content->size;
}

bool tt_content_cache_has(const struct tt_content_cache *cache, const struct tt_content *content)
{
    struct tt_content found = {0};
    char *path = tt_content_cache_path(cache, content);
    bool there = path && is_in_cache(path, content);
    bool has = there && tt_content_of_file(&found, path) == TUTTI_OK && tt_content_equal(&found, content);
    if (has)
        (void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* used: tt_content_cache_evict */
    else if (there)
        (void)unlink(path); /* its content does not match its name */
    free(path);
    return has;
}

/* Copies a file, sharing its blocks if the file system can, and hashes it. False: errno. */
static bool copy_and_hash_file(const char *from, const char *to, struct tt_content *found)
{
    char *block = malloc(BLOCK);
    int in = block ? open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    int out = in < 0 ? -1 : open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR);
    bool cloned = out >= 0 && ioctl(out, FICLONE, in) == 0;
    bool copied = out >= 0 && hash_and_copy(found, cloned ? out : in, cloned ? -1 : out, block) == 0;
    int error = block ? errno : ENOMEM;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    if (out >= 0 && !copied)
        (void)unlink(to);
    free(block);
    errno = error;
    return copied;
}

enum tutti_err tt_content_cache_copy_out(const struct tt_content_cache *cache, const struct tt_content *content,
                                         const char *path)
{
    struct tt_content found = {0};
    char *from = tt_content_cache_path(cache, content);
    if (!from)
        return tt_fail_memory();
    /* A second node that shares the cache may be replacing the file: it may be missing for a moment. */
    bool lent = false;
    for (int i = 0; i < 100 && !lent; i++) {
        lent = copy_and_hash_file(from, path, &found);
        if (!lent && (errno != ENOENT || !is_in_cache(from, content)))
            break;
    }
    enum tutti_err err = TUTTI_OK;
    if (!lent) {
        err = tt_fail(TUTTI_ERR_IO, "a file of the run cannot be used from %s: %s", cache->folder, strerror(errno));
    } else if (!tt_content_equal(&found, content)) {
        (void)unlink(path);
        (void)unlink(from);
        err = tt_fail(TUTTI_ERR_IO, "a file of the run was altered in %s, and has been removed; run again",
                      cache->folder);
    }
    free(from);
    return err;
}

/* ---- clearing ---- */

struct cached_file {
    char name[TUTTI_CONTENT_TEXT];
    uint64_t size;
    struct timespec used;
};

static int content_compare_times(const struct timespec *a, const struct timespec *b)
{
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

static int compare_cached_files(const void *a, const void *b)
{
    return content_compare_times(&((const struct cached_file *)a)->used, &((const struct cached_file *)b)->used);
}

/* All files of the cache. NULL when memory is out, or it cannot be read. The caller's (free). */
static struct cached_file *list_cached_files(const struct tt_content_cache *cache, size_t *count, uint64_t *total)
{
    DIR *dir = opendir(cache->folder);
    struct cached_file *kept = NULL;
    size_t room = 0;
    *count = 0;
    *total = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat st;
        if (strlen(entry->d_name) != TUTTI_CONTENT_TEXT - 1 ||
            strspn(entry->d_name, "0123456789abcdef") != TUTTI_CONTENT_TEXT - 1 ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (!tt_vector_reserve(&kept, &room, *count + 1, sizeof *kept))
            break; /* what was found so far will do */
        struct cached_file *next = &kept[(*count)++];
        *next = (struct cached_file){.size = (uint64_t)st.st_size, .used = st.st_mtim};
        memcpy(next->name, entry->d_name, sizeof next->name);
        *total += next->size;
    }
    if (dir)
        closedir(dir);
    return kept;
}

uint64_t tt_content_cache_size(const struct tt_content_cache *cache, uint64_t *files)
{
    size_t count;
    uint64_t total;
    free(list_cached_files(cache, &count, &total));
    *files = count;
    return total;
}

size_t tt_content_cache_evict(const struct tt_content_cache *cache, uint64_t limit, const struct timespec *since)
{
    size_t count, removed = 0;
    uint64_t total;
    struct cached_file *kept = list_cached_files(cache, &count, &total);
    if (count > 0)
        qsort(kept, count, sizeof *kept, compare_cached_files);
    for (size_t i = 0; i < count && total > limit && content_compare_times(&kept[i].used, since) < 0; i++) {
        struct tt_text path = {0};
        tt_text_printf(&path, "%s/%s", cache->folder, kept[i].name);
        if (!path.failed && unlink(path.text) == 0) {
            total -= kept[i].size;
            removed++;
        }
        tt_text_fini(&path);
    }
    free(kept);
    return removed;
}

/* ---- files on their way ---- */

struct tt_content_arrival {
    const struct tt_content_cache *cache;
    struct tt_content content;
    crypto_hash_sha256_state state;
    uint64_t size;
    int fd;
    char *path; /* in the work folder */
};

static enum tutti_err content_fail_writing(const struct tt_content_arrival *arrival)
{
    return tt_fail(TUTTI_ERR_IO, "a file cannot be kept in %s: %s", arrival->cache->folder, strerror(errno));
}

enum tutti_err tt_content_arrival_new(struct tt_content_arrival **out, const struct tt_content_cache *cache,
                                      const struct tt_content *content)
{
    *out = NULL;
    struct tt_content_arrival *arrival = calloc(1, sizeof *arrival);
    struct tt_text path = {0};
    tt_text_printf(&path, "%s/new-XXXXXX", cache->work);
    if (!arrival || path.failed) {
        free(arrival);
        tt_text_fini(&path);
        return tt_fail_memory();
    }
    *arrival = (struct tt_content_arrival){.cache = cache, .content = *content, .path = path.text};
    crypto_hash_sha256_init(&arrival->state);
    arrival->fd = mkostemp(arrival->path, O_CLOEXEC);
    if (arrival->fd >= 0) {
        *out = arrival;
        return TUTTI_OK;
    }
    enum tutti_err err = content_fail_writing(arrival);
    free(arrival->path);
    free(arrival);
    return err;
}

const struct tt_content *tt_content_arrival_content(const struct tt_content_arrival *arrival)
{
    return &arrival->content;
}

uint64_t tt_content_arrival_size(const struct tt_content_arrival *arrival)
{
    return arrival->size;
}

enum tutti_err tt_content_arrival_write(struct tt_content_arrival *arrival, const void *bytes, size_t size)
{
    if (size > arrival->content.size - arrival->size)
        return tt_fail(TUTTI_ERR_FORMAT, "more bytes came than the %" PRIu64 " that a file was said to have",
                       arrival->content.size);
    if (tt_fs_write(arrival->fd, bytes, size, -1) != size)
        return content_fail_writing(arrival);
    crypto_hash_sha256_update(&arrival->state, bytes, size);
    arrival->size += size;
    return TUTTI_OK;
}

static enum tutti_err content_finish_arrival(struct tt_content_arrival *arrival)
{
    uint8_t hash[TUTTI_CONTENT_SIZE];
    crypto_hash_sha256_final(&arrival->state, hash);
    if (arrival->size != arrival->content.size || memcmp(hash, arrival->content.hash, sizeof hash) != 0)
        return tt_fail(TUTTI_ERR_FORMAT, "a file arrived damaged: its bytes are not those of its hash");
    char *path = tt_content_cache_path(arrival->cache, &arrival->content);
    if (!path)
        return tt_fail_memory();
    /* It is not changed from here on; and what has its name is on the disk. */
    bool kept = fchmod(arrival->fd, S_IRUSR) == 0 && fsync(arrival->fd) == 0 && rename(arrival->path, path) == 0;
    enum tutti_err err = kept ? TUTTI_OK : content_fail_writing(arrival);
    free(path);
    return err;
}

enum tutti_err tt_content_arrival_finish(struct tt_content_arrival *arrival)
{
    enum tutti_err err = content_finish_arrival(arrival);
    if (err == TUTTI_OK) {
        free(arrival->path);
        arrival->path = NULL;
    }
    tt_content_arrival_free(arrival);
    return err;
}

void tt_content_arrival_free(struct tt_content_arrival *arrival)
{
    if (!arrival)
        return;
    close(arrival->fd);
    if (arrival->path)
        (void)unlink(arrival->path); /* what is left of it is only in the way */
    free(arrival->path);
    free(arrival);
}
