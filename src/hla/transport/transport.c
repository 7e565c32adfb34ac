/* SPDX-License-Identifier: MIT */
#include "hla/transport/transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/number.h"

struct tcp_transport {
    struct tt_transport base;
    int socket;
    int patience; /* milliseconds; 0: unlimited */
};

static enum tt_transport_io tcp_result(ssize_t got, size_t *count)
{
    *count = got > 0 ? (size_t)got : 0;
    if (got > 0)
        return TUTTI_FEDPRO_IO_DONE;
    if (got == 0)
        return TUTTI_FEDPRO_IO_ENDED;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return TUTTI_FEDPRO_IO_WAIT;
    (void)tt_fail(TUTTI_ERR_IO, "%s", strerror(errno));
    return TUTTI_FEDPRO_IO_FAILED;
}

static enum tt_transport_io tcp_read(struct tt_transport *self, void *bytes, size_t size, size_t *count)
{
    return tcp_result(recv(((struct tcp_transport *)self)->socket, bytes, size, MSG_DONTWAIT), count);
}

static enum tt_transport_io tcp_await(struct tt_transport *self, void *bytes, size_t size, size_t *count,
                                      int milliseconds)
{
    struct tcp_transport *tcp = (struct tcp_transport *)self;
    struct timeval time = {milliseconds / 1000, milliseconds % 1000 * 1000L};
    if (tcp->patience != milliseconds && setsockopt(tcp->socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0)
        tcp->patience = milliseconds;
    return tcp_result(recv(tcp->socket, bytes, size, 0), count);
}

static enum tt_transport_io tcp_write(struct tt_transport *self, const void *bytes, size_t size, size_t *count)
{
    return tcp_result(send(((struct tcp_transport *)self)->socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT), count);
}

static void tcp_free(struct tt_transport *self)
{
    free(self);
}

static const struct tt_transport_kind tcp_kind = {.name = "tcp",
                                                  .read = tcp_read,
                                                  .await = tcp_await,
                                                  .write = tcp_write,
                                                  .free = tcp_free};

struct tt_transport *tt_transport_new_tcp(int socket)
{
    struct tcp_transport *tcp = calloc(1, sizeof *tcp);
    if (!tcp)
        return NULL;
    tcp->base.kind = &tcp_kind;
    tcp->socket = socket;
    return &tcp->base;
}

struct rti_address_parts {
    char host[TUTTI_FEDPRO_ADDRESS];
    char port[8];
};

static enum tutti_err transport_bad_address(const char *text)
{
    return tt_fail(TUTTI_ERR_ARGUMENT, "\"%.100s\" is no address: write HOST:PORT", text);
}

static enum tutti_err transport_split_address(struct rti_address_parts *parts, const char *text, uint16_t port)
{
    const char *host = text, *end = strchr(text, ':'), *colon = end;
    if (text[0] == '[') {
        host = text + 1;
        end = strchr(host, ']');
        if (!end || (end[1] != '\0' && end[1] != ':'))
            return transport_bad_address(text);
        colon = end[1] ? end + 1 : NULL;
    } else if (colon && strchr(colon + 1, ':')) {
        return transport_bad_address(text); /* IPv6 without brackets */
    }
    size_t length = end ? (size_t)(end - host) : strlen(host);
    uint64_t number = port;
    if (length >= sizeof parts->host ||
        (colon && (!tt_number_read_uint(colon + 1, strlen(colon + 1), &number) || number > UINT16_MAX)))
        return transport_bad_address(text);
    snprintf(parts->host, sizeof parts->host, "%.*s", (int)length, host);
    if (length == 0)
        snprintf(parts->host, sizeof parts->host, "localhost");
    snprintf(parts->port, sizeof parts->port, "%u", (unsigned)number);
    return TUTTI_OK;
}

void tt_transport_show_address(struct tt_transport_address *address)
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (address->storage.ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)&address->storage;
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
        address->loopback = ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
        snprintf(address->text, sizeof address->text, "%s:%u", host, ntohs(v4->sin_port));
    } else {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)&address->storage;
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        address->loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
        snprintf(address->text, sizeof address->text, "[%s]:%u", host, ntohs(v6->sin6_port));
    }
}

enum tutti_err tt_transport_resolve_address(struct tt_transport_address *address, const char *text, uint16_t port)
{
    struct rti_address_parts parts;
    struct addrinfo *found = NULL, hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    TRY(transport_split_address(&parts, text, port));
    int failed = getaddrinfo(parts.host, parts.port, &hints, &found);
    if (failed || !found)
        return tt_fail(TUTTI_ERR_LOST, "%s cannot be looked up: %s", parts.host, gai_strerror(failed));
    const struct addrinfo *best = found;
    for (const struct addrinfo *a = found; a; a = a->ai_next)
        if (a->ai_family == AF_INET) {
            best = a;
            break;
        }
    memcpy(&address->storage, best->ai_addr, best->ai_addrlen);
    memcpy(address->host, parts.host, sizeof address->host);
    address->size = best->ai_addrlen;
    freeaddrinfo(found);
    tt_transport_show_address(address);
    return TUTTI_OK;
}
