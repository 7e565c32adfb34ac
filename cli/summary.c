/* SPDX-License-Identifier: MIT */
#include "summary.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

/* "label        text" of a format; text that cannot be made for want of memory is left out. */
__attribute__((format(printf, 4, 5))) static void say(const struct display *display, const char *label,
                                                      enum display_tint tint, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    tt_text_make_printable(text);
    display_line(display, label, tint, text);
    free(text);
}

struct short_text {
    char text[48];
};

/* 12.3 s, 4.56 ms, 78.9 us */
static struct short_text show_seconds(double seconds)
{
    struct short_text out;
    if (seconds >= 1)
        snprintf(out.text, sizeof out.text, "%.3g s", seconds);
    else if (seconds >= 1e-3)
        snprintf(out.text, sizeof out.text, "%.3g ms", 1e3 * seconds);
    else
        snprintf(out.text, sizeof out.text, "%.3g us", 1e6 * seconds);
    return out;
}

/* 0.12, 3.4, 2,610, 1.2 million */
static struct short_text show_factor(double factor)
{
    struct short_text out;
    if (factor >= 1e6)
        snprintf(out.text, sizeof out.text, "%.3g million", factor / 1e6);
    else if (factor >= 1000)
        snprintf(out.text, sizeof out.text, "%ld,%03ld", lround(factor / 10) / 100, lround(factor / 10) % 100 * 10);
    else
        snprintf(out.text, sizeof out.text, "%.3g", factor);
    return out;
}

/* 123 B, 4.56 kB, 78.9 MB */
static struct short_text show_size(double bytes)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    struct short_text out;
    snprintf(out.text, sizeof out.text, "%.0f B", bytes);
    for (size_t i = 0; i < sizeof units / sizeof *units && bytes >= 1000; i++) {
        bytes /= 1000;
        snprintf(out.text, sizeof out.text, "%.*f %s", bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0, bytes, units[i]);
    }
    return out;
}

/* " on 2 threads"; "" where one thread did everything. */
static struct short_text show_place(const struct tutti_run_stats *stats)
{
    static const struct {
        const char *fabric, *preposition, *noun;
    } places[] = {{"threads", "on", "thread"}, {"processes", "in", "process"}, {"tcp", "on", "node"}};
    struct short_text out = {""};
    if (stats->ranks > 1 || strcmp(stats->fabric, "local") != 0)
        snprintf(out.text, sizeof out.text, " on %d ranks (%s)", stats->ranks, stats->fabric);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(stats->fabric, places[i].fabric) == 0)
            snprintf(out.text, sizeof out.text, " %s %d %s%s", places[i].preposition, stats->ranks, places[i].noun,
                     stats->ranks == 1                                   ? ""
                     : places[i].noun[strlen(places[i].noun) - 1] == 's' ? "es"
                                                                         : "s");
    return out;
}

static void say_system(const struct display *display, const struct summary *summary)
{
    const struct tutti_run_stats *stats = summary->stats;
    struct short_text where = show_place(stats);
    if (summary->file_count > 1)
        say(display, "system", DISPLAY_PLAIN, "%zu FMUs%s", summary->file_count, where.text);
    else if (stats->unit_count > 1)
        say(display, "system", DISPLAY_PLAIN, "%s, %zu units%s", summary->files[0], stats->unit_count, where.text);
    else
        say(display, "system", DISPLAY_PLAIN, "%s%s", summary->files[0], where.text);
    say(display, "time", DISPLAY_PLAIN, "%.9g to %.9g%s", stats->start, stats->stop,
        stats->terminated_by_fmu ? " (ended by the FMU)" : "");
}

static const char asked[] = "as asked for";

static void say_control(const struct display *display, const struct tutti_run_stats *stats)
{
    say(display, "control", DISPLAY_PLAIN, "%s: %s", stats->control,
        stats->control_reason ? stats->control_reason : asked);
}

static void say_events(const struct display *display, const struct tutti_run_stats *stats)
{
    say(display, "events", DISPLAY_PLAIN, "%s: %s", stats->events, stats->events_reason ? stats->events_reason : asked);
}

