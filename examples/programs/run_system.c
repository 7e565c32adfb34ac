/* SPDX-License-Identifier: MIT */
/* run_system - runs an FMU or a system of FMUs from start to stop, and prints the largest value of each of its outputs. Nothing
 * is written to the disk: the program looks at every row itself.
 *
 *     cc run_system.c -o run_system $(pkg-config --cflags --libs tutti)
 *     ./run_system quarter_car.ssp chassis.x=0.2
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

struct maxima {
    size_t count;
    char **names;
    double *values, *times;
};

/* Told once, before the first row. The texts are good during the call only. */
static enum tutti_err take_columns(void *context, const struct tutti_recorded *shown, size_t count)
{
    struct maxima *maxima = context;
    maxima->names = calloc(count, sizeof *maxima->names);
    maxima->values = calloc(count, sizeof *maxima->values);
    maxima->times = calloc(count, sizeof *maxima->times);
    if (count > 0 && (!maxima->names || !maxima->values || !maxima->times))
        return tutti_extra_fail(TUTTI_ERR_MEMORY, "no memory for %zu columns", count);
    for (maxima->count = 0; maxima->count < count; maxima->count++) {
        maxima->names[maxima->count] = strdup(shown[maxima->count].name);
        maxima->values[maxima->count] = -1.0 / 0.0;
    }
    return TUTTI_OK;
}

static enum tutti_err take_row(void *context, double t, const double *values)
{
    struct maxima *maxima = context;
    for (size_t i = 0; i < maxima->count; i++)
        if (values[i] > maxima->values[i]) {
            maxima->values[i] = values[i];
            maxima->times[i] = t;
        }
    return TUTTI_OK;
}

/* Messages of the library and of FMUs. */
static void write_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    fprintf(stderr, "%s: %s: %s\n", level == TUTTI_LOG_ERROR ? "error" : "warning", origin ? origin : "tutti", text);
}

static void print(const struct maxima *maxima, const struct tutti_run_stats *stats)
{
    for (size_t i = 0; i < maxima->count; i++)
        printf("%-20s at most %12.6g, at t = %g\n", maxima->names[i], maxima->values[i], maxima->times[i]);
    printf("%.0f steps from %g to %g, coupling %s, control %s\n", tutti_stats_number(stats, "steps"),
           tutti_stats_number(stats, "start"), tutti_stats_number(stats, "stop"), tutti_stats_text(stats, "coupling"),
           tutti_stats_text(stats, "control"));
    for (size_t u = 0; u < tutti_stats_unit_count(stats); u++)
        printf("%-20s FMI %s %s: %.0f steps, %.0f rejected\n", tutti_stats_text_of_unit(stats, u, "name"),
               tutti_stats_text_of_unit(stats, u, "fmi"), tutti_stats_text_of_unit(stats, u, "interface"),
               tutti_stats_number_of_unit(stats, u, "do_steps"), tutti_stats_number_of_unit(stats, u, "rejected"));
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: run_system FILE [NAME=VALUE...]\n");
        return 2;
    }
    struct maxima maxima = {0};
    struct tutti_watcher watcher = {.context = &maxima, .columns = take_columns, .row = take_row};
    struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = write_log};
    struct tutti_run_options *options = NULL;
    struct tutti_run_stats *stats = NULL;
    enum tutti_err err = tutti_options_make(&options);
    if (!err)
        err = tutti_stats_make(&stats);
    if (!err)
        err = tutti_options_set(options, "file", argv[1]);
    for (int i = 2; i < argc && !err; i++)
        err = tutti_options_set(options, "set", argv[i]);
    if (!err) {
        tutti_options_set_watcher(options, &watcher);
        tutti_options_set_log(options, &log);
        err = tutti_run(options, stats);
    }
    if (err)
        fprintf(stderr, "run_system: %s: %s\n", tutti_err_name(err), tutti_err_message());
    else
        print(&maxima, stats);
    tutti_stats_free(stats);
    tutti_options_free(options);
    for (size_t i = 0; i < maxima.count; i++)
        free(maxima.names[i]);
    free(maxima.names);
    free(maxima.values);
    free(maxima.times);
    return err ? 1 : 0;
}
