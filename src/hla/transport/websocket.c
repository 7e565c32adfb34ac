/* SPDX-License-Identifier: MIT */
/* Invariants:
 *  W1. `early` holds bytes that were read and not parsed: of the request first, then of frames that came with it.
 *  W2. `incoming` is the content of frames that was not yet returned; no more is read while it is longer than
 *      ENOUGH. */
#include <ctype.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wslay/wslay.h>

#include "base/vector.h"
#include "hla/transport/websocket.h"

enum {
    LONGEST_REQUEST = 8192,
    ENOUGH = 65536,
    KEY = 24,           /* characters of a key */
    DIGEST = 20,        /* bytes of SHA-1 */
    ACCEPT = 4 * 7 + 1, /* characters of a digest in base 64, with the NUL */
};

struct websocket_buffer {
    uint8_t *items;
    size_t begin, end, room;
};

struct websocket_transport {
    struct tt_transport base;
    struct tt_transport *inner;
    wslay_event_context_ptr frames;
    struct websocket_buffer early, incoming, answer;
    bool open;    /* the request was answered */
    bool carries; /* the frame being read is not a control frame */
    bool closed;  /* by the peer */
    bool paused;  /* there may be more to read: W2 */
    enum tt_transport_io inner_state;
};

static bool websocket_append(struct websocket_buffer *bytes, const void *more, size_t size)
{
    if (bytes->begin == bytes->end)
        bytes->begin = bytes->end = 0;
    if (size == 0)
        return true;
    if (!tt_vector_reserve(&bytes->items, &bytes->room, bytes->end + size, 1) || !bytes->items)
        return false;
    memcpy(bytes->items + bytes->end, more, size);
    bytes->end += size;
    return true;
}

static size_t websocket_take_bytes(struct websocket_buffer *bytes, void *into, size_t most)
{
    size_t there = bytes->end - bytes->begin, count = there < most ? there : most;
    if (count > 0)
        memcpy(into, bytes->items + bytes->begin, count);
    bytes->begin += count;
    return count;
}

bool tt_websocket_is_request(const void *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "GET ", 4) == 0;
}

/* ---- frames: what wslay asks for ---- */