/* The choices of the master, in the words of `tutti analyze`. */
static void say_choices(const struct display *display, const struct tutti_run_stats *stats)
{
    unsigned long evaluations = 0;
    for (size_t i = 0; i < stats->unit_count; i++)
        evaluations += stats->units[i].init_evaluations;
    if (stats->coupling_reason) /* this also explains --correct if it is part of the choice */
        say(display, "coupling", DISPLAY_PLAIN, "%s: %s", stats->coupling, stats->coupling_reason);
    else
        say(display, "coupling", DISPLAY_PLAIN, "%s%s%s%s: %s", stats->coupling, stats->correct ? " --correct" : "",
            stats->correct && strcmp(stats->correct_how, "solve") == 0 ? " solve" : "",
            stats->smooth ? " --smooth" : "", asked);
    say_control(display, stats);
    say(display, "extrapolate", DISPLAY_PLAIN, "%d: %s", stats->extrapolate,
        stats->extrapolate_reason ? stats->extrapolate_reason : asked);
    say_events(display, stats);
    if (stats->init_loops > 0)
        say(display, "start", DISPLAY_PLAIN, "%lu evaluations, %lu loop%s solved in %lu iteration%s", evaluations,
            stats->init_loops, stats->init_loops == 1 ? "" : "s", stats->init_iterations,
            stats->init_iterations == 1 ? "" : "s");
    else
        say(display, "start", DISPLAY_PLAIN, "%lu evaluations, no loops", evaluations);
}

/* Problems and hidden costs are printed only if they occurred. */
static void say_steps(const struct display *display, const struct tutti_run_stats *stats)
{
    struct short_text size = {""}, iterations = {""}, restless = {""}, forced = {""};
    if (stats->steps > 0 && strcmp(stats->control, "fixed") != 0)
        snprintf(size.text, sizeof size.text, " (%.3g on average)",
                 (stats->stop - stats->start) / (double)stats->steps);
    if (stats->iterations > 0)
        snprintf(iterations.text, sizeof iterations.text, ", %lu iterations", stats->iterations);
    if (stats->not_converged > 0)
        snprintf(restless.text, sizeof restless.text, ", %lu not converged", stats->not_converged);
    if (stats->forced > 0)
        snprintf(forced.text, sizeof forced.text, ", %lu forced", stats->forced);
    say(display, "steps", stats->not_converged + stats->forced > 0 ? DISPLAY_WARNING : DISPLAY_PLAIN,
        "%lu accepted%s, %lu rejected, %lu events%s%s%s", stats->steps, size.text, stats->rejected,
        stats->events_located, iterations.text, restless.text, forced.text);
    if (stats->estimated_in)
        say(display, "error", stats->estimated_error > 1.5 ? DISPLAY_WARNING : DISPLAY_PLAIN,
            "estimated: up to %.2g times --rtol (%s: %.2g)", stats->estimated_error, stats->estimated_in,
            stats->estimated_size);
    if (stats->drift_in)
        say(display, "drift", DISPLAY_PLAIN, "up to %.2g (%s); mobilities measured %lu times", stats->drift,
            stats->drift_in, stats->mobilities);
    if (stats->overruns > 0)
        say(display, "realtime", DISPLAY_WARNING, "%lu points late, the worst by %s", stats->overruns,
            show_seconds(stats->most_late).text);
}

/* When partitions began, with --realtime. */
static void say_latencies(const struct display *display, const struct tutti_run_stats *stats)
{
    const struct {
        const char *name;
        unsigned long count;
    } bins[] = {
        {"<= 10 us", stats->latency_10us},   {"<= 30 us", stats->latency_30us},   {"<= 100 us", stats->latency_100us},
        {"<= 300 us", stats->latency_300us}, {"<= 1 ms", stats->latency_1ms},     {"<= 3 ms", stats->latency_3ms},
        {"<= 10 ms", stats->latency_10ms},   {"<= 100 ms", stats->latency_100ms}, {"more", stats->latency_more}};
    char text[512] = "";
    size_t at = 0;
    for (size_t i = 0; i < sizeof bins / sizeof *bins; i++)
        if (bins[i].count > 0)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s: %lu", at > 0 ? ", " : "", bins[i].name,
                                   bins[i].count);
    if (at > 0)
        say(display, "latencies", DISPLAY_PLAIN, "%s; the worst %s; %lu interrupted others", text,
            show_seconds(stats->latency_most).text, stats->preemptions);
}

