/* SPDX-License-Identifier: MIT */
/* tcp_fabric.h - ranks on several machines, over ZeroMQ: what they exchange goes directly between those that share signals; what they
 * report goes to the conductor's hub (tcp_hub.h).
 *
 * How a run comes to be:
 *   each rank  tt_tcp_fabric_listen: a port, and (with keys) a key of its own for this run
 *   conductor  gathers ports and public keys, and gives all of them to all (struct tt_tcp_run)
 *   conductor  tt_tcp_hub_open: connects to all ranks
 *   each rank  tt_tcp_fabric_connect: a fabric
 *
 * With keys every connection is encrypted and authenticated both ways (CURVE), and only the keys of the run are let in. Without
 * keys, everything must be on this machine's loopback.
 *
 * A peer is lost if its connection ends, or if nothing has come from it for `lost_after` seconds (ZeroMQ's own threads ask and
 * answer, so that a rank may compute as long as it likes). Lost packets are TCP's affair and no loss. */
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

/* What all members of a run know; the same on all of them. */
struct tt_tcp_run {
    uint8_t id[TUTTI_TCP_RUN_ID]; /* random (tt_curve_auth_random_bytes): those of another run are turned away */
    int ranks;
    const struct tt_tcp_peer *peers; /* [ranks] */
    bool has_keys;                   /* all have one, or none */
    uint8_t hub_key[TUTTI_KEY_SIZE];
    double lost_after; /* seconds; 0: 3 */
};

struct tt_tcp_fabric;

/* Listens at `address` ("127.0.0.1", "0.0.0.0", "::", no port), at one of the ports (NULL: any): from now on others may connect, and wait. `own` (copied; NULL:
 * none) is this rank's pair for this run; `lost_after` is that of struct tt_tcp_run. ARGUMENT if there are no keys and the
 * address is not a loopback one. `log` (borrowed, may be NULL; called from other threads, too) gets warnings about strangers. */
TUTTI_CHECKED enum tutti_err tt_tcp_fabric_listen(struct tt_tcp_fabric **out, const char *address,
                                                  const struct tt_port_range *ports, const struct tt_curve_keys *own,
                                                  double lost_after, const struct tutti_log *log);
int tt_tcp_fabric_port(const struct tt_tcp_fabric *tcp);
/* NULL is fine; not after tt_tcp_fabric_connect. */
void tt_tcp_fabric_free(struct tt_tcp_fabric *tcp);

/* Makes the fabric of rank `rank`, and waits for the hub to say hello (30 s; it may have done so already). Takes `tcp`, also if it
 * fails. `run` is copied. `where` (borrowed; NULL: the fabric has its own) is what the rank keeps up to date; a daemon that
 * watches it puts it into memory that both see. Connections to other ranks are made when a channel or the first reduction needs
 * them. ARGUMENT if there are no keys and any rank is beyond loopback; LOST if the hub does not come. */
TUTTI_CHECKED enum tutti_err tt_tcp_fabric_connect(struct tt_fabric **out, struct tt_tcp_fabric *tcp, int rank,
                                                   const struct tt_tcp_run *run, struct tt_heartbeat *where);

/* Collective, before anything is exchanged. Connects to all ranks: after it neither this rank nor its ZeroMQ make sockets or
 * connections, so that the right to can be given up. */
TUTTI_CHECKED enum tutti_err tt_tcp_fabric_await_all_links(struct tt_fabric *fabric);

/* Sends what was reported and waits for more. For the last moment of a process that crashes; the fabric is not used again. */
void tt_tcp_fabric_flush_on_crash(struct tt_fabric *fabric);

#endif
