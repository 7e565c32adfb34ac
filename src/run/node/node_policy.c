/* SPDX-License-Identifier: MIT */
#include "run/node/node_policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The rules as a policy; tt_policy_fini follows in any case. */
static enum tutti_err build_confinement_policy(const struct tt_node_rules *rules, struct tt_policy *policy)
{
    tt_policy_init(policy);
    for (size_t i = 0; i < rules->permit_count; i++)
        TRY(tt_policy_allow(policy, rules->permits[i]));
    return rules->limits ? tt_policy_read_limits(&policy->limits, rules->limits) : TUTTI_OK;
}

enum tutti_err tt_node_policy_check_rules(const struct tt_node_rules *rules, const struct tutti_log *log)
{
    struct tt_policy policy;
    enum tutti_err err = build_confinement_policy(rules, &policy);
    tt_policy_fini(&policy);
    TRY(err);
    if (rules->how == TUTTI_CONFINE_NONE && (rules->permit_count > 0 || rules->limits))
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s has no effect with --confine none; leave it out",
                       rules->permit_count > 0 ? "--permit" : "--limits");
    /* A node that cannot confine still runs what it offers itself. */
    if (tt_sandbox_check(rules->how, log))
        tt_log(log, TUTTI_LOG_WARNING, NULL, "FMUs that runs bring will be refused: %s", tutti_err_message());
    return TUTTI_OK;
}

void tt_node_policy_pack_rules(const struct tt_node_rules *rules, struct tt_byte_writer *parcel)
{
    tt_bytes_put_u8(parcel, (uint8_t)rules->how);
    tt_bytes_put_u32(parcel, (uint32_t)rules->permit_count);
    for (size_t i = 0; i < rules->permit_count; i++)
        tt_bytes_put_text(parcel, rules->permits[i]);
    tt_bytes_put_text(parcel, rules->limits);
}

enum tutti_err tt_node_policy_unpack_rules(struct tt_node_rules *rules, struct tt_byte_reader *in,
                                           struct tt_arena *arena)
{
    *rules = (struct tt_node_rules){.how = (enum tt_confine)tt_bytes_get_u8(in)};
    uint32_t count = tt_bytes_get_u32(in);
    in->bad = in->bad || rules->how > TUTTI_CONFINE_STRICT || count > (size_t)(in->end - in->at);
    if (in->bad)
        return TUTTI_OK;
    const char **permits = tt_arena_array(arena, count + 1, sizeof *permits);
    if (!permits)
        return tt_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        permits[i] = tt_bytes_get_text(in);
        in->bad = in->bad || !permits[i];
    }
    rules->permits = permits;
    rules->permit_count = count;
    rules->limits = tt_bytes_get_text(in);
    return TUTTI_OK;
}

/* ---- in a worker ---- */

/* Where the file of an FMU lies, links resolved; NULL: not known. */
static const char *rules_find_file(const struct tt_system *system, const struct tt_fmu *fmu)
{
    for (uint32_t i = 0; i < system->file_count; i++)
        if (system->files[i].fmu && strcmp(system->files[i].name, fmu->path) == 0)
            return system->files[i].path;
    return NULL;
}

/* The daemon has laid files of runs into the run's folder, and links to what it offers: no run makes any. */
static bool is_offered_file(const struct tt_job *job, const char *file)
{
    for (size_t i = 0; i < job->options.alias_count; i++) {
        struct stat status;
        const char *path = job->options.aliases[i].path;
        char *real = lstat(path, &status) == 0 && S_ISLNK(status.st_mode) ? realpath(path, NULL) : NULL;
        bool same = real && strcmp(real, file) == 0;
        free(real);
        if (same)
            return true;
    }
    return false;
}

static bool has_foreign_fmu(const struct tt_job *job, int rank)
{
    for (uint32_t c = 0; c < job->system->component_count; c++) {
        const char *file = rules_find_file(job->system, job->system->components[c].fmu);
        if (job->place[c] == rank && (!file || !is_offered_file(job, file)))
            return true;
    }
    return false;
}

/* What the run asks for, within what the node permits. */
static enum tutti_err rules_restrict_request(const struct tt_node_rules *rules, const struct tt_job *job, int rank,
                                             bool is_held, struct tt_policy *policy)
{
    struct tt_policy mine;
    TRY(tt_confined_check(job));
    TRY(tt_confined_policy(policy, job, rank));
    enum tutti_err err = build_confinement_policy(rules, &mine);
    if (!err && is_held)
        err = tt_policy_check_within(policy, &mine);
    if (!err && is_held)
        tt_policy_lower_limits(&policy->limits, &mine.limits);
    tt_policy_fini(&mine);
    return err;
}

enum tutti_err tt_node_policy_apply_rules(const struct tt_node_rules *rules, const struct tt_job *job, int rank,
                                          const char *scratch, struct tt_denials *denials,
                                          const _Atomic uint32_t *component, struct tt_sandbox *confinement,
                                          enum tt_confine *how)
{
    TRY(tt_confined_read(&job->options, how));
    bool is_held = rules->how != TUTTI_CONFINE_NONE && has_foreign_fmu(job, rank);
    if (is_held && rules->how > *how)
        *how = rules->how;
    if (*how == TUTTI_CONFINE_NONE)
        return TUTTI_OK;
    struct tt_policy *policy = &confinement->policy;
    TRY(rules_restrict_request(rules, job, rank, is_held, policy));
    TRY(tt_confined_add_folders(policy, job, rank));
    TRY(tt_confined_allow_forks(policy, job));
    if (mkdir(scratch, S_IRWXU) != 0)
        return tt_fail(TUTTI_ERR_IO, "cannot make the folder %s: %s", scratch, strerror(errno));
    policy->scratch = tt_arena_copy_text(&policy->arena, scratch, strlen(scratch));
    if (!policy->scratch)
        return tt_fail_memory();
    TRY(tt_policy_add(policy, scratch, true, false));
    return tt_sandbox_restrict_files(confinement, *how, denials, component, true);
}
