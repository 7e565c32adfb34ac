/* SPDX-License-Identifier: MIT */
/* node.h - a machine that works for others: `tutti node`. Whoever may connect can have ranks of a run here, and with them run any
 * code that is in an FMU, as the user that the node runs as.
 *
 * Beyond this machine's loopback only those are let in whose keys were allowed, and everything is encrypted. */
#ifndef TUTTI_CONDUCT_NODE_H
#define TUTTI_CONDUCT_NODE_H

#include <signal.h>

#include "base/log.h"

struct tutti_node_options {
    const char *listen;       /* "HOST:PORT"; port 0: any that is free */
    const char *key;          /* file with the node's secret key; NULL: none, on loopback only */
    const char *const *allow; /* files with public keys of those who may use it */
    size_t allow_count;
    const char *const *offers; /* FMUs that can be used here and are not given away */
    size_t offer_count;
    const char *cache;         /* folder for files that runs bring */
    const char *const *worker; /* the command that calls tutti_node_worker, ended by NULL; [0] is the program's path */
    const struct tutti_log *log;            /* a line per run; NULL: silent */
    const volatile sig_atomic_t *interrupt; /* the node ends once this is not 0 */
};

/* Serves until it is interrupted. ARGUMENT where it would be open to strangers; IO if it cannot listen there. */
TUTTI_CHECKED enum tutti_err tutti_node_serve(const struct tutti_node_options *options);

#endif
