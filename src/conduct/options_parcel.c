/* SPDX-License-Identifier: MIT */
#include "conduct/options_parcel.h"

#include <string.h>

#define FIELD(field, kind)                                                                                             \
    {                                                                                                                  \
#field, TUTTI_OPTIONS_##kind, offsetof(struct tutti_run_options, field), 0                                     \
    }
#define TEXTS(field, length)                                                                                           \
    {#field, TUTTI_OPTIONS_TEXTS, offsetof(struct tutti_run_options, field),                                           \
     offsetof(struct tutti_run_options, length)},                                                                      \
    {                                                                                                                  \
#length, TUTTI_OPTIONS_LENGTH, 0, 0                                                                            \
    }

const struct tutti_options_field tutti_options_fields[] = {
    TEXTS(files, file_count),
    TEXTS(connect, connect_count),
    FIELD(convert, FLAG),
    FIELD(has_start, FLAG),
    FIELD(has_stop, FLAG),
    FIELD(has_step, FLAG),
    FIELD(has_output_step, FLAG),
    FIELD(has_rtol, FLAG),
    FIELD(has_atol, FLAG),
    FIELD(has_solver_step, FLAG),
    FIELD(has_h_max, FLAG),
    FIELD(has_h_min, FLAG),
    FIELD(has_event_tolerance, FLAG),
    FIELD(has_quantum, FLAG),
    FIELD(has_divergence, FLAG),
    FIELD(has_realtime, FLAG),
    FIELD(start, NUMBER),
    FIELD(stop, NUMBER),
    FIELD(step, NUMBER),
    TEXTS(unit_steps, unit_step_count),
    FIELD(output_step, NUMBER),
    FIELD(rtol, NUMBER),
    FIELD(atol, NUMBER),
    FIELD(interface, TEXT),
    FIELD(solver, TEXT),
    FIELD(solver_step, NUMBER),
    FIELD(h_max, NUMBER),
    FIELD(predictor, TEXT),
    FIELD(jacobian, TEXT),
    FIELD(no_event_mode, FLAG),
    FIELD(no_directional_derivatives, FLAG),
    TEXTS(no_event_mode_units, no_event_mode_unit_count),
    TEXTS(no_directional_derivatives_units, no_directional_derivatives_unit_count),
    FIELD(filter, TEXT),
    FIELD(extra, HERE),
    FIELD(coupling, TEXT),
    FIELD(control, TEXT),
    FIELD(extrapolate, TEXT),
    FIELD(events, TEXT),
    FIELD(correct, FLAG),
    FIELD(smooth, FLAG),
    FIELD(error_per, TEXT),
    FIELD(sweeps, TEXT),
    FIELD(accelerate, TEXT),
    FIELD(max_iterations, COUNT),
    FIELD(order, TEXT),
    FIELD(h_min, NUMBER),
    FIELD(event_tolerance, NUMBER),
    FIELD(quantum, NUMBER),
    FIELD(divergence, NUMBER),
    FIELD(realtime, NUMBER),
    FIELD(step_log, TEXT),
    FIELD(threads, COUNT),
    FIELD(processes, COUNT),
    FIELD(nodes, TEXT),
    FIELD(mpi, FLAG),
    TEXTS(place, place_count),
    TEXTS(costs, cost_count),
    FIELD(mode, TEXT),
    FIELD(has_timeout, FLAG),
    FIELD(timeout, NUMBER),
    FIELD(key, HERE),
    TEXTS(set, set_count),
    TEXTS(inputs, input_count),
    FIELD(interpolate, TEXT),
    FIELD(input_at, TEXT),
    TEXTS(record, record_count),
    FIELD(output, TEXT),
    FIELD(watcher, HERE),
    FIELD(timing, FLAG),
    FIELD(fmu_logging, FLAG),
    FIELD(aliases, HERE),
    FIELD(alias_count, HERE),
    FIELD(log, HERE),
    FIELD(progress, HERE),
    FIELD(progress_context, HERE),
    FIELD(finished, HERE),
    FIELD(finished_context, HERE),
    FIELD(interrupt, HERE),
    {NULL, TUTTI_OPTIONS_HERE, 0, 0},
};

static void pack_texts(const char *const *texts, size_t count, struct tutti_parcel *parcel)
{
    tutti_parcel_put_u64(parcel, count);
    for (size_t i = 0; i < count; i++)
        tutti_parcel_put_text(parcel, texts[i]);
}

