/* SPDX-License-Identifier: MIT */
#include "results/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <tutti/run.h>
#include <unistd.h>

static atomic_int standard_output = STDOUT_FILENO;

int tt_record_file_standard(void)
{
    return standard_output;
}

void tutti_set_standard_output(int descriptor)
{
    standard_output = descriptor;
}

enum tutti_err tt_record_file_fail_open(const char *path)
{
    int error = errno;
    const char *slash = strrchr(path, '/');
    if (error == ENOENT && slash && slash > path)
        return tt_fail(TUTTI_ERR_IO, "cannot write %s: there is no folder %.*s; make it, or name another file", path,
                       (int)(slash - path), path);
    if (error == EISDIR)
        return tt_fail(TUTTI_ERR_IO, "cannot write %s: it is a folder; name a file", path);
    return tt_fail(TUTTI_ERR_IO, "cannot write %s: %s; name another file", path, strerror(error));
}

enum tutti_err tt_record_file_fail_write(const char *path, int error)
{
    const char *advice = error == ENOSPC || error == EDQUOT ? "; make room, or name a file on another disk"
                         : error == EFBIG ? "; raise the limit on file sizes (ulimit -f), or record less"
                         : error == EBADF
                             ? ". Ask the FMU's author; with --processes 2, or more, FMUs cannot reach the file"
                             : "";
    const char *what = error == EBADF    ? "code of an FMU has closed the file, which is not its own"
                       : error == ESTALE ? "something else has written to the file, or cut it"
                                         : strerror(error);
    return tt_fail(TUTTI_ERR_IO, "cannot write %s: %s; the rows before are kept%s", path, what, advice);
}

enum tutti_err tt_record_file_check_regular(const char *path, const char *extension)
{
    struct stat st;
    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return tt_fail(TUTTI_ERR_IO,
                       "cannot write %s: a %s result must be a file on a disk, because its beginning changes while it "
                       "grows; name such a file, or let a .csv result go to the pipe or device",
                       strcmp(path, "-") == 0 ? "to standard output" : path, extension);
    return TUTTI_OK;
}

/* Takes the lock, unless another has it. */
static bool record_file_try_lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES);
}

/* Returns true if the file has been written to since `before`. */
static bool record_file_has_changed(int fd, const struct stat *before)
{
    struct stat now;
    return fstat(fd, &now) != 0 || now.st_size != before->st_size || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

/* A lock of the open file, not of the process: two simulations of one program keep each other out as well. It does not keep out readers
 * that lock by flock(2), as HDF5 does. File systems without such locks do without. The kernel may release the lock of a process with
 * threads some time after that was killed and waited for, so one try is not enough for a run that takes its place at once. A run that is
 * alive releases it, too, when it ends in the meantime; but that run has then written its last rows, which are not to be lost. */
static enum tutti_err lock_record_file(int fd, const char *path)
{
    enum { TRIES = 50 };
    const struct timespec nap = {.tv_nsec = 10000000};
    struct stat before;
    bool known = fstat(fd, &before) == 0;
    for (int i = 0; i < TRIES; i++) {
        if (record_file_try_lock(fd)) {
            if (i == 0 || (known && !record_file_has_changed(fd, &before)))
                return TUTTI_OK;
            break;
        }
        nanosleep(&nap, NULL);
    }
    return tt_fail(TUTTI_ERR_IO, "cannot write %s: another run is writing it; wait for its end, or name another file",
                   path);
}

static bool is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) != 0 || S_ISREG(st.st_mode);
}

/* Marks read what was written. A pipe that is open for reading, too, would not wait for its reader. */
static int open_for_writing(const char *path, int flags)
{
    int fd = is_regular(path) ? open(path, O_RDWR | flags | O_CLOEXEC, 0666) : -1;
    return fd >= 0 ? fd : open(path, O_WRONLY | flags | O_CLOEXEC, 0666);
}

static enum tutti_err open_at(struct tt_record_file *file, const char *path, int flags)
{
    int fd = open_for_writing(path, flags);
    if (fd < 0)
        return tt_record_file_fail_open(path);
    file->fd = tt_fs_move_descriptor(fd);
    if (!tt_fs_identify(file->fd, &file->identity))
        return tt_record_file_fail_open(path);
    file->is_regular = S_ISREG(file->identity.mode);
    return file->is_regular ? lock_record_file(file->fd, path) : TUTTI_OK;
}

static enum tutti_err record_file_try_open(struct tt_record_file *file, const char *path, int flags)
{
    enum tutti_err err = open_at(file, path, flags);
    if (err != TUTTI_OK && file->fd >= 0) {
        close(file->fd);
        file->fd = -1;
    }
    return err;
}

