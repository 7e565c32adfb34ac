/* SPDX-License-Identifier: MIT */
#include "conduct/launch/nodes_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/str.h"

/* The node of that address, new or known; NULL when memory is out. */
static struct tutti_nodes_entry *get(struct tutti_nodes_list *list, const struct tutti_node_address *address)
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

static enum tutti_err add_line(struct tutti_nodes_list *list, char *line, const char *place)
{
    struct tutti_node_address address;
    int count = 1;
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");
    if (!*line)
        return TUTTI_OK;
    char *rest = line + strcspn(line, " \t");
    if (*rest)
        *rest++ = '\0';
    TRY(tutti_node_address_read(&address, line, place, false));
    struct tutti_nodes_entry *entry = get(list, &address);
    if (!entry)
        return tutti_fail_memory();
    TRY(read_words(entry, rest, place, &count));
    return add_ranks(list, entry, count);
}

static enum tutti_err fail_length(const char *place)
{
    return tutti_fail(TUTTI_ERR_ARGUMENT,
                      "--nodes: %s: too long, or not a text file: a line is HOST:PORT PUBLICKEY ranks=N", place);
}

static enum tutti_err read_file(struct tutti_nodes_list *list, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--nodes: cannot read %s: %s", path, strerror(errno));
    enum { LONGEST = 4096, MOST_LINES = 65536 }; /* a device without end is no list */
    char line[LONGEST];
    enum tutti_err err = TUTTI_OK;
    for (unsigned number = 1; !err && fgets(line, sizeof line, file); number++) {
        struct tutti_text place = {0};
        tutti_text_printf(&place, "%s:%u", path, number);
        bool whole = strchr(line, '\n') || feof(file);
        err = place.failed                    ? tutti_fail_memory()
              : whole && number <= MOST_LINES ? add_line(list, line, place.text)
                                              : fail_length(place.text);
        tutti_text_fini(&place);
    }
    if (!err && ferror(file))
        err = tutti_fail(TUTTI_ERR_ARGUMENT, "--nodes: cannot read %s: %s", path, strerror(errno));
    fclose(file);
    return err;
}

static enum tutti_err read_text(struct tutti_nodes_list *list, const char *text)
{
    char *copy = tutti_str_copy(text);
    if (!copy)
        return tutti_fail_memory();
    enum tutti_err err = TUTTI_OK;
    for (char *next, *word = strtok_r(copy, ",", &next); word && !err; word = strtok_r(NULL, ",", &next))
        err = add_line(list, word, "--nodes");
    free(copy);
    return err;
}

enum tutti_err tutti_nodes_list_read(struct tutti_nodes_list *list, const char *text)
{
    struct stat st;
    *list = (struct tutti_nodes_list){0};
    bool file = strchr(text, '/') || !strchr(text, ':') || (stat(text, &st) == 0 && S_ISREG(st.st_mode));
    TRY(file ? read_file(list, text) : read_text(list, text));
    if (list->count == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--nodes: there is no node in '%s'", tutti_str_show(text).text);
    return TUTTI_OK;
}

void tutti_nodes_list_fini(struct tutti_nodes_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i].ranks);
    free(list->entries);
}