enum tutti_err tutti_options_pack(const struct tutti_run_options *given, struct tutti_parcel *parcel)
{
    struct tutti_run_options sent = *given;
    const struct tutti_run_options *options = &sent;
    if (sent.watcher && !sent.output)
        sent.output = "-"; /* ranks only ask whether there is anything to record for */
    if (options->extra)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "equations of a program's own (extra) cannot be sent to nodes");
    for (const struct tutti_options_field *field = tutti_options_fields; field->name; field++) {
        const void *at = (const char *)options + field->offset;
        switch (field->kind) {
        case TUTTI_OPTIONS_FLAG: tutti_parcel_put_u8(parcel, *(const bool *)at); break;
        case TUTTI_OPTIONS_COUNT: tutti_parcel_put_u32(parcel, *(const unsigned *)at); break;
        case TUTTI_OPTIONS_NUMBER: tutti_parcel_put_double(parcel, *(const double *)at); break;
        case TUTTI_OPTIONS_TEXT: tutti_parcel_put_text(parcel, *(const char *const *)at); break;
        case TUTTI_OPTIONS_TEXTS:
            pack_texts(*(const char *const *const *)at, *(const size_t *)((const char *)options + field->length),
                       parcel);
            break;
        case TUTTI_OPTIONS_LENGTH:
        case TUTTI_OPTIONS_HERE: break;
        }
    }
    tutti_parcel_put_u8(parcel, options->log && options->log->write ? (uint8_t)options->log->level : UINT8_MAX);
    tutti_parcel_put_u8(parcel, options->progress != NULL);
    return parcel->failed ? tutti_fail_memory() : TUTTI_OK;
}

/* NULL stays NULL; false: memory is out. */
static bool copy_text(const char **out, const char *text, struct tutti_arena *arena)
{
    *out = text ? tutti_arena_text(arena, text, strlen(text)) : NULL;
    return !text || *out;
}

static bool unpack_texts(const char *const **out, size_t *count, struct tutti_unparcel *in, struct tutti_arena *arena)
{
    uint64_t told = tutti_unparcel_u64(in);
    if (told > (size_t)(in->end - in->at)) /* each takes more than a byte */
        in->bad = true;
    if (in->bad || told == 0)
        return true;
    const char **texts = tutti_arena_array(arena, told, sizeof *texts);
    bool copied = texts != NULL;
    for (uint64_t i = 0; copied && i < told && !in->bad; i++) {
        const char *text = tutti_unparcel_text(in);
        in->bad = in->bad || !text; /* there are no texts that are none in a list */
        copied = copy_text(&texts[i], text, arena);
    }
    *out = texts;
    *count = told;
    return copied;
}

enum tutti_err tutti_options_unpack(struct tutti_run_options *options, struct tutti_options_extras *extras,
                                    struct tutti_unparcel *in, struct tutti_arena *arena)
{
    bool enough = true;
    *options = (struct tutti_run_options){0};
    for (const struct tutti_options_field *field = tutti_options_fields; field->name && enough && !in->bad; field++) {
        void *at = (char *)options + field->offset;
        switch (field->kind) {
        case TUTTI_OPTIONS_FLAG: *(bool *)at = tutti_unparcel_u8(in) != 0; break;
        case TUTTI_OPTIONS_COUNT: *(unsigned *)at = tutti_unparcel_u32(in); break;
        case TUTTI_OPTIONS_NUMBER: *(double *)at = tutti_unparcel_double(in); break;
        case TUTTI_OPTIONS_TEXT: enough = copy_text((const char **)at, tutti_unparcel_text(in), arena); break;
        case TUTTI_OPTIONS_TEXTS:
            enough = unpack_texts((const char *const **)at, (size_t *)((char *)options + field->length), in, arena);
            break;
        case TUTTI_OPTIONS_LENGTH:
        case TUTTI_OPTIONS_HERE: break;
        }
    }
    uint8_t level = tutti_unparcel_u8(in);
    extras->log_level = level > TUTTI_LOG_DEBUG ? -1 : level;
    extras->has_progress = tutti_unparcel_u8(in) != 0;
    if (!enough)
        return tutti_fail_memory();
    return in->bad ? tutti_fail(TUTTI_ERR_FORMAT, "the options of the run are damaged") : TUTTI_OK;
}
