/* SPDX-License-Identifier: MIT */
#include "apps/web/access.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/address.h"
#include "base/random.h"

/* The machine's own name, with or without its domain. */
static bool is_own_host_name(const char *host)
{
    char own[256] = "";
    if (gethostname(own, sizeof own - 1) != 0 || !own[0])
        return false;
    size_t length = strcspn(own, ".");
    return strncasecmp(host, own, length) == 0 && (host[length] == '\0' || host[length] == '.');
}

bool tt_access_allows_host(const struct tt_access *gate, const char *host)
{
    const struct tt_address_rule rule = {.option = "Host"};
    struct tt_address given, own;
    char text[300];
    if (!host || !*host || strlen(host) > 250)
        return false;

    /* a host without a port means the standard port, if the server has that */
    const char *port = strrchr(gate->address, ':'), *standard = gate->encrypted ? ":443" : ":80";
    bool bare = host[0] == '[' ? host[strlen(host) - 1] == ']' : !strchr(host, ':');
    snprintf(text, sizeof text, "%s%s", host, bare && port && strcmp(port, standard) == 0 ? standard : "");
    if (tt_address_read(&given, text, &rule) || tt_address_read(&own, gate->address, &rule) || given.port != own.port)
        return false;
    if (gate->loopback)
        return tt_address_is_loopback(&given);

    /* no name has led to an address in numbers */
    unsigned char bytes[sizeof(struct in6_addr)];
    bool numeric = inet_pton(AF_INET, given.host, bytes) == 1 || inet_pton(AF_INET6, given.host, bytes) == 1;
    return numeric || strcasecmp(given.host, gate->host) == 0 || is_own_host_name(given.host);
}

bool tt_access_allows_origin(const struct tt_access *gate, const char *origin, const char *host)
{
    const char *scheme = gate->encrypted ? "https://" : "http://";
    size_t length = strlen(scheme);
    return !origin || (strncmp(origin, scheme, length) == 0 && strcasecmp(origin + length, host) == 0);
}

bool tt_access_allows_token(const struct tt_access *gate, const char *authorization)
{
    static const char BEARER[] = "Bearer ";
    size_t length = strlen(gate->token);
    if (!authorization || strncmp(authorization, BEARER, sizeof BEARER - 1) != 0)
        return false;
    const char *given = authorization + sizeof BEARER - 1;
    return strlen(given) == length && sodium_memcmp(given, gate->token, length) == 0;
}

struct token_place {
    const char *folder; /* that is served */
    int fd;             /* of its .tutti */
};

static enum tutti_err token_reject(const struct token_place *place, const char *why)
{
    return tt_fail(TUTTI_ERR_IO, "%s/.tutti/token is not used as the token: %s; remove it, and a new one is made",
                   place->folder, why);
}

static enum tutti_err token_read(const struct token_place *place, int fd, char token[TUTTI_WEB_TOKEN])
{
    struct stat about;
    char text[TUTTI_WEB_TOKEN + 1];
    if (fstat(fd, &about) != 0)
        return token_reject(place, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return token_reject(place, "it is no file");
    if (about.st_uid != geteuid() || about.st_nlink != 1)
        return token_reject(place, "it belongs to another user, or has a second name");
    if (about.st_mode & (S_IRWXG | S_IRWXO))
        return token_reject(place, "other users can read or change it");
    ssize_t size = read(fd, text, sizeof text);
    if (size != TUTTI_WEB_TOKEN - 1 || memchr(text, '\0', (size_t)size))
        return token_reject(place, "it does not hold 32 digits");
    text[size] = '\0';
    if (strspn(text, "0123456789abcdef") != (size_t)size)
        return token_reject(place, "it does not hold 32 digits");
    memcpy(token, text, TUTTI_WEB_TOKEN);
    return TUTTI_OK;
}

static enum tutti_err token_write(const struct token_place *place, const char token[TUTTI_WEB_TOKEN])
{
    int fd = openat(place->fd, "token", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return errno == EACCES || errno == EROFS ? TUTTI_OK : token_reject(place, strerror(errno));
    enum tutti_err err = tt_fs_write(fd, token, TUTTI_WEB_TOKEN - 1, -1) == TUTTI_WEB_TOKEN - 1
                             ? TUTTI_OK
                             : token_reject(place, strerror(errno));
    if (err)
        (void)unlinkat(place->fd, "token", 0);
    close(fd);
    return err;
}

static enum tutti_err token_find_or_create(const struct token_place *place, char token[TUTTI_WEB_TOKEN])
{
    int fd = openat(place->fd, "token", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return token_write(place, token);
    if (fd < 0)
        return token_reject(place, errno == ELOOP ? "it is a link" : strerror(errno));
    enum tutti_err err = token_read(place, fd, token);
    close(fd);
    return err;
}

enum tutti_err tt_access_find_token(const struct tt_served_folder *folder, char token[TUTTI_WEB_TOKEN])
{
    TRY(tt_random_token(token, TUTTI_WEB_TOKEN));
    if (!folder || (mkdirat(folder->fd, ".tutti", S_IRWXU) != 0 && (errno == EACCES || errno == EROFS)))
        return TUTTI_OK;
    struct token_place place = {folder->path,
                                openat(folder->fd, ".tutti", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)};
    if (place.fd < 0)
        return token_reject(&place, strerror(errno));
    enum tutti_err err = token_find_or_create(&place, token);
    close(place.fd);
    return err;
}
