/* SPDX-License-Identifier: MIT */
#include "conduct/launch/nodes_list.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/str.h"
#include "conduct/lines.h"

/* The node of that address, new or known; NULL when memory is out. */
static struct tutti_nodes_entry *get(struct tutti_nodes_list *list, const struct tutti_address *address)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcasecmp(list->entries[i].address.host, address->host) == 0 &&
            list->entries[i].address.port == address->port)
            return &list->entries[i];
    struct tutti_nodes_entry *entries = reallocarray(list->entries, list->count + 1, sizeof *entries);
    if (!entries)
        return NULL;
    list->entries = entries;
    entries[list->count] = (struct tutti_nodes_entry){.address = *address};
    return &entries[list->count++];
}

static enum tutti_err add_ranks(struct tutti_nodes_list *list, struct tutti_nodes_entry *entry, int count)
{
    if (count > TUTTI_NODE_MOST_RANKS - list->ranks)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--nodes: more than %d ranks", TUTTI_NODE_MOST_RANKS);
    int *ranks = reallocarray(entry->ranks, (size_t)entry->rank_count + (size_t)count, sizeof *ranks);
    if (!ranks)
        return tutti_fail_memory();
    entry->ranks = ranks;
    for (int i = 0; i < count; i++)
        ranks[entry->rank_count++] = list->ranks++;
    return TUTTI_OK;
}

/* "ranks=4" */
static int read_count(const char *word)
{
    char *end;
    long count = strncmp(word, "ranks=", 6) == 0 ? strtol(word + 6, &end, 10) : 0;
    return count >= 1 && count <= TUTTI_NODE_MOST_RANKS && *end == '\0' ? (int)count : 0;
}

/* The words after an address. */
static enum tutti_err read_words(struct tutti_nodes_entry *entry, char *rest, const char *place, int *count)
{
    for (char *next, *word = strtok_r(rest, " \t", &next); word; word = strtok_r(NULL, " \t", &next)) {
        uint8_t key[TUTTI_KEY_SIZE];
        int told = read_count(word);
        if (told > 0) {
            *count = told;
            continue;
        }
        if (tutti_key_read(word, key))
            return tutti_fail(
                TUTTI_ERR_ARGUMENT,
                "%s: '%s' is neither a public key (64 hexadecimal digits) nor ranks=N; a line is HOST:PORT "
                "PUBLICKEY ranks=N",
                place, tutti_str_show(word).text);
        if (entry->has_key && memcmp(entry->key, key, sizeof key) != 0)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: %s:%d has another key in an earlier line", place,
                              entry->address.host, entry->address.port);
        entry->has_key = true;
        memcpy(entry->key, key, sizeof key);
    }
    return TUTTI_OK;
}

static enum tutti_err take(void *context, char *line, const char *place)
{
    struct tutti_nodes_list *list = context;
    struct tutti_address address;
    int count = 1;
    char *rest = line + strcspn(line, " \t");
    if (*rest)
        *rest++ = '\0';
    TRY(tutti_address_read(&address, line, place, false));
    struct tutti_nodes_entry *entry = get(list, &address);
    if (!entry)
        return tutti_fail_memory();
    TRY(read_words(entry, rest, place, &count));
    return add_ranks(list, entry, count);
}

static enum tutti_err read_text(const struct tutti_lines *lines, const char *text)
{
    char *copy = tutti_str_copy(text);
    if (!copy)
        return tutti_fail_memory();
    enum tutti_err err = TUTTI_OK;
    for (char *next, *word = strtok_r(copy, ",", &next); word && !err; word = strtok_r(NULL, ",", &next))
        err = tutti_lines_take(lines, word, "--nodes");
    free(copy);
    return err;
}

enum tutti_err tutti_nodes_list_read(struct tutti_nodes_list *list, const char *text)
{
    struct stat st;
    const struct tutti_lines lines = {"--nodes", "a line is HOST:PORT PUBLICKEY ranks=N", take, list};
    *list = (struct tutti_nodes_list){0};
    bool file = strchr(text, '/') || !strchr(text, ':') || (stat(text, &st) == 0 && S_ISREG(st.st_mode));
    TRY(file ? tutti_lines_read(&lines, text) : read_text(&lines, text));
    if (list->count == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--nodes: there is no node in '%s'", tutti_str_show(text).text);
    return TUTTI_OK;
}

void tutti_nodes_list_drop(struct tutti_nodes_list *list, size_t entry)
{
    struct tutti_nodes_entry *gone = &list->entries[entry];
    for (size_t i = 0; i < list->count; i++)
        for (int r = 0; i != entry && r < list->entries[i].rank_count; r++) {
            int *rank = &list->entries[i].ranks[r], before = 0;
            while (before < gone->rank_count && gone->ranks[before] < *rank)
                before++;
            *rank -= before;
        }
    list->ranks -= gone->rank_count;
    free(gone->ranks);
    memmove(gone, gone + 1, (--list->count - entry) * sizeof *gone);
}

void tutti_nodes_list_fini(struct tutti_nodes_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i].ranks);
    free(list->entries);
}
