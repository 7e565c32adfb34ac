/* SPDX-License-Identifier: MIT */
/* tcp_address.h - where something listens, as text. */
#ifndef TT_SIM_RANKS_TCP_ADDRESS_H
#define TT_SIM_RANKS_TCP_ADDRESS_H

#include <stddef.h>

#include "base/fail.h"

enum { TUTTI_ADDRESS_SIZE = 256 };

/* Looks names up: "tcp://HOST:PORT" becomes "tcp://127.0.0.1:4711" or "tcp://[::1]:4711" (IPv4 where there is one). PORT may be "*"
 * (of those that bind). *loopback: it cannot be reached from another machine. ARGUMENT if it is no such text, LOST if
 * the name cannot be looked up. */
TUTTI_CHECKED enum tutti_err tt_tcp_address_resolve(const char *endpoint, char numeric[TUTTI_ADDRESS_SIZE],
                                                    bool *loopback);

#endif
