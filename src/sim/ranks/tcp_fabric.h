/* SPDX-License-Identifier: MIT */
/* tcp_fabric.h - ranks on several machines, over ZeroMQ: ranks that share signals exchange them directly; reports go to
 * the conductor's hub (tcp_hub.h).
 *
 * The start of a run:
 *   each rank  tt_tcp_fabric_listen: a port, and (with keys) a separate key for this run
 *   conductor  collects ports and public keys, and sends all of them to all (struct tt_tcp_run)
 *   conductor  tt_tcp_hub_open: connects to all ranks
 *   each rank  tt_tcp_fabric_connect: a fabric
 *
 * With keys every connection is encrypted and authenticated both ways (CURVE), and only the keys of the run are
 * admitted. Without keys, everything must be on this machine's loopback.
 *
 * A peer is lost if its connection ends, or if nothing has come from it for `lost_after` seconds (ZeroMQ's threads
 * exchange heartbeats, so that a rank may compute for any time). Lost packets are handled by TCP. */
#ifndef TT_SIM_RANKS_TCP_FABRIC_H
#define TT_SIM_RANKS_TCP_FABRIC_H

#include "base/log.h"
#include "sim/ranks/tcp_address.h"
#include "sim/ranks/fabric.h"
#include "sim/ranks/curve_auth.h"

enum { TUTTI_TCP_HOST = 64, TUTTI_TCP_RUN_ID = 16 /* TUTTI_RUN_ID_SIZE */ };

/* How to reach a rank. */
struct tt_tcp_peer {
    char endpoint[TUTTI_ADDRESS_SIZE]; /* "tcp://HOST:PORT"; HOST a name, an IPv4 address or [IPv6] */
    char host[TUTTI_TCP_HOST];         /* the same text for ranks of one machine: they reduce among themselves first */
    uint8_t public_key[TUTTI_KEY_SIZE];
};

/* The data that all members of a run share; equal on all of them. */
struct tt_tcp_run {
    uint8_t id[TUTTI_TCP_RUN_ID]; /* random (tt_random_bytes): those of another run are turned away */
    int ranks;
    const struct tt_tcp_peer *peers; /* [ranks] */
    bool has_keys;                   /* all have one, or none */
    uint8_t hub_key[TUTTI_KEY_SIZE];
    double lost_after; /* seconds; 0: 3 */
};

struct tt_tcp_fabric;

/* Listens at `address` ("127.0.0.1", "0.0.0.0", "::", no port), at one of the ports (NULL: any): from now on other
 * ranks may connect, and wait. `own` (copied; NULL: none) is this rank's key pair for this run; `lost_after` is that of
 * struct tt_tcp_run. ARGUMENT without keys if the address is not loopback. `log` (borrowed, may be NULL; also called
 * from other threads) gets warnings about strangers. */
TUTTI_CHECKED enum tutti_err tt_tcp_fabric_listen(struct tt_tcp_fabric **out, const char *address,
                                                  const struct tt_port_range *ports, const struct tt_curve_keys *own,
                                                  double lost_after, const struct tutti_log *log);
int tt_tcp_fabric_port(const struct tt_tcp_fabric *tcp);
/* NULL is fine; not after tt_tcp_fabric_connect. */
void tt_tcp_fabric_free(struct tt_tcp_fabric *tcp);

/* Makes the fabric of rank `rank`, and waits for the hub's hello (30 s; it may have arrived already). Takes `tcp`, also
 * if it fails. `run` is copied. `where` (borrowed; NULL: the fabric allocates it) is updated by the rank; a supervising
 * daemon places it in shared memory. Connections to other ranks are made when a channel or the first reduction needs
 * them. ARGUMENT without keys if any rank is not on loopback; LOST if the hub does not connect. */
TUTTI_CHECKED enum tutti_err tt_tcp_fabric_connect(struct tt_fabric **out, struct tt_tcp_fabric *tcp, int rank,
                                                   const struct tt_tcp_run *run, struct tt_heartbeat *where);

/* Collective, before anything is exchanged. Connects to all ranks: after it neither this rank nor its ZeroMQ make sockets or
 * connections, so that the right to can be given up. */
TUTTI_CHECKED enum tutti_err tt_tcp_fabric_await_all_links(struct tt_fabric *fabric);

/* Sends what was reported and waits for more. For the last moment of a process that crashes; the fabric is not used again. */
void tt_tcp_fabric_flush_on_crash(struct tt_fabric *fabric);

#endif
