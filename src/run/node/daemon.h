/* SPDX-License-Identifier: MIT */
/* daemon.h - the state of a node: its options, its offers, its sessions. Private to src/run/node.
 *
 * Invariants:
 *  N1  One thread, which never waits for a runner or a worker.
 *  N2  A session is one connection and one run. When it ends, its workers are killed, with all processes that they
 *      have started, and its folder is removed. Daemon and workers are subreapers: processes started by a worker's
 *      FMUs stay below the worker, and become the daemon's children once it has ended. So a child of the daemon that
 *      is not a worker must be killed. Between the two is a keeper (worker_process.h), which does this if the daemon
 *      is killed.
 *  N3  Input is untrusted: sizes are bounded before memory is allocated, and no text becomes a path. */
#ifndef TT_RUN_NODE_DAEMON_H
#define TT_RUN_NODE_DAEMON_H

#include <signal.h>
#include <sys/types.h>
#include <time.h>

#include "base/address.h"
#include "base/log.h"
#include "base/bytes.h"
#include "run/content.h"
#include "run/node/node_policy.h"
#include "run/node/counts.h"
#include "run/net/http.h"
#include "run/node/node_protocol.h"
#include "sim/ranks/curve_auth.h"
#include "sim/ranks/tcp_address.h"

enum {
    TUTTI_NODE_MOST_SESSIONS = 256,
    TUTTI_NODE_MOST_WAITING = 64 /* sessions of one user whose runs have not begun */
};

/* An event in the log of a node. */
struct tt_node_event {
    const char *name; /* "listening", "metrics", "begun", "over", "refused", "denied", "confinement",
                       * "stopped", "lost" */
    enum tutti_log_level level;
    unsigned run;            /* the node's number of the run; 0: none */
    const uint8_t *id;       /* of the run, TUTTI_TCP_RUN_ID bytes; NULL: none */
    const char *peer, *user; /* an address, the name of the key that was allowed; NULL or "": not known */
    const char *reason;      /* why, or how it ended; NULL: it needs none */
    const char *text;        /* all of it in words */
};

struct tt_node_options {
    const char *listen;       /* "HOST:PORT"; port 0: any that is free */
    const char *ports;        /* "5000-5100": where its ranks, and it itself if it has port 0, listen; NULL: anywhere */
    const char *key;          /* file with the node's secret key; NULL: that of the user, on loopback only */
    const char *const *allow; /* files with public keys of permitted users */
    size_t allow_count;
    const char *const *offers; /* FMUs that can be used here and are not given away */
    size_t offer_count;
    const char *cache;            /* folder for files that runs bring */
    uint64_t cache_size;          /* bytes that it may hold */
    double idle;                  /* seconds after which a silent runner without a run is disconnected */
    uint32_t max_runs;            /* at a time; 0: limited by the number of places only */
    uint32_t max_ranks;           /* of all runs at a time; 0: any */
    double max_seconds;           /* that a run may take; 0: any */
    uint64_t max_memory;          /* bytes that the processes of a run may use; 0: any */
    const char *quota;            /* file of user quotas (node_policy.h); NULL: none */
    const char *const *allow_fmu; /* files that list FMUs which may run (node_policy.h) */
    size_t allow_fmu_count;       /* 0: all may */
    struct tt_node_rules rules;   /* rules for FMUs that runs bring */
    const char *const *env;       /* names of variables (with * and ?) that workers get in addition to the usual ones */
    size_t env_count;
    const char *const
        *worker;         /* the command that calls tt_worker_process_run, ended by NULL; [0] is the program's path */
    const char *metrics; /* "HOST:PORT" or "PORT" of loopback, where /metrics and /health are answered; NULL: nowhere */
    void (*tell)(void *context, const struct tt_node_event *event); /* by any thread; NULL: silent */
    void *tell_context;
    const volatile sig_atomic_t *interrupt; /* the node ends once this is not 0 */
    const volatile sig_atomic_t *drain;     /* once this is not 0, it takes no new runs, and ends with the last */
};

/* An FMU that stays here, and the archive with only its description that runners get. */
struct tt_node_offer {
    char *name;                /* "engine.fmu" */
    char *path;                /* absolute */
    char *stand;               /* path of the stand-in */
    struct tt_content content; /* of the stand-in */
    off_t size;                /* of the file, and when it was changed: it must stay as it is */
    struct timespec changed;
};

struct tt_node_session;

struct tt_node_daemon {
    const struct tt_node_options *options;
    struct tt_port_range ports;
    struct tt_address address; /* that it listens at, as numbers */
    bool loopback;
    struct tt_curve_keys keys;
    struct tt_content_cache *cache;
    struct tt_node_offer *offers;
    size_t offer_count;
    void *context, *router, *monitor;
    struct tt_zap *zap;
    struct tutti_log zap_log;
    const struct tt_http_module *http_module;
    struct tt_http *http; /* NULL: none */
    struct tt_node_counts counts;
    struct tt_quotas quotas;
    struct tt_permitted_fmus permitted;
    double began;
    struct tt_node_session *sessions[TUTTI_NODE_MOST_SESSIONS];
    size_t session_count;
    unsigned runs;
    bool orphans;                 /* a worker has ended: processes that it has started may be left */
    struct tt_byte_writer parcel; /* for answers */
};

/* Logs an event; `format` makes its text. */
void tt_node_daemon_log(const struct tt_node_daemon *node, struct tt_node_event event, const char *format, ...)
    TUTTI_PRINTF(3, 4);

/* Fills node->offers. tt_node_daemon_close_offers follows in any case. */
TUTTI_CHECKED enum tutti_err tt_node_daemon_open_offers(struct tt_node_daemon *node);
void tt_node_daemon_close_offers(struct tt_node_daemon *node);
/* ARGUMENT if the file differs from the offered one. */
TUTTI_CHECKED enum tutti_err tt_node_daemon_check_offer(const struct tt_node_offer *offer);

#endif
