/* SPDX-License-Identifier: MIT */
/* transport_address.h - where the RTI listens: a host and a port as text and for sockets. */
#ifndef TT_HLA_TRANSPORT_TRANSPORT_ADDRESS_H
#define TT_HLA_TRANSPORT_TRANSPORT_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/fail.h"

enum { TUTTI_FEDPRO_ADDRESS = 128 };

struct tt_transport_address {
    struct sockaddr_storage storage;
    socklen_t size;
    bool loopback; /* it cannot be reached from another machine */
    char text[TUTTI_FEDPRO_ADDRESS];
    char host[TUTTI_FEDPRO_ADDRESS]; /* as it was looked up: what a certificate must name */
};

/* "HOST:PORT", "[::1]:PORT", "HOST" or ":PORT"; what is not there is localhost and `port`. IPv4 where there is one. ARGUMENT: it is no such
 * text; LOST: the name cannot be looked up. */
TUTTI_CHECKED enum tutti_err tt_transport_resolve_address(struct tt_transport_address *address, const char *text,
                                                          uint16_t port);
/* `text` and `loopback` from the rest. */
void tt_transport_show_address(struct tt_transport_address *address);

#endif
