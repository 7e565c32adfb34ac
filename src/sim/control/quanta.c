/* SPDX-License-Identifier: MIT */
#include "sim/control/quanta.h"

#include <math.h>
#include <string.h>

#include "base/suggestion.h"
#include "base/number.h"

bool tt_quantum_is_requested(const struct tutti_run_options *options)
{
    return options->has_quantum || options->unit_quantum_count > 0;
}

static double output_nominal(const struct tt_outputs *outputs, uint32_t output)
{
    uint32_t read = outputs->rank->wires.real_count;
    return output < read ? outputs->rank->wires.reals[output].nominal : outputs->unread[output - read].nominal;
}

/* Does output number i move between events? */
static bool output_is_continuous(const struct tt_outputs *outputs, uint32_t i)
{
    const struct tt_wires *wires = &outputs->rank->wires;
    return i >= wires->real_count || wires->reals[i].smooth;
}

static enum tutti_err fail_unknown_output(const struct tt_outputs *outputs, const char *text)
{
    struct tt_rank *rank = outputs->rank;
    struct tt_text_nearest nearest = {.wanted = text};
    char *names = tt_arena_array(&rank->arena, outputs->count, 256);
    for (uint32_t i = 0; names && i < outputs->count; i++) {
        struct tt_end end = tt_outputs_owner(outputs, i);
        if (output_is_continuous(outputs, i))
            tt_text_nearest_offer(&nearest, tt_system_name(rank->job->system, &end, names + 256 * (size_t)i, 256));
    }
    return tt_fail(TUTTI_ERR_ARGUMENT, "--quantum %s: there is no such continuous output%s", text,
                   tt_text_suggest(nearest.best).text);
}

/* "UNIT.VAR=Q": all elements of VAR. */
static enum tutti_err parse_named_quantum(double *quanta, const struct tt_outputs *outputs, const char *text)
{
    const char *equals = strrchr(text, '=');
    double quantum;
    bool found = false;
    if (!equals || !tt_number_read_double(equals + 1, strlen(equals + 1), &quantum) || !(quantum > 0) ||
        !isfinite(quantum))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--quantum takes UNIT.VAR=Q with a number Q greater than 0, not '%s'", text);
    for (uint32_t i = 0; i < outputs->count; i++) {
        char name[256];
        struct tt_end end = tt_outputs_owner(outputs, i);
        tt_system_name(outputs->rank->job->system, &end, name, sizeof name);
        if (!output_is_continuous(outputs, i) || strlen(name) != (size_t)(equals - text) ||
            strncmp(name, text, strlen(name)) != 0)
            continue;
        quanta[i] = quantum;
        found = true;
    }
    return found ? TUTTI_OK : fail_unknown_output(outputs, text);
}

enum tutti_err tt_quantum_parse_quanta(const double **quanta, const struct tt_outputs *outputs)
{
    struct tt_rank *rank = outputs->rank;
    const struct tutti_run_options *options = &rank->job->options;
    double *all = tt_arena_array(&rank->arena, outputs->count, sizeof *all);
    if (!all)
        return tt_fail_memory();
    for (uint32_t i = 0; i < outputs->count; i++)
        all[i] = options->has_quantum && output_is_continuous(outputs, i)
                     ? options->quantum * output_nominal(outputs, i)
                     : INFINITY;
    for (size_t i = 0; i < options->unit_quantum_count; i++)
        TRY(parse_named_quantum(all, outputs, options->unit_quantums[i]));
    *quanta = all;
    return TUTTI_OK;
}
