/* SPDX-License-Identifier: MIT */
#include "run/node/node_policy.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"
#include "run/list_file.h"

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

/* Limits the requested permissions to those of the node. */
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

enum tutti_err tt_node_policy_permit(struct tt_permitted_fmus *permitted, const uint8_t hash[TUTTI_CONTENT_SIZE])
{
    if (!tt_vector_reserve(&permitted->hashes, &permitted->room, permitted->count + 1, sizeof *permitted->hashes))
        return tt_fail_memory();
    memcpy(permitted->hashes[permitted->count++], hash, TUTTI_CONTENT_SIZE);
    return TUTTI_OK;
}

static enum tutti_err permitted_parse_line(void *context, char *line, const char *place)
{
    uint8_t hash[TUTTI_CONTENT_SIZE];
    size_t length = strcspn(line, " \t"), read = 0;
    if (length != 2 * sizeof hash || sodium_hex2bin(hash, sizeof hash, line, length, NULL, &read, NULL) != 0 ||
        read != sizeof hash)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is no SHA-256 (64 hexadecimal digits), as sha256sum writes it",
                       place, tt_text_excerpt(line).text);
    return tt_node_policy_permit(context, hash);
}

enum tutti_err tt_node_policy_read_permitted(struct tt_permitted_fmus *permitted, const char *path)
{
    return tt_list_file_read(
        &(struct tt_list_file){"--allow-fmu", "a line is a SHA-256", permitted_parse_line, permitted}, path);
}

void tt_node_policy_free_permitted(struct tt_permitted_fmus *permitted)
{
    free(permitted->hashes);
    *permitted = (struct tt_permitted_fmus){0};
}

void tt_node_policy_pack_permitted(const struct tt_permitted_fmus *permitted, struct tt_byte_writer *parcel)
{
    tt_bytes_put_u8(parcel, permitted->all);
    tt_bytes_put_block(parcel, permitted->hashes, permitted->count * sizeof *permitted->hashes);
}

enum tutti_err tt_node_policy_unpack_permitted(struct tt_permitted_fmus *permitted, struct tt_byte_reader *in)
{
    size_t size;
    *permitted = (struct tt_permitted_fmus){.all = tt_bytes_get_u8(in) != 0};
    const void *hashes = tt_bytes_get_block(in, &size);
    if (!hashes || size == 0)
        return TUTTI_OK;
    permitted->hashes = malloc(size);
    if (!permitted->hashes)
        return tt_fail_memory();
    memcpy(permitted->hashes, hashes, size);
    permitted->count = size / sizeof *permitted->hashes;
    return TUTTI_OK;
}

static bool permitted_contains(const struct tt_permitted_fmus *permitted, const struct tt_content *content)
{
    for (size_t i = 0; i < permitted->count; i++)
        if (memcmp(permitted->hashes[i], content->hash, sizeof content->hash) == 0)
            return true;
    return false;
}

enum tutti_err tt_node_policy_check_permitted(const struct tt_permitted_fmus *permitted, const struct tt_system *system)
{
    for (uint32_t i = 0; i < system->file_count && !permitted->all; i++) {
        const struct tt_system_file *file = &system->files[i];
        struct tt_content content;
        char digits[TUTTI_CONTENT_TEXT];
        if (!file->fmu)
            continue;
        TRY(tt_content_of_file(&content, file->path)); /* only a plain file can be on the list */
        tt_content_format(&content, digits);
        if (!permitted_contains(permitted, &content))
            return tt_fail(
                TUTTI_ERR_UNSUPPORTED,
                "this node runs only the FMUs that its owner has listed, and %s is none of them; its SHA-256 "
                "is %s",
                file->name, digits);
    }
    return TUTTI_OK;
}

#define OTHERS "*"

struct tt_quota_entry {
    char name[sizeof((struct tt_node_user *)0)->name];
    struct tt_quota quota;
};

struct quota_reader {
    struct tt_quotas *quotas;
    const struct tt_node_user *users;
    size_t user_count;
};

bool tt_node_policy_parse_size(const char *text, uint64_t *size)
{
    static const char units[] = "KMGT";
    size_t length = strlen(text);
    double value, factor = 1;
    const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        factor *= 1000;
    if (!tt_number_read_double(text, length - (unit != NULL), &value) || !(value >= 0) || !(value * factor < 1e18))
        return false;
    *size = (uint64_t)(value * factor);
    return true;
}

