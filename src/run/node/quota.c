/* SPDX-License-Identifier: MIT */
#include "run/node/quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "run/list_file.h"

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

/* The name that the user has here, by name or by key; NULL: there is none. */
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
    struct tt_quota_entry *entries = reallocarray(quotas->entries, quotas->count + 1, sizeof *entries);
    if (!entries)
        return tt_fail_memory();
    quotas->entries = entries;
    entries[quotas->count++] = entry;
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
