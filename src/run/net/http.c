/* SPDX-License-Identifier: MIT */
#include "run/net/http.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/module.h"
#include "run/net/host_address.h"

enum { BACKLOG = 128 };

enum tutti_err tt_http_load(const struct tt_http_module **module)
{
    static const struct tt_module http = {"tutti_http.so", "tt_http_module", "libmicrohttpd", "libmicrohttpd-dev",
                                          "libmicrohttpd12"};
    void *symbol;
    tt_http_module_entry *entry = NULL;
    TRY(tt_module_load(&symbol, &http, NULL));
    *(void **)&entry = symbol; /* the way that POSIX shows for functions */
    *module = entry();
    return (*module)->abi == TUTTI_HTTP_ABI ? TUTTI_OK
                                            : tt_fail(TUTTI_ERR_LOAD, "%s is of another version of Tutti", http.file);
}

/* -1: errno. */
static int http_listen_at(const struct addrinfo *found)
{
    int yes = 1;
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

/* "127.0.0.1:9100", as the system has it. */
static void format_socket_address(int fd, char *out, size_t size)
{
    struct sockaddr_storage bound = {0};
    socklen_t length = sizeof bound;
    char host[64] = "?", port[8] = "?";
    if (getsockname(fd, (struct sockaddr *)&bound, &length) == 0)
        (void)getnameinfo((struct sockaddr *)&bound, length, host, sizeof host, port, sizeof port,
                          NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(out, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

enum tutti_err tt_http_listen(int *socket, const char *where, const char *option, char *address, size_t size)
{
    struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM}, *found = NULL;
    struct tt_host_address at;
    char text[sizeof at.host], port[16];
    snprintf(text, sizeof text, "%s%s", strchr(where, ':') ? "" : "127.0.0.1:", where);
    TRY(tt_host_address_read(&at, text, option, true));
    snprintf(port, sizeof port, "%d", at.port);
    int error = getaddrinfo(at.host, port, &hints, &found);
    *socket = error || !found ? -1 : http_listen_at(found);
    enum tutti_err err = TUTTI_OK;
    if (*socket < 0)
        err = tt_fail(TUTTI_ERR_IO, "%s: cannot listen at %s: %s", option, text,
                      error ? gai_strerror(error) : strerror(errno));
    else
        format_socket_address(*socket, address, size);
    if (found)
        freeaddrinfo(found);
    return err;
}
