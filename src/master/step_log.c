/* SPDX-License-Identifier: MIT */
#include "master/step_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "fabric/report.h"

struct tutti_step_log {
    FILE *file; /* NULL: the conductor has it */
    char *path;
    struct tutti_text line;
    struct tutti_parcel parcel;
};

static enum tutti_err cannot(const struct tutti_step_log *log, const char *what)
{
    return tutti_fail(TUTTI_ERR_IO, "--step-log: '%s' cannot be %s: %s", log->path, what, strerror(errno));
}

/* Whole lines only. */
static enum tutti_err put_line(struct run *run, struct tutti_step_log *log)
{
    if (log->line.failed)
        return tutti_fail_memory();
    if (log->file)
        return fputs(log->line.text, log->file) < 0 ? cannot(log, "written") : TUTTI_OK;
    tutti_report_begin(&log->parcel);
    tutti_parcel_put_text(&log->parcel, log->line.text);
    return tutti_report_send(run->fabric, TUTTI_REPORT_STEP, &log->parcel);
}

enum tutti_err tutti_step_log_open(struct run *run, const char *path)
{
    if (run->reports && run->fabric->rank > 0)
        return TUTTI_OK;
    struct tutti_step_log *log = tutti_arena_alloc(&run->arena, sizeof *log);
    char *copy = log ? tutti_arena_text(&run->arena, path, strlen(path)) : NULL;
    if (!copy)
        return tutti_fail_memory();
    *log = (struct tutti_step_log){.file = run->reports ? NULL : fopen(path, "w"), .path = copy};
    if (!log->file && !run->reports)
        return cannot(log, "opened");
    if (log->file)
        setvbuf(log->file, NULL, _IOLBF, 0); /* what an FMU crashes in is the line that people look for */
    run->master.log = log;
    tutti_text_append(&log->line, "t,h,error,verdict,iterations,unit,variable\n");
    return put_line(run, log);
}

/* RFC 4180: names may hold commas and quotes. */
static void put_quoted(struct tutti_text *line, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        tutti_text_append(line, text);
        return;
    }
    tutti_text_append(line, "\"");
    for (; *text; text++)
        tutti_text_append_n(line, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    tutti_text_append(line, "\"");
}

/* Which signal drove the attempt; where it was none, whose change, refusal or event did. */
static void find_driver(const struct run *run, const struct tutti_attempt *attempt, const char **unit,
                        const char **variable)
{
    const struct tutti_master *master = &run->master;
    *unit = *variable = "";
    if (attempt->driver != TUTTI_NONE) {
        struct tutti_end end = tutti_outputs_end(run, attempt->driver);
        *unit = run->system->components[end.component].name;
        *variable = run->system->components[end.component].fmu->desc->vars[end.variable].name;
    } else if (attempt->changed) {
        *unit = run->members[master->changed_member].unit->name;
        *variable = run->members[master->changed_member].unit->fmu->desc->vars[master->changed_variable].name;
    } else if (master->refused || master->early < attempt->target) {
        *unit = master->refused ? master->refused->unit->name : run->members[master->early_member].unit->name;
    }
}

enum tutti_err tutti_step_log_write(struct run *run, const struct tutti_attempt *attempt, const char *verdict)
{
    struct tutti_step_log *log = run->master.log;
    if (!log)
        return TUTTI_OK;
    const char *unit, *variable;
    find_driver(run, attempt, &unit, &variable);
    struct tutti_text *line = &log->line;
    line->length = 0;
    tutti_text_printf(line, "%s,%s,", NUMBER(attempt->from), NUMBER(attempt->target - attempt->from));
    if (attempt->estimated)
        tutti_text_append(line, NUMBER(attempt->error));
    tutti_text_printf(line, ",%s,%u,", verdict, attempt->iterations);
    put_quoted(line, unit);
    tutti_text_append(line, ",");
    put_quoted(line, variable);
    tutti_text_append(line, "\n");
    return put_line(run, log);
}

enum tutti_err tutti_step_log_close(struct run *run)
{
    struct tutti_step_log *log = run->master.log;
    if (!log)
        return TUTTI_OK;
    run->master.log = NULL;
    tutti_text_fini(&log->line);
    tutti_parcel_fini(&log->parcel);
    bool failed = log->file && ferror(log->file) != 0;
    return (log->file && fclose(log->file) != 0) || failed ? cannot(log, "written") : TUTTI_OK;
}
