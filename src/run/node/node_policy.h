/* SPDX-License-Identifier: MIT */
/* node_policy.h - what the owner of a node lets FMUs do that runs bring: the daemon has the rules, and hands them to its workers, which keep
 * to them before code of an FMU runs. A run may ask for less than they let it do, never for more. FMUs that the node offers are its owner's,
 * and not held to them. */
#ifndef TT_RUN_NODE_NODE_POLICY_H
#define TT_RUN_NODE_NODE_POLICY_H

#include "base/bytes.h"
#include "run/confined.h"

struct tt_node_rules {
    enum tt_confine how;        /* --confine */
    const char *const *permits; /* --permit: what runs may --allow */
    size_t permit_count;
    const char *limits; /* --limits; NULL: the usual ones */
};

/* Are they right, and can this machine keep to them? ARGUMENT. Says what is missing. */
TUTTI_CHECKED enum tutti_err tt_node_policy_check_rules(const struct tt_node_rules *rules, const struct tutti_log *log);

void tt_node_policy_pack_rules(const struct tt_node_rules *rules, struct tt_byte_writer *parcel);
/* Texts point into the bytes; the list is the arena's. MEMORY; else in->bad says whether it was sound. */
TUTTI_CHECKED enum tutti_err tt_node_policy_unpack_rules(struct tt_node_rules *rules, struct tt_byte_reader *in,
                                                         struct tt_arena *arena);

/* In a worker with one thread: the first step of its confinement (sandbox.h), as the rules and the run's options want it. `scratch` is
 * a folder to be made. *how is NONE if it is not confined. UNSUPPORTED if the run asks for more than the node permits. */
TUTTI_CHECKED enum tutti_err tt_node_policy_apply_rules(const struct tt_node_rules *rules, const struct tt_job *job,
                                                        int rank, const char *scratch, struct tt_denials *denials,
                                                        const _Atomic uint32_t *component,
                                                        struct tt_sandbox *confinement, enum tt_confine *how);

#endif
