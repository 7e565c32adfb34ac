/* SPDX-License-Identifier: MIT */
#include "record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

enum tutti_err tutti_record_file_open(int *fd, bool *regular, const char *path)
{
    int opened = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (opened < 0)
        return tutti_record_file_fail_open(path);
    struct stat st;
    if (fstat(opened, &st) != 0) {
        enum tutti_err err = tutti_record_file_fail_open(path);
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
