/* SPDX-License-Identifier: MIT */
#include "sim/job/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"

enum { COLUMNS = 3 };

struct schedule_line {
    const char *path;
    unsigned number;
    const char *cells[COLUMNS];
};

static enum tutti_err schedule_fail_line(const struct schedule_line *line, const char *what)
{
    return tt_fail(TUTTI_ERR_FORMAT, "%s:%u: %s", line->path, line->number, what);
}

static char *schedule_trim(char *text)
{
    text += strspn(text, " \t\"");
    for (size_t n = strlen(text); n > 0 && strchr(" \t\r\"", text[n - 1]); n--)
        text[n - 1] = '\0';
    return text;
}

/* False: the number of values is different. */
static bool schedule_split_line(char *text, struct schedule_line *line)
{
    for (int i = 0; i < COLUMNS; i++) {
        char *comma = strchr(text, ',');
        if (!comma != (i == COLUMNS - 1))
            return false;
        if (comma)
            *comma = '\0';
        line->cells[i] = schedule_trim(text);
        text = comma ? comma + 1 : text;
    }
    return true;
}

static bool schedule_read_fraction(const char *text, struct tt_fraction *out)
{
    const char *slash = strchr(text, '/');
    double value;
    if (!slash)
        return tt_number_read_double(text, strlen(text), &value) && tt_time_fraction_of(value, out);
    return tt_number_read_uint(text, (size_t)(slash - text), &out->counter) &&
           tt_number_read_uint(slash + 1, strlen(slash + 1), &out->resolution) && out->resolution > 0;
}

static enum tutti_err schedule_read_line(const struct schedule_line *line, const struct tt_system *system,
                                         struct tt_scheduled *out)
{
    struct tt_end end;
    enum tutti_err err =
        tt_system_find(system, line->cells[0], "--schedule", &end.component, &end.variable, &end.element);
    if (err)
        return tt_fail_context(err, "%s:%u", line->path, line->number);
    const struct tt_var *var = &system->components[end.component].fmu->desc->vars[end.variable];
    *out = (struct tt_scheduled){end.component, end.variable, {0, 1}, {0, 1}};
    if (var->type != TUTTI_TYPE_CLOCK || var->causality != TUTTI_INPUT ||
        var->more->clock->interval_variability != TUTTI_INTERVAL_TRIGGERED)
        return schedule_fail_line(line, "only triggered input clocks are scheduled");
    if (!schedule_read_fraction(line->cells[1], &out->first))
        return schedule_fail_line(line, "the time is no number of 0 or more, nor a fraction of two 64-bit numbers");
    if (*line->cells[2] != '\0' &&
        (!schedule_read_fraction(line->cells[2], &out->interval) || out->interval.counter == 0))
        return schedule_fail_line(line, "the interval is no number above 0, nor a fraction of two 64-bit numbers");
    return TUTTI_OK;
}

static enum tutti_err schedule_read_lines(struct tt_schedule *schedule, char *text, const char *path,
                                          const struct tt_system *system)
{
    struct schedule_line line = {.path = path, .number = 1};
    char *rest = NULL, *next = text;
    for (; next; next = rest, line.number++) {
        rest = strchr(next, '\n');
        if (rest)
            *rest++ = '\0';
        bool head = line.number == 1;
        if (!head && *schedule_trim(next) == '\0')
            continue;
        if (!schedule_split_line(next, &line) ||
            (head && (strcmp(line.cells[0], "clock") != 0 || strcmp(line.cells[1], "time") != 0 ||
                      strcmp(line.cells[2], "interval") != 0)))
            return schedule_fail_line(&line, head ? "the first line is \"clock,time,interval\""
                                                  : "a line has a clock, a time and an interval, with two commas");
        if (!head)
            TRY(schedule_read_line(&line, system, &schedule->lines[schedule->count++]));
    }
    return TUTTI_OK;
}

enum tutti_err tt_schedule_parse(struct tt_schedule *schedule, char *text, size_t size, const char *path,
                                 const struct tt_system *system)
{
    size_t count = 1;
    if (strlen(text) != size)
        return tt_fail(TUTTI_ERR_FORMAT, "--schedule: %s is no text", path);
    for (size_t i = 0; i < size; i++)
        count += text[i] == '\n';
    schedule->lines = calloc(count, sizeof *schedule->lines);
    return schedule->lines ? schedule_read_lines(schedule, text, path, system) : tt_fail_memory();
}

enum tutti_err tt_schedule_read(struct tt_schedule *schedule, const char *path, const struct tt_system *system)
{
    size_t size = 0;
    char *text = tt_fs_read_whole(path, &size);
    if (!text)
        return tt_fail(TUTTI_ERR_IO, "--schedule: cannot read %s: %s", path, strerror(errno));
    char *ended = realloc(text, size + 1);
    enum tutti_err err = ended ? TUTTI_OK : tt_fail_memory();
    if (ended) {
        text = ended;
        text[size] = '\0';
        err = tt_schedule_parse(schedule, text, size, path, system);
    }
    free(text);
    return err;
}

/* ---- --clock ---- */

static enum tutti_err schedule_set_interval(struct tt_schedule *schedule, const char *text,
                                            const struct tt_system *system)
{
    struct tt_scheduled *line = &schedule->intervals[schedule->interval_count];
    struct tt_indices element;
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--clock takes UNIT.CLOCK=SECONDS, not '%s'", tt_text_excerpt(text).text);
    char *name = strndup(text, (size_t)(equals - text));
    enum tutti_err err = name ? tt_system_find(system, name, "--clock", &line->component, &line->variable, &element)
                              : tt_fail_memory();
    free(name);
    TRY(err);
    const struct tt_var *var = &system->components[line->component].fmu->desc->vars[line->variable];
    const struct tt_clock *clock = var->type == TUTTI_TYPE_CLOCK ? var->more->clock : NULL;
    bool settable =
        clock && (clock->interval > 0 || clock->interval_counter > 0) &&
        (clock->interval_variability == TUTTI_INTERVAL_FIXED || clock->interval_variability == TUTTI_INTERVAL_TUNABLE);
    if (!settable)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--clock %s: only a fixed or tunable clock whose description has an interval takes another one",
                       tt_text_excerpt(text).text);
    if (tt_schedule_find_interval(schedule, line->component, line->variable))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--clock %s: this clock has an interval already",
                       tt_text_excerpt(text).text);
    if (!schedule_read_fraction(equals + 1, &line->interval) || line->interval.counter == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--clock %s: the interval is no number above 0, nor a fraction of two 64-bit numbers",
                       tt_text_excerpt(text).text);
    schedule->interval_count++;
    return TUTTI_OK;
}

enum tutti_err tt_schedule_set_intervals(struct tt_schedule *schedule, const char *const *texts, size_t count,
                                         const struct tt_system *system)
{
    schedule->intervals = calloc(count + 1, sizeof *schedule->intervals);
    if (!schedule->intervals)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++)
        TRY(schedule_set_interval(schedule, texts[i], system));
    return TUTTI_OK;
}

const struct tt_fraction *tt_schedule_find_interval(const struct tt_schedule *schedule, uint32_t component,
                                                    uint32_t variable)
{
    for (size_t i = 0; i < schedule->interval_count; i++)
        if (schedule->intervals[i].component == component && schedule->intervals[i].variable == variable)
            return &schedule->intervals[i].interval;
    return NULL;
}

void tt_schedule_fini(struct tt_schedule *schedule)
{
    free(schedule->lines);
    free(schedule->intervals);
    *schedule = (struct tt_schedule){0};
}
