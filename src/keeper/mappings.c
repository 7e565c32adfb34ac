/* SPDX-License-Identifier: MIT */
#include "keeper/mappings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_COLLAPSE
enum { MADV_COLLAPSE = 25 }; /* since Linux 6.1; older ones do it in the course of time */
#endif

static const uintptr_t LARGE = (uintptr_t)2 << 20;

/* "7f...-7f... rw-s 00000000 00:05 1234   /dev/shm/x" */
static bool read_line(char *line, struct tutti_mapping *mapping)
{
    char *rest;
    mapping->begin = strtoull(line, &rest, 16);
    if (*rest != '-')
        return false;
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

void tutti_mappings_each(bool (*visit)(void *context, const struct tutti_mapping *mapping), void *context)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    struct tutti_mapping mapping;
    while (maps && getline(&line, &room, maps) > 0)
        if (read_line(line, &mapping) && !visit(context, &mapping))
            break;
    free(line);
    if (maps)
        fclose(maps);
}

static bool enlarge(void *context, const struct tutti_mapping *mapping)
{
    uintptr_t begin = (mapping->begin + LARGE - 1) / LARGE * LARGE, end = mapping->end / LARGE * LARGE;
    bool is_own = mapping->is_written && !mapping->is_shared && mapping->name[0] != '/';
    (void)context;
    if (!is_own || begin >= end)
        return true;
    void *memory = (void *)begin; /* NOLINT(performance-no-int-to-ptr): that is what a mapping is told as */
    if (madvise(memory, end - begin, MADV_HUGEPAGE) == 0)
        (void)madvise(memory, end - begin, MADV_COLLAPSE);
    return true;
}

void tutti_mappings_enlarge(void)
{
    tutti_mappings_each(enlarge, NULL);
}
