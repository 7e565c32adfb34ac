/* SPDX-License-Identifier: MIT */
#include "report/observer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "unit/unit.h"

bool tutti_observer_is_wanted(const struct tutti_run_options *options, const char *output)
{
    return (output || options->watcher || options->live) && !tutti_options_record_nothing(options);
}

enum tutti_err tutti_observer_open(struct tutti_observer *observer, const struct tutti_run_options *options,
                                   const char *output, const struct tutti_wires *wires,
                                   const struct tutti_observed *observed, const struct tutti_log *log,
                                   struct tutti_fabric *fabric, struct tutti_bytes resume)
{
    *observer = (struct tutti_observer){
        .log = log,
        .wires = wires,
        .name = wires->structure->system->name,
        .records = tutti_observer_is_wanted(options, output),
        .asleep = options->live && strcmp(options->live, TUTTI_LIVE_WANTED_ROWS) == 0,
    };
    if (observer->records)
        TRY(tutti_observer_choose(observer, options, wires, observed));
    if (fabric)
        return tutti_sink_open_report(&observer->sink, fabric, observer->name, observer->columns, observer->places,
                                      observer->column_count, observer->records);
    const struct tutti_output_target target = {.path = output,
                                               .watcher = options->watcher,
                                               .tells_digits = options->tells_digits,
                                               .room = options->room,
                                               .log = observer->log,
                                               .origin = observer->name,
                                               .by_thread = true,
                                               .resume = resume};
    return observer->records
               ? tutti_output_open(&observer->sink.output, &target, observer->columns, observer->column_count)
               : TUTTI_OK;
}

bool tutti_observer_follows(const struct tutti_observer *observer)
{
    for (size_t i = 0; i < observer->look_count; i++)
        if (observer->looks[i].follows)
            return true;
    return false;
}

static enum tutti_err show_input(const struct tutti_wires *wires, const struct tutti_shown_input *input)
{
    TRY(tutti_wires_bring(wires, input->node, input->staged));
    for (uint32_t e = 0; input->floats && e < wires->slots[input->node].count; e++)
        input->floats[e] = (float)((const double *)input->staged)[e];
    return TUTTI_OK;
}

/* A state that is not finite stays so, and all that follows from it; at the start it may still become finite. */
static enum tutti_err check_states(const struct tutti_observer *observer, double t)
{
    double sum = 0;
    for (size_t i = 0; i < observer->state_count; i++) {
        double value = *(const double *)observer->columns[observer->states[i]].value;
        sum += value - value;
    }
    if (__builtin_expect(sum == 0 || observer->rows == 0, 1))
        return TUTTI_OK;
    for (size_t i = 0; i < observer->state_count; i++) {
        const struct tutti_column *column = &observer->columns[observer->states[i]];
        double value = *(const double *)column->value;
        if (isfinite(value))
            continue;
        tutti_fail(
            TUTTI_ERR_SOLVER,
            "t = %s: the state '%s' is not finite (%s); rows before are kept; use a smaller --step, or --interface me, "
            "and check the parameters of its FMU",
            TIME(t), column->name, isnan(value) ? "NaN" : "infinite");
        return tutti_fail_about(TUTTI_ERR_SOLVER, NULL, NULL, t);
    }
    return TUTTI_OK;
}

enum tutti_err tutti_observer_row(struct tutti_observer *observer, double t)
{
    if (!observer->records || observer->muted || observer->asleep)
        return TUTTI_OK;
    for (size_t i = 0; i < observer->look_count; i++) {
        struct tutti_look *look = &observer->looks[i];
        TRY(look->follows && observer->renewed.read
                ? observer->renewed.read(observer->renewed.context, look->component, &look->signals)
                : tutti_unit_get(look->unit, &look->signals));
    }
    for (size_t i = 0; i < observer->input_count; i++)
        TRY(show_input(observer->wires, &observer->inputs[i]));
    for (size_t i = 0; i < observer->port_count; i++) {
        const struct tutti_shown_port *port = &observer->ports[i];
        TRY(tutti_convert(port->conversion, port->from, port->to, port->count));
    }
    if (observer->extra)
        TRY(tutti_unit_extra_outputs(observer->extra_unit, observer->extra_values));
    TRY(check_states(observer, t));
    observer->rows++;
    observer->last_row = t;
    return tutti_sink_row(&observer->sink, t);
}

enum tutti_err tutti_observer_conclude(const struct tutti_observer *observer)
{
    return tutti_output_conclude(&observer->sink.output, observer->last_row);
}

enum tutti_err tutti_observer_flush(struct tutti_observer *observer)
{
    return tutti_sink_flush(&observer->sink);
}

enum tutti_err tutti_observer_close(struct tutti_observer *observer)
{
    enum tutti_err err = tutti_sink_close(&observer->sink);
    for (size_t i = 0; i < observer->look_count; i++)
        tutti_signals_fini(&observer->looks[i].signals);
    free(observer->columns);
    free(observer->places);
    free(observer->states);
    tutti_arena_fini(&observer->arena);
    *observer = (struct tutti_observer){.rows = observer->rows};
    return err;
}
