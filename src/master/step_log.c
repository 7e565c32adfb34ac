/* SPDX-License-Identifier: MIT */
#include "master/step_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"

struct tutti_step_log {
    FILE *file;
    char *path;
};

static enum tutti_err cannot(const struct tutti_step_log *log, const char *what)
{
    return tutti_fail(TUTTI_ERR_IO, "--step-log: '%s' cannot be %s: %s", log->path, what, strerror(errno));
}

enum tutti_err tutti_step_log_open(struct run *run, const char *path)
{
    struct tutti_step_log *log = tutti_arena_alloc(&run->arena, sizeof *log);
    char *copy = log ? tutti_arena_text(&run->arena, path, strlen(path)) : NULL;
    if (!copy)
        return tutti_fail_memory();
    *log = (struct tutti_step_log){.file = fopen(path, "w"), .path = copy};
    if (!log->file)
        return cannot(log, "opened");
    setvbuf(log->file, NULL, _IOLBF, 0); /* what an FMU crashes in is the line that people look for */
    run->master.log = log;
    return fputs("t,h,error,verdict,iterations,unit,variable\n", log->file) < 0 ? cannot(log, "written") : TUTTI_OK;
}

/* RFC 4180: names may hold commas and quotes. */
static void put_quoted(FILE *file, const char *text)
{
    bool plain = strpbrk(text, ",\"\r\n") == NULL;
    if (!plain)
        fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    if (!plain)
        fputc('"', file);
}

enum tutti_err tutti_step_log_write(struct run *run, const struct tutti_attempt *attempt, const char *verdict)
{
    struct tutti_step_log *log = run->master.log;
    if (!log)
        return TUTTI_OK;
    const char *unit = "", *variable = "";
    if (attempt->driver != TUTTI_NONE) {
        struct tutti_end end = tutti_outputs_end(run, attempt->driver);
        unit = run->system->components[end.component].name;
        variable = run->system->components[end.component].fmu->desc->vars[end.variable].name;
    }
    const struct tutti_master *master = &run->master;
    if (attempt->driver == TUTTI_NONE && attempt->changed) {
        unit = run->members[master->changed_member].unit->name;
        variable = run->members[master->changed_member].unit->fmu->desc->vars[master->changed_variable].name;
    } else if (attempt->driver == TUTTI_NONE && (master->refused || master->early < attempt->target)) {
        unit = master->refused ? master->refused->unit->name : run->members[master->early_member].unit->name;
    }
    fprintf(log->file, "%s,%s,", NUMBER(attempt->from), NUMBER(attempt->target - attempt->from));
    if (attempt->estimated)
        fprintf(log->file, "%s", NUMBER(attempt->error));
    fprintf(log->file, ",%s,%u,", verdict, attempt->iterations);
    put_quoted(log->file, unit);
    fputc(',', log->file);
    put_quoted(log->file, variable);
    return fputc('\n', log->file) == EOF ? cannot(log, "written") : TUTTI_OK;
}

enum tutti_err tutti_step_log_close(struct run *run)
{
    struct tutti_step_log *log = run->master.log;
    if (!log)
        return TUTTI_OK;
    run->master.log = NULL;
    bool failed = ferror(log->file) != 0;
    return fclose(log->file) != 0 || failed ? cannot(log, "written") : TUTTI_OK;
}
