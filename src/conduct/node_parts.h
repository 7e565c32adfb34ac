/* SPDX-License-Identifier: MIT */
/* node_parts.h - private to node*.c: the daemon, its sessions and its workers.
 *
 * Invariants:
 *  N1  One thread; nothing in it waits for a runner or a worker.
 *  N2  A session is one connection and one run. When it goes, its workers are killed and its folder is removed.
 *  N3  What comes in is hostile: sizes are bounded before memory is taken, no text becomes a path. */
#ifndef TUTTI_CONDUCT_NODE_PARTS_H
#define TUTTI_CONDUCT_NODE_PARTS_H

#include <sys/types.h>
#include <time.h>

#include "conduct/content.h"
#include "conduct/node.h"
#include "conduct/node_messages.h"
#include "conduct/node_worker.h"
#include "fabric/tcp.h"
#include "fabric/zap.h"

enum { TUTTI_NODE_MOST_SESSIONS = 256 };

/* An FMU that stays here, and the archive with nothing but its description that others get. */
struct tutti_offer {
    char *name;                   /* "engine.fmu" */
    char *path;                   /* absolute */
    char *stand;                  /* path of the stand-in */
    struct tutti_content content; /* of the stand-in */
    off_t size;                   /* of the file, and when it was changed: it must stay as it is */
    struct timespec changed;
};

/* A worker, as its daemon sees it. */
struct tutti_watched {
    int rank;
    pid_t pid;  /* 0: it has ended, or never began */
    int socket; /* -1: closed */
    int peers;  /* memory file; -1: handed over */
    struct tutti_worker_page *page;
    bool running;       /* it has been told its peers */
    bool done;          /* it has said so, or has said why not */
    bool told;          /* its end has been told to the runner */
    uint64_t beat;      /* the last one seen, */
    double beat_time;   /* ... and when */
    double hangs_since; /* when it was asked to end, because no other came; 0: not */
};

struct tutti_session {
    uint8_t id[256]; /* of the connection, for the ROUTER */
    size_t id_size;
    int fd;        /* of the connection, as the monitor names it */
    char peer[80]; /* its address: "10.0.0.7" */
    char user[64]; /* the name of the key that was allowed; "" without keys */
    bool greeted, over;
    struct tutti_arrival *arrival; /* the file that is coming in; NULL: none */
    unsigned run;                  /* its number; 0: none has been started */
    double began;
    uint8_t run_id[TUTTI_TCP_RUN_ID];
    bool keys;
    int ranks;
    double timeout; /* 0: none */
    char *folder;   /* of the run; NULL: none */
    struct tutti_watched *workers;
    uint32_t worker_count;
};

struct tutti_node {
    const struct tutti_node_options *options;
    struct tutti_node_address address; /* that it listens at, as numbers */
    bool loopback, has_keys;
    struct tutti_keys keys;
    struct tutti_cache *cache;
    struct tutti_offer *offers;
    size_t offer_count;
    void *context, *router, *monitor;
    struct tutti_zap *zap;
    struct tutti_session *sessions[TUTTI_NODE_MOST_SESSIONS];
    size_t session_count;
    unsigned runs;
    struct tutti_parcel parcel; /* for answers */
};

/* ---- node_offers.c ---- */

TUTTI_CHECKED enum tutti_err tutti_offers_open(struct tutti_node *node);
void tutti_offers_close(struct tutti_node *node);
/* ARGUMENT if the file is no longer what was offered. */
TUTTI_CHECKED enum tutti_err tutti_offer_check(const struct tutti_offer *offer);

/* ---- node_session.c ---- */

/* Handles one message of the session. What is wrong with it is told to the runner, and ends the session (session->over). */
void tutti_session_take(struct tutti_node *node, struct tutti_session *session, const void *bytes, size_t size);
/* Looks after its workers. */
void tutti_session_watch(struct tutti_node *node, struct tutti_session *session);
void tutti_session_free(struct tutti_node *node, struct tutti_session *session);

/* ---- node_start.c ---- */

/* START: files, and a worker per rank. */
TUTTI_CHECKED enum tutti_err tutti_session_start(struct tutti_node *node, struct tutti_session *session,
                                                 struct tutti_unparcel *in);
/* PEERS: to all workers, who go. */
TUTTI_CHECKED enum tutti_err tutti_session_go(struct tutti_session *session, const struct tutti_unparcel *in);

#endif
