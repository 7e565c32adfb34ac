/* SPDX-License-Identifier: MIT */
#include "http/streams.h"

#include <stdlib.h>

enum { BLOCK = 32768 }; /* bytes that are asked for at once */

struct stream {
    struct tutti_http_stream source;
    struct streams *all;
    struct MHD_Connection *connection;
    bool is_suspended;
    struct stream *previous, *next;
};

static ssize_t read_some(void *self, uint64_t position, char *bytes, size_t size)
{
    struct stream *stream = self;
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

static void unlink_from_all(struct stream *stream)
{
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        stream->all->first = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
}

static void end(void *self)
{
    struct stream *stream = self;
    unlink_from_all(stream);
    stream->source.close(stream->source.context);
    free(stream);
}

struct MHD_Response *streams_respond(struct streams *streams, struct MHD_Connection *connection,
                                     const struct tutti_http_stream *source)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        source->close(source->context);
        return NULL;
    }
    *stream = (struct stream){.source = *source, .all = streams, .connection = connection, .next = streams->first};
    if (streams->first)
        streams->first->previous = stream;
    streams->first = stream;
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_some, stream, end);
    if (!response)
        end(stream);
    return response;
}

/* ---- answers that come later ---- */

struct waiting {
    struct tutti_http_pending pending;
    struct streams *all;
    struct MHD_Connection *connection;
    bool is_suspended;
    struct waiting *previous, *next;
};

struct waiting *streams_wait(struct streams *streams, struct MHD_Connection *connection,
                             const struct tutti_http_pending *pending)
{
    struct waiting *waiting = streams->over ? NULL : calloc(1, sizeof *waiting);
    if (!waiting) {
        pending->drop(pending->context);
        return NULL;
    }
    *waiting = (struct waiting){*pending, streams, connection, true, NULL, streams->waiting};
    if (streams->waiting)
        streams->waiting->previous = waiting;
    streams->waiting = waiting;
    MHD_suspend_connection(connection);
    return waiting;
}

static void end_waiting(struct waiting *waiting)
{
    if (waiting->previous)
        waiting->previous->next = waiting->next;
    else
        waiting->all->waiting = waiting->next;
    if (waiting->next)
        waiting->next->previous = waiting->previous;
    free(waiting);
}

bool streams_take(struct waiting *waiting, struct tutti_http_answer *answer, bool *lost)
{
    bool known = waiting->pending.take(waiting->pending.context, answer);
    *lost = !known && waiting->all->over;
    if (*lost)
        waiting->pending.drop(waiting->pending.context);
    if (known || *lost)
        end_waiting(waiting);
    else {
        waiting->is_suspended = true;
        MHD_suspend_connection(waiting->connection);
    }
    return known;
}

void streams_wake(struct streams *streams)
{
    for (struct waiting *waiting = streams->waiting; waiting; waiting = waiting->next)
        if (waiting->is_suspended) {
            waiting->is_suspended = false;
            MHD_resume_connection(waiting->connection);
        }
    for (struct stream *stream = streams->first; stream; stream = stream->next)
        if (stream->is_suspended) {
            stream->is_suspended = false;
            MHD_resume_connection(stream->connection);
        }
}