enum tutti_err tt_record_file_open(struct tt_record_file *file, const char *path)
{
    *file = (struct tt_record_file){.fd = -1, .path = path, .is_standard = strcmp(path, "-") == 0};
    if (file->is_standard) {
        file->fd = standard_output;
        (void)tt_fs_identify(file->fd, &file->identity); /* if it is closed, writing reports it */
        return TUTTI_OK;
    }
    return record_file_try_open(file, path, O_CREAT);
}

static bool is_same_file(const struct tt_record_file *file, struct tt_fs_identity *now)
{
    return tt_fs_identify(file->fd, now) && tt_fs_is_identical(now, &file->identity);
}

/* The descriptor with its number belongs to foreign code and must not be closed. */
static bool reopen_by_path(struct tt_record_file *file, struct tt_fs_identity *now)
{
    int fd = file->is_regular ? open_for_writing(file->path, 0) : -1;
    if (fd < 0)
        return false;
    if (!tt_fs_identify(fd, now) || !tt_fs_is_identical(now, &file->identity)) {
        close(fd);
        return false;
    }
    file->fd = tt_fs_move_descriptor(fd);
    (void)record_file_try_lock(file->fd);
    return lseek(file->fd, 0, SEEK_END) >= 0;
}

bool tt_record_file_check(struct tt_record_file *file, off_t size)
{
    struct tt_fs_identity now;
    if (!is_same_file(file, &now) && !reopen_by_path(file, &now)) {
        errno = EBADF;
        return false;
    }
    if (size >= 0 && file->is_regular && now.size != size) {
        errno = ESTALE;
        return false;
    }
    return true;
}

static const char *record_file_name(const struct tt_record_file *file)
{
    return file->is_standard ? "to standard output" : file->path;
}

/* Checks that the rows are at the requested path: the file may have been removed, renamed or replaced while it was
 * written, or its folder unmounted. */
static enum tutti_err record_file_check_path(const struct tt_record_file *file)
{
    struct stat own, named;
    if (!file->is_regular || file->is_standard || fstat(file->fd, &own) != 0)
        return TUTTI_OK;
    if (stat(file->path, &named) == 0 && named.st_dev == own.st_dev && named.st_ino == own.st_ino)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_IO, "cannot keep %s: the file was %s while the run wrote it%s; run again", file->path,
                   own.st_nlink == 0 ? "removed or replaced" : "renamed, or its folder replaced",
                   own.st_nlink == 0 ? ", and its rows are lost" : "; its rows are in the file with the new name");
}

enum tutti_err tt_record_file_close(struct tt_record_file *file, enum tutti_err err)
{
    struct tt_fs_identity now;
    bool ours = file->fd >= 0 && !file->is_standard && is_same_file(file, &now);
    if (ours && err == TUTTI_OK)
        err = record_file_check_path(file);
    bool failed = ours && close(file->fd) != 0;
    file->fd = -1;
    return failed && err == TUTTI_OK ? tt_record_file_fail_write(record_file_name(file), errno) : err;
}

enum tutti_err tt_record_file_create(struct tt_record_file *file, const char *path)
{
    TRY(tt_record_file_open(file, path));
    if (!file->is_regular || ftruncate(file->fd, 0) == 0)
        return TUTTI_OK;
    return tt_record_file_close(file, tt_record_file_fail_open(path));
}

enum tutti_err tt_record_file_append(struct tt_record_file *file, const char *text)
{
    size_t length = strlen(text);
    errno = 0;
    if (tt_record_file_check(file, -1) && tt_fs_write(file->fd, text, length, -1) == length)
        return TUTTI_OK;
    return tt_record_file_fail_write(record_file_name(file), errno ? errno : EIO);
}

enum tutti_err tt_record_file_sync(struct tt_record_file *file)
{
    struct tt_fs_identity now;
    if (file->fd < 0 || !file->is_regular)
        return TUTTI_OK;
    errno = EBADF;
    bool synced = is_same_file(file, &now) && fdatasync(file->fd) == 0;
    file->is_named = file->is_named || (synced && tt_fs_sync_folder(file->path));
    if (synced && file->is_named)
        return TUTTI_OK;
    return tt_record_file_fail_write(record_file_name(file), errno);
}

/* --- files that a later run resumes */

enum { TAIL = 256 }; /* bytes before the place of a mark */

/* How many of n bytes are there. */
static size_t record_file_read_at(const struct tt_record_file *file, char *bytes, size_t n, off_t at)
{
    size_t done = 0;
    while (done < n) {
        ssize_t more = pread(file->fd, bytes + done, n - done, at + (off_t)done);
        if (more == 0 || (more < 0 && errno != EINTR))
            break;
        done += more > 0 ? (size_t)more : 0;
    }
    return done;
}

enum tutti_err tt_record_file_fail_reopen(const char *path, const char *what)
{
    return tt_fail(TUTTI_ERR_FORMAT,
                   "cannot go on with %s: %s; put the file of the interrupted run there, or start the run anew", path,
                   what);
}

