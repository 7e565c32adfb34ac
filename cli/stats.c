/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static json_t *unit_json(const struct tutti_run_stats *stats)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "name", stats->unit.name,
                     "fmu", stats->unit.fmu, "fmi", stats->unit.fmi, "interface", stats->unit.interface, "rank",
                     stats->unit.rank, "do_steps", (json_int_t)stats->unit.do_steps, "rollbacks",
                     (json_int_t)stats->unit.rollbacks, "gets", (json_int_t)stats->unit.gets, "sets",
                     (json_int_t)stats->unit.sets, "init_evaluations", (json_int_t)stats->unit.init_evaluations,
                     "solver_steps", (json_int_t)stats->unit.solver_steps, "rhs_evaluations",
                     (json_int_t)stats->unit.rhs_evaluations, "jacobian_evaluations",
                     (json_int_t)stats->unit.jacobian_evaluations, "seconds", stats->unit.seconds);
}

/* One FMU is a system of one: nothing to couple, one step size, held inputs, one rank. */
static json_t *stats_json(const struct tutti_run_stats *stats, const char *system)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:[o]}",
                     "version", tutti_version(), "system", system, "coupling", "none", "control", "fixed",
                     "extrapolate", "0", "events", stats->uses_events ? "early" : "none", "fabric", "local", "ranks", 1,
                     "start", stats->start, "stop", stats->stop, "steps", (json_int_t)stats->steps, "rejected",
                     (json_int_t)stats->rejected, "iterations", (json_int_t)stats->iterations, "events_located",
                     (json_int_t)stats->events_located, "exchanges", (json_int_t)stats->exchanges, "setup_seconds",
                     stats->setup_seconds, "loop_seconds", stats->loop_seconds, "units", unit_json(stats));
}

bool stats_write(const struct tutti_run_stats *stats, const char *system, const char *path)
{
    json_t *json = stats_json(stats, system);
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    bool done = json && file && json_dumpf(json, file, JSON_INDENT(2)) == 0 && fputc('\n', file) != EOF;
    if (file && file != stdout)
        done = fclose(file) == 0 && done;
    if (!done)
        fprintf(stderr, "tutti: error: --stats: '%s' cannot be written: %s\n", path, strerror(errno));
    json_decref(json);
    return done;
}
