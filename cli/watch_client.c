/* SPDX-License-Identifier: MIT */
/* HTTP/1.0, in which an answer comes as it is and ends with the connection. */
#include "watch_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"

enum { LARGEST = 64 << 20 }; /* bytes of an event */

static enum tutti_err open_connection(const char *address, int *fd)
{
    struct tt_address at;
    TRY(tt_address_read(&at, address, &(struct tt_address_rule){.option = "tutti watch"}));
    return tt_fail_context(tt_address_connect(fd, &at, 0, TUTTI_ERR_IO), "no run with --live answers at %s", address);
}

static enum tutti_err send_all(int fd, const struct tt_text *text)
{
    for (size_t sent = 0; sent < text->length;) {
        ssize_t more = send(fd, text->text + sent, text->length - sent, MSG_NOSIGNAL);
        if (more < 0 && errno != EINTR)
            return tt_fail(TUTTI_ERR_LOST, "the connection to the run is lost: %s", strerror(errno));
        sent += more > 0 ? (size_t)more : 0;
    }
    return TUTTI_OK;
}

static enum tutti_err ask(const struct watch_client *client, int fd, const char *method, const char *target,
                          const char *body)
{
    struct tt_text text = {0};
    tt_text_printf(&text, "%s %s HTTP/1.0\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n%s",
                   method, target, client->address, client->token, strlen(body), body);
    enum tutti_err err = text.failed ? tt_fail_memory() : send_all(fd, &text);
    tt_text_fini(&text);
    return err;
}

/* As it stands in an address: all but letters and digits by their bytes. */
static void append_escaped(struct tt_text *out, const char *text)
{
    for (; *text; text++)
        tt_text_printf(out, "%%%02X", (unsigned char)*text);
}

enum tutti_err watch_connect(struct watch_client *client, const char *address, const char *token, const char *columns)
{
    struct tt_text target = {0};
    *client = (struct watch_client){.address = address, .token = token, .fd = -1};
    TRY(open_connection(address, &client->fd));
    tt_text_append(&target, "/events");
    if (columns) {
        tt_text_append(&target, "?columns=");
        append_escaped(&target, columns);
    }
    enum tutti_err err = target.failed ? tt_fail_memory() : ask(client, client->fd, "GET", target.text, "");
    tt_text_fini(&target);
    return err;
}

void watch_disconnect(struct watch_client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
    tt_text_fini(&client->text);
}

/* ---- answers ---- */

static enum tutti_err read_more(int fd, struct tt_text *text, bool *over)
{
    char bytes[65536];
    ssize_t count;
    do
        count = read(fd, bytes, sizeof bytes);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return tt_fail(TUTTI_ERR_LOST, "the connection to the run is lost: %s", strerror(errno));
    *over = count == 0;
    tt_text_append_n(text, bytes, (size_t)count);
    if (text->length > LARGEST)
        return tt_fail(TUTTI_ERR_FORMAT, "what comes is no run that is live");
    return text->failed ? tt_fail_memory() : TUTTI_OK;
}

/* {"error":"..."}, as a sentence. */
static enum tutti_err refused(const char *body, int status)
{
    json_t *json = json_loads(body, 0, NULL);
    const char *why = json_string_value(json_object_get(json, "error"));
    enum tutti_err err = why ? tt_fail(TUTTI_ERR_ARGUMENT, "%s", tt_text_excerpt(why).text)
                             : tt_fail(TUTTI_ERR_FORMAT, "the run answers with status %d", status);
    json_decref(json);
    return err;
}

/* The head is cut off when it is whole. */
static enum tutti_err take_head(struct tt_text *text, bool over, bool *answered)
{
    char *end = text->text ? strstr(text->text, "\r\n\r\n") : NULL;
    int status = text->text && strncmp(text->text, "HTTP/1.", 7) == 0 ? atoi(text->text + 9) : 0;
    if (!end && !over)
        return TUTTI_OK;
    if (!end || status == 0)
        return tt_fail(TUTTI_ERR_FORMAT, "what answers there is no run that is live");
    if (status >= 300 && !over) /* the sentence is still to come */
        return TUTTI_OK;
    if (status >= 300)
        return refused(end + 4, status);
    size_t head = (size_t)(end + 4 - text->text);
    memmove(text->text, end + 4, text->length - head + 1);
    text->length -= head;
    *answered = true;
    return TUTTI_OK;
}

enum tutti_err watch_receive(struct watch_client *client, bool *over)
{
    TRY(read_more(client->fd, &client->text, over));
    return client->answered ? TUTTI_OK : take_head(&client->text, *over, &client->answered);
}

/* "event: KIND\ndata: JSON\n\n"; lines that begin with a colon are signs of life. */
bool watch_next(struct watch_client *client, const char **kind, json_t **data)
{
    static const char EVENT[] = "event: ", DATA[] = "\ndata: ";
    static char name[32];
    struct tt_text *text = &client->text;
    char *end;
    *data = NULL;
    while (!*data && client->answered && text->length > 0 && (end = strstr(text->text, "\n\n"))) {
        char *middle = strstr(text->text, DATA);
        if (strncmp(text->text, EVENT, sizeof EVENT - 1) == 0 && middle && middle < end) {
            snprintf(name, sizeof name, "%.*s", (int)(middle - text->text - (ptrdiff_t)sizeof EVENT + 1),
                     text->text + sizeof EVENT - 1);
            char *body = middle + sizeof DATA - 1;
            *data = json_loadb(body, (size_t)(end - body), 0, NULL);
        }
        size_t gone = (size_t)(end + 2 - text->text);
        memmove(text->text, end + 2, text->length - gone + 1);
        text->length -= gone;
    }
    *kind = name;
    return *data != NULL;
}

enum tutti_err watch_order(const struct watch_client *client, const char *order)
{
    struct tt_text text = {0};
    bool over = false, answered = false;
    int fd;
    TRY(open_connection(client->address, &fd));
    enum tutti_err err = ask(client, fd, "POST", "/orders", order);
    while (!err && !over)
        err = read_more(fd, &text, &over);
    if (!err)
        err = take_head(&text, true, &answered);
    tt_text_fini(&text);
    close(fd);
    return err;
}
