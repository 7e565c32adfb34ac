/* SPDX-License-Identifier: MIT */
/* Reports of a rank: collected, and sent to the hub as far as it gives leave. */
#include <string.h>

#include "base/clock.h"
#include "fabric/report.h"
#include "fabric/tcp_rank.h"

static const double OLD = 0.2; /* seconds */

/* Rows come by the thousand and can wait for each other. Everything else is rare, or somebody wants to know it now. */
static bool can_wait(const void *frame, size_t size)
{
    enum tutti_report_kind kind;
    size_t length;
    bool whole;
    if (tutti_report_find(frame, size, &kind, &length, &whole) != TUTTI_OK || !whole)
        return false;
    return kind == TUTTI_REPORT_ROW || kind == TUTTI_REPORT_STEP || kind == TUTTI_REPORT_PROGRESS;
}

static bool has_leave(const struct tutti_tcp *tcp)
{
    return tcp->reported + tcp->batched <= tcp->granted;
}

/* Sends the batch, whether there is leave or not. */
static enum tutti_sending send_batch(struct tutti_tcp *tcp)
{
    struct tutti_tcp_link *hub = tutti_tcp_hub_link(tcp);
    zmq_msg_t message;
    if (zmq_msg_init_size(&message, TUTTI_WIRE_HEAD + tcp->batched) != 0)
        return TUTTI_SENDING_FULL;
    char *data = zmq_msg_data(&message);
    tutti_wire_put_head(data, &(struct tutti_wire_head){.kind = TUTTI_WIRE_REPORT});
    memcpy(data + TUTTI_WIRE_HEAD, tcp->batch, tcp->batched);
    enum tutti_sending sending = tutti_tcp_socket_send(&tcp->socket, &hub->route, &message);
    if (sending == TUTTI_SENDING_DONE) {
        tcp->reported += tcp->batched;
        tcp->batched = 0;
    } else
        zmq_msg_close(&message);
    if (sending == TUTTI_SENDING_GONE) {
        hub->gone = true;
        hub->why = tutti_tcp_event_text(TUTTI_TCP_DISCONNECTED);
    }
    return sending;
}

void tutti_tcp_flush(struct tutti_tcp *tcp, bool old)
{
    if (tcp->batched > 0 && has_leave(tcp) && (!old || tutti_clock_now() - tcp->batched_since > OLD))
        send_batch(tcp);
}

/* Waits for leave to send the batch, and sends it. A stop does not end this wait: what was computed until then belongs to the
 * result, and the conductor takes it as the others come to their end. */
static enum tutti_err make_room(struct tutti_tcp *tcp)
{
    const struct tutti_tcp_link *hub = tutti_tcp_hub_link(tcp);
    while (!hub->gone && !hub->left) {
        if (has_leave(tcp) && send_batch(tcp) == TUTTI_SENDING_DONE)
            return TUTTI_OK;
        TRY(tutti_tcp_pump(tcp, true));
    }
    return tutti_fail(TUTTI_ERR_LOST, "the conductor is lost: %s", hub->why ? hub->why : "it has ended before us");
}

enum tutti_err tutti_tcp_report(struct tutti_fabric *fabric, const void *bytes, size_t size)
{
    struct tutti_tcp *tcp = tutti_tcp_of(fabric);
    bool is_patient = can_wait(bytes, size);
    if (tcp->batched > 0 && tcp->batched + size > TUTTI_TCP_BATCH)
        TRY(make_room(tcp));
    if (tcp->batched == 0)
        tcp->batched_since = tutti_clock_now();
    const char *at = bytes;
    while (size > 0) {
        size_t part = TUTTI_TCP_BATCH - tcp->batched < size ? TUTTI_TCP_BATCH - tcp->batched : size;
        memcpy(tcp->batch + tcp->batched, at, part);
        tcp->batched += part;
        at += part;
        size -= part;
        if (size > 0)
            TRY(make_room(tcp));
    }
    tutti_tcp_flush(tcp, is_patient);
    return TUTTI_OK;
}

void tutti_tcp_hurry(struct tutti_fabric *fabric)
{
    tutti_tcp_flush(tutti_tcp_of(fabric), false);
}

enum tutti_err tutti_tcp_drain(struct tutti_tcp *tcp)
{
    return tcp->batched > 0 ? make_room(tcp) : TUTTI_OK;
}
