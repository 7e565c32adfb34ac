/* SPDX-License-Identifier: MIT */
#include "web/token.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

/* Where a token is kept. */
struct place {
    const char *folder; /* that is served */
    int fd;             /* of its .tutti */
};

static enum tutti_err refuse(const struct place *place, const char *why)
{
    return tutti_fail(TUTTI_ERR_IO, "%s/.tutti/token is not used as the token: %s; remove it, and a new one is made",
                      place->folder, why);
}

static enum tutti_err take(const struct place *place, int fd, char token[TUTTI_WEB_TOKEN])
{
    struct stat about;
    char text[TUTTI_WEB_TOKEN + 1];
    if (fstat(fd, &about) != 0)
        return refuse(place, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return refuse(place, "it is no file");
    if (about.st_uid != geteuid() || about.st_nlink != 1)
        return refuse(place, "it belongs to another user, or has a second name");
    if (about.st_mode & (S_IRWXG | S_IRWXO))
        return refuse(place, "other users can read or change it");
    ssize_t size = read(fd, text, sizeof text);
    if (size != TUTTI_WEB_TOKEN - 1 || memchr(text, '\0', (size_t)size))
        return refuse(place, "it does not hold 32 digits");
    text[size] = '\0';
    if (strspn(text, "0123456789abcdef") != (size_t)size)
        return refuse(place, "it does not hold 32 digits");
    memcpy(token, text, TUTTI_WEB_TOKEN);
    return TUTTI_OK;
}

static enum tutti_err keep(const struct place *place, const char token[TUTTI_WEB_TOKEN])
{
    int fd = openat(place->fd, "token", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return errno == EACCES || errno == EROFS ? TUTTI_OK : refuse(place, strerror(errno));
    enum tutti_err err = tutti_fs_write(fd, token, TUTTI_WEB_TOKEN - 1, -1) == TUTTI_WEB_TOKEN - 1
                             ? TUTTI_OK
                             : refuse(place, strerror(errno));
    if (err)
        (void)unlinkat(place->fd, "token", 0);
    close(fd);
    return err;
}

static enum tutti_err find(const struct place *place, char token[TUTTI_WEB_TOKEN])
{
    int fd = openat(place->fd, "token", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return keep(place, token);
    if (fd < 0)
        return refuse(place, errno == ELOOP ? "it is a link" : strerror(errno));
    enum tutti_err err = take(place, fd, token);
    close(fd);
    return err;
}

enum tutti_err tutti_web_token_find(const struct tutti_web_folder *folder, char token[TUTTI_WEB_TOKEN])
{
    unsigned char bytes[(TUTTI_WEB_TOKEN - 1) / 2];
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(token, TUTTI_WEB_TOKEN, bytes, sizeof bytes);
    if (!folder || (mkdirat(folder->fd, ".tutti", S_IRWXU) != 0 && (errno == EACCES || errno == EROFS)))
        return TUTTI_OK;
    struct place place = {folder->path, openat(folder->fd, ".tutti", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)};
    if (place.fd < 0)
        return refuse(&place, strerror(errno));
    enum tutti_err err = find(&place, token);
    close(place.fd);
    return err;
}
