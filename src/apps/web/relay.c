/* SPDX-License-Identifier: MIT */
#include "apps/web/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
