/* SPDX-License-Identifier: MIT */
/* node_session.h - one connection to a node: handles its messages and its workers. */
#ifndef TT_RUN_NODE_NODE_SESSION_H
#define TT_RUN_NODE_NODE_SESSION_H

#include "run/node/daemon.h"
#include "run/node/worker_process.h"
#include "sim/ranks/tcp_fabric.h"

/* A worker, as its daemon sees it. */
struct tt_session_worker {
    int rank;
    pid_t pid;  /* 0: it has ended, or never began */
    int socket; /* -1: closed */
    int peers;  /* memory file; -1: handed over */
    struct tt_worker_page *page;
    struct tt_denials *denials;
    bool running;       /* it has received its peers */
    bool done;          /* it has reported its end, or a failure */
    bool told;          /* its end was reported to the runner */
    uint32_t denied;    /* number of denials reported to the runner */
    uint64_t beat;      /* the last one seen, */
    double beat_time;   /* time of the last heartbeat */
    double hangs_since; /* when it was requested to end because it hangs; 0: not */
};

struct tt_node_session {
    uint8_t id[256]; /* of the connection, for the ROUTER */
    size_t id_size;
    int fd;        /* of the connection, as the monitor names it */
    char peer[80]; /* its address: "10.0.0.7" */
    char user[64]; /* the name of the key that was allowed; "" without keys */
    bool greeted, over;
    bool begun;            /* all its workers were started */
    bool failed;           /* a worker of it was lost */
    double heard;          /* time of its last message */
    struct timespec since; /* the file system's time at its beginning: cache files that it needs were used later */
    struct tt_content_arrival *arrival; /* the file that is coming in; NULL: none */
    unsigned run;                       /* its number; 0: none has been started */
    double began;
    uint8_t run_id[TUTTI_TCP_RUN_ID];
    bool keys;
    int ranks;
    double timeout;      /* 0: none */
    double max_seconds;  /* that it may take; 0: any */
    uint64_t max_memory; /* bytes that it may use; 0: any */
    double checked_at;   /* when that was looked at last */
    double stopped_at;   /* when it was too much; 0: it was not */
    char *folder;        /* of the run; NULL: none */
    struct tt_session_worker *workers;
    uint32_t worker_count;
};

/* Handles one message of the session. A fault is reported to the runner, and ends the session (session->over). */
void tt_node_session_receive(struct tt_node_daemon *node, struct tt_node_session *session, const void *bytes,
                             size_t size);
/* Tells the runner the error that this thread has met, and ends the session. */
void tt_node_session_reject(struct tt_node_daemon *node, struct tt_node_session *session, enum tutti_err err);
/* Returns true if its run has begun. */
bool tt_node_session_is_running(const struct tt_node_session *session);
/* Looks after its workers. */
void tt_node_session_check_workers(struct tt_node_daemon *node, struct tt_node_session *session);
void tt_node_session_free(struct tt_node_daemon *node, struct tt_node_session *session);

#endif
