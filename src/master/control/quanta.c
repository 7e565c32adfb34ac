/* SPDX-License-Identifier: MIT */
#include "master/control/quanta.h"

#include <math.h>
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"

bool tutti_quanta_are_given(const struct tutti_run_options *options)
{
    return options->has_quantum || options->unit_quantum_count > 0;
}

static double nominal_of(const struct tutti_outputs *outputs, uint32_t output)
{
    uint32_t read = outputs->rank->wires.real_count;
    return output < read ? outputs->rank->wires.reals[output].nominal : outputs->unread[output - read].nominal;
}

/* Does output number i move between events? */
static bool is_smooth(const struct tutti_outputs *outputs, uint32_t i)
{
    const struct tutti_wires *wires = &outputs->rank->wires;
    return i >= wires->real_count || wires->reals[i].smooth;
}

static enum tutti_err not_found(const struct tutti_outputs *outputs, const char *text)
{
    struct tutti_rank *rank = outputs->rank;
    struct tutti_nearest nearest = {.wanted = text};
    char *names = tutti_arena_array(&rank->arena, outputs->count, 256);
    for (uint32_t i = 0; names && i < outputs->count; i++) {
        struct tutti_end end = tutti_outputs_end(outputs, i);
        if (is_smooth(outputs, i))
            tutti_nearest_offer(&nearest, tutti_system_name(rank->job->system, &end, names + 256 * (size_t)i, 256));
    }
    return tutti_fail(TUTTI_ERR_ARGUMENT, "--quantum %s: there is no such continuous output%s", text,
                      tutti_nearest_hint(nearest.best).text);
}

/* "UNIT.VAR=Q": all elements of VAR. */
static enum tutti_err take_named(double *quanta, const struct tutti_outputs *outputs, const char *text)
{
    const char *equals = strrchr(text, '=');
    double quantum;
    bool found = false;
    if (!equals || !tutti_number_read_double(equals + 1, strlen(equals + 1), &quantum) || !(quantum > 0) ||
        !isfinite(quantum))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--quantum takes UNIT.VAR=Q with a number Q greater than 0, not '%s'",
                          text);
    for (uint32_t i = 0; i < outputs->count; i++) {
        char name[256];
        struct tutti_end end = tutti_outputs_end(outputs, i);
        tutti_system_name(outputs->rank->job->system, &end, name, sizeof name);
        if (!is_smooth(outputs, i) || strlen(name) != (size_t)(equals - text) || strncmp(name, text, strlen(name)) != 0)
            continue;
        quanta[i] = quantum;
        found = true;
    }
    return found ? TUTTI_OK : not_found(outputs, text);
}

enum tutti_err tutti_quanta_make(const double **quanta, const struct tutti_outputs *outputs)
{
    struct tutti_rank *rank = outputs->rank;
    const struct tutti_run_options *options = &rank->job->options;
    double *all = tutti_arena_array(&rank->arena, outputs->count, sizeof *all);
    if (!all)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < outputs->count; i++)
        all[i] = options->has_quantum && is_smooth(outputs, i) ? options->quantum * nominal_of(outputs, i) : INFINITY;
    for (size_t i = 0; i < options->unit_quantum_count; i++)
        TRY(take_named(all, outputs, options->unit_quantums[i]));
    *quanta = all;
    return TUTTI_OK;
}
