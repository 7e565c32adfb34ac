/* SPDX-License-Identifier: MIT */
/* tcp_address.h - where something listens, as text. */
#ifndef TT_SIM_RANKS_TCP_ADDRESS_H
#define TT_SIM_RANKS_TCP_ADDRESS_H

#include <stdbool.h>

#include "base/address.h"
#include "base/fail.h"

/* Resolves names: "tcp://HOST:PORT" becomes "tcp://127.0.0.1:4711" or "tcp://[::1]:4711" (IPv4 is preferred). PORT may
 * be 0 (for binding: any free port). *loopback: unreachable from other machines. ARGUMENT if it is malformed, LOST if
 * it cannot be resolved. */
TUTTI_CHECKED enum tutti_err tt_tcp_address_resolve(const char *endpoint, char numeric[TUTTI_ADDRESS_SIZE],
                                                    bool *loopback);

/* Ports that may be listened at, where a firewall lets only some through. */

/* From `first` to `last`; zeroed: any that the system gives. */
struct tt_port_range {
    int first, last;
};

/* "5000-5100", or "5000". ARGUMENT, naming `option`. */
TUTTI_CHECKED enum tutti_err tt_tcp_address_parse_ports(struct tt_port_range *out, const char *text,
                                                        const char *option);
/* Lets a ZeroMQ socket listen at a free port of the list; `endpoint` is "tcp://HOST:PORT" with any port, for instance
 * 0. IO if none is free. */
TUTTI_CHECKED enum tutti_err tt_tcp_address_bind(const struct tt_port_range *ports, void *socket, const char *endpoint);

#endif
