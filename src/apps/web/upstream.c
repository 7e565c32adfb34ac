/* SPDX-License-Identifier: MIT */
/* HTTP/1.0, in which an answer comes as it is and ends with the connection. */
#include "apps/web/upstream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"

enum { PATIENCE = 5, LARGEST = 64 << 20 }; /* seconds; bytes of an answer */

static enum tutti_err upstream_fail(const char *address, const char *why)
{
    return tt_fail(TUTTI_ERR_LOST, "the run at %s does not answer: %s", address, why);
}

static enum tutti_err upstream_connect_to(const char *address, int *fd)
{
    struct tt_address at;
    TRY(tt_address_read(&at, address, &(struct tt_address_rule){.option = "--attach"}));
    return tt_fail_context(tt_address_connect(fd, &at, PATIENCE, TUTTI_ERR_LOST), "the run at %s does not answer",
                           address);
}

static bool upstream_send_all(int fd, const char *data, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        ssize_t more = send(fd, data + sent, size - sent, MSG_NOSIGNAL);
        if (more < 0 && errno != EINTR)
            return false;
        sent += more > 0 ? (size_t)more : 0;
    }
    return true;
}

enum tutti_err tt_upstream_open(const char *address, const char *token, const char *method, const char *target,
                                const char *body, size_t size, int *fd)
{
    struct tt_text head = {0};
    TRY(upstream_connect_to(address, fd));
    tt_text_printf(&head, "%s %s HTTP/1.0\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n",
                   method, target, address, token, size);
    bool sent = !head.failed && upstream_send_all(*fd, head.text, head.length) && upstream_send_all(*fd, body, size);
    int why = errno;
    tt_text_fini(&head);
    if (sent)
        return TUTTI_OK;
    close(*fd);
    return upstream_fail(address, strerror(why));
}

/* Removes "HTTP/1.1 202 Accepted\r\n...\r\n\r\n". */
static bool cut_answer_head(struct tt_text *text, unsigned *status)
{
    char *end = text->text ? strstr(text->text, "\r\n\r\n") : NULL;
    if (!end || strncmp(text->text, "HTTP/1.", 7) != 0 || strlen(text->text) < 12)
        return false;
    *status = 0;
    for (const char *c = text->text + 9; c < text->text + 12; c++)
        *status = 10 * *status + (unsigned)(*c - '0');
    size_t head = (size_t)(end + 4 - text->text);
    memmove(text->text, end + 4, text->length - head + 1);
    text->length -= head;
    return *status >= 100 && *status < 600;
}

enum tutti_err tt_upstream_request(const char *address, const char *token, const char *method, const char *target,
                                   const char *body, size_t size, unsigned *status, struct tt_text *out)
{
    char bytes[65536];
    ssize_t count;
    int fd;
    TRY(tt_upstream_open(address, token, method, target, body, size, &fd));
    while ((count = recv(fd, bytes, sizeof bytes, 0)) > 0 || (count < 0 && errno == EINTR)) {
        tt_text_append_n(out, bytes, count > 0 ? (size_t)count : 0);
        if (out->failed || out->length > LARGEST)
            break;
    }
    int why = errno;
    close(fd);
    if (out->failed)
        return tt_fail_memory();
    if (count != 0)
        return upstream_fail(address, count > 0 ? "it answers too much" : strerror(why));
    return cut_answer_head(out, status) ? TUTTI_OK
                                        : upstream_fail(address, "what answers there is no run that is live");
}

void tt_upstream_escape(struct tt_text *out, const char *text)
{
    for (; *text; text++)
        tt_text_printf(out, "%%%02X", (unsigned char)*text);
}

enum { LARGEST_HEAD = 8192 };

struct tt_web_relay {
    struct tt_web_relays *all;
    int fd;
    bool listed, waits, answered; /* answered: what comes is the body */
    char head[LARGEST_HEAD];
    size_t head_size;
    struct tt_web_relay *previous, *next;
};

static void register_relay(struct tt_web_relay *relay)
{
    if (relay->listed)
        return;
    relay->listed = true;
    relay->next = relay->all->first;
    if (relay->next)
        relay->next->previous = relay;
    relay->all->first = relay;
    relay->all->count++;
}

/* The head of the answer goes; what follows it, if anything came along, is put to `bytes`. -1: it is none. */
static ptrdiff_t skip_answer_head(struct tt_web_relay *relay, char *bytes, size_t size)
{
    size_t room = LARGEST_HEAD - 1 - relay->head_size;
    ssize_t count = recv(relay->fd, relay->head + relay->head_size, room < size ? room : size, 0);
    if (count <= 0)
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    relay->head_size += (size_t)count;
    relay->head[relay->head_size] = '\0';
    char *end = strstr(relay->head, "\r\n\r\n");
    if (!end)
        return relay->head_size < LARGEST_HEAD - 1 ? 0 : -1;
    if (strncmp(relay->head, "HTTP/1.", 7) != 0 || strncmp(relay->head + 9, "200", 3) != 0)
        return -1;
    relay->answered = true;
    size_t rest = relay->head_size - (size_t)(end + 4 - relay->head);
    memcpy(bytes, end + 4, rest); /* at most what was asked for at last */
    return (ptrdiff_t)rest;
}

static ptrdiff_t read_relay(void *context, char *bytes, size_t size)
{
    struct tt_web_relay *relay = context;
    ptrdiff_t count;
    register_relay(relay);
    if (!relay->answered)
        count = skip_answer_head(relay, bytes, size);
    else {
        ssize_t got = recv(relay->fd, bytes, size, 0);
        count = got > 0 ? got : got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    }
    relay->waits = count == 0;
    return count;
}

static void close_relay(void *context)
{
    struct tt_web_relay *relay = context;
    if (relay->listed) {
        *(relay->previous ? &relay->previous->next : &relay->all->first) = relay->next;
        if (relay->next)
            relay->next->previous = relay->previous;
        relay->all->count--;
    }
    close(relay->fd);
    free(relay);
}

bool tt_upstream_relay_open(struct tt_web_relays *relays, int fd, struct tt_http_stream *stream)
{
    struct tt_web_relay *relay = calloc(1, sizeof *relay);
    int flags = fcntl(fd, F_GETFL);
    if (!relay || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
        free(relay);
        close(fd);
        return false;
    }
    relay->all = relays;
    relay->fd = fd;
    *stream = (struct tt_http_stream){read_relay, close_relay, relay};
    return true;
}

size_t tt_upstream_relays_poll(const struct tt_web_relays *relays, struct pollfd *watched)
{
    size_t count = 0;
    for (const struct tt_web_relay *relay = relays->first; relay; relay = relay->next)
        if (relay->waits)
            watched[count++] = (struct pollfd){.fd = relay->fd, .events = POLLIN};
    return count;
}
