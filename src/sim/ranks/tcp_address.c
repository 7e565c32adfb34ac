/* SPDX-License-Identifier: MIT */
#include "sim/ranks/tcp_address.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "base/number.h"
#include "base/text.h"

enum tutti_err tt_tcp_address_resolve(const char *endpoint, char numeric[TUTTI_ADDRESS_SIZE], bool *loopback)
{
    static const char scheme[] = "tcp://";
    struct tt_address address;
    struct tt_socket_address found;
    *loopback = false;
    if (strncmp(endpoint, scheme, sizeof scheme - 1) != 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is not tcp://HOST:PORT", tt_text_excerpt(endpoint).text);
    TRY(tt_address_read(&address, endpoint + sizeof scheme - 1,
                        &(struct tt_address_rule){.option = "tcp", .any_port = true}));
    TRY(tt_address_look_up(&found, &address, TUTTI_ERR_LOST));
    *loopback = found.loopback;
    tt_address_format(&found.numeric, scheme, numeric, TUTTI_ADDRESS_SIZE);
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
