/* SPDX-License-Identifier: MIT */
#include "checkpoint/collector.h"

#include <stdlib.h>
#include <string.h>

/* A part of `frames`. */
struct piece {
    size_t at, size;
    bool is_here;
};

struct tutti_collector {
    uint8_t *identity;
    size_t identity_size;
    const struct tutti_log *log;
    struct tutti_parcel frames; /* that have come, one after the other */
    struct piece common, *units;
    struct tutti_bytes *pieces; /* room for what is composed */
    uint32_t unit_count;
    uint32_t missing; /* pieces of the one that is collected ... */
    uint64_t number;  /* ... which is this, if a frame of it has come */
    bool has_number;
    double t, written_t;
    struct tutti_parcel file, last;
    bool keeps;
    struct tutti_checkpoint_writer *writer; /* NULL: no file is written */
};

static enum tutti_err make(struct tutti_collector *collector, const struct tutti_collector_target *target)
{
    collector->log = target->log;
    collector->keeps = target->keeps;
    collector->unit_count = target->unit_count;
    collector->missing = target->unit_count + 1;
    collector->units = calloc((size_t)target->unit_count + 1, sizeof *collector->units);
    collector->pieces = calloc((size_t)target->unit_count + 1, sizeof *collector->pieces);
    collector->identity = malloc(target->identity.size + 1);
    if (!collector->units || !collector->pieces || !collector->identity)
        return tutti_fail_memory();
    if (target->identity.size > 0)
        memcpy(collector->identity, target->identity.data, target->identity.size);
    collector->identity_size = target->identity.size;
    return target->path ? tutti_checkpoint_writer_new(&collector->writer, target->path, &target->sync) : TUTTI_OK;
}

enum tutti_err tutti_collector_new(struct tutti_collector **out, const struct tutti_collector_target *target)
{
    struct tutti_collector *collector = *out = calloc(1, sizeof *collector);
    if (!collector)
        return tutti_fail_memory();
    enum tutti_err err = make(collector, target);
    if (err) {
        tutti_collector_free(collector);
        *out = NULL;
    }
    return err;
}

bool tutti_collector_must_wait(const struct tutti_collector *collector, struct tutti_unparcel frame)
{
    uint64_t number = tutti_unparcel_u64(&frame);
    return collector->has_number && !frame.bad && number > collector->number;
}

static enum tutti_err malformed(void)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "what a rank brought for a checkpoint is malformed");
}

/* `frame` is in `frames`. */
static enum tutti_err take_piece(struct tutti_collector *collector, struct tutti_unparcel *frame)
{
    size_t size;
    uint32_t component = tutti_unparcel_u32(frame);
    const char *bytes = tutti_unparcel_block(frame, &size);
    if (frame->bad || (component != TUTTI_PIECE_OF_ALL && component >= collector->unit_count))
        return malformed();
    struct piece *piece = component == TUTTI_PIECE_OF_ALL ? &collector->common : &collector->units[component];
    if (piece->is_here)
        return malformed();
    *piece = (struct piece){.at = (size_t)(bytes - collector->frames.bytes), .size = size, .is_here = true};
    collector->missing--;
    return TUTTI_OK;
}

/* A frame that lies in `frames`, from `begin` to its end. */
static enum tutti_err take_frame(struct tutti_collector *collector, size_t begin, bool *complete)
{
    struct tutti_unparcel frame = tutti_unparcel_begin(tutti_parcel_bytes(&collector->frames));
    frame.at += begin;
    uint64_t number = tutti_unparcel_u64(&frame);
    double t = tutti_unparcel_double(&frame);
    uint32_t count = tutti_unparcel_u32(&frame);
    if (frame.bad || (collector->has_number && (number != collector->number || t != collector->t)))
        return malformed();
    collector->has_number = true;
    collector->number = number;
    collector->t = t;
    for (uint32_t i = 0; i < count; i++)
        TRY(take_piece(collector, &frame));
    if (frame.at != frame.end)
        return malformed();
    *complete = collector->missing == 0;
    return TUTTI_OK;
}

