/* SPDX-License-Identifier: MIT */
#include "run/launch/nodes_list.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/vector.h"
#include "run/list_file.h"

/* The node of that address, new or known; NULL when memory is out. */
static struct tt_nodes_entry *nodes_list_find_or_add(struct tt_nodes_list *list, const struct tt_address *address)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcasecmp(list->entries[i].address.host, address->host) == 0 &&
            list->entries[i].address.port == address->port)
            return &list->entries[i];
    if (!tt_vector_reserve(&list->entries, &list->room, list->count + 1, sizeof *list->entries))
        return NULL;
    list->entries[list->count] = (struct tt_nodes_entry){.address = *address};
    return &list->entries[list->count++];
}

/* The words after an address. */
static enum tutti_err nodes_list_read_words(struct tt_nodes_entry *entry, char *rest, const char *place, int *count)
{
    for (char *next, *word = strtok_r(rest, " \t", &next); word; word = strtok_r(NULL, " \t", &next)) {
        uint8_t key[TUTTI_KEY_SIZE];
        char *end = NULL;
        long ranks = strncmp(word, "ranks=", 6) == 0 ? strtol(word + 6, &end, 10) : 0;
        if (ranks >= 1 && ranks <= TUTTI_NODE_MOST_RANKS && *end == '\0') {
            *count = (int)ranks;
            continue;
        }
        if (tt_curve_auth_parse_key(word, key))
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "%s: '%s' is neither a public key (64 hexadecimal digits) nor ranks=N; a line is HOST:PORT "
                           "PUBLICKEY ranks=N",
                           place, tt_text_excerpt(word).text);
        if (entry->has_key && memcmp(entry->key, key, sizeof key) != 0)
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s: %s:%d has another key in an earlier line", place,
                           entry->address.host, entry->address.port);
        entry->has_key = true;
        memcpy(entry->key, key, sizeof key);
    }
    return TUTTI_OK;
}

static enum tutti_err nodes_list_parse_line(void *context, char *line, const char *place)
{
    struct tt_nodes_list *list = context;
    struct tt_address address;
    int count = 1;
    char *rest = line + strcspn(line, " \t");
    if (*rest)
        *rest++ = '\0';
    TRY(tt_address_read(&address, line, &(struct tt_address_rule){.option = place}));
    struct tt_nodes_entry *entry = nodes_list_find_or_add(list, &address);
    if (!entry)
        return tt_fail_memory();
    TRY(nodes_list_read_words(entry, rest, place, &count));

    if (count > TUTTI_NODE_MOST_RANKS - list->ranks)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--nodes: more than %d ranks", TUTTI_NODE_MOST_RANKS);
    int *ranks = reallocarray(entry->ranks, (size_t)entry->rank_count + (size_t)count, sizeof *ranks);
    if (!ranks)
        return tt_fail_memory();
    entry->ranks = ranks;
    for (int i = 0; i < count; i++)
        ranks[entry->rank_count++] = list->ranks++;
    return TUTTI_OK;
}

static enum tutti_err nodes_list_read_text(const struct tt_list_file *lines, const char *text)
{
    char *copy = tt_text_copy(text);
    if (!copy)
        return tt_fail_memory();
    enum tutti_err err = TUTTI_OK;
    for (char *next, *word = strtok_r(copy, ",", &next); word && !err; word = strtok_r(NULL, ",", &next))
        err = tt_list_file_parse_line(lines, word, "--nodes");
    free(copy);
    return err;
}

enum tutti_err tt_nodes_list_read(struct tt_nodes_list *list, const char *text)
{
    struct stat st;
    const struct tt_list_file lines = {"--nodes", "a line is HOST:PORT PUBLICKEY ranks=N", nodes_list_parse_line, list};
    *list = (struct tt_nodes_list){0};
    bool file = strchr(text, '/') || !strchr(text, ':') || (stat(text, &st) == 0 && S_ISREG(st.st_mode));
    TRY(file ? tt_list_file_read(&lines, text) : nodes_list_read_text(&lines, text));
    if (list->count == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--nodes: there is no node in '%s'", tt_text_excerpt(text).text);
    return TUTTI_OK;
}

void tt_nodes_list_remove(struct tt_nodes_list *list, size_t entry)
{
    struct tt_nodes_entry *gone = &list->entries[entry];
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

void tt_nodes_list_fini(struct tt_nodes_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i].ranks);
    free(list->entries);
}
