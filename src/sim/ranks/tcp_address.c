/* SPDX-License-Identifier: MIT */
#include "sim/ranks/tcp_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "base/number.h"
#include "base/text.h"

struct address_parts {
    char host[TUTTI_ADDRESS_SIZE], port[8];
};

static enum tutti_err tcp_address_split(const char *endpoint, struct address_parts *parts)
{
    static const char scheme[] = "tcp://";
    const char *host = endpoint + sizeof scheme - 1;
    const char *colon = strrchr(endpoint, ':');
    if (strncmp(endpoint, scheme, sizeof scheme - 1) != 0 || !colon || colon <= host ||
        strlen(endpoint) >= TUTTI_ADDRESS_SIZE || strlen(colon + 1) >= sizeof parts->port)
        return tt_fail(TUTTI_ERR_ARGUMENT, "\"%.100s\" is no address: write tcp://HOST:PORT", endpoint);
    size_t length = (size_t)(colon - host);
    if (host[0] == '[' && colon[-1] == ']') {
        host++;
        length -= 2;
    }
    memcpy(parts->host, host, length);
    parts->host[length] = '\0';
    memcpy(parts->port, colon + 1, strlen(colon + 1) + 1);
    return TUTTI_OK;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

enum tutti_err tt_tcp_address_resolve(const char *endpoint, char numeric[TUTTI_ADDRESS_SIZE], bool *loopback)
{
    struct address_parts parts;
    struct addrinfo *found = NULL, hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    *loopback = false;
    TRY(tcp_address_split(endpoint, &parts));
    int failed = getaddrinfo(parts.host, NULL, &hints, &found);
    if (failed || !found)
        return tt_fail(TUTTI_ERR_LOST, "%s cannot be looked up: %s", parts.host, gai_strerror(failed));
    const struct addrinfo *best = found;
    for (const struct addrinfo *a = found; a; a = a->ai_next)
        if (a->ai_family == AF_INET) {
            best = a;
            break;
        }
    char text[NI_MAXHOST];
    failed = getnameinfo(best->ai_addr, best->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST);
    bool v6 = best->ai_family == AF_INET6;
    *loopback = is_loopback(best->ai_addr);
    freeaddrinfo(found);
    if (failed || snprintf(numeric, TUTTI_ADDRESS_SIZE, v6 ? "tcp://[%s]:%s" : "tcp://%s:%s", text, parts.port) >=
                      TUTTI_ADDRESS_SIZE)
        return tt_fail(TUTTI_ERR_LOST, "%s has no address that can be written", parts.host);
    return TUTTI_OK;
}

static bool parse_port(const char *text, size_t length, int *port)
{
    uint64_t value;
    if (!tt_number_read_uint(text, length, &value) || value == 0 || value > UINT16_MAX)
        return false;
    *port = (int)value;
    return true;
}

enum tutti_err tt_tcp_address_parse_ports(struct tt_port_range *out, const char *text, const char *option)
{
    const char *dash = strchr(text, '-'), *last = dash ? dash + 1 : text;
    if (!parse_port(text, dash ? (size_t)(dash - text) : strlen(text), &out->first) ||
        !parse_port(last, strlen(last), &out->last) || out->first > out->last)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is no range of ports, for instance 5000-5100", option,
                       tt_text_excerpt(text).text);
    return TUTTI_OK;
}

static enum tutti_err fail_bind_port(const char *endpoint)
{
    return tt_fail(TUTTI_ERR_IO, "cannot listen at %s: %s", endpoint + strlen("tcp://"), zmq_strerror(zmq_errno()));
}

/* Processes that begin at the same time begin with different ones. */
enum tutti_err tt_tcp_address_bind(const struct tt_port_range *ports, void *socket, const char *endpoint)
{
    char text[TUTTI_ADDRESS_SIZE];
    int count = ports->first > 0 ? ports->last - ports->first + 1 : 0, begin = count > 0 ? (int)(getpid() % count) : 0;
    int host = (int)(strrchr(endpoint, ':') - endpoint);
    if (count == 0)
        return zmq_bind(socket, endpoint) == 0 ? TUTTI_OK : fail_bind_port(endpoint);
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%.*s:%d", host, endpoint, ports->first + (begin + i) % count);
        if (zmq_bind(socket, text) == 0)
            return TUTTI_OK;
        if (zmq_errno() != EADDRINUSE)
            return fail_bind_port(text);
    }
    return tt_fail(TUTTI_ERR_IO, "none of the ports %d to %d is free (--ports); give more, or wait for runs to end",
                   ports->first, ports->last);
}
