/* SPDX-License-Identifier: MIT */
/* policy.h - the permissions of FMUs in a confined process, as plain data: the user's --allow and --limits, and the
 * folders that a run adds. */
#ifndef TT_BASE_SANDBOX_POLICY_H
#define TT_BASE_SANDBOX_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"

/* 0: no limit of this kind. */
struct tt_limits {
    uint64_t memory;    /* bytes that a worker may allocate beyond those it has when it is confined */
    uint64_t cpu;       /* seconds of processor time */
    uint64_t file;      /* bytes of a file */
    uint64_t scratch;   /* bytes of all files in its scratch folder */
    uint64_t processes; /* processes and threads */
};

/* A file or a folder with all that is below it. */
struct tt_allowed_path {
    char *path; /* absolute, links resolved; the arena's */
    bool write; /* else only read */
    bool run;   /* programs in it may be started */
};

struct tt_policy {
    bool net;       /* IPv4 and IPv6 */
    bool keeps_net; /* connections of ours are made between the two steps of a confinement (sandbox.h), and stay */
    bool fork;      /* processes, not only threads */
    bool exec;      /* programs; then also `fork` */
    struct tt_allowed_path *paths;
    size_t path_count, path_room;
    bool own_forks;      /* the worker's own code has units forked (tt_policy_allow_unit_forks) */
    const char *scratch; /* the folder that limits.scratch is about; NULL: none */
    struct tt_limits limits;
    struct tt_arena arena;
};

/* Nothing is allowed, and the limits are the usual ones: the memory of the machine, 1 GB per file, 4 GB in all, 256 processes. */
void tt_policy_init(struct tt_policy *policy);
void tt_policy_fini(struct tt_policy *policy);

/* Adds the permissions of a list: net, fork, exec, read:PATH, write:PATH, separated by commas (a path must not contain
 * one). ARGUMENT, also if a path does not exist. */
TUTTI_CHECKED enum tutti_err tt_policy_allow(struct tt_policy *policy, const char *list);
/* A path of ours; one that does not exist is passed over. Only MEMORY. */
TUTTI_CHECKED enum tutti_err tt_policy_add(struct tt_policy *policy, const char *path, bool write, bool run);
/* Adds the permissions that every program needs: the system's libraries, time zones, its own /proc. Call it after all
 * other permissions were added. */
TUTTI_CHECKED enum tutti_err tt_policy_add_system(struct tt_policy *policy);

/* Units are rolled back by forking (fmu/process/): permits the worker to fork, and to run this program, whose
 * permissions are unchanged otherwise. Files may have at least `size` bytes, for the shared memory. */
TUTTI_CHECKED enum tutti_err tt_policy_allow_unit_forks(struct tt_policy *policy, const char *program, uint64_t size);

/* Sets the limits of a list: memory=4G,cpu=3600,file=1G,scratch=4G,processes=64; none for no limit. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_policy_read_limits(struct tt_limits *limits, const char *list);
/* Of both the lower one. */
void tt_policy_lower_limits(struct tt_limits *limits, const struct tt_limits *other);

/* Returns true if the policy permits reading, or writing, `path`, which is absolute with its links resolved. */
bool tt_policy_allows(const struct tt_policy *policy, const char *path, bool write);
/* Returns true if the policy permits executing `path`. */
bool tt_policy_allows_run(const struct tt_policy *policy, const char *path);

/* Checks that all permissions a run requests are within the node's policy `mine`. UNSUPPORTED, naming the first other. */
TUTTI_CHECKED enum tutti_err tt_policy_check_within(const struct tt_policy *asked, const struct tt_policy *mine);

#endif
