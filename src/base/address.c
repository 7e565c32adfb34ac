/* SPDX-License-Identifier: MIT */
#include "base/address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/text.h"

enum { MOST_PORT = 65535, BACKLOG = 128 };

/* -1: not a port. */
static int address_read_port(const char *text)
{
    int port = 0;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9' || port > MOST_PORT)
            return -1;
        port = 10 * port + (*c - '0');
    }
    return *text && port <= MOST_PORT ? port : -1;
}

/* Whether a name exists is for the resolver to find out. */
static bool address_split(struct tt_address *out, const char *text, const struct tt_address_rule *rule)
{
    bool optional = rule->host && rule->port > 0;
    bool bracketed = text[0] == '[';
    const char *host = bracketed ? text + 1 : text, *end = host + strcspn(host, bracketed ? "]" : ":"), *after = end;
    if (bracketed && *after++ != ']')
        return false;

    /* a port alone, of the default host */
    if (!bracketed && !*after && rule->host && !optional) {
        snprintf(out->host, sizeof out->host, "%s", rule->host);
        out->port = address_read_port(text);
        return out->port >= 0;
    }

    if (*after && *after != ':')
        return false;
    size_t length = (size_t)(end - host);
    if (length >= TUTTI_HOST_SIZE || (length == 0 && (bracketed || !optional)))
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)host[i] <= ' ' || host[i] == 0x7f || strchr("/*[]", host[i]))
            return false;
    snprintf(out->host, sizeof out->host, "%.*s", length ? (int)length : TUTTI_HOST_SIZE, length ? host : rule->host);
    out->port = *after ? address_read_port(after + 1) : optional ? rule->port : -1;
    return out->port >= 0;
}

enum tutti_err tt_address_read(struct tt_address *out, const char *text, const struct tt_address_rule *rule)
{
    if (address_split(out, text, rule) && (out->port > 0 || rule->any_port))
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "%s: '%s' is not HOST:PORT or [IPv6]:PORT with a port from %d to %d; write for instance "
                   "127.0.0.1:7000",
                   rule->option, tt_text_excerpt(text).text, rule->any_port ? 0 : 1, MOST_PORT);
}

void tt_address_format(const struct tt_address *address, const char *scheme, char *out, size_t size)
{
    bool colons = strchr(address->host, ':') != NULL;
    snprintf(out, size, "%s%s%s%s:%d", scheme, colons ? "[" : "", address->host, colons ? "]" : "", address->port);
}

bool tt_address_is_loopback(const struct tt_address *address)
{
    const char *host = address->host;
    bool numeric = strspn(host, "0123456789.") == strlen(host);
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 || (numeric && strncmp(host, "127.", 4) == 0);
}

void tt_address_describe(struct tt_socket_address *address)
{
    const struct sockaddr *any = (const struct sockaddr *)(const void *)&address->storage;
    char port[8] = "0";
    struct tt_address *numeric = &address->numeric;
    if (getnameinfo(any, address->size, numeric->host, sizeof numeric->host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        snprintf(numeric->host, sizeof numeric->host, "?");
    numeric->port = address_read_port(port);
    tt_address_format(numeric, "", address->text, sizeof address->text);

    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)any;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)any;
    address->loopback = any->sa_family == AF_INET    ? ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
                        : any->sa_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr)
                                                     : false;
}

enum tutti_err tt_address_look_up(struct tt_socket_address *out, const struct tt_address *address,
                                  enum tutti_err failure)
{
    struct addrinfo *found = NULL, hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char port[16];
    snprintf(port, sizeof port, "%d", address->port);
    int error = getaddrinfo(address->host, port, &hints, &found);
    if (error || !found)
        return tt_fail(failure, "%s cannot be looked up: %s", address->host, gai_strerror(error));
    const struct addrinfo *best = found;
    for (const struct addrinfo *each = found; each; each = each->ai_next)
        if (each->ai_family == AF_INET) {
            best = each;
            break;
        }
    *out = (struct tt_socket_address){.size = best->ai_addrlen};
    memcpy(&out->storage, best->ai_addr, best->ai_addrlen);
    freeaddrinfo(found);
    tt_address_describe(out);
    return TUTTI_OK;
}

static void address_close_socket(int *fd)
{
    int why = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = why;
}

enum tutti_err tt_address_listen(int *fd, struct tt_socket_address *bound, const struct tt_address *address,
                                 const char *option)
{
    int yes = 1;
    struct sockaddr *any = (struct sockaddr *)(void *)&bound->storage;
    *fd = -1;
    enum tutti_err err = tt_address_look_up(bound, address, TUTTI_ERR_IO);
    if (err)
        return tt_fail_context(err, "%s", option);
    *fd = socket(any->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool listens = *fd >= 0 && setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                   bind(*fd, any, bound->size) == 0 && listen(*fd, BACKLOG) == 0;
    socklen_t size = sizeof bound->storage;
    if (!listens || getsockname(*fd, any, &size) != 0) {
        address_close_socket(fd);
        return tt_fail(TUTTI_ERR_IO, "%s: cannot listen at %s: %s", option, bound->text, strerror(errno));
    }
    bound->size = size;
    tt_address_describe(bound);
    return TUTTI_OK;
}

enum tutti_err tt_address_connect(int *fd, const struct tt_address *address, int patience, enum tutti_err failure)
{
    struct tt_socket_address there;
    struct timeval longest = {.tv_sec = patience};
    const struct sockaddr *any = (const struct sockaddr *)(const void *)&there.storage;
    *fd = -1;
    TRY(tt_address_look_up(&there, address, failure));
    *fd = socket(any->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd >= 0 && setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest) == 0 &&
        setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest) == 0 && connect(*fd, any, there.size) == 0)
        return TUTTI_OK;
    address_close_socket(fd);
    return tt_fail(failure, "%s", strerror(errno));
}
