/* SPDX-License-Identifier: MIT */
#include "apps/describe/drawing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/fail.h"
#include "base/text.h"

/* Programs that FMUs or other threads start do not get it. */
static FILE *open_memory_file(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (!file && fd >= 0)
        close(fd);
    return file;
}

enum tutti_err tt_drawing_init(struct tt_drawing *drawing)
{
    drawing->script = open_memory_file("tutti script");
    drawing->picture = open_memory_file("tutti picture");
    drawing->complaints = open_memory_file("tutti complaints");
    return drawing->script && drawing->picture && drawing->complaints
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_IO, "no file in memory can be opened, to draw: %s", strerror(errno));
}

void tt_drawing_fini(struct tt_drawing *drawing)
{
    FILE *const files[] = {drawing->script, drawing->picture, drawing->complaints};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i])
            fclose(files[i]);
}

/* The environment, but for the locale: numbers with a point, letters of all alphabets. */
static char **drawing_make_environment(void)
{
    static char locale[] = "LC_ALL=C.UTF-8";
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **made = calloc(count + 2, sizeof *made);
    for (size_t i = 0; made && i < count; i++)
        if (strncmp(environ[i], locale, strlen("LC_ALL=")) != 0)
            made[kept++] = environ[i];
    if (made)
        made[kept] = locale;
    return made;
}

/* Reads the reason of a failure: the text after "line N:", if the program names the line, otherwise its first line. */
static void read_program_error(FILE *complaints, char *said, size_t size)
{
    char line[512];
    bool found = false;
    *said = '\0';
    rewind(complaints);
    while (!found && fgets(line, sizeof line, complaints)) {
        const char *reason = strstr(line, "line ");
        reason = reason ? strstr(reason, ": ") : NULL;
        found = reason;
        if (found || !*said)
            snprintf(said, size, "%s", found ? reason + 2 : line);
        tt_text_make_printable(said);
    }
}

static enum tutti_err drawing_read_picture(FILE *file, const char *program, char **picture, size_t *size)
{
    long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (end <= 0)
        return tt_fail(TUTTI_ERR_IO, "%s, which draws the pictures, has drawn nothing", program);
    char *bytes = malloc((size_t)end + 1);
    if (!bytes)
        return tt_fail_memory();
    rewind(file);
    if (fread(bytes, 1, (size_t)end, file) != (size_t)end) {
        free(bytes);
        return tt_fail(TUTTI_ERR_IO, "the picture of %s cannot be read", program);
    }
    bytes[end] = '\0';
    *picture = bytes;
    *size = (size_t)end;
    return TUTTI_OK;
}

enum tutti_err tt_drawing_run(struct tt_drawing *drawing, char *const *command, const char *package, char **picture,
                              size_t *size)
{
    enum { NOT_FOUND = 127 }; /* as shells say it */
    pid_t child = 0;
    int status = 0, error = 0;
    char said[512];
    if (fflush(drawing->script) != 0 || ferror(drawing->script) || lseek(fileno(drawing->script), 0, SEEK_SET) != 0)
        return tt_fail(TUTTI_ERR_IO, "the script for %s cannot be written: %s", command[0], strerror(errno));
    char **environment = drawing_make_environment();
    const struct tt_child_plan plan = {
        .words = (const char *const *)command,
        .environment = environment,
        .streams = {fileno(drawing->script), fileno(drawing->picture), fileno(drawing->complaints)},
        .flags = TUTTI_CHILD_IN_PATH};
    error = environment ? tt_child_start(&child, &plan) : ENOMEM;
    free(environment);
    if (!error && tt_child_wait(child, INFINITY, &status) != TUTTI_CHILD_ENDED)
        error = ECHILD;
    bool ended = !error && WIFEXITED(status), unknown = error == ECHILD; /* the program ignores SIGCHLD */
    if (error == ENOENT || (ended && WEXITSTATUS(status) == NOT_FOUND))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s, which draws the pictures, is not installed (Debian package %s)",
                       command[0], package);
    read_program_error(drawing->complaints, said, sizeof said);
    if ((ended && WEXITSTATUS(status) == 0) || (unknown && !said[0]))
        return drawing_read_picture(drawing->picture, command[0], picture, size);
    return tt_fail(TUTTI_ERR_IO, "%s, which draws the pictures, failed%s%s", command[0], said[0] || error ? ": " : "",
                   said[0] ? said
                   : error ? strerror(error)
                           : "");
}