enum tutti_err tt_record_file_fail_mark(const char *path)
{
    return tt_fail(TUTTI_ERR_FORMAT,
                   "cannot go on with %s: what the checkpoint says about it is damaged; take another checkpoint, or "
                   "start the run anew",
                   path);
}

enum tutti_err tt_record_file_mark(struct tt_record_file *file, off_t first, off_t position,
                                   struct tt_byte_writer *mark)
{
    char tail[TAIL];
    size_t n = position - first < TAIL ? (size_t)(position - first) : TAIL;
    if (!tt_record_file_check(file, -1) || record_file_read_at(file, tail, n, position - (off_t)n) != n)
        n = 0; /* it may be written but not read; a resumed run then relies on its size */
    tt_bytes_put_u64(mark, (uint64_t)position);
    tt_bytes_put_block(mark, tail, n);
    return mark->failed ? tt_fail_memory() : TUTTI_OK;
}

enum tutti_err tt_record_file_check_bytes(const struct tt_record_file *file, const void *bytes, size_t n, off_t at)
{
    char there[4096];
    for (size_t done = 0, piece; done < n; done += piece) {
        piece = n - done < sizeof there ? n - done : sizeof there;
        if (record_file_read_at(file, there, piece, at + (off_t)done) != piece ||
            memcmp(there, (const char *)bytes + done, piece) != 0)
            return tt_record_file_fail_reopen(file->path, "it is not the file that the checkpoint was written with");
    }
    return TUTTI_OK;
}

enum tutti_err tt_record_file_open_existing(struct tt_record_file *file, const char *path)
{
    *file = (struct tt_record_file){.fd = -1, .path = path};
    if (access(path, F_OK) != 0)
        return tt_fail(TUTTI_ERR_IO,
                       "cannot go on with %s: %s; put the file of the interrupted run there, or start the run anew",
                       path, strerror(errno));
    if (!is_regular(path))
        return tt_record_file_fail_reopen(path, "it is no regular file");
    return record_file_try_open(file, path, 0);
}

enum tutti_err tt_record_file_reopen(struct tt_record_file *file, const char *path, struct tt_byte_reader *mark,
                                     off_t *position)
{
    uint64_t size = tt_bytes_get_u64(mark);
    size_t n;
    const void *tail = tt_bytes_get_block(mark, &n);
    file->fd = -1;
    if (mark->bad || size > INT64_MAX || n > size)
        return tt_record_file_fail_mark(path);
    TRY(tt_record_file_open_existing(file, path));
    *position = (off_t)size;
    enum tutti_err err = TUTTI_OK;
    if (file->identity.size < *position)
        err = tt_fail(TUTTI_ERR_FORMAT,
                      "cannot go on with %s: it has %lld bytes, and had %lld when the checkpoint was written; put the "
                      "file of the interrupted run there, or start the run anew",
                      file->path, (long long)file->identity.size, (long long)*position);
    if (!err)
        err = tt_record_file_check_bytes(file, tail, n, *position - (off_t)n);
    return err ? tt_record_file_close(file, err) : TUTTI_OK;
}

enum tutti_err tt_record_file_truncate(struct tt_record_file *file, off_t position)
{
    if (ftruncate(file->fd, position) == 0 && lseek(file->fd, position, SEEK_SET) == position)
        return TUTTI_OK;
    return tt_record_file_fail_write(file->path, errno);
}

enum tutti_err tt_record_file_mark_lines(struct tt_record_file *file, struct tt_byte_writer *mark)
{
    tt_bytes_put_u8(mark, file->is_regular);
    if (!file->is_regular)
        return mark->failed ? tt_fail_memory() : TUTTI_OK;
    off_t position = tt_record_file_check(file, -1) ? lseek(file->fd, 0, SEEK_CUR) : -1;
    return position < 0 ? tt_record_file_fail_write(file->path, errno) : tt_record_file_mark(file, 0, position, mark);
}

enum tutti_err tt_record_file_resume_lines(struct tt_record_file *file, const char *path, struct tt_byte_reader *mark,
                                           bool *anew)
{
    off_t position = 0;
    *file = (struct tt_record_file){.fd = -1, .path = path};
    bool was_regular = tt_bytes_get_u8(mark) != 0;
    if (mark->bad)
        return tt_record_file_fail_mark(path);
    *anew = !was_regular || strcmp(path, "-") == 0 || !is_regular(path);
    if (*anew)
        return tt_record_file_create(file, path);
    TRY(tt_record_file_reopen(file, path, mark, &position));
    *anew = position == 0;
    enum tutti_err err = tt_record_file_truncate(file, position);
    return err ? tt_record_file_close(file, err) : TUTTI_OK;
}
