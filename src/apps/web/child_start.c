/* SPDX-License-Identifier: MIT */
#include "apps/web/child_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* proc(5): "PID (NAME) STATE ...", of which the 22nd field is the time; a name may have blanks and brackets. */
void tt_command_process_start(pid_t pid, char out[32])
{
    enum { STATE = 3, BIRTH = 22 };
    char path[64];
    FILE *file;
    out[0] = '\0';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    file = fopen(path, "re");
    char text[1024] = "";
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = '\0';
    char *rest = strrchr(text, ')'), *field = rest ? strtok_r(rest + 1, " ", &rest) : NULL;
    bool ended = field && (*field == 'Z' || *field == 'X');
    for (int number = STATE; field && number < BIRTH; number++)
        field = strtok_r(NULL, " ", &rest);
    if (field && !ended)
        snprintf(out, 32, "%.31s", field);
}

bool tt_command_is_running(pid_t pid, const char *birth)
{
    char now[32];
    tt_command_process_start(pid, now);
    return now[0] && birth && strcmp(now, birth) == 0;
}
