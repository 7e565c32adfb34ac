/* SPDX-License-Identifier: MIT */
/* tcp.h - ranks on several machines, over ZeroMQ: what they exchange goes directly between those that share signals; what they
 * report goes to the conductor's hub.
 *
 * How a run comes to be:
 *   each rank  tutti_tcp_listen: a port, and (with keys) a key of its own for this run
 *   conductor  gathers ports and public keys, and gives all of them to all (struct tutti_tcp_run)
 *   conductor  tutti_tcp_hub_open: connects to all ranks
 *   each rank  tutti_tcp_connect: a fabric
 *
 * With keys every connection is encrypted and authenticated both ways (CURVE), and only the keys of the run are let in. Without
 * keys, everything must be on this machine's loopback.
 *
 * A peer is lost if its connection ends, or if nothing has come from it for `lost_after` seconds (ZeroMQ's own threads ask and
 * answer, so that a rank may compute as long as it likes). Lost packets are TCP's affair and no loss. */
#ifndef TUTTI_FABRIC_TCP_H
#define TUTTI_FABRIC_TCP_H

#include "base/log.h"
#include "fabric/fabric.h"
#include "fabric/keys.h"

enum { TUTTI_TCP_ENDPOINT = 256, TUTTI_TCP_HOST = 64, TUTTI_TCP_RUN_ID = 16 };

/* How to reach a rank. */
struct tutti_tcp_peer {
    char endpoint[TUTTI_TCP_ENDPOINT]; /* "tcp://HOST:PORT"; HOST a name, an IPv4 address or [IPv6] */
    char host[TUTTI_TCP_HOST];         /* the same text for ranks of one machine: they reduce among themselves first */
    uint8_t public_key[TUTTI_KEY_SIZE];
};

/* What all members of a run know; the same on all of them. */
struct tutti_tcp_run {
    uint8_t id[TUTTI_TCP_RUN_ID]; /* random (tutti_keys_random): those of another run are turned away */
    int ranks;
    const struct tutti_tcp_peer *peers; /* [ranks] */
    bool has_keys;                      /* all have one, or none */
    uint8_t hub_key[TUTTI_KEY_SIZE];
    double lost_after; /* seconds; 0: 3 */
};

/* Ranks ------------------------------------------------------------------------------------------------------------------- */

struct tutti_tcp;

/* Listens at `address` ("127.0.0.1", "0.0.0.0", "::", no port): from now on others may connect, and wait. `own` (copied; NULL:
 * none) is this rank's pair for this run; `lost_after` is that of struct tutti_tcp_run. ARGUMENT if there are no keys and the
 * address is not a loopback one. `log` (borrowed, may be NULL; called from other threads, too) gets warnings about strangers. */
TUTTI_CHECKED enum tutti_err tutti_tcp_listen(struct tutti_tcp **out, const char *address, const struct tutti_keys *own,
                                              double lost_after, const struct tutti_log *log);
int tutti_tcp_port(const struct tutti_tcp *tcp);
/* NULL is fine; not after tutti_tcp_connect. */
void tutti_tcp_free(struct tutti_tcp *tcp);

/* Makes the fabric of rank `rank`, and waits for the hub to say hello (30 s; it may have done so already). Takes `tcp`, also if it
 * fails. `run` is copied. `where` (borrowed; NULL: the fabric has its own) is what the rank keeps up to date; a daemon that
 * watches it puts it into memory that both see. Connections to other ranks are made when a channel or the first reduction needs
 * them. ARGUMENT if there are no keys and anybody is beyond loopback; LOST if the hub does not come. */
TUTTI_CHECKED enum tutti_err tutti_tcp_connect(struct tutti_fabric **out, struct tutti_tcp *tcp, int rank,
                                               const struct tutti_tcp_run *run, struct tutti_whereabouts *where);

/* Sends what was reported and waits for more. For the last moment of a process that crashes; the fabric is not used again. */
void tutti_tcp_hurry(struct tutti_fabric *fabric);

/* The hub ----------------------------------------------------------------------------------------------------------------- */

struct tutti_tcp_hub;

/* Begins to connect to all ranks of the run; does not wait. `run` and `own` (the pair of run->hub_key; NULL: none) are copied.
 * ARGUMENT if there are no keys and a rank is beyond loopback. */
TUTTI_CHECKED enum tutti_err tutti_tcp_hub_open(struct tutti_tcp_hub **out, const struct tutti_tcp_run *run,
                                                const struct tutti_keys *own);
/* The ZeroMQ socket, for a zmq_poll (ZMQ_POLLIN) together with others; when it has something, or ten times a second, call
 * tutti_tcp_hub_wait with 0. Nobody else reads or writes it. */
void *tutti_tcp_hub_socket(const struct tutti_tcp_hub *hub);
/* Waits for messages, at most `seconds`, and takes what is there. Stops that ranks tell are passed on to all. Errors are those
 * of ZeroMQ itself, and MEMORY; what ranks do wrong shows in tutti_tcp_hub_state. */
TUTTI_CHECKED enum tutti_err tutti_tcp_hub_wait(struct tutti_tcp_hub *hub, double seconds);
/* What the rank has reported and nobody has taken; borrowed until the next call. A rank that is far ahead waits: what
 * tutti_conductor_take leaves stays here, and beyond half a megabyte the rank gets no leave to send more. */
const char *tutti_tcp_hub_bytes(const struct tutti_tcp_hub *hub, int rank, size_t *count);
/* `count` bytes of it are done with. */
void tutti_tcp_hub_take(struct tutti_tcp_hub *hub, int rank, size_t count);
/* OK: it is there, or is still being connected to. LOST: its connection has ended, or cannot be made; what it reported
 * before is here. FORMAT: it is of another version, or sent what no rank sends; nothing more is taken from it. Each with a
 * message that names rank and endpoint. A rank that has said goodbye is OK for ever. */
TUTTI_CHECKED enum tutti_err tutti_tcp_hub_state(const struct tutti_tcp_hub *hub, int rank);
/* Has the rank answered our hello? */
bool tutti_tcp_hub_is_here(const struct tutti_tcp_hub *hub, int rank);
/* Has it said goodbye? It will report nothing any more, by its own wish. */
bool tutti_tcp_hub_has_left(const struct tutti_tcp_hub *hub, int rank);
/* Tells all ranks that none is to go beyond `step` macro steps (0: at once). */
void tutti_tcp_hub_stop(struct tutti_tcp_hub *hub, uint64_t step);
/* NULL is fine. */
void tutti_tcp_hub_close(struct tutti_tcp_hub *hub);

#endif
