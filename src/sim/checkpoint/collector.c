/* SPDX-License-Identifier: MIT */
#include "sim/checkpoint/collector.h"

#include <stdlib.h>
#include <string.h>

struct collector_piece {
    size_t at, size;
    bool is_here;
};

struct tt_collector {
    uint8_t *identity;
    size_t identity_size;
    const struct tutti_log *log;
    struct tt_byte_writer frames; /* the frames received so far */
    struct collector_piece common, *units;
    struct tt_bytes *pieces; /* room for what is composed */
    uint32_t unit_count;
    uint32_t missing; /* number of missing pieces */
    uint64_t number;  /* number of the checkpoint being collected, once a frame has arrived */
    bool has_number;
    double t, written_t;
    struct tt_byte_writer file, last;
    bool keeps;
    struct tt_checkpoint_writer *writer; /* NULL: no file is written */
};

static enum tutti_err collector_build(struct tt_collector *collector, const struct tt_collector_target *target)
{
    collector->log = target->log;
    collector->keeps = target->keeps;
    collector->unit_count = target->unit_count;
    collector->missing = target->unit_count + 1;
    collector->units = calloc((size_t)target->unit_count + 1, sizeof *collector->units);
    collector->pieces = calloc((size_t)target->unit_count + 1, sizeof *collector->pieces);
    collector->identity = malloc(target->identity.size + 1);
    if (!collector->units || !collector->pieces || !collector->identity)
        return tt_fail_memory();
    if (target->identity.size > 0)
        memcpy(collector->identity, target->identity.data, target->identity.size);
    collector->identity_size = target->identity.size;
    return target->path ? tt_checkpoint_writer_new(&collector->writer, target->path, &target->sync) : TUTTI_OK;
}

enum tutti_err tt_collector_new(struct tt_collector **out, const struct tt_collector_target *target)
{
    struct tt_collector *collector = *out = calloc(1, sizeof *collector);
    if (!collector)
        return tt_fail_memory();
    enum tutti_err err = collector_build(collector, target);
    if (err) {
        tt_collector_free(collector);
        *out = NULL;
    }
    return err;
}

bool tt_collector_must_wait(const struct tt_collector *collector, struct tt_byte_reader frame)
{
    uint64_t number = tt_bytes_get_u64(&frame);
    return collector->has_number && !frame.bad && number > collector->number;
}

static enum tutti_err collector_fail_malformed(void)
{
    return tt_fail(TUTTI_ERR_FORMAT, "what a rank brought for a checkpoint is malformed");
}

/* `frame` is in `frames`. */
static enum tutti_err collect_piece(struct tt_collector *collector, struct tt_byte_reader *frame)
{
    size_t size;
    uint32_t component = tt_bytes_get_u32(frame);
    const char *bytes = tt_bytes_get_block(frame, &size);
    if (frame->bad || (component != TUTTI_PIECE_OF_ALL && component >= collector->unit_count))
        return collector_fail_malformed();
    struct collector_piece *piece = component == TUTTI_PIECE_OF_ALL ? &collector->common : &collector->units[component];
    if (piece->is_here)
        return collector_fail_malformed();
    *piece = (struct collector_piece){.at = (size_t)(bytes - collector->frames.bytes), .size = size, .is_here = true};
    collector->missing--;
    return TUTTI_OK;
}

/* A frame that lies in `frames`, from `begin` to its end. */
static enum tutti_err collector_read_frame(struct tt_collector *collector, size_t begin, bool *complete)
{
    struct tt_byte_reader frame = tt_bytes_get_begin(tt_bytes_written(&collector->frames));
    frame.at += begin;
    uint64_t number = tt_bytes_get_u64(&frame);
    double t = tt_bytes_get_double(&frame);
    uint32_t count = tt_bytes_get_u32(&frame);
    if (frame.bad || (collector->has_number && (number != collector->number || t != collector->t)))
        return collector_fail_malformed();
    collector->has_number = true;
    collector->number = number;
    collector->t = t;
    for (uint32_t i = 0; i < count; i++)
        TRY(collect_piece(collector, &frame));
    if (frame.at != frame.end)
        return collector_fail_malformed();
    *complete = collector->missing == 0;
    return TUTTI_OK;
}