enum tutti_err tutti_collector_take(struct tutti_collector *collector, struct tutti_unparcel *frame, bool *complete)
{
    size_t begin = collector->frames.size;
    *complete = false;
    tutti_parcel_put_bytes(&collector->frames, frame->at, (size_t)(frame->end - frame->at));
    return collector->frames.failed ? tutti_fail_memory() : take_frame(collector, begin, complete);
}

enum tutti_err tutti_collector_take_over(struct tutti_collector *collector, struct tutti_parcel *frame, size_t begin)
{
    bool complete = false;
    struct tutti_parcel before = collector->frames;
    collector->frames = *frame;
    *frame = before;
    TRY(take_frame(collector, begin, &complete));
    return complete ? TUTTI_OK : malformed();
}

/* The next one is collected. */
static void begin_anew(struct tutti_collector *collector)
{
    collector->has_number = collector->common.is_here = false;
    for (uint32_t i = 0; i < collector->unit_count; i++)
        collector->units[i].is_here = false;
    collector->missing = collector->unit_count + 1;
    tutti_parcel_reset(&collector->frames);
}

static void warn(const struct tutti_collector *collector, enum tutti_err err)
{
    if (err)
        tutti_log_printf(collector->log, TUTTI_LOG_WARNING, NULL, "%s; the run goes on, and the one before it is kept",
                         tutti_err_message());
}

static struct tutti_bytes bytes_of(const struct tutti_collector *collector, const struct piece *piece)
{
    return (struct tutti_bytes){piece->size, (const uint8_t *)collector->frames.bytes + piece->at};
}

enum tutti_err tutti_collector_write(struct tutti_collector *collector, struct tutti_bytes result,
                                     struct tutti_bytes step_log)
{
    struct tutti_checkpoint checkpoint = {.t = collector->t,
                                          .identity = {collector->identity_size, collector->identity},
                                          .result = result,
                                          .step_log = step_log,
                                          .common = bytes_of(collector, &collector->common),
                                          .units = collector->pieces,
                                          .unit_count = collector->unit_count};
    for (uint32_t i = 0; i < collector->unit_count; i++)
        collector->pieces[i] = bytes_of(collector, &collector->units[i]);
    tutti_checkpoint_lay_out(&collector->file, &checkpoint); /* sealed when it is written */
    if (collector->file.failed)
        return tutti_fail_memory();
    begin_anew(collector);
    collector->written_t = collector->t;
    if (collector->keeps) {
        tutti_parcel_reset(&collector->last);
        tutti_parcel_put_bytes(&collector->last, collector->file.bytes, collector->file.size);
        if (collector->last.failed)
            return tutti_fail_memory();
    }
    if (collector->writer)
        warn(collector, tutti_checkpoint_writer_put(collector->writer, &collector->file));
    return TUTTI_OK;
}

struct tutti_bytes tutti_collector_last(struct tutti_collector *collector)
{
    tutti_checkpoint_seal(&collector->last);
    return tutti_parcel_bytes(&collector->last);
}

double tutti_collector_time(const struct tutti_collector *collector)
{
    return collector->written_t;
}

void tutti_collector_wait(struct tutti_collector *collector)
{
    if (collector && collector->writer)
        warn(collector, tutti_checkpoint_writer_wait(collector->writer));
}

void tutti_collector_free(struct tutti_collector *collector)
{
    if (!collector)
        return;
    tutti_collector_wait(collector);
    tutti_checkpoint_writer_free(collector->writer);
    tutti_parcel_fini(&collector->frames);
    tutti_parcel_fini(&collector->file);
    tutti_parcel_fini(&collector->last);
    free(collector->units);
    free(collector->pieces);
    free(collector->identity);
    free(collector);
}
