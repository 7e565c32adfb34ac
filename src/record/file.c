/* SPDX-License-Identifier: MIT */
#include "record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/run.h>
#include <unistd.h>

static atomic_int standard_output = STDOUT_FILENO;

void tutti_set_standard_output(int descriptor)
{
    standard_output = descriptor;
}

int tutti_record_standard_output(void)
{
    return standard_output;
}

enum tutti_err tutti_record_file_fail_open(const char *path)
{
    int error = errno;
    const char *slash = strrchr(path, '/');
    if (error == ENOENT && slash && slash > path)
        return tutti_fail(TUTTI_ERR_IO, "cannot write %s: there is no folder %.*s; make it, or name another file", path,
                          (int)(slash - path), path);
    if (error == EISDIR)
        return tutti_fail(TUTTI_ERR_IO, "cannot write %s: it is a folder; name a file", path);
    return tutti_fail(TUTTI_ERR_IO, "cannot write %s: %s; name another file", path, strerror(error));
}

enum tutti_err tutti_record_file_fail_write(const char *path, int error)
{
    const char *advice = error == ENOSPC || error == EDQUOT ? "; make room, or name a file on another disk"
                         : error == EFBIG ? "; raise the limit on file sizes (ulimit -f), or record less"
                                          : "";
    return tutti_fail(TUTTI_ERR_IO, "cannot write %s: %s; the rows before are kept%s", path, strerror(error), advice);
}

enum tutti_err tutti_record_file_must_be_regular(const char *path, const char *extension)
{
    struct stat st;
    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return tutti_fail(
            TUTTI_ERR_IO,
            "cannot write %s: a %s result must be a file on a disk, because its beginning changes while it "
            "grows; name such a file, or let a .csv result go to the pipe or device",
            strcmp(path, "-") == 0 ? "to standard output" : path, extension);
    return TUTTI_OK;
}

/* A lock of the open file, not of the process: two simulations of one program keep each other out as well. Readers that lock by
 * flock(2), as HDF5 does, are not. File systems without such locks do without. */
static enum tutti_err lock(int fd, const char *path)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES))
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_IO,
                      "cannot write %s: another run is writing it; wait for its end, or name another file", path);
}

enum tutti_err tutti_record_file_open(int *fd, bool *regular, const char *path)
{
    int opened = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (opened < 0)
        return tutti_record_file_fail_open(path);
    struct stat st;
    enum tutti_err err = fstat(opened, &st) != 0 ? tutti_record_file_fail_open(path) : TUTTI_OK;
    if (err == TUTTI_OK && S_ISREG(st.st_mode))
        err = lock(opened, path);
    if (err != TUTTI_OK) {
        close(opened);
        return err;
    }
    *fd = opened;
    *regular = S_ISREG(st.st_mode);
    return TUTTI_OK;
}

enum tutti_err tutti_record_file_close(int fd, const char *path, enum tutti_err err)
{
    return close(fd) != 0 && err == TUTTI_OK ? tutti_record_file_fail_write(path, errno) : err;
}
