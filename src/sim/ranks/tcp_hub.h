/* SPDX-License-Identifier: MIT */
/* tcp_hub.h - the conductor's end of the tcp fabric: it connects to all ranks, collects their reports, and sends stops. */
#ifndef TT_SIM_RANKS_TCP_HUB_H
#define TT_SIM_RANKS_TCP_HUB_H

#include "sim/ranks/tcp_fabric.h"

struct tt_tcp_hub;

/* Begins to connect to all ranks of the run; does not wait. `run` and `own` (the pair of run->hub_key; NULL: none) are
 * copied. ARGUMENT without keys if a rank is not on loopback. */
TUTTI_CHECKED enum tutti_err tt_tcp_hub_open(struct tt_tcp_hub **out, const struct tt_tcp_run *run,
                                             const struct tt_curve_keys *own);
/* Returns the ZeroMQ socket, for a common zmq_poll (ZMQ_POLLIN); when it is ready, or ten times a second, call
 * tt_tcp_hub_wait with 0. No other code reads or writes it. */
void *tt_tcp_hub_socket(const struct tt_tcp_hub *hub);
/* Waits for messages, at most `seconds`, and handles them. Stops of ranks are forwarded to all. Errors are those of
 * ZeroMQ itself, and MEMORY; faults of ranks appear in tt_tcp_hub_state. */
TUTTI_CHECKED enum tutti_err tt_tcp_hub_wait(struct tt_tcp_hub *hub, double seconds);
/* Returns unread reports of the rank; borrowed until the next call. A rank that is far ahead waits: bytes that
 * tt_conductor_receive leaves stay here, and beyond half a megabyte the rank gets no further credit. */
const char *tt_tcp_hub_pending_bytes(const struct tt_tcp_hub *hub, int rank, size_t *count);
/* `count` bytes of it are done with. */
void tt_tcp_hub_consume(struct tt_tcp_hub *hub, int rank, size_t count);
/* OK: it is connected, or connecting. LOST: its connection has ended, or cannot be made; earlier reports are available.
 * FORMAT: it has a different version, or broke the protocol; nothing more is received from it. Each with a message that
 * names rank and endpoint. A rank that has sent BYE stays OK. */
TUTTI_CHECKED enum tutti_err tt_tcp_hub_state(const struct tt_tcp_hub *hub, int rank);
/* Returns true if the rank has answered the hello. */
bool tt_tcp_hub_is_connected(const struct tt_tcp_hub *hub, int rank);
/* Returns true if it has sent BYE: it will report nothing more, intentionally. */
bool tt_tcp_hub_has_left(const struct tt_tcp_hub *hub, int rank);
/* Tells all ranks that none is to go beyond `step` macro steps (0: at once). */
void tt_tcp_hub_stop(struct tt_tcp_hub *hub, uint64_t step);
/* NULL is fine. */
void tt_tcp_hub_close(struct tt_tcp_hub *hub);

#endif
