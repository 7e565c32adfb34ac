/* SPDX-License-Identifier: MIT */
/* address.h - where a port is: "host:port", "[::1]:port" or "name:port". */
#ifndef TUTTI_SERVE_ADDRESS_H
#define TUTTI_SERVE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct tutti_address {
    char host[200]; /* without brackets */
    int port;
};

/* ARGUMENT, naming `option`. Port 0 (any) if `any` allows it. */
TUTTI_CHECKED enum tutti_err tutti_address_read(struct tutti_address *out, const char *text, const char *option,
                                                bool any);
/* Is it this machine, and no other can reach it: 127.x.x.x, ::1, localhost? */
bool tutti_address_is_loopback(const struct tutti_address *address);
/* "tcp://host:port" as ZeroMQ wants it; cut if it does not fit. */
void tutti_address_endpoint(const struct tutti_address *address, char *out, size_t size);

#endif
