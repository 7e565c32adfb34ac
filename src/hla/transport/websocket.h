/* SPDX-License-Identifier: MIT */
/* websocket.h - connections in a WebSocket (RFC 6455), for browsers and for networks that let nothing but HTTP through. Frames are wslay's; the
 * opening request is read here. What is in the frames is a stream of bytes, as over TCP. */
#ifndef TT_HLA_TRANSPORT_WEBSOCKET_H
#define TT_HLA_TRANSPORT_WEBSOCKET_H

#include "hla/transport/transport.h"

/* Do these first bytes of a connection begin a request of HTTP? */
bool tt_websocket_is_request(const void *bytes, size_t size);
/* The RTI's side, over another transport, which is taken, with bytes of it that were read already. NULL when memory is out; `inner` is the
 * caller's then. */
struct tt_transport *tt_websocket_new_transport(struct tt_transport *inner, const void *bytes, size_t size);

#endif
