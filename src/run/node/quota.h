/* SPDX-License-Identifier: MIT */
/* quota.h - what users of a node may have of it. A file says so, a line per user:
 *
 *     anna.pub          runs=4 ranks=16 seconds=3600 memory=8G
 *     5f2c...(64)       ranks=2                # by the public key
 *     *                 runs=1 seconds=600     # all others
 */
#ifndef TT_RUN_NODE_QUOTA_H
#define TT_RUN_NODE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "sim/ranks/curve_keys.h"

/* 0 everywhere: no limit of its own. */
struct tt_quota {
    uint32_t runs, ranks; /* at a time */
    double seconds;       /* of a run */
    uint64_t memory;      /* bytes of a run */
};

/* One whose key was allowed. */
struct tt_node_user {
    char name[64];
    uint8_t key[TUTTI_KEY_SIZE];
};

struct tt_quotas {
    struct tt_quota_entry *entries;
    size_t count;
};

/* Reads the file. Each line has to be about one of the users, or all others. ARGUMENT. tt_node_policy_free_quotas follows in any case. */
TUTTI_CHECKED enum tutti_err tt_node_policy_read_quotas(struct tt_quotas *quotas, const char *path,
                                                        const struct tt_node_user *users, size_t user_count);
void tt_node_policy_free_quotas(struct tt_quotas *quotas);
/* What the user may have; a file that does not speak of them gives no limit. */
struct tt_quota tt_node_policy_find_quota(const struct tt_quotas *quotas, const char *user);

/* "500M", "2.5G", "1000"; K, M, G, T are powers of 1000. */
bool tt_node_policy_parse_size(const char *text, uint64_t *size);

#endif
