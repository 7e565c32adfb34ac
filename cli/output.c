/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/run.h>
#include <unistd.h>

#include "base/fs.h"

static FILE *own_standard; /* NULL: not kept apart */

void output_complain(const char *path, int number)
{
    fprintf(stderr, "tutti: error: '%s' cannot be written: %s\n", path,
            number ? strerror(number) : "the disk may be full");
}

bool output_can_be_written(const char *path)
{
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (there && S_ISFIFO(st.st_mode)) /* its reader would treat the first close as the end */
        return true;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        output_complain(path, errno);
        return false;
    }
    close(fd);
    char *made = there ? NULL : realpath(path, NULL); /* not the link that may lead to it */
    if (made)
        remove(made);
    free(made);
    return true;
}

/* Copies and closes; 0 or an errno. */
static int copy_to(int fd, FILE *content)
{
    char bytes[65536];
    int error = 0;
    for (size_t n; !error && (n = fread(bytes, 1, sizeof bytes, content)) > 0;)
        if (tt_fs_write(fd, bytes, n, -1) < n)
            error = errno;
    if (!error && ferror(content))
        error = EIO;
    if (close(fd) != 0 && !error)
        error = errno;
    return error;
}

/* A new file beside `path`, with the rights that a file made at that place has; `name` becomes its name (free). -1: it cannot be
 * made. */
static int open_beside(const char *path, char **name)
{
    if (asprintf(name, "%s.XXXXXX", path) < 0) {
        *name = NULL;
        return -1;
    }
    struct stat there;
    int fd = mkostemp(*name, O_CLOEXEC);
    mode_t mask = umask(0);
    umask(mask);
    if (fd >= 0)
        fchmod(fd, stat(path, &there) == 0 ? there.st_mode & 0777 : 0666 & ~mask);
    return fd;
}

bool output_replace(const char *path, FILE *content)
{
    struct stat there;
    char *real = realpath(path, NULL), *name = NULL; /* a link stays, what it leads to is replaced */
    const char *target = real ? real : path;
    bool special = stat(target, &there) == 0 ? !S_ISREG(there.st_mode)
                                             : lstat(path, &there) == 0; /* a link to what is not there yet */
    int fd = special ? -1 : open_beside(target, &name), error = 0;
    if (fd >= 0) {
        error = copy_to(fd, content);
        if (!error && rename(name, target) != 0)
            error = errno;
        if (error)
            remove(name);
    } else {
        fd = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        error = fd < 0 ? errno : copy_to(fd, content);
    }
    if (error)
        output_complain(path, error);
    free(name);
    free(real);
    return error == 0;
}

bool output_fill_standard(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDWR}; /* reading and writing fail as if it were closed */
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            return false;
    return true;
}

/* Descriptor 1 leads to standard error, or nowhere. */
static bool lead_away(void)
{
    if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        return true;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    bool led = nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0;
    if (nowhere >= 0)
        close(nowhere);
    return led;
}

/* Standard output that was closed is not (output_fill_standard). */
static bool is_writable(int fd)
{
    return (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

void output_keep_apart(void)
{
    enum { ABOVE_STANDARD = 3 };
    if (own_standard)
        return;
    fflush(stdout);
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, ABOVE_STANDARD); /* programs that an FMU starts do not get it */
    if (fd >= 0)
        fd = tt_fs_move_descriptor(fd);
    FILE *stream = fd >= 0 ? fdopen(fd, is_writable(fd) ? "w" : "r") : NULL; /* "r": every print fails */
    if (stream && lead_away()) {
        own_standard = stream;
        tutti_set_standard_output(fd);
        setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* what FMUs print appears when they do so, also before a crash */
    } else if (stream) {
        fclose(stream);
    } else if (fd >= 0) {
        close(fd);
    }
}

FILE *output_standard(void)
{
    return own_standard ? own_standard : stdout;
}

bool output_finish(void)
{
    FILE *own = output_standard();
    bool done = fflush(own) == 0 && !ferror(own);
    if (own != stdout)
        fflush(stdout);
    return done;
}