static ssize_t websocket_on_receive(wslay_event_context_ptr frames, uint8_t *into, size_t most, int flags,
                                    void *context)
{
    (void)flags;
    struct websocket_transport *self = context;
    size_t count = 0;
    if (self->incoming.end - self->incoming.begin > ENOUGH) {
        self->paused = true;
        wslay_event_set_error(frames, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    if (self->early.end > self->early.begin)
        return (ssize_t)websocket_take_bytes(&self->early, into, most);
    self->inner_state = self->inner->kind->read(self->inner, into, most, &count);
    if (self->inner_state == TUTTI_FEDPRO_IO_DONE)
        return (ssize_t)count;
    wslay_event_set_error(frames, self->inner_state == TUTTI_FEDPRO_IO_WAIT ? WSLAY_ERR_WOULDBLOCK
                                                                            : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static ssize_t websocket_on_send(wslay_event_context_ptr frames, const uint8_t *bytes, size_t size, int flags,
                                 void *context)
{
    (void)flags;
    struct websocket_transport *self = context;
    size_t count = 0;
    enum tt_transport_io io = self->inner->kind->write(self->inner, bytes, size, &count);
    if (io == TUTTI_FEDPRO_IO_DONE)
        return (ssize_t)count;
    wslay_event_set_error(frames, io == TUTTI_FEDPRO_IO_WAIT ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static void websocket_on_frame_start(wslay_event_context_ptr frames,
                                     const struct wslay_event_on_frame_recv_start_arg *arg, void *context)
{
    (void)frames;
    struct websocket_transport *self = context;
    self->carries = !wslay_is_ctrl_frame(arg->opcode);
    self->closed |= arg->opcode == WSLAY_CONNECTION_CLOSE;
}

static void websocket_on_frame_chunk(wslay_event_context_ptr frames,
                                     const struct wslay_event_on_frame_recv_chunk_arg *arg, void *context)
{
    struct websocket_transport *self = context;
    if (self->carries && !websocket_append(&self->incoming, arg->data, arg->data_length))
        wslay_event_set_error(frames, WSLAY_ERR_CALLBACK_FAILURE);
}

static const struct wslay_event_callbacks callbacks = {
    .recv_callback = websocket_on_receive,
    .send_callback = websocket_on_send,
    .on_frame_recv_start_callback = websocket_on_frame_start,
    .on_frame_recv_chunk_callback = websocket_on_frame_chunk,
};

/* ---- the request ---- */

/* Returns a header's value without white space around it; NULL if it is missing. `text` ends after the last header. */
static const char *find_header(const char *text, const char *name, size_t *length)
{
    size_t size = strlen(name);
    for (const char *line = strstr(text, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, size) != 0 || line[size] != ':')
            continue;
        const char *value = line + size + 1, *end = strstr(value, "\r\n");
        while (*value == ' ' || *value == '\t')
            value++;
        if (!end)
            return NULL;
        while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        *length = (size_t)(end - value);
        return value;
    }
    return NULL;
}

static bool make_accept_key(const char *key, char accept[ACCEPT])
{
    char text[KEY + 40];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    int length = snprintf(text, sizeof text, "%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", KEY, key);
    if (EVP_Digest(text, (size_t)length, digest, &size, EVP_sha1(), NULL) != 1 || size != DIGEST)
        return false;
    EVP_EncodeBlock((unsigned char *)accept, digest, DIGEST);
    return true;
}

static enum tt_transport_io websocket_reject(const char *why)
{
    (void)tt_fail(TUTTI_ERR_FORMAT, "a request of HTTP that asks for no WebSocket: %s", why);
    return TUTTI_FEDPRO_IO_FAILED;
}

/* `text`: the request with its headers. */
static enum tt_transport_io websocket_answer_request(struct websocket_transport *self, const char *text)
{
    size_t length = 0;
    char accept[ACCEPT], response[300];
    const char *upgrade = find_header(text, "Upgrade", &length);
    if (!upgrade || length != 9 || strncasecmp(upgrade, "websocket", 9) != 0)
        return websocket_reject("it has no 'Upgrade: websocket'");
    const char *version = find_header(text, "Sec-WebSocket-Version", &length);
    if (!version || length != 2 || strncmp(version, "13", 2) != 0)
        return websocket_reject("its version is not 13");
    const char *key = find_header(text, "Sec-WebSocket-Key", &length);
    if (!key || length != KEY || !make_accept_key(key, accept))
        return websocket_reject("it has no key");
    int size = snprintf(response, sizeof response,
                        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Accept: %s\r\n\r\n",
                        accept);
    self->open = true;
    return websocket_append(&self->answer, response, (size_t)size) ? TUTTI_FEDPRO_IO_DONE : TUTTI_FEDPRO_IO_FAILED;
}

/* Reads on until the request is whole, and answers it. DONE: that has happened. */
static enum tt_transport_io websocket_accept_request(struct websocket_transport *self)
{
    for (;;) {
        struct websocket_buffer *early = &self->early;
        uint8_t *end = early->end > early->begin
                           ? memmem(early->items + early->begin, early->end - early->begin, "\r\n\r\n", 4)
                           : NULL;
        if (end) {
            size_t length = (size_t)(end - (early->items + early->begin)) + 2;
            char text[LONGEST_REQUEST + 1];
            if (length > LONGEST_REQUEST)
                return websocket_reject("it is too long");
            memcpy(text, early->items + early->begin, length);
            text[length] = '\0';
            early->begin += length + 2;
            return websocket_answer_request(self, text);
        }
        uint8_t more[1024];
        size_t count = 0;
        if (early->end - early->begin > LONGEST_REQUEST)
            return websocket_reject("it is too long");
        enum tt_transport_io io = self->inner->kind->read(self->inner, more, sizeof more, &count);
        if (io != TUTTI_FEDPRO_IO_DONE)
            return io;
        if (!websocket_append(early, more, count))
            return TUTTI_FEDPRO_IO_FAILED;
    }
}

/* ---- the transport ---- */

/* Writes what is left of the answer to the request, then frames that wait. DONE: nothing is left. */
static enum tt_transport_io websocket_flush(struct websocket_transport *self)
{
    while (self->answer.begin < self->answer.end) {
        size_t count = 0;
        enum tt_transport_io io = self->inner->kind->write(self->inner, self->answer.items + self->answer.begin,
                                                           self->answer.end - self->answer.begin, &count);
        if (io != TUTTI_FEDPRO_IO_DONE)
            return io;
        self->answer.begin += count;
    }
    if (wslay_event_want_write(self->frames) && wslay_event_send(self->frames) != 0)
        return TUTTI_FEDPRO_IO_FAILED;
    return wslay_event_want_write(self->frames) ? TUTTI_FEDPRO_IO_WAIT : TUTTI_FEDPRO_IO_DONE;
}

static enum tt_transport_io websocket_read(struct tt_transport *transport, void *bytes, size_t size, size_t *count)
{
    struct websocket_transport *self = (struct websocket_transport *)transport;
    *count = 0;
    if (!self->open) {
        enum tt_transport_io io = websocket_accept_request(self);
        if (io != TUTTI_FEDPRO_IO_DONE)
            return io;
        if (websocket_flush(self) == TUTTI_FEDPRO_IO_FAILED)
            return TUTTI_FEDPRO_IO_FAILED;
    }
    if (self->incoming.begin == self->incoming.end && !self->closed) {
        self->paused = false;
        if (wslay_event_recv(self->frames) != 0 && self->inner_state != TUTTI_FEDPRO_IO_ENDED)
            return TUTTI_FEDPRO_IO_FAILED;
        self->closed |= self->inner_state == TUTTI_FEDPRO_IO_ENDED || !wslay_event_want_read(self->frames);
    }
    *count = websocket_take_bytes(&self->incoming, bytes, size);
    if (*count > 0)
        return TUTTI_FEDPRO_IO_DONE;
    return self->closed ? TUTTI_FEDPRO_IO_ENDED : TUTTI_FEDPRO_IO_WAIT;
}

static enum tt_transport_io websocket_write(struct tt_transport *transport, const void *bytes, size_t size,
                                            size_t *count)
{
    struct websocket_transport *self = (struct websocket_transport *)transport;
    enum tt_transport_io io = websocket_flush(self);
    *count = 0;
    if (size == 0 || io == TUTTI_FEDPRO_IO_FAILED || wslay_event_get_queued_msg_length(self->frames) > ENOUGH)
        return io == TUTTI_FEDPRO_IO_DONE ? TUTTI_FEDPRO_IO_WAIT : io;
    struct wslay_event_msg message = {WSLAY_BINARY_FRAME, bytes, size < ENOUGH ? size : ENOUGH};
    if (wslay_event_queue_msg(self->frames, &message) != 0)
        return TUTTI_FEDPRO_IO_FAILED;
    *count = message.msg_length;
    return websocket_flush(self) == TUTTI_FEDPRO_IO_FAILED ? TUTTI_FEDPRO_IO_FAILED : TUTTI_FEDPRO_IO_DONE;
}

static bool websocket_wants_write(struct tt_transport *transport)
{
    struct websocket_transport *self = (struct websocket_transport *)transport;
    return self->answer.begin < self->answer.end || wslay_event_want_write(self->frames) ||
           (self->inner->kind->wants_write && self->inner->kind->wants_write(self->inner));
}

static bool websocket_has_more(struct tt_transport *transport)
{
    const struct websocket_transport *self = (const struct websocket_transport *)transport;
    return self->paused || self->incoming.begin < self->incoming.end ||
           (self->open && self->early.begin < self->early.end);
}

static void websocket_free(struct tt_transport *transport)
{
    struct websocket_transport *self = (struct websocket_transport *)transport;
    if (self->open && wslay_event_queue_close(self->frames, WSLAY_CODE_NORMAL_CLOSURE, NULL, 0) == 0)
        (void)websocket_flush(self);
    wslay_event_context_free(self->frames);
    self->inner->kind->free(self->inner);
    free(self->early.items);
    free(self->incoming.items);
    free(self->answer.items);
    free(self);
}

static const struct tt_transport_kind websocket_kind = {
    .name = "websocket",
    .read = websocket_read,
    .write = websocket_write,
    .wants_write = websocket_wants_write,
    .has_more = websocket_has_more,
    .free = websocket_free,
};

struct tt_transport *tt_websocket_new_transport(struct tt_transport *inner, const void *bytes, size_t size)
{
    struct websocket_transport *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->base.kind = &websocket_kind;
    if (!websocket_append(&self->early, bytes, size) ||
        wslay_event_context_server_init(&self->frames, &callbacks, self) != 0) {
        free(self->early.items);
        free(self);
        return NULL;
    }
    wslay_event_config_set_no_buffering(self->frames, 1);
    wslay_event_config_set_max_recv_msg_length(self->frames, UINT32_MAX);
    self->inner = inner;
    return &self->base;
}
