/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "text_json.h"

static json_t *units_json(const struct tutti_run_stats *stats)
{
    json_t *list = json_array();
    for (size_t i = 0; i < stats->unit_count; i++) {
        const struct tutti_unit_stats *unit = &stats->units[i];
        json_t *json = json_pack("{s:o, s:o, s:s, s:s, s:s?, s:i, s:f}", "name", text_json(unit->name), "fmu",
                                 text_json(unit->fmu), "fmi", unit->fmi, "interface", unit->interface, "solver",
                                 unit->solver, "rank", unit->rank, "seconds", unit->seconds);
        const struct {
            const char *name;
            unsigned long count;
        } counts[] = {
            {"do_steps", unit->do_steps},
            {"accepted", unit->accepted},
            {"rejected", unit->rejected},
            {"auxiliary", unit->auxiliary},
            {"rollbacks", unit->rollbacks},
            {"gets", unit->gets},
            {"sets", unit->sets},
            {"init_evaluations", unit->init_evaluations},
            {"solver_steps", unit->solver_steps},
            {"rhs_evaluations", unit->rhs_evaluations},
            {"jacobian_evaluations", unit->jacobian_evaluations},
            {"directional_derivatives", unit->directional_derivatives},
            {"solver_error_failures", unit->solver_error_failures},
            {"solver_other_failures", unit->solver_other_failures},
            {"solver_restarts", unit->solver_restarts},
        };
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            json_object_set_new(json, counts[c].name, json_integer((json_int_t)counts[c].count));
        const struct {
            const char *name;
            double seconds;
        } shares[] = {
            {"save_seconds", unit->save_seconds},
            {"restore_seconds", unit->restore_seconds},
            {"set_seconds", unit->set_seconds},
            {"get_seconds", unit->get_seconds},
        };
        for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
            json_object_set_new(json, shares[s].name, json_real(shares[s].seconds));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *reasons_json(const struct tutti_run_stats *stats)
{
    const struct {
        const char *name, *reason;
    } reasons[] = {
        {"coupling", stats->coupling_reason},
        {"control", stats->control_reason},
        {"extrapolate", stats->extrapolate_reason},
        {"events", stats->events_reason},
    };
    json_t *json = json_object();
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        json_object_set_new(json, reasons[i].name, reasons[i].reason ? text_json(reasons[i].reason) : json_null());
    return json;
}

static json_t *estimate_json(const struct tutti_run_stats *stats)
{
    return stats->estimated_in ? json_pack("{s:o, s:f, s:f}", "variable", text_json(stats->estimated_in), "share",
                                           stats->estimated_error, "size", stats->estimated_size)
                               : json_null();
}

static json_t *stats_json(const struct tutti_run_stats *stats, const char *system)
{
    char order[16];
    snprintf(order, sizeof order, "%u", stats->extrapolate);
    return json_pack(
        "{s:s, s:o, s:s, s:s, s:s, s:s, s:b, s:b, s:s, s:i, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:I, s:I, s:I, "
        "s:o, s:f, s:f, s:f, s:o, s:o}",
        "version", tutti_version(), "system", text_json(system), "coupling", stats->coupling, "control", stats->control,
        "extrapolate", order, "events", stats->events, "correct", stats->correct, "smooth", stats->smooth, "fabric",
        stats->fabric, "ranks", stats->ranks, "start", stats->start, "stop", stats->stop, "steps",
        (json_int_t)stats->steps, "rejected", (json_int_t)stats->rejected, "iterations", (json_int_t)stats->iterations,
        "events_located", (json_int_t)stats->events_located, "exchanges", (json_int_t)stats->exchanges, "init_loops",
        (json_int_t)stats->init_loops, "init_iterations", (json_int_t)stats->init_iterations, "not_converged",
        (json_int_t)stats->not_converged, "forced", (json_int_t)stats->forced, "overruns", (json_int_t)stats->overruns,
        "estimated_error", estimate_json(stats), "most_late", stats->most_late, "setup_seconds", stats->setup_seconds,
        "loop_seconds", stats->loop_seconds, "reasons", reasons_json(stats), "units", units_json(stats));
}

bool stats_write(const struct tutti_run_stats *stats, const char *system, const char *path)
{
    json_t *json = stats_json(stats, system);
    if (!json) {
        fputs("tutti: error: --stats: out of memory\n", stderr);
        return false;
    }
    FILE *file = strcmp(path, "-") == 0 ? output_standard() : fopen(path, "w");
    bool done = file && json_dumpf(json, file, JSON_INDENT(2)) == 0 && fputc('\n', file) != EOF;
    if (file && file != output_standard())
        done = fclose(file) == 0 && done;
    if (!done)
        fprintf(stderr, "tutti: error: --stats: '%s' cannot be written: %s\n", path, strerror(errno));
    json_decref(json);
    return done;
}
