/* SPDX-License-Identifier: MIT */
/* node_policy.h - the rules of a node's owner for FMUs that runs bring. The daemon passes the rules to its workers,
 * which enforce them before code of an FMU runs. A run may request less than they permit, never more. They do not apply
 * to FMUs that the node offers. */
#ifndef TT_RUN_NODE_NODE_POLICY_H
#define TT_RUN_NODE_NODE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "model/system/system.h"
#include "run/confined.h"
#include "run/content.h"
#include "sim/ranks/curve_auth.h"

struct tt_node_rules {
    enum tt_confine how;        /* --confine */
    const char *const *permits; /* --permit: the values that runs may --allow */
    size_t permit_count;
    const char *limits; /* --limits; NULL: the usual ones */
};

/* Checks that the rules are valid and that this machine can enforce them. ARGUMENT, naming what is missing. */
TUTTI_CHECKED enum tutti_err tt_node_policy_check_rules(const struct tt_node_rules *rules, const struct tutti_log *log);

void tt_node_policy_pack_rules(const struct tt_node_rules *rules, struct tt_byte_writer *parcel);
/* Texts point into the bytes; the list is in the arena. MEMORY; otherwise in->bad reports malformed input. */
TUTTI_CHECKED enum tutti_err tt_node_policy_unpack_rules(struct tt_node_rules *rules, struct tt_byte_reader *in,
                                                         struct tt_arena *arena);

/* In a worker with one thread: the first step of its confinement (sandbox.h), by the rules and the run's options.
 * `scratch` is a folder to create. *how is NONE if it is not confined. UNSUPPORTED if the run requests more than the
 * node permits. */
TUTTI_CHECKED enum tutti_err tt_node_policy_apply_rules(const struct tt_node_rules *rules, const struct tt_job *job,
                                                        int rank, const char *scratch, struct tt_denials *denials,
                                                        const _Atomic uint32_t *component,
                                                        struct tt_sandbox *confinement, enum tt_confine *how);

/* The FMUs that may run on a node, by their SHA-256: a list in a file, as `sha256sum` writes it. The daemon passes it
 * to its workers, which check their loaded FMUs before any code of these runs. */

struct tt_permitted_fmus {
    bool all; /* no list: all are permitted */
    uint8_t (*hashes)[TUTTI_CONTENT_SIZE];
    size_t count, room;
};

/* Adds what the file lists: "HASH", or "HASH  NAME". ARGUMENT. tt_node_policy_free_permitted follows in any case. */
TUTTI_CHECKED enum tutti_err tt_node_policy_read_permitted(struct tt_permitted_fmus *permitted, const char *path);
TUTTI_CHECKED enum tutti_err tt_node_policy_permit(struct tt_permitted_fmus *permitted,
                                                   const uint8_t hash[TUTTI_CONTENT_SIZE]);
void tt_node_policy_free_permitted(struct tt_permitted_fmus *permitted);

void tt_node_policy_pack_permitted(const struct tt_permitted_fmus *permitted, struct tt_byte_writer *parcel);
/* MEMORY; otherwise in->bad reports malformed input. tt_node_policy_free_permitted follows in any case. */
TUTTI_CHECKED enum tutti_err tt_node_policy_unpack_permitted(struct tt_permitted_fmus *permitted,
                                                             struct tt_byte_reader *in);

/* UNSUPPORTED, naming it, if the system has an FMU that is not on the list. */
TUTTI_CHECKED enum tutti_err tt_node_policy_check_permitted(const struct tt_permitted_fmus *permitted,
                                                            const struct tt_system *system);

/* Quotas of the users of a node, from a file with a line per user:
 *
 *     anna.pub          runs=4 ranks=16 seconds=3600 memory=8G
 *     5f2c...(64)       ranks=2                # by the public key
 *     *                 runs=1 seconds=600     # all others */

/* Fields of 0: unlimited. */
struct tt_quota {
    uint32_t runs, ranks; /* at a time */
    double seconds;       /* of a run */
    uint64_t memory;      /* bytes of a run */
};

/* A user whose key is permitted. */
struct tt_node_user {
    char name[64];
    uint8_t key[TUTTI_KEY_SIZE];
};

struct tt_quotas {
    struct tt_quota_entry *entries;
    size_t count, room;
};

/* Reads the file. Each line has to be about one of the users, or all others. ARGUMENT. tt_node_policy_free_quotas follows in any case. */
TUTTI_CHECKED enum tutti_err tt_node_policy_read_quotas(struct tt_quotas *quotas, const char *path,
                                                        const struct tt_node_user *users, size_t user_count);
void tt_node_policy_free_quotas(struct tt_quotas *quotas);
/* Returns the quota of the user; unlimited if the file does not mention the user. */
struct tt_quota tt_node_policy_find_quota(const struct tt_quotas *quotas, const char *user);

/* "500M", "2.5G", "1000"; K, M, G, T are powers of 1000. */
bool tt_node_policy_parse_size(const char *text, uint64_t *size);

#endif