static void say_result(const struct display *display, const struct summary *summary)
{
    struct stat status;
    const char *path = summary->output_path ? summary->output_path : summary->output;
    bool sized = path && stat(path, &status) == 0;
    if (path)
        say(display, "result", DISPLAY_PLAIN, "%s (%lu rows%s%s)", summary->output, summary->stats->rows,
            sized ? ", " : "", sized ? show_size((double)status.st_size).text : "");
}

/* Where the time of the loop went, of all ranks; and how to save it if most of it went into states that are saved only for
 * events that `auto` looks for. */
static void say_shares(const struct display *display, const struct tutti_run_stats *stats)
{
    double steps = 0, save = 0, restore = 0, set = 0, get = 0;
    double all = stats->loop_seconds * (stats->ranks > 0 ? stats->ranks : 1);
    for (size_t i = 0; i < stats->unit_count; i++) {
        const struct tt_unit_stats *unit = &stats->units[i];
        steps += unit->seconds;
        save += unit->save_seconds;
        restore += unit->restore_seconds;
        set += unit->set_seconds;
        get += unit->get_seconds;
    }
    if (!(all > 0) || stats->unit_count < 2 || !(save + restore + set + get > 0))
        return;
    bool only_events = stats->events_reason && strcmp(stats->control, "fixed") == 0 && stats->iterations == 0;
    bool dear = only_events && save > 0.5 * all;
    say(display, "spent", dear ? DISPLAY_WARNING : DISPLAY_PLAIN,
        "%.0f %% in do-steps, %.0f %% saving states, %.0f %% restoring, %.0f %% setting, %.0f %% getting%s",
        100 * steps / all, 100 * save / all, 100 * restore / all, 100 * set / all, 100 * get / all,
        dear ? "; states are saved to locate events: --events none does without" : "");
}

/* Prints the cost of rolling FMUs back by forking. */
static void say_forks(const struct display *display, const struct tutti_run_stats *stats)
{
    unsigned long units = 0, points = 0, rollbacks = 0;
    double save = 0, restore = 0;
    for (size_t i = 0; i < stats->unit_count; i++) {
        const struct tt_unit_stats *unit = &stats->units[i];
        if (!unit->forked)
            continue;
        units++;
        points += unit->points;
        rollbacks += unit->rollbacks;
        save += unit->save_seconds;
        restore += unit->restore_seconds;
    }
    if (units > 0)
        say(display, "forks", DISPLAY_PLAIN, "%lu %s: %lu points (%s), %lu ways back (%s)", units,
            units > 1 ? "units" : "unit", points, show_seconds(save).text, rollbacks, show_seconds(restore).text);
}

static void say_durations(const struct display *display, const struct tutti_run_stats *stats)
{
    bool fast = stats->loop_seconds > 0;
    struct short_text speed = show_factor(fast ? (stats->stop - stats->start) / stats->loop_seconds : 0);
    say(display, "took", DISPLAY_PLAIN, "%s (set-up %s, loop %s%s%s%s)",
        show_seconds(stats->setup_seconds + stats->loop_seconds).text, show_seconds(stats->setup_seconds).text,
        show_seconds(stats->loop_seconds).text, fast ? ", " : "", fast ? speed.text : "", fast ? " x real time" : "");
}

void summary_print(const struct summary *summary)
{
    const struct tutti_run_stats *stats = summary->stats;
    const struct display display = display_of(stderr);
    say_system(&display, summary);
    if (strcmp(stats->coupling, "none") != 0)
        say_choices(&display, stats);
    else if (strcmp(stats->control, "fixed") != 0) {
        say_control(&display, stats);
        say_events(&display, stats);
    }
    say_steps(&display, stats);
    if (summary->rtol && stats->unit_count == 1 && !stats->estimated_in && strcmp(stats->units[0].interface, "cs") == 0)
        say(&display, "error", DISPLAY_PLAIN,
            "not controlled: the FMU uses an internal solver, which receives --rtol and may ignore it");
    say_latencies(&display, stats);
    summary_table(&display, stats);
    say_shares(&display, stats);
    say_forks(&display, stats);
    say_result(&display, summary);
    say_durations(&display, stats);
}
