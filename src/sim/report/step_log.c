/* SPDX-License-Identifier: MIT */
#include "sim/report/step_log.h"

#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "sim/ranks/fabric.h"
#include "results/record_file.h"

struct tt_step_log {
    struct tt_fabric *fabric;   /* to the conductor */
    struct tt_record_file file; /* none: the conductor has it */
    struct tt_text line;
    struct tt_byte_writer parcel;
};

/* Whole lines only, and at once: what an FMU crashes in is the line that people look for. */
static enum tutti_err step_log_write_line(struct tt_step_log *log)
{
    if (log->line.failed)
        return tt_fail_memory();
    if (log->file.fd >= 0)
        return tt_fail_context(tt_record_file_append(&log->file, log->line.text), "--step-log");
    tt_fabric_begin_report(&log->parcel);
    tt_bytes_put_text(&log->parcel, log->line.text);
    return tt_fabric_send_report(log->fabric, TUTTI_REPORT_STEP, &log->parcel);
}

static enum tutti_err step_log_open_file(struct tt_step_log *log, const char *path, struct tt_bytes resume, bool *anew)
{
    const char *bytes = (const char *)resume.data;
    struct tt_byte_reader mark = {.at = bytes, .end = bytes + resume.size};
    enum tutti_err err = resume.size == 0 ? tt_record_file_create(&log->file, path)
                                          : tt_record_file_resume_lines(&log->file, path, &mark, anew);
    return tt_fail_context(err, "--step-log");
}

enum tutti_err tt_step_log_open(struct tt_step_log **out, struct tt_rank *rank, const char *path,
                                struct tt_bytes resume)
{
    if (rank->is_twin || (rank->reports && rank->fabric->rank > 0))
        return TUTTI_OK;
    struct tt_step_log *log = tt_arena_alloc(&rank->arena, sizeof *log);
    char *copy = log ? tt_arena_copy_text(&rank->arena, path, strlen(path)) : NULL;
    if (!copy)
        return tt_fail_memory();
    *log = (struct tt_step_log){.fabric = rank->fabric, .file = {.fd = -1}};
    bool anew = true;
    if (!rank->reports)
        TRY(step_log_open_file(log, copy, resume, &anew));
    *out = log;
    tt_text_append(&log->line, "t,h,error,verdict,iterations,unit,variable\n");
    return anew ? step_log_write_line(log) : TUTTI_OK;
}

/* RFC 4180: names may hold commas and quotes. */
static void write_quoted(struct tt_text *line, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        tt_text_append(line, text);
        return;
    }
    tt_text_append(line, "\"");
    for (; *text; text++)
        tt_text_append_n(line, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    tt_text_append(line, "\"");
}

enum tutti_err tt_step_log_write(struct tt_step_log *log, const struct tt_step_entry *entry)
{
    struct tt_text *line = &log->line;
    line->length = 0;
    tt_text_printf(line, "%s,%s,", NUMBER(entry->t), NUMBER(entry->h));
    if (entry->estimated)
        tt_text_append(line, NUMBER(entry->error));
    tt_text_printf(line, ",%s,%u,", entry->verdict, entry->iterations);
    write_quoted(line, entry->unit);
    tt_text_append(line, ",");
    write_quoted(line, entry->variable);
    tt_text_append(line, "\n");
    return step_log_write_line(log);
}

enum tutti_err tt_step_log_pack_position(struct tt_step_log *log, struct tt_byte_writer *mark)
{
    if (!log || log->file.fd < 0)
        return TUTTI_OK;
    return tt_fail_context(tt_record_file_mark_lines(&log->file, mark), "--step-log");
}

enum tutti_err tt_step_log_sync(struct tt_step_log *log)
{
    return log ? tt_fail_context(tt_record_file_sync(&log->file), "--step-log") : TUTTI_OK;
}

enum tutti_err tt_step_log_close(struct tt_step_log *log)
{
    if (!log)
        return TUTTI_OK;
    tt_text_fini(&log->line);
    tt_bytes_fini(&log->parcel);
    return tt_fail_context(tt_record_file_close(&log->file, TUTTI_OK), "--step-log");
}
