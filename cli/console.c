/* SPDX-License-Identifier: MIT */
#include "console.h"

#include <math.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool progress_shown;

bool console_is_terminal(void)
{
    return isatty(STDERR_FILENO) == 1;
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

/* 12.3 s, 4.56 ms, 78.9 us */
static void print_seconds(char *out, size_t size, double seconds)
{
    if (seconds >= 1)
        snprintf(out, size, "%.3g s", seconds);
    else if (seconds >= 1e-3)
        snprintf(out, size, "%.3g ms", 1e3 * seconds);
    else
        snprintf(out, size, "%.3g us", 1e6 * seconds);
}

/* So many units get a line each; --stats has all of them. */
enum { MOST_UNITS_SHOWN = 8 };

static void print_units(const struct tutti_run_stats *stats)
{
    for (size_t i = 0; i < stats->unit_count && i < MOST_UNITS_SHOWN; i++)
        fprintf(stderr, "%-10s %s (FMI %s, %s)%s\n", "unit", stats->units[i].name, stats->units[i].fmi,
                stats->units[i].interface,
                stats->units[i].uses_events && !stats->units[i].solver ? ", with event mode" : "");
    if (stats->unit_count > MOST_UNITS_SHOWN)
        fprintf(stderr, "%-10s and %zu more (--stats lists all)\n", "", stats->unit_count - MOST_UNITS_SHOWN);
}

static void print_coupling(const struct tutti_run_stats *stats)
{
    unsigned long evaluations = 0;
    for (size_t i = 0; i < stats->unit_count; i++)
        evaluations += stats->units[i].init_evaluations;
    if (stats->unit_count < 2)
        return;
    fprintf(stderr, "%-10s %s%s%s, control %s, extrapolate %u, events %s\n", "coupling", stats->coupling,
            stats->correct ? " --correct" : "", stats->smooth ? " --smooth" : "", stats->control, stats->extrapolate,
            stats->events);
    fprintf(stderr, "%-10s %lu evaluations, %lu loop%s solved\n", "start", evaluations, stats->init_loops,
            stats->init_loops == 1 ? "" : "s");
}

/* What is only told where it happened. */
static void print_steps(const struct tutti_run_stats *stats)
{
    fprintf(stderr, "%-10s %lu accepted, %lu rejected, %lu events", "steps", stats->steps, stats->rejected,
            stats->events_located);
    if (stats->iterations > 0)
        fprintf(stderr, ", %lu iterations", stats->iterations);
    if (stats->not_converged > 0)
        fprintf(stderr, ", %lu not converged", stats->not_converged);
    if (stats->forced > 0)
        fprintf(stderr, ", %lu forced", stats->forced);
    fputc('\n', stderr);
    char late[32];
    print_seconds(late, sizeof late, stats->most_late);
    if (stats->overruns > 0)
        fprintf(stderr, "%-10s %lu points late, the worst by %s\n", "realtime", stats->overruns, late);
}

static void print_solvers(const struct tutti_run_stats *stats)
{
    size_t shown = 0;
    for (size_t i = 0; i < stats->unit_count && shown < MOST_UNITS_SHOWN; i++) {
        const struct tutti_unit_stats *unit = &stats->units[i];
        if (!unit->solver)
            continue;
        shown++;
        fprintf(stderr, "%-10s %s%s%s: %lu steps, %lu failed, %lu right-hand sides, %lu Jacobians, %lu restarts\n",
                "solver", stats->unit_count > 1 ? unit->name : "", stats->unit_count > 1 ? ", " : "", unit->solver,
                unit->solver_steps, unit->solver_error_failures + unit->solver_other_failures, unit->rhs_evaluations,
                unit->jacobian_evaluations, unit->solver_restarts);
    }
}

void console_summary(const struct tutti_run_stats *stats, const char *output)
{
    console_clear_progress();
    char total[32], set_up[32], loop[32];
    print_seconds(total, sizeof total, stats->setup_seconds + stats->loop_seconds);
    print_seconds(set_up, sizeof set_up, stats->setup_seconds);
    print_seconds(loop, sizeof loop, stats->loop_seconds);
    print_units(stats);
    print_coupling(stats);
    fprintf(stderr, "%-10s %.9g to %.9g%s\n", "time", stats->start, stats->stop,
            stats->terminated_by_fmu ? " (ended by the FMU)" : "");
    print_steps(stats);
    unsigned long do_steps = 0, gets = 0, sets = 0;
    for (size_t i = 0; i < stats->unit_count; i++) {
        do_steps += stats->units[i].do_steps;
        gets += stats->units[i].gets;
        sets += stats->units[i].sets;
    }
    fprintf(stderr, "%-10s %lu do-step, %lu get, %lu set\n", "FMI calls", do_steps, gets, sets);
    print_solvers(stats);
    fprintf(stderr, "%-10s %s (set-up %s, loop %s)\n", "took", total, set_up, loop);
    if (output)
        fprintf(stderr, "%-10s %s (%lu rows)\n", "result", output, stats->rows);
}
