/* SPDX-License-Identifier: MIT */
/* node_protocol.h - what a runner (`tutti run --nodes`) and a node (`tutti node`) say to each other: parcels (base/bytes.h), each a
 * ZeroMQ message that begins with its kind. One connection is one run.
 *
 *  runner                          node
 *  HELLO  (who we are)      ->
 *                           <-     WELCOME (what it offers), or REFUSED (a sentence) and nothing more
 *  FETCH  (offer, offset)   ->
 *                           <-     PIECE (of the offer's stand-in)              ... for each offer that is wanted
 *  ASK    (contents)        ->
 *                           <-     LACK (those that it has not)
 *  PUT    (content, bytes)  ->                                                  ... for each, in order, a few ahead
 *                           <-     GOT
 *  START  (job, ranks)      ->
 *                           <-     READY (rank, port, key)                      ... from each rank's worker
 *  PEERS  (all of them)     ->                                                  ... and the workers run
 *                           <-     DENIED (rank, what)                          ... as confined FMUs try what they may not
 *                           <-     LOST (rank, how) or GONE (rank)              ... as they end
 *  ORDER  (for rank 0)      ->                                                  of those who watch the run (sim/ranks/command_ring.h)
 *  INTERRUPT                ->                                                  the run was interrupted
 *  END                      ->                                                  the node forgets the run, and kills its workers
 *
 *  HELLO     text "tutti", u32 TUTTI_NODE_PROTOCOL, text version, 8 bytes (a number, in this machine's order)
 *  WELCOME   text version; u32 count; each: text name, content of the stand-in
 *  REFUSED   u32 enum tutti_err, text sentence
 *  FETCH     u32 offer, u64 offset
 *  PIECE     u32 offer, u64 offset, block bytes
 *  ASK       u32 count, contents
 *  LACK      u32 count, u32 which each
 *  PUT       content, u64 offset, block bytes
 *  GOT       content, u64 size so far
 *  START     16 bytes id of the run, u8 keys, double timeout (0: none), u32 ranks; u32 count, u32 rank each; u32 files, each: u8 offered,
 *            content or u32 offer; block job (job.h)
 *  READY     u32 rank, u32 port, 32 bytes key (zeros: none), u8 whether its FMUs are confined
 *  PEERS     u8 whether any rank's FMUs are confined: then all ranks connect to all before they run (tt_tcp_fabric_await_all_links); 32 bytes key of
 *            the conductor; per rank: text endpoint, text host, 32 bytes key. Only workers look at it
 *  LOST      u32 rank, u8 enum tt_node_loss, u32 detail, u32 component, double t, u64 steps, u32 enum tutti_err, text message
 *  GONE      u32 rank
 *  DENIED    u32 rank, u32 component, text what, text allow (base/sandbox/supervisor.h)
 *  ORDER     u32 enum tt_run_command_kind, u32 component, u32 variable, double value
 *  INTERRUPT, END: nothing
 *
 * A content is 32 bytes SHA-256 and u64 size. */
#ifndef TT_RUN_NODE_NODE_PROTOCOL_H
#define TT_RUN_NODE_NODE_PROTOCOL_H

#include "base/bytes.h"
#include "base/fail.h"
#include "base/options/options.h"
#include "base/sandbox/supervisor.h"
#include "run/content.h"
#include "sim/ranks/tcp_fabric.h"

enum {
    TUTTI_NODE_PROTOCOL = 4,
    TUTTI_NODE_PIECE = 1 << 20,   /* bytes of a file in one message */
    TUTTI_NODE_AHEAD = 8,         /* pieces that may be on their way */
    TUTTI_NODE_LARGEST = 1 << 26, /* bytes of a message; a peer that sends more is cut off */
    TUTTI_NODE_MOST_RANKS = 4096, /* of a run */
    TUTTI_NODE_MOST_FILES = 1 << 16,
    TUTTI_NODE_BEAT_MS = 500, /* interval of heartbeats of each side */
    TUTTI_NODE_LOST_MS = 3000 /* silence after which the peer counts as lost */
};

