/* SPDX-License-Identifier: MIT */
#include "fmu/fork_server/mappings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
enum { MADV_COLLAPSE = 25 }; /* since Linux 6.1; older ones do it in the course of time */
#endif

static const uintptr_t LARGE = (uintptr_t)2 << 20;

/* "7f...-7f... rw-s 00000000 00:05 1234   /dev/shm/x". False: it is another line, one of those that tell about the mapping. */
static bool fork_safety_read_head(char *line, struct tt_memory_mapping *mapping)
{
    char *rest;
    uintptr_t begin = strtoull(line, &rest, 16);
    if (rest == line || *rest != '-')
        return false;
    mapping->begin = begin;
    mapping->end = strtoull(rest + 1, &rest, 16);
    if (strlen(rest) < 6)
        return false;
    mapping->is_written = rest[2] == 'w';
    mapping->is_shared = rest[4] == 's';
    rest[strcspn(rest, "\n")] = '\0';
    char *name = strpbrk(rest, "/[");
    mapping->name = name ? name : "";
    return true;
}

/* A mapping is known once its "Rss:   1234 kB" is. The head lies in a line of its own, which its name points into. */
void tt_fork_safety_each_mapping(bool (*visit)(void *context, const struct tt_memory_mapping *mapping), void *context)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    char *head = NULL, *line = NULL;
    size_t head_room = 0, room = 0;
    struct tt_memory_mapping mapping = {0};
    bool goes_on = true;
    while (maps && goes_on && getline(&line, &room, maps) > 0) {
        if (strncmp(line, "Rss:", 4) == 0) {
            mapping.resident = strtoull(line + 4, NULL, 10) * 1024;
            goes_on = mapping.end == 0 || visit(context, &mapping);
        } else if (fork_safety_read_head(line, &mapping)) {
            char *other = head;
            size_t other_room = head_room;
            head = line;
            head_room = room;
            line = other;
            room = other_room;
        }
    }
    free(head);
    free(line);
    if (maps)
        fclose(maps);
}

static bool use_large_pages(void *context, const struct tt_memory_mapping *mapping)
{
    uintptr_t begin = (mapping->begin + LARGE - 1) / LARGE * LARGE, end = mapping->end / LARGE * LARGE;
    bool is_own = mapping->is_written && !mapping->is_shared && mapping->name[0] != '/';
    bool is_full = mapping->resident >= (mapping->end - mapping->begin) / 4 * 3;
    (void)context;
    if (!is_own || !is_full || begin >= end)
        return true;
    void *memory = (void *)begin; /* NOLINT(performance-no-int-to-ptr): that is what a mapping is told as */
    if (madvise(memory, end - begin, MADV_HUGEPAGE) == 0)
        (void)madvise(memory, end - begin, MADV_COLLAPSE);
    return true;
}

void tt_fork_safety_use_large_pages(void)
{
    tt_fork_safety_each_mapping(use_large_pages, NULL);
}
