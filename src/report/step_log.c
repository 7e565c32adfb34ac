/* SPDX-License-Identifier: MIT */
#include "report/step_log.h"

#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "fabric/report.h"
#include "record/file.h"

struct tutti_step_log {
    struct tutti_fabric *fabric;   /* to the conductor */
    struct tutti_record_file file; /* none: the conductor has it */
    struct tutti_text line;
    struct tutti_parcel parcel;
};

/* Whole lines only, and at once: what an FMU crashes in is the line that people look for. */
static enum tutti_err put_line(struct tutti_step_log *log)
{
    if (log->line.failed)
        return tutti_fail_memory();
    if (log->file.fd >= 0)
        return tutti_fail_context(tutti_record_file_append(&log->file, log->line.text), "--step-log");
    tutti_report_begin(&log->parcel);
    tutti_parcel_put_text(&log->parcel, log->line.text);
    return tutti_report_send(log->fabric, TUTTI_REPORT_STEP, &log->parcel);
}

static enum tutti_err open_file(struct tutti_step_log *log, const char *path, struct tutti_bytes resume, bool *anew)
{
    const char *bytes = (const char *)resume.data;
    struct tutti_unparcel mark = {.at = bytes, .end = bytes + resume.size};
    enum tutti_err err = resume.size == 0 ? tutti_record_file_begin(&log->file, path)
                                          : tutti_record_file_resume_lines(&log->file, path, &mark, anew);
    return tutti_fail_context(err, "--step-log");
}

enum tutti_err tutti_step_log_open(struct tutti_step_log **out, struct tutti_rank *rank, const char *path,
                                   struct tutti_bytes resume)
{
    if (rank->is_twin || (rank->reports && rank->fabric->rank > 0))
        return TUTTI_OK;
    struct tutti_step_log *log = tutti_arena_alloc(&rank->arena, sizeof *log);
    char *copy = log ? tutti_arena_text(&rank->arena, path, strlen(path)) : NULL;
    if (!copy)
        return tutti_fail_memory();
    *log = (struct tutti_step_log){.fabric = rank->fabric, .file = {.fd = -1}};
    bool anew = true;
    if (!rank->reports)
        TRY(open_file(log, copy, resume, &anew));
    *out = log;
    tutti_text_append(&log->line, "t,h,error,verdict,iterations,unit,variable\n");
    return anew ? put_line(log) : TUTTI_OK;
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

enum tutti_err tutti_step_log_write(struct tutti_step_log *log, const struct tutti_step_entry *entry)
{
    struct tutti_text *line = &log->line;
    line->length = 0;
    tutti_text_printf(line, "%s,%s,", NUMBER(entry->t), NUMBER(entry->h));
    if (entry->estimated)
        tutti_text_append(line, NUMBER(entry->error));
    tutti_text_printf(line, ",%s,%u,", entry->verdict, entry->iterations);
    put_quoted(line, entry->unit);
    tutti_text_append(line, ",");
    put_quoted(line, entry->variable);
    tutti_text_append(line, "\n");
    return put_line(log);
}

enum tutti_err tutti_step_log_mark(struct tutti_step_log *log, struct tutti_parcel *mark)
{
    if (!log || log->file.fd < 0)
        return TUTTI_OK;
    return tutti_fail_context(tutti_record_file_mark_lines(&log->file, mark), "--step-log");
}

enum tutti_err tutti_step_log_sync(struct tutti_step_log *log)
{
    return log ? tutti_fail_context(tutti_record_file_sync(&log->file), "--step-log") : TUTTI_OK;
}

enum tutti_err tutti_step_log_close(struct tutti_step_log *log)
{
    if (!log)
        return TUTTI_OK;
    tutti_text_fini(&log->line);
    tutti_parcel_fini(&log->parcel);
    return tutti_fail_context(tutti_record_file_close(&log->file, TUTTI_OK), "--step-log");
}
