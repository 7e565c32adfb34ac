/* SPDX-License-Identifier: MIT */
/* tcp_ports.h - ports that may be listened at, where a firewall lets only some through. */
#ifndef TT_SIM_RANKS_TCP_PORTS_H
#define TT_SIM_RANKS_TCP_PORTS_H

#include "base/fail.h"

/* From `first` to `last`; zeroed: any that the system gives. */
struct tt_port_range {
    int first, last;
};

/* "5000-5100", or "5000". ARGUMENT, naming `option`. */
TUTTI_CHECKED enum tutti_err tt_tcp_address_parse_ports(struct tt_port_range *out, const char *text,
                                                        const char *option);
/* Lets a ZeroMQ socket listen at one of them that is free; `endpoint` is "tcp://HOST:PORT" with any port, for instance "*". IO if
 * there is none. */
TUTTI_CHECKED enum tutti_err tt_tcp_address_bind(const struct tt_port_range *ports, void *socket, const char *endpoint);

#endif
