/* SPDX-License-Identifier: MIT */
#include "console.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

void console_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    static const char *const words[] = {"error", "warning", "info", "debug"};
    console_clear_progress();
    fprintf(stderr, "tutti: %s: %s%s%s\n", words[level], origin ? origin : "", origin ? ": " : "", text);
}

void console_error(const char *message)
{
    console_clear_progress();
    fprintf(stderr, "tutti: error: %s\n", message);
}

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
    int length = snprintf(text, sizeof text, "%5.1f%%  t = %.6g of %.6g  %.3g x real time  h = %.3g  ETA %s",
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
