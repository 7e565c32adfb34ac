/* SPDX-License-Identifier: MIT */
#include "fmu/fork_server/fork_safety.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* Mappings, which take longest, are left out more and more often: memory that is shared is mostly so from the start. */
static unsigned long looks;

static bool is_checkpoint_process(const struct tt_shared_area *area, pid_t pid)
{
    for (uint32_t n = TUTTI_AREA_FIRST; n < TUTTI_AREA_HOLDERS; n++)
        if (atomic_load(&area->holders[n].pid) == pid)
            return true;
    return false;
}

/* Orphaned processes become children of the keeper. */
static bool has_unknown_children(const struct tt_shared_area *area, pid_t keeper)
{
    char path[64], *word = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)keeper, (int)keeper);
    FILE *children = fopen(path, "re");
    while (children && !found && getdelim(&word, &room, ' ', children) > 0)
        found = strtol(word, NULL, 10) > 0 && !is_checkpoint_process(area, (pid_t)strtol(word, NULL, 10));
    free(word);
    if (children)
        fclose(children);
    return found;
}

/* ---- descriptors ---- */

/* Devices that have nothing to come back to: null, zero, full, random, urandom. */
static bool is_stateless_device(const struct stat *st)
{
    unsigned number = minor(st->st_rdev);
    return S_ISCHR(st->st_mode) && major(st->st_rdev) == 1 &&
           (number == 3 || number == 5 || (number >= 7 && number <= 9));
}

static const char *fork_safety_kind_of(const struct stat *st)
{
    if (S_ISSOCK(st->st_mode))
        return "an open socket";
    if (S_ISFIFO(st->st_mode))
        return "an open pipe";
    if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
        return "an open device";
    return S_ISREG(st->st_mode) ? "a file open for writing" : "an open descriptor of the system";
}

static bool check_descriptor(struct tt_fork_safety_positions *positions, int fd, char *why, size_t size)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &st) != 0 || is_stateless_device(&st))
        return true;
    bool is_read = (flags & O_ACCMODE) == O_RDONLY && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
    if (is_read && positions->count == TUTTI_MOST_FILES) {
        snprintf(why, size, "it has more than %d open files", TUTTI_MOST_FILES);
        return false;
    }
    if (is_read) {
        positions->files[positions->count].fd = fd;
        positions->files[positions->count++].offset = lseek(fd, 0, SEEK_CUR);
        return true;
    }

    char link[64], name[192] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
    snprintf(why, size, "it has %s (%s)", fork_safety_kind_of(&st), name);
    return false;
}

static bool check_descriptors(struct tt_fork_safety_positions *positions, char *why, size_t size)
{
    DIR *all = opendir("/proc/self/fd");
    bool fine = true;
    if (!all) {
        enum { FIRST = 256 }; /* without /proc: the first ones, where almost all are */
        for (int fd = STDERR_FILENO + 1; fd < FIRST && fine; fd++)
            fine = check_descriptor(positions, fd, why, size);
        return fine;
    }
    for (const struct dirent *one; all && fine && (one = readdir(all));) {
        int fd = one->d_name[0] == '.' ? -1 : (int)strtol(one->d_name, NULL, 10);
        if (fd > STDERR_FILENO && fd != dirfd(all))
            fine = check_descriptor(positions, fd, why, size);
    }
    if (all)
        closedir(all);
    return fine;
}

/* ---- memory ---- */

struct unsafe_reason {
    char *why;
    size_t size;
    bool fine;
};

/* The area that the rank shares with this process is ours. */
static bool check_mapping(void *context, const struct tt_memory_mapping *mapping)
{
    struct unsafe_reason *words = context;
    bool ours = strncmp(mapping->name, "/memfd:tutti ", 13) == 0;
    words->fine = !(mapping->is_written && mapping->is_shared) || ours;
    if (!words->fine)
        snprintf(words->why, words->size, "it shares memory with others (%s)", mapping->name);
    return words->fine;
}

bool tt_fork_safety_check(const struct tt_shared_area *area, pid_t keeper, struct tt_fork_safety_positions *positions,
                          char *why, size_t size)
{
    positions->count = 0;
    struct stat tasks; /* one folder per thread, besides "." and ".." */
    if (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 3) {
        snprintf(why, size, "it has %lu threads", (unsigned long)tasks.st_nlink - 2);
        return false;
    }
    siginfo_t info;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || has_unknown_children(area, keeper)) {
        snprintf(why, size, "it has started another process");
        return false;
    }
    if (!check_descriptors(positions, why, size))
        return false;

    bool is_due = (looks & (looks - 1)) == 0; /* 0, 1, 2, 4, 8 ... */
    looks++;
    struct unsafe_reason reason = {why, size, true};
    if (is_due)
        tt_fork_safety_each_mapping(check_mapping, &reason);
    return reason.fine;
}

void tt_fork_safety_restore_files(const struct tt_fork_safety_positions *positions)
{
    for (size_t i = 0; i < positions->count; i++)
        (void)lseek(positions->files[i].fd, positions->files[i].offset, SEEK_SET);
}

#ifndef MADV_COLLAPSE
enum { MADV_COLLAPSE = 25 }; /* since Linux 6.1; older ones do it in the course of time */
#endif

static const uintptr_t LARGE = (uintptr_t)2 << 20;

/* Parses "7f...-7f... rw-s 00000000 00:05 1234   /dev/shm/x". False for other lines, which have details. */
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

/* A mapping is visited at its line "Rss:   1234 kB". The head is kept in a separate line, which its name points into. */
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
    void *memory = (void *)begin; /* NOLINT(performance-no-int-to-ptr): the kernel lists mappings as numbers */
    if (madvise(memory, end - begin, MADV_HUGEPAGE) == 0)
        (void)madvise(memory, end - begin, MADV_COLLAPSE);
    return true;
}

void tt_fork_safety_use_large_pages(void)
{
    tt_fork_safety_each_mapping(use_large_pages, NULL);
}
