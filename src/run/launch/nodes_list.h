/* SPDX-License-Identifier: MIT */
/* nodes_list.h - which nodes a run is to use: "HOST:PORT,HOST:PORT", or a file with a line per node,
 *
 *     HOST:PORT [PUBLICKEY] [ranks=N]     # a comment
 *
 * A node that is named twice has two ranks. Ranks are numbered in the order of the list. */
#ifndef TT_RUN_LAUNCH_NODES_LIST_H
#define TT_RUN_LAUNCH_NODES_LIST_H

#include "base/address.h"
#include "run/node/node_protocol.h"
#include "sim/ranks/curve_auth.h"

struct tt_nodes_entry {
    struct tt_address address;
    bool has_key; /* the key is in the list; false: a node of this user on this machine */
    uint8_t key[TUTTI_KEY_SIZE];
    int *ranks; /* that it has, rising */
    int rank_count;
};

struct tt_nodes_list {
    struct tt_nodes_entry *entries; /* each node once */
    size_t count, room;
    int ranks;
};

/* ARGUMENT, with file and line. tt_nodes_list_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_nodes_list_read(struct tt_nodes_list *list, const char *text);
/* Removes one of several; ranks are renumbered. */
void tt_nodes_list_remove(struct tt_nodes_list *list, size_t entry);
void tt_nodes_list_fini(struct tt_nodes_list *list);

#endif
