/* SPDX-License-Identifier: MIT */
#include "run/http/streams.h"

#include <stdlib.h>

enum { BLOCK = 32768 }; /* bytes that are asked for at once */

struct http_stream {
    struct tt_http_stream source;
    struct tt_http_streams *all;
    struct MHD_Connection *connection;
    bool is_suspended;
    struct http_stream *previous, *next;
};

static ssize_t http_stream_read(void *self, uint64_t position, char *bytes, size_t size)
{
    struct http_stream *stream = self;
    (void)position;
    ptrdiff_t count = stream->all->over ? -1 : stream->source.read(stream->source.context, bytes, size);
    if (count < 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (count == 0) {
        stream->is_suspended = true;
        MHD_suspend_connection(stream->connection);
    }
    return count;
}

static void unlink_stream(struct http_stream *stream)
{
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        stream->all->first = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
}

static void http_stream_end(void *self)
{
    struct http_stream *stream = self;
    unlink_stream(stream);
    stream->source.close(stream->source.context);
    free(stream);
}

struct MHD_Response *tt_http_module_stream_response(struct tt_http_streams *streams, struct MHD_Connection *connection,
                                                    const struct tt_http_stream *source)
{
    struct http_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        source->close(source->context);
        return NULL;
    }
    *stream = (struct http_stream){.source = *source, .all = streams, .connection = connection, .next = streams->first};
    if (streams->first)
        streams->first->previous = stream;
    streams->first = stream;
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, http_stream_read, stream, http_stream_end);
    if (!response)
        http_stream_end(stream);
    return response;
}

/* ---- answers that come later ---- */

struct http_waiting {
    struct tt_http_pending pending;
    struct tt_http_streams *all;
    struct MHD_Connection *connection;
    bool is_suspended;
    struct http_waiting *previous, *next;
};

struct http_waiting *tt_http_module_wait_for_answer(struct tt_http_streams *streams, struct MHD_Connection *connection,
                                                    const struct tt_http_pending *pending)
{
    struct http_waiting *waiting = streams->over ? NULL : calloc(1, sizeof *waiting);
    if (!waiting) {
        pending->drop(pending->context);
        return NULL;
    }
    *waiting = (struct http_waiting){*pending, streams, connection, true, NULL, streams->waiting};
    if (streams->waiting)
        streams->waiting->previous = waiting;
    streams->waiting = waiting;
    MHD_suspend_connection(connection);
    return waiting;
}

static void end_waiting_connection(struct http_waiting *waiting)
{
    if (waiting->previous)
        waiting->previous->next = waiting->next;
    else
        waiting->all->waiting = waiting->next;
    if (waiting->next)
        waiting->next->previous = waiting->previous;
    free(waiting);
}

bool tt_http_module_take_answer(struct http_waiting *waiting, struct tt_http_response *answer, bool *lost)
{
    bool known = waiting->pending.take(waiting->pending.context, answer);
    *lost = !known && waiting->all->over;
    if (*lost)
        waiting->pending.drop(waiting->pending.context);
    if (known || *lost)
        end_waiting_connection(waiting);
    else {
        waiting->is_suspended = true;
        MHD_suspend_connection(waiting->connection);
    }
    return known;
}

void tt_http_module_wake_streams(struct tt_http_streams *streams)
{
    for (struct http_waiting *waiting = streams->waiting; waiting; waiting = waiting->next)
        if (waiting->is_suspended) {
            waiting->is_suspended = false;
            MHD_resume_connection(waiting->connection);
        }
    for (struct http_stream *stream = streams->first; stream; stream = stream->next)
        if (stream->is_suspended) {
            stream->is_suspended = false;
            MHD_resume_connection(stream->connection);
        }
}
