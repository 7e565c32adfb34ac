/* SPDX-License-Identifier: MIT */
#include "conduct/node/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The rules as a policy; tutti_policy_fini follows in any case. */
static enum tutti_err make_policy(const struct tutti_node_rules *rules, struct tutti_policy *policy)
{
    tutti_policy_init(policy);
    for (size_t i = 0; i < rules->permit_count; i++)
        TRY(tutti_policy_allow(policy, rules->permits[i]));
    return rules->limits ? tutti_limits_read(&policy->limits, rules->limits) : TUTTI_OK;
}

enum tutti_err tutti_node_rules_check(const struct tutti_node_rules *rules, const struct tutti_log *log)
{
    struct tutti_policy policy;
    enum tutti_err err = make_policy(rules, &policy);
    tutti_policy_fini(&policy);
    TRY(err);
    if (rules->how == TUTTI_CONFINE_NONE && (rules->permit_count > 0 || rules->limits))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s has no effect with --confine none; leave it out",
                          rules->permit_count > 0 ? "--permit" : "--limits");
    /* A node that cannot confine still runs what it offers itself. */
    if (tutti_confine_check(rules->how, log))
        tutti_log_printf(log, TUTTI_LOG_WARNING, NULL, "FMUs that runs bring will be refused: %s", tutti_err_message());
    return TUTTI_OK;
}

void tutti_node_rules_pack(const struct tutti_node_rules *rules, struct tutti_parcel *parcel)
{
    tutti_parcel_put_u8(parcel, (uint8_t)rules->how);
    tutti_parcel_put_u32(parcel, (uint32_t)rules->permit_count);
    for (size_t i = 0; i < rules->permit_count; i++)
        tutti_parcel_put_text(parcel, rules->permits[i]);
    tutti_parcel_put_text(parcel, rules->limits);
}

enum tutti_err tutti_node_rules_unpack(struct tutti_node_rules *rules, struct tutti_unparcel *in,
                                       struct tutti_arena *arena)
{
    *rules = (struct tutti_node_rules){.how = (enum tutti_confine)tutti_unparcel_u8(in)};
    uint32_t count = tutti_unparcel_u32(in);
    in->bad = in->bad || rules->how > TUTTI_CONFINE_STRICT || count > (size_t)(in->end - in->at);
    if (in->bad)
        return TUTTI_OK;
    const char **permits = tutti_arena_array(arena, count + 1, sizeof *permits);
    if (!permits)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        permits[i] = tutti_unparcel_text(in);
        in->bad = in->bad || !permits[i];
    }
    rules->permits = permits;
    rules->permit_count = count;
    rules->limits = tutti_unparcel_text(in);
    return TUTTI_OK;
}

/* ---- in a worker ---- */

/* Where the file of an FMU lies, links resolved; NULL: not known. */
static const char *find_file(const struct tutti_system *system, const struct tutti_fmu *fmu)
{
    for (uint32_t i = 0; i < system->file_count; i++)
        if (system->files[i].fmu && strcmp(system->files[i].name, fmu->path) == 0)
            return system->files[i].path;
    return NULL;
}

/* The daemon has laid files of runs into the run's folder, and links to what it offers: no run makes any. */
static bool is_offered(const struct tutti_job *job, const char *file)
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

static bool has_foreign(const struct tutti_job *job, int rank)
{
    for (uint32_t c = 0; c < job->system->component_count; c++) {
        const char *file = find_file(job->system, job->system->components[c].fmu);
        if (job->place[c] == rank && (!file || !is_offered(job, file)))
            return true;
    }
    return false;
}

/* What the run asks for, within what the node permits. */
static enum tutti_err settle(const struct tutti_node_rules *rules, const struct tutti_job *job, int rank, bool is_held,
                             struct tutti_policy *policy)
{
    struct tutti_policy mine;
    TRY(tutti_confined_check(job));
    TRY(tutti_confined_policy(policy, job, rank));
    enum tutti_err err = make_policy(rules, &mine);
    if (!err && is_held)
        err = tutti_policy_check_within(policy, &mine);
    if (!err && is_held)
        tutti_limits_lower(&policy->limits, &mine.limits);
    tutti_policy_fini(&mine);
    return err;
}

enum tutti_err tutti_node_rules_apply(const struct tutti_node_rules *rules, const struct tutti_job *job, int rank,
                                      const char *scratch, struct tutti_denials *denials,
                                      const _Atomic uint32_t *component, struct tutti_confinement *confinement,
                                      enum tutti_confine *how)
{
    TRY(tutti_confined_read(&job->options, how));
    bool is_held = rules->how != TUTTI_CONFINE_NONE && has_foreign(job, rank);
    if (is_held && rules->how > *how)
        *how = rules->how;
    if (*how == TUTTI_CONFINE_NONE)
        return TUTTI_OK;
    struct tutti_policy *policy = &confinement->policy;
    TRY(settle(rules, job, rank, is_held, policy));
    TRY(tutti_confined_add_folders(policy, job, rank));
    TRY(tutti_confined_let_units_fork(policy, job));
    if (mkdir(scratch, S_IRWXU) != 0)
        return tutti_fail(TUTTI_ERR_IO, "cannot make the folder %s: %s", scratch, strerror(errno));
    policy->scratch = tutti_arena_text(&policy->arena, scratch, strlen(scratch));
    if (!policy->scratch)
        return tutti_fail_memory();
    TRY(tutti_policy_add(policy, scratch, true, false));
    return tutti_confine_files(confinement, *how, denials, component, true);
}