enum tt_node_message {
    TUTTI_NODE_HELLO = 1,
    TUTTI_NODE_FETCH,
    TUTTI_NODE_ASK,
    TUTTI_NODE_PUT,
    TUTTI_NODE_START,
    TUTTI_NODE_PEERS,
    TUTTI_NODE_ORDER,
    TUTTI_NODE_INTERRUPT,
    TUTTI_NODE_END,
    TUTTI_NODE_WELCOME = 100,
    TUTTI_NODE_REFUSED,
    TUTTI_NODE_PIECE_OF,
    TUTTI_NODE_LACK,
    TUTTI_NODE_GOT,
    TUTTI_NODE_READY,
    TUTTI_NODE_LOST,
    TUTTI_NODE_GONE,
    TUTTI_NODE_DENIED
};

/* How a worker came to its end before its time. */
enum tt_node_loss {
    TUTTI_LOSS_SIGNAL, /* detail: its number */
    TUTTI_LOSS_EXIT,   /* detail: status */
    TUTTI_LOSS_HANG,   /* no sign of life for the time that was asked for: it was killed */
    TUTTI_LOSS_ERROR   /* it could not begin: err and message say why */
};

/* Empty, but for its kind. */
void tt_node_protocol_start_message(struct tt_byte_writer *parcel, enum tt_node_message kind);
void tt_node_protocol_write_content(struct tt_byte_writer *parcel, const struct tt_content *content);
void tt_node_protocol_read_content(struct tt_byte_reader *in, struct tt_content *content);

void tt_node_protocol_write_hello(struct tt_byte_writer *parcel);
/* Reads a HELLO after its kind. FORMAT if it is malformed, with a sentence for the peer: wrong version or byte order. */
TUTTI_CHECKED enum tutti_err tt_node_protocol_read_hello(struct tt_byte_reader *in);

/* These functions parse without sockets and without allocating. False: not a message of a run with `ranks` ranks. */

struct tt_node_ready {
    uint32_t rank;
    int port;
    uint8_t key[TUTTI_KEY_SIZE];
    bool is_confined;
};
bool tt_node_protocol_read_ready(struct tt_byte_reader *in, int ranks, struct tt_node_ready *ready);

struct tt_node_lost {
    uint32_t rank;
    uint8_t how; /* enum tt_node_loss, or an unknown number */
    uint32_t detail, component;
    double t;
    uint64_t step;
    enum tutti_err err;  /* never OK */
    const char *message; /* in the bytes that were read; NULL: none */
};
bool tt_node_protocol_read_lost(struct tt_byte_reader *in, int ranks, struct tt_node_lost *lost);

struct tt_node_denied {
    uint32_t rank;
    struct tt_denial denial;
};
bool tt_node_protocol_read_denied(struct tt_byte_reader *in, int ranks, struct tt_node_denied *denied);

/* To the end of the message; `peers` has room for all ranks. */
bool tt_node_protocol_read_peers(struct tt_byte_reader *in, int ranks, bool *meets_all, uint8_t hub_key[TUTTI_KEY_SIZE],
                                 struct tt_tcp_peer *peers);

/* Sends the parcel by a ZeroMQ socket, after `id` (of `id_size` bytes; NULL: none) for a ROUTER. False: the peer is
 * gone, or accepts no more. */
bool tt_node_protocol_send(void *socket, const void *id, size_t id_size, const struct tt_byte_writer *parcel);
/* Limits, heartbeats, no waiting at the end: equal on both sides. `endpoint` is that to bind or connect to. */
TUTTI_CHECKED enum tutti_err tt_node_protocol_configure_socket(void *socket, const char *endpoint);

/* The part of a run for workers only: options, names of files, placement. The daemon forwards it unchanged. Files are
 * numbers here: number n is the file FOLDER/n on the node's disk, whatever its name. */

/* A name that a file goes by. */
struct tt_node_name {
    const char *name;
    uint32_t file;
    bool system;
};

struct tt_node_job {
    struct tutti_run_options options; /* with aliases: names to files */
    struct tutti_log log;             /* options.log points to it, if there is one */
    int32_t *place;                   /* per component */
    uint32_t place_count;
    struct tt_arena arena;
};

TUTTI_CHECKED enum tutti_err tt_node_protocol_write_job(const struct tutti_run_options *options,
                                                        const struct tt_node_name *names, uint32_t name_count,
                                                        const int32_t *place, uint32_t place_count,
                                                        struct tt_byte_writer *parcel);
/* `folder` is where files lie. FORMAT. tt_node_protocol_free_job follows in any case. `job` must not move. */
TUTTI_CHECKED enum tutti_err tt_node_protocol_read_job(struct tt_node_job *job, const void *bytes, size_t size,
                                                       const char *folder, int ranks);
void tt_node_protocol_free_job(struct tt_node_job *job);

#endif