static bool quota_read_count(const char *text, uint32_t *count)
{
    uint64_t value;
    if (!tt_number_read_uint(text, strlen(text), &value) || value == 0 || value > UINT32_MAX)
        return false;
    *count = (uint32_t)value;
    return true;
}

/* "ranks=4" */
static bool quota_read_word(struct tt_quota *quota, const char *word)
{
    const char *value = strchr(word, '=');
    size_t length = value ? (size_t)(value++ - word) : 0;
    if (length == 4 && strncmp(word, "runs", 4) == 0)
        return quota_read_count(value, &quota->runs);
    if (length == 5 && strncmp(word, "ranks", 5) == 0)
        return quota_read_count(value, &quota->ranks);
    if (length == 7 && strncmp(word, "seconds", 7) == 0)
        return tt_number_read_double(value, strlen(value), &quota->seconds) && quota->seconds > 0;
    return length == 6 && strncmp(word, "memory", 6) == 0 && tt_node_policy_parse_size(value, &quota->memory) &&
           quota->memory > 0;
}

/* Returns the user's name in the file, by name or by key; NULL if there is none. */
static const char *find_quota_user(const struct quota_reader *reading, const char *word)
{
    uint8_t key[TUTTI_KEY_SIZE];
    bool is_key = tt_curve_auth_parse_key(word, key) == TUTTI_OK;
    for (size_t i = 0; i < reading->user_count; i++)
        if (is_key ? memcmp(reading->users[i].key, key, sizeof key) == 0 : strcmp(reading->users[i].name, word) == 0)
            return reading->users[i].name;
    return strcmp(word, OTHERS) == 0 ? OTHERS : NULL;
}

static enum tutti_err quota_parse_line(void *context, char *line, const char *place)
{
    struct quota_reader *reading = context;
    struct tt_quotas *quotas = reading->quotas;
    struct tt_quota_entry entry = {.quota = {0}};
    char *next, *user = strtok_r(line, " \t", &next);
    const char *name = find_quota_user(reading, user);
    if (!name)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "%s: '%s' is no user of the node: name the file or the public key of an --allow, or %s for all "
                       "others",
                       place, tt_text_excerpt(user).text, OTHERS);
    snprintf(entry.name, sizeof entry.name, "%s", name);
    for (const char *word; (word = strtok_r(NULL, " \t", &next));)
        if (!quota_read_word(&entry.quota, word))
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "%s: '%s' is none of runs=N, ranks=N, seconds=S, memory=SIZE (500M, 10G)", place,
                           tt_text_excerpt(word).text);
    for (size_t i = 0; i < quotas->count; i++)
        if (strcmp(quotas->entries[i].name, name) == 0)
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is another line for %s", place, name);
    if (!tt_vector_reserve(&quotas->entries, &quotas->room, quotas->count + 1, sizeof *quotas->entries))
        return tt_fail_memory();
    quotas->entries[quotas->count++] = entry;
    return TUTTI_OK;
}

enum tutti_err tt_node_policy_read_quotas(struct tt_quotas *quotas, const char *path, const struct tt_node_user *users,
                                          size_t user_count)
{
    struct quota_reader reading = {quotas, users, user_count};
    *quotas = (struct tt_quotas){0};
    return tt_list_file_read(&(struct tt_list_file){"--quota", "a line is USER runs=N ranks=N seconds=S memory=SIZE",
                                                    quota_parse_line, &reading},
                             path);
}

void tt_node_policy_free_quotas(struct tt_quotas *quotas)
{
    free(quotas->entries);
    *quotas = (struct tt_quotas){0};
}

struct tt_quota tt_node_policy_find_quota(const struct tt_quotas *quotas, const char *user)
{
    struct tt_quota found = {0};
    for (size_t i = 0; i < quotas->count; i++) {
        if (strcmp(quotas->entries[i].name, user) == 0)
            return quotas->entries[i].quota;
        if (strcmp(quotas->entries[i].name, OTHERS) == 0)
            found = quotas->entries[i].quota;
    }
    return found;
}
