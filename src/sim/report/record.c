/* SPDX-License-Identifier: MIT */
#include "sim/report/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "unit/unit.h"

bool tt_record_is_requested(const struct tutti_run_options *options, const char *output)
{
    return (output || options->watcher || options->live) && !tt_options_records_nothing(options);
}

enum tutti_err tt_record_open(struct tt_record *observer, const struct tutti_run_options *options, const char *output,
                              const struct tt_wires *wires, const struct tt_recorded_unit *observed,
                              const struct tutti_log *log, struct tt_fabric *fabric, struct tt_bytes resume)
{
    *observer = (struct tt_record){
        .log = log,
        .wires = wires,
        .name = wires->structure->system->name,
        .records = tt_record_is_requested(options, output),
        .asleep = options->live && strcmp(options->live, TUTTI_LIVE_WANTED_ROWS) == 0,
    };
    if (observer->records)
        TRY(tt_record_columns_choose(observer, options, wires, observed));
    if (fabric)
        return tt_record_open_sink(&observer->sink, fabric, observer->name, observer->columns, observer->places,
                                   observer->column_count, observer->records);
    const struct tt_output_target target = {.path = output,
                                            .watcher = options->watcher,
                                            .tells_digits = options->tells_digits,
                                            .room = options->room,
                                            .log = observer->log,
                                            .origin = observer->name,
                                            .by_thread = true,
                                            .resume = resume};
    return observer->records
               ? tt_output_open(&observer->sink.output, &target, observer->columns, observer->column_count)
               : TUTTI_OK;
}

bool tt_record_has_feedthrough(const struct tt_record *observer)
{
    for (size_t i = 0; i < observer->look_count; i++)
        if (observer->looks[i].follows)
            return true;
    return false;
}

static enum tutti_err convert_recorded_input(const struct tt_wires *wires, const struct tt_recorded_input *input)
{
    TRY(tt_wires_get_incoming(wires, input->node, input->staged));
    for (uint32_t e = 0; input->floats && e < wires->slots[input->node].count; e++)
        input->floats[e] = (float)((const double *)input->staged)[e];
    return TUTTI_OK;
}

/* A state that is not finite stays so, and all that follows from it; at the start it may still become finite. */
static enum tutti_err check_recorded_states(const struct tt_record *observer, double t)
{
    double sum = 0;
    for (size_t i = 0; i < observer->state_count; i++) {
        double value = *(const double *)observer->columns[observer->states[i]].value;
        sum += value - value;
    }
    if (__builtin_expect(sum == 0 || observer->rows == 0, 1))
        return TUTTI_OK;
    for (size_t i = 0; i < observer->state_count; i++) {
        const struct tt_column *column = &observer->columns[observer->states[i]];
        double value = *(const double *)column->value;
        if (isfinite(value))
            continue;
        tt_fail(
            TUTTI_ERR_SOLVER,
            "t = %s: the state '%s' is not finite (%s); rows before are kept; use a smaller --step, or --interface me, "
            "and check the parameters of its FMU",
            TIME(t), column->name, isnan(value) ? "NaN" : "infinite");
        return tt_fail_about(TUTTI_ERR_SOLVER, NULL, NULL, t);
    }
    return TUTTI_OK;
}

enum tutti_err tt_record_write_row(struct tt_record *observer, double t)
{
    if (!observer->records || observer->muted || observer->asleep)
        return TUTTI_OK;
    for (size_t i = 0; i < observer->look_count; i++) {
        struct tt_recorded_read *look = &observer->looks[i];
        TRY(look->follows && observer->renewed.read
                ? observer->renewed.read(observer->renewed.context, look->component, &look->signals)
                : tt_unit_get(look->unit, &look->signals));
    }
    for (size_t i = 0; i < observer->input_count; i++)
        TRY(convert_recorded_input(observer->wires, &observer->inputs[i]));
    for (size_t i = 0; i < observer->port_count; i++) {
        const struct tt_recorded_port *port = &observer->ports[i];
        TRY(tt_conversion_apply(port->conversion, port->from, port->to, port->count));
    }
    if (observer->extra)
        TRY(tt_me_extra_values(observer->extra_unit, observer->extra_values));
    TRY(check_recorded_states(observer, t));
    observer->rows++;
    observer->last_row = t;
    return tt_record_send_row(&observer->sink, t);
}

enum tutti_err tt_record_report_columns(const struct tt_record *observer)
{
    return tt_output_check_finite(&observer->sink.output, observer->last_row);
}

enum tutti_err tt_record_flush(struct tt_record *observer)
{
    return tt_record_flush_sink(&observer->sink);
}

enum tutti_err tt_record_close(struct tt_record *observer)
{
    enum tutti_err err = tt_record_close_sink(&observer->sink);
    for (size_t i = 0; i < observer->look_count; i++)
        tt_signals_fini(&observer->looks[i].signals);
    free(observer->columns);
    free(observer->places);
    free(observer->states);
    tt_arena_fini(&observer->arena);
    *observer = (struct tt_record){.rows = observer->rows};
    return err;
}
