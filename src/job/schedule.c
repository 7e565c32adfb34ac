/* SPDX-License-Identifier: MIT */
#include "job/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/number.h"
#include "base/str.h"

enum { COLUMNS = 3 };

/* A line, cut at its commas. */
struct line {
    const char *path;
    unsigned number;
    const char *cells[COLUMNS];
};

static enum tutti_err bad(const struct line *line, const char *what)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: %s", line->path, line->number, what);
}

static char *trim(char *text)
{
    text += strspn(text, " \t\"");
    for (size_t n = strlen(text); n > 0 && strchr(" \t\r\"", text[n - 1]); n--)
        text[n - 1] = '\0';
    return text;
}

/* False: there are not that many, or more. */
static bool cut(char *text, struct line *line)
{
    for (int i = 0; i < COLUMNS; i++) {
        char *comma = strchr(text, ',');
        if (!comma != (i == COLUMNS - 1))
            return false;
        if (comma)
            *comma = '\0';
        line->cells[i] = trim(text);
        text = comma ? comma + 1 : text;
    }
    return true;
}

static bool read_fraction(const char *text, struct tutti_fraction *out)
{
    const char *slash = strchr(text, '/');
    double value;
    if (!slash)
        return tutti_number_read_double(text, strlen(text), &value) && tutti_fraction_of(value, out);
    return tutti_number_read_uint(text, (size_t)(slash - text), &out->counter) &&
           tutti_number_read_uint(slash + 1, strlen(slash + 1), &out->resolution) && out->resolution > 0;
}

static enum tutti_err read_line(const struct line *line, const struct tutti_system *system, struct tutti_scheduled *out)
{
    struct tutti_end end;
    enum tutti_err err =
        tutti_system_find(system, line->cells[0], "--schedule", &end.component, &end.variable, &end.element);
    if (err)
        return tutti_fail_context(err, "%s:%u", line->path, line->number);
    const struct tutti_var *var = &system->components[end.component].fmu->desc->vars[end.variable];
    *out = (struct tutti_scheduled){end.component, end.variable, {0, 1}, {0, 1}};
    if (var->type != TUTTI_TYPE_CLOCK || var->causality != TUTTI_INPUT ||
        var->more->clock->interval_variability != TUTTI_INTERVAL_TRIGGERED)
        return bad(line, "only triggered input clocks are scheduled");
    if (!read_fraction(line->cells[1], &out->first))
        return bad(line, "the time is no number of 0 or more, nor a fraction of two 64-bit numbers");
    if (*line->cells[2] != '\0' && (!read_fraction(line->cells[2], &out->interval) || out->interval.counter == 0))
        return bad(line, "the interval is no number above 0, nor a fraction of two 64-bit numbers");
    return TUTTI_OK;
}

static enum tutti_err read_lines(struct tutti_schedule *schedule, char *text, const char *path,
                                 const struct tutti_system *system)
{
    struct line line = {.path = path, .number = 1};
    char *rest = NULL, *next = text;
    for (; next; next = rest, line.number++) {
        rest = strchr(next, '\n');
        if (rest)
            *rest++ = '\0';
        bool head = line.number == 1;
        if (!head && *trim(next) == '\0')
            continue;
        if (!cut(next, &line) || (head && (strcmp(line.cells[0], "clock") != 0 || strcmp(line.cells[1], "time") != 0 ||
                                           strcmp(line.cells[2], "interval") != 0)))
            return bad(&line, head ? "the first line is \"clock,time,interval\""
                                   : "a line has a clock, a time and an interval, with two commas");
        if (!head)
            TRY(read_line(&line, system, &schedule->lines[schedule->count++]));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_schedule_parse(struct tutti_schedule *schedule, char *text, size_t size, const char *path,
                                    const struct tutti_system *system)
{
    size_t count = 1;
    if (strlen(text) != size)
        return tutti_fail(TUTTI_ERR_FORMAT, "--schedule: %s is no text", path);
    for (size_t i = 0; i < size; i++)
        count += text[i] == '\n';
    schedule->lines = calloc(count, sizeof *schedule->lines);
    return schedule->lines ? read_lines(schedule, text, path, system) : tutti_fail_memory();
}

enum tutti_err tutti_schedule_read(struct tutti_schedule *schedule, const char *path, const struct tutti_system *system)
{
    size_t size = 0;
    char *text = tutti_fs_read_whole(path, &size);
    if (!text)
        return tutti_fail(TUTTI_ERR_IO, "--schedule: cannot read %s: %s", path, strerror(errno));
    char *ended = realloc(text, size + 1);
    enum tutti_err err = ended ? TUTTI_OK : tutti_fail_memory();
    if (ended) {
        text = ended;
        text[size] = '\0';
        err = tutti_schedule_parse(schedule, text, size, path, system);
    }
    free(text);
    return err;
}

/* ---- --clock ---- */

static enum tutti_err set_interval(struct tutti_schedule *schedule, const char *text, const struct tutti_system *system)
{
    struct tutti_scheduled *line = &schedule->intervals[schedule->interval_count];
    struct tutti_indices element;
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--clock takes UNIT.CLOCK=SECONDS, not '%s'", tutti_str_show(text).text);
    char *name = strndup(text, (size_t)(equals - text));
    enum tutti_err err = name ? tutti_system_find(system, name, "--clock", &line->component, &line->variable, &element)
                              : tutti_fail_memory();
    free(name);
    TRY(err);
    const struct tutti_var *var = &system->components[line->component].fmu->desc->vars[line->variable];
    const struct tutti_clock *clock = var->type == TUTTI_TYPE_CLOCK ? var->more->clock : NULL;
    bool settable =
        clock && (clock->interval > 0 || clock->interval_counter > 0) &&
        (clock->interval_variability == TUTTI_INTERVAL_FIXED || clock->interval_variability == TUTTI_INTERVAL_TUNABLE);
    if (!settable)
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "--clock %s: only a fixed or tunable clock whose description has an interval takes another one",
            tutti_str_show(text).text);
    if (tutti_schedule_interval(schedule, line->component, line->variable))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--clock %s: this clock has an interval already",
                          tutti_str_show(text).text);
    if (!read_fraction(equals + 1, &line->interval) || line->interval.counter == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--clock %s: the interval is no number above 0, nor a fraction of two 64-bit numbers",
                          tutti_str_show(text).text);
    schedule->interval_count++;
    return TUTTI_OK;
}

enum tutti_err tutti_schedule_set_intervals(struct tutti_schedule *schedule, const char *const *texts, size_t count,
                                            const struct tutti_system *system)
{
    schedule->intervals = calloc(count + 1, sizeof *schedule->intervals);
    if (!schedule->intervals)
        return tutti_fail_memory();
    for (size_t i = 0; i < count; i++)
        TRY(set_interval(schedule, texts[i], system));
    return TUTTI_OK;
}

const struct tutti_fraction *tutti_schedule_interval(const struct tutti_schedule *schedule, uint32_t component,
                                                     uint32_t variable)
{
    for (size_t i = 0; i < schedule->interval_count; i++)
        if (schedule->intervals[i].component == component && schedule->intervals[i].variable == variable)
            return &schedule->intervals[i].interval;
    return NULL;
}

void tutti_schedule_fini(struct tutti_schedule *schedule)
{
    free(schedule->lines);
    free(schedule->intervals);
    *schedule = (struct tutti_schedule){0};
}
