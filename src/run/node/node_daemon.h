/* SPDX-License-Identifier: MIT */
/* node_daemon.h - a machine that runs ranks for peers: `tutti node`. A permitted peer can run ranks here, and with them
 * any code in an FMU, as the user of the node.
 *
 * Only peers with permitted keys are admitted, and everything is encrypted. A node on this machine's loopback without a
 * key file uses the key of the user (key_files.h), and admits no other user: loopback is open to all users of a
 * machine. */
#ifndef TT_RUN_NODE_NODE_DAEMON_H
#define TT_RUN_NODE_NODE_DAEMON_H

#include "run/node/daemon.h"

/* Serves until it is interrupted. The process is the node's: children that it did not start are killed. ARGUMENT where it would be open to strangers; IO if it cannot listen there. */
TUTTI_CHECKED enum tutti_err tt_node_daemon_serve(const struct tt_node_options *options);

#endif
