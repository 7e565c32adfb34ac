/* SPDX-License-Identifier: MIT */
#include "gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "console.h"

static int spawn(pid_t *child, FILE *script, FILE *picture, FILE *complaints)
{
    char *const command[] = {"gnuplot", "-d", NULL}; /* -d: what the user has set up does not matter */
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, fileno(picture), STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, fileno(complaints), STDERR_FILENO);
    if (!error)
        error = posix_spawnp(child, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* gnuplot repeats the line it does not like and says after "line N:" why. */
static void complain(FILE *complaints)
{
    char line[512], said[512] = "";
    rewind(complaints);
    while (fgets(line, sizeof line, complaints)) {
        const char *reason = strstr(line, "line ");
        reason = reason ? strstr(reason, ": ") : NULL;
        if (reason && said[0] == '\0')
            snprintf(said, sizeof said, "%s", reason + 2);
    }
    tutti_str_make_printable(said);
    if (strstr(said, "terminal type"))
        console_error(
            "this gnuplot cannot draw this kind of picture; the Debian package gnuplot-nox can, and any gnuplot "
            "can draw .svg");
    else
        fprintf(stderr, "tutti: error: gnuplot, which draws the pictures, failed%s%s\n", said[0] ? ": " : "", said);
}

bool gnuplot_run(FILE *script, FILE *picture)
{
    FILE *complaints = tmpfile();
    if (!complaints) {
        console_error("a temporary file cannot be written; /tmp may be full");
        return false;
    }
    /* Numbers with a point, letters of all alphabets. */
    setenv("LC_ALL", "C.UTF-8", 1);
    pid_t child = 0;
    int status = 0,
        error = lseek(fileno(script), 0, SEEK_SET) == 0 ? spawn(&child, script, picture, complaints) : errno;
    while (!error && waitpid(child, &status, 0) < 0)
        error = errno == EINTR ? 0 : errno;
    bool good = !error && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!good && (error == ENOENT || (!error && WIFEXITED(status) && WEXITSTATUS(status) == 127)))
        console_error("gnuplot, which draws the pictures, is not installed (Debian package gnuplot-nox)");
    else if (!good)
        complain(complaints);
    fclose(complaints);
    return good;
}
