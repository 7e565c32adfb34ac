/* SPDX-License-Identifier: MIT */
/* Any bytes as reports of ranks. The first byte says how many ranks there are; then come pieces of their streams: rank, length
 * (two bytes, the low one first), bytes. Each stream is offered as it comes in, as a launcher would. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "run/conductor.h"
#include "sim/stats.h"

enum { MOST_RANKS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct stream {
    char *bytes;
    size_t size;
};

static void swallow(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    size_t *said = context;
    *said += strlen(text) + (origin ? strlen(origin) : 0) + (size_t)level;
}

static void look(void *context, const struct tutti_progress *progress)
{
    double *last = context;
    *last = progress->time;
}

/* In memory of the exact size, so that an overread is detected. */
static void append(struct stream *stream, const uint8_t *bytes, size_t size)
{
    char *larger = malloc(stream->size + size + 1);
    if (!larger)
        abort();
    if (stream->size > 0)
        memcpy(larger, stream->bytes, stream->size);
    if (size > 0)
        memcpy(larger + stream->size, bytes, size);
    free(stream->bytes);
    stream->bytes = larger;
    stream->size += size;
}

static enum tutti_err offer(struct tt_conductor *conductor, int rank, struct stream *stream)
{
    size_t taken;
    enum tutti_err err = tt_conductor_receive(conductor, rank, stream->bytes, stream->size, &taken);
    if (taken > stream->size || (err && !tutti_err_message()[0]))
        abort();
    memmove(stream->bytes, stream->bytes + taken, stream->size - taken);
    stream->size -= taken;
    return err;
}

/* Everything that is left after a piece has come, in turn: one rank's row may let go of another's. */
static enum tutti_err feed(struct tt_conductor *conductor, int ranks, struct stream *streams, const uint8_t *data,
                           size_t size)
{
    while (size >= 3) {
        int rank = data[0] % ranks;
        size_t length = data[1] | (size_t)data[2] << 8;
        data += 3;
        size -= 3;
        length = length < size ? length : size;
        append(&streams[rank], data, length);
        data += length;
        size -= length;
        for (int r = 0; r < ranks; r++)
            if (streams[r].size > 0)
                TRY(offer(conductor, r, &streams[r]));
        (void)tt_conductor_last_log_lines(conductor, rank);
        (void)tt_conductor_time(conductor);
        TRY(tt_conductor_update(conductor));
    }
    return TUTTI_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t said = 0;
    double last = 0;
    struct tutti_log log = {.level = TUTTI_LOG_DEBUG, .write = swallow, .context = &said};
    struct tutti_run_options options = {
        .log = &log, .progress = look, .progress_context = &last, .step_log = "/dev/null"};
    struct stream streams[MOST_RANKS] = {{0}};
    struct tt_conductor *conductor;
    struct tutti_run_stats stats;
    if (size == 0)
        return 0;
    int ranks = 1 + data[0] % MOST_RANKS;
    if (tt_conductor_new(&conductor, &options, "/dev/null", ranks) != TUTTI_OK)
        abort();
    enum tutti_err fed = feed(conductor, ranks, streams, data + 1, size - 1);
    bool done = tt_conductor_is_done(conductor);
    for (int r = 0; r < ranks; r++)
        tt_conductor_mark_lost(conductor, r, TUTTI_ERR_LOST);
    if (!tt_conductor_is_done(conductor))
        abort();
    enum tutti_err err = tt_conductor_finish(conductor, &stats);
    if ((fed || !done) && !err)
        abort();
    for (size_t i = 0; i < stats.unit_count; i++)
        if (!stats.units[i].name || !stats.units[i].interface || stats.units[i].rank >= ranks)
            abort();
    tt_stats_fini(&stats);
    for (int r = 0; r < ranks; r++)
        free(streams[r].bytes);
    return 0;
}
