/* SPDX-License-Identifier: MIT */
/* host_address.h - where a port is: "host:port", "[::1]:port" or "name:port". */
#ifndef TT_RUN_NET_HOST_ADDRESS_H
#define TT_RUN_NET_HOST_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

struct tt_host_address {
    char host[200]; /* without brackets */
    int port;
};

/* ARGUMENT, naming `option`. Port 0 (any) if `any` allows it. */
TUTTI_CHECKED enum tutti_err tt_host_address_read(struct tt_host_address *out, const char *text, const char *option,
                                                  bool any);
/* Returns true for addresses that only this machine can reach: 127.x.x.x, ::1, localhost. */
bool tt_host_address_is_loopback(const struct tt_host_address *address);
/* Formats "tcp://host:port" for ZeroMQ; cut if it does not fit. */
void tt_host_address_endpoint(const struct tt_host_address *address, char *out, size_t size);

#endif