enum tutti_err tt_collector_add_frame(struct tt_collector *collector, struct tt_byte_reader *frame, bool *complete)
{
    size_t begin = collector->frames.size;
    *complete = false;
    tt_bytes_put_bytes(&collector->frames, frame->at, (size_t)(frame->end - frame->at));
    return collector->frames.failed ? tt_fail_memory() : collector_read_frame(collector, begin, complete);
}

enum tutti_err tt_collector_adopt_frame(struct tt_collector *collector, struct tt_byte_writer *frame, size_t begin)
{
    bool complete = false;
    struct tt_byte_writer before = collector->frames;
    collector->frames = *frame;
    *frame = before;
    TRY(collector_read_frame(collector, begin, &complete));
    return complete ? TUTTI_OK : collector_fail_malformed();
}

static void collector_warn(const struct tt_collector *collector, enum tutti_err err)
{
    if (err)
        tt_log(collector->log, TUTTI_LOG_WARNING, NULL, "%s; the run goes on, and the one before it is kept",
               tutti_err_message());
}

static struct tt_bytes collector_piece_bytes(const struct tt_collector *collector, const struct collector_piece *piece)
{
    return (struct tt_bytes){piece->size, (const uint8_t *)collector->frames.bytes + piece->at};
}

enum tutti_err tt_collector_write(struct tt_collector *collector, struct tt_bytes result, struct tt_bytes step_log)
{
    struct tt_checkpoint checkpoint = {.t = collector->t,
                                       .identity = {collector->identity_size, collector->identity},
                                       .result = result,
                                       .step_log = step_log,
                                       .common = collector_piece_bytes(collector, &collector->common),
                                       .units = collector->pieces,
                                       .unit_count = collector->unit_count};
    for (uint32_t i = 0; i < collector->unit_count; i++)
        collector->pieces[i] = collector_piece_bytes(collector, &collector->units[i]);
    tt_checkpoint_encode(&collector->file, &checkpoint); /* sealed when it is written */
    if (collector->file.failed)
        return tt_fail_memory();

    /* The next one is collected. */
    collector->has_number = collector->common.is_here = false;
    for (uint32_t i = 0; i < collector->unit_count; i++)
        collector->units[i].is_here = false;
    collector->missing = collector->unit_count + 1;
    tt_bytes_reset(&collector->frames);
    collector->written_t = collector->t;
    if (collector->keeps) {
        tt_bytes_reset(&collector->last);
        tt_bytes_put_bytes(&collector->last, collector->file.bytes, collector->file.size);
        if (collector->last.failed)
            return tt_fail_memory();
    }
    if (collector->writer)
        collector_warn(collector, tt_checkpoint_writer_submit(collector->writer, &collector->file));
    return TUTTI_OK;
}

struct tt_bytes tt_collector_last_file(struct tt_collector *collector)
{
    tt_checkpoint_add_hash(&collector->last);
    return tt_bytes_written(&collector->last);
}

double tt_collector_time(const struct tt_collector *collector)
{
    return collector->written_t;
}

void tt_collector_wait(struct tt_collector *collector)
{
    if (collector && collector->writer)
        collector_warn(collector, tt_checkpoint_writer_wait(collector->writer));
}

void tt_collector_free(struct tt_collector *collector)
{
    if (!collector)
        return;
    tt_collector_wait(collector);
    tt_checkpoint_writer_free(collector->writer);
    tt_bytes_fini(&collector->frames);
    tt_bytes_fini(&collector->file);
    tt_bytes_fini(&collector->last);
    free(collector->units);
    free(collector->pieces);
    free(collector->identity);
    free(collector);
}
