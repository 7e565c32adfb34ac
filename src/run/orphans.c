/* SPDX-License-Identifier: MIT */
#include "run/orphans.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_signals.h"

/* 0: it is no process, or gone. */
static pid_t orphans_parent(const char *name)
{
    char path[300], line[512];
    snprintf(path, sizeof path, "/proc/%s/stat", name);
    FILE *file = name[0] >= '1' && name[0] <= '9' ? fopen(path, "re") : NULL;
    /* "NUMBER (NAME) STATE PARENT ...", and a name may hold anything */
    const char *rest = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (file)
        fclose(file);
    return rest && strlen(rest) > strlen(") S ") ? (pid_t)strtol(rest + strlen(") S "), NULL, 10) : 0;
}

size_t tt_fmu_process_signal_orphans(int number, bool (*judge)(void *context, pid_t pid), void *context)
{
    size_t count = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (orphans_parent(entry->d_name) != getpid() || !judge(context, pid) || !tt_child_kill(pid, number))
            continue;
        (void)waitpid(pid, NULL, WNOHANG);
        count++;
    }
    if (dir)
        closedir(dir);
    return count;
}
