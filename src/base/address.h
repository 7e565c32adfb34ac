/* SPDX-License-Identifier: MIT */
/* base/address.h - where something listens: HOST:PORT as text, and the socket address that it stands for.
 *
 * All addresses that users write and that ranks exchange are read here. HOST is a name, an IPv4 address or an IPv6 address in brackets;
 * PORT has decimal digits only. */
#ifndef TT_BASE_ADDRESS_H
#define TT_BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/fail.h"

enum {
    TUTTI_HOST_SIZE = 254,   /* a name of DNS has at most 253 characters */
    TUTTI_ADDRESS_SIZE = 272 /* "tcp://[HOST]:65535" */
};

struct tt_address {
    char host[TUTTI_HOST_SIZE]; /* without brackets */
    int port;
};

/* What an address may leave out. Without defaults, the text must be HOST:PORT with a port of at least 1. */
struct tt_address_rule {
    /* The option that messages name. */
    const char *option;
    /* Port 0, which stands for any free one, is accepted. */
    bool any_port;
    /* Alone, it is the host of a text that is only "PORT". Together with `port`, each part may be left out: "HOST", ":PORT", "". */
    const char *host;
    /* 0: the port is required. */
    int port;
};

/* Reads `text`. ARGUMENT with a message that names the option if it is not such an address. */
TUTTI_CHECKED enum tutti_err tt_address_read(struct tt_address *out, const char *text,
                                             const struct tt_address_rule *rule);
/* Writes `scheme` ("tcp://" or ""), the host (in brackets if it has colons) and the port. TUTTI_ADDRESS_SIZE bytes are enough. */
void tt_address_format(const struct tt_address *address, const char *scheme, char *out, size_t size);
/* Decides by the text alone whether only this machine can reach the address: 127.x.x.x, ::1 or localhost. */
bool tt_address_is_loopback(const struct tt_address *address);

/* An address for the calls of sockets. */
struct tt_socket_address {
    struct sockaddr_storage storage;
    socklen_t size;
    /* Only this machine can reach it. */
    bool loopback;
    /* In numbers, written as tt_address_format does. */
    struct tt_address numeric;
    char text[TUTTI_ADDRESS_SIZE];
};

/* Looks the host up; an IPv4 address is preferred. `failure` if that fails: IO for an address of this machine, LOST for one of others. */
TUTTI_CHECKED enum tutti_err tt_address_look_up(struct tt_socket_address *out, const struct tt_address *address,
                                                enum tutti_err failure);
/* Fills in `loopback`, `numeric` and `text` from `storage` and `size`. */
void tt_address_describe(struct tt_socket_address *address);
/* Opens a socket that listens there and does not block; *bound is the address with the port that it got. IO with a message that names
 * `option`. */
TUTTI_CHECKED enum tutti_err tt_address_listen(int *fd, struct tt_socket_address *bound,
                                               const struct tt_address *address, const char *option);
/* Connects a blocking socket. Its reads and writes fail after `patience` seconds; 0: never. `failure` if it cannot connect. */
TUTTI_CHECKED enum tutti_err tt_address_connect(int *fd, const struct tt_address *address, int patience,
                                                enum tutti_err failure);

#endif
