/* SPDX-License-Identifier: MIT */
#include "run/node/process_memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16 }; /* processes that start processes */

/* "VmRSS:    1234 kB" and "VmSwap:", of the process alone. */
static uint64_t read_own_memory(pid_t pid)
{
    char path[64], line[256];
    uint64_t kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0 || strncmp(line, "VmSwap:", 7) == 0)
            kilobytes += strtoull(strchr(line, ':') + 1, NULL, 10);
    if (file)
        fclose(file);
    return 1024 * kilobytes;
}

static uint64_t sum_process_memory(pid_t pid, int depth);

/* Of the processes that a thread has started: "/proc/PID/task/TID/children" is "123 456 ". */
static uint64_t read_children_memory(pid_t pid, const char *thread, int depth)
{
    char path[320], text[4096] = "";
    uint64_t sum = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, thread);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    for (char *next, *word = strtok_r(text, " ", &next); word; word = strtok_r(NULL, " ", &next))
        sum += sum_process_memory((pid_t)strtol(word, NULL, 10), depth + 1);
    return sum;
}

static uint64_t sum_process_memory(pid_t pid, int depth)
{
    char path[64];
    uint64_t sum = read_own_memory(pid);
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = depth < DEEPEST ? opendir(path) : NULL;
    for (struct dirent *entry; threads && (entry = readdir(threads));)
        if (entry->d_name[0] != '.')
            sum += read_children_memory(pid, entry->d_name, depth);
    if (threads)
        closedir(threads);
    return sum;
}

uint64_t tt_worker_process_memory(pid_t pid)
{
    return sum_process_memory(pid, 0);
}
