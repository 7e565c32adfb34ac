/* SPDX-License-Identifier: MIT */
#include "console.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "options.h"
#include "apps/describe/json.h"

static atomic_bool progress_shown; /* threads of a node log, too */

bool console_is_terminal(void)
{
    return isatty(STDERR_FILENO) == 1;
}

bool console_has_colours(int fd)
{
    const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");
    return isatty(fd) == 1 && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
}

int console_width(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void console_clear_progress(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

/* ---- lines ---- */

static const char *const words[] = {"error", "warning", "info", "debug"}; /* enum tutti_log_level */
static bool is_json;
static char run_id[CONSOLE_RUN_TEXT];

bool console_wants_json(const struct arguments *arguments, bool *json)
{
    const char *how = arguments_value(arguments, "--log");
    *json = how && strcmp(how, "json") == 0;
    if (!how || *json || strcmp(how, "text") == 0)
        return true;
    fprintf(stderr, "tutti %s: --log takes text or json, not '%s'\n", arguments->command->name, how);
    return false;
}

void console_show_run(const uint8_t id[TUTTI_RUN_ID_SIZE], char text[CONSOLE_RUN_TEXT])
{
    for (size_t i = 0; i < CONSOLE_RUN_TEXT / 2; i++)
        snprintf(text + 2 * i, 3, "%02x", id[i]);
}

void console_use_json(const char *run)
{
    is_json = true;
    snprintf(run_id, sizeof run_id, "%s", run ? run : "");
}

bool console_is_json(void)
{
    return is_json;
}

/* ISO 8601, UTC, with milliseconds. */
static json_t *time_json(void)
{
    struct timespec now;
    struct tm utc;
    char date[32], text[48];
    clock_gettime(CLOCK_REALTIME, &now);
    if (!gmtime_r(&now.tv_sec, &utc) || strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc) == 0)
        return json_null();
    snprintf(text, sizeof text, "%s.%03ldZ", date, now.tv_nsec / 1000000);
    return json_string(text);
}

void console_write_json(enum tutti_log_level level, json_t *fields, const char *message)
{
    json_t *line = json_pack("{s:o, s:s}", "time", time_json(), "level", words[level]);
    if (run_id[0])
        json_object_set_new(line, "run", json_string(run_id));
    json_object_update(line, fields);
    json_object_set_new(line, "message", tt_json_text(message));
    char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
    if (text)
        fprintf(stderr, "%s\n", text); /* in one piece: threads log, too */
    free(text);
    json_decref(fields);
    json_decref(line);
}

void console_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    console_clear_progress();
    if (is_json)
        console_write_json(level, origin ? json_pack("{s:o}", "unit", tt_json_text(origin)) : NULL, text);
    else
        fprintf(stderr, "tutti: %s: %s%s%s\n", words[level], origin ? origin : "", origin ? ": " : "", text);
}

void console_error(const char *message)
{
    console_log(NULL, TUTTI_LOG_ERROR, NULL, message);
}

/* ---- progress ---- */

/* 3 s, 2:05, 1:02:05 */
static void print_duration(char *out, size_t size, double seconds)
{
    long s = seconds < 1e9 ? lround(seconds) : 1000000000;
    if (s < 60)
        snprintf(out, size, "%ld s", s);
    else if (s < 3600)
        snprintf(out, size, "%ld:%02ld", s / 60, s % 60);
    else
        snprintf(out, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}

void console_progress(void *context, const struct tutti_progress *progress)
{
    (void)context;
    static double shown;
    if (progress->elapsed < 0.2 || progress->elapsed - shown < 0.1)
        return;
    shown = progress->elapsed;
    double done = (progress->time - progress->start) / (progress->stop - progress->start);
    double speed = (progress->time - progress->start) / progress->elapsed;
    char eta[32] = "?";
    if (done > 0)
        print_duration(eta, sizeof eta, progress->elapsed * (1 - done) / done);
    char text[160];
    int length = progress->is_study
                     ? snprintf(text, sizeof text, "%5.1f%%  run %.0f of %.0f  %.3g per second  ETA %s", 100 * done,
                                progress->time, progress->stop, speed, eta)
                     : snprintf(text, sizeof text, "%5.1f%%  t = %.6g of %.6g  %.3g x real time  h = %.3g  ETA %s",
                                100 * done, progress->time, progress->stop, speed, progress->step, eta);
    /* A line that wraps could not be overwritten: the bar gets what is left, the end of the text is cut. */
    int room = console_width(STDERR_FILENO) - 1;
    enum { BAR = 20 };
    char bar[BAR + 1];
    int bar_length = room - length - 4 < BAR ? room - length - 4 : BAR;
    if (bar_length >= 5) {
        for (int i = 0; i < bar_length; i++)
            bar[i] = done * bar_length > i ? '=' : ' ';
        fprintf(stderr, "\r[%.*s] %s\033[K", bar_length, bar, text);
    } else {
        fprintf(stderr, "\r%.*s\033[K", room, text);
    }
    fflush(stderr);
    progress_shown = true;
}

static json_t *progress_json(const struct tutti_progress *progress, double done)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "progress", done, progress->is_study ? "run" : "t", progress->time,
                     "stop", progress->stop, "elapsed_seconds", progress->elapsed, "remaining_seconds",
                     progress->elapsed * (1 - done) / done);
}

void console_progress_lines(void *context, const struct tutti_progress *progress)
{
    static int told;
    double done = (progress->time - progress->start) / (progress->stop - progress->start);
    int tenths = done > 0 && done < 1 ? (int)(10 * done + 1e-9) : 0; /* the final message reports the end */
    double all = done > 0 ? progress->elapsed / done : 0;
    if (tenths <= told || all < *(const double *)context)
        return;
    told = tenths;
    char text[160], gone[32], left[32];
    print_duration(gone, sizeof gone, progress->elapsed);
    print_duration(left, sizeof left, all - progress->elapsed);
    snprintf(text, sizeof text, "%d %%: %s %.6g of %.6g after %s, about %s left", 10 * tenths,
             progress->is_study ? "run" : "t =", progress->time, progress->stop, gone, left);
    if (is_json)
        console_write_json(TUTTI_LOG_INFO, progress_json(progress, done), text);
    else
        fprintf(stderr, "tutti: progress: %s\n", text);
}
