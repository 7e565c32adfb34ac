/* SPDX-License-Identifier: MIT */
/* Steps by quantisation (Awais 2015 eq. 4.5): the next step ends when the first output would have moved by a quantum at
 * the rate of the last step: h = q |t_n - t_{n-1}| / |v_n - v_{n-1}|. Nothing is rolled back. */
#include "sim/control/quantum.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "sim/control/control.h"
#include "sim/rank.h"

static enum tutti_err quantum_attempt(struct tt_sim *master, double target, struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    double *now = master->compared.whole, most = 0;
    TRY(tt_control_attempt_step(master, target, result));
    if (tt_control_attempt_is_over(result))
        return TUTTI_OK;
    TRY(tt_outputs_read(&master->outputs, now));
    for (uint32_t i = 0; i < master->outputs.count; i++) {
        double quanta = fabs(now[i] - master->norm.before[i]) / master->quanta[i];
        bool own = tt_rank_owns(rank, tt_outputs_owner(&master->outputs, i).component);
        if (own && quanta > most) {
            most = quanta;
            result->driver = i;
        }
    }
    double driver = result->driver, found = most;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, &most, 1));
    if (found < most)
        driver = TUTTI_NONE;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, &driver, 1));
    result->driver = (uint32_t)driver;
    result->estimated = true;
    result->error = most;
    return TUTTI_OK;
}

static enum tt_verdict quantum_judge_step(struct tt_sim *master, const struct tt_step_result *result)
{
    double h = result->target - result->from;
    tt_step_size_multiply(&master->memory.stepper, h, result->error > 0 ? 1 / result->error : INFINITY);
    return TUTTI_ACCEPT;
}

const struct tt_control tt_control_quantum = {.name = "quantum",
                                              .varies = true,
                                              .takes_quantum = true,
                                              .estimates = true,
                                              .attempt = quantum_attempt,
                                              .judge = quantum_judge_step};

bool tt_quantum_is_requested(const struct tutti_run_options *options)
{
    return options->has_quantum || options->unit_quantum_count > 0;
}

static double output_nominal(const struct tt_outputs *outputs, uint32_t output)
{
    uint32_t read = outputs->rank->wires.real_count;
    return output < read ? outputs->rank->wires.reals[output].nominal : outputs->unread[output - read].nominal;
}

/* Returns true if output number i moves between events. */
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
