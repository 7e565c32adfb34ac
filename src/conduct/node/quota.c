/* SPDX-License-Identifier: MIT */
#include "conduct/node/quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "conduct/lines.h"

#define OTHERS "*"

struct tutti_quota_entry {
    char name[sizeof((struct tutti_node_user *)0)->name];
    struct tutti_quota quota;
};

struct reading {
    struct tutti_quotas *quotas;
    const struct tutti_node_user *users;
    size_t user_count;
};

bool tutti_size_read(const char *text, uint64_t *size)
{
    static const char units[] = "KMGT";
    size_t length = strlen(text);
    double value, factor = 1;
    const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        factor *= 1000;
    if (!tutti_number_read_double(text, length - (unit != NULL), &value) || !(value >= 0) || !(value * factor < 1e18))
        return false;
    *size = (uint64_t)(value * factor);
    return true;
}

static bool read_count(const char *text, uint32_t *count)
{
    uint64_t value;
    if (!tutti_number_read_uint(text, strlen(text), &value) || value == 0 || value > UINT32_MAX)
        return false;
    *count = (uint32_t)value;
    return true;
}

/* "ranks=4" */
static bool read_word(struct tutti_quota *quota, const char *word)
{
    const char *value = strchr(word, '=');
    size_t length = value ? (size_t)(value++ - word) : 0;
    if (length == 4 && strncmp(word, "runs", 4) == 0)
        return read_count(value, &quota->runs);
    if (length == 5 && strncmp(word, "ranks", 5) == 0)
        return read_count(value, &quota->ranks);
    if (length == 7 && strncmp(word, "seconds", 7) == 0)
        return tutti_number_read_double(value, strlen(value), &quota->seconds) && quota->seconds > 0;
    return length == 6 && strncmp(word, "memory", 6) == 0 && tutti_size_read(value, &quota->memory) &&
           quota->memory > 0;
}

/* The name that the user has here, by name or by key; NULL: there is none. */
static const char *find_user(const struct reading *reading, const char *word)
{
    uint8_t key[TUTTI_KEY_SIZE];
    bool is_key = tutti_key_read(word, key) == TUTTI_OK;
    for (size_t i = 0; i < reading->user_count; i++)
        if (is_key ? memcmp(reading->users[i].key, key, sizeof key) == 0 : strcmp(reading->users[i].name, word) == 0)
            return reading->users[i].name;
    return strcmp(word, OTHERS) == 0 ? OTHERS : NULL;
}

static enum tutti_err take(void *context, char *line, const char *place)
{
    struct reading *reading = context;
    struct tutti_quotas *quotas = reading->quotas;
    struct tutti_quota_entry entry = {.quota = {0}};
    char *next, *user = strtok_r(line, " \t", &next);
    const char *name = find_user(reading, user);
    if (!name)
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "%s: '%s' is no user of the node: name the file or the public key of an --allow, or %s for all "
            "others",
            place, tutti_str_show(user).text, OTHERS);
    snprintf(entry.name, sizeof entry.name, "%s", name);
    for (const char *word; (word = strtok_r(NULL, " \t", &next));)
        if (!read_word(&entry.quota, word))
            return tutti_fail(TUTTI_ERR_ARGUMENT,
                              "%s: '%s' is none of runs=N, ranks=N, seconds=S, memory=SIZE (500M, 10G)", place,
                              tutti_str_show(word).text);
    for (size_t i = 0; i < quotas->count; i++)
        if (strcmp(quotas->entries[i].name, name) == 0)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: there is another line for %s", place, name);
    struct tutti_quota_entry *entries = reallocarray(quotas->entries, quotas->count + 1, sizeof *entries);
    if (!entries)
        return tutti_fail_memory();
    quotas->entries = entries;
    entries[quotas->count++] = entry;
    return TUTTI_OK;
}

enum tutti_err tutti_quotas_read(struct tutti_quotas *quotas, const char *path, const struct tutti_node_user *users,
                                 size_t user_count)
{
    struct reading reading = {quotas, users, user_count};
    *quotas = (struct tutti_quotas){0};
    return tutti_lines_read(
        &(struct tutti_lines){"--quota", "a line is USER runs=N ranks=N seconds=S memory=SIZE", take, &reading}, path);
}

void tutti_quotas_fini(struct tutti_quotas *quotas)
{
    free(quotas->entries);
    *quotas = (struct tutti_quotas){0};
}

struct tutti_quota tutti_quotas_of(const struct tutti_quotas *quotas, const char *user)
{
    struct tutti_quota found = {0};
    for (size_t i = 0; i < quotas->count; i++) {
        if (strcmp(quotas->entries[i].name, user) == 0)
            return quotas->entries[i].quota;
        if (strcmp(quotas->entries[i].name, OTHERS) == 0)
            found = quotas->entries[i].quota;
    }
    return found;
}
